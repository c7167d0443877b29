"""README's figures are those of the manifests."""

import re
from pathlib import Path
from typing import Final

import attrs

from groupcomm_conformance.models.manifest import load, protocols

ROOT: Final = Path(__file__).parents[1]
README: Final = (ROOT / "README.md").read_text(encoding="utf-8")
MODELS: Final = {name: load(ROOT, name).models for name in protocols(ROOT)}
SEARCHED: Final = [model for models in MODELS.values() for model in models if model.tier in {"smoke", "full"}]


def test_models_states_and_ablations() -> None:
    holding = [model for model in SEARCHED if model.violates is None]
    states = sum(model.counts.distinct for model in holding if model.counts is not None)
    said = re.search(r"state of (\d+) models \(([\d,]+) distinct states", README)
    assert said is not None
    assert (said[1], said[2]) == (str(len(holding)), f"{round(states, -3):,}")
    assert f"holds: {len(SEARCHED) - len(holding)} ablations" in README


def test_gates_of_gms_as_check_prints_them() -> None:
    manifest = load(ROOT, "gms")
    ablations = [model for model in SEARCHED if model in manifest.models and model.violates is not None]
    assert f"gate witnesses: ok: all {len(manifest.witnesses)} are reached" in README
    assert f"gate kills: ok: each of {len(manifest.claims())} claims is violated by some ablation" in README
    assert f"gate controls: ok: the controls of all {len(ablations)} ablations hold" in README
    counts = manifest.model("join_crash").counts
    assert counts is not None
    row = r"join_crash +full +holds +as expected +{} +{:,} +{} ".format(*attrs.astuple(counts))
    assert re.search(row, README)


def test_errata() -> None:
    said = dict(re.findall(r"^\| \[.*\]\(spec/(\w+)/README\.md\) \|.*\| (\d+) \|$", README, re.MULTILINE))
    counted = {name: sum(model.erratum is not None for model in models) for name, models in MODELS.items()}
    assert said == {name: str(count) for name, count in counted.items()}


def test_the_readme_of_a_protocol_is_read_at_one_sitting() -> None:
    lines = {
        file.parent.name: len(file.read_text(encoding="utf-8").splitlines())
        for file in (ROOT / "spec").glob("*/README.md")
    }
    assert {*MODELS} <= {*lines}
    assert {} == {name: number for name, number in lines.items() if number > 200}
