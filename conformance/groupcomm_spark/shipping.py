"""The archive for executors: the code of the packages, files of the project, the common data of tasks.

Spark unpacks the archive on each executor. A worker need not have groupcomm installed, and a worker with an
older version does not use it.
"""

import hashlib
import json
import pickle
import zipfile
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Final

from groupcomm_conformance.files.keys import code_digest, meant

ARCHIVE: Final = "groupcomm-shipped"
"""The folder, on an executor, into which the archive is unpacked."""

CONTEXT: Final = "context.pickle"
"""The file in it that has the function of the tasks, and its context."""

_PACKAGES: Final = tuple(
    Path(str(import_module(f"groupcomm{part}").__file__)).parent
    for part in ("", "_conformance", "_field", "_simulator", "_spark")
)
_MOMENT: Final = (2000, 1, 1, 0, 0, 0)


@cache
def code_of(module: str) -> str:
    """Give a digest of the protocols' code and of the module that makes a campaign's rows.

    Reworded comments leave it as it is.
    """
    digest = hashlib.sha256(code_digest(module).encode())
    package = _PACKAGES[0]
    for file in sorted(package.rglob("*.py")):
        digest.update(f"{file.relative_to(package)}\n".encode() + meant(file.read_bytes()))
    return digest.hexdigest()


def digest(told: object) -> str:
    """Give 16 hexadecimal digits that distinguish a value of JSON from others."""
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:16]


def folder_of(folder: Path, inside: str) -> dict[str, Path]:
    """List the files of a folder, by the names that they get in the archive, below `inside`."""
    return {f"{inside}/{file.relative_to(folder)}": file for file in _files(folder)}


def _files(folder: Path) -> Iterator[Path]:
    return (
        file
        for file in sorted(folder.rglob("*"))
        if file.is_file() and "__pycache__" not in file.parts and not file.name.startswith(".")
    )


def pack(archive: Path, work: object, files: Mapping[str, Path]) -> None:
    """Write the archive: the packages, `files` by their names in it, and `work`, pickled."""
    code = {name: file for each in _PACKAGES for name, file in folder_of(each, each.name).items()}
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as out:
        for name, file in {**code, **files}.items():
            out.writestr(zipfile.ZipInfo(name, _MOMENT), file.read_bytes(), zipfile.ZIP_DEFLATED)
        out.writestr(zipfile.ZipInfo(CONTEXT, _MOMENT), pickle.dumps(work), zipfile.ZIP_DEFLATED)
