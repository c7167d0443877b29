"""Large messages: their fragments over loss, what is refused, and what is bounded."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from random import Random
from typing import Any, cast

import pytest
from attrs import evolve

import groupcomm_runtime
from groupcomm.sequencer import Data, Tag
from groupcomm.stack import APPLICATION, Tagged
from groupcomm.view import ViewId
from groupcomm_field.logs.claims import judge
from groupcomm_field.logs.replaying import replayed
from groupcomm_field.torture.network import LossySocket, Rules
from groupcomm_runtime import (
    LARGEST_MESSAGE,
    BadInputError,
    Group,
    MessageTooLargeError,
    NoRoomError,
    Settings,
    Unicast,
)
from groupcomm_runtime.codec import LARGEST_READ, Codec, RefusedError, around, pack
from groupcomm_runtime.large import LARGEST_ITEM, MOST_FRAGMENTS, Large
from groupcomm_runtime.layers import LAYERS
from groupcomm_runtime.window import Window
from tests.runtime.conversing import KEY, messages, run

SETTINGS = Settings(patience=5.0)


def carried(item: bytes, arrives: Callable[[], bool], *, room: int = 1_000) -> tuple[bytes | None, int]:
    """Carry an item from a to b, over a link on which some fragments and answers arrive, with a delay of 1 ms.

    Gives the item, and how many fragments were sent.
    """
    here, there = Large(room), Large(room)
    assert here.add("b", item, item, 0.0)
    now, sent, came = 0.0, 0, None
    while here.busy and now < 60.0:
        now += 0.001
        for to, fragment in here.due(now):
            assert to == "b"
            sent += 1
            came = (there.take("a", fragment) if arrives() else None) or came
        for to, answer in there.answers():
            assert to == "a"
            if arrives():
                here.answered("b", answer, now)
        here.looks(now, 0.001, 10.0)
    return came, sent


@pytest.mark.parametrize(("loss", "most"), [(0.0, 1.0), (0.02, 1.05), (0.15, 1.4)])
def test_what_is_lost_is_sent_again_and_hardly_anything_else(loss: float, most: float) -> None:
    dice = Random(7)  # noqa: S311 - dice
    item = dice.randbytes(1_000_000)
    came, sent = carried(item, lambda: dice.random() >= loss)
    assert came == item
    assert 1_000 <= sent <= 1_000 * most


def test_a_burst_that_overflows_a_buffer_is_followed_by_smaller_ones() -> None:
    """A receiver that takes 20 fragments a turn: most come at once, though 256 could be on their way."""
    here, there = Large(1_000), Large(1_000)
    item = Random(1).randbytes(1_000_000)  # noqa: S311 - dice
    here.add("b", item, item, 0.0)
    now, sent, came = 0.0, 0, None
    while here.busy:
        now += 0.001
        for at, (_, fragment) in enumerate(here.due(now)):
            sent += 1
            came = (there.take("a", fragment) if at < 20 else None) or came
        for _, answer in there.answers():
            here.answered("b", answer, now)
        here.looks(now, 0.001, 10.0)
    assert came == item
    assert sent < 2 * 1_000


def test_an_item_to_a_member_that_is_silent_is_given_up_and_the_next_begins() -> None:
    here = Large(1_000)
    first, second = bytes(100_000), bytes(200_000)
    assert here.add("b", first, first, 0.0)
    assert here.add("b", second, second, 0.0)
    assert here.is_on_its_way("b", second)
    assert not here.is_on_its_way("c", first)
    sent = []
    for now in range(600):
        sent.append(len([*here.due(now / 100)]))
        here.looks(now / 100, 0.0, 5.0)
    assert not here.is_on_its_way("b", first)
    assert here.is_on_its_way("b", second)
    assert sum(sent) < 200, "nothing comes, so hardly anything is sent"
    here.looks(12.0, 0.0, 5.0)
    assert not here.busy


def test_what_waits_for_a_member_is_bounded_and_forgotten_with_it() -> None:
    here = Large(1_000)
    largest = bytes(LARGEST_ITEM)
    assert [True, True, False] == [here.add("b", largest, largest, 0.0) for _ in range(3)]
    here.take("b", pack((1, 0, 2, b"half")))
    here.keep({"c"})
    assert not here.busy
    assert 0 == here.held
    assert [] == [*here.answers()]


def test_fragments_and_answers_that_are_none_are_refused() -> None:
    here = Large(1_000)
    wrong = [(0, 0, 2, b""), (1, 2, 2, b""), (1, -1, 2, b""), (1, 0, MOST_FRAGMENTS + 1, b""), ("1", 0, 2, b"")]
    for data in (b"", b"\xff", pack((1, 0, 40, bytes(LARGEST_ITEM // 40 + 1))), *map(pack, wrong)):
        with pytest.raises(RefusedError):
            here.take("b", data)
    for data in (b"", b"\xff", pack((1, -1, b"")), pack((1, 0, bytes(257))), pack((1, 0, "text"))):
        with pytest.raises(RefusedError):
            here.answered("b", data, 0.0)
    here.answered("b", pack((1, 0, b"")), 0.0)  # of nothing that is on its way
    item = bytes(50_000)
    here.add("b", item, item, 0.0)
    assert [*here.due(0.0)]
    here.answered("b", pack((10**9, 50, b"")), 0.0)  # of another item
    here.answered("b", pack((1, 51, b"")), 0.0)  # beyond it
    assert here.busy


def test_a_large_message_is_read_without_its_payload_and_no_other_way() -> None:
    codec = Codec(LAYERS)
    payload = bytes(300_000)
    message = Tagged(
        "sequencer", Data(ViewId(1, "a#1"), Tag("a#1", ViewId(1, "a#1"), 1), cast("Any", Tagged(APPLICATION, payload)))
    )
    data = codec.encode(message)
    item = around(data, payload)
    assert (message, data) == codec.decode_around(item)
    wrong = [
        b"",
        item[:-1],
        item[:4] + (299_999).to_bytes(4) + item[8:],
        (int.from_bytes(item[:4]) - 1).to_bytes(4) + item[4:],
        bytes(8) + bytes(LARGEST_READ + 1),
        around(pack([[3, 0, [bytes(70_000)]], b"x"]), bytes(70_000)),
    ]
    for each in wrong:
        with pytest.raises(RefusedError):
            codec.decode_around(each)


def test_a_payload_within_a_text_is_refused_before_it_is_read() -> None:
    """A view of 100,000 members in the place of a payload: what is around it is read, and has no payload there."""
    members = pack([f"m{number}#{number}" for number in range(100_000)])
    data = b"\x93\x05\x01\xc6" + len(members).to_bytes(4) + members
    with pytest.raises(RefusedError):
        Codec(LAYERS).decode_around((8).to_bytes(4) + len(members).to_bytes(4) + data)


def test_callers_take_their_places_in_turn_and_give_them_back() -> None:
    async def test() -> None:
        window = Window(4)
        await window.take(2)
        large = asyncio.create_task(window.take(4))
        await asyncio.sleep(0)
        small = asyncio.create_task(window.take(1))
        await asyncio.sleep(0)
        assert not large.done()
        large.cancel()
        await asyncio.wait_for(small, 1)
        window.give_back(3)
        await asyncio.wait_for(window.take(4), 1)

    run(test())


@pytest.mark.parametrize(
    ("transport", "datagram", "loss", "size"),
    [
        ("udp", 8_192, 0.0, LARGEST_MESSAGE),
        ("udp", 8_192, 0.15, 2 << 20),
        ("udp", 1_400, 0.02, 1 << 20),
        ("tcp", 8_192, 0.0, LARGEST_MESSAGE),
    ],
)
def test_large_messages_of_two_members_are_in_one_order_among_small_ones(
    tmp_path: Path, transport: str, datagram: int, loss: float, size: int
) -> None:
    settings = evolve(SETTINGS, transport=transport, datagram=datagram)
    sockets: list[LossySocket] = []

    def lossy() -> LossySocket:
        sockets.append(LossySocket())
        return sockets[-1]

    async def test() -> None:
        def join(name: str) -> AbstractAsyncContextManager[Group]:
            made = None if transport == "tcp" else lossy
            logs = tmp_path / "logs" if loss else None
            return groupcomm_runtime.join(
                "demo", name=name, key=KEY, folder=tmp_path, settings=settings, transport=made, log=logs
            )

        async with join("a") as a, join("b") as b, join("c") as c:
            for each in (a, b, c):
                while len(each.members) < 3:
                    await anext(each)
            for sock in sockets:
                sock.rules = Rules(loss=loss)
            sent = [b"a" * size, b"b" * size, *(b"%d" % number for number in range(20))]
            sends = [asyncio.create_task((a, b)[at % 2].send(data)) for at, data in enumerate(sent)]
            had = await asyncio.gather(*(messages(each, len(sent)) for each in (a, b, c)))
            assert had[0] == had[1] == had[2]
            assert sorted(sent) == sorted(had[0])
            await asyncio.gather(*sends)
            assert b.counts.get("suspected: silent", 0) == 0
            for sock in sockets:
                sock.rules = Rules()

    run(test())
    if loss:
        judged = judge([replayed(path, path.read_bytes()) for path in sorted((tmp_path / "logs").iterdir())])
        assert [] == judged.rejected


def test_a_large_message_has_all_places_and_one_that_is_larger_is_refused(tmp_path: Path) -> None:
    async def test() -> None:
        join = groupcomm_runtime.join
        async with (
            join("demo", name="a", key=KEY, folder=tmp_path, settings=SETTINGS) as a,
            join("demo", name="b", key=KEY, folder=tmp_path, settings=SETTINGS) as b,
        ):
            with pytest.raises(MessageTooLargeError, match="16777217 bytes, and the largest has 16777216"):
                await a.send(bytes(LARGEST_MESSAGE + 1))
            large = asyncio.create_task(a.send(bytes(LARGEST_MESSAGE)))
            await asyncio.sleep(0)
            waits = asyncio.create_task(a.send(b"small"))
            await asyncio.sleep(0)
            assert a.tables["on their way"] == 1
            assert [bytes(LARGEST_MESSAGE), b"small"] == await messages(b, 2)
            await asyncio.gather(large, waits)
            await messages(a, 2)
            assert await a.send(b"%d" % LARGEST_MESSAGE, to=b.address)
            assert await a.send(bytes(LARGEST_MESSAGE), to=b.address)
            assert await a.send(bytes(1 << 20), to=b.address)
            sizes: list[int] = []
            while len(sizes) < 3:
                event = await anext(b)
                if isinstance(event, Unicast):
                    sizes.append(len(event.data))
            assert [8, LARGEST_MESSAGE, 1 << 20] == sizes
            for _ in range(2):
                a.post(bytes(LARGEST_MESSAGE // 2))
            assert 0 == a.room
            with pytest.raises(NoRoomError):
                a.post(b"x")
            await a.drain()
            assert 0 < a.room
            with pytest.raises(BadInputError):
                await a.send(bytearray(10))  # type: ignore[arg-type]

    run(test())
