"""neighbours: guards that are said again for a composition are those of the neighbour, and nothing is named in vain."""

import shutil
from pathlib import Path

import pytest

from groupcomm_conformance.documents import neighbours
from groupcomm_conformance.models.manifest import ManifestError, load, protocols
from groupcomm_conformance.models.modules import read_modules

ROOT = Path(__file__).parent.parent


@pytest.fixture
def root(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "spec", tmp_path / "spec")
    return tmp_path


def _edit(file: Path, old: str, new: str, count: int = 1) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, count))


@pytest.mark.parametrize("protocol", protocols(ROOT))
def test_guards_of_neighbours_are_theirs(protocol: str) -> None:
    manifest = load(ROOT, protocol)
    neighbours.require(manifest)
    assert neighbours.gate(ROOT, manifest).ok is not False


def test_the_gate_looks_at_guards_in_compositions() -> None:
    texts = {
        name: neighbours.gate(ROOT, load(ROOT, name)).text for name in ("flush", "gms", "merge", "merge_gms")
    }
    assert all(int(text.split()[0]) > 10 for text in texts.values()), texts


def test_guards_off_in_a_closed_model_are_told(root: Path) -> None:
    """All its models stay as expected, of other neighbours than the proved ones, where no ablation is of them."""
    file = root / "spec" / "gms" / "models.yaml"
    text = file.read_text()
    manifest = load(ROOT, "gms")
    ablated = {name for model in manifest.models for name in model.ablates}
    off = []
    for name in manifest.other_modules:
        for neighbour in ("flush", "stable", "unicast"):
            reference = load(ROOT, neighbour).reference
            begin = text.index(f"\n  {name}:\n")
            for guard in set(manifest.cfgs[name].constants) & set(reference) - ablated - set(
                manifest.reference
            ):
                at = text.find(f" {guard}: true", begin)
                if reference[guard] == "= TRUE" and 0 <= at < text.index("\ntype_invariants:"):
                    text = text[:at] + f" {guard}: false" + text[at + len(f" {guard}: true") :]
                    off.append((guard, neighbour))
    assert off
    file.write_text(text)
    gate = neighbours.gate(root, load(root, "gms"))
    assert gate.ok is False
    for guard, neighbour in off:
        assert f"expected {guard} = TRUE, as the reference of {neighbour} has it, not = FALSE" in gate.text


def test_a_guard_of_another_value_is_told_with_its_line(root: Path) -> None:
    file = root / "spec" / "merge_gms" / "models.yaml"
    _edit(file, "OpenLatchOnSuspicion: state,", "OpenLatchOnSuspicion: view,")
    line = next(
        n for n, each in enumerate(file.read_text().splitlines(), 1) if "OpenLatchOnSuspicion" in each
    )
    gate = neighbours.gate(root, load(root, "merge_gms"))
    assert gate.ok is False
    assert f"models.yaml:{line}: flush_over_merge_gms: expected OpenLatchOnSuspicion" in gate.text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            'AnswerExcluded <- AnswerExcluded,\n    DigestTakenWhen <- "first"',
            'AnswerExcluded <- AnswerExcluded,\n    DigestTakenWhen <- "last"',
        ),
        ("PromoteFirst <- TRUE", "PromoteFirst <- FALSE"),
    ],
)
def test_a_guard_of_an_instance_is_told(root: Path, old: str, new: str) -> None:
    _edit(root / "spec" / "merge_gms" / "MergeGms.tla", old, new)
    gate = neighbours.gate(root, load(root, "merge_gms"))
    assert gate.ok is False
    assert "MergeGms.tla: INSTANCE" in gate.text


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            "    invariants: [SameIdSameView]",
            "    invariants: [SameIdSameViews]",
            "no module defines SameIdSameViews",
        ),
        (
            "OpenLatchOnSuspicion: state,",
            "OpenLatchOnSuspicions: state,",
            "no module declares OpenLatchOnSuspicions",
        ),
        ("  liveness:\n", "  unused:\n    like: safety\n  liveness:\n", "none is for unused"),
    ],
)
def test_what_is_named_in_vain_is_refused(root: Path, old: str, new: str, expected: str) -> None:
    _edit(root / "spec" / "merge_gms" / "models.yaml", old, new)
    with pytest.raises(ManifestError, match=expected) as error:
        neighbours.require(load(root, "merge_gms"))
    assert error.value.line > 1


def test_a_constant_that_nothing_uses_is_refused(root: Path) -> None:
    """It is declared, and even assumed of: taking it away would change nothing."""
    _edit(root / "spec" / "merge" / "MergeGroup.tla", "CONSTANTS\n", "CONSTANTS\n    Idle0,\n")
    _edit(root / "spec" / "merge" / "MergeGroup.tla", "VARIABLES\n", "ASSUME Idle0 \\in BOOLEAN\nVARIABLES\n")
    _edit(root / "spec" / "merge" / "models.yaml", "reference:\n", "reference:\n  Idle0: true\n")
    with pytest.raises(ManifestError, match="none uses Idle0"):
        neighbours.require(load(root, "merge"))


@pytest.mark.parametrize("protocol", protocols(ROOT))
def test_a_cfg_is_for_the_module_that_has_its_constants(protocol: str) -> None:
    """The module that `check --write-cfg` names: it declares or defines all that the cfg gives a value."""
    manifest = load(ROOT, protocol)
    for model in manifest.models:
        modules = read_modules(manifest.folders, manifest.module_of(model.claims))
        cfg = manifest.cfg(model)
        assert [] == [name for name in cfg.constants if not modules.knows(name)]
        assert modules.definition(str(cfg.specification or cfg.init)) is not None
