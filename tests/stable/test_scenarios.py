"""Each scenario of STABLE, on the implementation and on implementations that are broken on purpose."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import get_args

import pytest
from attrs import evolve

from groupcomm import stable
from groupcomm.digest import Vector
from groupcomm.effects import CancelTimer, PassDown
from groupcomm_conformance.models.manifest import find_root
from groupcomm_conformance.scenarios import scenario as scenarios

ROOT = find_root(Path(__file__).parent)
FILES = scenarios.files(ROOT, "stable")

Step = Callable[[stable.Config, stable.State, stable.Event], stable.Transition]


@pytest.mark.parametrize("file", FILES, ids=[file.stem for file in FILES])
def test_scenario(file: Path) -> None:
    try:
        scenarios.run(scenarios.load(file, str(file.relative_to(ROOT))))
    except scenarios.Failed as failed:
        pytest.fail("\n".join((str(failed), "", *failed.chart)), pytrace=False)


def test_every_event_occurs_in_a_scenario() -> None:
    seen = set()
    for file in FILES:
        group = scenarios.run(scenarios.load(file))
        seen |= {state.values["act"]["event"]["type"] for state in group.log}  # type: ignore[index,call-overload]
    assert {event.__name__ for event in get_args(stable.Event)} <= seen


def test_titles_differ() -> None:
    titles = [scenarios.load(file).name for file in FILES]
    assert len(titles) == len(set(titles))


# Each guard has a scenario that fails without it.


def re_reads_at_the_timer(
    config: stable.Config, state: stable.State, event: stable.Event
) -> stable.Transition:
    after, effects = stable.step(config, state, event)
    return (evolve(after, minimum=after.vote) if isinstance(event, stable.StableTimeout) else after), effects


def takes_votes_of_other_views(
    config: stable.Config, state: stable.State, event: stable.Event
) -> stable.Transition:
    if isinstance(event, stable.StableReceived) and event.message.digest.keys() == state.view.member_set:
        event = evolve(event, message=evolve(event.message, view_id=state.view.id))
    return stable.step(config, state, event)


def keeps_its_round_in_a_new_view(
    config: stable.Config, state: stable.State, event: stable.Event
) -> stable.Transition:
    after, effects = stable.step(config, state, event)
    if isinstance(event, stable.ViewInstalled) and state.joined and after is not state:
        after = evolve(after, heard_from=state.heard_from & after.heard_from)
    return after, effects


def does_not_hold_its_vote(
    config: stable.Config, state: stable.State, event: stable.Event
) -> stable.Transition:
    if isinstance(event, stable.DigestPromised) and state.joined:
        return state, ()
    return stable.step(config, state, event)


def believes_strangers(config: stable.Config, state: stable.State, event: stable.Event) -> stable.Transition:
    if isinstance(event, stable.StableReceived | stable.StabilityReceived) and event.sender == "Z":
        event = evolve(event, sender=state.member)
    return stable.step(config, state, event)


def lets_everybody_announce(
    config: stable.Config, state: stable.State, event: stable.Event
) -> stable.Transition:
    after, effects = stable.step(config, state, event)
    if isinstance(event, stable.StabilityReceived) and state.pending:
        after = evolve(after, pending=True)
        effects = tuple(effect for effect in effects if not isinstance(effect, CancelTimer))
    return after, effects


def purges_one_more(config: stable.Config, state: stable.State, event: stable.Event) -> stable.Transition:
    after, effects = stable.step(config, state, event)
    more: list[stable.Effect] = []
    for effect in effects:
        match effect:
            case PassDown(stable.Purge(digest)):
                entries = tuple((member, seqno + 1) for member, seqno in digest.items())
                more.append(PassDown(stable.Purge(Vector(entries))))
            case _:
                more.append(effect)
    return after, tuple(more)


def counts_from_the_round(
    config: stable.Config, state: stable.State, event: stable.Event
) -> stable.Transition:
    after, effects = stable.step(config, state, event)
    return (
        evolve(after, received_bytes=state.received_bytes)
        if isinstance(event, stable.StableTimeout)
        else after
    ), effects


@pytest.mark.parametrize(
    ("step", "name"),
    [
        (re_reads_at_the_timer, "timer_keeps_minimum"),
        (takes_votes_of_other_views, "rejoin"),
        (keeps_its_round_in_a_new_view, "unilateral_action"),
        (keeps_its_round_in_a_new_view, "own_vote_is_not_foreign"),
        (keeps_its_round_in_a_new_view, "member_leaves_in_mid_round"),
        (does_not_hold_its_vote, "joiner"),
        (believes_strangers, "stranger"),
        (lets_everybody_announce, "staggered"),
        (purges_one_more, "retransmission"),
        (counts_from_the_round, "bytes_trigger"),
    ],
)
def test_a_scenario_fails_without_the_guard_that_it_is_about(step: Step, name: str) -> None:
    core = ModuleType("broken")
    core.__dict__.update(start=stable.start, step=step)
    (file,) = (file for file in FILES if file.stem == name)
    with pytest.raises(scenarios.Failed):
        scenarios.run(scenarios.load(file), core)
