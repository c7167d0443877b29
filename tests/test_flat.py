"""A root and what it extends as one module: what TLC reads, and where it says that something was."""

import re
from pathlib import Path

import pytest

from groupcomm_conformance.files.project import find_root
from groupcomm_conformance.tlc import errors
from groupcomm_conformance.tlc import run as tlc
from groupcomm_conformance.tlc.flat import Flat, flattened

BASE = r"""What stands before a module is not a part of it.
---- MODULE Base ----
\* EXTENDS Nowhere
EXTENDS Naturals
LOCAL INSTANCE Sequences
CONSTANT Most   (* MODULE *)
Up(n) == IF n < Most THEN n + 1 ELSE 0
Length == Len(<<Most>>)
====
Nor is what follows.
"""
MIDDLE = r"""---- MODULE Middle ----
(* of no use *)
EXTENDS
    Base, FiniteSets
VARIABLE x
Init == x = 0
Next == x' = Up(x)
Spec == Init /\ [][Next]_x
====
"""
ROOT = r"""---- MODULE Root ----
EXTENDS Middle
Small == x < 3
Failing == x' = Up(x) + IF x = 2 THEN "a" ELSE 0
====
"""
TEXTS = {"Base": BASE, "Middle": MIDDLE, "Root": ROOT}
CFG = "SPECIFICATION Spec\nCONSTANT Most = 4\nINVARIANT "


def one() -> Flat:
    flat = flattened("Root", TEXTS)
    assert flat is not None
    return flat


def test_all_that_is_extended_comes_before_it() -> None:
    lines = one().text.splitlines()
    assert lines[:2] == ["---- MODULE Root ----", "EXTENDS Naturals, Sequences, FiniteSets"]
    assert lines[-1] == "===="
    said = [line.split("==")[0].strip() for line in lines if "==" in line and not line.startswith("=")]
    assert said == ["Up(n)", "Length", "Init", "Next", "Spec", "Small", "Failing"]
    assert "LOCAL" not in one().text
    assert "not a part" not in one().text
    assert "follows" not in one().text


def test_a_place_is_told_of_the_module_that_it_came_from() -> None:
    """By hand: the line of each in its own text."""
    flat = one()
    lines = flat.text.splitlines()
    for name, text, number in [("Length", BASE, 8), ("Next", MIDDLE, 7), ("Failing", ROOT, 4)]:
        assert text.splitlines()[number - 1].startswith(f"{name} ==")
        (at,) = [k for k, line in enumerate(lines, start=1) if line.startswith(f"{name} ==")]
        module = {BASE: "Base", MIDDLE: "Middle", ROOT: "Root"}[text]
        said = f"<X line {at}, col 3 to line {at + 1}, col 9 of module Root>"
        assert flat.told(said) == f"<X line {number}, col 3 to line {number + 1}, col 9 of module {module}>"
        assert flat.told(f"0. Line {at}, column 3 in Root") == f"0. Line {number}, column 3 in {module}"
    assert flat.told("line 7, col 1 of module Other") == "line 7, col 1 of module Other"
    assert flat.told("line 7 of nothing") == "line 7 of nothing"


@pytest.mark.parametrize(
    "texts",
    [
        {"Root": "---- MODULE Root ----\nEXTENDS Naturals\n====\n"},  # nothing to put together
        TEXTS | {"Base": "---- MODULE Base ----\n---- MODULE Inner ----\n====\n====\n"},
        TEXTS | {"Base": "---- MODULE Base ----\nA == 1\n"},
        TEXTS | {"Base": BASE.replace("MODULE Base", "MODULE Other")},
    ],
)
def test_what_is_not_understood_stays_as_it_is(texts: dict[str, str]) -> None:
    assert flattened("Root", texts) is None


def test_tlc_says_the_same_of_it() -> None:
    result = tlc.run([], "Root", CFG + "Small", generated=TEXTS, workers=1)
    assert (result.outcome, result.violated, len(result.trace)) == ("violates", "Small", 4)
    with pytest.raises(errors.EvaluationFailed) as caught:
        tlc.run([], "Root", "INIT Init\nNEXT Failing\nCONSTANT Most = 4", generated=TEXTS, workers=1)
    assert (caught.value.file, caught.value.line) == (Path("Root.tla"), 4)


def test_names_that_only_one_module_knows_may_be_used_again() -> None:
    """As one module it does not parse: the name stands twice. So it is run as it is."""
    texts = TEXTS | {
        "Base": BASE.replace("Length ==", "LOCAL Least ==\n    2\nLength =="),
        "Root": ROOT.replace("Small == x < 3", "Least == 3\nSmall == x < Least"),
    }
    assert flattened("Root", texts) is not None
    result = tlc.run([], "Root", CFG + "Small", generated=texts, workers=1)
    assert (result.violated, len(result.trace)) == ("Small", 4)


def test_the_projects_modules_are_understood() -> None:
    """Whatever extends another one has the form, so that no search is slow because of a comment."""
    root = find_root()
    texts = {file.stem: file.read_text(encoding="utf-8") for file in root.glob("spec/*/*.tla")}
    assert texts
    for name, text in texts.items():
        extends = re.search(r"^EXTENDS ([\w, ]+)$", text, re.MULTILINE)
        if extends is not None and not texts.keys().isdisjoint(extends[1].split(", ")):
            assert flattened(name, texts) is not None, name
