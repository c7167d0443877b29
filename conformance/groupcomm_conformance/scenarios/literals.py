"""Values in scenarios: YAML as it is convenient to write, read into the TLA+ values that annotations ask for.

A view is `[A, 1, [A, B]]`, its identifier `[A, 1]`. A digest's entry is a seqno or `{low, delivered,
received}`. A record is `{field: value}`. A value that has a `type` in TLA+ (an event, a message, an effect)
is `{TYPE: {field: value}}`. A function of members is a mapping, and a set or a sequence is a list. Without an
annotation a list is a sequence.
"""

from collections.abc import Mapping
from typing import Final

from attrs import frozen

from groupcomm.digest import DigestEntry
from groupcomm.shapes import Anything, Atom, Choice, Fixed, Function, Nothing, Record, Sequence, Shape, Subset
from groupcomm.view import View, ViewId
from groupcomm_conformance.files.strict_yaml import Node
from groupcomm_conformance.protocols.codec import NOTHING, Codec
from groupcomm_conformance.tla.values import Fn, Value, function

_ADDRESS: Final = r"[\w#]*"
_A_VIEW: Final = "a view such as [A, 1, [A, B]]"


def untyped(node: Node) -> Value:
    """Read a value of which nothing is known: a list is a sequence, a mapping a record."""
    match node.content:
        case tuple(items):
            return tuple(map(untyped, items))
        case bool() | int() | str() as atom:
            return atom
        case entries:
            return function((name, untyped(item)) for name, item in entries.items())


def decided_views(node: Node, known: tuple[str, ...]) -> Value:
    """Read the views that a membership service decides, in order: what `Views!DecidedView` is, of each.

    A view is `[A, 1, [A, B]]`, or `{view: [A, 1, [A, B]], follows: [1], lives: {A: 1}}`. The first view has
    no predecessor. Each other follows the view before it in the list, unless it says which (their numbers,
    from 1). A member that is in a predecessor survives from there. Any other member begins with the view: in
    its first incarnation or, where an earlier view has it, in its next. Members and creators are `known` to
    the scenario.
    """
    decided: list[Fn] = []
    for item in node.items("a list of views"):
        said = item.fields(("view",), ("follows", "lives")) if isinstance(item.content, Mapping) else {"view": item}
        creator, counter, listed = _parts(said["view"], 3, _A_VIEW)
        members = _members(listed, known)
        if creator.content not in known:
            raise creator.error(f"one of {', '.join(known)} as creator, not {creator.content}")
        preds = [len(decided)] if decided else []
        if "follows" in said:
            preds = [each.integer(1) for each in said["follows"].items("a list of numbers of earlier views")]
            if max(preds, default=0) > len(decided):
                raise said["follows"].error("numbers of earlier views, from 1")
        lives = {member: _life(member, decided, preds) for member in members}
        if "lives" in said:
            for member, each in said["lives"].entries("a mapping from members").items():
                if member not in members:
                    raise each.error(f"one of {', '.join(members)}, not the member {member}")
                lives[member] = each.integer(0)
        joins = (m for m in members if all(_life_in(decided[pred - 1], m) != lives[m] for pred in preds))
        decided.append(
            Fn(
                {
                    "id": _view_id(creator, counter),
                    "members": members,
                    "preds": frozenset(preds),
                    "lives": function(lives.items()),
                    "joins": frozenset(joins),
                }
            )
        )
    return tuple(decided)


def _members(node: Node, known: tuple[str, ...]) -> tuple[str, ...]:
    """Read a view's members: known members, each once."""
    found: list[str] = []
    for each in node.items("a list of members"):
        member = each.text("a member")
        if member not in known:
            raise each.error(f"one of {', '.join(known)}, not the member {member}")
        if member in found:
            raise each.error(f"each member once, not {member} again")
        found.append(member)
    return tuple(found)


def _life_in(view: Fn, member: str) -> Value:
    lives = view["lives"]
    return lives.get(member) if isinstance(lives, Fn) else None  # type: ignore[return-value]


def _life(member: str, decided: "list[Fn]", preds: list[int]) -> int:
    """Give the incarnation of a member in a view that follows these."""
    before = [life for pred in preds if isinstance(life := _life_in(decided[pred - 1], member), int)]
    ever = [life for view in decided if isinstance(life := _life_in(view, member), int)]
    return max(before) if before else max(ever, default=-1) + 1


def _view_id(creator: Node, counter: Node) -> Value:
    return Fn({"counter": counter.integer(0), "creator": creator.matching(_ADDRESS, "an address")})


def _parts(node: Node, count: int, what: str) -> tuple[Node, ...]:
    items = node.items(what)
    if len(items) != count:
        raise node.error(what)
    return items


@frozen
class Literals:
    """Reads the values of a protocol. FileError where a value is not of the required shape."""

    codec: Codec

    def read(self, node: Node, shape: Shape) -> Value:
        """Read a value of this shape."""
        match shape:
            case Atom(cls):
                if cls is bool:
                    return node.boolean()
                return node.integer() if cls is int else node.text("a name")
            case Anything():
                return untyped(node)
            case Nothing():
                node.choice(("none",))
                return NOTHING
            case Sequence(item):
                return tuple(self.read(each, item) for each in node.items())
            case Subset(item):
                return self._set(node, item)
            case Fixed(shapes):
                items = _parts(node, len(shapes), f"a list of {len(shapes)}")
                return tuple(self.read(each, item) for each, item in zip(items, shapes, strict=True))
            case Function(_, _, item):
                entries = node.entries("a mapping from members")
                return function((name, self.read(each, item)) for name, each in entries.items())
            case Choice(options):
                return self._choice(node, options)
            case Record(cls):
                return self._record(node, shape) if cls not in self.codec.tags else self._tagged(node, (shape,))

    def fields(self, found: "dict[str, Node]", shape: Record) -> tuple[tuple[str, Value], ...]:
        """Read those of a record's fields that are there."""
        return tuple((name, self.read(found[name], each)) for name, each in shape.fields.items() if name in found)

    def _set(self, node: Node, item: Shape) -> Value:
        elements: list[Value] = []
        for each in node.items():
            element = self.read(each, item)
            if element in elements:
                raise each.error("each element of a set once")
            elements.append(element)
        return frozenset(elements)

    def _record(self, node: Node, shape: Record) -> Value:
        if shape.cls is View:
            creator, counter, members = _parts(node, 3, _A_VIEW)
            return Fn({"id": _view_id(creator, counter), "members": self._names(members)})
        if shape.cls is ViewId:
            creator, counter = _parts(node, 2, "a view's identifier such as [A, 1]")
            return _view_id(creator, counter)
        if shape.cls is DigestEntry and isinstance(node.content, int):
            seqno = node.integer(-1)
            return Fn({"low": -1, "delivered": seqno, "received": seqno})
        return Fn(dict(self.fields(dict(node.fields(tuple(shape.fields))), shape)))

    def _names(self, node: Node) -> Value:
        return tuple(item.text("a member") for item in node.items("a list of members"))

    def _choice(self, node: Node, options: tuple[Shape, ...]) -> Value:
        if node.content == "none" and Nothing() in options:
            return NOTHING
        records = tuple(o for o in options if isinstance(o, Record) and o.cls in self.codec.tags)
        if records:
            return self._tagged(node, records)
        rest = [option for option in options if not isinstance(option, Nothing)]
        if len(rest) != 1:
            raise node.error("a value of another type: scenarios cannot write this choice of types")
        return self.read(node, rest[0])

    def _tagged(self, node: Node, options: tuple[Record, ...]) -> Value:
        """Read `{TYPE: {field: value, ...}}`, or where a wrapper has one field `{TYPE: its value}`."""
        tags = {self.codec.tags[option.cls]: option for option in options}
        entries = node.entries(f"{{{'|'.join(tags)}: {{...}}}}")
        if len(entries) != 1 or next(iter(entries)) not in tags:
            raise node.error(f"one of {', '.join(tags)}, not {', '.join(entries) or 'nothing'}")
        ((tag, content),) = entries.items()
        option = tags[tag]
        if len(option.fields) == 1 and self._wraps(*option.fields.values()):
            ((name, inner),) = option.fields.items()
            return Fn({"type": tag, name: self.read(content, inner)})
        found = content.fields(tuple(option.fields))
        return Fn({"type": tag, **dict(self.fields(dict(found), option))})

    def _wraps(self, inner: Shape) -> bool:
        options = inner.options if isinstance(inner, Choice) else (inner,)
        return all(isinstance(option, Record) and option.cls in self.codec.tags for option in options)
