"""manifest: what a manifest says, and that one which contradicts itself is refused with `file:line`."""

from pathlib import Path

import pytest

from groupcomm_conformance.models.manifest import (
    Counts,
    Erratum,
    Manifest,
    ManifestError,
    UnknownNameError,
    cfg_text,
    constant_text,
    find_root,
    load,
    protocols,
)

SAFETY_CFG = r"""\* defaults
SPECIFICATION Spec
VIEW view
CONSTANTS Member = {"A", "B"}  Views <- JoinViews  MaxVotes = 4  CheckView = TRUE  Variant = "repaired"
INVARIANTS TypeOK NoPrematurePurge RequestServable
PROPERTIES PurgedNeverDecreases
"""
LIVE_CFG = """SPECIFICATION FairSpec
CONSTANTS Member = {"A", "B"}  Views <- JoinViews  MaxVotes = 4  CheckView = TRUE  Variant = "repaired"
INVARIANT TypeOK
PROPERTIES EventuallyPurged
"""
MANIFEST = """\
protocol: toy
module: MCToy
cfgs: {safety: MCToy.cfg, liveness: MCToy_live.cfg}
type_invariants: [TypeOK]
witnesses: {SomeonePurges: join, JoinerVotes: [join, join_small]}
models:
- name: join
  tier: full
  expect: holds
  shows: nothing is purged too early when C joins
  bounds: two votes a member
  constants: {MaxVotes: 6}
  distinct: 1234
  transitions: 5678
  depth: 21
  conform: true
- name: join_small
  tier: smoke
  expect: holds
  shows: the control of the ablations
  constants: {Member: [C, A]}
  distinct: 12
  transitions: 34
  depth: 5
  walk: true
- name: ablation_view
  tier: smoke
  expect: "violates: NoPrematurePurge"
  shows: a vote of another view counts
  constants: {Member: [A, C], CheckView: false}
  ablates: CheckView
  control: join_small
  trace: 12
  falls: [NoPrematurePurge, RequestServable]
  erratum:
    id: FLAW-15
    title: Votes of other views
    flaw: A vote carries no view.
    repair: Compare the views.
    proved_by: [join]
- name: settles_live
  tier: full
  cfg: liveness
  expect: holds
  shows: what all delivered is purged in the end
  distinct: 1
  transitions: 2
  depth: 3
"""


def project(root: Path, manifest: str = MANIFEST, safety: str = SAFETY_CFG, live: str = LIVE_CFG) -> Path:
    folder = root / "spec" / "toy"
    folder.mkdir(parents=True, exist_ok=True)
    (root / "conformance").mkdir(exist_ok=True)
    (folder / "MCToy.tla").write_text("")
    (folder / "MCToy.cfg").write_text(safety)
    (folder / "MCToy_live.cfg").write_text(live)
    (folder / "models.yaml").write_text(manifest)
    return root


def toy(root: Path) -> Manifest:
    return load(project(root), "toy")


def refusal(root: Path, old: str, new: str) -> str:
    """Load the manifest with one change; the change must be possible."""
    assert MANIFEST.count(old) == 1, old
    with pytest.raises(ManifestError) as caught:
        load(project(root, MANIFEST.replace(old, new)), "toy")
    return str(caught.value)


def test_a_model_that_holds_has_counts_and_one_that_violates_a_control(tmp_path: Path) -> None:
    manifest = toy(tmp_path)
    join, ablation = manifest.model("join"), manifest.model("ablation_view")
    assert (True, Counts(1234, 5678, 21), True) == (join.holds, join.counts, join.conform)
    assert ("NoPrematurePurge", None) == (ablation.violates, ablation.counts)
    assert (("CheckView",), "join_small", 12) == (ablation.ablates, ablation.control, ablation.trace)
    assert ("NoPrematurePurge", "RequestServable") == ablation.falls
    assert ablation.erratum == Erratum(
        "FLAW-15", "Votes of other views", "A vote carries no view.", "Compare the views.", ("join",)
    )


def test_claims_are_all_that_any_cfg_asserts_but_types(tmp_path: Path) -> None:
    expected = ("NoPrematurePurge", "RequestServable", "PurgedNeverDecreases", "EventuallyPurged")
    assert expected == toy(tmp_path).claims()


def test_a_witness_names_one_model_or_several(tmp_path: Path) -> None:
    expected = {"SomeonePurges": ("join",), "JoinerVotes": ("join", "join_small")}
    assert expected == toy(tmp_path).witnesses


def test_a_model_is_run_with_its_constants_in_place_of_the_defaults(tmp_path: Path) -> None:
    manifest = toy(tmp_path)
    assert (
        cfg_text(manifest, manifest.model("ablation_view"))
        == """\
SPECIFICATION Spec
CONSTANTS
    Member = {"A", "C"}
    Views <- JoinViews
    MaxVotes = 4
    CheckView = FALSE
    Variant = "repaired"
VIEW view
INVARIANTS
    TypeOK
    NoPrematurePurge
    RequestServable
PROPERTIES
    PurgedNeverDecreases
"""
    )


def test_a_dump_has_no_view_and_a_run_may_add_invariants(tmp_path: Path) -> None:
    manifest = toy(tmp_path)
    text = cfg_text(manifest, manifest.model("join"), view=False, extra_invariants=("Emit",))
    assert "VIEW" not in text
    assert "    RequestServable\n    Emit\nPROPERTIES" in text


def test_constants_are_written_as_tla() -> None:
    texts = [constant_text(v) for v in (3, -1, True, False, "note", "<- JoinViews", ("B", "A"), (10, 9), ())]
    assert texts == [
        *("= 3", "= -1", "= TRUE", "= FALSE", '= "note"', "<- JoinViews"),
        *('= {"A", "B"}', "= {9, 10}", "= {}"),
    ]


def test_the_json_view_leaves_out_what_is_not_said(tmp_path: Path) -> None:
    view = toy(tmp_path).to_json()
    assert isinstance(view["models"], list)
    assert view["models"][1] == {
        "name": "join_small",
        "tier": "smoke",
        "cfg": "safety",
        "expect": "holds",
        "shows": "the control of the ablations",
        "constants": {"Member": ["C", "A"]},
        "counts": {"distinct": 12, "transitions": 34, "depth": 5},
        "walk": True,
    }


def test_protocols_are_the_folders_with_a_manifest(tmp_path: Path) -> None:
    root = project(tmp_path)
    (root / "spec" / "common").mkdir()
    assert protocols(root) == ("toy",)
    with pytest.raises(UnknownNameError, match=r'^no protocol is called "gms"; there is toy$'):
        load(root, "gms")


def test_an_unknown_model_is_told_the_known_ones(tmp_path: Path) -> None:
    message = 'no model is called "jion" (did you mean join?); there is join, join_small, ablation_view, settles_live'
    with pytest.raises(UnknownNameError) as caught:
        toy(tmp_path).model("jion")
    assert message == str(caught.value)


def test_the_root_is_found_from_any_folder_inside(tmp_path: Path) -> None:
    root = project(tmp_path)
    assert root == find_root(root / "spec" / "toy")
    with pytest.raises(FileNotFoundError, match="no folder from here up is the project"):
        find_root(tmp_path.parent)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        # Form.
        ("protocol: toy", "protocol: gms", '1: expected toy, not "gms"'),
        ("module: MCToy", "module: MCToi", "2: expected a module of this folder, but there is no MCToi.tla"),
        ("{safety: MCToy.cfg", "{safety: X.cfg", "3: expected a cfg file of this folder, but there is no X.cfg"),
        ("[TypeOK]", "[TypesOK]", "4: expected an invariant of a cfg file, not TypesOK"),
        ("tier: full\n  cfg", "tier: fast\n  cfg", '42: expected one of smoke, full, deep, not "fast"'),
        ("walk: true", "walk: on",
         '25: expected an integer, true, false or text: if on is text, write "on"'),
        ("walk: true", "walk: 1", "25: expected true or false, not 1"),
        ("walk: true", "states: 12",
         '25: expected one of name, tier, expect, shows, cfg, bounds, constants, conform, walk, distinct, transitions, depth, ablates, control, trace, falls, erratum, not the unknown key "states"'),
        ("  walk: true", "  depth: 5", '25: expected each key once, not "depth" again (first on line 24)'),
        ("distinct: 1234", "distinct: -1", "13: expected an integer from 0 up, not -1"),
        ('"violates: NoPrematurePurge"', "fails", '28: expected "holds" or "violates: Name", not "fails"'),
        ("{MaxVotes: 6}", "{MaxVotes: {a: 1}}",
         '12: expected an integer, true, false, text, "<- Operator" or a list'),
        ("{MaxVotes: 6}", '{MaxVotes: "<- 6"}', '12: expected "<- " and an operator, not "<- 6"'),
        ("{Member: [C, A]}", "{Member: [C, C]}", "21: expected a set, but an element is there twice"),
        # What a model that holds, or violates, must and must not say.
        ("  distinct: 12\n", "", '17: expected the key "distinct", which a model that holds must have'),
        ("  trace: 12\n", "", '26: expected the key "trace", which a model that violates a claim must have'),
        ("  walk: true", "  trace: 3", '25: expected no "trace", which only a model that violates a claim may have'),
        ("  trace: 12", "  trace: 12\n  walk: true",
         '34: expected no "walk", which only a model that holds may have'),
        # Parts against each other.
        ("name: join_small", "name: join", '17: expected each model once, not "join" again (first on line 7)'),
        ("name: settles_live", "name: settles",
         "41: expected a name that ends in _live if and only if the cfg is for liveness"),
        ("  cfg: liveness", "  cfg: fair", "43: expected a cfg of this manifest (safety, liveness), not fair"),
        ("{MaxVotes: 6}", "{Votes: 6}", "12: expected a constant of MCToy.cfg, not Votes"),
        ('"violates: NoPrematurePurge"', '"violates: Nothing"',
         "28: expected a claim of MCToy.cfg after violates:, not Nothing"),
        ("[NoPrematurePurge, RequestServable]", "[RequestServable]",
         "34: expected NoPrematurePurge among the claims that fall, as the model violates it"),
        ("[NoPrematurePurge, RequestServable]", "[NoPrematurePurge, TypeOK]",
         "34: expected a claim of a cfg file that is no type invariant, not TypeOK"),
        ("control: join_small", "control: gone", "32: expected a model that holds, not gone"),
        ("control: join_small", "control: join",
         "32: expected a model that differs in CheckView only; join has MaxVotes = 6, here it is MaxVotes = 4"),
        ("control: join_small", "control: settles_live", "32: expected a model with the cfg safety, not liveness"),
        ("tier: smoke\n  expect: holds", "tier: deep\n  expect: holds",
         "32: expected a model that is run with tier smoke, not a deep one"),
        (", CheckView: false}", "}", "31: expected a constant that differs from join_small, not CheckView"),
        ("ablates: CheckView", "ablates: [CheckView, Variant]",
         "31: expected a constant that differs from join_small, not Variant"),
        ("proved_by: [join]", "proved_by: [ablation_view]", "40: expected a model that holds, not ablation_view"),
        ("{SomeonePurges: join,", "{SomeonePurges: settles_live,",
         "5: expected a model for safety, not settles_live: its name ends in _live"),
        ("  distinct: 1\n", "  distinct: 1\n  walk: true\n",
         '47: expected "walk" only with a cfg for safety that has no CONSTRAINT, not liveness'),
    ],
)  # fmt: skip
def test_a_wrong_manifest_is_refused_where_it_is_wrong(
    tmp_path: Path, old: str, new: str, expected: str
) -> None:
    assert f"spec/toy/models.yaml:{expected}" == refusal(tmp_path, old, new)


def test_two_models_do_not_show_the_same_erratum(tmp_path: Path) -> None:
    start = MANIFEST.index("- name: ablation_view")
    end = MANIFEST.index("- name: settles_live")
    again = MANIFEST[start:end].replace("ablation_view", "ablation_again")
    with pytest.raises(ManifestError) as caught:
        load(project(tmp_path, MANIFEST[:end] + again + MANIFEST[end:]), "toy")
    expected = "spec/toy/models.yaml:51: expected an ID of its own: ablation_view has FLAW-15"
    assert expected == str(caught.value)


def test_a_cfg_for_liveness_hides_and_bounds_nothing(tmp_path: Path) -> None:
    with pytest.raises(ManifestError) as caught:
        load(project(tmp_path, live=LIVE_CFG + "SYMMETRY Permutations"), "toy")
    expected = (
        "spec/toy/models.yaml:3: expected a cfg for liveness, which has no VIEW, CONSTRAINT or SYMMETRY"
    )
    assert expected == str(caught.value)


def test_a_model_with_constraints_is_no_source_of_tables(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match=r'^spec/toy/models.yaml:16: expected "conform" only with'):
        load(project(tmp_path, safety=SAFETY_CFG + "CONSTRAINT Small"), "toy")


def test_an_error_in_a_cfg_file_is_one_of_that_file(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match=r"^spec/toy/MCToy.cfg:1: expected a keyword such as"):
        load(project(tmp_path, safety="SPEC Other\n" + SAFETY_CFG), "toy")
