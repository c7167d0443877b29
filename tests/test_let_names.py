"""A LET around primed conjuncts has no name of a variable of a module that instantiates it.

TLC looks such a name up among the variables of the state, and loses successors without a word. In claims, and where
no variable gets its next value, a LET is found first.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

from groupcomm_conformance.tla.source import bare

SPEC = Path(__file__).parents[1] / "spec"
TEXTS = {file.stem: bare(file.read_text()) for file in SPEC.rglob("*.tla")}
GROUP = "SequencerGroup"
ASSIGNED = re.compile(r"\b\w+' *(?:=|\\in)|\bUNCHANGED\b")


def extended(text: str) -> list[str]:
    lists = re.findall(r"^EXTENDS\s+(\w+(?:\s*,\s*\w+)*)", text, re.MULTILINE)
    return re.findall(r"\w+", " ".join(lists))


def used(text: str) -> list[str]:
    return extended(text) + re.findall(r"\bINSTANCE\s+(\w+)", text)


def reached(name: str, texts: dict[str, str], ways: Callable[[str], Iterable[str]]) -> set[str]:
    found, left = set[str](), [name]
    while left:
        if (each := left.pop()) in texts and each not in found:
            found.add(each)
            left += ways(texts[each])
    return found


def variables(text: str) -> set[str]:
    lists = re.findall(r"^VARIABLES?\s+(\w+(?:\s*,\s*\w+)*)", text, re.MULTILINE)
    return set(re.findall(r"\w+", " ".join(lists)))


def let_around_steps(text: str) -> set[str]:
    """The names of each LET that is followed, in its paragraph, by the next value of a variable."""
    lets = [part for each in re.split(r"\n\s*\n", text) for part in re.split(r"\bLET\b", each)[1:]]
    return {name for part in lets if ASSIGNED.search(part) for name in re.findall(r"(?<![\w!'])(\w+)\s*==(?!=)", part)}


def clashes(texts: dict[str, str]) -> Iterator[tuple[str, str, str]]:
    lets = {name: let_around_steps(text) for name, text in texts.items() if not name.endswith("Claims")}
    for root in texts:
        own = set[str]().union(*(variables(texts[each]) for each in reached(root, texts, extended)))
        for each in reached(root, texts, used) & lets.keys():
            yield from ((root, each, name) for name in lets[each] & own)


def test_no_let_around_primed_conjuncts_is_named_as_a_variable() -> None:
    assert [] == sorted(clashes(TEXTS))


def test_variables_are_found() -> None:
    assert {"views", "held", "aux_path"} <= variables(TEXTS[GROUP])


@pytest.mark.parametrize("name", ["kept", "purged"])
def test_such_a_let_is_found(name: str) -> None:
    text = TEXTS[GROUP].replace("/\\ wire' =", f"/\\ LET {name} == held IN wire' =", 1)
    assert text != TEXTS[GROUP]
    assert ("MergeSequencer", GROUP, name) in set(clashes(TEXTS | {GROUP: text}))
