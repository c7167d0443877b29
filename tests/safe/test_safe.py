"""safe: the core, event by event, where a view follows before members of the merged one have answered."""

from groupcomm import safe
from groupcomm.effects import PassUp, Send
from groupcomm.events import Deliver, MergeViewInstalled, Payload, UnknownUpTo, ViewFormed, ViewInstalled
from groupcomm.view import View, ViewId


def view(counter: int, members: str) -> View:
    return View(ViewId(counter, members[0]), tuple(members))


FIRST, MERGED = view(1, "AB"), view(3, "BAC")
SUBGROUPS = frozenset({FIRST.id, ViewId(2, "B")})


def taken(config: safe.Config, state: safe.State, *events: safe.Event) -> safe.Transition:
    """Take these steps, and give the effects of the last one."""
    effects: tuple[safe.Effect, ...] = ()
    for event in events:
        state, effects = safe.step(config, state, event)
    return state, effects


def asks(config: safe.Config) -> safe.State:
    """A delivered a/1 when it was cut off, and a/2 when it was back, and awaits that B says whether it has a/1."""
    formed = [ViewFormed(MERGED.id, 1)] if config.majority else []
    first = [ViewFormed(FIRST.id, 0)] if config.majority else []
    data = [safe.DataReceived("A", safe.Data(number, Payload(number))) for number in (1, 2)]
    send = safe.SendRequested(Payload(0))
    merge = MergeViewInstalled(MERGED, SUBGROUPS)
    state, effects = taken(
        config, safe.start("A"), *first, ViewInstalled(FIRST), send, data[0], *formed, merge, send, data[1]
    )
    assert effects == (PassUp(Deliver("A", Payload(2))),)
    assert (state.asks, state.told, state.before) == (True, 0, 1)
    return state


def test_members_of_a_merged_view_are_awaited_no_more_when_one_of_them_is_gone() -> None:
    """C has joined the merged view, and is not in the next: of a/2, too, nobody knows."""
    state = asks(safe.Config())
    last = view(5, "BA")
    after, effects = safe.step(safe.Config(), state, MergeViewInstalled(last, frozenset({MERGED.id, ViewId(4, "B")})))
    assert effects == (PassUp(UnknownUpTo(1)), PassUp(UnknownUpTo(2)), Send("B", safe.Ack(last.id, 0)))
    assert (after.asks, after.told, after.before, after.among) == (False, 2, 2, frozenset("AB"))


def test_a_view_that_is_formed_before_it_comes_ends_the_wait_and_is_answered() -> None:
    """With majority: A says what it has of the others behind what it reports."""
    config, last = safe.Config(majority=True), view(4, "ABC")
    after, effects = taken(config, asks(config), ViewFormed(last.id, 3), ViewInstalled(last))
    assert effects == (PassUp(UnknownUpTo(1)), *(Send(each, safe.Ack(last.id, 0)) for each in "BC"))
    assert (after.asks, after.told, after.before, after.among) == (False, 1, 2, frozenset("ABC"))
