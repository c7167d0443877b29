"""Charts of counterexamples to induction: a state with the invariant, a step, the clause that is then false.

The solver's small group is written as two states of a behaviour: `tla.chart` draws them like those of TLC.
"""

from itertools import product
from typing import Final

import z3
from attrs import evolve, field, frozen

from groupcomm_conformance.tla.chart import WIDTH, chart
from groupcomm_conformance.tla.readable import brief
from groupcomm_conformance.tla.values import Fn, function
from groupcomm_conformance.tla.values import Value as Shown

from . import vocabulary as words
from .finite import Group
from .proving import Obligation, refuted
from .values import Items, Map, Place, SetOf, Term, Value
from .vocabulary import ADDRESS, ANNOUNCED, MEMBER, PROMISE, VIEW, VOTE, State

__all__ = ["drawn"]

_LARGEST: Final = 4
_LETTERS: Final = "ABCDEFGH"


@frozen
class _Step:
    number: int
    action: str
    values: Fn


def drawn(obligation: Obligation, *, width: int = WIDTH, unicode: bool = False) -> list[str]:
    """Draw a small group in which an obligation fails, one item per line; nothing if none is found."""
    group = refuted(obligation, _LARGEST) or refuted(obligation)
    if group is None:
        return []
    names = _Names.of(group)
    action = obligation.action
    before = words.state() if action is None else action.before
    steps = [_Step(1, "Init", Fn(names.state(before)))]
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
        steps.append(_Step(2, action.name, Fn({**names.state(action.after), "act": Fn(act)})))
    return [*chart(steps, width=width, unicode=unicode), "", f"FALSE: {_where(obligation, names)}"]


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
        for member in group.elements[MEMBER]:
            address = group.value(words.address_of(member)).get_id()
            if address not in names.addresses:
                names.addresses[address] = next(letters)
            same = [each for each in names.members.values() if each[0] == names.addresses[address]]
            names.members[member.get_id()] = names.addresses[address] + (f"#{len(same) + 1}" if same else "")
        names.addresses.setdefault(group.value(z3.Const("address Z", ADDRESS)).get_id(), "Z")
        for address in group.elements[ADDRESS]:
            if address.get_id() not in names.addresses:
                names.addresses[address.get_id()] = next(letters)

        def depth(view: Term) -> int:
            return sum(names.is_true(words.is_before(each, view)) for each in group.elements[VIEW])

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
            case dict() if value.keys() == {"id", "members"}:
                members = self._among(value["members"])
                return Fn({"id": self.value(value["id"]), "members": members})
            case dict() if "ahead" in value:  # a window: what a digest says of it
                return self.value(value["delivered"])
            case dict():
                return Fn({name: self.value(each) for name, each in value.items() if name != "by_life"})
            case Map():
                return function(
                    (self.addresses[each.get_id()], self.value(value.rule(each)))
                    for each in self.group.elements[ADDRESS]
                    if self.is_true(value.domain.contains(each))
                )
            case SetOf():
                return frozenset(self._among(value))
            case Items():
                return tuple(self.value(each) for when, each in value.items if self.is_true(when))
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

    def state(self, now: State) -> dict[str, Shown]:
        """Give the variables: members, the views that are decided, the network, promises, ghosts."""
        elements = self.group.elements
        begun = {x: self.is_true(now["begun"](x)) for x in elements[MEMBER]}

        def held(sort: Term, kind: str, state_name: str) -> frozenset[Shown]:
            wrap = words.WRAPS[kind]
            return frozenset(
                self.value(wrap(now, each)) for each in elements[sort] if self.is_true(now[state_name](each))
            )

        views = [v for v in elements[VIEW] if self.is_true(now["decided"](v))]
        return {
            "local": function((self.value(x), self._local(now, x) if begun[x] else ()) for x in begun),
            "views": function((self.value(v), self._view(v)) for v in views),
            "network": held(VOTE, "vote", "sent_votes") | held(ANNOUNCED, "announced", "sent_announcements"),
            "promises": held(PROMISE, "promise", "open"),
        }

    def _view(self, view: Term) -> Shown:
        first = self.is_true(words.is_first(view))
        shown = self.value(words.view_value(view))
        assert isinstance(shown, Fn)  # noqa: S101 - a view is a record
        return Fn(
            {**shown, "preds": frozenset() if first else frozenset({self.value(words.parent_of(view))})}
        )

    def _local(self, now: State, x: Term) -> Shown:
        """Give the local state of a member, and of the layer below what counts here."""
        shown = self.value(words.local(now, x))
        assert isinstance(shown, Fn)  # noqa: S101 - a local state is a record
        here = self.group.value(now["installed"](x))
        members = [a for a in self.group.elements[ADDRESS] if self.is_true(words.address_in(here, a))]
        return Fn(
            {
                **shown,
                **{
                    name: function((self.value(a), self.value(now[name](x, a))) for a in members)
                    for name in ("delivered", "purged")
                },
                "cast": function(
                    (f"in {self.value(v)}", function(cast))
                    for v in self.group.elements[VIEW]
                    if (cast := self._cast(now, x, v))
                ),
            }
        )

    def _cast(self, now: State, x: Term, view: Term) -> list[tuple[Shown, Shown]]:
        """Give the highest votes of a member in a view, on those members of it that it voted for."""
        there = [a for a in self.group.elements[ADDRESS] if self.is_true(words.address_in(view, a))]
        found = [(self.value(a), self.value(now["cast"](x, view, a))) for a in there]
        return [(name, number) for name, number in found if number != words.NIL]
