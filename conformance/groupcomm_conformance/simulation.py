"""A group in memory: cores, timers on a virtual clock, and an explicit queue of copies in flight.

Nothing happens by itself. Whoever drives the group (a scenario, the demonstration) delivers, drops and
duplicates copies, partitions and heals, crashes and restarts members, lets time pass, or has it `settle`.
What each protocol has around it, its layer below and what calls it, is its mapping's `surroundings`.

Every step is logged as a state with `local`, what is around the members, and `act`, so that `chart` can draw
it. Times are in milliseconds from 0.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import ModuleType
from typing import Any, Final

from attrs import evolve, frozen

from groupcomm.effects import CancelTimer, Multicast, PassDown, PassUp, Send, SetTimer
from groupcomm.errors import LocalProtocolError, ProtocolError
from groupcomm.view import Address
from groupcomm_conformance.mapping import Protocol
from groupcomm_conformance.protocols.derive import AnyCore
from groupcomm_conformance.tla.trace import State
from groupcomm_conformance.tla.values import Fn, Value

__all__ = [
    "Copy",
    "Delay",
    "Group",
    "Happened",
    "Impossible",
    "Story",
    "earliest",
    "latest",
    "shortened",
    "within_bounds",
]

Delay = Callable[[Address, SetTimer], int]

_BOUND: Final = 5000
_NO_EVENT: Final = Fn({"type": "none"})
_NOTHING: Final = Fn({"nothing": 0})


class Impossible(Exception):  # noqa: N818 - it says what the step is
    """A step that cannot be done here: no such copy, a member that is down, a group that does not settle."""


@frozen
class Copy:
    """One copy of a message in flight. `number` orders copies by when they were sent."""

    number: int
    sender: Address
    to: Address
    message: Any


@frozen
class Happened:
    """What a member did with an event: the outcome, its effects in order, and the error if it was refused."""

    outcome: str
    effects: tuple[Any, ...]
    error: ProtocolError | None = None


@frozen
class Story:
    """The steps of a demonstration as a chart draws them (without `hidden`), a legend, and what to see."""

    steps: tuple[State, ...]
    hidden: frozenset[str]
    legend: tuple[str, ...]
    closing: tuple[str, ...]


def shortened(state: State) -> State:
    """The state with view identifiers as `A|2`, which is how a story shows them."""
    return evolve(state, values=_shortened(state.values))


def _shortened(value: Any) -> Any:  # noqa: ANN401 - any value
    match value:
        case Fn() if set(value) == {"counter", "creator"}:
            return f"{value['creator']}|{value['counter']}"
        case Fn():
            return Fn({key: _shortened(item) for key, item in value.items()})
        case tuple():
            return tuple(map(_shortened, value))
        case _:
            return value


def earliest(_member: Address, timer: SetTimer) -> int:
    """The shortest time that a timer may take."""
    return timer.low


def latest(_member: Address, timer: SetTimer) -> int:
    """The longest time that a timer may take."""
    return timer.high


class Group:
    """The members of a group and all that is in flight between them.

    `delay` is asked how long each timer takes, in ms, between its bounds. A `silent` group keeps no log,
    which is most of what a step costs.
    """

    def __init__(
        self,
        protocol: Protocol,
        members: Sequence[Address],
        *,
        config: Any = None,  # noqa: ANN401 - of the protocol
        delay: Delay = earliest,
        core: AnyCore | ModuleType | None = None,
        silent: bool = False,
    ) -> None:
        self.protocol = protocol
        self.core: Any = core or protocol.core
        self.members = tuple(members)
        self.states: dict[Address, Any] = {member: self.core.start(member) for member in members}
        self.up = set(members)
        self.flight: list[Copy] = []
        self.blocks: tuple[frozenset[Address], ...] = ()
        self.now = 0
        self.timers: dict[tuple[Address, str], int] = {}
        self.around = protocol.surroundings(self)
        self.config = self.around.config if config is None else config
        self.log: list[State] = []
        self._delay = delay
        self._silent = silent
        self._sent = 0

    # Steps of members

    def happen(
        self,
        member: Address,
        event: Any,  # noqa: ANN401 - an event of the protocol
        *,
        action: str = "",
        given: Fn = _NOTHING,
        consumed: frozenset[Fn] = frozenset(),
    ) -> Happened:
        """An event happens at a member: its core does a step, and what that asks for is done.

        The log says what `action` it was, what it was `given`, and which packets it `consumed`.
        """
        before = self.states[member]
        try:
            after, effects = self.core.step(self.config, before, event)
        except ProtocolError as error:
            outcome = "local_error" if isinstance(error, LocalProtocolError) else "remote_error"
            happened = Happened(outcome, (), error)
        else:
            ignored = after is before and not effects
            happened = Happened("ignored" if ignored else "handled", tuple(effects))
            self.states[member] = after
            self.around.happened(member, event, happened.outcome)
        for effect in happened.effects:
            self._do(member, effect, event)
        self.note(action or type(event).__name__, member, given, event, happened, consumed=consumed)
        return happened

    def _do(self, member: Address, effect: object, cause: object) -> None:
        match effect:
            case Multicast(message):
                self.around.multicast(member, message)
            case Send(to, message):
                if to in self.up:
                    self.send(member, to, message)
            case SetTimer():
                self.timers[member, effect.name] = self.now + self._delay(member, effect)
            case CancelTimer(name):
                self.timers.pop((member, name), None)
            case PassDown(event):
                self.around.passed_down(member, event)
            case PassUp(event):
                self.around.passed_up(member, event, cause)
            case _:
                message = f"{effect!r} is no effect"
                raise TypeError(message)

    def note(
        self,
        action: str,
        member: Address,
        given: Fn = _NOTHING,
        event: object = None,
        happened: Happened | None = None,
        *,
        consumed: frozenset[Fn] = frozenset(),
    ) -> None:
        """Log a step; one of the environment has no `event`."""
        if self._silent:
            return
        to_spec = self.protocol.codec.to_spec
        act = Fn(
            {
                "action": action,
                "member": member,
                "given": given,
                "event": _NO_EVENT if event is None else to_spec(event),
                "consumed": consumed,
                "outcome": "none" if happened is None else happened.outcome,
                "effects": () if happened is None else to_spec(happened.effects),
            }
        )
        self.log.append(State(len(self.log) + 1, action, Fn({**self.values(), "act": act})))

    def values(self) -> dict[str, Value]:
        """The states, what is around the members, and the time, as TLA+ values."""
        local = self.protocol.codec.to_spec(self.states)
        return {"local": local, **self.around.values(), "time": self.now}

    # Copies

    def send(self, sender: Address, to: Address, message: object) -> None:
        """Put a copy in flight."""
        self._sent += 1
        self.flight.append(Copy(self._sent, sender, to, message))

    def packet(self, sender: Address, to: Address, message: object) -> frozenset[Fn]:
        """What a step consumes that takes a message off the network, as the specification has it."""
        return frozenset({Fn({"sender": sender, "to": to, "message": self.protocol.codec.to_spec(message)})})

    def name_of(self, message: object) -> str:
        """The name of a message's type: `STABLE`."""
        return next(name for name, cls in self.around.messages.items() if type(message) is cls)

    def copy(self, name: str, sender: Address, to: Address, nth: int = 1) -> Copy:
        """The `nth` oldest copy in flight of a message of that type. Impossible if there are not as many."""
        found = [
            copy
            for copy in self.flight
            if (copy.sender, copy.to) == (sender, to) and self.name_of(copy.message) == name
        ]
        if len(found) < nth:
            between = (copy for copy in self.flight if (copy.sender, copy.to) == (sender, to))
            there = ", ".join(sorted({self.name_of(copy.message) for copy in between})) or "nothing"
            which = "" if nth == 1 else f" number {nth}"
            raise Impossible(f"no {name}{which} is in flight from {sender} to {to}, only {there}")
        return found[nth - 1]

    def deliver(self, copy: Copy) -> Happened:
        """A copy arrives."""
        if not self._connected(copy):
            raise Impossible(f"a partition lies between {copy.sender} and {copy.to}")
        if not self.around.ready(copy.to, copy.sender, copy.message):
            raise Impossible(f"{copy.to} cannot take {self.name_of(copy.message)} from {copy.sender} yet")
        self.flight.remove(copy)
        return self.around.arrived(copy.to, copy.sender, copy.message)

    def drop(self, copy: Copy) -> None:
        """A copy is lost, unless the layers below lose none such."""
        self._allow("drop", copy)
        self.flight.remove(copy)
        self.note("Drop", copy.to, Fn({"from": copy.sender, "type": self.name_of(copy.message)}))

    def duplicate(self, copy: Copy) -> None:
        """A copy is in flight once more, unless the layers below double none such; it is the youngest now."""
        self._allow("duplicate", copy)
        self.send(copy.sender, copy.to, copy.message)

    def _allow(self, fault: str, copy: Copy) -> None:
        if why := self.around.refuses(fault, copy):
            raise Impossible(why)

    def _connected(self, copy: Copy) -> bool:
        return not self.blocks or any({copy.sender, copy.to} <= block for block in self.blocks)

    # Faults

    def partition(self, blocks: Iterable[Iterable[Address]]) -> None:
        """Copies between blocks wait until it heals; who is in no block is alone."""
        named = tuple(map(frozenset, blocks))
        alone = (frozenset({m}) for m in self.members if not any(m in block for block in named))
        self.blocks = (*named, *alone)
        self.note("Partition", "", Fn({"blocks": tuple(self.blocks)}))

    def heal(self) -> None:
        """Everybody reaches everybody again."""
        self.blocks = ()
        self.note("Heal", "")

    def crash(self, member: Address) -> None:
        """A member stops: its timers and the copies on their way to it are gone."""
        self.require_up(member)
        self.up.remove(member)
        self.timers = {key: due for key, due in self.timers.items() if key[0] != member}
        self.flight = [copy for copy in self.flight if copy.to != member]
        self.around.crashed(member)
        self.note("Crash", member)

    def restart(self, member: Address) -> None:
        """A crashed member starts again, without a view and without memory."""
        if member in self.up:
            raise Impossible(f"{member} has not crashed")
        self.up.add(member)
        self.renew(member)
        self.note("Restart", member)

    def renew(self, member: Address) -> None:
        """A member is a new incarnation."""
        self.states[member] = self.core.start(member)
        self.timers = {key: due for key, due in self.timers.items() if key[0] != member}
        self.around.renewed(member)

    def require_up(self, member: Address) -> None:
        """Impossible if the member has crashed."""
        if member not in self.up:
            raise Impossible(f"{member} has crashed")

    # Time

    def fire(self, member: Address, name: str) -> Happened:
        """A timer fires."""
        del self.timers[member, name]
        return self.happen(member, self.around.timer(name))

    def _next_timer(self, within: Iterable[Address]) -> tuple[int, Address, str] | None:
        order = {member: place for place, member in enumerate(self.members)}
        wanted = set(within)
        due = [(at, order[m], m, name) for (m, name), at in self.timers.items() if m in wanted]
        if not due:
            return None
        at, _, member, name = min(due)
        return at, member, name

    def advance(self, ms: int) -> None:
        """Let time pass: the timers that are due fire, in order; no copy is delivered."""
        until = self.now + ms
        for _ in range(_BOUND):
            following = self._next_timer(self.up)
            if following is None or following[0] > until:
                break
            at, member, name = following
            self.now = max(self.now, at)
            self.fire(member, name)
        else:
            raise Impossible(f"{_BOUND} timers fired in {ms} ms")
        self.now = until

    def settle(self, members: Iterable[Address]) -> None:
        """Deliver what is in flight between these members, fire their next timer, and so on in turn.

        Ends where nothing new can come: the same state, with the same timers, comes back.
        """
        within = [member for member in self.members if member in set(members) and member in self.up]
        seen: set[Value] = set()
        for _ in range(_BOUND):
            self._drain(within)
            mark = self._mark(within)
            following = self._next_timer(within)
            if mark in seen or following is None:
                return
            seen.add(mark)
            at, member, name = following
            self.now = max(self.now, at)
            self.fire(member, name)
        raise Impossible(f"{', '.join(within)} do not settle within {_BOUND} timers")

    def _drain(self, within: Sequence[Address]) -> None:
        for _ in range(_BOUND):
            copy = next((copy for copy in self.flight if self._deliverable(copy, within)), None)
            if copy is None:
                return
            self.deliver(copy)
        raise Impossible(f"{', '.join(within)} do not settle within {_BOUND} deliveries")

    def _deliverable(self, copy: Copy, within: Sequence[Address]) -> bool:
        return (
            copy.sender in within
            and copy.to in within
            and self._connected(copy)
            and self.around.ready(copy.to, copy.sender, copy.message)
        )

    def _mark(self, within: Sequence[Address]) -> Value:
        due = frozenset(
            (member, name, max(0, at - self.now))
            for (member, name), at in self.timers.items()
            if member in within
        )
        return Fn({**self.values(), "time": 0, "timers": due})


def within_bounds(delays: Mapping[Address, int]) -> Delay:
    """Each member's timers take the time given for it, as far as their bounds allow; others the shortest."""

    def delay(member: Address, timer: SetTimer) -> int:
        return min(max(delays.get(member, timer.low), timer.low), timer.high)

    return delay
