"""simulate: the command, what a seed decides, and how a violation is shortened and drawn."""

import json
import pickle
from types import SimpleNamespace
from typing import Any

import pytest
from attrs import evolve

from groupcomm import sequencer
from groupcomm.errors import RemoteProtocolError
from groupcomm_commands.main import main
from groupcomm_commands.options import count
from groupcomm_conformance.charts.schedule import Step, drawn, folded
from groupcomm_conformance.tla.values import Fn
from groupcomm_simulator.running import Found, replay, run_seed, shrink, simulate
from groupcomm_simulator.setup import Faults, Setup
from tests.simulated import violation

FEW = Setup(members=3, faults=Faults(frozenset({"crash", "join"})))


def with_core(layer: Any, step: Any) -> Setup:  # noqa: ANN401
    name = layer.__name__.rpartition(".")[2]
    return evolve(FEW, cores=((name, SimpleNamespace(start=layer.start, step=step)),))


def forgetful(config: Any, state: Any, event: Any) -> Any:  # noqa: ANN401
    """Does not deliver what another member has sent."""
    after, effects = sequencer.step(config, state, event)
    others = isinstance(event, sequencer.DataReceived) and event.message.tag.sender != state.member
    return after, () if others else effects


def test_a_core_that_fails_is_found_and_named() -> None:
    def failing(config: Any, state: Any, event: Any) -> Any:  # noqa: ANN401
        if isinstance(event, sequencer.DataReceived):
            raise ZeroDivisionError("no")
        return sequencer.step(config, state, event)

    found = violation(with_core(sequencer, failing), events=2_000)
    assert "NoCrash" == found.claim
    assert "ZeroDivisionError: no" in found.text


def test_a_refusal_of_what_correct_peers_do_is_found() -> None:
    def stubborn(config: Any, state: Any, event: Any) -> Any:  # noqa: ANN401
        if isinstance(event, sequencer.ForwardReceived):
            raise RemoteProtocolError(state, event, "not now")
        return sequencer.step(config, state, event)

    assert "NoRefusals" == violation(with_core(sequencer, stubborn), events=2_000).claim


@pytest.mark.parametrize(
    "weaker",
    [("multicast", "unordered"), ("multicast", "lossy"), ("unicast", "unordered"), ("unicast", "lossy")],
    ids="-".join,
)
def test_over_a_weaker_layer_the_stack_does_not_hold(weaker: tuple[str, str]) -> None:
    """Each of these guarantees is needed; over a weaker one a stack may refuse what comes, which is no violation."""
    found = violation(Setup(weaker=(weaker,)), events=60_000)
    assert found.claim not in {"NoRefusals", "NoCrash"}, str(found)


def test_unicasts_that_arrive_twice_are_borne() -> None:
    """SEQUENCER's table of what it needs says so; GMS, merging and FLUSH bear them too."""
    assert simulate(Setup(weaker=(("unicast", "duplicating"),)), events=12_000, seed=50).found is None


# Choices of a seed


def test_a_seed_is_a_function_that_any_process_can_call() -> None:
    setup = pickle.loads(pickle.dumps(Setup()))  # noqa: S301 - its own
    one, other = run_seed(Setup(), 7, 3_000), run_seed(setup, 7, 3_000)
    assert one == other == pickle.loads(pickle.dumps(other))  # noqa: S301
    assert one.happened != run_seed(Setup(), 8, 3_000).happened
    assert one.happened["multicast"] > 0 < one.judged["Agreement"]


def test_a_run_is_its_seeds() -> None:
    whole = simulate(Setup(), events=7_000, seed=3)
    first = run_seed(Setup(), 3)
    second = run_seed(Setup(), 4, 7_000 - first.events)
    assert (2, first.events + second.events) == (whole.groups, whole.events)
    assert first.happened + second.happened == whole.happened
    assert first.judged + second.judged == whole.judged


@pytest.mark.parametrize(
    ("setup", "groups", "violated"),
    [(Setup(("flush", "gms")), 3, False), (Setup(("flush", "gms"), weaker=(("multicast", "unordered"),)), 1, True)],
    ids=["whole", "weaker"],
)
def test_workers_give_what_one_process_gives(setup: Setup, groups: int, violated: bool) -> None:  # noqa: FBT001
    one, two = (simulate(setup, events=11_000, seed=3, workers=workers) for workers in (1, 2))
    assert evolve(one, seconds=0.0) == evolve(two, seconds=0.0)
    assert (groups, violated) == (one.groups, one.found is not None)


def test_a_violation_comes_shortened_with_its_seed() -> None:
    result = run_seed(with_core(sequencer, forgetful), 1, 5_000, budget=40_000)
    assert result.found is not None
    assert (1, 3, 5_000) == (result.found.seed, result.found.members, result.found.events)
    assert 60 > len(result.found.schedule)


# Replaying, shrinking, drawing


def small() -> tuple[Setup, Found]:
    broken = with_core(sequencer, forgetful)
    return broken, shrink(broken, violation(broken, events=20_000), budget=60_000)


def test_a_schedule_is_cut_to_what_leads_to_the_violation() -> None:
    broken, found = small()
    violated, happened = replay(broken, found.seed, found.schedule)
    assert str(found) == str(violated)
    assert list(found.schedule) == happened
    for place in range(len(found.schedule)):
        less = found.schedule[:place] + found.schedule[place + 1 :]
        fell, _ = replay(broken, found.seed, less)
        assert fell is None or fell.claim != found.claim, f"event {place} is not needed"


def test_the_chart_has_a_lane_for_each_member_and_fits() -> None:
    broken, found = small()
    lines = drawn(broken, found.seed, found.schedule)
    assert 100 >= max(map(len, lines))
    assert any(".view " in line for line in lines)
    assert {part for kind, *rest in found.schedule if kind == "join" for part in rest} <= {*lines[0].split()}


def test_what_comes_over_and_over_is_drawn_once() -> None:
    """Rounds of a single step and of several; a round that differs in anything, or comes twice only, stays."""

    def steps(*actions: str) -> list[Step]:
        return [
            Step(number, action, Fn({"local": Fn({"A": 0}), "act": Fn({"action": action})}))
            for number, action in enumerate(actions, start=1)
        ]

    def shown(*actions: str) -> list[tuple[int, str]]:
        return [(step.number, step.action) for step in folded(steps(*actions))]

    assert [(1, "a"), (2, "b"), (3, "a"), (4, "b")] == shown(*"abab")
    assert [(1, "a"), (4, "... 3 times more"), (5, "b")] == shown(*"aaaab")
    assert [(1, "x"), (2, "a"), (3, "b"), (7, "... 2 times more"), (8, "a")] == shown(*"xabababa")
    assert [] == shown()
    other = steps(*"aaa")
    other[1] = Step(2, "a", Fn({**other[1].values, "local": Fn({"A": 1})}))
    assert other == folded(other)


# The command


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(["simulate", *arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_the_command_says_what_happened_and_what_was_not_exercised(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("--events", "3000", "--members", "4", "--faults", "loss")
    code, out, _ = run(capsys, *arguments)
    assert 0 == code
    assert out.startswith("sequencer/flush/merge_gms/stable: 3,")
    lines = {line.partition(": ")[0].partition(" of")[0].partition(",")[0]: line for line in out.splitlines()}
    assert "MergedDigestIsMaximum" in lines["not exercised"]  # nothing merges
    assert "Agreement" not in lines["not exercised"]
    assert "Agreement" in lines["no violation"]
    assert "MergedDigestIsMaximum" not in lines["no violation"]
    code, out, _ = run(capsys, *arguments, "--json")
    record = json.loads(out)
    assert "MergedDigestIsMaximum" in record["not_exercised"]
    assert 0 == record["judged"]["MergedDigestIsMaximum"] < record["judged"]["Agreement"]


def test_with_a_majority_one_path_is_judged_and_not_the_end(capsys: pytest.CaptureFixture[str]) -> None:
    stack = "state_transfer/safe/sequencer/flush/merge_gms/stable"
    code, out, _ = run(capsys, stack, "--majority", "--events", "16000", "--members", "5", "--seed", "7", "--json")
    record = json.loads(out)
    assert 0 == code
    assert record["majority"]
    assert {"SequenceOnlyGrows", "HeldByMajority"} <= {*record["claims"]}
    assert not {"EventuallyDelivered", "EventuallyHasState", "EventuallyTold"} & {*record["claims"]}
    assert record["judged"]["SequenceOnlyGrows"] > 10


def test_one_event_is_no_pass(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "--events", "1", "--members", "2")
    assert 4 == code
    assert "nothing to judge of" in out
    assert "TotalOrderBroadcast" in out.splitlines()[-1]
    assert "no violation" not in out
    code, out, _ = run(capsys, "--events", "1", "--members", "2", "--json")
    assert 4 == code
    assert "TotalOrderBroadcast" in json.loads(out)["nothing_to_judge"]


def test_the_command_shows_a_violation_and_how_to_have_it_again(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, *["--events", "2000", "--seed", "3", "--members", "2", "--weaken", "unicast=lossy"])
    assert 1 == code
    shown = next(line for line in out.splitlines() if line.startswith("VIOLATION of "))
    again = out.rstrip().splitlines()[-1].removeprefix("again: groupcomm simulate ").split()
    code, out, _ = run(capsys, *again, "--json")
    assert 1 == code
    violated = json.loads(out)["violation"]
    assert f"VIOLATION of {violated['claim']}: {violated['text']}" == shown
    assert violated["schedule"]
    assert violated["chart"]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["sequenser"], "no protocol is called 'sequenser'; there is flush, gms, heartbeat, merge,"),
        (["file_ping"], "file_ping assumes Folder, which nothing that is simulated gives"),
        (["view"], "groupcomm.view is no protocol: it does not say what it assumes"),
        (["stable//sequencer"], "'' is no protocol; a stack is names with / between"),
        (["../x"], "'..' is no protocol"),
        (["flush/gms/stable/stable"], "two layers have one name"),
        (["stable"], "stable assumes Membership"),
        (["gms"], "flush stands right above it"),
        (["merge_gms/stable"], "flush stands right above it"),
        (["flush/merge"], "flush assumes StopRequests, which nothing below it gives"),
        (["merge"], "0 layers that decide the views"),
        (["--events", "0"], "a whole number from 1"),
        (["--members", "999"], "a whole number from 1 to 26"),
        (["--seed", "-1"], "a whole number from 0"),
        (["flush/gms", "--majority"], "--majority is an option of sequencer, which is not in flush/gms"),
        (["--workers", "0"], "a whole number from 1 to 256"),
        (["--workers", "2", "--table", "build/t"], "--workers is for this machine"),
        (["--faults", "rain"], "rain is none of loss, duplication"),
        (["--weaken", "unicast=slow"], "slow is none of unordered, duplicating, lossy"),
        (["--weaken", "synchrony=none"], "synchrony is none of multicast, unicast"),
        (
            ["--weaken", "unicast=lossy", "--weaken", "unicast=unordered"],
            "unicast is weakened twice, to lossy and unordered",
        ),
        (
            ["flush/gms/unicast", "--weaken", "unicast=lossy"],
            "unicast gives ReliableUnicast, and is no layer below: leave it out",
        ),
    ],
)
def test_a_bad_input_is_one_complaint_and_code_2(
    capsys: pytest.CaptureFixture[str], arguments: list[str], complaint: str
) -> None:
    code, out, err = run(capsys, *arguments)
    assert (2, "") == (code, out)
    assert complaint in " ".join(err.replace("│", " ").split())


@pytest.mark.parametrize(
    ("text", "events"), [("1e9", 10**9), ("2.5E6", 2_500_000), ("1.50e+1", 15), ("7", 7), ("1e12", 10**12)]
)
def test_events_may_be_given_by_a_power_of_ten(text: str, events: int) -> None:
    assert events == count(1, 10**12)(text)
