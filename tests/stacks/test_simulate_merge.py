"""simulate with merging: subgroups part and merge, over a network that is cut and healed; a broken core is found."""

from collections.abc import Callable
from typing import Any

import pytest
from attrs import evolve

from groupcomm import merge
from groupcomm.digest import EMPTY_VECTOR
from groupcomm.effects import PassDown, Send, SetTimer
from groupcomm.events import DigestPromised, PromiseWithdrawn
from groupcomm.gms import NO_DECISION
from groupcomm.stack import StackError
from groupcomm.view import ViewId
from groupcomm_conformance.stacks.changes import FAULTS, Faults
from groupcomm_conformance.stacks.merging import Merging
from groupcomm_conformance.stacks.running import Setup, simulate
from tests.simulated import all_holds, broken, setup, violation

STACKS = ["merge", "merge/stable"]
ALL = frozenset(FAULTS)


@pytest.mark.parametrize("stack", STACKS)
def test_fifty_thousand_events_and_all_become_one_group_each_time(stack: str) -> None:
    outcome = all_holds(setup(stack, ALL), events=50_000, seed=1000)
    happened = {kind for kind, count in outcome.kinds.items() if count}
    assert {
        "start",
        "found",
        "admit",
        "exclude",
        "leave",
        "crash",
        "doubt",
        "partition",
        "heal",
    } <= happened
    assert {"discover", "notice", "hush", "timer", "install", "multicast", "data", "lose"} <= happened
    assert 150 <= outcome.kinds["merged views"]


def test_eight_members_that_are_cut_and_healed_again_and_again() -> None:
    """Nobody joins, leaves or crashes: whoever is in a view in the end has been there from the start."""
    kinds = frozenset({"merge", "partition", "loss", "duplication", "reordering"})
    outcome = all_holds(setup("merge", kinds, members=8), events=20_000, seed=2000)
    assert 75 <= outcome.kinds["merged views"]
    assert 8 * outcome.groups == outcome.kinds["start"]


@pytest.mark.parametrize(
    ("names", "why"),
    [
        (("gms", "merge"), "where merge and gms stand in one stack, merge stands right above gms"),
        (("sequencer", "merge"), "nothing stands above merge without gms"),
    ],
)
def test_what_cannot_stand_with_merging_is_refused(names: tuple[str, ...], why: str) -> None:
    with pytest.raises(StackError, match=why):
        simulate(Setup(names), events=1, seed=1)


# Broken cores: a guard of the specification is off, by its name there.

Step = Callable[[Any, Any, Any], Any]


def effects_without(*kinds: type) -> Step:
    """The core without effects that pass down such events."""

    def step(config: Any, state: Any, event: Any) -> Any:  # noqa: ANN401
        after, effects = merge.step(config, state, event)
        return after, tuple(
            e for e in effects if not (isinstance(e, PassDown) and isinstance(e.event, kinds))
        )

    return step


def rejects_when_idle(config: Any, state: Any, event: Any) -> Any:  # noqa: ANN401
    """RejectsWhen: the note's line, inverted."""
    after, effects = merge.step(config, state, event)
    if not isinstance(event, merge.MergeReqReceived) or state.merging or not after.merging:
        return after, effects
    answer = merge.MergeRsp(after.merge, rejected=True, decision=NO_DECISION, digest=EMPTY_VECTOR)
    return state, (Send(event.sender, answer),)


def everybody_begins(config: Any, state: Any, event: Any) -> Any:  # noqa: ANN401
    """OnlyLeaderBegins off: who discovers others and does not lead is in a merge, too."""
    after, effects = merge.step(config, state, event)
    waits = isinstance(event, merge.DiscoverTimeout) and state.coordinates and not after.merging
    if waits and event.found - {state.member}:
        return evolve(
            after, merge=merge.MergeId(state.member, 0, state.begun + 1), begun=state.begun + 1
        ), effects
    return after, effects


def no_timer(config: Any, state: Any, event: Any) -> Any:  # noqa: ANN401
    """TakesTimer off: who answers sets none."""
    after, effects = merge.step(config, state, event)
    if isinstance(event, merge.MergeReqReceived):
        effects = tuple(effect for effect in effects if not isinstance(effect, SetTimer))
    return after, effects


def windows_of_all(config: Any, state: Any, event: Any) -> Any:  # noqa: ANN401
    """WindowsSet: those of members that were with it, too."""
    after, effects = merge.step(config, state, event)
    all_of_them = PassDown(merge.WindowsAdded(after.decision.digest))
    return after, tuple(
        all_of_them if isinstance(getattr(e, "event", None), merge.WindowsAdded) else e for e in effects
    )


def counter_above_own(state: Any, merged: Any) -> Any:  # noqa: ANN401
    """CounterAbove: the leader's own."""
    return evolve(merged, id=ViewId(state.decision.id.counter + 1, state.member))


def named_by_first(_state: Any, merged: Any) -> Any:  # noqa: ANN401
    """CreatorNames: the first member."""
    return evolve(merged, id=ViewId(merged.id.counter, merged.members[0]))


STEPS: list[tuple[str, Step, set[str]]] = [
    ("merge", rejects_when_idle, {"Settled"}),
    ("merge", everybody_begins, {"MergesEnd"}),
    ("merge", no_timer, {"MergesEnd"}),
    ("merge", windows_of_all, {"NothingIsSkipped"}),
]


@pytest.mark.parametrize(("stack", "step", "claims"), STEPS, ids=[step.__name__ for _, step, _ in STEPS])
def test_a_guard_that_is_off_is_found(stack: str, step: Step, claims: set[str]) -> None:
    found = violation(setup(stack, ALL, cores=broken("merge", step)))
    assert found.claim in claims, str(found)


def test_without_promises_stable_purges_what_the_other_side_needs() -> None:
    """Promises off (FLAW-105): found where merges take their time, as the network is cut during them."""
    slow = Faults(frozenset({"merge", "partition"}), rate=0.02)
    core = broken("merge", effects_without(DigestPromised, PromiseWithdrawn))
    found = violation(evolve(setup("merge/stable", ALL, cores=core, members=3), faults=slow))
    assert "NoPrematurePurge" == found.claim, str(found)


@pytest.mark.parametrize(
    ("name", "other", "claims"),
    [
        ("_merged_view", counter_above_own, {"CounterRises"}),
        ("_merged_view", named_by_first, {"CreatorIsThere"}),
    ],
    ids=["counter_above_own", "named_by_first"],
)
def test_a_merged_view_that_is_named_wrongly_is_found(
    monkeypatch: pytest.MonkeyPatch, name: str, other: Callable[[Any, Any], Any], claims: set[str]
) -> None:
    rightly = getattr(merge, name)
    monkeypatch.setattr(merge, name, lambda state, chosen: other(state, rightly(state, chosen)))
    assert violation(setup("merge", ALL)).claim in claims


def test_overlapping_views_that_are_merged_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """RefusesOverlap off (FLAW-104)."""
    monkeypatch.setattr(merge, "_common", lambda *_: frozenset())
    assert violation(setup("merge", ALL)).claim in {"OnePath", "DigestIsGreatest"}


def test_a_merged_view_that_is_taken_from_any_view_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """ChecksPredecessor off (FLAW-106)."""
    monkeypatch.setattr(merge, "_follows_own", lambda *_: True)
    assert violation(setup("merge", ALL)).claim in {"OnePath", "StartsWhereTold"}


def test_a_digest_of_the_last_answer_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """DigestMerged: the last."""
    monkeypatch.setattr(merge, "_greatest", lambda vectors: tuple([*vectors][-1].items()))
    claims = {"DigestIsGreatest", "StartsWhereTold", "NoCrash", "LivesAreKnown"}
    assert violation(setup("merge", ALL)).claim in claims


def test_a_first_member_that_does_not_coordinate_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """PromotesFirst off (FLAW-46)."""

    def made_it(state: Any) -> bool:  # noqa: ANN401
        return bool(state.joined) and state.decision.id.creator == state.member == state.decision.members[0]

    monkeypatch.setattr(merge.State, "coordinates", property(made_it))
    assert "Settled" == violation(setup("merge", ALL)).claim


# Addresses that come back.

RESTARTS = Faults(ALL - {"suspicion", "leave", "partition"}, rate=0.2)


def test_addresses_come_back() -> None:
    outcome = all_holds(evolve(setup("merge", ALL, members=4), faults=RESTARTS), events=20_000, seed=4000)
    assert 100 <= outcome.kinds["restarts"]


def test_a_former_incarnation_that_is_merged_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """RefusesFormer off (FLAW-110)."""
    monkeypatch.setattr(merge, "_former", lambda *_: frozenset())
    assert "JoinersBegin" == violation(setup("merge", ALL)).claim


def test_an_address_that_uses_an_identifier_again_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """MayComeTo off: what is assumed of the membership service."""
    monkeypatch.setattr(Merging, "may_come_to", lambda *_: True)
    few = evolve(setup("merge", ALL, members=2), faults=Faults(ALL, rate=0.1))
    assert "OneIdOneView" == violation(few).claim
