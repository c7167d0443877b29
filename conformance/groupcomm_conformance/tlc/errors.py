"""Failures of TLC: each way of giving no verdict is a class."""

# ruff: noqa: N818 - an error is named after what happened

from pathlib import Path

from groupcomm_conformance.tla.trace import State


class TLCError(Exception):
    """TLC gave no verdict.

    ``text`` is what it said, ``file`` and ``line`` where, ``trace`` the way there, as far as known.
    """

    def __init__(
        self,
        message: str,
        *,
        text: str = "",
        file: Path | None = None,
        line: int | None = None,
        trace: tuple[State, ...] = (),
    ) -> None:
        super().__init__(message)
        self.text = text
        self.file = file
        self.line = line
        self.trace = trace


class ToolMissing(TLCError):
    """No usable Java or tla2tools.jar: none, too old, or damaged."""


class ParseFailed(TLCError):
    """A module does not parse, or a name in it has no meaning."""


class ConfigFailed(TLCError):
    """The configuration does not fit the module."""


class EvaluationFailed(TLCError):
    """TLC could not evaluate an expression; ``trace`` leads to the state in which it tried."""


class OutputCutShort(TLCError):
    """TLC ended without saying that it finished."""


class UnexpectedOutput(TLCError):
    """TLC's output contradicts its exit code, or cannot be read."""


class JVMKilled(TLCError):
    """The JVM ran out of memory or was killed by a signal."""


class TimedOut(TLCError):
    """The run took longer than it was allowed to and was killed."""


class DiskFull(TLCError):
    """There is no room for TLC's state files."""


class Endless(TLCError):
    """A search found so many states that its space is taken to have no end."""
