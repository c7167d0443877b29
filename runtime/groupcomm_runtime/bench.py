"""How many messages three members deliver in a second of processor time: `python -m groupcomm_runtime.bench`.

Each member is a process, sends as fast as it may, and delivers what all of them send.
"""

import argparse
import asyncio
import multiprocessing
import tempfile
import time
from pathlib import Path
from typing import Final

from .group import Group, join
from .transfer import Message

_MEMBERS: Final = 3
_SENDERS: Final = 50  # tasks of a member that each wait for their message


async def _delivered(group: Group, wanted: int) -> None:
    while wanted:
        wanted -= isinstance(await anext(group), Message)


async def _member(name: str, folder: Path, count: int, size: int, *, logs: bool) -> tuple[float, float, str]:
    """Processor seconds, seconds, and what the member was."""
    log = folder / "logs" if logs else None
    async with join("bench", name=name, key="bench", folder=folder, log=log) as group:
        while len(group.members) < _MEMBERS:
            await anext(group)
        wall, cpu = time.monotonic(), time.process_time()
        delivered = asyncio.create_task(_delivered(group, _MEMBERS * count))

        async def sends(number: int) -> None:
            for _ in range(number):
                await group.send(bytes(size))

        shares = [count // _SENDERS + (place < count % _SENDERS) for place in range(_SENDERS)]
        await asyncio.gather(*map(sends, shares))
        await delivered
        spent = time.process_time() - cpu, time.monotonic() - wall
        what = "coordinator" if group.members[0] == group.address else "member"
        await asyncio.sleep(1)
    return *spent, what


def _process(arguments: tuple[str, Path, int, int, bool]) -> tuple[float, float, str]:
    *given, logs = arguments
    return asyncio.run(_member(*given, logs=logs))  # type: ignore[arg-type]


def main() -> None:
    """Measure, and print a line for each member."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=2_000, help="that each member sends")
    parser.add_argument("--size", type=int, default=100, help="bytes of a message")
    parser.add_argument("--logs", action="store_true", help="write logs, too")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, multiprocessing.get_context("spawn").Pool(_MEMBERS) as pool:
        given = [(name, Path(folder), asked.messages, asked.size, asked.logs) for name in "abc"]
        for cpu, wall, what in pool.map(_process, given, chunksize=1):
            count = _MEMBERS * asked.messages
            print(  # noqa: T201 - that is what it is for
                f"{what}: {count:,} messages of {asked.size} B: {count / cpu:,.0f} a processor second, "
                f"{count / wall:,.0f} a second"
            )


if __name__ == "__main__":
    main()
