"""TCP as the transport: a conversation, connections that break, and bytes that no member has sent."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path

import pytest

import groupcomm_runtime
from groupcomm_field.logs.claims import judge
from groupcomm_field.logs.replaying import replayed
from groupcomm_runtime import BadInputError, Group, Settings
from groupcomm_runtime.transports import LARGEST_BUFFER, LARGEST_FRAME, Tcp, _Outgoing
from tests.runtime.conversing import KEY, messages, run

TCP = Settings(heartbeat=0.05, patience=1.0, transport="tcp")
NAMES = "abc"


@asynccontextmanager
async def three(folder: Path, log: Path | None = None) -> AsyncIterator[list[Group]]:
    async with AsyncExitStack() as stack:
        groups = [
            await stack.enter_async_context(
                groupcomm_runtime.join("demo", name=name, key=KEY, folder=folder, log=log, settings=TCP)
            )
            for name in NAMES
        ]
        for each in groups:
            while len(each.members) < len(NAMES):
                await anext(each)
        yield groups


def carrier(group: Group) -> Tcp:
    carries = group._transport  # noqa: SLF001 - a connection is cut under it
    assert isinstance(carries, Tcp)
    return carries


def test_three_members_deliver_one_order_and_their_logs_are_accepted(tmp_path: Path) -> None:
    async def test() -> None:
        async with three(tmp_path, tmp_path / "logs") as groups:
            large = b"x" * 65_536
            sent = [large, *(f"{name}{number}".encode() for name in NAMES for number in range(5))]
            await asyncio.gather(*(groups[at % 3].send(data) for at, data in enumerate(sent)))
            first, *others = [await messages(each, len(sent)) for each in groups]
            assert others == [first, first]
            assert sorted(sent) == sorted(first)
            await asyncio.sleep(0.2)

    run(test())
    judged = judge([replayed(path, path.read_bytes()) for path in sorted((tmp_path / "logs").iterdir())])
    assert [] == judged.rejected
    # what a member sends in one loop turn is one multicast, and the large message is one of its own
    assert 3 * 4 == judged.counts["deliveries"]


@pytest.mark.parametrize("again", [True, False])
def test_a_cut_connection_loses_nothing_and_is_opened_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, again: bool
) -> None:
    """All are cut, five times while messages are on their way; without a new connection nothing arrives."""

    async def test() -> None:
        async with three(tmp_path) as groups:
            sends = []
            if not again:
                monkeypatch.setattr(_Outgoing, "_broken", lambda peer: setattr(peer, "_not_before", float("inf")))
            before = {each for group in groups for each in carrier(group).incoming}
            for turn in range(5):
                sends += [
                    asyncio.create_task(group.send(f"{turn} {number} {group.address}".encode() + bytes(3_000)))
                    for group in groups
                    for number in range(10)
                ]
                await asyncio.sleep(0.01)
                for group in groups:
                    for each in [*carrier(group).incoming]:
                        each.close()
            try:
                async with asyncio.timeout(20 if again else 0.7):
                    first, *others = [await messages(each, 150) for each in groups]
            except TimeoutError:
                assert not again
                for send in sends:
                    send.cancel()
                return
            assert again
            assert others == [first, first]
            assert 150 == len({*first})
            await asyncio.gather(*sends)
            after = {each for group in groups for each in carrier(group).incoming}
            assert after - before
            assert all(3 == len(each.members) for each in groups), "no member is suspected"

    run(test())


@pytest.mark.parametrize(
    "data",
    [
        b"garbage",
        b"gt" + bytes(3) + b"\x01no frame of a member",
        b"gt" + (LARGEST_FRAME + 1).to_bytes(4),
        b"gt" + bytes(4),
        b"gt" + (60).to_bytes(4) + bytes(60),
    ],
)
def test_garbage_and_wrong_lengths_close_that_connection_alone(tmp_path: Path, data: bytes) -> None:
    async def test() -> None:
        async with three(tmp_path) as groups:
            kept = {*carrier(groups[0]).incoming}
            reader, writer = await asyncio.open_connection(*groups[0].place)
            writer.write(data)
            with suppress(ConnectionResetError):
                assert b"" == await asyncio.wait_for(reader.read(), 10)
            writer.close()
            assert kept <= carrier(groups[0]).incoming
            assert 1 == groups[0].counts["connections refused"]
            await groups[1].send(b"on")
            assert [b"on"] == await messages(groups[2], 1)

    run(test())


def test_silent_connections_keep_no_member_out_and_are_closed_within_the_patience(tmp_path: Path) -> None:
    async def test() -> None:
        join = groupcomm_runtime.join
        async with join("demo", name="a", key=KEY, folder=tmp_path, settings=TCP) as a:
            carrier(a).most = 40
            writers = [(await asyncio.open_connection(*a.place))[1] for _ in range(60)]
            writers[-1].write(b"gt")
            await asyncio.sleep(0.05)
            assert len(carrier(a).incoming) <= 40
            assert 20 == a.counts["connections too many"]
            async with join("demo", name="b", key=KEY, folder=tmp_path, settings=TCP) as b:
                assert 2 == len(b.members)
                await asyncio.sleep(1.5 * TCP.patience)
                assert 1 == len(carrier(a).incoming)
                assert 39 <= a.counts["connections silent"], "one more gave its place to b"
                await b.send(b"on")
                assert [b"on"] == await messages(a, 1)
                assert 2 == len(a.members)
            for each in writers:
                each.close()

    run(test())


def test_a_peer_that_reads_nothing_makes_no_list_grow() -> None:
    async def test() -> None:
        with socket.create_server(("127.0.0.1", 0)) as slow, socket.create_server(("127.0.0.1", 0)) as own:
            carries = Tcp(own, 1.0)
            frame, dropped = bytes(60_000), 0
            for _ in range(1_000):
                try:
                    carries.send(frame, slow.getsockname())
                except OSError:
                    dropped += 1
                await asyncio.sleep(0)
            (peer,) = carries.outgoing.values()
            assert peer.connection is not None
            assert 0 < peer.connection.get_write_buffer_size() <= LARGEST_BUFFER + 8
            assert 500 < dropped
            carries.close()

    run(test())


def test_a_port_in_use_and_another_transport_are_one_clear_error(tmp_path: Path) -> None:
    async def test() -> None:
        join = groupcomm_runtime.join
        with socket.create_server(("127.0.0.1", 0)) as used:
            place = f"127.0.0.1:{used.getsockname()[1]}"
            with pytest.raises(BadInputError, match=f"{place} cannot be listened at: Address already in use"):
                async with join("demo", name="a", key=KEY, folder=tmp_path, listen=place, settings=TCP):
                    pass
        with pytest.raises(BadInputError, match="transport='sctp': it is 'udp' or 'tcp'"):
            Settings(transport="sctp").check()

    run(test())


def test_members_find_each_other_by_peers_but_not_those_with_udp(tmp_path: Path) -> None:
    async def test() -> None:
        join = groupcomm_runtime.join
        async with join("demo", name="a", key=KEY, folder=tmp_path, settings=TCP) as a:
            known = [f"127.0.0.1:{a.place[1]}"]
            async with join("demo", name="b", key=KEY, peers=known, settings=TCP) as b:
                await b.send(b"on")
                assert [b"on"] == await messages(a, 1)
            udp = Settings(heartbeat=0.05, patience=1.0)
            async with join("demo", name="c", key=KEY, folder=tmp_path, settings=udp) as c:
                await asyncio.sleep(0.3)
                assert (c.address,) == c.members
                assert 0 == c.counts["bad files"]

    run(test())
