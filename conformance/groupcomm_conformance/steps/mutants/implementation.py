"""Mutants of an implementation: a small change in a function that `step` or `start` reaches.

A mutant is the protocol's own module, or a part of it, with one place changed (`_changes` lists the changes).
A part is a module that it imports whole, and that has a `State` and is no core. Annotations, docstrings and the
texts of errors are left alone. Of a module that makes cores and is none itself, what its toys call `ROOTS` is
changed, with all that it reaches.
"""

import ast
import copy
import difflib
import inspect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any, Final

import attrs
from attrs import frozen

from groupcomm_conformance.protocols.derive import Protocol

_ERRORS: Final = ("LocalProtocolError", "RemoteProtocolError")


@frozen
class Mutant:
    """One changed place: the module, the function, the line in the file, and the source there before and after.

    `source` is the function's whole text with the change, without its decorators.
    """

    module: str
    function: str
    line: int
    before: str
    after: str
    source: str

    @property
    def name(self) -> str:
        """Its name in the file of explanations: it has no line number, which any edit would change."""
        return f"{self.function}: {self.before} -> {self.after}"


@frozen
class _Place:
    """A function of a module: its name (`Class.method` in a class) and its tree."""

    module: str
    name: str
    tree: ast.FunctionDef


def _functions(modules: Iterable[ModuleType]) -> dict[str, list[_Place]]:
    """All functions and methods by the names that calls and attributes use."""
    found: dict[str, list[_Place]] = {}
    for module in modules:
        for place in _places(module.__name__, ast.parse(inspect.getsource(module))):
            found.setdefault(place.tree.name, []).append(place)
    return found


def _places(module: str, tree: ast.Module) -> Iterator[_Place]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield _Place(module, node.name, node)
        elif isinstance(node, ast.ClassDef):
            methods = (inner for inner in node.body if isinstance(inner, ast.FunctionDef))
            yield from (_Place(module, f"{node.name}.{inner.name}", inner) for inner in methods)


def _reachable(source: ModuleType, roots: Iterable[str]) -> list[_Place]:
    """The functions of a module and its parts that the roots use, directly or not, in the order of the files."""
    parts = [each for each in vars(source).values() if isinstance(each, ModuleType)]
    modules = [source, *(each for each in parts if hasattr(each, "State") and not hasattr(each, "step"))]
    functions = _functions(modules)
    todo, seen = list(roots), set[str]()
    while todo:
        name = todo.pop()
        if name in seen or name not in functions:
            continue
        seen.add(name)
        for node in (node for place in functions[name] for node in ast.walk(place.tree)):
            if isinstance(node, ast.Name):
                todo.append(node.id)
            elif isinstance(node, ast.Attribute):
                todo.append(node.attr)
    order = [module.__name__ for module in modules]
    found = (place for name in seen for place in functions[name])
    return sorted(found, key=lambda place: (order.index(place.module), place.tree.lineno))


_COMPARISONS: Final[Mapping[type[ast.cmpop], Sequence[type[ast.cmpop]]]] = {
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Lt: (ast.LtE, ast.GtE, ast.Eq),
    ast.LtE: (ast.Lt, ast.Gt, ast.Eq),
    ast.Gt: (ast.GtE, ast.LtE, ast.Eq),
    ast.GtE: (ast.Gt, ast.Lt, ast.Eq),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
_OPERATORS: Final[Mapping[type[ast.operator], Sequence[type[ast.operator]]]] = {
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add, ast.BitOr),
    ast.Mult: (ast.Add,),
    ast.BitOr: (ast.BitAnd, ast.Sub),
    ast.BitAnd: (ast.BitOr,),
}
_CALLS: Final = {"min": "max", "max": "min", "any": "all", "all": "any", "minimum": "maximum"}


def _swapped(items: Sequence[ast.expr]) -> Iterator[list[ast.expr]]:
    for at in range(len(items) - 1):
        yield [*items[:at], items[at + 1], items[at], *items[at + 2 :]]


def _changes(node: ast.AST, alike: Mapping[str, Sequence[str]]) -> Iterator[ast.AST]:
    """The replacements of a node. `alike` has, for each state field, the others of its type."""
    match node:
        case ast.Compare(left, [operator], [right]):
            for other in _COMPARISONS.get(type(operator), ()):
                yield ast.Compare(left, [other()], [right])
        case ast.BoolOp(operator, values):
            yield ast.BoolOp(ast.And() if isinstance(operator, ast.Or) else ast.Or(), values)
            for at in range(len(values)):
                rest = [*values[:at], *values[at + 1 :]]
                yield rest[0] if len(rest) == 1 else ast.BoolOp(operator, rest)
        case ast.UnaryOp(ast.Not(), operand):
            yield operand
        case ast.BinOp(left, operator, right):
            for binary in _OPERATORS.get(type(operator), ()):
                yield ast.BinOp(left, binary(), right)
            yield left
        case ast.IfExp(test, body, orelse):
            yield ast.IfExp(test, orelse, body)
            yield body
            yield orelse
        case ast.Constant(bool() as value):
            yield ast.Constant(not value)
        case ast.Constant(int() as value):
            yield ast.Constant(value + 1)
            yield ast.Constant(value - 1)
        case ast.Constant(str() as value) if " " not in value:  # no text for people
            yield ast.Constant(f"{value}x")
        case ast.Call(ast.Name(name), arguments, keywords) if name in _CALLS:
            yield ast.Call(ast.Name(_CALLS[name], ast.Load()), arguments, keywords)
        case ast.Call(function, arguments, keywords):
            if ast.unparse(function) == "evolve":
                for at in range(len(keywords)):
                    yield ast.Call(function, arguments, [*keywords[:at], *keywords[at + 1 :]])
            # The last argument of an error is its text.
            texts = arguments[-1:] if ast.unparse(function) in _ERRORS else []
            swaps = _swapped(arguments[: len(arguments) - len(texts)])
            yield from (ast.Call(function, [*swapped, *texts], keywords) for swapped in swaps)
        case ast.Tuple(elements):
            for at in range(len(elements)):
                yield ast.Tuple([*elements[:at], *elements[at + 1 :]], ast.Load())
            yield from (ast.Tuple(swapped, ast.Load()) for swapped in _swapped(elements))
        case ast.Attribute(ast.Name() as owner, attribute, ast.Load()):
            for field_name in alike.get(attribute, ()):
                yield ast.Attribute(owner, field_name, ast.Load())
        case ast.If(test, body, orelse):
            yield ast.If(ast.UnaryOp(ast.Not(), test), body, orelse)
            yield ast.Pass()
        case ast.Expr() | ast.Raise():
            yield ast.Pass()
        case _:
            pass


def _returns(node: ast.AST, state: str) -> Iterator[ast.AST]:
    """Of a step that returns a pair: the old state, or no effects."""
    match node:
        case ast.Return(ast.Tuple([after, effects])):
            if ast.unparse(after) != state:
                yield ast.Return(ast.Tuple([ast.Name(state, ast.Load()), effects], ast.Load()))
            if ast.unparse(effects) != "()":
                yield ast.Return(ast.Tuple([after, ast.Tuple([], ast.Load())], ast.Load()))
        case _:
            pass


def _nodes(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """The nodes to change: not annotations, docstrings, decorators, texts of errors, what cannot happen.

    A pair that a step returns stays a pair.
    """
    todo: list[ast.AST] = list(function.body)
    if ast.get_docstring(function) is not None:
        del todo[0]
    while todo:
        node = todo.pop(0)
        match node:
            case ast.JoinedStr() | ast.Expr(ast.Call(ast.Name("assert_never"))) | ast.pattern():
                continue
            case ast.Call(ast.Name(name), [*arguments, _]) if name in _ERRORS:
                todo += arguments
            case ast.Return(ast.Tuple([after, effects])):
                todo += [after, effects]
            case ast.AnnAssign(_, _, ast.expr() as value):
                todo.append(value)
            case _:
                todo += ast.iter_child_nodes(node)
        yield node


class _Replace(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self._old = old
        self._new = new

    def visit(self, node: ast.AST) -> ast.AST:
        return self._new if node is self._old else self.generic_visit(node)


def _replaced(function: ast.FunctionDef, old: ast.AST, new: ast.AST) -> str:
    """The function's text with a node replaced; the trees stay as they are."""
    memo: dict[int, Any] = {}
    changed = copy.deepcopy(function, memo)
    changed.decorator_list = []
    tree = _Replace(memo[id(old)], copy.deepcopy(new)).visit(changed)
    return ast.unparse(ast.fix_missing_locations(tree))


def mutants(protocol: Protocol) -> list[Mutant]:
    """All mutants of a protocol's implementation, in the order of its files, no two of them the same."""
    types = {attribute.name: attribute.type for attribute in attrs.fields(protocol.state)}
    alike = {
        name: [other for other, kind in types.items() if kind == types[name] and other != name]
        for name in types
        if name != "member"
    }
    roots = getattr(protocol.module, "ROOTS", ("step", "start"))
    return [mutant for place in _reachable(protocol.source, roots) for mutant in _of(place, alike)]


def changed(module: str, tree: ast.Module) -> list[Mutant]:
    """All mutants of the functions and methods of a module that is no core."""
    return [mutant for place in _places(module, tree) for mutant in _of(place, {})]


def _of(place: _Place, alike: Mapping[str, Sequence[str]]) -> Iterator[Mutant]:
    function = place.tree
    original = _replaced(function, function.body[0], function.body[0])
    seen = {original}
    names: dict[str, int] = {}
    state = next((argument.arg for argument in function.args.args if argument.arg == "state"), None)
    for node in _nodes(function):
        new = [*_changes(node, alike), *(_returns(node, state) if state else ())]
        for text in (_replaced(function, node, change) for change in new):
            if text in seen:
                continue
            seen.add(text)
            before, after = _difference(original, text)
            times = names[f"{before} -> {after}"] = names.get(f"{before} -> {after}", 0) + 1
            suffix = "" if times == 1 else f" (place {times})"
            yield Mutant(
                place.module, place.name, getattr(node, "lineno", function.lineno), before, after + suffix, text
            )


def _difference(before: str, after: str) -> tuple[str, str]:
    """The lines that went, and the lines that came instead, each side joined to one line of text."""
    lines = [*difflib.ndiff(before.splitlines(), after.splitlines())]
    went, came = (
        " ".join(line[2:].strip() for line in lines if line.startswith(mark)) or "nothing" for mark in ("- ", "+ ")
    )
    return went, came
