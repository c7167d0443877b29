"""send(to=), and questions: messages to one member."""

import asyncio
from pathlib import Path

import pytest
from attrs import evolve

from groupcomm.events import DeliverUnicast, Payload
from groupcomm_field.logs.claims import judge
from groupcomm_field.logs.replaying import Life, replayed
from groupcomm_runtime import (
    BadInputError,
    EventsWaitError,
    Group,
    Message,
    NewView,
    NotDelivered,
    Suspects,
    Unicast,
    join,
)
from groupcomm_runtime.codec import unpack
from groupcomm_runtime.logs import framed, lines_of
from groupcomm_runtime.questions import AnswerError, Questions
from tests.runtime.conversing import FAST, KEY, run, until

NOBODY = "nobody#1"


async def unicasts(group: Group, count: int) -> list[tuple[str, bytes]]:
    """The next so many messages to this member alone."""
    found: list[tuple[str, bytes]] = []
    while len(found) < count:
        event = await anext(group)
        if isinstance(event, Unicast):
            found.append((event.sender, event.data))
    return found


async def all_there(*groups: Group) -> None:
    await until(lambda: all(len(each.members) >= len(groups) for each in groups))


@pytest.mark.parametrize("majority", [False, True], ids=["plain", "majority"])
def test_one_member_gets_them_in_order_and_no_other_does(tmp_path: Path, majority: bool) -> None:  # noqa: FBT001
    """SEQ-16. 600 are more than may be on their way at once."""

    async def test() -> None:
        async with (
            join("demo", name="a", key=KEY, folder=tmp_path, settings=FAST, majority=majority) as a,
            join("demo", name="b", key=KEY, folder=tmp_path, settings=FAST, majority=majority) as b,
            join("demo", name="c", key=KEY, folder=tmp_path, settings=FAST, majority=majority) as c,
        ):
            await all_there(a, b, c)
            sent = [b"%d" % number for number in range(600)]

            async def sends() -> None:
                for each in sent:
                    assert await a.send(each, to=b.address)
                await a.send(b"own", to=a.address)
                await a.send(b"all")

            sending = asyncio.create_task(sends())
            assert [(a.address, each) for each in sent] == await unicasts(b, 600)
            assert [(a.address, b"own")] == await unicasts(a, 1)
            await sending
            while not isinstance(event := await anext(c), Message):
                assert isinstance(event, NewView) or "Primary" in repr(event)
            assert b"all" == event.data

    run(test())


def test_who_is_not_in_the_view_or_goes_gets_none(tmp_path: Path) -> None:
    async def test() -> None:
        async with (
            join("demo", name="a", key=KEY, folder=tmp_path, settings=FAST) as a,
            join("demo", name="b", key=KEY, folder=tmp_path, settings=FAST) as b,
        ):
            await all_there(a, b)
            with pytest.raises(NotDelivered, match=f"{NOBODY} is not in the view of {a.address}"):
                await a.send(b"x", to=NOBODY)
            with pytest.raises(BadInputError, match="to= is str, and this is of the type int"):
                await a.send(b"x", to=1)  # type: ignore[arg-type]
            with pytest.raises(BadInputError, match="leave it out with to="):
                await a.send(b"x", to=b.address, safe=True)
            gone = b.address
            b._member.close("failed")  # noqa: SLF001 - it crashes
            sends = (a.send(b"x", to=gone) for _ in range(300))
            ended = await asyncio.gather(*sends, return_exceptions=True)
            assert 200 < ended.count(True) <= 256
            assert all(isinstance(each, NotDelivered) for each in ended if each is not True)
            assert (a.address,) == a.members
            while not isinstance(event := await anext(a), Suspects):
                pass
            assert Suspects(gone, "silent") == event

    run(test())


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, bytes]:
    folder = tmp_path_factory.mktemp("unicasts")

    async def test() -> None:
        async with (
            join("demo", name="a", key=KEY, folder=folder, settings=FAST, log=folder / "logs") as a,
            join("demo", name="b", key=KEY, folder=folder, settings=FAST, log=folder / "logs") as b,
        ):
            await all_there(a, b)
            for each in (b"one", b"two", b"three"):
                await a.send(each, to=b.address)
            assert 3 == len(await unicasts(b, 3))
            await asyncio.sleep(0.1)

    run(test())
    return {path: path.read_bytes() for path in sorted((folder / "logs").iterdir())}


def test_accept_takes_their_logs(logs: dict[Path, bytes]) -> None:
    lives = [replayed(path, text) for path, text in logs.items()]
    judged = judge(lives)
    assert [] == judged.rejected
    assert 3 == judged.counts["unicasts"] == judge([each.brief() for each in lives]).counts["unicasts"]


def test_a_log_whose_unicast_is_another_is_rejected(logs: dict[Path, bytes]) -> None:
    """Of the sender's, by the replay; of both, by what was sent."""
    path, text = next((path, text) for path, text in logs.items() if b"\xa7unicast" in text)
    lines = [unpack(line) for line in lines_of(text)[0]]
    at = next(at for at, line in enumerate(lines) if line.get("event", [""])[0] == "unicast")
    lines[at]["event"][2] = b"another"
    life = replayed(path, b"".join(map(framed, lines)))
    assert life.rejected is not None
    assert life.rejected.line == at + 1


@pytest.mark.parametrize("wrong", ["never sent", "twice", "in another order"])
def test_unicasts_that_the_sender_has_not_sent_so_are_rejected(logs: dict[Path, bytes], wrong: str) -> None:
    lives = [replayed(path, text) for path, text in logs.items()]
    at, steps = next(
        (number, [at for at, step in enumerate(life.steps) if step.unicasts])
        for number, life in enumerate(lives)
        if any(step.unicasts for step in life.steps)
    )
    life: Life = lives[at]
    first, last = steps[0], steps[-1]
    sender = life.steps[first].unicasts[0].sender
    mine = {
        "never sent": (DeliverUnicast(sender, Payload(b"zero")),),
        "twice": life.steps[first].unicasts * 2,
        "in another order": (DeliverUnicast(sender, Payload(b"three")), DeliverUnicast(sender, Payload(b"one"))),
    }[wrong]
    life.steps[last] = evolve(life.steps[last], unicasts=mine)
    (rejected,) = judge(lives).rejected
    assert "or twice, or in another order" in rejected.why


# Questions


async def loud(sender: str, question: bytes) -> bytes:
    if question == b"fails":
        raise ValueError(f"{sender} asks what nobody knows")
    await asyncio.sleep(0)
    return question.upper()


async def takes(questions: Questions, events: list[object]) -> None:
    events.extend([event async for event in questions])


def test_members_are_asked_and_answer(tmp_path: Path) -> None:
    async def test() -> None:
        async with (
            asyncio.TaskGroup() as tasks,
            join("demo", name="a", key=KEY, folder=tmp_path, settings=FAST) as a,
            join("demo", name="b", key=KEY, folder=tmp_path, settings=FAST) as b,
            join("demo", name="c", key=KEY, folder=tmp_path, settings=FAST) as c,
        ):
            await all_there(a, b, c)
            asks = [Questions(each, loud) for each in (a, b, c)]
            events: list[object] = []
            for each in asks:
                tasks.create_task(takes(each, events))
            first, second, _ = asks
            assert b"HELLO" == await first.ask(b"hello", to=b.address)
            assert b"HELLO" == await first.ask(b"hello", to=a.address)
            assert dict.fromkeys(a.members, b"YOU") == await second.ask_all(b"you")
            with pytest.raises(AnswerError, match=f"{c.address}: ValueError: {a.address} asks what nobody knows"):
                await first.ask(b"fails", to=c.address)
            with pytest.raises(BadInputError, match="bytes, and no str"):
                await first.ask("text", to=b.address)  # type: ignore[arg-type]
            with pytest.raises(BadInputError, match="16777184 bytes at most, and this 16777185"):
                await first.ask(bytes(16_777_185), to=b.address)
            await b.send(b"of the application", to=a.address)
            await b.send(b"last")
            assert not any(each._waiting for each in asks)  # noqa: SLF001 - nothing is left
        assert [Unicast(b.address, b"of the application")] == [each for each in events if isinstance(each, Unicast)]

    run(test())


def test_who_is_gone_before_it_answers_is_missed(tmp_path: Path) -> None:
    async def never(_: str, question: bytes) -> bytes:
        await asyncio.Event().wait()
        return question

    async def test() -> None:
        async with (
            asyncio.TaskGroup() as tasks,
            join("demo", name="a", key=KEY, folder=tmp_path, settings=FAST) as a,
            join("demo", name="b", key=KEY, folder=tmp_path, settings=FAST) as b,
        ):
            await all_there(a, b)
            first, second = Questions(a, loud), Questions(b, never)
            running = [tasks.create_task(takes(each, [])) for each in (first, second)]
            one, all_of_them = (
                asyncio.create_task(asked) for asked in (first.ask(b"one", to=b.address), first.ask_all(b"all"))
            )
            gone = b.address
            await asyncio.sleep(0.2)
            assert not one.done()
            b._member.close("failed")  # noqa: SLF001 - it crashes
            with pytest.raises(NotDelivered, match=f"{gone} is gone, and has not answered"):
                await one
            assert {a.address: b"ALL"} == await all_of_them
            for each in running:
                each.cancel()

    run(test())


def test_the_task_that_takes_the_events_is_told_that_it_cannot_ask(tmp_path: Path) -> None:
    async def test() -> None:
        async with join("demo", name="a", key=KEY, folder=tmp_path, settings=FAST) as a:
            questions = Questions(a, loud)
            assert isinstance(await anext(questions), NewView)
            with pytest.raises(EventsWaitError, match="ask in another task"):
                await questions.ask(b"x", to=a.address)

    run(test())
