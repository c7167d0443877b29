"""The archive: enough by itself, the same bytes each time, with a version of behaviour, and refused where it is cut."""

import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard

from groupcomm_commands.exits import ExitCode
from groupcomm_commands.main import main
from groupcomm_conformance.files.errors import PathError
from groupcomm_conformance.models.manifest import cores, load
from groupcomm_conformance.models.modules import read_modules
from groupcomm_conformance.ports import packing
from groupcomm_conformance.ports.archive import Archive, read_archive
from groupcomm_conformance.ports.behaviour import changes, digest, other_fields, section, shapes
from groupcomm_conformance.ports.errors import VectorError
from groupcomm_conformance.ports.minimal import chosen
from groupcomm_conformance.ports.packing import pack, release
from groupcomm_conformance.ports.pages import SPEC, linked, specification
from groupcomm_conformance.ports.row import main as print_row
from groupcomm_conformance.ports.row import row
from groupcomm_conformance.ports.vector_files import MANIFEST, RELEASE, SCHEMA, Made, protocol_files
from groupcomm_conformance.ports.vector_reader import Released, read_release
from groupcomm_conformance.ports.words import arms, transitions
from groupcomm_conformance.steps.rows import Rows, replay
from tests.cores import MANIFESTS, PROTOCOLS, ROOT
from tests.test_adapter import table
from tests.test_port_domains import Narrow, double, names, numbers, signed, step_of

MODEL = "join_small"
LINK = re.compile(r"\[[^\]]*\]\((?!https?:)([^)#\s]*)")


@pytest.fixture(scope="session")
def files() -> Made:
    return protocol_files(ROOT, MANIFESTS["stable"], [MANIFESTS["stable"].model(MODEL)], scenarios=False)


@pytest.fixture
def root(files: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout whose only protocol is STABLE, with a single model."""
    monkeypatch.setattr(packing, "protocol_files", lambda *_, **__: files)
    (tmp_path / "docs").mkdir()
    (tmp_path / "conformance").mkdir()
    for page in ("porting.md", "vectors.md", "changes-for-ports.md"):
        (tmp_path / "docs" / page).write_bytes((ROOT / "docs" / page).read_bytes())
    monkeypatch.setattr(packing, "load", lambda *_: MANIFESTS["stable"])
    return tmp_path


def packed(root: Path, **more: Any) -> Path:  # noqa: ANN401 - of `release`
    return pack(*release(root, names=("stable",), **more), root / "dist")


def model_of(files: Made) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(files[f"{MODEL}.json"])
    return found


# What is in it


@pytest.mark.parametrize("name", cores(ROOT))
def test_the_modules_define_all_that_they_name(name: str) -> None:
    """Read alone, in a folder with nothing else, they are the specification of a member."""
    manifest = load(ROOT, name)
    whole = read_modules(manifest.folders, manifest.module)
    made = specification(manifest, whole)
    assert len({Path(path).parent for path in made}) == 1
    texts = {Path(path).stem: data.decode() for path, data in made.items()}
    extended = {
        each
        for text in texts.values()
        for line in re.findall(r"^EXTENDS (.*)", text, re.MULTILINE)
        for each in line.split(", ")
    }
    assert extended - {*texts} <= {"Integers", "Naturals", "Sequences", "FiniteSets", "TLC"}
    assert any("Step(s, e) ==" in text for text in texts.values())
    assert all(arm.text.rpartition("\n\n")[2].startswith(arm.operator) for arm in arms(manifest).values())


def test_each_link_leads_to_a_file_of_the_archive(root: Path) -> None:
    made = release(root, names=("stable",))[1]
    pages = {path: data.decode() for path, data in made.items() if path.endswith(".md")}
    assert {"PORTING.md", "VECTORS.md", "CHANGES.md", "stable/README.md", "stable/values.md", "stable/flaws.md"} <= {
        *pages
    }
    links = {(path, target) for path, text in pages.items() for target in LINK.findall(text) if target}
    assert ("PORTING.md", "VECTORS.md") in links
    assert {str(Path(path).parent / target) for path, target in links} <= {*made}


def test_an_archive_names_the_commit_that_it_is_of(root: Path) -> None:
    def git(*arguments: str) -> str:
        command = ["git", "-C", f"{root}", "-c", "user.name=a", "-c", "user.email=a@b", *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    def commit() -> object:
        return json.loads(release(root, names=("stable",))[1][RELEASE])["commit"]

    assert commit() == ""
    git("init", "-q")
    git("commit", "-q", "--allow-empty", "-m", "x")
    assert commit() == git("rev-parse", "HEAD")


TOLD: dict[str, Any] = {
    "states": [
        {"member": "A", "view": {"id": {"counter": 1, "creator": "A"}, "members": ["A", "B"]}, "heard": ["B"]},
        {"member": "A", "view": {"id": {"counter": 2, "creator": "B"}, "members": ["A", "B"]}, "heard": []},
    ],
    "events": [
        {"type": "Vote", "sender": "B", "view": {"counter": 1, "creator": "A"}},
        {"type": "Vote", "sender": "A", "view": {"counter": 1, "creator": "A"}},
        {"type": "Vote", "sender": "Z", "view": {"counter": 1, "creator": "A"}},
        {"type": "Decide"},
    ],
    "effects": [{"type": "Multicast", "message": {"type": "VOTE"}}],
    "results": [[{"voted": True, "heard": []}, [0, 0]], [{}, [0]]],
    "rows": [[0, 0, 0, 3], [0, 0, 0, 3]],
}
"""A file of a model: the senders B, A and Z, and an event that is handled, in two states."""


def test_few_rows_are_one_of_each_way() -> None:
    """In the first state B is in the view and was heard, A is the member, Z nobody, and the view is the member's own."""
    model = json.dumps(TOLD).encode()
    assert chosen({"one": model, "two": model}) == {"one": [1, 2, 3, 4, 5, 6, 7]}
    handled = [[0, 0, 0, 3], [0, 0, 0, 4]]
    assert chosen({"one": model, "two": json.dumps(TOLD | {"rows": handled}).encode()})["two"] == [8]


def test_the_table_of_an_event_has_its_ways_with_the_number_of_rows_and_the_first() -> None:
    toy = load(ROOT / "tests" / "data", "toy")
    schema = {"$defs": {"Vote": {"properties": {"type": 0, "sender": 0, "view": 0}}}}
    rows = [[0, 0, 1, 3], [0, 0, 2, 4]]
    page = transitions(toy, schema, {"pair": json.dumps(TOLD | {"rows": rows}).encode()})
    _, decide, vote = page.split("\n## ")
    table = "| ends | fields that change | effects, in this order | rows | first |\n| --- | --- | --- | --- | --- |\n"
    assert decide.startswith("Decide()\n\n`Decide`, Toy.tla:13.\n\n```tla\nDecide(s, e) ==\n")
    assert decide.endswith(
        f"```\n\n{table}| handled |  | Multicast/VOTE | 1 | pair 8 |\n"
        "| handled | heard, voted | Multicast/VOTE, Multicast/VOTE | 1 | pair 4 |\n"
    )
    assert vote == (
        f"Vote(sender, view)\n\n{table}| ignored |  |  | 4 | pair 1 |\n"
        "| local_error |  |  | 1 | pair 3 |\n| remote_error |  |  | 1 | pair 7 |\n"
    )


def test_a_link_out_of_the_archive_is_words() -> None:
    text = "[a](../x/a.md#b) [c](c.md) [web](https://example.org) [here](#there)"
    assert linked(text, {"a.md": "A.md"}) == "[a](A.md#b) c [web](https://example.org) [here](#there)"


def test_guards_stand_apart_from_bounds(files: Made) -> None:
    guards = json.loads(files[MANIFEST])["guards"]
    assert guards["MergeRule"] == "min"
    assert guards["SenderCheck"] is True
    assert {"MaxBytes", "Script", "Member"}.isdisjoint(guards)
    assert 'MergeRule == "min"' in files["values.md"].decode()


def test_an_event_has_its_types_its_condition_and_its_ways(files: Made) -> None:
    values, transitions = files["values.md"].decode(), files["transitions.md"].decode()
    assert "### StableReceived\n\nA vote arrived from member `sender`.\n" in values
    assert "| `message` | `Stable` |\n" in values
    assert "| `heard_from` | set of string |\n" in values
    assert "StabilityTimeout(s, e) ==\n    IF ~s.pending THEN Ignored(s)\n    ELSE Handled(" in transitions


def test_what_step_asks_before_an_operator_stands_with_it() -> None:
    arm = arms(load(ROOT, "heartbeat"))["HeartbeatReceived"]
    assert arm.operator == "HeartbeatReceived"
    assert arm.text.startswith(
        "IF IsMalformed(s, e) THEN RemoteError(s) ELSE HeartbeatReceived(s, e)\n\nIsMalformed(s, e) ==\n"
    )
    assert "\n\nHeartbeatReceived(s, e) ==\n" in arm.text


def test_a_row_is_printed_as_the_table_has_it(files: Made, tmp_path: Path) -> None:
    of, told = table("stable", MODEL), model_of(files)
    assert [row(told, number)["expected"]["outcome"] for number in (1, 206, len(of))] == [
        of.outcome(number) for number in (1, 206, len(of))
    ]
    (tmp_path / "model.json").write_bytes(files[f"{MODEL}.json"])
    program = Path(packing.__file__).with_name("row.py")
    ran = subprocess.run(
        [sys.executable, "-I", program, tmp_path / "model.json", "206"], capture_output=True, text=True, check=True
    )
    printed = {line.partition(": ")[0]: json.loads(line.partition(": ")[2]) for line in ran.stdout.splitlines()}
    assert printed == row(told, 206)


NO_ROW: dict[str, tuple[str, str, str]] = {
    "no row": ("", "x", "usage: python3 row.py"),
    "a row of more digits than Python reads": ("", "1" * 5000, "usage: python3 row.py"),
    "row 0": ("", "0", "a row from 1 to 600, not 0"),
    "a row behind the last": ("", "601", "a row from 1 to 600, not 601"),
    "walks alone": ('{"states": []}', "1", "this model has walks alone"),
    "another file": ('{"rows": {"join_small": [1]}}', "1", "expected the file of a model: usage"),
    "a list": ("[]", "1", "expected the file of a model: usage"),
    "half a file": ('{"states": [', "1", "cut off or altered (Expecting value"),
    "not ASCII": ('{"states": "\u00e9"}', "1", "cut off or altered ('ascii' codec"),
    "a state that is not there": ('{"states": [], "rows": [[0]]}', "1", "cut off or altered (list index"),
    "a result that is not there": (
        '{"config": {}, "states": [{}], "events": [{}], "results": [], "rows": [[3]]}',
        "1",
        "cut",
    ),
    "NaN": ('{"states": [], "rows": NaN}', "1", "cut off or altered ("),
    "a number as text": (
        '{"config": {}, "states": [{}], "events": [{}], "rows": [["0"]]}',
        "1",
        "cut off or altered (",
    ),
    "nesting of a million": ("[" * 1_000_000, "1", "cut off or altered ("),
}


@pytest.mark.parametrize("what", NO_ROW)
def test_no_row_is_one_line_that_names_file_and_remedy(
    what: str, files: Made, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text, number, said = NO_ROW[what]
    file = tmp_path / "model.json"
    file.write_text(text, encoding="utf-8") if text else file.write_bytes(files[f"{MODEL}.json"])
    assert print_row([str(file), number]) == 2
    told = capsys.readouterr()
    assert (told.out, told.err.count("\n")) == ("", 1)
    assert said in told.err
    assert said.startswith("usage") or told.err.startswith(f"{file}: ")
    assert "cut off" not in told.err or told.err.endswith("): unpack the archive again\n")


def test_a_row_is_printed_with_what_is_expected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "model.json"
    file.write_text(json.dumps(TOLD | {"config": {"MaxBytes": 1}}))
    assert print_row([str(file), "4"]) == 0
    told = {name: json.loads(value) for name, value in (x.split(": ", 1) for x in capsys.readouterr().out.splitlines())}
    before, multicast = TOLD["states"][0], {"type": "Multicast", "message": {"type": "VOTE"}}
    after = {"outcome": "handled", "state": {**before, "voted": True, "heard": []}, "effects": [multicast, multicast]}
    assert told == {"config": {"MaxBytes": 1}, "state": before, "event": {"type": "Decide"}, "expected": after}


def test_a_row_of_no_file_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, said in (
        ([], "usage: python3 row.py"),
        ([str(tmp_path / "none.json"), "1"], "none.json: No such file or directory: name the file of a model"),
        ([str(tmp_path), "1"], "Is a directory: name the file of a model"),
    ):
        assert print_row(arguments) == 2
        assert said in capsys.readouterr().err


@pytest.fixture(scope="session")
def released(files: Made, tmp_path_factory: pytest.TempPathFactory) -> Released:
    folder = tmp_path_factory.mktemp("released") / "stable"
    for path, data in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    return read_release(folder, PROTOCOLS["stable"])


def fails(released: Released, name: str, keep: Narrow) -> bool:
    of = released.of(name)
    assert of.table is not None
    return not replay(Rows(PROTOCOLS["stable"], of.table, of.constants), step_of("stable", keep), stop=True).passed


NARROW = {
    "seqnos in 32 bits": (numbers(signed, "delivered"), "seqnos_up"),
    "counters in 32 bits": (numbers(signed, "counter"), "counter_up"),
    "counters as doubles": (numbers(double, "counter"), "counter_far"),
    "one letter of a name": (names(lambda name: {"M1": "M", "M10": "M"}.get(name, name)), "names"),
}


@pytest.mark.parametrize("name", NARROW)
def test_a_narrow_port_fails_the_archive_without_the_driver(released: Released, name: str) -> None:
    """And passes the model's own table; a port that narrows nothing passes both."""
    keep, way = NARROW[name]
    assert fails(released, f"{MODEL}__{way}", keep)
    assert not fails(released, f"{MODEL}__{way}", lambda _, value: value)
    assert not fails(released, MODEL, keep)


def test_a_number_beyond_53_bits_is_a_string_of_digits(files: Made) -> None:
    counters = {state["view"]["id"]["counter"] for state in json.loads(files[f"{MODEL}__counter_far.json"])["states"]}
    assert {0, str(2**60 + 1)} <= counters


MAKE = """
import hashlib, sys
from pathlib import Path
from groupcomm_conformance.models.manifest import load
from groupcomm_conformance.ports import vector_files
from groupcomm_conformance.ports.packing import pack
vector_files._Files.read = lambda *_: None
vector_files._Files.write = lambda *_: None
root, out = map(Path, sys.argv[1:])
manifest = load(root, "stable")
print(pack("vectors", vector_files.protocol_files(root, manifest, [manifest.model("join_small")], scenarios=False), out).name)
"""


def test_two_processes_make_the_same_bytes(tmp_path: Path) -> None:
    """Whatever the order of sets, the time zone, the language, the mask of new files."""
    for seed, zone, mask in (("1", "UTC", 0o022), ("2", "Asia/Tokyo", 0o077)):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "TZ": zone, "LC_ALL": "C"}
        command = [sys.executable, "-c", MAKE, str(ROOT), str(tmp_path / seed)]
        subprocess.run(command, env=environment, umask=mask, check=True, capture_output=True)
    one, two = ((tmp_path / seed / "vectors.tar.zst").read_bytes() for seed in ("1", "2"))
    assert hashlib.sha256(one).hexdigest() == hashlib.sha256(two).hexdigest()


def test_a_stack_has_no_renamed_tables() -> None:
    """Its values are those of its layers."""
    of = MANIFESTS["stack"]
    made = protocol_files(ROOT, of, [of.model("toys")], scenarios=False)
    assert "toys.json" in made
    assert not [path for path in made if "__" in path]


# The version of behaviour


def turned(file: dict[str, Any]) -> None:
    """The same rows in another order."""
    count = len(file["rows"])
    file["states"][:count] = reversed(file["states"][:count])
    file["rows"].reverse()


def answered(file: dict[str, Any]) -> None:
    """Another answer to a row that was ignored."""
    file["rows"][0][file["rows"][0].index(0)] = 2


def shortened(file: dict[str, Any]) -> None:
    del file["rows"][0]
    del file["states"][0]


def lengthened(file: dict[str, Any]) -> None:
    """A state more, in each of whose rows the event is ignored."""
    count = len(file["rows"])
    file["states"].insert(count, {**file["states"][0], "member": "New"})
    file["rows"].append([0] * len(file["rows"][0]))


def behaviour_after(root: Path, files: Made, change: Callable[[Any], object]) -> tuple[object, str]:
    """The version of behaviour where a file of the last release was `changed`; and the page of changes."""
    last = read_archive(packed(root))
    told = model_of(files)
    change(told)
    data = json.dumps(told).encode()
    manifest = json.loads(files[MANIFEST])
    manifest["models"][0]["rows"] = digest(told)
    manifest["files"][f"{MODEL}.json"] = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    files = {**files, f"{MODEL}.json": data, MANIFEST: json.dumps(manifest).encode()}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packing, "protocol_files", lambda *_, **__: files)
        made = release(root, names=("stable",), since=last)[1]
    return json.loads(made[RELEASE])["behaviour"], made["CHANGES.md"].decode()


def test_the_first_release_has_behaviour_1(root: Path) -> None:
    assert read_archive(packed(root)).release["behaviour"] == 1


@pytest.mark.parametrize("change", [turned, lengthened, lambda _: None])
def test_other_orders_and_more_rows_are_the_same_behaviour(
    root: Path, files: Made, change: Callable[[Any], object]
) -> None:
    number, page = behaviour_after(root, files, change)
    assert number == 1
    assert "## Behaviour 2" not in page


def test_another_answer_is_another_behaviour(root: Path, files: Made) -> None:
    number, page = behaviour_after(root, files, answered)
    event = model_of(files)["events"][model_of(files)["rows"][0].index(0)]["type"]
    assert number == 2
    assert f"- `{event}`: 1 rows have another answer, the first is {MODEL} " in page
    assert "  - before: `ignored`\n  - now: `remote_error`" in page


def test_a_row_that_goes_is_another_behaviour(root: Path, files: Made) -> None:
    number, page = behaviour_after(root, files, shortened)
    assert number == 2
    assert " rows are gone, the first join_small " in page


def test_digests_decide_where_they_are_the_same_and_else_the_archive(root: Path) -> None:
    """Without the last archive, what is not decided is not guessed."""
    last = read_archive(packed(root))
    (root / packing.RELEASED).write_bytes(last.files[RELEASE])
    assert json.loads(release(root, names=("stable",))[1][RELEASE])["behaviour"] == 1
    told = {**last.release, "behaviour": 7}
    told["protocols"]["stable"]["rows"][MODEL] = "another"
    (root / packing.RELEASED).write_text(json.dumps(told))
    assert json.loads(release(root, names=("stable",))[1][RELEASE])["behaviour"] is None


def test_an_archive_that_is_not_of_the_last_release_is_refused(root: Path) -> None:
    last = packed(root)
    (root / packing.RELEASED).write_text(json.dumps({**read_archive(last).release, "behaviour": 7}))
    with pytest.raises(
        VectorError, match=r"expected the archive of the release .*, as conformance/released.json has it"
    ):
        release(root, names=("stable",), since=read_archive(last))


def test_a_section_is_written_once_and_the_newest_stands_first() -> None:
    page = "# Changes\n\nWords.\n\n## Behaviour 2 (release 0.1)\n\nold\n"
    once = packing._with_section(page, "## Behaviour 3 (release 0.2)\n\nnew\n")  # noqa: SLF001
    assert once.index("Behaviour 3") < once.index("Behaviour 2")
    assert packing._with_section(once, "## Behaviour 3 (release 0.2)\n\nnew\n") == once  # noqa: SLF001


def test_rows_of_another_model_are_the_same_rows(files: Made) -> None:
    """A model that is called otherwise now asks for the same."""
    told = model_of(files)
    assert changes({"old": told}, {"new": told, "more": told}) == []
    (change, *_) = changes({"old": told}, {})
    assert change.now is None
    assert sum(each.count for each in changes({"old": told}, {})) == told["counts"]["rows"]


def test_handled_answers_are_told_by_what_differs(files: Made) -> None:
    told, other = model_of(files), model_of(files)
    at = next(place for place, (changed, _) in enumerate(told["results"]) if "pending" in changed)
    other["results"][at][0]["pending"] = not told["results"][at][0]["pending"]
    found = changes({MODEL: told}, {MODEL: other})
    page = section(2, "0.2.0", {"stable": found}, {})
    before, now = told["results"][at][0]["pending"], other["results"][at][0]["pending"]
    assert f'  - before: `handled {{"pending":{json.dumps(before)}}}`' in page
    assert f'  - now: `handled {{"pending":{json.dumps(now)}}}`' in page


def test_where_a_record_has_another_field_rows_are_compared_without_it(files: Made) -> None:
    """All rows are gone then, and what a port must do otherwise would not be seen among them."""
    told, other = model_of(files), model_of(files)
    for state in other["states"]:
        state["more"] = 3
    answered(other)
    before, now = (json.loads(files[SCHEMA]) for _ in range(2))
    now["$defs"]["State"]["properties"]["more"] = {"type": "integer"}
    assert other_fields(before, before) == frozenset()
    assert other_fields(before, now) == {"more"}
    assert sum(each.count for each in changes({MODEL: told}, {MODEL: other})) == told["counts"]["rows"]
    (change,) = changes({MODEL: told}, {MODEL: other}, other_fields(before, now))
    assert (change.count, change.before.answer, change.now and change.now.answer) == (1, "ignored", "remote_error")


def test_other_types_are_named(files: Made) -> None:
    before, now = (json.loads(files[SCHEMA]) for _ in range(2))
    assert [*shapes(before, now)] == []
    state = now["$defs"]["State"]["properties"]
    del state["pending"]
    state["more"] = {"type": "boolean"}
    state["vote"] = {"type": "string"}
    now["$defs"]["New"] = now["$defs"].pop("Purge")
    assert [*shapes(before, now)] == [
        "There is a new `New`.",
        "There is no `Purge` any more.",
        "`State` has a new field `more`.",
        "`State` has no field `pending` any more.",
        "`vote` of `State` has another type.",
    ]


# Refused


def test_an_archive_that_is_cut_off_is_refused_wherever_it_is_cut(root: Path) -> None:
    file = packed(root)
    data = file.read_bytes()
    for length in (0, 1, 10, len(data) // 2, len(data) - 1):
        file.write_bytes(data[:length])
        with pytest.raises(VectorError, match=r"cut off or altered|expected an archive of vectors"):
            read_archive(file)


def test_an_archive_that_is_altered_is_refused(root: Path) -> None:
    file = packed(root)
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    with pytest.raises(VectorError, match="cut off or altered"):
        read_archive(file)


def rewritten(root: Path, change: Callable[[Made], object]) -> Path:
    name, made = release(root, names=("stable",))
    change(made)
    return pack(name, made, root / "dist")


def other_format(made: Made) -> None:
    made[RELEASE] = made[RELEASE].replace(b"groupcomm vectors 3", b"groupcomm vectors 4")


def without_a_file(made: Made) -> None:
    del made[f"stable/{SPEC}/Steps.tla"]


def with_another_byte(made: Made) -> None:
    made["stable/values.md"] += b"\n"


def without_its_list(made: Made) -> None:
    del made[RELEASE]


def with_a_list_of_nothing(made: Made) -> None:
    made[RELEASE] = b'{"format": "groupcomm vectors 3", "protocols": []}'


def with_no_json(made: Made) -> None:
    made[RELEASE] = made[RELEASE][:-9]


WRONG: dict[Callable[[Made], object], str] = {
    other_format: 'expected the format "groupcomm vectors 3", not groupcomm vectors 4',
    without_a_file: "expected stable/spec/Steps.tla, which its list has: download the archive again",
    with_another_byte: "expected stable/values.md with the SHA-256 .*: download the archive again",
    without_its_list: "expected an archive with release.json",
    with_a_list_of_nothing: "expected the lists of a release",
    with_no_json: "expected JSON in release.json",
}


@pytest.mark.parametrize("change", WRONG)
def test_an_archive_that_is_not_as_its_lists_have_it_is_refused(root: Path, change: Callable[[Made], object]) -> None:
    with pytest.raises(VectorError, match=WRONG[change]):
        read_archive(rewritten(root, change))


def test_since_a_cut_archive_is_one_line_that_names_file_and_remedy(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cut = tmp_path / "last.tar.zst"
    cut.write_bytes(packed(root).read_bytes()[:1000])
    assert main(["vectors", "--all", "--out", str(tmp_path / "out"), "--since", str(cut)]) == ExitCode.BAD_INPUT
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert f"{cut}:1: expected" in told
    assert "cut off or altered" in told
    assert "download the archive again" in told
    assert not (tmp_path / "out").exists()


def test_a_file_that_is_no_archive_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "x.tar.zst"
    with pytest.raises(PathError, match="there is no such file; name an archive of vectors"):
        read_archive(file)
    file.write_bytes(zstandard.compress(b"words"))
    with pytest.raises(VectorError, match="expected a tar archive in it"):
        read_archive(file)


def test_since_is_for_a_whole_release(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["vectors", "stable", "--out", str(tmp_path), "--since", str(tmp_path / "x")]) == 2
    assert "this is for a whole release: --all" in capsys.readouterr().err


def test_what_an_archive_has_is_read(root: Path) -> None:
    found = read_archive(packed(root))
    assert isinstance(found, Archive)
    assert next(iter(found.models("stable"))) == MODEL
