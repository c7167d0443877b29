"""guards: the definitions of a module that models give other values."""

import shutil
from pathlib import Path

import pytest

from groupcomm_conformance.models.consistency import require_use
from groupcomm_conformance.models.manifest import ManifestError, load, protocols
from groupcomm_conformance.models.modules import read_modules
from groupcomm_conformance.tla.source import as_constants, guards

ROOT = Path(__file__).parent.parent

MODULE = """\
---- MODULE Small ----
EXTENDS Steps

CONSTANT Most

(* Guards: conditions of the algorithm. *)
Check == TRUE     \\* a vote counts in its view alone,
                  \\* and in no other
Rule == "lowest"  \\* or "highest"

Limit == 3
====
"""


def test_guards_are_the_definitions_below_their_heading() -> None:
    assert {"Check": "TRUE", "Rule": '"lowest"'} == guards(MODULE)
    assert {} == guards(MODULE.replace("(* Guards", "(* Conditions"))


def test_where_an_instance_gives_their_values_they_are_constants() -> None:
    text = as_constants(MODULE)
    assert "CONSTANTS Check, Rule\n\nLimit == 3" in text
    assert {} == guards(text)


@pytest.mark.parametrize("protocol", protocols(ROOT))
def test_every_guard_is_used(protocol: str) -> None:
    require_use(load(ROOT, protocol))


@pytest.mark.parametrize("protocol", protocols(ROOT))
def test_a_cfg_is_for_the_module_that_has_its_constants(protocol: str) -> None:
    """The module that `check --write-cfg` names: it declares or defines all that the cfg gives a value."""
    manifest = load(ROOT, protocol)
    for model in manifest.models:
        modules = read_modules(manifest.folders, manifest.module_of(model.claims))
        cfg = manifest.cfg(model)
        assert [] == [name for name in cfg.constants if not modules.knows(name)]
        assert modules.definition(str(cfg.specification or cfg.init)) is not None


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of the toy in a project of its own."""
    shutil.copytree(ROOT / "tests" / "data", tmp_path, dirs_exist_ok=True)
    return tmp_path / "spec" / "toy"


def test_a_guard_that_nothing_uses_is_refused(tmp_path: Path, folder: Path) -> None:
    """It is assumed to be a truth value, which is no use."""
    require_use(load(tmp_path, "toy"))
    module = folder / "Toy.tla"
    text = module.read_text().replace("KeepCommit == TRUE", "Idle == TRUE\nKeepCommit == TRUE")
    module.write_text(text.replace("Start(member) ==", "ASSUME Idle \\in BOOLEAN\n\nStart(member) =="))
    with pytest.raises(ManifestError, match="none uses Idle"):
        require_use(load(tmp_path, "toy"))


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("[TypeOK, NoEarlyCommit]", "[TypeOK, NoEarlyCommit, NoLoss]", "no module defines NoLoss"),
        ("  liveness:\n", "  unused:\n    like: safety\n  liveness:\n", "none is for unused"),
    ],
)
def test_what_is_named_in_vain_is_refused(tmp_path: Path, folder: Path, old: str, new: str, expected: str) -> None:
    manifest = folder / "models.yaml"
    text = manifest.read_text()
    assert 1 == text.count(old)
    manifest.write_text(text.replace(old, new))
    with pytest.raises(ManifestError, match=expected) as error:
        require_use(load(tmp_path, "toy", recording=True))
    assert error.value.line > 1


def test_a_set_of_claims_may_wait_for_its_models_while_others_run(tmp_path: Path, folder: Path) -> None:
    manifest = folder / "models.yaml"
    manifest.write_text(manifest.read_text().replace("  liveness:\n", "  unused:\n    like: safety\n  liveness:\n"))
    loaded = load(tmp_path, "toy", recording=True)
    require_use(loaded, whole=False)
    with pytest.raises(ManifestError, match="none is for unused"):
        require_use(loaded)
