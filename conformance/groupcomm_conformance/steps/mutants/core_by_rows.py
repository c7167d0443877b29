"""Judging mutants of an implementation by the tables of local steps, in processes of their own.

A mutant is killed by a row of a conforming model that does not pass, or by a `start` that is not `Start`.
Classes are never copied: a mutant's functions work on the classes of the module itself, and mutated methods
are put into these for as long as the mutant is judged. A part of a core is mutated in its place. So is a module
that makes cores, and the core made anew.
"""

import ast
import inspect
import multiprocessing
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from random import Random
from types import ModuleType, SimpleNamespace
from typing import Any, Final, cast

from groupcomm_conformance.models.manifest import load
from groupcomm_conformance.protocols import derive
from groupcomm_conformance.protocols.derive import AnyCore, Protocol
from groupcomm_conformance.steps.rows import Rows, replay
from groupcomm_conformance.steps.table import StepTable, TableError, Tables
from groupcomm_conformance.tla.values import Value, identical

from .conforming import ModelTable
from .implementation import Mutant

_LIMIT: Final = 0.5


@contextmanager
def mutated(protocol: Protocol, mutant: Mutant) -> Iterator[AnyCore]:
    """The implementation with the mutant in it: an object with `step` and `start`."""
    module = sys.modules[mutant.module]
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
    if not owner:
        if module is protocol.module:
            yield SimpleNamespace(step=namespace["step"], start=namespace["start"])
        else:
            with _put(module, name, namespace[name]):
                yield protocol.core if protocol.is_layer else _core_of(protocol)
        return
    cls = namespace[owner]
    original = inspect.getattr_static(cls, name)
    exec(_compiled([changed], module), namespace)  # noqa: S102 - likewise
    method = namespace[name]
    is_wrapped = isinstance(original, property | classmethod | staticmethod)
    with _put(cls, name, type(original)(method) if is_wrapped else method):
        yield protocol.core if protocol.is_layer else _core_of(protocol)


@contextmanager
def _put(owner: object, name: str, mutated: object) -> Iterator[None]:
    """A function or method in the place of the original."""
    original = inspect.getattr_static(owner, name)
    setattr(owner, name, mutated)
    try:
        yield
    finally:
        setattr(owner, name, original)


def _core_of(protocol: Protocol) -> AnyCore:
    """A core that is made with the mutant; where none can be made, a core that only says so."""
    try:
        return cast("AnyCore", protocol.module.made())
    except Exception as error:  # noqa: BLE001 - whatever a mutant does
        failed = error

        def fails(*_arguments: object) -> Any:  # noqa: ANN401 - it returns nothing
            raise failed

        return SimpleNamespace(step=fails, start=fails)


def _compiled(body: Sequence[ast.stmt], module: ModuleType) -> Any:  # noqa: ANN401 - a code object
    tree = ast.fix_missing_locations(ast.Module(list(body), []))
    return compile(tree, f"<mutant of {module.__name__}>", "exec")


class Judge:
    """Holds mutants of a protocol against the tables of its models, by model name."""

    def __init__(self, protocol: Protocol, tables: Mapping[str, tuple[StepTable, Mapping[str, Value]]]) -> None:
        """Prepare `tables`, each with the constants of its model."""
        self.protocol = protocol
        self._rows = {name: Rows(protocol, table, values) for name, (table, values) in tables.items()}
        self._order = {name: _order(table) for name, (table, _) in tables.items()}

    def judge(self, mutant: Mutant) -> str:
        """Say what kills a mutant: a row, or the start of a member; "" if nothing does."""
        with mutated(self.protocol, mutant) as core:
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


def _prepare(root: Path, name: str, folder: Path, tables: Mapping[str, tuple[str, Mapping[str, Value]]]) -> None:
    """Make the judge of a process of its own, from the cache."""
    global _judge  # noqa: PLW0603 - that is how a process pool keeps what is expensive to make
    cache = Tables(folder)
    loaded = {model: (cache.load(key), values) for model, (key, values) in tables.items()}
    whole = {model: (table, values) for model, (table, values) in loaded.items() if table is not None}
    if len(whole) < len(loaded):
        raise TableError("a table is no longer in the cache: run it again")
    _judge = Judge(derive.load(load(root, name)), whole)


def _verdict(mutant: Mutant) -> str:
    if _judge is None:
        raise AssertionError
    return _judge.judge(mutant)


def verdicts(
    root: Path, protocol: str, made: Sequence[Mutant], tables: Mapping[str, ModelTable], processes: int
) -> list[str]:
    """Say of each mutant what kills it, "" for nothing, with this many processes."""
    values = {name: (each.key, each.constants) for name, each in tables.items()}
    with ProcessPoolExecutor(
        processes, multiprocessing.get_context("spawn"), _prepare, (root, protocol, Tables.of(root).folder, values)
    ) as pool:
        return list(pool.map(_verdict, made, chunksize=4))
