"""TLC's classes as an archive: made once, used by every run, and never needed."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from groupcomm_conformance.tlc import archive, run, tools

MODULE = "---- MODULE One ----\nVARIABLE x\nInit == x = 1\nNext == x' = x\n====\n"


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    """What was found before is not used here, and what is found here nowhere else."""
    archive.located.cache_clear()
    yield
    archive.located.cache_clear()


def options() -> tuple[str, ...]:
    return archive.options(tools.find_java(), tools.find_jar())


def project(folder: Path) -> Path:
    (folder / "spec").mkdir(parents=True)
    (folder / "conformance").mkdir()
    return folder


def test_the_archive_is_made_once_and_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project(tmp_path))
    first = options()
    (made,) = (tmp_path / ".cache" / "groupcomm").glob("*.jsa")
    assert first[0] == f"-XX:SharedArchiveFile={made}"
    written = made.stat().st_mtime_ns
    archive.located.cache_clear()
    assert options() == first
    assert made.stat().st_mtime_ns == written
    result = run.run([], "One", "INIT Init\nNEXT Next\n", generated={"One": MODULE}, workers=1, short=True)
    assert (result.outcome, result.distinct) == ("holds", 1)


def test_a_damaged_archive_does_no_harm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project(tmp_path))
    options()
    (made,) = (tmp_path / ".cache" / "groupcomm").glob("*.jsa")
    made.chmod(0o644)
    made.write_bytes(b"no archive")
    result = run.run([], "One", "INIT Init\nNEXT Next\n", generated={"One": MODULE}, workers=1, short=True)
    assert (result.outcome, result.distinct) == ("holds", 1)


def test_without_a_place_to_keep_it_there_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = project(tmp_path)
    (root / ".cache").write_text("a file where the folder would be")
    monkeypatch.chdir(root)
    assert options() == ()


def test_a_java_that_cannot_make_it_goes_without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project(tmp_path))
    false = shutil.which("false")
    assert false is not None
    assert archive.options(Path(false), tools.find_jar()) == ()
