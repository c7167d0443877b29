"""`Stack`: several protocols, one above the other, as one protocol.

Theory of operation
-------------------
A stack is itself a core: `start` gives the state of all its layers, and `step` takes one event from outside
to its end. Layers are written top first. This is the whole meaning of a composite step:

1. A step takes one event from outside. If a layer refuses what reaches it, the whole step is refused, and
   nothing has changed. A message for a layer that is not there, or that is none of that layer's, is refused
   as its sender's mistake. A timer that no layer has, or a value from below that is not there, is refused as
   the caller's.
2. A layer's step is one atom: its state is replaced before any of its effects is carried.
3. A layer's effects are carried in order, depth first, as calls: all that follows from one is done before
   the next.
4. `PassUp` goes to the first layer above that knows the event, `PassDown` to the first below. An event that
   no layer knows leaves the stack.
5. An event in `events.OBSERVED` goes to every layer that knows it, in both directions, the lowest first, and
   leaves the stack too: below all layers first, above all last. Where it goes down, all layers beneath have
   taken it before the next effect of its sender.
6. `Multicast` and `Send` are calls of the first layer below that has the event `SendRequested` or
   `UnicastRequested`. That layer gives the message back with `Deliver` or `DeliverUnicast`, and the stack
   hands it on.
7. A field that is `Below` is read when the layer takes its event, from the nearest layer beneath that offers
   such a value: `below(state)` of its module. If none does, the value came with the step's event.
8. An answer may come within the step that asks. The layer is then entered again while effects of its step
   wait. Hence a rule for cores: a question (`GetDigest`, `Suspend`) is the last effect of its step.
9. The effects of the step are what leaves the stack, in the order in which it leaves. A step that changes no
   layer and from which nothing leaves is ignored, as that of any core.
10. The stack has no state but that of its layers, and no layer beneath the stack takes part in a step.

This is also said in TLA+ (`spec/common/Composition.tla`), and `Stack` is compared with it (`spec/stack`).

A second rule for cores follows from 3 and 5. A layer hears a view before the layers above it do. So what it
does on hearing the view passes up no message of that view.

A third rule for cores follows from 3. A layer that takes a message of the multicast layer multicasts
nothing in that step. A layer beneath may be carrying several multicasts, such as those that it had to hold
back. The message from within would go out between two of them, before messages with lower numbers.

A layer knows an event if the class of the event, or a class derived from it, is in the layer's `Event`. It
also knows the event if a base class of the event's class is there (a merged view is a view). Of several such
layers the nearest takes the event. A layer's messages are tagged with its name. Message `Forward` comes in as
the event `ForwardReceived`. Timers are tagged too (`stable/stability`): timer `stability` fires as
`StabilityTimeout`, and timer `merge/3` as `MergeTimeout(3)`.

`ASSUMES` and `GIVES` of a core name modules of `spec/common`. A layer stands on what the layers beneath give,
and on what a layer above gives by passing it down (`GIVES_BELOW`). A stack in which something is assumed and
not given is refused. So is a stack in which a layer multicasts messages of its own beneath a layer that says
`HoldBack`: the limit counts multicasts, and would count such a message as a message of the layers above.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from types import UnionType
from typing import Any, Final, TypeAlias, Union, cast, get_args, get_origin, get_type_hints

import attrs
from attrs import field, frozen

from .core import Core, StateT
from .effects import CancelTimer, Datagram, Multicast, PassDown, PassUp, Send, SetTimer
from .errors import LocalProtocolError, ProtocolError, RemoteProtocolError
from .events import OBSERVED, Below, Deliver, DeliverUnicast, HoldBack, Payload
from .view import Address

APPLICATION: Final = ""
"""The layer whose messages are the application's, in a `Tagged`."""

AnyCore: TypeAlias = Core[Any, Any, Any, Any]
"""A core of which the stack knows no more than that it is one."""


class StackError(ValueError):
    """These layers make no stack, or one of them has an effect that no stack can carry."""


@frozen
class Tagged:
    """A message and the name of the layer that it is for."""

    layer: str
    message: object


# Events -------------------------------------------------------------------------------------------
# `below`: values that layers take and no layer beneath them offers, one of each type that `Stack.takes`
# names.


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
    """The layer below the stack passes an event up."""

    event: object
    below: tuple[object, ...] = ()


Event: TypeAlias = Called | Arrived | Fired | Raised
Effect: TypeAlias = (
    Multicast[Tagged] | Send[Tagged] | Datagram[Tagged] | SetTimer | CancelTimer | PassUp[object] | PassDown[object]
)


@frozen
class State:
    """The states of the layers, top first."""

    member: Address
    layers: tuple[object, ...]


# Layers -------------------------------------------------------------------------------------------


@frozen
class _EventClass:
    """A class of events of a layer: the fields that are given, and the fields that are taken from below."""

    cls: type
    given: tuple[str, ...]
    below: tuple[tuple[str, type], ...]

    @classmethod
    @cache  # annotations are texts: to evaluate those of a stack takes as long as some hundred steps
    def read(cls, event: type) -> "_EventClass":
        hints = get_type_hints(event, include_extras=True)
        taken: dict[str, type] = {}
        for name, hint in hints.items():
            if Below in get_args(hint):
                wanted = get_args(hint)[0]
                taken[name] = get_origin(wanted) or wanted
        return cls(event, tuple(name for name in hints if name not in taken), tuple(taken.items()))


def _snake(name: str) -> str:
    """`JoinRetry` as `join_retry`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def _options(union: object) -> tuple[Any, ...]:
    """The options of an annotation `A | B[C]`, or `A[B]` alone."""
    return get_args(union) if isinstance(union, UnionType) or get_origin(union) is Union else (union,)


def _classes(union: object) -> tuple[type, ...]:
    """The classes of an annotation `A | B[C]`, or of `A` alone."""
    return tuple(get_origin(option) or option for option in _options(union))


def _offered_types(module: Any) -> tuple[type, ...]:  # noqa: ANN401 - a module
    """The types of the values that a module's `below(state)` offers, by its annotation.

    Raises StackError where `below` is not annotated with a tuple.
    """
    if not hasattr(module, "below"):
        return ()
    told = get_type_hints(module.below).get("return")
    if get_origin(told) is not tuple or Ellipsis in get_args(told):
        raise StackError(f"{module.__name__}.below needs an annotation: `-> tuple[Digest]`, one type a value")
    return tuple(get_origin(each) or each for each in get_args(told))


_CALLS: Final[Mapping[type, str]] = {Multicast: "SendRequested", Send: "UnicastRequested"}
"""The calls of a layer above, and the events that these calls are to a layer."""


@frozen
class _Alphabet:
    """Which of its events classes of events, messages, timers and requests become in a layer."""

    events: Mapping[type, _EventClass]
    received: Mapping[type, _EventClass]
    timeouts: Mapping[str, _EventClass]
    requests: Mapping[type, _EventClass]

    @classmethod
    def read(cls, module: Any) -> "_Alphabet":  # noqa: ANN401 - a module
        kinds = {event.__name__: _EventClass.read(event) for event in _classes(module.Event)}
        return cls(
            # Of two that are derived from one class it is the nearer: a view is heard as a view, no merge.
            events={
                base: kind
                for kind in sorted(kinds.values(), key=lambda kind: -len(kind.cls.__mro__))
                for base in kind.cls.__mro__
                if base is not object
            },
            received={
                message: kinds[f"{message.__name__}Received"]
                for message in _classes(module.Message)
                if f"{message.__name__}Received" in kinds
            },
            timeouts={
                _snake(name.removesuffix("Timeout")): kind for name, kind in kinds.items() if name.endswith("Timeout")
            },
            requests={call: kinds[name] for call, name in _CALLS.items() if name in kinds},
        )


@frozen
class Layer:
    """A protocol in a stack: its name, its core and its configuration.

    `assumes`, `gives`, `gives_below`: what its core declares as ASSUMES, GIVES and GIVES_BELOW. `tells`: the
    types of the values that `below(state)` of its module has. `holds_back`: it says HoldBack. `multicasts`:
    it multicasts messages of its own, and not those of layers above. `alphabet`: what it can hear.
    """

    name: str
    core: AnyCore
    config: object
    assumes: tuple[str, ...]
    gives: tuple[str, ...]
    gives_below: tuple[str, ...]
    tells: tuple[type, ...]
    holds_back: bool
    multicasts: bool
    _below: Callable[[Any], tuple[object, ...]] = field(repr=False)
    alphabet: _Alphabet = field(hash=False, repr=False)

    @classmethod
    def of(cls, core: AnyCore, config: object, *, declared_by: object = None) -> "Layer":
        """The layer of a core. Where the core is no module of a protocol, `declared_by` is the module.

        Raises StackError for a module without the annotations and declarations of a protocol.
        """
        module = core if declared_by is None else declared_by
        lacks = [
            name for name in ("Event", "Message", "Effect", "ASSUMES", "GIVES", "__name__") if not hasattr(module, name)
        ]
        if lacks:
            raise StackError(f"{module!r} is no protocol that can stand in a stack: it has no {lacks[0]}")
        known: Any = module
        alphabet = _Alphabet.read(known)
        passed_down = {
            event
            for each in _options(known.Effect)
            if get_origin(each) is PassDown
            for event in _classes(get_args(each)[0])
        }
        return cls(
            name=known.__name__.rpartition(".")[2],
            core=core,
            config=config,
            assumes=tuple(known.ASSUMES),
            gives=tuple(known.GIVES),
            gives_below=tuple(getattr(known, "GIVES_BELOW", ())),
            tells=_offered_types(known),
            holds_back=HoldBack in passed_down,
            multicasts=Multicast in _classes(known.Effect) and Multicast not in alphabet.requests,
            below=getattr(known, "below", _tells_nothing),
            alphabet=alphabet,
        )

    def kind_of(self, cls: type) -> _EventClass | None:
        """The kind of its own events that an event of a class is to it, or a call from above."""
        if cls in _CALLS:
            return self.alphabet.requests.get(cls)
        return next((self.alphabet.events[each] for each in cls.__mro__ if each in self.alphabet.events), None)

    def tells_now(self, state: object) -> tuple[object, ...]:
        """The values that a layer offers in a state, by type."""
        return self._below(state)


def _tells_nothing(_state: object) -> tuple[()]:
    return ()


class _NobodyTakesItError(Exception):
    """No member can take what has come. `by_peer`: it is a peer's mistake, and not the caller's."""

    def __init__(self, reason: str, *, by_peer: bool) -> None:
        super().__init__(reason)
        self.by_peer = by_peer


# The stack ----------------------------------------------------------------------------------------

_Pending: TypeAlias = "list[tuple[int, _EventClass | None, Any]]"
"""The steps that remain, the first last: at a layer, an event of a kind that it hears; or, of no kind, an
effect of the layer that is to be carried. At `_OUT` it leaves the stack."""

_OUT: Final = -1
_Route: TypeAlias = "tuple[tuple[int, _EventClass | None], ...]"
"""The places that an event or a call comes to, in order, and what it is there; `_OUT`: the end."""


@frozen
class Stack:
    """Layers, top first; itself a core. `ground`: the guarantees of what is beneath the lowest layer.

    Raises StackError if the guarantee that a layer assumes is not given, if a layer multicasts beneath a
    layer that holds back, or if two layers have the same name.
    """

    layers: tuple[Layer, ...]
    ground: tuple[str, ...]
    _at: Mapping[str, int] = field(init=False, repr=False, eq=False)
    """The place of each layer, by its name."""
    _cores: dict[str, int] = field(init=False, repr=False, eq=False)
    """The same, by the names of modules that were asked for."""
    _messages: Mapping[tuple[str, type], tuple[int, _EventClass]] = field(init=False, repr=False, hash=False)
    _timers: Mapping[tuple[str, str], tuple[int, _EventClass]] = field(init=False, repr=False, hash=False)
    _tellers: Mapping[tuple[int, type], tuple[int, int]] = field(init=False, repr=False, hash=False)
    _routes: dict[tuple[int, int, type], _Route] = field(init=False, factory=dict, repr=False, eq=False)

    def __attrs_post_init__(self) -> None:
        names = [layer.name for layer in self.layers]
        if not self.layers:
            raise StackError("a stack has at least one layer")
        if len(set(names)) < len(names):
            raise StackError(f"two layers have one name: {', '.join(names)}")
        refused = (*unmet(self.layers, self.ground), *_miscounted(self.layers))
        if refused:
            raise StackError("; ".join(refused))
        object.__setattr__(self, "_at", {name: at for at, name in enumerate(names)})
        object.__setattr__(self, "_cores", {})
        for name, found in (("_messages", messages), ("_timers", timers), ("_tellers", tellers)):
            object.__setattr__(self, name, found(self.layers))

    @property
    def gives(self) -> frozenset[str]:
        """All guarantees that hold in the stack, and those of the ground."""
        return frozenset(self.ground).union(*(layer.gives for layer in self.layers))

    def start(self, member: Address) -> State:
        """A member before its first view."""
        return State(member, tuple(layer.core.start(member) for layer in self.layers))

    def of(self, core: Core[Any, StateT, Any, Any], state: State) -> StateT:
        """The state of a layer, by the module of its core: `stack.of(nakack, state).windows`.

        The name decides, since a layer may run a core that wraps the module. Raises StackError for a core
        that is no layer of the stack.
        """
        name = getattr(core, "__name__", "")
        at = self._cores.get(name)
        if at is None:
            last = name.rpartition(".")[2]
            if last not in self._at:
                raise StackError(f"{last} is no layer of the stack {self}")
            at = self._cores[name] = self._at[last]
        return cast("StateT", state.layers[at])

    def takes(self, event: Event) -> tuple[type, ...]:
        """The types of values that must come with an event, as its `below`: no layer offers them."""
        todo: _Pending = []
        self._enter(event, todo)
        wanted = (
            wanted
            for at, kind, _ in todo
            if kind is not None
            for _, wanted in kind.below
            if (at, wanted) not in self._tellers
        )
        return tuple(dict.fromkeys(wanted))

    def step(self, _config: None, state: State, event: Event) -> tuple[State, tuple[Effect, ...]]:
        """The next state of all layers, and what leaves the stack.

        Raises `ProtocolError` where a layer refuses what reaches it, of the class of that refusal, which is
        its cause; and for an event that no layer can take. Raises StackError for an effect that no stack can
        carry.
        """
        layers, states = self.layers, list(state.layers)
        effects: list[Effect] = []
        todo: _Pending = []
        try:
            self._enter(event, todo)
            while todo:
                at, kind, item = todo.pop()
                if kind is not None:
                    layer = layers[at]
                    if kind.cls is not type(item):
                        item = self._event_for(at, kind, item, states, event.below)
                    try:
                        states[at], done = layer.core.step(layer.config, states[at], item)
                    except ProtocolError as error:
                        raise type(error)(state, event, f"{layer.name}: {error.reason}") from error
                    if len(done) == 1:
                        self._do_effect(at, done[0], effects, todo)
                    else:
                        todo += [(at, None, effect) for effect in done[::-1]]
                elif at == _OUT:
                    effects.append(item)
                else:
                    self._do_effect(at, item, effects, todo)
        except _NobodyTakesItError as reason:
            refused = RemoteProtocolError if reason.by_peer else LocalProtocolError
            raise refused(state, event, str(reason)) from None
        after = tuple(states)
        if not effects and after == state.layers:
            return state, ()
        return State(state.member, after), tuple(effects)

    def __str__(self) -> str:
        """The names of the layers, top first: `sequencer/stable`."""
        return "/".join(layer.name for layer in self.layers)

    # Routing: what follows is put on `todo`, the first last

    def _enter(self, event: Event, todo: _Pending) -> None:
        """An event comes from outside."""
        match event:
            case Called(request):
                self._down(0, request, todo)
            case Arrived(sender, message):
                self._received(sender, message, todo)
            case Fired(timer):
                self._fired(timer, todo)
            case Raised(raised):
                self._up(len(self.layers) - 1, raised, todo)

    def _do_effect(self, at: int, effect: Any, effects: list[Effect], todo: _Pending) -> None:  # noqa: ANN401 - of any core
        """Do an effect of the layer at a place: a neighbour's event, or the stack's own effect."""
        if type(effect) is PassUp:
            match effect.event:
                case Deliver(sender, Tagged() as message) | DeliverUnicast(sender, Tagged() as message):
                    self._received(sender, message, todo)
                case event:
                    self._up(at - 1, event, todo)
            return
        name = self.layers[at].name
        match effect:
            case PassDown():
                self._down(at + 1, effect, todo)
            case Multicast(message):
                self._down(at + 1, Multicast(Tagged(name, message)), todo)
            case Send(to, message):
                self._down(at + 1, Send(to, Tagged(name, message)), todo)
            case Datagram(to, message):
                effects.append(Datagram(to, Tagged(name, message)))
            case SetTimer(timer, low, high):
                effects.append(SetTimer(f"{name}/{timer}", low, high))
            case CancelTimer(timer):
                effects.append(CancelTimer(f"{name}/{timer}"))
            case _:
                raise StackError(f"{name} has an effect that no stack can carry: {effect!r}")

    def _fired(self, timer: str, todo: _Pending) -> None:
        """A timer fires in its layer: `layer/name`, or `layer/name/number` with the event's number."""
        layer, _, named = timer.partition("/")
        name, separator, number = named.partition("/")
        found = self._timers.get((layer, name))
        if found is None or len(found[1].given) != len(separator) or (separator and not number.isdecimal()):
            raise _NobodyTakesItError(f"the stack {self} has no timer {timer!r}", by_peer=False)
        place, kind = found
        todo.append((place, kind, {field: int(number) for field in kind.given}))

    def _received(self, sender: Address, message: Tagged, todo: _Pending) -> None:
        """A message reaches the layer that it is for."""
        if message.layer == APPLICATION:
            todo.append((_OUT, None, PassUp(Deliver(sender, Payload(message.message)))))
            return
        found = self._messages.get((message.layer, type(message.message)))
        if found is None:
            name = type(message.message).__name__
            raise _NobodyTakesItError(f"the stack {self} has no message {name} of {message.layer!r}", by_peer=True)
        place, kind = found
        fields = {"sender": sender, "message": message.message}
        todo.append((place, kind, fields if kind.below else kind.cls(**fields)))

    def _up(self, start: int, event: object, todo: _Pending) -> None:
        """An event goes up from a place: to the layers that know it, past the others, in the end out."""
        for place, kind in self._route(start, -1, type(event))[::-1]:
            todo.append((place, kind, PassUp(event) if kind is None else event))

    def _down(self, start: int, request: Any, todo: _Pending) -> None:  # noqa: ANN401 - an effect of any core
        """A call or an event goes down from a place: to the layers that know it, in the end out of the stack.

        An observed event is put on `todo` from the top to the bottom: the lowest is the first to hear it.
        """
        if isinstance(request, PassDown):
            cls, item = type(request.event), request.event
        elif isinstance(request, Send):
            cls, item = Send, {"to": request.to, "payload": request.message}
        else:
            cls, item = Multicast, {"payload": request.message}
        for place, kind in self._route(start, 1, cls):
            if kind is not None:
                todo.append((place, kind, item))
                continue
            if start == 0 and cls in _CALLS:
                request = attrs.evolve(request, message=Tagged(APPLICATION, request.message))
            todo.append((_OUT, None, request))

    def _route(self, start: int, step: int, cls: type) -> _Route:
        """Where an event or a call of a class goes from a place, down (1) or up (-1). It is found once."""
        route = self._routes.get((start, step, cls))
        if route is None:
            route = self._routes[start, step, cls] = tuple(self._receivers(start, step, cls))
        return route

    def _receivers(self, start: int, step: int, cls: type) -> Iterator[tuple[int, _EventClass | None]]:
        for place in range(start, len(self.layers) if step > 0 else -1, step):
            kind = self.layers[place].kind_of(cls)
            if kind is not None:
                yield place, kind
                if not issubclass(cls, OBSERVED):
                    return
        yield _OUT, None

    def _event_for(
        self, at: int, kind: _EventClass, known: object, states: list[object], came: tuple[object, ...]
    ) -> object:
        """The event that a layer hears: of its own kind, with the present values of the layers beneath."""
        fields = known if isinstance(known, dict) else {name: getattr(known, name) for name in kind.given}
        for name, wanted in kind.below:
            teller = self._tellers.get((at, wanted))
            if teller is not None:
                place, number = teller
                fields[name] = self.layers[place].tells_now(states[place])[number]
                continue
            values = [value for value in came if isinstance(value, wanted)]
            if not values:
                raise _NobodyTakesItError(
                    f"{kind.cls.__name__} takes its {name} from below, and no {wanted.__name__} came", by_peer=False
                )
            fields[name] = values[0]
        return kind.cls(**fields)


def messages(layers: tuple[Layer, ...]) -> dict[tuple[str, type], tuple[int, _EventClass]]:
    """Where messages arrive: the place and the event, by the layer's name and the message's class."""
    return {
        (layer.name, message): (place, kind)
        for place, layer in enumerate(layers)
        for message, kind in layer.alphabet.received.items()
    }


def timers(layers: tuple[Layer, ...]) -> dict[tuple[str, str], tuple[int, _EventClass]]:
    """Where timers fire: the place and the event, by the names of the layer and the timer."""
    return {
        (layer.name, timer): (place, kind)
        for place, layer in enumerate(layers)
        for timer, kind in layer.alphabet.timeouts.items()
    }


def tellers(layers: tuple[Layer, ...]) -> dict[tuple[int, type], tuple[int, int]]:
    """Return the layer that offers a value of a type to a place, and its number there: the nearest layer."""
    return {
        (place, told): (teller, number)
        for place in range(len(layers))
        for teller in range(len(layers) - 1, place, -1)  # the nearest is the last, and stays
        for number, told in enumerate(layers[teller].tells)
    }


def unmet(layers: Iterable[Layer], ground: Iterable[str]) -> tuple[str, ...]:
    """Return the unmet assumptions of layers (top first): a sentence each, the lowest first.

    Given to a layer is what the ground and the layers beneath it give, and what those above it pass down.
    """
    layers = tuple(layers)
    given = {*ground}
    below = sorted(given)
    refused: list[str] = []
    for place, layer in reversed([*enumerate(layers)]):
        passed_down = {name for above in layers[:place] for name in above.gives_below}
        refused += (
            f"{layer.name} assumes {wanted}, which nothing below it gives (below are: "
            f"{', '.join(below) or 'no guarantees'}) and nothing above it passes down"
            for wanted in layer.assumes
            if wanted not in given | passed_down
        )
        given.update(layer.gives)
        below += layer.gives
    return tuple(refused)


def _miscounted(layers: Iterable[Layer]) -> Iterator[str]:
    """Return, in a sentence each, layers that multicast messages of their own beneath a HoldBack."""
    holding = ""
    for layer in layers:
        if holding and layer.multicasts:
            yield (
                f"{layer.name} multicasts messages of its own beneath {holding}, which holds back multicasts "
                "by their number and would count them as its own: it sends datagrams, or stands above"
            )
        if layer.holds_back:
            holding = layer.name
