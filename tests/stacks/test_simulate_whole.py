"""The specified stack runs without a violation; both defects of the composition, put back, are found."""

from collections.abc import Iterator
from typing import Any

import pytest
from attrs import evolve
from hypothesis import HealthCheck, find, given, settings
from hypothesis import strategies as st

from groupcomm import gms
from groupcomm.effects import PassDown
from groupcomm.events import OBSERVED, GroupStopped
from groupcomm.stack import Stack
from groupcomm_simulator.ground import Event, Ground
from groupcomm_simulator.judges.claims import Violation
from groupcomm_simulator.rest import quiesce
from groupcomm_simulator.running import ground_of, replay
from groupcomm_simulator.setup import Faults, Setup
from tests.simulated import all_holds, violation
from tests.stacks.broken import BROKEN, Broken

STACKS = ["flush/gms", "sequencer/flush/gms/stable", "flush/merge_gms", "sequencer/flush/merge_gms/stable"]


def setup(stack: str) -> Setup:
    bare = Setup(tuple(stack.split("/")))
    return evolve(bare, faults=Faults(bare.borne))


@pytest.mark.parametrize("stack", STACKS)
def test_thirty_thousand_events_and_all_that_is_promised_holds(stack: str) -> None:
    """Up to eight members, and more of everything than in the models."""
    run = setup(stack)
    outcome = all_holds(run, events=30_000, seed=1100)
    happened = {kind for kind, count in outcome.happened.items() if count}
    assert {"start", "join", "leave", "crash", "suspect", "partition", "cut", "heal"} <= happened
    assert {"transfer", "transferred", "give_up", "fetch", "return", "message", "drop", "inherit"} <= happened
    assert {"multicast", "unicast", "copy", "double", "lose"} <= happened
    assert ({"discover", "merged views"} <= happened) == ("merge_gms" in run.names)
    assert ("purges" in happened) == ("stable" in run.names)
    assert not outcome.unjudged


def test_calm_groups_are_one_line_and_drop_nobody() -> None:
    """Where no member that is alive is suspected more is claimed, and is judged often."""
    kinds = frozenset({"loss", "duplication", "reordering", "crash", "join", "leave", "restart"})
    outcome = all_holds(Setup(faults=Faults(kinds)), events=20_000, seed=2000)
    assert 100 < min(
        outcome.judged[claim] for claim in ("NoLiveBranch", "ExcludedOnlyIfDeadOrLeaving", "LeavesWithCut")
    )


# The two defects that the composition had


def test_a_view_that_the_layers_beneath_hear_after_the_step_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A member that comes back was promised a digest in a view that STABLE had not left: the group hung."""
    down = Stack._down  # noqa: SLF001

    def late(self: Stack, start: int, request: Any, todo: Any) -> None:  # noqa: ANN401
        if not (isinstance(request, PassDown) and isinstance(request.event, OBSERVED)):
            return down(self, start, request, todo)
        after: list[Any] = []
        down(self, start, request, after)
        todo[:0] = after  # the last to be done
        return None

    monkeypatch.setattr(Stack, "_down", late)
    found = violation(Setup(), events=20_000)
    assert found.claim in {"NoRefusals", "NoCrash"}


def test_the_promise_in_the_old_view_is_what_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same story, step by step: B is back, and asks before A's flush for the view without it is over."""
    schedule: list[Event] = [
        ("start", "A"),
        ("start", "B"),
        ("join", "A", "A"),
        ("join", "B", "A"),
        ("quiesce",),
        ("crash", "B"),
        ("suspect", "A", "B"),
        ("start", "B"),
        ("join", "B~2", "A"),
        ("message", "B~2", "A"),
        ("quiesce",),
    ]
    assert (None, schedule) == replay(Setup(), 1, schedule)
    installed = gms._installed  # noqa: SLF001
    monkeypatch.setattr(gms, "_installed", lambda decision: installed(decision)[1:])  # STABLE hears of no view
    assert replay(Setup(), 1, schedule)[0] is not None


def test_a_stop_that_gms_swallows_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer to a state transfer ended in GMS, and the group stayed stopped for ever."""
    stopped = gms._group_stopped  # noqa: SLF001

    def swallow(config: gms.Config, state: gms.State, event: GroupStopped) -> gms.Transition:
        return stopped(config, state, event) if event.asker == "GMS" else (state, ())

    monkeypatch.setattr(gms, "_group_stopped", swallow)
    for stack in ("flush/gms", "sequencer/flush/merge_gms/stable"):
        assert violation(setup(stack), events=20_000).claim in {"StopIsAnswered", "ResumedWhenQuiescent"}


# Limits of any UNICAST


def by_itself(ground: Ground, name: str) -> Iterator[Event]:
    """The events owed to a process, and its messages to itself, until there is no more; each is performed."""
    process = ground.process(name)
    while True:
        queue = ground.queues.get((process, process))
        found = [("message", name, name)] if queue else ground.oracle.due(process)
        if not found:
            return
        assert ground.perform(found[0])
        yield found[0]


def excluded() -> list[Event]:
    """A lets B in, suspects it before it knows, and closes the connection: JOIN_RSP is lost."""
    ground, _, _ = ground_of(Setup(), 1)
    schedule: list[Event] = []
    steps: list[Event] = [
        ("start", "A"),
        ("start", "B"),
        ("join", "A", "A"),
        ("join", "B", "A"),
        ("message", "B", "A"),
        ("suspect", "A", "B"),
    ]
    for event in steps:
        assert ground.perform(event)
        schedule += [event, *by_itself(ground, "A")]
    lost = len(ground.queues[ground.process("A"), ground.process("B")])
    assert ground.process("B") not in ground.views.installed[ground.process("A")].processes
    return [*schedule, *[("drop", "A", "B")] * lost]


def test_a_joiner_that_is_excluded_before_it_knows_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """FLAW-133: it asks again, and gets LEAVE_RSP; without that answer it asks for ever."""
    schedule: list[Event] = [*excluded(), ("quiesce",)]
    assert (None, schedule) == replay(Setup(), 1, schedule)
    answers = gms._join_req_received  # noqa: SLF001

    def silent(state: gms.State, event: gms.JoinReqReceived) -> gms.Transition:
        after, effects = answers(state, event)
        return after, tuple(e for e in effects if not isinstance(getattr(e, "message", None), gms.JoinRefused))

    monkeypatch.setattr(gms, "_join_req_received", silent)
    found, _ = replay(Setup(), 1, schedule)
    assert found is not None
    assert "Converged" == found.claim


def test_nothing_is_lost_on_its_way_to_a_member_of_the_view() -> None:
    ground, _, _ = ground_of(Setup(), 1)
    for event in FORMED:
        assert ground.perform(event)
    assert ground.perform(("unicast", "B", "C"))
    assert not ground.perform(("drop", "B", "C"))
    assert ground.perform(("message", "B", "C"))


def test_the_next_life_is_given_the_last_part_of_what_its_former_one_was_sent() -> None:
    """Arrived or not, in the order sent, and only before it has got anything of that sender."""
    ground, _, _ = ground_of(Setup(), 1)
    for event in FORMED:
        assert ground.perform(event)
    for _ in range(3):
        assert ground.perform(("unicast", "B", "C"))
    assert ground.perform(("message", "B", "C"))
    sent = [*ground.former[ground.process("B"), "C"][1], *ground.queues[ground.process("B"), ground.process("C")]]
    assert not ground.perform(("inherit", "B", "C", 1))
    assert ground.perform(("crash", "C"))
    assert ground.perform(("start", "C"))
    life = ground.membership.current["C"]
    assert ground.perform(("inherit", "B", life.name, 3))
    assert sent[-3:] == [*ground.queues[ground.process("B"), life]]
    assert not ground.perform(("inherit", "B", life.name, 1))
    assert ground.perform(("message", "B", life.name))


# Broken cores. `python -m tests.stacks.broken` runs all of them, at 200,000 events each.

QUICK = {
    "table_not_sent_again": {"EventuallyDelivered", "ApplicationView"},
    "latch_open": {"NoMulticastWhileStopped", "GroupIsStopped", "MergedDigestIsMaximum"},
    "not_reconciled": {"GroupIsStopped"},
    "counter_above_own": {"CounterIncreases"},
    "windows_not_added": {"StartsAtMergedDigest"},
}


@pytest.mark.parametrize("core", [each for each in BROKEN if each.name in QUICK], ids=lambda each: each.name)
def test_a_broken_core_is_found(core: Broken) -> None:
    with core.in_place():
        found = violation(Setup(), events=30_000)
    assert found.claim in QUICK[core.name], str(found)


@pytest.mark.parametrize("core", BROKEN, ids=lambda each: each.name)
def test_the_text_of_each_broken_core_is_there_once_and_is_put_back(core: Broken) -> None:
    names = [str(getattr(each, "name", "")) for each in core.functions()]
    before = [getattr(core.module, name) for name in names]
    with core.in_place():
        assert all(getattr(core.module, name) is not was for name, was in zip(names, before, strict=True))
    assert before == [getattr(core.module, name) for name in names] != []


# Schedules that Hypothesis chooses, and shrinks: each event is a kind and a choice of the possible events.

KINDS = ["start", "join", "due", "transfer", "give_up", "suspect", "leave", "crash", "drop", "lose", "double"]
KINDS += ["timer", "discover", "partition", "cut"]
OFTEN = ["message"] * 14 + ["due"] * 5 + ["copy"] * 3 + ["multicast"] * 2
EVENTS = st.tuples(st.sampled_from(KINDS + OFTEN), st.integers(0, 15))


def possible(ground: Ground, kind: str) -> list[Event]:
    """The events of a kind that a group may be asked for now; it refuses some."""
    oracle, up = ground.oracle, ground.up
    inside = [process.name for process in up if process.view is not None]
    match kind:
        case "start":
            return [("start", a) for a in "ABCDE" if a not in ground.membership.current]
        case "due":
            return [event for process in up for event in oracle.due(process)]
        case "join":
            outside = [process for process in up if process.view is None]
            return [(kind, p.name, to.name) for p in outside for to in (*oracle.may_be_asked(p), p)]
        case "discover":
            found = tuple(process.name for process in oracle.coordinators())
            return [(kind, name, found) for name in found]
        case "suspect":
            return [(kind, process.name, other.name) for process in up for other in oracle.watched(process)]
        case "multicast" | "leave" | "crash" | "transfer" | "give_up":
            return [(kind, name) for name in inside]
        case "message" | "drop":
            return [(kind, one.name, to.name) for (one, to), queue in ground.queues.items() if queue and to.up]
        case "copy" | "double" | "lose":
            return [(kind, one.name, number, to.name) for one, number, to in ground.copies if to.up]
        case "timer":
            return [(kind, process.name, timer) for process in up for timer in ground.timers[process]]
        case "cut":
            return [(kind, one.name, to.name) for one in up for to in up if one is not to]
        case _:
            return [("partition", (process.name,)) for process in up] + [("heal",)]


def formed(run: Setup) -> list[Event]:
    """How A, B and C come to be a group."""
    ground, _, _ = ground_of(run, 1)
    events: list[Event] = [("start", address) for address in "ABC"] + [("join", a, "A") for a in "ABC"]
    for event in events:
        ground.perform(event)
    while found := possible(ground, "message") or possible(ground, "due"):
        assert ground.perform(found[0])
        events.append(found[0])
    return events


FORMED = formed(Setup())


def played(run: Setup, schedule: list[tuple[str, int]]) -> Violation | None:
    """The result of a group of three after a schedule, when it has come to rest."""
    ground, _, _ = ground_of(run, 1)
    try:
        for event in FORMED:
            ground.perform(event)
        for kind, which in schedule:
            found = possible(ground, kind)
            if found:
                ground.perform(found[which % len(found)])
        quiesce(ground, ground.perform)
    except Violation as violation:
        return violation
    return None


@settings(max_examples=500, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(EVENTS, min_size=1, max_size=80))
def test_five_hundred_schedules(schedule: list[tuple[str, int]]) -> None:
    found = played(Setup(), schedule)
    assert found is None, str(found)


def test_a_schedule_that_breaks_a_promise_is_found_and_shrunk() -> None:
    """Latch off: a member wants to leave or is suspected, is asked, has answered, and multicasts."""
    open_ = next(each for each in BROKEN if each.name == "latch_open")
    with open_.in_place():
        least = find(st.lists(EVENTS, max_size=16), lambda schedule: played(Setup(), schedule) is not None)
    assert len(least) <= 8, least
