"""Values of TLA+ as the solver's reader has them: Python's where they are known, terms of z3 where not.

A record is a `dict`, a set a predicate, a function a domain and a rule, a sequence of effects a list of
pairs (condition, effect). Conditions on known values alone are decided here, so that the guards of a
specification, which are constants, leave no trace in a formula.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

import z3
from attrs import field, frozen

Value: TypeAlias = Any
"""A `bool`, an `int`, a `str`, a term of z3, a `dict`, or one of the classes below."""
Term: TypeAlias = Any
"""A term of z3: its Python package has no types."""


@frozen(eq=False)
class SetOf:
    """A set: which sort its elements are of (None: they are known values), and what is in it.

    `wrap` makes the value of an element from a term of the sort.
    """

    sort: Term
    contains: Callable[[Value], Value]
    wrap: Callable[[Term], Value] = lambda term: term


@frozen(eq=False)
class Map:
    """A function."""

    domain: SetOf
    rule: Callable[[Value], Value]


@frozen(eq=False)
class Items:
    """A sequence of records, each with the condition on which it is there."""

    items: Sequence[tuple[Value, Value]]


@frozen(eq=False)
class Place:
    """A view's number, or 0 where `begun` is false."""

    view: Term
    begun: Value


class Entity(dict[str, Value]):
    """A record that has an identity: a message or a promise, identified by its term."""

    def __init__(self, term: Term, fields: dict[str, Value]) -> None:
        super().__init__(fields)
        self.term = term


def plain(value: Value) -> Value:
    """Give the term behind a value that has one."""
    if isinstance(value, Entity):
        return value.term
    return value.view if isinstance(value, Place) else value


_RESTART: Final = 1_000_000


@frozen
class Logic:
    """Connectives, equality and quantifiers.

    `addresses`: all addresses, where all values are known; then nothing is left to a solver.
    `sort_of_addresses` and `address` are for terms: the sort, and what makes an address of another sort's.
    """

    addresses: tuple[str, ...] = ()
    sort_of_addresses: Term = None
    address: Callable[[Term], Term] = lambda term: term
    _fresh: list[int] = field(factory=lambda: [0])

    def restart(self) -> None:
        """Number what comes from here on alike, whatever was read before: the solver sees names."""
        self._fresh[0] = _RESTART

    def variable(self, sort: Term, stem: str = "x") -> Term:
        """Give a term that is used nowhere else."""
        self._fresh[0] += 1
        return z3.Const(f"{stem}!{self._fresh[0]}", sort)

    def all_of(self, values: Sequence[Value]) -> Value:
        left = [value for value in values if value is not True]
        if any(value is False for value in left):
            return False
        return True if not left else left[0] if len(left) == 1 else z3.And(*left)

    def any_of(self, values: Sequence[Value]) -> Value:
        left = [value for value in values if value is not False]
        if any(value is True for value in left):
            return True
        return False if not left else left[0] if len(left) == 1 else z3.Or(*left)

    def negation(self, value: Value) -> Value:
        return not value if isinstance(value, bool) else z3.Not(value)

    def implies(self, given: Value, then: Value) -> Value:
        return self.any_of([self.negation(given), then])

    def as_element(self, sort: Term, value: Value) -> Value:
        """Give a value as one of this sort: an address, where a member or a name was given."""
        value = plain(value)
        if sort is None or sort != self.sort_of_addresses:
            return value
        if isinstance(value, str):
            return z3.Const(f"address {value or 'of nobody'}", sort)
        return value if value.sort() == sort else self.address(value)

    def has(self, held: SetOf, value: Value) -> Value:
        return held.contains(self.as_element(held.sort, value))

    def apply(self, function: Map, value: Value) -> Value:
        return function.rule(self.as_element(function.domain.sort, value))

    def every(self, sort: Term, body: Callable[[Value], Value]) -> Value:
        """Give whether a body holds for every value of a sort (of addresses, where all is known)."""
        if self.addresses:
            return self.all_of([body(each) for each in self.addresses])
        bound = self.variable(sort)
        formula = body(bound)
        return formula if isinstance(formula, bool) else z3.ForAll([bound], formula)

    def choice(self, condition: Value, then: Value, other: Value) -> Value:
        """IF condition THEN then ELSE other."""
        if isinstance(condition, bool):
            return then if condition else other
        if then is other:
            return then
        match then, other:
            case Items(), Items():
                return Items(
                    [(self.all_of([condition, when]), each) for when, each in then.items]
                    + [(self.all_of([self.negation(condition), when]), each) for when, each in other.items]
                )
            case SetOf(), SetOf():
                return SetOf(
                    then.sort if then.sort is not None else other.sort,
                    lambda x: self.choice(condition, then.contains(x), other.contains(x)),
                    then.wrap,
                )
            case Map(), Map():
                return Map(
                    self.choice(condition, then.domain, other.domain),
                    lambda x: self.choice(condition, then.rule(x), other.rule(x)),
                )
            case Entity(), Entity() if isinstance(then.term, z3.ExprRef):
                fields = {key: self.choice(condition, then[key], other[key]) for key in then}
                return Entity(z3.If(condition, then.term, other.term), fields)
            case dict(), dict():
                both = sorted(then.keys() & other.keys())  # in one order, whatever Python's hashes are
                return {key: self.choice(condition, then[key], other[key]) for key in both}
            case _:
                return self._choice_of_terms(condition, then, other)

    def _choice_of_terms(self, condition: Value, then: Value, other: Value) -> Value:
        if isinstance(then, bool | int | str) and isinstance(other, bool | int | str) and then == other:
            return then
        if isinstance(then, str) and isinstance(other, z3.ExprRef):
            then = self.as_element(other.sort(), then)
        if isinstance(other, str) and isinstance(then, z3.ExprRef):
            other = self.as_element(then.sort(), other)
        return z3.If(condition, self._lifted(then), self._lifted(other))

    def _lifted(self, value: Value) -> Term:
        match value:
            case bool():
                return z3.BoolVal(value)
            case int():
                return z3.IntVal(value)
            case str():
                return z3.StringVal(value)
            case _:
                return plain(value)

    def equal(self, left: Value, right: Value) -> Value:
        if left is right:
            return True
        match left, right:
            case (Place(), 0):
                return self.negation(left.begun)
            case (Entity(), Entity()) | (Place(), _) | (_, Place()):
                return plain(left) == plain(right)
            case dict(), dict():
                if left.keys() == {"id", "members"}:  # an identifier names one view (UniqueViewId)
                    return self.equal(left["id"], right["id"])
                return self.all_of([self.equal(left[key], right[key]) for key in sorted(left)])
            case SetOf(), SetOf():
                sort = left.sort if left.sort is not None else right.sort
                return self.every(sort, lambda x: self.equal(left.contains(x), right.contains(x)))
            case Map(), Map():
                return self.all_of(
                    [
                        self.equal(left.domain, right.domain),
                        self.every(
                            left.domain.sort if left.domain.sort is not None else right.domain.sort,
                            lambda x: self.implies(left.domain.contains(x), self.equal(left.rule(x), right.rule(x))),
                        ),
                    ]
                )
            case ((bool() | int() | str()), (bool() | int() | str())):
                return left == right
            case str(), _:
                return self.as_element(right.sort(), left) == right
            case _, str():
                return left == self.as_element(left.sort(), right)
            case _:
                return left == right
