"""The repaired step: where an ablation departs from its control, and what the control does in the same state.

An ablation and its control have the same constants except for the ablated constants. `instead` follows the
counterexample to the first step that the control takes otherwise:

1. Each local step of the counterexample is given to the core (`Repair`), which is `Step` of the control by
   conformance, where the control's members have the core's algorithm. It costs no search.
2. Otherwise TLC follows the counterexample with the control's constants. It prints each step of the same
   name, member and event that leads elsewhere, and stops where the control cannot take the step at all.
3. Where the control can take every step, TLC names a step that only the control can take, in the last state
   before which there is one: in a liveness model, the step that never comes.

Where none of these says anything, `plain` has the reason.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, Final, TypeAlias

from attrs import evolve, field, frozen

from groupcomm_conformance.models.manifest import Manifest, Model
from groupcomm_conformance.models.modules import read_modules
from groupcomm_conformance.tla.readable import HIDDEN, act_of, brief, changes, diff, named, named_effect
from groupcomm_conformance.tla.trace import State
from groupcomm_conformance.tla.values import Fn, Value, identical

from .why import Again, Reasons

REASONS: Final = {
    "no control": "The model has no control.",
    "not evaluated": "TLC cannot follow the counterexample with the constants of the control.",
    "judged otherwise": (
        "The control can take each of these steps: what is ablated is what the claim compares them with, "
        "or which steps have to be taken."
    ),
}
"""Why there is no difference to name, by kind."""

Outcome: TypeAlias = tuple[Value, tuple[str, Value, Value]]
"""A member's state before a step, and the step's outcome, next state and effects."""

Repair: TypeAlias = Callable[[Manifest, Mapping[str, str]], Callable[[State, Fn], Outcome | None] | None]
"""The step `act` after a state, taken by a core with some constants (`protocols.stepping.repair`)."""

_KEEP_ACT: Final = "KeepAct"
_LONGEST: Final = 160
_MOST: Final = 4
_HISTORY: Final = re.compile(r"(?:aux_|network\b|act\b)")
"""Paths of changes that an effect says already, or that claims alone look at."""


@frozen
class Instead:
    """Where an ablation departs from its control.

    `number` is that of the state to which the step leads, 0 where there is none. `step` names the step,
    `guards` are the constants of the control. `here` and `repaired` say in what the step and the control's
    step differ, item by item; where `repaired` is empty the control cannot take the step. With `only`, the
    control alone can take the step, in the state `number`. `reason` is a key of `REASONS` where
    there is no difference to name.
    """

    guards: tuple[str, ...]
    number: int = 0
    step: str = ""
    here: tuple[str, ...] = ()
    repaired: tuple[str, ...] = ()
    only: bool = False
    reason: str = ""

    @property
    def guarded(self) -> str:
        """The control, by the constants that it has."""
        return ", ".join(self.guards)

    @property
    def head(self) -> str:
        """A sentence that says where the two part."""
        if self.reason:
            return REASONS[self.reason]
        if self.only:
            return f"In state {self.number} only {self.guarded} has a further step: {self.step}."
        if not self.repaired:
            return f"Step {self.number}, {self.step}, is not possible with {self.guarded}."
        return f"Step {self.number}, {self.step}, is the first that {self.guarded} changes."

    @property
    def parts(self) -> tuple[str, ...]:
        """Two lines: the step of the counterexample, and that of the control from the same state."""
        if not self.repaired:
            return ()
        return (f"here: {'; '.join(self.here)}", f"with the repair: {'; '.join(self.repaired)}")

    def lines(self) -> list[str]:
        """Write it for people."""
        return [self.head, *(f"- {part}" for part in self.parts)]

    def to_json(self) -> dict[str, Any]:
        """Give it as plain values."""
        return {
            "guards": list(self.guards),
            "state": self.number,
            "step": self.step,
            "here": list(self.here),
            "repaired": list(self.repaired),
            "text": self.head,
            "reason": self.reason,
        }


@frozen
class _Step:
    """The result of a local step: the outcome, what changed, and the effects."""

    outcome: str
    changes: Mapping[str, str] = field(hash=False)
    effects: tuple[str, ...]


def instead(
    manifest: Manifest, model: Model, trace: Sequence[State], repair: Repair, cache: Reasons | None = None
) -> Instead | None:
    """Say what the control does instead; None for a model that has no counterexample.

    `trace` is the counterexample with its `act` (`Why.trace`). `repair` gives steps of the control.
    """
    if not trace or model.holds:
        return None
    if model.control is None:
        return Instead((), reason="no control")
    control = manifest.cfg(manifest.model(model.control)).constants
    sides = ((name, control.get(name)) for name in model.ablates)
    guards = tuple(f"{name} {side}" if side else f"{name} as defined" for name, side in sides)
    found = Instead(guards)
    by_core = _by_core(repair(manifest, control), trace, found)
    if by_core is not None:
        return by_core
    root = manifest.module_of(model.claims)
    modules = read_modules(manifest.folders, root)
    again = Again(manifest, root, modules, manifest.cfg(model), tuple(trace), loose=True)
    return _by_search(again, control, found, cache) or evolve(found, reason="judged otherwise")


def insteads(
    shown: Iterable[tuple[Manifest, Model, Sequence[State]]], repair: Repair, cache: Reasons | None = None
) -> list[Instead | None]:
    """Say of each counterexample what its control does instead, two side by side."""
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda each: instead(each[0], each[1], each[2], repair, cache), shown))


# By the core


def _by_core(
    repaired: Callable[[State, Fn], Outcome | None] | None, trace: Sequence[State], found: Instead
) -> Instead | None:
    """Give each local step to the core; None where it is not the control's, or takes all steps alike."""
    if repaired is None:
        return None
    for before, after in pairwise(trace):
        act = act_of(after)
        if act is None or not isinstance(act["event"], Fn) or named(act["event"])[0] == "none":
            continue
        step = repaired(before, act)
        if step is None:
            continue
        state, (outcome, next_state, effects) = step
        local = after.values["local"]
        came = local[act["member"]] if isinstance(local, Fn) else local
        given = act["effects"] if isinstance(act["effects"], tuple) else ()
        if outcome == act["outcome"] and identical(next_state, came) and identical(effects, given):
            continue
        if act["outcome"] != "handled":
            came = state
        return _differing(
            evolve(found, number=after.number, step=_name(act)),
            _step(brief(act["outcome"]), state, came, given),
            _step(outcome, state, next_state, effects),
        )
    return None


# By a search


def _by_search(again: Again, control: Mapping[str, str], found: Instead, cache: Reasons | None) -> Instead | None:
    """Let TLC follow the counterexample with the control's constants."""
    trace, own = again.trace, again.cfg
    if any(act_of(state) is None for state in trace[1:]):
        return evolve(found, reason="not evaluated")
    printed = _steps(again, control, cache)
    if printed is None:
        return evolve(found, reason="not evaluated")
    reached = max((at for kind, at, *_ in printed if kind == "same"), default=0) + 1
    if reached < len(trace):
        before, after = trace[reached - 1], trace[reached]
        act = act_of(after)
        assert act is not None  # noqa: S101 - looked at above
        departed = evolve(found, number=after.number, step=_name(act))
        for kind, at, *rest in printed:
            if kind == "other" and at == reached and isinstance(rest[0], Fn):
                return _differing(departed, _whole(before.values, after.values), _whole(before.values, rest[0]))
        return departed
    mine = _steps(again, own.constants, cache)
    known = {tuple(map(brief, each[1:])) for each in mine or () if each[0] == "can"}
    further = [each for each in printed if each[0] == "can" and tuple(map(brief, each[1:])) not in known]
    if mine is None or not further:
        return None
    last = max(further, key=lambda each: (each[1], brief(each[2:])))
    return evolve(found, number=last[1], step=f"{brief(last[3])}: {brief(last[2])}", only=True)


def _steps(again: Again, constants: Mapping[str, str], cache: Reasons | None) -> list[tuple[Any, ...]] | None:
    """Print the steps along a trace, `can`, `same` and `other`, each with the number of its state."""
    names = [str(name) for name in again.trace[0].values]
    same = " /\\ ".join(f"{name}' = Run_Trace[Run_at + 1].{name}" for name in names)
    values = ", ".join(f"{name} |-> {name}'" for name in names)
    new, old = (
        f"ToString(<<{act}.action, {act}.member, {act}.event, {act}.given>>)"
        for act in ("act'", "Run_Trace[Run_at + 1].act")
    )
    kept = {**constants, _KEEP_ACT: "= TRUE"} if _KEEP_ACT in constants else constants
    operators = [
        f"Run_Same == {same}",
        f"Run_Alike == {new} = {old}",
        "Run_Print(what) == PrintT(ToString(what))",
        "Run_Seen ==",
        "    IF Run_at = Len(Run_Trace)",
        "    THEN Run_Print(<<\"can\", Run_at, act'.action, act'.member, act'.event>>) /\\ FALSE",
        "    ELSE /\\ Run_Print(<<\"can\", Run_at, act'.action, act'.member, act'.event>>)",
        '         /\\ Run_Same => Run_Print(<<"same", Run_at>>)',
        f'         /\\ Run_Alike /\\ ~Run_Same => Run_Print(<<"other", Run_at, [{values}]>>)',
        "         /\\ Run_Same",
    ]
    asked = evolve(again, cfg=evolve(again.cfg, constants=kept))
    lines = asked.lines(["\n".join(operators)], constraint="Run_Seen", cache=cache)
    if lines is None:
        return None
    return [line for line in lines if isinstance(line, tuple) and len(line) > 1 and isinstance(line[1], int)]


# Differences


def _name(act: Fn) -> str:
    return f"{brief(act['member'])}: {brief(act['action'])}" if act["member"] != "" else brief(act["action"])


def _step(outcome: str, before: Value, after: Value, effects: Value) -> _Step:
    changed = {change.path: _cut(change.text()) for change in diff(before, after)}
    return _Step(outcome, changed, tuple(_effects(effects)))


def _whole(before: Fn, after: Fn) -> _Step:
    """Take a step of the whole group: histories and the network are left out."""
    act = after["act"]
    assert isinstance(act, Fn)  # noqa: S101 - looked at by the caller
    changed = {
        change.path: _cut(change.text()) for change in changes(before, after, HIDDEN) if not _HISTORY.match(change.path)
    }
    return _Step(brief(act["outcome"]), changed, tuple(_effects(act["effects"])))


def _effects(effects: Value) -> Iterator[str]:
    for effect in effects if isinstance(effects, tuple) else ():
        mark, name, content = named_effect(effect)
        to = "all: " if mark == "-->>" else ""
        yield _cut(f"{to}{name} {content}".strip())


def _differing(departed: Instead, here: _Step, repaired: _Step) -> Instead:
    """Leave out what both steps do alike."""
    return evolve(departed, here=_own_changes(here, repaired), repaired=_own_changes(repaired, here))


def _own_changes(step: _Step, other: _Step) -> tuple[str, ...]:
    if step.outcome in {"ignored", "local_error", "remote_error"}:
        return (f"{step.outcome.replace('_', ' ')}, nothing changes",)
    changed = [text for path, text in step.changes.items() if other.changes.get(path) != text]
    kept = [path for path in other.changes if path not in step.changes]
    sent = [f"-> {effect}" for effect in step.effects if effect not in other.effects]
    missing = [effect for effect in other.effects if effect not in step.effects]
    parts = [*changed[:_MOST], *sent[:_MOST]]
    if kept and other.outcome == "handled":
        parts.append(f"unchanged: {', '.join(kept[:_MOST])}")
    if missing and not sent and other.outcome == "handled":
        parts.append(f"not sent: {', '.join(_head(effect) for effect in missing[:_MOST])}")
    if not parts and step.effects != other.effects:
        parts.append(f"in the order {', '.join(_head(effect) for effect in step.effects)}")
    return tuple(parts) or ("nothing of it",)


def _head(effect: str) -> str:
    """Give an effect's name without its content."""
    found = re.match(r"(?:all: )?(?:\S+: )?(?:Pass(?:Up|Down) |SetTimer |CancelTimer )?\S+", effect)
    return found.group() if found else effect


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ..."
