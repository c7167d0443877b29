"""Walks of the specification, followed by the implementation.

A walk is a sequence of states, each with the `act` that led to it. A `Follower` holds what the members
remember, each its own state of the implementation; what is around them is what the walk says it is. It does
each step that belongs to a member with the implementation, and compares outcome, effects and the states of
all members. That the rest of the group's state changes by these effects alone is what TLC checks
(`OnlyByEffects`).

A difference is a `Divergence`: a verdict, the differences, and the walk as a sequence chart. Where the walk
comes from a graph, `shortest` finds the shortest walk on which the same step goes wrong.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias

from attrs import define, evolve, field, frozen

from groupcomm.errors import LocalProtocolError, ProtocolError
from groupcomm.shapes import Record, Shape, shape_of
from groupcomm_conformance.protocols.codec import MappingError, same
from groupcomm_conformance.protocols.derive import AnyCore, Protocol
from groupcomm_conformance.tla.chart import chart
from groupcomm_conformance.tla.readable import Change, diff
from groupcomm_conformance.tla.trace import State
from groupcomm_conformance.tla.values import Fn, Value, identical, show

from .graph import ACT, Graph

LOCAL: Final = "local"
"""The variable of a group's specification that has the members' states."""

Verdict: TypeAlias = Literal["wrong_outcome", "wrong_effects", "wrong_state", "crash", "adapter_error"]

_SHOWN: Final = 20
_UNSEEN: Final = object()


# Steps


@define
class _Effects:
    """Effects that the specification has, and an implementation's that were found to be these."""

    value: Value
    found: object = _UNSEEN


@frozen(eq=False)
class Act:
    """A step: `value` as the specification has it, and what is needed of it.

    `event` is None where no member takes the step. `from_start`: the member begins anew with this step; None
    where the specification does not say.
    """

    value: Fn
    member: str
    event: object
    outcome: str
    effects: _Effects
    from_start: bool | None


@frozen(eq=False)
class Local:
    """The members' states: `value` as the specification has them, and as the implementation has them."""

    value: Value
    states: Mapping[str, object]


@frozen
class Wrong:
    """The errors of a step: the differences are from the specification to the implementation."""

    verdict: Verdict
    differences: tuple[Change, ...] = ()
    reason: str = ""


Done: TypeAlias = tuple[str, object, object]
"""The implementation's step: outcome, next state, effects."""


class Follower:
    """The members of a group, one walk after the other. MappingError if a model is not the implementation's.

    `act` and `local` read what a walk consists of; what comes again need not be read again. Values that are
    equal are one object throughout: a step is compared by identity where possible.
    """

    def __init__(self, protocol: Protocol, constants: Mapping[str, Value], core: AnyCore | None = None) -> None:
        """Take `core` instead of the protocol's own where it is given."""
        self._protocol = protocol
        self._core = core or protocol.core
        self._step: Callable[[Any, Any, Any], Any] = self._core.step
        self._config = protocol.config(constants)
        self._held: Mapping[str, object] = {}
        state = shape_of(protocol.state)
        assert isinstance(state, Record)  # noqa: S101 - so it is of every protocol
        self._fields = state.fields
        self._events: dict[str, object] = {}
        self._effects: dict[str, _Effects] = {}
        self._states: dict[str, object] = {}
        self._parts: dict[tuple[str, str], object] = {}

    # Reading

    def act(self, value: Value) -> Act:
        """Read a step. MappingError for what is none."""
        if not isinstance(value, Fn) or not {"member", "event", "outcome", "effects"} <= {*value.keys()}:
            raise MappingError(f"a step has member, event, outcome and effects; this has not: {value!r:.300}")
        outcome, start, text = str(value["outcome"]), value.get("from_start"), show(value["effects"])
        event = None if outcome == "none" else self._event(value["event"])
        effects = self._effects.setdefault(text, _Effects(value["effects"]))
        return Act(value, str(value["member"]), event, outcome, effects, start)

    def _event(self, value: Value) -> object:
        text = show(value)
        if text not in self._events:
            self._events[text] = self._protocol.codec.from_spec(value, self._protocol.events)
        return self._events[text]

    def local(self, value: Value) -> Local:
        """Read the members' states. MappingError for what is none."""
        if not isinstance(value, Fn):
            raise MappingError(f"the members' states are a function, not {value!r:.300}")
        return Local(value, {str(member): self._state(state) for member, state in value.items()})

    def _state(self, value: Value) -> object:
        text = show(value)
        if text not in self._states:
            if not isinstance(value, Fn) or {*value.keys()} != {*self._fields}:
                fields = sorted(self._fields)
                raise MappingError(f"a state has the fields {fields}, not those of {value!r:.300}")
            parts = {name: self._part(name, value[name], shape) for name, shape in self._fields.items()}
            self._states[text] = self._protocol.state(**parts)
        return self._states[text]

    def _part(self, name: str, value: Value, shape: Shape) -> object:
        key = name, show(value)
        if key not in self._parts:
            self._parts[key] = self._protocol.codec.decode(value, shape)
        return self._parts[key]

    # Walking

    def begin(self, local: Local) -> None:
        """Begin a walk: the members have these states."""
        self._held = local.states

    def step(self, act: Act, local: Local) -> Wrong | None:
        """Do a step; None if the implementation does it as the specification has it."""
        try:
            if act.event is None:
                return self._environment(act, local)
            done = self._do(act, fresh=act.from_start is True)
            right = self._right(done, act, local)
            if not right and act.from_start is None:
                again = self._do(act, fresh=True)
                right = self._right(again, act, local)
                done = again if right else done
            if not right:
                return self._wrong(done, act, local)
            self._held = local.states
        except MappingError as error:
            return Wrong("adapter_error", reason=str(error))
        except Exception as error:  # noqa: BLE001 - whatever the implementation raises is a verdict on it
            return Wrong("crash", reason=f"{type(error).__name__}: {error}")
        return None

    def _do(self, act: Act, *, fresh: bool) -> Done:
        """Have the member do its step, if `fresh` from its start."""
        before = self._core.start(act.member) if fresh else self._held.get(act.member)
        if before is None:
            raise MappingError(f"{act.member!r} is no member: {', '.join(self._held)}")
        try:
            after, effects = self._step(self._config, before, act.event)
        except ProtocolError as error:
            return "local_error" if isinstance(error, LocalProtocolError) else "remote_error", before, ()
        return "ignored" if after is before and not effects else "handled", after, effects

    def _right(self, done: Done, act: Act, local: Local) -> bool:
        """Say whether that is what the specification has, for this member and for the others."""
        outcome, after, effects = done
        wanted = act.effects
        if outcome != act.outcome or not (effects is wanted.found or self._alike(effects, wanted)):
            return False
        held, states = self._held, local.states
        state = states.get(act.member)
        if len(held) != len(states) or not (after is state or same(after, state)):
            return False
        # The others' are not new: where they are equal they are the same objects.
        return all(held[member] is other or member == act.member for member, other in states.items())

    def _alike(self, effects: object, wanted: _Effects) -> bool:
        """Say whether these effects are those; once they were, they are compared with these objects."""
        if wanted.found is not _UNSEEN:
            return same(effects, wanted.found)
        if type(effects) is not tuple or not identical(self._protocol.codec.to_spec(effects), wanted.value):
            return False
        wanted.found = effects
        return True

    def _environment(self, act: Act, local: Local) -> Wrong | None:
        """No member does anything; one may begin anew."""
        for member, state in local.states.items():
            if self._held.get(member) is not state:
                begun = self._core.start(member)
                if not same(begun, state):
                    return self._wrong(("none", begun, ()), evolve(act, member=member), local)
        self._held = local.states
        return None

    def _wrong(self, done: Done, act: Act, local: Local) -> Wrong:
        """The error, on the side of the specification."""
        outcome, after, effects = done
        to_spec = self._protocol.codec.to_spec
        states = {**self._held, act.member: after}
        ours = {"outcome": outcome, "effects": to_spec(effects)}
        expected = Fn({ACT: act.value, LOCAL: local.value})
        actual = Fn({ACT: act.value.replace(**ours), LOCAL: to_spec(states)})
        differences = tuple(diff(expected, actual))
        if identical(expected, actual):
            reason = f"equal to what is expected, but not of its classes: {after}, {effects}"
            return Wrong("adapter_error", reason=reason)
        return Wrong(_verdict(differences), differences)


def _verdict(differences: Iterable[Change]) -> Verdict:
    """Describe the step between two states by their differences, `act` among their variables."""
    fields = {change.path.removeprefix(f"{ACT}.").partition("[")[0] for change in differences}
    if "outcome" in fields:
        return "wrong_outcome"
    return "wrong_effects" if any(name.startswith("effects") for name in fields) else "wrong_state"


# Walks


@frozen
class Divergence:
    """The step of a walk at which the implementation leaves the specification.

    `walk` are the specification's states up to the state that should have been reached. `note` says how the
    way there matters.
    """

    wrong: Wrong
    walk: tuple[State, ...]
    note: str = ""

    @property
    def verdict(self) -> Verdict:
        """The errors."""
        return self.wrong.verdict

    def text(self) -> str:
        """The verdict, the walk as a chart, and the differences."""
        last, differences = self.walk[-1], self.wrong.differences
        head = f"{self.verdict}: {last.action} at {_member(last)}, step {last.number} of this walk"
        lines = [f"{head}{f' ({self.note})' if self.note else ''}", "", *chart(self.walk), ""]
        if self.wrong.reason:
            lines.append(self.wrong.reason)
        if differences:
            lines.append("what the specification has -> what the implementation has:")
            lines += [f"  {change.text()}" for change in differences[:_SHOWN]]
        if len(differences) > _SHOWN:
            lines.append(f"  and {len(differences) - _SHOWN} more")
        return "\n".join(lines)


def _member(state: State) -> str:
    act = state.values[ACT]
    return str(act["member"]) or "the group" if isinstance(act, Fn) else "the group"


@define
class Walk:
    """A walk in the making: the specification's states so far, and the members that follow."""

    follower: Follower
    states: list[State] = field(factory=list, init=False)

    def begin(self, initial: Fn) -> Divergence | None:
        """Begin at an initial state."""
        self.states = [State(1, "Init", initial)]
        try:
            self.follower.begin(self.follower.local(initial[LOCAL]))
        except MappingError as error:
            return self._divergence(Wrong("adapter_error", reason=str(error)))
        return None

    def step(self, state: Fn) -> Divergence | None:
        """Do the step that led to `state`."""
        act = state[ACT]
        assert isinstance(act, Fn)  # noqa: S101 - so it is in every state of a group's specification
        self.states.append(State(len(self.states) + 1, str(act["action"]), state))
        try:
            wrong = self.follower.step(self.follower.act(act), self.follower.local(state[LOCAL]))
        except MappingError as error:
            wrong = Wrong("adapter_error", reason=str(error))
        return self._divergence(wrong)

    def _divergence(self, wrong: Wrong | None) -> Divergence | None:
        return None if wrong is None else Divergence(wrong, tuple(self.states))


def replay(follower: Follower, states: Sequence[Fn]) -> Divergence | None:
    """Follow a walk from its initial state; None if the implementation does all of it as specified."""
    walk = Walk(follower)
    found = walk.begin(states[0])
    for state in states[1:]:
        if found is not None:
            break
        found = walk.step(state)
    return found


def follow(follower: Follower, graph: Graph, nodes: Sequence[int]) -> Divergence | None:
    """Follow a walk along a graph; what goes wrong is reported on a shortest walk."""
    found = replay(follower, [graph.values(node) for node in nodes])
    if found is None:
        return None
    return shortest(follower, graph, nodes[: len(found.walk)], found)


def shortest(follower: Follower, graph: Graph, nodes: Sequence[int], found: Divergence) -> Divergence:
    """The shortest walk, breadth first, on which the step that failed at the end of `nodes` fails.

    If the shortest walk to that step's source does not make it fail, the implementation remembers more than
    its state says: then `found`, with a note.
    """
    if len(nodes) == 1:
        return found
    way = (*graph.walk_to(nodes[-2]), nodes[-1])
    again = replay(follower, [graph.values(node) for node in way])
    if again is None:
        note = f"a shorter way there of {len(way)} states does not fail: there is hidden state"
        return evolve(found, note=note)
    return evolve(again, note="a shortest one")
