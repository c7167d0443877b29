"""A member with the key that lies: about states, while another member comes. The newcomer gets the state of the others."""

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Any

import groupcomm_runtime
from groupcomm_runtime import Group, GroupError
from groupcomm_runtime.codec import pack
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


def lies(counter: int, creator: str) -> list[bytes]:
    """Multicast payloads that are no part of the state, or of one that no member asked for."""
    return [
        b"s" + pack((counter, creator, True, b"a lie", {})),
        b"s" + pack((counter + 1, creator, True, b"a lie before the view is there", {creator: 2**62})),
        b"s" + pack((counter, creator, False, bytes(60_000), {})),
        b"t" + pack((counter, creator, (2**62, "the latest state is mine"))),
        b"t" + pack((counter, creator, (-5, "x"))),
        *(b"s", b"t", b"s" + b"\xff" * 40, b"z"),
    ]


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

                async def lie() -> None:
                    while b.view is not None:
                        for payload in lies(b.view.counter, b.view.creator):
                            b._multicast(payload, [])  # noqa: SLF001 - as a member that is broken
                        await asyncio.sleep(0.002)

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
