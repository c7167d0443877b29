"""stack: protocols over one another, with three small layers that are made for it."""

import sys
from functools import partial
from types import SimpleNamespace
from typing import Annotated, Any, TypeAlias, cast

import pytest
from attrs import evolve, frozen

from groupcomm import events, flush, sequencer
from groupcomm.digest import Digest, DigestEntry
from groupcomm.effects import ALL, CancelTimer, Datagram, Multicast, PassDown, PassUp, Send, SetTimer
from groupcomm.errors import LocalProtocolError, RemoteProtocolError
from groupcomm.events import Below, Deliver, MergeViewInstalled, Payload, ViewInstalled
from groupcomm.stack import Arrived, Called, Fired, Layer, Raised, Stack, StackError, Tagged
from groupcomm.view import View, ViewId
from tests.cores import is_refused

AB = View(ViewId(1, "A"), ("A", "B"))
DIGEST = Digest((member, DigestEntry(-1, 3, 3)) for member in "AB")
GROUND = ("VirtualSynchrony", "ReliableUnicast", "Departures", "Network")


# A layer that seals what is sent through it, and wants to know the digest of each view. This module is its core.

ASSUMES = ("Network",)
GIVES = ("Sealing",)


@frozen
class Seal:
    """A message of the layer above, sealed."""

    payload: Payload


@frozen
class SendRequested:
    """The layer above multicasts."""

    payload: Payload


@frozen
class SealReceived:
    """A sealed message arrived."""

    sender: str
    message: Seal


@frozen
class Installed(ViewInstalled):
    """A view, and what the layer below had delivered then."""

    digest: Annotated[Digest, Below]


@frozen
class MergeInstalled(MergeViewInstalled):
    """A merged view, likewise."""

    digest: Annotated[Digest, Below]


@frozen
class BreakRetryTimeout:
    """Timer `break_retry` fired."""


@frozen
class RoundTimeout:
    """Timer `round/number` fired; the layer below then had `seals`."""

    number: int
    seals: Annotated[frozenset[str], Below]


Message: TypeAlias = Seal
Event: TypeAlias = SendRequested | SealReceived | Installed | BreakRetryTimeout | RoundTimeout
Effect: TypeAlias = SetTimer | CancelTimer | Multicast[Seal] | Datagram[Seal] | PassUp[Deliver]


@frozen
class State:
    """The events so far."""

    member: str
    seen: tuple[object, ...] = ()


def start(member: str) -> State:
    return State(member)


def step(_config: object, state: State, event: Event) -> tuple[State, tuple[object, ...]]:
    after = evolve(state, seen=(*state.seen, event))
    match event:
        case SendRequested(Tagged(_, sequencer.Data(_, _, "refuse this"))):
            raise LocalProtocolError(state, event, "the seal is broken")
        case SendRequested(payload):
            timer = "break_retry"
            return after, (SetTimer(timer, 1, 2), Multicast(Seal(payload)), CancelTimer(timer))
        case SealReceived(sender, message):
            return after, (Datagram(ALL, Seal(Payload("thanks"))), PassUp(Deliver(sender, message.payload)))
        case Installed() | BreakRetryTimeout() | RoundTimeout():
            return after, ()


HERE: Any = sys.modules[__name__]
SEALING = Layer.of(HERE, None)
ORDERING = Layer.of(sequencer, sequencer.Config())


def joined(stack: Stack, member: str = "A") -> Any:  # noqa: ANN401 - a stack's state
    event = Raised(ViewInstalled(AB), (DIGEST,))
    return stack.step(None, stack.start(member), event)[0]


def both() -> Stack:
    return Stack((ORDERING, SEALING), GROUND)


def test_a_view_is_heard_by_every_layer_and_goes_on_to_the_application() -> None:
    stack = both()
    state, effects = stack.step(None, stack.start("A"), Raised(ViewInstalled(AB), (DIGEST,)))
    assert AB == stack.of(sequencer, state).view
    assert (Installed(AB, DIGEST),) == stack.of(HERE, state).seen
    assert (PassUp(ViewInstalled(AB)),) == effects


def test_a_merged_view_is_a_view_to_who_knows_no_more() -> None:
    stack = Stack(
        (ORDERING, SEALING, Layer.of(flush, flush.Config())),
        (*GROUND, "Membership", "StopRequests", "ReliableMulticast"),
    )
    event = Raised(MergeViewInstalled(AB, frozenset({AB.id})), (DIGEST,))
    assert (Digest,) == stack.takes(event)
    state, effects = stack.step(None, stack.start("A"), event)
    assert {AB} == {stack.of(sequencer, state).view, stack.of(flush, state).view}
    assert (Installed(AB, DIGEST),) == stack.of(HERE, state).seen
    assert (PassUp(event.event),) == effects


def test_what_a_layer_takes_from_below_has_to_come_with_the_event() -> None:
    stack = both()
    event = Raised(ViewInstalled(AB))
    assert (Digest,) == stack.takes(event)
    with pytest.raises(LocalProtocolError, match="Installed takes its digest from below, and no Digest came"):
        stack.step(None, stack.start("A"), event)
    assert () == Stack((ORDERING,), GROUND).takes(event)


def counting(**more: Any) -> Layer:  # noqa: ANN401 - what else its module has
    """A layer that counts the views it hears, and passes up a digest with that many multicasts of each member."""

    def start(member: str) -> State:
        return State(member)

    def step(_config: object, state: State, event: object) -> tuple[State, tuple[object, ...]]:
        return evolve(state, seen=(*state.seen, event)), ()

    def below(state: State) -> tuple[Digest]:
        views = len(state.seen)
        return (Digest((member, DigestEntry(-1, views, views)) for member in "AB"),)

    said = {"__name__": "counting", "Event": ViewInstalled, "Message": Seal, "Effect": PassUp[Deliver]}
    said |= {"ASSUMES": (), "GIVES": (), "start": start, "step": step, "below": below}
    module = SimpleNamespace(**{**said, **more})
    return Layer.of(module, None)


def told(views: int) -> Digest:
    return Digest((member, DigestEntry(-1, views, views)) for member in "AB")


def test_a_view_that_is_passed_down_is_heard_lowest_first_with_what_is_told_then() -> None:
    stack = Stack((ORDERING, SEALING, counting()), GROUND)
    event = Called(PassDown(ViewInstalled(AB)))
    assert () == stack.takes(event)
    state, effects = stack.step(None, stack.start("A"), event)
    assert (event.request,) == effects
    assert AB == stack.of(sequencer, state).view
    assert (Installed(AB, told(1)),) == stack.of(HERE, state).seen


def test_what_is_below_is_read_when_the_layer_takes_its_event() -> None:
    """A call from the top begins nothing below; two views later the digest is another, the nearest teller's."""
    stack = Stack((SEALING, counting(), evolve(counting(), name="further")), GROUND)
    state = stack.start("A")
    for view in (AB, View(ViewId(2, "A"), ("A", "B"))):
        state, _ = stack.step(None, state, Raised(ViewInstalled(view), (DIGEST,)))
    assert [told(1), told(2)] == [event.digest for event in stack.of(HERE, state).seen]


def test_what_no_layer_beneath_tells_has_to_come_when_a_view_is_passed_down() -> None:
    stack = Stack((counting(), SEALING), GROUND)
    event = Called(PassDown(ViewInstalled(AB)))
    assert (Digest,) == stack.takes(event)
    with pytest.raises(LocalProtocolError, match="Installed takes its digest from below, and no Digest came"):
        stack.step(None, stack.start("A"), event)


def test_a_layer_that_tells_something_says_what() -> None:
    def below(_state: State):  # type: ignore[no-untyped-def]  # noqa: ANN202 - it is what is tried
        return ()

    with pytest.raises(StackError, match=r"counting.below needs an annotation: `-> tuple\[Digest\]`"):
        counting(below=below)


def test_a_multicast_is_a_call_of_the_layer_below_which_takes_it_as_its_payload() -> None:
    """And that layer's effects leave the stack in their order, tagged with its name."""
    stack = both()
    _, effects = stack.step(None, joined(stack), Called(Multicast(Payload("hello"))))
    data = sequencer.Data(AB.id, sequencer.Tag("A", AB.id, 1), Payload("hello"))
    name = SEALING.name
    assert (
        SetTimer(f"{name}/break_retry", 1, 2),
        Multicast(Tagged(name, Seal(Payload(Tagged("sequencer", data))))),
        CancelTimer(f"{name}/break_retry"),
    ) == effects


def test_a_message_comes_up_through_the_layers_and_all_that_follows_from_it_first() -> None:
    """Depth first: the datagram is the first effect of the lower layer, the delivery follows from its second."""
    stack = both()
    data = sequencer.Data(AB.id, sequencer.Tag("B", AB.id, 1), Payload("hello"))
    arrives = Arrived("A", Tagged(SEALING.name, Seal(Payload(Tagged("sequencer", data)))))
    _, effects = stack.step(None, joined(stack), arrives)
    thanks = Datagram(ALL, Tagged(SEALING.name, Seal(Payload("thanks"))))
    assert (thanks, PassUp(Deliver("B", Payload("hello")))) == effects


def test_what_no_layer_serves_leaves_the_stack_and_comes_back_to_the_application() -> None:
    stack = Stack((SEALING,), GROUND)
    state, effects = stack.step(None, joined(stack), Called(Send("B", Payload("just you"))))
    assert (Send("B", Tagged("", "just you")),) == effects
    _, effects = stack.step(None, state, Arrived("B", Tagged("", "just you")))
    assert (PassUp(Deliver("B", Payload("just you"))),) == effects


def test_what_a_layer_sends_and_none_beneath_serves_leaves_with_the_layer_s_name() -> None:
    stack = Stack((ORDERING,), GROUND)
    joined = View(ViewId(1, "B"), ("B", "A"))
    state, _ = stack.step(None, stack.start("A"), Raised(ViewInstalled(joined)))
    _, effects = stack.step(None, state, Called(Multicast(Payload("hello"))))
    assert [("B", "sequencer")] == [(each.to, each.message.layer) for each in effects if isinstance(each, Send)]


def test_what_is_no_effect_is_carried_nowhere() -> None:
    def step(_config: object, state: State, event: object) -> tuple[State, tuple[object, ...]]:
        return state, (event,)

    stack = Stack((counting(step=step),), GROUND)
    with pytest.raises(StackError, match="counting has an effect that no stack can carry: ViewInstalled"):
        stack.step(None, stack.start("A"), Raised(ViewInstalled(AB)))


def test_an_event_that_no_layer_knows_passes() -> None:
    stack = both()
    state = joined(stack)
    promised = events.DigestPromised("C")
    assert (state, (PassUp(promised),)) == stack.step(None, state, Raised(promised))
    assert (state, (PassDown(promised),)) == stack.step(None, state, Called(PassDown(promised)))


def test_a_timer_fires_in_the_layer_that_set_it() -> None:
    stack = both()
    state, _ = stack.step(None, joined(stack), Fired(f"{SEALING.name}/break_retry"))
    assert BreakRetryTimeout() == stack.of(HERE, state).seen[-1]
    stray = Fired("sequencer/break_retry")
    is_refused(
        partial(stack.step, None), state, stray, LocalProtocolError, f"the stack {stack} has no timer {stray.timer!r}"
    )


def test_the_number_in_a_timer_s_name_comes_with_its_event() -> None:
    """It says which of several the timer was set for; and a set can be taken from below."""
    stack = both()
    event = Fired(f"{SEALING.name}/round/12", (frozenset({"wax"}),))
    assert (frozenset,) == stack.takes(event)
    state, _ = stack.step(None, joined(stack), event)
    assert RoundTimeout(12, frozenset({"wax"})) == stack.of(HERE, state).seen[-1]


@pytest.mark.parametrize("timer", ["round", "round/", "round/x", "round/1/2", "break_retry/1", "seal/1"])
def test_a_timer_has_a_number_where_its_event_has_one(timer: str) -> None:
    stack = both()
    with pytest.raises(LocalProtocolError, match=f"has no timer '{SEALING.name}/{timer}'"):
        stack.step(None, joined(stack), Fired(f"{SEALING.name}/{timer}", (frozenset(),)))


def test_a_refused_event_changes_nothing_in_any_layer() -> None:
    """All or nothing: the upper layer has taken its step when the lower one refuses."""
    stack = both()
    before = joined(stack)
    event = Called(Multicast(Payload("refuse this")))
    reason = f"{SEALING.name}: the seal is broken"
    is_refused(partial(stack.step, None), before, event, LocalProtocolError, reason)
    assert (0, ()) == (stack.of(sequencer, before).seqno, stack.of(sequencer, before).forward_table)
    _, effects = stack.step(None, before, Called(Multicast(Payload("hello"))))
    assert (
        Multicast(
            Tagged(
                SEALING.name,
                Seal(
                    Payload(Tagged("sequencer", sequencer.Data(AB.id, sequencer.Tag("A", AB.id, 1), Payload("hello"))))
                ),
            )
        )
        in effects
    ), "the first seqno is still to be had"


def test_a_view_is_no_merge_to_a_layer_that_knows_both() -> None:
    """Both of the layer's classes are derived from the class that is passed: the nearer is heard."""
    layer = counting(Event=MergeInstalled | Installed)
    stack = Stack((layer,), GROUND)
    views = ViewInstalled(AB), MergeViewInstalled(AB, frozenset())
    heard: list[object] = []
    for view in views:
        state, _ = stack.step(None, stack.start("A"), Raised(view, (DIGEST,)))
        heard += cast("State", state.layers[0]).seen
    assert [Installed(AB, DIGEST), MergeInstalled(AB, frozenset(), DIGEST)] == heard


def test_a_message_that_no_layer_has_is_its_sender_s_mistake() -> None:
    """Also a message that comes within another layer's message."""
    stack = both()
    before = joined(stack)
    seal, strange = Seal(Payload("wax")), Tagged("nobody", 1)
    for message, of in [
        (strange, "no message int of 'nobody'"),
        (Tagged("sequencer", seal), "no message Seal of 'sequencer'"),
        (Tagged(SEALING.name, Seal(Payload(strange))), "no message int of 'nobody'"),
    ]:
        event = Arrived("B", message)
        is_refused(partial(stack.step, None), before, event, RemoteProtocolError, f"the stack {stack} has {of}")


def test_what_changes_nothing_is_ignored() -> None:
    """The same state, and no effects, as of any core; also where a layer gives an equal state."""

    def step(_config: object, state: State, _event: object) -> tuple[State, tuple[object, ...]]:
        return evolve(state), ()

    stack = Stack((counting(step=step, Event=BreakRetryTimeout),), GROUND)
    state = stack.start("A")
    after, effects = stack.step(None, state, Fired("counting/break_retry"))
    assert (True, ()) == (after is state, effects)


def test_a_stack_without_the_ground_that_a_layer_stands_on_is_refused() -> None:
    reason = (
        "sequencer assumes VirtualSynchrony, which nothing below it gives "
        r"\(below are: Membership, Network, ReliableUnicast, Sealing\) and nothing above it passes down"
    )
    with pytest.raises(StackError, match=reason):
        Stack((ORDERING, SEALING), ("ReliableUnicast", "Network", "Membership"))


def test_a_guarantee_that_is_given_above_is_not_given_below() -> None:
    with pytest.raises(StackError, match="sequencer assumes Sealing"):
        Stack((SEALING, evolve(ORDERING, assumes=("Sealing",))), GROUND)


def test_flush_above_sequencer_is_refused() -> None:
    """As JGroups' sequencer.xml has had it: after a crash of the coordinator no view ever came."""
    above = (Layer.of(flush, flush.Config()), Layer.of(sequencer, sequencer.Config()))
    ground = ("ReliableUnicast", "ReliableMulticast", "Network", "Membership", "StopRequests")
    with pytest.raises(StackError, match="sequencer assumes VirtualSynchrony, which nothing below it gives"):
        Stack(above, ground)


def test_a_layer_s_state_is_found_by_the_module_of_its_core() -> None:
    """Also where another core runs in its place, as one that notes each step does."""
    wrapped = Layer.of(SimpleNamespace(start=start, step=step), None, declared_by=HERE)
    for sealing in (SEALING, wrapped):
        stack = Stack((ORDERING, sealing), GROUND)
        state = stack.start("A")
        assert sequencer.start("A") == stack.of(sequencer, state)
        assert start("A") == stack.of(HERE, state)
    with pytest.raises(StackError, match="flush is no layer of the stack sequencer/test_comp"):
        stack.of(flush, state)


def test_what_a_layer_passes_down_is_given_to_those_beneath_it() -> None:
    """And to no layer above it, if it is not given there too."""
    needs = evolve(ORDERING, assumes=("Sealing",))
    gives = evolve(SEALING, gives=(), gives_below=("Sealing",))
    assert ("sequencer",) == tuple(each.name for each in Stack((gives, needs), GROUND).layers[1:])
    with pytest.raises(StackError, match="sequencer assumes Sealing"):
        Stack((needs, gives), GROUND)


def test_a_layer_beneath_one_that_holds_back_has_no_multicasts_of_its_own() -> None:
    """One that carries those of the layers above may stand there."""
    ground = (*GROUND, "Membership", "StopRequests", "ReliableMulticast")
    flushing = Layer.of(flush, flush.Config())
    own = counting(Effect=Multicast[Seal])
    with pytest.raises(StackError, match="counting multicasts messages of its own beneath flush"):
        Stack((flushing, SEALING, own), ground)
    assert Stack((own, flushing, SEALING, counting(__name__="telling")), ground)


def test_two_layers_of_one_name_and_no_layers_are_refused() -> None:
    with pytest.raises(StackError, match="two layers have one name: sequencer, sequencer"):
        Stack((ORDERING, ORDERING), GROUND)
    with pytest.raises(StackError, match="a stack has at least one layer"):
        Stack((), GROUND)


def test_what_is_no_protocol_is_no_layer() -> None:
    with pytest.raises(StackError, match="is no protocol that can stand in a stack: it has no Event"):
        Layer.of(events, None)  # type: ignore[arg-type]
