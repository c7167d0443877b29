"""What it costs over sockets that many members join or leave at once: docs/decisions.md has the figures.

    python bench/at_once.py 10 20 50        # a line for each, with one request a view and with all that wait

All members are in this process, over UDP on loopback, with a patience of 30 s, so that a busy machine
suspects none. A group of one is joined by so many at once. When all are in, they leave at once.
Views are those of the first member; messages are those of GMS and merging.
"""

import asyncio
import sys
import tempfile
import time
from collections.abc import Iterable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final
from unittest.mock import patch

import groupcomm_runtime
from groupcomm_runtime import Group, NewView, Settings

KEY: Final = b"what members alone know"
SETTINGS: Final = Settings(heartbeat=1.0, patience=30.0)


class Process:
    """A member, the sizes of its views, and what it has sent."""

    def __init__(self, name: str, folder: Path) -> None:
        self._joining = groupcomm_runtime.join("bench", name=name, key=KEY, folder=folder, settings=SETTINGS)
        self._stack = AsyncExitStack()
        self.group: Group
        self.sizes: list[int] = []

    async def join(self) -> None:
        self.group = await self._stack.enter_async_context(self._joining)
        self._listening = asyncio.create_task(self._listen())

    async def leave(self) -> None:
        await self._stack.aclose()

    async def _listen(self) -> None:
        async for event in self.group:
            if isinstance(event, NewView):
                self.sizes.append(len(event.members))

    async def until(self, size: int) -> None:
        while self.sizes[-1:] != [size]:  # noqa: ASYNC110 - of events that each member has by itself
            await asyncio.sleep(0.005)


async def run(count: int, folder: Path) -> str:
    """Have them join and leave; give the views and messages of both, and how long they take to leave.

    (To join takes the wait of discovery before, which follows the patience.)
    """
    first, *others = members = [Process(f"m{number}", folder) for number in range(1 + count)]
    await first.join()
    await first.until(1)

    def sent() -> int:
        return sum(each.group.counts.get("merge_gms sent", 0) for each in members)

    await asyncio.gather(*(each.join() for each in others))
    await first.until(1 + count)
    joins = f"{len(first.sizes) - 1} views, {sent()} messages"
    first.sizes.clear()
    began, before = time.monotonic(), sent()
    await asyncio.gather(*(each.leave() for each in others))
    await first.until(1)
    leaves = f"{len(first.sizes)} views, {sent() - before} messages, {time.monotonic() - began:.2f} s"
    await first.leave()
    return f"join {joins}; leave {leaves}"


def main(counts: Iterable[int]) -> None:
    """Print a line for each count and bundle."""
    for count in counts:
        for bundle in (1, 64):
            with patch("groupcomm_runtime.layers._BUNDLE", bundle), tempfile.TemporaryDirectory() as folder:
                print(f"{count}, bundles of {bundle}: {asyncio.run(run(count, Path(folder)))}", flush=True)


if __name__ == "__main__":
    main(map(int, sys.argv[1:]))
