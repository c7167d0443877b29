"""sequencer: the core, event by event; each test says which requirement it is about."""

from collections.abc import Iterable
from functools import partial

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from groupcomm import sequencer
from groupcomm.effects import Multicast, PassUp, Send
from groupcomm.errors import LocalProtocolError, ProtocolError, RemoteProtocolError
from groupcomm.events import Deliver, Payload
from groupcomm.sequencer import Data, Forward, Tag
from groupcomm.view import View, ViewId
from tests.cores import is_refused

CONFIG = sequencer.Config()
ABC = View(ViewId(1, "A"), ("A", "B", "C"))
BC = View(ViewId(2, "B"), ("B", "C"))
CBA = View(ViewId(2, "C"), ("C", "B", "A"))


def take(state: sequencer.State, *events: sequencer.Event) -> tuple[sequencer.State, list[sequencer.Effect]]:
    """The state after these events, and the effects of all of them."""
    effects: list[sequencer.Effect] = []
    for event in events:
        state, more = sequencer.step(CONFIG, state, event)
        effects += more
    return state, effects


def joined(member: str, *events: sequencer.Event, view: View = ABC) -> sequencer.State:
    return take(sequencer.start(member), sequencer.ViewInstalled(view), *events)[0]


def sends(*payloads: int) -> Iterable[sequencer.Event]:
    return (sequencer.SendRequested(Payload(payload)) for payload in payloads)


def forward(sender: str, seqno: int, view: View = ABC, *, epoch: ViewId = ABC.id) -> Forward:
    return Forward(view.id, Tag(sender, epoch, seqno), Payload(10 * seqno))


def data(sender: str, seqno: int, view: View = ABC, *, epoch: ViewId = ABC.id) -> Data:
    return Data(view.id, Tag(sender, epoch, seqno), Payload(10 * seqno))


def forwarded(sender: str, seqno: int, view: View = ABC) -> sequencer.ForwardReceived:
    return sequencer.ForwardReceived(sender, forward(sender, seqno, view))


def ordered(sender: str, seqno: int, view: View = ABC, *, epoch: ViewId = ABC.id) -> sequencer.DataReceived:
    return sequencer.DataReceived(view.coordinator, data(sender, seqno, view, epoch=epoch))


# Sending


# Ordering


def test_the_coordinator_does_not_look_whether_it_was_forwarded_before() -> None:
    """SEQ-33."""
    _, effects = take(joined("A"), forwarded("B", 1), forwarded("B", 1))
    assert [Multicast(data("B", 1))] * 2 == effects


# Delivering


# Views


# The note's story


def test_the_notes_story() -> None:
    """SEQ-12: C lacks 5 and 6, which B has; C sends them again, B discards them, C delivers them."""
    b, _ = take(joined("B"), *(ordered("C", n) for n in range(1, 7)))
    c, _ = take(joined("C"), *sends(10, 20, 30, 40, 50, 60), *(ordered("C", n) for n in range(1, 5)))
    b, _ = take(b, sequencer.ViewInstalled(BC))
    c, again = take(c, sequencer.ViewInstalled(BC))
    assert [Send("B", forward("C", 5, BC)), Send("B", forward("C", 6, BC))] == again
    b, broadcast = take(b, forwarded("C", 5, BC), forwarded("C", 6, BC))
    assert [Multicast(data("C", 5, BC)), Multicast(data("C", 6, BC))] == broadcast
    assert (b, []) == take(b, ordered("C", 5, BC), ordered("C", 6, BC))
    c, delivered = take(c, ordered("C", 5, BC), ordered("C", 6, BC))
    assert [PassUp(Deliver("C", Payload(50))), PassUp(Deliver("C", Payload(60)))] == delivered
    assert () == c.forward_table


# The message that is retransmitted stays as it was


def test_ordering_makes_a_new_message() -> None:
    """SEQ-08, SEQ-26, FLAW-11: the FORWARD, perhaps in a retransmission buffer, is still a FORWARD."""
    given_ = forwarded("B", 1)
    _, (multicast,) = sequencer.step(CONFIG, joined("A"), given_)
    assert isinstance(multicast, Multicast)
    assert given_.message is not multicast.message
    assert forward("B", 1) == given_.message


def test_delivering_leaves_the_multicast_the_coordinators() -> None:
    """SEQ-08, FLAW-11: what is passed up is no part of it; who asks for it again asks the coordinator."""
    came = ordered("B", 1)
    _, (passed,) = sequencer.step(CONFIG, joined("C"), came)
    assert isinstance(passed, PassUp)
    assert isinstance(passed.event, sequencer.Deliver)
    assert "B" == passed.event.sender
    assert ("A", data("B", 1)) == (came.sender, came.message)


# Refusals

OTHER_AT_TWO = View(ViewId(2, "C"), ("C", "B"))
REFUSED = {
    "a multicast without a view": (
        sequencer.start("B"),
        sequencer.SendRequested(Payload(10)),
        LocalProtocolError,
        "no view is installed yet",
    ),
    "a view of others": (
        joined("A"),
        sequencer.ViewInstalled(BC),
        LocalProtocolError,
        "a view without this member cannot be installed",
    ),
    "DATA before its view": (
        joined("B"),
        ordered("C", 1, BC),
        RemoteProtocolError,
        "the DATA is of a view that is not installed yet",
    ),
    "DATA without a view": (
        sequencer.start("B"),
        ordered("C", 1),
        RemoteProtocolError,
        "the DATA is of a view that is not installed yet",
    ),
    "DATA of a member that is not coordinator": (
        joined("B"),
        sequencer.DataReceived("C", data("C", 1)),
        RemoteProtocolError,
        "C multicasts, and is not coordinator",
    ),
    "a FORWARD for another": (
        joined("B"),
        forwarded("C", 1),
        RemoteProtocolError,
        "a FORWARD for a coordinator, which this is not",
    ),
    "a FORWARD in another's name": (
        joined("A"),
        sequencer.ForwardReceived("C", forward("B", 1)),
        RemoteProtocolError,
        "C forwards a message of B",
    ),
    "an early FORWARD in another's name": (
        joined("B"),
        sequencer.ForwardReceived("A", forward("C", 1, BC)),
        RemoteProtocolError,
        "A forwards a message of C",
    ),
    "a stranger's FORWARD": (
        joined("A"),
        forwarded("Z", 1),
        RemoteProtocolError,
        "Z is not in our view, and says it is",
    ),
}


@pytest.mark.parametrize(("state", "event", "error", "reason"), REFUSED.values(), ids=REFUSED)
def test_a_refusal_names_member_state_and_event(
    state: sequencer.State, event: sequencer.Event, error: type[ProtocolError], reason: str
) -> None:
    """SEQ-23: a FORWARD that cannot be ordered here is an error of its sender."""
    is_refused(partial(sequencer.step, CONFIG), state, event, error, reason)


# Random events

VIEWS = st.sampled_from([ABC, BC, CBA, View(ViewId(3, "C"), ("C", "B"))])
SENDERS = st.sampled_from("ABCZ")


def tags(senders: Iterable[str]) -> st.SearchStrategy[Tag]:
    return st.builds(Tag, st.sampled_from(sorted(senders)), VIEWS.map(lambda v: v.id), st.integers(1, 4))


EVENTS = st.one_of(
    st.builds(sequencer.SendRequested, st.integers(1, 9)),
    st.builds(sequencer.ViewInstalled, VIEWS),
    st.builds(
        sequencer.ForwardReceived,
        SENDERS,
        st.builds(Forward, VIEWS.map(lambda v: v.id), tags("ABCZ"), st.integers(1, 9)),
    ),
    VIEWS.flatmap(
        # A coordinator orders messages of members: the core takes its word for that.
        lambda view: st.builds(
            sequencer.DataReceived, SENDERS, st.builds(Data, st.just(view.id), tags(view.members), st.integers(1, 9))
        )
    ),
)


@given(st.sampled_from("ABC"), st.lists(EVENTS, max_size=20), EVENTS)
def test_a_step_depends_on_state_and_event_alone(
    member: str, events: list[sequencer.Event], event: sequencer.Event
) -> None:
    state = sequencer.start(member)
    for earlier in events:
        try:
            state, _ = sequencer.step(CONFIG, state, earlier)
        except ProtocolError:
            continue
    try:
        expected = sequencer.step(CONFIG, state, event)
    except ProtocolError as refusal:
        with pytest.raises(type(refusal)):
            sequencer.step(CONFIG, evolve(state), event)
    else:
        assert expected == sequencer.step(CONFIG, evolve(state), event)
