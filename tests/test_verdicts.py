"""Verdicts that are kept: a change of one line of anything that a verdict depends on asks for another one."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from groupcomm_commands import explore
from groupcomm_conformance.files.keys import code_digest
from groupcomm_conformance.models.manifest import load
from groupcomm_conformance.protocols import derive
from groupcomm_conformance.steps.conform import verdict_key

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of specifications and code."""
    root = tmp_path_factory.mktemp("copied")
    for name in ("spec/common", "spec/stable", "spec/nakack", "spec/stack", "impl", "conformance"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__", "adapters", "scenarios"))
    return root


@pytest.fixture(autouse=True)
def _seen(copied: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The code that keys see is that of the copy."""
    for name in ("impl", "conformance"):
        monkeypatch.syspath_prepend(copied / name)
    yield
    code_digest.cache_clear()


def keys(root: Path) -> tuple[str, str]:
    """The keys of a model of STABLE, by `conform`, and of a stack of all layers up to SEQUENCER, by `explore`."""
    code_digest.cache_clear()
    manifest = load(root, "stable")
    configuration = next(each.configuration for each in explore.load(root) if each.name == "crash_gms")
    return verdict_key(manifest, manifest.model("pair"), derive.load(manifest)), explore.verdict_key(configuration)


@pytest.mark.parametrize(
    ("file", "old", "new", "conforms", "explores"),
    [
        ("impl/groupcomm/stable.py", "def step(", "MORE = 1\n\n\ndef step(", True, True),
        ("impl/groupcomm/digest.py", "\n\n\n", "\n\n\nMORE = 1\n\n\n", True, True),
        ("impl/groupcomm/shapes.py", "\n\n\n", "\n\n\nMORE = 1\n\n\n", True, False),
        ("conformance/groupcomm_conformance/steps/rows.py", "\n\n\n", "\n\n\nMORE = 1\n\n\n", True, False),
        (
            "conformance/groupcomm_conformance/tlc/FastTool.java",
            "\nimport ",
            "\nimport java.util.List;\nimport ",
            True,
            False,
        ),
        ("conformance/groupcomm_simulator/judges/views.py", "\n\n\n", "\n\n\nMORE = 1\n\n\n", False, True),
        ("spec/stable/Stable.tla", "\nStep(s, e) ==", "\nMore == 1\n\nStep(s, e) ==", True, False),
        ("spec/stable/models.yaml", "MaxBytes: ", "MaxBytes: 1", True, False),
        ("spec/stack/explored.yaml", "crashes: 1", "crashes: 2", False, True),
        # Of no consequence to either: another core, another command, a comment.
        ("impl/groupcomm/unicast.py", "\n\n\n", "\n\n\nMORE = 1\n\n\n", False, True),
        ("conformance/groupcomm_conformance/why/why.py", "\n\n\n", "\n\n\nMORE = 1\n\n\n", False, False),
        ("impl/groupcomm/stable.py", "def step(", "# A comment.\ndef step(", False, False),
        ("spec/stable/Stable.tla", "\nStep(s, e) ==", "\n\\* A comment.\nStep(s, e) ==", False, False),
    ],
)
def test_a_change_asks_for_another_verdict(
    copied: Path, file: str, old: str, new: str, *, conforms: bool, explores: bool
) -> None:
    before = keys(copied)
    text = (copied / file).read_text()
    assert old in text
    (copied / file).write_text(text.replace(old, new, 1))
    after = keys(copied)
    (copied / file).write_text(text)
    assert (conforms, explores) == (before[0] != after[0], before[1] != after[1])
