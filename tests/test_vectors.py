"""vectors: what is written is the same each time, is read back, passes, and is refused when it is damaged."""

import hashlib
import json
import re
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from attrs import evolve

from groupcomm import stable
from groupcomm_conformance.commands.main import main
from groupcomm_conformance.models.manifest import Manifest, find_root, load
from groupcomm_conformance.ports.doing import Done, do
from groupcomm_conformance.ports.format import VectorError
from groupcomm_conformance.ports.reading import Vectors, read
from groupcomm_conformance.ports.writing import write
from groupcomm_conformance.protocols import derive
from groupcomm_conformance.tla.values import Fn, show

ROOT = find_root(Path(__file__).parent)
MANIFEST = load(ROOT, "stable")
MODEL = evolve(MANIFEST.model("leave_late"), conform=True, walk=True)
STABLE = derive.load(MANIFEST)


def project(folder: Path) -> Manifest:
    """A project of its own, with an empty cache."""
    for name in ("spec/common", "spec/stable", "docs"):
        shutil.copytree(ROOT / name, folder / name)
    (folder / "conformance").mkdir()
    return load(folder, "stable")


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("vectors") / "stable"
    write(ROOT, MANIFEST, [MODEL], out)
    return out


@pytest.fixture
def vectors(written: Path, tmp_path: Path) -> Path:
    """Vectors to be damaged."""
    return Path(shutil.copytree(written, tmp_path / "stable"))


def content(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def sole(of: Vectors, core: ModuleType | None = None) -> Done:
    (done,) = do(of, STABLE, core)
    return done


# Whole


def test_two_runs_of_tlc_give_the_same_bytes(written: Path, tmp_path: Path) -> None:
    root = tmp_path / "project"
    write(root, project(root), [MODEL], tmp_path / "again")
    assert content(written) == content(tmp_path / "again")


def test_what_is_written_over_earlier_vectors_is_all_there_is(written: Path, tmp_path: Path) -> None:
    out = tmp_path / "stable"
    shutil.copytree(written, out)
    (out / "gone").mkdir()
    (out / "gone" / "steps.jsonl").write_text("of a model that there is no more\n")
    write(ROOT, MANIFEST, [MODEL], out)
    assert content(written) == content(out)
    assert ["stable"] == [path.name for path in tmp_path.iterdir()]


def test_all_passes_on_the_implementation(written: Path) -> None:
    done = sole(read(written))
    assert done.passed
    assert done.replayed is not None
    lines = (written / MODEL.name / "steps.jsonl").read_text().splitlines()
    assert len(lines) == done.replayed.counts["pass"] == sum(done.replayed.counts.values())
    assert (done.walks, done.steps) == (
        len([*(written / MODEL.name / "walks").iterdir()]),
        sum(
            json.loads(file.read_text())["states"][-1]["#meta"]["index"]
            for file in written.rglob("*.itf.json")
        ),
    )


def test_walks_take_every_transition_that_tlc_counted(written: Path) -> None:
    """TLC counts them in a graph without `act`, another one than that which walks are made of."""
    taken: set[tuple[str, str, str]] = set()
    for _, states in read(written).walks(MODEL.name):
        bare = [show(Fn({name: state[name] for name in state if name != "act"})) for state in states]
        acts = [show(state["act"]) for state in states]
        taken.update(zip(bare, acts[1:], bare[1:], strict=False))
    assert MODEL.counts is not None
    assert MODEL.counts.transitions == len(taken)


def test_integers_are_big_and_sets_are_sets(written: Path) -> None:
    line = json.loads((written / MODEL.name / "steps.jsonl").read_text().splitlines()[0])
    assert {"#bigint": "0"} == line["state"]["received_bytes"]
    assert ["#set"] == [*line["state"]["heard_from"]]


def test_manifest_steps_and_walks_are_as_the_schema_describes_them(written: Path) -> None:
    """A small validator of what schema.json uses."""
    schema = json.loads((written / "schema.json").read_text())
    walk = min((written / MODEL.name / "walks").iterdir(), key=lambda file: file.stat().st_size)
    lines = (written / MODEL.name / "steps.jsonl").read_text().splitlines()
    handled = next(line for line in lines if '"handled"' in line)
    ignored = next(line for line in lines if '"ignored"' in line)
    valid(schema, schema, json.loads((written / "manifest.json").read_text()))
    for line in (handled, ignored):
        valid(schema, schema["$defs"]["step"], json.loads(line))
    valid(schema, schema["$defs"]["trace"], json.loads(walk.read_text()))
    for spoilt in ({**json.loads(ignored), "next": True}, {**json.loads(handled), "outcome": "ignored"}):
        with pytest.raises(AssertionError):
            valid(schema, schema["$defs"]["step"], spoilt)


TYPES: dict[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "integer": int,
}


def valid(root: Any, schema: Any, value: Any) -> None:  # noqa: ANN401 - JSON
    """The keywords of JSON Schema that schema.json has; any other is a KeyError."""
    for keyword, told in schema.items():
        RULES[keyword](root, schema, told, value)


def holds(root: Any, schema: Any, value: Any) -> bool:  # noqa: ANN401 - JSON
    try:
        valid(root, schema, value)
    except AssertionError:
        return False
    return True


def claim(met: bool) -> None:  # noqa: FBT001 - an assertion
    assert met


def properties(root: Any, schema: Any, told: Any, value: Any) -> None:  # noqa: ANN401
    if isinstance(value, dict):
        for name, item in value.items():
            if name in told:
                valid(root, told[name], item)
            elif name not in schema.get("properties", {}):
                assert schema.get("additionalProperties") is not False, name


def additional(root: Any, schema: Any, told: Any, value: Any) -> None:  # noqa: ANN401
    if isinstance(value, dict):
        for name, item in value.items():
            if name not in schema.get("properties", {}):
                assert told is not False, name
                valid(root, told, item)


def reference(root: Any, _schema: Any, told: str, value: Any) -> None:  # noqa: ANN401
    valid(root, root["$defs"][told.removeprefix("#/$defs/")], value)


def matches(pattern: str, text: Any) -> bool:  # noqa: ANN401
    return not isinstance(text, str) or re.search(pattern, text) is not None


def each_valid(pairs: Iterable[tuple[Any, Any, Any]]) -> None:
    for root, schema, value in pairs:
        valid(root, schema, value)


RULES: dict[str, Callable[[Any, Any, Any, Any], None]] = {
    "$schema": lambda *_: None,
    "$defs": lambda *_: None,
    "title": lambda *_: None,
    "description": lambda *_: None,
    "$ref": reference,
    "type": lambda _r, _s, told, value: claim(
        isinstance(value, TYPES[told]) and (told == "boolean") == (value is True or value is False)
    ),
    "required": lambda _r, _s, told, value: claim(not isinstance(value, dict) or set(told) <= set(value)),
    "properties": properties,
    "additionalProperties": additional,
    "items": lambda root, _s, told, value: each_valid((root, told, item) for item in value),
    "prefixItems": lambda root, _s, told, value: each_valid(
        (root, *pair) for pair in zip(told, value, strict=False)
    ),
    "const": lambda _r, _s, told, value: claim(told == value),
    "enum": lambda _r, _s, told, value: claim(value in told),
    "minimum": lambda _r, _s, told, value: claim(value >= told),
    "minItems": lambda _r, _s, told, value: claim(len(value) >= told),
    "maxItems": lambda _r, _s, told, value: claim(len(value) <= told),
    "minProperties": lambda _r, _s, told, value: claim(len(value) >= told),
    "pattern": lambda _r, _s, told, value: claim(matches(told, value)),
    "propertyNames": lambda root, _s, told, value: each_valid((root, told, name) for name in value),
    "oneOf": lambda root, _s, told, value: claim(sum(holds(root, each, value) for each in told) == 1),
    "anyOf": lambda root, _s, told, value: claim(any(holds(root, each, value) for each in told)),
    "not": lambda root, _s, told, value: claim(not holds(root, told, value)),
    "if": lambda root, schema, told, value: valid(
        root, schema["then" if holds(root, told, value) else "else"], value
    ),
    "then": lambda *_: None,
    "else": lambda *_: None,
}


# Damaged


def altered(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))


def admitted(folder: Path, path: str) -> None:
    """Have the manifest say what a file is like now."""
    told = json.loads((folder / "manifest.json").read_text())
    for entry in (entry for model in told["models"] for entry in model["files"] if entry["path"] == path):
        data = (folder / path).read_bytes()
        entry.update(bytes=len(data), sha256=hashlib.sha256(data).hexdigest())
    (folder / "manifest.json").write_text(json.dumps(told))


def test_a_file_with_any_byte_altered_is_named(vectors: Path) -> None:
    walk = min(path for path in content(vectors) if path.endswith(".itf.json"))
    for path in ("README.md", "schema.json", f"{MODEL.name}/steps.jsonl", walk):
        data = bytearray((vectors / path).read_bytes())
        data[len(data) // 2] ^= 1
        (vectors / path).write_bytes(data)
        with pytest.raises(VectorError, match=f"{path}:1: expected .* bytes with SHA-256 "):
            read(vectors)
        data[len(data) // 2] ^= 1
        (vectors / path).write_bytes(data)
    read(vectors)


def test_files_that_are_missing_or_too_many_are_named(vectors: Path) -> None:
    (vectors / "more.txt").write_text("what is this?")
    with pytest.raises(VectorError, match=r"more\.txt:1: expected no file that the manifest has not"):
        read(vectors)
    (vectors / "more.txt").rename(vectors / "README.md")
    with pytest.raises(VectorError, match=r"README\.md:1: expected [\d,]+ bytes"):
        read(vectors)
    (vectors / "README.md").unlink()
    with pytest.raises(VectorError, match=r"README\.md:1: expected to be there"):
        read(vectors)


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ('"groupcomm vectors 2"', '"groupcomm vectors 1"', 'expected the format "groupcomm vectors 2", not'),
        ('"sha256"', '"sha1"', "expected a manifest as schema.json describes it"),
        ('"protocol": "stable",', '"protocol": "stable"', "expected JSON: "),
    ],
)
def test_a_manifest_that_is_none_is_refused(vectors: Path, old: str, new: str, error: str) -> None:
    altered(vectors / "manifest.json", old, new)
    with pytest.raises(VectorError, match=f"manifest.json:1: {error}"):
        read(vectors)


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ('"row":1,', '"row":2,', "1: expected row 1, "),
        ('"outcome":', '"result":', "1: expected a local step, with the fields row, state, event, outcome"),
        ('{"#bigint":"0"}', '{"#bigint":"x"}', "1: expected a value: "),
    ],
)
def test_a_line_that_is_no_local_step_is_told(vectors: Path, old: str, new: str, error: str) -> None:
    path = f"{MODEL.name}/steps.jsonl"
    altered(vectors / path, old, new)
    admitted(vectors, path)
    with pytest.raises(VectorError, match=f"steps.jsonl:{error}"):
        read(vectors).steps(MODEL.name)


def test_a_table_without_its_last_line_is_refused(vectors: Path) -> None:
    path = f"{MODEL.name}/steps.jsonl"
    (vectors / path).write_text("".join((vectors / path).read_text().splitlines(keepends=True)[:-1]))
    admitted(vectors, path)
    with pytest.raises(VectorError, match=r"expected [\d,]+ local steps, each state with each event"):
        read(vectors).steps(MODEL.name)


def test_what_is_altered_and_admitted_does_not_pass(vectors: Path) -> None:
    """A digest only shows that files are those of the manifest; that they are right, the implementation does."""
    path = f"{MODEL.name}/steps.jsonl"
    altered(vectors / path, '"outcome":"ignored"', '"outcome":"local_error"')
    admitted(vectors, path)
    walk = f"{MODEL.name}/walks/{min(file.name for file in (vectors / MODEL.name / 'walks').iterdir())}"
    altered(vectors / walk, '"outcome":"handled"', '"outcome":"ignored"')
    admitted(vectors, walk)
    done = sole(read(vectors))
    assert done.replayed is not None
    assert 1 == done.replayed.counts["wrong_outcome"]
    assert [walk] == [file for file, _ in done.divergences]


def test_a_port_that_is_wrong_fails_in_steps_and_in_walks(vectors: Path) -> None:
    def step(config: stable.Config, state: stable.State, event: stable.Event) -> stable.Transition:
        after, effects = stable.step(config, state, event)
        if isinstance(event, stable.StableTimeout):
            after = evolve(after, minimum=after.vote)
        return after, effects

    core = ModuleType("port")
    core.__dict__.update(start=stable.start, step=step)
    done = sole(read(vectors), core)
    assert done.replayed is not None
    assert done.replayed.counts["wrong_state"]
    assert {"wrong_state"} == {divergence.verdict for _, divergence in done.divergences}


# Nothing passes on nothing


def manifest_of(folder: Path, change: Callable[[Any], None]) -> None:
    """Change a manifest."""
    told = json.loads((folder / "manifest.json").read_text())
    change(told)
    (folder / "manifest.json").write_text(json.dumps(told))


def files_of(told: Any) -> Any:  # noqa: ANN401 - JSON
    return told["models"][0]["files"]


FOOLED: dict[str, tuple[Callable[[Any], object], str]] = {
    "no models": (lambda told: told["models"].clear(), "vectors of a model or a scenario, but it lists none"),
    "a model without files": (lambda told: files_of(told).clear(), "files of leave_late, but it lists none"),
    "an unknown kind": (
        lambda told: files_of(told)[0].update(kind="steps"),
        "leave_late/steps.jsonl to be one of local steps, walk, not steps",
    ),
    "the kind of another place": (
        lambda told: files_of(told)[0].update(kind="schema"),
        "leave_late/steps.jsonl to be one of",
    ),
    "a model twice": (
        lambda told: told["models"].append(told["models"][0]),
        "each model and scenario once, not leave_late again",
    ),
    "a file twice": (lambda told: files_of(told).append(files_of(told)[-1]), "each file once"),
    "two tables": (lambda told: files_of(told).append(files_of(told)[0]), "one table of leave_late"),
    "no records": (
        lambda told: files_of(told)[0].update(records=0),
        "something in leave_late/steps.jsonl, not 0",
    ),
    "records that are no number": (
        lambda told: files_of(told)[0].update(records="9"),
        "a number of records of",
    ),
    "records that are true": (lambda told: files_of(told)[0].update(records=True), "a number of records of"),
    "less than nothing": (lambda told: files_of(told)[0].update(bytes=-1), "a number of bytes of"),
    "a path out of the folder": (
        lambda told: files_of(told)[0].update(path="../steps.jsonl"),
        "a path within the folder, not ../steps.jsonl",
    ),
    "an absolute path": (
        lambda told: files_of(told)[0].update(path="/etc/passwd"),
        "a path within the folder",
    ),
    "no list of models": (lambda told: told.update(models={}), "a manifest as schema.json describes it"),
    "no scenarios": (lambda told: told.pop("scenarios"), "a manifest as schema.json describes it"),
    "a model that is none": (lambda told: told["models"].append(7), "a manifest as schema.json describes it"),
    "an integer of 5,000 digits": (
        lambda told: told["models"][0]["constants"].update(MaxBytes={"#bigint": "9" * 5000}),
        "a manifest as schema.json describes it",
    ),
    "constants of another algorithm": (
        lambda told: told["models"][0]["constants"].update(MergeRule="max"),
        "leave_late to be of what is implemented: ",
    ),
    "constants that are not all there": (
        lambda told: told["models"][0]["constants"].pop("MergeRule"),
        "leave_late to be of what is implemented: ",
    ),
}


@pytest.mark.parametrize(("change", "error"), FOOLED.values(), ids=FOOLED)
def test_a_manifest_that_would_have_nothing_judged_is_refused(
    vectors: Path, change: Callable[[Any], None], error: str, capsys: pytest.CaptureFixture[str]
) -> None:
    manifest_of(vectors, change)
    assert 2 == main(["vectors", "stable", "--out", str(vectors), "--check"])
    told = capsys.readouterr()
    assert "" == told.out
    assert f"manifest.json:1: expected {error}" in told.err


def deep(open_: str, close: str) -> str:
    return open_ * 100_000 + close * 100_000


DAMAGED: dict[str, tuple[bytes, str]] = {
    "not UTF-8": (b'{"row":1,"state":\xff}', "text in UTF-8"),
    "nested without end": (f'{{"row":1,"state":{deep("[", "]")}}}'.encode(), "nested so deeply"),
    "an integer of 5,000 digits": (f'{{"row":{"9" * 5000}}}'.encode(), "JSON: "),
    "no number": (b'{"row":NaN}', "JSON: NaN is no number in JSON"),
    "a key twice": (b'{"row":1,"row":1}', "JSON: a key is there twice"),
    "no object": (b"[1]", "a local step, with the fields"),
    "cut off": (b'{"row":1,', "JSON: "),
    "nothing": (b"", "JSON: "),
}


@pytest.mark.parametrize(("line", "error"), DAMAGED.values(), ids=DAMAGED)
def test_a_table_that_cannot_be_read_is_one_line(
    vectors: Path, line: bytes, error: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = f"{MODEL.name}/steps.jsonl"
    rest = (vectors / path).read_bytes().partition(b"\n")[2]
    (vectors / path).write_bytes(line + b"\n" + rest)
    admitted(vectors, path)
    assert 2 == main(["vectors", "stable", "--out", str(vectors), "--check"])
    told = capsys.readouterr().err
    assert "steps.jsonl:1: expected " in told
    assert error in told


WALKS: dict[str, tuple[bytes, str]] = {
    "not UTF-8": (b"\xff", "1: expected text in UTF-8"),
    "no trace": (b"{}", "1: expected an ITF trace"),
    "states that are no list": (
        b'{"#meta":{},"vars":["act","local"],"states":7}',
        "1: expected a list of states",
    ),
    "no states of members": (b'{"#meta":{},"vars":["act"],"states":[]}', "1: expected a list of states"),
    "variables that are no names": (b'{"#meta":{},"vars":[7],"states":[]}', "1: expected a list of states"),
    "no states": (b'{"#meta":{},"vars":["act","local"],"states":[]}', "1: expected a walk of "),
}


@pytest.mark.parametrize(("data", "error"), WALKS.values(), ids=WALKS)
def test_a_walk_that_cannot_be_read_is_one_line(
    vectors: Path, data: bytes, error: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = min((vectors / MODEL.name / "walks").iterdir())
    file.write_bytes(data)
    admitted(vectors, file.relative_to(vectors).as_posix())
    assert 2 == main(["vectors", "stable", "--out", str(vectors), "--check"])
    assert f"{file.name}:{error}" in capsys.readouterr().err


def test_a_folder_in_the_place_of_a_file_is_refused(
    vectors: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = vectors / MODEL.name / "steps.jsonl"
    file.unlink()
    file.mkdir()
    assert 2 == main(["vectors", "stable", "--out", str(vectors), "--check"])
    assert "steps.jsonl:1: expected to be there, as the manifest has it" in capsys.readouterr().err


@pytest.mark.parametrize("data", [b"\xff", b"[]", b"7", b"", deep("[", "]").encode()])
def test_a_manifest_that_cannot_be_read_is_one_line(
    vectors: Path, data: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    (vectors / "manifest.json").write_bytes(data)
    assert 2 == main(["vectors", "stable", "--out", str(vectors), "--check"])
    assert "manifest.json:1: expected " in capsys.readouterr().err


def test_a_check_of_one_model_is_of_that_model(vectors: Path, capsys: pytest.CaptureFixture[str]) -> None:
    check = ["vectors", "stable", "--out", str(vectors), "--check", "--model"]
    assert 0 == main([*check, MODEL.name])
    assert 2 == main([*check, "nosuch"])
    assert 'called "nosuch"' in capsys.readouterr().err


# The command


def test_the_command_checks_a_folder_and_refuses_another(
    vectors: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 0 == main(["vectors", "stable", "--out", str(vectors), "--check"])
    assert f"stable {MODEL.name}: ok: " in capsys.readouterr().out
    assert 2 == main(["vectors", "stable", "--out", str(tmp_path), "--model", "pair"])
    assert "expected vectors of an earlier run or nothing at all" in capsys.readouterr().err
    assert [vectors] == [*tmp_path.iterdir()]
    assert 2 == main(["vectors", "stable", "--out", str(tmp_path / "none"), "--check"])
    assert "manifest.json:1: expected a manifest of vectors" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["--tier", "quick"], "quick is none of smoke, full, deep"),
        (["--model", "absent"], 'called "absent"'),
    ],
)
def test_wrong_usage_is_one_line(
    arguments: list[str], error: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 2 == main(["vectors", "stable", "--out", str(tmp_path / "out"), *arguments])
    assert error in " ".join(capsys.readouterr().err.replace("|", " ").split())
