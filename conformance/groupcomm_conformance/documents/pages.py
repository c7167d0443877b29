"""Pages that are made from the manifests: how each begins, and where it goes.

What people wrote of a page is in `docs`, for readers of the sources. The whole page, with its tables, is in
`build/docs`, and in the site.
"""

from os.path import lexists
from pathlib import Path

from groupcomm_conformance.files.reading import read_text


def opening(root: Path, path: Path, title: str) -> str:
    """Give what people wrote of a page; its title in a project that has nothing of it."""
    return read_text(root / path, str(path)) if lexists(root / path) else f"# {title}\n"


def made(path: Path) -> Path:
    """Say where the whole page goes."""
    return Path("build") / path
