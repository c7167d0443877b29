"""Judging scenarios by their specification: TLC finds the path of each, or says where there is none.

All scenarios of a protocol, and their ablations, are one run of TLC, whose answer is kept by what it depends
on. Of a scenario there is a `Path`, and what it looks at is everywhere so; or a `Dead` end: the step at which
it fails, why, and what the specification allows there.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path as FilePath
from typing import Final, cast

from attrs import define, evolve, field, frozen

from groupcomm_conformance.files.store import Store
from groupcomm_conformance.models.modules import scope
from groupcomm_conformance.tla.readable import brief
from groupcomm_conformance.tla.source import as_constants
from groupcomm_conformance.tla.trace import State
from groupcomm_conformance.tla.values import Fn, Value, identical, parse
from groupcomm_conformance.tlc import run as tlc
from groupcomm_conformance.tlc.tools import find_jar, jar_digest

from . import as_model
from .as_model import Case
from .group import Group
from .steps import Ablation, Check, Copy, Deliver, Do, Drop, Duplicate, Never, Same, Scenario, Step, Try, Whatever

_MOST_SHOWN: Final = 12
_TIMEOUT: Final = 600.0


@frozen
class Tried:
    """The answer of `Step` to an event at a member whose state is that in state number `state` (from 1).

    `step` is the index of the scenario's step.
    """

    step: int
    state: int
    member: str
    event: Value
    result: Fn


@frozen
class Path:
    """A behaviour of the specification that is as a scenario says, and what was tried on the way.

    `steps` has for each state the index of the scenario's step that led to it (0 for the first); `done` are
    the indices of all steps that were noted.
    """

    states: tuple[State, ...] = ()
    steps: tuple[int, ...] = ()
    done: frozenset[int] = frozenset()
    tried: tuple[Tried, ...] = ()


@frozen
class Dead:
    """Where a scenario ends: the index of its step, the problem, and the way there."""

    step: int
    problem: str
    path: Path
    possible: tuple[str, ...] = ()


@frozen
class Judged:
    """A scenario, and what the specification makes of it; `ablations` are those with a problem."""

    scenario: Scenario
    found: Path | Dead
    ablations: tuple[tuple[Ablation, str], ...] = ()


class Answers(Store):
    """TLC's output, by the generated module, the modules that it uses, and the jar."""

    name = "paths.json"


@define
class _Heard:
    """TLC's answer for a case. Trails are text as yet."""

    furthest: int = -1
    path: str = ""
    wrong: dict[int, tuple[Value, Value]] = field(factory=dict)
    falls: str = ""


def judge(group: Group, scenarios: Sequence[Scenario], *, root: FilePath, fresh: bool = False) -> tuple[Judged, ...]:
    """Judge scenarios of a protocol. `fresh` asks TLC in any case.

    TLCError where TLC cannot evaluate their expressions: for all given scenarios together.
    """
    cases: list[Case] = []
    for scenario in scenarios:
        for ablation in (None, *scenario.ablations):
            cases.append(Case(len(cases) + 1, scenario, ablation))
    heard = _hear(group, cases, root, fresh=fresh)
    judged: list[Judged] = []
    for case, said in zip(cases, heard, strict=True):
        if case.ablation is None:
            judged.append(Judged(case.scenario, _found(group, case, said, root)))
        elif problem := _ablated(case, case.ablation, said):
            last = judged[-1]
            judged[-1] = evolve(last, ablations=(*last.ablations, (case.ablation, problem)))
    return tuple(judged)


# Asking TLC

_SAID: Final = re.compile(r'<<"@(at|path|wrong|falls)", (\d+)(?:, (\d+))?(?:, (.*))?>>', re.DOTALL)


def _hear(group: Group, cases: Sequence[Case], root: FilePath, *, fresh: bool) -> list[_Heard]:
    heard = [_Heard() for _ in cases]
    if not cases:
        return heard
    for line in _ask(group, as_model.module(group, cases), root, fresh=fresh):
        said = _SAID.fullmatch(line)
        if said is None:
            continue
        what, number, at, trail = said.groups()
        case = heard[int(number) - 1]
        if what == "at":
            case.furthest = max(case.furthest, int(at))
        elif what == "wrong":
            rows, seen = cast("tuple[Value, ...]", parse(line))[3:]
            case.wrong[int(at)] = rows, seen
        elif what == "path":
            case.furthest = len(cases[int(number) - 1].scenario.steps)
            case.path = trail
        else:
            case.falls = trail
    return heard


def _ask(group: Group, text: str, root: FilePath, *, fresh: bool = False) -> tuple[str, ...]:
    """TLC's output for a module, an expression a line."""
    digest = hashlib.sha256()
    modules = (f"{name}\n{text}" for name, text in sorted(group.modules.texts.items()))
    for part in (text, as_model.cfg(), jar_digest(find_jar()), *modules):
        digest.update(hashlib.sha256(part.encode()).digest())
    store, key = Answers.of(root), digest.hexdigest()
    kept = None if fresh else store.read(key)
    if kept is not None:
        return tuple(json.loads(kept))
    lines: list[str] = []

    def take(line: str) -> None:
        if line.startswith('"<<\\"@'):
            lines.append(str(parse(line)))

    tlc.run(
        (),
        as_model.ROOT,
        as_model.cfg(),
        generated={**_with_constants(group), as_model.ROOT: text},
        workers=1,
        short=True,
        timeout=_TIMEOUT,
        on_line=take,
    )
    store.write(key, json.dumps(lines).encode())
    return tuple(lines)


def _path(rows: Value) -> Path:
    """Read a trail."""
    states: list[State] = []
    steps: list[int] = []
    done: set[int] = set()
    tried: list[Tried] = []
    for row in cast("tuple[Fn, ...]", rows):
        at = cast("int", row["at"])
        if states:
            done.add(at)
        if "state" in row:
            values = cast("Fn", row["state"])
            states.append(State(len(states) + 1, str(cast("Fn", values["act"])["action"]), values))
            steps.append(at)
        elif "result" in row:
            tried.append(Tried(at, len(states), str(row["member"]), row["event"], cast("Fn", row["result"])))
    return Path(tuple(states), tuple(steps), frozenset(done), tuple(tried))


# Verdicts


def _failed(scenario: Scenario, heard: _Heard) -> int | None:
    """The index of the first step that fails; None if all are done, and all that is looked at is so."""
    if heard.wrong:
        return min(heard.wrong)
    return heard.furthest if heard.furthest < len(scenario.steps) else None


def _found(group: Group, case: Case, heard: _Heard, root: FilePath) -> Path | Dead:
    scenario = case.scenario
    at = _failed(scenario, heard)
    if at is None:
        path = _path(parse(heard.path))
        return _nothing_meant(scenario, path) or path
    if at in heard.wrong:
        rows, seen = heard.wrong[at]
        return Dead(at, _otherwise(scenario.steps[at], seen), _path(rows))
    return _stuck(group, case, max(at, 0), root)


def _nothing_meant(scenario: Scenario, path: Path) -> Dead | None:
    """A step about whatever copies there are, and there are none."""
    done = {scenario.steps[at].line for at in path.done}
    for at, step in enumerate(scenario.steps):
        if isinstance(step, Deliver | Drop | Duplicate) and step.if_any and step.line not in done:
            told = "may arrive" if isinstance(step, Deliver) else "is in flight"
            return Dead(at, f"no {step.copy.message} {told} between any of them", path)
    return None


def _ablated(case: Case, ablation: Ablation, heard: _Heard) -> str:
    """The error of an ablation; "" if the claim or step that it names fails."""
    at = _failed(case.scenario, heard)
    if at is None:
        told = "all steps are done and look as they do without"
    else:
        step = case.scenario.steps[at]
        told = f'the first step that fails is "{step.label}" in line {step.line}'
    if ablation.is_claim:
        return "" if heard.falls else f"with {ablation.name} the claim {ablation.falls} holds all along; {told}"
    if at is not None and case.scenario.steps[at].label == ablation.falls:
        return ""
    return f'with {ablation.name} "{ablation.falls}" should fail; {told}'


# Why a scenario fails


def _otherwise(step: Step, seen: Value) -> str:
    """The condition of a step, and the values that it has."""
    match step:
        case Check():
            return f"at {step.at} {step.field} is {brief(seen)}, expected {brief(step.value)}"
        case Same():
            values = zip(step.members, cast("tuple[Value, ...]", seen), strict=True)
            return f"{step.field} is not the same: {'; '.join(f'{m} {brief(value)}' for m, value in values)}"
        case Never():
            return f"at {step.step.at} {_step_text(step.step)} is possible"
        case Try():
            result = cast("Fn", seen)
            effects = "" if step.effects is None else f" with the effects {brief(step.effects)}"
            found = f"{brief(result['outcome'])} with the effects {brief(result['effects'])}"
            return f"at {step.at} the event is {found}, expected {step.outcome}{effects}"
        case Whatever():
            return f"{step.label} does not hold whatever {', '.join(step.members)} do"
        case _:
            return "it is not so after the last round"


def _step_text(step: Do) -> str:
    fields = ", ".join(f"{name}={brief(value)}" for name, value in step.fields)
    return f"{step.what} {fields}".strip()


def _stuck(group: Group, case: Case, at: int, root: FilePath) -> Dead:
    """The specification does not have a step: say what it has."""
    acts: list[Fn] = []
    path = Path()
    flight: tuple[Fn, ...] = ()
    for line in _ask(group, as_model.module(group, [case], probe=at), root):
        if line.startswith('<<"@may"'):
            acts.append(cast("Fn", cast("tuple[Value, ...]", parse(line))[1]))
        elif line.startswith('<<"@before"'):
            _, trail, copies = cast("tuple[Value, ...]", parse(line))
            path, flight = _path(trail), cast("tuple[Fn, ...]", copies)
    step = case.scenario.steps[at]
    at_whom = step.copy.to if isinstance(step, Deliver | Drop | Duplicate) else getattr(step, "at", "")
    return Dead(at, _forbidden(step, acts, flight), path, _possible(acts, at_whom))


def _forbidden(step: Step, acts: Sequence[Fn], flight: Sequence[Fn]) -> str:
    """Say why a step cannot be done, as far as the possible steps show it."""
    match step:
        case Do():
            near = [act for act in acts if act["member"] == step.at and _is(act, step)]
            return _near(f"{step.at} cannot do {_step_text(step)}", near, step.fields, step.outcome, step.effects)
        case Deliver(copy=copy):
            number = sum(_is_copy(each, copy) for each in flight)
            if number < copy.nth:
                return _no_copy(copy, number, flight)
            near = [
                act
                for act in acts
                if act["member"] == copy.to
                and cast("Fn", act["event"]).get("sender") == copy.sender
                and cast("Fn", act["event"])["type"] == step.event
            ]
            problem = f"{copy.to} cannot receive {copy.message} from {copy.sender} now"
            return _near(problem, near, (), step.outcome, step.effects)
        case Drop(copy=copy) | Duplicate(copy=copy):
            return _no_copy(copy, sum(_is_copy(each, copy) for each in flight), flight)
        case _:
            return f"{step.label} is not possible"


def _is(act: Fn, step: Do) -> bool:
    return step.what == (cast("Fn", act["event"])["type"] if step.is_event else act["action"])


def _is_copy(each: Fn, copy: Copy) -> bool:
    message = cast("Fn", each["message"])
    return (each["sender"], each["to"], message["type"]) == (copy.sender, copy.to, copy.message) and all(
        name in message and identical(message[name], value) for name, value in copy.fields
    )


def _no_copy(copy: Copy, number: int, flight: Sequence[Fn]) -> str:
    between = [each for each in flight if (each["sender"], each["to"]) == (copy.sender, copy.to)]
    there = ", ".join(sorted({str(cast("Fn", each["message"])["type"]) for each in between}))
    some = f"only {number} such" if number else f"only {there}" if there else "nothing"
    such = " with these fields" if copy.fields else ""
    which = f" number {copy.nth}" if copy.nth > 1 else ""
    return f"no {copy.message}{which}{such} is in flight from {copy.sender} to {copy.to}, {some}"


def _near(
    problem: str, near: Sequence[Fn], fields: Iterable[tuple[str, Value]], outcome: str | None, effects: "Value | None"
) -> str:
    """The problem, and of those steps that are nearly so what differs."""
    if not near:
        return problem
    fitting = [act for act in near if all(_has(act, name, value) for name, value in fields)]
    if not fitting:
        return f"{problem}: no such step has these fields"
    found = fitting[0]
    if outcome is not None and found["outcome"] != outcome:
        return f"{problem} with the outcome {outcome}: it is {brief(found['outcome'])}"
    if outcome is None and found["outcome"] in ("local_error", "remote_error"):
        return f"{problem}: the event is refused ({brief(found['outcome'])})"
    if effects is not None and not identical(found["effects"], effects):
        return f"{problem} with the effects {brief(effects)}: they are {brief(found['effects'])}"
    return problem


def _has(act: Fn, name: str, value: Value) -> bool:
    event, given = cast("Fn", act["event"]), cast("Fn", act["given"])
    return any(name in each and identical(each[name], value) for each in (event, given))


def _possible(acts: Sequence[Fn], member: str) -> tuple[str, ...]:
    """The possible steps, for people: `ReceiveForward at A: ForwardReceived from B, C`; at `member` first."""
    found: dict[str, dict[str, None]] = {}
    for act in sorted(acts, key=lambda act: (act["member"] != member, brief(act["action"]))):
        event = cast("Fn", act["event"])
        where = f"{brief(act['action'])} at {brief(act['member'])}" if act["member"] else brief(act["action"])
        what = "" if event["type"] == "none" else f": {brief(event['type'])}"
        more = f" from {brief(event['sender'])}" if "sender" in event else ""
        found.setdefault(where + what, {}).setdefault(more)
    lines = [where + ",".join(sorted(more)).replace(", from", ",") for where, more in found.items()]
    if len(lines) > _MOST_SHOWN:
        return (*lines[:_MOST_SHOWN], f"and {len(lines) - _MOST_SHOWN} more")
    return tuple(lines)


def _with_constants(group: Group) -> dict[str, str]:
    """Give the group's modules with guards as constants: each case gives its own values to an instance."""
    here = scope(group.modules, group.manifest.module)
    return {name: as_constants(text) if name in here else text for name, text in group.modules.texts.items()}
