"""Mutants of a specification: how they are made, and that the tables alone detect each."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from attrs import evolve

from groupcomm_conformance.files.errors import FileError
from groupcomm_conformance.models import checking
from groupcomm_conformance.models.manifest import Manifest, load
from groupcomm_conformance.models.modules import read_tree
from groupcomm_conformance.protocols import derive
from groupcomm_conformance.steps.conform import table_of
from groupcomm_conformance.steps.mutants import report, spec_by_tlc, verdicts
from groupcomm_conformance.steps.mutants.conforming import ModelTable
from groupcomm_conformance.steps.mutants.explaining import Reason, Reasons, explanations
from groupcomm_conformance.steps.mutants.implementation import Mutant
from groupcomm_conformance.steps.mutants.places import unheard
from groupcomm_conformance.steps.mutants.shapes import Shapes
from groupcomm_conformance.steps.mutants.spec_by_tlc import Noticed, confront, sample
from groupcomm_conformance.steps.mutants.specification import SpecMutant, mutants
from groupcomm_conformance.steps.mutants.verdicts import Judged, _common, judge
from groupcomm_conformance.steps.table import Tables
from groupcomm_conformance.tla import tree
from groupcomm_conformance.tla.tree import Apply, Name, Number
from groupcomm_conformance.tla.values import Fn, Value
from groupcomm_conformance.tlc import syntax
from groupcomm_conformance.tlc.errors import ParseFailed, UnexpectedOutput

CONSTANTS = {"pair": {"Member": '= {"A", "B"}', "WaitForAll": "= TRUE", "KeepCommit": "= TRUE"}}


@pytest.fixture(scope="module")
def toy(checked_toy: Path) -> Manifest:
    return load(checked_toy, "toy")


@pytest.fixture(scope="module")
def tables(checked_toy: Path, toy: Manifest) -> dict[str, ModelTable]:
    model = toy.model("pair")
    checked = checking.run_model(toy, model, cache=checking.Cache.of(checked_toy))
    assert checked.harvest is not None
    table, key = table_of(toy, model, checked.harvest, Tables.of(checked_toy))
    return {"pair": ModelTable(table, key, derive.constants_of(toy.cfg(model)))}


@pytest.fixture(scope="module")
def judged(toy: Manifest, tables: dict[str, ModelTable]) -> Judged:
    return judge(toy, tables, workers=2)


@pytest.fixture(scope="module")
def definitions(toy: Manifest) -> tree.Definitions:
    return read_tree(toy.folders, "Toy")


def test_changes_are_made_of_all_that_a_step_is(judged: Judged) -> None:
    made = {mutant.name for mutant in judged.mutants}
    assert made >= {
        # a Boolean, an outcome, effects, an update
        "Start: FALSE -> TRUE",
        "Start: FALSE -> TRUE (place 2)",
        "Decide: LocalError(s) -> RemoteError",
        'Decide: Handled([s EXCEPT !.voted = TRUE], <<Multicast([type |-> "VOTE"])>>) -> no effects',
        'Decide: Multicast([type |-> "VOTE"]) dropped from <<Multicast([type |-> "VOTE"])>>',
        "Decide: !.voted = TRUE dropped",
        # a guard dropped, negated, always true; a comparison, a field for another of its type
        "VoteReceived: e.sender \\in s.heard_from dropped from (e.sender \\in s.heard_from) /\\ KeepCommit",
        "VoteReceived: e.sender \\notin Member -> e.sender \\in Member",
        "VoteReceived: IF e.sender \\notin Member -> IF FALSE",
        "VoteReceived: heard = Member -> heard # Member",
        "Decide: s.voted -> s.committed",
        # sets
        "VoteReceived: s.heard_from \\cup {e.sender} -> s.heard_from \\cap {e.sender}",
    }
    assert len(made) == len(judged.mutants)


def test_what_the_constants_rule_out_is_left_alone(judged: Judged) -> None:
    """With KeepCommit a second vote is ignored: that the commit is taken back belongs to a flawed variant."""
    made = {mutant.name for mutant in judged.mutants}
    assert "VoteReceived: KeepCommit dropped from (e.sender \\in s.heard_from) /\\ KeepCommit" not in made
    assert not any("WaitForAll dropped" in name for name in made)


def test_a_constant_that_differs_between_models_rules_nothing_out(
    definitions: tree.Definitions, tables: dict[str, ModelTable]
) -> None:
    one = tables["pair"].constants
    other = {**one, "KeepCommit": False}
    assert {"KeepCommit", "WaitForAll"} <= _common(definitions, [one, one]).keys()
    assert _common(definitions, [one, one]).keys() - _common(definitions, [one, other]).keys() == {"KeepCommit"}


TINY = """---- MODULE Tiny ----
CONSTANT Check
Of(check, s) == CASE check = "id" -> s [] check = "none" -> TRUE
Same(check, s) == check = s
Step(s, e) == Of(Check, s) /\\ Same(Check, s) /\\ Same("other", s)
Start(m) == m
====
"""


def test_a_parameter_that_every_call_gives_one_constant_rules_places_out() -> None:
    definitions = tree.read(syntax.export([], "Tiny", generated={"Tiny": TINY}))
    made = mutants(definitions, {"Check": "id"}, Shapes({}), ())
    names = {mutant.name for mutant in made}
    assert 'Of: check = "id" -> check # "id"' in names
    assert not any("none" in name or "TRUE" in name for name in names)
    # Two calls of Same differ: nothing is known of its parameter.
    assert "Same: check = s -> check # s" in names


FORMS = r"""---- MODULE Forms ----
EXTENDS Integers, Sequences
Implied(s) == s.a => s.b
Negated(s) == ~s.a
Every(s) == \A x \in 1 .. s.n : x \in s.set
Joined(s) == s.list \o s.more
Added(s) == Append(s.list, 0)
Kept(s) == SelectSeq(s.list, LAMBDA x : x)
Filtered(s) == {x \in s.set : x}
Pair(s) == <<s.a, s.b>>
Viewed(s, e) == s.view = e.view
Listed(s) ==
    /\ s.a
Named(s) == CASE s.a -> "a" [] s.b -> "b" [] OTHER -> "c"
Step(s, e) == <<Implied(s), Negated(s), Every(s), Joined(s), Added(s), Kept(s), Filtered(s), Pair(s), Viewed(s, e), Listed(s), Named(s)>>
Start(m) == m
====
"""


def test_each_form_has_its_changes() -> None:
    """A list of a single conjunct has none: nothing would be left of it."""
    definitions = tree.read(syntax.export([], "Forms", generated={"Forms": FORMS}))
    view = Fn({"view": Fn({"id": 1, "creator": "A"})})
    made = [each.name for each in mutants(definitions, {}, Shapes.of([view]), ()) if each.operator != "Step"]
    assert len(made) == len({*made})
    assert {*made} == {
        "Implied: s.a dropped from s.a => s.b",
        "Negated: ~s.a -> s.a",
        r"Every: \A x \in 1 .. s.n : x \in s.set -> \E x \in 1 .. s.n : x \in s.set",
        "Every: 1 .. s.n -> (1 + 1) .. s.n",
        "Every: 1 .. s.n -> 1 .. (s.n - 1)",
        "Every: 1 -> 2",
        "Every: 1 -> 0",
        r"Every: x \in s.set -> x \notin s.set",
        r"Joined: s.list \o s.more -> s.list",
        r"Joined: s.list \o s.more -> s.more",
        r"Joined: s.list \o s.more -> s.more \o s.list",
        "Added: Append(s.list, 0) -> s.list",
        r"Added: Append(s.list, 0) -> <<0>> \o s.list",
        "Added: 0 -> 1",
        "Kept: SelectSeq(s.list, LAMBDA x : x) -> s.list",
        r"Filtered: x dropped from {x \in s.set : x}",
        "Pair: s.a dropped from <<s.a, s.b>>",
        "Pair: s.b dropped from <<s.a, s.b>>",
        "Pair: <<s.a, s.b>> -> <<s.b, s.a>>",
        "Viewed: s.view = e.view -> s.view # e.view",
        "Viewed: s.view = e.view -> s.view.creator = e.view.creator",
        "Viewed: s.view = e.view -> s.view.id = e.view.id",
        "Named: CASE s.a and the next exchanged",
        "Named: CASE s.b and the next exchanged",
        'Named: "a" -> "ax"',
        'Named: "b" -> "bx"',
        'Named: "c" -> "cx"',
    }


def test_a_field_is_exchanged_for_one_of_its_type_and_never_for_an_empty_one() -> None:
    """A field that is empty in all states may be of any type."""
    texts: dict[str, Value] = {"type": "x", "name": "A", "to": "B", "n": 1, "least": 2, "flag": True}
    parts: dict[str, Value] = {"list": (1,), "more": (2,), "none": (), "no": ()}
    sets: dict[str, Value] = {"set": frozenset({1}), "other": frozenset()}
    shapes = Shapes.of([Fn(texts | parts | sets)])
    alike = {name: shapes.alike(name, frozenset({name})) for name in ("n", "name", "list", "set", "none", "flag")}
    assert alike == {"n": ["least"], "name": ["to"], "list": ["more"], "set": ["other"], "none": [], "flag": []}


TELLING = """---- MODULE Telling ----
IsVote(message) == message.type = "VOTE"
Late(s, event) == CASE event.type = "Late" -> s [] event.type = "Later" -> ~s
Step(s, e) == IF e.type = "Came" THEN IsVote(e.message) ELSE Late(s, e)
Start(m) == m.type = "member"
====
"""


def test_events_that_no_model_has_are_told_from_other_things_with_a_type() -> None:
    definitions = tree.read(syntax.export([], "Telling", generated={"Telling": TELLING}))
    assert unheard(definitions, {"Came"}) == ["Late", "Later"]


def test_the_dispatch_by_the_type_of_the_event_is_left_alone(judged: Judged) -> None:
    assert not any(mutant.operator == "Step" for mutant in judged.mutants)


def test_the_tables_notice_each_mutant_that_differs_somewhere(judged: Judged) -> None:
    survivors = {m.name for m, found in zip(judged.mutants, judged.noticed, strict=True) if found is None}
    assert survivors == {
        # With KeepCommit every vote of a member that was heard is ignored before.
        "VoteReceived: IF e.sender \\in s.heard_from -> IF FALSE",
        "VoteReceived: Handled([s EXCEPT !.committed = FALSE], <<>>) -> LocalError",
        "VoteReceived: Handled([s EXCEPT !.committed = FALSE], <<>>) -> the old state",
        "VoteReceived: !.committed = FALSE dropped",
        "VoteReceived: FALSE -> TRUE",
        # A member that has committed has heard all, and gets no first vote any more.
        "VoteReceived: @ dropped from @ \\/ (WaitForAll => (heard = Member))",
    }


def test_what_notices_a_mutant_is_a_row_that_differs(judged: Judged, tables: dict[str, ModelTable]) -> None:
    name = "VoteReceived: heard = Member -> heard # Member"
    (found,) = (by for m, by in zip(judged.mutants, judged.noticed, strict=True) if m.name == name)
    assert found is not None
    model, _, row = found.by.partition(" row ")
    state, event = tables[model].table.place(int(row))
    assert tables[model].table.events[event]["type"] == "VoteReceived"
    assert tables[model].table.outcome(int(row)) == "handled"
    assert tables[model].table.states[state]["committed"] is False


def test_a_start_that_differs_is_noticed(judged: Judged) -> None:
    (found,) = (by for m, by in zip(judged.mutants, judged.noticed, strict=True) if m.name == "Start: FALSE -> TRUE")
    assert found == Noticed("Start(A)")


def test_verdicts_are_kept_for_the_same_tables(
    toy: Manifest, tables: dict[str, ModelTable], judged: Judged, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    confronted: list[int] = []

    def confronting(*_: object, workers: int | None) -> list[Noticed | None]:  # noqa: ARG001
        confronted.append(len(judged.mutants))
        return [*judged.noticed]

    monkeypatch.setattr(verdicts, "broken", lambda *_: (judged.definitions, [*judged.mutants], judged.unheard))
    for each in (tables, tables, {"pair": evolve(tables["pair"], key="of another specification")}):
        assert judge(toy, each, cache=tmp_path, confronting=confronting) == judged
    assert len(confronted) == 2


def changed(definitions: tree.Definitions, becomes: tree.Expression) -> SpecMutant:
    """A mutant of `Decide` whose whole body is something else."""
    decide = definitions.find("Decide")
    assert decide is not None
    return SpecMutant("Decide: by hand", "Toy", "Decide", decide.line, decide.body, becomes)


def test_a_specification_of_instances_has_mutants_of_its_own_operators_alone() -> None:
    """Places of another module are counted where that module is the protocol's."""
    manifest = load(Path(__file__).parent.parent, "merge_gms")
    definitions = read_tree(manifest.folders, "MergeGms")
    made = mutants(definitions, {}, Shapes({}), ())
    assert {each.module for each in made} <= {"MergeGms", "Steps", "Views", "Digests"}
    assert "DropStaleMergeReq" in definitions.constants
    assert "SetMemberTimer" not in definitions.constants


def test_a_row_that_cannot_be_evaluated_is_noticed_by_that_and_the_others_are_judged(
    toy: Manifest, definitions: tree.Definitions, tables: dict[str, ModelTable]
) -> None:
    first_of_none = (Apply(Name("$Tuple", "builtin", -1)), Number(1))
    fails = changed(definitions, Apply(Name("$FcnApply", "builtin", -1), first_of_none))
    decide = definitions.find("Decide")
    assert decide is not None
    same = changed(definitions, decide.body)
    only = {name: each.table for name, each in tables.items()}
    mutants = [same, fails, same, fails]
    found = confront(toy.folders, definitions, mutants, only, CONSTANTS, workers=1)
    assert [each and each.fails for each in found] == [None, True, None, True]
    assert found[1] is not None
    assert "out of domain" in found[1].by


def test_what_no_sample_notices_meets_all_states(
    toy: Manifest, definitions: tree.Definitions, tables: dict[str, ModelTable], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each once, in whatever number of blocks, the original among them."""
    seen: list[tuple[int, int]] = []

    def run(_bench: spec_by_tlc.Bench, left: Sequence[int], block: spec_by_tlc.Block) -> dict[int, Noticed]:
        seen.extend((number, state) for number in left for state in block.states)
        return {}

    monkeypatch.setattr(spec_by_tlc, "CHUNK", 2)
    monkeypatch.setattr(spec_by_tlc.Bench, "run", run)
    only = {name: each.table for name, each in tables.items()}
    assert [None, None] == confront(toy.folders, definitions, [place("a"), place("b")], only, CONSTANTS, workers=3)
    assert sorted(seen) == [(number, state) for number in range(3) for state in range(len(only["pair"].states))]


def test_a_line_that_is_no_tuple_is_of_the_specification() -> None:
    assert spec_by_tlc.printed(r'"<<\"step\", 1>>"') == ("step", 1)
    assert [spec_by_tlc.printed(line) for line in ("7", '"voted"', '"<<voted"', "<<1, 2>>")] == [None] * 4


def test_a_mutant_that_does_not_parse_is_an_error(
    toy: Manifest, definitions: tree.Definitions, tables: dict[str, ModelTable]
) -> None:
    unknown = changed(definitions, Apply(Name("NobodyKnows", "defined", -1)))
    only = {name: each.table for name, each in tables.items()}
    with pytest.raises(ParseFailed, match="NobodyKnows"):
        confront(toy.folders, definitions, [unknown], only, CONSTANTS, workers=1)


def test_a_tree_that_is_not_the_specification_is_an_error(
    toy: Manifest, definitions: tree.Definitions, tables: dict[str, ModelTable]
) -> None:
    """The original, written again from its tree, is judged with the mutants: it must differ nowhere."""
    number, start = next((number, each) for number, each in definitions.operators.items() if each.name.text == "Start")
    wrong = evolve(start, body=Number(1))
    operators = {**definitions.operators, number: wrong}
    by_name = {each.name.text: each for each in operators.values()}
    damaged = tree.Definitions(definitions.module, operators, definitions.constants, by_name)
    only = {name: each.table for name, each in tables.items()}
    with pytest.raises(UnexpectedOutput):
        confront(toy.folders, damaged, [], only, CONSTANTS, workers=1)


def test_a_sample_has_each_way_in_which_an_event_ends(tables: dict[str, ModelTable]) -> None:
    table = tables["pair"].table
    states = sample(table)
    width = len(table.events)
    all_ways = {(table.events[at % width]["type"], table.outcome(at + 1)) for at in range(len(table))}
    seen = {
        (table.events[event]["type"], table.outcome(state * width + event + 1))
        for state in states
        for event in range(width)
    }
    assert seen == all_ways
    assert len(states) < len(table.states)


# The report


NOTHING = tree.Definitions("Toy", {}, (), {})


def judged_so(
    mutants: Sequence[SpecMutant], noticed: Sequence[Noticed | None], unheard: tuple[str, ...] = ()
) -> Judged:
    return Judged(NOTHING, "toy", ("pair",), tuple(mutants), tuple(noticed), unheard)


def place(name: str) -> SpecMutant:
    return SpecMutant(name, "Toy", "Decide", 3, Number(1), Number(2))


def test_what_is_equivalent_does_not_count_and_what_is_unreached_does() -> None:
    judged = judged_so([*map(place, "abcd")], [Noticed("pair row 1"), Noticed("fails", fails=True), None, None])
    reasons = Reasons({"c": Reason("equivalent", "no difference"), "d": Reason("unreached", "far", "more")})
    found = report.spec_told(judged, reasons, 1.0)
    assert (found["noticed"], found["by_failing"], found["equivalent"], found["unreached"]) == (2, 1, 1, 1)
    assert found["score"] == 66.67
    assert found["ok"] is False
    assert "unreached: Toy.tla:3: d" in "\n".join(report.spec_lines(found))


def test_a_survivor_without_a_reason_fails_whatever_the_score() -> None:
    mutants = [place(f"{number}") for number in range(100)]
    judged = judged_so(mutants, [*[Noticed("pair row 1")] * 99, None])
    found = report.spec_told(judged, Reasons(), 1.0)
    assert (found["score"], found["unexplained"], found["ok"]) == (99.0, 1, False)


@pytest.mark.parametrize(
    ("reasons", "stale", "lines"),
    [
        (Reasons({"b": Reason("equivalent", "it was once")}), {"b": ""}, ["STALE: a reason for what is no mutant: b"]),
        (
            Reasons({"a": Reason("equivalent", "it was once")}),
            {"a": "pair row 1"},
            ["STALE: a reason for what is noticed: a", "  pair row 1"],
        ),
        (
            Reasons({}, {"Decide": "no model had it once"}),
            {"Decide": "a model has it"},
            ["STALE: a reason for what is noticed: Decide", "  a model has it"],
        ),
    ],
)
def test_a_reason_for_what_is_noticed_is_stale(reasons: Reasons, stale: dict[str, str], lines: list[str]) -> None:
    judged = judged_so([place("a")], [Noticed("pair row 1")])
    found = report.spec_told(judged, reasons, 1.0)
    assert (found["stale"], found["ok"]) == (stale, False)
    assert lines == [*report.spec_lines(found)][:-1]


def test_of_a_core_95_in_100_are_killed_and_each_other_has_a_reason() -> None:
    fates = [report.Fate(Mutant("m", "f", 3, f"a{n}", "b", ""), "row 1" if n else "") for n in range(20)]
    reasons = Reasons({"f: a0 -> b": Reason("unreached", "nothing comes", "a crash")})
    found = report.told("toy", ["pair"], fates, reasons, 1.0)
    assert (found["killed"], found["survived"], found["score"], found["ok"]) == (19, 1, 95.0, True)
    assert [*report.lines(found)][:-1] == [
        *("unreached: line 3: f: a0 -> b", "  - a0", "  + b", "  nothing comes; it needs a crash")
    ]
    assert report.told("toy", ["pair"], fates, Reasons(), 1.0)["ok"] is False
    assert report.told("toy", ["pair"], fates[:-1], reasons, 1.0)["ok"] is False
    assert report.told("toy", ["pair"], fates[1:], reasons, 1.0)["ok"] is False


def test_an_event_that_no_model_has_must_be_explained() -> None:
    judged = judged_so([place("a")], [Noticed("pair row 1")], ("Resend",))
    assert report.spec_told(judged, Reasons(), 1.0)["ok"] is False
    assert report.spec_told(judged, Reasons({}, {"Resend": "a variant's"}), 1.0)["ok"] is True


FILE = """
unheard: {Resend: only variants have it}
equivalent:
- why: the table is empty then
  mutants: ["A: x -> y", "B: x -> y"]
unreached:
- why: nobody does that
  needs: a model in which somebody does
  mutants: ["C: x -> y"]
"""


def test_reasons_are_read(tmp_path: Path) -> None:
    write(tmp_path, FILE)
    reasons = explanations(tmp_path, "toy", "spec")
    assert reasons.unheard == {"Resend": "only variants have it"}
    assert reasons.mutants["B: x -> y"] == Reason("equivalent", "the table is empty then")
    assert reasons.mutants["C: x -> y"].needs == "a model in which somebody does"


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        (FILE.replace("C: x", "A: x"), "a mutant that has no reason yet"),
        (FILE.replace("  needs: a model in which somebody does\n", ""), '"needs"'),
        (FILE.replace("unreached", "unreachable"), "unreachable"),
    ],
)
def test_a_file_of_reasons_that_is_amiss_is_refused(tmp_path: Path, text: str, wrong: str) -> None:
    write(tmp_path, text)
    with pytest.raises(FileError, match=wrong):
        explanations(tmp_path, "toy", "spec")


def write(root: Path, text: str) -> None:
    folder = root / "conformance" / "mutants"
    folder.mkdir(parents=True)
    (folder / "toy_spec.yaml").write_text(text, encoding="utf-8")
