"""`groupcomm check` as a campaign: a task is a model, mostly one search of TLC."""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from attrs import evolve, frozen

from groupcomm_conformance.files.errors import PathError
from groupcomm_conformance.models.checking import Cache, CheckedModel, run_models
from groupcomm_conformance.models.manifest import load
from groupcomm_conformance.models.plan import Plan
from groupcomm_conformance.tlc import tools

from .shipping import code_of

if TYPE_CHECKING:
    from .table import Row
    from .working import Worker

_KEY = "result"


@frozen
class Search:
    """A task: a model, and the key of its result, which is a digest of all that it depends on."""

    key: str
    protocol: str
    model: str


@frozen
class Searching:
    """The settings of all searches: threads and memory of each."""

    workers: int
    heap: str
    recording: bool


def identity() -> dict[str, object]:
    """Give what all results depend on; what one depends on besides is in its key."""
    return {"command": "check", "TLC": tools.jar_digest(tools.find_jar()), "code": code_of(__name__)}


def search_of(plan: Plan) -> Search:
    """Give the task of a model."""
    protocol, model = plan.manifest.protocol, plan.model.name
    return Search(f"{protocol}/{model}/{plan.key}", protocol, model)


def prepare(folder: Path, context: Searching) -> "Worker":
    """Give what searches models."""

    def run(group: Sequence[Search]) -> "list[Row]":
        return [_row(search, _checked(folder, search, context)) for search in group]

    return run


def _checked(folder: Path, search: Search, context: Searching) -> CheckedModel:
    manifest = load(folder, search.protocol, recording=context.recording)
    (checked,) = run_models(
        [(manifest, manifest.model(search.model))],
        workers=context.workers,
        heap=context.heap,
        recording=context.recording,
    )
    return checked


def _row(search: Search, checked: CheckedModel) -> "Row":
    with TemporaryDirectory(prefix="groupcomm-result-") as own:
        Cache(Path(own)).store(_KEY, checked)
        result = Cache(Path(own)).path(_KEY).read_text(encoding="utf-8")
    return {
        "search": search.key,
        "protocol": search.protocol,
        "model": search.model,
        "tier": checked.tier,
        "expected": checked.expected,
        "outcome": checked.outcome,
        "distinct": checked.distinct,
        "transitions": checked.transitions,
        "depth": checked.depth,
        "trace_length": len(checked.trace),
        "falls": sorted(checked.falls),
        "seconds": checked.seconds,
        "result": result,
    }


def checked_of(row: "Row", table: Path) -> CheckedModel:
    """Give the result that a row has. PathError where it is damaged."""
    with TemporaryDirectory(prefix="groupcomm-result-") as own:
        file = Cache(Path(own)).path(_KEY)
        file.parent.mkdir()
        file.write_text(row["result"], encoding="utf-8")
        found = Cache(Path(own)).load(_KEY)
    if found is None:
        raise PathError(table, f"the result of {row['search']} is damaged", "name another folder with --table")
    return evolve(found, cached=False)
