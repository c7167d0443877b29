r"""Weakened claims: each says a little less than the claim does, and follows from it.

`weakenings` makes them from the tree that SANY gives of a claim, and of the operators that only claims use.
The change depends on the side on which a place stands, that of a consequent or that of a condition:

- A conjunct is dropped, or in a condition a disjunct.
- A comparison of numbers is weaker: `>=` or `<=` for `=`, `<=` for `<`, a bound one more for `<=`.
- A quantifier ranges over less: one side of a union, an interval without an end. A set that a value must be
  in, or that must be empty, is larger or smaller in the same ways.

Operators of the group and of a member's step stay as they are: `mutants --spec` changes those of `Step`. So
do operators of an instance: they are claims of another protocol, or the conjuncts of a guarantee.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final, Literal, TypeAlias

from attrs import define, field, frozen

from groupcomm_conformance.steps.mutants.specification import SpecMutant
from groupcomm_conformance.tla.tree import (
    Apply,
    Bound,
    Definition,
    Definitions,
    Expression,
    Let,
    Name,
    Number,
    Operator,
    Text,
    Writer,
    children,
)

AT_LEAST: Final = "Weak_AtLeast"
AT_MOST: Final = "Weak_AtMost"
"""Operators of the generated module: `=`, or `>=` or `<=` of two numbers. The third operand is a
number of its own: what is compared may never be numbers, and then nothing is weaker."""

Side: TypeAlias = Literal["claimed", "condition", "more", "less"]
"""The permitted change: a claimed formula becomes weaker, a condition stronger; a set grows or shrinks."""

_OTHER_SIDE: Final[Mapping[Side, Side]] = {
    "claimed": "condition",
    "condition": "claimed",
    "more": "less",
    "less": "more",
}
_CONJUNCTION: Final = frozenset((r"\land", "$ConjList"))
_DISJUNCTION: Final = frozenset((r"\lor", "$DisjList"))
_LONGEST: Final = 70


@frozen
class Weakenings:
    """The weakenings of some claims.

    For each: the number of the comparison in it, if it has one; and the claims of which it is a weakening.
    """

    mutants: tuple[SpecMutant, ...]
    comparisons: tuple[int | None, ...]
    claims: tuple[frozenset[str], ...]


def called(definitions: Definitions, operators: Iterable[str]) -> set[int]:
    """Give the numbers of operators and of all that they use."""
    found = map(definitions.find, operators)
    return all_used(definitions, [each.name.number for each in found if each is not None])


def all_used(definitions: Definitions, numbers: Iterable[int]) -> set[int]:
    """Give operators, which may be LOCAL, and all that they use, by number."""
    todo = [*numbers]
    known: set[int] = set()
    while todo:
        number = todo.pop()
        if number in known or number not in definitions.operators:
            continue
        known.add(number)
        todo += defined_names(definitions.operators[number].body)
    return known


def defined_names(node: Expression) -> Iterator[int]:
    """Give the operators that an expression names, by number."""
    match node:
        case Apply(Name(_, "defined", number)) | Operator(Name(_, "defined", number)):
            yield number
        case _:
            pass
    for child in children(node):
        yield from defined_names(child)


def weakenings(
    definitions: Definitions, claims: Mapping[str, Iterable[tuple[str, Side | None]]], kept: Collection[int]
) -> Weakenings:
    """Give the weakenings of claims: of each, the operators that say it, with the sides on which they stand in it.

    `kept` are the numbers of operators that may not change. No two weakenings are the same; a place that several
    claims use is changed once. It is changed for the claims that have it on that side alone: what stands in a
    condition as well may say more when it is changed.
    """
    made: dict[tuple[int, str], SpecMutant] = {}
    compared: dict[tuple[int, str], int | None] = {}
    of: dict[tuple[int, str], set[str]] = {}
    times: dict[str, int] = {}
    for claim, said in claims.items():
        for operator, node, on in _Places.of(definitions, said, kept).places():
            if len(on) != 1 or None in on:
                continue
            (side,) = on
            assert side is not None  # noqa: S101 - see above
            for what, becomes, compares in _changes(node, side, len(made)):
                key = (id(node), what)
                of.setdefault(key, set()).add(claim)
                if key in made:
                    continue
                name = f"{operator.name.text}: {what}"
                times[name] = times.get(name, 0) + 1
                name += f" (place {times[name]})" if times[name] > 1 else ""
                line = (node.line if isinstance(node, Apply) else 0) or operator.line
                compared[key] = len(made) if compares else None
                made[key] = SpecMutant(name, operator.module, operator.name.text, line, node, becomes)
    return Weakenings(tuple(made.values()), tuple(compared.values()), tuple(frozenset(each) for each in of.values()))


def sides(definitions: Definitions, claim: str, kept: Collection[int]) -> Iterator[tuple[Expression, set[Side | None]]]:
    """Give each place of a claim and of the operators that it uses, with all sides on which it stands."""
    for _, node, on in _Places.of(definitions, [(claim, "claimed")], kept).places():
        yield node, on


@define
class _Places:
    """The places of a claim and of the operators that it uses, each with all sides on which it stands.

    None is a place where more or less of it may make the claim weaker or stronger: an operand of `=`.
    """

    definitions: Definitions
    kept: Collection[int]
    _found: dict[int, tuple[Definition, Expression, set[Side | None]]] = field(factory=dict)
    _entered: set[tuple[int, Side | None]] = field(factory=set)

    @classmethod
    def of(
        cls, definitions: Definitions, operators: Iterable[tuple[str, Side | None]], kept: Collection[int]
    ) -> "_Places":
        """Walk through operators, by name, each on its side."""
        made = cls(definitions, kept)
        for name, side in operators:
            if (found := definitions.find(name)) is not None:
                made.enter(found, side)
        return made

    def places(self) -> Iterator[tuple[Definition, Expression, set[Side | None]]]:
        """Give each place, with the operator that it stands in and its sides."""
        yield from self._found.values()

    def enter(self, definition: Definition, side: Side | None) -> None:
        """Walk through the body of an operator that is used on this side."""
        if (definition.name.number, side) not in self._entered:
            self._entered.add((definition.name.number, side))
            self._walk(definition, {}, definition.body, side)

    def _walk(self, of: Definition, local: Mapping[int, Definition], node: Expression, side: Side | None) -> None:
        self._found.setdefault(id(node), (of, node, set()))[2].add(side)
        inside = dict[int, Side]()
        if isinstance(node, Let):
            local = {**local, **{each.name.number: each for each in node.definitions}}
        if side is not None:
            inside = {id(inner): turned for inner, turned in _inside(node, side)}
        # A local definition is walked through where it is used.
        for inner in [node.body] if isinstance(node, Let) else children(node):
            self._walk(of, local, inner, inside.get(id(inner)))
        match node:
            case Apply(Name(_, "defined", number)) | Operator(Name(_, "defined", number)):
                on = side if isinstance(node, Apply) else None
                if number in local:
                    rest = {key: value for key, value in local.items() if key != number}
                    self._walk(of, rest, local[number].body, on)
                elif number not in self.kept and number in self.definitions.operators:
                    self.enter(self.definitions.operators[number], on)
            case _:
                pass


Change: TypeAlias = tuple[str, Expression, bool]
"""The change in words, the place as it becomes, and whether it compares values that may be no numbers."""


def _changes(node: Expression, side: Side, number: int) -> Iterator[Change]:
    """Give what a place may become."""
    if not isinstance(node, Apply):
        return
    sign, operands = node.operator.text, node.operands
    if (sign in _CONJUNCTION and side == "claimed") or (sign in _DISJUNCTION and side == "condition"):
        for at, operand in enumerate(operands):
            if not (rest := (*operands[:at], *operands[at + 1 :])):
                continue  # a list with a single entry
            becomes = rest[0] if len(rest) == 1 else _like(node, rest)
            yield f"{_node_text(operand)} dropped from {_node_text(node)}", becomes, False
    elif sign == "=" and side == "claimed" and not _no_number(operands):
        for operator, word in ((AT_LEAST, ">="), (AT_MOST, "<=")):
            helper = Name(operator, "defined", -1, 3)
            changed = Apply(helper, (*operands, Number(number)), (), node.line)
            yield f"{_node_text(node)}, = -> {word}", changed, True
            number += 1
    elif sign in {"<", ">"} and side == "claimed":
        word = r"\leq" if sign == "<" else r"\geq"
        yield f"{_node_text(node)}, {sign} -> {sign}=", _like(node, operands, word), False
    elif sign in {r"\leq", r"\geq"} and side == "claimed":
        left, right = operands
        more = (left, _plus(right)) if sign == r"\leq" else (_plus(left), right)
        yield f"{_node_text(node)}, one more", _like(node, more), False
    elif (sign == r"\union" and side == "less") or (sign == r"\intersect" and side == "more"):
        for operand, other in zip(operands, reversed(operands), strict=True):
            yield f"{_node_text(operand)} dropped from {_node_text(node)}", other, False
    elif sign == "\\" and side == "more":
        yield f"{_node_text(operands[1])} dropped from {_node_text(node)}", operands[0], False
    elif sign == ".." and side == "less":
        low, high = operands
        yield f"{_node_text(node)} without the first", _like(node, (_plus(low), high)), False
        yield f"{_node_text(node)} without the last", _like(node, (low, _plus(high, "-"))), False


def _inside(node: Expression, side: Side) -> Iterator[tuple[Expression, Side]]:
    """Give the expressions directly inside a place that decide it, each with its side."""
    turned = _OTHER_SIDE[side]
    formula = side in {"claimed", "condition"}
    match node:
        case Let(_, body):
            yield body, side
        case Apply(Name("$IfThenElse"), (_, then, other)):
            yield from ((then, side), (other, side))
        case Apply(Name("'"), (inner,)) | Apply(Name("$SquareAct"), (inner, _)):
            yield inner, side
        case Apply(Name(sign), operands) if formula and sign in _CONJUNCTION | _DISJUNCTION:
            yield from ((operand, side) for operand in operands)
        case Apply(Name("=>"), (left, right)) if formula:
            yield from ((left, turned), (right, side))
        case Apply(Name(r"\lnot"), (inner,)) if formula:
            yield inner, turned
        case Apply(Name("$BoundedForall" | "$BoundedExists" as sign), (body,), bounds) if formula:
            grows = (sign == "$BoundedExists") == (side == "claimed")
            yield from _domains(bounds, "more" if grows else "less")
            yield body, side
        case Apply(Name(r"\in"), (_, set_)) if formula:
            yield set_, "more" if side == "claimed" else "less"
        case Apply(Name(r"\notin"), (_, set_)) if formula:
            yield set_, "less" if side == "claimed" else "more"
        case Apply(Name(r"\subseteq"), (left, right)) if formula:
            yield from (((left, "less"), (right, "more")) if side == "claimed" else ((left, "more"), (right, "less")))
        case Apply(Name("=" | "/=" as sign), (set_, Apply(Name("$SetEnumerate"), ()))) if formula:
            yield set_, "less" if (sign == "=") == (side == "claimed") else "more"
        case Apply(Name("$SubsetOf"), (body,), bounds):
            yield from _domains(bounds, side)
            yield body, "claimed" if side == "more" else "condition"
        case Apply(Name("$SetOfAll"), _, bounds):
            yield from _domains(bounds, side)
        case Apply(Name(r"\union" | r"\intersect"), operands):
            yield from ((operand, side) for operand in operands)
        case Apply(Name("\\"), (left, right)):
            yield from ((left, side), (right, turned))
        case _:
            pass


def _domains(bounds: Iterable[Bound], side: Side) -> Iterator[tuple[Expression, Side]]:
    yield from ((bound.domain, side) for bound in bounds)


_NO_NUMBERS: Final = frozenset(
    {"TRUE", "FALSE", "$SetEnumerate", "$SubsetOf", "$SetOfAll", "$Tuple", "$FcnConstructor", "$Except"}
    | {"$RcdConstructor", "SUBSET", "DOMAIN", "UNION", r"\union", r"\intersect", "\\", r"\circ"}
)


def _no_number(operands: Iterable[Expression]) -> bool:
    """Say whether an expression cannot be a number by its form."""
    return any(
        isinstance(each, Text) or (isinstance(each, Apply) and each.operator.text in _NO_NUMBERS) for each in operands
    )


def _plus(node: Expression, sign: str = "+") -> Expression:
    return Apply(Name(sign, "defined", -1, 2), (node, Number(1)))


def _like(node: Apply, operands: tuple[Expression, ...], sign: str = "") -> Apply:
    old = node.operator
    return Apply(Name(sign or old.text, old.kind, old.number, old.arity), operands, node.bounds, node.line)


def primed(node: Expression, text: str) -> str:
    """Write x' as TLA+ does; `Writer` has it as any prefix. To be its `around`."""
    if not (isinstance(node, Apply) and node.operator.text == "'"):
        return text
    inner = text.removeprefix("'(").removesuffix(")")
    return f"{inner}'" if inner.isidentifier() else f"({inner})'"


_SHOW: Final = Writer(around=primed)


def _node_text(node: Expression) -> str:
    text = _SHOW.text(node)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 4]} ..."
