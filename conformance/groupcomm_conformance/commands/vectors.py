"""The command `groupcomm vectors`."""

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Final

import typer
from attrs import evolve

from groupcomm_conformance.models.manifest import UnknownNameError, find_root, load
from groupcomm_conformance.models.model import Model
from groupcomm_conformance.models.selecting import chosen
from groupcomm_conformance.ports.adapter import PATIENCE
from groupcomm_conformance.ports.doing import do, follow
from groupcomm_conformance.ports.format import MANIFEST, STEPS, WALK, VectorError, Written
from groupcomm_conformance.ports.prelude import Preludes
from groupcomm_conformance.ports.reading import Vectors, read
from groupcomm_conformance.ports.release import FORMAT, pack, release
from groupcomm_conformance.ports.released import VectorSet, is_release, read_release
from groupcomm_conformance.ports.walking import started, steps_of
from groupcomm_conformance.ports.writing import write
from groupcomm_conformance.protocols import derive
from groupcomm_conformance.protocols.derive import MappingError, Protocol
from groupcomm_conformance.scenarios.reading import files

from . import console
from .adapters import (
    AdapterOption,
    JUnit,
    Patience,
    SkipFile,
    Strict,
    judge_vectors,
    opened,
    places_of,
    report,
    skips_of,
)
from .exits import ExitCode, verdict
from .options import ModelNames, OneOrAll, Out, TierOption

__all__ = ["command"]

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
        bool,
        typer.Option("--check", help="Write nothing: do the vectors in the folder on the implementation."),
    ] = False,
    adapter: AdapterOption = None,
    strict: Strict = False,
    skip: SkipFile = None,
    junit: JUnit = None,
    patience: Patience = PATIENCE,
    minimal: Annotated[
        bool,
        typer.Option("--minimal", help="Of a port: a row for each way that a step goes; no proof."),
    ] = False,
) -> None:
    """Write test vectors for ports: tables of local steps, walks of whole groups, and scenarios.

    With --check, read them back, hold every file against its digest and do all of it, or what is there of
    each --model, on the implementation, or on the port behind an --adapter; exits with 1 if something does
    not pass.
    """
    root = find_root()
    if adapter is None and (strict or skip or junit or minimal):
        raise typer.BadParameter("this is for a port: name its --adapter")
    if all_of_them:
        if protocol is not None or check or model or adapter is not None:
            raise typer.BadParameter(
                "a release has all of all protocols: only --out goes with it", param_hint="--all"
            )
        raise typer.Exit(_release(root, out))
    if protocol is None:
        raise typer.BadParameter("name one, or --all", param_hint="PROTOCOL")
    manifest = load(root, protocol)
    only = model or []
    if not check:
        for name in only:
            manifest.model(name)
    if adapter is not None:
        if not check:
            raise typer.BadParameter("a port is for --check", param_hint="--adapter")
        implementation = derive.load(manifest)
        skips, places = skips_of(skip), places_of(manifest)
        again = f"groupcomm vectors {protocol} --out {shlex.quote(str(out))} --check"
        sets = _sets(out, implementation, only, minimal=minimal)
        with opened(adapter, implementation, patience) as port:
            typer.echo(port.hello.text(), err=True)
            parts = [
                part
                for each in sets
                for part in judge_vectors(port, each, again=again, strict=strict, skips=skips, places=places)
            ]
        raise typer.Exit(report(parts, {protocol: places}, skips, junit=junit, as_json=False, whole=not only))
    if check and is_release(out):
        raise typer.Exit(_check_release(out, derive.load(manifest), only))
    if check:
        raise typer.Exit(_check(out, derive.load(manifest), only))
    pairs = chosen(root, [protocol], tier=tier, only=only, suits=_suits, kind="model marked conform or walk")
    scenarios = () if only else files(root, protocol)
    with console.Watch() as watch:
        told = write(root, manifest, [each for _, each in pairs], out, scenarios=scenarios, listener=watch)
    for entry in read(out).files.items():
        typer.echo(_line(protocol, *entry))
    typer.echo(f"{out}: {told['format']}")


def _suits(model: Model) -> bool:
    return model.conform or model.walk


def _line(protocol: str, name: str, files: tuple[Written, ...]) -> str:
    """Say what there is of a model or a scenario."""
    steps = sum(file.records for file in files if file.kind == STEPS)
    told = [f"{steps:,} local steps"] if steps else []
    if walked := [file for file in files if file.kind == WALK]:
        told.append(f"{len(walked):,} walks of {sum(file.records for file in walked):,} steps")
    size = sum(file.size for file in files)
    return f"{protocol} {name}: {', '.join(told)}, {size / 1e6:.1f} MB"


def _release(root: Path, out: Path) -> ExitCode:
    """Pack a release."""
    with console.Watch() as watch:
        name, made = release(root, listener=watch, told=lambda what: typer.echo(f"makes {what}", err=True))
    file = pack(name, made, out)
    raw = sum(map(len, made.values()))
    typer.echo(
        f"{file}: {FORMAT}, {len(made)} files, {raw / 1e6:.1f} MB, packed {file.stat().st_size / 1e6:.2f} MB"
    )
    return ExitCode.OK


def _sets(
    folder: Path, implementation: Protocol, only: Sequence[str], *, minimal: bool = False
) -> Iterator[VectorSet]:
    """Read the vectors in a folder, those of a release or of one protocol; if `minimal` a few rows alone."""
    if is_release(folder):
        released = read_release(folder, implementation)
        for name in _asked(only, released.names):
            each = released.of(name)
            yield evolve(each, places=released.minimal(name), walks=()) if minimal else each
        return
    if minimal:
        raise VectorError(str(folder / MANIFEST), 1, "a release, which has the rows for --minimal")
    vectors = _vectors(folder, implementation.name, only)
    start = started(implementation)
    for name in dict.fromkeys(only) or vectors.files:
        constants = vectors.constants[name]
        preludes = Preludes(implementation, implementation.config(constants))
        walks = [steps_of(path, states, start, preludes) for path, states in vectors.walks(name)]
        yield VectorSet(name, constants, vectors.steps(name), walks)


def _asked(only: Sequence[str], names: tuple[str, ...]) -> tuple[str, ...]:
    for name in only:
        if name not in names:
            raise UnknownNameError("model with vectors in this folder", name, names)
    return tuple(dict.fromkeys(only)) or names


def _check_release(folder: Path, implementation: Protocol, only: Sequence[str]) -> ExitCode:
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
            f"{name}: {'ok' if fine else 'FAILS'}: {rows:,} local steps, "
            f"{len(each.walks):,} walks of {steps:,} steps"
        )
        if replayed is not None and (failure := replayed.first) is not None:
            typer.echo(f"FAILS {name}: row {failure.row} is {failure.verdict}")
        for text in wrong[:_SHOWN]:
            typer.echo(f"FAILS {text}")
        if len(wrong) > _SHOWN:
            typer.echo(f"FAILS {len(wrong) - _SHOWN} more walks of {name}")
    return verdict(ok=good)


def _vectors(folder: Path, protocol: str, only: Sequence[str]) -> Vectors:
    """Read the vectors of a protocol, which have what is asked for."""
    vectors = read(folder)
    if vectors.protocol != protocol:
        raise VectorError(str(folder / MANIFEST), 1, f"vectors of {protocol}, not of {vectors.protocol}")
    for name in only:
        if name not in vectors.files:
            raise UnknownNameError("model with vectors in this folder", name, tuple(vectors.files))
    return vectors


def _check(folder: Path, implementation: Protocol, only: Sequence[str]) -> ExitCode:
    protocol = implementation.name
    vectors = _vectors(folder, protocol, only)
    good = True
    for done in do(vectors, implementation, only=only):
        good = good and done.passed
        steps = 0 if done.replayed is None else sum(done.replayed.counts.values())
        typer.echo(
            f"{protocol} {done.name}: {'ok' if done.passed else 'FAILS'}: {steps:,} local steps, "
            f"{done.walks:,} walks of {done.steps:,} steps"
        )
        if done.replayed is not None and (failure := done.replayed.first) is not None:
            typer.echo(f"FAILS {done.name}: row {failure.row} is {failure.verdict}")
        for path, divergence in done.divergences[:_SHOWN]:
            typer.echo(f"FAILS {path}")
            typer.echo(divergence.text())
        if len(done.divergences) > _SHOWN:
            typer.echo(f"FAILS {len(done.divergences) - _SHOWN} more walks of {done.name}")
    return verdict(ok=good)
