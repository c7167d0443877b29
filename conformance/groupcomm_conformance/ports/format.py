"""The format of vectors: names, kinds of files, and what all who read or write them share."""

import json
from typing import Final

from attrs import frozen

from groupcomm_conformance.files.errors import FileError
from groupcomm_conformance.tla.values import JSON

__all__ = ["FORMAT", "KINDS", "MANIFEST", "README", "SCENARIOS", "SCHEMA", "VectorError", "Written", "text"]

FORMAT: Final = "groupcomm vectors 2"
MANIFEST: Final = "manifest.json"
README: Final = "README.md"
SCHEMA: Final = "schema.json"
SCENARIOS: Final = "scenarios"
"""The folder of the walks of scenarios."""

STEPS: Final = "local steps"
WALK: Final = "walk"
KINDS: Final = (STEPS, WALK)
"""What a file with vectors may be."""


class VectorError(FileError):
    """A file of vectors is not what the manifest or the format says: `file:line: expected ...`."""


@frozen
class Written:
    """A file: its path in the folder, its kind, the number of its records, its size in bytes, its SHA-256."""

    path: str
    kind: str
    records: int
    size: int
    digest: str

    def told(self) -> dict[str, JSON]:
        """Give the manifest's entry."""
        return {
            "path": self.path,
            "kind": self.kind,
            "records": self.records,
            "bytes": self.size,
            "sha256": self.digest,
        }


def text(content: JSON) -> str:
    """Write JSON as vectors have it: ASCII, without spaces."""
    return json.dumps(content, ensure_ascii=True, separators=(",", ":"))
