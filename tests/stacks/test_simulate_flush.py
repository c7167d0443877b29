"""simulate with FLUSH over GMS: joins, leaves, crashes, suspicions, state transfers; what is broken is found."""

from collections.abc import Callable
from typing import Any

import pytest
from attrs import evolve

from groupcomm import flush
from groupcomm.effects import PassDown
from groupcomm.events import HoldBack
from groupcomm.stack import StackError
from groupcomm_conformance.stacks.claims import CLAIMS
from groupcomm_conformance.stacks.running import borne, simulate
from tests.simulated import all_holds, broken, setup, violation

BORNE = borne(("flush", "gms"))
"""What FLUSH over GMS bears: they merge nothing."""

CRASHES = BORNE - {"suspicion", "partition"}

STACKS = ["flush/gms", "sequencer/flush/gms/stable"]


@pytest.mark.parametrize("stack", STACKS)
def test_a_hundred_thousand_events_and_all_that_is_promised_holds(stack: str) -> None:
    """Of each stack: 50,000 with false suspicions in every other group, and 50,000 without any."""
    for kinds, seed in ((BORNE, 1000), (BORNE - {"suspicion"}, 2000)):
        outcome = all_holds(setup(stack, kinds), events=50_000, seed=seed)
        happened = {kind for kind, count in outcome.kinds.items() if count}
        assert {"start", "join", "leave", "crash", "suspect", "partition", "heal", "digest"} <= happened
        assert {"return", "serve", "message", "notice", "drop", "multicast", "data", "lose"} <= happened
        assert {"transfer", "transferred"} <= happened
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
    if isinstance(event, flush.Suspected) and state.running and event.suspect in state.run.want:
        run = evolve(state.run, want=state.run.want - {event.suspect})
        return evolve(state, run=run, suspected=state.suspected | {event.suspect}), ()
    return flush.step(config, state, event)


def joiner_waits(config: Any, state: Any, event: Any) -> Any:  # noqa: ANN401
    """JoinerWaits off: a joiner multicasts before STOP_FLUSH."""
    after, effects = flush.step(config, state, event)
    begins = isinstance(event, flush.ViewInstalled) and not state.joined
    return (evolve(after, latched=False) if begins else after), effects


BROKEN: list[tuple[Step, set[str]]] = [
    (latch, {"GroupIsStopped", "ClosedToCast", "SelfDelivery", "SilentWhileStopped", "QuietIsFree"}),
    (freeze, {"ClosedToReceive", "FirstHasAll", "LeavesExact", "GroupIsStopped"}),
    (open_when, {"SilentWhileStopped", "ClosedToCast", "SelfDelivery", "GroupIsStopped"}),
    (recheck, {"Settled", "QuietIsFree", "ComesToRest"}),
    (joiner_waits, {"ClosedToCast", "GroupIsStopped", "LeavesExact", "FirstHasAll", "QuietIsFree"}),
]
"""What falls is one of the claims."""


@pytest.mark.parametrize(("step", "claims"), BROKEN, ids=[step.__name__ for step, _ in BROKEN])
def test_a_guard_that_is_off_is_found(step: Step, claims: set[str]) -> None:
    found = violation(setup("flush/gms", CRASHES, cores=broken("flush", step)))
    assert found.claim in claims, str(found)


# What is one function of the core, by its name there.


def never_reconciled(original: Any) -> Any:  # noqa: ANN401
    """Reconcile off: the group is taken for stopped though reports differ."""

    def ask(state: Any, phase: str, *rest: Any) -> Any:  # noqa: ANN401
        if phase == "reconcile":
            return flush._tell(state)  # noqa: SLF001 - what it does on equal reports
        return original(state, phase, *rest)

    return ask


REPLACED: list[tuple[str, Any, frozenset[str], set[str]]] = [
    ("_ask", never_reconciled, CRASHES, {"GroupIsStopped", "FirstHasAll", "LeavesExact", "SelfDelivery"}),
    ("_take_later", lambda _: lambda state: (state, ()), BORNE, {"QuietIsFree", "Settled", "ComesToRest"}),
    ("_goes_first", lambda _: lambda *_: True, BORNE, {"GroupIsStopped", "QuietIsFree", "Settled"}),
]
"""With which faults; what falls is one of the claims."""


@pytest.mark.parametrize(("name", "other", "kinds", "claims"), REPLACED, ids=[name for name, *_ in REPLACED])
def test_a_rule_that_is_left_out_is_found(
    name: str,
    other: Any,  # noqa: ANN401
    kinds: frozenset[str],
    claims: set[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(flush, name, other(getattr(flush, name)))
    found = violation(setup("flush/gms", kinds))
    assert found.claim in claims, str(found)


def test_without_reconciliation_sequencer_loses_agreement(monkeypatch: pytest.MonkeyPatch) -> None:
    """What FLUSH owes SEQUENCER, seen from above: nothing of FLUSH itself is judged."""
    monkeypatch.setattr(flush, "_ask", never_reconciled(flush._ask))  # noqa: SLF001
    ignored = frozenset(CLAIMS["VirtualSynchrony"])
    found = violation(setup("sequencer/flush/gms", BORNE - {"suspicion"}, ignored=ignored))
    assert found.claim in {"Agreement", "TotalOrder", "EventuallyDelivered"}


@pytest.mark.parametrize("stack", ["flush", "gms/flush", "flush/stable", "flush/merge", "flush/stable/gms"])
def test_flush_stands_on_gms(stack: str) -> None:
    """It makes no views; who stands between the two would see others than GMS has."""
    with pytest.raises(StackError, match="flush stands on gms"):
        simulate(setup(stack, BORNE), events=1, seed=1)
