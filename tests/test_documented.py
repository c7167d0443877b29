"""README and docs/tutorial.md: their commands end well, and their Python prints what they show.

The commands take what `make check` has put into the cache; `make test-documented` runs them after it.
"""

import doctest
import re
import shlex
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TUTORIAL = ROOT / "docs/tutorial.md"
TOLD = [
    (name, command)
    for name in ("README.md", "docs/tutorial.md")
    for block in re.findall(r"^```sh\n(.*?)^```", (ROOT / name).read_text(), re.MULTILINE | re.DOTALL)
    for command in re.findall(r"^groupcomm ([^#\n]+?) *(?:#.*)?$", block, re.MULTILINE)
]


def test_the_python_of_the_tutorial_prints_what_it_shows() -> None:
    failed, tried = doctest.testfile(
        str(TUTORIAL), module_relative=False, optionflags=doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL
    )
    assert (0, True) == (failed, tried > 30)


def test_there_are_commands_in_both() -> None:
    assert {"README.md": 9, "docs/tutorial.md": 7} == {
        name: sum(each == name for each, _ in TOLD) for name in ("README.md", "docs/tutorial.md")
    }


def test_readme_begins_with_a_program_and_is_short() -> None:
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert 150 >= len(lines)
    assert "```python" in lines[:8]
    assert not any(line.startswith("|") for line in lines[:32])


@pytest.mark.documented
@pytest.mark.parametrize(("name", "command"), TOLD, ids=[f"{name}: {command}" for name, command in TOLD])
def test_a_command_ends_well(name: str, command: str) -> None:
    """Each as a reader would type it, in the order of the text."""
    line = [str(ROOT / ".venv/bin/groupcomm"), *shlex.split(command)]
    run = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False)
    assert 0 == run.returncode, f"{name}: {command}\n{run.stdout[-2000:]}{run.stderr[-2000:]}"
    assert run.stdout
