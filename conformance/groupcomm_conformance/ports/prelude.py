"""Preludes: the events that lead a member from its start to the state in which a walk begins.

A stateful adapter has no states that can be set. Walks of models and scenarios begin in the middle: their
members have a view. A prelude is a shortest sequence of events that leads there from `start`. Events are made
of the values in the state that is to be reached, and the core says where each leads. Where no short sequence
is found there is no prelude, and the walk is not for a stateful adapter.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice, product
from typing import Any, Final

import attrs
from attrs import define, field

from groupcomm.errors import ProtocolError
from groupcomm.per_member import PerMember
from groupcomm.shapes import Anything, Atom, Choice, Fixed, Function, Nothing, Record, Sequence, Shape, Subset, shape_of
from groupcomm_conformance.protocols.derive import AnyCore, Protocol
from groupcomm_conformance.tla.values import Fn, Value, show

_LONGEST: Final = 3
_STEPS: Final = 20_000
"""Steps of the core in one search."""

_OF_A_FIELD: Final = 8
_OF_A_RECORD: Final = 200


@define
class Preludes:
    """The preludes of a protocol whose members are configured in one way; each is searched once."""

    protocol: Protocol
    config: Any
    _core: AnyCore = field(init=False)
    _known: dict[str, tuple[Fn, ...] | None] = field(factory=dict, init=False)

    def __attrs_post_init__(self) -> None:
        self._core = self.protocol.core

    def of(self, member: str, state: Value) -> tuple[Fn, ...] | None:
        """Give the events that lead from the start of a member to a state; None where none are found."""
        key = show(state)  # with the member
        if key not in self._known:
            self._known[key] = self._search(member, self.protocol.codec.from_spec(state, self.protocol.state))
        return self._known[key]

    def _search(self, member: str, target: object) -> tuple[Fn, ...] | None:
        begun = self._core.start(member)
        if begun == target:
            return ()
        events = [*_Events(self.protocol, target).all()]
        reached: list[tuple[Any, tuple[Any, ...]]] = [(begun, ())]
        seen, steps = {begun}, 0
        for _ in range(_LONGEST):
            further: list[tuple[Any, tuple[Any, ...]]] = []
            for (state, way), event in product(reached, events):
                steps += 1
                if steps > _STEPS:
                    return None
                try:
                    after, _ = self._core.step(self.config, state, event)
                except ProtocolError:
                    continue
                if after == target:
                    return tuple(map(self._written, (*way, event)))
                if after not in seen:
                    seen.add(after)
                    further.append((after, (*way, event)))
            reached = further
        return None

    def _written(self, event: object) -> Fn:
        value = self.protocol.codec.to_spec(event)
        assert isinstance(value, Fn)  # noqa: S101 - an event is a record
        return value


class _Events:
    """Events that consist of the values in a state."""

    def __init__(self, protocol: Protocol, state: object) -> None:
        self._kinds = shape_of(protocol.events)
        self._by_name: dict[tuple[str, Shape], dict[Any, None]] = {}
        self._by_shape: dict[Shape, dict[Any, None]] = {}
        self._numbers: dict[tuple[tuple[str, int], ...], None] = {}  # what members have a number of
        self._collect("", shape_of(protocol.state), state)

    def _collect(self, name: str, shape: Shape, value: Any) -> None:  # noqa: ANN401 - of that shape
        self._by_name.setdefault((name, shape), {})[value] = None
        self._by_shape.setdefault(shape, {})[value] = None
        parts: Iterable[tuple[str, Shape, Any]] = ()
        match shape:
            case Record():
                parts = [(of, each, getattr(value, of)) for of, each in shape.fields.items()]
            case Sequence(item) | Subset(item):
                parts = [(name, item, each) for each in value]
            case Fixed(items):
                parts = [(name, of, each) for of, each in zip(items, value, strict=True)]
            case Function(_, key, item):
                pairs = [*value.items()] if isinstance(value, Mapping | PerMember) else []
                if pairs and item == Atom(int):
                    self._numbers[tuple(pairs)] = None
                parts = [part for name, each in pairs for part in (("member", key, name), ("", item, each))]
            case Choice(options) if value is not None and attrs.has(type(value)):
                parts = [(name, of, value) for of in options if getattr(of, "cls", None) is type(value)]
        for part in parts:
            self._collect(*part)

    def all(self) -> Iterator[Any]:
        """Give the events, those of few fields first."""
        yield from self._made("", self._kinds)

    def _made(self, name: str, shape: Shape) -> Iterator[Any]:
        known = [*self._by_name.get((name, shape), ())] or [*self._by_shape.get(shape, ())]
        if known and not isinstance(shape, Choice):
            yield from known
            return
        match shape:
            case Choice(options):
                for option in options:
                    yield from islice(self._made(name, option), _OF_A_RECORD)
            case Record(cls):
                fields = shape.fields
                values = [islice(self._made(of, each), _OF_A_FIELD) for of, each in fields.items()]
                for chosen in islice(product(*values), _OF_A_RECORD):
                    yield cls(**dict(zip(fields, chosen, strict=True)))
            case Function(cls, _, item):
                for numbers in [*self._numbers]:
                    yield cls(tuple((member, _filled(item, number)) for member, number in numbers))
                yield cls(())
            case Sequence():
                yield ()
            case Fixed(items):
                yield from product(*(islice(self._made(name, each), _OF_A_FIELD) for each in items))
            case Subset():
                yield frozenset()
            case Atom(cls) if cls is bool:
                yield from (False, True)
            case Atom(cls) if cls is int:
                yield from (0, 1)
            case Atom(cls):
                yield cls("")
            case Nothing():
                yield None
            case Anything():
                yield 1


def _filled(shape: Shape, number: int) -> Any:  # noqa: ANN401 - of that shape
    """Give a value in which every number is `number`."""
    match shape:
        case Record(cls):
            return cls(**{name: _filled(each, number) for name, each in shape.fields.items()})
        case Atom(cls) if cls is int:
            return number
        case Fixed(items):
            return tuple(_filled(each, number) for each in items)
    return None
