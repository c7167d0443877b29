r"""Modules as trees: what the parser of TLA+ (SANY) understood, read from its XML, and written as text again.

`read` takes the XML that `tla2sany.xml.XMLExporter` prints of a module and gives its `Definitions`. An
expression is a union of small frozen classes that compare by identity. So a single place can be changed
although the same text stands in another. `Writer` writes an expression without line ends and with parentheses
around every infix operand: it means the same wherever it stands, and in whatever layout.

Only what expressions without variables need is understood: no actions, no temporal formulas. `TreeError`
names any other element. A module names operators that it has by `G == INSTANCE Gms WITH ..` (`G!Step`), and
does not define them: an instantiated module is not read.
"""

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Final, Literal, TypeAlias

from attrs import field, frozen

Kind: TypeAlias = Literal["builtin", "defined", "parameter", "constant", "variable"]


class TreeError(ValueError):
    """The XML is not what SANY writes, or has something in it that is not understood here."""


@frozen
class Name:
    """The meaning of an identifier or a symbol. `number` is SANY's; two of the same text may differ in it."""

    text: str
    kind: Kind
    number: int
    arity: int = 0

    @property
    def is_instantiated(self) -> bool:
        """True if it is another module's, by `G == INSTANCE M WITH ...`: it is `G!Step` here."""
        return "!" in self.text


@frozen(eq=False)
class Text:
    """A string."""

    value: str


@frozen(eq=False)
class Number:
    """A number."""

    value: int


@frozen(eq=False)
class At:
    """`@`, the old value in an `EXCEPT`."""


@frozen(eq=False)
class Operator:
    """An operator that is given to another as an argument."""

    name: Name


@frozen(eq=False)
class Lambda:
    """`LAMBDA parameters : body`, an argument of an operator."""

    parameters: tuple[Name, ...]
    body: "Expression"


@frozen(eq=False)
class Bound:
    r"""The names that a quantifier binds, or with `tuple_` a tuple of names, and the set of their values."""

    names: tuple[Name, ...]
    tuple_: bool
    domain: "Expression"


@frozen(eq=False)
class Apply:
    """An operator applied to operands; with `bounds` a quantifier, a set or function constructor, `CHOOSE`.

    `line` is that of the module it stands in, from 1.
    """

    operator: Name
    operands: "tuple[Expression, ...]" = ()
    bounds: tuple[Bound, ...] = ()
    line: int = 0


@frozen(eq=False)
class Let:
    """`LET definitions IN body`."""

    definitions: "tuple[Definition, ...]"
    body: "Expression"


Expression: TypeAlias = "Apply | Text | Number | At | Operator | Lambda | Let"


@frozen(eq=False)
class Definition:
    """An operator: its name, its parameters, its body, and where it stands."""

    name: Name
    parameters: tuple[Name, ...]
    body: Expression
    module: str
    line: int
    is_recursive: bool = False


@frozen
class Definitions:
    """The operators that a module sees, those of the standard modules included, and its constants."""

    module: str
    operators: Mapping[int, Definition]
    constants: tuple[str, ...]
    _by_name: Mapping[str, Definition] = field(repr=False)

    def find(self, name: str) -> Definition | None:
        """Give the operator of this name that is not inside another; None if there is none."""
        return self._by_name.get(name)

    def of_module(self, module: str) -> list[Definition]:
        """List the operators of a module that are not inside others, in its order."""
        found = (each for each in self._by_name.values() if each.module == module)
        return sorted(found, key=lambda definition: definition.line)


def children(node: Expression) -> Iterator[Expression]:
    """The expressions directly inside one, bodies of local definitions among them."""
    match node:
        case Apply(_, operands, bounds):
            yield from (bound.domain for bound in bounds)
            yield from operands
        case Let(definitions, body):
            yield from (definition.body for definition in definitions)
            yield body
        case Lambda(_, body):
            yield body
        case _:
            pass


# Reading

_REFERENCES: Final[Mapping[str, Kind]] = {
    "BuiltInKindRef": "builtin",
    "UserDefinedOpKindRef": "defined",
    "FormalParamNodeRef": "parameter",
    "OpDeclNodeRef": "constant",
}
_CONSTANT: Final = "2"


class _Reader:
    """Turns the elements of a document into trees; each definition is read once."""

    def __init__(self, root: ET.Element, guards: Collection[str]) -> None:
        self._guards = guards
        self._elements: dict[int, ET.Element] = {}
        for entry in root.iterfind("context/entry"):
            self._elements[int(_text(entry, "UID"))] = next(each for each in entry if each.tag != "UID")
        self._read: dict[int, Definition] = {}

    def name(self, reference: ET.Element) -> Name:
        kind = _REFERENCES.get(reference.tag)
        if kind is None:
            raise TreeError(f"a name of the kind {reference.tag}")
        number = int(_text(reference, "UID"))
        element = self._elements[number]
        text = _text(element, "uniquename")
        if kind == "constant" and _text(element, "kind") != _CONSTANT:
            kind = "variable"
        kind = "constant" if kind == "defined" and text in self._guards else kind
        return Name(text, kind, number, int(_text(element, "arity")))

    def module_of(self, name: Name) -> str:
        return _text(self._elements[name.number], "location/filename")

    def definition(self, number: int) -> Definition:
        known = self._read.get(number)
        if known is None:
            element = self._elements[number]
            body = element.find("body")
            if body is None:
                raise TreeError(f"{_text(element, 'uniquename')} has no body")
            known = self._read[number] = Definition(
                Name(_text(element, "uniquename"), "defined", number, int(_text(element, "arity"))),
                tuple(map(self.name, element.iterfind("params/leibnizparam/FormalParamNodeRef"))),
                self.expression(body[0]),
                _text(element, "location/filename"),
                int(_text(element, "location/line/begin")),
                element.find("recursive") is not None,
            )
        return known

    def expression(self, element: ET.Element) -> Expression:
        match element.tag:
            case "StringNode":
                # OTHER, in a CASE, is the text of the element itself.
                return Text(element.findtext("StringValue") or element.text or "")
            case "NumeralNode":
                return Number(int(_text(element, "IntValue")))
            case "AtNode":
                return At()
            case "OpArgNode":
                name = self.name(_only(element, "argument")[0])
                if name.text != "LAMBDA":
                    return Operator(name)
                found = self.definition(name.number)
                return Lambda(found.parameters, found.body)
            case "LetInNode":
                inner = [int(_text(each, "UID")) for each in element.iterfind("opDefs/UserDefinedOpKindRef")]
                if len(inner) < len(_only(element, "opDefs")):
                    raise TreeError("a LET with something else in it than operators")
                # SANY lists them backwards.
                local = sorted(map(self.definition, inner), key=lambda definition: definition.name.number)
                return Let(tuple(local), self.expression(_only(element, "body")[0]))
            case "OpApplNode":
                return Apply(
                    self.name(_only(element, "operator")[0]),
                    tuple(self.expression(each) for each in _only(element, "operands")),
                    tuple(map(self._bound, element.iterfind("boundSymbols/bound"))),
                    int(_text(element, "location/line/begin")),
                )
            case _:
                raise TreeError(f"an expression of the kind {element.tag}")

    def _bound(self, element: ET.Element) -> Bound:
        return Bound(
            tuple(map(self.name, element.iterfind("FormalParamNodeRef"))),
            element.find("tuple") is not None,
            self.expression(element[-1]),
        )


def _text(element: ET.Element, path: str) -> str:
    found = element.findtext(path)
    if found is None:
        raise TreeError(f"no {path} in {element.tag}")
    return found


def _only(element: ET.Element, tag: str) -> ET.Element:
    found = element.find(tag)
    if found is None:
        raise TreeError(f"no {tag} in {element.tag}")
    return found


def read(xml: str, guards: Collection[str] = ()) -> Definitions:
    """Read what SANY exports of a module, its `guards` as constants. TreeError where it is something else."""
    try:
        root = ET.fromstring(xml)  # noqa: S314 - of our own run of SANY
    except ET.ParseError as error:
        raise TreeError(f"no XML: {error}") from error
    reader = _Reader(root, guards)
    module = _text(root, "RootModule")
    nodes = root.iterfind("context/entry/ModuleNode")
    if (node := next((each for each in nodes if _text(each, "uniquename") == module), None)) is None:
        raise TreeError(f"no module {module}")
    operators: dict[int, Definition] = {}
    by_name: dict[str, Definition] = {}
    # A module lists what it extends as well.
    named = [reader.name(each) for each in node if each.tag in ("OpDeclNodeRef", "UserDefinedOpKindRef")]
    for name in named:
        if name.is_instantiated or name.kind != "defined":
            continue
        try:
            definition = reader.definition(name.number)
        except TreeError:
            if reader.module_of(name) == module:
                raise
            continue  # of a standard module, whose operators TLC knows itself
        operators[name.number] = by_name[name.text] = definition
    operators |= _local(reader, operators)
    constants = sorted(each.text for each in named if each.kind == "constant")
    return Definitions(module, operators, tuple(constants), by_name)


def _local(reader: _Reader, operators: Mapping[int, Definition]) -> dict[int, Definition]:
    """The LOCAL operators that others use: no module lists those of the modules that it extends."""
    found: dict[int, Definition] = {}
    todo = [*operators.values()]
    while todo:
        user = todo.pop()
        names, bound = _used(user.body)
        for name in names:
            known = name.number in operators or name.number in found or name.number in bound
            if not known and not name.is_instantiated and reader.module_of(name) == user.module:
                found[name.number] = reader.definition(name.number)
                todo.append(found[name.number])
    return found


def _used(node: Expression) -> tuple[list[Name], set[int]]:
    """The operators that an expression names, and the numbers of operators that it defines itself."""
    names: list[Name] = []
    bound: set[int] = set()
    todo = [node]
    while todo:
        inner = todo.pop()
        todo += children(inner)
        match inner:
            case Let(definitions, _):
                bound |= {definition.name.number for definition in definitions}
            case Apply(Name(_, "defined") as name) | Operator(Name(_, "defined") as name):
                names.append(name)
            case _:
                pass
    return names, bound


# Writing

_INFIX: Final[Mapping[str, str]] = {
    "/=": "#",
    r"\land": "/\\",
    r"\lor": r"\/",
    r"\union": r"\cup",
    r"\intersect": r"\cap",
    r"\leq": "<=",
    r"\geq": ">=",
    r"\equiv": "<=>",
    r"\circ": r"\o",
}
_SYMBOL: Final = re.compile(r"[^\w$!]|\\")
_PREFIX: Final = {r"\lnot": "~", "-.": "-", "DOMAIN": "DOMAIN ", "SUBSET": "SUBSET ", "UNION": "UNION "}
_LISTS: Final = {"$ConjList": "/\\", "$DisjList": "\\/"}
_QUANTIFIERS: Final = {"$BoundedExists": r"\E", "$BoundedForall": r"\A", "$BoundedChoose": "CHOOSE"}
_CLOSED: Final = frozenset(
    {"$Tuple", "$RcdConstructor", "$SetEnumerate", "$RcdSelect", "$FcnApply", "$Except"}
    | {"$SetOfAll", "$SubsetOf", "$FcnConstructor", "$SetOfFcns", "$SetOfRcds"}
)
_CALLED: Final = re.compile(r"([A-Za-z]\w*!)*[A-Za-z]\w*$")
_IDENTIFIER: Final = re.compile(r"[A-Za-z]\w*$")
OTHER: Final = "$Other"


@frozen
class Writer:
    """Writes expressions.

    `name` says how a name is written. `around` may replace the text of any expression inside the written
    expression.
    """

    name: Callable[[Name], str] = lambda name: name.text
    around: Callable[[Expression, str], str] = lambda _, text: text

    def text(self, node: Expression) -> str:
        """Write an expression."""
        return self.around(node, self._bare(node))

    def definition(self, definition: Definition) -> str:
        """Write `Name(parameters) == body`."""
        given = [
            self.name(each) + (f"({', '.join('_' * each.arity)})" if each.arity else "")
            for each in definition.parameters
        ]
        head = self.name(definition.name) + (f"({', '.join(given)})" if given else "")
        return f"{head} == {self.text(definition.body)}"

    def definitions(self, definitions: Iterable[Definition]) -> Iterator[str]:
        """Write definitions; recursive definitions are declared before all."""
        every = [*definitions]
        for definition in every:
            if definition.is_recursive:
                places = ", ".join("_" * len(definition.parameters))
                yield f"RECURSIVE {self.name(definition.name)}" + (f"({places})" if places else "")
        yield from map(self.definition, every)

    def operand(self, node: Expression) -> str:
        """Write an expression with parentheses around it where it could run into what stands beside it."""
        text = self.text(node)
        closed = isinstance(node, Text | Number | At | Operator) or (
            isinstance(node, Apply)
            and node.operator.text not in _PREFIX
            and (node.operator.text in _CLOSED or _CALLED.match(node.operator.text) is not None)
        )
        return text if closed or (text.startswith("(") and _closes_last(text)) else f"({text})"

    def _bare(self, node: Expression) -> str:
        match node:
            case Text(value):
                return f'"{value}"'
            case Number(value):
                return str(value)
            case At():
                return "@"
            case Operator(name):
                return self.name(name)
            case Lambda(parameters, body):
                return f"LAMBDA {', '.join(map(self.name, parameters))} : {self.text(body)}"
            case Let(definitions, body):
                inner = " ".join(self.definitions(definitions))
                return f"LET {inner} IN {self.text(body)}"
            case Apply(operator, operands, bounds):
                return self._applied(operator, operands, bounds)

    def _applied(self, operator: Name, operands: tuple[Expression, ...], bounds: tuple[Bound, ...]) -> str:
        sign = operator.text
        if operator.kind == "builtin" and sign.startswith("$"):
            return self._constructed(sign, operands, bounds)
        if sign in _PREFIX and len(operands) == 1:
            return _PREFIX[sign] + self.operand(operands[0])
        if len(operands) == 2 and _SYMBOL.search(sign):  # noqa: PLR2004 - infix
            left, right = map(self.operand, operands)
            return f"{left} {_INFIX.get(sign, sign)} {right}"
        arguments = f"({', '.join(map(self.text, operands))})" if operands else ""
        return self.name(operator) + arguments

    def _constructed(self, sign: str, operands: tuple[Expression, ...], bounds: tuple[Bound, ...]) -> str:
        ranges = ", ".join(map(self._range, bounds))
        match sign, operands:
            case (("$ConjList" | "$DisjList"), _):
                return f" {_LISTS[sign]} ".join(map(self.operand, operands))
            case "$IfThenElse", (test, then, other):
                return f"IF {self.text(test)} THEN {self.operand(then)} ELSE {self.operand(other)}"
            case "$Case", _:
                return "CASE " + " [] ".join(map(self._arm, operands))
            case (("$BoundedExists" | "$BoundedForall" | "$BoundedChoose"), (body,)):
                return f"{_QUANTIFIERS[sign]} {ranges} : {self.text(body)}"
            case (("$SubsetOf"), (body,)):
                return f"{{{ranges} : {self.text(body)}}}"
            case (("$SetOfAll"), (body,)):
                return f"{{{self.text(body)} : {ranges}}}"
            case (("$FcnConstructor"), (body,)):
                return f"[{ranges} |-> {self.text(body)}]"
            case "$SetOfFcns", (domain, image):
                return f"[{self.text(domain)} -> {self.text(image)}]"
            case "$FcnApply", (function, argument):
                return f"{self.operand(function)}[{self.text(argument)}]"
            case "$RcdSelect", (record, Text(name)):
                return f"{self.operand(record)}.{name}"
            case "$SquareAct", (action, subscript):
                return f"[{self.text(action)}]_{self.operand(subscript)}"
            case "$Tuple", _:
                return f"<<{', '.join(map(self.text, operands))}>>"
            case "$SetEnumerate", _:
                return f"{{{', '.join(map(self.text, operands))}}}"
            case (("$RcdConstructor" | "$SetOfRcds"), _):
                arrow = "|->" if sign == "$RcdConstructor" else ":"
                return f"[{', '.join(self._pair(each, arrow) for each in operands)}]"
            case "$Except", (base, *updates):
                return f"[{self.text(base)} EXCEPT {', '.join(map(self._update, updates))}]"
            case _:
                raise TreeError(f"an expression of the form {sign} of {len(operands)}")

    def _range(self, bound: Bound) -> str:
        names = ", ".join(map(self.name, bound.names))
        return f"{f'<<{names}>>' if bound.tuple_ else names} \\in {self.text(bound.domain)}"

    def _arm(self, node: Expression) -> str:
        match node:
            case Apply(_, (Text(value), body)) if value == OTHER:
                return f"OTHER -> {self.operand(body)}"
            case Apply(_, (guard, body)):
                return f"{self.operand(guard)} -> {self.operand(body)}"
            case _:
                raise TreeError("an arm of a CASE that is no pair")

    def _pair(self, node: Expression, arrow: str) -> str:
        match node:
            case Apply(_, (Text(name), value)):
                return f"{name} {arrow} {self.text(value)}"
            case _:
                raise TreeError("a field of a record that is no pair")

    def _update(self, node: Expression) -> str:
        match node:
            case Apply(_, (Apply(_, path), value)):
                return f"!{''.join(map(self._at, path))} = {self.text(value)}"
            case _:
                raise TreeError("an EXCEPT with something else in it than updates")

    def _at(self, node: Expression) -> str:
        match node:
            case Text(value) if _IDENTIFIER.match(value):
                return f".{value}"
            case _:
                return f"[{self.text(node)}]"


def _closes_last(text: str) -> bool:
    """Say whether the parenthesis that opens first closes last."""
    depth = 0
    for at, letter in enumerate(text):
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if depth == 0:
            return at == len(text) - 1
    return False
