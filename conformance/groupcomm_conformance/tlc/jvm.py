"""A JVM that runs TLC: a process in a group of its own, which is killed as one. POSIX only.

It ends with us, even where we are killed and can end nothing: its standard input is a pipe of ours, which the
system then closes. A JVM that is asked reads it (`Resident.java`); of another a shell does.
"""

import os
import signal
import subprocess
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Final, cast

# Recursive operators need a deep stack: 16 MB cost nothing until used.
OPTIONS: Final = ("-Xss16m", "-XX:+ExitOnOutOfMemoryError", "-Dfile.encoding=UTF-8")


# The shell has the JVM's exit code, or 128 and the signal that killed it. The reader ends before the
# shell does: otherwise the output would have no end.
_WITH_US: Final = """
exec 3<&0
"$@" </dev/null 3<&- &
jvm=$!
(read -r _; kill -KILL 0) <&3 3<&- >/dev/null 2>&1 &
reader=$!
exec 3<&-
wait $jvm
code=$?
kill -KILL $reader
exit $code
"""


class JVM:
    """A command that runs in `folder` and prints `lines`; if it is `asked`, it reads `requests`."""

    def __init__(self, command: Sequence[str], folder: Path, *, asked: bool = False) -> None:
        self._errors = folder / "stderr.txt"
        self._told = 0
        self._lock = threading.Lock()
        self._ended: tuple[int, float] | None = None
        if not asked:
            command = ["/bin/sh", "-c", _WITH_US, "sh", *command]
        with self._errors.open("wb") as stderr:
            self._process = subprocess.Popen(
                command,
                cwd=folder,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                encoding="utf-8",
                errors="replace",
                start_new_session=True,
            )
        self.requests = cast("IO[str]", self._process.stdin)
        self.lines = cast("IO[str]", self._process.stdout)

    def errors(self) -> str:
        """Give what it has said on stderr since this was last asked for."""
        with self._errors.open("rb") as file:
            file.seek(self._told)
            said = file.read()
        self._told += len(said)
        return said.decode(errors="replace")

    def ended(self, *, wait: bool) -> tuple[int, float] | None:
        """Give its exit code, or minus the signal that killed it, and its CPU seconds; None while it runs."""
        with self._lock:
            if self._ended is None:
                pid, status, usage = os.wait4(self._process.pid, 0 if wait else os.WNOHANG)
                if pid:
                    self._process.returncode = os.waitstatus_to_exitcode(status)
                    self._ended = self._process.returncode, usage.ru_utime + usage.ru_stime
            return self._ended

    def kill(self) -> None:
        """Kill it and all that it has begun, if it runs."""
        with self._lock:
            if self._ended is None:  # once reaped, the id may be another process's
                with suppress(ProcessLookupError):
                    os.killpg(self._process.pid, signal.SIGKILL)

    def close(self) -> None:
        """Close its ends; it has ended."""
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with suppress(OSError):  # what was asked of a dead one cannot be flushed
                    stream.close()
