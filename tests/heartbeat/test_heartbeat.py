"""HEARTBEAT's core by itself: words count by their views, and silence by the gaps between heartbeats."""

import pytest

from groupcomm import heartbeat
from groupcomm.effects import Datagram, PassUp
from groupcomm.events import SilenceReported, Suspected, ViewInstalled
from groupcomm.heartbeat import Around, BeatTimeout, Config, Heartbeat, HeartbeatReceived, State
from groupcomm.view import View, ViewId

CONFIG = Config(patience=5, longest=20, beat_interval=200)
MINE = View(ViewId(7, "A"), ("A", "B"))
WATCHED = Around(watched=frozenset("B"), suspected=frozenset(), sought=frozenset(), reachable=frozenset("B"))


def said(number: int, counter: int, *, counts: bool = True, suspects: bool = False) -> HeartbeatReceived:
    return HeartbeatReceived("B", Heartbeat(number, ViewId(counter, "A"), counts, suspects))


def member() -> State:
    return heartbeat.step(CONFIG, heartbeat.start("A"), ViewInstalled(MINE))[0]


def beats(state: State, count: int) -> tuple[State, list[str]]:
    """The state after some heartbeats, and who was reported at them."""
    reported = []
    for _ in range(count):
        state, effects = heartbeat.step(CONFIG, state, BeatTimeout(WATCHED))
        reported += ["B"] if PassUp(Suspected("B")) in effects else []
    return state, reported


@pytest.mark.parametrize(
    ("word", "lasted", "why"),
    [
        (said(1, 7), 0, ""),
        (said(1, 7, suspects=True), 0, "suspects me"),
        (said(1, 6, suspects=True), 0, ""),
        (said(1, 6, suspects=True), 6, "stays apart"),
        (said(1, 8, counts=False), 0, "excludes me"),
        (said(1, 6, counts=False), 0, ""),
        (said(1, 6, counts=False), 6, "stays apart"),
        (said(1, 8, counts=True), 6, ""),
    ],
)
def test_what_a_heartbeat_says_counts_by_its_view(word: HeartbeatReceived, lasted: int, why: str) -> None:
    state, _ = beats(member(), lasted)
    state, effects = heartbeat.step(CONFIG, state, word)
    assert () == effects
    assert why == heartbeat.reason(CONFIG, state, "B")
    assert (["B"] if why else []) == beats(state, 1)[1]


def test_a_member_that_misses_heartbeats_is_reported_after_the_patience_and_not_before() -> None:
    state, _ = heartbeat.step(CONFIG, member(), said(1, 7))
    state, reported = beats(state, 5)
    assert [] == reported
    assert {"B"} == heartbeat.alive(CONFIG, state)
    state, reported = beats(state, 1)
    assert ["B"] == reported
    assert "silent" == heartbeat.reason(CONFIG, state, "B")
    assert frozenset() == heartbeat.alive(CONFIG, state)


def test_who_was_slow_is_borne_for_twice_the_gap_and_no_longer_than_the_longest() -> None:
    state, _ = heartbeat.step(CONFIG, member(), said(1, 7))
    state, _ = beats(state, 4)
    state, _ = heartbeat.step(CONFIG, state, said(2, 7))
    state, reported = beats(state, 8)
    assert [] == reported
    assert ["B"] == beats(state, 1)[1]
    state, _ = heartbeat.step(CONFIG, beats(state, 40)[0], said(3, 7))
    state, reported = beats(state, 20)
    assert [] == reported
    assert ["B"] == beats(state, 1)[1]


def test_a_process_that_was_stopped_takes_nobody_for_silent() -> None:
    """FDT-07. It has not counted meanwhile: the first timer after the pause counts one."""
    state, _ = heartbeat.step(CONFIG, member(), said(1, 7))
    assert [] == beats(state, 1)[1]


def test_a_heartbeat_that_was_overtaken_says_nothing() -> None:
    state, _ = heartbeat.step(CONFIG, member(), said(5, 7))
    assert (state, ()) == heartbeat.step(CONFIG, state, said(4, 7, suspects=True))


def test_who_can_be_reached_hears_whether_it_counts() -> None:
    around = Around(watched=frozenset(), suspected=frozenset("B"), sought=frozenset(), reachable=frozenset("BC"))
    _, effects = heartbeat.step(CONFIG, member(), BeatTimeout(around))
    assert effects[:2] == (
        Datagram("B", Heartbeat(1, ViewId(7, "A"), counts=True, suspects=True)),
        Datagram("C", Heartbeat(1, ViewId(7, "A"), counts=False, suspects=False)),
    )
    assert not any(isinstance(each, PassUp) for each in effects)


def test_nothing_is_kept_of_members_that_cannot_be_reached() -> None:
    state, _ = heartbeat.step(CONFIG, member(), said(1, 7))
    around = Around(watched=frozenset(), suspected=frozenset(), sought=frozenset(), reachable=frozenset())
    assert 0 == len(heartbeat.step(CONFIG, state, BeatTimeout(around))[0].heard)


def test_a_report_is_an_event_of_gms() -> None:
    state, _ = beats(member(), 6)
    _, effects = heartbeat.step(CONFIG, state, BeatTimeout(WATCHED))
    assert PassUp(Suspected("B")) in effects


def test_the_time_of_an_outsider_begins_when_it_is_sought() -> None:
    """A coordinator that has left before this member heard it is silent one patience later, too."""
    around = Around(watched=frozenset(), suspected=frozenset(), sought=frozenset("C"), reachable=frozenset())
    state, reported = member(), []
    for beat in range(8):
        state, effects = heartbeat.step(CONFIG, state, BeatTimeout(around))
        reported += [beat for each in effects if each == PassUp(SilenceReported("C"))]
    assert [6, 7] == reported
