"""Tests beyond the models: large numbers, payloads of any kind, and the cost of a step."""

import pytest

from groupcomm import nakack
from groupcomm.digest import Digest, DigestEntry, Vector
from groupcomm.effects import ALL, Datagram, PassUp, SetTimer
from groupcomm.errors import LocalProtocolError, RemoteProtocolError
from groupcomm.events import (
    Deliver,
    Fetch,
    HoldBack,
    MessageReceived,
    Payload,
    Purge,
    Release,
    ViewInstalled,
    WindowsAdded,
)
from groupcomm.nakack import (
    Config,
    Data,
    DataReceived,
    Highest,
    HighestReceived,
    HighestTimeout,
    Range,
    RequestTimeout,
    SendRequested,
    State,
    XmitReq,
    XmitReqReceived,
)
from groupcomm.view import View, ViewId

CONFIG = Config(highest_interval=500, request_delay=20, first_asked=4)
AB = View(ViewId(1, "A"), ("A", "B"))
REQUEST = SetTimer("request", 20, 20)


def after(state: State, *events: nakack.Event) -> State:
    for event in events:
        state, _ = nakack.step(CONFIG, state, event)
    return state


def in_view(member: str) -> State:
    return after(nakack.start(member), ViewInstalled(AB))


def data(seqno: int, payload: object = "m") -> DataReceived:
    return DataReceived("A", Data(AB.id, "A", seqno, Payload(payload)))


def test_a_huge_number_of_a_peer_is_a_range_and_no_list() -> None:
    told = after(in_view("B"), HighestReceived("A", Highest(AB.id, Vector.of(A=10**18, B=-1))))
    _, effects = nakack.step(CONFIG, told, RequestTimeout())
    assert effects == (Datagram("A", XmitReq(AB.id, "A", (Range(0, 3),))), REQUEST)


def test_requests_grow_while_what_they_name_arrives_and_shrink_when_it_is_lost() -> None:
    state = after(in_view("B"), HighestReceived("A", Highest(AB.id, Vector.of(A=99, B=-1))))
    asked = []
    for arrive in (4, 9, 15, 6, 0, 4):  # of what the request before named
        state, effects = nakack.step(CONFIG, state, RequestTimeout())
        match effects[0]:
            case Datagram(_, XmitReq(_, _, (Range() as each,))):
                pass
            case other:
                pytest.fail(f"no request: {other}")
        asked.append(each.last - each.first + 1)
        for seqno in range(each.first, each.first + arrive):
            state, _ = nakack.step(CONFIG, state, data(seqno))
    assert asked == [4, 9, 15, 22, 11, 4]


def test_a_huge_request_is_answered_with_what_there_is() -> None:
    sender = after(in_view("A"), SendRequested(Payload("x")), SendRequested(Payload("y")))
    _, effects = nakack.step(CONFIG, sender, XmitReqReceived("B", XmitReq(AB.id, "A", (Range(1, 10**18),))))
    assert effects == (Datagram("B", Data(AB.id, "A", 1, Payload("y"))),)


def test_overlapping_ranges_are_answered_once() -> None:
    sender = after(in_view("A"), *(SendRequested(Payload(n)) for n in range(4)))
    wanted = XmitReq(AB.id, "A", (Range(2, 3), Range(0, 2)))
    _, effects = nakack.step(CONFIG, sender, XmitReqReceived("B", wanted))
    assert effects == tuple(Datagram("B", Data(AB.id, "A", n, Payload(n))) for n in range(4))


def test_payloads_need_not_be_hashable() -> None:
    receiver = after(in_view("B"), data(1, ["later"]), data(0, {"first": 1}))
    assert receiver.windows["A"].kept == (Payload({"first": 1}), Payload(["later"]))


def test_what_waits_is_delivered_in_one_step_and_in_order() -> None:
    waiting = after(in_view("B"), data(2), data(1))
    _, effects = nakack.step(CONFIG, waiting, data(0, "first"))
    up = [PassUp(Deliver("A", Payload(payload))) for payload in ("first", "m", "m")]
    assert effects == (PassUp(MessageReceived(1)), *up)


def test_what_waits_under_a_seqno_that_is_past_goes_with_the_next_delivery() -> None:
    """`Nakack!DrainOf`. A peer sent it in this member's name, and the member has used the seqno since."""
    forged = after(in_view("A"), data(3, "forged"), data(2, "forged"))
    past = after(forged, *(SendRequested(Payload(n)) for n in range(3)))
    assert (2, {2, 3}) == (past.windows["A"].delivered, {*past.windows["A"].pending})
    window = after(past, data(5, "forged")).windows["A"]
    assert (3, {5}) == (window.delivered, {*window.pending})
    held = after(past, HoldBack(Vector.of(A=3, B=0)), data(5, "forged")).windows["A"]
    assert (2, {2, 3, 5}) == (held.delivered, {*held.pending})


def test_under_traffic_the_timer_is_set_once() -> None:
    state = in_view("B")
    timers = 0
    for seqno in range(1, 200):
        state, effects = nakack.step(CONFIG, state, data(seqno))
        timers += effects.count(REQUEST)
    assert timers == 1


def test_a_view_keeps_the_timer_that_is_set() -> None:
    asking = after(in_view("B"), data(1), ViewInstalled(View(ViewId(2, "A"), ("A", "B"))))
    assert asking.asking
    _, effects = nakack.step(CONFIG, asking, DataReceived("A", Data(ViewId(2, "A"), "A", 5, Payload("m"))))
    assert REQUEST not in effects


def test_two_views_are_kept_and_no_third() -> None:
    state = in_view("A")
    for counter in (2, 3, 4):
        state = after(state, SendRequested(Payload(counter)), ViewInstalled(View(ViewId(counter, "A"), ("A", "B"))))
    assert state.former.view_id == ViewId(3, "A")
    assert state.former.stores["A"].kept == (Payload(4),)
    assert state.windows["A"].kept == ()


def test_a_purge_beyond_what_was_delivered_takes_no_more() -> None:
    state = after(in_view("B"), data(0), data(2), Purge(Vector.of(A=9, B=9)))
    assert (state.windows["A"].purged, state.windows["A"].kept) == (0, ())
    assert dict(state.windows["A"].pending) == {2: Payload("m")}
    assert after(state, data(1)).windows["A"].delivered == 2


def test_nothing_is_told_where_nothing_is_kept() -> None:
    state = after(in_view("A"), SendRequested(Payload("x")), Purge(Vector.of(A=0, B=-1)))
    assert nakack.step(CONFIG, state, HighestTimeout())[1] == (SetTimer("highest", 500, 500),)


def test_what_is_fetched_is_asked_of_the_holder_whoever_told() -> None:
    abc = View(ViewId(1, "A"), ("A", "B", "C"))
    state = after(nakack.start("B"), ViewInstalled(abc), HoldBack(Vector.of(A=1, B=0, C=0)))
    state = after(state, DataReceived("A", Data(abc.id, "A", 3, Payload("m"))), Fetch("C", "A", 1))
    _, effects = nakack.step(CONFIG, state, RequestTimeout())
    asked = XmitReq(abc.id, "A", (Range(0, 0),))
    assert effects == (Datagram("C", asked), Datagram("A", asked), REQUEST)


def test_a_window_in_use_stays_whatever_the_layers_above_say_of_its_start() -> None:
    abc = View(ViewId(2, "A"), ("A", "B", "C"))
    state = after(in_view("B"), data(0), WindowsAdded(Vector.of(A=7, C=4)), ViewInstalled(abc))
    assert [0, -1, 4] == [window.delivered for window in state.windows.values()]


def test_what_the_layers_above_read() -> None:
    state = after(in_view("B"), data(0), data(2))
    assert nakack.below(state) == (Digest((("A", DigestEntry(-1, 0, 2)), ("B", DigestEntry(-1, -1, -1)))),)


def test_a_multicast_beyond_the_limit_is_refused_and_after_the_release_it_is_not() -> None:
    held = after(in_view("A"), HoldBack(Vector.of(A=1, B=0)), SendRequested(Payload("x")))
    with pytest.raises(LocalProtocolError, match="held back"):
        nakack.step(CONFIG, held, SendRequested(Payload("y")))
    _, effects = nakack.step(CONFIG, after(held, Release()), SendRequested(Payload("y")))
    assert effects[0] == Datagram(ALL, Data(AB.id, "A", 1, Payload("y")))


@pytest.mark.parametrize(
    "event",
    [
        DataReceived("A", Data(AB.id, "A", -1, Payload("m"))),
        HighestReceived("A", Highest(AB.id, Vector.of(A=-2, B=0))),
        XmitReqReceived("A", XmitReq(AB.id, "A", ())),
        XmitReqReceived("A", XmitReq(AB.id, "A", (Range(-1, 0),))),
        XmitReqReceived("A", XmitReq(AB.id, "A", (Range(2, 1),))),
    ],
)
def test_what_no_peer_sends_is_refused_in_any_state(event: nakack.Event) -> None:
    for state in (nakack.start("B"), in_view("B")):
        with pytest.raises(RemoteProtocolError):
            nakack.step(CONFIG, state, event)
