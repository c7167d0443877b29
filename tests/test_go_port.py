"""The port in Go conforms, and broken versions of it do not pass.

`make port-go` and `make broken-ports` do all of it.
"""

import os
import shutil
from pathlib import Path

import pytest

from adapters.go.broken_ports import Held, broken_ports, caught, go
from groupcomm_commands.main import main
from tests.cores import LAYERS
from tests.test_adapter import SMALL

BROKEN = {each.name: each for each in broken_ports()}
SAMPLE = {
    "flush_start_round": "start",
    "gms_queue_backwards": "rows",
    "sequencer_mark_in_place": "kept",
    "stable_vote_of_8_bits": "random",
}
"""One for each level; `make broken-ports` has all."""


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The port, built. There must be Go where CI is set; elsewhere these tests are skipped without."""
    if shutil.which("go") is None:
        lacking = "no go on PATH (Debian: apt-get install golang-go)"
        if os.environ.get("CI"):
            pytest.fail(lacking)
        pytest.skip(lacking)
    program = tmp_path_factory.mktemp("go") / "port"
    go("build", "-o", str(program), ".")
    return program


def test_the_port_is_sound_as_code(port: Path) -> None:
    assert port.exists()
    assert go("vet", "./...") == ""
    assert go("list", "-m", "all") == "groupcomm.example/port\n"  # the standard library alone
    go("test", "./...")


@pytest.mark.parametrize("name", LAYERS)
def test_the_port_conforms(port: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    levels = ("--strict", "--renamed", "--random", "600")
    assert main(["conform", name, "--model", SMALL[name], "--adapter", str(port), *levels]) == 0
    told = capsys.readouterr().out
    for part in ("kept", "renamed names", "start", "random"):
        assert f"{name} {SMALL[name]} {part}: ok: " in told


@pytest.mark.parametrize("name", SAMPLE)
@pytest.mark.usefixtures("port")
def test_a_broken_port_is_caught(name: str) -> None:
    broken = BROKEN[name]
    held = Held.to(broken.protocol, [SMALL[broken.protocol]])
    assert caught(broken, held) == SAMPLE[name]


@pytest.mark.parametrize("name", [name for name, each in BROKEN.items() if each.survives])
@pytest.mark.usefixtures("port")
def test_what_the_driver_does_not_notice_the_ports_own_tests_do(name: str, tmp_path: Path) -> None:
    assert BROKEN[name].fails_its_tests(tmp_path)


def test_each_broken_port_is_another_text() -> None:
    assert len({each.text() for each in BROKEN.values()}) == len(BROKEN) >= 107
    assert {each.protocol for each in BROKEN.values()} == {*LAYERS}


def test_a_text_that_is_not_there_is_refused() -> None:
    gone = next(iter(BROKEN.values()))
    with pytest.raises(ValueError, match="does not have that text once"):
        type(gone)(gone.name, gone.protocol, gone.kind, gone.file, "no such text", "").text()
