"""How long a group is without order when its coordinator dies: seconds until a message of another member is delivered.

    python bench/failover.py 3 10 20        # a line for each

All members are in this process, over UDP on loopback, with the default settings. The coordinator falls silent at
once, as by kill -9; then each other member sends a message, and waits until it has come back.
"""

import asyncio
import sys
import tempfile
import time
from contextlib import AsyncExitStack
from pathlib import Path
from statistics import median
from typing import Final

from groupcomm_runtime import Group, Settings, join

KEY: Final = b"what members alone know"
ROUNDS: Final = 5


async def silence(count: int) -> tuple[float, float]:
    """The least and the most seconds of a member between that death and its message."""
    with tempfile.TemporaryDirectory() as folder:
        async with AsyncExitStack() as stack:
            joins = (join("bench", name=f"m{each}", key=KEY, folder=Path(folder)) for each in range(count))
            groups = [await stack.enter_async_context(each) for each in joins]
            for group in groups:
                stack.callback(asyncio.create_task(taken(group)).cancel)
            while any(len(group.members) < count for group in groups):  # noqa: ASYNC110 - it is not measured
                await asyncio.sleep(0.05)
            first = next(group for group in groups if group.leader == group.address)
            began = time.perf_counter()
            first._member.close("failed")  # noqa: SLF001 - nobody else ends a member so

            async def sent(group: Group) -> float:
                await group.send(b"on")
                return time.perf_counter() - began

            times = await asyncio.gather(*(sent(group) for group in groups if group is not first))
            first._member._application.ended(RuntimeError("it died"))  # noqa: SLF001 - so it need not leave
            return min(times), max(times)


async def taken(group: Group) -> None:
    """Take all events."""
    async for _ in group:
        pass


def main(counts: list[int]) -> None:
    """Print a row for each number of members."""
    print(f"patience {Settings().patience} s\n| members | the first message | the last |\n| --- | --- | --- |")
    for count in counts:
        found = [asyncio.run(silence(count)) for _ in range(ROUNDS)]
        first, last = (median(each) for each in zip(*found, strict=True))
        print(f"| {count} | {first:.2f} s | {last:.2f} s |", flush=True)


if __name__ == "__main__":
    main([*map(int, sys.argv[1:])] or [3, 10, 20])
