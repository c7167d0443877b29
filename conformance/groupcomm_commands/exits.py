"""The exit codes of `groupcomm`: one table for all commands.

A command ends with `raise typer.Exit(ExitCode.DIFFERS)`, or leaves an error to `main`, which knows the
code of each kind. docs/commands.md has the same table, and every `--help` the short form, `EPILOG`.
"""

from enum import IntEnum
from typing import Final


class ExitCode(IntEnum):
    """How a command ended."""

    OK = 0
    DIFFERS = 1
    BAD_INPUT = 2
    TOOL_FAILED = 3
    NOTHING = 4
    INTERNAL = 70
    INTERRUPTED = 130
    BROKEN_PIPE = 141
    TERMINATED = 143


MEANING: Final = {
    ExitCode.OK: "all is as expected",
    ExitCode.DIFFERS: "something differs from what is expected: a finding",
    ExitCode.BAD_INPUT: "wrong usage, or a bad manifest, specification or other input file",
    ExitCode.TOOL_FAILED: "a tool failed: no Java, a damaged jar, TLC killed, out of memory, disk full",
    ExitCode.NOTHING: "nothing to judge: the selection left no model, scenario or vector",
    ExitCode.INTERNAL: "a mistake in groupcomm itself",
    ExitCode.INTERRUPTED: "interrupted",
    ExitCode.BROKEN_PIPE: "no process reads the output any more",
    ExitCode.TERMINATED: "terminated, or the terminal was closed",
}

EPILOG: Final = "Exit codes: " + "; ".join(f"{code.value} {text}" for code, text in MEANING.items()) + "."


def verdict(*, ok: bool) -> ExitCode:
    """Give the code of a judgement that was made: `OK` or `DIFFERS`."""
    return ExitCode.OK if ok else ExitCode.DIFFERS
