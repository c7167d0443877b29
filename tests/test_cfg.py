"""cfg: TLC's configuration files are read, changed and written without loss."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupcomm_conformance.files.strict_yaml import FileError
from groupcomm_conformance.tla.cfg import Cfg, parse

NAMES = st.text(alphabet="abcXYZ_09", min_size=1, max_size=6).map("n".__add__)
SIDES = st.sampled_from(["= 3", "= -1", "= TRUE", '= "note"', '= {1, 2, 10, "A"}', "= {}", "<- V", "<- [M]V"])
LISTS = st.lists(NAMES, unique=True, max_size=3).map(tuple)

STABLE = r"""
\* The defaults.   SPECIFICATION Other
SPECIFICATION Spec
VIEW view
CONSTANTS
    Member = {"C","A", "B"}   (* in no
        (* nested *) order *)
    MaxVotes = 4
CONSTANT Views <- JoinViews Variant = "repaired"
INVARIANT TypeOK
INVARIANTS NoPrematurePurge
PROPERTIES Terminates
"""


def test_a_cfg_file_reads_as_its_parts() -> None:
    assert parse(STABLE, "S.cfg") == Cfg(
        specification="Spec",
        view="view",
        constants={
            "Member": '= {"A", "B", "C"}',
            "MaxVotes": "= 4",
            "Views": "<- JoinViews",
            "Variant": '= "repaired"',
        },
        invariants=("TypeOK", "NoPrematurePurge"),
        properties=("Terminates",),
    )


def test_a_cfg_is_written_as_people_write_it() -> None:
    cfg = parse(STABLE, "S.cfg").override({"MaxVotes": "= 5"})
    assert (
        cfg.render()
        == """\
SPECIFICATION Spec
CONSTANTS
    Member = {"A", "B", "C"}
    MaxVotes = 5
    Views <- JoinViews
    Variant = "repaired"
VIEW view
INVARIANTS
    TypeOK
    NoPrematurePurge
PROPERTIES
    Terminates
"""
    )


def test_only_a_constant_that_is_there_can_be_overridden() -> None:
    with pytest.raises(KeyError, match="MaxVote"):
        parse(STABLE, "S.cfg").override({"MaxVote": "= 5"})


@given(
    st.builds(
        Cfg,
        specification=st.none() | NAMES,
        init=st.none() | NAMES,
        next=st.none() | NAMES,
        view=st.none() | NAMES,
        constants=st.dictionaries(NAMES, SIDES, max_size=4),
        invariants=LISTS,
        properties=LISTS,
        constraints=LISTS,
        action_constraints=LISTS,
        symmetry=LISTS,
    )
)
def test_what_is_written_reads_back(cfg: Cfg) -> None:
    assert cfg == parse(cfg.render(), "S.cfg")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SPECIFICATION\nINVARIANT X", "S.cfg:2: expected a name, not INVARIANT"),
        ("INIT I\nINIT J", "S.cfg:2: expected one INIT, not a second"),
        ("INVARIANTS A\nB A", "S.cfg:2: expected each name once, not A again"),
        ("CONSTANTS N = 1\n N = 2", "S.cfg:2: expected each constant once, not N again"),
        ("CONSTANT\nN 1", 'S.cfg:2: expected "=" or "<-" after a constant, not 1'),
        ("CONSTANT N = {1\n2}", 'S.cfg:2: expected ",", not 2'),
        ("CONSTANT N =\n\n", "S.cfg:3: expected a value, not the end of the file"),
        ("(* one\n(* two *)", 'S.cfg:1: expected "*)" for the comment that starts here'),
        ('CONSTANT N = "a', "S.cfg:1: expected a name, value or keyword, not '\"'"),
        ("SPEC Spec", "S.cfg:1: expected a keyword such as CONSTANTS or INVARIANTS, not SPEC"),
    ],
)
def test_every_refusal_says_where_and_what_was_expected(text: str, expected: str) -> None:
    with pytest.raises(FileError) as caught:
        parse(text, "S.cfg")
    assert expected == str(caught.value)
