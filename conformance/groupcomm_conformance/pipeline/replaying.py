"""Doing walks on the simulated group, many a second.

Each step is done by the implementation, and the whole global state and the step itself are compared after it,
as `walks` does; nothing is left out. What makes it fast is that the values of a model are few and come again
and again: each is parsed once, and two values that were found to be identical once are not compared again.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import ModuleType
from typing import Any, Final, TypeAlias

from attrs import frozen

from groupcomm_conformance.mapping import MappingError, Protocol
from groupcomm_conformance.mapping.codes import Codes
from groupcomm_conformance.tla.chart import diff
from groupcomm_conformance.tla.values import Fn, Value, parse
from groupcomm_conformance.walks.graph import ACT
from groupcomm_conformance.walks.replay import verdict_of

__all__ = ["Replayer", "Step", "Told"]

Step: TypeAlias = tuple[int, Sequence[int]]
"""The act of a step, 0 at the start, and the values of the variables after it, by their identities."""

Layout: TypeAlias = tuple[tuple[str, tuple[Any, ...] | None], ...]
"""Variables, and of those that are mappings the keys."""

NOWHERE: Final = -1
"""No number: what a mapping with other keys has."""

_SHOWN: Final = 5


@frozen
class Told:
    """What became of a walk: `passed` steps are as specified, the next one, if any, is not and why."""

    verdict: str
    passed: int
    reason: str | None = None


class Replayer:
    """Does walks of one model. `texts` are the canonical texts of values by their identities.

    `variables` are the specification's without `act`, in the order in which steps have their values. `core`
    replaces the protocol's own.
    """

    def __init__(
        self,
        protocol: Protocol,
        constants: Mapping[str, Value],
        variables: Sequence[str],
        texts: Mapping[int, str],
        core: ModuleType | None = None,
    ) -> None:
        self._protocol = protocol
        self._constants = constants
        self._variables = tuple(variables)
        self._texts = texts
        self._core: Any = core or protocol.core
        self._values: dict[int, Value] = {}
        self._codes = Codes(protocol.codec)
        self._numbers: dict[tuple[int, tuple[Any, ...] | None], tuple[int, ...]] = {}
        self._acts: dict[int, tuple[Fn, int]] = {}
        self._width = len(self._variables) + 1

    def value(self, identity: int) -> Value:
        """The value with this identity, parsed once."""
        if identity not in self._values:
            self._values[identity] = parse(self._texts[identity])
        return self._values[identity]

    def state(self, values: Iterable[int]) -> Fn:
        """The state with these values, without `act`."""
        return Fn({name: self.value(item) for name, item in zip(self._variables, values, strict=True)})

    def walk(self, steps: Sequence[Step]) -> Told:
        """Do a walk; the first of `steps` is where it starts."""
        initial = self.state(steps[0][1])
        number = 0
        try:
            cluster = self._protocol.cluster(self._core, self._constants, initial)
        except MappingError as error:
            return Told("adapter_error", 0, str(error))
        # A cluster without parts is compared by its values, which takes longer.
        parts: Callable[[], Mapping[Any, object]] = getattr(cluster, "parts", cluster.values)
        apply = cluster.apply
        of, of_step = self._codes.of, self._codes.of_step
        try:
            found = parts()
            layout = self._layout(found)
            cells = _cells(found, layout)
            codes = [*map(of, cells)]
            if codes != self._expected(layout, steps[0][1]):
                return self._told(0, initial, Fn({k: v for k, v in cluster.values().items() if k != ACT}))
            for number, (act, values) in enumerate(steps[1:]):
                step, code = self._step(act)
                try:
                    apply(step)
                except MappingError:
                    raise
                except Exception as error:  # noqa: BLE001 - whatever the implementation raises is a verdict
                    return Told("crash", number, f"{type(error).__name__}: {error}")
                found = parts()
                before, cells = cells, _cells(found, layout)
                if len(cells) != len(codes):
                    layout = self._layout(found)
                    cells = _cells(found, layout)
                    codes = [*map(of, cells)]
                else:
                    for place, cell in enumerate(cells):
                        if cell is not before[place]:
                            codes[place] = of(cell)
                if (
                    codes != self._expected(layout, values)
                    or of_step(found[ACT]) != code  # type: ignore[arg-type]
                    or len(found) != self._width
                ):
                    return self._told(number, Fn({**self.state(values), ACT: step}), cluster.values())
        except MappingError as error:
            return Told("adapter_error", number, str(error))
        return Told("pass", len(steps) - 1)

    def _layout(self, found: Mapping[Any, object]) -> Layout:
        """What the cells of a state are: variables, and of those that are mappings the keys."""
        parts = ((name, found[name]) for name in self._variables)
        return tuple((name, (*part,) if type(part) is dict else None) for name, part in parts)

    def _step(self, act: int) -> tuple[Fn, int]:
        known = self._acts.get(act)
        if known is None:
            step = self.value(act)
            assert isinstance(step, Fn)  # noqa: S101 - so it is in every state of a group's specification
            known = self._acts[act] = step, self._codes.of(step)
        return known

    def _expected(self, layout: Layout, values: Sequence[int]) -> list[int]:
        """The numbers that the cells of a state must have."""
        numbers = self._numbers
        found: list[int] = []
        for (_, keys), value in zip(layout, values, strict=True):
            known = numbers.get((value, keys))
            if known is None:
                known = numbers[value, keys] = self._split(self.value(value), keys)
            found += known
        return found

    def _split(self, value: Value, keys: tuple[Any, ...] | None) -> tuple[int, ...]:
        of = self._codes.of
        if keys is None:
            return (of(value),)
        if isinstance(value, Fn) and value.keys() == {*keys} and len(value) == len(keys):
            return tuple(of(value[key]) for key in keys)
        return () if not keys and value == () else (NOWHERE,)

    @staticmethod
    def _told(number: int, expected: Fn, actual: Fn) -> Told:
        changes = diff(expected, actual)
        return Told(verdict_of(changes), number, "; ".join(change.text() for change in changes[:_SHOWN]))


def _cells(found: Mapping[Any, object], layout: Layout) -> list[object]:
    """What a state holds: a cell for each key of a mapping, one for any other variable.

    Empty where a mapping has other keys than it had.
    """
    cells: list[object] = []
    for name, keys in layout:
        part = found[name]
        if keys is None:
            cells.append(part)
        elif type(part) is dict and (*part,) == keys:
            cells += part.values()
        else:
            return []
    return cells
