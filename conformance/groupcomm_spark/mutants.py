"""`groupcomm mutants` as a campaign: a task is a mutant of an implementation, or one of a specification.

Mutants of a specification are judged some at a time, as each run of TLC has to read the tables.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import field, frozen

from groupcomm_conformance.models.manifest import load
from groupcomm_conformance.protocols import derive
from groupcomm_conformance.steps.mutants.conforming import ModelTable
from groupcomm_conformance.steps.mutants.core_by_rows import Judge
from groupcomm_conformance.steps.mutants.implementation import Mutant
from groupcomm_conformance.steps.mutants.spec_by_tlc import Noticed, confront
from groupcomm_conformance.steps.mutants.specification import SpecMutant
from groupcomm_conformance.steps.table import StepTable
from groupcomm_conformance.tla.tree import Definitions

from .shipping import code_of, digest

if TYPE_CHECKING:
    from .table import Row
    from .working import Worker


def identity(protocol: str, tables: Mapping[str, ModelTable], *, spec: str = "") -> dict[str, object]:
    """Give all that a verdict depends on besides its mutant; of the specification a digest as `spec`."""
    keys = sorted((name, each.key) for name, each in tables.items())
    return {
        "command": f"mutants {protocol}{' --spec' if spec else ''}",
        "tables": digest(keys),
        **({"specification": spec} if spec else {}),
        "code": code_of(__name__),
    }


def _row(name: str, line: int, by: str, *, fails: bool = False) -> "Row":
    verdict = "survives" if not by else "fails" if fails else "noticed"
    return {"mutant": name, "line": line, "verdict": verdict, "by": by}


# Of an implementation


@frozen
class Implementation:
    """The judge of all mutants of an implementation: tables and constants by the models' names."""

    protocol: str
    tables: Mapping[str, tuple[StepTable, Mapping[str, object]]] = field(repr=False)


def judges(folder: Path, context: Implementation) -> "Worker":
    """Give what judges mutants of an implementation, each a task."""
    judge = Judge(derive.load(load(folder, context.protocol)), context.tables)  # type: ignore[arg-type]

    def run(group: Sequence[Mutant]) -> "list[Row]":
        return [_row(mutant.name, mutant.line, judge.judge(mutant)) for mutant in group]

    return run


# Of a specification


@frozen
class Confronting:
    """The judge of all mutants of a specification; they refer to places in the `definitions`.

    `folders` are those of the modules, within what is shipped.
    """

    folders: tuple[str, ...]
    definitions: Definitions = field(repr=False)
    mutants: Sequence[SpecMutant] = field(repr=False)
    tables: Mapping[str, StepTable] = field(repr=False)
    constants: Mapping[str, Mapping[str, str]] = field(repr=False)


def confronts(folder: Path, context: Confronting) -> "Worker":
    """Give what judges mutants of a specification; a task is a mutant's index."""
    places = [folder / name for name in context.folders]

    def run(group: Sequence[int]) -> "list[Row]":
        mutants = [context.mutants[index] for index in group]
        found = confront(places, context.definitions, mutants, context.tables, context.constants, workers=1)
        return [
            _row(mutant.name, mutant.line, each.by if each else "", fails=each is not None and each.fails)
            for mutant, each in zip(mutants, found, strict=True)
        ]

    return run


def noticed_of(row: "Row") -> Noticed | None:
    """Give what a row says of a mutant of a specification."""
    return None if row["verdict"] == "survives" else Noticed(row["by"], row["verdict"] == "fails")
