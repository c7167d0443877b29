"""The release: made once, read back whole, refused where a part would be taken for the whole."""

import hashlib
import io
import json
import os
import re
import shutil
import sys
import tarfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
import zstandard

from groupcomm import stable
from groupcomm_commands.main import main
from groupcomm_conformance.ports import vector_files
from groupcomm_conformance.ports.errors import VectorError
from groupcomm_conformance.ports.on_core import follow
from groupcomm_conformance.ports.packing import pack, write
from groupcomm_conformance.ports.vector_files import FORMAT, MANIFEST, RELEASE, Made, protocol_files
from groupcomm_conformance.ports.vector_reader import read_release
from groupcomm_conformance.ports.walking import Begun
from tests.cores import MANIFESTS, PROTOCOLS, ROOT, core_of

STABLE, MANIFEST_OF = PROTOCOLS["stable"], MANIFESTS["stable"]
MODELS = ("join_small", "pair_faults")
WAYS_OF_STABLE = ("names", "mixed_names", "code_points", "counter_up", "counter_far", "seqnos_up")
CHOSEN = [MANIFEST_OF.model(name) for name in MODELS]


@pytest.fixture(scope="session")
def made() -> Made:
    return protocol_files(ROOT, MANIFEST_OF, CHOSEN, scenarios=False)


@pytest.fixture
def folder(made: Made, tmp_path: Path) -> Path:
    """Unpacked, as the folder of a release."""
    for path, data in made.items():
        (tmp_path / "stable" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "stable" / path).write_bytes(data)
    listed(tmp_path / "stable")
    return tmp_path / "stable"


def listed(folder: Path) -> None:
    """Have the release say that this is the manifest."""
    digest = hashlib.sha256((folder / MANIFEST).read_bytes()).hexdigest()
    (folder.parent / RELEASE).write_text(json.dumps({"format": FORMAT, "protocols": {"stable": {"sha256": digest}}}))


def changed(folder: Path, name: str, change: Callable[[Any], object]) -> None:
    """Change a file, and have the manifest and the release admit it."""
    told = json.loads((folder / name).read_text())
    change(told)
    (folder / name).write_text(json.dumps(told))
    if name != MANIFEST:
        data = (folder / name).read_bytes()
        entry = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        changed(folder, MANIFEST, lambda manifest: manifest["files"].update({name: entry}))
    listed(folder)


def test_what_is_packed_is_read_back_and_passes(made: Made, tmp_path: Path) -> None:
    """Rows as TLC made them, walks with states that follow from their steps: all of it on the core."""
    file = pack("vectors", {f"stable/{path}": data for path, data in made.items()}, tmp_path / "dist")
    assert [file] == [*file.parent.iterdir()]
    data = zstandard.ZstdDecompressor(max_window_size=2**27).decompressobj().decompress(file.read_bytes())
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        tar.extractall(tmp_path, filter="data")
    released = read_release(tmp_path / "vectors" / "stable", STABLE)
    assert MODELS == released.names[:2]
    assert {*WAYS_OF_STABLE} == {name.partition("__")[2] for name in released.names[2:]}
    sets = {name: released.of(name) for name in released.names}
    for each in sets.values():
        replayed, wrong = follow(STABLE, each)
        assert wrong == []
        assert replayed is None or replayed.passed
    assert sets["join_small"].table is not None
    assert set("ABC") == {*sets["join_small"].table.starts}
    assert released.counts("join_small")["rows"] == len(sets["join_small"].table)
    assert sets["pair_faults"].walks
    assert all(walk.members is not None for walk in sets["pair_faults"].walks)


def test_a_scenario_is_packed_with_its_story_and_passes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In this one C leaves, and comes back as another incarnation."""
    monkeypatch.setattr(vector_files, "scenarios_of", lambda *_: [ROOT / "conformance/scenarios/stable/rejoin.yaml"])
    told = json.loads(vector_files.scenarios_file(ROOT, STABLE))
    (story,) = told["scenarios"]
    assert "the vote of C's earlier incarnation does not count for its new one" == story["title"]
    assert ["FLAW-15", "STB-14", "STB-19", "AMB-56"] == story["requirements"]
    entry = {"scenario": "rejoin", "counts": story["counts"]}
    (folder / "scenarios.json").write_text("{}")
    changed(folder, MANIFEST, lambda manifest: manifest["scenarios"].append(entry))
    changed(folder, "scenarios.json", lambda file: file.update(told))
    released = read_release(folder, STABLE).of("scenarios/rejoin")
    (walk,) = released.walks
    assert {"A", "B", "C"} == {*walk.firsts}
    assert ["C"] == [step.member for step in walk.steps if isinstance(step, Begun) or step.begins]
    assert follow(STABLE, released) == (None, [])


def test_what_is_written_over_earlier_vectors_is_all_there_is(made: Made, tmp_path: Path) -> None:
    """A folder is replaced as a whole; one with anything else in it is refused."""
    out = tmp_path / "stable"
    for name in MODELS[:1]:
        write(ROOT, MANIFEST_OF, [MANIFEST_OF.model(name)], out, scenarios=False)
    (out / "gone").mkdir()
    (out / "gone" / "rows.json").write_text("of a model that there is no more")
    write(ROOT, MANIFEST_OF, CHOSEN, out, scenarios=False)
    assert made == {path.relative_to(out).as_posix(): path.read_bytes() for path in out.rglob("*") if path.is_file()}
    assert ["stable"] == [path.name for path in tmp_path.iterdir()]
    with pytest.raises(VectorError, match="vectors of an earlier run or nothing at all"):
        write(ROOT, MANIFEST_OF, CHOSEN, tmp_path, scenarios=False)


def test_any_byte_that_is_altered_is_told(folder: Path) -> None:
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.write_bytes(data)
        with pytest.raises(VectorError, match=path.name):
            read_release(folder, STABLE)
        data[len(data) // 2] ^= 1
        path.write_bytes(data)
    read_release(folder, STABLE)


def test_two_archives_of_the_same_are_the_same(made: Made, tmp_path: Path) -> None:
    first, second = (pack("vectors", made, tmp_path / name).read_bytes() for name in ("one", "two"))
    assert first == second


def test_a_core_that_is_wrong_fails_in_rows_and_in_walks(folder: Path) -> None:
    def step(config: stable.Config, state: stable.State, event: stable.Event) -> stable.Transition:
        after, effects = stable.step(config, state, event)
        return (state, ()) if isinstance(event, stable.StableTimeout) else (after, effects)

    released = read_release(folder, STABLE)
    core = core_of("stable", step)
    replayed, _ = follow(STABLE, released.of("join_small"), core)
    assert replayed is not None
    assert not replayed.passed
    _, wrong = follow(STABLE, released.of("pair_faults"), core)
    assert "StableTimeout" in wrong[0]


def whole(folder: Path) -> None:
    released = read_release(folder, STABLE)
    for name in released.names:
        released.of(name)


PARTS: dict[str, tuple[str, Callable[[Any], object], str]] = {
    "a row less": ("join_small.json", lambda told: told["rows"].pop(), "as the manifest has it, not"),
    "an event less": (
        "join_small.json",
        lambda told: [row.pop() for row in told["rows"]],
        "as the manifest has it, not",
    ),
    "a walk less": ("pair_faults.json", lambda told: told["walks"].pop(), "as the manifest has it, not"),
    "a step less": ("pair_faults.json", lambda told: told["walks"][0]["steps"].pop(), "as the manifest has it, not"),
    "no table": ("join_small.json", lambda told: told.pop("rows"), "as the manifest has it, not"),
    "a result that is not there": (
        "join_small.json",
        lambda told: told["rows"][0].__setitem__(0, 10_000),
        "a number of an outcome or a result, not 10000",
    ),
    "a state that is not there": ("pair_faults.json", lambda told: told["states"].clear(), "expected "),
    "a state of another shape": (
        "pair_faults.json",
        lambda told: told["states"][0].pop("vote"),
        "state: expected the field vote",
    ),
    "no models": (MANIFEST, lambda told: told["models"].clear(), "models and scenarios, each once"),
    "a model twice": (MANIFEST, lambda told: told["models"].append(told["models"][0]), "each once"),
    "a model without its file": (
        MANIFEST,
        lambda told: told["files"].pop("join_small.json"),
        "no file that the manifest has not",
    ),
    "constants of another algorithm": (
        MANIFEST,
        lambda told: told["models"][0]["constants"].pop("MergeRule"),
        "the constants that make a member",
    ),
    "constants that are none": (
        MANIFEST,
        lambda told: told["models"][0].update(constants="none"),
        "the constants that make a member",
    ),
    "a file of another model": (
        MANIFEST,
        lambda told: told["models"][0].update(path="pair_faults.json"),
        "a file that is called like its model",
    ),
    "a file out of the folder": (
        MANIFEST,
        lambda told: told["files"].update({"../x": {"bytes": 0, "sha256": ""}}),
        "to be there, as the manifest has it",
    ),
    "another protocol": (MANIFEST, lambda told: told.update(protocol="flush"), "of stable, not"),
}


@pytest.mark.parametrize("part", PARTS)
def test_a_part_is_not_taken_for_the_whole(folder: Path, part: str) -> None:
    name, change, error = PARTS[part]
    changed(folder, name, change)
    with pytest.raises(VectorError, match=error):
        whole(folder)


def test_a_manifest_that_lists_less_is_not_that_of_the_release(folder: Path) -> None:
    text = (folder.parent / RELEASE).read_text()
    changed(folder, MANIFEST, lambda told: told["models"].pop())
    (folder.parent / RELEASE).write_text(text)
    with pytest.raises(VectorError, match="unpack the archive again"):
        read_release(folder, STABLE)


def test_files_that_are_missing_altered_or_too_many_are_named(folder: Path) -> None:
    (folder / "pair_faults.json").rename(folder / "more.json")
    with pytest.raises(VectorError, match=r"more\.json:1: expected no file"):
        read_release(folder, STABLE)
    (folder / "more.json").unlink()
    with pytest.raises(VectorError, match=r"pair_faults\.json:1: expected to be there"):
        read_release(folder, STABLE)
    shutil.copyfile(folder / "join_small.json", folder / "pair_faults.json")
    with pytest.raises(VectorError, match=r"pair_faults\.json:1: expected [\d,]+ bytes with SHA-256"):
        read_release(folder, STABLE)


@pytest.mark.parametrize("format_", ["groupcomm vectors 4", None])
def test_a_release_of_another_format_is_refused(folder: Path, format_: str | None) -> None:
    """Also where its digests are right."""
    whole = folder.parent / RELEASE
    whole.write_text(json.dumps(json.loads(whole.read_text()) | {"format": format_}))
    with pytest.raises(VectorError) as refused:
        read_release(folder, STABLE)
    remedy = f'expected the format "groupcomm vectors 3", not {format_}: unpack an archive of that format'
    assert str(refused.value) == f"{whole}:1: {remedy}"


def sparse(file: Path) -> None:
    with file.open("wb") as stream:
        stream.truncate(1 << 40)


HOSTILE: dict[str, tuple[str, Callable[[Path], object]]] = {
    "a pipe, which nobody writes": ("pair_faults.json", os.mkfifo),
    "a pipe as the manifest": (MANIFEST, os.mkfifo),
    "a device without an end": ("pair_faults.json", lambda file: file.symlink_to("/dev/zero")),
    "a device as the manifest": (MANIFEST, lambda file: file.symlink_to("/dev/zero")),
    "a link to itself": ("pair_faults.json", lambda file: file.symlink_to(file)),
    "a link to a folder": ("pair_faults.json", lambda file: file.symlink_to("/")),
    "a terabyte that is not on the disk": ("pair_faults.json", sparse),
    "a terabyte as the manifest": (MANIFEST, sparse),
    "nesting of a million": ("pair_faults.json", lambda file: file.write_text("[" * 1_000_000)),
    "a number of a million digits": (MANIFEST, lambda file: file.write_text('{"format": 1' + "0" * 10**6 + "}")),
}


@pytest.mark.parametrize("attack", HOSTILE)
def test_a_release_from_elsewhere_is_refused_at_once(folder: Path, attack: str) -> None:
    """What an archive can unpack to: links, pipes, bombs."""
    name, make = HOSTILE[attack]
    (folder / name).unlink()
    make(folder / name)
    began = time.monotonic()
    with pytest.raises(VectorError, match=rf"{name}:1: expected"):
        read_release(folder, STABLE)
    assert time.monotonic() - began < 10


@pytest.mark.parametrize("rows", [7, [0], ["1"], [10**9], None, [None]])
def test_few_rows_that_are_none_are_refused(folder: Path, rows: object) -> None:
    changed(folder, "minimal.json", lambda told: told["rows"].update(join_small=rows))
    with pytest.raises(VectorError, match=r"minimal\.json:1: expected rows of join_small, numbers from 1 to"):
        read_release(folder, STABLE).minimal("join_small")


@pytest.mark.parametrize("document", [[], {}, {"rows": []}, 7, None])
def test_a_file_of_few_rows_that_is_none_is_refused(folder: Path, document: object) -> None:
    (folder / "minimal.json").write_text(json.dumps(document))
    changed(folder, "minimal.json", lambda _: None)
    with pytest.raises(VectorError, match=r"minimal\.json:1: expected rows of join_small"):
        read_release(folder, STABLE).minimal("join_small")


def test_an_interrupted_run_keeps_what_was_finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = vector_files._Files(tmp_path)  # noqa: SLF001 - an empty cache
    monkeypatch.setattr(vector_files._Files, "of", lambda _: store)  # noqa: SLF001
    makes: list[str] = []

    def interrupted(name: str) -> None:
        if makes:
            raise KeyboardInterrupt
        makes.append(name)

    with pytest.raises(KeyboardInterrupt):
        protocol_files(ROOT, MANIFEST_OF, CHOSEN, scenarios=False, told=interrupted)
    again: list[str] = []
    protocol_files(ROOT, MANIFEST_OF, CHOSEN, scenarios=False, told=again.append)
    wide = [f"join_small__{way} rows" for way in WAYS_OF_STABLE]
    rows = [f"{name} rows" for name in MODELS]
    assert sorted([*MODELS, *rows, *wide, "renamed", "minimal.json", "transitions.md"]) == sorted([*makes, *again])
    third: list[str] = []
    protocol_files(ROOT, MANIFEST_OF, CHOSEN, scenarios=False, told=third.append)
    assert third == []


def test_a_port_is_judged_by_a_release(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The table, each start, walks from given states and from start; what is absent is refused."""
    changed(folder, "pair_faults.json", lambda told: told["walks"].__delitem__(slice(2, None)))
    walks = json.loads((folder / "pair_faults.json").read_text())["walks"]
    counts = {"walks": 2, "steps": sum(len(walk["steps"]) for walk in walks)}
    changed(folder, MANIFEST, lambda told: told["models"][1]["counts"].update(counts))
    core = f"{sys.executable} {ROOT / 'conformance' / 'adapters' / 'core.py'}"
    vectors = ["vectors", "stable", "--out", str(folder)]
    assert main([*vectors, "--check", "--adapter", core]) == 0
    told = capsys.readouterr().out
    assert "stable join_small: ok: 600 pass" in told
    assert "stable join_small start: ok: 3 pass: members" in told
    assert "stable pair_faults walks: ok: 2 pass: walks, 2 of them from start" in told
    assert main([*vectors, "--check", "--minimal", "--adapter", core]) == 0
    rows = json.loads((folder / "minimal.json").read_text())["rows"]
    told = capsys.readouterr().out
    assert f"stable join_small: ok: {len(rows['join_small'])} pass" in told
    assert "walks" not in told
    assert main([*vectors, "--adapter", core]) == 2
    assert main([*vectors, "--check", "--strict"]) == 2
    assert main([*vectors, "--check", "--model", "join", "--adapter", core]) == 2
    assert main(["vectors", "stable", "--out", str(folder.parent / "none"), "--check", "--adapter", core]) == 2
    assert main(["vectors", "--out", str(folder)]) == 2
    assert main([*vectors, "--all"]) == 2
    assert main([*vectors, "--check", "--itf"]) == 2


def test_an_unpacked_release_is_enough(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without a checkout: rows and random events of a port; each bad folder is one error."""

    def nowhere() -> Path:
        raise FileNotFoundError("no folder from here up has specifications")

    monkeypatch.setattr("groupcomm_commands.vectors.find_root", nowhere)
    core = f"{sys.executable} {ROOT / 'conformance' / 'adapters' / 'core.py'}"
    vectors = ["vectors", "stable", "--out", str(folder)]
    models = ["--model", "join_small", "--model", "join_small__counter_far"]
    assert main([*vectors, "--check", *models]) == 0
    capsys.readouterr()
    assert main([*vectors, "--check", *models, "--adapter", core, "--random", "600"]) == 0
    told = capsys.readouterr()
    assert "stable join_small random: ok: 10 pass: walks" in told.out
    assert "join_small__counter_far: ok: 600 pass" in told.out
    assert told.out.count(" random: ") == 1, "a table with other values has no walks of its own"
    assert "stable join_small__counter_far: ok: 600 checks in " in told.err
    row = ["--model", "join_small", "--adapter", core, "--row"]
    assert main([*vectors, "--check", *row, "600"]) == 0
    assert "stable join_small: ok: 1 pass" in capsys.readouterr().out
    for many in (["--row", "601", *row[:-1]], ["--row", "1", "--adapter", core], ["--row", "1", *models[:2]]):
        assert main([*vectors, "--check", *many]) == 2
    assert main([*vectors, "--check", "--model", "join_smal", "--adapter", core]) == 2
    assert 'expected a model or scenario "join_smal" (did you mean join_small?)' in capsys.readouterr().err
    assert main(["vectors", "stable", "--out", str(folder.parent), "--check"]) == 2
    assert f"name {folder}" in capsys.readouterr().err
    (folder / MANIFEST).rename(folder / "kept")
    bad = {
        "manifest.json:1: expected ": "",
        "expected JSON: ": '{"protocol": "sta',
        "of stable, not groupcomm vectors 3 of nakack": '{"format": "groupcomm vectors 3", "protocol": "nakack"}',
        "of stable, not groupcomm vectors 4 of stable": '{"format": "groupcomm vectors 4", "protocol": "stable"}',
        "a manifest of a release": "[]",
    }
    for text, manifest in bad.items():
        if manifest:
            (folder / MANIFEST).write_text(manifest)
        assert main([*vectors, "--check"]) == 2
        told = capsys.readouterr()
        assert ("", 1) == (told.out, told.err.count("\n"))
        assert re.search(text, told.err)
    assert main(vectors) == 2
    assert "no folder from here up has specifications" in capsys.readouterr().err


def test_the_few_rows_have_each_way(made: Made) -> None:
    """Each type of event, each outcome of it and each kind of effect that the tables have; and far fewer rows."""
    told = json.loads(made["join_small.json"])
    rows = json.loads(made["minimal.json"])["rows"]["join_small"]
    width = len(told["events"][: len(told["rows"][0])])
    cells = [cell for row in told["rows"] for cell in row]

    def ways(places: Iterable[int]) -> set[tuple[str, int, str]]:
        found = set()
        for place in places:
            result = told["results"][cells[place] - 3] if cells[place] >= 3 else [{}, []]
            kinds = [told["effects"][at]["type"] for at in result[1]]
            of = told["events"][place % width]["type"]
            found.add((of, min(cells[place], 3), json.dumps([sorted(result[0]), kinds])))
        return found

    assert ways(row - 1 for row in rows) == ways(range(len(cells)))
    assert len(rows) < len(cells) / 2
