"""The command line, `groupcomm`: one sub-command per job.

A sub-command raises the errors of the modules; `main` turns an error into a single line on stderr and an exit
code of `exits.MEANING`. Output goes to stdout, progress, warnings and errors to stderr.
"""

import errno
import json
import logging
import os
import platform
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from functools import wraps
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import FrameType
from typing import Annotated, Any, Final, TextIO

import typer
from typer.core import TyperGroup
from typer.main import get_command

from groupcomm_conformance.files.errors import FileError, PathError, reason

from .exits import EPILOG, MEANING, ExitCode

COMMANDS: Final = {
    "list": "listing.command",
    "check": "check.check",
    "explain": "check.explain",
    "conform": "conform.command",
    "mutants": "mutants.command",
    "prove": "prove.command",
    "scenario": "scenario.command",
    "demo": "demo.command",
    "simulate": "simulate.command",
    "explore": "explore.command",
    "accept": "accept.command",
    "probe": "probe.command",
    "torture": "torture.command",
    "jgroups": "jgroups.command",
    "report": "report.command",
    "site": "site.command",
    "errata": "documents.write_errata",
    "requirements": "documents.write_requirements",
    "assumptions": "documents.write_assumptions",
    "guarantees": "documents.write_guarantees",
    "vectors": "vectors.command",
    "pipeline": "pipeline.command",
    "port": "port.app",
    "key": "key.app",
}
"""The commands, and where each is defined: in which module of this room, and by which name."""


class _Imported(TyperGroup):
    """Imports a command when it is used: to import all takes as long as most commands."""

    def __init__(self, **attributes: Any) -> None:  # noqa: ANN401 - Typer's
        super().__init__(**attributes)
        self.commands = dict.fromkeys(COMMANDS)  # type: ignore[assignment] # names alone: what is listed, and may be meant

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ANN401, ARG002 - Typer has no public names for them
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name].partition(".")
        found = getattr(import_module(f"{__package__}.{module}"), name)
        if isinstance(found, typer.Typer):
            return get_command(found)
        alone = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
        alone.command(name=cmd_name, epilog=EPILOG)(_until_nobody_reads(found))
        return get_command(alone)


app = typer.Typer(
    name="groupcomm",
    cls=_Imported,
    help="Check group-communication protocols against their specifications.",
    epilog=EPILOG,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _version(*, wanted: bool) -> None:
    if wanted:
        try:
            number = version("groupcomm")
        except PackageNotFoundError:
            number = "(not installed)"
        typer.echo(f"groupcomm {number}, Python {platform.python_version()}")
        raise typer.Exit


@app.callback()
def _groupcomm(
    *,
    _show: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Take the sub-command."""


def _until_nobody_reads(command: Callable[..., None]) -> Callable[..., None]:
    """Have a command end with a code of its own when its output is closed, as by `head`.

    Typer would end with 1, which is a finding.
    """

    @wraps(command)
    def run(*args: object, **options: object) -> None:
        try:
            try:
                command(*args, **options)
            finally:
                if sys.stdout is not None:  # as after `>&-`
                    sys.stdout.flush()
        except BrokenPipeError:
            # Python's own last writes must not fail, too.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(ExitCode.BROKEN_PIPE) from None

    return run


# Running

_NO_ROOM: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def _codes() -> tuple[tuple[type[Exception] | tuple[type[Exception], ...], ExitCode], ...]:
    """Give the exit codes of errors: the first that fits. Their modules are imported when an error came."""
    from groupcomm_conformance.documents.errata import Unproved  # noqa: PLC0415
    from groupcomm_conformance.models.manifest import UnknownNameError  # noqa: PLC0415
    from groupcomm_conformance.models.selecting import NothingToJudge  # noqa: PLC0415
    from groupcomm_conformance.ports.adapter import AdapterError  # noqa: PLC0415
    from groupcomm_conformance.protocols.codec import MappingError  # noqa: PLC0415
    from groupcomm_conformance.tlc.errors import ConfigFailed, ParseFailed, TLCError  # noqa: PLC0415
    from groupcomm_field.jgroups.jvm import JvmError  # noqa: PLC0415
    from groupcomm_spark.errors import SparkError  # noqa: PLC0415

    return (
        (Unproved, ExitCode.DIFFERS),
        (NothingToJudge, ExitCode.NOTHING),
        ((FileError, PathError, UnknownNameError, MappingError, ParseFailed, ConfigFailed), ExitCode.BAD_INPUT),
        ((TLCError, SparkError, MemoryError, AdapterError, JvmError), ExitCode.TOOL_FAILED),
        ((FileNotFoundError, IsADirectoryError, NotADirectoryError), ExitCode.BAD_INPUT),
        (OSError, ExitCode.TOOL_FAILED),
    )


TRACEBACK: Final = "GROUPCOMM_TRACEBACK"
"""The environment variable that has an internal error print its traceback."""


_INTERRUPTED: Final = "interrupted; results of models that were done are kept: check --cached takes them"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; an error is a single line on stderr.

    With `--json` stdout has one document, also where the command ended before it wrote its own.
    """
    if "--json" not in (sys.argv[1:] if arguments is None else arguments) or sys.stdout is None:
        return _run(arguments)
    with redirect_stdout(_Noted(sys.stdout)) as out, redirect_stderr(_Noted(sys.stderr)) as err:
        code = _run(arguments)
        if code and not out.lines:
            error = (
                err.lines[-1].removeprefix("groupcomm: ").removeprefix("Error: ")
                if err.lines
                else MEANING[ExitCode(code)]
            )
            typer.echo(json.dumps({"error": error, "exit_code": int(code)}, indent=2))
    return code


class _Noted:
    """A stream that keeps the lines that are written to it, besides."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._text: list[str] = []

    @property
    def lines(self) -> list[str]:
        """What was written, without empty lines."""
        return [line for line in "".join(self._text).splitlines() if line.strip()]

    def write(self, text: str) -> int:
        """Write, and keep what could be written: Typer tries bytes."""
        count = self._stream.write(text)
        self._text.append(text)
        return count

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - all else is the stream's
        return getattr(self._stream, name)


def _run(arguments: Sequence[str] | None) -> int:
    before = {number: signal.signal(number, _terminate) for number in (signal.SIGTERM, signal.SIGHUP)}
    warnings = logging.StreamHandler(sys.stderr)
    warnings.setFormatter(logging.Formatter("groupcomm: warning: %(message)s"))
    log = logging.getLogger("groupcomm_conformance")
    log.addHandler(warnings)
    try:
        app(arguments)
    except SystemExit as end:
        if end.code == ExitCode.INTERRUPTED:  # Typer makes this of the interrupt
            _complain(_INTERRUPTED)
        return end.code if isinstance(end.code, int) else ExitCode.OK
    except KeyboardInterrupt:
        _complain(_INTERRUPTED)
        return ExitCode.INTERRUPTED
    except Exception as error:  # noqa: BLE001 - any error is a single line and a code
        return _failed(error)
    finally:
        log.removeHandler(warnings)
        for number, handler in before.items():
            signal.signal(number, handler)
    return ExitCode.OK


def _terminate(_signal: int, _frame: FrameType | None) -> None:
    raise SystemExit(ExitCode.TERMINATED)


def _failed(error: Exception) -> ExitCode:
    code = next((code for kinds, code in _codes() if isinstance(error, kinds)), ExitCode.INTERNAL)
    _complain(_internal(error) if code is ExitCode.INTERNAL else _text(error))
    return code


def _text(error: Exception) -> str:
    if isinstance(error, MemoryError):
        return "Python ran out of memory; end other programs, or choose a smaller model"
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {reason(error)}"
    if isinstance(error, OSError) and error.errno in _NO_ROOM:
        return (
            f"a file could not be written whole: {reason(error)}; make room where the output, the project "
            "and TMPDIR are, or name other places"
        )
    return str(error)


def _internal(error: Exception) -> str:
    if os.environ.get(TRACEBACK):
        traceback.print_exception(error)
    frames = traceback.extract_tb(error.__traceback__)
    place = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "no place"
    return (
        f"a mistake in groupcomm itself, at {place}: {type(error).__name__}: {error}; "
        f"please report it, with what {TRACEBACK}=1 prints"
    )


def _complain(text: str) -> None:
    typer.echo(f"groupcomm: {' '.join(text.split())}", err=True)


if __name__ == "__main__":
    sys.exit(main())
