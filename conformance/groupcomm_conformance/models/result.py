"""TLC's answer for a model, and the cache of these answers."""

import json
from typing import Any, Final

from attrs import evolve, field, fields, frozen

from groupcomm_conformance.files.store import Store
from groupcomm_conformance.tla.trace import State
from groupcomm_conformance.tla.values import Fn, Value, from_json, to_json

from .instruments import Harvest
from .model import Model, Tier


@frozen
class CheckedModel:
    """TLC's answer for a model.

    `outcome` is `holds`, `violates: Name`, or `fails: why` where TLC could not evaluate an expression;
    `expected` is in the same words. Counts are those at the end of the search. `steps` are the pairs of
    action and outcome taken, and empty where they were not noted (liveness, ablations). `falls` are the
    claims refuted, out of `judged`, and `conjuncts` those of claims that are lists (`Claim/2`); all three are
    empty for a model that should hold. `cpu_seconds` is the search's alone;
    `seconds` is the wall-clock time of all runs together. `cached` says that TLC did not run.
    """

    protocol: str
    model: str
    tier: Tier
    expected: str
    outcome: str
    violated: str | None
    distinct: int
    transitions: int
    depth: int
    workers: int
    trace: tuple[State, ...]
    loop: int | None
    stuttering: bool
    witnesses: frozenset[str]
    steps: frozenset[tuple[str, str]]
    judged: tuple[str, ...]
    falls: frozenset[str]
    conjuncts: frozenset[str]
    harvest: Harvest | None
    seconds: float
    cpu_seconds: float
    tlc_version: str
    cached: bool = field(default=False, eq=False)

    @property
    def holds(self) -> bool:
        """True if TLC searched everything and nothing fell."""
        return self.outcome == "holds"


def expected(model: Model) -> str:
    """Say what a model is expected to do, in the words of the manifest."""
    return "holds" if model.holds else f"violates: {model.violates}"


class Cache(Store):
    """Results of earlier runs of models."""

    name = "checked.json"

    def load(self, key: str) -> CheckedModel | None:
        """Give the result with this key; None where there is none, or what is there is damaged."""
        text = self.read(key)
        try:
            return None if text is None else evolve(_decoded(json.loads(text)), cached=True)
        except (ValueError, KeyError, TypeError):
            return None

    def store(self, key: str, checked: CheckedModel) -> None:
        """Keep a result."""
        self.write(key, json.dumps(_encoded(checked), sort_keys=True).encode())


def _encoded(checked: CheckedModel) -> dict[str, Any]:
    harvest = checked.harvest
    plain = {name: getattr(checked, name) for name in _PLAIN}
    return plain | {
        "trace": [[state.number, state.action, to_json(state.values)] for state in checked.trace],
        "witnesses": sorted(checked.witnesses),
        "steps": sorted(checked.steps),
        "judged": list(checked.judged),
        "falls": sorted(checked.falls),
        "conjuncts": sorted(checked.conjuncts),
        "harvest": harvest and {kind: to_json(getattr(harvest, kind)) for kind in ("local", "messages", "outside")},
    }


_STRUCTURED: Final = frozenset(("trace", "witnesses", "steps", "judged", "falls", "conjuncts", "harvest", "cached"))
_PLAIN: Final = tuple(each.name for each in fields(CheckedModel) if each.name not in _STRUCTURED)
"""The fields that JSON holds as they are."""


def _decoded(stored: dict[str, Any]) -> CheckedModel:
    harvest = stored["harvest"]
    return CheckedModel(
        **{name: stored[name] for name in _PLAIN},
        trace=tuple(State(number, action, _record(values)) for number, action, values in stored["trace"]),
        witnesses=frozenset(stored["witnesses"]),
        steps=frozenset((action, outcome) for action, outcome in stored["steps"]),
        judged=tuple(stored["judged"]),
        falls=frozenset(stored["falls"]),
        conjuncts=frozenset(stored["conjuncts"]),
        harvest=harvest and Harvest(*(_set(harvest[kind]) for kind in ("local", "messages", "outside"))),
    )


def _record(json_value: Any) -> Fn:  # noqa: ANN401 - from a file
    value = from_json(json_value)
    if isinstance(value, Fn):
        return value
    raise ValueError("a state is a record")


def _set(json_value: Any) -> frozenset[Value]:  # noqa: ANN401 - from a file
    value = from_json(json_value)
    if isinstance(value, frozenset):
        return value
    raise ValueError("a harvest is sets")
