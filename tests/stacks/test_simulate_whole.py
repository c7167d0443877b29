"""The whole stack simulated: SEQUENCER, FLUSH, merging over GMS, STABLE. A guard that is off in any is noticed."""

from importlib import import_module
from types import SimpleNamespace
from typing import Any

import pytest
from attrs import evolve
from hypothesis import HealthCheck, find, given, settings
from hypothesis import strategies as st

from groupcomm import gms, merge_gms
from groupcomm.effects import PassDown
from groupcomm.merge import WindowsAdded
from groupcomm_conformance.stacks.claims import Violation
from groupcomm_conformance.stacks.group import Event, Group
from groupcomm_conformance.stacks.lineages import Lineages
from groupcomm_conformance.stacks.rest import quiesce
from groupcomm_conformance.stacks.running import WHOLE, Setup, borne, group_of, replay
from tests.simulated import broken, setup, violation
from tests.stacks.test_simulate import forgetful, impatient
from tests.stacks.test_simulate_flush import freeze, latch, recheck

BORNE = borne(WHOLE.split("/"))


# Schedules that Hypothesis chooses, and shrinks: each event is a kind and which of those that may happen.


def possible(group: Group, kind: str) -> list[Event]:
    """The events of a kind that a group may be asked for now; it refuses some."""
    service = group.service
    assert isinstance(service, Lineages)
    inside = [process for process in group.up if process.view is not None]
    match kind:
        case "start":
            return [("start", a) for a in "ABCDE" if a not in group.membership.current]
        case "due":
            return [event for process in group.up for event in service.due(process)]
        case "notice":
            return service.notices()
        case "join":
            return [
                (kind, process.name, found.name)
                for process in group.up
                if process.view is None
                for found in (*service.may_be_asked(process), process)
            ]
        case "discover":
            found = tuple(process.name for process in service.coordinators())
            return [(kind, name, found) for name in found]
        case "suspect":
            return [
                (kind, process.name, other.name) for process in inside for other in service.watched(process)
            ]
        case "multicast" | "leave" | "crash" | "transfer":
            return [(kind, process.name) for process in inside]
        case "message" | "drop":
            wires = group.unicast.wires.items()
            return [(kind, one.name, other.name) for (one, other), queue in wires if queue and other.up]
        case "data" | "lose":
            return [(kind, to.name, sender.name, seqno) for to, sender, _, seqno in group.new_copies if to.up]
        case "gossip":
            return [(kind, one.name, number, other.name) for one, number, other in group.new_datagrams]
        case "timer":
            return [(kind, process.name, timer) for process in group.up for timer in group.timers[process]]
        case _:
            return [("partition", (process.name,)) for process in group.up] + [("heal",)]


KINDS = [
    "start",
    "join",
    "due",
    "notice",
    "transfer",
    "suspect",
    "multicast",
    "leave",
    "crash",
    "message",
    "drop",
    "data",
    "lose",
    "gossip",
    "timer",
    "discover",
    "partition",
]
OFTEN = ["message"] * 8 + ["notice"] * 6 + ["due"] * 5 + ["data"] * 3 + ["multicast"]
EVENTS = st.tuples(st.sampled_from(KINDS + OFTEN), st.integers(0, 15))


def played(run: Setup, schedule: list[tuple[str, int]]) -> Violation | None:
    """What becomes of a group of three by a schedule, after which it comes to rest."""
    group, _, _ = group_of(run, 1)
    for address in "ABC":
        group.perform(("start", address))
    for address in "ABC":
        group.perform(("join", address, "A"))
    try:
        while found := possible(group, "message") or possible(group, "notice") or possible(group, "due"):
            assert group.perform(found[0])
        for kind, which in schedule:
            found = possible(group, kind)
            if found:
                group.perform(found[which % len(found)])
        quiesce(group, group.perform)
    except Violation as violation:
        return violation
    return None


@settings(max_examples=2_000, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(EVENTS, min_size=1, max_size=80))
def test_two_thousand_schedules(schedule: list[tuple[str, int]]) -> None:
    found = played(setup(WHOLE, BORNE), schedule)
    assert found is None, str(found)


def test_a_schedule_that_breaks_a_promise_is_found_and_shrunk() -> None:
    """Latch off: somebody wants to leave or is suspected, is asked, has answered, and multicasts."""
    open_ = setup(WHOLE, BORNE, cores=broken("flush", latch))
    least = find(st.lists(EVENTS, max_size=16), lambda schedule: played(open_, schedule) is not None)
    assert len(least) <= 6, least


def refused_by_who_came_back(*founders: str) -> list[Event]:
    """C comes back as another life. B, which suspects A falsely, asks C about the view of before, and crashes; A lets C in."""
    back = f"C~{3 + len(founders)}"
    return [
        *(("start", address) for address in "ABC"),
        *(("join", address, "A") for address in "ABC"),
        ("quiesce",),
        *(("start", founder) for founder in founders),
        *(("join", founder, founder) for founder in founders),
        ("crash", "C"),
        ("start", "C"),
        ("suspect", "A", "C"),
        ("suspect", "B", "A"),
        ("join", back, "A"),
        ("notice", "B", back, 0),
        ("crash", "B"),
        ("quiesce",),
    ]


def goes_on_refusing(config: Any, state: Any, event: Any) -> Any:  # noqa: ANN401
    """Who asks a coordinator goes on refusing it, if it did."""
    after, effects = merge_gms.step(config, state, event)
    if isinstance(event, gms.JoinRequested):
        after = evolve(after, gms=evolve(after.gms, suspected=state.gms.suspected))
    return after, effects


def test_a_joiner_that_refuses_its_coordinator_is_let_in_when_it_asks_again() -> None:
    """FLAW-127. Also where there is another group: A, which waits for C, and D look for each other all the while."""
    run = setup(WHOLE, BORNE)
    assert replay(run, 1, refused_by_who_came_back())[0] is None
    assert replay(run, 1, refused_by_who_came_back("D"))[0] is None
    refusing = setup(WHOLE, BORNE, cores=broken("merge_gms", goes_on_refusing))
    found, _ = replay(refusing, 1, refused_by_who_came_back())
    assert found is not None
    assert found.claim == "Settled"


def starts_anywhere(config: Any, state: Any, event: Any) -> Any:  # noqa: ANN401
    """Who comes to a merged view is not told where to start with those who are new to it."""
    after, effects = merge_gms.step(config, state, event)
    told = (e for e in effects if not (isinstance(e, PassDown) and isinstance(e.event, WindowsAdded)))
    return after, tuple(told)


@pytest.mark.parametrize(
    ("layer", "step", "claims"),
    [
        ("sequencer", forgetful, {"EventuallyDelivered"}),
        ("flush", freeze, {"ClosedToReceive", "FirstHasAll", "LeavesExact", "GroupIsStopped"}),
        ("flush", recheck, {"Settled", "QuietIsFree", "ComesToRest"}),
        ("merge_gms", starts_anywhere, {"StartsWhereTold"}),
        ("stable", impatient, {"NoPrematurePurge"}),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_a_guard_that_is_off_in_any_layer_is_found(
    layer: str,
    step: Any,  # noqa: ANN401 - of any core
    claims: set[str],
) -> None:
    cores = ((layer, SimpleNamespace(start=import_module(f"groupcomm.{layer}").start, step=step)),)
    found = violation(setup(WHOLE, BORNE - {"suspicion"}, members=4, cores=cores))
    assert found.claim in claims, str(found)
