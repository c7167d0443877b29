"""why: the last state of a counterexample says what is false there, and for which members."""

import shutil
from pathlib import Path

import pytest
from attrs import evolve

from groupcomm_conformance.models.checking import Cache, CheckedModel, differences, run_model
from groupcomm_conformance.models.manifest import Manifest, Model, load
from groupcomm_conformance.tla.witnesses import Leaf, conjuncts, instrumented
from groupcomm_conformance.why.why import Reasons, Why, why

DATA = Path(__file__).parent / "data"
CLAIM = "NoEarlyCommit == \\A m \\in Member : local[m].committed => \\A n \\in Member : local[n].voted"


PROMISED = """Promised == INSTANCE Promise WITH in <- {m \\in Member : local[m].committed}, Off <- {"Small"}
CommittedStaysStep == TRUE => Promised!Next"""
MODULES = {
    "Most": """---- MODULE Most ----
CONSTANT All
LOCAL Voted(s) == s.voted
Most(all) == \\A m \\in All : all[m].committed => \\A n \\in All : Voted(all[n])
====
""",
    "Promise": """---- MODULE Promise ----
CONSTANT Off
VARIABLE in
Conjuncts == {"Grows", "Small", "Any"}
Next ==
    \\* Grows: A member that is in stays in.
    /\\ "Grows" \\notin Off => in \\subseteq in'
    \\* Small: No member comes in.
    /\\ "Small" \\notin Off => in' \\subseteq in
    \\* Any: A set follows.
    /\\ "Any" \\notin Off => in' = in' \\cup {}
====
""",
}


@pytest.fixture(scope="module")
def toy() -> Manifest:
    return load(DATA, "toy")


def said(manifest: Manifest, name: str, cache: Path) -> Why:
    model = manifest.model(name)
    found = why(manifest, model, run_model(manifest, model, cache=Cache.of(cache)), Reasons.of(cache))
    assert found is not None
    return found


def edited(folder: Path, *changes: tuple[str, str]) -> Manifest:
    """The toy with changes of its group, which may also instantiate two modules more."""
    shutil.copytree(DATA, folder, dirs_exist_ok=True)
    for name, text in MODULES.items():
        (folder / f"spec/common/{name}.tla").write_text(text)
    module = folder / "spec/toy/ToyGroup.tla"
    text = module.read_text()
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    module.write_text(text)
    return load(folder, "toy")


def test_an_invariant_is_false_for_members(toy: Manifest, checked_toy: Path) -> None:
    """In the toy's counterexample A votes and commits at once; only B has not voted."""
    found = said(toy, "hasty", checked_toy)
    assert ("No member commits before all have voted.", "ToyGroup.tla:68") == (found.sentence, found.place)
    assert ("for m = A, n = B: local[n].voted",) == found.cases
    assert [
        "NoEarlyCommit is false: No member commits before all have voted.",
        "- for m = A, n = B: local[n].voted",
    ] == found.lines()


def test_an_action_property_is_false_for_the_last_step(toy: Manifest, checked_toy: Path) -> None:
    """Its comment is a requirement's ID alone, which says nothing."""
    found = said(toy, "forgetful", checked_toy)
    assert ("CommittedStays", "") == (found.claim, found.sentence)
    assert ("for m = A: local'[m].committed",) == found.cases


def test_liveness_has_no_values_but_its_acts(toy: Manifest, checked_toy: Path) -> None:
    """Models of liveness do not keep `act`: following the counterexample once more gives it."""
    found = said(toy, "lossy_live", checked_toy)
    assert () == found.cases
    assert found.plain.startswith("After state 9 the behaviour continues with state 8, and so for ever.")
    assert "act" in found.trace[0].values


def test_what_is_compared_is_told_with_both_values(tmp_path: Path) -> None:
    manifest = edited(
        tmp_path,
        (
            CLAIM,
            """NoEarlyCommit ==
    /\\ TRUE
    /\\ \\A m \\in Member : local[m].committed =>
           local[m].heard_from = Member""",
        ),
    )
    found = said(manifest, "hasty", tmp_path)
    assert ("for m = A: local[m].heard_from = Member, that is {A} = {A, B}",) == found.cases


@pytest.mark.parametrize(
    ("claim", "cases"),
    [
        (
            "NoEarlyCommit == (\\E m \\in Member : local[m].committed) => ~\\E n \\in Member : ~local[n].voted",
            ("~\\E n \\in Member : ~local[n].voted",),
        ),
        (
            r"""Voted(x, n) == \A y \in Member : local[y].voted
AllVoted == {m \in Member : local[m].voted} = Member
Done == (\A m \in Member : local[m].committed => Voted(m, 1)) /\ (AllVoted \/ network = {})
NoEarlyCommit == IF lost = {} THEN (\E m \in Member : local[m].committed) => Done /\ AllVoted ELSE TRUE""",
            (
                "Voted: for x = A, n = 1, y = B: local[y].voted",
                "Done: AllVoted \\/ network = {}",
                "AllVoted: {m \\in Member : local[m].voted} = Member, that is {A} = {A, B}",
            ),
        ),
        (
            "Other == INSTANCE Most WITH All <- Member\nNoEarlyCommit == Other!Most(local)",
            ("Most: for m = A, n = B: Voted(all[n])",),
        ),
    ],
    ids=["no member", "operators", "an instance"],
)
def test_the_part_that_is_false_is_told(tmp_path: Path, claim: str, cases: tuple[str, ...]) -> None:
    """Through operators, both branches of an IF, conjunctions on a line and instances."""
    manifest = edited(tmp_path, (CLAIM, claim))
    assert cases == said(manifest, "hasty", tmp_path).cases


def test_a_refinement_names_the_conjunct_that_its_step_violates(tmp_path: Path) -> None:
    manifest = edited(
        tmp_path, ("CommittedStaysStep == \\A m \\in Member : local[m].committed => local'[m].committed", PROMISED)
    )
    found = said(manifest, "forgetful", tmp_path)
    assert ("the step violates Promise!Grows: A member that is in stays in.",) == found.cases


def test_a_model_that_holds_needs_no_reason(toy: Manifest, checked_toy: Path) -> None:
    model = toy.model("pair")
    checked = run_model(toy, model, cache=Cache.of(checked_toy))
    assert why(toy, model, checked) is None


# Stories


def told(manifest: Manifest, name: str, story: str) -> tuple[Model, CheckedModel]:
    """Run a model whose erratum has this `story`."""
    model = manifest.model(name)
    assert model.erratum is not None
    model = evolve(model, erratum=evolve(model.erratum, story=story))
    return model, run_model(manifest, model)


def test_a_story_is_the_shortest_counterexample_that_leads_to_it(toy: Manifest) -> None:
    """One member commits too early in 3 states; that all do takes one more."""
    model, checked = told(toy, "hasty", "AllCommit")
    assert "violates: NoEarlyCommit" == checked.outcome
    assert ["Initial predicate", "Vote", "ReceiveVoteFrom", "ReceiveVoteFrom"] == [s.action for s in checked.trace]
    assert ["trace: expected 3 states, came 4"] == differences(model, checked)
    assert frozenset({"NoEarlyCommit"}) == checked.falls


def test_a_story_that_never_comes_is_no_counterexample(tmp_path: Path) -> None:
    """A flaw that does not lead where the prose says is a difference."""
    manifest = edited(tmp_path, ("AllCommit ==", "AllCommit == (0 = 1) /\\"))
    model, checked = told(manifest, "hasty", "AllCommit")
    assert ["expected violates: NoEarlyCommit, came holds"] == differences(model, checked)


def story_model(toy: Manifest, name: str, story: str) -> Model:
    model = toy.model(name)
    hasty = toy.model("hasty").erratum
    assert hasty is not None
    erratum = evolve(hasty, id="TOY-92", claim=str(model.violates), story=story)
    return evolve(model, erratum=erratum)


@pytest.mark.parametrize(("name", "length"), [("forgetful", 6), ("lossy_live", 9)])
def test_action_properties_and_liveness_have_stories_too(toy: Manifest, name: str, length: int) -> None:
    checked = run_model(toy, story_model(toy, name, "SomeCommit" if name == "lossy_live" else "OneCommitsFirst"))
    assert f"violates: {toy.model(name).violates}" == checked.outcome
    assert length <= len(checked.trace)


# The text that prints what refutes a formula


def leaves(text: str) -> list[tuple[str, str]]:
    return [(leaf.formula, " ".join(leaf.names)) for leaf in instrumented(text, "why")[1]]


def test_the_innermost_formula_is_found_through_quantifiers_and_implications() -> None:
    text = r"\A p, x \in S : Q(p) => \A s \in T[p], <<a, b>> \in U(1, 2) : R(a) => m[s] <= n[x]"
    whole, (leaf,) = instrumented(text, "why")
    assert Leaf("R(a) => m[s] <= n[x]", ("p", "x", "s", "a", "b"), ("m[s]", "<=", "n[x]")) == leaf
    assert r'\/ PrintT(ToString(<<"why", 0, <<p, x, s, a, b>>, m[s], n[x]>>))' in whole


def test_conjuncts_are_told_apart_and_keep_their_columns() -> None:
    text = "\n    /\\ \\A m \\in S :\n          /\\ a = m\n          /\\ b\n    /\\ c => d"
    assert [("a = m", "m"), ("b", "m"), ("c => d", "")] == leaves(text)
    lines = instrumented(text, "why")[0].splitlines()
    assert "          /\\ ((" == lines[2]
    assert "             a = m" == lines[3]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"LET k == 1 IN \A m \in S : P(m, k)", [("P(m, k)", "k m")]),
        (r"LET f(x) == x IN f(1) = 2", [("f(1) = 2", "")]),
        (r"a \/ \A m \in S : P", [(r"a \/ \A m \in S : P", "")]),
        (r"(\E m \in S : P) => Q", [(r"(\E m \in S : P) => Q", "")]),
        (r"\E m \in S : P => \A n \in T : Q", [(r"\E m \in S : P => \A n \in T : Q", "")]),
        (r"IF a THEN \A m \in S : P ELSE b", [(r"IF a THEN \A m \in S : P ELSE b", "")]),
        (r"\A m \in {x \in S : x > 1} : P(m)", [("P(m)", "m")]),
        ("", []),
    ],
)
def test_what_cannot_be_taken_apart_is_left_whole(text: str, expected: list[tuple[str, str]]) -> None:
    assert expected == leaves(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("IF a THEN IF b THEN p ELSE q ELSE r", [("p", ""), ("q", ""), ("r", "")]),
        ("(a /\\ (b => c))", [("a", ""), ("c", "")]),
        ("CASE a -> b => c [] OTHER -> d", [("CASE a -> b => c [] OTHER -> d", "")]),
        ("LET f(x) == IF x THEN 1 ELSE 2 IN p(f) /\\ q", [("p(f)", ""), ("q", "")]),
        (r"LET a == LET b == 1 IN b IN \A m \in S : P(a, m)", [("P(a, m)", "m")]),
    ],
)
def test_what_is_unfolded_is_taken_apart_further(text: str, expected: list[tuple[str, str]]) -> None:
    found = instrumented(text, "why", unfold=lambda _: None)[1]
    assert expected == [(leaf.formula, " ".join(leaf.names)) for leaf in found]


def test_each_conjunct_stands_alone_among_what_is_true() -> None:
    """An ablation must violate each: what is left of a claim is no longer than that conjunct."""
    lines = "    /\\ \\A m \\in S :\n          /\\ {}\n          /\\ {}\n    /\\ {}"
    texts = [("a(m)", "TRUE", "TRUE"), ("TRUE", "b", "TRUE"), ("TRUE", "TRUE", "c => d")]
    assert [lines.format(*each) for each in texts] == [*conjuncts(lines.format("a(m)", "b", "c => d"))]
