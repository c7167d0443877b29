"""Bad calls of the runtime: each is one clear error that names the parameter, and leaves nothing behind."""

import asyncio
import socket
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

import groupcomm_runtime
from groupcomm_runtime import BadInputError, EndedError, Group, MessageTooLargeError, NotDelivered, Settings
from tests.runtime.conversing import FAST, KEY, run

TCP = Settings(transport="tcp")
TOO_MUCH = bytes((16 << 20) + 1)


class State:
    """A holder of a state."""

    def get(self) -> bytes:
        return b""

    def set(self, state: bytes) -> None:
        pass


class OnlyGets:
    """No holder of a state."""

    def get(self) -> bytes:
        return b""


class Waits(State):
    """Its method is async."""

    async def get(self) -> bytes:  # type: ignore[override]
        return b""


class PutsLater(OnlyGets):
    """Its method is async."""

    async def set_parts(self, parts: object) -> None:
        pass


class Word(bytes):
    """No plain bytes."""


def datagrams_of_six() -> socket.socket:
    return socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)


def in_use() -> socket.socket:
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.bind(("127.0.0.1", 0))
    return sock


def closed() -> socket.socket:
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.close()
    return sock


JOINS: list[tuple[dict[str, Any], str]] = [
    # the group
    ({"group": ""}, "a group has a name: the first argument of join"),
    ({"group": None}, "group= is str, and this is of the type NoneType"),
    ({"group": 7}, "group= is str, and this is of the type int"),
    ({"group": b"demo"}, "group= is str, and this is of the type bytes"),
    ({"group": "x" * 5_000}, "the group's name 'xxxx.* has 5006 bytes as that of a folder, and up to 200 are allowed"),
    ({"group": "\ud800"}, "group= has half of a character"),
    # the name
    ({"name": ""}, "name='' is no name: it is not empty"),
    ({"name": "a#1"}, "name='a#1' is no name: it is not empty, has no # and no /, and begins with no dot"),
    ({"name": "#"}, "name='#' is no name"),
    ({"name": "../a"}, "name='../a' is no name"),
    ({"name": "a/b"}, "name='a/b' is no name"),
    ({"name": "."}, "name='.' is no name"),
    ({"name": "a\0"}, r"name='a\\x00' is no name"),
    ({"name": "a" * 201, "folder": None, "peers": ["127.0.0.1:1"]}, "name='aaaa.* is no name: it has up to 200 bytes"),
    ({"name": "\u00e4" * 101}, "name=.* is no name: it has up to 200 bytes of UTF-8"),
    ({"name": "\ud800"}, "name=.* is no name"),
    ({"name": 7}, "name= is str, and this is of the type int"),
    ({"name": None}, "name= is str, and this is of the type NoneType"),
    ({"name": b"a"}, "name= is str, and this is of the type bytes"),
    # the key
    ({"key": "a word"}, "a key has 16 bytes at least, not 6: `groupcomm key new` makes one"),
    ({"key": ""}, "a key has 16 bytes at least, not 0"),
    ({"key": b""}, "a key has 16 to 64 bytes, not 0"),
    ({"key": b"bytes"}, "a key has 16 to 64 bytes, not 5"),
    ({"key": bytes(65)}, "a key has 16 to 64 bytes, not 65"),
    ({"key": None}, r"key= is bytes \| str, and this is of the type NoneType"),
    ({"key": 7}, "key= is .*, and this is of the type int"),
    ({"key": bytearray(16)}, "key= is .* and this is of the type bytearray"),
    ({"key": memoryview(KEY)}, "key= is .* and this is of the type memoryview"),
    ({"key": [1] * 16}, "key= is .* and this is of the type int"),
    ({"key": []}, "key= is an empty list: give a key"),
    ({"key": [KEY, b"bytes"]}, "a key has 16 to 64 bytes, not 5"),
    ({"key": "\ud800" * 16}, "key= has half of a character"),
    # the era
    ({"era": -1}, "era=-1: it is 0, or a higher number"),
    ({"era": True}, "era=True: it is 0, or a higher number"),
    ({"era": "1"}, "era= is int, and this is of the type str"),
    # the folder
    ({"folder": None}, "members find each other by folder= or by peers=: give one of the two"),
    ({"folder": 7}, "folder= is .*, and this is of the type int"),
    ({"folder": True}, "folder= is .*, and this is of the type bool"),
    ({"folder": b"folder"}, "folder= is .*, and this is of the type bytes"),
    ({"folder": ""}, "folder= is empty, or has a zero byte: name a folder"),
    ({"folder": "a\0b"}, "folder= is empty, or has a zero byte"),
    ({"folder": "/dev/null"}, "the folder /dev/null cannot be written: File exists"),
    ({"folder": "/dev/null/x"}, "the folder /dev/null/x cannot be written: Not a directory"),
    ({"folder": "/proc/1"}, "the folder /proc/1 cannot be written"),
    ({"folder": "/tmp/" + "x" * 300}, "the folder /tmp/x* cannot be written: File name too long"),  # noqa: S108 - not made
    # the peers
    ({"peers": ["127.0.0.1:1"]}, "members find each other by folder= or by peers=: give one of the two"),
    *(
        ({"folder": None, "peers": peers}, text)
        for peers, text in (
            ([], "give one of the two"),
            ((), "give one of the two"),
            (None, "peers= is Iterable, and this is of the type NoneType"),
            (7801, "peers= is Iterable, and this is of the type int"),
            ([7801], r"peers\[0\]= is str, and this is of the type int"),
            (["127.0.0.1:1", None], r"peers\[1\]= is str, and this is of the type NoneType"),
            ([b"127.0.0.1:1"], r"peers\[0\]= is str, and this is of the type bytes"),
            (b"127.0.0.1:1", r"peers\[0\]= is str, and this is of the type int"),
            ([("127.0.0.1", 7801)], r"peers\[0\]= is str, and this is of the type tuple"),
            ("nowhere", "peers='nowhere' is no place: it is written host:port, as 127.0.0.1:7801"),
            (["nowhere"], "peers='nowhere' is no place"),
            ([""], "peers='' is no place"),
            ([":7801"], "peers=':7801' is no place"),
            (["127.0.0.1:"], "peers='127.0.0.1:' is no place"),
            (["127.0.0.1:-1"], "peers='127.0.0.1:-1' is no place"),
            (["127.0.0.1:7.5"], "peers='127.0.0.1:7.5' is no place"),
            (["127.0.0.1:65536"], "peers='127.0.0.1:65536' is no place"),
            (["127.0.0.1:\u0661"], "peers=.* is no place"),
            (["a:b:c"], "peers='a:b:c' is no place"),
            (["http://127.0.0.1:80"], "peers='http://127.0.0.1:80' is no place"),
            (["127.0.0.1:0"], "peers= has 127.0.0.1:0, where no member can be"),
            (["127.0.0.1:7801", "0.0.0.0:7802"], "peers= has 0.0.0.0:7802, where no member"),
            (["224.0.0.1:7801"], "peers='224.0.0.1:7801' is no place of one host: name its own address"),
            (["255.255.255.255:7801"], "peers=.* is no place of one host"),
            (["[::1]:7801"], "is a place of IPv6, and groups have IPv4: name one as"),
            (["no-such-host.invalid:7801"], "peers= names no host that is found: no-such-host.invalid"),
            (["256.1.1.1:7801"], "peers= names no host that is found: 256.1.1.1"),
            ([" 127.0.0.1:7801"], "peers= names no host that is found:  127.0.0.1"),
            (["\ud800:1"], r"peers\[0\]= has half of a character"),
        )
    ),
    # the own place
    ({"listen": 7801}, "listen= is str, and this is of the type int"),
    ({"listen": None}, "listen= is str, and this is of the type NoneType"),
    ({"listen": ("127.0.0.1", 0)}, "listen= is str, and this is of the type tuple"),
    ({"listen": ""}, "listen='' is no place"),
    ({"listen": "127.0.0.1"}, "listen='127.0.0.1' is no place"),
    ({"listen": ":0"}, "listen=':0' is no place"),
    ({"listen": "127.0.0.1:x"}, "listen='127.0.0.1:x' is no place"),
    ({"listen": "127.0.0.1:-1"}, "listen='127.0.0.1:-1' is no place"),
    ({"listen": "127.0.0.1:99999"}, "listen='127.0.0.1:99999' is no place"),
    ({"listen": "a..b:0"}, "listen= names no host that is found: a..b"),
    ({"listen": "::1:0"}, "listen='::1:0' is a place of IPv6"),
    ({"listen": "[::1]:0"}, r"listen='\[::1\]:0' is a place of IPv6"),
    ({"listen": "224.0.0.1:0"}, "listen='224.0.0.1:0' is no place of one host"),
    ({"listen": "255.255.255.255:0"}, "listen='255.255.255.255:0' is no place of one host"),
    ({"listen": "192.0.2.1:7000"}, "192.0.2.1:7000 cannot be listened at: .*; name another with listen="),
    ({"listen": "0.0.0.0:0"}, "listen='0.0.0.0:.*' is no place that a record can name to others"),
    ({"listen": "0.0.0.0:0", "settings": TCP}, "name an address of this host"),
    ({"listen": "\ud800:0"}, "listen= has half of a character"),
    # the log, the settings, the state, the options
    ({"log": True}, "log= is .*, and this is of the type bool"),
    ({"log": b"log"}, "log= is .*, and this is of the type bytes"),
    ({"log": ""}, "log= is empty, or has a zero byte: name a folder"),
    ({"log": "a\0b"}, "log= is empty, or has a zero byte"),
    ({"log": "/dev/null"}, "the log /dev/null/.* cannot be written"),
    ({"log": "/dev/null/x"}, "the log /dev/null/x/.* cannot be written"),
    ({"settings": {}}, "settings= is .*, and this is of the type dict"),
    ({"settings": "FAST"}, "settings= is .*, and this is of the type str"),
    ({"settings": Settings}, "settings= is .*, and this is of the type type"),
    ({"state": {"a": 1}}, "state= has the methods .* dict.set is no such"),
    ({"state": object()}, "state= has the methods .* object.get is no such"),
    ({"state": OnlyGets()}, "state= has the methods .* OnlyGets.set is no such"),
    ({"state": PutsLater()}, "state= has the methods .* PutsLater.set_parts is no such"),
    ({"state": Waits()}, "state= has the methods .*, which are not async, and Waits.get is no such"),
    ({"state": State}, "state= is the class State: give an object of it"),
    ({"blocks": 1}, "blocks= is bool, and this is of the type int"),
    ({"blocks": None}, "blocks= is bool, and this is of the type NoneType"),
    ({"majority": "yes"}, "majority= is bool, and this is of the type str"),
    ({"majority": None}, "majority= is bool, and this is of the type NoneType"),
    ({"transport": "udp"}, "transport= is .*, and this is of the type str"),
    ({"transport": lambda: None}, "transport= makes a UDP socket of IPv4, and this made NoneType"),
    ({"transport": socket.socket}, "transport= makes a UDP socket of IPv4, and this made .*SOCK_STREAM"),
    ({"transport": datagrams_of_six}, "transport= makes a UDP socket of IPv4, and this made .*AF_INET6"),
    ({"transport": in_use}, "127.0.0.1:0 cannot be listened at: Invalid argument"),
    ({"transport": closed}, "127.0.0.1:0 cannot be listened at: Bad file descriptor"),
    ({"transport": in_use, "settings": TCP}, "transport= makes a UDP socket: leave it out, or settings with"),
]


@pytest.mark.parametrize(("arguments", "text"), JOINS)
def test_a_bad_argument_of_join_is_one_clear_error(tmp_path: Path, arguments: dict[str, Any], text: str) -> None:
    async def test() -> None:
        given = {"group": "demo", "name": "a", "key": KEY, "folder": tmp_path, **arguments}
        with pytest.raises(BadInputError, match=text):
            async with groupcomm_runtime.join(given.pop("group"), **given):
                pass

    run(test())
    assert [] == [*tmp_path.rglob("*.member")]


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"heartbeat": 0.5, "patience": 1.0}, "heartbeat=0.5 and patience=1 do not fit"),
        ({"heartbeat": 0}, "heartbeat=0 and .* do not fit"),
        ({"heartbeat": -0.1}, "heartbeat=-0.1 and .* do not fit"),
        ({"heartbeat": 2_000, "patience": 10_000}, "do not fit"),
        ({"patience": float("nan")}, "patience=nan do not fit"),
        ({"patience": float("inf")}, "patience=inf do not fit"),
        ({"patience": 0}, "patience=0 do not fit"),
        ({"heartbeat": "0.2"}, "heartbeat='0.2': it is float"),
        ({"patience": None}, "patience=None: it is float"),
        ({"patience": True}, "patience=True: it is float"),
        ({"datagram": 100}, "datagram=100 .* a datagram has 1024 to 65000 bytes"),
        ({"datagram": 65_001}, "datagram=65001 .* a datagram has 1024 to 65000 bytes"),
        ({"datagram": 8e3}, "datagram=8000.0: it is int"),
        ({"unstable": 0}, "unstable=0: .* one message at least"),
        ({"unstable": 1.5}, "unstable=1.5: it is int"),
        (
            {"unstable_bytes": 65_535},
            "unstable_bytes=65535, event_bytes=67108864 and held_bytes=67108864: each has 65536",
        ),
        ({"event_bytes": 65_535}, "unstable_bytes=33554432, event_bytes=65535 and held_bytes=67108864: each has 65536"),
        ({"event_bytes": "1 MiB"}, "event_bytes='1 MiB': it is int"),
        ({"largest_state": 0}, "largest_state=0: it is 1 at least"),
        ({"held_bytes": 65_535}, "held_bytes=65535: each has 65536 bytes at least"),
        ({"transport": "TCP"}, "transport='TCP': it is 'udp' or 'tcp'"),
        ({"transport": ["udp"]}, "transport=.*: it is str"),
        ({"majority": 1}, "majority=1: it is bool"),
    ],
)
def test_settings_that_do_not_fit_are_one_clear_error(tmp_path: Path, given: dict[str, Any], text: str) -> None:
    async def test() -> None:
        with pytest.raises(BadInputError, match=text):
            async with groupcomm_runtime.join("demo", name="a", key=KEY, folder=tmp_path, settings=Settings(**given)):
                pass

    run(test())


def post(data: Any) -> Callable[[Group], Awaitable[None]]:  # noqa: ANN401 - whatever a caller gives
    async def call(group: Group) -> None:
        group.post(data)

    return call


def send(data: Any, **options: Any) -> Callable[[Group], Awaitable[object]]:  # noqa: ANN401 - whatever a caller gives
    return lambda group: group.send(data, **options)


async def declare(group: Group) -> None:
    group.declare_state()


def from_another_loop(call: Callable[[Group], Awaitable[object]]) -> Callable[[Group], Awaitable[object]]:
    async def awaits(group: Group) -> object:
        return await call(group)

    return lambda group: asyncio.to_thread(lambda: asyncio.run(awaits(group)))


_NO_MESSAGES = [
    (each, BadInputError, f"a message is bytes, and no {type(each).__name__}: encode it")
    for each in ("text", bytearray(b"x"), memoryview(b"x"), None, 7, {"a": 1}, [b"x"], Word(b"x"))
]
_TOO_LARGE = [
    (each, MessageTooLargeError, f"a message of {len(each)} bytes, and the largest has 16777216: send it in parts")
    for each in (TOO_MUCH, bytes(100_000_000))
]
CALLS: list[tuple[Callable[[Group], Awaitable[object]], type[Exception], str]] = [
    *((call(each), error, text) for call in (send, post) for each, error, text in _NO_MESSAGES + _TOO_LARGE),
    (send(b"x", to=7), BadInputError, "to= is str, and this is of the type int"),
    (send("text", to="a"), BadInputError, "a message is bytes, and no str: encode it"),
    (send(b"x", to="nobody"), NotDelivered, "nobody is not in the view of a#"),
    (send(b"x", to="a", safe=True), BadInputError, "safe=True is of messages to all: leave it out with to="),
    (Group.has_state, BadInputError, "a group without state= has no state: give `join` one"),
    (declare, BadInputError, "a group without state= has no state: give `join` one"),
    *(
        (from_another_loop(call), BadInputError, "this group belongs to another event loop: .*run_coroutine_threadsafe")
        for call in (send(b"x"), post(b"x"), Group.drain, Group.leave, Group.__anext__)
    ),
]
AFTER: list[tuple[Callable[[Group], Awaitable[object]], type[Exception], str]] = [
    (send(b"x"), EndedError, "the group is left"),
    (send(b"x", to="a"), EndedError, "the group is left"),
    (post(b"x"), EndedError, "the group is left"),
    (Group.drain, EndedError, "the group is left"),
    (send("text"), BadInputError, "a message is bytes"),
    (post(TOO_MUCH), MessageTooLargeError, "send it in parts"),
]


def test_a_bad_call_of_a_group_is_one_clear_error_and_the_group_goes_on(tmp_path: Path) -> None:
    async def test() -> None:
        async with groupcomm_runtime.join("demo", name="a", key=KEY, folder=tmp_path, settings=FAST) as group:
            for call, error, text in CALLS:
                with pytest.raises(error, match=text):
                    await call(group)
            assert await group.send(b"")
            assert await group.send(bytes(65_536))
        for call, error, text in AFTER:
            with pytest.raises(error, match=text):
                await call(group)
        await group.leave()

    run(test())


def test_a_member_that_has_the_state_declares_none_and_none_is_declared_of_a_group_that_is_left(tmp_path: Path) -> None:
    async def test() -> None:
        join = groupcomm_runtime.join("demo", name="a", key=KEY, folder=tmp_path, settings=FAST, state=State())
        async with join as group:
            with pytest.raises(BadInputError, match="this member has the state of the group: only one that lacks it"):
                group.declare_state()
        with pytest.raises(EndedError, match="the group is left"):
            await group.has_state()

    run(test())
