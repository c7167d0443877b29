"""Writing results into `recorded.yaml`: counts, the counterexample's length, violated claims, and digests.

A row for each model, on one line, in the order of the manifest. No person writes there, and nothing else is
written: the expected verdict of a model is its manifest's, and a model with another verdict is not recorded.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from groupcomm_conformance.files.store import replace

from .manifest import load
from .model import Manifest, Model
from .plan import digest
from .result import CheckedModel, expected
from .source import RECORDED, Source

_HEAD: Final = """\
# What `groupcomm check --record` found. It alone writes this file. Of a model that holds: distinct states,
# transitions and depth. Of an ablation: the states of the shortest counterexample, and all claims that it
# violates. Of a deep model also the digest of the text that was searched.
"""

_Value = int | str | tuple[str, ...]
Row = Mapping[str, _Value]
"""What is recorded of a model, by key."""


def record(root: Path, manifest: Manifest, results: Mapping[str, CheckedModel]) -> list[str]:
    """Write what came of the models in `results`; say what changed, a line per model.

    Rows of models that the manifest has no longer are left out.
    """
    said: list[str] = []
    rows: dict[str, Row] = {}
    for model in manifest.models:
        before = _recorded(model)
        checked = results.get(model.name)
        rows[model.name] = came = (
            before if checked is None or checked.outcome != expected(model) else _came(manifest, model, checked)
        )
        changed = [
            f"{key} {_said(before.get(key))} -> {_said(value)}"
            for key, value in came.items()
            if before.get(key) != value
        ]
        if changed:
            said.append(f"{manifest.protocol} {model.name}: {', '.join(changed)}")
    if said or Source(manifest.folder).recorded.keys() - rows.keys():
        replace(manifest.folder / RECORDED, render(rows).encode())
        load(root, manifest.protocol, recording=True)
    return said


def render(rows: Mapping[str, Row]) -> str:
    """Give the text of the file with these rows; an empty row is left out."""
    lines = (
        f"{name}: {{{', '.join(f'{key}: {_yaml(value)}' for key, value in row.items())}}}\n"
        for name, row in rows.items()
        if row
    )
    return _HEAD + ("".join(lines) or "{}\n")


def _came(manifest: Manifest, model: Model, checked: CheckedModel) -> Row:
    """Give what is to be recorded of a model."""
    if model.holds:
        came: dict[str, _Value] = {
            "distinct": checked.distinct,
            "transitions": checked.transitions,
            "depth": checked.depth,
        }
    else:
        violated = tuple(claim for claim in manifest.claims() if claim in checked.falls)
        violated += tuple(sorted(checked.conjuncts, key=_conjunct))
        # A change of order alone is none.
        same = {*violated} == {*model.violated}
        # Nor is another lasso (`differences`).
        length = model.trace if model.liveness and model.trace is not None else len(checked.trace)
        came = {"trace": length, "violates": model.violated if same else violated}
    return came | ({"digest": digest(manifest, model)} if model.tier == "deep" else {})


def _conjunct(name: str) -> tuple[str, int]:
    """Order `Claim/2` before `Claim/10`."""
    claim, _, number = name.partition("/")
    return claim, int(number)


def _recorded(model: Model) -> Row:
    """Give what was recorded of a model: nothing of a new one."""
    row: dict[str, _Value] = {}
    if model.counts is not None:
        row = {"distinct": model.counts.distinct, "transitions": model.counts.transitions, "depth": model.counts.depth}
    elif model.trace is not None:
        row = {"trace": model.trace, "violates": model.violated}
    return row | ({"digest": model.digest} if row and model.digest else {})


def _said(value: _Value | None) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(value)}]"
    return "none" if value is None else str(value)


def _yaml(value: _Value) -> str:
    return f'"{value}"' if isinstance(value, str) else _said(value)
