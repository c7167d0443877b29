"""A process of a tortured group, as its campaign sees it."""

import asyncio
import json
from itertools import count
from typing import IO, TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from groupcomm_runtime.discovery import Place

_ANSWERS: Final = 2.0  # seconds that an answer may take, before it is asked again


class Process:
    """A process of the group."""

    def __init__(self, name: str, process: asyncio.subprocess.Process, errors: IO[bytes]) -> None:
        self.name, self.process, self._errors = name, process, errors
        self.place: Place = ("", 0)
        self.located, self.alone = asyncio.Event(), asyncio.Event()
        self.latest: dict[str, Any] | None = None
        self._asked = count(1)
        self._answer: tuple[int, asyncio.Future[dict[str, Any]]] | None = None
        self.reads = asyncio.create_task(self._reads())

    async def _reads(self) -> None:
        assert self.process.stdout is not None  # noqa: S101 - it is a pipe
        while line := await self.process.stdout.readline():
            said = json.loads(line)
            if "alone" in said:
                self.alone.set()
            elif "place" in said:
                self.place = (said["place"][0], said["place"][1])
                self.located.set()
            elif self._answer is not None and said.get("answer") == self._answer[0]:
                self.latest = said
                if not self._answer[1].done():
                    self._answer[1].set_result(said)
        self.alone.set()
        self.located.set()

    def tell(self, **what: object) -> None:
        """Send a command; a process that has ended takes none."""
        assert self.process.stdin is not None  # noqa: S101 - it is a pipe
        if not self.process.stdin.is_closing():
            self.process.stdin.write(json.dumps(what).encode() + b"\n")

    async def asked(self) -> dict[str, Any] | None:
        """Return its state, None where no answer comes."""
        number = next(self._asked)
        future: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._answer = number, future
        self.tell(ask=number)
        try:
            return await asyncio.wait_for(future, _ANSWERS)
        except TimeoutError:
            return None

    @property
    def ended(self) -> bool:
        """True if the process has ended."""
        return self.process.returncode is not None

    def kill(self) -> None:
        """End the process, in any state."""
        if self.process.returncode is None:
            self.process.kill()
        self._errors.close()
