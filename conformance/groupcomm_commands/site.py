"""The sub-command `site`: all documents and a page a protocol, as pages to look at in a browser."""

from os.path import lexists
from pathlib import Path
from typing import Annotated, Final

import typer

from groupcomm_conformance.files.store import replace
from groupcomm_conformance.files.writing import require_file
from groupcomm_conformance.models.manifest import find_root
from groupcomm_conformance.models.selecting import manifests_of
from groupcomm_conformance.site.pages import pages
from groupcomm_field.jgroups import verdicts

from . import jgroups
from .documents import errata_of, told

DEFAULT: Final = Path("build", "site")


def command(
    *,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where to write. Default: build/site of the project.")
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Run TLC even if the results are cached.")] = False,
) -> None:
    """Write the site: all documents, with search, and a page a protocol.

    On that page note, TLA+, Python, claims and errata stand side by side. It is one folder, and fetches nothing.
    """
    root = find_root()
    folder = root / DEFAULT if out is None else out
    require_file(folder / "index.html")
    entries, order = told(root, errata_of(root), fresh=fresh)
    besides = {str(verdicts.PATH): jgroups.page(root)} if lexists(root / verdicts.FILE) else {}
    for place, text in pages(root, manifests_of(root), entries, order, besides):
        file = folder / place
        file.parent.mkdir(parents=True, exist_ok=True)
        replace(file, text.encode())
        file.chmod(0o644)  # others may read it: a site is there to be shown around
    typer.echo(f"{folder / 'index.html'} written")
