"""Hosts that are named: a resolver that knows none, that is slow, that hangs, and whose answers change."""

import asyncio
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import groupcomm_runtime
from groupcomm_runtime import BadInputError, places
from groupcomm_runtime.operations import Operations
from groupcomm_runtime.places import Names, Place
from tests.runtime.conversing import FAST, KEY, run

UNKNOWN = socket.gaierror(socket.EAI_NONAME, "Name or service not known")


def resolves(monkeypatch: pytest.MonkeyPatch, answer: Callable[[str], str]) -> None:
    """Have a resolver answer for the hosts of `.example`."""
    real = socket.getaddrinfo

    def getaddrinfo(host: str, port: int, *args: int, **options: int) -> object:
        return real(answer(host) if host.endswith(".example") else host, port, *args, **options)

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)


@pytest.fixture
def hangs(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A resolver that does not answer until the test ends."""
    ends = threading.Event()

    def answer(_host: str) -> str:
        ends.wait(60)
        raise UNKNOWN

    resolves(monkeypatch, answer)
    yield
    ends.set()


def unknown(_host: str) -> str:
    raise UNKNOWN


def free(count: int) -> list[int]:
    """So many ports."""
    socks = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(count)]
    for each in socks:
        each.bind(("127.0.0.1", 0))
    ports = [int(each.getsockname()[1]) for each in socks]
    for each in socks:
        each.close()
    return ports


def in_vain(caplog: pytest.LogCaptureFixture) -> list[tuple[str, str]]:
    """The hosts that were not found, and why, as the log of the operator has it."""
    lines = [json.loads(each.getMessage()) for each in caplog.records if each.name == "groupcomm_runtime"]
    return [(each["host"], each["why"]) for each in lines if each["operation"] == "host not found"]


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        ({"peers": ["no-such-host.example:7801"]}, "peers="),
        ({"peers": ["127.0.0.1:7801"], "listen": "no-such-host.example:0"}, "listen="),
    ],
)
def test_a_list_of_which_no_host_is_found_is_an_error(
    monkeypatch: pytest.MonkeyPatch, arguments: dict[str, Any], what: str
) -> None:
    """A process with a mistake in its list founded a group of its own, with no word."""
    resolves(monkeypatch, unknown)

    async def test() -> None:
        with pytest.raises(BadInputError, match=f"{what} names no host that is found: no-such-host.example"):
            async with groupcomm_runtime.join("demo", name="a", key=KEY, settings=FAST, **arguments):
                pass

    run(test())


def test_a_host_that_is_not_found_is_named(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """It may be one that has not started yet, so the others found a group."""
    resolves(monkeypatch, unknown)
    (port,) = free(1)

    async def test() -> None:
        peers = [f"127.0.0.1:{port}", "no-such-host.example:7801"]
        async with groupcomm_runtime.join("demo", name="a", key=KEY, peers=peers, listen=peers[0], settings=FAST) as a:
            await a.send(b"x")

    run(test())
    assert [("no-such-host.example", "Name or service not known")] == in_vain(caplog)


@pytest.mark.usefixtures("hangs")
def test_a_resolver_that_hangs_keeps_nobody_out_and_stops_no_loop(caplog: pytest.LogCaptureFixture) -> None:
    """Each datagram to a name looked it up, in the loop: nobody joined in 30 seconds."""
    ports = free(2)

    async def test() -> None:
        peers = [*(f"127.0.0.1:{port}" for port in ports), "node3.example:7801"]
        join = groupcomm_runtime.join
        async with asyncio.timeout(30):
            async with (
                join("demo", name="a", key=KEY, peers=peers, listen=peers[0], settings=FAST) as a,
                join("demo", name="b", key=KEY, peers=peers, listen=peers[1], settings=FAST) as b,
            ):
                while {*a.members} != {a.address, b.address}:
                    await anext(a)
                await asyncio.gather(a.send(b"x"), b.send(b"y"))

    run(test())
    assert [("node3.example", "no answer in 1 seconds")] * 2 == in_vain(caplog)


def test_the_first_look_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A resolver that takes half a second: a joiner would have founded a group before its answer."""

    def slow(_host: str) -> str:
        time.sleep(0.5)
        return "127.0.0.1"

    resolves(monkeypatch, slow)
    ports = free(2)

    async def test() -> None:
        peers = [f"node{port}.example:{port}" for port in ports]
        join = groupcomm_runtime.join
        async with (
            join("demo", name="a", key=KEY, peers=peers, listen=peers[0], settings=FAST) as a,
            join("demo", name="b", key=KEY, peers=peers, listen=peers[1], settings=FAST) as b,
        ):
            assert {a.address, b.address} == {*b.members}, "its first view"

    run(test())


def test_an_address_that_changes_is_found_and_one_that_is_known_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = ["127.0.0.1"]
    looks = 0

    def answer(_host: str) -> str:
        nonlocal looks
        looks += 1
        return answers[-1] or unknown(_host)

    async def looked() -> None:
        """Twice more, so once from beginning to end."""
        end = looks + 2
        async with asyncio.timeout(20):
            while looks < end:  # noqa: ASYNC110 - a thread looks
                await asyncio.sleep(0.001)

    resolves(monkeypatch, answer)
    monkeypatch.setattr(places, "_RENEWED", 0.01)
    monkeypatch.setattr(places, "_TRIED_AGAIN", 0.01)

    async def test() -> None:
        names = Names("peers=", [("node.example", 7), ("127.0.0.9", 8)], Operations("demo", "a"))

        def found() -> list[Place]:
            return [*names.found]

        assert [("127.0.0.9", 8)] == found()
        await names.look(5)
        assert [("127.0.0.1", 7), ("127.0.0.9", 8)] == found()
        for now, host in (("127.0.0.2", 2), ("", 2), ("127.0.0.3", 3)):
            answers.append(now)
            await looked()
            assert [(f"127.0.0.{host}", 7), ("127.0.0.9", 8)] == found()
        names.end()
        before = looks
        await asyncio.sleep(0.2)
        assert looks <= before + 1, "nobody looks any more"

    run(test())
