"""The vocabulary of the proof: sorts, the state as functions of them, and what StableInductive's names mean.

`Member` is read as the sort of incarnations. The state of a member has entries for addresses, as in the
specification. `In(v, x)` says that the incarnation x is a member of view v.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import z3
from attrs import frozen

from .reading import Moment, Native
from .values import Entity, Items, Logic, Map, Place, SetOf, Term, Value

NIL: Final = -1
_INT, _BOOL = z3.IntSort(), z3.BoolSort()
ADDRESS, MEMBER, VIEW, VOTE, ANNOUNCED, PROMISE = (
    z3.DeclareSort(name) for name in ("Address", "Member", "View", "Vote", "Announcement", "Promise")
)
# Small groups, in one of which an action can happen, and in which what does not follow fails.
SMALL: Final[tuple[Mapping[Term, int], ...]] = (
    {MEMBER: 2, ADDRESS: 4, VIEW: 2, VOTE: 1, ANNOUNCED: 1, PROMISE: 1},
    {MEMBER: 3, ADDRESS: 5, VIEW: 3, VOTE: 1, ANNOUNCED: 1, PROMISE: 2},
)
SORTS: Final = {"member": MEMBER, "view": VIEW, "vote": VOTE, "announced": ANNOUNCED, "promise": PROMISE}

# Facts of views, messages and promises, which never change.
address_of = z3.Function("address", MEMBER, ADDRESS)
is_in = z3.Function("in", VIEW, MEMBER, _BOOL)
occupant_of = z3.Function("occupant", VIEW, ADDRESS, MEMBER)
precedes = z3.Function("precedes", VIEW, VIEW, _BOOL)
follows_other = z3.Function("follows_other", VIEW, MEMBER, _BOOL)
joins = z3.Function("joins", VIEW, MEMBER, _BOOL)
along = z3.Function("along", MEMBER, MEMBER, VIEW, VIEW, _BOOL)
carried = z3.Function("carried", MEMBER, MEMBER, VIEW, VIEW, _BOOL)
parent_of = z3.Function("parent", VIEW, MEMBER, VIEW)
is_first = z3.Function("first", VIEW, _BOOL)
no_merges = z3.Bool("no_merges")
counter_of = z3.Function("counter", VIEW, _INT)
creator_of = z3.Function("creator", VIEW, ADDRESS)
waits = z3.Function("waits", PROMISE, VIEW, _BOOL)
_tells = z3.Function("tells", PROMISE, MEMBER, VIEW, _BOOL)
by_of = z3.Function("by", PROMISE, MEMBER)
to_of = z3.Function("to", PROMISE, MEMBER)
# The promise of a member of a view that a member redeems, as it installs a view that follows.
redeemed = z3.Function("redeemed", VIEW, PROMISE)
promised_in = z3.Function("promised_in", PROMISE, VIEW)
told = z3.Function("told", PROMISE, ADDRESS, _INT)
SENT = {
    sort: (
        z3.Function(f"sender_{sort}", sort, MEMBER),
        z3.Function(f"view_{sort}", sort, VIEW),
        z3.Function(f"vector_{sort}", sort, ADDRESS, _INT),
    )
    for sort in (VOTE, ANNOUNCED)
}

FUNCTIONS: Final[Mapping[str, Sequence[Term]]] = {
    "begun": (MEMBER, _BOOL),
    "installed": (MEMBER, VIEW),
    "decided": (VIEW, _BOOL),
    "delivered": (MEMBER, ADDRESS, _INT),
    "purged": (MEMBER, ADDRESS, _INT),
    "low": (MEMBER, ADDRESS, _INT),
    "ahead": (MEMBER, ADDRESS, _INT, _BOOL),
    "received": (MEMBER, ADDRESS, _INT),
    "vote": (MEMBER, ADDRESS, _INT),
    "minimum": (MEMBER, ADDRESS, _INT),
    "heard_from": (MEMBER, ADDRESS, _BOOL),
    "pending": (MEMBER, _BOOL),
    "received_bytes": (MEMBER, _INT),
    "promised": (MEMBER, ADDRESS, _BOOL),
    "sent_votes": (VOTE, _BOOL),
    "sent_announcements": (ANNOUNCED, _BOOL),
    "standing": (PROMISE, _BOOL),
    "served": (MEMBER, MEMBER, VIEW, _BOOL),
    "abandoned": (VIEW, VIEW, _BOOL),
    "up": (MEMBER, _BOOL),
    # Ghosts. The highest vote. The guard of a member, or of a promiser, in a view, for messages of a sender.
    # The member for which it guards, and the view with which that member comes.
    "cast": (MEMBER, VIEW, ADDRESS, _INT),
    "guard": (MEMBER, VIEW, MEMBER, MEMBER),
    "guarded_for": (MEMBER, VIEW, MEMBER, MEMBER),
    "guarded_until": (MEMBER, VIEW, MEMBER, VIEW),
    "agreed": (MEMBER, MEMBER, VIEW),  # the view that agreed on what a member has purged of another
    "promise_guard": (PROMISE, VIEW, MEMBER, MEMBER),
    "promise_for": (PROMISE, VIEW, MEMBER, MEMBER),
    "promise_until": (PROMISE, VIEW, MEMBER, VIEW),
}
# In place of existential quantifiers: the specification has no such variables. (It has the votes: TLC judges
# `cast`.)
GHOSTS: Final = ("guard", "guarded_for", "guarded_until", "agreed", "promise_guard", "promise_for", "promise_until")
State = dict[str, Callable[..., Value]]


@frozen(eq=False)
class Action:
    """A step of the group: what it requires, the state after it, and what makes that state readable.

    `readable`: the member's local state after the step is over the members of the view that it has installed,
    as the reading of local states takes it to be. `actor`, `event` and `effects` are for charts. `lemmas`:
    what is proved first, on the way.
    """

    name: str
    requires: tuple[Term, ...]
    before: State
    after: State
    readable: Term
    actor: Term = None
    event: Value = None
    effects: Value = None
    lemmas: Sequence[tuple[str, Term]] = ()


def state(prefix: str = "") -> State:
    """Give a state of which nothing is known."""
    return {name: z3.Function(prefix + name, *sorts) for name, sorts in FUNCTIONS.items()}


def address_in(view: Term, address: Term) -> Term:
    """Say that an incarnation of an address is a member of a view."""
    occupant = occupant_of(view, address)
    return z3.And(is_in(view, occupant), address_of(occupant) == address)


def view_value(view: Term) -> Value:
    """Give a view as protocols see it: the identifier and the addresses of its members."""
    return {
        "id": {"counter": counter_of(view), "creator": creator_of(view)},
        "members": SetOf(ADDRESS, lambda s: address_in(view, s)),
    }


_NO_VIEW: Final = {
    "id": {"counter": 0, "creator": z3.Const("address of nobody", ADDRESS)},
    "members": SetOf(ADDRESS, lambda _: z3.BoolVal(val=False)),
}


def _decided_view(view: Term) -> Value:
    members = SetOf(ADDRESS, lambda s: address_in(view, s))
    begin = SetOf(ADDRESS, lambda s: z3.And(address_in(view, s), joins(view, occupant_of(view, s))))
    return {**view_value(view), "lives": Map(members, lambda s: occupant_of(view, s)), "joins": begin}


def local(now: State, x: Term) -> Value:
    """Give the local state of a member, as `Stable` has it."""
    logic = Logic(sort_of_addresses=ADDRESS, address=address_of)
    view = logic.choice(now["begun"](x), view_value(now["installed"](x)), _NO_VIEW)
    members = view["members"]
    return {
        "member": address_of(x),
        "view": view,
        "vote": Map(members, lambda s: now["vote"](x, s)),
        "minimum": Map(members, lambda s: now["minimum"](x, s)),
        "heard_from": SetOf(ADDRESS, lambda s: now["heard_from"](x, s)),
        "pending": now["pending"](x),
        "received_bytes": now["received_bytes"](x),
        "promised": SetOf(ADDRESS, lambda s: now["promised"](x, s)),
    }


def _windows(now: State, x: Term) -> Value:
    def window(s: Term) -> Value:
        return {
            **{name: now[name](x, s) for name in ("low", "delivered", "purged", "received")},
            "ahead": SetOf(_INT, lambda n: now["ahead"](x, s, n)),
        }

    return Map(SetOf(ADDRESS, lambda s: address_in(now["installed"](x), s)), window)


def _promise(_: State, term: Term) -> Value:
    vector = Map(SetOf(ADDRESS, lambda s: address_in(promised_in(term), s)), lambda s: told(term, s))
    names = {"by": by_of(term), "to": to_of(term), "view": promised_in(term), "by_life": True}
    return Entity(term, {**names, "vector": vector})


def _message(sort: Term, kind: str) -> Callable[[State, Term], Value]:
    sender, view, vector = SENT[sort]

    def wrap(_: State, term: Term) -> Value:
        digest = Map(SetOf(ADDRESS, lambda s: address_in(view(term), s)), lambda s: vector(term, s))
        message = {"type": kind, "view_id": view_value(view(term))["id"], "digest": digest}
        return Entity(term, {"sender": sender(term), "message": message})

    return wrap


WRAPS: Final[Mapping[str, Callable[[State, Term], Value]]] = {
    "promise": _promise,
    "vote": _message(VOTE, "STABLE"),
    "announced": _message(ANNOUNCED, "STABILITY"),
}


def _v(value: Value) -> Term:
    return value.view if isinstance(value, Place) else value


def _held(sort: Term, kind: str, state_name: str) -> Native:
    return lambda at, *_: SetOf(sort, at.now[state_name], lambda term: WRAPS[kind](at.now, term))


def natives(logic: Logic) -> dict[str, Native]:
    """Give what the names of variables, vocabulary and some records mean to the solver."""

    def throughout(_: Moment, x: Term, i: Value, k: Value) -> Value:
        i, k = _v(i), _v(k)
        return z3.Or(along(x, x, i, k), along(x, x, k, i))

    def same_sender(at: Moment, s: Term, x: Term, y: Term) -> Value:
        one, other = at.now["installed"](x), at.now["installed"](y)
        s = logic.as_element(ADDRESS, s)
        return z3.And(address_in(one, s), address_in(other, s), occupant_of(one, s) == occupant_of(other, s))

    def purges(_: Moment, windows: Value, effects: Items) -> Value:
        for condition, effect in effects.items:
            if effect["type"] == "PassDown":
                windows = _purged(logic, windows, condition, effect["event"]["digest"])
        return windows

    return {
        # Variables and constants
        "Member": lambda _: SetOf(MEMBER, lambda _x: True),
        "InGroup": lambda at: SetOf(MEMBER, at.now["begun"]),
        "up": lambda at: SetOf(MEMBER, at.now["up"]),
        "local": lambda at: Map(SetOf(MEMBER, lambda _: True), lambda x: local(at.now, x)),
        "rm": lambda at: Map(SetOf(MEMBER, lambda _: True), lambda x: _windows(at.now, x)),
        "installed": lambda at: Map(
            SetOf(MEMBER, lambda _: True), lambda x: Place(at.now["installed"](x), at.now["begun"](x))
        ),
        "views": lambda at: Map(SetOf(VIEW, at.now["decided"]), _decided_view),
        "standing": _held(PROMISE, "promise", "standing"),
        "network": lambda _: None,
        "act": lambda at: at.act,
        # Vocabulary
        "Votes": _held(VOTE, "vote", "sent_votes"),
        "Announcements": _held(ANNOUNCED, "announced", "sent_announcements"),
        "Begun": lambda at, x: at.now["begun"](x),
        "In": lambda _, v, x: is_in(_v(v), x),
        "AddressIn": lambda _, v, x: address_in(_v(v), logic.as_element(ADDRESS, x)),
        "SameAddress": lambda _, x, y: address_of(x) == address_of(y),
        "IsFirst": lambda _, v: is_first(_v(v)),
        "Precedes": lambda _, u, v: precedes(_v(u), _v(v)),
        "FollowsOther": lambda _, v, x: follows_other(_v(v), x),
        "Joins": lambda _, v, x: joins(_v(v), x),
        "Parent": lambda _, v, x: parent_of(_v(v), x),
        "Along": lambda _, x, y, u, v: along(x, y, _v(u), _v(v)),
        "Carried": lambda _, x, s, u, v: carried(x, s, _v(u), _v(v)),
        "NoMerges": lambda _: no_merges,
        "Counter": lambda _, v: counter_of(_v(v)),
        "SameId": lambda _, u, v: z3.And(counter_of(u) == counter_of(v), creator_of(u) == creator_of(v)),
        "ViewOfMessage": lambda _, p: SENT[p.term.sort()][1](p.term),
        "Cast": lambda at, x, v, s: at.now["cast"](x, _v(v), logic.as_element(ADDRESS, s)),
        "ByPresent": lambda *_: True,
        "ToPresent": lambda *_: True,
        "AllPresent": lambda *_: True,
        "SenderPresent": lambda *_: True,
        "Waits": lambda _, p, v: waits(p.term, _v(v)),
        "Tells": lambda _, p, s, v: _tells(p.term, s, _v(v)),
        "ByIn": lambda _, p, v: is_in(_v(v), p["by"]),
        "ToIn": lambda _, p, v: is_in(_v(v), p["to"]),
        "Served": lambda at, y, z, w: at.now["served"](y, z, _v(w)),
        "ServedBy": lambda at, p, w: at.now["served"](p["by"], p["to"], _v(w)),
        "Abandoned": lambda at, u, w: at.now["abandoned"](_v(u), _v(w)),
        "SameSender": same_sender,
        "Membership!Throughout": throughout,
        # Records that are sequences in the specification
        "MembersOf": lambda _, view: view["members"],
        "View": lambda _, counter, creator, members: {
            "id": {"counter": counter, "creator": creator},
            "members": SetOf(ADDRESS, lambda s: logic.any_of([logic.equal(s, each) for _, each in members.items])),
        },
        "ViewOf": lambda _, view: {"id": view["id"], "members": view["members"]},
        "NoView": lambda _: _NO_VIEW,
        "Window": lambda _, low: {
            **dict.fromkeys(("low", "delivered", "received"), low),
            "purged": NIL,
            "ahead": SetOf(_INT, lambda _n: False),
        },
        "DigestOf": lambda _, windows: windows,
        "AfterPurges": purges,
    }


def _purged(logic: Logic, windows: Map, condition: Value, vector: Map) -> Map:
    def window(s: Term) -> Value:
        old = windows.rule(s)
        more = logic.all_of([condition, vector.domain.contains(s), vector.rule(s) > old["purged"]])
        return {**old, "purged": logic.choice(more, vector.rule(s), old["purged"])}

    return Map(windows.domain, window)
