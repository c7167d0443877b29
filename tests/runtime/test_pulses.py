"""Pulses: heartbeats that say the same to all members of a view, and beats that members have together."""

import asyncio
import socket
import time
from collections import Counter
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
from attrs import evolve

import groupcomm_runtime
from groupcomm import heartbeat
from groupcomm.effects import Datagram, PassUp, SetTimer
from groupcomm.heartbeat import Around, BeatTimeout, Heard, Heartbeat, HeartbeatReceived
from groupcomm.stack import Arrived, Fired, Tagged
from groupcomm.view import NO_VIEW, ViewId
from groupcomm_runtime import Group, Settings, frames
from groupcomm_runtime.codec import VERSION
from groupcomm_runtime.frames import NAME, PULSE, Seal
from groupcomm_runtime.layers import BEAT, DISCOVER, HIGHEST, configs, stack_of
from groupcomm_runtime.pulses import Pulses
from tests.runtime.conversing import KEY, OTHER, run, until

BEATS = Settings(heartbeat=0.1, patience=1.0)
VIEW, LATER = ViewId(1, "a"), ViewId(2, "a")


def said(number: int, view: ViewId = VIEW, *, counts: bool = True, suspects: bool = False) -> Heartbeat:
    return Heartbeat(number, view, counts, suspects)


# Datagrams


@pytest.mark.parametrize("encrypted", [False, True])
def test_a_pulse_is_opened_by_whoever_has_the_key(*, encrypted: bool) -> None:
    ours = Seal(KEY, "demo", encrypted=encrypted)
    pulse = ours.pulse(b"8 bytes.", 7)
    assert len(pulse) == 33
    assert Seal(KEY, "demo", encrypted=encrypted).pulsed(pulse) == (b"8 bytes.", 7)
    assert Seal(OTHER, "demo", encrypted=encrypted, others=[KEY]).pulsed(pulse) == (b"8 bytes.", 7)
    for stranger in (Seal(OTHER, "demo"), Seal(KEY, "another"), Seal(KEY, "demo", "majority")):
        assert stranger.pulsed(pulse) is None
    assert Seal(KEY, "demo", encrypted=not encrypted).pulsed(pulse) is None


def test_no_other_bytes_are_a_pulse(monkeypatch: pytest.MonkeyPatch) -> None:
    seal = Seal(KEY, "demo")
    pulse = seal.pulse(bytes(NAME), 1)
    for at in range(8 * len(pulse)):
        changed = bytearray(pulse)
        changed[at // 8] ^= 1 << at % 8
        assert seal.pulsed(bytes(changed)) is None
    assert all(seal.pulsed(pulse[:length]) is None for length in range(len(pulse)))
    monkeypatch.setattr(frames, "VERSION", VERSION + 1)
    assert seal.pulsed(pulse) is None


# One member


def test_a_pulse_says_what_the_step_says_to_all_but_one_now_and_then() -> None:
    mine = Pulses()
    turns = []
    for number in range(1, 25):
        mine.beats(number, VIEW, {"b", "c", "d"}, alike=True)
        whole = [to for to in "bcd" if not mine.says(to, said(number))]
        assert sorted(mine.to + whole) == ["b", "c", "d"]
        assert not mine.says("e", said(number, counts=False)), "an outsider is told that it is none"
        assert mine.number == number
        assert len(whole) == (number % 4 == 0)
        turns += whole
        mine.to.clear()
    assert Counter(turns) == {"b": 2, "c": 2, "d": 2}
    name = mine.name
    mine.beats(25, VIEW, {"b", "c", "d"}, alike=False)
    assert not any(mine.says(to, said(25)) for to in "bcd")
    assert mine.name == name
    mine.beats(28, LATER, {"b"}, alike=True)
    assert mine.name != name
    assert not mine.says("b", said(28, LATER)), "the only other member has each turn"


def test_a_pulse_is_taken_by_the_view_of_the_last_whole_heartbeat() -> None:
    mine = Pulses()
    assert not mine.heard(b"of one..", 3), "no whole heartbeat came: as if it were lost"
    mine.named("b", b"of none.", said(1, NO_VIEW.id, counts=False))
    mine.named("b", b"of other", said(2, counts=False))
    assert not mine.heard(b"of none.", 3)
    assert not mine.heard(b"of other", 3)
    assert not mine.named("b", b"of one..", said(4)), "HEARTBEAT has to hear of this view"
    assert mine.heard(b"of one..", 6)
    assert mine.heard(b"of one..", 5), "it is overtaken"
    assert [*mine.taken()] == [("b", said(6))]
    assert [*mine.taken()] == []
    assert mine.named("b", b"of one..", said(7)), "whole, and as a pulse says it"
    assert not mine.named("b", b"of one..", said(8, suspects=True))
    assert [*mine.taken()] == [("b", said(7))]
    assert not mine.named("b", b"of two..", said(7, LATER, suspects=True))
    assert not mine.heard(b"of one..", 8)
    assert mine.heard(b"of two..", 8)
    assert [*mine.taken()] == [("b", said(8, LATER))]
    mine.named("c", b"of three", said(1))
    assert mine.count == 2
    mine.keep({"c"})
    assert mine.count == 1
    assert not mine.heard(b"of two..", 9)


def test_what_pulses_say_changes_the_stack_as_its_step_does() -> None:
    chosen = configs(BEATS)
    stack = stack_of(chosen)
    state = stack.start("a#1")
    stepped, effects = stack.step(None, state, Arrived("b#1", Tagged("heartbeat", said(3))))
    assert not effects
    before = stack.of(heartbeat, state)
    after, _ = heartbeat.step(chosen["heartbeat"], before, HeartbeatReceived("b#1", said(3)))
    assert stack.put(heartbeat, state, after) == stepped != state


def test_heartbeats_that_are_taken_together_are_taken_as_one_after_the_other() -> None:
    chance, config = Random(3), configs(BEATS)["heartbeat"]  # noqa: S311 - no secret
    around = Around(frozenset("bc"), frozenset(), frozenset(), frozenset("bcd"))
    taken = 0
    for _ in range(300):
        state = heartbeat.start("a")
        for _ in range(5):
            those = [
                (
                    chance.choice("bcd"),
                    said(chance.randrange(1, 6), counts=chance.random() < 0.7, suspects=chance.random() < 0.3),
                )
                for _ in range(chance.randrange(5))
            ]
            stepped = state
            for sender, word in those:
                stepped, _ = heartbeat.step(config, stepped, HeartbeatReceived(sender, word))
            taken += stepped != state
            assert heartbeat.received(state, those) == stepped
            state, _ = heartbeat.step(config, stepped, BeatTimeout(around))
    assert taken > 400


def test_where_all_is_well_the_timer_does_in_the_stack_what_it_does_in_the_layer() -> None:
    chosen = configs(BEATS)
    stack = stack_of(chosen)
    state = stack.start("a#1")
    for sender in ("b#1", "c#1"):
        state, _ = stack.step(None, state, Arrived(sender, Tagged("heartbeat", said(3))))
    around = Around(frozenset({"b#1", "c#1"}), frozenset(), frozenset(), frozenset({"b#1", "d#1"}))
    stepped, effects = stack.step(None, state, Fired(BEAT, (around,)))
    before = stack.of(heartbeat, state)
    assert heartbeat.all_well(chosen["heartbeat"], before)
    after, own = heartbeat.step(chosen["heartbeat"], before, BeatTimeout(around))
    assert stack.put(heartbeat, state, after) == stepped != state
    assert len(own) == 4
    assert effects == tuple(
        Datagram(each.to, Tagged("heartbeat", each.message))
        if isinstance(each, Datagram)
        else evolve(each, name=f"heartbeat/{each.name}")
        for each in own
        if isinstance(each, Datagram | SetTimer)
    )


def test_where_all_is_well_the_timer_reports_no_member() -> None:
    chance, config = Random(1), heartbeat.Config(patience=2, longest=6, beat_interval=100)  # noqa: S311 - no secret
    well = reports = 0
    for _ in range(4_000):
        heard = {
            peer: Heard(
                chance.choice((0, 4)),
                chance.choice((NO_VIEW.id, VIEW, LATER)),
                chance.random() < 0.9,
                chance.random() < 0.1,
                chance.randrange(4),
                chance.randrange(3),
            )
            for peer in chance.sample("bcd", chance.randrange(4))
        }
        state = evolve(
            heartbeat.start("a"),
            view=LATER,
            members=frozenset(chance.sample("abcd", 3)) | {"a"},
            beats=chance.randrange(9),
            heard=heartbeat.HeardOf(heard.items()),
        )
        around = Around(*(frozenset(chance.sample("bcd", chance.randrange(4))) for _ in range(4)))
        _, effects = heartbeat.step(config, state, BeatTimeout(around))
        reported = any(isinstance(each, PassUp) for each in effects)
        well += (fine := heartbeat.all_well(config, state))
        reports += reported
        assert not (fine and reported)
    assert well > 400
    assert reports > 400


@pytest.mark.parametrize(
    ("settings", "borne"),
    [(Settings(), 5), (Settings(heartbeat=0.2), 7), (Settings(heartbeat=0.3), 4), (groupcomm_runtime.PATIENT, 9)],
)
def test_so_many_lost_heartbeats_in_a_row_are_borne(settings: Settings, borne: int) -> None:
    """And one less where the heartbeat before them came before the own beat, and the next one comes after it."""
    config = configs(settings)["heartbeat"]
    around = Around(frozenset("b"), frozenset(), frozenset(), frozenset("b"))
    for order, lost in ((0, borne), (0, borne + 1), (1, borne - 1), (1, borne)):
        state = evolve(heartbeat.start("a"), view=VIEW, members=frozenset("ab"))
        reports = []
        for number in range(1, 40):
            heard = number <= 20 or number > 20 + lost + order  # after the loss it comes a beat later
            if heard:
                state = heartbeat.received(state, [("b", said(number))])
            state, effects = heartbeat.step(config, state, BeatTimeout(around))
            reports += [number] * any(isinstance(each, PassUp) for each in effects)
        assert reports == [20 + lost + order] * (lost + order > borne)


# Groups


class Kept(socket.socket):
    """A socket that keeps what it sends, with the time."""

    def __init__(self) -> None:
        super().__init__(socket.AF_INET, socket.SOCK_DGRAM)
        self.sent: list[tuple[float, bytes]] = []

    def sendto(self, data: bytes, place: Any) -> int:  # type: ignore[override]  # noqa: ANN401 - a socket's
        self.sent.append((time.time(), data))
        return super().sendto(data, place)


async def stand(groups: list[Group]) -> None:
    """All are in one view, and it has lasted for the patience."""
    await until(lambda: all(len(each.members) >= len(groups) for each in groups))
    await asyncio.sleep(BEATS.patience + 5 * BEATS.heartbeat)


def _same(sock: Kept) -> Kept:
    return sock


async def of_four(tmp_path: Path, sockets: list[Kept], stack: Any) -> list[Group]:  # noqa: ANN401 - of contexts
    groups = []
    for number in range(4):
        sock = Kept()
        sockets.append(sock)
        log = tmp_path / f"log{number}" if number else None
        joining = groupcomm_runtime.join(
            "demo",
            name="abcd"[number],
            key=KEY,
            folder=tmp_path / "demo",
            settings=BEATS,
            transport=partial(_same, sock),
            log=log,
        )
        groups.append(await stack.enter_async_context(joining))
    await stand(groups)
    return groups


def test_a_quiet_group_sends_pulses_and_few_whole_heartbeats(tmp_path: Path) -> None:
    """Each hears each at each beat, as before. A has no log, and takes pulses by another way than the others."""

    async def test() -> None:
        async with AsyncExitStack() as stack:
            sockets: list[Kept] = []
            groups = await of_four(tmp_path, sockets, stack)
            for sock in sockets:
                sock.sent.clear()
            before = [dict(each.counts) for each in groups]
            await asyncio.sleep(20 * BEATS.heartbeat)
            for group, sock, then in zip(groups, sockets, before, strict=True):
                pulses = [data for _, data in sock.sent if data[:2] == PULSE]
                beats = len({*pulses})
                assert 10 <= beats <= 25
                fewer = 3 * beats - len(pulses)
                assert beats // 4 <= fewer <= beats // 4 + 1, (
                    "a beat is one pulse to all, each fourth one to two of three"
                )
                whole = [data for _, data in sock.sent if data[:2] != PULSE and len(data) > 100]
                assert fewer <= len(whole) <= fewer + 8, "whole heartbeats, and a look of FILE_PING now and then"
                assert sum(len(data) for data in pulses) == 33 * len(pulses)
                heard = group.counts["heartbeat received"] - then["heartbeat received"]
                assert heard >= 3 * 10
                assert group.counts.get("pulses unknown", 0) == then.get("pulses unknown", 0)
                assert all(each.missed <= 3 for each in group._member._beating.heard.values())  # noqa: SLF001
                assert not any(name.startswith("suspected") for name in group.counts)

    run(test())


def test_members_whose_clocks_agree_beat_at_once(tmp_path: Path) -> None:
    async def test() -> None:
        async with AsyncExitStack() as stack:
            sockets: list[Kept] = []
            await of_four(tmp_path, sockets, stack)
            for sock in sockets:
                sock.sent.clear()
            await asyncio.sleep(20 * BEATS.heartbeat)
            for sock in sockets:  # of all together it would be so once in three times by chance
                late = sorted(at % BEATS.heartbeat for at, data in sock.sent if data[:2] == PULSE)
                assert late[len(late) // 2] < BEATS.heartbeat / 3, "most are sent soon after the beat"

    run(test())


def test_a_beat_is_half_an_interval_away_at_least_whatever_the_clock_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def test() -> None:
        async with groupcomm_runtime.join("demo", name="a", key=KEY, folder=tmp_path, settings=BEATS) as a:
            to_beat = a._member._to_beat  # noqa: SLF001
            chance = Random(2)  # noqa: S311 - no secret
            for _ in range(2_000):
                now, delay = chance.uniform(0, 4e9), chance.choice((0.1, 0.2, chance.uniform(0.1, 3)))
                with monkeypatch.context() as patch:
                    patch.setattr(time, "time", lambda now=now: now)
                    found = to_beat(delay)
                assert abs(found - delay) <= BEATS.heartbeat / 2 + 1e-5
                past = (now + found) % BEATS.heartbeat
                assert min(past, BEATS.heartbeat - past) < 1e-5
            assert to_beat(0.02) == 0.02

    run(test())


def test_in_a_crowd_each_tells_less_often_and_all_as_often(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten members tell of what they keep every 0.2 seconds, fifty every second; and not at the same time."""

    async def test() -> None:
        async with groupcomm_runtime.join("demo", name="a", key=KEY, folder=tmp_path, settings=BEATS) as a:
            await until(lambda: len(a.members) == 1)
            own = a._member  # noqa: SLF001
            for count, least, most in ((10, 0.2, 0.2), (50, 0.5, 1.5)):
                of = SimpleNamespace(decision=SimpleNamespace(members=range(count)))
                with monkeypatch.context() as patch:
                    patch.setattr(type(own), "gms", of)
                    patch.setattr(type(own), "_to_beat", lambda _self, delay: delay)
                    found = [own._fitted(HIGHEST, 0.2) for _ in range(500)]  # noqa: SLF001
                    assert own._fitted(DISCOVER, 1.0) == 1.0  # noqa: SLF001
                assert least <= min(found) <= max(found) <= most
                assert sum(found) / 500 == pytest.approx(0.02 * count, rel=0.1)
            assert max(found) - min(found) > 0.7

    run(test())


def test_where_a_member_is_suspected_all_heartbeats_are_whole(tmp_path: Path) -> None:
    """A stranger could send on to it a pulse for the others, before the heartbeat that says that it is suspected."""

    async def test() -> None:
        async with AsyncExitStack() as stack:
            sockets: list[Kept] = []
            a, *_ = await of_four(tmp_path, sockets, stack)
            around = a._member._around  # noqa: SLF001
            a._member._around = lambda: evolve(around(), suspected=frozenset({a.members[-1]}))  # type: ignore[method-assign]  # noqa: SLF001
            await asyncio.sleep(2 * BEATS.heartbeat)
            sockets[0].sent.clear()
            await asyncio.sleep(3 * BEATS.heartbeat)
            assert sockets[0].sent
            assert not any(data[:2] == PULSE for _, data in sockets[0].sent)

    run(test())


def test_a_pulse_of_a_stranger_counts_for_nothing(tmp_path: Path) -> None:
    async def test() -> None:
        async with AsyncExitStack() as stack:
            sockets: list[Kept] = []
            a, *_ = await of_four(tmp_path, sockets, stack)
            pulse = next(data for _, data in reversed(sockets[1].sent) if data[:2] == PULSE)
            forged = Seal(OTHER, "demo").pulse(pulse[3 : 3 + NAME], 10**6)
            outsider = Seal(KEY, "demo").pulse(b"no name.", 10**6)
            refused, unknown = a.counts.get("strangers", 0), a.counts.get("pulses unknown", 0)
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
                for each in (forged, pulse[:20], outsider, pulse):
                    stranger.sendto(each, sockets[0].getsockname())
            await asyncio.sleep(3 * BEATS.heartbeat)
            assert a.counts["strangers"] == refused + 2
            assert a.counts["pulses unknown"] == unknown + 1
            assert all(each.number < 10**6 for each in a._member._beating.heard.values())  # noqa: SLF001

    run(test())
