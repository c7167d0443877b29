"""A member of a group of this project; `compare.py` says what it reads and writes."""

import asyncio
import json
import sys
import time
from collections import deque
from collections.abc import Iterator

from groupcomm_runtime import Group, Message, Settings, join


class Member:
    """A member in a group of `size`. `waits`: for each message in its turn, by `send`; else it posts them."""

    def __init__(self, group: Group, size: int, *, waits: bool) -> None:
        self._group, self._size, self._waits = group, size, waits
        self._delivered = self._wanted = 0
        self._posted: deque[float] = deque()
        self._latencies: list[float] = []
        self._changed = asyncio.Event()
        self._back = asyncio.Event()

    async def takes(self) -> None:
        """Take all events."""
        async for event in self._group:
            if isinstance(event, Message):
                self._delivered += 1
                if self._posted and event.sender == self._group.address:
                    self._latencies.append(time.perf_counter() - self._posted.popleft())
                    self._back.set()
                if self._delivered < self._wanted:
                    continue
            self._changed.set()

    async def round(self, count: int, size: int, window: int) -> dict[str, object]:
        """Send and deliver what a round has; return what was measured."""
        while len(self._group.members) < self._size:
            self._changed.clear()
            await self._changed.wait()
        self._wanted += self._size * count
        latencies: list[float] = []
        self._latencies = latencies
        numbers = iter(range(count))
        began, cpu = time.perf_counter(), time.process_time()
        if self._waits:
            await asyncio.gather(*(self._sends(numbers, size) for _ in range(window)))
        else:
            await self._posts(count, size, window)
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

    async def _sends(self, numbers: Iterator[int], size: int) -> None:
        for _ in numbers:
            sent = time.perf_counter()
            await self._group.send(bytes(size))
            self._latencies.append(time.perf_counter() - sent)

    async def _posts(self, count: int, size: int, window: int) -> None:
        for _ in range(count):
            while len(self._posted) >= window:
                self._back.clear()
                await self._back.wait()
            if not self._group.room:
                await self._group.drain()
            self._posted.append(time.perf_counter())
            self._group.post(bytes(size))


async def main(log: str, how: str, index: int, places: list[str]) -> None:
    """Join, and take part in the rounds that stdin names."""
    name, place = f"m{index}", places[index]
    async with join(
        "bench",
        name=name,
        key=b"what the members of a bench know",
        peers=places,
        listen=place,
        log=log or None,
        safe=how == "safe",
        settings=Settings(datagram=60_000),  # of loopback
    ) as group:
        print("joined", flush=True)
        member = Member(group, len(places), waits=bool(how))
        taking = asyncio.create_task(member.takes())
        while line := await asyncio.to_thread(sys.stdin.readline):
            print(json.dumps(await member.round(*map(int, line.split()))), flush=True)
    await taking


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4:]))
