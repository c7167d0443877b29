"""The command `groupcomm vectors`."""

import json
import shlex
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer
from attrs import evolve

from groupcomm_conformance.models.manifest import Manifest, did_you_mean, find_root, load
from groupcomm_conformance.models.model import Model
from groupcomm_conformance.models.selecting import chosen
from groupcomm_conformance.ports.adapter import PATIENCE
from groupcomm_conformance.ports.archive import read_archive
from groupcomm_conformance.ports.errors import VectorError
from groupcomm_conformance.ports.on_core import follow
from groupcomm_conformance.ports.packing import CHANGES, RELEASED, pack, release, write
from groupcomm_conformance.ports.unpacked import manifest_in
from groupcomm_conformance.ports.vector_files import FORMAT, MANIFEST, RELEASE
from groupcomm_conformance.ports.vector_reader import VectorSet, read_release
from groupcomm_conformance.protocols import derive
from groupcomm_conformance.protocols.derive import MappingError, Protocol
from groupcomm_conformance.random_events.drawn import LENGTH

from . import console
from .adapters import (
    SECONDS,
    AdapterOption,
    Extent,
    JUnit,
    Patience,
    RandomEvents,
    RandomSeconds,
    Strict,
    judge_vectors,
    opened,
    places_of,
    report,
    tell,
)
from .exits import ExitCode, verdict
from .options import ModelNames, OneOrAll, Out, Row, Seed, TierOption

if TYPE_CHECKING:
    from groupcomm_conformance.ports.conforming import Part

_SHOWN: Final = 3


def command(
    protocol: OneOrAll = None,
    *,
    out: Out,
    tier: TierOption = "full",
    model: ModelNames = None,
    all_of_them: Annotated[
        bool, typer.Option("--all", help="Pack the vectors of all protocols into one archive in the folder.")
    ] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing: do the vectors in the folder on the implementation.")
    ] = False,
    adapter: AdapterOption = None,
    row: Row = None,
    strict: Strict = False,
    junit: JUnit = None,
    random: RandomEvents = None,
    seed: Seed = None,
    seconds: RandomSeconds = SECONDS,
    patience: Patience = PATIENCE,
    itf: Annotated[
        bool, typer.Option("--itf", help="Write the walks of models as ITF traces, too; scenarios always are.")
    ] = False,
    since: Annotated[
        Path | None,
        typer.Option(
            "--since",
            metavar="ARCHIVE",
            help="With --all: the archive of the last release, for the version of behaviour and the page of changes.",
        ),
    ] = None,
    minimal: Annotated[
        bool, typer.Option("--minimal", help="Of a port: a row for each way that a step goes; no proof.")
    ] = False,
) -> None:
    """Write test vectors for ports: tables of local steps, walks of whole groups, and scenarios.

    With --check, read them back and hold every file against its digest. Do all of it, or the part of each
    --model, on the implementation, or on the port behind an --adapter. Exits with 1 if something does not
    pass. With --check an unpacked release is enough, and no checkout is needed.
    """
    if adapter is None and (row or strict or junit or minimal or random or seed is not None or seconds != SECONDS):
        raise typer.BadParameter("this is for a port: name its --adapter")
    if all_of_them:
        if protocol is not None or check or model or itf or adapter is not None:
            raise typer.BadParameter("a release has all of all protocols: only --out goes with it", param_hint="--all")
        raise typer.Exit(_release(find_root(), out, since))
    if since is not None:
        raise typer.BadParameter("this is for a whole release: --all", param_hint="--since")
    if protocol is None:
        raise typer.BadParameter("name one, or --all", param_hint="PROTOCOL")
    manifest = _manifest(protocol, out, check=check)
    only = model or []
    if not check:
        for name in only:
            manifest.model(name)
    if adapter is not None:
        if not check:
            raise typer.BadParameter("a port is for --check", param_hint="--adapter")
        if row is not None and (len(only) != 1 or minimal or random):
            raise typer.BadParameter("a row is one of a model: name it with --model", param_hint="--row")
        implementation = derive.load(manifest)
        places = places_of(manifest)
        extent = Extent(strict, walks=-(-(random or 0) // LENGTH), seed=1 if seed is None else seed, seconds=seconds)
        again = f"groupcomm vectors {protocol} --out {shlex.quote(str(out))} --check"
        sets = _sets(out, implementation, only, minimal=minimal, row=row)
        with opened(adapter, implementation, patience) as port:
            typer.echo(port.hello.text(), err=True)
            parts: list[Part] = []
            for each, its in _walks_once(sets, extent):
                began = time.monotonic()
                made = judge_vectors(port, each, again=again, extent=its, places=places)
                parts += tell(f"{protocol} {each.name}", made, began)
        raise typer.Exit(report(parts, {protocol: places}, junit=junit, as_json=False))
    if check:
        if itf:
            raise typer.BadParameter("this is for writing", param_hint="--itf")
        raise typer.Exit(_check(out, derive.load(manifest), only))
    root = find_root()
    pairs = chosen(root, [protocol], tier=tier, only=only, suits=_suits, kind="model marked conform or walk")
    with console.Watch() as watch:
        models = [each for _, each in pairs]
        told = write(root, manifest, models, out, scenarios=not only, itf=itf, listener=watch)
    for each in (*told["models"], *told["scenarios"]):
        name = each["model"] if "model" in each else f"scenarios/{each['scenario']}"
        typer.echo(f"{protocol} {name}: {_counted(each['counts'])}")
    size = sum(file["bytes"] for file in told["files"].values())
    typer.echo(f"{out}: {told['format']}, {len(told['files']):,} files, {size / 1e6:.1f} MB")


def _manifest(protocol: str, folder: Path, *, check: bool) -> Manifest:
    """Give the manifest of a protocol, for a check without a checkout that of the folder."""
    try:
        root = find_root()
    except FileNotFoundError:
        if not check:
            raise
        return manifest_in(folder, protocol)
    return load(root, protocol)


def _walks_once(sets: Iterator[VectorSet], extent: Extent) -> Iterator[tuple[VectorSet, Extent]]:
    """Give random walks to models alone: a table of a model with other values would have no others."""
    seen: set[str] = set()
    for each in sets:
        yield each, evolve(extent, walks=0) if each.name.rpartition("__")[0] in seen else extent
        seen.add(each.name)


def _suits(model: Model) -> bool:
    return model.conform or model.walk


def _counted(counts: Mapping[str, int]) -> str:
    """Say what there is of a model or a scenario."""
    rows, walks = counts.get("rows", 0), counts["walks"]
    told = [f"{rows:,} local steps"] if rows else []
    return ", ".join([*told, f"{walks:,} walks of {counts['steps']:,} steps"] if walks else told)


def _release(root: Path, out: Path, since: Path | None) -> ExitCode:
    """Pack a release."""
    last = None if since is None else read_archive(since)
    with console.Watch() as watch:
        name, made = release(root, since=last, listener=watch, told=lambda what: typer.echo(f"makes {what}", err=True))
    file = pack(name, made, out)
    raw, behaviour = sum(map(len, made.values())), json.loads(made[RELEASE])["behaviour"]
    typer.echo(
        f"{file}: {FORMAT}, {'behaviour not decided' if behaviour is None else f'behaviour {behaviour}'}, "
        f"{len(made)} files, {raw / 1e6:.1f} MB, packed {file.stat().st_size / 1e6:.2f} MB"
    )
    if behaviour is None:
        typer.echo(f"rows differ from those of {RELEASED}: name the archive of that release with --since", err=True)
    elif last is not None and behaviour != last.release.get("behaviour", 1):
        typer.echo(f"rows have other answers than in {since}: {CHANGES} has which")
    return ExitCode.OK


def _sets(
    folder: Path, implementation: Protocol, only: Sequence[str], *, minimal: bool = False, row: int | None = None
) -> Iterator[VectorSet]:
    """Read the vectors of a protocol in a folder; if `minimal` a few rows alone, or the `row` with this number."""
    released = read_release(folder, implementation)
    for name in _asked(folder, only, released.names):
        each = released.of(name)
        if row is not None:
            count = released.counts(name).get("rows", 0)
            if row > count:
                told = f"{name} has rows 1 to {count}" if count else f"{name} has no rows"
                raise typer.BadParameter(told, param_hint="--row")
            yield evolve(each, places=(row - 1,), walks=())
        else:
            yield evolve(each, places=released.minimal(name), walks=()) if minimal else each


def _asked(folder: Path, only: Sequence[str], names: tuple[str, ...]) -> tuple[str, ...]:
    for name in only:
        if name not in names:
            text = f'a model or scenario "{name}"{did_you_mean(name, names)}: it lists all that are here'
            raise VectorError(str(folder / MANIFEST), 1, text)
    return tuple(dict.fromkeys(only)) or names


def _check(folder: Path, implementation: Protocol, only: Sequence[str]) -> ExitCode:
    good = True
    for each in _sets(folder, implementation, only):
        try:
            replayed, wrong = follow(implementation, each)
        except MappingError as error:
            expected = f"{each.name} to be of what is implemented: {error}"
            raise VectorError(str(folder / MANIFEST), 1, expected) from None
        rows = 0 if replayed is None else sum(replayed.counts.values())
        fine = not wrong and (replayed is None or replayed.passed)
        good = good and fine
        name = f"{implementation.name} {each.name}"
        steps = sum(len(walk.steps) for walk in each.walks)
        typer.echo(
            f"{name}: {'ok' if fine else 'FAILS'}: {rows:,} local steps, {len(each.walks):,} walks of {steps:,} steps"
        )
        if replayed is not None and (failure := replayed.first) is not None:
            typer.echo(f"FAILS {name}: row {failure.row} is {failure.verdict}")
        for text in wrong[:_SHOWN]:
            typer.echo(f"FAILS {text}")
        if len(wrong) > _SHOWN:
            typer.echo(f"FAILS {len(wrong) - _SHOWN} more walks of {name}")
    return verdict(ok=good)
