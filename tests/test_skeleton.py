"""Skeletons of ports: what `groupcomm port new` writes compiles, fails readably at first, and holds a right port to all."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

from groupcomm_commands.exits import ExitCode
from groupcomm_commands.main import main
from groupcomm_conformance.ports.packing import write
from groupcomm_conformance.ports.plain import schema
from groupcomm_conformance.ports.skeleton import LANGUAGES, Shapes, Type
from tests.cores import LAYERS, MANIFESTS, PROTOCOLS, ROOT
from tests.test_adapter import SMALL

PORTS = Path(__file__).parent / "data" / "ports"
WRITTEN = "heartbeat"
"""The protocol of which there is a right port in each language."""


@frozen
class Language:
    """How a language compiles and tests a skeleton. `needs`: commands, and the Debian package with the first of them."""

    needs: tuple[str, str]
    own: str
    build: tuple[str, ...]
    test: tuple[str, ...]
    adapter: tuple[str, ...]
    unwritten: str
    in_ci: bool = False


TYPESCRIPT = (
    "npm install --no-audit --no-fund --ignore-scripts --silent typescript@5.9.3 @types/node@20.19.0 && npm run build"
)
OF = {
    "go": Language(
        ("go", "golang-go"),
        "port.go",
        ("go", "build", "-o", "adapter", "."),
        ("go", "test", "./..."),
        ("./adapter",),
        "not written yet: ",
        in_ci=True,
    ),
    "java": Language(
        ("javac", "openjdk-17-jdk-headless"),
        "src/port/Port.java",
        ("sh", "-c", "javac -Xlint:all -Werror -d build src/port/*.java"),
        ("java", "-cp", "build", "port.Harness"),
        ("java", "-cp", "build", "port.Adapter"),
        "not written yet: ",
        in_ci=True,
    ),
    "rust": Language(
        ("cargo", "cargo"),
        "src/port.rs",
        ("cargo", "build", "--offline"),
        ("cargo", "test", "--offline", "--test", "rows"),
        ("target/debug/{protocol}",),
        "not yet implemented: ",
    ),
    "typescript": Language(
        ("npm", "npm"),
        "src/port.ts",
        ("sh", "-c", TYPESCRIPT),
        ("npm", "test"),
        ("node", "dist/adapter.js"),
        "not written yet: ",
    ),
}
EACH = [pytest.param(name, marks=pytest.mark.itf if name == "typescript" else ()) for name in OF]
"""TypeScript's compiler is fetched: `make test-itf`."""
FEW = [
    pytest.param(*each.values, marks=each.marks or (pytest.mark.nightly if each.values != ("go",) else ()))
    for each in EACH
]
"""The same, but Java and Rust once a night: what they compile, read and write is tested of each change besides."""


def test_each_language_is_tested() -> None:
    assert {*OF} == {*LANGUAGES}


@pytest.fixture
def language(request: pytest.FixtureRequest) -> str:
    """Refuse, by its name, a language that this machine does not have."""
    name = str(request.param)
    command, package = OF[name].needs
    if shutil.which(command) is None:
        lacking = f"{name}: no {command} on PATH (Debian: apt-get install {package})"
        if os.environ.get("CI") and OF[name].in_ci:
            pytest.fail(lacking)
        pytest.skip(lacking)
    return name


@pytest.fixture(scope="session")
def vectors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a protocol in a release, of one small model."""
    folder = tmp_path_factory.mktemp("released") / WRITTEN
    manifest = MANIFESTS[WRITTEN]
    write(ROOT, manifest, [manifest.model(SMALL[WRITTEN])], folder, scenarios=False)
    return folder


def ran(command: tuple[str, ...], folder: Path, lines: str = "") -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "GOFLAGS": "-mod=mod", "GOPROXY": "off", "GOTOOLCHAIN": "local", "RUSTFLAGS": "-D warnings"}
    return subprocess.run(command, cwd=folder, env=env, input=lines, check=False, capture_output=True, text=True)


def built(language: str, folder: Path) -> Path:
    made = ran(OF[language].build, folder)
    assert made.returncode == 0, made.stdout + made.stderr
    return folder


def began(language: str, protocol: str, folder: Path, *more: str) -> Path:
    assert main(["port", "new", protocol, str(folder), "--language", language, *more]) == 0
    return built(language, folder)


def adapter_of(language: str, protocol: str) -> tuple[str, ...]:
    return tuple(part.format(protocol=protocol) for part in OF[language].adapter)


@pytest.mark.parametrize("language", FEW, indirect=True)
def test_a_skeleton_fails_at_first_and_a_right_port_in_it_passes(
    language: str, vectors: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    of = OF[language]
    folder = began(language, WRITTEN, tmp_path / "port", "--vectors", str(vectors))
    first = ran(of.test, folder)
    told = first.stdout + first.stderr
    assert first.returncode != 0
    assert "misuse.json: 0 of 2448 rows pass" in told
    assert "row 1 is the first that fails" in told
    assert f"{of.unwritten}start of A" in told.replace("Start", "start")
    assert f"{of.unwritten}BeatTimeout" in told
    shutil.copyfile(PORTS / f"{WRITTEN}{Path(of.own).suffix}", folder / of.own)
    built(language, folder)
    then = ran(of.test, folder)
    assert then.returncode == 0, then.stdout + then.stderr
    monkeypatch.chdir(folder)
    levels = ("--strict", "--renamed", "--random", "300")
    command = shlex.join(adapter_of(language, WRITTEN))
    assert main(["conform", WRITTEN, "--model", SMALL[WRITTEN], "--adapter", command, *levels]) == 0


TABLE = "misuse.json"


def without_its_end(folder: Path) -> None:
    text = (folder / TABLE).read_text()
    (folder / TABLE).write_text(text[: len(text) // 2])


def without(part: str, folder: Path) -> None:
    """Without the last row of a state, or the last result."""
    told = json.loads((folder / TABLE).read_text())
    told[part].pop()
    (folder / TABLE).write_text(json.dumps(told))


def listed(version: int, protocol: str, folder: Path) -> None:
    told = {"format": f"groupcomm vectors {version}", "protocol": protocol, "models": []}
    (folder / "manifest.json").write_text(json.dumps(told))


BROKEN: dict[str, tuple[Callable[[Path], object], str]] = {
    "a table that is cut off": (without_its_end, f"{TABLE}: "),
    "a table with a state less": (partial(without, "rows"), "rows, as the manifest has it, not "),
    "a table with a result less": (partial(without, "results"), f"{TABLE}: "),
    "a table that is not there": (lambda folder: (folder / TABLE).unlink(), f"{TABLE}: "),
    "no manifest": (lambda folder: (folder / "manifest.json").unlink(), "manifest.json: "),
    "no table": (partial(listed, 3, WRITTEN), "manifest.json: "),
    "another version": (
        partial(listed, 4, WRITTEN),
        "expected groupcomm vectors 3 of heartbeat, not groupcomm vectors 4 ",
    ),
    "another protocol": (partial(listed, 3, "stable"), "of heartbeat, not groupcomm vectors 3 of stable"),
}


@pytest.mark.parametrize("language", FEW, indirect=True)
def test_a_part_of_the_vectors_is_not_taken_for_the_whole(
    language: str, vectors: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A right port fails, and the text names the file and the remedy."""
    of = OF[language]
    folder = tmp_path / "port"
    assert main(["port", "new", WRITTEN, str(folder), "--language", language]) == 0
    shutil.copyfile(PORTS / f"{WRITTEN}{Path(of.own).suffix}", folder / of.own)
    built(language, folder)
    monkeypatch.setenv("VECTORS", str(vectors))
    assert ran(of.test, folder).returncode == 0
    for name, (damage, said) in BROKEN.items():
        damaged = tmp_path / name.replace(" ", "_")
        shutil.copytree(vectors, damaged)
        damage(damaged)
        monkeypatch.setenv("VECTORS", str(damaged))
        done = ran(of.test, folder)
        told = done.stdout + done.stderr
        assert done.returncode != 0, name
        assert said in told
        assert ("have VECTORS name such a folder" if "another" in name else "unpack the archive again") in told, told


@pytest.mark.parametrize("protocol", ["merge_gms", "nakack"])
@pytest.mark.parametrize("language", EACH, indirect=True)
def test_what_a_skeleton_reads_it_writes(language: str, protocol: str, tmp_path: Path) -> None:
    """Each state of a table is kept and read back, and each event is read: an empty step names it."""
    manifest = MANIFESTS[protocol]
    model = manifest.model(SMALL[protocol])
    write(ROOT, manifest, [model], tmp_path / "vectors", scenarios=False)
    file: dict[str, Any] = json.loads((tmp_path / "vectors" / f"{model.name}.json").read_text())
    folder = began(language, protocol, tmp_path / "port")
    requests: list[dict[str, Any]] = [{"do": "configure", "protocol": protocol, "config": file["config"]}]
    for at, state in enumerate(file["states"]):
        requests += ({"do": "keep", "keep": at, "state": state}, {"do": "read", "at": at})
    requests += ({"do": "step", "at": 0, "event": event} for event in file["events"])
    lines = "".join(json.dumps({"seq": seq, **each}) + "\n" for seq, each in enumerate(requests))
    done = ran(adapter_of(language, protocol), folder, lines)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer.pop("seq") for answer in answers] == [*range(len(requests))], done.stderr
    for request, answer in zip(requests, answers, strict=True):
        if request["do"] == "read":
            assert answer == {"state": file["states"][request["at"]]}
        elif request["do"] == "step":
            assert OF[language].unwritten + request["event"]["type"] in answer["error"]
        else:
            assert answer == {"ok": True}


@pytest.mark.parametrize("protocol", LAYERS)
def test_each_protocol_has_shapes(protocol: str) -> None:
    of: dict[str, Any] = schema(PROTOCOLS[protocol])
    shapes = Shapes.of(of)
    records = {name for name, told in of["$defs"].items() if "properties" in told}
    assert {each.name for each in shapes.records} == records
    options = {name for union in shapes.unions for name in union.options}
    assert options <= records
    assert all(shapes.record(name).tag for name in options)
    assert {"Event", "Effect"} <= {each.name for each in shapes.unions}


def test_shapes_of_nakack() -> None:
    shapes = Shapes.of(schema(PROTOCOLS["nakack"]))
    string, integer, payload = Type("string"), Type("integer"), Type("payload")
    window = shapes.record("Window").fields
    assert window["kept"] == Type("list", (payload,))
    assert window["pending"] == Type("function", (integer, payload))
    assert shapes.record("State").fields["limit"] == Type("function", (string, integer))
    assert shapes.record("Datagram").fields["message"] == Type("union", name="DatagramMessage")
    assert shapes.union("DatagramMessage").options == ("Data", "Highest", "XmitReq")
    assert shapes.record("XmitReq").tag == "XMIT_REQ"


def test_shapes_of_merging_over_gms() -> None:
    fields = Shapes.of(schema(PROTOCOLS["merge_gms"])).record("State").fields
    assert fields["wish"] == Type("optional", (Type("union", name="StateWish"),))
    assert fields["holds"] == Type("string")


REFUSED = {
    "a language": (["nakack", "DIR", "--language", "cobol"], "no language is called"),
    "a protocol": (["nakac", "DIR", "--language", "rust"], "nakack"),
    "a note": (["note_ack", "DIR", "--language", "rust"], "note_ack"),
    "the stack": (["stack", "DIR", "--language", "rust"], "protocol of a member"),
    "a folder of something else": (["nakack", "FULL", "--language", "go"], "name a new folder"),
    "a file": (["nakack", "FULL/file", "--language", "go"], "name a new folder"),
    "no vectors": (["nakack", "DIR", "--language", "go", "--vectors", "FULL"], "manifest.json"),
    "vectors of another protocol": (["nakack", "DIR", "--language", "go", "--vectors", "VECTORS"], "of nakack, not"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_input_is_one_error_and_writes_nothing(
    name: str, vectors: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    full = tmp_path / "full"
    full.mkdir()
    (full / "file").write_text("mine")
    places = {"DIR": tmp_path / "new", "FULL/file": full / "file", "FULL": full, "VECTORS": vectors}
    arguments, said = REFUSED[name]
    assert main(["port", "new", *(str(places.get(each, each)) for each in arguments)]) == ExitCode.BAD_INPUT
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert said in told
    assert [*tmp_path.iterdir()] == [full]
    assert [*full.iterdir()] == [full / "file"]


def test_an_empty_folder_is_taken(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    assert main(["port", "new", "stable", str(folder), "--language", "go"]) == 0
    assert (folder / "port.go").is_file()
    assert [*tmp_path.iterdir()] == [folder]


def test_vectors_are_enough_for_a_skeleton(vectors: Path, tmp_path: Path) -> None:
    """No checkout is near, and the schema is that of the release."""
    command = (sys.executable, "-m", "groupcomm_commands.main", "port", "new", WRITTEN, "port", "--language", "go")
    done = ran((*command, "--vectors", str(vectors)), tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "port" / "vectors" / "misuse.json").is_file()
