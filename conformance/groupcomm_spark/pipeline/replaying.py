"""Following walks, many steps a second.

It is fast because a model's steps and states are few and come again and again: each is read once
(`walks.follow`), and known by its identity from then on. Nothing is left out of the comparison.
"""

from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from attrs import define, field, frozen

from groupcomm_conformance.protocols.derive import MappingError
from groupcomm_conformance.tla.values import Value, parse
from groupcomm_conformance.walks.follow import Act, Follower, Local, Wrong

__all__ = ["Replayer", "Step", "Told"]

Step: TypeAlias = tuple[int, int]
"""The act of a step, 0 at the start, and the members' states after it, by their identities."""

_SHOWN: Final = 5


@frozen
class Told:
    """The result of a walk: `passed` steps are as specified, the next one, if any, is not and why."""

    verdict: str
    passed: int
    reason: str | None = None


@define
class Replayer:
    """Follows walks of a model. `texts` are the canonical texts of values by their identities."""

    follower: Follower
    texts: Mapping[int, str]
    _acts: dict[int, Act] = field(factory=dict, init=False)
    _locals: dict[int, Local] = field(factory=dict, init=False)

    def walk(self, steps: Sequence[Step]) -> Told:
        """Follow a walk; the first of `steps` is where it starts."""
        acts, states, follow = self._acts, self._locals, self.follower.step
        number = 0
        try:
            self.follower.begin(self._local(steps[0][1]))
            for number, (act, local) in enumerate(steps[1:]):
                wrong = follow(acts.get(act) or self._act(act), states.get(local) or self._local(local))
                if wrong is not None:
                    return Told(wrong.verdict, number, _reason(wrong))
        except MappingError as error:
            return Told("adapter_error", number, str(error))
        return Told("pass", len(steps) - 1)

    def _value(self, identity: int) -> Value:
        return parse(self.texts[identity])

    def _act(self, identity: int) -> Act:
        found = self._acts[identity] = self.follower.act(self._value(identity))
        return found

    def _local(self, identity: int) -> Local:
        found = self._locals.get(identity)
        if found is None:
            found = self._locals[identity] = self.follower.local(self._value(identity))
        return found


def _reason(wrong: Wrong) -> str:
    return wrong.reason or "; ".join(change.text() for change in wrong.differences[:_SHOWN])
