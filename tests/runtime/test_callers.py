"""What callers do: they stop waiting, are cancelled, or take no events. Nothing waits in silence, nothing grows."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import groupcomm_runtime
from groupcomm_field.torture.network import CALM, LossySocket, Rules
from groupcomm_runtime import Settings
from tests.runtime.conversing import KEY, messages, run

QUICK = Settings(heartbeat=0.05, patience=0.5)


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not holds():  # noqa: ASYNC110 - of several groups
            await asyncio.sleep(0.01)


def test_callers_that_try_again_in_a_minority_are_bounded_and_a_receiver_drops_doubles(
    tmp_path: Path,
) -> None:
    """A place in the window belongs to the message: its caller stops waiting, and it is still on its way."""
    jobs = [b"%d" % number for number in range(300)]

    async def test() -> None:
        join, sock = groupcomm_runtime.join, LossySocket()
        async with (
            join("demo", name="a", key=KEY, folder=tmp_path, settings=QUICK, majority=True) as a,
            join(
                "demo",
                name="b",
                key=KEY,
                folder=tmp_path,
                settings=QUICK,
                majority=True,
                transport=lambda: sock,
            ) as b,
        ):
            await until(lambda: a.primary and b.primary)
            sock.rules = Rules(mute=frozenset({a.place}), deaf=frozenset({a.place}))
            await until(lambda: not b.primary)
            tries, limit = 0, 0.05

            async def does(job: bytes) -> None:
                nonlocal tries
                while True:
                    tries += 1
                    try:
                        async with asyncio.timeout(limit):
                            return await b.send(job)
                    except TimeoutError:
                        pass  # it may yet be delivered: the same job, again

            doing = [asyncio.create_task(does(job)) for job in jobs]
            await until(lambda: tries > 5 * len(jobs))
            assert sum(map(len, b._on_their_way)) <= 256  # noqa: SLF001 - `tables` counts multicasts
            sock.rules, limit = CALM, 60
            await asyncio.gather(*doing)
            await a.send(b"end")
            done, times = set[bytes](), 0
            while (job := (await messages(a, 1))[0]) != b"end":
                times += 1
                done.add(job)  # what is in it already is a double
            assert done == {*jobs}
            assert times <= 2 * 256 + len(jobs), "on their way, and those that the last time-out met"

    run(test())
