"""cfg: TLC's configuration, changed and written."""

import pytest

from groupcomm_conformance.tla.cfg import Cfg, properties_of, set_text

CFG = Cfg(
    specification="Spec",
    view="view",
    constants={"Member": '= {"A", "B", "C"}', "MaxVotes": "= 4", "Views": "<- JoinViews", "Variant": '= "repaired"'},
    invariants=("TypeOK", "NoPrematurePurge"),
    properties=("Terminates",),
    action_constraints=("Few",),
)


def test_a_cfg_is_written_as_tlc_reads_it() -> None:
    assert (
        CFG.render()
        == """\
SPECIFICATION Spec
CONSTANTS
    Member = {"A", "B", "C"}
    MaxVotes = 4
    Views <- JoinViews
    Variant = "repaired"
VIEW view
ACTION_CONSTRAINTS
    Few
INVARIANTS
    TypeOK
    NoPrematurePurge
PROPERTIES
    Terminates
"""
    )


def test_claims_are_invariants_then_properties() -> None:
    assert ("TypeOK", "NoPrematurePurge", "Terminates") == CFG.claims


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("SPECIFICATION Spec", ()),
        ("PROPERTY P\nINVARIANTS A B", ("P",)),
        ("PROPERTIES\n    P\n    Q\nPROPERTY R", ("P", "Q", "R")),
        (CFG.render(), ("Terminates",)),
    ],
)
def test_the_properties_of_a_cfg_file_are_those_it_names(text: str, names: tuple[str, ...]) -> None:
    assert names == properties_of(text)


def test_a_set_is_written_in_one_order() -> None:
    """Numbers by size, before text: equal sets are equal text."""
    assert '{-1, 2, 10, "A", "B"}' == set_text({"10", '"B"', "2", '"A"', "-1"})
