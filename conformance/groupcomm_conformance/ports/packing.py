"""Vectors of a protocol in a folder, and the release: those of all protocols in one archive.

Both are written beside their place and put there when they are whole.
"""

import hashlib
import io
import json
import re
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import zstandard

from groupcomm_conformance.files.store import replace
from groupcomm_conformance.models.manifest import Manifest, Model, cores, load

from .archive import Archive
from .behaviour import changes, other_fields, section, shapes
from .errors import VectorError
from .pages import linked
from .vector_files import FORMAT, MANIFEST, RELEASE, SCHEMA, Made, protocol_files

_LEVEL: Final = 12
_WINDOW: Final = 27
CHANGES: Final = "docs/changes-for-ports.md"
RELEASED: Final = "conformance/released.json"
"""The list of the last release, `release.json` of its archive; there is none before the first."""

_DOCS: Final = {"PORTING.md": "docs/porting.md", "VECTORS.md": "docs/vectors.md", "CHANGES.md": CHANGES}
_PROGRAMS: Final = ("adapter.schema.json", "itf.schema.json", "row.py")
"""Files of this folder: the schemas, and the program that prints a row."""


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
    since: Archive | None = None,
    listener: Any = None,  # noqa: ANN401 - a checking.Listener
    told: Callable[[str], object] = lambda _: None,
    names: Sequence[str] = (),
) -> tuple[str, Made]:
    """Give the name of the archive's folder and its files.

    `since` is the archive of the last release, for the version of behaviour. VectorError where it is another one.
    """
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
        models = json.loads(files[MANIFEST])["models"]
        of[each] = {
            "sha256": hashlib.sha256(files[MANIFEST]).hexdigest(),
            "files": len(files),
            "rows": {model["model"]: model["rows"] for model in models if model["counts"]["rows"]},
        }
    made |= {each: Path(__file__).with_name(each).read_bytes() for each in _PROGRAMS}
    number, changed = _behaviour(root, of, made, since)
    if changed:
        replace(root / CHANGES, _with_section((root / CHANGES).read_text(encoding="utf-8"), changed).encode())
    there = {**{Path(source).name: path for path, source in _DOCS.items()}, **{each: each for each in _PROGRAMS}}
    for path, source in _DOCS.items():
        made[path] = linked((root / source).read_text(encoding="utf-8"), there).encode()
    head = {
        "format": FORMAT,
        "behaviour": number,
        "groupcomm": version("groupcomm"),
        "commit": _commit(root),
        "protocols": of,
    }
    made[RELEASE] = (json.dumps(head, indent=1) + "\n").encode("ascii")
    return name, made


def _behaviour(root: Path, of: Mapping[str, Any], made: Made, since: Archive | None) -> tuple[int | None, str]:
    """Give the version of behaviour, None where that is not decided, and the section that says what has changed."""
    file = root / RELEASED
    last: Mapping[str, Any] = json.loads(file.read_text(encoding="ascii")) if file.is_file() else {}
    if since is not None and last and since.release != last:
        raise VectorError(str(since.path), 1, f"the archive of the release {last['groupcomm']}, as {RELEASED} has it")
    if since is not None:
        last = since.release
    before = last.get("behaviour", 1)
    if all(_has(of.get(name, {}), each) for name, each in last.get("protocols", {}).items()):
        return before, ""
    if since is None:
        return None, ""
    files = {
        name: (since.models(name), {model: json.loads(made[f"{name}/{model}.json"]) for model in each["rows"]})
        for name, each in of.items()
        if name in last["protocols"]
    }
    found = {name: changes(*each) for name, each in files.items()}
    gone = {name: ["It is not in the archive any more."] for name in last["protocols"] if name not in of}
    if not gone and not any(found.values()):
        return before, ""
    for name in [name for name, each in found.items() if each]:
        schemas = since.json(f"{name}/{SCHEMA}"), json.loads(made[f"{name}/{SCHEMA}"])
        if other := other_fields(*schemas):
            found[name] = changes(*files[name], other)
        gone[name] = [*shapes(*schemas)]
    return before + 1, section(before + 1, version("groupcomm"), found, gone)


def _has(now: Mapping[str, Any], last: Mapping[str, Any]) -> bool:
    """True if a protocol has all rows of the last release by their digests, which the first archives lack."""
    return "rows" in last and last["rows"].items() <= now.get("rows", {}).items()


def _with_section(page: str, text: str) -> str:
    """Put a section before the others of the page, in the place of one that has its version."""
    head, *sections = re.split(r"^(?=## )", page, flags=re.MULTILINE)
    title = text.partition(" (")[0] + " ("
    return "".join((head, text, "\n", *(each for each in sections if not each.startswith(title))))


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
