"""`conform --adapter COMMAND --watch`: a port's rows again when its program changes, first those that failed."""

import os
import shlex
import shutil
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import typer
from attrs import define, field

from groupcomm_conformance.models.manifest import Manifest, Model
from groupcomm_conformance.ports.adapter import AdapterError
from groupcomm_conformance.ports.conforming import Part, lines, rows
from groupcomm_conformance.ports.judging import Asked
from groupcomm_conformance.protocols.derive import Protocol, constants_of
from groupcomm_conformance.steps.table import StepTable

from .adapters import opened, places_of

_POLL: Final = 0.3  # s between two looks at the files

_Seen = tuple[tuple[str, int, int], ...]


@define
class Watched:
    """A model that is watched. `failed`: the places of its rows that failed when they were last run."""

    manifest: Manifest
    model: Model
    protocol: Protocol
    table: StepTable
    failed: list[int] = field(factory=list)


def _files(command: str) -> list[Path]:
    """Find the files and folders that a command names: its program, and what it is given."""
    words = shlex.split(command)
    program = shutil.which(words[0]) if words else None
    found = [Path(word) for word in (*([program] if program else ()), *words) if Path(word).exists()]
    if not found:
        raise typer.BadParameter("no word of the command is a file: there is nothing to watch", param_hint="--watch")
    return found


def _seen(files: Iterable[Path]) -> _Seen:
    """Give the times and sizes of files, and of those in folders."""
    found = []
    for file in files:
        for each in (file, *sorted(file.rglob("*"))) if file.is_dir() else (file,):
            try:
                told = each.stat()
            except FileNotFoundError:  # as while a compiler writes
                continue
            found.append((os.fspath(each), told.st_mtime_ns, told.st_size))
    return tuple(found)


def changes(command: str) -> Iterator[None]:
    """Give a sign at once, and after each change of the files of a command, when they are written."""
    files = _files(command)
    seen = _seen(files)
    while True:
        yield
        now = _seen(files)
        while now == seen or not now:
            time.sleep(_POLL)
            now = _seen(files)
        while seen != now:  # until a look finds what the one before it found
            seen = now
            time.sleep(_POLL)
            now = _seen(files)


def watch(adapter: str, models: Iterable[Watched], signs: Iterable[None], patience: float) -> None:
    """Run the rows at each sign: first those that failed, and all when these pass."""
    watched = list(models)
    for _ in signs:
        again = [each for each in watched if each.failed]
        try:
            told = [_passes(adapter, each, patience, each.failed) for each in again]
            if all(told):
                for each in watched:
                    _passes(adapter, each, patience)
        except AdapterError as error:
            typer.echo(f"FAILS {' '.join(str(error).split())}")
        typer.echo(f"waits until {adapter} changes; Ctrl-C ends it", err=True)


def _passes(adapter: str, each: Watched, patience: float, places: list[int] | None = None) -> bool:
    """Run rows, all or those at `places`; say how it went, and keep the places of those that fail."""
    name = each.manifest.protocol
    again = f"groupcomm conform {name} --model {each.model.name} --adapter {shlex.quote(adapter)}"
    part = Part(name, each.model.name, "rows" if places is None else "rows that failed", each.table, again)
    with opened(adapter, each.protocol, patience) as port:
        if not port.can("step"):
            raise AdapterError(f"{adapter}: cannot step from a given state: its rows cannot be watched")
        port.configure(constants_of(each.manifest.cfg(each.model)))
        passed = frozenset(rows(port, part, Asked(port.judge, each.table), places))
    each.failed = [place for place in (range(len(each.table)) if places is None else places) if place not in passed]
    for line in lines(part, places_of(each.manifest), failures_only=False):
        typer.echo(line)
    return part.ok
