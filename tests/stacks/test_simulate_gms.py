"""simulate with GMS: real joins, leaves, crashes and suspicions under a stack; a broken GMS is found."""

from typing import Any

import pytest
from attrs import evolve

from groupcomm import gms
from groupcomm.effects import PassDown, Send
from groupcomm.events import DigestGiven, DigestPromised, GroupStopped, PromiseWithdrawn
from groupcomm_conformance.stacks.running import borne
from tests.simulated import all_holds, broken, setup, violation

BORNE = borne(("gms",))
"""What GMS bears. Nothing here merges groups."""

STACKS = ["gms", "gms/stable", "sequencer/gms"]


@pytest.mark.parametrize("stack", STACKS)
def test_a_hundred_thousand_events_and_all_that_is_promised_holds(stack: str) -> None:
    """Of each stack: 50,000 with false suspicions in every other group, and 50,000 without any."""
    for kinds, seed in ((BORNE, 1000), (BORNE - {"suspicion"}, 2000)):
        outcome = all_holds(setup(stack, kinds), events=50_000, seed=seed)
        happened = {kind for kind, count in outcome.kinds.items() if count}
        assert {"start", "join", "leave", "crash", "suspect", "partition", "heal"} <= happened
        assert {"notice", "hush", "stop", "digest", "fetch", "multicast", "data", "lose"} <= happened
        assert ("install" in happened) == stack.startswith("sequencer")


# Broken cores: a guard of the specification is off, by its name there.


def answer_after_acks(config: Any, state: Any, event: Any) -> Any:  # noqa: ANN401
    """AnswerAfterAcks off: the joiner is answered at once."""
    after, effects = gms.step(config, state, event)
    if not (after.owed and after.awaiting):
        return after, effects
    answers = (Send(member, gms.JoinRsp(after.decision)) for member in sorted(after.owed))
    return evolve(after, owed=frozenset(), awaiting=after.awaiting | after.owed), (*effects, *answers)


def ask_before_deciding(config: Any, state: Any, event: Any) -> Any:  # noqa: ANN401
    """AskBeforeDeciding off: who takes over decides at once."""
    after, effects = gms.step(config, state, event)
    if after.phase != "asking":
        return after, effects
    leading = evolve(after, phase="leading", asking=frozenset())
    unasked = tuple(e for e in effects if not (isinstance(e, Send) and isinstance(e.message, gms.Query)))
    ready, more = gms.proceed(leading)  # what a member that leads does next
    return ready, (*unasked, *more)


def refuse_seniors(config: Any, state: Any, event: Any) -> Any:  # noqa: ANN401
    """RefuseSeniors off: who answers a QUERY still takes what the asker's seniors send."""
    after, effects = gms.step(config, state, event)
    if not isinstance(event, gms.QueryReceived):
        return after, effects
    return state, tuple(e for e in effects if isinstance(e, Send))


def joiner_answers(config: Any, state: Any, event: Any) -> Any:  # noqa: ANN401
    """JoinerAnswers off: a joiner that has no view yet says nothing when it is asked."""
    if isinstance(event, gms.QueryReceived) and not state.joined:
        return state, ()
    return gms.step(config, state, event)


def predecessor_check(config: Any, state: Any, event: Any) -> Any:  # noqa: ANN401
    """PredecessorCheck off: a member installs whatever view it is in."""
    if isinstance(event, gms.NewViewReceived) and state.joined:
        behind = evolve(state, decision=evolve(state.decision, id=event.message.decision.follows))
        after, effects = gms.step(config, behind, event)
        if after.decision == event.message.decision:
            return after, effects
    return gms.step(config, state, event)


def struck(config: Any, state: Any, event: Any) -> Any:  # noqa: ANN401
    """What is awaited of the dead is awaited on."""
    after, effects = gms.step(config, state, event)
    if isinstance(event, gms.Suspected) and event.suspect in state.asking | state.awaiting | state.owed:
        return evolve(state, suspected=after.suspected), ()
    return after, effects


def tagged_requests(config: Any, state: Any, event: Any) -> Any:  # noqa: ANN401
    """TaggedRequests off: GMS takes every digest for its own (EVT-03)."""
    if isinstance(event, DigestGiven):
        event = DigestGiven("GMS", state.asked, event.digest)
    return gms.step(config, state, event)


def withdraw(config: Any, state: Any, event: Any) -> Any:  # noqa: ANN401
    """A promise is never taken back."""
    after, effects = gms.step(config, state, event)
    return after, tuple(e for e in effects if e != PassDown(PromiseWithdrawn(state.admitting.member)))


def promise(config: Any, state: Any, event: Any) -> Any:  # noqa: ANN401
    """The layers below are told of no promise, though the digest is given away."""
    after, effects = gms.step(config, state, event)
    return after, tuple(e for e in effects if e != PassDown(DigestPromised(after.admitting.member)))


def leavers_go(config: Any, state: Any, event: Any) -> Any:  # noqa: ANN401
    """A coordinator sends the view without the leaver, and installs it with the leaver in it."""
    after, effects = gms.step(config, state, event)
    if not (isinstance(event, GroupStopped) and len(after.decision.members) < len(state.decision.members)):
        return after, effects
    return evolve(after, decision=evolve(after.decision, members=state.decision.members)), effects


def stubborn(config: Any, state: Any, event: Any) -> Any:  # noqa: ANN401
    """A joiner goes on refusing an address of which another life was let in."""
    after, effects = gms.step(config, state, event)
    if isinstance(event, gms.JoinRequested):
        return evolve(after, suspected=state.suspected), effects
    if isinstance(event, gms.JoinRspReceived) and not state.joined and after.joined:
        return evolve(after, suspected=state.suspected & {*after.decision.members}), effects
    return after, effects


BROKEN = [
    ("gms", answer_after_acks, {"OneLine", "NobodyIsDropped", "OnePath"}),
    ("gms", ask_before_deciding, {"OneLine", "NobodyIsDropped", "OnePath", "Settled"}),
    ("gms", refuse_seniors, {"OneLine", "NobodyIsDropped", "OnePath", "Settled"}),
    ("gms", joiner_answers, {"Settled"}),
    ("gms", predecessor_check, {"OnePath"}),
    ("gms", struck, {"Settled"}),
    ("gms", tagged_requests, {"StateIsAnswered", "ToldDelivered", "NoRefusals"}),
    ("gms", withdraw, {"OneAtATime"}),
    ("gms/stable", promise, {"OnlyByPromise"}),
    ("gms", leavers_go, {"OneIdOneView"}),
    ("gms", stubborn, {"Settled"}),
]


@pytest.mark.parametrize(("stack", "step", "claims"), BROKEN, ids=[step.__name__ for _, step, _ in BROKEN])
def test_a_guard_that_is_off_is_found(stack: str, step: Any, claims: set[str]) -> None:  # noqa: ANN401
    doubts = frozenset({"suspicion"}) if step is not withdraw else frozenset()
    found = violation(setup(stack, BORNE - doubts, cores=broken("gms", step)))
    assert found.claim in claims, str(found)
