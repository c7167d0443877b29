"""Each layer of each incarnation, held against `Step` of its specification as TLC evaluates it.

TLC gets the events that the layer took, and folds `Step` over them from `Start`, with the configuration of
the log. A payload of other layers is opaque to a layer: each payload stands for itself as a short text.
Addresses have other numbers, in the same order: a clock's microseconds are more than TLC's integers hold.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import attrs
from attrs import evolve, frozen

from groupcomm.stack import Tagged
from groupcomm.view import Address, address, name_and_life
from groupcomm_conformance.models.manifest import load
from groupcomm_conformance.protocols import derive
from groupcomm_conformance.random_events.against_step import Beside, Difference, shown
from groupcomm_conformance.tla.values import show
from groupcomm_runtime.layers import LAYERS

from .replaying import Life

_NUMBERED: Final = re.compile(r".+#[1-9][0-9]*", re.DOTALL)
_FIRST: Final = 10**8
_SHOWN: Final = 5  # events of the layer; the last differs


@frozen
class Different:
    """A step that differs from the specification: its log, the line, and the specification's answer."""

    life: Life
    line: int
    difference: Difference
    shown: tuple[str, ...]


@frozen
class Decided:
    """TLC's answer for a layer: steps that it decided, of so many; the first difference of each log."""

    layer: str
    decided: int
    steps: int
    differences: tuple[Different, ...]


def decide(root: Path, lives: Sequence[Life], most: int, layers: Collection[str] = tuple(LAYERS)) -> Iterator[Decided]:
    """Have TLC decide the first steps of each layer in each log, `most` of each at most."""
    for place, name in enumerate(LAYERS):
        if name not in layers:
            continue
        manifest = load(root, name)
        beside = Beside.of(manifest, derive.load(manifest))
        decided = steps = 0
        differences: list[Different] = []
        for life in lives:
            if name not in life.configs:  # an application without a state has no STATE_TRANSFER
                continue
            config = life.configs[name]
            values = {
                constant: getattr(config, parameter) for parameter, constant in beside.protocol.parameters.items()
            }
            constants = {constant: f"= {show(value)}" for constant, value in values.items()}
            first = life.events[place][:most]
            short = _Short(life.member, first)
            events = [short(event) for event in first]
            as_it_ran = evolve(
                beside,
                config=config,
                constants={**beside.constants, **constants},
                constants_in={**beside.constants_in, **values},
            )
            walk = as_it_ran.walked(short.addresses[life.member], events)
            steps += life.taken[place]
            decided += len(walk.steps)
            for each in as_it_ran.differences([walk]):
                these = each.walk.steps[max(0, each.at - _SHOWN) : each.at]
                last = evolve(each, walk=evolve(each.walk, steps=these), at=len(these))
                lines = tuple(shown(as_it_ran, last))
                differences.append(Different(life, life.lines[place][each.at - 1], each, lines))
        yield Decided(name, decided, steps, tuple(differences))


class _Short:
    """Shortens payloads and addresses, equal ones equally, for the events of a log."""

    def __init__(self, member: Address, events: Sequence[object]) -> None:
        found = {member}
        for event in events:
            found.update(_addresses(event))
        ordered = sorted(found, key=name_and_life)
        self.addresses: Final = {each: _numbered(each, at) for at, each in enumerate(ordered)}
        self._payloads: dict[object, str] = {}

    def __call__(self, value: Any) -> Any:  # noqa: ANN401 - any value of a core
        """Return the value with a text for each payload, and another address for each address."""
        if isinstance(value, bytes | Tagged):
            return self._payloads.setdefault(value, f"payload {len(self._payloads)}")
        if isinstance(value, str):
            return self.addresses.get(value, value)
        if isinstance(value, tuple):
            return tuple(map(self, value))
        if isinstance(value, frozenset):
            return frozenset(map(self, value))
        if not attrs.has(type(value)):
            return value
        fields = {each.name: getattr(value, each.name) for each in attrs.fields(type(value))}
        changed = {name: self(each) for name, each in fields.items()}
        if changed == fields:
            return value
        return evolve(value, **{name.lstrip("_"): each for name, each in changed.items()})


def _addresses(value: Any) -> Iterator[Address]:  # noqa: ANN401 - any value of a core
    """Give the addresses with a number in a value, without those in payloads."""
    if isinstance(value, Tagged):
        return
    if isinstance(value, str):
        if _NUMBERED.fullmatch(value):
            yield value
    elif isinstance(value, tuple | frozenset):
        for each in value:
            yield from _addresses(each)
    elif attrs.has(type(value)):
        for field in attrs.fields(type(value)):
            yield from _addresses(getattr(value, field.name))


def _numbered(member: Address, at: int) -> Address:
    """Return the address at a place in the order. All have as many digits: so texts keep their order."""
    name, _ = name_and_life(member)
    return address(name, _FIRST + at) if _NUMBERED.fullmatch(member) else member
