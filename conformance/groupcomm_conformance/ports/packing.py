"""Vectors of a protocol in a folder, and the release: those of all protocols in one archive.

Both are written beside their place and put there when they are whole.
"""

import hashlib
import io
import json
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import zstandard

from groupcomm_conformance.files.store import replace
from groupcomm_conformance.models.manifest import Manifest, Model, cores, load

from .errors import VectorError
from .release import FORMAT, MANIFEST, RELEASE, Made, protocol_files

__all__ = ["pack", "release", "write"]

_LEVEL: Final = 12
_WINDOW: Final = 27
_DOCS: Final = {"PORTING.md": "docs/porting.md", "VECTORS.md": "docs/vectors.md"}
_SCHEMAS: Final = ("adapter.schema.json", "itf.schema.json")


def write(
    root: Path,
    manifest: Manifest,
    models: Sequence[Model],
    out: Path,
    *,
    scenarios: bool = True,
    itf: bool = False,
    listener: Any = None,  # noqa: ANN401 - a checking.Listener
) -> dict[str, Any]:
    """Write the vectors of some models into the folder `out`, whole or not at all; give their manifest.

    VectorError if something else is there, FileNotFoundError for a model that does not hold.
    """
    if out.exists() and not (out / MANIFEST).is_file() and any(out.iterdir()):
        raise VectorError(str(out), 1, "vectors of an earlier run or nothing at all: name another folder")
    made = protocol_files(root, manifest, models, scenarios=scenarios, itf=itf, listener=listener)
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{out.name}-", dir=out.parent) as beside:
        draft = Path(beside, "vectors")
        for path, data in made.items():
            (draft / path).parent.mkdir(parents=True, exist_ok=True)
            (draft / path).write_bytes(data)
        if out.exists():
            out.rename(Path(beside, "earlier"))
        draft.rename(out)
    found: dict[str, Any] = json.loads(made[MANIFEST])
    return found


def release(
    root: Path,
    *,
    listener: Any = None,  # noqa: ANN401 - a checking.Listener
    told: Callable[[str], object] = lambda _: None,
    names: Sequence[str] = (),
) -> tuple[str, Made]:
    """Give the name of the archive's folder and its files."""
    name = f"groupcomm-vectors-{version('groupcomm')}"
    made: Made = {}
    of: dict[str, Any] = {}
    for each in names or cores(root):
        manifest = load(root, each)
        files = protocol_files(
            root,
            manifest,
            listener=listener,
            told=lambda model, each=each: told(f"{each} {model}"),  # type: ignore[misc]
        )
        made |= {f"{each}/{path}": data for path, data in files.items()}
        of[each] = {"sha256": hashlib.sha256(files[MANIFEST]).hexdigest(), "files": len(files)}
    for path, source in _DOCS.items():
        made[path] = (root / source).read_bytes()
    made |= {each: Path(__file__).with_name(each).read_bytes() for each in _SCHEMAS}
    head = {"format": FORMAT, "groupcomm": version("groupcomm"), "commit": _commit(root), "protocols": of}
    made[RELEASE] = (json.dumps(head, indent=1) + "\n").encode("ascii")
    return name, made


def _commit(root: Path) -> str:
    git = shutil.which("git")
    if git is None:
        return ""
    ran = subprocess.run([git, "-C", root, "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
    return ran.stdout.strip()


def pack(name: str, made: Made, out: Path) -> Path:
    """Write the archive into the folder `out`, whole or not at all; give its path."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for path, data in sorted(made.items()):
            info = tarfile.TarInfo(f"{name}/{path}")
            info.size, info.mode = len(data), 0o644
            tar.addfile(info, io.BytesIO(data))
    window = zstandard.ZstdCompressionParameters.from_level(
        _LEVEL, window_log=_WINDOW, enable_ldm=True, write_checksum=True
    )
    target = out / f"{name}.tar.zst"
    replace(target, zstandard.ZstdCompressor(compression_params=window).compress(stream.getvalue()))
    return target
