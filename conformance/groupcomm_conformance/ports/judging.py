"""Judging the answers of an adapter: a table of local steps as requests, and what each answer is worth.

An answer passes by its text where it is written as expected, whatever the order of its fields. Where that
differs, its values are read by their shapes: sets have no order, and what has another shape is an
`adapter_error` that names the field.
"""

import json
from collections.abc import Mapping
from typing import Any, Final

from attrs import evolve

from groupcomm.shapes import Record, Sequence, shape_of
from groupcomm_conformance.models.instruments import OUTCOMES
from groupcomm_conformance.protocols.derive import Protocol
from groupcomm_conformance.steps.rows import Failure, Verdict
from groupcomm_conformance.steps.table import HANDLED, StepTable
from groupcomm_conformance.tla.values import Value, identical

from .adapter import Answer
from .plain import Plain, PlainError, compact

_SHOWN: Final = 200
_REFUSED: Final = OUTCOMES[1:3]

_canonical: Final = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"), sort_keys=True, allow_nan=False).encode


class WrongAnswerError(ValueError):
    """An answer is none to what was asked; the verdict of its row."""

    def __init__(self, verdict: Verdict, text: str) -> None:
        super().__init__(text)
        self.verdict: Verdict = verdict


class Judge:
    """Reads the answers of an adapter for one protocol."""

    def __init__(self, protocol: Protocol) -> None:
        self.plain = Plain.of(protocol)
        self.state_shape = shape_of(protocol.state)
        self.event_shape = shape_of(protocol.events)
        self.effects_shape = Sequence(shape_of(protocol.effects))

    def state(self, value: Value) -> str:
        """Write a state."""
        return compact(self.plain.write(value, self.state_shape))

    def read_state(self, text: str) -> Value:
        """Read a state that `state` wrote."""
        return self.plain.read(json.loads(text), self.state_shape, "state")

    def event(self, value: Value) -> str:
        """Write an event."""
        return compact(self.plain.write(value, self.event_shape))

    def step(self, told: Answer, before: Value, *, stateful: bool = False) -> tuple[str, Value, Value]:
        """Give outcome, next state and effects of an answer; of a stateful adapter the state is `before`.

        WrongAnswerError where it is no such answer: `skipped`, `crash` for an error, else `adapter_error`.
        """
        self.other(told)
        outcome = told.get("outcome")
        if outcome not in OUTCOMES:
            raise _unlike(told, f"an outcome, one of {', '.join(OUTCOMES)}")
        fields = {"outcome"} if outcome != "handled" else {"outcome", "effects"} | ({"state"} - {stateful and "state"})
        if unlike := sorted(fields.symmetric_difference(told)):
            has = "no field" if unlike[0] in told else "the field"
            raise _unlike(told, f"{has} {unlike[0]} where the outcome is {outcome}")
        if outcome != "handled":
            return outcome, before, ()
        try:
            after = before if stateful else self.plain.read(told["state"], self.state_shape, "state")
            effects = self.plain.read(told["effects"], self.effects_shape, "effects")
        except PlainError as error:
            raise WrongAnswerError("adapter_error", str(error)) from None
        return (("ignored" if not effects and not stateful and identical(after, before) else outcome), after, effects)

    def kept(self, told: Answer) -> Value:
        """Give the state of an answer to `read`. WrongAnswerError where it is none."""
        self.other(told)
        if [*told] != ["state"]:
            raise _unlike(told, "a state, and nothing else")
        try:
            return self.plain.read(told["state"], self.state_shape, "state")
        except PlainError as error:
            raise WrongAnswerError("adapter_error", str(error)) from None

    def done(self, told: Answer) -> None:
        """See that what was asked is done. WrongAnswerError where it is not."""
        self.other(told)
        if told != {"ok": True} or told["ok"] is not True:
            raise _unlike(told, '"ok": true, and nothing else')

    @staticmethod
    def other(told: Answer) -> None:
        """See that it is neither skipped nor an error. WrongAnswerError where it is one."""
        if "skipped" in told:
            if type(told["skipped"]) is not str or {*told} - {"skipped", "see"}:
                raise _unlike(told, "skipped to be a reason, with no other field but see")
            see = f" ({told['see']})" if "see" in told else ""
            raise WrongAnswerError("skipped", f"skipped: {told['skipped']}{see}")
        if "error" in told:
            if type(told["error"]) is not str or len(told) > 1:
                raise _unlike(told, "error to be a text, with no other field")
            raise WrongAnswerError("crash", f"the adapter says: {told['error']}")


def _unlike(told: Answer, expected: str) -> WrongAnswerError:
    shown = compact(told)
    shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}..."
    return WrongAnswerError(
        "adapter_error", f"the answer is not as adapter.schema.json has it: expected {expected}, not {shown}"
    )


class Asked:
    """A table, ready to be asked row by row, and judged."""

    def __init__(self, judge: Judge, table: StepTable) -> None:
        self.judge = judge
        self.table = table
        shape = judge.state_shape
        assert isinstance(shape, Record)  # noqa: S101 - so it is of every protocol
        self._fields = sorted(shape.fields)
        self.states = [judge.state(state) for state in table.states]
        self.events = [judge.event(event) for event in table.events]
        self._parts = [self._texts(state) for state in table.states]
        self._changes = [self._texts(result.changes) for result in table.results]
        self._effects = [_canonical(judge.plain.write(result.effects, judge.effects_shape)) for result in table.results]
        self._following: dict[tuple[int, int], str] = {}
        self._next: dict[tuple[int, int], str] = {}

    def _texts(self, state: Mapping[Any, Value]) -> dict[str, str]:
        """The fields of a state, or the fields that change, as text."""
        shape = self.judge.state_shape
        assert isinstance(shape, Record)  # noqa: S101
        return {
            name: _canonical(self.judge.plain.write(state[name], shape.fields[name]))
            for name in self._fields
            if name in state
        }

    def expected(self, at: int, cell: int) -> str:
        """Give the text of the state that a handled row leads to."""
        found = self._following.get((at, cell))
        if found is None:
            parts = self._parts[at] | self._changes[cell - HANDLED]
            found = ",".join([f'"{name}":{parts[name]}' for name in self._fields])
            found = self._following[at, cell] = f"{{{found}}}"
        return found

    def next_state(self, place: int) -> str:
        """Write the state that a row leads to, as requests have it."""
        key = place // len(self.events), self.table.cells[place]
        found = self._next.get(key)
        if found is None:
            found = self._next[key] = self.judge.state(self.table.expected(place + 1)[0])
        return found

    def request(self, place: int) -> str:
        """Ask for the row at a place, a number from 0."""
        at, number = divmod(place, len(self.events))
        return f'"do":"step","state":{self.states[at]},"event":{self.events[number]}}}'

    def verdict(self, place: int, told: Answer) -> Failure | None:
        """Judge an answer to the row at a place; None: it passes."""
        cell = self.table.cells[place]
        outcome = told.get("outcome")
        if len(told) == 1 and cell < HANDLED and outcome == OUTCOMES[cell]:
            return None
        if (
            cell >= HANDLED
            and len(told) == 3  # noqa: PLR2004 - outcome, state, effects
            and outcome == "handled"
            and "state" in told
            and "effects" in told
            and _canonical(told["effects"]) == self._effects[cell - HANDLED]
            and _canonical(told["state"]) == self.expected(place // len(self.events), cell)
        ):
            return None
        return self._closely(place, told)

    def _closely(self, place: int, told: Answer) -> Failure | None:
        table, row = self.table, place + 1
        before = table.states[table.place(row)[0]]
        expected = table.outcome(row)
        try:
            outcome, after, effects = self.judge.step(told, before)
        except WrongAnswerError as wrong:
            return Failure(row, wrong.verdict, "", before, (), str(wrong))
        wanted_state, wanted_effects = table.expected(row)
        # A step that changes nothing and asks for nothing is the same as an ignored event.
        if expected == "handled" and not wanted_effects and identical(wanted_state, before):
            expected = "ignored"
        failure = Failure(row, "wrong_outcome", outcome, after, effects)
        if outcome != expected and (outcome in _REFUSED or expected in _REFUSED):
            return failure
        if not identical(after, wanted_state):
            return evolve(failure, verdict="wrong_outcome" if outcome != expected else "wrong_state")
        if not identical(effects, wanted_effects):
            return evolve(failure, verdict="wrong_outcome" if outcome != expected else "wrong_effects")
        return None
