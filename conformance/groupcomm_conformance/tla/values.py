"""TLA+ values as Python values: reading TLC's text, writing it, and the ITF encoding.

=================  ==========================  =============================
TLA+               Python                      ITF JSON
=================  ==========================  =============================
``TRUE``           ``bool``                    ``true``
``3``, ``-1``      ``int``                     ``{"#bigint": "3"}``
``"A"``, ``m1``    ``str``                     ``"A"``
``<<1, 2>>``       ``tuple``                   ``{"#tup": [..]}``
``{1, 2}``         ``frozenset``               ``{"#set": [..]}``
``[a |-> 1]``      `Fn` with string keys       ``{"a": ..}``
``(k :> v)``       `Fn`                        ``{"#map": [[k, v], ..]}``
=================  ==========================  =============================

Every value is hashable and has one form: equal TLA+ values are equal in Python, whatever the order
in which TLC printed them, and `show` and `to_json` write equal values as equal text. A function on
``1..n`` is a tuple and the function on nothing is ``()``, as in TLA+; `function` builds either.
Model values and strings are both ``str``: `show` writes them as strings.

Python holds ``True == 1``, which TLA+ does not: a comparison that must not confuse them uses
`identical`.
"""

import re
from collections.abc import Callable, ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from operator import length_hint
from typing import Any, Final, TypeAlias, final

Value: TypeAlias = "bool | int | str | tuple[Value, ...] | frozenset[Value] | Fn"
JSON: TypeAlias = "bool | int | str | list[JSON] | dict[str, JSON]"


class ValueSyntaxError(ValueError):
    """Text that is no TLA+ value: ``reason`` says why, ``position`` (a 0-based offset in ``text``) where."""

    def __init__(self, text: str, position: int, reason: str) -> None:
        self.text = text
        self.position = position
        self.reason = reason
        excerpt = f"{text[max(0, position - 30) : position]}>>>{text[position : position + 30]}"
        super().__init__(f"{reason} at offset {position}: {excerpt!r}")

    def __reduce__(self) -> tuple[type["ValueSyntaxError"], tuple[str, int, str]]:
        return ValueSyntaxError, (self.text, self.position, self.reason)


@final
class Fn(Mapping[Value, Value]):
    """A TLA+ function or record: an immutable, hashable mapping, iterated in the canonical order of its keys.

    Raises ValueError for the domains ``{}`` and ``1..n``: those functions are tuples (see `function`).
    """

    __slots__ = ("_hash", "_map", "_sorted")
    _hash: int | None
    _map: dict[Any, Value]
    _sorted: bool

    def __init__(self, items: Mapping[Any, Value] | Iterable[tuple[Value, Value]] = (), /) -> None:
        self._map = dict(items)
        self._hash = None
        self._sorted = False
        if _is_sequence(self._map):
            raise ValueError(f"a function on 1..{len(self._map)} is a tuple: build it with function()")

    def _ordered(self) -> dict[Any, Value]:
        if not self._sorted:
            self._map = {key: self._map[key] for key in _in_order(self._map)}
            self._sorted = True
        return self._map

    def __getitem__(self, key: Value, /) -> Value:
        return self._map[key]

    def __contains__(self, key: object, /) -> bool:
        return key in self._map

    def __len__(self) -> int:
        return len(self._map)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._ordered())

    def get(self, key: Value, default: Any = None, /) -> Any:  # noqa: ANN401 - of any type, as a Mapping's
        """The value at ``key``, or ``default`` outside the domain."""
        return self._map.get(key, default)

    def keys(self) -> KeysView[Any]:
        """The domain, in canonical order."""
        return self._ordered().keys()

    def values(self) -> ValuesView[Value]:
        """The values, in the order of their keys."""
        return self._ordered().values()

    def items(self) -> ItemsView[Any, Value]:
        """The pairs, in the canonical order of their keys."""
        return self._ordered().items()

    def replace(self, **fields: Value) -> "Fn":
        """The same record with some fields changed; KeyError names a field that it does not have."""
        if unknown := fields.keys() - self._map.keys():
            raise KeyError(", ".join(sorted(unknown)))
        return _fn(self._map | fields)

    def identical(self, other: "Fn") -> bool:
        """Say whether the other has the same keys with the same values: see `identical`."""
        if len(self) != len(other):
            return False
        if all(type(key) is str for key in self._map):
            return all(key in other and identical(item, other[key]) for key, item in self._map.items())
        return self == other and show(self) == show(other)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Fn) and self._map == other._map

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(frozenset(self._map.items()))
        return self._hash

    def __repr__(self) -> str:
        return f"Fn({self._ordered()!r})"

    # String hashes differ from process to process: a cached hash must not travel in a pickle.
    def __reduce__(self) -> tuple[type["Fn"], tuple[dict[Any, Value]]]:
        return Fn, (self._map,)


_new: Final = object.__new__


def _fn(items: dict[Any, Value]) -> Fn:
    """A `Fn` over a dict that is not shared and whose domain is known not to be 1..n."""
    fn = _new(Fn)
    fn._map = items  # noqa: SLF001 - this is Fn's second constructor
    fn._hash = None  # noqa: SLF001
    fn._sorted = False  # noqa: SLF001
    return fn


def _is_sequence(items: Mapping[Any, Value]) -> bool:
    return not items or (1 in items and all(type(key) is int and 1 <= key <= len(items) for key in items))


def function(items: Mapping[Any, Value] | Iterable[tuple[Value, Value]]) -> "tuple[Value, ...] | Fn":
    """The function with these pairs in its canonical form: a tuple when its domain is 1..n, else a `Fn`."""
    pairs = dict(items)
    if _is_sequence(pairs):
        return tuple(pairs[index] for index in range(1, len(pairs) + 1))
    return _fn(pairs)


# Order


def order(value: Value) -> tuple[Any, ...]:
    """A sort key that orders any two values: booleans, integers, strings, tuples, sets, functions."""
    match value:
        case bool():
            return 0, value
        case int():
            return 1, value
        case str():
            return 2, value
        case tuple():
            return 3, len(value), [order(item) for item in value]
        case frozenset():
            return 4, len(value), sorted(map(order, value))
        case Fn():
            return 5, len(value), [(order(key), order(item)) for key, item in value.items()]
    raise TypeError(f"not a TLA+ value: {value!r} ({type(value).__name__})")


def _in_order(values: Iterable[Value]) -> list[Value]:
    members = list(values)
    if len(members) > 1:
        if all(type(member) is str for member in members) or all(type(member) is int for member in members):
            members.sort()
        else:
            members.sort(key=order)
    return members


def identical(left: Value, right: Value) -> bool:
    """Say whether two values are the same TLA+ value; unlike for ``==``, TRUE is not 1."""
    if left is right:
        return True
    if type(left) is not type(right):
        return left == right and show(left) == show(right)  # a subclass of str is the same text
    if isinstance(left, tuple) and isinstance(right, tuple):
        return len(left) == len(right) and all(map(identical, left, right))
    if isinstance(left, Fn) and isinstance(right, Fn):
        return left.identical(right)
    return left == right and (not isinstance(left, frozenset) or show(left) == show(right))


# Text -> value

_TOKEN: Final = re.compile(
    r'"(?:[^"\\]|\\.)*"|\w+\s*\|->|-?\d+(?:\.\.-?\d+)?|\w+|<<|>>|:>|@@|[\[\]{}(),]|\S', re.DOTALL
)
_INTEGER: Final = re.compile(r"-?\d+")
_ESCAPE: Final = re.compile(r"\\(.)", re.DOTALL)
_UNESCAPED: Final = {"n": "\n", "t": "\t", "r": "\r", "f": "\f"}
_REMEMBERED: Final = 100_000
_atoms: dict[str, Value] = {}
_fields: dict[str, str] = {}


class _Unexpected(Exception):  # noqa: N818 - it leaves this file as a ValueSyntaxError
    """The token just taken cannot stand here."""


def parse(text: str) -> Value:
    """The value that TLC printed as ``text``; ValueSyntaxError says where the text stops being a value."""
    tokens = _TOKEN.findall(text)
    rest = iter(tokens)
    try:
        value = _value(rest.__next__(), rest.__next__)
        if (trailing := next(rest, None)) is not None:
            raise _Unexpected(f"{trailing!r} after the end of the value")
    except _Unexpected as error:
        index = len(tokens) - length_hint(rest) - 1
        position = next(match for i, match in enumerate(_TOKEN.finditer(text)) if i == index).start()
        raise ValueSyntaxError(text, position, str(error)) from None
    except StopIteration:
        raise ValueSyntaxError(text, len(text), "unexpected end of the value") from None
    return value


def _value(token: str, take: Callable[[], str]) -> Value:
    # Containers look their atoms up in place: a call for each number would take half of the time.
    known = _atoms.get
    if token == "[":
        record: dict[Any, Value] = {}
        while True:
            token = take()
            name = _fields.get(token) or _field(token)
            if name in record:
                raise _Unexpected(f"field {name} stands twice")
            token = take()
            value = known(token)
            record[name] = _value(token, take) if value is None else value
            token = take()
            if token == "]":
                return _fn(record)
            if token != ",":
                raise _Unexpected(f"expected ',' or ']', not {token!r}")
    if token in {"<<", "{"}:
        closer = ">>" if token == "<<" else "}"
        members: list[Value] = []
        token = take()
        if token != closer:
            while True:
                value = known(token)
                members.append(_value(token, take) if value is None else value)
                token = take()
                if token == closer:
                    break
                if token != ",":
                    raise _Unexpected(f"expected ',' or {closer!r}, not {token!r}")
                token = take()
        return tuple(members) if closer == ">>" else frozenset(members)
    if token == "(":
        pairs: dict[Any, Value] = {}
        while True:
            key = _value(take(), take)
            if key in pairs:
                raise _Unexpected(f"key {show(key)} stands twice")
            token = take()
            if token != ":>":
                raise _Unexpected(f"expected ':>', not {token!r}")
            pairs[key] = _value(take(), take)
            token = take()
            if token == ")":
                return function(pairs)
            if token != "@@":
                raise _Unexpected(f"expected '@@' or ')', not {token!r}")
    value = known(token)
    return _atom(token) if value is None else value


def _atom(token: str) -> Value:
    value: Value
    if token[0] == '"' and len(token) > 1:
        value = _ESCAPE.sub(lambda escape: _UNESCAPED.get(escape[1], escape[1]), token[1:-1])
    elif _INTEGER.fullmatch(token):
        value = int(token)
    elif _INTEGER.match(token) and ".." in token:
        low, high = token.split("..")
        value = frozenset(range(int(low), int(high) + 1))
    elif token.isidentifier():
        value = {"TRUE": True, "FALSE": False}.get(token, token)
    else:
        raise _Unexpected(f"{token!r} starts no value")
    if len(_atoms) >= _REMEMBERED:
        _atoms.clear()
    _atoms[token] = value
    return value


def _field(token: str) -> str:
    if not token.endswith("|->"):
        raise _Unexpected(f"expected a field, not {token!r}")
    name = _fields[token] = token[:-3].rstrip()
    return name


_CONJUNCT: Final = re.compile(r"^(?:/\\ )?(\w+) = ", re.MULTILINE)


def parse_state(text: str) -> Fn:
    r"""A state as TLC prints it, ``/\ x = 1`` on a line for each variable, as a record of its variables."""
    starts = list(_CONJUNCT.finditer(text))
    if not starts or text[: starts[0].start()].strip():
        raise ValueSyntaxError(text, 0, "expected a conjunction of variable = value")
    ends = [*(start.start() for start in starts[1:]), len(text)]
    return _fn({start[1]: parse(text[start.end() : end]) for start, end in zip(starts, ends, strict=True)})


# Value -> text

_RESERVED: Final = (
    "ACTION|ASSUME|ASSUMPTION|AXIOM|BOOLEAN|BY|CASE|CHOOSE|CONSTANT|CONSTANTS|COROLLARY|DEF|DEFINE|DEFS|DOMAIN|"
    "ELSE|ENABLED|EXCEPT|EXTENDS|FALSE|HAVE|HIDE|IF|IN|INSTANCE|LAMBDA|LEMMA|LET|LOCAL|MODULE|NEW|OBVIOUS|"
    "OMITTED|ONLY|OTHER|PICK|PROOF|PROPOSITION|PROVE|QED|RECURSIVE|STATE|STRING|SUBSET|SUFFICES|TAKE|TEMPORAL|"
    "THEN|THEOREM|TRUE|UNCHANGED|UNION|USE|VARIABLE|VARIABLES|WITH|WITNESS"
)
_NAME: Final = re.compile(rf"(?!WF_|SF_|(?:{_RESERVED})\Z)_*[A-Za-z]\w*", re.ASCII)
_ESCAPED: Final = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r", "\f": "\\f"})


def _is_record(fn: Fn) -> bool:
    """Say whether a function can be written ``[a |-> 1]``: each key is a string that is a TLA+ name."""
    return all(type(key) is str and _NAME.fullmatch(key) for key in fn)


def show(value: Value) -> str:
    """The value as TLA+ text without line ends, sets and fields in canonical order.

    `parse` and TLC read it back; functions need ``EXTENDS TLC``. TypeError names what is no TLA+ value.
    """
    match value:
        case bool():
            return "TRUE" if value else "FALSE"
        case int():
            return str(value)
        case str():
            return f'"{value.translate(_ESCAPED)}"'
        case tuple():
            return f"<<{', '.join(map(show, value))}>>"
        case frozenset():
            return f"{{{', '.join(map(show, _in_order(value)))}}}"
        case Fn() if _is_record(value):
            return f"[{', '.join(f'{key} |-> {show(item)}' for key, item in value.items())}]"
        case Fn():
            return f"({' @@ '.join(f'{show(key)} :> {show(item)}' for key, item in value.items())})"
    raise TypeError(f"not a TLA+ value: {value!r} ({type(value).__name__})")


# ITF


def to_json(value: Value) -> JSON:
    """The value in the ITF encoding, in canonical order; TypeError names what is no TLA+ value."""
    match value:
        case bool() | str():
            return value
        case int():
            return {"#bigint": str(value)}
        case tuple():
            return {"#tup": [to_json(item) for item in value]}
        case frozenset():
            return {"#set": [to_json(item) for item in _in_order(value)]}
        case Fn() if _is_record(value):
            return {key: to_json(item) for key, item in value.items()}
        case Fn():
            return {"#map": [[to_json(key), to_json(item)] for key, item in value.items()]}
    raise TypeError(f"not a TLA+ value: {value!r} ({type(value).__name__})")


def from_json(json: JSON) -> Value:
    """The value of an ITF encoding, or of plain integers and arrays; ValueError shows what is neither."""
    match json:
        case bool() | int() | str():
            return json
        case list():
            return tuple(map(from_json, json))
    match list(json.items()) if isinstance(json, dict) else []:
        case [("#bigint", str(digits))] if _INTEGER.fullmatch(digits):
            return int(digits)
        case [("#tup", list(items))]:
            return tuple(map(from_json, items))
        case [("#set", list(items))]:
            return frozenset(map(from_json, items))
        case [("#map", list(items))]:
            return function(_pairs(items))
        case [_, *_] if not any(name.startswith("#") for name in json):
            return _fn({name: from_json(item) for name, item in json.items()})
    raise ValueError(f"not a value in the ITF encoding: {_excerpt(json)}")


def _pairs(items: list[JSON]) -> dict[Value, Value]:
    pairs: dict[Value, Value] = {}
    for item in items:
        match item:
            case [key, result] if (known := from_json(key)) not in pairs:
                pairs[known] = from_json(result)
            case _:
                raise ValueError(f"not a pair with a key of its own: {_excerpt(item)}")
    return pairs


def _excerpt(json: JSON) -> str:
    return f"{json!r:.80}"
