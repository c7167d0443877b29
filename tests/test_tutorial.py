"""docs/tutorial.md: what it tells a reader to type gives what it says."""

import doctest
import re
from pathlib import Path

import pytest

from groupcomm_conformance.commands.main import main

ROOT = Path(__file__).parent.parent
TUTORIAL = ROOT / "docs/tutorial.md"
COMMANDS = re.findall(r"^groupcomm ([^#\n]+?) *(?:#.*)?$", TUTORIAL.read_text(), re.MULTILINE)


def test_the_python_of_the_tutorial_prints_what_it_shows() -> None:
    failed, tried = doctest.testfile(
        str(TUTORIAL), module_relative=False, optionflags=doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL
    )
    assert (0, True) == (failed, tried > 30)


@pytest.mark.parametrize("line", COMMANDS)
def test_the_commands_of_the_tutorial_end_well(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert 0 == main(line.split())
