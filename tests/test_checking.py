"""checking: models run as the manifest says, and nothing that is amiss passes for well."""

import hashlib
import json
import re
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from attrs import evolve

from groupcomm_conformance.files.strict_yaml import FileError
from groupcomm_conformance.models import modules as modules_room
from groupcomm_conformance.models import plan as planning
from groupcomm_conformance.models import running
from groupcomm_conformance.models.checking import (
    Cache,
    CheckedModel,
    differences,
    gates,
    kill_matrix,
    plain_cpu_seconds,
    result_key,
    run_model,
    run_models,
    select,
)
from groupcomm_conformance.models.instruments import Heard, main_run, note_run
from groupcomm_conformance.models.manifest import Counts, Manifest, ManifestError, Model, load, protocols
from groupcomm_conformance.models.modules import read_modules
from groupcomm_conformance.tla.values import Fn
from groupcomm_conformance.tlc import tools
from groupcomm_conformance.tlc.errors import ConfigFailed, ParseFailed
from groupcomm_conformance.tlc.output import Progress
from groupcomm_conformance.tlc.run import Result

DATA = Path(__file__).parent / "data"
Results = dict[str, CheckedModel]


@pytest.fixture(scope="module")
def toy() -> Manifest:
    return load(DATA, "toy")


@pytest.fixture(scope="module")
def cache(checked_toy: Path) -> Cache:
    return Cache.of(checked_toy)


@pytest.fixture(scope="module")
def results(toy: Manifest, cache: Cache) -> Results:
    """TLC's answers for all models of the toy protocol: one search each, and for ablations the rows."""
    came = run_models([(toy, model) for model in select(toy)], cache=cache)
    assert all(checked.cached for checked in came)
    return {checked.model: checked for checked in came}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    shutil.copytree(DATA, tmp_path, dirs_exist_ok=True)
    return tmp_path


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def gate(manifest: Manifest, results: Results, name: str) -> tuple[bool | None, str]:
    found = next(gate for gate in gates(manifest, results) if gate.name == name)
    return found.ok, found.text


def with_model(manifest: Manifest, name: str, change: Callable[[Model], Model]) -> Manifest:
    models = tuple(change(model) if model.name == name else model for model in manifest.models)
    return evolve(manifest, models=models)


# All is well


def test_all_models_do_what_the_manifest_expects(toy: Manifest, results: Results) -> None:
    assert {} == {m.name: d for m in toy.models if (d := differences(m, results[m.name]))}
    assert [] == [gate for gate in gates(toy, results) if not gate.ok]


def test_one_search_tells_all_claims_that_an_ablation_refutes(toy: Manifest, results: Results) -> None:
    """The refinement has no step operator: it is run alone, where the manifest says that it is violated."""
    assert {
        "NoEarlyCommit": {"hasty": "falls", "forgetful": "stands", "lossy_live": None},
        "CommittedStays": {"hasty": "stands", "forgetful": "falls", "lossy_live": None},
        "RefinesDecision": {"hasty": None, "forgetful": "falls", "lossy_live": None},
        "EventuallyCommitted": {"hasty": None, "forgetful": None, "lossy_live": "falls"},
    } == kill_matrix(toy, results)


def test_a_counterexample_is_a_trace_that_can_be_drawn(results: Results) -> None:
    assert ["Initial predicate", "Vote", "ReceiveVoteFrom"] == [s.action for s in results["hasty"].trace]
    assert 8 == results["lossy_live"].loop


def test_steps_are_noted_with_their_outcomes(results: Results) -> None:
    assert {
        ("Vote", "handled"),
        ("ReceiveVote", "handled"),
        ("ReceiveVote", "ignored"),
        ("Misuse", "local_error"),
        ("Misuse", "remote_error"),
    } == results["pair"].steps
    assert frozenset() == results["settles_live"].steps


def test_the_harvest_is_every_local_state_and_every_message(results: Results) -> None:
    harvest = results["pair"].harvest
    assert harvest is not None
    vote = Fn({"type": "VOTE"})
    assert {Fn({"sender": "A", "message": vote}), Fn({"sender": "B", "message": vote})} == harvest.messages
    assert frozenset({0}) == harvest.outside
    # For each of two members: not voted and heard none or the other; voted and heard any of four sets.
    assert 12 == len(harvest.local)
    assert results["lossy"].harvest is None


def test_a_harvest_by_two_workers_is_the_same(toy: Manifest, results: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planning, "DIVISIBLE", 1)
    checked = run_model(toy, toy.model("pair"), workers=2)
    assert 2 == checked.workers
    assert results["pair"].harvest == checked.harvest
    assert [] == differences(toy.model("pair"), checked)


def test_the_cost_of_instruments_can_be_measured(toy: Manifest) -> None:
    assert 0.0 < plain_cpu_seconds(toy, toy.model("pair")) < 60.0


# Attempts to fool it


@pytest.mark.parametrize(
    ("counts", "difference"),
    [
        ({"distinct": 26}, "distinct: expected 26, came 25"),
        ({"transitions": 169}, "transitions: expected 169, came 170"),
        ({"depth": 6}, "depth: expected 6, came 7"),
    ],
)
def test_a_wrong_count_differs(toy: Manifest, results: Results, counts: dict[str, int], difference: str) -> None:
    model = toy.model("pair")
    assert model.counts is not None
    assert [difference] == differences(evolve(model, counts=evolve(model.counts, **counts)), results["pair"])


def test_a_depth_that_is_too_great_counts_only_with_one_worker(toy: Manifest, results: Results) -> None:
    """Several workers may find a state on a detour first, but never on a shortcut."""
    model = toy.model("pair")
    assert [] == differences(model, evolve(results["pair"], depth=8, workers=2))
    assert ["depth: expected 7, came 6"] == differences(model, evolve(results["pair"], depth=6, workers=2))
    assert ["depth: expected 7, came 8"] == differences(model, evolve(results["pair"], depth=8))


def test_another_length_of_the_counterexample_differs(toy: Manifest, results: Results) -> None:
    model = evolve(toy.model("hasty"), trace=4)
    assert ["trace: expected 4 states, came 3"] == differences(model, results["hasty"])


def test_a_lasso_that_is_to_be_the_same_each_time_has_a_jvm_of_its_own(toy: Manifest) -> None:
    """Names have other numbers in a JVM that has had other models. An erratum's lasso is always the same."""
    model = toy.model("lossy_live")
    erratum = toy.model("hasty").erratum
    assert erratum is not None
    drawn = evolve(model, erratum=evolve(erratum, claim="EventuallyCommitted", story=None))
    for each, any_lasso, kept in ((model, False, False), (model, True, True), (drawn, True, False)):
        plan = evolve(planning.plan_of(toy, each), any_lasso=any_lasso)
        assert kept == plan.may_be_kept(plan.parts[0]), (each, any_lasso)
    hasty = planning.plan_of(toy, toy.model("hasty"))
    assert hasty.may_be_kept(hasty.parts[0])


def test_another_lasso_of_the_same_claim_differs_in_nothing(toy: Manifest, results: Results) -> None:
    """TLC shows any lasso, not the shortest. One of another claim, or none, differs."""
    model, lossy = toy.model("lossy_live"), results["lossy_live"]
    assert [] == differences(evolve(model, trace=8), lossy)
    assert ["violates, which was not expected: EventuallyCommitted"] == differences(
        evolve(model, trace=8, violated=()), lossy
    )
    assert ["expected violates: EventuallyCommitted, came holds"] == differences(model, evolve(lossy, outcome="holds"))


def test_more_or_fewer_falling_claims_differ(toy: Manifest, results: Results) -> None:
    model = toy.model("forgetful")
    assert ["violates, which was not expected: RefinesDecision"] == differences(
        evolve(model, violated=("CommittedStays",)), results["forgetful"]
    )
    assert ["does not violate, which was expected: NoEarlyCommit"] == differences(
        evolve(model, violated=("NoEarlyCommit", *model.violated)), results["forgetful"]
    )


def test_a_removed_guard_is_a_violation_and_makes_kills_spurious(project: Path, results: Results) -> None:
    """The ablation falls as it did, but so does its control: the guard is not what the kill is about."""
    edit(project / "spec/toy/Toy.tla", "(WaitForAll => heard = Member)", "TRUE")
    manifest = load(project, "toy")
    pair = run_model(manifest, manifest.model("pair"))
    assert ["expected holds, came violates: NoEarlyCommit"] == differences(manifest.model("pair"), pair)
    assert 3 == len(pair.trace)
    ok, text = gate(manifest, results | {"pair": pair}, "controls")
    assert ok is False
    assert "the kill by hasty is spurious: its control pair violates: NoEarlyCommit" in text


def test_an_ablation_that_changes_nothing_differs(project: Path) -> None:
    edit(project / "spec/toy/Toy.tla", "WaitForAll => heard", "heard")
    manifest = load(project, "toy")
    checked = run_model(manifest, manifest.model("hasty"))
    assert ["expected violates: NoEarlyCommit, came holds"] == differences(manifest.model("hasty"), checked)
    assert frozenset() == checked.falls


def test_another_claim_than_the_one_named_differs(toy: Manifest, results: Results) -> None:
    model = evolve(toy.model("hasty"), violates="CommittedStays")
    assert ["expected violates: CommittedStays, came violates: NoEarlyCommit"] == differences(model, results["hasty"])


def test_a_witness_that_is_not_reached_fails_its_gate(toy: Manifest, results: Results) -> None:
    manifest = evolve(toy, witnesses={"SomeCommit": ("pair",), "NeverHappens": ("pair",)})
    checked = run_model(manifest, manifest.model("pair"))
    assert {"SomeCommit"} == checked.witnesses
    assert (False, "NeverHappens is never reached in pair") == gate(manifest, results | {"pair": checked}, "witnesses")


def test_an_action_that_never_fires_fails_its_gate(toy: Manifest, results: Results) -> None:
    """`lossy` is the only model with a budget for losses."""
    quiet = {"lossy": evolve(results["lossy"], steps=results["pair"].steps)}
    assert (False, "never taken in a model that holds: LoseVotes") == gate(toy, results | quiet, "actions")


def test_an_action_that_fires_in_an_ablation_only_fails_its_gate(toy: Manifest, results: Results) -> None:
    quiet = {"lossy": evolve(results["lossy"], steps=results["pair"].steps)}
    loud = {"hasty": evolve(results["hasty"], steps=results["lossy"].steps)}
    assert False is gate(toy, results | quiet | loud, "actions")[0]


def test_an_action_that_gives_a_wrong_name_fails_its_gate(project: Path, results: Results) -> None:
    edit(project / "spec/toy/ToyGroup.tla", 'Apply("Vote", m', 'Apply("Voting", m')
    manifest = load(project, "toy")
    checked = run_model(manifest, manifest.model("pair"))
    renamed = {"lossy": evolve(results["lossy"], steps=checked.steps)}
    ok, text = gate(manifest, results | renamed | {"pair": checked}, "actions")
    assert ok is False
    assert "never taken in a model that holds: Vote" in text
    assert "act.action is Voting, which is no action of Next" in text


def test_an_outcome_that_never_comes_fails_its_gate(toy: Manifest, results: Results) -> None:
    tame = {
        name: evolve(results[name], steps=frozenset(s for s in results[name].steps if s[1] != "remote_error"))
        for name in ("pair", "lossy")
    }
    assert (False, "never the outcome of a step: remote_error") == gate(toy, results | tame, "outcomes")


def test_a_claim_that_nothing_refutes_fails_its_gate(toy: Manifest, results: Results) -> None:
    models = tuple(model for model in toy.models if model.name != "forgetful")
    text = "no ablation refutes CommittedStays; no ablation refutes RefinesDecision"
    assert (False, text) == gate(evolve(toy, models=models), results, "kills")


@pytest.mark.parametrize(
    ("name", "change", "text"),
    [
        ("witnesses", {"witnesses": {}}, "the manifest names no witness"),
        ("controls", {"models": ()}, "no ablation was run"),
        ("kills", {"cfgs": {}}, "no set of claims has a claim"),
        ("conjuncts", {"cfgs": {}}, "no set of claims has a claim"),
        ("actions", {"models": ()}, "there is no model for safety, and only these report their steps"),
        ("outcomes", {"models": ()}, "there is no model for safety, and only these report their steps"),
    ],
)
def test_a_gate_with_nothing_to_judge_does_not_say_ok(
    toy: Manifest, results: Results, name: str, change: dict[str, object], text: str
) -> None:
    manifest = evolve(toy, **change)  # type: ignore[arg-type]
    assert (None, f"not judged: {text}") == gate(manifest, results, name)


def test_models_that_hold_alone_leave_the_controls_unjudged(toy: Manifest, results: Results) -> None:
    assert (None, "not judged: no ablation was run") == gate(toy, {"pair": results["pair"]}, "controls")


def test_of_a_claim_that_is_a_list_each_conjunct_must_fall(project: Path, results: Results) -> None:
    """The second is what the claim was; the first is true of everything, and the list falls all the same."""
    edit(
        project / "spec/toy/ToyGroup.tla",
        "NoEarlyCommit == \\A m \\in Member :",
        "NoEarlyCommit ==\n  \\A m \\in Member :\n    /\\ local[m].member = m\n    /\\",
    )
    edit(project / "spec/toy/recorded.yaml", "[NoEarlyCommit]", "[NoEarlyCommit, NoEarlyCommit/2]")
    manifest = load(project, "toy")
    checked = run_model(manifest, manifest.model("hasty"))
    assert frozenset({"NoEarlyCommit"}) == checked.falls
    assert frozenset({"NoEarlyCommit/2"}) == checked.conjuncts
    assert [] == differences(manifest.model("hasty"), checked)
    assert (False, "no ablation refutes the conjunct NoEarlyCommit/1") == gate(
        manifest, results | {"hasty": checked}, "conjuncts"
    )


def test_an_ablation_is_searched_until_all_that_is_recorded_has_fallen(toy: Manifest) -> None:
    """A record takes the whole ablated space; a check continues until each claim of the record is violated."""
    model = toy.model("forgetful")

    def said(falls: tuple[str, ...], *, recording: bool = False) -> Result:
        plan = planning.plan_of(toy, evolve(model, violated=falls), recording=recording)
        result = planning.execute(plan, plan.parts[0], 1, "2g", None).result
        assert result is not None
        return result

    every = said((), recording=True)
    # NoEarlyCommit never falls: what is expected is looked for to the end.
    for each in (every, said(("NoEarlyCommit", "CommittedStays"))):
        assert (every.transitions, "Run_Shown_Step") == (each.transitions, each.violated)
    soon = said(("CommittedStays",))
    assert (every.trace, every.violated) == (soon.trace, soon.violated)
    assert soon.transitions < every.transitions


def test_one_search_shows_the_counterexample_and_notes_what_else_falls(toy: Manifest) -> None:
    """A claim that cannot be noted has a run of its own: where it is the ablation's claim, that is the search."""
    model = toy.model("forgetful")
    assert ["search", "RefinesDecision"] == [part.name for part in planning.plan_of(toy, model).parts]
    temporal = evolve(model, violates="RefinesDecision", violated=("RefinesDecision",))
    assert ["search"] == [part.name for part in planning.plan_of(toy, temporal).parts]
    temporal = evolve(temporal, violated=("CommittedStays", "RefinesDecision"))
    assert ["search", "falls"] == [part.name for part in planning.plan_of(toy, temporal).parts]


def test_a_part_of_the_models_leaves_gates_open(toy: Manifest, results: Results) -> None:
    """Neither good nor bad: whoever runs one model learns about that model."""
    some = {"hasty": results["hasty"]}
    assert {"actions", "outcomes", "witnesses", "kills", "conjuncts", "controls"} == {
        gate.name for gate in gates(toy, some) if gate.ok is None
    }


def test_an_expression_that_cannot_be_evaluated_is_an_outcome(project: Path) -> None:
    """Removed guards do that; the other models are still worth their runs."""
    edit(project / "spec/toy/Toy.tla", "s.voted THEN LocalError", "s.vote THEN LocalError")
    manifest = load(project, "toy")
    checked = run_model(manifest, manifest.model("pair"))
    assert checked.outcome.startswith("fails: ")
    assert "vote" in checked.outcome
    assert 1 == len(differences(manifest.model("pair"), checked))


def test_a_claim_that_is_no_formula_is_named_with_what_it_is(project: Path) -> None:
    """TLC says the value alone, and the place of Init."""
    edit(project / "spec/toy/ToyGroup.tla", "EventuallyCommitted ==", "Five == 5\n\nEventuallyCommitted ==")
    edit(project / "spec/toy/models.yaml", "[TypeOK, NoEarlyCommit]", "[TypeOK, NoEarlyCommit, Five]")
    manifest = load(project, "toy")
    checked = run_model(manifest, manifest.model("pair"))
    assert re.search(
        r"^fails: .*ToyGroup\.tla:\d+: expected a claim, true or false, but Five is 5 \(5\)$", checked.outcome
    )


def test_a_false_assumption_is_a_mistake_of_the_model_and_no_violation(project: Path) -> None:
    edit(project / "spec/toy/Toy.tla", "Start(member) ==", "ASSUME 1 = 2\n\nStart(member) ==")
    manifest = load(project, "toy")
    with pytest.raises(ConfigFailed, match=r"models\.yaml:\d+: model pair: the ASSUME at .*Toy\.tla:\d+ is false"):
        run_model(manifest, manifest.model("pair"))


@pytest.mark.parametrize(
    ("module", "old", "new", "says"),
    [
        ("Toy", None, "", r"Toy\.tla:1: expected a module: ---- MODULE Toy ----"),
        (
            "Toy",
            "MODULE Toy ",
            "MODULE Tory ",
            r"Toy\.tla:\d+: expected the module Toy, as the file is called, not Tory",
        ),
        (
            "ToyGroup",
            "EXTENDS ",
            "EXTENDS Nosuch, ",
            r"ToyGroup\.tla:\d+: expected a module, but there is no Nosuch\.tla",
        ),
        ("ToyGroup", "INSTANCE Decision", "INSTANCE Decided", r"ToyGroup\.tla:\d+: .* there is no Decided\.tla"),
    ],
)
def test_a_module_that_is_none_is_refused_with_its_place(
    project: Path, module: str, old: str | None, new: str, says: str
) -> None:
    """Before TLC is asked, which says "str is null" of an empty one, and no line of any."""
    file = project / f"spec/toy/{module}.tla"
    if old is None:
        file.write_text(new, encoding="utf-8")
    else:
        edit(file, old, new)
    with pytest.raises(FileError, match=says):
        load(project, "toy")


def test_all_modules_that_come_with_tlc_are_known() -> None:
    with zipfile.ZipFile(tools.find_jar()) as jar:
        there = {Path(name).stem for name in jar.namelist() if re.fullmatch(r"tla2sany/StandardModules/\w+\.tla", name)}
    assert modules_room._LIBRARY >= {name for name in there if not name.startswith("_")}  # noqa: SLF001


def test_a_cached_result_of_another_model_is_none(toy: Manifest, results: Results, tmp_path: Path) -> None:
    """A file with the right digest under another key: no model was judged, and nothing may pass."""
    cache = Cache(tmp_path)
    pair, lossy = toy.model("pair"), toy.model("lossy")
    cache.store(result_key(toy, lossy), results["pair"])
    assert "lossy" == run_model(toy, lossy, cache=cache).model
    cache.store(result_key(toy, pair), evolve(results["pair"], protocol="other"))
    assert "toy" == run_model(toy, pair, cache=cache).protocol


def test_a_claim_that_no_set_names_fails_its_gate(project: Path, results: Results) -> None:
    """The person who wrote it thinks that it holds."""
    edit(
        project / "spec/toy/ToyGroup.tla", "EventuallyCommitted ==", "Forgotten == lost = {}\n\nEventuallyCommitted =="
    )
    (gate,) = (gate for gate in gates(load(project, "toy"), results) if gate.name == "claims")
    assert gate.ok is False
    assert re.fullmatch(r"ToyGroup\.tla:\d+: no set of claims names Forgotten, and no operator uses it", gate.text)


@pytest.mark.parametrize("protocol", protocols(DATA.parents[1]))
def test_each_claim_of_the_project_is_in_a_set(protocol: str) -> None:
    found = {gate.name: gate for gate in gates(load(DATA.parents[1], protocol), {})}
    assert (True, "each claim that is defined is in a set") == (found["claims"].ok, found["claims"].text)


def test_a_specification_that_does_not_parse_ends_the_run(project: Path) -> None:
    edit(project / "spec/toy/Toy.tla", "LET heard ==", "LET heard =")
    manifest = load(project, "toy")
    with pytest.raises(ParseFailed, match=r"Toy\.tla"):
        run_model(manifest, manifest.model("pair"))


def test_a_claim_that_no_module_has_is_a_mistake_of_the_manifest(project: Path) -> None:
    edit(project / "spec/toy/models.yaml", "NoEarlyCommit", "NoSuchClaim")
    manifest = load(project, "toy", recording=True)
    model = manifest.model("pair")
    says = rf"^spec/toy/models\.yaml:{model.line}: model pair: .* invariant NoSuchClaim "
    with pytest.raises(ConfigFailed, match=says):
        run_model(manifest, model)


def test_a_manifest_that_names_a_missing_module_is_refused(project: Path) -> None:
    (project / "spec/toy/MCToy.tla").unlink()
    with pytest.raises(ManifestError, match=r"models\.yaml:3: .*no MCToy\.tla"):
        load(project, "toy")


def test_a_conformance_model_needs_members_by_name(toy: Manifest) -> None:
    manifest = with_model(toy, "pair", lambda model: evolve(model, constants={"Member": "<- Members"}))
    with pytest.raises(ManifestError, match="Member to be a set of texts"):
        run_model(manifest, manifest.model("pair"))


# The cache


def test_a_cached_result_is_the_result(toy: Manifest, cache: Cache, results: Results) -> None:
    for name in ("pair", "forgetful", "lossy_live"):
        again = run_model(toy, toy.model(name), cache=cache)
        assert again.cached
        assert results[name] == again


@pytest.mark.parametrize("damage", ["cut", "changed", "binary", "other format"])
@pytest.mark.usefixtures("results")
def test_a_damaged_cache_entry_counts_as_absent(cache: Cache, damage: str) -> None:
    path = next(path for path in cache.folder.glob("*/checked.json") if cache.load(path.parent.name))
    whole = path.read_bytes()
    text = whole.decode()
    match damage:
        case "cut":
            path.write_text(text[:-10])
        case "changed":
            path.write_text(text.replace('"distinct": ', '"distinct": 1'))
        case "binary":
            path.write_bytes(b"\xff\xfe" + whole)
        case _:
            other = json.dumps({"states": 1})
            path.write_text(f"{hashlib.sha256(other.encode()).hexdigest()}\n{other}")
    assert cache.load(path.parent.name) is None
    path.write_bytes(whole)
    assert cache.load(path.parent.name) is not None


def test_a_damaged_cache_entry_is_replaced(toy: Manifest, results: Results, tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    path = cache.path(result_key(toy, toy.model("pair")))
    path.parent.mkdir()
    path.write_text("nothing of use")
    again = run_model(toy, toy.model("pair"), cache=cache)
    assert not again.cached
    assert results["pair"].harvest == again.harvest
    assert run_model(toy, toy.model("pair"), cache=cache).cached
    assert [path] == [file for file in tmp_path.rglob("*") if file.is_file()]


def test_fresh_passes_the_cache_by(toy: Manifest, results: Results, tmp_path: Path) -> None:
    """The cache holds another result, under the right key."""
    cache = Cache(tmp_path)
    cache.store(result_key(toy, toy.model("pair")), evolve(results["lossy"], model="pair"))
    lossy, pair = results["lossy"].distinct, results["pair"].distinct
    assert lossy == run_model(toy, toy.model("pair"), cache=cache).distinct
    assert pair == run_model(toy, toy.model("pair"), cache=cache, fresh=True).distinct
    assert pair == run_model(toy, toy.model("pair"), cache=cache).distinct


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("toy/Toy.tla", "RemoteError(s)", "LocalError(s)"),
        ("toy/Toy.tla", "    IF e.sender \\notin", "  IF e.sender \\notin"),
        ("common/Decision.tla", "decided = {}", "decided \\in {{}}"),
        ("toy/models.yaml", "MaxLost: 0", "MaxLost: 2"),
        ("toy/models.yaml", "witnesses: {SomeCommit: pair, ", "witnesses: {"),
    ],
)
def test_a_result_is_cached_by_all_that_it_depends_on(
    toy: Manifest, project: Path, file: str, old: str, new: str
) -> None:
    """Modules (even those of `common`), constants and instruments: any change is another key."""
    edit(project / "spec" / file, old, new)
    manifest = load(project, "toy")
    assert result_key(toy, toy.model("pair")) != result_key(manifest, manifest.model("pair"))


def test_a_result_is_cached_by_the_jar(toy: Manifest, monkeypatch: pytest.MonkeyPatch) -> None:
    before = result_key(toy, toy.model("pair"))
    monkeypatch.setattr("groupcomm_conformance.tlc.tools.find_jar", lambda: Path(__file__))
    assert before != result_key(toy, toy.model("pair"))


def test_a_result_is_cached_by_the_code_that_made_it(toy: Manifest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A repaired checker must not believe what its forerunner kept."""
    before = result_key(toy, toy.model("pair"))
    monkeypatch.setattr("groupcomm_conformance.files.keys.code_digest", lambda *modules: f"other {modules}")
    assert before != result_key(toy, toy.model("pair"))


def test_what_is_not_used_is_no_part_of_the_key(toy: Manifest, project: Path) -> None:
    """A module that is not needed, a comment, a sentence of the manifest: whoever rewords them waits for nothing."""
    (project / "spec/toy/Other.tla").write_text("---- MODULE Other ----\n====\n")
    edit(project / "spec/toy/Toy.tla", "TOY-01, TOY-02", "TOY-01")
    edit(project / "spec/common/Decision.tla", "for good. *)", "for\n\never. *)")
    edit(project / "spec/toy/models.yaml", "no member commits too early", "something else")
    manifest = load(project, "toy")
    assert result_key(toy, toy.model("pair")) == result_key(manifest, manifest.model("pair"))


# Running


def test_what_a_listener_raises_ends_all_runs(toy: Manifest) -> None:
    class Impatient:
        def started(self, model: Model, part: str) -> None:
            raise RuntimeError(f"{model.name} {part}")

        def progress(self, model: Model, part: str, progress: Progress) -> None: ...
        def ended(self, model: Model, part: str) -> None: ...
        def checked(self, model: Model, checked: CheckedModel) -> None: ...

    with pytest.raises(RuntimeError, match="search"):
        run_models([(toy, toy.model("pair"))], listener=Impatient())


def test_a_search_that_would_outlast_the_others_gets_all_workers(toy: Manifest) -> None:
    def sized(name: str, transitions: int) -> Manifest:
        return with_model(toy, name, lambda model: evolve(model, counts=Counts(1, transitions, 1)))

    def workers(manifest: Manifest) -> list[tuple[str, str, int]]:
        plans = [planning.plan_of(manifest, manifest.model(name)) for name in ("pair", "lossy", "hasty")]
        jobs = [running.Job(0, plan, part, 1) for plan in plans for part in plan.parts]
        return [(j.plan.model.name, j.part.name, j.workers) for j in running.scheduled(jobs, 2)]

    hasty = [("hasty", "search", 1)]
    # Its control gives `hasty` the size of `pair`.
    assert [("lossy", "search", 1), ("pair", "search", 1), *hasty] == workers(toy)
    assert [("pair", "search", 1), *hasty, ("lossy", "search", 2)] == workers(sized("lossy", 200_000))


def test_a_tier_includes_the_smaller_ones(toy: Manifest) -> None:
    assert ["pair", "hasty"] == [model.name for model in select(toy, "smoke")]
    assert 6 == len(select(toy, "full")) == len(select(toy, "deep"))
    assert ["lossy"] == [model.name for model in select(toy, "smoke", "lossy")]


# Instruments


def test_next_may_be_said_of_one_member(project: Path) -> None:
    """The actions are the same, and whoever builds on them has to know."""
    (project / "spec/toy/MCOne.tla").write_text(
        "---- MODULE MCOne ----\nEXTENDS MCToy\nOf(m) ==\n    \\/ Vote(m)\n    \\/ Misuse(m)\n"
        "One == Init /\\ [][\\E m \\in Member : Of(m)]_vars\n====\n"
    )
    modules = read_modules([project / "spec/toy", DATA / "spec/common"], "MCOne")
    assert ("Vote", "Misuse") == modules.actions("One")
    assert modules.is_by_member("One")
    assert not modules.is_by_member("Spec")
    assert modules.next_of("One") == r"\E m \in Member : Of(m)"
    assert modules.next_of("Spec") == "Next"


def test_actions_are_what_next_applies() -> None:
    modules = read_modules([DATA / "spec/toy", DATA / "spec/common"], "MCToy")
    assert {"MCToy", "ToyGroup", "Toy", "Decision", "Steps", "Acts"} == modules.files.keys()
    assert ("Vote", "ReceiveVote", "LoseVotes", "Misuse") == modules.actions("Spec") == modules.actions("LiveSpec")


def test_a_declaration_after_an_operator_is_none_of_its_text(project: Path) -> None:
    """What a run copies of a claim that is a list would declare SumOf once more, and not define it."""
    (project / "spec/toy/MCOne.tla").write_text(
        "---- MODULE MCOne ----\nEXTENDS MCToy\nList ==\n    /\\ TRUE\n    /\\ 1 = 1\n\nRECURSIVE SumOf(_)\n"
        "SumOf(set) == IF set = {} THEN 0 ELSE 1 + SumOf(set \\ {CHOOSE x \\in set : TRUE})\n====\n"
    )
    found = read_modules([project / "spec/toy", DATA / "spec/common"], "MCOne").definition("List")
    assert found is not None
    assert found[1].split() == ["/\\", "TRUE", "/\\", "1", "=", "1"]


def test_the_actions_of_a_composition_are_those_of_both(project: Path) -> None:
    r"""`Next /\ Below` takes the actions of `Next`; what else is true of their steps is no action."""
    (project / "spec/toy/MCBoth.tla").write_text(
        "---- MODULE MCBoth ----\nEXTENDS MCToy\nBelow == TRUE\nPurge == UNCHANGED vars\n"
        "BothNext ==\n    \\/ Next /\\ Below\n    \\/ Purge\nBoth == Init /\\ [][BothNext]_vars\n====\n"
    )
    modules = read_modules([project / "spec/toy", DATA / "spec/common"], "MCBoth")
    assert ("Vote", "ReceiveVote", "LoseVotes", "Misuse", "Purge") == modules.actions("Both")


def test_an_action_property_must_be_its_step(project: Path) -> None:
    edit(project / "spec/toy/ToyGroup.tla", "[][CommittedStaysStep]_vars", "[][CommittedStaysStep /\\ TRUE]_vars")
    modules = read_modules([project / "spec/toy", project / "spec/common"], "MCToy")
    with pytest.raises(
        FileError, match=r"ToyGroup\.tla:72: expected CommittedStays == \[\]\[CommittedStaysStep\]_vars"
    ):
        modules.step_of("CommittedStays")


def test_noting_leaves_out_types_and_what_has_no_step(toy: Manifest) -> None:
    modules = read_modules([DATA / "spec/toy", DATA / "spec/common"], "MCToy")
    cfg = toy.cfgs["safety"]
    run, noted = note_run("MCToy", cfg, modules, ["TypeOK"])
    assert ("NoEarlyCommit", "CommittedStays") == noted
    assert (("Run_Note_NoEarlyCommit",), ("Run_Note_CommittedStays",)) == (run.cfg.invariants, run.cfg.properties)


def test_a_run_without_instruments_asserts_what_its_claims_are(toy: Manifest) -> None:
    cfg = toy.cfgs["safety"]
    assert cfg == main_run("MCToy", cfg).cfg


def test_lines_that_are_none_of_ours_are_passed_over() -> None:
    heard = Heard()
    for line in ("", "TRUE", '"free text"', '"broken', "<<1, 2>>", '"@falls Claim"'):
        heard.take(line)
    assert {"Claim"} == {*heard.falls}
    assert not heard.witnesses
