"""Random walks of a core, far beyond the bounds of the models: more members, other names, large numbers.

A walk is a small crowd of members that run the core. At each step one of them gets an event: a message that
a member has sent, as it is, or changed in places, or from another sender; or an event that is made up. There
is nothing here for a single protocol. The parts of an event are read from the annotations. Values are drawn
from the state of the member, and from events handled before, under the same name of a field: the number of a
round that was asked is met again as the round of an answer. So walks go deep without knowing where they go.

Messages are of the right types and of any content. Events of the layers around are of sound content, in any
order: members of a view are distinct, and vectors have the members of the view. (Their mistakes of content
are in the alphabets of the models.)
"""

from collections import defaultdict, deque
from collections.abc import Iterator
from itertools import takewhile
from random import Random
from typing import Any, Final

import attrs
from attrs import define, field, frozen

from groupcomm.effects import Datagram, Multicast, PassDown, PassUp, Send
from groupcomm.errors import LocalProtocolError, ProtocolError
from groupcomm.shapes import Anything, Atom, Choice, Fixed, Function, Nothing, Record, Sequence, Shape, Subset, shape_of
from groupcomm_conformance.protocols.derive import AnyCore, Protocol

NAMES: Final = ("A", "B", "a", "aa", "node1", "node10", "node2", "10.0.0.1:7800", "x", "x#6", "x#7", "x#10")
"""Names of several letters, with a beginning in common, in both cases, and incarnations of a single name."""

LENGTH: Final = 60
"""Events in a walk."""

_MOST_MEMBERS: Final = 6
_CROWD: Final = 0.05  # of the walks of a domain with `more` names
_OTHERS: Final = 0.75  # three events of others for one
_KEPT: Final = 24
_CALLERS: Final = ("GMS", "STATE_TRANSFER", "MERGE", "FLUSH")


@frozen
class Domain:
    """The values that walks draw from: names, large numbers, payloads.

    `bases`: a walk has one of them, and most of its new numbers are a little more. `more`: the names of
    further members, which a few of the walks have. `largest`: no number of a walk is beyond; None where there
    is no such bound.
    """

    names: tuple[str, ...] = NAMES
    large: tuple[int, ...] = (7, 255, 65_535, 1_000_000_000)
    payloads: tuple[object, ...] = (0, 1, 2, 1_000_000_000)
    bases: tuple[int, ...] = ()
    more: tuple[str, ...] = ()
    largest: int | None = 2**31 - 1


CORES: Final = Domain()
"""For a core and its specification: TLC's numbers end at 2^31 - 1, and it compares no number with a text."""

PORTS: Final = Domain(
    names=(*NAMES, "X", "\u00e9", "e\u0301", "\uffee", "\U0001d11e", "constructor", "__proto__"),
    large=(7, 255, 65_535, 2**31, 2**32, 2**53 - 2, 2**60),
    bases=(0, 2**31 - 2, 2**32 - 2, 2**53 - 2, 2**60),
    payloads=(0, 1, 2, 2**53 - 1, False, True, "", "0", ()),
    more=tuple(f"member{number}" for number in range(70)),
    largest=None,
)
"""For a port, of which the core judges. Numbers are beyond 32 bits and beyond the exact ones of JavaScript;
sums of them are below 2^63. Names differ by case or by Unicode form, are ordered otherwise in UTF-16, or are
properties of each object of JavaScript. Payloads count as absent in some languages, or as equal."""


@frozen
class Drawn:
    """An event, and what the core made of it: `outcome`, or the name of another exception that it raised."""

    event: Any
    before: Any
    outcome: str
    after: Any
    effects: tuple[Any, ...]


@frozen
class Walk:
    """One member's part of what happened, from its start."""

    member: str
    steps: tuple[Drawn, ...]
    seed: int


def walk(protocol: Protocol, config: object, seed: int, *, length: int = LENGTH, domain: Domain = CORES) -> Walk:
    """Draw the walk with this seed: always the same for one state of the core.

    Members add numbers up. The walk ends, shorter than `length`, before a number that is not in the domain.
    """
    crowd = _Crowd(protocol, config, Random(seed), domain)  # noqa: S311 - repeatable, no secret
    for _ in range(length):
        crowd.step()
    largest = domain.largest
    if not crowd.large or largest is None:
        return Walk(crowd.hero, tuple(crowd.steps), seed)
    steps = takewhile(lambda step: _fits(step, largest), crowd.steps)
    return Walk(crowd.hero, tuple(steps), seed)


def kinds(protocol: Protocol) -> tuple[Record, ...]:
    """The events of a protocol."""
    shape = shape_of(protocol.events)
    options = shape.options if isinstance(shape, Choice) else (shape,)
    return tuple(option for option in options if isinstance(option, Record))


def taken(core: AnyCore, config: object, state: object, event: object) -> Drawn:
    """The answer of a core to an event."""
    try:
        after, effects = core.step(config, state, event)
    except ProtocolError as error:
        kind = "local_error" if isinstance(error, LocalProtocolError) else "remote_error"
        return Drawn(event, state, kind, state, ())
    except Exception as error:  # noqa: BLE001 - of the code under test: it is a finding
        return Drawn(event, state, type(error).__name__, state, ())
    return Drawn(event, state, "ignored" if after is state and not effects else "handled", after, effects)


def atoms(*values: Any) -> Iterator[Any]:  # noqa: ANN401 - of any classes
    """Give what is inside of values and has no parts: texts, numbers, truth values, None."""
    todo = [*values]
    while todo:
        value = todo.pop()
        if isinstance(value, tuple | frozenset):
            todo += value
        elif attrs.has(type(value)):
            todo += (getattr(value, each.name) for each in attrs.fields(type(value)))
        else:
            yield value


def _fits(step: Drawn, largest: int) -> bool:
    """Say whether no number of a step is beyond the largest."""
    return all(abs(each) <= largest for each in atoms(step) if isinstance(each, int))


@define
class _Crowd:
    """Members, what they have sent, and what was seen of each kind of value.

    The walk of the `hero` is what is compared. `lawful`: how much of what happens no peer has distorted.
    `large`: the largest number was drawn that TLC has, and not three times of it. `base`: that of the domain.
    """

    protocol: Protocol
    config: Any
    random: Random
    domain: Domain = CORES
    names: tuple[str, ...] = ()
    hero: str = ""
    lawful: float = 0.5
    large: bool = False
    base: int = 0
    states: dict[str, Any] = field(factory=dict)
    steps: list[Drawn] = field(factory=list)
    _wire: deque[tuple[str, str, Any]] = field(factory=lambda: deque(maxlen=_KEPT))
    _seen: dict[tuple[str, Shape], deque[Any]] = field(factory=lambda: defaultdict(lambda: deque(maxlen=_KEPT)))
    _kinds: tuple[Record, ...] = ()

    def __attrs_post_init__(self) -> None:
        self.names = tuple(self.random.sample(self.domain.names, self.random.randint(2, _MOST_MEMBERS)))
        if self.domain.bases:
            self.base = self.random.choice(self.domain.bases)
        if self.domain.more and self.random.random() < _CROWD:
            self.names += self.domain.more
        self.hero = self.names[0]
        self.lawful = self.random.choice((0.2, 0.6, 0.95))
        self.states = {name: self.protocol.core.start(name) for name in self.names}
        self._kinds = kinds(self.protocol)

    def step(self) -> None:
        """The hero takes an event; before that, perhaps, others take some."""
        while self.random.random() < _OTHERS:
            self._takes(self.random.choice(self.names[1:]), self.lawful / 2 + 0.5)
        self.steps.append(self._takes(self.hero, self.lawful))

    def _takes(self, name: str, lawful: float) -> Drawn:
        state = self.states[name]
        drawn = taken(self.protocol.core, self.config, state, self._event(name, lawful))
        self.states[name] = drawn.after
        if drawn.outcome == "handled":
            self._note("event", drawn.event, self._shape_of(drawn.event))
            for effect in drawn.effects:
                self._sent(name, effect)
        return drawn

    def _sent(self, name: str, effect: object) -> None:
        match effect:
            case Send(to, message):
                self._wire.append((name, to, self._letter(message)))
            case Datagram(_, message) | Multicast(message):
                letter = self._letter(message)
                self._wire.extend((name, to, letter) for to in self.names)
            case PassUp(event) | PassDown(event):
                self._note("event", event, self._shape_of(event))
            case _:
                pass

    def _letter(self, message: Any) -> Any:  # noqa: ANN401 - of the protocol
        """The message as it arrives: an envelope has annotations of what is in it only there."""
        if type(message) in self.protocol.received:
            return message
        (envelope,) = self.protocol.received
        return self.protocol.codec.decode(self.protocol.codec.to_spec(message), shape_of(envelope))

    @staticmethod
    def _shape_of(value: object) -> Shape:
        return shape_of(type(value))

    # Events

    def _event(self, name: str, lawful: float) -> Any:  # noqa: ANN401 - of the protocol
        mine = [letter for letter in self._wire if letter[1] == name]
        made = _Made(self, self.states[name])
        if mine and self.random.random() < 0.6:  # noqa: PLR2004
            return made.arrival(*self._oldest(mine))
        if self._wire and self.random.random() > lawful:
            sender, _, message = self.random.choice(self._wire)
            if self.random.random() < 0.3:  # noqa: PLR2004
                sender = self.random.choice(self.domain.names)
            if self.random.random() < 0.6:  # noqa: PLR2004
                message = changed(message, self._shape_of(message), made)
            return made.arrival(sender, "", message)
        local = [kind for kind in self._kinds if "message" not in kind.fields]
        return made.event(self.random.choice(local if self.random.random() < lawful else self._kinds))

    def _oldest(self, mine: list[tuple[str, str, Any]]) -> tuple[str, str, Any]:
        letter = mine[0] if self.random.random() < 0.7 else self.random.choice(mine)  # noqa: PLR2004
        if self.random.random() < 0.8:  # noqa: PLR2004
            self._wire.remove(letter)
        return letter

    def _note(self, name: str, value: Any, shape: Shape) -> None:  # noqa: ANN401 - of that shape
        """Remember a value and all that is inside, each under the name of its field."""
        for key, item in parts(name, value, shape):
            if not isinstance(item, bool):
                self._seen[key].append(item)

    def seen(self, name: str, shape: Shape) -> deque[Any]:
        """The values of a shape that were handled before, under this name."""
        return self._seen[name, shape]


def parts(name: str, value: Any, shape: Shape) -> Iterator[tuple[tuple[str, Shape], Any]]:  # noqa: ANN401
    """Give a value and all that is inside, each with the name of its field and its shape."""
    yield (name, shape), value
    match shape:
        case Sequence(item) | Subset(item):
            for each in value:
                yield from parts(name, each, item)
        case Function(_, key, item):
            for member, each in value.items():
                yield from parts(name, member, key)
                yield from parts(name, each, item)
        case Choice(options):
            for option in options:
                if isinstance(option, Record) and type(value) is option.cls:
                    yield from parts(name, value, option)
        case Record():
            for inner, each in shape.fields.items():
                yield from parts(inner, getattr(value, inner), each)
        case _:
            pass


class _Made:
    """Values for an event of a member in this state."""

    def __init__(self, crowd: _Crowd, state: Any) -> None:  # noqa: ANN401 - of the protocol
        self.crowd = crowd
        self.random = crowd.random
        self.sound = True
        self._state: dict[tuple[str, Shape], list[Any]] | None = None
        self._of = state
        self._members: tuple[str, ...] = ()  # of the last list in the event
        self._views = [members for members in self._near("members", _LIST) if members]

    def _near(self, name: str, shape: Shape) -> list[Any]:
        """The values of this shape that stand in the state, under this name."""
        if self._state is None:
            self._state = defaultdict(list)
            for key, value in parts("", self._of, shape_of(type(self._of))):
                self._state[key].append(value)
        return self._state[name, shape]

    def arrival(self, sender: str, _to: str, message: Any) -> Any:  # noqa: ANN401 - of the protocol
        """The event of a message that arrives."""
        cls = self.crowd.protocol.received[type(message)]
        shape = shape_of(cls)
        assert isinstance(shape, Record)  # noqa: S101 - an event is a record
        given = {"sender": sender, "message": message}
        return cls(**given, **{n: self.value(n, s) for n, s in shape.fields.items() if n not in given})

    def event(self, kind: Record) -> Any:  # noqa: ANN401 - of the protocol
        """An event of this kind; of a message all is made up."""
        self.sound = "message" not in kind.fields
        values = {}
        for name, shape in kind.fields.items():
            values[name] = self.value(name, shape)
            self.sound = True
        return kind.cls(**values)

    def value(self, name: str, shape: Shape) -> Any:  # noqa: ANN401 - of any class; a case each
        """A value of a shape: a known value of this name, or a new value."""
        chance = self.random.random()
        if not isinstance(shape, Function | Anything) and name != "sender":
            if chance < 0.4 and (near := self._near(name, shape)):  # noqa: PLR2004
                return self._kept(self.random.choice(near))
            if chance < 0.6 and (seen := self.crowd.seen(name, shape)):  # noqa: PLR2004
                return self._kept(self.random.choice(seen))
        match shape:
            case Atom(cls) if cls is bool:
                return self.random.random() < 0.5  # noqa: PLR2004
            case Atom(cls) if cls is int:
                return self._number(name, shape)
            case Atom():
                return self._text(name)
            case Nothing():
                return None
            case Anything():
                return self.random.choice(self.crowd.domain.payloads)
            case Sequence() if shape == _LIST:
                return self._list()
            case Sequence(item):
                return tuple(self.value(name, item) for _ in range(self.random.randint(0, 2)))
            case Fixed(items):
                return tuple(self.value(name, item) for item in items)
            case Subset(item) if item == _TEXT:
                among = self._members or self._around()
                return frozenset(each for each in among if self.random.random() < 0.5)  # noqa: PLR2004
            case Subset(item):
                return frozenset(self.value(name, item) for _ in range(self.random.randint(0, 2)))
            case Function(cls, _, item):
                return cls((each, self.value(name, item)) for each in self._domain())
            case Choice(options):
                return self.value(name, self.random.choice(options))
            case Record(cls):
                return cls(**{inner: self.value(inner, each) for inner, each in shape.fields.items()})

    def _kept(self, value: Any) -> Any:  # noqa: ANN401 - of any class
        members = getattr(value, "members", value)
        if isinstance(members, tuple) and all(type(each) is str for each in members):
            self._members = members
        return value

    def _number(self, name: str, shape: Shape) -> int:
        near = [*self._near(name, shape), *self.crowd.seen(name, shape)]
        if near and self.random.random() < 0.7:  # noqa: PLR2004
            return int(self.random.choice(near)) + self.random.choice((1, 1, 0, -1 if not self.sound else 1))
        if self.random.random() < 0.1:  # noqa: PLR2004
            large = self.crowd.domain.large
            found = self.random.choice(large)
            self.crowd.large |= found == large[-1]
            return found
        base = self.crowd.base if self.crowd.base and self.random.random() < 0.7 else 0  # noqa: PLR2004
        return base + self.random.choice((0, 1, 1, 2, 3))

    def _text(self, name: str) -> str:
        if name in self.crowd.protocol.texts:
            return self.random.choice(self.crowd.protocol.texts[name])
        if name == "asker":
            return self.random.choice(_CALLERS)
        among = self._members or self._around()
        if among and self.random.random() < 0.7:  # noqa: PLR2004
            return self.random.choice(among)
        return self.random.choice(self.crowd.names if self.random.random() < 0.9 else self.crowd.domain.names)  # noqa: PLR2004

    def _around(self) -> tuple[str, ...]:
        """The members of a view that the member knows."""
        return self.random.choice(self._views) if self._views else self.crowd.names

    def _list(self) -> tuple[str, ...]:
        """The members of a view: mostly this member is among them."""
        among = self.crowd.names if self.random.random() < 0.9 else self.crowd.domain.names  # noqa: PLR2004
        most = min(max(_MOST_MEMBERS, len(self.crowd.names)), len(among))
        found = self.random.sample(among, self.random.randint(1, most))
        own = self._of.member
        if own not in found and self.random.random() < 0.9:  # noqa: PLR2004
            found[self.random.randrange(len(found))] = own
        self._members = tuple(found)
        return self._members

    def _domain(self) -> tuple[str, ...]:
        """The members that a function is of."""
        among = self._members or self._around()
        if not self.sound and self.random.random() < 0.2:  # noqa: PLR2004
            return tuple(each for each in (*among, *self.crowd.names) if self.random.random() < 0.6)  # noqa: PLR2004
        return among


def changed(value: Any, shape: Shape, made: _Made, name: str = "") -> Any:  # noqa: ANN401 - of any class; a case each
    """The value with something in it changed, lost, doubled or put in another order."""
    made.sound = False
    random = made.random
    if random.random() < 0.15:  # noqa: PLR2004
        return made.value(name, shape)
    match shape:
        case Sequence(item) if value:
            at = random.randrange(len(value))
            match random.randrange(4):
                case 0:
                    return (*value[:at], *value[at + 1 :])
                case 1:
                    return (*value, value[at])
                case 2:
                    return tuple(random.sample(value, len(value)))
                case _:
                    return (*value[:at], changed(value[at], item, made, name), *value[at + 1 :])
        case Subset(item) if value and random.random() < 0.7:  # noqa: PLR2004
            return value - {random.choice(sorted(value, key=repr))}
        case Subset(item):
            return value | {made.value(name, item)}
        case Function(cls, key, item) if value:
            at = random.choice([*value])
            rest = [(member, each) for member, each in value.items() if member != at]
            match random.randrange(3):
                case 0:
                    return cls(tuple(rest))
                case 1:
                    return cls((*value.items(), (made.value(name, key), made.value(name, item))))
                case _:
                    return cls((*rest, (at, changed(value[at], item, made, name))))
        case Choice(options):
            for option in options:
                if isinstance(option, Record) and type(value) is option.cls:
                    return changed(value, option, made, name)
        case Record() if shape.fields:
            inner = random.choice([*shape.fields])
            new = changed(getattr(value, inner), shape.fields[inner], made, inner)
            return attrs.evolve(value, **{inner: new})
        case Atom(cls) if cls is int:
            return value + random.choice((-1, 1))
        case _:
            pass
    return made.value(name, shape)


def distorted(protocol: Protocol, state: object, message: Any, random: Random) -> Any:  # noqa: ANN401 - of the protocol
    """A message of the same type as `message`, with content of any kind; mostly near to `state`."""
    made = _Made(_Crowd(protocol, None, random), state)
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        message = changed(message, shape_of(type(message)), made)
    return message


def made_up(protocol: Protocol, state: object, random: Random, names: tuple[str, ...]) -> Any:  # noqa: ANN401 - of the protocol
    """An event of a layer around, for a member in this state."""
    crowd = _Crowd(protocol, None, random, Domain(names))
    local = [kind for kind in kinds(protocol) if "message" not in kind.fields]
    return _Made(crowd, state).event(random.choice(local))


_TEXT: Final = Atom(str)
_LIST: Final = Sequence(_TEXT)
