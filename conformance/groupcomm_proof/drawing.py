"""Charts of counterexamples to induction: a state with the invariant, a step, the clause that is then false.

The solver's small group is written as two states of a behaviour: `tla.chart` draws them like those of TLC.
"""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from typing import Final

import z3
from attrs import evolve, field, frozen

from groupcomm_conformance.tla.chart import WIDTH, chart
from groupcomm_conformance.tla.readable import brief
from groupcomm_conformance.tla.values import Fn, function
from groupcomm_conformance.tla.values import Value as Shown

from . import identifiers, sequencer, stable, symbols
from . import vocabulary as words
from .finite import Group
from .proving import Obligation, refuted
from .values import Items, Map, Place, SetOf, Term, Value
from .vocabulary import ADDRESS, ANNOUNCED, MEMBER, PROMISE, VIEW, VOTE, State

_LARGEST: Final = 4
_LETTERS: Final = "ABCDEFGH"


@frozen
class _Step:
    number: int
    action: str
    values: Fn


def drawn(obligation: Obligation, *, width: int = WIDTH) -> list[str]:
    """Draw a small group in which an obligation fails, one item per line; nothing if none is found."""
    group = refuted(obligation, _LARGEST) or refuted(obligation)
    if group is None or obligation.theory is None:
        return []
    names = _Names.of(group)
    action = obligation.action
    theory = obligation.theory
    state = _STATES[type(theory)](names)
    before = theory.settled() if action is None else action.before
    steps = [_Step(1, "Init", Fn(state.of(before)))]
    if action is not None:
        act = {
            "action": action.name,
            "member": "" if action.actor is None else names.value(action.actor),
            "event": Fn({"type": "none"}) if action.event is None else names.value(action.event),
            "effects": () if action.effects is None else names.value(action.effects),
            "outcome": "handled",
            "given": Fn({"nothing": 0}),
            "consumed": frozenset(),
        }
        steps.append(_Step(2, action.name, Fn({**state.of(action.after), "act": Fn(act)})))
    return [*chart(steps, width=width), "", f"FALSE: {_where(obligation, names)}"]


def _where(obligation: Obligation, names: "_Names") -> str:
    """Name the clause that is false, and say of what it is."""
    said = obligation.said
    if said is None:
        return obligation.clause
    elements = names.group.elements
    for values in product(*(elements[variable.sort()] for variable in said.variables)):
        here = evolve(names, chosen=tuple(zip(said.variables, values, strict=True)))
        if here.is_true(said.given) and not here.is_true(said.goal):
            told = (f"{name} = {brief(here.value(value))}" for name, value in said.bound)
            return f"{said.name}, of {', '.join(told)}"
    return said.name


@frozen(eq=False)
class _Names:
    """The values of a group as charts have them: members and addresses are letters, views are numbers.

    `chosen`: variables of a clause, and the elements that they stand for.
    """

    group: Group
    members: dict[int, str] = field(factory=dict)
    addresses: dict[int, str] = field(factory=dict)
    views: dict[int, int] = field(factory=dict)
    chosen: tuple[tuple[Term, Term], ...] = ()

    @classmethod
    def of(cls, group: Group) -> "_Names":
        names = cls(group)
        letters = iter(_LETTERS)
        for member in group.elements.get(MEMBER, ()):  # (GMS: members are addresses)
            address = group.value(words.address_of(member)).get_id()
            if address not in names.addresses:
                names.addresses[address] = next(letters)
            same = [each for each in names.members.values() if each[0] == names.addresses[address]]
            names.members[member.get_id()] = names.addresses[address] + (f"#{len(same) + 1}" if same else "")
        if MEMBER in group.elements:
            names.addresses.setdefault(group.value(z3.Const("address Z", ADDRESS)).get_id(), "Z")
        for address in group.elements[ADDRESS]:
            if address.get_id() not in names.addresses:
                names.addresses[address.get_id()] = next(letters)

        def depth(view: Term) -> int:
            if MEMBER not in group.elements:
                return int(names.group.value(identifiers.counter(view)).as_long())
            return sum(
                any(names.is_true(words.along(x, x, each, view)) for x in group.elements[MEMBER])
                for each in group.elements[VIEW]
            )

        for number, view in enumerate(sorted(group.elements[VIEW], key=depth), start=1):
            names.views[view.get_id()] = number
        return names

    def _bound(self, term: Value) -> Value:
        return z3.substitute(term, *self.chosen) if self.chosen and isinstance(term, z3.ExprRef) else term

    def is_true(self, value: Value) -> bool:
        return value if isinstance(value, bool) else z3.is_true(self.group.value(self._bound(value)))

    def value(self, value: Value) -> Shown:
        """Give a value of the reader."""
        match value:
            case bool() | int() | str():
                return value
            case Place():
                return self.value(value.view) if self.is_true(value.begun) else 0
            case dict() if {"id", "members"} <= value.keys():
                members = self._among(value["members"])
                return Fn({"id": self.value(value["id"]), "members": members})
            case dict() if "ahead" in value:  # a window: what a digest says of it
                return self.value(value["delivered"])
            case dict():
                return Fn(
                    {
                        name: self.value(each)
                        for name, each in value.items()
                        if name not in ("by_life", "leads", "coordinator")
                    }
                )
            case Map():
                return function(
                    (self.addresses[each.get_id()], self.value(value.rule(each)))
                    for each in self.group.elements[ADDRESS]
                    if self.is_true(value.domain.contains(each))
                )
            case SetOf():
                return frozenset(self._among(value))
            case Items():  # (what is sent for each of a queue shows in the state after)
                told = [(when, each) for when, each in value.items if not _is_of_queue(each)]
                return tuple(self.value(each) for when, each in told if self.is_true(when))
            case _:
                return self._term(self.group.value(self._bound(value)))

    def _among(self, held: SetOf) -> tuple[str, ...]:
        each = self.group.elements[ADDRESS]
        return tuple(sorted(self.addresses[a.get_id()] for a in each if self.is_true(held.contains(a))))

    def _term(self, value: Term) -> Shown:
        if z3.is_bool(value):
            return bool(z3.is_true(value))
        if z3.is_int_value(value):
            return int(value.as_long())
        for names in (self.members, self.addresses, self.views):
            if value.get_id() in names:
                return names[value.get_id()]
        return str(value)


def _is_of_queue(effect: Value) -> bool:
    return isinstance(effect, dict) and effect["type"] == "Each"


@frozen
class _State:
    """The variables of a group that runs STABLE."""

    names: _Names

    def of(self, now: State) -> dict[str, Shown]:
        """Give the variables: members, the views that are decided, the network, promises, ghosts."""
        elements = self.names.group.elements
        begun = {x: self.names.is_true(now["begun"](x)) for x in elements[MEMBER]}

        def held(sort: Term, kind: str, state_name: str) -> frozenset[Shown]:
            wrap = words.WRAPS[kind]
            return frozenset(
                self.names.value(wrap(now, each))
                for each in elements[sort]
                if self.names.is_true(now[state_name](each))
            )

        views = [v for v in elements[VIEW] if self.names.is_true(now["decided"](v))]
        return {
            "local": function((self.names.value(x), self._local(now, x) if begun[x] else ()) for x in begun),
            "views": function((self.names.value(v), self._view(v)) for v in views),
            "network": held(VOTE, "vote", "sent_votes") | held(ANNOUNCED, "announced", "sent_announcements"),
            "promises": held(PROMISE, "promise", "standing"),
        }

    def _view(self, view: Term) -> Shown:
        shown = self.names.value(words.view_value(view))
        assert isinstance(shown, Fn)  # noqa: S101 - a view is a record
        preds = frozenset(
            self.names.value(words.parent_of(view, x))
            for x in self.names.group.elements[MEMBER]
            if self.names.is_true(z3.And(words.is_in(view, x), z3.Not(words.joins(view, x))))
        )
        return Fn({**shown, "preds": preds})

    def _local(self, now: State, x: Term) -> Shown:
        """Give the local state of a member, and of the layer below what counts here."""
        shown = self.names.value(words.local(now, x))
        assert isinstance(shown, Fn)  # noqa: S101 - a local state is a record
        here = self.names.group.value(now["installed"](x))
        members = [a for a in self.names.group.elements[ADDRESS] if self.names.is_true(words.address_in(here, a))]
        return Fn(
            {
                **shown,
                **{
                    name: function((self.names.value(a), self.names.value(now[name](x, a))) for a in members)
                    for name in ("delivered", "purged")
                },
                "cast": function(
                    (f"in {self.names.value(v)}", function(cast))
                    for v in self.names.group.elements[VIEW]
                    if (cast := self._cast(now, x, v))
                ),
            }
        )

    def _cast(self, now: State, x: Term, view: Term) -> list[tuple[Shown, Shown]]:
        """Give the highest votes of a member in a view, on those members of it that it voted for."""
        there = [a for a in self.names.group.elements[ADDRESS] if self.names.is_true(words.address_in(view, a))]
        found = [(self.names.value(a), self.names.value(now["cast"](x, view, a))) for a in there]
        return [(name, number) for name, number in found if number != words.NIL]


@frozen
class _Queues:
    """The variables of a group that runs SEQUENCER: sender and number identify a multicast."""

    names: _Names

    def of(self, now: State) -> dict[str, Shown]:
        """Give the variables: members, the views that are decided, what is on its way, logs."""
        elements, names = self.names.group.elements, self.names
        views = [v for v in elements[VIEW] if names.is_true(now["decided"](v))]
        return {
            "local": function((names.value(x), self._local(now, x)) for x in elements[MEMBER]),
            "up": frozenset(names.value(x) for x in elements[MEMBER] if names.is_true(now["up"](x))),
            "views": function((names.value(v), self._view(now, v)) for v in views),
            "wire": function((f"to {names.value(v)}", self._among(now["wire"], None, v)) for v in views),
            "log": function((f"in {names.value(v)}", self._ordered(now, v)) for v in views),
        }

    def _numbers(self) -> Sequence[Term]:
        return self.names.group.elements[symbols.INT]

    def _multicast(self, sender: Term, number: Term) -> str:
        return f"{self.names.value(sender)}{number}"

    def _among(self, holds: Callable[..., Term], by: Term, view: Term) -> frozenset[Shown]:
        key = () if by is None else (by,)
        members = self.names.group.elements[MEMBER]
        return frozenset(
            self._multicast(s, n)
            for s in members
            for n in self._numbers()
            if self.names.is_true(holds(*key, s, view, n))
        )

    def _placed(self, place: Callable[[Term, Term], Term]) -> tuple[Shown, ...]:
        members = self.names.group.elements[MEMBER]
        found = [(self.names.value(place(s, n)), self._multicast(s, n)) for s in members for n in self._numbers()]
        return tuple(f"{at}: {each}" for at, each in sorted(found) if at != 0)

    def _ordered(self, now: State, view: Term) -> tuple[Shown, ...]:
        return self._placed(lambda s, n: now["pos"](view, s, n))

    def _view(self, now: State, view: Term) -> Shown:
        names = self.names
        first = not names.is_true(symbols.follows(view))
        shown = names.value(symbols.view_value(view, leads=False))
        assert isinstance(shown, Fn)  # noqa: S101 - a view is a record
        preds = frozenset() if first else frozenset({names.value(symbols.parent_of(view))})
        cut = names.value(now["cut"](view)) if names.is_true(now["settled"](view)) else "open"
        leader = names.value(symbols.leader_of(view))
        return Fn({**shown, "preds": preds, "coordinator": leader, "cut": cut})

    def _local(self, now: State, x: Term) -> Shown:
        names, views = self.names, self.names.group.elements[VIEW]
        if not names.is_true(now["begun"](x)):
            return ()
        addresses = names.group.elements[ADDRESS]
        known = [b for b in addresses if names.is_true(now["known"](x, b))]
        return Fn(
            {
                "view": names.value(now["installed"](x)),
                "seqno": names.value(now["seqno"](x)),
                "table": frozenset(str(n) for n in self._numbers() if names.is_true(now["table"](x, n))),
                "received": function((names.value(b), names.value(now["highest"](x, b))) for b in known),
                "early": function((f"of {names.value(v)}", self._among(now["held"], x, v)) for v in views),
                "got": names.value(now["got"](x)),
                "delivered": function(
                    (f"in {names.value(v)}", self._placed(partial(now["turn"], x, v))) for v in views
                ),
            }
        )


@frozen
class _Views:
    """The variables of a group that runs GMS: who is up, in which incarnation, and with which view."""

    names: _Names

    def of(self, now: State) -> dict[str, Shown]:
        """Give the variables: members, and the views that are decided."""
        names = self.names
        addresses, views = names.group.elements[ADDRESS], names.group.elements[VIEW]

        def local(x: Term) -> Shown:
            here = names.value(now["installed"](x)) if names.is_true(now["begun"](x)) else 0
            return Fn({"installed": here, "life": names.value(now["life"](x)), "up": names.is_true(now["up"](x))})

        decided = [v for v in views if names.is_true(now["decided"](v))]
        return {
            "local": function((names.value(x), local(x)) for x in addresses),
            "views": function((names.value(v), self._view(v)) for v in decided),
        }

    def _view(self, view: Term) -> Shown:
        names, shown = self.names, identifiers.view_value(view)
        preds = {names.value(v) for v in names.group.elements[VIEW] if names.is_true(shown["preds"].contains(v))}
        lives = names.value(shown["lives"])
        return Fn({"id": names.value(shown["id"]), "lives": lives, "preds": frozenset(preds)})


_STATES: Final[dict[type, Callable[[_Names], _State | _Queues | _Views]]] = {
    stable.Theory: _State,
    sequencer.Theory: _Queues,
    identifiers.Theory: _Views,
}
