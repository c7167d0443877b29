"""manifest: reading it; a manifest that contradicts itself is refused with `file:line`."""

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
    cores,
    find_root,
    load,
    protocols,
)

MANIFEST = """\
protocol: toy
module: MCToy
reference: {Member: [A, B], Views: "<- JoinViews", MaxVotes: 4, Variant: repaired}
claims:
  safety: {specification: Spec, view: view, invariants: [TypeOK, NoPrematurePurge, RequestServable], properties: [PurgedNeverDecreases]}
  liveness: {specification: FairSpec, invariants: TypeOK, properties: EventuallyPurged}
type_invariants: [TypeOK]
witnesses: {SomeonePurges: join, JoinerVotes: [join, join_small]}
models:
- name: join
  tier: full
  shows: nothing is purged too early when C joins
  bounds: two votes a member
  constants: {MaxVotes: 6}
  conform: true
- name: join_small
  tier: smoke
  shows: the control of the ablations
  constants: {Member: [C, A]}
  walk: true
  without:
  - name: ablation_view
    CheckView: false
    violates: NoPrematurePurge
    shows: a vote of another view counts
- name: settles_live
  tier: full
  claims: liveness
  shows: what all delivered is purged in the end
"""

RECORDED = """\
join: {distinct: 1234, transitions: 5678, depth: 21}
join_small: {distinct: 12, transitions: 34, depth: 5}
ablation_view: {trace: 12, violates: [NoPrematurePurge, RequestServable]}
settles_live: {distinct: 1, transitions: 2, depth: 3}
"""

ERRATA = """\
ablation_view:
  id: FLAW-15
  title: Votes of other views
  harm: purged too early
  flaw: A vote carries no view.
  repair: Compare the views.
  proved_by: [join]
"""

STUB = """\
---- MODULE MCToy ----
CONSTANTS Member, Views, MaxVotes, Variant

(* Guards: conditions of the algorithm. *)
CheckView == TRUE \\* a vote counts in its view alone

Apply == TRUE
LeakyApply == FALSE
SomeonePurges == TRUE
JoinerVotes == TRUE
RequestServable ==
    /\\ SomeonePurges
    /\\ JoinerVotes
====
"""


def project(root: Path, manifest: str = MANIFEST, recorded: str = RECORDED, errata: str = ERRATA) -> Path:
    folder = root / "spec" / "toy"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "MCToy.tla").write_text(STUB)
    (folder / "models.yaml").write_text(manifest)
    (folder / "recorded.yaml").write_text(recorded)
    (folder / "errata.yaml").write_text(errata)
    return root


def toy(root: Path) -> Manifest:
    return load(project(root), "toy")


def refusal(root: Path, old: str, new: str) -> str:
    """Load the manifest with one change in one of its files; the change must be possible."""
    texts = (MANIFEST, RECORDED, ERRATA)
    assert 1 == sum(text.count(old) for text in texts), old
    with pytest.raises(ManifestError) as caught:
        load(project(root, *(text.replace(old, new) for text in texts)), "toy")
    return str(caught.value).removeprefix("spec/toy/")


def test_a_model_that_holds_has_counts_and_one_that_violates_a_control(tmp_path: Path) -> None:
    manifest = toy(tmp_path)
    join, ablation = manifest.model("join"), manifest.model("ablation_view")
    assert (True, Counts(1234, 5678, 21), True) == (join.holds, join.counts, join.conform)
    assert ("NoPrematurePurge", None) == (ablation.violates, ablation.counts)
    assert (("CheckView",), "join_small", 12) == (ablation.ablates, ablation.control, ablation.trace)
    assert ("NoPrematurePurge", "RequestServable") == ablation.violated
    assert ablation.erratum == Erratum(
        id="FLAW-15",
        title="Votes of other views",
        harm="purged too early",
        claim="NoPrematurePurge",
        flaw="A vote carries no view.",
        repair="Compare the views.",
        proved_by=("join",),
    )


def test_claims_are_all_that_any_set_asserts_but_types(tmp_path: Path) -> None:
    expected = ("NoPrematurePurge", "RequestServable", "PurgedNeverDecreases", "EventuallyPurged")
    assert expected == toy(tmp_path).claims()


def test_a_witness_names_one_model_or_several(tmp_path: Path) -> None:
    expected = {"SomeonePurges": ("join",), "JoinerVotes": ("join", "join_small")}
    assert expected == toy(tmp_path).witnesses


def test_a_model_is_run_with_its_constants_in_place_of_the_reference(tmp_path: Path) -> None:
    manifest = toy(tmp_path)
    assert (
        cfg_text(manifest, manifest.model("ablation_view"))
        == """\
SPECIFICATION Spec
CONSTANTS
    CheckView = FALSE
    Member = {"A", "C"}
    Views <- JoinViews
    MaxVotes = 4
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


def test_of_many_models_the_near_one_is_named_and_where_to_find_the_others() -> None:
    known = tuple(f"model_{number}" for number in range(21))
    message = 'no model is called "modle_7" (did you mean model_7?); there are 21: groupcomm list shows them'
    assert message == str(UnknownNameError("model", "modle_7", known))


def test_the_root_is_found_from_any_folder_inside(tmp_path: Path) -> None:
    root = project(tmp_path)
    assert root == find_root(root / "spec" / "toy")
    with pytest.raises(FileNotFoundError, match="no folder from here up has specifications"):
        find_root(tmp_path.parent)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        # Form.
        ("protocol: toy", "protocol: gms", 'models.yaml:1: expected toy, not "gms"'),
        ("module: MCToy", "module: MCToi", "models.yaml:2: expected a module of this folder, but there is no MCToi.tla"),
        ("Variant: repaired", "Variant: [[1]]", "models.yaml:3: expected text without quotes, backslashes or line ends, not a list"),
        ("Variant: repaired", "Variant: repaired, CheckView: true",
         "models.yaml:3: expected a constant, not CheckView: MCToy defines this guard's value"),
        ("specification: FairSpec, ", "", 'models.yaml:6: expected "specification", or "init" and "next"'),
        ("specification: FairSpec", "like: fair", "models.yaml:6: expected a set of claims above it (safety)"),
        ("{specification: FairSpec", "{like: safety, more: {invariants: [TypeOK]}",
         "models.yaml:6: expected claims that the set has not yet, not one of TypeOK"),
        ("specification: FairSpec", "specification: FairSpec, constants: {MaxVote: 3}",
         "models.yaml:6: expected a constant of the reference, not MaxVote"),
        ("specification: FairSpec", "spec: FairSpec",
         'models.yaml:6: expected one of like, module, constants, more, specification, init, next, view, invariants, properties, constraints, action_constraints, symmetry, not the unknown key "spec"'),
        ("[TypeOK]", "[TypesOK]", "models.yaml:7: expected an invariant of a set of claims, not TypesOK"),
        ("tier: full\n  claims", "tier: fast\n  claims", 'models.yaml:27: expected one of smoke, full, deep, not "fast"'),
        ("walk: true", "walk: on",
         'models.yaml:20: expected an integer, true, false or text: if on is text, write "on"'),
        ("walk: true", "walk: 1", "models.yaml:20: expected true or false, not 1"),
        ("walk: true", "states: 12",
         'models.yaml:20: expected one of name, tier, shows, claims, bounds, constants, conform, walk, without, not the unknown key "states"'),
        ("  walk: true", "  tier: smoke", 'models.yaml:20: expected each key once, not "tier" again (first on line 17)'),
        ("distinct: 1234", "distinct: -1", "recorded.yaml:1: expected an integer from 0 up, not -1"),
        ("violates: NoPrematurePurge", "violates: [NoPrematurePurge]",
         "models.yaml:24: expected the name of a claim, not a list"),
        ("{MaxVotes: 6}", "{MaxVotes: {a: 1}}",
         'models.yaml:14: expected an integer, true, false, text, "<- Operator" or a list'),
        ("{MaxVotes: 6}", '{MaxVotes: "<- 6"}', 'models.yaml:14: expected "<- " and an operator, not "<- 6"'),
        ("{Member: [C, A]}", "{Member: [C, C]}", "models.yaml:19: expected a set, but an element is there twice"),
        # Fields that a model that holds, or violates, must and must not have.
        ("join_small: {distinct: 12, transitions: 34, depth: 5}\n", "",
         "models.yaml:16: expected a row of join_small in recorded.yaml, which groupcomm check --record writes"),
        ("{distinct: 12, ", "{", 'recorded.yaml:2: expected the key "distinct", which is missing'),
        ("{trace: 12, ", "{", 'recorded.yaml:3: expected the key "trace", which is missing'),
        ("join_small: {", "join_small: {trace: 3, ",
         'recorded.yaml:2: expected one of distinct, transitions, depth, not the unknown key "trace"'),
        ("    CheckView: false", "    CheckView: false\n    walk: true",
         'models.yaml:24: expected one of name, violates, shows, tier, bounds, not the unknown key "walk"'),
        ("depth: 5", 'depth: 5, digest: "0123456789abcdef"',
         'recorded.yaml:2: expected one of distinct, transitions, depth, not the unknown key "digest"'),
        ("    CheckView: false\n", "",
         "models.yaml:22: expected a constant in which the ablation differs from its control, such as Guard: false"),
        # Parts against each other.
        ("{MaxVotes: 6}", '{MaxVotes: 6, Gone: "<- LeakyApply"}',
         "models.yaml:14: expected a constant of the reference, a guard, or an operator that is replaced, not Gone"),
        ("{MaxVotes: 6}", "{MaxVotes: 6, Apply: true}",
         "models.yaml:14: expected a constant of the reference, a guard, or an operator that is replaced, not Apply"),
        ("    CheckView: false", "    CheckVeiw: false",
         "models.yaml:23: expected a constant of the reference, a guard, or an operator that is replaced, not CheckVeiw"),
        ("  harm: purged too early", "  story: Nowhere\n  harm: purged too early",
         "errata.yaml:4: expected a predicate that the modules define, not Nowhere"),
        ("harm: purged too early", "harm: a | b", 'errata.yaml:4: expected one line of text without |, not "a | b"'),
        ("  harm: purged too early", "  several: two things\n  harm: purged too early",
         'errata.yaml:4: expected no "several", as one constant is ablated'),
        ("ablation_view:\n", "join:\n", "errata.yaml:1: expected an ablation of spec/toy/models.yaml, not join"),
        ("ablation_view:\n", "ablation_viev:\n", "errata.yaml:1: expected an ablation of spec/toy/models.yaml, not ablation_viev"),
        ("settles_live: {", "ended_live: {distinct: 1, transitions: 2, depth: 3}\nsettles_live: {",
         "recorded.yaml:4: expected a model of spec/toy/models.yaml, not ended_live: groupcomm check --record leaves it out"),
        ("name: join_small", "name: join", 'models.yaml:16: expected each model once, not "join" again (first on line 10)'),
        ("name: ablation_view", "name: ablation_live",
         "models.yaml:22: expected a row of ablation_live in recorded.yaml, which groupcomm check --record writes"),
        ("  claims: liveness\n", "",
         "models.yaml:26: expected a name that ends in _live if and only if the claims are for liveness"),
        ("  claims: liveness", "  claims: fair", "models.yaml:28: expected a set of claims of this manifest (safety, liveness), not fair"),
        ("{MaxVotes: 6}", "{Votes: 6}",
         "models.yaml:14: expected a constant of the reference, a guard, or an operator that is replaced, not Votes"),
        ("violates: NoPrematurePurge", "violates: Nothing",
         "models.yaml:24: expected a claim of the set safety, not Nothing"),
        ("[NoPrematurePurge, RequestServable]}", "[RequestServable]}",
         "recorded.yaml:3: expected NoPrematurePurge among the violated claims, as ablation_view violates it first"),
        ("[NoPrematurePurge, RequestServable]}", "[NoPrematurePurge, TypeOK]}",
         "recorded.yaml:3: expected a claim that is no type invariant, not TypeOK"),
        ("[NoPrematurePurge, RequestServable]}", "[NoPrematurePurge, RequestServable/2]}",
         "recorded.yaml:3: expected RequestServable among the violated claims, as RequestServable/2 is"),
        ("[NoPrematurePurge, RequestServable]}", "[NoPrematurePurge, RequestServable, RequestServable/3]}",
         "recorded.yaml:3: expected one of the 2 conjuncts of RequestServable, not RequestServable/3"),
        ("    CheckView: false", "    tier: smoke\n    CheckView: true",
         "models.yaml:24: expected another value than that of join_small, CheckView = TRUE"),
        ("Variant: repaired", "Variant: repaired, Gone: 1",
         "models.yaml:3: expected a constant of the modules, but none declares Gone"),
        ("{SomeonePurges: join,", "{SomeoneVotes: join,",
         "models.yaml:8: expected a predicate that the modules of join define, but none defines SomeoneVotes"),
        # Nothing to judge.
        ("{SomeonePurges: join,", "{SomeonePurges: [],",
         "models.yaml:8: expected the models in which SomeonePurges must be reached, not an empty list"),
        ("properties: EventuallyPurged", "properties: []",
         "models.yaml:6: expected a claim besides type invariants: models that assert nothing hold in vain"),
        ("proved_by: [join]", "proved_by: [ablation_view]", "errata.yaml:7: expected a model that holds, not ablation_view"),
        ("{SomeonePurges: join,", "{SomeonePurges: settles_live,",
         "models.yaml:8: expected a model for safety, not settles_live: its name ends in _live"),
        ("  claims: liveness\n", "  claims: liveness\n  walk: true\n",
         'models.yaml:29: expected "walk" only with claims for safety that have no CONSTRAINT, not liveness'),
    ],
)  # fmt: skip
def test_a_wrong_manifest_is_refused_where_it_is_wrong(tmp_path: Path, old: str, new: str, expected: str) -> None:
    assert expected == refusal(tmp_path, old, new)


def test_an_ablation_of_a_deep_model_is_deep(tmp_path: Path) -> None:
    deep = MANIFEST.replace("name: join_small\n  tier: smoke", "name: join_small\n  tier: deep")
    assert "deep" == load(project(tmp_path, deep), "toy").model("ablation_view").tier
    early = deep.replace("    CheckView", "    tier: smoke\n    CheckView")
    with pytest.raises(ManifestError, match=r"models.yaml:23: expected deep, as the control join_small is, not smoke"):
        load(project(tmp_path, early), "toy")


def test_two_models_do_not_show_the_same_erratum(tmp_path: Path) -> None:
    start, end = MANIFEST.index("  - name: ablation_view"), MANIFEST.index("- name: settles_live")
    manifest = MANIFEST[:end] + MANIFEST[start:end].replace("_view", "_again") + MANIFEST[end:]
    recorded = RECORDED + "ablation_again: {trace: 12, violates: [NoPrematurePurge]}\n"
    errata = ERRATA + ERRATA.replace("ablation_view", "ablation_again")
    with pytest.raises(ManifestError) as caught:
        load(project(tmp_path, manifest, recorded, errata), "toy")
    assert "spec/toy/errata.yaml:9: expected an ID of its own: ablation_view has FLAW-15" == str(caught.value)


def test_an_erratum_ablates_one_constant_or_says_why_more(tmp_path: Path) -> None:
    two = MANIFEST.replace("    CheckView: false\n", "    CheckView: false\n    Variant: note\n")
    with pytest.raises(ManifestError) as caught:
        load(project(tmp_path, two), "toy")
    assert str(caught.value).startswith(
        "spec/toy/errata.yaml:2: expected one constant ablated, not CheckView, Variant: "
    )
    argued = ERRATA.replace("  harm:", "  several: The note differs in both.\n  harm:")
    ablation = load(project(tmp_path, two, errata=argued), "toy").model("ablation_view")
    assert ("CheckView", "Variant") == ablation.ablates
    assert ablation.erratum is not None
    assert "The note differs in both." == ablation.erratum.several


def test_claims_for_liveness_hide_and_bound_nothing(tmp_path: Path) -> None:
    hiding = MANIFEST.replace("specification: FairSpec", "specification: FairSpec, symmetry: Permutations")
    with pytest.raises(ManifestError) as caught:
        load(project(tmp_path, hiding), "toy")
    expected = "6: expected a set of claims for liveness, which has no VIEW, CONSTRAINT or SYMMETRY"
    assert f"spec/toy/models.yaml:{expected}" == str(caught.value)


def test_a_folder_of_a_note_has_no_core(tmp_path: Path) -> None:
    root = project(tmp_path)
    (root / "spec" / "toy").rename(root / "spec" / "note_toy")
    project(root)
    assert (protocols(root), cores(root)) == (("note_toy", "toy"), ("toy",))


def test_protocols_stand_in_the_order_of_the_stack_and_others_after_them(tmp_path: Path) -> None:
    root = project(tmp_path)
    for name in ("note_toy", "above", "below"):
        project(tmp_path)
        (root / "spec" / "toy").rename(root / "spec" / name)
    project(root)
    (root / "spec" / "common").mkdir()
    (root / "spec" / "common" / "layers.yaml").write_text("toy:\n  does: a\nNETWORK: {}\nbelow:\n  does: b\n")
    assert protocols(root) == ("toy", "below", "above", "note_toy")


@pytest.mark.parametrize("key", ["conform", "walk"])
def test_a_note_s_own_algorithm_has_no_core_to_follow_it(tmp_path: Path, key: str) -> None:
    text = MANIFEST.replace("protocol: toy", "protocol: note_toy")
    text = text.replace("conform: true", "conform: false") if key == "walk" else text
    folder = project(tmp_path, text) / "spec" / "note_toy"
    folder.with_name("toy").rename(folder)
    with pytest.raises(ManifestError, match=rf'note_toy/models.yaml:\d+: expected no "{key}" in a folder note_...'):
        load(tmp_path, "note_toy")


def test_a_model_with_constraints_is_no_source_of_tables(tmp_path: Path) -> None:
    bounded = MANIFEST.replace("view: view", "view: view, constraints: Small")
    with pytest.raises(ManifestError, match=r'^spec/toy/models.yaml:15: expected "conform" only with'):
        load(project(tmp_path, bounded), "toy")


def test_a_set_like_another_says_only_what_differs(tmp_path: Path) -> None:
    weak = "  weak: {like: safety, constants: {MaxVotes: 1}, invariants: [TypeOK], more: {properties: Bounded}}\n"
    cfgs = load(project(tmp_path, MANIFEST.replace("  liveness: {", weak + "  liveness: {")), "toy").cfgs
    assert ("Spec", "view") == (cfgs["weak"].specification, cfgs["weak"].view)
    assert ("TypeOK", "PurgedNeverDecreases", "Bounded") == cfgs["weak"].claims
    assert {**cfgs["safety"].constants, "MaxVotes": "= 1"} == cfgs["weak"].constants


NOTE = """\
  note: {module: NoteToy, specification: NoteSpec, constants: {Lists: copy}, invariants: [TypeOK, NoMessageLost]}
  note_live: {like: note, more: {properties: NoReceiverHangs}}
  liveness: {"""


def noted(root: Path, note: str = NOTE) -> Path:
    (project(root) / "spec" / "toy" / "NoteToy.tla").write_text(
        "---- MODULE NoteToy ----\nCONSTANTS Lists, MaxVotes\n====\n"
    )
    return project(root, MANIFEST.replace("  liveness: {", note))


def test_a_set_over_another_module_has_what_both_declare_from_the_reference(tmp_path: Path) -> None:
    manifest = load(noted(tmp_path), "toy")
    assert ["MCToy", "NoteToy", "NoteToy"] == [*map(manifest.module_of, ("safety", "note", "note_live"))]
    expected = {"MaxVotes": "= 4", "Lists": '= "copy"'}
    assert expected == manifest.cfgs["note"].constants == manifest.cfgs["note_live"].constants
    assert ["MCToy", "NoteToy"] == [*map(manifest.module_with, ("NoPrematurePurge", "NoMessageLost"))]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("NoteToy", "OtherToy", "6: expected a module of this folder, but there is no OtherToy.tla"),
        ("{module: NoteToy,", "{module: NoteToy, like: safety,",
         '6: expected no "module" in a set that is like another, which has one'),
        ("{like: note,", "{like: note, constants: {Views: 1},", "7: expected a constant of the reference, not Views"),
    ],
)  # fmt: skip
def test_a_set_over_another_module_is_refused(tmp_path: Path, old: str, new: str, expected: str) -> None:
    with pytest.raises(ManifestError) as caught:
        load(noted(tmp_path, NOTE.replace(old, new)), "toy")
    assert f"spec/toy/models.yaml:{expected}" == str(caught.value)


def test_what_another_module_shows_is_no_source_of_tables(tmp_path: Path) -> None:
    root = noted(tmp_path)
    text = (root / "spec" / "toy" / "models.yaml").read_text()
    walked = text.replace("constants: {Member: [C, A]}", "claims: note")
    with pytest.raises(ManifestError, match='expected "walk" only in a model of MCToy, not of NoteToy'):
        load(project(root, walked), "toy")


def test_a_composition_reads_the_modules_of_others(tmp_path: Path) -> None:
    (tmp_path / "spec" / "below").mkdir(parents=True)
    composed = MANIFEST.replace("module: MCToy\n", "module: MCToy\nwith: [below]\n")
    assert tmp_path / "spec" / "below" in load(project(tmp_path, composed), "toy").folders
    with pytest.raises(ManifestError, match="3: expected a protocol, but there is no spec/above"):
        load(project(tmp_path, composed.replace("with: [below]", "with: [above]")), "toy")


INSIDE = """\
---- MODULE Below ----
(* Guards: conditions of the layer below. *)
Resend == TRUE
====
"""


def test_a_model_may_give_a_guard_of_an_instance_another_value(tmp_path: Path) -> None:
    deaf = MANIFEST.replace("    CheckView: false", "    Resend: false")
    root = project(tmp_path, deaf)
    module = root / "spec" / "toy" / "MCToy.tla"
    module.write_text(module.read_text().replace("Apply ==", "B == INSTANCE Below\nApply ==", 1))
    (root / "spec" / "toy" / "Below.tla").write_text(INSIDE)
    manifest = load(root, "toy")
    assert "Resend" not in manifest.reference
    assert "    Resend =[Below] FALSE\n" in cfg_text(manifest, manifest.model("ablation_view"))


def test_a_model_may_put_another_operator_in_the_place_of_one(tmp_path: Path) -> None:
    """A defect of the model itself: an operator that leaks, in the place of the operator that does not."""
    leaky = MANIFEST.replace("    CheckView: false", '    Apply: "<- LeakyApply"')
    manifest = load(project(tmp_path, leaky), "toy")
    assert "    Apply <- LeakyApply\n" in cfg_text(manifest, manifest.model("ablation_view"))


def test_what_will_be_recorded_may_be_missing(tmp_path: Path) -> None:
    root = project(tmp_path)
    (root / "spec" / "toy" / "recorded.yaml").unlink()
    with pytest.raises(ManifestError, match=r"a row of join in recorded\.yaml"):
        load(root, "toy")
    manifest = load(root, "toy", recording=True)
    assert manifest.model("join_small").counts is None
    assert (None, ()) == (manifest.model("ablation_view").trace, manifest.model("ablation_view").violated)


def test_a_row_of_what_the_model_was_before_is_no_row(tmp_path: Path) -> None:
    """The model held, and is an ablation now."""
    root = project(
        tmp_path,
        recorded=RECORDED.replace(
            "{trace: 12, violates: [NoPrematurePurge, RequestServable]}", "{distinct: 1, transitions: 2, depth: 3}"
        ),
    )
    with pytest.raises(ManifestError, match=r"recorded\.yaml:3: expected one of trace, violates"):
        load(root, "toy")
    assert load(root, "toy", recording=True).model("ablation_view").trace is None
