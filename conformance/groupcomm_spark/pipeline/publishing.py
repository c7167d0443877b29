"""Putting tables in their places: all of a model's, whole, or none.

A run writes into a folder of its own beside the tables, `.work`. When all is written the model's earlier
tables are taken away, the new ones moved into their places, and last the receipt is written,
`runs/<protocol>-<model>.json`. So at any time a table in its place is whole, and tables with a receipt belong
together.
"""

import json
import os
import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from attrs import frozen

from groupcomm_conformance.files.store import replace

__all__ = ["Place"]


@frozen
class Place:
    """Where the tables of a model are, under the folder of all tables."""

    out: Path
    protocol: str
    model: str

    @property
    def work(self) -> Path:
        """The folder of an unfinished run."""
        return self.out / ".work" / f"{self.protocol}-{self.model}"

    @property
    def receipt(self) -> Path:
        """The file that says that the tables are there and belong together."""
        return self.out / "runs" / f"{self.protocol}-{self.model}.json"

    def draft(self, table: str) -> Path:
        """Where a run writes a table."""
        return self.work / table

    def table(self, name: str) -> Path:
        """Where a table is when it is published."""
        return self.out / name / f"protocol={self.protocol}" / f"model={self.model}"

    def begin(self) -> None:
        """Clear away what an earlier run left unfinished."""
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir(parents=True)

    def publish(self, tables: tuple[str, ...], told: Mapping[str, Any]) -> None:
        """Put tables and receipt in their places."""
        with suppress(FileNotFoundError):
            self.receipt.unlink()
        for name in tables:
            place = self.table(name)
            place.parent.mkdir(parents=True, exist_ok=True)
            if place.exists():
                os.replace(place, self.work / f"old-{name}")  # noqa: PTH105 - of a folder
            os.replace(self.draft(name), place)  # noqa: PTH105
        replace(self.receipt, (json.dumps(told, indent=2) + "\n").encode("ascii"))
        shutil.rmtree(self.work, ignore_errors=True)
