"""Wheels in fresh environments, outside of the checkout: what a user has who installs groupcomm."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from groupcomm_conformance.ports.packing import pack
from groupcomm_conformance.ports.vector_files import FORMAT, protocol_files
from tests.cores import MANIFESTS

pytestmark = pytest.mark.installed

ROOT = Path(__file__).parents[1]
VERSION = "0.1.0"


def run(folder: Path, *command: str | Path) -> tuple[int, str, str]:
    """Run a command in a folder, with nothing of this environment but its PATH."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    ran = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=300)
    return ran.returncode, ran.stdout, ran.stderr


def installed(folder: Path, *packages: str) -> Path:
    """Make an environment with some packages, in the versions that the checkout pins; give its `bin`."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    # Without the digests, which pip would ask of the wheels that were made here, too.
    pinned = [line.split()[0] for line in (ROOT / "locks" / "base.txt").read_text().splitlines() if "==" in line]
    (folder / "pinned.txt").write_text("\n".join(pinned))
    pip = (folder / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check")
    assert (0, "") == run(folder, *pip, "-c", "pinned.txt", *packages)[:2]
    return folder / "bin"


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The wheels of both distributions, by their names."""
    folder = tmp_path_factory.mktemp("wheels")
    assert not folder.is_relative_to(ROOT)
    options = ("--quiet", "--disable-pip-version-check", "--no-deps", "--no-build-isolation", "-w", folder)
    code, _, said = run(folder, sys.executable, "-m", "pip", "wheel", *options, ROOT, ROOT / "conformance")
    assert 0 == code, said
    return {file.name.partition("-")[0]: file for file in folder.glob("*.whl")}


@pytest.fixture(scope="module")
def bare(wheels: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment that has the protocols and nothing else."""
    return installed(tmp_path_factory.mktemp("bare"), str(wheels["groupcomm"]))


@pytest.fixture(scope="module")
def whole(wheels: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment that has the command `groupcomm` too, and no extra of it."""
    packages = (f"groupcomm[runtime] @ {wheels['groupcomm'].as_uri()}", str(wheels["groupcomm_conformance"]))
    return installed(tmp_path_factory.mktemp("whole"), *packages)


def test_the_protocols_come_with_names_and_a_version_and_without_a_command(bare: Path, tmp_path: Path) -> None:
    program = "import groupcomm as g; print(g.__version__, len(g.__all__), all(hasattr(g, n) for n in g.__all__))"
    code, told, said = run(tmp_path, bare / "python", "-c", program)
    assert (0, "0.1.0 38 True\n", "") == (code, told, said)
    assert not (bare / "groupcomm").exists()


def test_the_runtime_names_the_extra_that_is_missing(bare: Path, tmp_path: Path) -> None:
    code, _, said = run(tmp_path, bare / "python", "-c", "import groupcomm_runtime")
    message = "groupcomm_runtime writes its messages with msgspec: pip install 'groupcomm[runtime]'"
    assert (1, f"ModuleNotFoundError: {message}") == (code, said.splitlines()[-1])


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        ("--help", "Check group-communication protocols against their specifications."),
        ("--version", "groupcomm 0.1.0, Python "),
        ("demo", "all that sequencer/flush/merge_gms/stable promises holds"),
        ("simulate flush/gms --events 2000", "no violation of "),
    ],
)
def test_a_command_that_needs_no_specification_works(whole: Path, tmp_path: Path, arguments: str, shown: str) -> None:
    code, told, said = run(tmp_path, whole / "groupcomm", *arguments.split())
    assert (0, True) == (code, shown in told), said


@pytest.mark.parametrize(
    ("arguments", "code", "shown"),
    [
        *(
            (command, 2, "no folder from here up has specifications")
            for command in (
                "list",
                "check",
                "check stable",
                "explain FLAW-66",
                "conform",
                "mutants stable",
                "scenario",
                "report",
                "errata",
                "requirements",
                "assumptions",
                "guarantees",
                "vectors --all --out vectors",
                "jgroups",
            )
        ),
        ("prove stable", 3, "pip install 'groupcomm-conformance[prove]'"),
        ("simulate flush/gms --master local[1]", 3, "pip install 'groupcomm-conformance[pipeline]'"),
    ],
)
def test_any_other_command_says_in_one_line_what_it_needs(
    whole: Path, tmp_path: Path, arguments: str, code: int, shown: str
) -> None:
    came, told, said = run(tmp_path, whole / "groupcomm", *arguments.split())
    assert (code, "", 1, True) == (came, told, len(said.splitlines()), shown in said), said


def test_a_protocol_that_has_nothing_to_do_with_groups_is_checked(whole: Path, tmp_path: Path) -> None:
    """Two-phase commit, as docs/your-own-protocol.md has it: a folder, a specification, a core."""
    shutil.copytree(ROOT / "examples" / "two_phase", tmp_path, dirs_exist_ok=True)
    code, told, said = run(tmp_path, whole / "groupcomm", "check")
    assert (0, True) == (code, "gate kills: ok: each of 2 claims is violated by some ablation" in told), said
    code, told, said = run(tmp_path, whole / "groupcomm", "conform")
    assert (0, "two_phase three: ok: 182 pass") == (code, told.rpartition(":")[0]), said
    code, told, said = run(tmp_path, whole / "groupcomm", "report")
    assert (0, True) == (code, "two_phase: ok: 6 of 6 models as expected" in told), said
    assert "a coordinator and two participants" in (tmp_path / "build" / "report" / "two_phase.html").read_text(
        encoding="utf-8"
    )

    core = tmp_path / "impl" / "two_phase.py"
    text = core.read_text(encoding="utf-8")
    assert 1 == text.count("if not yes or votes == config.participants:")
    core.write_text(text.replace("if not yes or votes == config.participants:", "if votes:"), encoding="utf-8")
    code, told, _ = run(tmp_path, whole / "groupcomm", "conform")
    assert (1, True) == (code, "FAILS two_phase three: wrong_state: VoteReceived" in told), told


# A port in a repository of its own, held to a release: docs/porting.md has the workflow


def steps() -> dict[str, str]:
    """The steps of the workflow that have a name, for HEARTBEAT, which has a port in `tests/data`."""
    (text,) = re.findall("^```yaml\\n(.*?)^```", (ROOT / "docs" / "porting.md").read_text(), re.DOTALL | re.MULTILINE)
    told = yaml.safe_load(text)
    assert VERSION == told["env"]["VERSION"]
    found = {step["name"]: step["run"] for step in told["jobs"]["port"]["steps"] if "name" in step}
    assert ["fetch", "unpack", "driver", "judge"] == [*found]
    return {name: run.replace("nakack", "heartbeat") for name, run in found.items()}


@pytest.fixture(scope="module")
def elsewhere(wheels: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with what the workflow fetches, unpacked, and the driver. The release has HEARTBEAT alone, of one model."""
    folder = tmp_path_factory.mktemp("elsewhere")
    manifest = MANIFESTS["heartbeat"]
    made = {
        f"heartbeat/{path}": data for path, data in protocol_files(ROOT, manifest, [manifest.model("misuse")]).items()
    }
    digest = hashlib.sha256(made["heartbeat/manifest.json"]).hexdigest()
    told = {"format": FORMAT, "protocols": {"heartbeat": {"sha256": digest}}}
    files = [
        pack(f"groupcomm-vectors-{VERSION}", {**made, "release.json": json.dumps(told).encode()}, folder / "release")
    ]
    files += [shutil.copyfile(wheel, folder / "release" / wheel.name) for wheel in wheels.values()]
    files.append(shutil.copyfile(ROOT / "locks" / "base.txt", folder / "release" / "requirements.txt"))
    sums = "".join(f"{hashlib.sha256(Path(file).read_bytes()).hexdigest()}  {Path(file).name}\n" for file in files)
    (folder / "release" / "SHA256SUMS").write_text(sums)
    digest = hashlib.sha256(sums.encode()).hexdigest()
    for name, place in (("unpack", folder / "release"), ("driver", folder)):
        script = f"export VERSION={VERSION} SHA256={digest}\n{steps()[name]}"
        assert (0, "") == run(place, "bash", "-euo", "pipefail", "-c", script)[::2]
    return folder


def test_the_workflow_fetches_what_a_release_has() -> None:
    fetched = re.findall(r"for file in (.*?); do", steps()["fetch"].replace("\\\n", " "))[0].replace('"', "").split()
    release = (ROOT / "Makefile").read_text().partition("\nrelease:")[2].partition("\n\n")[0]
    assert {"SHA256SUMS", "requirements.txt"} == {
        each for each in fetched if f"dist/{each}" in release or f"> {each}" in release
    }
    assert 3 == sum(each.startswith("groupcomm") and "$VERSION" in each for each in fetched)


def test_an_image_has_the_driver_by_the_same_commands() -> None:
    (text,) = re.findall(
        r"^RUN (.*?)^USER", (ROOT / "conformance" / "adapters" / "Containerfile").read_text(), re.DOTALL | re.MULTILINE
    )
    said = [line.replace("/driver/", "release/").split() for line in text.replace("\\\n", "").split("&&")]
    of_steps = [line.replace("driver/bin/", "").split() for line in steps()["driver"].splitlines()[1:]]
    assert [{*line} - {"--no-cache-dir"} for line in said] == [{*line} - {"--quiet"} for line in of_steps]


@pytest.mark.nightly
def test_a_port_elsewhere_is_held_to_a_release(elsewhere: Path) -> None:
    """From the archive and the wheels alone: a skeleton in Java, the port in it, and the driver."""
    driver, vectors = elsewhere / "driver" / "bin" / "groupcomm", f"release/groupcomm-vectors-{VERSION}/heartbeat"
    command = ("port", "new", "heartbeat", "port", "--language", "java", "--vectors", vectors)
    assert (0, "") == run(elsewhere, driver, *command)[::2]
    adapter = elsewhere / "target" / "release" / "heartbeat"
    adapter.parent.mkdir(parents=True)
    adapter.write_text(f"#!/bin/sh\nexec java -cp {elsewhere}/port/build port.Adapter\n")
    adapter.chmod(0o755)
    right = (ROOT / "tests" / "data" / "ports" / "heartbeat.java").read_text()
    assert 1 == right.count("h.missed() >")

    def judged(text: str) -> tuple[int, str]:
        (elsewhere / "port" / "src" / "port" / "Port.java").write_text(text)
        assert (0, "") == run(elsewhere / "port", "sh", "-c", "javac -d build src/port/*.java")[::2]
        script = f"export VERSION={VERSION}\n{steps()['judge']}"
        code, *said = run(elsewhere, "bash", "-euo", "pipefail", "-c", script)
        return code, "".join(said)

    code, told = judged(right)
    assert 0 == code, told
    for each in ("kept", "start", "random", "__counter_far", " scenarios/silent walks"):
        assert f"{each}: ok: " in told, told
    code, told = judged(right.replace("h.missed() >", "h.missed() >="))
    assert (1, True) == (code, "FAILS" in told and "Heartbeat.tla:" in told), told
