"""constants: what of a specification makes a member."""

import pytest

from groupcomm_conformance.protocols.constants import member
from groupcomm_conformance.tla.source import bare, blanked, declared

PROTOCOL = r"""
---- MODULE P ----
(* CONSTANT NotThis (* nested *) CONSTANTS NorThis *)
EXTENDS Shared, Older
CONSTANTS
    First,      \* "of a", CONSTANT list
    Second      (* the last *)

CONSTANT Op(_, _), Third
Start(m) == [member |-> m, Hidden |-> 0]
Helper(s) == IF First THEN s.Bound ELSE "Text"
Step(s, e) == Helper(s)
====
"""
OLDER = "---- MODULE Older ----\nCONSTANT Old\n===="
SHARED = "---- MODULE Shared ----\nCONSTANTS Rank, Unused\nBefore(a, b) == Rank[a] < Rank[b]\n===="
GROUP = r"""
---- MODULE PGroup ----
EXTENDS P
CONSTANTS Members, Bound, Hidden
Text == Members
view == <<Members, Bound>>
Next == \E m \in Members : Step(m, Bound)
====
"""


def of(**modules: str) -> tuple[str, ...]:
    texts = {"PGroup": GROUP, "P": PROTOCOL, "Older": OLDER, "Shared": SHARED} | modules
    return member(texts, "PGroup", "P", {"PGroup", "P", "Older"}).constants


def test_the_constants_of_its_module_and_of_what_it_extends_in_its_folder_make_a_member() -> None:
    """Not those of what all protocols share, nor the group's, whatever fields are called."""
    assert ("First", "Second", "Op", "Third", "Old") == of()


def test_a_shared_constant_that_the_step_speaks_of_is_one_too() -> None:
    spoken = PROTOCOL.replace("IF First", "IF Before(s, s)")
    assert "Rank" in of(P=spoken)
    assert "Unused" not in of(P=spoken)


def test_a_constant_of_the_group_is_one_where_the_group_chooses_the_step() -> None:
    """A guard cannot be hidden from conformance by declaring it elsewhere."""
    chosen = GROUP.replace("Text ==", "Step2(s, e) == s\nText ==").replace("EXTENDS P", "EXTENDS Q")
    q = "---- MODULE Q ----\nEXTENDS P0\nCONSTANT Variant\nStep(s, e) == IF Variant THEN s ELSE Old0(s)\n===="
    p0 = "---- MODULE P ----\nCONSTANT First\nStart(m) == m\nOld0(s) == s\n===="
    texts = {"PGroup": chosen, "Q": q, "P0": p0, "P": p0}
    assert {"Variant", "First"} == {*member(texts, "PGroup", "P", {"P"}).constants}


def test_the_constants_of_an_instance_are_ones() -> None:
    note = "---- MODULE Note ----\nCONSTANT Kept\nStep(s, e) == s\n===="
    instance = PROTOCOL.replace("Helper(s) ==", "N == INSTANCE Note\nHelper(s) == N!Step(s, s) \\/")
    group = GROUP.replace("Bound, Hidden", "Bound, Hidden, Kept")
    assert "Kept" in of(P=instance, Note=note, PGroup=group)


def test_operators_of_the_step_are_known() -> None:
    texts = {"PGroup": GROUP, "P": PROTOCOL, "Older": OLDER, "Shared": SHARED}
    assert {"Step", "Start", "Helper", "Next"} == member(texts, "PGroup", "P", {"P"}).operators


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("CONSTANT A", ("A",)),
        ("CONSTANTS A, B\nVARIABLE x", ("A", "B")),
        ("CONSTANTS A,\n  F(_), B\n\nASSUME A", ("A", "F", "B")),
        ("CONSTANT A CONSTANT B", ("A", "B")),
        ('x == "CONSTANT A"', ()),
        ("(* CONSTANT A (* *) CONSTANT B *) CONSTANT C \\* CONSTANT D", ("C",)),
    ],
)
def test_declarations_are_read_whatever_is_around_them(text: str, names: tuple[str, ...]) -> None:
    assert names == declared(bare(text))


def test_a_comment_becomes_spaces_and_all_else_stays_in_its_place() -> None:
    r"""A text may have the signs of a comment, and a comment those of a text: `"(*"`, `\\* "`."""
    text = 'a == "(* \\* "  \\* it is "so\n(* "one" (* two\n*) three *) b == 1 (* "*) c == "*)"'
    told = blanked(text)
    lines = [line.rstrip() for line in told.split("\n")]
    assert ['a == "(* \\* "', "", '            b == 1        c == "*)"'] == lines
    assert len(text) == len(told)
