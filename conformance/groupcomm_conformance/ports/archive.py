"""Reading the archive of a release, packed as it is. Nothing is trusted: any difference from its lists is an error."""

import hashlib
import io
import json
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import zstandard
from attrs import field, frozen

from groupcomm_conformance.files.errors import PathError, reason

from .errors import VectorError
from .vector_files import FORMAT, MANIFEST, RELEASE, Made

_LARGEST: Final = 2**30
_WINDOW: Final = 2**27


@frozen
class Archive:
    """The files of an archive by their paths in its folder. `release`: its own list."""

    path: Path
    release: Mapping[str, Any] = field(hash=False, repr=False)
    files: Made = field(hash=False, repr=False)

    def json(self, path: str) -> Any:  # noqa: ANN401 - any JSON
        """Read a file. VectorError where it is not there, or no JSON."""
        if path not in self.files:
            raise _broken(self.path, f"an archive with {path}")
        try:
            return json.loads(self.files[path])
        except (ValueError, RecursionError) as error:
            raise _broken(self.path, f"JSON in {path} ({error!s:.80})") from None

    def models(self, protocol: str) -> dict[str, Mapping[str, Any]]:
        """Read the files of a protocol's models."""
        return {each["model"]: self.json(f"{protocol}/{each['path']}") for each in self.manifest(protocol)["models"]}

    def manifest(self, protocol: str) -> Mapping[str, Any]:
        """Read the manifest of a protocol."""
        found: Mapping[str, Any] = self.json(f"{protocol}/{MANIFEST}")
        return found


def read_archive(path: Path) -> Archive:
    """Read an archive, and hold each file in it against the lists in it.

    VectorError where it is cut off, altered, of another format, or lists what it does not have; PathError where
    it cannot be read.
    """
    try:
        packed = path.read_bytes()
    except OSError as error:
        raise PathError(path, reason(error), "name an archive of vectors, groupcomm-vectors-VERSION.tar.zst") from None
    files = _unpacked(path, packed)
    found = Archive(path, {}, files)
    told = found.json(RELEASE)
    try:
        if told["format"] != FORMAT:
            text = f'the format "{FORMAT}", not {told["format"]!s:.60}'
            raise VectorError(str(path), 1, f"{text}: name an archive of that format")
        for protocol, entry in told["protocols"].items():
            _listed(path, files, f"{protocol}/{MANIFEST}", entry["sha256"])
            for name, each in found.manifest(protocol)["files"].items():
                _listed(path, files, f"{protocol}/{name}", each["sha256"])
    except (KeyError, TypeError, AttributeError) as error:
        raise _broken(path, f"the lists of a release ({type(error).__name__}: {error})") from None
    return Archive(path, told, files)


def _broken(path: Path, expected: str) -> VectorError:
    return VectorError(str(path), 1, f"{expected}: download the archive again")


def _listed(path: Path, files: Made, name: str, digest: object) -> None:
    if name not in files:
        raise _broken(path, f"{name}, which its list has")
    if hashlib.sha256(files[name]).hexdigest() != digest:
        raise _broken(path, f"{name} with the SHA-256 {digest}")


def _unpacked(path: Path, packed: bytes) -> Made:
    try:
        size = zstandard.frame_content_size(packed)
        if not 0 <= size <= _LARGEST:
            raise _broken(path, f"an archive of vectors, of at most {_LARGEST:,} bytes unpacked")
        data = zstandard.ZstdDecompressor(max_window_size=_WINDOW).decompress(packed, max_output_size=_LARGEST)
        with tarfile.open(fileobj=io.BytesIO(data)) as tar:
            return {
                info.name.partition("/")[2]: file.read() for info in tar if (file := tar.extractfile(info)) is not None
            }
    except zstandard.ZstdError as error:
        raise _broken(path, f"a whole archive, not one that is cut off or altered ({error})") from None
    except tarfile.TarError as error:
        raise _broken(path, f"a tar archive in it ({error})") from None
