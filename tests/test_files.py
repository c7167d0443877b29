"""Reading and writing files of people: what is refused says which file, which line, and why."""

import hashlib
import os
import pickle
from pathlib import Path

import pytest

from groupcomm_conformance.files.digests import require_known
from groupcomm_conformance.files.errors import FileError, PathError, reason
from groupcomm_conformance.files.project import find_root
from groupcomm_conformance.files.reading import decoded, json_value, python_tree, read_bytes, read_text
from groupcomm_conformance.files.writing import require_file, require_folder

MEGABYTE = 1 << 20


def says(error: type[Exception], read: object, *arguments: object) -> str:
    assert callable(read)
    with pytest.raises(error) as raised:
        read(*arguments)
    return str(raised.value)


def test_a_file_may_have_as_many_bytes_as_is_said_and_no_more(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_bytes(b"x" * MEGABYTE)
    assert len(read_bytes(file, "f", "a file", MEGABYTE)) == MEGABYTE
    file.write_bytes(b"x" * (2 * MEGABYTE))
    assert says(FileError, read_bytes, file, "f", "a file", MEGABYTE) == "f:1: expected a file of at most 1 MB, not 2"


def test_what_is_no_file_is_refused_by_its_kind(tmp_path: Path) -> None:
    assert says(FileError, read_text, tmp_path, "f") == "f:1: expected a text file, not a folder"
    os.mkfifo(tmp_path / "pipe")
    pipe = tmp_path / "pipe"
    assert (
        says(FileError, read_text, pipe) == f"{pipe}:1: expected a text file, not a device or pipe, which may never end"
    )
    assert (
        says(FileError, read_text, tmp_path / "none", "f", "a log") == "f:1: expected a log, but there is no such file"
    )
    name = tmp_path / "a\0b"
    assert says(FileError, read_text, name, "f") == "f:1: expected a text file, but no file can have this name"


def test_text_is_utf_8_with_any_ends_of_lines() -> None:
    assert decoded(b"a\r\nb\rc\n", "f") == "a\nb\nc\n"
    assert says(FileError, decoded, b"a\n\nb\xe9", "f") == "f:3: expected text in UTF-8, not the byte 0xe9"


def test_python_and_json_are_refused_at_the_line_where_they_stop() -> None:
    assert python_tree("x = 1", "f").body
    assert says(FileError, python_tree, "x = 1\nx = (\n", "f") == "f:2: expected Python ('(' was never closed)"
    assert "f:1: expected Python (" in says(FileError, python_tree, "x = '\0'", "f")
    assert json_value("[1]", "f") == [1]
    assert says(FileError, json_value, "[1,\n2", "f", 7) == "f:8: expected JSON: Expecting ',' delimiter"
    assert says(FileError, json_value, "[" * 100_000, "f", 7) == "f:7: expected JSON with fewer levels of nesting"
    digits = "f:7: expected JSON whose integers have at most 4,300 digits"
    assert says(FileError, json_value, "9" * 5_000, "f", 7) == digits


def test_errors_say_why_in_words_and_survive_a_process() -> None:
    error = FileError("f", 3, "a list")
    copy = pickle.loads(pickle.dumps(error))  # noqa: S301 - as a pool of processes does
    assert (str(copy), copy.file, copy.line, copy.expected) == ("f:3: expected a list", "f", 3, "a list")
    assert str(PathError("f", "why", "what to do")) == "f: why; what to do"
    assert reason(OSError("of its own")) == "of its own"
    assert reason(OSError(28, "")) == "the disk is full"
    assert reason(OSError(11, "")) == "resource temporarily unavailable"


def test_a_folder_that_can_be_made_is_not_refused_and_not_made(tmp_path: Path) -> None:
    require_folder(tmp_path / "a" / "b")
    require_folder(tmp_path / ("x" * 255))
    require_file(tmp_path / "a" / "f")
    assert [*tmp_path.iterdir()] == []


def test_a_folder_in_which_nothing_can_be_written_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    remedy = "name another place with --out"
    assert says(PathError, require_folder, file) == f"{file}: it is a file, not a folder; {remedy}"
    assert says(PathError, require_folder, file / "x", "so") == f"{file}/x: {file} is a file, not a folder; so"
    long = tmp_path / ("é" * 128)
    assert (
        says(PathError, require_folder, long)
        == f"{long}: nothing can be written in it, as the name is too long; {remedy}"
    )
    deep = tmp_path / "none" / ("x" * 256)
    assert "too long" in says(PathError, require_folder, deep)
    assert says(PathError, require_file, tmp_path, "so") == f"{tmp_path}: it is a folder, not a file; so"
    assert says(PathError, require_file, file / "x", "so") == f"{file}: it is a file, not a folder; so"


def test_files_of_others_have_the_digests_that_are_known(tmp_path: Path) -> None:
    folder = tmp_path / "jars"
    folder.mkdir()
    (folder / "a.jar").write_bytes(b"a")
    (folder / "notes.txt").touch()
    right = hashlib.sha256(b"a").hexdigest()
    sums = tmp_path / "SUMS"
    sums.write_text(f"{right}  a.jar\n")
    require_known(folder, ".jar", sums)
    for text, expected in ((f"{'0' * 64}  a.jar\n", "0" * 64), (f"{right}  b.jar\n", "no such file")):
        sums.write_text(text)
        start = f"{folder}/a.jar has SHA-256 {right}, expected {expected} (SUMS): delete {folder}, and "
        assert says(ValueError, require_known, folder, ".jar", sums).startswith(start)


def test_a_project_is_the_nearest_folder_with_specifications(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    inner = tmp_path / "one" / "inner"
    (inner / "deep").mkdir(parents=True)
    for project in (tmp_path, inner):
        (project / "spec" / "toy").mkdir(parents=True)
        (project / "spec" / "toy" / "Toy.tla").touch()
    assert find_root(inner / "deep") == find_root(inner) == inner
    assert find_root(tmp_path / "one") == tmp_path
    monkeypatch.chdir(inner / "deep")
    assert find_root() == find_root(own=True) == inner
    assert caplog.messages == []
    monkeypatch.chdir("/")
    ours = Path(__file__).parents[1]
    for _ in range(2):
        assert find_root() == ours
    assert caplog.messages == [f"/ is in no project: the specifications are those of {ours}"]
    for arguments in ({"own": True}, {"start": Path("/")}):
        with pytest.raises(FileNotFoundError, match="no folder from here up has specifications"):
            find_root(**arguments)
