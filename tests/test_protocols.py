"""Properties of every protocol, whichever it is: `tests/<protocol>/` has a protocol's own tests."""

import random
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import count
from typing import Any, TypeAlias

import attrs
import pytest
from attrs import evolve
from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from groupcomm.errors import ProtocolError
from groupcomm_conformance.models.manifest import Model
from groupcomm_conformance.models.selecting import select
from groupcomm_conformance.protocols import derive
from groupcomm_conformance.protocols.arbitrary import arbitrary
from groupcomm_conformance.protocols.codec import MappingError, exact
from groupcomm_conformance.protocols.derive import AnyCore, Protocol
from groupcomm_conformance.tla.values import Fn, Value
from groupcomm_conformance.walks.follow import replay
from groupcomm_conformance.walks.machine import machine
from tests.cores import (
    MANIFESTS,
    NAMES,
    PROTOCOLS,
    closed_conformance,
    conformance,
    core_of,
    divergences,
    follower,
    graph_of,
    simulated,
)

every_protocol = pytest.mark.parametrize("name", NAMES)


def of_models(models: Iterable[tuple[str, Model]]) -> pytest.MarkDecorator:
    """The test once for each of these models, each with its protocol."""
    found = [*models]
    return pytest.mark.parametrize(("name", "model"), found, ids=[f"{name}-{m.name}" for name, m in found])


# Guards


@every_protocol
def test_the_members_of_the_reference_are_those_of_the_implementation(name: str) -> None:
    protocol, manifest = PROTOCOLS[name], MANIFESTS[name]
    assert isinstance(protocol.config(derive.constants_of(manifest.cfgs["safety"])), protocol.configuration)


@every_protocol
def test_no_model_whose_guards_are_not_the_reference_s_is_taken_for_one_of_the_implementation(name: str) -> None:
    """Each guard by itself: whoever looked at none of them would call an ablation conforming."""
    protocol = PROTOCOLS[name]
    reference = derive.constants_of(MANIFESTS[name].cfgs["safety"])
    assert protocol.guards
    for guard in protocol.guards:
        with pytest.raises(MappingError, match=f'has {guard} = .*, not "another"'):
            protocol.config({**reference, guard: "another"})
        with pytest.raises(MappingError, match=f"no value for {guard}"):
            protocol.config({key: value for key, value in reference.items() if key != guard})


@every_protocol
def test_a_model_is_one_of_the_implementation_if_it_has_the_guards_of_the_reference(name: str) -> None:
    protocol, manifest = PROTOCOLS[name], MANIFESTS[name]
    others = 0
    for model in manifest.models:
        if manifest.module_of(model.claims) != manifest.module:
            continue  # of another specification, such as the note's, or a composition
        sides = manifest.cfg(model).constants.items()
        changed = {name for name, side in sides if side != manifest.reference.get(name)}
        if changed & {*protocol.guards, *protocol.operators}:
            others += 1
            with pytest.raises(MappingError):
                protocol.config(derive.constants_of(manifest.cfg(model)))
        else:
            protocol.config(derive.constants_of(manifest.cfg(model)))
    assert others


@every_protocol
def test_a_model_that_replaces_a_part_of_the_step_is_not_one_of_the_implementation(name: str) -> None:
    """A cfg can put one operator in the place of another: the guards then say nothing."""
    protocol, manifest = PROTOCOLS[name], MANIFESTS[name]
    reference = derive.constants_of(manifest.cfgs["safety"])
    assert {"Step", "Start"} <= protocol.operators
    # The steps at events of `Stack` are in Composition, and has no operator of the event's name.
    events = [event.__name__ for event in protocol.received.values()] if protocol.is_layer else ["Composite"]
    for operator in ("Step", *events):
        with pytest.raises(MappingError, match=f"another {operator}"):
            protocol.config({**reference, operator: Fn({"operator": "Another"})})


# Names and values


@every_protocol
def test_a_protocol_has_what_all_have(name: str) -> None:
    protocol = PROTOCOLS[name]
    assert "member" == attrs.fields(protocol.state)[0].name
    assert {*protocol.received.values()} <= {*protocol.codec.tags}
    assert {*protocol.timeouts.values()} <= {*protocol.codec.tags}
    assert protocol.core.start("A") == protocol.core.start("A")


@every_protocol
def test_arbitrary_values_survive_the_way_to_the_specification_and_back(name: str) -> None:
    protocol, chance = PROTOCOLS[name], random.Random(2009)  # noqa: S311 - repeatable, no secret
    for wanted in (protocol.state, protocol.events):
        images: dict[Value, object] = {}
        for _ in range(300):
            ours = arbitrary(wanted, chance)
            theirs = protocol.codec.to_spec(ours)
            assert exact(ours) == exact(protocol.codec.from_spec(theirs, wanted))
            assert exact(ours) == exact(images.setdefault(theirs, ours))


@every_protocol
def test_a_step_depends_on_state_and_event_alone_and_changes_neither(name: str) -> None:
    """On arbitrary states and events, reachable or not: the same twice, and nothing is written into either."""
    protocol, chance = PROTOCOLS[name], random.Random(2009)  # noqa: S311 - repeatable, no secret
    config = protocol.config(derive.constants_of(MANIFESTS[name].cfgs["safety"]))
    for _ in range(300):
        state, event = arbitrary(protocol.state, chance), arbitrary(protocol.events, chance)
        before = exact((state, event))
        first = outcome(protocol.core, config, state, event)
        again = outcome(protocol.core, config, *(revived(protocol, each) for each in (state, event)))
        assert exact(first) == exact(again)
        assert before == exact((state, event))


def outcome(core: AnyCore, config: object, state: object, event: object) -> object:
    """The result or error of a step, as a value; out of reach it may fall over, both times alike."""
    try:
        after, effects = core.step(config, state, event)
    except ProtocolError as error:
        return type(error).__name__, error.reason, error.member, error.state, error.event
    except (LookupError, TypeError, ValueError) as error:
        return type(error).__name__
    return after is state, after, effects


def revived(protocol: Protocol, value: Any) -> Any:  # noqa: ANN401 - of any class
    """An equal object that is another one."""
    wanted = protocol.state if isinstance(value, protocol.state) else protocol.events
    return protocol.codec.from_spec(protocol.codec.to_spec(value), wanted)


# Local steps


def small(name: str, most: int = 10_000) -> Model:
    """The largest model of the smoke tier with so many transitions at most; `groupcomm conform` has the large."""
    manifest = MANIFESTS[name]
    own = [model for model in select(manifest, "smoke") if manifest.module_of(model.claims) == manifest.module]
    sizes = {model: model.counts.transitions for model in own if model.counts}
    found = [model for model, size in sizes.items() if size <= most and not model.liveness]
    return evolve(max(found, key=sizes.__getitem__), conform=True)


@every_protocol
def test_local_steps_conform(name: str) -> None:
    came = conformance(name, small(name))
    assert [] == [wrong for wrong in (came.problem, *came.conditions.values()) if wrong]
    assert came.replayed.passed
    assert {"handled", "ignored", "local_error", "remote_error"} == {
        outcome for outcome, count in came.to_json()["outcomes"].items() if count
    }


@every_protocol
def test_local_steps_conform_after_rows_that_could_not_happen(name: str) -> None:
    model = small(name, most=5_000)
    came = closed_conformance(name, model)
    assert [] == [wrong for wrong in (came.problem, *came.conditions.values()) if wrong]
    assert came.replayed.passed
    again = conformance(name, model)
    assert came.table is not None
    assert again.table is not None
    assert {*came.table.states} & {*again.table.states} <= {*came.table.starts.values()}
    assert len(came.table) > 0


# Walks


def walked(name: str) -> list[Model]:
    """The models whose graphs are walked, the smallest first."""
    found = [model for model in select(MANIFESTS[name]) if model.walk]
    return sorted(found, key=lambda model: model.counts.transitions if model.counts else 0)


@of_models((name, walked(name)[0]) for name in NAMES)
def test_the_members_follow_the_graph(name: str, model: Model) -> None:
    graph = graph_of(name, model.name)
    assert graph.actions
    run_state_machine_as_test(machine(follower(name, model), graph))


@pytest.mark.nightly
@of_models((name, model) for name in NAMES for model in walked(name)[1:])
def test_the_members_follow_a_larger_graph(name: str, model: Model) -> None:
    """The smallest one of a protocol is walked for each change, and random walks of models with joins and leaves are followed."""
    test_the_members_follow_the_graph(name, model)


def large(name: str) -> list[Model]:
    """The three largest models that conform.

    `groupcomm conform` takes every local step of all of them. A walk shows besides that a core keeps nothing from
    step to step but its state, whatever the model.
    """
    sizes = {model: model.counts.transitions for model in select(MANIFESTS[name]) if model.conform and model.counts}
    return sorted(sizes, key=sizes.__getitem__)[-3:]


@of_models((name, model) for name in NAMES for model in large(name))
def test_the_members_follow_random_walks(name: str, model: Model) -> None:
    of = follower(name, model)
    for states in simulated(name, model):
        found = replay(of, states)
        assert found is None, found.text()


# Broken implementations are caught

Step: TypeAlias = Callable[[Any, Any, Any], Any]


def never_ignores(step: Step, config: Any, state: Any, event: Any) -> Any:  # noqa: ANN401 - of the protocol
    """An ignored event gives an equal state, but another one."""
    after, effects = step(config, state, event)
    return evolve(after), effects


def falls_over(step: Step, config: Any, state: Any, event: Any) -> Any:  # noqa: ANN401 - of the protocol
    after, effects = step(config, state, event)
    if effects:
        raise KeyError(state.member)
    return after, effects


def asks_for_nothing(step: Step, config: Any, state: Any, event: Any) -> Any:  # noqa: ANN401 - of the protocol
    after, effects = step(config, state, event)
    return (evolve(after), ()) if effects else (after, ())


def gives_a_list(step: Step, config: Any, state: Any, event: Any) -> Any:  # noqa: ANN401 - of the protocol
    after, effects = step(config, state, event)
    return after, [*effects]


def remembers_nothing(step: Step, config: Any, state: Any, event: Any) -> Any:  # noqa: ANN401 - of the protocol
    after, effects = step(config, state, event)
    return (after if after is state else evolve(state)), effects


BROKEN: Mapping[Callable[..., Any], str] = {
    never_ignores: "wrong_outcome",
    falls_over: "crash",
    asks_for_nothing: "wrong_effects",
    gives_a_list: "adapter_error",
    remembers_nothing: "wrong_state",
}
"""Steps that are broken as any protocol's can be, and the verdicts on them."""

broken_in_every_way = pytest.mark.parametrize(("broken", "verdict"), BROKEN.items(), ids=[b.__name__ for b in BROKEN])


def core_with(name: str, broken: Callable[..., Any]) -> AnyCore:
    return core_of(name, partial(broken, PROTOCOLS[name].core.step))


@broken_in_every_way
@every_protocol
def test_the_table_of_local_steps_catches_it(name: str, broken: Callable[..., Any], verdict: str) -> None:
    came = conformance(name, small(name), core_with(name, broken))
    assert not came.ok
    assert {verdict} == {group.verdict for group in came.replayed.groups.values()}


@broken_in_every_way
@every_protocol
def test_a_walk_catches_it(name: str, broken: Callable[..., Any], verdict: str) -> None:
    found = next(divergences(name, core_with(name, broken)))
    assert verdict == found.verdict
    assert found.text().startswith(f"{verdict}: ")


@every_protocol
def test_what_is_found_in_a_graph_is_shown_on_a_shortest_walk(name: str) -> None:
    found = next(divergences(name, core_with(name, remembers_nothing)))
    assert "a shortest one" == found.note


@every_protocol
def test_what_needs_its_history_is_said_to_have_hidden_state(name: str) -> None:
    calls = count()

    def tires(step: Step, config: Any, state: Any, event: Any) -> Any:  # noqa: ANN401 - of the protocol
        return (state, ()) if next(calls) % 97 == 96 else step(config, state, event)

    assert "hidden state" in next(divergences(name, core_with(name, tires))).note


@every_protocol
def test_the_machine_reports_a_shortest_walk_as_a_chart(name: str) -> None:
    # A finding of Hypothesis need not be shrunk: it is looked up as a shortest walk.
    few = settings(max_examples=50, phases=[Phase.generate], derandomize=True, database=None, print_blob=False)
    model = next(model for model in MANIFESTS[name].models if model.walk)
    broken = machine(follower(name, model, core_with(name, asks_for_nothing)), graph_of(name, model.name))
    with pytest.raises(AssertionError) as failure:
        run_state_machine_as_test(broken, settings=few)
    text = str(failure.value)
    assert text.startswith("wrong_effects: ")
    assert "(a shortest one)" in text
    assert "act.effects" in text
