"""simulate: whole stacks hold what they promise under faults, and what is broken is found."""

import json
from typing import Any

import pytest
from attrs import evolve

from groupcomm import sequencer, stable
from groupcomm.effects import Send, SetTimer
from groupcomm.errors import RemoteProtocolError
from groupcomm_conformance.commands.main import main
from groupcomm_conformance.stacks.changes import FAULTS, Faults
from groupcomm_conformance.stacks.claims import CLAIMS
from groupcomm_conformance.stacks.draw import Step, drawn, folded
from groupcomm_conformance.stacks.group import Layers
from groupcomm_conformance.stacks.running import Found, Setup, replay, shrink, simulate
from groupcomm_conformance.tla.values import Fn
from tests.simulated import all_holds, broken, violation

ALL = Faults(frozenset(FAULTS))

TOTAL_ORDER = CLAIMS["TotalOrderBroadcast"]


def setup(stack: str, **changes: Any) -> Setup:  # noqa: ANN401
    return Setup(tuple(stack.split("/")), faults=ALL, **changes)


@pytest.mark.parametrize(
    ("stack", "events", "seed"),
    [("sequencer", 34_000, 1000), ("stable", 33_000, 2000), ("sequencer/stable", 33_000, 3000)],
)
def test_a_hundred_thousand_events_and_all_that_is_promised_holds(stack: str, events: int, seed: int) -> None:
    """Joins, leaves, crashes, restarts, splits, merges, and a network that loses, doubles and reorders."""
    outcome = all_holds(setup(stack), events=events, seed=seed)
    happened = {kind for kind, count in outcome.kinds.items() if count}
    assert {"multicast", "data", "lose", "message", "drop", "install", "promise", "withdraw"} <= happened
    assert {"start", "decide", "crash", "leave", "partition", "heal"} <= happened


# Weaker layers: the rows of the table "What it needs of the layers below" in spec/sequencer/README.md.

ANNOUNCED = {
    ("synchrony", "none"): {"TotalOrder", "Agreement", "EventuallyDelivered"},
    ("multicast", "lossy"): {"TotalOrder", "Agreement", "EventuallyDelivered"},
    ("multicast", "unordered"): {"TotalOrder", "Agreement", "EventuallyDelivered"},
    ("unicast", "lossy"): {"Agreement", "EventuallyDelivered"},
    ("unicast", "unordered"): {"Agreement", "EventuallyDelivered"},
    ("unicast", "duplicating"): set(),
}


def weakened(row: tuple[str, str], ignored: set[str]) -> Setup:
    layer, how = row
    layers = {
        "synchrony": Layers(synchrony=False),
        "multicast": Layers(multicast=how),
        "unicast": Layers(unicast=how),
    }[layer]
    return setup("sequencer", layers=layers, ignored=frozenset(ignored))


@pytest.mark.parametrize("row", ANNOUNCED, ids="-".join)
def test_over_a_weaker_layer_nothing_falls_but_what_the_guarantee_table_announces(
    row: tuple[str, str],
) -> None:
    outcome = simulate(weakened(row, ANNOUNCED[row]), events=12_000, seed=50)
    assert outcome.found is None, str(outcome.found and outcome.found.violation)


@pytest.mark.parametrize(
    ("row", "claim"), [(row, claim) for row, claims in ANNOUNCED.items() for claim in sorted(claims)]
)
def test_over_a_weaker_layer_what_the_table_announces_falls(row: tuple[str, str], claim: str) -> None:
    outcome = simulate(weakened(row, {*TOTAL_ORDER} - {claim}), events=60_000, seed=10)
    assert outcome.found is not None, f"{claim} stands over {row}"
    assert claim == outcome.found.violation.claim


def test_without_virtual_synchrony_a_stack_refuses_what_comes_too_early() -> None:
    """That is no violation there: the layer below is at fault."""
    ignored = ANNOUNCED["synchrony", "none"]
    assert 0 < simulate(weakened(("synchrony", "none"), ignored), events=3_000, seed=50).refused


# Broken cores


def falling(config: Any, state: Any, event: Any) -> Any:  # noqa: ANN401
    """Sends its table again highest first: what is lower is then taken for a duplicate."""
    after, effects = sequencer.step(config, state, event)
    return after, effects[::-1] if isinstance(event, sequencer.ViewInstalled) else effects


def forgetful(config: Any, state: Any, event: Any) -> Any:  # noqa: ANN401
    """Does not send its table again."""
    after, effects = sequencer.step(config, state, event)
    again = isinstance(event, sequencer.ViewInstalled) and state.joined
    return after, tuple(e for e in effects if not isinstance(e, Send)) if again else effects


def eager(config: Any, state: Any, event: Any) -> Any:  # noqa: ANN401
    """Orders a FORWARD of an earlier view as one of this: what it overtakes is taken for a duplicate."""
    if isinstance(event, sequencer.ForwardReceived) and event.message.view_id < state.view.id:
        event = evolve(event, message=evolve(event.message, view_id=state.view.id))
    try:
        return sequencer.step(config, state, event)
    except RemoteProtocolError:
        return state, ()


def unchecked(config: Any, state: Any, event: Any) -> Any:  # noqa: ANN401
    """Keeps no received-table."""
    after, effects = sequencer.step(config, state, event)
    return evolve(after, received_table=sequencer.ReceivedTable(())), effects


def forgetting(config: Any, state: Any, event: Any) -> Any:  # noqa: ANN401
    """Forgets who leaves its view, as the note has it: what comes back with a merge is delivered again."""
    after, effects = sequencer.step(config, state, event)
    kept = [(m, mark) for m, mark in after.received_table.items() if m in after.view.members]
    return evolve(after, received_table=sequencer.ReceivedTable(tuple(kept))), effects


def careless(config: Any, state: Any, event: Any) -> Any:  # noqa: ANN401
    """STABLE lets go of what it promised at any view, with the newcomer or without."""
    if isinstance(event, stable.ViewInstalled):
        state = evolve(state, promised=frozenset())
    return stable.step(config, state, event)


def promiseless(config: Any, state: Any, event: Any) -> Any:  # noqa: ANN401
    """STABLE keeps no promise (FLAW-59)."""
    if isinstance(event, stable.DigestPromised):
        return state, ()
    return stable.step(config, state, event)


def boastful(config: Any, state: Any, event: Any) -> Any:  # noqa: ANN401
    """STABLE votes for what it has received, delivered or not (DLV-01)."""
    if isinstance(event, stable.ViewInstalled | stable.StabilityReceived):
        entries = ((m, evolve(e, delivered=e.received)) for m, e in event.digest.items())
        event = evolve(event, digest=type(event.digest)(entries))
    return stable.step(config, state, event)


def impatient(config: Any, state: Any, event: Any) -> Any:  # noqa: ANN401
    """STABLE announces when it has heard from all but one."""
    after, effects = stable.step(config, state, event)
    if isinstance(event, stable.StableReceived) and len(after.heard_from) == 1 < len(state.heard_from):
        announcing = (*effects, SetTimer("stability", 0, config.stability_delay))
        return evolve(after, pending=True, heard_from=frozenset()), announcing
    return after, effects


def hoarder(config: Any, state: Any, event: Any) -> Any:  # noqa: ANN401
    """STABLE never begins a new round."""
    after, effects = stable.step(config, state, event)
    if isinstance(event, stable.StabilityReceived) and after is not state:
        return evolve(state, pending=False), effects
    return after, effects


BROKEN = [
    ("sequencer", falling, {"EventuallyDelivered"}, "fifo"),
    ("sequencer", forgetful, {"EventuallyDelivered"}, "fifo"),
    ("sequencer", eager, {"EventuallyDelivered"}, "fifo"),
    ("sequencer", unchecked, {"NoDuplicates"}, "duplicating"),
    ("sequencer", forgetting, {"NoDuplicates"}, "fifo"),
    ("stable", careless, {"NoPrematurePurge", "JoinerFindsItsMessages"}, "fifo"),
    ("stable", promiseless, {"NoPrematurePurge", "JoinerFindsItsMessages"}, "fifo"),
    ("stable", boastful, {"NoPrematurePurge"}, "fifo"),
    ("stable", impatient, {"NoPrematurePurge"}, "fifo"),
    ("stable", hoarder, {"EventuallyPurged"}, "fifo"),
]


def with_core(stack: str, step: Any, unicast: str) -> Setup:  # noqa: ANN401
    return setup(stack, layers=Layers(unicast=unicast), cores=broken(stack, step))


@pytest.mark.parametrize(
    ("stack", "step", "claims", "unicast"), BROKEN, ids=lambda each: getattr(each, "__name__", "")
)
def test_a_broken_core_is_found(stack: str, step: Any, claims: set[str], unicast: str) -> None:  # noqa: ANN401
    found = violation(with_core(stack, step, unicast), events=150_000)
    assert found.claim in claims, str(found)


def test_a_core_that_fails_is_found_and_named() -> None:
    def failing(config: Any, state: Any, event: Any) -> Any:  # noqa: ANN401
        if isinstance(event, sequencer.DataReceived):
            raise ZeroDivisionError("no")
        return sequencer.step(config, state, event)

    outcome = simulate(with_core("sequencer", failing, "fifo"), events=1_000, seed=1)
    assert outcome.found is not None
    assert "NoCrash" == outcome.found.violation.claim
    assert "ZeroDivisionError: no" in str(outcome.found.violation)


def test_a_refusal_of_what_correct_peers_do_is_found() -> None:
    def stubborn(config: Any, state: Any, event: Any) -> Any:  # noqa: ANN401
        if isinstance(event, sequencer.ForwardReceived) and event.message.view_id != state.view.id:
            raise RemoteProtocolError(state, event, "not of our view")
        return sequencer.step(config, state, event)

    outcome = simulate(with_core("sequencer", stubborn, "fifo"), events=20_000, seed=1)
    assert outcome.found is not None
    assert "NoRefusals" == outcome.found.violation.claim


# Replaying, shrinking, drawing


def found_early() -> tuple[Setup, Found]:
    broken = with_core("sequencer", falling, "fifo")
    outcome = simulate(broken, events=20_000, seed=1)
    assert outcome.found is not None
    return broken, outcome.found


def test_a_seed_decides_everything() -> None:
    one, other = (simulate(setup("sequencer/stable"), events=3_000, seed=7) for _ in range(2))
    assert evolve(one, seconds=0.0) == evolve(other, seconds=0.0)
    assert one.kinds != simulate(setup("sequencer/stable"), events=3_000, seed=8).kinds


def test_a_schedule_is_cut_to_what_leads_to_the_violation() -> None:
    broken, found = found_early()
    small = shrink(broken, found, budget=60_000)
    assert found.violation.claim == small.violation.claim
    assert 60 > len(small.schedule) < len(found.schedule)
    violation, happened = replay(broken, small.seed, small.schedule)
    assert str(small.violation) == str(violation)
    assert list(small.schedule) == happened
    for place in range(len(small.schedule)):
        less = small.schedule[:place] + small.schedule[place + 1 :]
        fell, _ = replay(broken, small.seed, less)
        assert fell is None or fell.claim != small.violation.claim, f"event {place} is not needed"


def test_the_chart_has_a_lane_for_each_member_and_fits() -> None:
    broken, found = found_early()
    small = shrink(broken, found, budget=60_000)
    lines = drawn(broken, small.seed, small.schedule)
    assert 100 >= max(map(len, lines))
    assert any("-->> Data payload=a/1" in line for line in lines)
    members = {part for kind, *rest in small.schedule if kind == "install" for part in rest}
    assert members <= {*lines[0].split()}


def test_what_comes_over_and_over_is_drawn_once() -> None:
    """Rounds of one step and of several; what differs in anything, or comes twice only, stays."""

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


def test_the_command_says_what_happened(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "sequencer/stable", "--events", "2000", "--members", "4")
    assert 0 == code
    assert out.startswith("sequencer/stable: 2,")
    assert "no violation of TotalOrder, Agreement, NoDuplicates, Integrity, SenderOrder" in out


@pytest.mark.parametrize(
    ("arguments", "claims"),
    [
        ("--events 30000 --seed 3 --members 3 --weaken unicast=lossy", {"EventuallyDelivered", "Agreement"}),
        # What happens in a rest counts as events, and is one event of the schedule.
        ("--events 30000 --seed 28 --members 2 --faults crash,join --weaken synchrony=none", {"Agreement"}),
        ("--events 30000 --seed 59 --members 2 --faults crash,join --weaken synchrony=none", {"Agreement"}),
    ],
    ids=["before a rest", "after a rest", "in the second rest"],
)
def test_the_command_shows_a_violation_and_how_to_have_it_again(
    capsys: pytest.CaptureFixture[str], arguments: str, claims: set[str]
) -> None:
    code, out, _ = run(capsys, "sequencer", *arguments.split())
    assert 1 == code
    shown = next(line for line in out.splitlines() if line.startswith("VIOLATION of "))
    again = out.rstrip().splitlines()[-1].removeprefix("again: groupcomm simulate ").split()
    code, out, _ = run(capsys, *again, "--json")
    assert 1 == code
    violation = json.loads(out)["violation"]
    assert violation["claim"] in claims
    assert f"VIOLATION of {violation['claim']}: {violation['text']}" == shown
    assert violation["schedule"]
    assert violation["chart"]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (
            ["sequenser"],
            "no protocol is called 'sequenser'; there is flush, gms, merge, merge_gms, sequencer, stable",
        ),
        (["view"], "groupcomm.view is no protocol: it does not say what it assumes"),
        (["stable//sequencer"], "'' is no protocol; a stack is names with / between"),
        (["../x"], "'..' is no protocol"),
        (["stable/stable"], "two layers have one name: stable, stable"),
        (["stable", "--events", "0"], "a whole number from 1"),
        (["stable", "--events", "9" * 5000], "a whole number from 1"),
        (["stable", "--members", "999"], "a whole number from 1 to 26"),
        (["stable", "--seed", "-1"], "a whole number from 0"),
        (["stable", "--faults", "rain"], "rain is none of loss, duplication"),
        (["stable", "--weaken", "unicast=slow"], "slow is none of unordered, duplicating, lossy"),
        (["stable", "--weaken", "flush"], "flush is none of synchrony, multicast, unicast"),
    ],
)
def test_a_bad_input_is_one_complaint_and_code_2(
    capsys: pytest.CaptureFixture[str], arguments: list[str], complaint: str
) -> None:
    code, out, err = run(capsys, *arguments)
    assert (2, "") == (code, out)
    assert complaint in " ".join(err.replace("│", " ").split())
