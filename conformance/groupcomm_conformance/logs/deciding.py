"""Each layer of each life, held against `Step` of its specification as TLC evaluates it.

TLC gets the events that the layer took, and folds `Step` over them from `Start`, with the configuration of
the log. What a layer carries for others is opaque to it: each payload stands for itself as a short text.
"""

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import attrs
from attrs import evolve, frozen

from groupcomm.stack import Tagged
from groupcomm_conformance.beyond.judging import Beside, Difference
from groupcomm_conformance.models.manifest import load
from groupcomm_conformance.protocols import derive
from groupcomm_conformance.tla.values import show
from groupcomm_runtime.layers import LAYERS

from .replaying import Life

__all__ = ["Decided", "decide"]


@frozen
class Decided:
    """What TLC said of a layer: steps that it decided, of so many; the first difference of each log."""

    layer: str
    decided: int
    steps: int
    differences: tuple[tuple[Life, Difference], ...]


def decide(
    root: Path, lives: Sequence[Life], most: int, layers: Collection[str] = tuple(LAYERS)
) -> Iterator[Decided]:
    """Have TLC decide the first steps of each layer in each log, `most` of each at most."""
    for place, name in enumerate(LAYERS):
        if name not in layers:
            continue
        manifest = load(root, name)
        beside = Beside.of(manifest, derive.load(manifest))
        decided = steps = 0
        differences: list[tuple[Life, Difference]] = []
        for life in lives:
            config = life.configs[name]
            constants = {
                constant: f"= {show(getattr(config, parameter))}"
                for parameter, constant in beside.protocol.parameters.items()
            }
            tokens: dict[object, str] = {}
            events = [
                _tokens(note.event, tokens)
                for step in life.steps
                for note in step.notes
                if note.place == place
            ]
            as_it_ran = evolve(beside, config=config, constants={**beside.constants, **constants})
            walk = as_it_ran.walked(life.member, events[:most])
            steps += len(events)
            decided += len(walk.steps)
            differences += ((life, each) for each in as_it_ran.differences([walk]))
        yield Decided(name, decided, steps, tuple(differences))


def _tokens(value: Any, tokens: dict[object, str]) -> Any:  # noqa: ANN401 - any value of a core
    """The same with a text for each payload, the same for equal ones."""
    if isinstance(value, bytes | Tagged):
        return tokens.setdefault(value, f"payload {len(tokens)}")
    if isinstance(value, tuple):
        return tuple(_tokens(each, tokens) for each in value)
    if not attrs.has(type(value)):
        return value
    fields = {each.name: getattr(value, each.name) for each in attrs.fields(type(value))}
    changed = {name: _tokens(each, tokens) for name, each in fields.items()}
    if all(changed[name] is fields[name] or changed[name] == fields[name] for name in fields):
        return value
    return evolve(value, **{name.lstrip("_"): each for name, each in changed.items()})
