"""Checking scenarios: read, judged by the specification, followed by the implementation."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path as FilePath
from typing import Final, Literal, TypeAlias

from attrs import field, frozen

from groupcomm_conformance.files.errors import FileError
from groupcomm_conformance.protocols.derive import AnyCore, MappingError
from groupcomm_conformance.tla.chart import WIDTH, Bounds, chart
from groupcomm_conformance.tla.trace import State
from groupcomm_conformance.tlc.errors import ConfigFailed, EvaluationFailed, ParseFailed, TLCError
from groupcomm_conformance.walks.follow import Divergence

from .as_model import ROOT
from .following import follow
from .group import Group, Groups
from .paths import Dead, Judged, Path, judge
from .reading import files, load
from .steps import Scenario

__all__ = ["Outcome", "Result", "check", "files", "judged"]

Outcome: TypeAlias = Literal["pass", "fail", "unreadable"]

_MISTAKES = (ParseFailed, ConfigFailed, EvaluationFailed)
"""Errors of TLC that a scenario can be the reason of."""

_MOST_SHOWN: Final = 6


@frozen
class Result:
    """How a scenario went.

    `outcome` is `unreadable` where its file says something wrong. `problem` says what failed at `line`, and
    `possible` what the specification allows there. `states` is the way there (or, of a scenario that passes,
    its whole path). `ablations` are the ablations that hold.
    """

    file: str
    outcome: Outcome
    scenario: str = ""
    requirements: tuple[str, ...] = ()
    line: int = 0
    problem: str = ""
    possible: tuple[str, ...] = ()
    ablations: tuple[str, ...] = ()
    states: tuple[State, ...] = field(default=(), repr=False)

    @property
    def chart(self) -> list[str]:
        """The way there as a sequence chart, the last steps of a long one."""
        return self.drawn(WIDTH, Bounds("groupcomm scenario --json has all of them"))

    def drawn(self, width: int, bounds: Bounds | None = None) -> list[str]:
        """Draw the way there, within bounds."""
        return chart(self.states, width=width, bounds=bounds) if self.states else []


def check(
    root: FilePath, chosen: Sequence[FilePath], *, core: AnyCore | None = None, fresh: bool = False
) -> tuple[Result, ...]:
    """Check scenario files, those of a protocol together. `core` is taken in place of the protocol's own.

    FileError where what the scenarios of a protocol have in common is wrong, TLCError where TLC does not
    work, MappingError where a protocol has no implementation.
    """
    known = Groups(root)
    found: dict[FilePath, Result] = {}
    read: dict[str, list[tuple[FilePath, Scenario]]] = {}
    for path in chosen:
        try:
            scenario = load(known, path, _path_in(root, path))
        except FileError as error:
            if error.file != _path_in(root, path):
                raise
            found[path] = Result(error.file, "unreadable", line=error.line, problem=f"expected {error.expected}")
        else:
            read.setdefault(scenario.protocol, []).append((path, scenario))
    for protocol, pairs in read.items():
        group = known.get(protocol)
        judged = _verdicts(root, group, [scenario for _, scenario in pairs], fresh=fresh)
        for path, scenario in pairs:
            found[path] = _result(group, scenario, judged[scenario.file], core)
    return tuple(found[path] for path in chosen)


def judged(root: FilePath, chosen: Sequence[FilePath]) -> Iterator[tuple[Scenario, Path]]:
    """Give the paths of scenarios, those of a protocol together.

    FileError for a scenario that cannot be read, or is no path of its specification.
    """
    groups = Groups(root)
    by_protocol: dict[str, list[Scenario]] = {}
    for path in chosen:
        scenario = load(groups, path, _path_in(root, path))
        by_protocol.setdefault(scenario.protocol, []).append(scenario)
    for protocol, scenarios in by_protocol.items():
        for each in judge(groups.get(protocol), scenarios, root=root):
            found = each.found
            if isinstance(found, Dead):
                line = each.scenario.steps[found.step].line
                expected = f"a step that the specification has: {found.problem}"
                raise FileError(each.scenario.file, line, expected)
            yield each.scenario, found


def _path_in(root: FilePath, path: FilePath) -> str:
    absolute = path.absolute()
    return str(absolute.relative_to(root)) if absolute.is_relative_to(root) else str(path)


def _verdicts(
    root: FilePath, group: Group, scenarios: Sequence[Scenario], *, fresh: bool
) -> Mapping[str, Judged | TLCError]:
    """Judge scenarios together; where TLC cannot evaluate what one says, each by itself."""
    try:
        return {each.scenario.file: each for each in judge(group, scenarios, root=root, fresh=fresh)}
    except _MISTAKES as error:
        if isinstance(error, ParseFailed) and (error.file is None or error.file.stem != ROOT):
            raise  # a module of the protocol's
        if len(scenarios) == 1:
            return {scenarios[0].file: error}
    found: dict[str, Judged | TLCError] = {}
    for scenario in scenarios:
        found |= _verdicts(root, group, [scenario], fresh=fresh)
    return found


def _result(group: Group, scenario: Scenario, judged: Judged | TLCError, core: AnyCore | None) -> Result:
    def result(outcome: Outcome, line: int = 0, problem: str = "", **more: tuple[object, ...]) -> Result:
        return Result(
            scenario.file,
            outcome,
            scenario.name,
            scenario.requirements,
            line,
            problem,
            **more,  # type: ignore[arg-type]
        )

    if isinstance(judged, TLCError):
        return result("fail", scenario.line, f"TLC cannot evaluate what the scenario says: {judged}")
    path = judged.found
    if isinstance(path, Dead):
        step = scenario.steps[path.step]
        return result("fail", step.line, path.problem, possible=path.possible, states=path.path.states)
    for ablation, problem in judged.ablations:
        return result("fail", ablation.line, problem, states=path.states)
    try:
        wrong = follow(group.protocol, scenario, path, core)
    except MappingError as error:
        return result("fail", scenario.line, f"the implementation cannot follow: {error}")
    if wrong is not None:
        at, found = wrong
        return result("fail", scenario.steps[at].line, _difference_line(found), states=found.walk)
    ablations = tuple(f'with {each.name} it fails at "{each.falls}"' for each in scenario.ablations)
    return result("pass", ablations=ablations, states=path.states)


def _difference_line(wrong: Divergence) -> str:
    """The implementation's difference, on a line."""
    shown = [change.text() for change in wrong.wrong.differences[:_MOST_SHOWN]]
    more = len(wrong.wrong.differences) - len(shown)
    if more > 0:
        shown.append(f"and {more} more")
    reasons = "; ".join((wrong.wrong.reason, *shown) if wrong.wrong.reason else shown)
    return f"the implementation differs, {wrong.verdict}: {reasons}"
