"""Charts of schedules: what happened at which member, as counterexamples of models are drawn.

A schedule is run again. Of the whole stack each composite step becomes a step of a behaviour, with the
views and deliveries of members as what changes. Of one layer each of its steps does, as its specification
has it: the event, the effects, and what changes of the layer's state. `tla.chart` draws the lanes.
"""

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from typing import Any, Final

import attrs
from attrs import frozen

from groupcomm.effects import ALL, PassUp
from groupcomm.events import Deliver
from groupcomm.stack import Arrived, Called, Fired, Raised, Tagged
from groupcomm.view import Address, View, ViewId
from groupcomm_conformance.tla.chart import WIDTH, chart
from groupcomm_conformance.tla.values import Fn, Value, function
from groupcomm_simulator.ground import Event, Ground, Told
from groupcomm_simulator.judges.membership import Process
from groupcomm_simulator.running import replay
from groupcomm_simulator.setup import LASTING, Setup

_LONGEST_ROUND: Final = 8  # steps
_OFTEN: Final = 3  # times
_ENVIRONMENT: Final = Fn(
    {
        "event": Fn({"type": "none"}),
        "outcome": "none",
        "effects": (),
        "given": Fn({"nothing": 0}),
        "consumed": frozenset(),
    }
)
_BENEATH: Final = ("reliable_multicast", "reliable_unicast")


@frozen
class Step:
    """A step of a behaviour, for `tla.chart`."""

    number: int
    action: str
    values: Fn


def drawn(setup: Setup, seed: int, schedule: Iterable[Event], *, layer: str = "", width: int = WIDTH) -> list[str]:
    """Draw a schedule, one item per line; of a `layer` its steps alone."""
    return chart(folded(steps_of(setup, seed, schedule, layer)), width=width)


def steps_of(setup: Setup, seed: int, schedule: Iterable[Event], layer: str = "") -> list[Step]:
    """Give a schedule as a behaviour. It ends with its violation, if it has one."""
    recorder = _Recorder(layer)
    replay(setup, seed, schedule, recorder)
    return recorder.steps()


def folded(steps: Sequence[Step]) -> list[Step]:
    """Give a behaviour in which what is done over and over is there once: a joiner may ask again for ever."""
    found: list[Step] = []
    at = 0
    while at < len(steps):
        size, times = _round_at(steps, at)
        found += steps[at : at + size]
        at += size * times
        if times > 1:
            same = Fn({**_ENVIRONMENT, "action": f"... {times - 1} times more", "member": ""})
            found.append(Step(steps[at - 1].number, str(same["action"]), Fn({**found[-1].values, "act": same})))
    return found


def _round_at(steps: Sequence[Step], at: int) -> tuple[int, int]:
    """Say how many steps from here on are a round, and how often it comes; (1, 1) where it is not often."""
    for size in range(1, _LONGEST_ROUND + 1):
        first = [(step.action, step.values) for step in steps[at : at + size]]
        times = 1
        while first == [(step.action, step.values) for step in steps[at + times * size : at + (times + 1) * size]]:
            times += 1
        if times >= _OFTEN:
            return size, times
    return 1, 1


class _Recorder:
    """Collects what happens, and the state of each member that is drawn."""

    def __init__(self, layer: str) -> None:
        self._layer = layer
        self._acts: list[tuple[str, Fn, dict[str, Value]]] = []
        self._now: dict[str, Value] = {}
        self._first: dict[str, Value] = {}
        self._delivered: dict[str, tuple[Value, ...]] = {}

    def __call__(self, ground: Ground, event: Event, told: Told | None) -> None:
        """Hear an event, and then what it did at each stack."""
        if told is None:
            self._environment(ground, event)
        elif self._layer:
            self._steps_of_layer(ground, told)
        else:
            self._composite_step(ground, told)

    def _steps_of_layer(self, ground: Ground, told: Told) -> None:
        place, name = ground.place[self._layer], told.process.name
        for note in told.notes:
            if note.place == place and (note.effects or note.after != note.before):
                self._now[name] = _state(note.after)
                event, sender = _value(note.event), getattr(note.event, "sender", None)
                if isinstance(event, Fn) and sender is not None:
                    event = Fn({**event, "sender": _name(ground, told.process, sender)})
                self._add(type(note.event).__name__, name, event, note.effects, "handled")
        if told.error is not None:
            self._add(type(told.event).__name__, name, _event_of(ground, told), (), "refused")

    def _composite_step(self, ground: Ground, told: Told) -> None:
        name, view = told.process.name, told.process.view
        for note in told.notes:
            if type(note.event).__name__.endswith("ViewInstalled") and hasattr(note.event, "view"):
                view = note.event.view
        effects = [effect for effect in told.effects if not _passes_by(effect)]
        for effect in told.effects:
            if (
                isinstance(effect, PassUp)
                and isinstance(effect.event, Deliver)
                and isinstance(effect.event.payload, tuple)
            ):
                self._delivered[name] = (*self._delivered.get(name, ()), _value(effect.event.payload))
        brief = "none" if view is None else _brief(view if isinstance(view, View) else view.view)
        now = Fn({"view": brief, "delivered": self._delivered.get(name, ())})
        if not effects and told.error is None and self._now.get(name) == now:
            return
        self._now[name] = now
        came = _event_of(ground, told)
        outcome = "handled" if told.error is None else "refused"
        self._add(str(came["type"]), name, came, effects, outcome)

    def _environment(self, ground: Ground, event: Event) -> None:
        match event:
            case ("start", str(name)):
                fresh = ground.stack.start(name)
                self._first[name] = (
                    _state(fresh.layers[ground.place[self._layer]])
                    if self._layer
                    else Fn({"view": "none", "delivered": ()})
                )
                if not self._layer:
                    self._act("Start", name)
            case ("crash", str(name)):
                self._act("Crash", name)
            case ("lose", str(sender), int(number), str(name)) if self._sees(ground, sender, number, name):
                self._act("Lose", name, Fn({"of": sender, "datagram": number}))
            case ("drop" | "miss", str(sender), str(name)) if not self._layer:
                self._act("Lose", name, Fn({"unicast_of": sender}))
            case ("partition", tuple(side)):
                self._act(f"Partition: {', '.join(side)} from the rest", "")
            case ("cut", str(name), str(to)):
                self._act(f"Cut: {to} does not hear {name}", "")
            case ("outlast", str(fault), str(name), str(to)):
                self._act(f"For long, {LASTING[fault]}: {name}, {to}", "")
            case ("heal" | "quiesce" as kind,):
                self._act(kind.capitalize(), "")
            case _:
                pass  # its effects are drawn next

    def _sees(self, ground: Ground, sender: str, number: int, to: str) -> bool:
        """Say whether a datagram is drawn: over a network one of the layer, and of the whole stack each."""
        if not self._layer or not ground.network:
            return not self._layer
        return any(
            (one.name, of, other.name, message.layer) == (sender, number, to, self._layer)
            for (one, of, other), message in ground.copies.items()
        )

    def _act(self, action: str, member: str, given: Fn | None = None) -> None:
        more = {} if given is None else {"given": given}
        self._acts.append((action, Fn({**_ENVIRONMENT, "action": action, "member": member, **more}), dict(self._now)))

    def _add(self, action: str, member: str, event: Value, effects: Iterable[object], outcome: str) -> None:
        shown = tuple(map(_effect, effects))
        act = {"action": action, "member": member, "event": event, "outcome": outcome, "effects": shown}
        self._acts.append((action, Fn({**_ENVIRONMENT, **act}), dict(self._now)))

    def steps(self) -> list[Step]:
        """Give the behaviour: all processes have lanes from the beginning."""
        names = dict.fromkeys([*self._first, *(str(act["member"]) for _, act, _ in self._acts if act["member"])])
        first = {name: self._first.get(name, ()) for name in names}
        found = [Step(1, "Init", Fn({"local": Fn(first)}))]
        for number, (action, act, now) in enumerate(self._acts, start=2):
            found.append(Step(number, action, Fn({"local": Fn({**first, **now}), "act": act})))
        return found


def _passes_by(effect: object) -> bool:
    """Say whether an effect is for an application that does not look."""
    return isinstance(effect, PassUp) and not isinstance(effect.event, Deliver)


def _event_of(ground: Ground, told: Told) -> Fn:
    """Give an event of a stack as an event of a specification."""
    match told.event:
        case Arrived(sender, message):
            content = _content(message)
            return Fn(
                {
                    "type": f"{type(content).__name__}Received",
                    "sender": _name(ground, told.process, sender),
                    "message": _value(content),
                }
            )
        case Called(request):
            inner = getattr(request, "event", None)
            value = _value(request if inner is None else inner)
            return value if isinstance(value, Fn) else Fn({"type": type(request).__name__})
        case Fired(timer):
            return Fn({"type": "Timeout", "timer": timer})
        case Raised(event):
            value = _value(event)
            return value if isinstance(value, Fn) else Fn({"type": type(event).__name__})


def _content(message: object) -> Any:  # noqa: ANN401 - a message of any layer
    """Give the message that another carries, as the highest layer below the application knows it."""
    while isinstance(message, Tagged):
        inner = getattr(message.message, "payload", None)
        if message.layer not in _BENEATH or not isinstance(inner, Tagged):
            return message.message
        message = inner
    return message


def _effect(effect: Any) -> Value:  # noqa: ANN401 - of any core
    """Give an effect; in place of a message that carries another, the other."""
    message = getattr(effect, "message", None)
    return _value(attrs.evolve(effect, message=_content(message)) if isinstance(message, Tagged) else effect)


def _name(ground: Ground, process: Process, address: Address) -> str:
    """Give the process that an address means to another."""
    there = process.view.at.get(address) if process.view is not None else None
    there = there or ground.membership.current.get(address)
    return address if there is None else there.name


def _state(state: Any) -> Fn:  # noqa: ANN401 - of any core
    """Give the fields of a state, but for the member's name."""
    return Fn(
        {each.name: _value(getattr(state, each.name)) for each in attrs.fields(type(state)) if each.name != "member"}
    )


def _value(value: Any) -> Value:  # noqa: ANN401 - of any protocol
    """Give a value for charts: records with their classes as `type`, short forms for well-known values."""
    match value:
        case None:
            return "none"
        case Enum():
            return value.name
        case bool() | int() | str():
            return value
        case View() | ViewId():
            return _brief(value)
        case (str(name), int(number)):
            return f"{name.lower()}/{number}"
        case Tagged(_, message):
            return _value(message)
        case Mapping():
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
