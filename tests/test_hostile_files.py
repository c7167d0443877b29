"""Files from elsewhere: a cache that another user writes, vectors, archives, tables. None is believed, none runs."""

import os
import subprocess
from pathlib import Path

import pytest

from groupcomm_conformance.files import store
from groupcomm_conformance.models.result import Cache
from groupcomm_conformance.tlc import resident, tools
from groupcomm_conformance.tlc import run as tlc

# The cache


def taken_over(folder: Path, how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder is one that a stranger can write, or has made."""
    monkeypatch.setattr(store, "_warned", set())
    if how == "made by another user":
        if os.geteuid() == 0:
            os.chown(folder, 65534, 65534)
        else:  # this process is another user than the one that made it, and the code is root's
            monkeypatch.setattr(store, "__file__", "/")
            monkeypatch.setattr(os, "geteuid", lambda: 65533)
    else:
        folder.chmod({"by its group": 0o770, "by all": 0o707}[how])


HOW = ("made by another user", "by its group", "by all")


@pytest.mark.parametrize("how", HOW)
def test_a_result_in_a_cache_that_others_write_is_not_believed(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It has the right key and the right digest: a digest without a key is anybody's to compute."""
    cache = Cache(tmp_path / "cache")
    cache.write("key", b"holds")
    assert cache.read("key") == b"holds"
    taken_over(cache.folder, how, monkeypatch)
    assert cache.read("key") is None
    cache.write("key", b"violates")
    assert ["another user owns it or can write in it" in line for line in caplog.messages] == [True]
    assert cache.path("key").read_bytes().endswith(b"\nholds")


def test_a_class_in_a_cache_that_others_write_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cache has classes that TLC's JVM loads: a stranger's would run as this user."""
    (tmp_path / "spec" / "toy").mkdir(parents=True)
    (tmp_path / "spec" / "toy" / "Toy.tla").touch()
    monkeypatch.chdir(tmp_path)
    resident.end()
    resident._compiled.cache_clear()  # noqa: SLF001 - as a process that begins
    java, jar = tools.find_java(), tools.find_jar()
    made = resident.program(java, jar)
    assert made is not None
    assert made.is_relative_to(tmp_path)
    shout = tmp_path / "shout"
    (tmp_path / "Resident.java").write_text(
        "public class Resident { public static void main(String[] a) throws Exception {"
        f'new java.io.File("{shout}").createNewFile(); }} }}'
    )
    compiler = [str(java), "-m", "jdk.compiler/com.sun.tools.javac.Main", "-d", str(made)]
    subprocess.run([*compiler, str(tmp_path / "Resident.java")], check=True)
    taken_over(made.parent, "by all", monkeypatch)
    resident._compiled.cache_clear()  # noqa: SLF001
    text = "---- MODULE M ----\nVARIABLE x\nInit == x = 0\nNext == UNCHANGED x\n===="
    try:
        found = tlc.run([], "M", "INIT Init\nNEXT Next\n", generated={"M": text}, workers=1, short=True)
    finally:
        resident.end()
        resident._compiled.cache_clear()  # noqa: SLF001
    assert not shout.exists()
    assert found.outcome == "holds"


def test_the_cache_is_made_so_that_no_other_user_can_write_it(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        Cache.of(tmp_path).write("key", b"result")
    finally:
        os.umask(before)
    assert (tmp_path / ".cache" / "groupcomm").stat().st_mode & 0o777 == 0o700
    assert Cache.of(tmp_path).read("key") == b"result"
