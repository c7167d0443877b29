"""The sub-command `report`: find all there is to find, and write it into a folder."""

import json
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from groupcomm_conformance.files.reading import read_text
from groupcomm_conformance.files.store import replace
from groupcomm_conformance.files.writing import require_file
from groupcomm_conformance.models.manifest import find_root, protocols
from groupcomm_conformance.models.selecting import chosen
from groupcomm_conformance.report.findings import Findings, gather
from groupcomm_conformance.report.junit import document
from groupcomm_conformance.report.page import pages

from . import console
from .exits import ExitCode, verdict
from .options import AsJson, Protocols, TierOption

DEFAULT: Final = Path("build", "report")
_FIGURES: Final = ("stack", "join", "flush", "failover", "merge")


def command(
    protocol: Protocols = None,
    *,
    tier: TierOption = "full",
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where to write. Default: build/report of the project.")
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Run all again; take nothing from a cache.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write all that the checks find: pages to read (index.html, one a protocol) and junit.xml for a machine.

    Results of earlier runs are taken from the cache; what is not there is run. All files are written
    whatever was found; exits with 1 if anything differs from what is expected.
    """
    root = find_root()
    folder = root / DEFAULT if out is None else out
    names = [f"{each}.html" for each in protocol or protocols(root)]
    for name in ("index.html", *names, "junit.xml"):
        require_file(folder / name)
    models = chosen(root, protocol or (), tier=tier)
    typer.echo(
        f"{len(models):,} models: those that the cache has take no time, and groupcomm check --cached fills it; "
        "cold, all protocols take hours",
        err=True,
    )
    with console.Watch(models) as watch:
        found = gather(root, protocol or [], tier=tier, fresh=fresh, listener=watch)
    made = f"tier {tier}, {datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
    written = {"html": folder / "index.html", "junit": folder / "junit.xml"}
    _write(written["junit"], document(found))
    for name, text in pages(found, made=made, figures=_figures(root)):
        _write(folder / name, text)
    if as_json:
        places = {name: str(path) for name, path in written.items()}
        typer.echo(json.dumps(places | {"protocols": [_summary(each) for each in found]}, indent=2))
    else:
        for each in found:
            typer.echo(_line(each))
        for path in written.values():
            typer.echo(f"{path} written")
    raise typer.Exit(_code(found))


def _figures(root: Path) -> dict[str, str]:
    """Read the figures that a project has, SVG: their titles and texts, in the order of the story."""
    files = (root / "docs" / "figures" / f"{name}.svg" for name in _FIGURES)
    texts = [read_text(file, str(file.relative_to(root))) for file in files if file.is_file()]
    return {text.partition("<title>")[2].partition("</title>")[0]: text for text in texts}


def _code(found: Iterable[Findings]) -> ExitCode:
    found = list(found)
    if any(result.outcome == "unreadable" for each in found for result in each.scenarios):
        return ExitCode.BAD_INPUT
    return verdict(ok=all(each.ok for each in found))


def _summary(found: Findings) -> dict[str, Any]:
    """Count what there is of each kind and how much of it is as expected; `None` is not judged."""
    gates = Counter(gate.ok for gate in found.gates)
    return {
        "protocol": found.protocol,
        "ok": found.ok,
        "models": len(found.checked),
        "models_ok": sum(not lines for lines in found.differences.values()),
        "gates": len(found.gates),
        "gates_ok": gates[True],
        "gates_not_judged": gates[None],
        "conform": len(found.conformances),
        "conform_ok": sum(each.ok for each in found.conformances),
        "rows": sum(sum(each.replayed.counts.values()) for each in found.conformances),
        "rows_pass": sum(each.replayed.counts["pass"] for each in found.conformances),
        "scenarios": len(found.scenarios),
        "scenarios_pass": sum(result.outcome == "pass" for result in found.scenarios),
    }


def _line(found: Findings) -> str:
    counts = _summary(found)
    not_judged = f" ({counts['gates_not_judged']} not judged)" if counts["gates_not_judged"] else ""
    return (
        f"{found.protocol}: {'ok' if found.ok else 'DIFFERS'}: "
        f"{counts['models_ok']} of {counts['models']} models as expected, "
        f"{counts['gates_ok']} of {counts['gates']} gates{not_judged}, "
        f"{counts['rows_pass']:,} of {counts['rows']:,} local steps, "
        f"{counts['scenarios_pass']} of {counts['scenarios']} scenarios"
    )


def _write(path: Path, text: str) -> None:
    """Write a file that others may read: a report is there to be shown around."""
    replace(path, text.encode())
    path.chmod(0o644)
