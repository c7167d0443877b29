"""`Stack`: several protocols, one above the other, as one protocol.

Theory of operation
-------------------
A stack is itself a core: `start` gives the state of all its layers, `step` takes one event to its end. Layers
are written top first. What a layer does, the stack carries to its neighbours at once and depth first, as a
call would: all that follows from a layer's first effect is done before its second. What leaves the stack, at
the top (to the application) or at the bottom (to the layers below, the network and the clock), is the step's
effects, in that order. If a layer refuses an event, the whole step is refused and nothing has changed.

Which layer hears what follows from the annotations `Event` and `Message` of each core, by name:

- An event that goes up or down stops at the first layer that knows it; one in `events.OBSERVED` goes on.
  A layer knows an event if its class, or one derived from it, is in the layer's `Event`; or one that it is
  derived from (a merged view is a view).
- An observed event that goes down passes a layer that takes something from below with it, which is not there
  yet. When the layers below have done their part they raise the event `under` the layer that passed it down.
- A layer's messages are tagged with its name. Message `Forward` comes in as the event `ForwardReceived`.
- `Multicast` and `Send` are calls of the layer below: the first below that has `SendRequested` or
  `UnicastRequested` takes them, with the message as its payload, and gives it back with `Deliver`.
- Timers are tagged in the same way (`stable/stability`). Timer `stability` fires as `StabilityTimeout`, and
  timer `merge/3` as `MergeTimeout(3)`.
- What a layer takes from the one below (a digest) is a field that is annotated `Below`. The stack fills it
  from what comes with the event; `Stack.takes` says what has to come.

What may stand on what is said once, by the cores: `ASSUMES` and `GIVES` name modules of `spec/common`. A
stack in which something is assumed that nothing below gives is refused.
"""

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Annotated, Any, Final, TypeAlias, get_args, get_origin, get_type_hints

import attrs
from attrs import field, frozen

from .core import Core
from .effects import CancelTimer, Datagram, Multicast, PassDown, PassUp, Send, SetTimer
from .events import OBSERVED, Below, Deliver, Payload
from .view import Address

APPLICATION: Final = ""
"""The layer whose messages are the application's, in a `Tagged`."""

AnyCore: TypeAlias = Core[Any, Any, Any, Any]
"""A core of which the stack knows no more than that it is one."""


class StackError(ValueError):
    """These layers make no stack, or an event came to a stack in which nobody can take it."""


@frozen
class Tagged:
    """A message and the name of the layer that it is for."""

    layer: str
    message: object


# Events -------------------------------------------------------------------------------------------
# `below`: values that layers take from beneath the stack, one of each type that `Stack.takes` names.


@frozen
class Called:
    """The application multicasts or sends, or asks for what only its topmost layers know."""

    request: Multicast[Payload] | Send[Payload] | PassDown[object]
    below: tuple[object, ...] = ()


@frozen
class Arrived:
    """A message came from member `sender`: a multicast or unicast of the layer below, or a datagram."""

    sender: Address
    message: Tagged
    below: tuple[object, ...] = ()


@frozen
class Fired:
    """A timer fired; `timer` as in the effect that set it."""

    timer: str
    below: tuple[object, ...] = ()


@frozen
class Raised:
    """The layer below the stack passes an event up: to all, or to those `under` the layer of a name."""

    event: object
    below: tuple[object, ...] = ()
    under: str = ""


Event: TypeAlias = Called | Arrived | Fired | Raised
Effect: TypeAlias = (
    Multicast[Tagged]
    | Send[Tagged]
    | Datagram[Tagged]
    | SetTimer
    | CancelTimer
    | PassUp[object]
    | PassDown[object]
)


@frozen
class State:
    """The states of the layers, top first."""

    member: Address
    layers: tuple[object, ...]


# Layers -------------------------------------------------------------------------------------------


@frozen
class _Kind:
    """A class of events of a layer: the fields that are given, and those that are taken from below."""

    cls: type
    given: tuple[str, ...]
    below: tuple[tuple[str, type], ...]

    @classmethod
    def of(cls, event: type) -> "_Kind":
        hints = get_type_hints(event, include_extras=True)
        taken: dict[str, type] = {}
        for name, hint in hints.items():
            if get_origin(hint) is Annotated and Below in get_args(hint):
                wanted = get_args(hint)[0]
                taken[name] = get_origin(wanted) or wanted
        return cls(event, tuple(name for name in hints if name not in taken), tuple(taken.items()))


def _snake(name: str) -> str:
    """`JoinRetry` as `join_retry`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def _classes(union: object) -> tuple[type, ...]:
    """The classes of an annotation `A | B[C]`, or of `A` alone."""
    return tuple(get_origin(option) or option for option in get_args(union) or (union,))


@frozen
class Layer:
    """A protocol in a stack: its name, its core and its configuration.

    `assumes`, `gives`: what its core declares as ASSUMES and GIVES. The rest says which of its events a class
    of events, of messages, a timer or a request becomes.
    """

    name: str
    core: AnyCore
    config: object
    assumes: tuple[str, ...]
    gives: tuple[str, ...]
    _events: Mapping[type, _Kind] = field(hash=False, repr=False)
    _received: Mapping[type, _Kind] = field(hash=False, repr=False)
    _timeouts: Mapping[str, _Kind] = field(hash=False, repr=False)
    _requests: Mapping[type, _Kind] = field(hash=False, repr=False)

    @classmethod
    def of(cls, core: AnyCore, config: object, *, declared_by: object = None) -> "Layer":
        """The layer of a core. Where the core is no module of a protocol, `declared_by` is the module.

        Raises StackError for a module without the annotations and declarations of a protocol.
        """
        module = core if declared_by is None else declared_by
        lacks = [
            name for name in ("Event", "Message", "ASSUMES", "GIVES", "__name__") if not hasattr(module, name)
        ]
        if lacks:
            raise StackError(f"{module!r} is no protocol that can stand in a stack: it has no {lacks[0]}")
        known: Any = module
        kinds = {event.__name__: _Kind.of(event) for event in _classes(known.Event)}
        heard = {
            base: kind
            for kind in kinds.values()
            for base in kind.cls.__mro__
            if base not in (object, kind.cls)
        }
        requests = {Multicast: "SendRequested", Send: "UnicastRequested"}
        return cls(
            name=known.__name__.rpartition(".")[2],
            core=core,
            config=config,
            assumes=tuple(known.ASSUMES),
            gives=tuple(known.GIVES),
            events={**heard, **{kind.cls: kind for kind in kinds.values()}},
            received={
                message: kinds[f"{message.__name__}Received"]
                for message in _classes(known.Message)
                if f"{message.__name__}Received" in kinds
            },
            timeouts={
                _snake(name.removesuffix("Timeout")): kind
                for name, kind in kinds.items()
                if name.endswith("Timeout")
            },
            requests={request: kinds[name] for request, name in requests.items() if name in kinds},
        )

    def knows(self, event: object) -> _Kind | None:
        """The kind of its own events that an event is to it."""
        for cls in type(event).__mro__:
            kind = self._events.get(cls)
            if kind is not None:
                return kind
        return None

    def takes_call(self, request: object) -> _Kind | None:
        """The kind of its events that a call from above is to it."""
        return self._requests.get(type(request))

    def receives(self, message: object) -> _Kind:
        """The kind of events that one of its messages arrives as."""
        try:
            return self._received[type(message)]
        except KeyError:
            raise StackError(f"{self.name} has no message {type(message).__name__}") from None

    def times_out(self, timer: str) -> tuple[_Kind, dict[str, object]]:
        """The kind of events that a timer fires as; the number in its name, as its field."""
        name, _, number = timer.partition("/")
        kind = self._timeouts.get(name)
        if kind is None or len(kind.given) != bool(number) or not (number or "0").isdecimal():
            raise StackError(f"{self.name} has no timer {timer!r}")
        return kind, dict.fromkeys(kind.given, int(number)) if number else {}


# The stack ----------------------------------------------------------------------------------------

_EVENT: Final = 0
_EFFECT: Final = 1


@frozen
class Stack:
    """Layers, top first; itself a core. `ground`: the guarantees of what is beneath the lowest layer.

    Raises StackError where a layer stands on what nobody below gives, or two layers have one name.
    """

    layers: tuple[Layer, ...]
    ground: tuple[str, ...]
    _places: Mapping[str, int] = field(init=False, repr=False, hash=False)

    def __attrs_post_init__(self) -> None:
        places = {layer.name: place for place, layer in enumerate(self.layers)}
        object.__setattr__(self, "_places", MappingProxyType(places))
        if not self.layers:
            raise StackError("a stack has at least one layer")
        if len(places) < len(self.layers):
            raise StackError(f"two layers have one name: {', '.join(layer.name for layer in self.layers)}")
        refused = unmet(self.layers, self.ground)
        if refused:
            raise StackError("; ".join(refused))

    @property
    def gives(self) -> frozenset[str]:
        """All guarantees that hold in the stack, and those of the ground."""
        return frozenset(self.ground).union(*(layer.gives for layer in self.layers))

    def start(self, member: Address) -> State:
        """A member before its first view."""
        return State(member, tuple(layer.core.start(member) for layer in self.layers))

    def takes(self, event: Event) -> tuple[type, ...]:
        """The types of values that must come with an event, as its `below`."""
        match event:
            case Arrived(_, Tagged(layer, message)) if layer:
                kinds = [self.layers[self._place(layer)].receives(message)]
            case Fired(timer):
                layer, _, name = timer.partition("/")
                kinds = [self.layers[self._place(layer)].times_out(name)[0]]
            case Raised(raised, _, under):
                found = (layer.knows(raised) for layer in self.layers[self._top(under) :])
                kinds = [kind for kind in found if kind is not None]
            case _:
                kinds = []
        return tuple(dict.fromkeys(wanted for kind in kinds for _, wanted in kind.below))

    def step(self, _config: None, state: State, event: Event) -> tuple[State, tuple[Effect, ...]]:
        """The next state of all layers, and what leaves the stack.

        Raises what a layer raises (`ProtocolError`), with a note that names the layer; StackError for an
        event that no layer can take.
        """
        layers, states = self.layers, list(state.layers)
        effects: list[Effect] = []
        todo: list[tuple[int, int, Any]] = []  # (_EVENT, layer, its event) or (_EFFECT, layer, its effect)
        below = event.below
        match event:
            case Called(request):
                self._down(0, request, below, todo)
            case Arrived(sender, Tagged() as message):
                self._received(sender, message, below, todo)
            case Fired(timer):
                layer, _, name = timer.partition("/")
                place = self._place(layer)
                kind, known = layers[place].times_out(name)
                todo.append((_EVENT, place, _filled(kind, known, below)))
            case Raised(raised, _, under):
                self._up(len(layers) - 1, raised, below, todo, self._top(under))
        while todo:
            what, at, item = todo.pop()
            if what == _EVENT:
                layer_of = layers[at]
                try:
                    after, done = layer_of.core.step(layer_of.config, states[at], item)
                except Exception as error:
                    error.add_note(f"  in layer {layer_of.name} of {self}")
                    raise
                states[at] = after
                if len(done) == 1:
                    self._carry(at, done[0], below, effects, todo)
                else:
                    todo += ((_EFFECT, at, effect) for effect in reversed(done))
            elif at < 0:
                effects.append(item)
            else:
                self._carry(at, item, below, effects, todo)
        return State(state.member, tuple(states)), tuple(effects)

    def __str__(self) -> str:
        """The names of the layers, top first: `sequencer/stable`."""
        return "/".join(layer.name for layer in self.layers)

    # Routing: what follows is put on `todo`, the first last

    def _carry(
        self,
        at: int,
        effect: Any,  # noqa: ANN401 - of any core
        below: tuple[object, ...],
        effects: list[Effect],
        todo: list[Any],
    ) -> None:
        """Do an effect of the layer at a place: a neighbour's event, or the stack's own effect."""
        name = self.layers[at].name
        match effect:
            case PassUp(Deliver(sender, Tagged() as message)):
                self._received(sender, message, below, todo)
            case PassUp(event):
                self._up(at - 1, event, below, todo)
            case PassDown():
                self._down(at + 1, effect, below, todo)
            case Multicast(message):
                self._down(at + 1, Multicast(Tagged(name, message)), below, todo)
            case Send(to, message):
                self._down(at + 1, Send(to, Tagged(name, message)), below, todo)
            case Datagram(to, message):
                effects.append(Datagram(to, Tagged(name, message)))
            case SetTimer(timer, low, high):
                effects.append(SetTimer(f"{name}/{timer}", low, high))
            case CancelTimer(timer):
                effects.append(CancelTimer(f"{name}/{timer}"))
            case _:
                raise StackError(f"{name} has an effect that no stack can carry: {effect!r}")

    def _received(self, sender: Address, message: Tagged, below: tuple[object, ...], todo: list[Any]) -> None:
        """A message reaches the layer that it is for."""
        if message.layer == APPLICATION:
            todo.append((_EFFECT, -1, PassUp(Deliver(sender, Payload(message.message)))))
            return
        place = self._place(message.layer)
        kind = self.layers[place].receives(message.message)
        known = {"sender": sender, "message": message.message}
        todo.append((_EVENT, place, _filled(kind, known, below)))

    def _up(
        self, start: int, event: object, below: tuple[object, ...], todo: list[Any], top: int = 0
    ) -> None:
        """An event goes up from a place to a place: to who knows it, past who does not, in the end out."""
        first = len(todo)
        for place in range(start, top - 1, -1):
            kind = self.layers[place].knows(event)
            if kind is not None:
                todo.append((_EVENT, place, _heard(kind, event, below)))
                if not isinstance(event, OBSERVED):
                    break
        else:
            if top == 0:
                todo.append((_EFFECT, -1, PassUp(event)))
        todo[first:] = todo[: first - 1 if first else None : -1]

    def _down(self, start: int, request: Any, below: tuple[object, ...], todo: list[Any]) -> None:  # noqa: ANN401
        """A call or an event goes down from a place: to who knows it, in the end out of the stack."""
        first = len(todo)
        for place in range(start, len(self.layers)):
            layer = self.layers[place]
            if isinstance(request, PassDown):
                kind = layer.knows(request.event)
                observed = isinstance(request.event, OBSERVED)
                if kind is not None and not (observed and kind.below):
                    todo.append((_EVENT, place, _heard(kind, request.event, below)))
                    if not observed:
                        break
            else:
                kind = layer.takes_call(request)
                if kind is not None:
                    fields = {"payload": request.message}
                    if isinstance(request, Send):
                        fields["to"] = request.to
                    todo.append((_EVENT, place, _filled(kind, fields, below)))
                    break
        else:
            if start == 0 and not isinstance(request, PassDown):
                request = attrs.evolve(request, message=Tagged(APPLICATION, request.message))
            todo.append((_EFFECT, -1, request))
        todo[first:] = todo[: first - 1 if first else None : -1]

    def _top(self, under: str) -> int:
        """The highest place under a layer; "": of all."""
        return self._place(under) + 1 if under else 0

    def _place(self, layer: str) -> int:
        try:
            return self._places[layer]
        except KeyError:
            raise StackError(f"the stack {self} has no layer {layer!r}") from None


def _heard(kind: _Kind, event: object, below: tuple[object, ...]) -> object:
    """An event as the layer's own kind."""
    if kind.cls is type(event):
        return event
    return _filled(kind, {name: getattr(event, name) for name in kind.given}, below)


def _filled(kind: _Kind, known: dict[str, object], below: tuple[object, ...]) -> object:
    """An event of a kind, with what is known of it and what is taken from below."""
    for name, wanted in kind.below:
        for value in below:
            if isinstance(value, wanted):
                known[name] = value
                break
        else:
            raise StackError(
                f"{kind.cls.__name__} takes its {name} from below, and no {wanted.__name__} came"
            )
    return kind.cls(**known)


def unmet(layers: Iterable[Layer], ground: Iterable[str]) -> tuple[str, ...]:
    """What layers, top first, assume and nothing below them gives: a sentence each, the lowest first."""
    given = {*ground}
    below = sorted(given)
    refused: list[str] = []
    for layer in reversed(tuple(layers)):
        refused += (
            f"{layer.name} assumes {wanted}, which nothing below it gives (below are: "
            f"{', '.join(below) or 'no guarantees'})"
            for wanted in layer.assumes
            if wanted not in given
        )
        given.update(layer.gives)
        below += layer.gives
    return tuple(refused)
