"""Whole clusters: a simulated group follows the specification's state graph, step by step."""

import random
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import pytest
from attrs import evolve, frozen
from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from groupcomm import sequencer
from groupcomm.effects import Multicast
from groupcomm.errors import RemoteProtocolError
from groupcomm.sim import view_synchrony as vs
from groupcomm_conformance import mapping
from groupcomm_conformance.mapping.sequencer_surroundings import SequencerSurroundings
from groupcomm_conformance.models import manifest as manifests
from groupcomm_conformance.simulation import Followed, Group
from groupcomm_conformance.tla.values import Fn, Value
from groupcomm_conformance.walks import graph as graphs
from groupcomm_conformance.walks import replay as walks
from groupcomm_conformance.walks.graph import Graph
from groupcomm_conformance.walks.machine import machine, steer

ROOT = manifests.find_root(Path(__file__).parent)
PROTOCOL = mapping.load("sequencer")
MANIFEST = manifests.load(ROOT, "sequencer")
WALKED = [model for model in MANIFEST.models if model.walk]

Step = Callable[[sequencer.Config, sequencer.State, sequencer.Event], sequencer.Transition]


@frozen
class Walked:
    """A graph, and the constants of its model."""

    graph: Graph
    constants: Mapping[str, Value]


@cache
def walked(name: str) -> Walked:
    (model,) = (model for model in WALKED if model.name == name)
    graph = graphs.load(MANIFEST, model, ROOT / ".cache" / "groupcomm")
    return Walked(graph, graphs.constants(MANIFEST, model))


def core_with(step: Step) -> ModuleType:
    core = ModuleType("broken")
    core.__dict__.update(start=sequencer.start, step=step)
    return core


@pytest.mark.parametrize("name", [model.name for model in WALKED])
def test_the_group_follows_the_graph(name: str) -> None:
    of = walked(name)
    assert of.graph.actions
    run_state_machine_as_test(machine(PROTOCOL, of.constants, of.graph))


def test_together_the_graphs_have_each_action_of_a_group_without_faults_of_its_layers() -> None:
    actions = {action for model in WALKED for action in walked(model.name).graph.actions}
    assert actions >= {
        "AppSends",
        "AppUnicasts",
        "CloseView",
        "Crash",
        "InstallView",
        "ReceiveData",
        "ReceiveForward",
        "ReceivePlain",
    }


FOUR = '= {"A", "B", "C", "D"}'
WIDE: Mapping[str, Mapping[str, str]] = {
    "two coordinators die": {"History": "<- DoubleFailover", "Member": FOUR, "MaxCrashes": "= 2"},
    "a member joins in the failover": {"History": "<- JoinInFailover", "Member": FOUR},
    "C leaves and comes back": {"History": "<- Return"},
    "C comes back within one view": {"History": "<- Bundle", "Restarted": "<- CInSecond"},
    "two groups merge": {"History": "<- Merge", "Follows": "<- IntoThird", "Member": FOUR},
    "members stop": {"History": "<- StopHistory", "StopRule": '= "at_once"', "MaxStops": "= 2"},
    "FORWARDs come twice": {"Unicast": '= "duplicating"', "MaxDuplicates": "= 2"},
    "FORWARDs overtake each other": {"Unicast": '= "unordered"'},
    "FORWARDs are lost": {"Unicast": '= "lossy"', "MaxLost": "= 2"},
    "multicasts overtake each other": {"Nakack": '= "unordered"'},
    "multicasts are lost": {"Nakack": '= "lossy"', "MaxLost": "= 2"},
    "without virtual synchrony": {"ViewSynchrony": '= "none"'},
    "with uniform delivery": {"ViewSynchrony": '= "uniform"'},
}
FAULTS = {
    "MaxCrashes": "= 1",
    "MaxUnicasts": "= 1",
    "MaxStops": "= 1",
    "MaxMisuses": "= 1",
    "Sends": "<- TwoEach",
}


@cache
def simulated(name: str) -> tuple[tuple[Fn, ...], ...]:
    cfg = MANIFEST.cfgs["safety"].override({**FAULTS, **WIDE[name]})
    return graphs.simulate(MANIFEST, cfg, traces=8, depth=40, seed=2005)


@pytest.mark.parametrize("name", WIDE)
def test_the_group_follows_random_walks_of_a_model_too_large_for_a_graph(name: str) -> None:
    """With the layers' faults too: what they do to a group is the same on both sides, right or wrong."""
    constants = graphs.values_of(MANIFEST.cfgs["safety"].override({**FAULTS, **WIDE[name]}))
    for states in simulated(name):
        found = walks.replay(PROTOCOL, constants, states)
        assert found is None, found.text()


def test_the_random_walks_have_what_the_graphs_lack() -> None:
    seen = {state["act"]["action"] for name in WIDE for states in simulated(name) for state in states}  # type: ignore[call-overload,index]
    assert seen >= {
        *("AskStop", "DuplicateForward", "Join", "LoseData", "LoseForward", "Misuse", "Restart", "Stop"),
    }


# What the simulated layers permit is what the specification's do


def deliverable(group: Group) -> set[tuple[str, str]]:
    """Who can receive what now, as the group's surroundings have it."""
    actions = {"DATA": "ReceiveData", "FORWARD": "ReceiveForward", "PLAIN": "ReceivePlain"}
    return {
        (actions[group.name_of(copy.message)], copy.to)
        for copy in group.flight
        if copy.to in group.up and group.around.ready(copy.to, copy.sender, copy.message)
    }


def number(value: Value, *names: str) -> int:
    """The number at a path into a record."""
    for name in names:
        assert isinstance(value, Fn)
        value = value[name]
    assert isinstance(value, int)
    return value


def going_on(graph: Graph) -> dict[int, set[str]]:
    """Who goes from each view to the next, as the same incarnation, by the view's counter."""
    found: dict[int, set[str]] = {}
    for source, action, target in graph.edges():
        if action == "InstallView":
            member = str(graph.act(target)["member"])
            counter = number(graph.values(source), "local", member, "view", "id", "counter")
            found.setdefault(counter, set()).add(member)
    return found


def amounts(stream: vs.Stream[sequencer.Data], onward: set[str]) -> set[int]:
    """With how much of its messages a view can be closed."""
    found = set()
    for amount in range(-1, len(stream.messages) + 2):
        with suppress(ValueError):
            found.add(vs.settle(stream, onward, amount=amount).settled)
    return found


@pytest.mark.parametrize("name", [model.name for model in WALKED])
def test_the_layers_below_permit_what_the_specification_permits_and_nothing_else(name: str) -> None:
    """At each node of some walks: who may receive what, and with how much of its log a view may be closed."""
    of, chance = walked(name), random.Random(2005)  # noqa: S311 - repeatable, no secret
    graph, onward = of.graph, going_on(of.graph)
    seen: set[str] = set()
    for _ in range(40):
        nodes = steer(graph, chance, 40)
        followed = Followed(PROTOCOL, sequencer, of.constants, graph.values(nodes[0]))
        group, around = followed.group, followed.group.around
        assert isinstance(around, SequencerSurroundings)
        for node, following in pairwise(nodes):
            enabled = {
                action: [graph.act(target) for target in targets]
                for action, targets in graph.enabled[node].items()
            }
            seen |= enabled.keys()
            receive = ("ReceiveData", "ReceiveForward", "ReceivePlain")
            may = {(action, act["member"]) for action in receive for act in enabled.get(action, ())}
            assert may == deliverable(group)
            closes: dict[int, set[int]] = {}
            for act in enabled.get("CloseView", ()):
                closes.setdefault(number(act, "given", "view"), set()).add(number(act, "given", "settled"))
            streams = {stream.view.id.counter: stream for stream in around.streams.values()}
            for counter, settled in closes.items():
                assert settled == amounts(streams[counter], onward[counter] & group.up)
            followed.apply(graph.act(following))
            # A walk does not say who goes on; scenarios do, and receive no more than was settled.
            for key, stream in around.streams.items():
                if stream.settled != vs.OPEN:
                    around.streams[key] = evolve(stream, bound=frozenset(onward[key.counter]))
    assert {"ReceiveData", "ReceiveForward", "CloseView"} <= seen


# What is broken is caught


def keeps_its_table(
    config: sequencer.Config, state: sequencer.State, event: sequencer.Event
) -> sequencer.Transition:
    """What came back is sent again all the same."""
    after, effects = sequencer.step(config, state, event)
    return evolve(after, forward_table=(*state.forward_table,)) if effects and isinstance(
        event, sequencer.DataReceived
    ) else after, effects


def does_not_send_again(
    config: sequencer.Config, state: sequencer.State, event: sequencer.Event
) -> sequencer.Transition:
    after, effects = sequencer.step(config, state, event)
    return after, () if isinstance(event, sequencer.ViewInstalled) else effects


def refuses_what_is_early(
    config: sequencer.Config, state: sequencer.State, event: sequencer.Event
) -> sequencer.Transition:
    """The note's error (FLAW-05)."""
    after, effects = sequencer.step(config, state, event)
    if len(after.early) > len(state.early):
        raise RemoteProtocolError(state, event, "not coordinator")
    return after, effects


def falls_over(
    config: sequencer.Config, state: sequencer.State, event: sequencer.Event
) -> sequencer.Transition:
    if isinstance(event, sequencer.ForwardReceived):
        raise KeyError(state.member)
    return sequencer.step(config, state, event)


def multicasts_before_its_view(
    config: sequencer.Config, state: sequencer.State, event: sequencer.Event
) -> sequencer.Transition:
    """An early FORWARD is ordered at once, in a view that there is not yet."""
    after, effects = sequencer.step(config, state, event)
    if after.early != state.early and isinstance(event, sequencer.ForwardReceived):
        message = event.message
        effects = (Multicast(sequencer.Data(message.view_id, message.tag, message.payload)),)
    return after, effects


BROKEN: Mapping[Step, str] = {
    keeps_its_table: "wrong_state",
    does_not_send_again: "wrong_effects",
    multicasts_before_its_view: "wrong_effects",
    refuses_what_is_early: "wrong_outcome",
    falls_over: "crash",
}


@pytest.mark.parametrize(("step", "verdict"), BROKEN.items(), ids=[step.__name__ for step in BROKEN])
def test_a_broken_core_is_caught_on_a_shortest_walk(step: Step, verdict: str) -> None:
    chance = random.Random(2005)  # noqa: S311 - repeatable, no secret
    for model in WALKED * 100:
        of = walked(model.name)
        nodes = steer(of.graph, chance, 60)
        found = walks.follow(PROTOCOL, of.constants, of.graph, nodes, core_with(step))
        if found is not None:
            break
    assert found is not None
    assert (verdict, "a shortest one") == (found.verdict, found.note)
    assert found.text().startswith(f"{verdict}: ")


def test_the_machine_reports_the_shortest_walk_as_a_chart() -> None:
    # What Hypothesis finds need not be shrunk: it is looked up as a shortest walk.
    few = settings(
        max_examples=50, phases=[Phase.generate], derandomize=True, database=None, print_blob=False
    )
    of = walked(WALKED[0].name)
    broken = machine(PROTOCOL, of.constants, of.graph, core_with(does_not_send_again))
    with pytest.raises(AssertionError) as failure:
        run_state_machine_as_test(broken, settings=few)
    text = str(failure.value)
    assert "wrong_effects" in text
    assert "(a shortest one)" in text
    assert "act.effects" in text


# A walk that the specification does not have is not followed


def test_a_group_whose_members_do_not_live_on_is_not_simulated() -> None:
    of = walked(WALKED[0].name)
    start = of.graph.values(of.graph.initial[0])
    with pytest.raises(mapping.MappingError, match="Lingers TRUE, not FALSE"):
        Followed(PROTOCOL, sequencer, {**of.constants, "Lingers": False}, start)


def altered(state: Fn, **act: Value) -> Fn:
    before = state["act"]
    assert isinstance(before, Fn)
    return Fn({**state, "act": Fn({**before, **act})})


def test_what_is_not_in_flight_cannot_be_received() -> None:
    of = walked(WALKED[0].name)
    graph = of.graph
    for edge in graph.edges():
        source, action, target = edge
        if action == "ReceiveForward":
            break
    start = graph.values(graph.initial[0])
    found = walks.replay(PROTOCOL, of.constants, [start, graph.values(target)])
    assert found is not None
    assert ("adapter_error", True) == (found.verdict, "is in flight" in found.reason), source


@pytest.mark.parametrize(
    ("act", "reason"),
    [
        ({"action": "Sleep"}, "the simulated group has no action 'Sleep'"),
        ({"action": "ReceiveData", "given": Fn({"view": 9, "index": 1})}, "nobody has installed view 9"),
        ({"action": "ReceiveData", "given": Fn({"view": 1, "index": 1})}, "message 1 of view 1 cannot reach"),
        ({"action": "InstallView"}, "B has not received what is settled of A|1"),
        ({"action": "CloseView", "given": Fn({"view": 1, "settled": "all"})}, "not int: 'all'"),
    ],
)
def test_a_step_that_makes_no_sense_here_is_an_adapter_error(act: Mapping[str, Value], reason: str) -> None:
    of = walked(WALKED[0].name)
    start = of.graph.values(of.graph.initial[0])
    found = walks.replay(PROTOCOL, of.constants, [start, altered(start, **{"member": "B", **act})])
    assert found is not None
    assert ("adapter_error", True) == (found.verdict, reason in found.reason), found.reason
