"""Mutants: implementations broken on purpose, each of which the tables of local steps must tell.

A mutant is the implementation with one small change in a function that `step` or `start` reaches in the
protocol's own module (`_changes` lists them). Annotations, docstrings and the texts of errors are
left alone. A mutant is killed by a row of a conforming model that does not pass, or by a `start` that is
not `Start`. One that survives is either equivalent, and then said so and why in
`conformance/mutants/<protocol>.yaml`:

    "_handled: if x < y: -> if x <= y:": they are never equal, as ...

or shows that the tables see less than they seem to.

Classes are never copied: a mutant's functions work on the classes of the module itself, and mutated
methods are put into these for as long as the mutant is judged.
"""

import ast
import copy
import difflib
import inspect
import json
import multiprocessing
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from random import Random
from types import ModuleType, SimpleNamespace
from typing import Any, Final

import attrs
import typer
from attrs import frozen

from groupcomm_conformance.commands import console
from groupcomm_conformance.commands.exits import ExitCode, verdict
from groupcomm_conformance.commands.options import AsJson, OneProtocol, Processes
from groupcomm_conformance.files import strict_yaml
from groupcomm_conformance.models import checking
from groupcomm_conformance.models.manifest import Manifest, find_root, load
from groupcomm_conformance.models.selecting import NothingToJudge
from groupcomm_conformance.protocols import derive
from groupcomm_conformance.protocols.derive import AnyCore, MappingError, Protocol
from groupcomm_conformance.tla.values import Value, identical

from .conform import table_of
from .rows import Rows, replay
from .table import StepTable, TableError, Tables

__all__ = ["REQUIRED", "Fate", "Judge", "Mutant", "command", "explanations", "mutants"]

REQUIRED: Final = 0.95
"""The part of all mutants that must be killed."""

_LIMIT: Final = 0.5
_ERRORS: Final = ("LocalProtocolError", "RemoteProtocolError")


@frozen
class Mutant:
    """One changed place: the function, the line in the file, and the source there before and after.

    `source` is the function's whole text with the change, without its decorators.
    """

    function: str
    line: int
    before: str
    after: str
    source: str

    @property
    def name(self) -> str:
        """What the file of explanations calls it: it has no line number, which any edit would change."""
        return f"{self.function}: {self.before} -> {self.after}"


@frozen
class Fate:
    """What became of a mutant: what it was killed `by`, or `why` it is said to be equivalent."""

    mutant: Mutant
    killed: bool
    by: str = ""
    why: str = ""


# Making mutants


@frozen
class _Place:
    """A function of the module: its name (`Class.method` in a class) and its tree."""

    name: str
    tree: ast.FunctionDef


def _functions(tree: ast.Module) -> dict[str, _Place]:
    """All functions and methods by the names that calls and attributes use."""
    found: dict[str, _Place] = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            found[node.name] = _Place(node.name, node)
        elif isinstance(node, ast.ClassDef):
            for inner in node.body:
                if isinstance(inner, ast.FunctionDef):
                    found.setdefault(inner.name, _Place(f"{node.name}.{inner.name}", inner))
    return found


def _reachable(tree: ast.Module, roots: Iterable[str]) -> list[_Place]:
    """The functions that the roots use, directly or not, in the order of the file."""
    functions = _functions(tree)
    todo, seen = list(roots), set[str]()
    while todo:
        name = todo.pop()
        if name in seen or name not in functions:
            continue
        seen.add(name)
        for node in ast.walk(functions[name].tree):
            if isinstance(node, ast.Name):
                todo.append(node.id)
            elif isinstance(node, ast.Attribute):
                todo.append(node.attr)
    return sorted((functions[name] for name in seen), key=lambda place: place.tree.lineno)


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
    """What a node may become. `alike` has, for each state field, the others of its type."""
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
        case ast.Constant(str() as value):
            yield ast.Constant(f"{value}x")
        case ast.Call(ast.Name(name), arguments, keywords) if name in _CALLS:
            yield ast.Call(ast.Name(_CALLS[name], ast.Load()), arguments, keywords)
        case ast.Call(function, arguments, keywords):
            if ast.unparse(function) == "evolve":
                for at in range(len(keywords)):
                    yield ast.Call(function, arguments, [*keywords[:at], *keywords[at + 1 :]])
            yield from (ast.Call(function, swapped, keywords) for swapped in _swapped(arguments))
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
    """All mutants of a protocol's implementation, in the order of the file, no two of them the same."""
    module = protocol.module
    tree = ast.parse(inspect.getsource(module))
    types = {attribute.name: attribute.type for attribute in attrs.fields(protocol.state)}
    alike = {
        name: [other for other, kind in types.items() if kind == types[name] and other != name]
        for name in types
        if name != "member"
    }
    found: list[Mutant] = []
    for place in _reachable(tree, ("step", "start")):
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
                line = getattr(node, "lineno", function.lineno)
                found.append(Mutant(place.name, line, before, after + suffix, text))
    return found


def _difference(before: str, after: str) -> tuple[str, str]:
    """The lines that went, and those that came instead, each as one line of text."""
    lines = [*difflib.ndiff(before.splitlines(), after.splitlines())]
    went, came = (
        " ".join(line[2:].strip() for line in lines if line.startswith(mark)) or "nothing"
        for mark in ("- ", "+ ")
    )
    return went, came


# Judging them


@contextmanager
def _core(module: ModuleType, mutant: Mutant) -> Iterator[AnyCore]:
    """The implementation with the mutant in it: an object with `step` and `start`."""
    owner, _, name = mutant.function.rpartition(".")
    tree = ast.parse(inspect.getsource(module))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    (changed,) = ast.parse(mutant.source).body
    namespace = dict(vars(module))
    for node in functions:
        if not owner and node.name == name:
            assert isinstance(changed, ast.FunctionDef)  # noqa: S101 - it was made from one
            changed.decorator_list = node.decorator_list
    body = [changed if not owner and node.name == name else node for node in functions]
    exec(_compiled(body, module), namespace)  # noqa: S102 - the module itself, but for one change
    core = SimpleNamespace(step=namespace["step"], start=namespace["start"])
    if not owner:
        yield core
        return
    cls = namespace[owner]
    original = inspect.getattr_static(cls, name)
    exec(_compiled([changed], module), namespace)  # noqa: S102 - likewise
    method = namespace[name]
    is_wrapped = isinstance(original, property | classmethod | staticmethod)
    setattr(cls, name, type(original)(method) if is_wrapped else method)
    try:
        yield core
    finally:
        setattr(cls, name, original)


def _compiled(body: Sequence[ast.stmt], module: ModuleType) -> Any:  # noqa: ANN401 - a code object
    tree = ast.fix_missing_locations(ast.Module(list(body), []))
    return compile(tree, f"<mutant of {module.__name__}>", "exec")


class Judge:
    """Holds mutants of a protocol against the tables of its models, by model name."""

    def __init__(
        self, protocol: Protocol, tables: Mapping[str, tuple[StepTable, Mapping[str, Value]]]
    ) -> None:
        """Prepare `tables`, each with the constants of its model."""
        self.protocol = protocol
        self._rows = {name: Rows(protocol, table, values) for name, (table, values) in tables.items()}
        self._order = {name: _order(table) for name, (table, _) in tables.items()}

    def judge(self, mutant: Mutant) -> str:
        """Say what kills a mutant: a row, or the start of a member; "" if nothing does."""
        with _core(self.protocol.module, mutant) as core:
            return self.kills(core)

    def kills(self, core: AnyCore) -> str:
        """Say what is wrong with an implementation; "" if nothing is."""
        for name, rows in self._rows.items():
            for member, state in rows.table.starts.items():
                if not self._starts(core, member, state):
                    return f"{name} Start({member})"
        for name, rows in self._rows.items():
            failure = replay(rows, core.step, self._order[name], stop=True, limit=_LIMIT).first
            if failure is not None:
                return f"{name} row {failure.row}: {failure.verdict}"
        return ""

    def _starts(self, core: AnyCore, member: str, state: Value) -> bool:
        try:
            return identical(self.protocol.codec.to_spec(core.start(member)), state)
        except Exception:  # noqa: BLE001 - whatever a mutant does
            return False


def _order(table: StepTable) -> Sequence[int]:
    """Rows that differ most from each other first: one for each type of event and result."""
    width = len(table.events)
    types = [event.get("type", "") for event in table.events]
    first = {(types[place % width], cell): place for place, cell in enumerate(table.cells)}
    early = set(first.values())
    rest = [place for place in range(len(table)) if place not in early]
    Random(0).shuffle(rest)  # noqa: S311 - the same every time
    return [*early, *rest]


_judge: Judge | None = None


def _prepare(
    root: Path, name: str, folder: Path, tables: Mapping[str, tuple[str, Mapping[str, Value]]]
) -> None:
    """Make the judge of a process of its own, from the cache."""
    global _judge  # noqa: PLW0603 - that is how a process pool keeps what is expensive to make
    cache = Tables(folder)
    loaded = {model: (cache.load(key), values) for model, (key, values) in tables.items()}
    whole = {model: (table, values) for model, (table, values) in loaded.items() if table is not None}
    if len(whole) < len(loaded):
        raise TableError("a table is no longer in the cache: run it again")
    _judge = Judge(derive.load(load(root, name)), whole)


def _judged(mutant: Mutant) -> str:
    if _judge is None:
        raise AssertionError
    return _judge.judge(mutant)


# The file of explanations


def explanations(root: Path, protocol: str) -> dict[str, str]:
    """Read `conformance/mutants/<protocol>.yaml`; nothing if there is none. FileError where it is amiss."""
    shown = f"conformance/mutants/{protocol}.yaml"
    if not (root / shown).is_file():
        return {}
    entries = strict_yaml.load(root / shown, shown).entries("a mapping from mutants to explanations")
    return {name: node.text("why the mutant is equivalent") for name, node in entries.items()}


# The command


def command(
    protocol: OneProtocol,
    *,
    workers: Processes = None,
    as_json: AsJson = False,
) -> None:
    """Break the implementation on purpose, many times: the local steps must tell each time.

    Exits with 1 if less than 95 % of the mutants are killed, or if one survives and
    conformance/mutants/PROTOCOL.yaml does not say why it is equivalent.
    """
    root = find_root()
    began = time.monotonic()
    manifest = load(root, protocol)
    try:
        implementation = derive.load(manifest)
    except MappingError as error:
        raise FileNotFoundError(str(error)) from error
    explained = explanations(root, protocol)
    keys, tables = _tables(root, manifest)
    judge = Judge(implementation, tables)
    if wrong := judge.kills(implementation.core):
        typer.echo(
            f"{protocol}: the implementation itself is wrong ({wrong}): see groupcomm conform", err=True
        )
        raise typer.Exit(ExitCode.DIFFERS)
    made = mutants(implementation)
    count = workers or os.cpu_count() or 1
    if count == 1:
        verdicts = [judge.judge(mutant) for mutant in made]
    else:
        values = {name: (keys[name], tables[name][1]) for name in tables}
        with ProcessPoolExecutor(
            count,
            multiprocessing.get_context("spawn"),
            _prepare,
            (root, protocol, Tables.of(root).folder, values),
        ) as pool:
            verdicts = list(pool.map(_judged, made, chunksize=4))
    fates = [
        Fate(mutant, bool(by), by, "" if by else explained.get(mutant.name, ""))
        for mutant, by in zip(made, verdicts, strict=True)
    ]
    survivors = {fate.mutant.name for fate in fates if not fate.killed}
    stale = [name for name in explained if name not in survivors]
    told = _told(protocol, list(tables), fates, stale, time.monotonic() - began)
    if as_json:
        typer.echo(json.dumps(told, indent=2))
    else:
        for line in _lines(told):
            typer.echo(line)
    raise typer.Exit(verdict(ok=told["ok"]))


def _tables(
    root: Path, manifest: Manifest
) -> tuple[dict[str, str], dict[str, tuple[StepTable, Mapping[str, Value]]]]:
    """The keys and tables of all conforming models, the smallest first."""
    models = [model for model in checking.select(manifest) if model.conform]
    if not models:
        raise NothingToJudge(
            f"{manifest.protocol} has no model with conform: true", "mark one in models.yaml"
        )
    chosen = [(manifest, model) for model in models]
    with console.Watch(chosen) as watch:
        came = checking.run_models(chosen, cache=checking.Cache.of(root), listener=watch)
    keys: dict[str, str] = {}
    found: dict[str, tuple[StepTable, Mapping[str, Value]]] = {}
    for model, checked in zip(models, came, strict=True):
        if not checked.holds or checked.harvest is None:
            raise FileNotFoundError(f"the model {model.name} {checked.outcome}: see groupcomm check")
        table, keys[model.name] = table_of(manifest, model, checked.harvest, Tables.of(root))
        found[model.name] = table, derive.constants_of(manifest.cfg(model))
    return keys, dict(sorted(found.items(), key=lambda item: len(item[1][0])))


def _told(
    protocol: str, models: list[str], fates: Sequence[Fate], stale: list[str], seconds: float
) -> dict[str, Any]:
    """The report as plain values."""
    killed = sum(fate.killed for fate in fates)
    survivors = [fate for fate in fates if not fate.killed]
    unexplained = [fate for fate in survivors if not fate.why]
    score = killed / len(fates) if fates else 0.0
    return {
        "protocol": protocol,
        "ok": score >= REQUIRED and not unexplained and not stale,
        "models": models,
        "mutants": len(fates),
        "killed": killed,
        "survived": len(survivors),
        "unexplained": len(unexplained),
        "score": round(100 * score, 2),
        "survivors": [
            {
                "name": fate.mutant.name,
                "line": fate.mutant.line,
                "before": fate.mutant.before,
                "after": fate.mutant.after,
                "why": fate.why,
            }
            for fate in survivors
        ],
        "stale": stale,
        "seconds": round(seconds, 3),
    }


def _lines(told: Mapping[str, Any]) -> Iterator[str]:
    for survivor in told["survivors"]:
        word = "equivalent" if survivor["why"] else "SURVIVES"
        yield f"{word}: line {survivor['line']}: {survivor['name']}"
        yield f"  - {survivor['before']}"
        yield f"  + {survivor['after']}"
        if survivor["why"]:
            yield f"  {survivor['why']}"
    for name in told["stale"]:
        yield f"STALE: an explanation of what does not survive: {name}"
    yield (
        f"{told['protocol']}: {told['killed']} of {told['mutants']} mutants killed ({told['score']} %), "
        f"{told['survived']} survive, {told['unexplained']} unexplained; by the local steps of "
        f"{', '.join(told['models'])}; {told['seconds']:.1f} s"
    )
