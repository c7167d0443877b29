"""Groups on loopback in tests of the runtime: their times, a limit for a test, the messages of a member."""

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from groupcomm_runtime import Group, Message, Settings

KEY = b"what members alone know"
OTHER = b"what other members know"
FAST = Settings(heartbeat=0.05, patience=1.0)


def of_demo(folder: Path) -> Path:
    """The folder of the group "demo" in a folder, made where it is not there."""
    own = folder / "demo.group"
    own.mkdir(mode=0o700, exist_ok=True)
    return own


def run(test: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(test, 240))  # of a machine that is busy; it takes a second


async def until(holds: Callable[[], object]) -> None:
    """Wait for what has no event of its own."""
    async with asyncio.timeout(60):
        while not holds():  # noqa: ASYNC110 - as it says
            await asyncio.sleep(0.01)


async def messages(group: Group, count: int) -> list[bytes]:
    """The next so many messages."""
    found: list[bytes] = []
    while len(found) < count:
        event = await anext(group)
        if isinstance(event, Message):
            found.append(event.data)
    return found
