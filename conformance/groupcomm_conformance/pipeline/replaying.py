"""Doing walks on the simulated group, many a second.

Each step is done by the implementation, and the whole global state and the step itself are compared after it,
as `walks` does; nothing is left out. What makes it fast is that the values of a model are few and come again
and again: each is parsed once, and two values that were found to be identical once are not compared again.
"""

from collections.abc import Iterable, Mapping, Sequence
from types import ModuleType
from typing import Any, Final, TypeAlias

from attrs import frozen

from ..chart import diff
from ..graph import ACT
from ..mapping import MappingError, Protocol
from ..values import Fn, Value, identical, parse
from ..walks import verdict_of

__all__ = ["Replayer", "Step", "Told"]

Step: TypeAlias = tuple[int, Sequence[int]]
"""The act of a step, 0 at the start, and the values of the variables after it, by their identities."""

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
        try:
            cluster = self._protocol.cluster(self._core, self._constants, initial)
            actual = cluster.values()
        except MappingError as error:
            return Told("adapter_error", 0, str(error))
        found = self._compared(initial, Fn({name: actual[name] for name in actual if name != ACT}))
        if found is not None:
            return Told(found[0], 0, found[1])
        for number, (act, values) in enumerate(steps[1:]):
            step = self.value(act)
            assert isinstance(step, Fn)  # noqa: S101 - so it is in every state of a group's specification
            try:
                cluster.apply(step)
                actual = cluster.values()
            except MappingError as error:
                return Told("adapter_error", number, str(error))
            except Exception as error:  # noqa: BLE001 - whatever the implementation raises is a verdict on it
                return Told("crash", number, f"{type(error).__name__}: {error}")
            found = self._compared(Fn({**self.state(values), ACT: step}), actual)
            if found is not None:
                return Told(found[0], number, found[1])
        return Told("pass", len(steps) - 1)

    @staticmethod
    def _compared(expected: Fn, actual: Fn) -> tuple[str, str] | None:
        if identical(expected, actual):
            return None
        changes = diff(expected, actual)
        return verdict_of(changes), "; ".join(change.text() for change in changes[:_SHOWN])
