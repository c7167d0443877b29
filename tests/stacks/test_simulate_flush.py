"""simulate with FLUSH: joins, leaves, crashes and suspicions under a stack; a broken FLUSH is found."""

from collections.abc import Callable
from typing import Any

import pytest
from attrs import evolve

from groupcomm import flush
from groupcomm.effects import PassDown
from groupcomm.events import HoldBack
from groupcomm.stack import StackError
from groupcomm_conformance.stacks.changes import FAULTS
from groupcomm_conformance.stacks.claims import BEYOND, CLAIMS
from groupcomm_conformance.stacks.running import simulate
from tests.simulated import all_holds, broken, setup, violation

BORNE = frozenset(FAULTS) - BEYOND["VirtualSynchrony"]
"""What FLUSH bears: it merges nothing, and addresses are not used again."""

CRASHES = BORNE - {"suspicion", "partition"}

STACKS = ["flush", "sequencer/flush", "sequencer/flush/stable"]


@pytest.mark.parametrize("stack", STACKS)
def test_a_hundred_thousand_events_and_all_that_is_promised_holds(stack: str) -> None:
    """Of each stack: 50,000 with false suspicions in every other group, and 50,000 without any."""
    for kinds, seed in ((BORNE, 1000), (BORNE - {"suspicion"}, 2000)):
        outcome = all_holds(setup(stack, kinds), events=50_000, seed=seed)
        happened = {kind for kind, count in outcome.kinds.items() if count}
        assert {"found", "start", "join", "leave", "ask", "crash", "suspect", "partition", "heal"} <= happened
        assert {"return", "serve", "message", "drop", "multicast", "data", "lose"} <= happened
        assert ({"gossip", "timer"} <= happened) == stack.endswith("stable")


# Broken cores: a guard of the specification is off, by its name there.

Step = Callable[[Any, Any, Any], Any]


def latch(config: Any, state: Any, event: Any) -> Any:  # noqa: ANN401
    """Latch off: multicasts go out while a flush is on."""
    after, effects = flush.step(config, state, event)
    return evolve(after, latched=False), effects


def freeze(config: Any, state: Any, event: Any) -> Any:  # noqa: ANN401
    """Freeze off: what comes after a report is delivered."""
    after, effects = flush.step(config, state, event)
    kept = tuple(e for e in effects if not (isinstance(e, PassDown) and isinstance(e.event, HoldBack)))
    return evolve(after, frozen=False), kept


def open_when(config: Any, state: Any, event: Any) -> Any:  # noqa: ANN401
    """OpenWhen is "suspected": a suspicion of the requester opens the latch."""
    after, effects = flush.step(config, state, event)
    if isinstance(event, flush.Suspected) and event.suspect == state.owner:
        return evolve(after, latched=False), effects
    return after, effects


def recheck(config: Any, state: Any, event: Any) -> Any:  # noqa: ANN401
    """Recheck off: a suspicion strikes off who is awaited, and nobody looks whether all have reported."""
    if isinstance(event, flush.Suspected) and state.run.running and event.suspect in state.run.want:
        run = evolve(state.run, want=state.run.want - {event.suspect})
        return evolve(state, run=run, suspected=state.suspected | {event.suspect}), ()
    return flush.step(config, state, event)


def drop_suspected(config: Any, state: Any, event: Any) -> Any:  # noqa: ANN401
    """DropSuspected off: a view of the dead is taken by who has answered its successor."""
    if not isinstance(event, flush.NewViewReceived) or event.sender not in state.suspected:
        return flush.step(config, state, event)
    trusting = evolve(state, suspected=state.suspected - {event.sender}, owner=event.sender)
    return flush.step(config, trusting, event)


BROKEN: list[tuple[Step, int | None, set[str]]] = [
    (latch, None, {"SilentWhileFrozen", "ClosedToCast", "SelfDelivery"}),
    (freeze, None, {"ClosedToReceive", "FirstHasAll", "LeavesExact"}),
    (open_when, None, {"SilentWhileFrozen", "ClosedToCast", "SelfDelivery"}),
    (recheck, None, {"Settled"}),
    (drop_suspected, 4, {"OneLine", "Settled", "LeavesExact", "FirstHasAll", "OnePath", "ClosedToReceive"}),
]
"""With how many members (None: any number); what falls is one of the claims."""


@pytest.mark.parametrize(("step", "members", "claims"), BROKEN, ids=[step.__name__ for step, *_ in BROKEN])
def test_a_guard_that_is_off_is_found(step: Step, members: int | None, claims: set[str]) -> None:
    found = violation(setup("flush", CRASHES, cores=broken("flush", step), members=members))
    assert found.claim in claims, str(found)


# What is one function of the core, by its name there.


def never_reconciled(original: Any) -> Any:  # noqa: ANN401
    """Reconcile off: the view follows reports that differ."""

    def ask(state: Any, phase: str, *rest: Any) -> Any:  # noqa: ANN401
        if phase == "reconcile":
            return flush._create_view(state)  # noqa: SLF001 - what it does on equal reports
        return original(state, phase, *rest)

    return ask


REPLACED: list[tuple[str, Any, int | None, set[str]]] = [
    ("_ask", never_reconciled, None, {"FirstHasAll", "LeavesExact", "SelfDelivery"}),
    ("_newest", lambda _: lambda state: state.decision, 7, {"OneLine", "Settled", "NobodyIsDropped"}),
    ("_asking_for_flush", lambda _: lambda _state: (), None, {"Settled"}),
    ("_go", lambda _: lambda state: (state, ()), None, {"OneLine", "Settled"}),
]


@pytest.mark.parametrize(
    ("name", "other", "members", "claims"), REPLACED, ids=[name for name, *_ in REPLACED]
)
def test_a_rule_that_is_left_out_is_found(
    name: str,
    other: Any,  # noqa: ANN401
    members: int | None,
    claims: set[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(flush, name, other(getattr(flush, name)))
    found = violation(setup("flush", CRASHES, members=members))
    assert found.claim in claims, str(found)


def test_without_reconciliation_sequencer_loses_agreement(monkeypatch: pytest.MonkeyPatch) -> None:
    """What FLUSH owes SEQUENCER, seen from above: nothing of FLUSH itself is judged."""
    monkeypatch.setattr(flush, "_ask", never_reconciled(flush._ask))  # noqa: SLF001
    ignored = frozenset(CLAIMS["VirtualSynchrony"])
    found = violation(setup("sequencer/flush", BORNE - {"suspicion"}, ignored=ignored))
    assert found.claim in {"Agreement", "TotalOrder", "EventuallyDelivered"}


@pytest.mark.parametrize("stack", ["flush/sequencer", "flush/gms", "gms/flush"])
def test_flush_stands_below_all_and_decides_alone(stack: str) -> None:
    with pytest.raises(StackError):
        simulate(setup(stack, BORNE), events=1, seed=1)
