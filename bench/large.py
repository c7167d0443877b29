"""How long a large message takes over loss, and how much is sent for it: docs/performance.md has the figures.

    python bench/large.py 1 16        # MiB: a row for each loss and size

Three members are in this process, over UDP on loopback. A member that does not coordinate sends the message, so
it goes to the coordinator, and from there to the two others: three times its bytes is the least.
"""

import asyncio
import sys
import tempfile
import time
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Final

from groupcomm_field.torture.network import LossySocket, Rules
from groupcomm_runtime import Group, Message, Settings, join

KEY: Final = b"what members alone know"
LOSSES: Final = (0.0, 0.02, 0.15)
DATAGRAMS: Final = (8_192, 1_400)


class Counted(LossySocket):
    """It counts what it is given to send."""

    sent = 0

    def sendto(self, data: bytes, place: Any) -> int:  # type: ignore[override]  # noqa: ANN401 - a socket's
        Counted.sent += len(data)
        return super().sendto(data, place)


async def arrives(group: Group, data: bytes) -> None:
    """Wait for the message at a member."""
    async for event in group:
        if isinstance(event, Message) and event.data == data:
            return


async def takes(size: int, loss: float, datagram: int) -> tuple[float, float]:
    """Seconds until all have the message, and the bytes sent for each of its own."""
    settings = Settings(patience=10.0, datagram=datagram)
    sockets: list[Counted] = []

    def made() -> Counted:
        sockets.append(Counted())
        return sockets[-1]

    with tempfile.TemporaryDirectory() as folder:
        async with AsyncExitStack() as stack:
            groups = [
                await stack.enter_async_context(
                    join("large", name=name, key=KEY, folder=Path(folder), settings=settings, transport=made)
                )
                for name in "abc"
            ]
            while any(len(group.members) < len(groups) for group in groups):  # noqa: ASYNC110 - it is not measured
                await asyncio.sleep(0.05)
            for each in sockets:
                each.rules = Rules(loss=loss)
            data = bytes(range(256)) * (size // 256)
            before, began = Counted.sent, time.perf_counter()
            sends = asyncio.create_task(groups[-1].send(data))
            await asyncio.gather(*(arrives(group, data) for group in groups))
            seconds = time.perf_counter() - began
            sent = (Counted.sent - before) / size
            await sends
            for each in sockets:
                each.rules = Rules()
    return seconds, sent


def main(sizes: list[int]) -> None:
    """Print a row for each."""
    print("| MiB | datagram | lost | seconds | bytes sent, of its own |\n| ---: | ---: | ---: | ---: | ---: |")
    for size in sizes:
        for datagram in DATAGRAMS:
            for loss in LOSSES:
                seconds, sent = asyncio.run(takes(size << 20, loss, datagram))
                print(f"| {size} | {datagram:,} | {loss:.0%} | {seconds:.1f} | {sent:.2f} |", flush=True)


if __name__ == "__main__":
    main([*map(int, sys.argv[1:])] or [1, 16])
