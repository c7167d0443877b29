"""Charts of schedules: what happened at which member, as counterexamples of models are drawn.

A schedule is run again and each event of it becomes a step of a behaviour, with an `act` that says what came
to a member's stack and what its effects were; `tla.chart` draws the lanes. What changes from step to step is
what members have delivered, and which views they have.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import attrs
from attrs import frozen

from groupcomm.abstract.membership import Process
from groupcomm.digest import Vector
from groupcomm.effects import ALL, PassUp
from groupcomm.events import Deliver, ViewInstalled
from groupcomm.stack import Arrived, Called, Fired, Raised, Tagged
from groupcomm.view import Address, View, ViewId
from groupcomm_conformance.tla.chart import WIDTH, chart
from groupcomm_conformance.tla.values import Fn, Value, function

from .group import Event, Group, Told
from .running import Setup, replay

__all__ = ["Step", "drawn", "folded", "steps_of"]

_LONGEST_ROUND: Final = 8  # steps
_OFTEN: Final = 3  # times
_NO_EVENT: Final = Fn({"type": "none"})
_ENVIRONMENT: Final = Fn(
    {
        "event": _NO_EVENT,
        "outcome": "none",
        "effects": (),
        "given": Fn({"nothing": 0}),
        "consumed": frozenset(),
    }
)


@frozen
class Step:
    """A step of a behaviour, for `tla.chart`."""

    number: int
    action: str
    values: Fn


def drawn(
    setup: Setup, seed: int, schedule: Iterable[Event], *, width: int = WIDTH, unicode: bool = False
) -> list[str]:
    """The chart of a schedule, one item per line."""
    return chart(folded(steps_of(setup, seed, schedule)), width=width, unicode=unicode)


def steps_of(setup: Setup, seed: int, schedule: Iterable[Event]) -> list[Step]:
    """A schedule as a behaviour. What it ends with is its violation, if it has one."""
    recorder = _Recorder()
    replay(setup, seed, schedule, recorder)
    return recorder.steps()


def folded(steps: Sequence[Step]) -> list[Step]:
    """A behaviour in which what is done over and over is there once: who waits asks again for ever."""
    found: list[Step] = []
    at = 0
    while at < len(steps):
        size, times = _round_at(steps, at)
        found += steps[at : at + size]
        at += size * times
        if times > 1:
            same = Fn({**_ENVIRONMENT, "action": f"... {times - 1} times more", "member": ""})
            found.append(
                Step(steps[at - 1].number, str(same["action"]), Fn({**found[-1].values, "act": same}))
            )
    return found


def _round_at(steps: Sequence[Step], at: int) -> tuple[int, int]:
    """How many steps from here on are a round, and how often it comes; (1, 1) where it is not often."""
    for size in range(1, _LONGEST_ROUND + 1):
        first = [(step.action, step.values) for step in steps[at : at + size]]
        times = 1
        while first == [
            (step.action, step.values) for step in steps[at + times * size : at + (times + 1) * size]
        ]:
            times += 1
        if times >= _OFTEN:
            return size, times
    return 1, 1


class _Recorder:
    """Collects what happens, and what members have delivered."""

    def __init__(self) -> None:
        self._acts: list[tuple[str, Fn, Fn]] = []
        self._names: dict[str, None] = {}
        self._delivered: dict[str, tuple[Value, ...]] = {}
        self._views: dict[str, str] = {}

    def __call__(self, group: Group, event: Event, told: Told | None) -> None:
        """An event, and then what it did at each stack."""
        if told is None:
            self._environment(event)
            return
        effects = [effect for effect in told.effects if not _unheard(effect)]
        if not effects and told.error is None and _is_of_no_interest(told.event):
            return
        name = told.process.name
        self._names[name] = None
        if isinstance(told.event, Raised) and isinstance(told.event.event, ViewInstalled):
            self._views[name] = _brief(told.event.event.view)
        for effect in told.effects:
            payload = getattr(getattr(effect, "event", None), "payload", None)
            if isinstance(payload, tuple):
                self._delivered[name] = (*self._delivered.get(name, ()), _value(payload))
        self._add(
            Fn(
                {
                    "action": str(event[0]),
                    "member": name,
                    "event": _came(group, told),
                    "outcome": "handled" if told.error is None else "refused",
                    "effects": tuple(map(_value, effects)),
                }
            )
        )

    def _environment(self, event: Event) -> None:
        match event:
            case ("start" | "crash" | "leave" as kind, str(name)):
                self._add(Fn({"action": kind.capitalize(), "member": name}))
            case ("lose", str(name), str(sender), int(seqno)):
                given = Fn({"of": sender, "seqno": seqno})
                self._add(Fn({"action": "Lose", "member": name, "given": given}))
            case ("drop" | "miss", str(sender), str(name)):
                self._add(Fn({"action": "Lose", "member": name, "given": Fn({"unicast_of": sender})}))
            case ("doubt", str(name), str(other)):
                self._add(Fn({"action": "Suspect", "member": name, "given": Fn({"suspect": other})}))
            case ("hush", str(sender), str(name), _):
                self._add(Fn({"action": "Lose", "member": name, "given": Fn({"unicast_of": sender})}))
            case ("decide", str(name), int(counter), tuple(members), _):
                given = Fn({"view": _brief(View(ViewId(counter, name), tuple(members)))})
                self._add(Fn({"action": "Decide", "member": name, "given": given}))
            case ("partition", tuple(side)):
                self._add(Fn({"action": f"Partition: {', '.join(side)} from the rest", "member": ""}))
            case ("heal" | "quiesce" as kind,):
                self._add(Fn({"action": kind.capitalize(), "member": ""}))
            case _:
                pass  # what it does is told next

    def _add(self, act: Fn) -> None:
        """A step, with what is not said of it as an event of the environment has it."""
        name = str(act["member"])
        if name:
            self._names[name] = None
        state = Fn(
            {
                each: Fn({"view": self._views.get(each, "none"), "delivered": self._delivered.get(each, ())})
                for each in self._names
            },
        )
        self._acts.append((str(act["action"]), Fn({**_ENVIRONMENT, **act}), state))

    def steps(self) -> list[Step]:
        """The behaviour: all processes have lanes from the beginning."""
        nothing = Fn({"view": "none", "delivered": ()})
        found = [Step(1, "Init", Fn({"local": Fn(dict.fromkeys(self._names, nothing))}))]
        for number, (action, act, state) in enumerate(self._acts, start=2):
            local = Fn({name: state.get(name, nothing) for name in self._names})
            found.append(Step(number, action, Fn({"local": local, "act": act})))
        return found


def _is_of_no_interest(event: object) -> bool:
    """What a stack is told, and what then is nothing to be seen of."""
    return isinstance(event, Raised) and not isinstance(event.event, ViewInstalled)


def _unheard(effect: object) -> bool:
    """What passes through the stack and out of it, to an application that does not look."""
    return isinstance(effect, PassUp) and not isinstance(effect.event, Deliver)


def _came(group: Group, told: Told) -> Fn:
    """What came to a stack, as an event of a specification."""
    match told.event:
        case Arrived(sender, Tagged(_, message)):
            return Fn(
                {
                    "type": f"{type(message).__name__}Received",
                    "sender": _name(group, told.process, sender),
                    "message": _value(message),
                }
            )
        case Called(request):
            return Fn(
                {"type": f"{type(request).__name__}", "payload": _value(getattr(request, "message", ""))}
            )
        case Fired(timer):
            return Fn({"type": "Timeout", "timer": timer})
        case Raised(event):
            value = _value(event)
            return value if isinstance(value, Fn) else _NO_EVENT


def _name(group: Group, process: Process, address: Address) -> str:
    """The process that an address means to another."""
    there = process.view.at.get(address) if process.view is not None else None
    there = there or group.membership.current.get(address)
    return address if there is None else there.name


def _value(value: Any) -> Value:  # noqa: ANN401 - of any protocol
    """A value for charts: records with their classes as `type`, short forms for what everybody knows."""
    match value:
        case bool() | int() | str():
            return value
        case View() | ViewId():
            return _brief(value)
        case (str(name), int(number)):
            return f"{name.lower()}/{number}"
        case Tagged(_, message):
            return _value(message)
        case Vector() | Mapping():
            return function((str(key), _value(item)) for key, item in value.items())
        case tuple():
            return tuple(map(_value, value))
        case frozenset():
            return frozenset(map(_value, value))
        case _ if attrs.has(type(value)):
            fields = {each.name: _value(getattr(value, each.name)) for each in attrs.fields(type(value))}
            if fields.get("to") == ALL:
                fields["to"] = "all"
            return Fn({**fields, "type": type(value).__name__})
        case _:
            return str(value)


def _brief(value: View | ViewId) -> str:
    if isinstance(value, View):
        return f"{_brief(value.id)}[{','.join(value.members)}]"
    return f"{value.counter}/{value.creator}"
