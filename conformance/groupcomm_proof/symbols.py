"""The symbols of SEQUENCER's proof: facts of members and views, and a member's state in them.

A state of the group is a function for each variable (`S`). `local_value` gives the state of the member that
takes a step, the actor `A`, as `Sequencer` has it.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import z3

from .values import Entity, Items, Map, SetOf, Term, Value
from .vocabulary import State

INT, BOOL = z3.IntSort(), z3.BoolSort()
ADDRESS, MEMBER, VIEW = (z3.DeclareSort(name) for name in ("Address", "Member", "View"))

# Small groups: so many of each sort, and the numbers from 0 on.
SMALL: Final[tuple[Mapping[Term, int], ...]] = (
    {MEMBER: 2, ADDRESS: 3, VIEW: 2, INT: 3},
    {MEMBER: 3, ADDRESS: 4, VIEW: 2, INT: 3},
    {MEMBER: 3, ADDRESS: 4, VIEW: 3, INT: 3},
)

# Facts of members and views, which never change.
address_of = z3.Function("address", MEMBER, ADDRESS)
is_in = z3.Function("in", VIEW, MEMBER, BOOL)
occupant = z3.Function("occupant", VIEW, ADDRESS, MEMBER)
is_before = z3.Function("before", VIEW, VIEW, BOOL)
parent_of = z3.Function("parent", VIEW, VIEW)
follows = z3.Function("follows", VIEW, BOOL)
toward = z3.Function("toward", VIEW, VIEW, VIEW)
counter_of = z3.Function("counter", VIEW, INT)
creator_of = z3.Function("creator", VIEW, ADDRESS)
leader_of = z3.Function("leader", VIEW, MEMBER)

FUNCTIONS: Final[Mapping[str, Sequence[Term]]] = {
    "begun": (MEMBER, BOOL),
    "installed": (MEMBER, VIEW),
    "began": (MEMBER, VIEW),  # the view of its epoch
    "took": (MEMBER, VIEW, BOOL),
    "up": (MEMBER, BOOL),
    "seqno": (MEMBER, INT),
    "table": (MEMBER, INT, BOOL),
    "known": (MEMBER, ADDRESS, BOOL),  # the received-table: the sender, the epoch, the highest
    "known_in": (MEMBER, ADDRESS, VIEW),
    "highest": (MEMBER, ADDRESS, INT),
    "held": (MEMBER, MEMBER, VIEW, INT, BOOL),
    "wire": (MEMBER, VIEW, INT, BOOL),
    "pos": (VIEW, MEMBER, INT, INT),
    "length": (VIEW, INT),
    "got": (MEMBER, INT),
    "settled": (VIEW, BOOL),
    "cut": (VIEW, INT),
    "turn": (MEMBER, VIEW, MEMBER, INT, INT),
    "turns": (MEMBER, INT),
    "seen_in": (MEMBER, ADDRESS, VIEW),  # a ghost: where the highest was delivered
}


def every(_: Value) -> bool:
    """Say yes: all views are decided."""
    return True


S: Final[State] = {**{name: z3.Function(name, *sorts) for name, sorts in FUNCTIONS.items()}, "decided": every}
A, T, W, N = z3.Const("a", MEMBER), z3.Const("t", MEMBER), z3.Const("w", VIEW), z3.Int("number")


def with_value(name: str, key: tuple[Term, ...], value: Term) -> Callable[..., Term]:
    """Give the function of the state, with another value at one place."""
    return lambda *at: z3.If(z3.And(*(p == q for p, q in zip(at, key, strict=True))), value, S[name](*at))


def id_value(view: Term) -> Entity:
    """Give the view's identifier."""
    return Entity(view, {"counter": counter_of(view), "creator": creator_of(view)})


def is_address_in(view: Term, address: Term) -> Term:
    """Say whether the view has a member of this address."""
    return z3.And(is_in(view, occupant(view, address)), address_of(occupant(view, address)) == address)


def view_value(view: Term, *, leads: bool) -> Value:
    """Give the view as `Sequencer` has it; `leads` says whether the actor coordinates it."""
    return {
        "id": id_value(view),
        "members": SetOf(ADDRESS, lambda s: is_address_in(view, s)),
        "leads": leads,
        "coordinator": address_of(leader_of(view)),
    }


NO_VIEW: Final = {
    "id": {"counter": 0, "creator": ""},
    "members": SetOf(ADDRESS, lambda _: False),
    "leads": False,
    "coordinator": "",
}


def tag_value(member: Term, number: Term) -> Entity:
    """Give the tag of the member's multicast with this number."""
    return Entity(
        (member, number), {"sender": address_of(member), "epoch": id_value(S["began"](member)), "seqno": number}
    )


def message_value(kind: str, member: Term, view: Term, number: Term) -> Entity:
    """Give a FORWARD or DATA of the member, sent in the view."""
    fields = {"type": kind, "view_id": id_value(view), "tag": tag_value(member, number), "payload": number}
    return Entity((member, view, number), fields)


def local_value(*, begun: bool, leads: bool) -> Value:
    """Give the local state of the actor, as `Sequencer` has it."""

    def record(address: Term) -> Value:
        return {"epoch": id_value(S["known_in"](A, address)), "seqno": S["highest"](A, address)}

    return {
        "member": address_of(A),
        "view": view_value(S["installed"](A), leads=leads) if begun else NO_VIEW,
        "epoch": id_value(S["began"](A)),
        "seqno": S["seqno"](A),
        "forward_table": SetOf(INT, lambda n: S["table"](A, n), lambda n: {"seqno": n, "payload": n}),
        "received_table": Map(SetOf(ADDRESS, lambda s: S["known"](A, s)), record),
        "suspected": SetOf(ADDRESS, lambda _: False),  # (the scope: SEQUENCER hears of no suspicion)
        # (The scope: without the option Majority these three stay as they are at the start.)
        "attempts": Items([]),
        "formed": False,
        "reports": Map(SetOf(ADDRESS, lambda _: False), lambda _: Items([])),
        "early": SetOf(None, lambda key: S["held"](A, *key), lambda key: message_value("FORWARD", *key)),
    }
