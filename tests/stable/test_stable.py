"""stable: the core, event by event; each test says which requirement it is about."""

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupcomm import stable
from groupcomm.digest import NOTHING, Digest, DigestEntry, Vector
from groupcomm.effects import ALL, CancelTimer, Datagram, PassDown, SetTimer
from groupcomm.errors import LocalProtocolError, ProtocolError, RemoteProtocolError
from groupcomm.view import View, ViewId
from tests.cores import is_refused

CONFIG = stable.Config(max_bytes=10, stable_interval=20_000, stability_delay=6_000)
ABC = View(ViewId(1, "A"), ("A", "B", "C"))
AB = View(ViewId(2, "A"), ("A", "B"))

SEQNOS = st.integers(NOTHING, 9)
VECTORS = st.fixed_dictionaries(dict.fromkeys("ABC", SEQNOS)).map(lambda d: Vector(tuple(d.items())))
SENDERS = st.sampled_from("ABC")


def digest(**delivered: int) -> Digest:
    """Give a digest with nothing received beyond what is delivered."""
    return Digest(tuple((m, DigestEntry(NOTHING, n, n)) for m, n in delivered.items()))


def joined(config: stable.Config = CONFIG, **delivered: int) -> stable.State:
    entries = digest(**(delivered or {"A": 5, "B": 3, "C": 4}))
    state, _ = stable.step(config, stable.start("A"), stable.ViewInstalled(ABC, entries))
    return state


def vote(sender: str, vector: Vector | None = None, view: View = ABC) -> stable.StableReceived:
    return stable.StableReceived(sender, stable.Stable(view.id, vector or Vector.of(A=5, B=3, C=4)))


def announced(vector: Vector, now: Digest, sender: str = "B", view: View = ABC) -> stable.StabilityReceived:
    return stable.StabilityReceived(sender, stable.Stability(view.id, vector), now)


def after(state: stable.State, *events: stable.Event) -> stable.State:
    for event in events:
        state, _ = stable.step(CONFIG, state, event)
    return state


COMPLETE = (vote("B"), vote("C"), vote("A"))


# Rounds


def test_a_view_begins_a_round() -> None:
    """STB-06, STB-19: every member is to be heard; the vote is what was delivered then (DLV-01), of three seqnos (AMB-03)."""
    entries = Digest((*digest(A=5, B=3).items(), ("C", DigestEntry(-1, 4, 9))))
    state, effects = stable.step(CONFIG, stable.start("A"), stable.ViewInstalled(ABC, entries))
    assert (frozenset("ABC"), Vector.of(A=5, B=3, C=4)) == (state.heard_from, state.vote)
    assert state.minimum == state.vote
    assert (SetTimer("stable", 20_000, 20_000),) == effects


@given(VECTORS)
def test_the_last_vote_is_merged_too(vector: Vector) -> None:
    """STB-07: the list is empty after the merge, not before."""
    state = after(joined(), vote("A"), vote("B"), vote("C", vector))
    _, effects = stable.step(CONFIG, state, stable.StabilityTimeout())
    assert (Datagram(ALL, stable.Stability(ABC.id, Vector.of(A=5, B=3, C=4).minimum(vector))),) == effects


def test_only_the_last_vote_arms_the_announcement() -> None:
    """STB-08, STB-09, AMB-58: the delay is drawn by the runtime, from 0 to the longest."""
    state = joined()
    told = []
    for event in COMPLETE:
        state, effects = stable.step(CONFIG, state, event)
        told.append((effects, state.pending))
    assert [((), False), ((), False), ((SetTimer("stability", 0, 6_000),), True)] == told


def test_an_announcement_purges_before_it_cancels_the_own_one() -> None:
    """STB-10, STB-11, AMB-31, LAY-04: effects are in order; the purge goes down."""
    stable_up_to = Vector.of(A=4, B=3, C=4)
    _, effects = stable.step(CONFIG, after(joined(), *COMPLETE), announced(stable_up_to, digest(A=6, B=3, C=4)))
    assert (PassDown(stable.Purge(stable_up_to)), CancelTimer("stability")) == effects
    _, effects = stable.step(CONFIG, joined(), announced(stable_up_to, digest(A=6, B=3, C=4)))
    assert (PassDown(stable.Purge(stable_up_to)),) == effects


@pytest.mark.parametrize("sender", ["A", "B", "Z"])
def test_what_another_view_says_is_ignored_whoever_says_it(sender: str) -> None:
    """STB-14, AMB-54, AMB-55: not merged, and the round continues."""
    state = after(joined(), *COMPLETE)
    foreign = stable.StableReceived(sender, stable.Stable(AB.id, Vector.of(A=0, B=0)))
    assert stable.step(CONFIG, state, foreign)[0] is state
    assert stable.step(CONFIG, state, announced(Vector.of(A=0, B=0), digest(A=5), sender, AB))[0] is state


def test_a_member_alone_needs_its_own_vote_only() -> None:
    """STB-16, AMB-52, DLV-04: what it multicasts comes back to it."""
    alone = View(ViewId(1, "A"), ("A",))
    state, _ = stable.step(CONFIG, stable.start("A"), stable.ViewInstalled(alone, digest(A=7)))
    state, effects = stable.step(CONFIG, state, vote("A", Vector.of(A=7), alone))
    assert (True, (SetTimer("stability", 0, 6_000),)) == (state.pending, effects)


# Bytes


@pytest.mark.parametrize(
    ("received", "counted", "votes"), [((9,), 9, 0), ((10,), 0, 1), ((9, 1), 0, 1), ((11,), 0, 1), ((25, 9), 9, 1)]
)
def test_bytes_make_a_member_vote_from_the_limit_on(received: tuple[int, ...], counted: int, votes: int) -> None:
    """STB-04: at the limit, not beyond it; then the count begins again."""
    state = joined()
    sent = 0
    for size in received:
        state, effects = stable.step(CONFIG, state, stable.MessageReceived(size))
        sent += len(effects)
        assert all(effect == Datagram(ALL, stable.Stable(ABC.id, state.vote)) for effect in effects)
    assert (counted, votes) == (state.received_bytes, sent)


def test_bytes_are_counted_since_the_last_own_vote() -> None:
    """AMB-57: a vote of the timer and a view begin the count again."""
    state = after(joined(), stable.MessageReceived(9))
    assert 0 == after(state, stable.StableTimeout()).received_bytes
    assert 0 == after(state, stable.ViewInstalled(AB, digest(A=6, B=6))).received_bytes


# Promised digests

BEYOND = announced(Vector.of(A=5, B=3, C=4), digest(A=9, B=9, C=9))
"""Stability of what all have, heard by a member that has delivered more."""


def test_the_view_with_the_newcomer_lets_the_vote_go() -> None:
    """D's own messages begin with seqno 0: nothing of D's is -1 (AMB-07)."""
    abd = View(ViewId(2, "A"), ("A", "B", "D"))
    state = after(joined(), stable.DigestPromised("D"), stable.ViewInstalled(abd, digest(A=6, B=6, D=-1)))
    assert (frozenset(), Vector.of(A=6, B=6, D=-1)) == (state.promised, state.vote)


def test_the_vote_is_held_until_the_last_promise_ends() -> None:
    """D comes, E gives up: one view or one withdrawal does not end the other's promise."""
    both = after(joined(), stable.DigestPromised("D"), stable.DigestPromised("E"))
    abcd = View(ViewId(2, "A"), ("A", "B", "C", "D"))
    state = after(both, stable.ViewInstalled(abcd, digest(A=6, B=6, C=6, D=-1)))
    assert (frozenset("E"), Vector.of(A=5, B=3, C=4, D=-1)) == (state.promised, state.vote)
    state = after(both, stable.PromiseWithdrawn("E"), BEYOND)
    assert (frozenset("D"), Vector.of(A=5, B=3, C=4)) == (state.promised, state.vote)
    state = after(state, stable.PromiseWithdrawn("D"), BEYOND)
    assert (frozenset(), Vector.of(A=9, B=9, C=9)) == (state.promised, state.vote)


# View identifiers


# Refusals

REFUSED: dict[str, tuple[stable.State, stable.Event, type[ProtocolError], str]] = {
    "a vote before a view": (stable.start("A"), stable.StableTimeout(), LocalProtocolError, "no view is installed yet"),
    "bytes before a view": (
        stable.start("A"),
        stable.MessageReceived(1),
        LocalProtocolError,
        "no view is installed yet",
    ),
    "a promise before a view": (
        stable.start("A"),
        stable.DigestPromised("D"),
        LocalProtocolError,
        "no view is installed yet",
    ),
    "a promise to a member": (
        joined(),
        stable.DigestPromised("C"),
        LocalProtocolError,
        "C is in our view: only a process outside starts from a digest",
    ),
    "a view without this member": (
        stable.start("C"),
        stable.ViewInstalled(AB, digest(A=0, B=0)),
        LocalProtocolError,
        "a view without this member cannot be installed",
    ),
    "a view with another digest": (
        joined(),
        stable.ViewInstalled(AB, digest(A=0)),
        LocalProtocolError,
        "the digest's members are not the view's",
    ),
    "an announcement with another digest": (
        joined(),
        announced(Vector.of(A=0, B=0, C=0), digest(A=0)),
        LocalProtocolError,
        "the digest's members are not the view's",
    ),
    "a stranger's vote": (joined(), vote("Z"), RemoteProtocolError, "Z is not in our view, and says it is"),
    "a stranger's announcement": (
        joined(),
        announced(Vector.of(A=0, B=0, C=0), digest(A=0, B=0, C=0), "Z"),
        RemoteProtocolError,
        "Z is not in our view, and says it is",
    ),
    "a vote on other members": (
        joined(),
        vote("B", Vector.of(A=0, B=0)),
        RemoteProtocolError,
        "the message's members are not the view's",
    ),
    "an announcement for other members": (
        joined(),
        announced(Vector.of(A=0, B=0, C=0, D=0), digest(A=0, B=0, C=0)),
        RemoteProtocolError,
        "the message's members are not the view's",
    ),
}


@pytest.mark.parametrize(("state", "event", "error", "reason"), REFUSED.values(), ids=REFUSED)
def test_a_refusal_names_member_state_and_event(
    state: stable.State, event: stable.Event, error: type[ProtocolError], reason: str
) -> None:
    is_refused(partial(stable.step, CONFIG), state, event, error, reason)


# Random events

EVENTS = st.one_of(
    st.builds(vote, SENDERS, VECTORS, st.sampled_from([ABC, ABC, AB])),
    st.builds(announced, VECTORS, VECTORS.map(lambda v: digest(**v)), SENDERS, st.sampled_from([ABC, ABC, AB])),
    st.builds(stable.MessageReceived, st.integers(1, 12)),
    st.sampled_from(
        [stable.StableTimeout(), stable.StabilityTimeout(), stable.DigestPromised("D"), stable.PromiseWithdrawn("D")]
    ),
)
