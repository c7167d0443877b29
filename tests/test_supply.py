"""What others supply is known by its digest, and what is shipped holds no other file."""

import hashlib
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest
import yaml
from hatchling.builders.wheel import WheelBuilder
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from groupcomm_field.jgroups import jvm
from groupcomm_field.jgroups.jvm import VERSIONS
from tests.cores import ROOT

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
LOCKS = {path.stem: path for path in sorted((ROOT / "locks").glob("*.txt"))}
PROJECTS = [path for path in (ROOT / "pyproject.toml", ROOT / "conformance" / "pyproject.toml") if path.is_file()]


def locked(path: Path) -> Iterator[tuple[Requirement, list[str]]]:
    """The requirements of a lock file, each with its digests."""
    entries = path.read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
    for entry in entries:
        requirement, *digests = entry.split(" --hash=sha256:")
        yield Requirement(requirement), [digest.strip() for digest in digests]


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_actions_are_pinned_to_commits(workflow: Path) -> None:
    used = re.findall(r"^ *-? *uses: *(.*)$", workflow.read_text(encoding="utf-8"), re.MULTILINE)
    assert used
    assert [] == [each for each in used if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+", each)]


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_may_only_read(workflow: Path) -> None:
    """They have a token that reads, but for the one that publishes; and no text of a pull request becomes a command."""
    text = workflow.read_text(encoding="utf-8")
    assert re.search(r"^permissions:\n  contents: read\n\n", text, re.MULTILINE)
    assert re.findall(r"\w+: write", text) == (["contents: write"] if workflow.stem == "site" else [])
    assert "pull_request_target" not in text
    assert [] == re.findall(r"run:.*\$\{\{(?! matrix\.target \}\})", text)


def test_the_job_that_may_write_runs_nothing_of_the_repository() -> None:
    """The archive is made by a job that reads; another attaches it, without a checkout, an action, or make."""
    jobs = {workflow.stem: yaml.safe_load(workflow.read_text(encoding="utf-8"))["jobs"] for workflow in WORKFLOWS}
    may = {(name, job) for name, each in jobs.items() for job in each if "permissions" in each[job]}
    assert may == {("release", "attach")}
    steps = jobs["release"]["attach"]["steps"]
    assert all(re.match(r"gh (run download|release create) ", step["run"]) for step in steps)
    made = [step.get("run", "") for step in jobs["release"]["make"]["steps"]]
    assert any(step.startswith("make release") for step in made)


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_has_versions_and_digests_and_names_no_host(lock: str) -> None:
    found = list(locked(LOCKS[lock]))
    assert found
    for requirement, digests in found:
        assert re.fullmatch(r"==[\w.]+", str(requirement.specifier)), requirement
        assert digests, requirement
        assert all(re.fullmatch("[0-9a-f]{64}", digest) for digest in digests), requirement
    assert "//" not in LOCKS[lock].read_text(encoding="utf-8")


def test_locks_do_not_contradict_each_other() -> None:
    """What is installed into one environment has one version; the audit's is another environment."""
    versions: dict[str, set[str]] = {}
    for lock, path in LOCKS.items():
        for requirement, _ in locked(path) if lock != "audit" else ():
            versions.setdefault(canonicalize_name(requirement.name), set()).add(str(requirement.specifier))
    assert {} == {name: found for name, found in versions.items() if len(found) > 1}


def test_locks_have_what_the_projects_require() -> None:
    versions = {
        canonicalize_name(requirement.name): Version(str(requirement.specifier)[2:])
        for lock, path in LOCKS.items()
        for requirement, _ in locked(path)
        if lock != "audit"
    }
    for project in PROJECTS:
        told = tomllib.loads(project.read_text(encoding="utf-8"))
        extras = told["project"]["optional-dependencies"].values()
        asked = [*told["build-system"]["requires"], *told["project"]["dependencies"], *chain(*extras)]
        for requirement in map(Requirement, asked):
            if requirement.name != "groupcomm":
                assert versions[canonicalize_name(requirement.name)] in requirement.specifier, requirement


def installs(target: str) -> list[str]:
    """The commands by which make has pip fetch something for a target."""
    ran = subprocess.run(["make", "-n", "-B", target], cwd=ROOT, capture_output=True, text=True, check=True)
    return [line for line in ran.stdout.splitlines() if " pip install " in line and " -e " not in line]


@pytest.mark.parametrize(
    "target", ["setup", ".venv/.installed-pipeline", ".venv/.installed-prove", ".venv/.installed-bench", "audit"]
)
def test_all_that_make_fetches_is_held_against_a_lock(target: str) -> None:
    assert installs(target)
    for command in installs(target):
        assert re.search(r" --no-deps .*--require-hashes .*-r locks/[a-z]+\.txt", command)


def test_pip_refuses_another_file_than_the_lock_has(tmp_path: Path) -> None:
    """A wheel of the right name and version lies where pip looks; it was made by a stranger."""
    name, digests = next((one, digests) for one, digests in locked(LOCKS["base"]) if one.name == "attrs")
    version = str(name.specifier).removeprefix("==")
    with zipfile.ZipFile(tmp_path / f"attrs-{version}-py3-none-any.whl", "w") as wheel:
        about = f"attrs-{version}.dist-info"
        wheel.writestr("attr/__init__.py", "raise SystemExit('stranger')\n")
        wheel.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: attrs\nVersion: {version}\n")
        wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{about}/RECORD", "")
    lock = tmp_path / "lock.txt"
    lock.write_text(" ".join((str(name), *(f"--hash=sha256:{each}" for each in digests))), encoding="utf-8")
    (command,) = installs("setup")
    words = [sys.executable if word.endswith("/python") else word for word in command.split()]
    found = [*words, "--target", str(tmp_path / "installed"), "--no-index", "--find-links", str(tmp_path)]
    found = [str(lock) if word == "locks/base.txt" else word for word in found]
    ran = subprocess.run(found, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    assert "DO NOT MATCH THE HASHES" in ran.stderr
    assert not (tmp_path / "installed").exists()


@pytest.mark.parametrize(
    "document", ["README.md", "docs/quick-start.md", "docs/operating.md", "docs/tutorial.md", "CONTRIBUTING.md"]
)
def test_no_document_installs_the_project_by_its_name_alone(document: str) -> None:
    """It is in no registry: the name is anybody's to take there."""
    text = (ROOT / document).read_text(encoding="utf-8")
    assert [] == re.findall(r"pip install (?:-\S+ )*'?groupcomm.*", text)


# Jars

JARS = ROOT / "conformance" / "jgroups" / "SHA256SUMS"


@pytest.mark.parametrize("attack", ["changed", "one more"])
def test_jgroups_is_not_started_with_a_jar_that_is_not_known(
    attack: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was built before; then somebody changed a jar, or put one more on the class path."""
    project, version = tmp_path / "conformance" / "jgroups", VERSIONS["5.5.7"]
    lib = tmp_path / "build" / "jgroups" / version.number / "lib"
    lib.mkdir(parents=True)
    project.mkdir(parents=True)
    (project / "pom.xml").touch()
    (lib.parent / ".built").touch()
    (lib / "gson-2.11.0.jar").write_bytes(b"fetched")
    (project / "SHA256SUMS").write_text(f"{hashlib.sha256(b'fetched').hexdigest()}  gson-2.11.0.jar\n")
    assert lib.parent == jvm.built(tmp_path, version)
    (lib / {"changed": "gson-2.11.0.jar", "one more": "a.jar"}[attack]).write_bytes(b"stranger's")
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: pytest.fail("it was run"))
    with pytest.raises(jvm.JvmError, match=r"\.jar has SHA-256 [0-9a-f]{64}, expected .*: delete .*lib"):
        jvm.Jvm(tmp_path, version)


def test_all_versions_of_jgroups_are_known() -> None:
    names = {line.partition("  ")[2] for line in JARS.read_text(encoding="ascii").splitlines()}
    expected = {f"jgroups-{number}.Final.jar" for number in VERSIONS}
    assert names == expected | {"asm-9.7.1.jar", "gson-2.11.0.jar", "error_prone_annotations-2.27.0.jar"}


# What is shipped

KINDS = {".tla", ".py", ".java", ".html", ".css", ".js", ".json", ".typed"}
"""The kinds of files of the packages."""


def built(project: Path, folder: Path) -> set[str]:
    """Build a wheel; return the names in it, without those of its own records."""
    (wheel,) = WheelBuilder(str(project)).build(directory=str(folder), versions=["standard"])
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    records = {name for name in names if ".dist-info/" in name}
    kinds = {re.sub(r"^.*\.dist-info/", "", name) for name in records}
    assert kinds - {"entry_points.txt", "licenses/LICENSE"} == {"METADATA", "WHEEL", "RECORD"}
    return names - records


def shipped(project: Path) -> list[Path]:
    """The folders of a project's packages."""
    told = tomllib.loads(project.read_text(encoding="utf-8"))
    return [project.parent / each for each in told["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]]


@pytest.mark.parametrize("project", PROJECTS, ids=lambda path: path.parent.name)
def test_a_wheel_has_the_files_that_git_has_and_no_other(project: Path, tmp_path: Path) -> None:
    expected = set()
    for package in shipped(project):
        ran = subprocess.run(["git", "ls-files", "."], cwd=package, capture_output=True, text=True, check=True)
        expected |= {f"{package.name}/{name}" for name in ran.stdout.splitlines()}
    assert len(expected) > 20
    assert KINDS >= {Path(name).suffix for name in expected}
    assert expected == built(project.parent, tmp_path)


@pytest.mark.parametrize("project", PROJECTS, ids=lambda path: path.parent.name)
def test_a_file_that_lies_about_is_not_shipped(project: Path, tmp_path: Path) -> None:
    """A key, a log, notes and an editor's copy in a package's folder, before a release."""
    copy = tmp_path / "project"
    copy.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        if (project.parent / name).is_file():
            shutil.copy(project.parent / name, copy)
    (first, *rest) = (path.relative_to(project.parent) for path in shipped(project))
    for package in (first, *rest):
        shutil.copytree(project.parent / package, copy / package)
    clean = built(copy, tmp_path)
    for name in ("group.key", "A.log", "notes.txt", "view.py.orig", ".env", ".netrc", "core", "id_ed25519"):
        (copy / first / name).write_text("secret", encoding="utf-8")
    assert clean == built(copy, tmp_path)
