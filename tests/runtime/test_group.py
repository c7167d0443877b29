"""join, send: groups in one process; what is refused, and what is dropped."""

import asyncio
import socket
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest

import groupcomm_runtime
from groupcomm.view import ViewId
from groupcomm_runtime import (
    LARGEST_MESSAGE,
    BadInputError,
    EndedError,
    Group,
    Message,
    MessageTooLargeError,
    NameTakenError,
    Settings,
)
from groupcomm_runtime.codec import VERSION
from groupcomm_runtime.detector import Detector, Heartbeat
from groupcomm_runtime.discovery import Folder

FAST = Settings(heartbeat=0.05, patience=1.0)


def run(test: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(test, 240))  # of a machine that is busy; it takes a second


async def messages(group: Group, count: int) -> list[bytes]:
    """The next so many messages."""
    found: list[bytes] = []
    while len(found) < count:
        event = await anext(group)
        if isinstance(event, Message):
            found.append(event.data)
    return found


def test_members_found_by_peers_deliver_one_order_and_a_message_of_the_largest_size() -> None:
    async def test() -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
            free.bind(("127.0.0.1", 0))
            known = f"127.0.0.1:{free.getsockname()[1]}"
        join = groupcomm_runtime.join
        async with (
            join("demo", name="a", key="k", peers=[known], listen=known, settings=FAST) as a,
            join("demo", name="b", key="k", peers=[known], settings=FAST) as b,
        ):
            large = b"x" * LARGEST_MESSAGE
            await asyncio.gather(b.send(large), a.send(b"small"))
            assert await messages(a, 2) == (got := await messages(b, 2))
            assert {large, b"small"} == set(got)
            with pytest.raises(
                MessageTooLargeError, match="65537 bytes, and the largest has 65536: send it in parts"
            ):
                await a.send(large + b"x")
            with pytest.raises(BadInputError, match="no str: encode it"):
                await a.send("text")  # type: ignore[arg-type]
        with pytest.raises(EndedError):
            await a.send(b"late")

    run(test())


def test_messages_of_one_loop_turn_are_multicast_together_and_a_cancelled_one_keeps_its_place(
    tmp_path: Path,
) -> None:
    async def test() -> None:
        join = groupcomm_runtime.join
        async with (
            join("demo", name="a", key="k", folder=tmp_path, settings=FAST) as a,
            join("demo", name="b", key="k", folder=tmp_path, settings=FAST) as b,
        ):
            sent = [b"%d " % number + bytes(300) for number in range(200)]
            sends = [asyncio.create_task(b.send(data)) for data in sent]
            await asyncio.sleep(0)
            sends[50].cancel()
            assert sent == await messages(a, 200) == await messages(b, 200)
            await asyncio.wait(sends)
            assert [50] == [number for number, each in enumerate(sends) if each.cancelled()]
            # 200 of 309 bytes, and up to 32,768 bytes in a multicast
            assert 2 == a.counts["delivered"] == b.counts["delivered"]
            assert 0 == a.tables["on their way"] == b.tables["on their way"]

    run(test())


def test_who_has_another_key_or_sends_garbage_is_counted_and_harms_nobody(tmp_path: Path) -> None:
    async def test() -> None:
        join = groupcomm_runtime.join
        async with (
            join("demo", name="a", key="k", folder=tmp_path, settings=FAST) as a,
            join("demo", name="b", key="other", folder=tmp_path, settings=FAST) as b,
        ):
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
                for data in (b"", b"gc", b"gc%c" % VERSION + bytes(40), b"gc\x09" + bytes(40), bytes(60_000)):
                    stranger.sendto(data, a.place)
            (tmp_path / "broken.member").write_text("{")
            await asyncio.sleep(0.3)
            assert (1, 1) == (len(a.members), len(b.members)), "each is alone in a group of its own key"
            await a.send(b"on")
            counts = a.counts
        assert counts["strangers"] > 4
        assert 1 == counts["other versions"]
        assert counts["bad files"] > 0

    run(test())


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"name": "a#1", "folder": "F"}, "a name has no '#'"),
        ({"name": "../a", "folder": "F"}, "no name"),
        ({"name": "a", "folder": "F", "key": ""}, "a key has 1 to 64 bytes"),
        ({"name": "a"}, "give one of the two"),
        ({"name": "a", "folder": "F", "peers": ["127.0.0.1:1"]}, "give one of the two"),
        ({"name": "a", "peers": ["nowhere"]}, "'nowhere' is no place"),
        ({"name": "a", "folder": "/dev/null/x"}, "the folder /dev/null/x cannot be written"),
        ({"name": "a", "folder": "F", "listen": "127.0.0.1:99999"}, "no place"),
        ({"name": "a", "folder": "F", "log": "/dev/null/x"}, "the log /dev/null/x/.* cannot be written"),
    ],
)
def test_bad_input_is_one_clear_error(tmp_path: Path, arguments: dict[str, Any], text: str) -> None:
    async def test() -> None:
        given = {"key": "k", **arguments}
        if given.get("folder") == "F":
            given["folder"] = tmp_path
        with pytest.raises(BadInputError, match=text):
            async with groupcomm_runtime.join("demo", **given):
                pass

    run(test())
    assert [] == [*tmp_path.glob("*.member")]


def test_a_port_and_a_name_that_are_in_use_are_refused_and_free_again(tmp_path: Path) -> None:
    async def test() -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as used:
            used.bind(("127.0.0.1", 0))
            place = f"127.0.0.1:{used.getsockname()[1]}"
            with pytest.raises(BadInputError, match=f"{place} cannot be listened at: Address already in use"):
                async with groupcomm_runtime.join("demo", name="a", key="k", folder=tmp_path, listen=place):
                    pass
        Folder(tmp_path, "a").end()
        held = Folder(tmp_path, "a")
        with pytest.raises(NameTakenError, match=r"the name 'a' is taken in .*: process \d+ holds it"):
            Folder(tmp_path, "a")
        held.end()

    run(test())


def test_a_name_that_is_heard_is_refused(tmp_path: Path) -> None:
    """Found by peers, where no lock is."""

    async def test() -> None:
        join = groupcomm_runtime.join
        async with join("demo", name="a", key="k", folder=tmp_path, settings=FAST) as a:
            place = f"127.0.0.1:{a.place[1]}"
            with pytest.raises(
                NameTakenError, match=f"'a' is taken in the group 'demo': a#.* at {place} has it"
            ):
                async with join("demo", name="a", key="k", peers=[place], settings=FAST):
                    pass
            await a.send(b"on")
            assert 1 == len(a.members)

    run(test())


# The failure detector

MINE = ViewId(7, "A")


def said(counter: int, *, counts: bool = True, suspects: bool = False) -> Heartbeat:
    return Heartbeat(
        counter,
        "A",
        2,
        acts=True,
        coordinates=True,
        counts=counts,
        suspects=suspects,
        clock=1,
        echo=0,
        held=0,
    )


@pytest.mark.parametrize(
    ("heartbeat", "since", "why"),
    [
        (said(7), 0.0, None),
        (said(7, suspects=True), 0.0, "suspects me"),
        (said(6, suspects=True), 0.0, None),
        (said(8, counts=False), 9.9, "excludes me"),
        (said(6, counts=False), 9.9, None),
        (said(6, counts=False), 0.0, "excludes me"),
        (said(8, counts=True), 0.0, None),
    ],
)
def test_what_a_heartbeat_says_counts_by_its_view(
    heartbeat: Heartbeat, since: float, why: str | None
) -> None:
    detector = Detector(patience=1.0)
    detector.heard("B", 1, heartbeat, now=10.0)
    assert ([("B", why)] if why else []) == [*detector.suspects(MINE, since, ["B"], now=10.0)]


def test_who_is_silent_is_suspected_later_where_heartbeats_come_slowly_and_after_a_pause() -> None:
    detector = Detector(patience=1.0)
    for number in range(1, 20):
        detector.heard("B", number, said(7), now=number * 0.2)
        detector.heard("C", number, said(7), now=number * (0.5 if number % 2 else 0.9))
    assert [] == [*detector.suspects(MINE, 0, ["B"], now=4.7)]
    assert [("B", "silent")] == [*detector.suspects(MINE, 0, ["B"], now=4.9)]
    last = 0.9 * 18
    assert [] == [*detector.suspects(MINE, 0, ["C"], now=last + 1.1)]
    assert [("C", "silent")] == [*detector.suspects(MINE, 0, ["C"], now=last + 100)]
    detector.paused(now=200.0)
    assert [] == [*detector.suspects(MINE, 0, ["B", "C"], now=200.9)]


def test_a_heartbeat_that_was_overtaken_says_nothing() -> None:
    detector = Detector(patience=1.0)
    detector.heard("B", 5, said(7), now=1.0)
    detector.heard("B", 4, said(7, suspects=True), now=1.1)
    assert [] == [*detector.suspects(MINE, 0, ["B"], now=1.2)]
