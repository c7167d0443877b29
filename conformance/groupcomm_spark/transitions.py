r"""`groupcomm pipeline` as a campaign: a task is a kind of TLC's transitions, which the implementation has to take.

TLC searches the model as it is. An action constraint, the last one, has it print each transition: the act, and
the states of the members that act or change, before and after. (With `VIEW` a state does not say which act led
to it, and without it there are many times as many: 7,136 instead of 959 of STABLE's `pair`.) That nobody else's
state changes is seen there, too. A *kind* is what is printed; there are few: each is judged once.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from attrs import evolve, field, frozen

from groupcomm_conformance.models import checking
from groupcomm_conformance.models.manifest import Manifest, Model, load
from groupcomm_conformance.protocols import derive
from groupcomm_conformance.protocols.derive import MappingError
from groupcomm_conformance.steps.conform import table_of
from groupcomm_conformance.steps.table import StepTable, Tables
from groupcomm_conformance.tla.values import Fn, Value, identical, parse, show
from groupcomm_conformance.tlc import run as tlc
from groupcomm_conformance.tlc.errors import UnexpectedOutput
from groupcomm_conformance.tlc.output import Progress
from groupcomm_conformance.walks.follow import Follower, Wrong

from .errors import NotHolding
from .shipping import code_of, digest

if TYPE_CHECKING:
    from .table import Row
    from .working import Worker

ROOT: Final = "Transitions"
"""The name of the generated module."""

ENVIRONMENT: Final = "none"
"""The outcome of a step that no member takes part in."""

_TEXT: Final = r"""---- MODULE {root} ----
EXTENDS {module}, TLC
Transition_Printed ==
    \E whose \in {{{{m \in DOMAIN local : m = act'.member \/ local[m] # local'[m]}}}} :
        PrintT(ToString(<<"transition", act', [m \in whose |-> local[m]], [m \in whose |-> local'[m]]>>))
====
"""
_PRINTED: Final = '"<<\\"transition\\", '
_SHOWN: Final = 5


@frozen
class Kind:
    """A task: a kind of transitions as text, how many of the model are of it, and its row, if any."""

    key: str
    model: str
    text: str
    edges: int
    row: int | None


@frozen(eq=False)
class Taken:
    """The kinds of a model's transitions. `beyond` of them are steps of a member, and no row of the table."""

    model: str
    table: StepTable
    kinds: tuple[Kind, ...]
    beyond: int


@frozen
class Judging:
    """The implementation that is judged, and the constants by the models' names."""

    protocol: str
    constants: Mapping[str, Mapping[str, Value]] = field(repr=False)


# The driver's part


def take(manifest: Manifest, model: Model, root: Path, listener: checking.Listener | None = None) -> Taken:
    """Have TLC print the transitions of a model, and find their rows in the table of local steps.

    NotHolding where there is no table. A TLCError where TLC does not search.
    """
    conforming = evolve(model, conform=True)
    checked = checking.run_model(manifest, conforming, cache=checking.Cache.of(root), listener=listener)
    if checked.harvest is None:
        raise NotHolding(f"{manifest.protocol} {model.name}", checked.outcome)
    table, _ = table_of(manifest, conforming, checked.harvest, Tables.of(root))
    rows, kinds, beyond = _Rows(table), [], 0
    for text, edges in _printed(manifest, model, listener).items():
        act, before, after = _parts(text)
        row = rows.of(act, before, after)
        beyond += row is None and act["outcome"] != ENVIRONMENT
        name = hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
        kinds.append(Kind(f"{model.name}/{name}", model.name, text, edges, row))
    return Taken(model.name, table, tuple(kinds), beyond)


def _printed(manifest: Manifest, model: Model, listener: checking.Listener | None) -> Counter[str]:
    """Count the transitions by what TLC prints of them."""
    cfg, lines, part = manifest.cfg(model), Counter[str](), "transitions"
    printing = (*cfg.action_constraints, "Transition_Printed")

    def heard(line: str) -> None:
        if line.startswith(_PRINTED):
            lines[line] += 1

    def progress(told: Progress) -> None:
        if listener:
            listener.progress(model, part, told)

    if listener:
        listener.started(model, part)
    try:
        result = tlc.run(
            manifest.folders,
            ROOT,
            evolve(cfg, invariants=(), properties=(), action_constraints=printing).render(),
            generated={ROOT: _TEXT.format(root=ROOT, module=manifest.module)},
            workers=1,  # which of the states that VIEW puts together is kept, is the same in each run
            short=model.counts is not None and model.counts.transitions < tlc.SHORT,
            progress=progress,
            on_line=heard,
        )
    finally:
        if listener:
            listener.ended(model, part)
    if lines.total() != result.transitions:
        raise UnexpectedOutput(
            f"{manifest.protocol}: TLC counts {result.transitions:,} transitions and printed {lines.total():,}"
        )
    return Counter({str(parse(line)): count for line, count in lines.items()})


def _parts(text: str) -> tuple[Fn, Mapping[Any, Value], Mapping[Any, Value]]:
    """Read the act and the members' states: functions, but for the one without members, which is a tuple."""
    _, act, *sides = cast("tuple[Any, ...]", parse(text))
    before, after = (side or {} for side in sides)
    return cast("Fn", act), before, after


class _Rows:
    """Finds the row of a table that a transition is."""

    def __init__(self, table: StepTable) -> None:
        self._table = table
        self._states = {show(state): place for place, state in enumerate(table.states)}
        self._events = {show(event): place for place, event in enumerate(table.events)}

    def of(self, act: Fn, before: Mapping[Any, Value], after: Mapping[Any, Value]) -> int | None:
        """Give the row with this state, event, outcome, next state and effects; None where there is none.

        The state is the member's or, where the member begins again, its first state.
        """
        member, event = str(act["member"]), self._events.get(show(act["event"]))
        if event is None or member not in before:
            return None
        place = self._states.get(show(self._table.starts[member] if act["from_start"] else before[member]))
        if place is None:
            return None
        row = place * len(self._events) + event + 1
        step = (self._table.outcome(row), *self._table.expected(row))
        return row if identical(step, (str(act["outcome"]), after[member], act["effects"])) else None


def identity(protocol: str, taken: Iterable[Taken]) -> dict[str, object]:
    """Give all that the rows depend on."""
    kinds = sorted((kind.key, kind.edges, kind.row) for each in taken for kind in each.kinds)
    return {"command": f"pipeline {protocol}", "transitions": digest(kinds), "code": code_of(__name__)}


# The worker's part


def prepare(folder: Path, context: Judging) -> "Worker":
    """Give what judges kinds of transitions."""
    protocol = derive.load(load(folder, context.protocol))
    followers = {model: Follower(protocol, constants) for model, constants in context.constants.items()}

    def run(group: Sequence[Kind]) -> "list[Row]":
        return [judged(followers[kind.model], kind) for kind in group]

    return run


def judged(follower: Follower, kind: Kind) -> "Row":
    """Give the row of a kind: the members of the implementation are in the states before, and take the step."""
    act, before, after = _parts(kind.text)
    wrong = _wrong(follower, act, before, after)
    reason = None
    if wrong is not None:
        reason = wrong.reason or "; ".join(change.text() for change in wrong.differences[:_SHOWN])
    return {
        "transition": kind.key,
        "model": kind.model,
        "action": str(act["action"]),
        "member": str(act["member"]),
        "outcome": str(act["outcome"]),
        "act": show(act),
        "edges": kind.edges,
        "verdict": "pass" if wrong is None else wrong.verdict,
        "row": kind.row,
        "reason": reason,
    }


def _wrong(follower: Follower, act: Fn, before: Mapping[Any, Value], after: Mapping[Any, Value]) -> Wrong | None:
    if not before:
        return None  # the environment's, and no member's state changes: there is nothing to take
    try:
        follower.begin(follower.local(cast("Fn", before)))
        return follower.step(follower.act(act), follower.local(cast("Fn", after)))
    except MappingError as error:
        return Wrong("adapter_error", reason=str(error))


# What came


@frozen
class Coverage:
    """The result of a model: transitions by action and by outcome, and kinds by verdict."""

    protocol: str
    model: str
    transitions: int
    actions: Mapping[str, int]
    outcomes: Mapping[str, int]
    local_steps: int
    used: int
    beyond: int
    verdicts: Mapping[str, int]

    @classmethod
    def of(cls, protocol: str, taken: Taken, rows: Iterable["Row"]) -> "Coverage":
        """Fold the rows of a model."""
        actions, outcomes, verdicts = Counter[str](), Counter[str](), Counter[str]()
        used = set()
        for row in rows:
            actions[row["action"]] += row["edges"]
            outcomes[row["outcome"]] += row["edges"]
            verdicts[row["verdict"]] += 1
            used.add(row["row"])
        steps, used = len(taken.table), used - {None}
        count = actions.total()
        return cls(protocol, taken.model, count, actions, outcomes, steps, len(used), taken.beyond, verdicts)

    @property
    def ok(self) -> bool:
        """True if the implementation takes every transition as specified."""
        return set(self.verdicts) <= {"pass"}

    def to_json(self) -> dict[str, Any]:
        """Give it as plain values."""
        return {
            "protocol": self.protocol,
            "model": self.model,
            "ok": self.ok,
            "transitions": self.transitions,
            "actions": dict(sorted(self.actions.items())),
            "outcomes": dict(sorted(self.outcomes.items())),
            "local_steps": self.local_steps,
            "local_steps_used": self.used,
            "kinds_beyond": self.beyond,
            "verdicts": dict(sorted(self.verdicts.items())),
        }
