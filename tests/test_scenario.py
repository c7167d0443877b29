"""scenario: what a scenario may say, and that none passes that should not.

Scenarios of SEQUENCER, made up; all that TLC has to judge are judged together.
"""

import json
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest
from attrs import evolve

from groupcomm import sequencer
from groupcomm.errors import RemoteProtocolError
from groupcomm_commands.main import main
from groupcomm_conformance.files.errors import FileError
from groupcomm_conformance.models.manifest import find_root
from groupcomm_conformance.scenarios.checking import Result, check
from groupcomm_conformance.scenarios.group import Groups
from groupcomm_conformance.scenarios.reading import load
from groupcomm_conformance.scenarios.steps import Scenario

ROOT = find_root(Path(__file__).parent)
HEAD = """\
scenario: a story
protocol: sequencer
source: a note
requirements: [SEQ-01]
members: [A, B, C]
given: {views: [[A, 1, [A, B, C]], [B, 2, [B, C]]]GIVEN}
steps:
"""
FIRST = 8
"""The line of the first step."""

ABLATES = 0
"""In the place of a step's number: the line of `ablates`."""

SENT = ("{at: C, do: SendRequested, payload: 1}", "{at: C, do: SendRequested, payload: 2}")
ORDERED = (*SENT, "{deliver: FORWARD, from: C, to: A}", "{deliver: FORWARD, from: C, to: A}")
VIEW2 = "view: [B, 2, [B, C]]"
DATA2 = "{DATA: {view_id: [A, 1], tag: {sender: C, epoch: [A, 1], seqno: 2}, payload: 2}}"
STRANGE = "{DATA: {view_id: [A, 1], tag: {sender: Z, epoch: [Z, 1], seqno: 1}, payload: 1}}"
DUPLICATING = ", Unicast: duplicating"


def text(*steps: str, given: str = "", ablates: str = "") -> str:
    head = HEAD.replace("GIVEN", given)
    if ablates:
        head = head.replace("\nsteps:", f"\nablates: [{ablates}]\nsteps:")
    return head + "".join(f"- {step}\n" for step in steps)


# Scenarios that pass

PASSES: dict[str, str] = {
    "a copy is delivered and is gone": text(
        *SENT, "{deliver: FORWARD, from: C, to: A}", "{at: A, check: {delivered: []}}"
    ),
    "all copies, as many as there are": text(*ORDERED, "{deliver: DATA, from: all, to: all}"),
    "a copy that is said by its fields": text(
        *SENT,
        "{deliver: FORWARD, from: C, to: A, nth: 2, with: {payload: 2}}",
        given=", Unicast: unordered",
    ).replace("nth: 2, ", ""),
    "settle, in any order": text(*ORDERED, "{settle: all}", "{at: all, check: {delivered: [C1, C2], table: []}}"),
    "the same at all": text(*ORDERED, "{settle: all}", "{at: all, same: delivered}", "{at: all, same: view}"),
    "a partition, and its end": text(
        *ORDERED,
        "{partition: [[A, B], [C]]}",
        "{settle: all}",
        "{at: C, check: {delivered: []}}",
        "{heal: all}",
        "{settle: all}",
        "{at: all, same: delivered}",
    ),
    "what is never possible here": text(
        "{at: A, never: ForwardReceived, sender: B}", "{at: B, never: ReceiveData}", "{crash: A}",
        "{at: B, do: ViewInstalled, " + VIEW2 + "}", "{at: B, never: InstallView}",
    ),
    "whatever they do": text(
        *ORDERED, "{whatever: [A, B], at: C, check: {delivered: []}}", "{whatever: [A, B], at: A, never: LoseData}"
    ),
    "rounds until it is so": text(
        "{repeat: 3, steps: [{at: C, do: SendRequested}, {settle: all}], until: {at: A, check: {delivered: [C1, C2]}}}",
        "{at: C, check: {seqno: 2}}",
    ),
    "rounds": text("{repeat: 2, steps: [{at: B, do: SendRequested}]}", "{at: B, check: {seqno: 2}}"),
    "an event that is tried moves nothing": text(
        "{at: A, try: SendRequested, payload: 9, outcome: handled}", "{at: A, check: {seqno: 0}}"
    ),
    "a duplicate that the layer may make": text(
        *SENT[:1],
        "{at: A, do: DuplicateForward, sender: C}",
        "{deliver: FORWARD, from: C, to: A}",
        "{settle: all}",
        given=DUPLICATING,
        ablates="{Dedup: none, falls: NoDuplicates}",
    ),
    "a crash and a new incarnation": text(
        "{crash: A}", "{at: [B, C], do: ViewInstalled, " + VIEW2 + "}", "{at: all, check: {view: [B, 2, [B, C]]}}"
    ),
    "what is ablated fails": text(
        *SENT[:1], "{crash: A}", "{at: C, do: ViewInstalled, " + VIEW2 + "}", "{at: B, do: ViewInstalled, " + VIEW2 + "}",
        "{settle: all}", "{at: all, check: {delivered: [C1]}}",
        ablates="{ResendOn: never, falls: check delivered}",
    ),
}  # fmt: skip

# Scenarios that fail: the line, as the number of the step, and what is said

FAILS: dict[str, tuple[str, int, str]] = {
    "data before it is ordered": (
        text(*SENT, "{deliver: DATA, from: A, to: B}"),
        3,
        "no DATA is in flight from A to B, nothing",
    ),
    "none of all": (text("{deliver: DATA, from: all, to: all}"), 1, "no DATA may arrive between any of them"),
    "a unicast overtakes another": (
        text(*SENT, "{deliver: FORWARD, from: C, to: A, nth: 2}"),
        3,
        "A cannot receive FORWARD from C now",
    ),
    "a unicast comes twice": (
        text(*SENT[:1], "{duplicate: FORWARD, from: C, to: A}", *["{deliver: FORWARD, from: C, to: A}"] * 2),
        4,
        "A cannot receive FORWARD from C now",
    ),
    "a unicast is lost, and the next one comes": (
        text(*SENT, "{drop: FORWARD, from: C, to: A}", "{deliver: FORWARD, from: C, to: A}"),
        4,
        "A cannot receive FORWARD from C now",
    ),
    "a multicast is received out of order": (
        text(*ORDERED, "{deliver: DATA, from: A, to: B, nth: 2}"),
        5,
        "B cannot receive DATA from A now",
    ),
    "a survivor lacks a message that another survivor has": (
        text(*ORDERED, "{deliver: DATA, from: A, to: C}", "{crash: A}", *[
            "{at: C, do: ViewInstalled, " + VIEW2 + "}", "{at: B, do: ViewInstalled, " + VIEW2 + "}"
        ]),
        8,
        "B cannot do ViewInstalled view=[2/B: B, C]",
    ),
    "a multicast of a left view reaches a survivor": (
        text(*SENT, "{at: B, do: ViewInstalled, " + VIEW2 + "}", "{deliver: FORWARD, from: C, to: A}",
             "{deliver: DATA, from: A, to: C}"),
        5,
        "C cannot receive DATA from A now",
    ),
    "a multicast is received before its view": (
        text("{crash: A}", "{at: B, do: ViewInstalled, " + VIEW2 + "}", "{at: B, do: SendRequested, payload: 1}",
             "{deliver: DATA, from: B, to: C}"),
        4,
        "C cannot receive DATA from B now",
    ),
    "a view that no member decides": (
        text("{at: B, do: ViewInstalled, view: [B, 3, [B, C]]}"),
        1,
        "B cannot do ViewInstalled view=[3/B: B, C]: no such step has these fields",
    ),
    "a wrong check of a state": (
        text(*SENT, "{at: C, check: {seqno: 3}}"), 3, "at C seqno is 2, expected 3"
    ),
    "a wrong check of what is observed": (
        text(*ORDERED, "{settle: all}", "{at: B, check: {delivered: [C2, C1]}}"),
        6,
        "at B delivered is <<C1, C2>>, expected <<C2, C1>>",
    ),
    "a check that is right in one order only": (
        text("{at: B, do: SendRequested}", "{at: C, do: SendRequested}", "{settle: all}",
             "{at: A, check: {delivered: [B1, C1]}}"),
        4,
        "at A delivered is <<C1, B1>>, expected <<B1, C1>>",
    ),
    "a wrong effect": (
        text(f"{{at: A, do: SendRequested, payload: 1, expect: [Multicast: {DATA2}]}}"),
        1,
        "A cannot do SendRequested payload=1 with the effects ",
    ),
    "effects that are not all": (text("{at: B, do: SendRequested, payload: 1, expect: []}"), 1, "they are <<"),
    "an outcome that it does not have": (
        text("{at: A, do: SendRequested, payload: 1, outcome: ignored}"),
        1,
        "A cannot do SendRequested payload=1 with the outcome ignored: it is handled",
    ),
    "an error that is none": (
        text("{at: A, try: SendRequested, payload: 1, error: LocalProtocolError}"),
        1,
        "at A the event is handled with the effects ",
    ),
    "an error of the other kind": (
        text(f"{{at: A, try: DataReceived, sender: Z, message: {DATA2}, error: LocalProtocolError}}"),
        1,
        "at A the event is remote_error with the effects <<>>, expected local_error",
    ),
    "a step that is refused and not said to be": (
        text(f"{{at: A, do: DataReceived, sender: Z, message: {STRANGE}}}"), 1, ": the event is refused (remote_error)",
    ),
    "not the same": (
        text(*ORDERED, "{deliver: DATA, from: A, to: B}", "{at: [A, B], same: delivered}"),
        6,
        "delivered is not the same: A <<>>; B <<C1>>",
    ),
    "never, and yet": (text("{at: A, never: SendRequested}"), 1, "at A SendRequested is possible"),
    "whatever they do, and yet": (
        text(*ORDERED, "{whatever: [A, B], at: B, check: {delivered: []}}"),
        5,
        "whatever check delivered does not hold whatever A, B do",
    ),
    "rounds that do not suffice": (
        text("{repeat: 2, steps: [{at: C, do: SendRequested}], until: {at: C, check: {seqno: 3}}}"),
        1,
        "it is not so after the last round",
    ),
    "an ablation that changes nothing": (
        text(*SENT, ablates="{LateForward: accepted, falls: do SendRequested}"),
        ABLATES,
        'with LateForward = "accepted" "do SendRequested" should fail; all steps are done and look as they do without',
    ),
    "an ablation that makes another step fail": (
        text(*SENT, "{at: C, check: {table: [C1, C2]}}", ablates="{RemoveOn: forward, falls: do SendRequested}"),
        ABLATES,
        'the first step that fails is "check table" in line 11',
    ),
    "an ablation without which the claim holds": (
        text(*SENT, ablates="{RemoveOn: forward, falls: TotalOrder}"),
        ABLATES,
        'with RemoveOn = "forward" the claim TotalOrder holds all along',
    ),
}  # fmt: skip


@cache
def judged(folder: Path) -> dict[str, Result]:
    texts = {**PASSES, **{name: told for name, (told, _, _) in FAILS.items()}}
    for number, told in enumerate(texts.values()):
        (folder / f"{number}.yaml").write_text(told)
    files = [folder / f"{number}.yaml" for number in range(len(texts))]
    return dict(zip(texts, check(ROOT, files), strict=True))


@pytest.fixture(scope="session")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Result]:
    return judged(tmp_path_factory.mktemp("scenarios"))


@pytest.mark.parametrize("name", PASSES)
def test_what_is_a_path_passes(name: str, results: dict[str, Result]) -> None:
    assert ("pass", "") == (results[name].outcome, results[name].problem)


@pytest.mark.parametrize("name", FAILS)
def test_what_is_none_fails_at_its_step(name: str, results: dict[str, Result]) -> None:
    result, (_, step, problem) = results[name], FAILS[name]
    assert ("fail", FIRST - 1 + step) == (result.outcome, result.line)
    assert problem in result.problem


def test_a_scenario_that_tlc_cannot_evaluate_fails_alone(tmp_path: Path) -> None:
    (tmp_path / "good.yaml").write_text(text(*SENT))
    (tmp_path / "bad.yaml").write_text(text(*SENT, given=', Sends: "<- [m \\\\in Member |-> nothing]"'))
    good, bad = check(ROOT, [tmp_path / "good.yaml", tmp_path / "bad.yaml"])
    assert "pass" == good.outcome
    assert ("fail", 6) == (bad.outcome, bad.line)
    assert bad.problem.startswith("TLC cannot evaluate what the scenario says: ")


def test_a_failure_says_what_is_possible_and_shows_the_way(results: dict[str, Result]) -> None:
    result = results["a unicast overtakes another"]
    assert "ReceiveForward at A: ForwardReceived from C" in result.possible
    assert 2 == sum("[AppSends]" in line for line in result.chart)


# The implementation follows


def broken(**functions: object) -> ModuleType:
    core = ModuleType("broken")
    core.__dict__.update({"start": sequencer.start, "step": sequencer.step, **functions})
    return core


def test_an_implementation_that_differs_fails_at_the_step(tmp_path: Path) -> None:
    def step(config: sequencer.Config, state: sequencer.State, event: sequencer.Event) -> sequencer.Transition:
        after, effects = sequencer.step(config, state, event)
        return (evolve(after, seqno=1) if after.seqno > 1 else after), effects

    file = tmp_path / "s.yaml"
    file.write_text(text(*SENT))
    (result,) = check(ROOT, [file], core=broken(step=step))
    assert ("fail", FIRST + 1) == (result.outcome, result.line)
    assert "the implementation differs, wrong_state: local.C.seqno 2 -> 1" == result.problem


def test_an_implementation_that_allows_what_is_tried_fails(tmp_path: Path) -> None:
    def step(config: sequencer.Config, state: sequencer.State, event: sequencer.Event) -> sequencer.Transition:
        try:
            return sequencer.step(config, state, event)
        except RemoteProtocolError:
            return state, ()

    file = tmp_path / "s.yaml"
    file.write_text(text(f"{{at: A, try: DataReceived, sender: Z, message: {DATA2}, error: RemoteProtocolError}}"))
    assert "pass" == check(ROOT, [file])[0].outcome
    (result,) = check(ROOT, [file], core=broken(step=step))
    assert "the implementation differs, wrong_outcome: act.outcome remote_error -> ignored" == result.problem


# Errors in a file

GROUPS = Groups(ROOT)


def refused(folder: Path, told: str) -> str:
    """The text of the error of a file that says something wrong."""
    (folder / "s.yaml").write_text(told)
    with pytest.raises(FileError) as error:
        load(GROUPS, folder / "s.yaml", "s.yaml")
    return str(error.value)


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        ("{at: A, doo: SendRequested}", "one verb of do, try, deliver, "),
        ("{at: A, do: SendRequested, check: {}}", "one verb of "),
        ("{at: A, do: SendRequest}", "one of SendRequested, UnicastRequested, "),
        ("{at: D, do: SendRequested}", "one of A, B, C, not the member D"),
        ("{do: SendRequested}", 'the key "at", which is missing'),
        ("{at: [], do: SendRequested}", "one member or more, each once"),
        ("{at: [A, A], do: SendRequested}", "one member or more, each once"),
        ("{at: A, do: SendRequested, paylod: 1}", "one of at, do, error, outcome, expect, payload, not the unknown key"),
        ("{at: A, do: ViewInstalled, view: [A, 1]}", "a view such as [A, 1, [A, B]]"),
        ("{at: A, do: ViewInstalled, view: [A, -1, [A]]}", "an integer from 0 up, not -1"),
        ("{at: A, do: SendRequested, error: Oops}", "one of LocalProtocolError, RemoteProtocolError"),
        ("{at: A, do: SendRequested, error: LocalProtocolError, expect: []}", "no effects of an event that is refused"),
        ("{at: A, do: SendRequested, error: LocalProtocolError, outcome: ignored}", "no other outcome than the error"),
        ("{at: A, do: SendRequested, outcome: none}", "one of handled, ignored"),
        ("{at: A, do: SendRequested, expect: [{Multicats: {}}]}", "one of "),
        ("{at: A, do: SendRequested, expect: [{Send: {to: B}}]}", 'the key "message", which is missing'),
        ("{at: A, try: SendRequested, payload: 1}", "an error or an outcome"),
        ("{at: A, try: AppSends, outcome: ignored}", "one of SendRequested, "),
        ("{at: A, try: SendRequested, outcome: ignored}", 'the key "payload", which is missing'),
        ("{deliver: DATUM, from: A, to: B}", "one of "),
        ("{deliver: DATA, from: A}", 'the key "to", which is missing'),
        ("{deliver: DATA, from: A, to: B, nth: 0}", "an integer from 1 up, not 0"),
        ("{deliver: DATA, from: A, to: B, with: {paylod: 1}}", "one of view_id, tag, payload"),
        ("{drop: DATA, from: A, to: B, expect: []}", "one of drop, from, to, nth, with, not the unknown key"),
        ("{at: A, check: {tabel: []}}", "one of view, epoch, founds, "),
        ("{at: A, check: {seqno: many}}", 'an integer, not "many"'),
        ("{at: A, check: {seqno: 1}, same: view}", "one verb of "),
        ("{at: A, same: view}", "two members or more"),
        ("{at: A, never: Sleeps}", "one of SendRequested, "),
        ("{whatever: [A, B], at: A}", "one of check, same, never beside whatever, not none"),
        ("{repeat: 0, steps: []}", "an integer from 1 up, not 0"),
        ("{repeat: 1000, steps: []}", "an integer from 1 to 20, not 1000"),
        ("{repeat: 1, steps: [{crash: B}]}", "a round after which the same members are up"),
        ("{partition: [[A, B], [B]]}", "B in one block only"),
        ("{heal: A}", 'all, not "A"'),
        ("{settle: [A, D]}", "one of A, B, C, not the member D"),
        ("{crash: C}", "a member that is up, and C has crashed"),
        ("{at: C, do: SendRequested}", "a member that is up, and C has crashed"),
    ],
)  # fmt: skip
def test_a_wrong_step_is_refused_before_anything_runs(tmp_path: Path, step: str, expected: str) -> None:
    assert refused(tmp_path, text("{crash: C}", step)).startswith(f"s.yaml:{FIRST + 1}: expected {expected}")


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("scenario: a story\n", "", '1: expected the key "scenario", which is missing'),
        ("source: a note", "sauce: a note", "3: expected one of scenario, protocol, source, "),
        ("protocol: sequencer", "protocol: unheard", "2: expected one of "),
        ("[SEQ-01]", "[SEQ01]", '4: expected an ID such as STB-08, not "SEQ01"'),
        ("[A, B, C]\n", "[A, B, A]\n", "5: expected each member once, not A again"),
        ("members: [A, B, C]", "members: []", "5: expected at least one member"),
        ("GIVEN", ", Senders: 1", "6: expected one of views, or a constant of the specification, not Senders"),
        ("GIVEN", ", Member: [A]", "6: expected one of views, or a constant"),
        ("[B, 2, [B, C]]", "{view: [B, 2, [B, C]], follows: [7]}", "6: expected numbers of earlier views"),
        ("[B, 2, [B, C]]", "{view: [B, 2, [B, C]], lives: {A: 1}}", "6: expected one of B, C, not the member A"),
        ("[B, 2, [B, C]]", "[B, 2, [B, C, B]]", "6: expected each member once, not B again"),
        ("[B, 2, [B, C]]", "[B, 2, [B, D]]", "6: expected one of A, B, C, not the member D"),
        ("[B, 2, [B, C]]", "[D, 2, [B, C]]", "6: expected one of A, B, C as creator, not D"),
        ("steps:", "ablates: [{ResendOn: never}]\nsteps:", '7: expected the key "falls", which is missing'),
        ("steps:", "ablates: [{falls: check table}]\nsteps:", "7: expected one of "),
        ("steps:", "ablates: [{Resend: never, falls: TotalOrder}]\nsteps:", "7: expected a constant of the"),
        ("steps:", "ablates: [{ResendOn: every_view, falls: TotalOrder}]\nsteps:", "7: expected another value of"),
        ("steps:", "ablates: [{falls: TotalOrder}]\nsteps:", "7: expected a constant and its other value"),
    ],
)  # fmt: skip
def test_a_wrong_head_is_refused(tmp_path: Path, old: str, new: str, expected: str) -> None:
    told = (HEAD + "- {crash: A}\n").replace(old, new).replace("GIVEN", "")
    assert refused(tmp_path, told).startswith(f"s.yaml:{expected}")


def test_a_copy_that_a_partition_keeps_back_is_refused(tmp_path: Path) -> None:
    told = refused(tmp_path, text(*SENT, "{partition: [[A, B]]}", "{deliver: FORWARD, from: C, to: A}"))
    assert told == "s.yaml:11: expected a copy that can arrive: a partition lies between C and A"


def test_a_scenario_that_was_read_is_data(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(text(*SENT))
    first, second = (load(GROUPS, tmp_path / "s.yaml", "s.yaml") for _ in range(2))
    assert isinstance(first, Scenario)
    assert first == second
    assert ["do SendRequested"] * 2 == [step.label for step in first.steps]


# The command


def test_the_command_exits_1_with_the_chart_of_what_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "s.yaml").write_text(text(*SENT, "{at: C, check: {seqno: 3}}"))
    assert 1 == main(["scenario", str(tmp_path / "s.yaml")])
    told = capsys.readouterr().out
    assert f"fail  {tmp_path / 's.yaml'}:10: at C seqno is 2, expected 3" in told
    assert "[AppSends]" in told
    assert "0 of 1 scenarios pass" in told


def test_the_command_draws_what_passes_on_request(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "s.yaml").write_text(text(*SENT))
    assert 0 == main(["scenario", str(tmp_path / "s.yaml")])
    assert "[AppSends]" not in capsys.readouterr().out
    assert 0 == main(["scenario", str(tmp_path / "s.yaml"), "--chart"])
    assert "[AppSends]" in capsys.readouterr().out


def test_the_command_exits_2_for_a_file_with_a_mistake(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "s.yaml").write_text(text("{crush: A}"))
    assert 2 == main(["scenario", str(tmp_path / "s.yaml"), "--json"])
    (result,) = json.loads(capsys.readouterr().out)["scenarios"]
    assert ("unreadable", FIRST) == (result["outcome"], result["line"])


@pytest.mark.parametrize("what", ["unheard_of", "missing.yaml"])
def test_the_command_exits_2_for_what_is_not_there(what: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert 2 == main(["scenario", what])
    told = capsys.readouterr()
    assert what in told.err + told.out


def test_what_a_specification_assumes_of_its_constants_is_asked_of_ablations(tmp_path: Path) -> None:
    """A value that no guard has takes every step away that looks at it: so it would pass for an ablation."""
    text = (ROOT / "conformance/scenarios/merge/asymmetrical_link.yaml").read_text()
    assert "{RejectOverlap: false, falls: check view}" in text
    file = tmp_path / "misspelt.yaml"
    file.write_text(text.replace("{RejectOverlap: false, falls", "{CounterAbove: al, falls"))
    (found,) = check(ROOT, [file])
    assert found.outcome == "fail"
    assert "Merge.tla does not allow" in found.problem
    assert "CounterAbove = 'al'" in found.problem
