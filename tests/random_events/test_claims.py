"""Weakened claims: each follows from its claim, and `mutants --claims` names each that no ablation notices."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from attrs import evolve
from typer.testing import CliRunner

from groupcomm_commands.main import app
from groupcomm_conformance.models.manifest import Manifest, load
from groupcomm_conformance.random_events import claims
from groupcomm_conformance.random_events.copying import copies, replacing
from groupcomm_conformance.random_events.roots import HELPERS, Root, guarantees_of, said
from groupcomm_conformance.random_events.weakening import called, weakenings
from groupcomm_conformance.steps.mutants import report
from groupcomm_conformance.steps.mutants.explaining import Reason, Reasons
from groupcomm_conformance.tla import tree
from groupcomm_conformance.tla.cfg import Cfg
from groupcomm_conformance.tlc import run as tlc
from groupcomm_conformance.tlc import syntax

MODULE = r"""---- MODULE Weak ----
EXTENDS Naturals, FiniteSets
VARIABLES x, y, s, t
Fixed(z) == z \in s /\ z \in t
In(z) == z \in s \cap t /\ z <= y
Init == /\ x \in 0 .. 2 /\ y \in 0 .. 2 /\ s \in SUBSET {0, 1, 2} /\ t \in SUBSET {0, 1} /\ (Fixed(0) \/ TRUE)
Next == UNCHANGED <<x, y, s, t>>
Spec == Init /\ [][Next]_<<x, y, s, t>>
Lists == /\ x = y
         /\ \A z \in s \cup t : z < x \/ In(z)
Condition == ((\E z \in s \cup t : In(z)) \/ x = 0) => (s \ t = {} /\ y >= x)
Single == x = 1 =>
    /\ y = 1
Negated == ~(s \cup t # {} /\ (x < y \/ x = 2))
Chosen == IF x = 0 THEN \A z \in 0 .. y : z \in s ELSE s \cap (t \cup {y}) = {}
Filtered == {z \in s \cup t : z > x \/ z \in t} \subseteq ((t \cap s) \cup (s \ {x}))
Exists == \E z \in s \cap t : z = x /\ LET Big == z > y /\ z # 3 IN Big \/ Fixed(z)
====
"""
CLAIMS = ("Lists", "Single", "Condition", "Negated", "Chosen", "Filtered", "Exists")


@pytest.fixture(scope="module")
def weak() -> Root:
    definitions = tree.read(syntax.export([], "Weak", generated={"Weak": MODULE}))
    kept = called(definitions, ["Spec"])
    own = {number for number, each in definitions.operators.items() if each.module == "Weak"}
    return Root.made(definitions, {name: name for name in CLAIMS}, kept | ({*definitions.operators} - own), {})


def test_what_is_weakened(weak: Root) -> None:
    """One of each kind is there. Conditions change the other way round, and an operator of the group never."""
    made = {mutant.name for mutant in weak.weakened.mutants}
    assert made >= {
        r"Lists: x = y, = -> >=",
        r"Lists: x = y dropped from (x = y) /\ (\A z \in s \cup t : (z < x) \/ In(z))",
        r"Lists: s dropped from s \cup t",
        r"Lists: z < x, < -> <=",
        r"In: z <= y dropped from (z \in (s \cap t)) /\ (z <= y)",
        r"In: s dropped from s \cap t",
        r"In: z <= y, one more",
        r"Condition: x = 0 dropped from (\E z \in s \cup t : In(z)) \/ (x = 0)",
        r"Condition: t dropped from s \cup t",
        r"Condition: y >= x, one more",
        r"Negated: x = 2 dropped from (x < y) \/ (x = 2)",
        r"Chosen: 0 .. y without the last",
        r"Filtered: z \in t dropped from (z > x) \/ (z \in t)",
        r"Filtered: {x} dropped from s \ {x}",
        r"Exists: z # 3 dropped from (z > y) /\ (z # 3)",
    }
    assert not {name for name in made if name.startswith(("Fixed", "Init", "Next"))}
    assert not {name for name in made if name.startswith("Negated: s # {}")}  # that would say more


def test_each_weakening_follows_from_its_claim(weak: Root) -> None:
    """TLC looks at each in all states: none may be false where the claim is true, and each is true in more."""
    lines: list[str] = []
    names: list[str] = []
    for at, mutant in enumerate(weak.weakened.mutants):
        for claim in sorted(weak.weakened.claims[at]):
            assert mutant.operator in {claim, "In"}
            lines += copies(weak.uses, claim, [mutant.operator], replacing(mutant), prefix := f"W{at}_{claim}_")
            names.append(f"Follows_{at}_{claim}")
            lines.append(
                f"{names[-1]} == IF {claim} THEN {prefix}{claim} "
                f'ELSE IF {prefix}{claim} THEN PrintT("weaker {at}") ELSE TRUE'
            )
    numbers = [f"ASSUME TLCSet(6000 + {at}, FALSE)" for at in weak.weakened.comparisons if at is not None]
    text = "\n".join(["---- MODULE Run ----", "EXTENDS Weak, TLC", *numbers, HELPERS, *lines, "====", ""])
    said: set[str] = set()
    result = tlc.run(
        [],
        "Run",
        Cfg(specification="Spec", invariants=tuple(names)).render(),
        generated={"Run": text, "Weak": MODULE},
        workers=1,
        short=True,
        on_line=said.add,
    )
    assert (result.outcome, result.violated) == ("holds", None)
    weaker = {int(found[1]) for line in said if (found := re.fullmatch(r'"weaker (\d+)"', line))}
    really = {weak.weakened.mutants[at].name.partition(": ")[0] for at in weaker}
    assert really == {"Lists", "Single", "In", "Condition", "Negated", "Chosen", "Filtered", "Exists"}


# Judged by the ablations of the toy


PLAIN = r"NoEarlyCommit == \A m \in Member : local[m].committed => \A n \in Member : local[n].voted"
LISTED = r"""NoEarlyCommit ==
    /\ \A m \in Member : local[m].committed => \A n \in Member : local[n].voted
    /\ \A m \in Member : local[m].heard_from \subseteq Member
    /\ \A m \in Member : local[m].member = m"""


@pytest.fixture(scope="module")
def with_more(checked_toy: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    def made(claim: str) -> Path:
        root = Path(shutil.copytree(checked_toy, tmp_path_factory.mktemp("weakened"), dirs_exist_ok=True))
        group = root / "spec" / "toy" / "ToyGroup.tla"
        text = group.read_text(encoding="utf-8")
        assert PLAIN in text
        group.write_text(text.replace(PLAIN, claim), encoding="utf-8")
        return root

    return made


def _fates(manifest: Manifest) -> dict[str, str]:
    judged = claims.judge(manifest, workers=2)
    return {
        mutant.name.partition(" dropped")[0]: "" if found is None else found.by
        for mutant, found in zip(judged.mutants, judged.noticed, strict=True)
    }


def test_a_conjunct_that_no_ablation_needs_is_told(with_more: Callable[[str], Path]) -> None:
    """The claim is violated as before, so that kill matrix and counts are silent."""
    fates = _fates(load(with_more(LISTED), "toy"))
    assert fates == {
        r"NoEarlyCommit: \A m \in Member : local[m].committed => (\A n \in Member : local[n ...": (
            "hasty, for NoEarlyCommit"
        ),
        r"NoEarlyCommit: \A m \in Member : local[m].heard_from \subseteq Member": "",
        "NoEarlyCommit: \\A m \\in Member : local[m].member = m": "",
    }


def test_a_guard_that_is_dropped_is_no_weakening_where_what_follows_cannot_be_evaluated(
    with_more: Callable[[str], Path],
) -> None:
    guarded = PLAIN.replace("local[n].voted", r'(local[n].voted \/ (n = "B" /\ [x \in {"B"} |-> TRUE][n]))')
    fates = _fates(load(with_more(guarded), "toy"))
    assert fates == {'NoEarlyCommit: [x \\in {"B"} |-> TRUE][n]': ""}


def test_the_command_fails_where_a_weakening_has_no_reason(
    with_more: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = with_more(LISTED)
    monkeypatch.chdir(root)
    runner = CliRunner()
    ran = runner.invoke(app, ["mutants", "toy", "--claims"])
    assert ran.exit_code == 1
    assert "SURVIVES: ToyGroup.tla" in ran.stdout
    assert "toy: 1 of 3 weakenings of claims noticed (33.33 %" in ran.stdout
    assert runner.invoke(app, ["mutants", "toy", "--claims", "--spec"]).exit_code == 2


def test_reasons_are_held_against_the_verdicts(with_more: Callable[[str], Path]) -> None:
    """A reason for a weakening that is noticed is stale, and one for a name that there is not."""
    judged = claims.judge(load(with_more(LISTED), "toy"))
    names = [mutant.name for mutant in judged.mutants]
    reasons = Reasons({name: Reason("equivalent", "said") for name in [*names, "Gone: x"]})
    told = report.spec_told(judged, reasons, 0.0)
    assert set(told["stale"]) == {names[0], "Gone: x"}
    assert not told["ok"]


# Guarantees


COMMIT = r"""---- MODULE Commit ----
EXTENDS Naturals
CONSTANTS Member, Off
VARIABLES local
Conjuncts == {"Early", "Heard"}
LOCAL On(conjunct) == conjunct \notin Off
(* A member that has committed:
   all have voted. *)
LOCAL Kept(m) ==
    /\ local[m].committed => \A n \in Member : local[n].voted
    /\ local[m].heard_from \subseteq Member
Holds ==
    /\ On("Early") => \A m \in Member : Kept(m)
    /\ On("Heard") => \A m \in Member : local[m].heard_from \subseteq Member
====
"""
GIVEN = r"""Whole == INSTANCE Commit WITH Off <- {}
Given(conjunct) ==
    INSTANCE Commit WITH Off <- Whole!Conjuncts \ {conjunct}
NoEarlyCommit == Given("Early")!Holds"""
TWIN = r"""Heard(m) == IF local[m].committed /\ ~\A n \in Member : local[n].voted THEN {"Z"} ELSE {}
Given == INSTANCE Commit WITH
    Off <- {"Early"}, local <- [m \in Member |-> [local[m] EXCEPT !.heard_from = Heard(m)]]
NoEarlyCommit == Given!Holds"""


@pytest.fixture(scope="module")
def guarded(with_more: Callable[[str], Path]) -> Path:
    root = with_more(GIVEN)
    (root / "spec" / "common" / "Commit.tla").write_text(COMMIT, encoding="utf-8")
    return root


def test_a_conjunct_of_a_guarantee_that_no_ablation_needs_is_told(guarded: Path) -> None:
    """The ablation refutes the guarantee by its first conjunct alone, whatever becomes of the other two."""
    judged = claims.judge(load(guarded, "toy"), guarantees=True)
    fates = {each.name: found for each, found in zip(judged.mutants, judged.noticed, strict=True)}
    noticed = [name.partition(" dropped")[0] for name, found in fates.items() if found is not None]
    assert sorted(noticed) == [
        r'Commit!Holds: On("Early") => (\A m \in Member : Kept(m))',
        r"Commit!Kept: local[m].committed => (\A n \in Member : local[n].voted)",
    ]
    assert len(fates) == 4
    assert {each.module for each in judged.mutants} == {"Commit"}


def test_another_protocol_that_speaks_of_a_guarantee_notices_what_is_left(guarded: Path, tmp_path: Path) -> None:
    """The ablation of the twin refutes the last conjunct alone."""
    root = Path(shutil.copytree(guarded, tmp_path, dirs_exist_ok=True))
    twin = Path(shutil.copytree(root / "spec" / "toy", root / "spec" / "twin"))
    group, manifest = twin / "ToyGroup.tla", twin / "models.yaml"
    group.write_text(group.read_text("utf-8").replace(GIVEN, TWIN), encoding="utf-8")
    manifest.write_text(manifest.read_text("utf-8").replace("protocol: toy", "protocol: twin"), encoding="utf-8")
    judged = claims.judge(load(root, "toy"), guarantees=True, others=[load(root, "twin")])
    by = {
        each.name.partition(":")[2].partition(" dropped")[0].strip()[:12]: "" if found is None else found.by
        for each, found in zip(judged.mutants, judged.noticed, strict=True)
    }
    assert by == {
        'On("Early") ': "hasty, for NoEarlyCommit",
        'On("Heard") ': "twin: hasty, for NoEarlyCommit",
        "local[m].com": "hasty, for NoEarlyCommit",
        "local[m].hea": "",
    }


def test_a_guarantee_in_a_condition_is_not_weakened_for_the_claim(with_more: Callable[[str], Path]) -> None:
    """The claim would say more: it is refuted all the same."""
    root = with_more(
        GIVEN.replace('Given("Early")!Holds', r'(Given("Early")!Holds => \A m \in Member : ~local[m].committed)')
    )
    (root / "spec" / "common" / "Commit.tla").write_text(COMMIT, encoding="utf-8")
    manifest = load(root, "toy")
    (found,) = guarantees_of(manifest, Root.of(manifest, manifest.module))
    assert not found.weakened.mutants


def test_the_copy_of_a_guarantee_says_the_same_without_a_weakening(guarded: Path) -> None:
    manifest = load(guarded, "toy")
    (found,) = guarantees_of(manifest, Root.of(manifest, manifest.module))
    text = (
        f"---- MODULE Run ----\nEXTENDS {manifest.module}, TLC\n{found.head}\n"
        r'Same == \A c \in {"Early", "Heard"} : Weak_Given(0, c)!Holds <=> Given(c)!Holds'
        "\n====\n"
    )
    model = next(model for model in manifest.models if not model.holds)
    cfg = evolve(manifest.cfg(model), invariants=("Same",), properties=())
    ran = tlc.run(manifest.folders, "Run", cfg.render(), generated={"Run": text, **found.beside}, workers=1, short=True)
    assert ran.outcome == "holds"
    assert ran.distinct > 1


@pytest.mark.parametrize(
    ("claim", "weakened"),
    [
        (r'Given("Early")!Excused => TRUE', {"Excused"}),
        (r'[Given("Early")!Excused]_local', set()),
        (r'[Given("Early")!Holds]_local', {"Holds", "Kept"}),
        (r'(Given("Early")!Holds => TRUE) /\ (TRUE => Given("Early")!Holds)', set()),
        (r'Given("Early")!Holds = TRUE', set()),
    ],
)
def test_a_guarantee_is_weakened_on_the_side_on_which_a_claim_has_it(
    with_more: Callable[[str], Path], claim: str, weakened: set[str]
) -> None:
    """In a condition a disjunct is dropped; what stands on both sides, or decides nothing alone, stays as it is."""
    root = with_more(GIVEN.replace('Given("Early")!Holds', claim))
    excused = 'Excused == On("Early") \\/ \\A m \\in Member : local[m].committed\n===='
    (root / "spec" / "common" / "Commit.tla").write_text(COMMIT.replace("====", excused), encoding="utf-8")
    manifest = load(root, "toy")
    found = guarantees_of(manifest, Root.of(manifest, manifest.module))
    assert {mutant.operator for each in found for mutant in each.weakened.mutants} == weakened


def test_the_command_weakens_guarantees(guarded: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(guarded)
    ran = CliRunner().invoke(app, ["mutants", "toy", "--guarantees"])
    assert ran.exit_code == 1
    assert "SURVIVES: Commit.tla" in ran.stdout
    assert "toy: 2 of 4 weakenings of guarantees noticed (50.0 %" in ran.stdout


def test_of_a_step_of_the_history_conjuncts_with_a_name_are_weakened() -> None:
    """How the variables of the history change is what they mean; what may happen is what the guarantee says.

    So it is in a step that is given the next state (`Stays(m, y')`), too.
    """
    text = r"""---- MODULE History ----
EXTENDS Naturals
CONSTANTS Member, Off
VARIABLES x, y
LOCAL On(conjunct) == conjunct \notin Off
MayGo(m) == m \in Member /\ x[m] = 0
Went(m, was, is) == was[m] = 0 /\ is[m] = 1
MayStay(m) == x[m] = 1 /\ y = 1
Stays(m, is) == MayStay(m) /\ x' = [x EXCEPT ![m] = is]
Next ==
    /\ \E m \in Member : MayGo(m) /\ Went(m, x, x') /\ x' = [x EXCEPT ![m] = 1]
    /\ On("Named") => (y = 1 /\ x' # x)
    /\ \E m \in Member : Stays(m, y')
    /\ UNCHANGED y
Boxed == [y > 0]_y
====
"""
    definitions = tree.read(syntax.export([], "History", generated={"History": text}))
    boxed = weakenings(definitions, {"Boxed": [("Boxed", "claimed")]}, ()).mutants
    assert "Boxed: y > 0, > -> >=" in {each.name for each in boxed}
    places = said(definitions, ["Next"])
    made = [
        each
        for each in weakenings(definitions, {"Next": [("Next", "claimed")]}, ()).mutants
        if id(each.place) in places
    ]
    assert {each.name for each in made} == {
        r"MayGo: m \in Member dropped from (m \in Member) /\ (x[m] = 0)",
        r"MayGo: x[m] = 0 dropped from (m \in Member) /\ (x[m] = 0)",
        "MayGo: x[m] = 0, = -> >=",
        "MayGo: x[m] = 0, = -> <=",
        r"MayStay: x[m] = 1 dropped from (x[m] = 1) /\ (y = 1)",
        r"MayStay: y = 1 dropped from (x[m] = 1) /\ (y = 1)",
        "MayStay: x[m] = 1, = -> >=",
        "MayStay: x[m] = 1, = -> <=",
        "MayStay: y = 1, = -> >=",
        "MayStay: y = 1, = -> <=",
        r"Next: y = 1 dropped from (y = 1) /\ ((x') # x)",
        r"Next: (x') # x dropped from (y = 1) /\ ((x') # x)",
        "Next: y = 1, = -> >=",
        "Next: y = 1, = -> <=",
    }
