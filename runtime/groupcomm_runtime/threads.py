"""A group for a program without asyncio: it runs in a thread of its own.

    with running(join("demo", name="A", folder="demo", key=key_in("demo/key"))) as (group, wait):
        wait(group.send(b"hello"))

`wait` runs a call in that thread.
"""

import asyncio
from collections.abc import Coroutine, Iterator
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, contextmanager
from threading import Thread
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


class Wait(Protocol):
    """Runs a coroutine in the thread of the group, from any other thread."""

    def __call__(self, call: Coroutine[Any, Any, T], seconds: float | None = None) -> T:
        """Return its result, or raise its exception. After so many seconds cancel it, and raise TimeoutError."""


@contextmanager
def running(context: AbstractAsyncContextManager[T]) -> Iterator[tuple[T, Wait]]:
    """Enter `join(...)` or `share(...)` in a thread with an event loop; leave it at the end of the block.

    Raises what the context raises. The thread ends with the block.
    """
    loop = asyncio.new_event_loop()
    thread = Thread(target=loop.run_forever, name="groupcomm", daemon=True)
    entered: Future[T] = Future()
    left = asyncio.Event()

    async def holds() -> None:  # in one task, as a context of asyncio needs it
        async with context as given:
            entered.set_result(given)
            await left.wait()

    def failed(holding: Future[None]) -> None:
        if not entered.done():
            entered.set_exception(holding.exception() or RuntimeError("the context has ended before it began"))

    def wait(call: Coroutine[Any, Any, Any], seconds: float | None = None) -> Any:  # noqa: ANN401 - its result
        return asyncio.run_coroutine_threadsafe(_within(call, seconds), loop).result()

    thread.start()
    try:
        holding = asyncio.run_coroutine_threadsafe(holds(), loop)
        holding.add_done_callback(failed)
        try:
            yield entered.result(), wait
        finally:
            loop.call_soon_threadsafe(left.set)
            if entered.done():
                holding.result()
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _within(call: Coroutine[Any, Any, T], seconds: float | None) -> T:
    async with asyncio.timeout(seconds):
        return await call
