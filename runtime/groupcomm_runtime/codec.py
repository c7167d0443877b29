"""Messages as bytes: an encoding that is derived from the annotations, strict on what comes in.

A value is MessagePack. A record is the array of its fields, in order. A choice is the number of the option
and its value. A set is an array that rises, and a mapping is an array of pairs. So equal values are equal
bytes. Received bytes have exactly this form, or are refused: for any bytes, `decode` raises `RefusedError`
and no other exception. The payload that a protocol carries for the layers above it is bytes of the
application, or a message of a layer above.

`VERSION` belongs to each datagram. It is another one as soon as an annotation of a message, or this form, is;
and as soon as a member waits for a message that those of another version do not send.
"""

from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from operator import attrgetter
from types import ModuleType
from typing import Any, Final, TypeAlias

import msgspec
from attrs import evolve

from groupcomm.per_member import PerMember
from groupcomm.shapes import Anything, Atom, Choice, Fixed, Function, Nothing, Record, Sequence, Shape, Subset, shape_of
from groupcomm.stack import APPLICATION, Tagged

VERSION: Final = 11
"""Of the form of messages and datagrams, and of what members wait for."""

LARGEST_INTEGER: Final = 2**62
"""No integer of a message is larger, nor as far below 0: a core may add to it, and send the sum."""

LONGEST_TEXT: Final = 300
"""Characters of a text in a message; all are addresses, and no file's name is longer. Python reads no number
of 4,301 digits, and an address may end with one."""

LARGEST_READ: Final = 1 << 20
"""Bytes of a message around a large payload. A view of 100,000 members has more, and takes seconds to read."""

_NUMBER: Final = 4  # bytes
_RECOGNIZED: Final = 64  # bytes of a payload by which it is found
_DEEPEST: Final = 8  # of messages within messages; a stack has fewer layers

_REMEMBERED: Final = 1_024  # records of a class

_Write: TypeAlias = Callable[[Any], Any]
_Read: TypeAlias = Callable[[Any, int], Any]

pack: Final = msgspec.msgpack.Encoder().encode
_unpack: Final = msgspec.msgpack.Decoder().decode


class RefusedError(ValueError):
    """Bytes that are no message."""


def unpack(data: bytes) -> Any:  # noqa: ANN401 - any value of MessagePack
    """The value that bytes are in MessagePack. Raises RefusedError where they are none."""
    try:
        return _unpack(data)
    except (msgspec.MsgspecError, RecursionError, ValueError, TypeError, OverflowError, MemoryError) as error:
        raise RefusedError(f"no MessagePack: {error}") from None


def _bin(length: int) -> bytes:
    """The bytes before so many bytes in MessagePack."""
    if length < 1 << 8:
        return b"\xc4%c" % length
    return b"\xc5" + length.to_bytes(2) if length < 1 << 16 else b"\xc6" + length.to_bytes(4)


def around(data: bytes, payload: bytes) -> bytes:
    """A message that is encoded, with the place of its large payload before it: see `Codec.decode_around`."""
    header = _bin(len(payload)) if payload else b""
    at = data.find(header + payload[:_RECOGNIZED]) + len(header)
    return at.to_bytes(_NUMBER) + len(payload).to_bytes(_NUMBER) + data


def _with_payload(message: Tagged, payload: bytes) -> Tagged:
    """The message with these bytes of an application, where it has none. Raises RefusedError where it has no place."""
    carrier: Any = message.message
    if carrier == b"":
        return evolve(message, message=payload)
    match getattr(carrier, "payload", None):
        case Tagged() as within:
            return evolve(message, message=evolve(carrier, payload=_with_payload(within, payload)))
        case b"":
            return evolve(message, message=evolve(carrier, payload=payload))
    raise RefusedError("no large message: it has no payload")


class Codec:
    """Writes and reads the messages of some layers: `layers` are their names and modules, top first."""

    def __init__(self, layers: Mapping[str, ModuleType]) -> None:
        self._names = (APPLICATION, *layers)
        self._writers: dict[Shape, _Write] = {}
        self._readers: dict[Shape, _Read] = {}
        self._write: dict[tuple[str, type], tuple[int, int, _Write]] = {}
        self._read: list[list[_Read]] = [[]]
        for number, (name, module) in enumerate(layers.items(), 1):
            options = _flat(shape_of(module.Message))
            for place, option in enumerate(options):
                self._write[name, _class(option)] = number, place, self._writer(option)
            self._read.append([self._reader(option) for option in options])

    def decode_around(self, data: bytes) -> tuple[Tagged, bytes]:
        """The message that such bytes are, and its own bytes. Raises RefusedError.

        It is read without its payload: so what is read is small, whatever a peer has sent.
        """
        at, length = int.from_bytes(data[:_NUMBER]), int.from_bytes(data[_NUMBER : 2 * _NUMBER])
        whole = data[2 * _NUMBER :]
        header = _bin(length) if length else b""
        if not len(header) <= at <= at + length <= len(whole) or len(whole) - length > LARGEST_READ:
            raise RefusedError("no large message: its payload has a place, and what is around it is small")
        if not length:
            return self.decode(whole), whole
        message = self.decode(b"%b%b%b" % (whole[: at - len(header)], _bin(0), whole[at + length :]))
        message = _with_payload(message, whole[at : at + length])
        if self.encode(message) != whole:
            raise RefusedError("no large message: its payload is not where it says")
        return message, whole

    def encode(self, message: Tagged) -> bytes:
        """A message of any of the layers as bytes. Raises KeyError for a message of another class."""
        return pack(self._message(message))

    def decode(self, data: bytes) -> Tagged:
        """The message that bytes are. Raises RefusedError."""
        found = self._tagged(unpack(data), 0)
        if found.layer == APPLICATION:
            raise RefusedError("a message of no layer")
        return found

    # Messages and payloads

    def _message(self, message: Tagged) -> list[Any]:
        if message.layer == APPLICATION:
            return [0, message.message]
        number, place, write = self._write[message.layer, type(message.message)]
        return [number, place, write(message.message)]

    def _payload(self, value: object) -> Any:  # noqa: ANN401 - of MessagePack
        return self._message(value) if isinstance(value, Tagged) else value

    def _tagged(self, value: Any, depth: int) -> Tagged:  # noqa: ANN401 - anything
        if type(value) is list and len(value) == 2 and value[0] == 0 and type(value[1]) is bytes:  # noqa: PLR2004
            return Tagged(APPLICATION, value[1])
        if type(value) is not list or len(value) != 3 or depth == _DEEPEST:  # noqa: PLR2004 - layer, option, fields
            raise RefusedError("no message of a layer")
        number, place, fields = value
        if type(number) is not int or type(place) is not int:
            raise RefusedError("a layer and its message have numbers")
        if not 0 < number < len(self._read) or not 0 <= place < len(self._read[number]):
            raise RefusedError("there is no such layer or message")
        return Tagged(self._names[number], self._read[number][place](fields, depth))

    def _unwrapped(self, value: Any, depth: int) -> object:  # noqa: ANN401 - anything
        return value if type(value) is bytes else self._tagged(value, depth + 1)

    # Shapes

    def _writer(self, shape: Shape) -> _Write:
        if shape not in self._writers:
            self._writers[shape] = self._make_writer(shape)
        return self._writers[shape]

    def _make_writer(self, shape: Shape) -> _Write:
        match shape:
            case Atom() | Nothing():
                return lambda value: value
            case Anything():
                return self._payload
            case Sequence(item):
                each = self._writer(item)
                return lambda value: [each(one) for one in value]
            case Subset(item):
                inner = self._writer(item)
                return lambda value: sorted((inner(one) for one in value), key=pack)
            case Fixed(items):
                writers = [self._writer(item) for item in items]
                return lambda value: [write(one) for write, one in zip(writers, value, strict=True)]
            case Function(_, key, item):
                name, held = self._writer(key), self._writer(item)
                return lambda value: [[name(one), held(it)] for one, it in value.items()]
            case Record():
                return self._record_writer(shape.fields)
            case Choice():
                numbered = {_class(option): (place, self._writer(option)) for place, option in enumerate(_flat(shape))}

                def chosen(value: Any) -> list[Any]:  # noqa: ANN401 - of any of the options
                    place, write = numbered[type(value)]
                    return [place, write(value)]

                return chosen

    def _record_writer(self, fields: Mapping[str, Shape]) -> _Write:
        """Atoms are taken as they are: most fields are atoms."""
        taken = attrgetter(*fields, "__class__")  # of several names it gives a tuple
        others = [(n, self._writer(field)) for n, field in enumerate(fields.values()) if not _is_atom(field)]

        def write(value: Any) -> list[Any]:  # noqa: ANN401 - a record
            *written, _ = taken(value)
            for place, each in others:
                written[place] = each(written[place])
            return written

        return write

    def _reader(self, shape: Shape) -> _Read:
        if shape not in self._readers:
            self._readers[shape] = self._make_reader(shape)
        return self._readers[shape]

    def _record_reader(self, cls: type, fields: list[Shape]) -> _Read:
        """Records of atoms alone, such as identifiers of views, come again and again: they are remembered."""
        readers = [self._reader(field) for field in fields]
        kinds = [_base(field.cls) for field in fields if isinstance(field, Atom)]
        if len(kinds) < len(fields):
            return lambda value, depth: cls(*_fields(readers, value, depth))
        known: dict[tuple[Any, ...], Any] = {}

        def read(value: Any, depth: int) -> Any:  # noqa: ANN401 - anything
            found = None
            if type(value) is list and [*map(type, value)] == kinds:  # 1 is equal to True, and is another value
                found = known.get((*value,))
            if found is None:
                found = cls(*_fields(readers, value, depth))
                if len(known) == _REMEMBERED:
                    known.clear()
                known[*value,] = found
            return found

        return read

    def _make_reader(self, shape: Shape) -> _Read:
        match shape:
            case Atom(cls):
                return _atom(cls)
            case Nothing():
                return _nothing
            case Anything():
                return self._unwrapped
            case Sequence(item):
                each = self._reader(item)
                return lambda value, depth: tuple([each(one, depth) for one in _array(value)])
            case Subset(item):
                return _set(self._reader(item))
            case Fixed(items):
                readers = [self._reader(item) for item in items]
                return lambda value, depth: tuple(_fields(readers, value, depth))
            case Function(cls, key, item):
                return _mapping(cls, [self._reader(key), self._reader(item)])
            case Record(cls):
                return self._record_reader(cls, list(shape.fields.values()))
            case Choice():
                return _choice([self._reader(option) for option in _flat(shape)])


def _is_atom(shape: Shape) -> bool:
    return isinstance(shape, Atom | Nothing)


def _flat(shape: Shape) -> list[Shape]:
    """The options of a choice, those of choices among them too; of any other shape itself."""
    return [each for option in shape.options for each in _flat(option)] if isinstance(shape, Choice) else [shape]


def _class(option: Shape) -> type:
    """The class by which an option is known. Raises TypeError where there is none."""
    match option:
        case Record(cls) | Atom(cls):
            return cls
        case Nothing():
            return type(None)
        case _:
            raise TypeError(f"an option without a class that distinguishes it from the others: {option}")


def _array(value: Any) -> list[Any]:  # noqa: ANN401 - anything
    if type(value) is not list:
        raise RefusedError("no array")
    return value


def _fields(readers: list[_Read], value: Any, depth: int) -> list[Any]:  # noqa: ANN401 - anything
    if type(value) is not list or len(value) != len(readers):
        raise RefusedError(f"no array of {len(readers)}")
    return [read(one, depth) for read, one in zip(readers, value)]  # noqa: B905 - they are as many


def _base(cls: type) -> type:
    """The type of MessagePack in which an atom travels."""
    return next(base for base in (bool, int, str) if issubclass(cls, base))


def _atom(cls: type) -> _Read:
    base = _base(cls)

    def read(value: Any, _depth: int) -> Any:  # noqa: ANN401 - anything
        if type(value) is not base:
            raise RefusedError(f"no {base.__name__}")
        if type(value) is int and abs(value) > LARGEST_INTEGER:
            raise RefusedError("an integer that is too large")
        if type(value) is str and len(value) > LONGEST_TEXT:
            raise RefusedError("an address that is too long")
        return value if cls is base else cls(value)

    return read


def _nothing(value: Any, _depth: int) -> None:  # noqa: ANN401 - anything
    if value is not None:
        raise RefusedError("not nothing")


def _rises(value: Iterable[Any]) -> bool:
    written = [pack(one) for one in value]
    return all(one < other for one, other in pairwise(written))


def _set(item: _Read) -> _Read:
    def read(value: Any, depth: int) -> frozenset[Any]:  # noqa: ANN401 - anything
        found = frozenset(item(one, depth) for one in _array(value))
        if not _rises(value):
            raise RefusedError("a set rises")
        return found

    return read


def _mapping(cls: type[PerMember[Any]], pair: list[_Read]) -> _Read:
    def read(value: Any, depth: int) -> PerMember[Any]:  # noqa: ANN401 - anything
        pairs = tuple(tuple(_fields(pair, one, depth)) for one in _array(value))
        if any(one[0] >= other[0] for one, other in pairwise(pairs)):
            raise RefusedError("the keys of a mapping rise")
        return cls(pairs)

    return read


def _choice(readers: list[_Read]) -> _Read:
    def read(value: Any, depth: int) -> Any:  # noqa: ANN401 - anything
        if type(value) is not list or len(value) != 2 or type(value[0]) is not int:  # noqa: PLR2004 - which, and what
            raise RefusedError("no choice")
        if not 0 <= value[0] < len(readers):
            raise RefusedError("there is no such option")
        return readers[value[0]](value[1], depth)

    return read


def canonical(value: Any) -> Any:  # noqa: ANN401 - any value of a core
    """Any value of a core for MessagePack, equal values equally: for digests; nothing reads it back.

    Raises TypeError for a value that no core has.
    """
    cls = type(value)
    if cls in _PLAIN:
        return value
    if cls is tuple or cls is list:
        return [each if type(each) in _PLAIN else canonical(each) for each in value]
    form = _forms.get(cls)
    if form is None:
        form = _forms[cls] = _form(cls)
    return form(value)


_PLAIN: Final = frozenset({type(None), bool, int, str, bytes})
_forms: Final[dict[type, Callable[[Any], Any]]] = {}


def _form(cls: type) -> Callable[[Any], Any]:
    """How values of a class are written, in `canonical`."""
    if issubclass(cls, bool | int | str | bytes):
        return lambda value: value
    if issubclass(cls, tuple | list):
        return lambda value: [canonical(each) for each in value]
    if issubclass(cls, frozenset | set):
        return lambda value: sorted(map(canonical, value), key=pack)
    fields = getattr(cls, "__attrs_attrs__", None)
    if fields is None:
        raise TypeError(f"no value of a core: it is of the class {cls.__qualname__}")
    name, names = cls.__qualname__, tuple(field.name for field in fields)
    return lambda value: [name, *[canonical(getattr(value, each)) for each in names]]
