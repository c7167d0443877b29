"""An adapter: a process that speaks JSON lines for an implementation in any language.

A request is a line on its stdin, an answer a line on its stdout, in turn, each with the request's `seq`.
Requests are written ahead of the answers, as far as the pipe takes them. A failure is a `Gone`, with a
verdict: the process ended, is silent, or said something that is no answer.

No clock decides that a process hangs. A process that is silent while it waits for the machine is starved,
and is waited for. A process that is silent and asleep, or that has used its patience in CPU time, hangs.
"""

import contextlib
import json
import os
import select
import shlex
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Final, Literal, Self, TypeAlias

from attrs import frozen

from groupcomm_conformance.files.errors import reason

from .plain import compact

VERSION: Final = 1
"""Of the protocol between driver and adapter: docs/porting.md and adapter.schema.json."""

CAN: Final = ("step", "keep", "start", "read")
"""Abilities that an adapter may have."""

PATIENCE: Final = 10.0
"""Seconds that an adapter may sleep over a request; it may use three times as many of CPU time."""

_BUSY: Final = 3.0
_LONGEST: Final = 16 << 20
_CHUNK: Final = 1 << 16
_BUFFER: Final = 1 << 18
_AHEAD: Final = 2_000
"""Requests without an answer at any time."""

_TICK: Final = 0.25
_FAREWELL: Final = 2.0
_WORDS: Final = 4_096
_SHOWN: Final = 120
_REMEMBERED: Final = 50_000


def _refuse(text: str) -> object:
    raise ValueError(f"{text} is no integer")


_parse: Final = json.JSONDecoder(parse_float=_refuse, parse_constant=_refuse).decode

Answer: TypeAlias = dict[str, Any]
"""An answer, without its `seq`."""


class Gone(Exception):  # noqa: N818 - the end of a process, and no mistake of ours
    """The adapter cannot continue. `verdict` is a row's verdict; the text says what happened."""

    def __init__(self, verdict: Literal["crash", "timeout", "adapter_error"], text: str) -> None:
        super().__init__(text)
        self.verdict = verdict


class AdapterError(Exception):
    """There is no adapter to judge: the command does not start, or what starts is no adapter."""


@frozen
class Hello:
    """The adapter's answer about itself."""

    name: str
    version: str
    language: str
    protocols: tuple[str, ...]
    can: frozenset[str]
    issues: str = ""

    def text(self) -> str:
        """Say it on a line."""
        can = ", ".join(name for name in CAN if name in self.can)
        return f"{self.name} {self.version} ({self.language}): {', '.join(self.protocols)}; can {can}"


class Adapter:
    """A running adapter, in a process group of its own; it ends with the `with`.

    AdapterError where the command cannot be started, or does not say hello as an adapter does.
    """

    def __init__(self, command: Sequence[str], *, patience: float = PATIENCE, release: str = "") -> None:
        self.command = tuple(command)
        self._patience = patience
        self._seq = 0
        self._lines: list[bytes] = []
        self._rest = b""
        self._words = b""
        self._known: dict[bytes, Answer] = {}
        try:
            self._process = subprocess.Popen(
                self.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,
            )
        except OSError as error:
            raise AdapterError(f"{shlex.join(self.command)}: cannot be started: {reason(error)}") from None
        assert self._process.stdin and self._process.stdout and self._process.stderr  # noqa: S101, PT018
        self._in = self._process.stdin.fileno()
        self._out = self._process.stdout.fileno()
        self._err = self._process.stderr.fileno()
        for file in (self._in, self._out, self._err):
            os.set_blocking(file, False)
        self._reading = [self._out, self._err]
        try:
            self.hello = self._greet(release)
        except BaseException:
            self.end()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def _greet(self, release: str) -> Hello:
        request = f'"do":"hello","adapter":{VERSION},"groupcomm":{compact(release)}}}'
        try:
            (told,) = self.exchange([request])
            return _hello(told)
        except Gone as gone:
            raise AdapterError(f"{shlex.join(self.command)}: says no hello: {gone}") from None

    # Asking

    def exchange(self, requests: Iterable[str]) -> Iterator[Answer]:
        """Send requests, each without its opening `{"seq":N,`, and give their answers in turn.

        Gone at the first that has no answer. An iterator that is left before its end leaves answers due.
        """
        source = iter(requests)
        due, written, ended = self._seq + 1, b"", False
        silence = _Silence(self._process.pid, self._patience)
        while True:
            if not written and not ended and self._seq - due < _AHEAD:
                some = list(islice(source, 200))
                ended = len(some) < 200  # noqa: PLR2004 - as many as were asked for
                first = self._seq + 1
                written = "".join([f'{{"seq":{seq},{each}\n' for seq, each in enumerate(some, first)]).encode("ascii")
                self._seq += len(some)
            if ended and due > self._seq:
                return
            if self._transfer(written, silence):
                written = self._write(written)
            if self._lines:
                silence.begin()
                lines, self._lines = self._lines, []
                for line in lines:
                    if due > self._seq:
                        raise Gone("adapter_error", f"an answer without a request: {_excerpt(line)}")
                    yield self._answer(line, due)
                    due += 1

    def _transfer(self, written: bytes, silence: "_Silence") -> bool:
        """Wait until there is something to read, or to write; read it. Whether something can be written."""
        readable, writable, _ = select.select(self._reading, [self._in] if written else [], [], _TICK)
        if self._err in readable:
            self._listen()
        if self._out in readable:
            self._read()
        elif not writable and (why := silence.hangs()):
            raise Gone("timeout", f"{why}{self._last_words()}")
        return bool(writable)

    def _write(self, data: bytes) -> bytes:
        try:
            return data[os.write(self._in, data[:_CHUNK]) :]
        except BlockingIOError:
            return data
        except BrokenPipeError:
            return b""  # its output, or the end of it, says why

    def _read(self) -> None:
        try:
            data = os.read(self._out, _BUFFER)
        except BlockingIOError:
            return
        if not data:
            raise Gone("crash", self._obituary())
        *lines, self._rest = (self._rest + data).split(b"\n") if self._rest else data.split(b"\n")
        if len(self._rest) > _LONGEST:
            raise Gone("adapter_error", f"a line of more than {_LONGEST:,} bytes: {_excerpt(self._rest)}")
        self._lines += lines

    def _listen(self) -> None:
        try:
            data = os.read(self._err, _BUFFER)
        except BlockingIOError:
            return
        if not data:
            self._reading.remove(self._err)
        self._words = (self._words + data)[-_WORDS:]

    def _answer(self, line: bytes, due: int) -> Answer:
        head = b'{"seq":%d,' % due
        if line.startswith(head):
            tail = line[len(head) :]
            known = self._known.get(tail)
            if known is not None:
                return known
        else:
            tail = b""
        try:
            told = _parse(line.decode())
        except (ValueError, RecursionError):
            remedy = "stdout is for answers, one on a line, with integers alone as numbers: print other words to stderr"
            raise Gone("adapter_error", f"no JSON: {_excerpt(line)}; {remedy}") from None
        if type(told) is not dict or type(told.get("seq")) is not int or told["seq"] != due:
            given = told.get("seq") if type(told) is dict else None
            why = f"an answer with seq {compact(given)} where {due} is due: answers go in the order of requests"
            raise Gone("adapter_error", f"{why}: {_excerpt(line)}")
        del told["seq"]
        if tail and len(self._known) < _REMEMBERED:
            self._known[tail] = told
        return told

    # The end

    def _obituary(self) -> str:
        code = self._wait(_FAREWELL)
        while self._err in self._reading and select.select([self._err], [], [], 0)[0]:
            self._listen()
        if code is None:
            how = "it closed its stdout and still runs"
        elif code < 0:
            how = f"it was killed by {signal.Signals(-code).name}"
        else:
            how = f"it ended with exit code {code}"
        return f"{how}{self._last_words()}"

    def _last_words(self) -> str:
        words = self._words.decode(errors="replace").strip().splitlines()[-3:]
        return f"; its last words: {' / '.join(words)}" if words else ""

    def _wait(self, seconds: float) -> int | None:
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def stop(self) -> None:
        """Ask it to stop, which it may do in its own time."""
        with contextlib.suppress(Gone):
            for _ in self.exchange(['"do":"stop"}']):
                pass

    def end(self) -> None:
        """End it and all that it has started in its group."""
        assert self._process.stdin and self._process.stdout and self._process.stderr  # noqa: S101, PT018
        self._process.stdin.close()
        self._wait(_TICK)
        # The rest of its process group, too: a wrapper may end before the wrapped process.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._process.stdout.close()
        self._process.stderr.close()


def _excerpt(line: bytes) -> str:
    text = line[:_SHOWN].decode("ascii", errors="backslashreplace")
    return f"{text!r}{'...' if len(line) > _SHOWN else ''}"


def _hello(told: Answer) -> Hello:
    """Read what an adapter says of itself; Gone for what is no hello."""

    def wrong(expected: str) -> Gone:
        return Gone("adapter_error", f"its hello is not as adapter.schema.json has it: expected {expected}")

    if told.get("adapter") != VERSION:
        raise wrong(f'"adapter": {VERSION}, the version of the protocol, not {compact(told.get("adapter"))}')
    for name in ("name", "version", "language"):
        if type(told.get(name)) is not str:
            raise wrong(f"a string as {name}")
    for name in ("protocols", "can"):
        given = told.get(name)
        if type(given) is not list or not given or not all(type(each) is str for each in given):
            raise wrong(f"{name}, a list of strings")
    if unknown := sorted({*told["can"]} - {*CAN}):
        raise wrong(f"can to be of {', '.join(CAN)}, not {unknown[0]}")
    if not {"step", "start"} & {*told["can"]}:
        raise wrong("can to have step or start: there is nothing to judge without")
    if "keep" in told["can"] and "step" not in told["can"]:
        raise wrong("can to have step, where it has keep")
    if unknown := sorted({*told} - {"adapter", "name", "version", "language", "protocols", "can", "issues"}):
        raise wrong(f"no field {unknown[0]}")
    return Hello(
        told["name"],
        told["version"],
        told["language"],
        tuple(told["protocols"]),
        frozenset(told["can"]),
        str(told.get("issues", "")),
    )


class _Silence:
    """Since when an adapter is silent, and what it does meanwhile."""

    def __init__(self, group: int, patience: float) -> None:
        self._group = group
        self._patience = patience
        self._idle = 0
        self._before = -1.0
        self._first = -1.0
        self._next = 0.0

    def begin(self) -> None:
        """It said something."""
        self._first = -1.0
        self._idle = 0

    def hangs(self) -> str:
        """Say why it hangs; "" where it does not, or where the machine does not say."""
        now = time.monotonic()
        if now < self._next:
            return ""
        self._next = now + _TICK
        used, asleep = activity(self._group)
        if used < 0:
            return ""
        if self._first < 0:
            self._first = used
        # A look counts only where nothing was used since the last: who waits for the machine is no sleeper.
        self._idle = self._idle + 1 if asleep and used == self._before else 0
        self._before = used
        if self._idle * _TICK >= self._patience:
            return (
                f"no answer, and it has slept for {self._patience:g} s: does it flush its output after each "
                "answer? (--patience waits longer)"
            )
        if used - self._first >= self._patience * _BUSY:
            return f"no answer after {self._patience * _BUSY:g} s of CPU time (--patience waits longer)"
        return ""


def _activity(group: int) -> tuple[float, bool]:
    """Give the CPU seconds of a process group and whether all of it sleeps; -1 where nothing says so."""
    ticks, asleep, seen = 0, True, False
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = place.read_text().rpartition(")")[2].split()
        except (OSError, UnicodeDecodeError):
            continue
        if int(fields[2]) == group:
            seen = True
            asleep = asleep and all(state in "SZ" for state in (fields[0], *_threads(place.parent)))
            ticks += int(fields[11]) + int(fields[12])
    return (ticks / os.sysconf("SC_CLK_TCK"), asleep) if seen else (-1.0, False)


def _threads(process: Path) -> Iterator[str]:
    for place in process.glob("task/[0-9]*/stat"):
        with contextlib.suppress(OSError, UnicodeDecodeError):
            yield place.read_text().rpartition(")")[2].split()[0]


activity: Callable[[int], tuple[float, bool]] = _activity
"""As `_activity`; tests put another in its place."""
