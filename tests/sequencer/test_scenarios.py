"""Each scenario of SEQUENCER, on the implementation and on implementations that are broken on purpose."""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import get_args

import pytest
from attrs import evolve

from groupcomm import sequencer
from groupcomm.effects import Multicast, PassUp, Send
from groupcomm.errors import RemoteProtocolError
from groupcomm.events import Payload
from groupcomm.sequencer import Config, Data, Deliver, Event, Forward, ReceivedTable, State, Tag, Transition
from groupcomm_conformance import mapping
from groupcomm_conformance.files.strict_yaml import FileError
from groupcomm_conformance.models.manifest import find_root
from groupcomm_conformance.scenarios import scenario as scenarios
from groupcomm_conformance.simulation import Group, Impossible
from groupcomm_conformance.tla.values import Fn

ROOT = find_root(Path(__file__).parent)
PROTOCOL = mapping.load("sequencer")
FILES = scenarios.files(ROOT, "sequencer")

Step = Callable[[Config, State, Event], Transition]


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
    assert {event.__name__ for event in get_args(sequencer.Event)} <= seen


def test_titles_differ() -> None:
    titles = [scenarios.load(file).name for file in FILES]
    assert len(titles) == len(set(titles))


# Each guard has a scenario that fails without it.


def delivers_as_the_coordinators(config: Config, state: State, event: Event) -> Transition:
    """The header is not looked at."""
    after, effects = sequencer.step(config, state, event)
    if isinstance(event, sequencer.DataReceived):
        effects = tuple(
            PassUp(Deliver(event.sender, event.message.payload)) if isinstance(e, PassUp) else e
            for e in effects
        )
    return after, effects


def never_sends_again(config: Config, state: State, event: Event) -> Transition:
    after, effects = sequencer.step(config, state, event)
    return after, () if isinstance(event, sequencer.ViewInstalled) else effects


def sends_again_only_when_the_coordinator_left(config: Config, state: State, event: Event) -> Transition:
    """The note: "if the coord leaves/crashes" (FLAW-08)."""
    after, effects = sequencer.step(config, state, event)
    if isinstance(event, sequencer.ViewInstalled) and state.joined:
        gone = state.view.coordinator not in event.view.members
        return after, effects if gone else ()
    return after, effects


def sends_again_in_falling_order(config: Config, state: State, event: Event) -> Transition:
    after, effects = sequencer.step(config, state, event)
    return after, effects[::-1] if isinstance(event, sequencer.ViewInstalled) else effects


def keeps_no_own_messages_as_coordinator(config: Config, state: State, event: Event) -> Transition:
    """The note's send (SEQ-19)."""
    after, effects = sequencer.step(config, state, event)
    if isinstance(event, sequencer.SendRequested) and state.is_coordinator:
        after = evolve(after, forward_table=state.forward_table)
    return after, effects


def strikes_off_what_it_forwards(config: Config, state: State, event: Event) -> Transition:
    after, effects = sequencer.step(config, state, event)
    return (evolve(after, forward_table=()) if isinstance(event, sequencer.SendRequested) else after), effects


def delivers_duplicates(config: Config, state: State, event: Event) -> Transition:
    if isinstance(event, sequencer.DataReceived):
        state = evolve(state, received_table=ReceivedTable(()))
    return sequencer.step(config, state, event)


def numbers_tags_without_epoch(config: Config, state: State, event: Event) -> Transition:
    """The note's tag: sender and seqno (FLAW-09)."""
    after, effects = sequencer.step(config, state, event)
    return evolve(after, epoch=min(after.epoch, 1)), effects


def remembers_departed_members(config: Config, state: State, event: Event) -> Transition:
    after, effects = sequencer.step(config, state, event)
    if isinstance(event, sequencer.ViewInstalled):
        both = (*state.received_table.items(), *after.received_table.items())
        after = evolve(after, received_table=ReceivedTable(both))
    return after, effects


def drops_early_forwards(config: Config, state: State, event: Event) -> Transition:
    """The note's error and return (FLAW-05)."""
    after, effects = sequencer.step(config, state, event)
    return evolve(after, early=()) if after.early else after, effects


def orders_late_forwards(config: Config, state: State, event: Event) -> Transition:
    if isinstance(event, sequencer.ForwardReceived) and state.is_coordinator:
        message = event.message
        if message.view_id.counter < state.view.id.counter:
            return state, (Multicast(Data(state.view.id, message.tag, message.payload)),)
    return sequencer.step(config, state, event)


def delivers_data_of_any_view(config: Config, state: State, event: Event) -> Transition:
    if isinstance(event, sequencer.DataReceived) and event.message.view_id.counter < state.view.id.counter:
        message = evolve(event.message, view_id=state.view.id)
        event = sequencer.DataReceived(state.view.coordinator, message)
        return evolve(sequencer.step(config, state, event)[0], seqno=state.seqno), (
            PassUp(Deliver(message.tag.sender, message.payload)),
        )
    return sequencer.step(config, state, event)


def believes_strangers(config: Config, state: State, event: Event) -> Transition:
    try:
        return sequencer.step(config, state, event)
    except RemoteProtocolError:
        return state, ()


def puts_unicasts_in_order_too(config: Config, state: State, event: Event) -> Transition:
    if isinstance(event, sequencer.UnicastRequested):
        return sequencer.step(config, state, sequencer.SendRequested(event.payload))
    return sequencer.step(config, state, event)


def forwards_its_table_as_data(config: Config, state: State, event: Event) -> Transition:
    """What comes of a header that was changed in place (FLAW-11): a DATA goes out by unicast."""
    after, effects = sequencer.step(config, state, event)
    if isinstance(event, sequencer.ViewInstalled):
        effects = tuple(
            Send(e.to, Data(e.message.view_id, e.message.tag, e.message.payload))
            if isinstance(e, Send) and isinstance(e.message, Forward)
            else e
            for e in effects
        )
    return after, effects


def waits_with_its_own_message(config: Config, state: State, event: Event) -> Transition:
    """It is sent before it is in the table, and so sent twice."""
    after, effects = sequencer.step(config, state, event)
    return after, (*effects, *effects) if isinstance(event, sequencer.SendRequested) else effects


@pytest.mark.parametrize(
    ("step", "name"),
    [
        (delivers_as_the_coordinators, "one_order"),
        (never_sends_again, "crash_before_broadcast"),
        (never_sends_again, "crash_after_broadcast"),
        (never_sends_again, "double_failover"),
        (sends_again_only_when_the_coordinator_left, "merge"),
        (sends_again_only_when_the_coordinator_left, "late_forward"),
        (sends_again_in_falling_order, "new_after_old"),
        (keeps_no_own_messages_as_coordinator, "demoted"),
        (strikes_off_what_it_forwards, "notes_story"),
        (delivers_duplicates, "notes_story"),
        (delivers_duplicates, "doubled_forward"),
        (numbers_tags_without_epoch, "rejoin_in_one_view"),
        (numbers_tags_without_epoch, "reincarnation"),
        (remembers_departed_members, "reincarnation"),
        (drops_early_forwards, "early_forward"),
        (drops_early_forwards, "join_in_failover"),
        (orders_late_forwards, "late_forward"),
        (orders_late_forwards, "rejoin_in_one_view"),
        (delivers_data_of_any_view, "notes_story"),
        (believes_strangers, "stranger"),
        (puts_unicasts_in_order_too, "unicasts"),
        (forwards_its_table_as_data, "crash_before_broadcast"),
        (waits_with_its_own_message, "one_order"),
    ],
)
def test_a_scenario_fails_without_the_guard_that_it_is_about(step: Step, name: str) -> None:
    core = ModuleType("broken")
    core.__dict__.update(start=sequencer.start, step=step)
    (file,) = (file for file in FILES if file.stem == name)
    with pytest.raises(scenarios.Failed):
        scenarios.run(scenarios.load(file), core)


# What the layers below do not do, no scenario can make them do.

HEAD = """\
scenario: a story
protocol: sequencer
source: a note
requirements: [SEQ-34]
members: [A, B, C]
given: {view: [A, 1, [A, B, C]]GIVEN}
steps:
"""
SENT = ("{at: C, do: SendRequested, payload: 1}", "{at: C, do: SendRequested, payload: 2}")
ORDERED = (*SENT, "{deliver: FORWARD, from: C, to: A}", "{deliver: FORWARD, from: C, to: A}")


@pytest.fixture
def told(tmp_path: Path) -> Callable[..., Group]:
    def run(*steps: str, given: str = "") -> Group:
        file = tmp_path / "s.yaml"
        file.write_text(HEAD.replace("GIVEN", given) + "".join(f"- {step}\n" for step in steps))
        return scenarios.run(scenarios.load(file, "s.yaml"))

    return run


REFUSED = {
    "a unicast overtakes another": (
        (*SENT, "{deliver: FORWARD, from: C, to: A, nth: 2}"),
        "A cannot take FORWARD from C yet",
    ),
    "a unicast between members that are up is lost": (
        (*SENT, "{drop: FORWARD, from: C, to: A}"),
        "the unicast layer loses nothing between members that are up (unicast: fifo)",
    ),
    "a unicast comes twice": (
        (*SENT, "{duplicate: FORWARD, from: C, to: A}"),
        "the unicast layer doubles nothing (unicast: fifo)",
    ),
    "a multicast is received out of order": (
        (*ORDERED, "{deliver: DATA, from: A, to: B, nth: 2}"),
        "B cannot take DATA from A yet",
    ),
    "a multicast is lost": (
        (*ORDERED, "{drop: DATA, from: A, to: B}"),
        "the multicast layer loses nothing, and doubles nothing",
    ),
    "a multicast comes twice": (
        (*ORDERED, "{duplicate: DATA, from: A, to: B}"),
        "the multicast layer loses nothing, and doubles nothing",
    ),
    "a member goes on without what its coordinator, which goes on too, multicast": (
        (*ORDERED, "{at: B, do: ViewInstalled, view: [A, 2, [A, B]]}"),
        "B has yet to receive 2 DATA of A|1: all that go on do",
    ),
    "a member goes on without what another has that goes on": (
        (
            *ORDERED,
            "{deliver: DATA, from: A, to: C}",
            "{crash: A}",
            "{at: B, do: ViewInstalled, view: [B, 2, [B, C]]}",
        ),
        "B has yet to receive 1 DATA of A|1: all that go on do",
    ),
    "a view is closed that somebody has yet to install": (
        (
            "{at: B, do: ViewInstalled, view: [B, 2, [B, C]]}",
            "{at: B, do: ViewInstalled, view: [B, 3, [B, C]]}",
        ),
        "C has not installed B|2 yet, and goes on from it",
    ),
    "what was multicast when the view was closed reaches one who goes on": (
        (
            *SENT,
            "{at: B, do: ViewInstalled, view: [B, 2, [B, C]]}",
            "{deliver: FORWARD, from: C, to: A}",
            "{deliver: DATA, from: A, to: C}",
        ),
        "C cannot take DATA from A yet",
    ),
    "a multicast is received before its view": (
        (
            "{crash: A}",
            "{at: B, do: ViewInstalled, view: [B, 2, [B, C]]}",
            "{at: B, do: SendRequested, payload: 1}",
            "{deliver: DATA, from: B, to: C}",
        ),
        "C cannot take DATA from B yet",
    ),
}


@pytest.mark.parametrize(("steps", "problem"), REFUSED.values(), ids=REFUSED)
def test_the_layers_below_keep_what_they_promise(
    told: Callable[..., Group], steps: tuple[str, ...], problem: str
) -> None:
    with pytest.raises(scenarios.Failed) as failed:
        told(*steps)
    assert (f"s.yaml:{7 + len(steps)}: {problem}") == str(failed.value)


@pytest.mark.parametrize(
    ("given", "steps", "in_flight"),
    [
        ("unicast: unordered", (*SENT, "{deliver: FORWARD, from: C, to: A, nth: 2}"), 1 + 3),
        ("unicast: duplicating", (*SENT, "{duplicate: FORWARD, from: C, to: A}"), 3),
        ("unicast: lossy", (*SENT, "{drop: FORWARD, from: C, to: A}"), 1),
        ("unicast: fifo", (*SENT, "{crash: C}", "{drop: FORWARD, from: C, to: A}"), 1),
        ("synchrony: none", (*ORDERED, "{at: B, do: ViewInstalled, view: [A, 2, [A, B]]}"), 2 * 3),
    ],
)
def test_weaker_layers_are_said_to_be_weaker(
    told: Callable[..., Group], given: str, steps: tuple[str, ...], in_flight: int
) -> None:
    assert in_flight == len(told(*steps, given=f", {given}").flight)


def test_without_synchrony_what_one_member_multicast_still_comes_in_order(
    told: Callable[..., Group],
) -> None:
    steps = (
        *SENT,
        "{deliver: FORWARD, from: C, to: A}",
        "{at: A, do: ViewInstalled, view: [A, 2, [A, B, C]]}",
        "{at: A, do: SendRequested, payload: 1}",
    )
    with pytest.raises(scenarios.Failed, match="B cannot take DATA from A yet"):
        told(*steps, "{deliver: DATA, from: A, to: B, nth: 2}", given=", synchrony: none")
    group = told(
        *steps,
        "{deliver: DATA, from: A, to: B}",
        "{deliver: DATA, from: A, to: B, error: LocalProtocolError}",
        given=", synchrony: none",
    )
    assert ("C1",) == group.around.observe("B", "delivered")


def test_uniformly_what_the_dead_received_all_receive(told: Callable[..., Group]) -> None:
    steps = (*ORDERED, "{settle: [A]}", "{crash: A}", "{at: B, do: ViewInstalled, view: [B, 2, [B, C]]}")
    assert () == told(*steps).around.observe("B", "delivered")
    with pytest.raises(scenarios.Failed, match="B has yet to receive 2 DATA"):
        told(*steps, given=", synchrony: uniform")


def test_a_guarantee_has_one_of_a_few_names(told: Callable[..., Group]) -> None:
    with pytest.raises(FileError, match=r"s\.yaml:6: expected .*uniform.*virtual.*none, not"):
        told(*SENT, given=", synchrony: vague")


def test_a_copy_stays_the_coordinators_when_others_have_delivered_it(told: Callable[..., Group]) -> None:
    """SEQ-07, SEQ-08, FLAW-11: who asks for it again asks the coordinator, and gets the same."""
    group = told(*SENT[:1], "{deliver: FORWARD, from: C, to: A}")
    sent = [copy.message for copy in group.flight]
    assert [Data(group.states["A"].view.id, Tag("C", 1, 1), Payload(1))] * 3 == sent
    group.settle(["A", "B"])
    (left,) = group.flight
    assert ("A", "C") == (left.sender, left.to)
    assert left.message is sent[2]
    assert ("C1",) == group.around.observe("B", "delivered")


def test_what_is_sent_to_a_member_that_has_crashed_is_gone(told: Callable[..., Group]) -> None:
    """Also when it comes back."""
    group = told(
        "{crash: A}",
        "{at: B, do: SendRequested, payload: 1}",
        "{at: B, do: UnicastRequested, to: A, payload: 1}",
        "{restart: A}",
        "{at: B, check: {table: [B1]}}",
    )
    assert [] == group.flight


def test_the_log_says_what_a_step_took_off_the_network(told: Callable[..., Group]) -> None:
    group = told(*SENT[:1], "{deliver: FORWARD, from: C, to: A}", "{deliver: DATA, from: A, to: B}")
    taken = [state.values["act"]["consumed"] for state in group.log]  # type: ignore[call-overload,index]
    message = PROTOCOL.codec.to_spec(Forward(group.states["A"].view.id, Tag("C", 1, 1), Payload(1)))
    packet = Fn({"sender": "C", "to": "A", "message": message})
    assert [frozenset(), frozenset(), frozenset({packet}), frozenset()] == taken


def test_there_are_no_deeds_and_no_timers() -> None:
    group = Group(PROTOCOL, ("A",))
    assert not group.around.deeds
    with pytest.raises(KeyError):
        group.around.timer("any")
    with pytest.raises(Impossible):
        group.copy("DATA", "A", "A")
