"""Places of the messages of a member that are on their way."""

import asyncio
from typing import Final

from .frames import PLACE


def places(data: bytes) -> int:
    """The places that a message takes."""
    return -(-len(data) // PLACE) or 1


class Window:
    """So many places. Who asks after a caller that waits for several waits behind it."""

    def __init__(self, size: int) -> None:
        self._free: Final = asyncio.Semaphore(size)
        self._asks: Final = asyncio.Lock()

    async def take(self, count: int) -> None:
        """Take places. None is taken where this wait is cancelled."""
        if count == 1 and not self._asks.locked():
            await self._free.acquire()
            return
        async with self._asks:
            taken = 0
            try:
                while taken < count:
                    await self._free.acquire()
                    taken += 1
            except BaseException:
                self.give_back(taken)
                raise

    def give_back(self, count: int) -> None:
        """Give places back."""
        for _ in range(count):
            self._free.release()
