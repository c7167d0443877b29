"""A LET around primed conjuncts has no name of a variable of a module that instantiates it.

TLC looks such a name up among the variables of the state, and loses successors without a word. In claims, and where
no variable gets its next value, a LET is found first.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

from groupcomm_conformance.models.modules import Modules, declared_by, read_modules
from groupcomm_conformance.tla.source import bare

SPEC = Path(__file__).parents[1] / "spec"
FOLDERS = sorted(each for each in SPEC.iterdir() if each.is_dir())
GROUP = "SequencerGroup"
ASSIGNED = re.compile(r"\b\w+' *(?:=|\\in)|\bUNCHANGED\b")


@cache
def roots() -> dict[str, Modules]:
    """Each module as a root, with all that it needs."""
    return {file.stem: read_modules(FOLDERS, file.stem) for file in sorted(SPEC.rglob("*.tla"))}


def texts() -> dict[str, str]:
    return {name: bare(modules.texts[name]) for name, modules in roots().items()}


def let_around_steps(text: str) -> set[str]:
    """The names of each LET that is followed, in its paragraph, by the next value of a variable."""
    lets = [part for each in re.split(r"\n\s*\n", text) for part in re.split(r"\bLET\b", each)[1:]]
    return {name for part in lets if ASSIGNED.search(part) for name in re.findall(r"(?<![\w!'])(\w+)\s*==(?!=)", part)}


def clashes(given: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    lets = {name: let_around_steps(text) for name, text in given.items() if not name.endswith("Claims")}
    for root, modules in roots().items():
        variables = {*declared_by(modules, root, "VARIABLE")}
        for each in modules.texts.keys() & lets.keys():
            yield from ((root, each, name) for name in lets[each] & variables)


def test_no_let_around_primed_conjuncts_is_named_as_a_variable() -> None:
    assert [] == sorted(clashes(texts()))


def test_variables_are_found() -> None:
    assert {"views", "held", "aux_path"} <= {*declared_by(roots()[GROUP], GROUP, "VARIABLE")}


@pytest.mark.parametrize("name", ["kept", "purged"])
def test_such_a_let_is_found(name: str) -> None:
    right = texts()
    wrong = right[GROUP].replace("/\\ wire' =", f"/\\ LET {name} == held IN wire' =", 1)
    assert wrong != right[GROUP]
    assert ("MergeSequencer", GROUP, name) in set(clashes(right | {GROUP: wrong}))
