"""A member of a tortured group, a process of its own: an application that sends all the time.

    python -m groupcomm_field.torture.member PARENT NAME FOLDER HOST OPTIONS RATE HEARTBEAT PATIENCE SLOW LARGE

OPTIONS are of `majority`, `state` and `tcp`, with a comma between. The state is the names of all messages, in
their order. HOST is 127.0.0.1, or its address in a network namespace of its own. The clock is SLOW by so many
seconds. One message in 40 has LARGE bytes. It reads commands from its input, a JSON object a line, and writes its
states in the same form. It ends with its input, and with its parent: so a campaign leaves no process behind, even
if the campaign itself is killed.
"""

import asyncio
import ctypes
import json
import os
import resource
import signal
import socket
import sys
import time
from collections import Counter
from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import groupcomm_runtime
import groupcomm_runtime.group
from groupcomm.view import name_and_life
from groupcomm_runtime import EndedError, Group, GroupError, Message, NewLife, NewView, NotDelivered, NotSafe, Settings

from .namespaces import enter, own_interface
from .network import Faulty, LossySocket, LossyTcp, Rules

GROUP: Final = "torture"
KEY: Final = b"what members under torture know"

LOOPBACK: Final = "127.0.0.1"

DISK_FULL: Final = 9
"""The exit code of a member that could not write its log, as it should."""

_AT_ONCE: Final = 32  # messages of this member
_ONE_IN: Final = 40
_EVENT_BYTES: Final = 65_536  # the least: the events of a slow reader are full soon
_DIES_WITH_PARENT: Final = 1  # PR_SET_PDEATHSIG


_faulty: Final = Faulty()
"""That of this process, whose incarnations all send by the same rules."""


class _Socket(LossySocket):
    """Reports its place."""

    def __init__(self) -> None:
        super().__init__()
        self.faulty = _faulty

    def bind(self, place: Any) -> None:  # noqa: ANN401 - as the system has it
        super().bind(place)
        _say(place=self.getsockname())


class _Tcp(LossyTcp):
    """Reports its place."""

    def __init__(self, sock: socket.socket, patience: float) -> None:
        super().__init__(sock, patience)
        self.faulty = _faulty
        _say(place=self.place)


def _say(**what: object) -> None:
    print(json.dumps(what), flush=True)  # noqa: T201 - that is its way to speak


class _Messages:
    """The state: the names of all messages, in their order. `takes`: the seconds of a `get`, in its thread."""

    takes = 0.0

    def __init__(self) -> None:
        self.names: list[str] = []

    def get(self) -> bytes:
        state = json.dumps(self.names).encode()
        time.sleep(self.takes)
        return state

    def set(self, state: bytes) -> None:
        self.names = json.loads(state)


class _Application:
    """Sends, counts, and answers. It writes below `folder` what it takes, and which of its messages were sent."""

    def __init__(self, name: str, rate: float, large: int, folder: Path) -> None:
        self._name, self._rate, self._large, self._folder = name, rate, large, folder
        self.state = _Messages()
        self._own = f"{os.getpid()}-{time.monotonic_ns()}"  # the system gives the number of a process again
        self._sent = (folder / "sent" / f"{name}.{self._own}").open("x", encoding="utf-8")
        self._counts: Counter[str] = Counter()
        self._group: Group | None = None
        self._rests = 0.0  # seconds, before it takes the next event
        self.leaves = asyncio.Event()

    async def lives(self, group: Group) -> None:
        """Send and take, until the command to leave, or the end of the group."""
        self._group = group
        sends = asyncio.create_task(self._sends(group))
        takes = asyncio.create_task(self._takes(group))
        told = asyncio.create_task(self.leaves.wait())
        try:
            done, _ = await asyncio.wait((sends, takes, told), return_when=asyncio.FIRST_COMPLETED)
            for each in done:
                each.result()
        finally:
            for each in (sends, takes, told):
                each.cancel()

    async def _sends(self, group: Group) -> None:
        places = asyncio.Semaphore(_AT_ONCE)
        tasks: set[asyncio.Task[None]] = set()
        number = 0
        while True:
            await asyncio.sleep(1 / self._rate if self._rate else 0.05)
            if not self._rate:
                continue
            await places.acquire()
            number += 1
            task = asyncio.create_task(self._send(group, number))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
            task.add_done_callback(lambda _: places.release())

    async def _send(self, group: Group, number: int) -> None:
        text = f"{self._name}/{self._own}/{number} "
        size = self._large if number % _ONE_IN == 0 else 100
        try:
            await group.send(text.encode().ljust(size, b"."))
        except NotDelivered:
            self._counts["not delivered"] += 1
        except NotSafe:
            self._counts["unknown"] += 1
        except EndedError:
            pass  # `_takes` raises the reason
        else:
            self._counts["sent"] += 1
            print(text, file=self._sent, flush=True)

    async def _takes(self, group: Group) -> None:
        """Take events, and write down a line for each: so the campaign sees what an application sees."""
        path = self._folder / "taken" / f"{self._name}.{self._own}"
        with path.open("x", encoding="utf-8") as file:
            async for event in group:
                match event:
                    case Message(sender, data):
                        self._counts["delivered"] += 1
                        name = data.decode().split()[0]
                        self.state.names.append(name)
                        print("message", sender, name, file=file, flush=True)
                    case NewView(view_id, members, merged):
                        self._counts["merged" if merged else "views"] += 1
                        own = next(each for each in members if name_and_life(each)[0] == self._name)
                        print("view", own, f"{view_id.counter}/{view_id.creator}", file=file, flush=True)
                    case NewLife():
                        self._counts["refused"] += 1
                    case _:
                        pass
                if self._rests:
                    self._counts["rests"] += 1
                    seconds, self._rests = self._rests, 0.0
                    await asyncio.sleep(seconds)

    def told(self, line: bytes) -> None:
        """Do the command of a line."""
        match json.loads(line):
            case {"ask": number}:
                _say(answer=number, **self._state())
            case {"rate": rate}:
                self._rate = rate
            case {"network": rules}:
                lists = {name: frozenset(map(tuple, rules[name])) for name in ("mute", "deaf")}
                _faulty.rules = Rules(**{**rules, **lists})
            case {"rest": seconds}:
                self._rests = seconds
            case {"get": seconds}:
                self.state.takes = seconds
            case {"suspend": seconds}:
                time.sleep(seconds)
                _clock.stood_still += seconds
            case {"leave": _}:
                if self._group is not None:
                    self.state.takes = 0.0
                    (self._folder / "states" / self._group.address).write_bytes(self.state.get())
                self.leaves.set()
            case {"declare": _}:
                if self._group is not None:
                    self._group.declare_state()
            case {"room": room}:
                _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
                resource.setrlimit(resource.RLIMIT_FSIZE, (room, hard))
            case other:
                raise ValueError(f"nothing to do: {other}")

    def _state(self) -> dict[str, object]:
        group = self._group
        if group is None:
            return {"address": None}
        return {
            "address": group.address,
            "members": group.members,
            "primary": group.primary,
            "has": group._has_state.is_set(),  # noqa: SLF001 - what `has_state` waits for
            "messages": len(self.state.names),
            "view": None if group.view is None else [group.view.counter, group.view.creator],
            "tables": group.tables,
            "counts": {**group.counts, **{f"application {name}": n for name, n in self._counts.items()}},
        }


async def _reads(application: _Application) -> None:
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        application.told(line)
    os._exit(0)  # the campaign is gone


class _Clock:
    """The clock of timers. It stands still while the machine is suspended, as CLOCK_MONOTONIC does."""

    def __init__(self) -> None:
        self._monotonic, self.stood_still = time.monotonic, 0.0

    def __call__(self) -> float:
        return self._monotonic() - self.stood_still


_clock: Final = _Clock()


async def _main(name: str, folder: Path, host: str, options: Collection[str], numbers: Sequence[float]) -> int:
    rate, heartbeat, patience, slow, large = numbers
    clock = time.time_ns
    time.time_ns = lambda: clock() - int(slow * 10**9)
    time.monotonic = _clock
    tcp = "tcp" in options
    if tcp:
        vars(groupcomm_runtime.group)["Tcp"] = _Tcp
    application = _Application(name, rate, int(large), folder)
    reads = asyncio.create_task(_reads(application))
    joins = groupcomm_runtime.join(
        GROUP,
        name=name,
        key=KEY,
        folder=folder / "group",
        listen=f"{host}:0",
        log=folder / "logs",
        settings=Settings(
            heartbeat=heartbeat,
            patience=patience,
            majority="majority" in options,
            transport="tcp" if tcp else "udp",
            event_bytes=_EVENT_BYTES,
        ),
        state=application.state if "state" in options else None,
        transport=None if tcp else _Socket,
    )
    try:
        group = await _entered(joins, application)
        if group is None:
            return 0
        try:
            await application.lives(group)
        finally:
            await joins.__aexit__(None, None, None)
    except GroupError as error:
        cause = error.__cause__
        if isinstance(cause, OSError):
            _say(full=str(cause))
            return DISK_FULL
        raise
    finally:
        reads.cancel()
    return 0


async def _entered(joins: Any, application: _Application) -> Group | None:  # noqa: ANN401 - what `join` gives
    """Return the group, None if the command to leave comes before the first view."""
    enters = asyncio.ensure_future(joins.__aenter__())
    leaves = asyncio.ensure_future(application.leaves.wait())
    await asyncio.wait((enters, leaves), return_when=asyncio.FIRST_COMPLETED)
    if enters.done():
        leaves.cancel()
        group: Group = enters.result()
        return group
    enters.cancel()
    with suppress(asyncio.CancelledError):
        await enters
    return None


def _waits_for_interface(host: str) -> None:
    """Enter a namespace, say so, and wait for the interface that the campaign puts into it."""
    enter()
    _say(alone=True)
    while "eth0:" not in Path("/proc/self/net/dev").read_text(encoding="utf-8"):
        if os.getppid() == 1:
            sys.exit(0)
        time.sleep(0.005)
    own_interface(host)


if __name__ == "__main__":
    parent, given_name, given_folder, given_host, given, *numbers = sys.argv[1:]
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_DIES_WITH_PARENT, signal.SIGKILL)
    if os.getppid() != int(parent):
        sys.exit(0)
    if given_host != LOOPBACK:
        _waits_for_interface(given_host)
    sys.exit(asyncio.run(_main(given_name, Path(given_folder), given_host, given.split(","), [*map(float, numbers)])))
