"""A few rows of each table for slow adapters and the first hour.

One is of each *way* that a step goes. A way of a handled step is its type, the fields that change, and the
kinds of its effects. A way of another step is its type, how it ends, and which values of the event stand
where in the state: whether its sender is a member, its view the member's own, its round the last.

That is no proof: a port may pass one of two rows of a way and fail the other, and a port's mistakes are none
of the mutants. The whole tables are.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from groupcomm_conformance.steps.table import HANDLED

from .words import kind


def chosen(files: Mapping[str, bytes]) -> dict[str, list[int]]:
    """Choose rows from the files of models: of each model numbers, from 1."""
    seen: set[tuple[Any, ...]] = set()
    found: dict[str, list[int]] = {}
    for model, data in files.items():
        for row, way in _ways(json.loads(data)):
            if way not in seen:
                seen.add(way)
                found.setdefault(model, []).append(row)
    return found


def _ways(told: Mapping[str, Any]) -> Iterator[tuple[int, tuple[Any, ...]]]:
    """Give each row of a model with its way."""
    rows = told.get("rows", [])
    kinds = [kind(effect) for effect in told["effects"]]
    handled = [(*sorted(changes), *(kinds[at] for at in effects)) for changes, effects in told["results"]]
    events = [(event["type"], [*_values("", event)]) for event in told["events"]]
    for at, cells in enumerate(rows):
        where = _places(told["states"][at])
        for number, cell in enumerate(cells):
            name, values = events[number]
            if cell >= HANDLED:
                way: tuple[Any, ...] = (name, handled[cell - HANDLED])
            else:
                way = (name, cell, tuple((path, where.get(value, ())) for path, value in values))
            yield at * len(cells) + number + 1, way


def _values(path: str, value: Any) -> Iterator[tuple[str, str]]:  # noqa: ANN401 - any JSON
    """The values of an event that a member may compare: names, and identifiers of views; with their paths."""
    if isinstance(value, dict):
        if {*value} == {"counter", "creator"}:
            yield path, json.dumps(value)
            return
        for name, item in value.items():
            if name not in ("type", "payload"):
                yield from _values(f"{path}.{name}", item)
    elif isinstance(value, str):
        yield path, json.dumps(value)


def _places(state: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Of each value in a state, the fields that it is the value of, and the lists of names that it is in."""
    found: dict[str, dict[str, None]] = {}

    def look(path: str, value: Any) -> None:  # noqa: ANN401 - any JSON
        if isinstance(value, dict):
            if {*value} == {"counter", "creator"}:
                found.setdefault(json.dumps(value), {})[path] = None
            else:
                for name, item in value.items():
                    look(f"{path}.{name}", item)
        elif isinstance(value, list):
            for item in value:
                if isinstance(item, str):
                    found.setdefault(json.dumps(item), {})[path] = None
        elif isinstance(value, str):
            found.setdefault(json.dumps(value), {})[path] = None

    look("", state)
    return {value: tuple(sorted(fields)) for value, fields in found.items()}
