"""A process with the key that errs or lies, against the runtime: hostile messages, and many incarnations.

`messages` sends datagrams with the right seal to a member of a real group, on loopback: messages of all
classes of all layers, of the right types with extreme values, and distorted ones. `incarnations` has a member
hear a greeting and a heartbeat of each of as many incarnations as one likes. A finding is an exception, or an
incarnation that ends with an error, or a table that grows with the number of incarnations.
"""

import asyncio
import logging
import socket
import sys
import tempfile
from collections import Counter
from contextlib import suppress
from random import Random
from time import process_time
from typing import Any, Final

from attrs import define, field

import groupcomm_runtime
from groupcomm import heartbeat
from groupcomm.shapes import Anything, Atom, Choice, Fixed, Function, Nothing, Record, Sequence, Shape, Subset, shape_of
from groupcomm.stack import Tagged
from groupcomm.view import Address, ViewId
from groupcomm_runtime import FAST, Group, member
from groupcomm_runtime.codec import LARGEST_INTEGER, Codec, pack
from groupcomm_runtime.frames import Frame, Seal
from groupcomm_runtime.layers import LAYERS

_KEY: Final = b"what members alone know"
_GROUP: Final = "hostile"
_OF_A_LIFE: Final = 4_000  # messages to a group, before another one
_AT_ONCE: Final = 40
_WITHIN_BEATS: Final = 250  # incarnations within two heartbeats
_DEEPEST: Final = 4


def _flat(shape: Shape) -> list[Shape]:
    return [each for option in shape.options for each in _flat(option)] if isinstance(shape, Choice) else [shape]


_OPTIONS: Final = [_flat(shape_of(module.Message)) for module in LAYERS.values()]
KINDS: Final = frozenset((layer, place) for layer, options in enumerate(_OPTIONS, 1) for place in range(len(options)))
"""All classes of messages, as numbers of the codec: the layer, and the place among its options."""


@define
class Came:
    """The results of hostile datagrams. `findings`: what was raised, and how often."""

    sent: int = 0
    kinds: set[tuple[int, int]] = field(factory=set)
    counts: Counter[str] = field(factory=Counter)
    findings: Counter[str] = field(factory=Counter)
    tables: dict[str, int] = field(factory=dict)


class _Drawn:
    """Values of shapes, as the codec writes them: extreme ones, and those of the group."""

    def __init__(self, random: Random, group: Group, other: Address) -> None:
        self._random, self._view = random, group.view or ViewId(1, group.address)
        me, name = group.address, group.address.partition("#")[0]
        odd = ["", name, f"{name}#1", "x" * 300, "../../x", "a\0b", "a\nb", "é\u2028"]
        # A long name has the whole message refused: with more of them no message would reach the layers.
        long = [f"{name}#" + "9" * 5_000, "x" * 301] if random.randrange(8) == 0 else []
        self.names = [me, me, other, other, f"{other}\0", "C#1", "D#2", *odd, *long]

    def value(self, shape: Shape, depth: int) -> Any:  # noqa: ANN401 - of MessagePack
        draw = self._random
        match shape:
            case Atom(cls) if issubclass(cls, bool):
                return draw.choice([True, False])
            case Atom(cls) if issubclass(cls, int):
                now, large = self._view.counter, LARGEST_INTEGER
                return draw.choice([0, 1, 2, now, now, now + 1, now - 1, -1, large, -large, 2**31, draw.randrange(20)])
            case Atom():
                return draw.choice(self.names)
            case Nothing():
                return None
            case Anything():
                inner = depth < _DEEPEST and draw.random() < 0.7  # noqa: PLR2004 - often
                return (
                    self.message(depth + 1)
                    if inner
                    else draw.choice([b"", b"a", b"t\x93", b"s\x94", draw.randbytes(9)])
                )
            case Sequence(item):
                return [self.value(item, depth) for _ in range(draw.randrange(4))]
            case Subset(item):
                return sorted({pack(v): v for v in self.value(Sequence(item), depth)}.values(), key=pack)
            case Fixed(items):
                return [self.value(item, depth) for item in items]
            case Function(_, key, item):
                keys = {pack(each): each for each in self.value(Sequence(key), depth)}
                return [
                    [each, self.value(item, depth)] for each in sorted(keys.values(), key=lambda v: (str(type(v)), v))
                ]
            case Record():
                if shape.cls is ViewId and draw.random() < 0.6:  # noqa: PLR2004 - mostly
                    return [self._view.counter, self._view.creator]
                return [self.value(each, depth) for each in shape.fields.values()]
            case Choice():
                place = draw.randrange(len(_flat(shape)))
                return [place, self.value(_flat(shape)[place], depth)]

    def message(self, depth: int = 0, kind: tuple[int, int] | None = None) -> list[Any]:
        layer, place = kind or self._random.choice(sorted(KINDS))
        return [layer, place, self.value(_OPTIONS[layer - 1][place], depth)]

    def distorted(self, value: Any) -> Any:  # noqa: ANN401 - of MessagePack
        draw = self._random
        if isinstance(value, list) and value and draw.random() < 0.8:  # noqa: PLR2004 - deep, mostly
            at = draw.randrange(len(value))
            return [*value[:at], self.distorted(value[at]), *value[at + 1 :]]
        return draw.choice(
            [None, -1, 2**63, -(2**63), 2**64 - 1, "x", b"x", [], [[]], 1.5, True, {}, {"a": 1}, [0] * 50]
        )

    def item(self, came: Came) -> bytes:
        """An item of a datagram: a message, a clock, places, a fragment, or none of these."""
        draw = self._random
        if draw.random() < 0.05:  # noqa: PLR2004 - rarely
            far = draw.choice([0, -(2**63), 2**63, 2**64 - 1])
            places = [(draw.choice(self.names), draw.choice(["::1", "255.255.255.255", "no"]), far)]
            return draw.choice(
                [b"c" + pack((far, far, far)), b"p" + pack(places), b"f" + pack((bytes(16), 1, 2, b"")), b"", b"q"]
            )
        kind = draw.choice(sorted(KINDS - came.kinds or KINDS))
        came.kinds.add(kind)
        value = self.message(0, kind)
        if draw.random() < 0.15:  # noqa: PLR2004 - now and then
            value = self.distorted(value)
        return (b"h" + bytes(8) if kind[0] == [*LAYERS].index("heartbeat") + 1 else b"m") + pack(value)


class _Stateful:
    """An application with a state that is always the same."""

    def get(self) -> bytes:
        return b"the state"

    def set(self, state: bytes) -> None:
        """Take any state."""


async def _takes(group: Group, came: Came) -> None:
    """Take all events; an incarnation that ends with an error is a finding."""
    try:
        async for _ in group:
            pass
    except groupcomm_runtime.EndedError as error:
        came.findings[f"an incarnation ended: {error.__cause__!r:.200}"] += 1


def _raised(came: Came) -> Any:  # noqa: ANN401 - what asyncio calls
    return lambda _loop, context: came.findings.update([f"raised: {context.get('exception')!r:.200}"])


async def messages(number: int, seed: int) -> Came:
    """Send at least `number` hostile messages to members of groups of two, which have a state."""
    came, random = Came(), Random(seed)  # noqa: S311 - repeatable, no secret
    seal = Seal(_KEY, _GROUP, "\0state")
    asyncio.get_running_loop().set_exception_handler(_raised(came))
    join = groupcomm_runtime.join
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        while came.sent < number and not came.findings:
            with tempfile.TemporaryDirectory() as folder:
                async with (
                    join(_GROUP, name="A", folder=folder, key=_KEY, settings=FAST, state=_Stateful()) as a,
                    join(_GROUP, name="B", folder=folder, key=_KEY, settings=FAST, state=_Stateful()) as b,
                ):
                    taking = [asyncio.create_task(_takes(each, came)) for each in (a, b)]
                    here = ("127.0.0.1", 9)
                    sequence = 10**9
                    counts = dict[Address, dict[str, int]]()
                    for _ in range(min(_OF_A_LIFE, number - came.sent) // _AT_ONCE + 1):
                        drawn = _Drawn(random, a, b.address)
                        for _ in range(_AT_ONCE):
                            sequence += 1
                            sender = random.choice([b.address] * 6 + drawn.names)
                            with suppress(ValueError):  # MessagePack has no such text
                                frame = Frame(sender, here, a.address, sequence, (drawn.item(came),))
                                sock.sendto(seal.close(frame), a.place)
                                came.sent += 1
                        await asyncio.sleep(0.001)
                        counts[a.address] = a.counts
                    for of_life in counts.values():
                        came.counts.update(of_life)
                for each in taking:
                    each.cancel()
    return came


async def incarnations(number: int) -> Came:
    """Have a member hear so many incarnations of eight names; `tables`: the largest sizes of its tables.

    With more incarnations than twice the bound on what is remembered, the bound has to be reached, too.
    """
    came, seal, codec = Came(), Seal(_KEY, _GROUP), Codec(LAYERS)
    clock = b"c" + pack((1, 0, 0))
    asyncio.get_running_loop().set_exception_handler(_raised(came))
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("127.0.0.1", 0))
        sock.settimeout(0)
        async with groupcomm_runtime.join(_GROUP, name="A", folder=folder, key=_KEY, settings=FAST) as a:
            taking = asyncio.create_task(_takes(a, came))
            for life in range(2, number + 2):
                sender = f"B{life % 8}#{life}"
                beat = (
                    b"h"
                    + bytes(8)
                    + codec.encode(
                        Tagged("heartbeat", heartbeat.Heartbeat(1, ViewId(1, sender), counts=False, suspects=False))
                    )
                )
                for to, items in (("", (bytes(200),)), (a.address, (clock, beat))):
                    sock.sendto(seal.close(Frame(sender, sock.getsockname(), to, life, items)), a.place)
                came.sent += 1
                if life % _AT_ONCE == 0:
                    await asyncio.sleep(0.002)
                    with suppress(BlockingIOError):
                        while sock.recv(65_536):
                            pass
                    sizes = a.tables | {f"known {name}": size for name, size in a.known.items()}
                    came.tables = {name: max(size, came.tables.get(name, 0)) for name, size in sizes.items()}
                if life % _WITHIN_BEATS == 0:  # who was heard within the patience is never forgotten
                    await asyncio.sleep(2 * FAST.heartbeat)
            await asyncio.wait_for(a.send(b"on"), 30)
            came.counts.update(a.counts)
        taking.cancel()
    bound = 2 * member.MOST_HEARD  # what comes between two heartbeats is above it for so long
    too_large = [f"{name} has {size:,}" for name, size in came.tables.items() if size > bound]
    came.findings.update(too_large)
    if number > bound and came.tables["known numbers"] <= member.MOST_HEARD:
        came.findings[f"the bound of {member.MOST_HEARD:,} incarnations was never reached"] += 1
    return came


def main(number: int, seed: int) -> int:
    """Send messages, and a tenth as many incarnations; say what came of it, and give 1 for a finding."""
    logging.getLogger("groupcomm_runtime").setLevel(logging.CRITICAL)
    failed = False
    for what, came in (
        ("hostile messages", asyncio.run(messages(number, seed))),
        ("incarnations", asyncio.run(incarnations(number // 10))),
    ):
        failed |= bool(came.findings)
        sys.stdout.write(
            f"{what}, from seed {seed}: {'FAILS' if came.findings else 'ok'}: {came.sent:,}, "
            f"{came.counts['steps']:,} steps, {came.tables or ''} ({process_time():.0f} s of CPU time)\n"
        )
        for finding, count in came.findings.most_common():
            sys.stdout.write(f"FAILS {finding}, {count:,} times\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
