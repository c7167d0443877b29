"""`groupcomm errata`, `requirements`, `assumptions` and `guarantees`: documents that are made of the manifests."""

from os.path import lexists
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from groupcomm_conformance.documents import assumptions, errata, guarantees, requirements
from groupcomm_conformance.documents.pages import made
from groupcomm_conformance.files.reading import read_text
from groupcomm_conformance.files.store import replace
from groupcomm_conformance.files.writing import require_file
from groupcomm_conformance.models.checking import Cache, run_models
from groupcomm_conformance.models.manifest import Erratum, Manifest, Model, find_root
from groupcomm_conformance.models.selecting import NothingToJudge, manifests_of
from groupcomm_conformance.protocols.stepping import repair
from groupcomm_conformance.why.repaired_step import insteads
from groupcomm_conformance.why.why import Reasons, reasons

from . import console
from .exits import ExitCode

CheckOnly: TypeAlias = Annotated[
    bool, typer.Option("--check", help="Write nothing; exit with 1 if the file would change.")
]

_REMEDY = "make the project's folder writable"


def write_errata(
    *, fresh: Annotated[bool, typer.Option("--fresh", help="Run TLC even if the results are cached.")] = False
) -> None:
    """Write build/docs/errata: each flaw that a model shows, its counterexample, its repair and the proof.

    Exits with 1 if nothing says why the claim of a flaw is false.
    """
    root = find_root()
    index = made(errata.INDEX)
    shown = errata_of(root)
    for protocol in dict.fromkeys(manifest.protocol for manifest, _, _ in shown):
        require_file(root / index.with_name(f"{protocol}.md"), _REMEDY)
    require_file(root / index, _REMEDY)
    entries, order = told(root, shown, fresh=fresh)
    for path, text in errata.pages(root, entries, order).items():
        write(root, path, text)
    problems = [*errata.unexplained(entries)]
    for problem in problems:
        typer.echo(problem, err=True)
    raise typer.Exit(ExitCode.DIFFERS if problems else ExitCode.OK)


def errata_of(root: Path) -> list[tuple[Manifest, Model, Erratum]]:
    """List the models that show a flaw. NothingToJudge where none does."""
    shown = errata.models(manifests_of(root))
    if not shown:
        raise NothingToJudge("no model of a manifest has an erratum", "add one to a model that violates")
    return shown


def told(
    root: Path, shown: list[tuple[Manifest, Model, Erratum]], *, fresh: bool = False
) -> tuple[list[errata.Shown], dict[str, errata.Order]]:
    """Find the counterexample of each flaw, why its claim is false, and what the repair does; and give their order."""
    flaws: dict[str, list[str]] = {}
    for manifest, _, erratum in shown:
        flaws.setdefault(manifest.protocol, []).append(erratum.id)
    order = errata.orders(root, flaws)
    models = [(manifest, model) for manifest, model, _ in shown]
    with console.Watch(models) as watch:
        checked = run_models(models, cache=Cache.of(root), fresh=fresh, listener=watch)
    pairs = [(manifest, model, result) for (manifest, model), result in zip(models, checked, strict=True)]
    kept = Reasons.of(root)
    why = reasons(pairs, kept)
    traces = [said.trace if said else result.trace for said, result in zip(why, checked, strict=True)]
    repaired = insteads([(*model, trace) for model, trace in zip(models, traces, strict=True)], repair, kept)
    entries = [
        errata.Shown(*entry, result, said, instead)
        for entry, result, said, instead in zip(shown, checked, why, repaired, strict=True)
    ]
    return entries, order


def write_requirements() -> None:
    """Write build/docs/requirements.md: which check holds which requirement.

    Exits with 1 if a requirement has no check, or a check names a requirement that there is not.
    """
    root = find_root()
    require_file(root / made(requirements.PATH), _REMEDY)
    table = requirements.trace(root, manifests_of(root))
    write(root, made(requirements.PATH), requirements.page(root, table))
    for problem in table.problems:
        typer.echo(problem, err=True)
    typer.echo(requirements.counts(table))
    raise typer.Exit(ExitCode.DIFFERS if table.problems else ExitCode.OK)


def write_assumptions() -> None:
    """Write build/docs/assumptions.md: what each layer assumes and gives, by which claims and models, and what is open.

    Exits with 1 if a core declares something else than its protocol's manifest.
    """
    root = find_root()
    require_file(root / made(assumptions.PATH), _REMEDY)
    text, problems = assumptions.page(root, manifests_of(root))
    write(root, made(assumptions.PATH), text)
    for problem in problems:
        typer.echo(problem, err=True)
    raise typer.Exit(ExitCode.DIFFERS if problems else ExitCode.OK)


def write_guarantees(*, check_only: CheckOnly = False) -> None:
    """Write docs/guarantees.md: the guarantees that the field has names for, and who gives which."""
    root = find_root()
    if not check_only:
        require_file(root / guarantees.PATH, _REMEDY)
    text = guarantees.page(root, manifests_of(root))
    raise typer.Exit(written(root, guarantees.PATH, text, check_only=check_only))


def written(root: Path, path: Path, text: str, *, check_only: bool) -> ExitCode:
    """Write a document, or only say whether it would change."""
    file = root / path
    if lexists(file) and read_text(file, str(path)) == text:
        typer.echo(f"{path} is up to date")
        return ExitCode.OK
    if check_only:
        typer.echo(f"{path} is not what would be written now: write it again", err=True)
        return ExitCode.DIFFERS
    write(root, path, text)
    return ExitCode.OK


def write(root: Path, path: Path, text: str) -> None:
    """Write a page, and say so."""
    replace(root / path, text.encode())
    typer.echo(f"{path} written")
