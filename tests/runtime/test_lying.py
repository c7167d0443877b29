"""A member with the key that lies: about states, while another member comes. The newcomer gets the state of the others."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import choice
from types import SimpleNamespace
from typing import Any, cast

import groupcomm_runtime
from groupcomm import state_transfer
from groupcomm.effects import Multicast, Send
from groupcomm.events import Payload
from groupcomm.stack import Layer, Stack
from groupcomm.view import ViewId
from groupcomm_runtime import Group, GroupError
from groupcomm_runtime.transfer import numbered, of_application
from tests.runtime.conversing import FAST, run

KEY = "the key of all three members"


class Application:
    """It has a state, and takes over another one."""

    def __init__(self, state: bytes) -> None:
        self.state = state

    def get(self) -> bytes:
        return self.state

    def set(self, state: bytes) -> None:
        self.state = state


def lies(group: Group) -> list[Multicast[Any] | Send[Any]]:
    """Messages that are no part of the state, or of one that no member asked for.

    A message that a layer refuses as a mistake of its sender is not among them: it holds up what follows it.
    """
    view = group.view or ViewId(1, "x")
    seen = state_transfer.Seen(((view.creator, 2**62),))
    parts = [
        state_transfer.Part(attempt, number, Payload(b"a lie"), last, seen, declared=False)
        for attempt in (-1, 0, 1, 2, 2**62)
        for number in (1, 2)
        for last in (False, True)
    ]
    answers = [state_transfer.Credit(1, 2**62), state_transfer.Cannot(1), state_transfer.Cannot(-1)]
    best = state_transfer.Standing(2**62, (ViewId(2**62, "the latest state is mine"),), declared=False, after=0, upto=0)
    other = ViewId(view.counter + 1, view.creator)
    casts = [
        state_transfer.Tell(other, best),
        state_transfer.Tell(view, state_transfer.Standing(-5, (), declared=True, after=-5, upto=2**62)),
        state_transfer.Ask(view.creator, -5),
        state_transfer.App(1, 2**62, Payload(b"\xff")),
    ]
    return [
        *(Send(to, each) for to in group.members if to != group.address for each in [*parts, *answers]),
        *map(Multicast, casts),
    ]


def lying_stack(stack: Stack, lie: Callable[[], list[Multicast[Any] | Send[Any]]]) -> Stack:
    """The same stack, with a STATE_TRANSFER that tells lies in the place of the message b"lie"."""

    def step(config: Any, state: Any, event: Any) -> Any:  # noqa: ANN401 - of the core
        if isinstance(event, state_transfer.SendRequested) and numbered(cast("bytes", event.payload))[1] == [b"lie"]:
            return state, (choice(lie()),)  # noqa: S311 - no secret
        return state_transfer.step(config, state, event)

    core: Any = SimpleNamespace(start=state_transfer.start, step=step)
    top = Layer.of(core, stack.layers[0].config, declared_by=state_transfer)
    return Stack((top, *stack.layers[1:]), stack.ground)


async def heard(group: Group) -> None:
    with suppress(GroupError):
        async for _ in group:
            pass


def test_lies_about_states_reach_no_application(tmp_path: Path) -> None:
    async def test() -> None:
        honest, liar, comes = Application(b"the state"), Application(b""), Application(b"")
        join = groupcomm_runtime.join
        options: dict[str, Any] = {"key": KEY, "folder": tmp_path, "settings": FAST}
        async with join("demo", name="a", state=honest, **options) as a, asyncio.TaskGroup() as tasks:
            hearing = [tasks.create_task(heard(a))]
            await a.has_state()
            async with join("demo", name="b", state=liar, **options) as b:
                hearing.append(tasks.create_task(heard(b)))
                await b.has_state()

                member = b._member  # noqa: SLF001 - it becomes a member that is broken
                member._stack = lying_stack(member._stack, lambda: lies(b))  # noqa: SLF001

                async def lie() -> None:
                    while b.view is not None:
                        member.multicast(of_application(0, b"lie"))
                        await asyncio.sleep(0.01)

                lying = tasks.create_task(lie())
                async with join("demo", name="c", state=comes, **options) as c:
                    hearing.append(tasks.create_task(heard(c)))
                    await c.has_state()
                    await c.send(b"on")
                    assert 3 == len(a.members)
                    assert {b"the state"} == {honest.state, liar.state, comes.state}
                    for each in (lying, *hearing):
                        each.cancel()

    run(test())
