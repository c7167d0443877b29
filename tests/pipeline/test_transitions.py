"""`groupcomm pipeline`: a row for each kind of TLC's transitions, all of them, and each broken core gets its verdict."""

import json
import subprocess
import sys
from array import array
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pyarrow.parquet as pq
import pytest
from attrs import evolve

from groupcomm import stable
from groupcomm_commands.main import main
from groupcomm_conformance.models.checking import Cache, run_model
from groupcomm_conformance.models.manifest import find_root, load
from groupcomm_conformance.steps.table import StepTable
from groupcomm_conformance.tla.values import Fn, parse, show
from groupcomm_conformance.tlc import run as tlc
from groupcomm_conformance.tlc.errors import UnexpectedOutput
from groupcomm_conformance.walks import graph
from groupcomm_spark import transitions
from groupcomm_spark.transitions import Kind, Taken, judged, take
from tests.cores import core_of, follower
from tests.stable.broken import does_not_purge, forgets_the_minimum

ROOT = find_root(Path(__file__).parent)
MANIFEST = load(ROOT, "stable")
MODEL = MANIFEST.model("pair")


@pytest.fixture(scope="module")
def taken() -> Taken:
    return take(MANIFEST, MODEL, ROOT)


def parts(kind: Kind) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    _, act, before, after = cast("Any", parse(kind.text))
    return dict(act), dict(before or {}), dict(after or {})


# What TLC printed


def test_transitions_are_as_many_as_tlc_counts(taken: Taken) -> None:
    assert MODEL.counts is not None
    assert MODEL.counts.transitions == sum(kind.edges for kind in taken.kinds)
    assert len(taken.kinds) == len({kind.key for kind in taken.kinds}) == len({kind.text for kind in taken.kinds})


def test_actions_and_outcomes_are_those_that_tlc_noted(taken: Taken) -> None:
    """An instrument of `groupcomm check` notes them, another way."""
    acts = [parts(kind)[0] for kind in taken.kinds]
    assert run_model(MANIFEST, MODEL, cache=Cache.of(ROOT)).steps == {(act["action"], act["outcome"]) for act in acts}


def test_kinds_are_those_of_a_graph_without_view(taken: Taken) -> None:
    """TLC's dump has them too, with the acts in its states."""
    dumped = graph.load(MANIFEST, MODEL, ROOT / ".cache" / "groupcomm")
    found = set()
    for source, targets in enumerate(dumped.successors):
        before = cast("Fn", dumped.value(source, "local"))
        for target in targets:
            act, after = dumped.act(target), cast("Fn", dumped.value(target, "local"))
            whose = [m for m in before if m == act["member"] or before[m] != after[m]]
            sides = (tuple((str(m), show(side[m])) for m in whose) for side in (before, after))
            found.add((show(act), *sides))
    printed = {
        (show(Fn(act)), *(tuple((str(m), show(s)) for m, s in side.items()) for side in (before, after)))
        for act, before, after in map(parts, taken.kinds)
    }
    assert printed == found


def test_a_row_is_the_local_step_of_its_transitions(taken: Taken) -> None:
    table = taken.table
    used = {kind.row for kind in taken.kinds} - {None}
    assert 0 < len(used) < len(table)
    for kind in taken.kinds:
        act, before, after = parts(kind)
        if kind.row is None:
            assert "none" == act["outcome"]
            continue
        state, event = table.place(kind.row)
        assert (table.states[state], table.events[event]) == (before[act["member"]], act["event"])
        assert (after[act["member"]], act["effects"]) == table.expected(kind.row)
        assert act["outcome"] == table.outcome(kind.row)


def test_a_member_that_begins_again_takes_the_row_of_its_start() -> None:
    """Whatever its state was before: UNICAST's first event of an incarnation is a step from there."""
    manifest = load(ROOT, "unicast")
    model = manifest.model("restart_twice")
    found = take(manifest, model, ROOT)
    again = [(kind, *parts(kind)) for kind in found.kinds if parts(kind)[0]["from_start"]]
    assert [] != again
    for kind, act, _, after in again:
        assert kind.row is not None
        state = found.table.states[found.table.place(kind.row)[0]]
        assert (found.table.starts[act["member"]], after[act["member"]]) == (state, found.table.expected(kind.row)[0])
        assert "pass" == judged(follower("unicast", model), kind)["verdict"]
    assert any(before[act["member"]] != found.table.starts[act["member"]] for _, act, before, _ in again)


def spoilt(whole: StepTable) -> StepTable:
    return evolve(whole, results=tuple(evolve(each, effects=(*each.effects, "more")) for each in whole.results))


def narrow(whole: StepTable) -> StepTable:
    """The table of an alphabet without the first event."""
    width = len(whole.events)
    cells = array("I", (cell for place, cell in enumerate(whole.cells) if place % width))
    return evolve(whole, events=whole.events[1:], cells=cells)


@pytest.mark.parametrize("change", [spoilt, narrow])
def test_transitions_that_conform_does_not_try_are_counted(
    change: Callable[[StepTable], StepTable], taken: Taken, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transitions, "table_of", lambda *_: (change(taken.table), ""))
    found = take(MANIFEST, MODEL, ROOT)
    without = [kind for kind in found.kinds if kind.row is None and parts(kind)[0]["outcome"] != "none"]
    assert 0 < len(without) == found.beyond
    assert taken.beyond == 0


def test_a_transition_that_is_not_printed_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    run = tlc.run

    def deaf(*arguments: Any, on_line: Callable[[str], None], **options: Any) -> tlc.Result:  # noqa: ANN401
        heard = 0

        def half(line: str) -> None:
            nonlocal heard
            heard += 1
            if heard % 2:
                on_line(line)

        return run(*arguments, on_line=half, **options)

    monkeypatch.setattr(tlc, "run", deaf)
    with pytest.raises(UnexpectedOutput, match="TLC counts 9,507 transitions and printed "):
        transitions._printed(MANIFEST, MODEL, None)  # noqa: SLF001


# The command


def test_the_table_has_a_verdict_on_every_transition(
    taken: Taken, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["pipeline", "stable", "--model", MODEL.name, "--table", str(tmp_path / "table"), "--json"]
    assert 0 == main([*asked, "--master", "local[2]"])
    (told,) = json.loads(capsys.readouterr().out)
    rows = pq.read_table(tmp_path / "table").to_pylist()
    assert {(kind.key, kind.edges, kind.row) for kind in taken.kinds} == {
        (row["transition"], row["edges"], row["row"]) for row in rows
    }
    actions: Counter[str] = Counter()
    for row in rows:
        actions[row["action"]] += row["edges"]
    assert told == {
        "protocol": "stable",
        "model": "pair",
        "ok": True,
        "transitions": 9507,
        "actions": dict(actions),
        "outcomes": told["outcomes"],
        "local_steps": 1144,
        "local_steps_used": 186,
        "kinds_beyond": 0,
        "verdicts": {"pass": len(taken.kinds)},
    }
    assert 9507 == sum(told["outcomes"].values())
    assert 0 == main(asked)
    again = capsys.readouterr()
    assert [told] == json.loads(again.out)
    assert f"{len(taken.kinds):,} rows before" in again.err


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["--model", "hasty"], "hasty"),
        (
            ["--model", "hold_vote_never__on_vote_held_one_round"],
            "hold_vote_never__on_vote_held_one_round is no model for safety that holds",
        ),
        (["--model", "note"], "note: the model has another MemberStep"),
        (["--tier", "quick"], "quick is none of smoke, full, deep"),
    ],
)
def test_wrong_usage_is_one_line(arguments: list[str], error: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert 2 == main(["pipeline", "stable", *arguments])
    assert error in " ".join(capsys.readouterr().err.replace("|", " ").split())


def test_check_and_conform_never_import_spark() -> None:
    script = (
        "import sys\n"
        "from groupcomm_commands.main import main\n"
        "codes = [main([name, 'stable', '--model', 'pair', *more]) for name, *more in"
        " (('check', '--cached'), ('pipeline', '--model', 'absent'))]\n"
        "codes.append(main(['conform', 'stable', '--model', 'absent']))\n"
        "print([name for name in ('pyspark', 'pyarrow') if name in sys.modules])\n"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT)
    assert "[]" == ran.stdout.splitlines()[-1]


# The implementation, broken


def never_ignores(config: stable.Config, state: stable.State, event: stable.Event) -> stable.Transition:
    after, effects = stable.step(config, state, event)
    return evolve(after), effects


def falls_over(config: stable.Config, state: stable.State, event: stable.Event) -> stable.Transition:
    if isinstance(event, stable.StabilityTimeout):
        raise KeyError(state.member)
    return stable.step(config, state, event)


def counts_with_one(config: stable.Config, state: stable.State, event: stable.Event) -> stable.Transition:
    """1 is not TRUE, though Python thinks so."""
    after, effects = stable.step(config, state, event)
    return (evolve(after, pending=1) if after.pending and after is not state else after), effects  # type: ignore[arg-type]


def speaks_of_nothing(config: stable.Config, state: stable.State, event: stable.Event) -> stable.Transition:
    after, effects = stable.step(config, state, event)
    return after, cast("Any", [*effects])


@pytest.mark.parametrize(
    ("step", "verdict"),
    [
        (stable.step, "pass"),
        (forgets_the_minimum, "wrong_state"),
        (does_not_purge, "wrong_effects"),
        (never_ignores, "wrong_outcome"),
        (falls_over, "crash"),
        (counts_with_one, "wrong_state"),
        (speaks_of_nothing, "adapter_error"),
    ],
)
def test_a_broken_core_gets_its_verdict(taken: Taken, step: Callable[..., Any], verdict: str) -> None:
    of = follower("stable", MODEL, core_of("stable", step))
    rows = [judged(of, kind) for kind in taken.kinds]
    verdicts = {row["verdict"] for row in rows} - {"pass"}
    assert verdicts == ({verdict} if verdict != "pass" else set())
    assert all(row["reason"] for row in rows if row["verdict"] != "pass")


def test_a_transition_that_is_altered_does_not_pass(taken: Taken) -> None:
    """Another state after the step, and another act before it."""
    of = follower("stable", MODEL)
    kinds = [kind for kind in taken.kinds if kind.row is not None]
    act, before, after = parts(kinds[0])
    other = next(each for each in (parts(kind)[2] for kind in kinds) if each.keys() == after.keys() and each != after)
    for changed in (
        (act, before, other),
        (act | {"outcome": "remote_error"}, before, after),
        (act | {"effects": (*act["effects"], "more")}, before, after),
    ):
        text = show(("transition", *(Fn(part) for part in changed)))
        assert "pass" != judged(of, evolve(kinds[0], text=text))["verdict"]
