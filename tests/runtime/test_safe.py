"""`send` with SAFE, over sockets of which the network is cut: what a caller hears of its message."""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from attrs import evolve

import groupcomm_runtime
from groupcomm_field.logs.claims import judge
from groupcomm_field.logs.replaying import replayed
from groupcomm_field.torture.network import CALM
from groupcomm_runtime import BadInputError, NotDelivered, NotSafe, Settings
from groupcomm_runtime.layers import configs
from tests.runtime.conversing import KEY, until
from tests.runtime.test_majority import FAST, Cut

EVERYBODY = [0, 1, 2]


async def three(stack: AsyncExitStack, folder: Path, *, majority: bool) -> Cut:
    """Members a, b and c in one view; a coordinates, and orders all messages."""
    cut = Cut(folder, majority=majority, safe=True)
    for name in "abc":
        await cut.joins(stack, name)
    await until(lambda: cut.are(EVERYBODY, primary=True))
    return cut


def mute(cut: Cut, member: int) -> None:
    """No datagram of a member reaches another one, and it hears all."""
    others = {group.place for group in cut.groups} - {cut.groups[member].place}
    cut.sockets[member].rules = evolve(CALM, mute=frozenset(others))


def judged(folder: Path) -> None:
    lives = [replayed(path, path.read_bytes()) for path in sorted((folder / "logs").iterdir())]
    assert [] == judge(lives).rejected


@pytest.mark.parametrize("majority", [True, False])
def test_a_message_is_safe_when_all_have_acknowledged_it(tmp_path: Path, *, majority: bool) -> None:
    async def test() -> None:
        async with AsyncExitStack() as stack:
            cut = await three(stack, tmp_path, majority=majority)
            for member in EVERYBODY:
                await cut.groups[member].send(b"%d" % member)
            assert [b"0", b"1", b"2"] == cut.delivered(0)
            await asyncio.gather(*(cut.groups[1].send(b"more") for _ in range(500)))
            await until(lambda: all(group.tables["not safe yet"] == 0 for group in cut.groups))
            assert all(group.counts["SafeUpTo"] > 0 for group in cut.groups)
            assert not any("UnknownUpTo" in group.counts for group in cut.groups)

    asyncio.run(test())
    judged(tmp_path)


@pytest.mark.parametrize("majority", [True, False])
def test_what_a_muted_coordinator_delivers_is_not_safe(tmp_path: Path, *, majority: bool) -> None:
    """It orders its own messages and delivers them, and no other member ever does.

    With a majority it hears that when they meet. Without one each part goes on, and its own has the message.
    """

    async def test() -> None:
        async with AsyncExitStack() as stack:
            cut = await three(stack, tmp_path, majority=majority)
            mute(cut, 0)
            await cut.groups[0].send(b"lost", safe=False)
            waits = asyncio.create_task(cut.groups[0].send(b"lost, too"))
            await until(lambda: [b"lost", b"lost, too"] == cut.delivered(0))
            await asyncio.sleep(0.3)
            assert not waits.done()
            await until(lambda: cut.are([1, 2], primary=True) and cut.are([0], primary=not majority))
            await cut.groups[1].send(b"kept")
            assert waits.done() != majority
            cut.into(EVERYBODY)
            if majority:
                with pytest.raises(NotSafe, match="nobody knows"):
                    await asyncio.wait_for(waits, 30)
            else:
                await waits
            await until(lambda: cut.are(EVERYBODY, primary=True))
            assert b"lost, too" not in cut.delivered(1)
            await cut.groups[0].send(b"after")
            await until(lambda: all(cut.delivered(member)[-1] == b"after" for member in EVERYBODY))

    asyncio.run(test())
    judged(tmp_path)


def test_a_message_is_safe_in_the_next_view_without_those_that_did_not_acknowledge(tmp_path: Path) -> None:
    async def test() -> None:
        async with AsyncExitStack() as stack:
            cut = await three(stack, tmp_path, majority=True)
            mute(cut, 2)
            await cut.groups[0].send(b"held", safe=False)
            await cut.groups[1].send(b"held, too")
            assert cut.are([0, 1], primary=True)
            await until(lambda: cut.groups[0].tables["not safe yet"] == 0)

    asyncio.run(test())
    judged(tmp_path)


def test_an_incarnation_that_ends_says_what_is_known_of_its_messages(tmp_path: Path) -> None:
    """Delivered here: nobody knows whether it is safe. On its way: no member knows whether others deliver it."""

    async def test() -> None:
        async with AsyncExitStack() as stack:
            cut = await three(stack, tmp_path, majority=True)
            mute(cut, 0)
            here = asyncio.create_task(cut.groups[0].send(b"delivered here"))
            await until(lambda: [b"delivered here"] == cut.delivered(0))
            cut.into([0], [1, 2])
            await until(lambda: len(cut.groups[0].members) == 1)
            waits = asyncio.create_task(cut.groups[0].send(b"in a minority"))
            await asyncio.sleep(0.1)
            cut.groups[0]._member.close("failed")  # noqa: SLF001 - as an error would
            cut.groups[0].ended(groupcomm_runtime.EndedError("by a test"))
            with pytest.raises(groupcomm_runtime.EndedError, match="by a test"):
                await cut.tasks[0]
            with pytest.raises(NotSafe):
                await here
            with pytest.raises(NotDelivered):
                await waits

    asyncio.run(test())


def test_bad_input(tmp_path: Path) -> None:
    async def test() -> None:
        join = groupcomm_runtime.join
        async with join("demo", name="a", key=KEY, folder=tmp_path, settings=FAST) as group:
            with pytest.raises(BadInputError, match="join all with safe=True"):
                await group.send(b"x", safe=True)
            with pytest.raises(
                BadInputError, match="another majority=, safe=, state=, encrypted= or era=: give the same"
            ):
                async with join("demo", name="b", key=KEY, folder=tmp_path, settings=FAST, safe=True):
                    pass
        with pytest.raises(BadInputError, match="safe= is bool"):
            async with join("demo", name="a", key=KEY, folder=tmp_path, safe="yes"):  # type: ignore[arg-type]
                pass

    asyncio.run(test())


def test_the_layer_is_there_where_it_is_asked_for() -> None:
    assert "safe" not in configs(Settings())
    assert not configs(Settings(safe=True))["safe"].majority
    assert configs(Settings(majority=True))["safe"].majority
