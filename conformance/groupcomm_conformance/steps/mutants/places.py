"""Which places of a specification count: what `Step` and `Start` use, and the constants do not rule out."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, Final

from groupcomm_conformance.tla.tree import (
    OTHER,
    Apply,
    Definition,
    Definitions,
    Expression,
    Let,
    Name,
    Number,
    Operator,
    Text,
    children,
)
from groupcomm_conformance.tla.values import Value, identical

_STANDARD: Final = frozenset({"Naturals", "Integers", "Sequences", "FiniteSets", "TLC", "Bags", "Reals"})
_NO_PLACE: Final = frozenset({"$Pair", "$Seq", "$RcdSelect", "$RcdConstructor"} | {"=", "/=", r"\in", r"\notin"})
"""Forms whose strings are names of fields, or are changed with the comparison that they are in."""


def reached(
    definitions: Definitions, inside: Callable[[Expression], Iterator[Expression]] = children
) -> list[Definition]:
    """The operators of the project's own modules that `Step` and `Start` use, each after those it uses.

    `inside` says which expressions inside one count. LookupError where there is no `Step` or no `Start`.
    """
    found: dict[int, Definition] = {}
    entered: set[int] = set()  # an operator may be recursive

    def visit(definition: Definition) -> None:
        number = definition.name.number
        if number in entered or definition.module in _STANDARD:
            return
        entered.add(number)
        for name in names_in(definition.body, inside):
            if name.number in definitions.operators:
                visit(definitions.operators[name.number])
        found[number] = definition

    for root in ("Step", "Start"):
        definition = definitions.find(root)
        if definition is None:
            raise LookupError(root)
        visit(definition)
    return list(found.values())


def unheard(definitions: Definitions, events: Collection[str]) -> list[str]:
    """The types of events that `Step` distinguishes and that are not among `events`."""
    operators = reached(definitions)
    numbers = _event_parameters(definitions, operators)
    asked = (_type_asked(node) for definition in operators for node in _inside(definition.body))
    found = {each[1] for each in asked if each is not None and each[0] in numbers}
    return sorted(found.difference(events))


def _event_parameters(definitions: Definitions, operators: Sequence[Definition]) -> frozenset[int]:
    """The numbers of the parameters that have the event: that of `Step`, and what it is passed on as."""
    step = definitions.find("Step")
    found = {step.parameters[-1].number} if step and step.parameters else set()
    known = 0
    while len(found) > known:
        known = len(found)
        for definition in operators:
            for node in _inside(definition.body):
                match node:
                    case Apply(Name(_, "defined", number), operands) if number in definitions.operators:
                        parameters = definitions.operators[number].parameters
                        found |= {
                            parameter.number
                            for parameter, operand in zip(parameters, operands, strict=False)
                            if isinstance(operand, Apply) and operand.operator.number in found
                        }
                    case _:
                        pass
    return frozenset(found)


def names_in(node: Expression, inside: Callable[[Expression], Iterator[Expression]]) -> Iterator[Name]:
    """Every name in an expression, and in what is `inside` it."""
    match node:
        case Apply(operator):
            yield operator
        case Operator(name):
            yield name
        case _:
            pass
    for child in inside(node):
        yield from names_in(child, inside)


class Known:
    """The value of an expression of constants alone, where they have these values; None: not known."""

    def __init__(self, definitions: Definitions, constants: Mapping[str, Value], events: Collection[str]) -> None:
        self._constants = constants
        self._events = events
        self._bodies: dict[int, Expression] = {}
        self._parameters: dict[int, Value] = {}
        operators = reached(definitions)
        for definition in operators:
            self._bodies |= {each.name.number: each.body for each in _defined(definition)}
        self._pass_on(definitions, operators)

    def _pass_on(self, definitions: Definitions, operators: Sequence[Definition]) -> None:
        """A parameter that every call gives one and the same known value has that value."""
        given: dict[int, list[Any]] = {}  # None: not known
        for definition in operators:
            for node in _inside(definition.body):
                match node:
                    case Apply(Name(_, "defined", number), operands) if number in definitions.operators:
                        parameters = definitions.operators[number].parameters
                        for parameter, operand in zip(parameters, operands, strict=False):
                            given.setdefault(parameter.number, []).append(self.value(operand))
                    case Operator(Name(_, _, number)) if number in definitions.operators:
                        for parameter in definitions.operators[number].parameters:
                            given.setdefault(parameter.number, []).append(None)
                    case _:
                        pass
        for number, values in given.items():
            first = values[0]
            if first is not None and all(value is not None and identical(value, first) for value in values):
                self._parameters[number] = first

    def value(self, node: Expression) -> "Value | None":
        match node:
            case Text(value):
                return value
            case Number(value):
                return value
            case Apply(Name("TRUE"), ()):
                return True
            case Apply(Name("FALSE"), ()):
                return False
            case Apply(Name(text, "constant"), ()):
                return self._constants.get(text)
            case Apply(Name(_, "parameter", number), ()):
                return self._parameters.get(number)
            case Apply(Name(_, "defined", number), ()) if number in self._bodies:
                return self.value(self._bodies[number])
            case Apply(Name("=" | "/=" as sign), (left, right)):
                one, other = self.value(left), self.value(right)
                return None if one is None or other is None else (one == other) is (sign == "=")
            case Apply(Name(r"\lnot"), (inner,)):
                known = self.value(inner)
                return None if known is None else not known
            case Apply(Name(r"\land" | "$ConjList"), operands):
                return self._all(operands, unless=False)
            case Apply(Name(r"\lor" | "$DisjList"), operands):
                return self._all(operands, unless=True)
            case _:
                return None

    def _all(self, operands: Sequence[Expression], *, unless: bool) -> "Value | None":
        known = [self.value(operand) for operand in operands]
        if unless in known:
            return unless
        return None if None in known else not unless

    def live(self, node: Expression) -> Iterator[Expression]:
        """The expressions directly inside an expression that can matter for its value, in order."""
        match node:
            case Apply(Name("$IfThenElse"), (test, then, other)):
                known = self.value(test)
                yield test
                if known is not False:
                    yield then
                if known is not True:
                    yield other
            case Apply(Name("$Case"), arms):
                for arm in arms:
                    guard, body = children(arm)
                    known = self.value(guard)
                    event = dispatched(guard)
                    if not isinstance(guard, Text) and event is None:
                        yield guard
                    if known is not False and (event is None or event in self._events):
                        yield body
                    if known is True:
                        return
            case Apply(Name(r"\land" | "$ConjList" | r"\lor" | "$DisjList" as sign), operands):
                decides = sign in {r"\lor", "$DisjList"}
                decisive = [operand for operand in operands if self.value(operand) is decides]
                if len(decisive) < 2:  # noqa: PLR2004 - if two decide, a single change does not matter
                    yield from decisive or operands
            case Let(definitions, body):
                used, todo = set[int](), [body]
                bodies = {each.name.number: each.body for each in definitions}
                while todo:
                    for name in names_in(todo.pop(), self.live):
                        if name.number in bodies and name.number not in used:
                            used.add(name.number)
                            todo.append(bodies[name.number])
                yield from (bodies[number] for number in bodies if number in used)
                yield body
            case _:
                yield from children(node)


def _inside(node: Expression) -> Iterator[Expression]:
    """An expression and all that are in it."""
    yield node
    for child in children(node):
        yield from _inside(child)


def _defined(definition: Definition) -> Iterator[Definition]:
    """An operator and all that are defined inside it."""
    yield definition
    todo = [definition.body]
    while todo:
        node = todo.pop()
        todo += children(node)
        if isinstance(node, Let):
            for inner in node.definitions:
                yield from _defined(inner)


def dispatched(guard: Expression) -> str | None:
    """Give the type of event that the arm of a dispatch is for."""
    asked = _type_asked(guard)
    return None if asked is None else asked[1]


def _type_asked(node: Expression) -> tuple[int, str] | None:
    """Of `e.type = "Came"`, where e is a parameter: its number, and the type."""
    match node:
        case Apply(
            Name("="), (Apply(Name("$RcdSelect"), (Apply(Name(_, "parameter", number)), Text("type"))), Text(event))
        ):
            return number, event
        case _:
            return None


def places(node: Expression, known: Known) -> Iterator[Expression]:
    """All places in an expression, from the outside, that the constants do not rule out."""
    yield node
    for child in known.live(node):
        match node, child:
            case Apply(Name(sign)), Text(value) if sign in _NO_PLACE or value == OTHER:
                pass
            case Apply(Name("$Except")), Apply(Name("$Pair"), (_, value)):
                yield from places(value, known)
            case Apply(Name("$RcdConstructor")), Apply(Name("$Pair"), (_, value)):
                yield from places(value, known)
            case _:
                yield from places(child, known)
