"""A member of a group of this project; `compare.py` says what it reads and writes."""

import asyncio
import json
import sys
import time

from groupcomm_runtime import Group, Message, join


class Member:
    """A member in a group of `size`."""

    def __init__(self, group: Group, size: int) -> None:
        self._group, self._size = group, size
        self._delivered = self._wanted = 0
        self._changed = asyncio.Event()

    async def takes(self) -> None:
        """Take all events."""
        async for event in self._group:
            self._delivered += isinstance(event, Message)
            if not isinstance(event, Message) or self._delivered >= self._wanted:
                self._changed.set()

    async def round(self, count: int, size: int, window: int) -> dict[str, object]:
        """Send and deliver what a round has; return what was measured."""
        while len(self._group.members) < self._size:
            self._changed.clear()
            await self._changed.wait()
        self._wanted += self._size * count
        latencies: list[float] = []
        numbers = iter(range(count))
        began, cpu = time.perf_counter(), time.process_time()

        async def sends() -> None:
            for _ in numbers:
                sent = time.perf_counter()
                await self._group.send(bytes(size))
                latencies.append(time.perf_counter() - sent)

        await asyncio.gather(*(sends() for _ in range(window)))
        while self._delivered < self._wanted:
            self._changed.clear()
            await self._changed.wait()
        cpu, wall = time.process_time() - cpu, time.perf_counter() - began
        latencies.sort()
        return {
            "first": self._group.members[0] == self._group.address,
            "cpu": cpu,
            "wall": wall,
            "p50": latencies[count // 2] * 1e3,
            "p99": latencies[count * 99 // 100] * 1e3,
        }


async def main(log: str, safe: str, index: int, places: list[str]) -> None:
    """Join, and take part in the rounds that stdin names."""
    name, place = f"m{index}", places[index]
    async with join(
        "bench",
        name=name,
        key=b"what the members of a bench know",
        peers=places,
        listen=place,
        log=log or None,
        safe=bool(safe),
    ) as group:
        print("joined", flush=True)
        member = Member(group, len(places))
        taking = asyncio.create_task(member.takes())
        while line := await asyncio.to_thread(sys.stdin.readline):
            print(json.dumps(await member.round(*map(int, line.split()))), flush=True)
    await taking


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4:]))
