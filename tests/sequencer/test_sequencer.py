"""sequencer: the core, event by event; each test says which requirement it is about."""

import itertools
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
from groupcomm.sequencer import Data, Entry, Forward, Mark, ReceivedTable, Tag
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


def test_a_member_forwards_to_the_coordinator_and_keeps_it() -> None:
    """SEQ-17, SEQ-18: seqnos rise by one from 1."""
    state, effects = take(joined("B"), *sends(10, 20))
    assert [Send("A", forward("B", 1)), Send("A", forward("B", 2))] == effects
    assert (2, (Entry(1, Payload(10)), Entry(2, Payload(20)))) == (state.seqno, state.forward_table)


def test_the_coordinator_orders_its_own_message_at_once_and_keeps_it() -> None:
    """SEQ-19, and what the note leaves out: it may be coordinator no longer when the next view comes."""
    state, effects = take(joined("A"), *sends(10))
    assert [Multicast(data("A", 1))] == effects
    assert (Entry(1, Payload(10)),) == state.forward_table


# Ordering


def test_the_coordinator_orders_for_the_sender() -> None:
    """SEQ-03, SEQ-24: the header names the sender; the multicast is the coordinator's own."""
    before = joined("A")
    state, effects = take(before, forwarded("B", 1), forwarded("C", 1), forwarded("B", 2))
    assert [Multicast(data("B", 1)), Multicast(data("C", 1)), Multicast(data("B", 2))] == effects
    assert state is before


def test_the_coordinator_does_not_look_whether_it_was_forwarded_before() -> None:
    """SEQ-33."""
    _, effects = take(joined("A"), forwarded("B", 1), forwarded("B", 1))
    assert [Multicast(data("B", 1))] * 2 == effects


def test_a_forward_of_a_view_to_come_waits_and_is_ordered_in_it_after_the_own_table() -> None:
    """SEQ-23, FLAW-05, SEQ-31: in order of arrival."""
    state, effects = take(joined("B", *sends(10)), forwarded("C", 1, BC), forwarded("C", 2, BC))
    assert ([], (forward("C", 1, BC), forward("C", 2, BC))) == (effects, state.early)
    state, effects = take(state, sequencer.ViewInstalled(BC))
    assert [Multicast(data("B", 1, BC)), Multicast(data("C", 1, BC)), Multicast(data("C", 2, BC))] == effects
    assert () == state.early


def test_a_joiner_that_becomes_coordinator_orders_what_came_before_its_view() -> None:
    state, effects = take(sequencer.start("B"), forwarded("C", 1, BC), sequencer.ViewInstalled(BC))
    assert [Multicast(data("C", 1, BC))] == effects
    assert () == state.early


def test_early_forwards_of_later_views_go_on_waiting() -> None:
    third = View(ViewId(3, "B"), ("B", "C"))
    state, effects = take(joined("B"), forwarded("C", 1, third), sequencer.ViewInstalled(BC))
    assert ([], (forward("C", 1, third),)) == (effects, state.early)
    _, effects = take(state, sequencer.ViewInstalled(third))
    assert [Multicast(data("C", 1, third))] == effects


@pytest.mark.parametrize(
    ("view", "why"),
    [
        (View(ViewId(2, "C"), ("C", "B")), "another coordinator, another view of the same counter"),
        (View(ViewId(2, "C"), ("B", "C")), "another view of the same counter, though B is coordinator"),
        (View(ViewId(2, "B"), ("B", "A")), "its sender is not in the view"),
        (View(ViewId(3, "B"), ("B", "C")), "the view was passed over"),
    ],
)
def test_early_forwards_that_no_view_came_for_are_dropped(view: View, why: str) -> None:
    state, effects = take(joined("B"), forwarded("C", 1, BC), sequencer.ViewInstalled(view))
    assert ([], ()) == (effects, state.early), why


def test_a_member_that_does_not_become_coordinator_orders_no_early_forward() -> None:
    state, effects = take(joined("B"), forwarded("A", 1, CBA), sequencer.ViewInstalled(CBA))
    assert ([], ()) == (effects, state.early)


def test_a_forward_of_a_view_that_is_over_is_dropped_for_its_sender_sends_it_again() -> None:
    """SEQ-23: even by a coordinator."""
    state = joined("B", sequencer.ViewInstalled(BC))
    assert sequencer.step(CONFIG, state, forwarded("C", 1, ABC)) == (state, ())
    assert sequencer.step(CONFIG, state, forwarded("C", 1, ABC))[0] is state


# Delivering


def test_a_duplicate_of_an_own_message_clears_the_table_all_the_same() -> None:
    """SEQ-27, SEQ-28."""
    state = evolve(joined("B", *sends(10)), received_table=ReceivedTable((("B", Mark(ABC.id, 1)),)))
    after, effects = take(state, ordered("B", 1))
    assert ((), []) == (after.forward_table, effects)


@pytest.mark.parametrize(
    ("sender", "seqno", "delivers"), [("C", 1, 0), ("C", 2, 0), ("C", 3, 1), ("C", 9, 1), ("A", 1, 1)]
)
def test_what_is_no_higher_than_the_highest_of_its_sender_is_discarded(sender: str, seqno: int, delivers: int) -> None:
    """SEQ-11, SEQ-28, SEQ-29."""
    state = joined("B", ordered("C", 2))
    after, effects = take(state, ordered(sender, seqno))
    assert delivers == len(effects)
    assert (after is state) == (not delivers)
    assert Mark(ABC.id, max(2, seqno)) == after.received_table["C"] or sender != "C"


@pytest.mark.parametrize("epoch", [ViewId(2, "A"), ViewId(3, "B"), ViewId(4, "A")])
def test_in_another_life_a_sender_counts_anew_whichever_view_came_first(epoch: ViewId) -> None:
    """SEQ-10, FLAW-09, AMB-76: also where two branches of views had one counter."""
    state = joined("B", ordered("C", 7, epoch=ViewId(3, "A")))
    after, effects = take(state, ordered("C", 1, epoch=epoch))
    assert [PassUp(Deliver("C", Payload(10)))] == effects
    assert {"C": Mark(epoch, 1)} == dict(after.received_table)


def test_the_epoch_is_the_first_view_and_stays() -> None:
    """AMB-76."""
    fifth = View(ViewId(5, "A"), ("A", "B"))
    state = joined("B", view=fifth)
    assert ViewId(5, "A") == state.epoch
    sixth = View(ViewId(6, "A"), ("A", "B"))
    assert ViewId(5, "A") == take(state, sequencer.ViewInstalled(sixth))[0].epoch


def test_data_of_an_earlier_incarnation_does_not_clear_the_table() -> None:
    """FLAW-09: the same sender and seqno, and another message."""
    state = joined("B", *sends(10), view=BC)
    after, _ = take(state, ordered("B", 1, BC, epoch=ABC.id))
    assert (Entry(1, Payload(10)),) == after.forward_table
    assert () == take(after, ordered("B", 1, BC, epoch=BC.id))[0].forward_table


def test_data_of_a_view_that_is_over_is_ignored() -> None:
    """FLAW-01: it would be delivered in another place than elsewhere."""
    state = joined("C", *sends(10), sequencer.ViewInstalled(BC))
    assert sequencer.step(CONFIG, state, ordered("C", 1, ABC))[0] is state


def test_data_of_a_view_with_our_counter_and_another_creator_is_ignored() -> None:
    """AMB-40: though it comes from our coordinator, and for a member of our view."""
    twin = View(ViewId(2, "A"), ("B", "C"))
    state = joined("C", *sends(10), sequencer.ViewInstalled(BC))
    assert sequencer.step(CONFIG, state, ordered("C", 1, twin))[0] is state


# Views


def test_the_table_is_sent_again_in_rising_order_to_the_new_coordinator() -> None:
    """SEQ-09, SEQ-12, SEQ-31: with the same tags."""
    state = joined("C", *sends(10, 20, 30), ordered("C", 1))
    after, effects = take(state, sequencer.ViewInstalled(BC))
    assert [Send("B", forward("C", 2, BC)), Send("B", forward("C", 3, BC))] == effects
    assert state.forward_table == after.forward_table


def test_it_is_sent_again_though_the_coordinator_stays() -> None:
    """AMB-81: FORWARDs of the view before are dropped."""
    state = joined("C", *sends(10))
    after = View(ViewId(2, "A"), ("A", "C"))
    assert [Send("A", forward("C", 1, after))] == take(state, sequencer.ViewInstalled(after))[1]


def test_no_view_comes_between_the_table_and_the_sending() -> None:
    """FLAW-07: whichever is first, the new coordinator gets the message, once."""
    events: tuple[sequencer.Event, ...] = (sequencer.SendRequested(Payload(10)), sequencer.ViewInstalled(BC))
    for order in itertools.permutations(events):
        _, effects = take(joined("C"), *order)
        assert [Send("B", forward("C", 1, BC))] == [e for e in effects if e != Send("A", forward("C", 1))]


def test_a_new_coordinator_orders_its_own_table_and_a_former_one_forwards_it() -> None:
    """FLAW-08: demoted by a merge, too."""
    _, effects = take(joined("B", *sends(10)), sequencer.ViewInstalled(BC))
    assert [Multicast(data("B", 1, BC))] == effects
    _, effects = take(joined("A", *sends(10)), sequencer.ViewInstalled(CBA))
    assert [Send("C", forward("A", 1, CBA))] == effects


def test_departed_members_are_not_forgotten() -> None:
    """SEQ-32, FLAW-65: who was cut off may merge back, and send again what the others have."""
    state = joined("B", ordered("C", 1))
    without = View(ViewId(2, "A"), ("A", "B"))
    merged = View(ViewId(3, "A"), ("A", "B", "C"))
    back, _ = take(state, sequencer.ViewInstalled(without), sequencer.ViewInstalled(merged))
    assert [] == take(back, ordered("C", 1, merged))[1]
    assert [PassUp(Deliver("C", Payload(20)))] == take(back, ordered("C", 2, merged))[1]


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


def test_what_is_in_the_table_is_no_message_at_all() -> None:
    """FLAW-11: it is sent again as DATA or as FORWARD, as the view demands, twice if need be."""
    third = View(ViewId(3, "C"), ("C", "B"))
    _, effects = take(joined("B", *sends(10)), sequencer.ViewInstalled(BC), sequencer.ViewInstalled(third))
    assert [Multicast(data("B", 1, BC)), Send("C", forward("B", 1, third))] == effects


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


@given(st.sampled_from("ABC"), st.lists(EVENTS, max_size=30))
def test_invariants_hold_whatever_happens(member: str, events: list[sequencer.Event]) -> None:
    """SEQ-14, SEQ-15, SEQ-27 to SEQ-29, and SEQ-02: only coordinators multicast, in their view."""
    state = sequencer.start(member)
    for event in events:
        before = state
        try:
            state, effects = sequencer.step(CONFIG, state, event)
        except ProtocolError:
            continue
        numbers = [entry.seqno for entry in state.forward_table]
        assert sorted(set(numbers)) == numbers
        assert all(0 < number <= state.seqno for number in numbers)
        assert all(message.view_id.counter > state.view.id.counter for message in state.early)
        for effect in effects:
            match effect:
                case Multicast(message):
                    assert state.is_coordinator
                    assert isinstance(message, Data)
                    assert state.view.id == message.view_id
                case Send(to, message):
                    assert state.view.coordinator == to != member
                    assert isinstance(message, Forward)
                case PassUp(Deliver(sender, payload)):
                    assert isinstance(event, sequencer.DataReceived)
                    assert (sender, payload) == (event.message.tag.sender, event.message.payload)
                    known = before.received_table.get(sender)
                    now = state.received_table[sender]
                    assert known is None or known.epoch != now.epoch or known.seqno < now.seqno


@given(st.lists(EVENTS, max_size=20), st.lists(st.integers(1, 9), max_size=4))
def test_whatever_is_sent_and_does_not_come_back_is_sent_again(
    events: list[sequencer.Event], payloads: list[int]
) -> None:
    """SEQ-09, SEQ-31."""
    state = joined("C")
    for event in (*events, *sends(*payloads)):
        try:
            state, _ = sequencer.step(CONFIG, state, event)
        except ProtocolError:
            continue
    last = View(ViewId(9, "B"), ("B", "C"))
    _, effects = take(state, sequencer.ViewInstalled(last))
    expected = [
        Send("B", Forward(last.id, Tag("C", ABC.id, entry.seqno), entry.payload)) for entry in state.forward_table
    ]
    assert expected == effects
    assert [Payload(n) for n in payloads] == [entry.payload for entry in state.forward_table][
        -len(payloads) :
    ] or not payloads


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
