"""The README's table of what SEQUENCER needs of the layers below, held against the manifest.

The manifest's figures are what TLC found, and `check` holds them against TLC; so the table is the models'.
"""

import re
from pathlib import Path
from typing import Final

import pytest

from groupcomm_conformance.models.manifest import Manifest, find_root, load

ROOT: Final = find_root(Path(__file__).parent)
TEXT: Final = (ROOT / "spec" / "sequencer" / "README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def manifest() -> Manifest:
    return load(ROOT, "sequencer")


def wrong_cells(text: str, manifest: Manifest) -> list[str]:
    """Name each cell of the table that the manifest does not bear out: row, claim, what it says."""
    section = text.partition("\n## What it needs")[2].partition("\n## ")[0]
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line.startswith("|")
    ]
    head, _, *body = rows
    wrong: list[str] = []
    for row in body:
        models = [manifest.model(name) for name in re.findall(r"`(\w+)`", row[-1])]
        for heading, cell in list(zip(head, row, strict=True))[1:-1]:
            claim = heading.strip("`")
            asked = [model for model in models if claim in manifest.cfg(model).claims]
            refuted = {model.name for model in asked if claim in model.violated}
            if found := re.fullmatch(r"no: `(\w+)`", cell):
                true = found[1] in refuted
            else:
                true = (cell == "yes" and asked != [] and not refuted) or (cell == "-" and not asked)
            if not true:
                wrong.append(f"{row[0]}, {claim}: {cell}")
    return wrong


def test_the_table_of_guarantees_is_what_the_models_show(manifest: Manifest) -> None:
    assert "| nothing | yes |" in TEXT
    assert wrong_cells(TEXT, manifest) == []


@pytest.mark.parametrize(
    ("true", "false", "named"),
    [
        ("| no: `without_fifo__on_layers_view` |", "| yes |", "NAKACK: order, TotalOrder: yes"),
        ("| no: `unicast_unordered__on_dedup_by_set` |", "| no: `dedup_by_set` |", "SenderFifo: no: `dedup_by_set`"),
        ("| yes | - | `duplicating`,", "| yes | yes | `duplicating`,", "EventuallyDelivered: yes"),
        ("| UNICAST: no loss | yes |", "| UNICAST: no loss | - |", "UNICAST: no loss, TotalOrder: -"),
    ],
)
def test_an_altered_cell_is_noticed(true: str, false: str, named: str, manifest: Manifest) -> None:
    assert true in TEXT
    assert any(named in wrong for wrong in wrong_cells(TEXT.replace(true, false), manifest))
