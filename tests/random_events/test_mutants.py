"""Mutants that no table detects, and random steps: differences far beyond the bounds are noticed, false explanations refused."""

import pytest

from groupcomm_conformance.models.checking import Cache, run_model
from groupcomm_conformance.models.modules import read_tree
from groupcomm_conformance.protocols.derive import constants_of
from groupcomm_conformance.random_events.drawn import kinds, taken
from groupcomm_conformance.random_events.mutants_by_events import _pairs, noticed_in, noticed_of
from groupcomm_conformance.steps.conform import table_of
from groupcomm_conformance.steps.mutants import report
from groupcomm_conformance.steps.mutants.explaining import Reason, Reasons, explanations
from groupcomm_conformance.steps.mutants.implementation import Mutant, mutants
from groupcomm_conformance.steps.mutants.report import Fate
from groupcomm_conformance.steps.mutants.shapes import Shapes
from groupcomm_conformance.steps.mutants.specification import SpecMutant
from groupcomm_conformance.steps.mutants.specification import mutants as spec_mutants
from groupcomm_conformance.steps.mutants.verdicts import Judged
from groupcomm_conformance.steps.table import StepTable, Tables
from groupcomm_conformance.tla import tree
from groupcomm_conformance.tla.values import Value
from tests.cores import MANIFESTS, NAMES, PROTOCOLS, ROOT

STEPS = 8_000
WALK = 7
"""In the walks 7 and 8 FLUSH meets what no table has: the mutant below differs there, and not before."""

FORGETS = "again: Effects = (PassDown(HoldBack(cut)),) if state.limit != cut else ()"


def constants(name: str) -> dict[str, Value]:
    return constants_of(MANIFESTS[name].cfgs["safety"])


def table_named(name: str, of: str) -> StepTable:
    manifest = MANIFESTS[name]
    model = manifest.model(of)
    checked = run_model(manifest, model, cache=Cache.of(ROOT))
    assert checked.harvest is not None
    table, _ = table_of(manifest, model, checked.harvest, Tables.of(ROOT))
    return table


def equivalent(name: str) -> list[Mutant]:
    """Give the mutants of a core that are explained as equivalent."""
    kinds = {each: reason.kind for each, reason in explanations(ROOT, name, "core").mutants.items()}
    explained = [mutant for mutant in mutants(PROTOCOLS[name]) if kinds.get(mutant.name) == "equivalent"]
    assert len(explained) == [*kinds.values()].count("equivalent")
    return explained


@pytest.mark.parametrize("name", NAMES)
def test_what_is_explained_as_equivalent_is_a_mutant(name: str) -> None:
    names = [each.name for each in equivalent(name)]
    assert len(names) == len({*names})


@pytest.mark.nightly
@pytest.mark.parametrize("name", NAMES)
def test_no_random_step_refutes_that_mutants_of_a_core_are_equivalent(name: str) -> None:
    """All explanations there are, with some of the steps that `groupcomm mutants` takes."""
    assert {} == noticed_in(PROTOCOLS[name], constants(name), equivalent(name), STEPS)


def test_a_message_that_lacks_a_member_shows_what_random_steps_do_not() -> None:
    """A JOIN_RSP without an old member's first number: hardly any random step lets a member in."""
    protocol, table = PROTOCOLS["gms"], table_named("gms", "join")
    wrong = [each for each in mutants(protocol) if each.name.endswith("each old member' -> pass")]
    assert len(wrong) == 1
    assert {} == noticed_in(protocol, constants("gms"), wrong, STEPS)
    (text,) = noticed_in(protocol, constants("gms"), wrong, 0, tables={"join": table}).values()
    assert "join, and messages that lack a member: " in text
    assert "original remote_error ()" in text


def test_each_two_incarnations_meet_in_a_merged_view() -> None:
    """Of two incarnations that the merged views know, the former is left out, and no other address."""
    protocol = PROTOCOLS["merge"]
    lost: set[tuple[str, frozenset[str]]] = set()
    for block in _pairs(protocol, {"three": table_named("merge", "three")}):
        for state, event in block.pairs():
            after = taken(protocol.core, protocol.config(constants("merge")), state, event).after
            known = {each for said in state.responses.values() for each in said.decision.lives}
            if event.__class__.__name__ == "MergeTimeout" and after.decision != state.decision:
                lost |= {(each, frozenset(known)) for each in known - {*after.decision.lives}}
    beside = {(each, other) for each, known in lost for other in known}
    assert {("A", "A#2"), ("A#2", "A#10"), ("A#9", "A#10"), ("A##0", "A##2")} <= beside
    assert {each for each, _ in lost}.isdisjoint({"A#98", "B#10", "A10", "A#x", "#5", "#7"})


def forgets() -> Mutant:
    (found,) = (each for each in mutants(PROTOCOLS["flush"]) if each.after == FORGETS)
    return found


def test_a_false_explanation_is_refuted_by_a_random_step() -> None:
    """`_stop` forgets whether the member is frozen: it was said to be equivalent, and no table detects it."""
    mutant = forgets()
    assert {} == noticed_in(PROTOCOLS["flush"], constants("flush"), [mutant], STEPS)
    found = noticed_in(PROTOCOLS["flush"], constants("flush"), [mutant], STEPS, WALK)
    assert [mutant.name] == [*found]
    assert "event    [" in found[mutant.name]
    reasons = Reasons({mutant.name: Reason("equivalent", "there is a limit only where it is frozen")})
    told = report.told("flush", ["join"], [Fate(mutant, found[mutant.name], beyond=True)], reasons, 1.0)
    assert (told["ok"], told["by_random_steps"]) == (False, 1)
    assert f"STALE: a reason for what is noticed: {mutant.name}" in [*report.lines(told)]


def test_without_a_random_step_nothing_is_noticed() -> None:
    """As with `--random 0`: what survives the tables is told as it is."""
    assert {} == noticed_in(PROTOCOLS["flush"], constants("flush"), [forgets()], 0)


def specified(name: str, module: str) -> tuple[tree.Definitions, list[SpecMutant]]:
    definitions = read_tree(MANIFESTS[name].folders, module)
    reference = {key: value for key, value in constants(name).items() if isinstance(value, bool | str)}
    events = {kind.cls.__name__ for kind in kinds(PROTOCOLS[name])}
    return definitions, spec_mutants(definitions, reference, Shapes({}), events)


def test_a_false_explanation_of_a_mutant_of_a_specification_is_refuted() -> None:
    """The same mistake in `Flush!Stop`, beside an equivalent mutant."""
    definitions, made = specified("flush", "Flush")
    by_name = {mutant.name: mutant for mutant in made}
    wrong = by_name["Stop: s.frozen dropped from s.frozen /\\ (s.limit # cut)"]
    right = by_name["NoVector: 0 -> 1"]
    judged = Judged(definitions, "flush", ("join",), (right, wrong), (None, None), ())
    found = noticed_of(MANIFESTS["flush"], PROTOCOLS["flush"], judged, 1, WALK).noticed
    assert found[0] is None
    assert found[1] is not None
    assert found[1].beyond
    assert "START_FLUSH" in found[1].by


def test_a_message_that_lacks_a_member_shows_a_mutant_of_a_specification() -> None:
    """The same of `Gms!IsFirstView`: a JOIN_RSP whose digest lacks an old member is malformed."""
    definitions, made = specified("gms", "Gms")
    (wrong,) = (
        each
        for each in made
        if each.name.startswith("IsFirstView: (MembersOf(decision)") and "dropped from" in each.name
    )
    judged = Judged(definitions, "gms", ("join",), (wrong,), (None,), ())
    tables = {"join": table_named("gms", "join")}
    assert (None,) == noticed_of(MANIFESTS["gms"], PROTOCOLS["gms"], judged, 0).noticed
    (found,) = noticed_of(MANIFESTS["gms"], PROTOCOLS["gms"], judged, 0, tables=tables).noticed
    assert found is not None
    assert found.by.startswith("join, and messages that lack a member: ")
