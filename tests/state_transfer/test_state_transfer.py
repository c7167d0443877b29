"""state_transfer: the core, event by event, where no conforming model leads to."""

from typing import Any

from attrs import evolve

from groupcomm import state_transfer as st
from groupcomm.effects import Multicast, PassUp, Send, SetTimer
from groupcomm.events import MergeViewInstalled, Payload, UnknownUpTo, ViewFormed, ViewInstalled
from groupcomm.view import View, ViewId

CONFIG = st.Config(window=1, full_at=1, max_held=2, ask_time=1000)
ASKS_LATER = SetTimer("ask", 1000, 1000)


def view(counter: int, members: str) -> View:
    return View(ViewId(counter, members[0]), tuple(members))


def member(name: str, of: View, /, **more: Any) -> st.State:  # noqa: ANN401 - fields
    return evolve(st.start(name), view=of, **more)


def asker(of: View, /, **more: Any) -> st.State:  # noqa: ANN401 - fields
    """C asks A, its ASK has come, and it takes no more messages."""
    held = (st.Held("A", 1, Payload(0)),)
    fields = {"provider": "A", "attempt": 1, "marked": True, "held": held, "bytes": 1, "full": True, "came": 1}
    return member("C", of, **fields, **more)


def step(state: st.State, event: st.Event) -> st.Transition:
    return st.step(CONFIG, state, event)


def standing(stood: int, counter: int, *, declared: bool = False) -> st.Standing:
    return st.Standing(stood, (ViewId(counter, "A"),) if counter else (), declared, 0, 0)


def told(of: View, *standings: st.Standing) -> st.Told:
    return st.Told(tuple(zip(of.members, standings, strict=False)))


# No member of the view gives the state ------------------------------------------------------------


def test_members_tell_where_no_member_of_a_formed_view_gives_the_state() -> None:
    here = view(2, "AC")
    after, effects = step(asker(here, formed=2, base=1), st.CannotReceived("A", st.Cannot(1)))
    assert effects == (PassUp(st.Room()), Multicast(st.Tell(here.id, standing(0, 0))))
    assert (after.settled, after.vacant, after.telling, after.provider) == (False, False, True, st.NOBODY)


def test_members_that_have_told_ask_later() -> None:
    here = view(2, "AC")
    state = asker(here, formed=2, base=1, told=told(here, standing(2, 1), standing(0, 0)))
    after, effects = step(state, st.CannotReceived("A", st.Cannot(1)))
    assert effects == (PassUp(st.Room()), PassUp(st.NoState()), ASKS_LATER)
    assert after.settled
    after, effects = step(evolve(state, timer=True), st.CannotReceived("A", st.Cannot(1)))
    assert effects == (PassUp(st.Room()), PassUp(st.NoState()))


def test_a_joiner_that_is_alone_hears_first_what_is_unknown() -> None:
    """The merged view was undecided; the next one may be formed before it comes."""
    state, alone = asker(view(3, "ABC"), settled=False, telling=True), ViewInstalled(view(4, "C"))
    first = (PassUp(UnknownUpTo(1)), PassUp(st.Room()), PassUp(st.NoState()))
    assert step(state, alone)[1] == (*first, ASKS_LATER)
    formed, _ = step(state, ViewFormed(ViewId(4, "C"), 3))
    after, effects = step(formed, alone)
    assert effects == first
    assert (after.vacant, after.after, after.upto) == (True, 3, 4)


# Transfers ----------------------------------------------------------------------------------------


def test_no_part_comes_after_the_last() -> None:
    state = member("C", view(2, "AC"), provider="A", attempt=1, parts=1, whole=True)
    late = st.PartReceived("A", st.Part(1, 2, Payload(0), last=False, seen=st.Seen(()), declared=False))
    assert step(state, late) == (state, ())


def test_any_own_number_in_a_state_that_was_not_seen_is_reported() -> None:
    """`IsNew` holds of a sender that was not seen: of whatever number a PART gives, here none that a member sends."""
    state = evolve(asker(view(2, "AC"), formed=2, base=1), settled=True, held=())
    part = st.Part(1, 1, Payload(0), last=True, seen=st.Seen((("C", 0),)), declared=False)
    _after, effects = step(state, st.PartReceived("A", part))
    assert PassUp(st.OwnIsInState(0)) in effects


def test_a_part_says_that_the_state_was_declared() -> None:
    giving = st.Giving((("C", st.Gift(1, 1, 1, st.Seen(()))),))
    state = member("A", view(2, "AC"), has=True, declared=True, giving=giving)
    part = st.Part(1, 1, Payload(0), last=True, seen=st.Seen(()), declared=True)
    assert step(state, st.PartRead("C", 1, 1, Payload(0), last=True))[1] == (Send("C", part),)


def test_a_transfer_ends_whose_state_is_not_kept() -> None:
    here = view(3, "ABC")
    state = asker(here, settled=False, name=(ViewId(2, "A"),), told=told(here, standing(0, 2), standing(1, 1)))
    last = st.TellReceived("C", st.Tell(here.id, standing(0, 0)))
    after, effects = step(state, last)
    assert effects == (PassUp(st.Room()), SetTimer("soon", 0, 0))
    assert (after.provider, after.refused, after.soon) == (st.NOBODY, frozenset("AC"), True)


# Which state is kept ------------------------------------------------------------------------------


def decided(*standings: st.Standing, base: int) -> st.State:
    """Give A behind the last of three TELLs, its own first; its state has the name of view 1."""
    here = view(5, "ABC")
    state = member("A", here, has=True, settled=False, name=(ViewId(1, "A"),), formed=5, base=base)
    return step(evolve(state, told=told(here, *standings[:2])), st.TellReceived("C", st.Tell(here.id, standings[2])))[0]


def test_a_declared_state_loses_against_one_that_stood_before() -> None:
    assert decided(standing(1, 1), standing(2, 2, declared=True), standing(0, 0), base=3).has


def test_the_state_that_stood_last_is_kept_and_not_that_of_most_members() -> None:
    assert decided(standing(3, 1), standing(2, 2), standing(2, 2), base=2).has


def test_a_view_that_follows_vacant_ones_is_vacant_since_the_first() -> None:
    state = member("B", view(5, "B"), has=True, settled=False, vacant=True, formed=4, stood=1, after=3, upto=4)
    after, _ = step(state, ViewFormed(ViewId(5, "B"), 4))
    assert (after.after, after.upto) == (3, 5)
    after, _ = step(evolve(state, formed=3, upto=3, after=2), ViewFormed(ViewId(5, "B"), 4))
    assert (after.after, after.upto) == (4, 5)


def test_a_member_that_lacks_a_state_declares_one_without_a_name() -> None:
    here = view(3, "AB")
    state = member("A", here, settled=False, vacant=True, name=(ViewId(2, "B"),))
    assert step(state, st.DeclareRequested())[0].name == ()


# A view ends undecided ----------------------------------------------------------------------------


def test_what_is_unknown_comes_before_what_is_freed() -> None:
    giving = st.Giving((("C", st.Gift(1, 1, 1, st.Seen(()))),))
    state = member("A", view(3, "ABC"), has=True, settled=False, telling=True, came=1, giving=giving)
    after, effects = step(state, ViewInstalled(view(4, "AB")))
    assert effects[:2] == (PassUp(UnknownUpTo(1)), PassUp(st.FreeState("C")))
    assert isinstance(effects[2], Multicast)
    assert (after.said, after.giving) == (1, st.Giving(()))


def test_an_asker_without_provider_takes_messages_again_behind_what_is_unknown() -> None:
    here = view(4, "BC")
    after, effects = step(asker(view(3, "ABC"), settled=False), MergeViewInstalled(here, frozenset()))
    assert effects == (PassUp(UnknownUpTo(1)), PassUp(st.Room()), Multicast(st.Tell(here.id, standing(0, 0))))
    assert after.provider == st.NOBODY


def test_a_member_with_a_stale_state_hears_first_what_is_unknown() -> None:
    state = member("B", view(3, "AB"), has=True, settled=False, telling=True, came=1, formed=4, base=3, stood=1)
    after, effects = step(state, ViewInstalled(view(4, "B")))
    assert effects == (PassUp(UnknownUpTo(1)), PassUp(st.NoState()))
    assert (after.vacant, after.after, after.upto) == (True, 3, 4)


def test_a_former_incarnation_is_forgotten() -> None:
    state = member("B", view(2, "AB"), has=True, seen=st.Seen((("A", 2), ("B", 1))))
    after, _ = step(state, ViewInstalled(View(ViewId(3, "B"), ("B", "A#2"))))
    assert after.seen == st.Seen((("B", 1),))
