"""Whether memory stays flat with everything on: docs/performance.md has the figures.

    python bench/soak.py 20        # minutes; a row each minute

Two processes, one over UDP, one over TCP, have a group of five members each, with a majority and a state. Four
members stay. The fifth joins, takes the state, sends, and leaves, or falls silent as if it were killed, again and
again. 2 % of what is sent is lost, and 30 % in 5 seconds of each minute. In other 5 seconds one application takes
no event. All send: 100 bytes, 20 kB of one message in 50, and 1 MiB of one in 500.
"""

import asyncio
import gc
import multiprocessing
import os
import socket
import sys
import tempfile
import time
from collections import Counter, deque
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Any, Final

import groupcomm_runtime.group
from groupcomm_field.torture.network import Faulty, LossySocket, LossyTcp, Rules
from groupcomm_runtime import Group, GroupError, Message, NewLife, Settings, join

KEY: Final = b"what members alone know"
RATE: Final = 20  # messages a second of a member
KEPT: Final = 2_000  # messages of which the state has the sizes
FAULTY: Final = Faulty()


class Socket(LossySocket):
    """One whose rules are those of the process."""

    def __init__(self) -> None:
        super().__init__()
        self.faulty = FAULTY


class Carrier(LossyTcp):
    """The same over TCP."""

    def __init__(self, sock: socket.socket, patience: float) -> None:
        super().__init__(sock, patience)
        self.faulty = FAULTY


class Last:
    """A state of bounded size: the sizes of the last messages."""

    def __init__(self) -> None:
        self.sizes: deque[int] = deque(maxlen=KEPT)

    def get(self) -> bytes:
        return b" ".join(b"%d" % size for size in self.sizes)

    def set(self, state: bytes) -> None:
        self.sizes = deque(map(int, state.split()), KEPT)


class Soak:
    """A group in this process."""

    def __init__(self, transport: str, folder: Path) -> None:
        self._settings = Settings(transport=transport, event_bytes=1 << 20, majority=True, patience=3.0)
        self._folder = folder
        self.counts: Counter[str] = Counter()
        self._goes_on = asyncio.Event()
        self._goes_on.set()

    async def member(self, name: str, *, until: Callable[[], bool], leaves: bool = True) -> None:
        """Be a member, and send until something holds."""
        state = Last()
        async with AsyncExitStack() as stack:
            group: Group = await stack.enter_async_context(
                join(
                    "soak",
                    name=name,
                    key=KEY,
                    folder=self._folder,
                    settings=self._settings,
                    state=state,
                    transport=Socket if self._settings.transport == "udp" else None,
                )
            )
            takes = asyncio.create_task(self._takes(group, state, slow=name == "b"))
            stack.callback(takes.cancel)
            sends: set[asyncio.Task[None]] = set()
            number = 0
            while not until():
                await asyncio.sleep(1 / RATE)
                if len(sends) < RATE:
                    number += 1
                    size = 1 << 20 if number % 500 == 0 else 20_000 if number % 50 == 0 else 100
                    task = asyncio.create_task(self._sends(group, bytes(size)))
                    sends.add(task)
                    task.add_done_callback(sends.discard)
            for each in sends:
                each.cancel()
            if not leaves:
                group._member.close("failed")  # noqa: SLF001 - nobody else ends a member so
                group._member._application.ended(RuntimeError("it died"))  # noqa: SLF001

    async def _sends(self, group: Group, data: bytes) -> None:
        with suppress(GroupError):
            await group.send(data)
            self.counts["sent"] += 1

    async def _takes(self, group: Group, state: Last, *, slow: bool) -> None:
        with suppress(GroupError):
            async for event in group:
                if isinstance(event, Message):
                    self.counts["delivered"] += 1
                    self.counts["bytes"] += len(event.data)
                    state.sizes.append(len(event.data))
                elif isinstance(event, NewLife):
                    self.counts["begins again"] += 1
                if slow:
                    await self._goes_on.wait()

    async def runs(self, minutes: float, says: Callable[[str], None]) -> None:
        """Have all of it for so many minutes."""
        end = time.monotonic() + 60 * minutes

        def over() -> bool:
            return time.monotonic() >= end

        staying = [asyncio.create_task(self.member(name, until=over)) for name in "abcd"]
        weather = asyncio.create_task(self._weather())
        reports = asyncio.create_task(self._reports(says))
        turn = 0
        while not over():
            turn += 1
            await self._visits(min(time.monotonic() + 10, end), leaves=turn % 2 == 0)
            self.counts["fifth member"] += 1
        weather.cancel()
        reports.cancel()
        FAULTY.rules = Rules()
        await asyncio.gather(*staying)

    async def _visits(self, end: float, *, leaves: bool) -> None:
        await self.member("e", until=lambda: time.monotonic() >= end, leaves=leaves)

    async def _weather(self) -> None:
        while True:
            for seconds, loss, goes_on in ((25, 0.02, True), (5, 0.3, True), (25, 0.02, True), (5, 0.02, False)):
                FAULTY.rules = Rules(loss=loss)
                (self._goes_on.set if goes_on else self._goes_on.clear)()
                await asyncio.sleep(seconds)

    async def _reports(self, says: Callable[[str], None]) -> None:
        for minute in range(1, 10**6):
            await asyncio.sleep(60)
            gc.collect()
            counts = self.counts
            says(
                f"| {self._settings.transport} | {minute} | {_resident() / 1e6:.1f} MB | {counts['delivered']:,} "
                f"| {counts['bytes'] / 1e6:,.0f} MB | {counts['fifth member']} | {counts['begins again']} |"
            )


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _process(transport: str, minutes: float) -> None:
    vars(groupcomm_runtime.group)["Tcp"] = Carrier
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(Soak(transport, Path(folder)).runs(minutes, lambda line: print(line, flush=True)))


def main(minutes: float) -> None:
    """Print a row each minute, of each process."""
    print("| | minute | resident | deliveries | bytes of them | fifth members | began again |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |", flush=True)
    processes: list[Any] = [multiprocessing.Process(target=_process, args=(each, minutes)) for each in ("udp", "tcp")]
    for each in processes:
        each.start()
    for each in processes:
        each.join()
    sys.exit(any(each.exitcode for each in processes))


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 20.0)
