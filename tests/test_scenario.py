"""scenario: what a scenario may say, each verb, and the errors, with file and line."""

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from groupcomm_conformance.files.strict_yaml import FileError
from groupcomm_conformance.scenarios import scenario as scenarios
from groupcomm_conformance.simulation import Group

HEAD = """\
scenario: a story
protocol: stable
source: a note
requirements: [STB-01]
members: [A, B, C]
given: {view: [A, 1, [A, B, C]], delivered: {A: 2}}
steps:
"""


@pytest.fixture
def told(tmp_path: Path) -> "Told":
    return Told(tmp_path / "s.yaml")


class Told:
    """Runs steps, one a line."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __call__(self, *steps: str, head: str = HEAD) -> Group:
        self.file.write_text(head + "".join(f"- {step}\n" for step in steps))
        return scenarios.run(scenarios.load(self.file, "s.yaml"))

    def refused(self, *steps: str, head: str = HEAD) -> str:
        """The text of the error of a file that says something wrong."""
        with pytest.raises(FileError) as error:
            self(*steps, head=head)
        return str(error.value)

    def fails(self, *steps: str, head: str = HEAD) -> str:
        """The text of the failure of a scenario that can be read."""
        with pytest.raises(scenarios.Failed) as failed:
            self(*steps, head=head)
        return str(failed.value)


# Verbs

VOTES = ("{at: all, do: StableTimeout}", "{deliver: STABLE, from: all, to: all}")


def test_given_is_delivered_everywhere_and_voted_for(told: Told) -> None:
    told(
        "{at: all, check: {vote: {A: 2, B: -1, C: -1}, delivered: {A: 2, B: -1, C: -1}, view: [A, 1, [A, B, C]]}}"
    )


def test_do_is_an_event_and_nothing_moves_by_itself(told: Told) -> None:
    group = told("{at: A, do: StableTimeout}", "{at: all, check: {heard_from: [A, B, C]}}")
    assert [("A", "A"), ("A", "B"), ("A", "C")] == [(copy.sender, copy.to) for copy in group.flight]


def test_deliver_takes_the_oldest_copy_or_the_nth(told: Told) -> None:
    told(
        "{at: B, do: MulticastData}",
        "{at: B, do: MulticastData}",
        "{deliver: DATA, from: B, to: A, nth: 2}",
        "{at: A, check: {received: {A: 2, B: 1, C: -1}, delivered: {A: 2, B: -1, C: -1}}}",
        "{deliver: DATA, from: B, to: A}",
        "{at: A, check: {delivered: {A: 2, B: 1, C: -1}}}",
    )


def test_drop_and_duplicate_are_about_one_copy(told: Told) -> None:
    group = told(
        "{at: B, do: StableTimeout}",
        "{duplicate: STABLE, from: B, to: A}",
        "{drop: STABLE, from: B, to: C}",
    )
    assert ["A", "A", "B"] == sorted(copy.to for copy in group.flight)


def test_a_partition_keeps_copies_until_it_heals(told: Told) -> None:
    steps = ("{at: C, do: StableTimeout}", "{partition: [[A, B]]}")
    assert "s.yaml:10: a partition lies between C and A" == told.fails(
        *steps, "{deliver: STABLE, from: C, to: A}"
    )
    told(*steps, "{heal: all}", "{deliver: STABLE, from: C, to: A}", "{at: A, check: {heard_from: [A, B]}}")


def test_crash_takes_timers_and_copies_to_the_member_away(told: Told) -> None:
    group = told("{at: C, do: StableTimeout}", "{crash: [B, C]}", "{advance: {ms: 1000}}")
    assert ["A", "A"] == [copy.to for copy in group.flight]
    assert {("A", "stable")} == group.timers.keys()


def test_restart_is_without_memory(told: Told) -> None:
    told("{crash: C}", "{restart: C}", "{at: C, check: {view: ['', 0, []], vote: {}, delivered: {}}}")


def test_advance_fires_timers_and_delivers_nothing(told: Told) -> None:
    group = told("{advance: {ms: 2500}}", "{at: all, check: {heard_from: [A, B, C]}}")
    assert (2500, 18) == (group.now, len(group.flight))


def test_timers_take_the_shortest_time_the_longest_or_the_one_given(told: Told) -> None:
    pending = "{at: [A, C], check: {pending: true}}"
    told(*VOTES, "{advance: {ms: 0}}", "{at: all, check: {pending: false}}")
    latest = HEAD.replace("{A: 2}}", "{A: 2}, timers: latest}")
    told(
        *VOTES,
        "{advance: {ms: 99}}",
        pending,
        "{advance: {ms: 1}}",
        "{at: A, check: {pending: false}}",
        head=latest,
    )
    delays = HEAD.replace("{A: 2}}", "{A: 2}, delays: {A: 30, B: 10, C: 20}}")
    told(*VOTES, "{advance: {ms: 15}}", pending, "{at: B, check: {pending: false}}", head=delays)


def test_settle_ends_when_nothing_new_can_come(told: Told) -> None:
    told("{settle: all}", "{at: all, check: {purged: {A: 2, B: -1, C: -1}}}")
    told("{settle: [A, B]}", "{at: [A, B], check: {purged: {A: -1, B: -1, C: -1}, heard_from: [C]}}")


def test_expect_lists_all_effects_in_order(told: Told) -> None:
    vote = "{Multicast: {STABLE: {view_id: [A, 1], digest: {A: 2, B: -1, C: -1}}}}"
    timer = "{SetTimer: {name: stable, low: 1000, high: 1000}}"
    told(f"{{at: A, do: StableTimeout, expect: [{vote}, {timer}]}}")
    text = told.fails(f"{{at: A, do: StableTimeout, expect: [{timer}, {vote}]}}")
    assert text.startswith("s.yaml:8: at A the effects are <<[message: [digest:")


def test_error_asks_for_a_refusal_of_that_kind(told: Told) -> None:
    late = HEAD.replace("given:", "# given:")
    told("{at: A, do: StableTimeout, error: LocalProtocolError}", head=late)
    assert told.fails("{at: A, do: StableTimeout}", head=late) == (
        "s.yaml:8: at A the event was refused: LocalProtocolError: no view is installed yet"
    )
    assert told.fails("{at: A, do: StableTimeout, error: RemoteProtocolError}", head=late) == (
        "s.yaml:8: at A a RemoteProtocolError was expected; the event raised LocalProtocolError"
    )
    assert told.fails("{at: A, do: StableTimeout, error: LocalProtocolError}") == (
        "s.yaml:8: at A a LocalProtocolError was expected; the event was not refused"
    )


def test_config_replaces_single_values(told: Told) -> None:
    head = HEAD.replace("{A: 2}}", "{A: 2}, config: {stable_interval: 5}}")
    assert 6 == len(told("{advance: {ms: 10}}", head=head).flight) // 3


# Failures


@pytest.mark.parametrize(
    ("step", "problem"),
    [
        ("{deliver: STABLE, from: A, to: B}", "no STABLE is in flight from A to B, only nothing"),
        ("{deliver: STABLE, from: all, to: all}", "no STABLE is in flight between any of them"),
        ("{at: A, check: {heard_from: [B]}}", "at A heard_from is {A, B, C}, expected {B}"),
        ("{at: A, check: {purged: {A: 0}}}", "at A purged is [A: -1, B: -1, C: -1], expected [A: 0]"),
        ("{restart: A}", "A has not crashed"),
        (
            "{at: A, do: Retransmit, sender: B, seqno: 0, holder: C}",
            "the store of C does not hold B's message 0",
        ),
        ("{at: A, do: Retransmit, sender: A, seqno: 2, holder: C}", "A does not lack A's message 2"),
        ("{at: C, do: Join, view: [A, 2, [A, C]]}", "nobody has taken a digest for C (DigestPromised)"),
    ],
)
def test_a_step_that_does_not_go_as_told_fails_with_its_line(told: Told, step: str, problem: str) -> None:
    assert f"s.yaml:9: {problem}" == told.fails("{advance: {ms: 0}}", step)


def test_own_copies_are_never_lost(told: Told) -> None:
    text = told.fails("{at: A, do: StableTimeout}", "{drop: STABLE, from: A, to: A}")
    assert "s.yaml:9: what A sends to itself always comes back to it (DLV-04)" == text
    group = told("{at: A, do: StableTimeout}", "{drop: STABLE, from: A, to: all}")
    assert ["A"] == [copy.to for copy in group.flight]


def test_the_dead_do_nothing(told: Told) -> None:
    assert "s.yaml:9: C has crashed" == told.fails("{crash: C}", "{at: C, do: StableTimeout}")


def test_the_chart_ends_with_the_last_step_done(told: Told) -> None:
    with pytest.raises(scenarios.Failed) as failed:
        told("{at: A, do: StableTimeout}", "{at: A, check: {pending: true}}", "{at: B, do: StableTimeout}")
    assert 1 == sum("[StableTimeout]" in line for line in failed.value.chart)


def test_data_waits_for_a_view_with_its_sender(told: Told) -> None:
    head = HEAD.replace("[A, 1, [A, B, C]]", "[A, 1, [A, B]]")
    steps = (
        "{at: A, do: DigestPromised, to: C}",
        "{at: C, do: Join, view: [A, 2, [A, B, C]]}",
        "{at: C, do: MulticastData}",
    )
    assert "s.yaml:11: A cannot take DATA from C yet" == told.fails(
        *steps, "{deliver: DATA, from: C, to: A}", head=head
    )


# What a file says wrongly


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        ("{at: A, doo: StableTimeout}", "one verb of do, deliver, drop, duplicate, partition, heal, crash, restart, advance, settle, check, not none of them"),
        ("{at: A, do: StableTimeout, check: {}}", "one verb of do, deliver, drop, duplicate, partition, heal, crash, restart, advance, settle, check, not do and check"),
        ("{at: D, do: StableTimeout}", "one of A, B, C, not the member D"),
        ("{at: A, do: StableTimout}", "one of ViewInstalled, StableTimeout, MessageReceived, StableReceived, StabilityTimeout, StabilityReceived, DigestPromised, PromiseWithdrawn, MulticastData, Retransmit, Join, not StableTimout"),
        ("{at: A, do: StableTimeout, wiev: [A, 1, [A]]}", 'one of at, do, error, expect, not the unknown key "wiev"'),
        ("{at: A, do: ViewInstalled}", 'the key "view", which is missing'),
        ("{at: A, do: ViewInstalled, view: [A, 1]}", "a view such as [A, 1, [A, B]]"),
        ("{at: A, do: StableTimeout, error: Oops}", 'one of LocalProtocolError, RemoteProtocolError, not "Oops"'),
        ("{at: A, do: StableTimeout, error: LocalProtocolError, expect: []}", "no effects of an event that is refused"),
        ("{at: A, do: StableTimeout, expect: [{SetTimer: {name: stable, low: 0}}]}", 'the key "high", which is missing'),
        ("{at: A, do: StableTimeout, expect: [{Multicast: {STABBLE: {}}}]}", "one of ViewInstalled, "),
        ("{at: A, do: StableReceived, sender: B, message: {STABILITY: {view_id: [A, 1], digest: {}}}}", "one of STABLE, not STABILITY"),
        ("{at: A, do: MulticastData, bytes: many}", 'an integer, not "many"'),
        ("{deliver: STABEL, from: A, to: B}", 'one of STABLE, STABILITY, DATA, not "STABEL"'),
        ("{deliver: STABLE, from: A}", 'the key "to", which is missing'),
        ("{drop: STABLE, from: A, to: B, nth: 0}", "an integer from 1 up, not 0"),
        ("{drop: STABLE, from: A, to: B, expect: []}", 'one of drop, from, to, nth, not the unknown key "expect"'),
        ("{at: A, check: {herd_from: [A]}}", "one of view, vote, minimum, heard_from, pending, received_bytes, promised, delivered, received, purged, store, not the observable herd_from"),
        ("{at: A, check: {pending: 1}}", "true or false, not 1"),
        ("{at: A, check: {vote: [A]}}", "a mapping from members, not a list"),
        ("{partition: [[A, B], [B]]}", "B in one block only"),
        ("{heal: A}", 'all, not "A"'),
        ("{advance: 5}", "a mapping with ms, not 5"),
        ("{advance: {ms: -1}}", "an integer from 0 up, not -1"),
        ("{settle: [A, D]}", "one of A, B, C, not the member D"),
        ("{crash: D}", "one of A, B, C, not the member D"),
        ("{restart: D}", "one of A, B, C, not the member D"),
    ],
)  # fmt: skip
def test_a_wrong_step_is_refused_before_anything_runs(told: Told, step: str, expected: str) -> None:
    assert told.refused("{crash: A}", "{crash: A}", step).startswith(f"s.yaml:10: expected {expected}")


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("scenario: a story\n", "", '1: expected the key "scenario", which is missing'),
        ("source: a note", "sauce: a note", '3: expected one of scenario, protocol, source, requirements, members, steps, given, not the unknown key "sauce"'),
        ("protocol: stable", "protocol: unstable", "2: expected a protocol that has a mapping, not unstable"),
        ("[STB-01]", "[STB01]", '4: expected an ID such as STB-08, not "STB01"'),
        ("members: [A, B, C]", "members: [A, B, A]", "5: expected each member once, not A again"),
        ("members: [A, B, C]", "members: []", "5: expected at least one member"),
        ("delivered: {A: 2}", "deliverd: {A: 2}", "6: expected one of view, delivered, config, delays, timers, not deliverd"),
        ("delivered: {A: 2}", "config: {max_byte: 2}", "6: expected one of max_bytes, stable_interval, stability_delay, not the unknown key"),
        ("delivered: {A: 2}", "delays: {D: 2}", "6: expected one of A, B, C, not the member D"),
        ("delivered: {A: 2}", "delays: {A: 2}, timers: latest", "6: expected either timers or delays"),
    ],
)  # fmt: skip
def test_a_wrong_head_is_refused(told: Told, old: str, new: str, expected: str) -> None:
    head = HEAD.replace(old, new)
    assert told.refused("{crash: A}", head=head).startswith(f"s.yaml:{expected}")


# The command

APP = typer.Typer()
APP.command()(scenarios.command)


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(APP, arguments)
    return result.exit_code, result.output


def test_the_command_runs_a_protocols_scenarios() -> None:
    code, output = run("stable")
    assert 0 == code
    assert output.splitlines()[-1].endswith("scenarios pass")


def test_the_command_exits_1_with_the_chart_of_what_fails(told: Told) -> None:
    told("{crash: A}")
    told.file.write_text(HEAD + "- {crash: A}\n- {at: B, check: {pending: true}}\n")
    code, output = run(str(told.file))
    assert 1 == code
    assert f"fail  {told.file}:9: at B pending is FALSE, expected TRUE" in output
    assert "* Crash" in output
    assert "0 of 1 scenarios pass" in output


def test_the_command_exits_2_for_a_file_with_a_mistake(told: Told) -> None:
    told.file.write_text(HEAD + "- {crush: A}\n")
    code, output = run(str(told.file), "--json")
    assert 2 == code
    (result,) = json.loads(output)["scenarios"]
    assert ("unreadable", 8) == (result["outcome"], result["line"])


@pytest.mark.parametrize("what", ["unheard_of", "missing.yaml"])
def test_the_command_exits_2_for_what_is_not_there(what: str) -> None:
    code, output = run(what)
    assert 2 == code
    assert what in output
