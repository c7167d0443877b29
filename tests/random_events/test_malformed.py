"""Malformed messages from peers: no core and no stack raises anything but a RemoteProtocolError."""

import random
from typing import Any

import pytest
from attrs import evolve

from groupcomm import flush, gms, merge, sequencer
from groupcomm.digest import Vector
from groupcomm.errors import RemoteProtocolError
from groupcomm.view import NO_VIEW, View, ViewId
from groupcomm_conformance.random_events import malformed
from groupcomm_conformance.random_events.drawn import distorted
from groupcomm_simulator.setup import WHOLE, Setup
from tests.cores import PROTOCOLS

VIEW = View(ViewId(3, "A"), ("A", "B", "C"))
DECIDED = gms.Decision(
    VIEW.id, VIEW.members, ViewId(2, "A"), gms.Lives(tuple((m, 0) for m in "ABC")), frozenset(), Vector(())
)
JOINED = evolve(DECIDED, joiners=frozenset("C"), digest=Vector.of(A=1, B=2))


@pytest.mark.parametrize("stack", [WHOLE, ("flush", "gms", "stable")], ids="/".join)
def test_stacks_in_the_states_of_simulated_runs_bear_them(stack: tuple[str, ...]) -> None:
    came = malformed.send(Setup(stack), PROTOCOLS, 8_000, seed=1)
    assert {} == came.findings, came.examples
    assert {"handled", "ignored", "remote_error"} == {*came.outcomes}
    assert {*stack} == {*came.layers}


def test_a_layer_that_falls_over_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """`Recorded` without the check of the sender is what a malformed DATA finds: a core that looks it up."""
    taken = sequencer._data_received  # noqa: SLF001 - to break it

    def looks_up(state: Any, event: Any) -> Any:  # noqa: ANN401 - of SEQUENCER
        state.view.members.index(event.message.tag.sender)
        return taken(state, event)

    monkeypatch.setattr(sequencer, "_data_received", looks_up)
    came = malformed.send(Setup(), PROTOCOLS, 8_000, seed=1)
    assert {"ValueError"} == {finding.partition(" ")[0] for finding in came.findings}


def test_what_is_distorted_is_of_the_same_type_and_mostly_another() -> None:
    chance = random.Random(2009)  # noqa: S311 - repeatable, no secret
    message = gms.JoinRsp(JOINED)
    others = [distorted(PROTOCOLS["gms"], gms.start("C"), message, chance) for _ in range(200)]
    assert {gms.JoinRsp} == {*map(type, others)}
    assert len({each for each in others if each != message}) > 100


NOT_SOUND = (
    evolve(JOINED, members=()),
    evolve(JOINED, members=("A", "B", "C", "A")),
    evolve(JOINED, members=("A", "B")),
    evolve(JOINED, id=ViewId(2, "B")),
    evolve(JOINED, lives=gms.Lives((("A", 0), ("B", 0)))),
    evolve(JOINED, lives=gms.Lives((("A", 0), ("B", -1), ("C", 0)))),
    evolve(JOINED, joiners=frozenset("CD")),
)
"""A decision that no coordinator makes. Its members are none, one twice, without the joiner, or not later than the
predecessor. Or its incarnations lack the joiner, or are below 0, or the joiner is no member."""


GMS = gms.Config(max_bundle=3)


def refused(core: Any, state: Any, event: Any) -> None:  # noqa: ANN401 - of any protocol
    with pytest.raises(RemoteProtocolError) as raised:
        core.step(GMS if core is gms else core.Config(), state, event)
    assert (state, event) == (raised.value.state, raised.value.event)


@pytest.mark.parametrize("decision", NOT_SOUND)
def test_no_decision_is_taken_that_no_member_makes(decision: gms.Decision) -> None:
    joining = evolve(gms.start("C"), joining=True)
    refused(gms, joining, gms.JoinRspReceived("A", gms.JoinRsp(decision)))
    member = gms.enter(gms.start("C"), DECIDED)
    refused(gms, member, gms.NewViewReceived("A", gms.NewView(decision)))
    refused(gms, member, gms.AnswerReceived("A", gms.Answer(VIEW.id, decision)))
    coordinator = evolve(merge.start("Z"), decision=evolve(DECIDED, members=("Z",)))
    request = merge.MergeReq(merge.MergeId("A", 0, 1), decision)
    with pytest.raises(RemoteProtocolError):
        merge.step(merge.Config(1, 1, 1, 1), coordinator, merge.MergeReqReceived("A", request, Vector.of(Z=0)))


def test_a_first_view_comes_from_a_senior_with_a_digest_of_all_others() -> None:
    joining = evolve(gms.start("C"), joining=True)
    gms.step(GMS, joining, gms.JoinRspReceived("A", gms.JoinRsp(JOINED)))
    first = evolve(JOINED, members=("C", "A", "B"))
    refused(gms, joining, gms.JoinRspReceived("A", gms.JoinRsp(first)))
    short = evolve(JOINED, digest=Vector.of(A=1))
    refused(gms, joining, gms.JoinRspReceived("A", gms.JoinRsp(short)))


def test_nobody_asks_a_member_that_it_counts_out() -> None:
    refused(gms, gms.start("C"), gms.QueryReceived("B", gms.Query(VIEW.id, frozenset("AC"))))
    refused(gms, gms.start("C"), gms.QueryReceived("B", gms.Query(VIEW.id, frozenset("AB"))))


def test_a_life_is_not_below_0() -> None:
    founder = gms.step(GMS, gms.start("A"), gms.JoinRequested("A", 0))[0]
    refused(gms, founder, gms.JoinReqReceived("B", gms.JoinReq(-1)))


@pytest.mark.parametrize(
    ("target", "holders"),
    [("AB", {"A": "A", "B": "A", "C": "A"}), ("ABC", {"A": "A", "B": "A"}), ("ABC", {"A": "A", "B": "A", "C": "Z"})],
    ids=["target lacks C", "holders lack C", "no member holds"],
)
def test_reconcile_names_a_target_and_a_holder_of_each_member(target: str, holders: dict[str, str]) -> None:
    delivered = Vector.of(A=0, B=0, C=0)
    stopped = evolve(flush.start("B"), view=VIEW, delivered=delivered, owner="A", asker=flush.FOR_VIEWS)
    vector = Vector(tuple((member, 1) for member in target))
    message = flush.Reconcile(VIEW.id, 2, vector, flush.Holders(tuple(holders.items())))
    refused(flush, stopped, flush.ReconcileReceived("A", message))


def test_data_beyond_what_is_held_back_and_of_a_view_to_come_is_a_peers_mistake() -> None:
    delivered = Vector.of(A=0, B=0, C=0)
    frozen = evolve(flush.start("B"), view=VIEW, delivered=delivered, frozen=True, limit=delivered)
    refused(flush, frozen, flush.DataReceived("A", flush.Data(VIEW.id, 1, flush.Payload("late"))))
    tag = sequencer.Tag("A", VIEW.id, 1)
    early = sequencer.DataReceived("A", sequencer.Data(VIEW.id, tag, flush.Payload("early")))
    for state in (sequencer.start("B"), evolve(sequencer.start("B"), view=evolve(NO_VIEW, id=ViewId(2, "A")))):
        refused(sequencer, state, early)


def test_only_gms_and_state_transfer_flush() -> None:
    member = evolve(flush.start("B"), view=VIEW, delivered=Vector.of(A=0, B=0, C=0))
    refused(flush, member, flush.StartFlushReceived("A", flush.StartFlush(VIEW.id, 1, "another")))
