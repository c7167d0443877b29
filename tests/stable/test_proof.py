"""The proof of STABLE's claims: that the reading is right, and that the checks around it notice what is wrong."""

import re
import sys
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest
from attrs import evolve

from groupcomm_commands.main import main
from groupcomm_conformance.models.checking import Cache, run_model
from groupcomm_conformance.models.manifest import find_root, load
from groupcomm_conformance.steps.conform import table_of
from groupcomm_conformance.steps.table import StepTable, Tables
from groupcomm_conformance.tla.tree import Apply, Definitions
from groupcomm_conformance.tla.values import Fn
from groupcomm_conformance.tlc.run import run

z3 = pytest.importorskip("z3", reason="needs the extra `prove`: make prove installs it")
pytest.importorskip("cvc5", reason="needs the extra `prove`: make prove installs it")

from groupcomm_proof import drawing, judging, proving, searching, second, stable, vocabulary  # noqa: E402
from groupcomm_proof.ablations import OF_STABLE, Ablation  # noqa: E402
from groupcomm_proof.finite import model_of  # noqa: E402
from groupcomm_proof.reading import NotRead, Reader, definitions_of, known  # noqa: E402
from groupcomm_proof.values import Items, Logic, Map, SetOf  # noqa: E402

pytestmark = pytest.mark.prove

ROOT = find_root()
MANIFEST = load(ROOT, "stable")
ADDRESSES = ("A", "B", "C", "D", "Z", "")
VECTORS = ("vote", "minimum", "digest")


@cache
def written() -> str:
    """Give what the solver is told, in TLA+; not when tests are collected, as all workers would read the theory."""
    return stable.theory_of(MANIFEST).written()


def table(name: str) -> StepTable:
    model = MANIFEST.model(name)
    checked = run_model(MANIFEST, model, cache=Cache.of(ROOT))
    assert checked.harvest is not None
    return table_of(MANIFEST, model, checked.harvest, Tables.of(ROOT))[0]


def read(value: Any, name: str = "") -> Any:  # noqa: ANN401 - of any type
    """Give a value of TLC as the reader has it."""
    match value:
        case Fn() | () if name in VECTORS:
            entries = dict(value.items()) if isinstance(value, Fn) else {}
            held = {key: read(each) for key, each in entries.items()}
            return Map(SetOf(None, lambda x: x in held), lambda x: held[x])
        case Fn():
            return {key: read(each, key) for key, each in value.items()}
        case frozenset():
            return SetOf(None, lambda x: x in value)
        case tuple() if name == "members":
            return SetOf(None, lambda x: x in value)
        case tuple():
            return Items([(True, read(each)) for each in value])
        case _:
            return value


def shown(value: Any) -> Any:  # noqa: ANN401 - of any type
    """Give a value of the reader in a form that can be compared."""
    match value:
        case dict():
            return {key: shown(each) for key, each in value.items()}
        case SetOf():
            return {x for x in ADDRESSES if value.contains(x) is True}
        case Map():
            return {x: shown(value.rule(x)) for x in ADDRESSES if value.domain.contains(x) is True}
        case Items():
            return [shown(each) for when, each in value.items if when is True]
        case _:
            return value


@cache
def definitions() -> Definitions:
    return definitions_of((MANIFEST.folder, MANIFEST.folder.parent / "common"), "StableInductive")


def reader(constants: dict[str, Any]) -> Reader:
    """Read Step where all values are known: nothing is left to a solver."""
    natives: dict[str, Any] = {
        "MembersOf": lambda _, view: view["members"],
        "NoView": lambda _: {"id": {"counter": 0, "creator": ""}, "members": SetOf(None, lambda _x: False)},
    }
    return Reader(definitions(), constants, natives, Logic(addresses=ADDRESSES))


def test_the_reader_takes_each_step_of_the_table_as_tlc_does() -> None:
    rows = table("three_members_loss")
    of = reader(known(MANIFEST.cfg(MANIFEST.model("three_members_loss")).constants))
    different = []
    for row in range(1, len(rows) + 1):
        at, event = rows.place(row)
        state, effects = rows.expected(row)
        did = of.call("Step", read(rows.states[at]), read(rows.events[event]))
        expected = {"outcome": rows.outcome(row), "state": shown(read(state)), "effects": shown(read(effects))}
        if shown(did) != expected:
            different.append((row, shown(did), expected))
    assert (len(rows), different[:1]) == (3276, [])


@pytest.mark.nightly
def test_an_obligation_fails_in_a_small_group_without_its_guard_alone() -> None:
    # (`groupcomm prove` judges every ablation. That no small group refutes what follows is seen here alone.)
    ablation = next(each for each in OF_STABLE if each.name == "HoldVote: never")
    chosen = [ablation.step], [ablation.clause]
    whole = list(proving.obligations(stable.theory_of(MANIFEST), *chosen))
    without = list(proving.obligations(stable.theory_of(MANIFEST, ablation), *chosen))
    assert [proving.prove(each).follows for each in whole] == [True] * len(whole)
    assert not any(proving.refuted(each) for each in whole)
    assert any(proving.refuted(each) for each in without)


def test_each_clause_of_the_invariant_has_an_ablation_that_opens_an_obligation() -> None:
    """All but two clauses of which none is known, and four that say that a view is decided.

    To the solver all views are, but for one that is decided next.
    """
    theory = stable.theory_of(MANIFEST)
    of_views = {"KnownViews", "Guards/among", "PromisersAreGuarded/among", "PurgedIsAgreed/among"}
    clauses = {each.name for each in theory.clauses("Inductive", theory.settled())}
    unbroken = {"CastByMembers", "CastByMembers/On"}
    assert clauses - {each.clause for each in OF_STABLE} == of_views | unbroken


def test_a_counterexample_to_induction_is_drawn_up_to_the_clause_that_is_false() -> None:
    ablation = next(each for each in OF_STABLE if each.name == "HoldVote: never")
    chosen = [ablation.step], [ablation.clause]
    asked = proving.obligations(stable.theory_of(MANIFEST, ablation), *chosen)
    lines = next(filter(None, map(drawing.drawn, asked)))
    text = " ".join(" ".join(lines).split())
    # The clause names promiser and joiner of the broken promise; the chart shows the vote pass the digest.
    said = re.search(r"FALSE: PromiserHolds, of p = \[by: (\w).* vector: \[(.*)\].*\], s = (\w)", lines[-1])
    assert said is not None
    told = dict(re.findall(r"(\w): (-?\d+)", said[2])).get(said[3], "-1")
    voted = re.search(rf"{said[1]}\.vote\.{said[3]} (-?\d+) -> (\d+)", text)
    assert voted is not None
    assert int(voted[1]) <= int(told) < int(voted[2])
    assert "[ReceiveStabilityStep]" in text
    assert "STABILITY" in text


def test_the_chart_of_an_ablation_is_asked_for_by_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prove", "--without", "Abandoned: withdrawn"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("without Abandoned: withdrawn:\n")
    assert "FALSE: Guards/GuardHolds" in out
    assert main(["prove", "--without", "Abandoned: withdraw"]) == 2
    assert "Abandoned: withdrawn" in capsys.readouterr().err


def test_a_second_solver_confirms_what_follows_and_nothing_else() -> None:
    theory = stable.theory_of(MANIFEST)
    one = next(iter(proving.obligations(theory, ["ReceiveStabilityStep"], ["PurgedIsAgreed"])))
    assert second.asked_again(one) == "unsat"
    wrong = proving.Obligation(one.step, one.clause, one.given, z3.BoolVal(False))  # noqa: FBT003
    assert second.asked_again(wrong).startswith("unknown")
    alone = proving.Obligation(one.step, one.clause, (), z3.Int("n") < 0)
    assert second.asked_again(alone) == "sat"


@pytest.mark.parametrize("answer", ["sat", "unknown (RESOURCEOUT)"])
def test_what_the_second_solver_does_not_confirm_is_no_pass(
    answer: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(judging, "asked_again", lambda _: answer)
    assert main(["prove", "--step", "BeginStep", "--clause", "Own"]) == 1
    out = capsys.readouterr().out
    assert f"NOT CONFIRMED: BeginStep: Own: cvc5 says {answer}" in out
    assert "1 obligations, 0 open, 1 of 1 not confirmed by cvc5" in out


def test_the_second_solver_is_asked_of_a_fixed_part_or_of_all() -> None:
    theory = stable.theory_of(MANIFEST)
    asked = list(proving.obligations(theory))
    part = [n for n, each in enumerate(asked) if each.step in theory.confirmed]
    assert len(part) == 338
    assert {each.step for each in asked} >= set(theory.confirmed)
    others = next(n for n in range(len(asked)) if n not in part)
    with judging.Judges.of(ROOT, "stable") as judges:
        some = list(judges.obligations(2, confirm_all=False))
    assert [(each.proved.clause, each.again) for each in some] == [(each.clause, "unsat") for each in asked[:2]]
    assert judging.judge(asked[others], confirm=False).again is None
    assert judging.judge(asked[others], confirm=True).again == "unsat"


def test_what_does_not_follow_is_open() -> None:
    theory = stable.theory_of(MANIFEST)
    one = next(iter(proving.obligations(theory, ["ReceiveStabilityStep"], ["PurgedIsAgreed"])))
    wrong = proving.Obligation(one.step, one.clause, one.given, z3.BoolVal(False))  # noqa: FBT003
    assert not proving.prove(wrong, limit=200_000, tries=2).follows


def test_a_step_that_purges_and_does_not_say_so_is_not_read() -> None:
    said = "digest |-> DigestOf(rm[a])]\n    /\\ OnlyPurges(a)\n\n\\* As a installs"
    unsaid = said.replace("    /\\ OnlyPurges(a)\n", "")
    ablation = Ablation("unsaid", "ReceiveStabilityStep", "Own", replaces=(said, unsaid))
    theory = stable.theory_of(MANIFEST, ablation)
    with pytest.raises(NotRead, match="an effect PassDown in a step that does not say what it does"):
        list(proving.obligations(theory, ["ReceiveStabilityStep"], ["Own"]))


def test_an_ablation_of_text_that_is_not_there_is_refused() -> None:
    with pytest.raises(NotRead, match="0 times, not once"):
        stable.theory_of(MANIFEST, Ablation("absent", "JoinStep", "Own", replaces=("no such text", "")))


def test_tlc_finds_a_state_outside_the_invariant() -> None:
    model = MANIFEST.model("vote_held_two_rounds")
    loose = evolve(model, constants={**model.constants, "HoldVote": "never"})
    assert searching.search(MANIFEST, loose, written()).violated == "ForestAndInvariant"


@pytest.mark.parametrize("name", ["without_joins_once", "without_excluded_first"])
def test_tlc_finds_views_that_are_not_as_the_proof_takes_them(name: str) -> None:
    found = searching.search(MANIFEST, MANIFEST.model(name), written())
    assert (found.violated, found.distinct < 100) == ("ForestAndInvariant", True)


SCRIPTS = """
Stay == [m \\in {} |-> 0]
ABCD == <<"A", "B", "C", "D">>

\\* C is in two views, and these are merged.
OverlapScript ==
    <<FirstView(1, "A", ABC), Follow(2, "A", <<"A", "C">>, {1}, Stay), Follow(2, "B", <<"B", "C">>, {1}, Stay),
      Follow(3, "A", ABC, {2, 3}, Stay)>>

\\* D is in view 1 still, as the sides of A and B merge.
LagScript ==
    <<FirstView(1, "A", ABCD), Follow(2, "A", <<"A", "D">>, {1}, Stay), Follow(2, "B", <<"B", "C">>, {1}, Stay),
      Follow(3, "A", ABCD, {2, 3}, Stay)>>

SidesPromise == {<<"A", "B">>, <<"A", "C">>, <<"B", "A">>, <<"B", "D">>}
VotesOfThird == <<0, 0, 2, 0>>
"""


@pytest.mark.parametrize(
    ("script", "member", "lagging", "claim"),
    [
        # Overlapping views: A asks for a message of C that both members of the other side have purged.
        ("OverlapScript", ("A", "B", "C"), ("A",), "NoPrematurePurge"),
        ("OverlapScript", ("A", "B", "C"), ("A",), "InScope"),
        # Disjoint views: of a sender that has parted from D the claim speaks too early.
        ("LagScript", ("A", "B", "C", "D"), ("A", "D"), "NoPrematurePurge"),
        pytest.param("LagScript", ("A", "B", "C", "D"), ("A", "D"), None, marks=pytest.mark.nightly),
    ],
)
def test_where_views_merge_the_claims_need_disjoint_views_and_a_sender_that_stays(
    script: str, member: tuple[str, ...], lagging: tuple[str, ...], claim: str | None
) -> None:
    constants: dict[str, Any] = {
        "Member": member,
        "Script": f"<- {script}",
        "Promises": "<- SidesPromise",
        "Lagging": lagging,
        "MaxVotes": "<- VotesOfThird",
        "Receivers": ("B", "C"),
    }
    model = MANIFEST.model("merge")
    cfg = MANIFEST.cfg(evolve(model, constants={**model.constants, **constants}))
    claims = ("InScope", "NoPrematurePurgeTogether", "RequestsServableTogether") if claim is None else (claim,)
    root = f"---- MODULE Merging ----\nEXTENDS MCStable, StableInductive\n{SCRIPTS}====\n"
    cfg = evolve(cfg, invariants=claims, properties=(), specification="StrictSpec", view="history_view")
    found = run(MANIFEST.folders, "Merging", cfg.render(), generated={"Merging": root}, workers=1, short=True)
    assert found.violated == claim


def test_tlc_finds_a_step_that_the_solver_was_not_told_of() -> None:
    model = MANIFEST.model("receives_behind_gap")
    more = evolve(model, constants={**model.constants, "PromisedBy": "<- ReceivedBy"})
    assert searching.search(MANIFEST, more, written()).violated == "EachStepIsRead"


# (The smaller models, which `prove` searches, install no view with two predecessors; none begins from a promiser whose life is over.)
@pytest.mark.parametrize("name", ["merge", pytest.param("promise_chain", marks=pytest.mark.nightly)])
def test_tlc_finds_no_other_step_in_a_larger_model(name: str) -> None:
    assert searching.search(MANIFEST, MANIFEST.model(name), written()).violated is None


NEVER = z3.BoolVal(val=False)


def starts_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    initial = stable.Theory.initial
    monkeypatch.setattr(stable.Theory, "initial", lambda theory: [*initial(theory), NEVER])


def decides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    decisions = stable.Theory.decisions

    def never(theory: stable.Theory) -> list[tuple[vocabulary.Action, vocabulary.State]]:
        return [(evolve(each, requires=(*each.requires, NEVER)), now) for each, now in decisions(theory)]

    monkeypatch.setattr(stable.Theory, "decisions", never)


def joins_beside_first_views(monkeypatch: pytest.MonkeyPatch) -> None:
    actions, u = stable.Theory.actions, z3.Const("u", vocabulary.VIEW)

    def narrowed(theory: stable.Theory) -> Iterator[vocabulary.Action]:
        for each in actions(theory):
            if each.name == "JoinStep":
                first = z3.Implies(vocabulary.precedes(u, z3.Const("w_1", vocabulary.VIEW)), vocabulary.is_first(u))
                yield evolve(each, requires=(*each.requires, z3.ForAll([u], first)))
            else:
                yield each

    monkeypatch.setattr(stable.Theory, "actions", narrowed)


def swaps_an_if(monkeypatch: pytest.MonkeyPatch) -> None:
    choice = Logic.choice

    def swapped(logic: Logic, test: Any, then: Any, other: Any) -> Any:  # noqa: ANN401 - of any type
        return choice(logic, test, then, other) if isinstance(test, bool) else choice(logic, test, other, then)

    monkeypatch.setattr(Logic, "choice", swapped)


@pytest.mark.parametrize(
    ("breaks", "model", "violated"),
    [
        (starts_nowhere, "pair_small", "InitIsRead"),
        (decides_nothing, "join_small", "EachStepIsRead"),
        (joins_beside_first_views, "promise_chain", "EachStepIsRead"),
        (swaps_an_if, "pair_small", "EachStepIsRead"),
    ],
)
def test_tlc_finds_that_the_solver_was_told_too_little(
    breaks: Callable[[pytest.MonkeyPatch], None], model: str, violated: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    breaks(monkeypatch)
    narrow = stable.theory_of(MANIFEST).written()
    assert searching.search(MANIFEST, MANIFEST.model(model), narrow).violated == violated


@pytest.mark.parametrize(("breaks", "named"), [(starts_nowhere, "Init"), (decides_nothing, "DecideStep")])
def test_a_start_or_decision_that_cannot_be_is_named(
    breaks: Callable[[pytest.MonkeyPatch], None], named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    breaks(monkeypatch)
    assert next(proving.impossible(stable.theory_of(MANIFEST))) == named


def test_an_obligation_that_goes_missing_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = Reader._clauses  # noqa: SLF001 - the reader is broken here

    def shortened(reader: Reader, node: Any, *rest: Any) -> Any:  # noqa: ANN401 - of any type
        if isinstance(node, Apply) and node.operator.text == "$ConjList" and len(node.operands) > 4:
            node = evolve(node, operands=node.operands[:-1])
        return parts(reader, node, *rest)

    listed = (MANIFEST.folder / "obligations.txt").read_text(encoding="utf-8")
    assert proving.listed(list(proving.obligations(stable.theory_of(MANIFEST)))) == listed
    monkeypatch.setattr(Reader, "_clauses", shortened)
    fewer = proving.listed(list(proving.obligations(stable.theory_of(MANIFEST))))
    assert fewer != listed
    assert "PurgedIsAgreed" not in fewer
    assert any(line.endswith("PurgedIsAgreed") for line in proving.difference(listed, fewer))


def test_a_merged_view_can_be_installed_under_the_invariant() -> None:
    theory = stable.theory_of(MANIFEST)
    (install,) = theory.actions(["InstallViewStep"])
    facts = [each.formula() for each in (*theory.forest(), *theory.clauses("Inductive", theory.settled()))]
    view, other = install.after["installed"](install.actor), z3.Const("other side", vocabulary.VIEW)
    merged = [vocabulary.precedes(other, view), z3.Not(vocabulary.is_in(other, install.actor))]
    group = model_of([*theory.reading(), *facts, *install.requires, *merged], theory.small[1])
    assert group is not None


def test_what_is_proved_does_not_depend_on_what_was_asked_before() -> None:
    theory = stable.theory_of(MANIFEST)
    asked = ["JoinStep"], ["Guards/GuardIsThere"]
    alone = [each.goal.sexpr() for each in proving.obligations(theory, *asked)]
    after = [
        each.goal.sexpr()
        for each in proving.obligations(theory, ["BeginStep", "JoinStep"], asked[1])
        if each.step == "JoinStep"
    ]
    assert alone == after
    assert alone


def test_a_small_group_is_found_only_where_there_is_one() -> None:
    x, y = (z3.Const(name, vocabulary.MEMBER) for name in "xy")
    two = z3.Exists([x], z3.Exists([y], x != y))
    assert model_of([two], {vocabulary.MEMBER: 2}) is not None
    assert model_of([two], {vocabulary.MEMBER: 1}) is None
    each = z3.Function("each", vocabulary.MEMBER, vocabulary.MEMBER)
    apart = z3.ForAll([x], z3.ForAll([y], z3.Implies(each(x) == each(y), x == y)))
    onto = z3.Exists([y], z3.ForAll([x], each(x) != y))
    assert model_of([apart, onto], {vocabulary.MEMBER: 3}) is None


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (["flush"], 2, "flush is none of stable"),
        (["stable", "--step", "JoinSteps"], 4, "no obligation has these names"),
    ],
)
def test_what_cannot_be_proved_is_said(
    arguments: list[str], code: int, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["prove", *arguments]) == code
    assert text in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("solver", ["z3", "cvc5"])
def test_without_a_solver_the_error_says_how_to_install_it(
    solver: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in [each for each in sys.modules if each.startswith("groupcomm_proof")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, solver, None)
    assert main(["prove"]) == 3
    assert f"{solver} is not installed: make prove" in capsys.readouterr().err
