"""Skip lists: the known failures of a port, as data. A listed failure is never counted as a pass.

A file has a line for each case: what, and after a `#` the reason, such as an issue's address::

    flush join 206 # https://example.org/issues/7
    flush * ReconcileReceived   # no reconciliation yet

That is a protocol, a model or scenario, and a row or a type of event; `*` stands for any. An entry that no
failure needs any more is stale, and fails the run: what was mended should be seen to be.
"""

import re
from pathlib import Path
from typing import Final

from attrs import define, field

from groupcomm_conformance.files.errors import FileError
from groupcomm_conformance.files.reading import read_text

__all__ = ["Skips", "read"]

_LINE: Final = re.compile(r"(?P<protocol>\S+)\s+(?P<model>\S+)\s+(?P<which>\S+)\s+#\s*(?P<reason>\S.*)")
_ANY: Final = "*"


@define
class _Entry:
    line: int
    protocol: str
    model: str
    which: str
    reason: str
    used: bool = False


@define
class Skips:
    """A skip list: `reason` asks it, and what was never asked for is `stale`."""

    file: str = ""
    entries: list[_Entry] = field(factory=list)

    def reason(self, protocol: str, model: str, row: int, event: str) -> str | None:
        """Give the reason of a failure that the list has; None for any other failure."""
        for entry in self.entries:
            if (
                entry.protocol in (_ANY, protocol)
                and entry.model in (_ANY, model)
                and entry.which in (_ANY, str(row), event)
            ):
                entry.used = True
                return entry.reason
        return None

    def stale(self, protocols: frozenset[str], models: frozenset[str]) -> list[str]:
        """Name the entries of these protocols and models that no failure needed."""
        return [
            f"{self.file}:{entry.line}: nothing fails any more of {entry.protocol} {entry.model} "
            f"{entry.which}: take the line out"
            for entry in self.entries
            if not entry.used and entry.protocol in protocols | {_ANY} and entry.model in models | {_ANY}
        ]


def read(file: Path) -> Skips:
    """Read a skip list. FileError where it cannot be read, and for a line that is no entry."""
    text = read_text(file, what="a skip list (docs/porting.md)")
    entries: list[_Entry] = []
    for number, line in enumerate(text.splitlines(), start=1):
        told = line.strip()
        if not told or told.startswith("#"):
            continue
        found = _LINE.fullmatch(told)
        if found is None:
            raise FileError(str(file), number, "a protocol, a model, a row or type of event, and after # the reason")
        entries.append(_Entry(number, found["protocol"], found["model"], found["which"], found["reason"]))
    return Skips(str(file), entries)
