"""The changes that each place of a specification allows."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from attrs import define

from groupcomm_conformance.tla.tree import Apply, At, Definition, Expression, Name, Number, Text, Writer, children

from .places import Known, dispatched
from .shapes import Shapes

Change: TypeAlias = tuple[str, Expression]
"""The change, in words, and the new expression."""

_COMPARISONS: Final[Mapping[str, Sequence[str]]] = {
    "=": ("/=",),
    "/=": ("=",),
    "<": (r"\leq", "=", r"\geq"),
    r"\leq": ("<", "=", ">"),
    ">": (r"\geq", "=", r"\leq"),
    r"\geq": (">", "=", "<"),
    r"\in": (r"\notin",),
    r"\notin": (r"\in",),
    r"\subseteq": ("=",),
}
_ONE_SIDE: Final[Mapping[str, tuple[str, bool]]] = {
    # Its replacements, and whether the right side alone is tried as well.
    "+": ("-", False),
    "-": ("+", False),
    r"\union": (r"\intersect", True),
    r"\intersect": (r"\union", True),
    "\\": (r"\intersect", False),
}
_JUNCTIONS: Final = {r"\land": r"\lor", r"\lor": r"\land", "$ConjList": "$DisjList", "$DisjList": "$ConjList"}
_CONJUNCTIONS: Final = frozenset({r"\land", "$ConjList"})
_QUANTIFIERS: Final = {"$BoundedExists": "$BoundedForall", "$BoundedForall": "$BoundedExists"}
_LONGEST: Final = 70


@define
class Maker:
    """Lists what places may become. `outcomes` are the operators that build what a step returns, by name."""

    shapes: Shapes
    known: Known
    outcomes: Mapping[str, Definition]
    exchangeable: Mapping[str, Sequence[Name]]

    def changes(self, node: Expression, state: Name | None, fields: Mapping[str, frozenset[str]]) -> Iterator[Change]:
        """The new expressions for a place, each with the change in words.

        `state` is the parameter with the state, `fields` what is read of each record in the operator.
        """
        yield from self._logic(node)
        yield from self._values(node)
        yield from self._collections(node)
        yield from self._records(node, fields)
        match node:
            case Apply(Name(text, "defined"), operands) if text in self.outcomes:
                yield from self._ended(node, operands, state)
            case Apply(Name(text, "defined"), operands) if text in self.exchangeable:
                for name in self.exchangeable[text]:
                    yield _becomes(node, _like(node, operands, name))
            case _:
                pass

    def _logic(self, node: Expression) -> Iterator[Change]:
        """Of conjunctions and disjunctions, negations, conditions and quantifiers."""
        match node:
            case Apply(Name(sign), operands) if sign in _JUNCTIONS and len(operands) > 1:
                neutral = sign in _CONJUNCTIONS
                for at, operand in enumerate(operands):
                    rest = _without(operands, at)
                    if self.known.value(operand) is not neutral:
                        dropped = rest[0] if len(rest) == 1 else _like(node, rest)
                        yield f"{_node_text(operand)} dropped from {_node_text(node)}", dropped
                word = r"\/" if sign in _CONJUNCTIONS else "/\\"
                other = _renamed(node.operator, _JUNCTIONS[sign])
                yield f"{word} in {_node_text(node)}", _like(node, operands, other)
            case Apply(Name(r"\lnot"), (inner,)):
                yield _becomes(node, inner)
            case Apply(Name("=>"), (left, right)) if self.known.value(left) is not True:
                yield f"{_node_text(left)} dropped from {_node_text(node)}", right
            case Apply(Name("$IfThenElse"), (test, then, other_case)):
                known = self.known.value(test)
                if known is None and not _negated_by_itself(test):
                    yield f"IF {_node_text(test)} turned round", _like(node, (test, other_case, then))
                if known is not True:
                    yield f"IF {_node_text(test)} -> IF TRUE", then
                if known is not False:
                    yield f"IF {_node_text(test)} -> IF FALSE", other_case
            case Apply(Name("$Case"), arms):
                yield from self._arms(node, arms)
            case Apply(Name(sign), operands) if sign in _QUANTIFIERS:
                yield _becomes(node, _like(node, operands, _renamed(node.operator, _QUANTIFIERS[sign])))
            case _:
                pass

    def _values(self, node: Expression) -> Iterator[Change]:
        """Of constants, comparisons and arithmetic."""
        match node:
            case Number(value):
                yield _becomes(node, Number(value + 1))
                if value > 0:
                    yield _becomes(node, Number(value - 1))
            case Text(value):
                yield _becomes(node, Text(f"{value}x"))
            case Apply(Name("TRUE" | "FALSE" as text), ()):
                yield _becomes(node, _FALSE if text == "TRUE" else _TRUE)
            case Apply(Name(sign), (left, right)) if sign in _COMPARISONS:
                for becomes in _COMPARISONS[sign]:
                    yield _becomes(node, _like(node, (left, right), _renamed(node.operator, becomes)))
                for changed in self._narrowed(node, left, right):
                    yield _becomes(node, changed)
            case Apply(Name(sign), (left, right)) if sign in _ONE_SIDE:
                becomes, both = _ONE_SIDE[sign]
                yield _becomes(node, _like(node, (left, right), _renamed(node.operator, becomes)))
                yield _becomes(node, left)
                if both:
                    yield _becomes(node, right)
            case Apply(Name(".."), (low, high)):
                yield _becomes(node, _like(node, (_plus(low, Number(1)), high)))
                yield _becomes(node, _like(node, (low, _plus(high, Number(1), "-"))))
            case _:
                pass

    @staticmethod
    def _collections(node: Expression) -> Iterator[Change]:
        """Of sequences and sets: something dropped, two things exchanged."""
        match node:
            case Apply(Name("\\o" | r"\circ"), (left, right)):
                for changed in (left, right, _like(node, (right, left))):
                    yield _becomes(node, changed)
            case Apply(Name("Append"), (sequence, item)):
                yield _becomes(node, sequence)
                front = Apply(Name(r"\o", "defined", -1, 2), (_builtin("$Tuple", item), sequence))
                yield _becomes(node, front)
            case Apply(Name("SelectSeq"), (sequence, _)):
                yield _becomes(node, sequence)
            case Apply(Name("$SubsetOf"), (condition,), bounds):
                yield f"{_node_text(condition)} dropped from {_node_text(node)}", bounds[0].domain
            case Apply(Name("$Tuple" | "$SetEnumerate" as sign), items):
                for at, item in enumerate(items):
                    yield f"{_node_text(item)} dropped from {_node_text(node)}", _like(node, _without(items, at))
                if sign == "$Tuple":
                    for swapped in _exchanged(items):
                        yield _becomes(node, _like(node, swapped))
            case _:
                pass

    def _records(self, node: Expression, fields: Mapping[str, frozenset[str]]) -> Iterator[Change]:
        """Of fields that are read, of records that are built or changed."""
        match node:
            case Apply(Name("$RcdSelect"), (record, Text(name))):
                for other in self.shapes.alike(name, fields[SHOW.text(record)]):
                    yield _becomes(node, _like(node, (record, Text(other))))
            case Apply(Name("$RcdConstructor"), pairs):
                yield from self._fields(node, pairs)
            case Apply(Name("$Except"), (base, *updates)):
                for at, update in enumerate(updates):
                    rest = _without(updates, at)
                    yield f"{_update(update)} dropped", _like(node, (base, *rest)) if rest else base
            case _:
                pass

    def _arms(self, node: Apply, arms: Sequence[Expression]) -> Iterator[Change]:
        """Two arms of a CASE exchange what they give; those of a dispatch do not."""
        live = set(self.known.live(node))
        for at, arm in enumerate(arms[:-1]):
            guard, body = children(arm)
            next_guard, next_body = children(arms[at + 1])
            if dispatched(guard) or body not in live or next_body not in live:
                continue
            swapped = [
                *arms[:at],
                Apply(_pair_name(arm), (guard, next_body)),
                Apply(_pair_name(arm), (next_guard, body)),
                *arms[at + 2 :],
            ]
            yield f"CASE {_node_text(guard)} and the next exchanged", _like(node, swapped)

    def _narrowed(self, node: Apply, left: Expression, right: Expression) -> Iterator[Apply]:
        """Records compared by one of their fields."""
        if node.operator.text not in {"=", "/="}:
            return
        for side in (left, right):
            match side:
                case Apply(Name("$RcdSelect"), (_, Text(name))):
                    for inner in self.shapes.inside(name):
                        ends = (_builtin("$RcdSelect", each, Text(inner)) for each in (left, right))
                        yield _like(node, tuple(ends))
                    return
                case _:
                    pass

    def _fields(self, node: Apply, pairs: Sequence[Expression]) -> Iterator[Change]:
        """Two fields of a record that have the same type exchange their values."""
        names = field_names(pairs)
        values = [[*children(pair)][1] for pair in pairs]
        for one, first in enumerate(names):
            for two, second in enumerate(names[one + 1 :], one + 1):
                if second not in self.shapes.alike(first, frozenset(names)):
                    continue
                made = [*pairs]
                for at, value in ((one, values[two]), (two, values[one])):
                    made[at] = Apply(_pair_name(pairs[at]), (Text(names[at]), value))
                yield f"{first} and {second} exchanged in {_node_text(node)}", _like(node, made)

    def _ended(self, node: Apply, operands: Sequence[Expression], state: Name | None) -> Iterator[Change]:
        """Another outcome; for a step with effects also the state as it was, or no effects."""
        before = _node_text(node)
        if len(operands) == 1:
            for name, other in self.outcomes.items():
                if name != node.operator.text and len(other.parameters) == 1:
                    yield f"{before} -> {name}", _like(node, operands, other.name)
            return
        after, effects = operands
        if state is not None:
            old = Apply(state)
            for name, other in self.outcomes.items():
                if len(other.parameters) == 1:
                    yield f"{before} -> {name}", _like(node, (old,), other.name)
                    break
            if not (isinstance(after, Apply) and after.operator == state):
                yield f"{before} -> the old state", _like(node, (old, effects))
        match effects:
            case Apply(Name("$Tuple"), ()):
                pass
            case _:
                yield f"{before} -> no effects", _like(node, (after, _builtin("$Tuple")))


def _becomes(node: Expression, changed: Expression) -> Change:
    return f"{_node_text(node)} -> {_node_text(changed)}", changed


def _negated_by_itself(test: Expression) -> bool:
    """Say whether turning the test round is a change of the test itself."""
    match test:
        case Apply(Name(sign)):
            return sign in _COMPARISONS or sign == r"\lnot"
        case _:
            return False


def _plus(node: Expression, other: Expression, sign: str = "+") -> Apply:
    return Apply(Name(sign, "defined", -1, 2), (node, other))


def _pair_name(pair: Expression) -> Name:
    if isinstance(pair, Apply):
        return pair.operator
    raise AssertionError


def _update(update: Expression) -> str:
    text = SHOW.text(_builtin("$Except", At(), update))
    return _short(text.removeprefix("[@ EXCEPT ").removesuffix("]"))


SHOW: Final = Writer()


def _node_text(node: Expression) -> str:
    return _short(SHOW.text(node))


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 4]} ..."


# Building expressions


def _builtin(sign: str, *operands: Expression) -> Apply:
    return Apply(Name(sign, "builtin", -1, len(operands)), operands)


_TRUE: Final = _builtin("TRUE")
_FALSE: Final = _builtin("FALSE")


def _like(node: Apply, operands: Sequence[Expression], operator: Name | None = None) -> Apply:
    return Apply(operator or node.operator, tuple(operands), node.bounds, node.line)


def _renamed(name: Name, text: str) -> Name:
    return Name(text, name.kind, name.number, name.arity)


def _without(items: Sequence[Expression], at: int) -> list[Expression]:
    return [*items[:at], *items[at + 1 :]]


def field_names(pairs: Sequence[Expression]) -> list[str]:
    """Name the fields of a record's constructor, in its order."""
    firsts = (next(children(pair)) for pair in pairs)
    return [name.value for name in firsts if isinstance(name, Text)]


def _exchanged(items: Sequence[Expression]) -> Iterator[list[Expression]]:
    for at in range(len(items) - 1):
        yield [*items[:at], items[at + 1], items[at], *items[at + 2 :]]
