"""Adapters: a right port passes, each kind of wrong port is reported at the row where it is wrong, and all of it ends."""

import json
import os
import re
import subprocess
import sys
import time
from array import array
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from groupcomm import gms, stable
from groupcomm.digest import Digest, DigestEntry
from groupcomm.events import DigestPromised
from groupcomm.shapes import shape_of
from groupcomm.view import View, ViewId
from groupcomm_commands.adapters import places_of
from groupcomm_commands.main import main
from groupcomm_conformance.models import checking
from groupcomm_conformance.ports import adapter as adapters
from groupcomm_conformance.ports.adapter import Adapter, AdapterError, Gone
from groupcomm_conformance.ports.conforming import Part, Places, kept, lines, rows, starts
from groupcomm_conformance.ports.judging import Asked, Judge, WrongAnswerError
from groupcomm_conformance.ports.plain import Plain, PlainError, schema
from groupcomm_conformance.ports.port import Port
from groupcomm_conformance.ports.prelude import Preludes
from groupcomm_conformance.ports.renaming import WAYS, borne, renamed
from groupcomm_conformance.ports.walking import Step, random_walk, walked
from groupcomm_conformance.ports.widened import widened
from groupcomm_conformance.protocols.derive import constants_of
from groupcomm_conformance.steps import conform
from groupcomm_conformance.steps.conform import Conformance, table_of
from groupcomm_conformance.steps.rows import Failure, Replayed, Rows, replay
from groupcomm_conformance.steps.table import HANDLED, Result, StepTable, Tables
from groupcomm_conformance.tla.values import Fn, identical
from tests.cores import LAYERS, MANIFESTS, PROTOCOLS, ROOT

STABLE = PROTOCOLS["stable"]
MODEL = MANIFESTS["stable"].model("join_small")
SMALL = {
    "stable": "join_small",
    "nakack": "pair_two",  # TLC writes its functions on 1 .. n as sequences
    "unicast": "two_messages_lossy",
    "sequencer": "misuse",
    "gms": "join",
    "merge": "two_singletons",
    "merge_gms": "two_singletons",
    "flush": "join",
    "file_ping": "two_starters",
    "heartbeat": "misuse",
    "state_transfer": "join_of_one",
    "safe": "pair",
}
SCRIPT = Path(__file__).parent / "data" / "adapter.py"
CORE = ROOT / "conformance" / "adapters" / "core.py"


def table(name: str, model: str) -> StepTable:
    manifest = MANIFESTS[name]
    of = manifest.model(model)
    checked = checking.run_model(manifest, of, cache=checking.Cache.of(ROOT))
    assert checked.harvest is not None
    return table_of(manifest, of, checked.harvest, Tables.of(ROOT))[0]


@pytest.fixture(scope="module")
def asked() -> Asked:
    return Asked(Judge(STABLE), table("stable", MODEL.name))


def first_handled(asked: Asked, after: int = 40) -> int:
    return next(place for place, cell in enumerate(asked.table.cells) if place > after and cell >= HANDLED)


def written(asked: Asked, folder: Path, at: int, spoilt: dict[int, dict[str, Any]] | None = None) -> Path:
    """The right answers, which are the specification's, except the `spoilt` answers."""
    plain, of = asked.judge.plain, asked.judge
    answers: dict[str, Any] = {}
    for place in range(len(asked.table)):
        answer: dict[str, Any] = {"outcome": asked.table.outcome(place + 1)}
        if answer["outcome"] == "handled":
            state, effects = asked.table.expected(place + 1)
            answer["state"] = plain.write(state, of.state_shape)
            answer["effects"] = plain.write(effects, of.effects_shape)
        answers[key(asked, place)] = (spoilt or {}).get(place, answer)
    file = folder / "answers.json"
    file.write_text(json.dumps({"protocol": "stable", "answers": answers, "at": key(asked, at)}))
    return file


def key(asked: Asked, place: int) -> str:
    return json.dumps(json.loads(f"{{{asked.request(place)}"), sort_keys=True)


def judged(asked: Asked, file: Path, kind: str, *, patience: float = 1.0) -> Part:
    part = Part("stable", MODEL.name, "rows", asked.table, "groupcomm conform stable --model join_small --adapter x")
    with Port((sys.executable, str(SCRIPT), str(file), kind), STABLE, patience=patience) as port:
        port.configure(constants_of(MANIFESTS["stable"].cfg(MODEL)))
        rows(port, part, asked)
    return part


def test_the_right_answers_pass(asked: Asked, tmp_path: Path) -> None:
    part = judged(asked, written(asked, tmp_path, 0), "right")
    assert part.ok
    assert part.replayed.counts["pass"] == len(asked.table)


BAD = {
    "crash": ("crash", "ended with exit code 3; its last words: KeyError: 'B'"),
    "abort": ("crash", "killed by SIGABRT"),
    "hang": ("timeout", "has slept for 0.25 s: does it flush its output"),
    "spin": ("timeout", "of CPU time"),
    "print": (
        "adapter_error",
        "stdout is for answers, one on a line, with integers alone as numbers: print other words",
    ),
    "turn": ("adapter_error", "is due: answers go in the order of requests"),
    "cut": ("adapter_error", "no JSON"),
    "closed": ("crash", "closed its stdout and still runs"),
    "binary": ("adapter_error", "no JSON"),
    "skip": ("skipped", "not yet (https://example.org/1)"),
    "error": ("crash", "the adapter says: assertion failed"),
    "fields": ("adapter_error", "adapter.schema.json"),
    "float": ("adapter_error", "with integers alone as numbers"),
    "not a number": ("adapter_error", "with integers alone as numbers"),
    "infinite": ("adapter_error", "with integers alone as numbers"),
    "text": ("adapter_error", 'state.view.id.counter: expected an integer, beyond 9007199254740991 as a string, not "'),
    "large": ("adapter_error", "expected an integer, beyond 9007199254740991 as a string, not 9007199254740992"),
    "endless": ("adapter_error", "a line of more than"),
}


@pytest.mark.parametrize("kind", BAD)
def test_what_an_adapter_does_wrong_is_told_at_its_row(
    asked: Asked, tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    verdict, text = BAD[kind]
    at = first_handled(asked)
    monkeypatch.setattr(adapters, "_LONGEST", 1 << 20)
    part = judged(asked, written(asked, tmp_path, at), kind, patience=0.25)
    assert not part.ok
    failure = part.replayed.first
    assert failure is not None
    assert (verdict, at + 1) == (failure.verdict, failure.row)
    told = "\n".join(lines(part, places_of(MANIFESTS["stable"]), failures_only=True))
    assert text in told
    assert f"again    groupcomm conform stable --model join_small --adapter x --row {at + 1}" in told
    assert "Stable.tla:" in told
    others = sum(part.replayed.counts.values()) - part.replayed.counts["pass"]
    assert others == 1, "the other rows are judged all the same"


def test_an_answer_given_twice_is_told(asked: Asked, tmp_path: Path) -> None:
    at = first_handled(asked)
    failure = judged(asked, written(asked, tmp_path, at), "twice").replayed.first
    assert failure is not None
    assert ("adapter_error", at + 2) == (failure.verdict, failure.row)


def test_twenty_wrong_answers_are_all_told(asked: Asked, tmp_path: Path) -> None:
    right = json.loads(written(asked, tmp_path, 0).read_text())["answers"]
    handled = [at for at, cell in enumerate(asked.table.cells) if cell >= HANDLED][::3][:10]
    others = [at for at, cell in enumerate(asked.table.cells) if cell < HANDLED][::7][:10]
    spoilt: dict[int, dict[str, Any]] = {}
    for number, at in enumerate(handled):
        answer = json.loads(json.dumps(right[key(asked, at)]))
        match number % 5:
            case 0:
                answer["state"]["pending"] = not answer["state"]["pending"]
            case 1:
                answer["state"]["pending"] = int(answer["state"]["pending"])  # no truth value
            case 2:
                answer["effects"] = [*answer["effects"], {"type": "CancelTimer", "name": "stable"}]
            case 3:
                answer = {"outcome": "ignored"}
            case _:
                del answer["state"]["vote"]
        spoilt[at] = answer
    for at in others:
        outcomes = {"ignored": "local_error", "local_error": "remote_error", "remote_error": "ignored"}
        spoilt[at] = {"outcome": outcomes[asked.table.outcome(at + 1)]}
    part = judged(asked, written(asked, tmp_path, 0, spoilt), "right")
    assert len(spoilt) == 20
    assert part.replayed.counts["pass"] == len(asked.table) - 20


def test_sets_have_no_order_and_fields_neither(asked: Asked, tmp_path: Path) -> None:
    right = json.loads(written(asked, tmp_path, 0).read_text())["answers"]

    def mixed(value: Any) -> Any:  # noqa: ANN401 - JSON
        if isinstance(value, dict):
            return {name: mixed(value[name]) for name in sorted(value, reverse=True)}
        return value

    spoilt = {}
    for at in range(len(asked.table)):
        answer = mixed(right[key(asked, at)])
        if "state" in answer:
            answer["state"]["heard_from"].reverse()
        spoilt[at] = answer
    assert judged(asked, written(asked, tmp_path, 0, spoilt), "right").ok


def test_a_starved_adapter_is_no_hanging_one(asked: Asked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It waits for the machine, ready to run: however long that takes, it is waited for."""
    at = first_handled(asked)
    file = written(asked, tmp_path, at)
    began = time.monotonic()

    def starved(_group: int) -> tuple[float, bool]:
        return 1.0, time.monotonic() - began > 2.5

    monkeypatch.setattr(adapters, "activity", starved)
    judged(asked, file, "hang", patience=0.25)
    assert time.monotonic() - began > 2.5


def test_what_an_adapter_started_ends_with_it(asked: Asked, tmp_path: Path) -> None:
    file = written(asked, tmp_path, 0)
    with Adapter((sys.executable, str(SCRIPT), str(file), "child")) as adapter:
        group = adapter._process.pid  # noqa: SLF001 - to look for it afterwards
        assert os.getpgid(group) == group
    deadline = time.monotonic() + 10
    while adapters._activity(group)[0] >= 0:  # noqa: SLF001
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("command", "text"),
    [
        (("/no/such/adapter",), "cannot be started"),
        ((sys.executable, "-c", "pass"), "ended with exit code 0"),
        ((sys.executable, "-c", "print('hello')"), "no JSON"),
        ((sys.executable, "-c", "print('{\"seq\": 1}')"), '"adapter": 1'),
    ],
)
def test_what_is_no_adapter_is_refused(command: tuple[str, ...], text: str) -> None:
    with pytest.raises(AdapterError, match=text.replace('"', '"')):
        Adapter(command, patience=1.0)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"name": 7}, "a string as name"),
        ({"protocols": []}, "protocols, a list of strings"),
        ({"can": ["step", 1]}, "can, a list of strings"),
        ({"can": ["fly"]}, "can to be of step, keep, start, read, not fly"),
        ({"can": ["read"]}, "can to have step or start"),
        ({"can": ["start", "keep"]}, "can to have step, where it has keep"),
        ({"more": 1}, "no field more"),
    ],
)
def test_a_hello_that_is_not_as_it_must_be_is_refused(change: dict[str, Any], expected: str) -> None:
    hello = {"seq": 1, "adapter": 1, "name": "n", "version": "1", "language": "C"}
    told = json.dumps(hello | {"protocols": ["stable"], "can": ["step"]} | change)
    with pytest.raises(AdapterError, match=f"its hello is not as adapter.schema.json has it: expected {expected}"):
        Adapter(("sh", "-c", f"echo '{told}'; cat > /dev/null"))


def test_another_version_and_another_protocol_are_refused(asked: Asked, tmp_path: Path) -> None:
    file = written(asked, tmp_path, 0)
    with pytest.raises(AdapterError, match="the version of the protocol, not 2"):
        Adapter((sys.executable, str(SCRIPT), str(file), "version"))
    with pytest.raises(AdapterError, match="has no flush, but stable"):
        Port((sys.executable, str(SCRIPT), str(file), "right"), PROTOCOLS["flush"])


# The cores


def test_the_adapter_of_the_cores_passes_all_of_it(asked: Asked) -> None:
    """Rows, start, kept states, random walks: with the smallest table."""
    constants = constants_of(MANIFESTS["stable"].cfg(MODEL))
    with Port((sys.executable, str(CORE)), STABLE) as port:
        port.configure(constants)
        parts = {what: Part("stable", MODEL.name, what, None, "again") for what in ("rows", "kept", "start", "random")}
        right = rows(port, parts["rows"], asked)
        kept(port, parts["kept"], asked, right)
        starts(port, parts["start"], asked.table)
        walks = [random_walk(STABLE, STABLE.config(constants), seed) for seed in range(1, 4)]
        walked(port, parts["random"], walks, Places({}))
        last = walks[0].steps[-1]
        assert isinstance(last, Step)
        spoilt = evolve(walks[0], steps=(*walks[0].steps[:-1], evolve(last, outcome="remote_error")))
        wrong = Part("stable", MODEL.name, "random", None, "again")
        walked(port, wrong, [spoilt], Places({}))
    assert {what: part.ok for what, part in parts.items()} == dict.fromkeys(parts, True)
    assert parts["kept"].count >= len(asked.table)
    assert not wrong.ok


@pytest.mark.parametrize(("name", "model"), [*SMALL.items(), ("gms", "false_suspicion")])
def test_other_names_and_numbers_are_rows_of_the_core_too(name: str, model: str) -> None:
    """A way that `Step` does not bear is in `Way.without`, and only there.

    (`false_suspicion` has malformed views, of which one follows an identifier without a creator.)
    """
    protocol, manifest = PROTOCOLS[name], MANIFESTS[name]
    of = table(name, model)
    constants = constants_of(manifest.cfg(manifest.model(model)))
    for way in WAYS:
        rows_of = Rows(protocol, renamed(protocol, of, way), constants)
        places = borne(rows_of, of, way) if way.suits(name) else None
        passed = replay(rows_of, protocol.core.step, places).passed
        assert passed or not way.suits(name), way.name


def test_the_renamed_tables_of_an_archive_are_what_the_core_answers() -> None:
    """One of each way that changes something: STABLE has no payloads, and each of its rows can be renamed."""
    of, constants = table("stable", MODEL.name), constants_of(MANIFESTS["stable"].cfg(MODEL))
    found = widened(STABLE, {MODEL.name: (of, constants)})
    ways = "names", "mixed_names", "code_points", "counter_up", "counter_far", "seqnos_up"
    assert {f"{MODEL.name}__{way}" for way in ways} == {*found}
    for model, _, wide in found.values():
        assert MODEL.name == model
        assert replay(Rows(STABLE, wide, constants), stable.step).passed
        assert len(wide) == len(of)


def test_a_counter_of_32_bits_that_wraps_is_noticed_in_gms() -> None:
    """The counters of the rows are small. The founding view has the counter 1 in every way."""
    protocol, manifest, of = PROTOCOLS["gms"], MANIFESTS["gms"], table("gms", SMALL["gms"])
    constants = constants_of(manifest.cfg(manifest.model(SMALL["gms"])))

    def wraps(config: gms.Config, state: gms.State, event: gms.Event) -> gms.Transition:
        after, effects = gms.step(config, state, event)
        view_id = after.decision.id
        if view_id.counter != state.decision.id.counter:
            short = evolve(view_id, counter=view_id.counter % 2**32)
            after = evolve(after, decision=evolve(after.decision, id=short))
        return after, effects

    failed = set()
    for way in WAYS:
        rows_of = Rows(protocol, renamed(protocol, of, way), constants)
        if way.suits("gms") and not replay(rows_of, wraps, borne(rows_of, of, way)).passed:
            failed.add(way.name)
    assert failed == {"counter_up", "counter_far"}


@pytest.mark.parametrize("name", LAYERS)
def test_plain_values_come_back(name: str) -> None:
    protocol = PROTOCOLS[name]
    plain, shape = Plain.of(protocol), shape_of(protocol.state)
    for state in table(name, SMALL[name]).states:
        assert identical(state, plain.read(json.loads(json.dumps(plain.write(state, shape))), shape))
    definitions = schema(protocol)["$defs"]
    assert isinstance(definitions, dict)
    assert {"Event", "Effect", "State", "Config"} <= {*definitions}


def test_a_value_of_another_shape_is_named(asked: Asked) -> None:
    plain, shape = asked.judge.plain, asked.judge.state_shape
    state: Any = plain.write(asked.table.states[0], shape)
    state["view"]["id"]["counter"] = True
    with pytest.raises(PlainError, match=r"state\.view\.id\.counter: expected an integer"):
        plain.read(state, shape, "state")


# The command


def test_the_command_judges_a_port(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    junit = tmp_path / "junit.xml"
    core = f"{sys.executable} {CORE}"
    arguments = ["conform", "stable", "--model", MODEL.name, "--adapter", core]
    assert main([*arguments, "--junit", str(junit)]) == 0
    assert "stable join_small: ok: 600 pass" in capsys.readouterr().out
    assert 'tests="2" failures="0"' in junit.read_text()
    assert main([*arguments, "--row", "7"]) == 0
    assert main(["conform", "stable", "--strict"]) == 2
    capsys.readouterr()
    assert main(["conform", "stable", "--schema"]) == 0
    assert "StableTimeout" in json.loads(capsys.readouterr().out)["$defs"]
    assert main(["conform", "--schema"]) == 2
    assert main([*arguments[:-1], "/no/such/adapter"]) == 3


def test_random_events_end_in_a_stated_time_and_a_line_tells_each_model_as_it_goes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    arguments = ["conform", "stable", "--model", MODEL.name, "--adapter", f"{sys.executable} {CORE}"]
    assert main([*arguments, "--random", "60000000", "--seconds", "1"]) == 0
    came = capsys.readouterr()
    assert re.search(r"stable join_small random: ok: [\d,]+ pass: walks,.* \(1000000 were asked for in 1 s\)", came.out)
    assert re.search(r"^stable join_small: ok: [\d,]+ checks in [\d.]+ s$", came.err, re.MULTILINE)
    assert main(["conform", "--help"]) == 0
    assert "60.0" in capsys.readouterr().out


def test_a_core_that_is_broken_is_told_through_its_adapter(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The mistake is in place: no row by itself shows it, kept states do."""
    broken = tmp_path / "broken.py"
    broken.write_text(
        CORE.read_text().replace(
            "        event = codec.decode(judge.plain.read(told, judge.event_shape), judge.event_shape)\n",
            "        event = codec.decode(judge.plain.read(told, judge.event_shape), judge.event_shape)\n"
            "        if type(event).__name__ == 'StableTimeout':\n"
            "            object.__setattr__(before, 'received_bytes', before.received_bytes + 1)\n",
        )
    )
    arguments = ["conform", "stable", "--model", MODEL.name, "--adapter", f"{sys.executable} {broken}"]
    subprocess.run([sys.executable, "-m", "py_compile", str(broken)], check=True)
    assert main([*arguments, "--strict"]) == 1
    assert "FAILS" in capsys.readouterr().out


def test_nobody_answers_a_request_after_the_end() -> None:
    with Adapter((sys.executable, str(CORE))) as adapter:
        adapter.stop()
        with pytest.raises(Gone):
            list(adapter.exchange(['"do":"stop"}']))


# Walks

REINCARNATION = ROOT / "conformance" / "scenarios" / "sequencer" / "reincarnation.yaml"
WRONG_WALKS = {
    "does not end": (
        'self.members[request["member"]] = self.protocol.core.start(request["member"])',
        'self.members.setdefault(request["member"], self.protocol.core.start(request["member"]))',
    ),
    "another member": (
        'member = request["member"]',
        'member = min(self.members) if "SendRequested" in str(request) else request["member"]',
    ),
    "remembers": (
        'outcome, self.members[member], effects = self.step(self.members[member], request["event"])',
        """if getattr(self, "before", None) == request["event"]:
                    return {"outcome": "ignored"}
                self.before = request["event"]
                outcome, self.members[member], effects = self.step(self.members[member], request["event"])""",
    ),
}


def wrong_core(folder: Path, old: str, new: str) -> str:
    text = CORE.read_text()
    assert text.count(old) == 1
    file = folder / "core.py"
    file.write_text(text.replace(old, new))
    return f"{sys.executable} {file}"


@pytest.mark.parametrize("kind", WRONG_WALKS)
def test_an_adapter_that_is_wrong_in_walks_alone_is_told(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each of its steps from a given state is right: no table detects it."""
    adapter = wrong_core(tmp_path, *WRONG_WALKS[kind])
    assert main(["scenario", str(REINCARNATION), "--adapter", adapter]) == 1
    told = capsys.readouterr().out
    assert "sequencer reincarnation scenario: FAILS: " in told
    assert "from start" in told
    assert "again    groupcomm scenario" in told


def test_a_port_follows_a_scenario(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Both levels, twice, and JUnit; options for our own core alone are refused."""
    core, junit = f"{sys.executable} {CORE}", tmp_path / "junit.xml"
    arguments = ["scenario", str(REINCARNATION), "--adapter", core]
    assert main([*arguments, "--strict", "--junit", str(junit)]) == 0
    told = capsys.readouterr().out
    assert "sequencer reincarnation scenario: ok: 2 pass: walks, 1 of them from start" in told
    assert 'classname="sequencer.scenario" name="reincarnation"' in junit.read_text()
    assert main(["scenario", "--strict"]) == 2
    assert main([*arguments, "--chart"]) == 2


def test_an_adapter_without_settable_states_walks_from_start_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where no prelude leads to a walk it is not run, which is no pass; a run of nothing else has an exit code."""
    adapter = wrong_core(tmp_path, '"can": ["step", "keep", "start", "read"]', '"can": ["start"]')
    assert main(["scenario", str(REINCARNATION), "--adapter", adapter]) == 0
    assert "sequencer reincarnation scenario: ok: 1 pass" in capsys.readouterr().out
    of_gms = ROOT / "conformance" / "scenarios" / "gms" / "coordinator_leaves.yaml"
    assert main(["scenario", str(of_gms), "--adapter", adapter]) == 4
    assert "not run: the adapter cannot step, and no short way" in capsys.readouterr().out


# Other commands with a port

UNDERSTOOD = {
    *("$schema", "title", "description", "$defs", "$ref", "type", "properties", "required"),
    *("additionalProperties", "enum", "oneOf", "items", "prefixItems", "minItems", "maxItems", "uniqueItems", "not"),
}  # fmt: skip
"""The keywords that generators of types were tried with (docs/porting.md)."""


def keywords(told: Any) -> set[str]:  # noqa: ANN401 - a JSON schema
    found = {*told}
    for name in ("items", "additionalProperties", "not"):
        found |= keywords(told[name]) if isinstance(told.get(name), dict) else set()
    for name in ("oneOf", "prefixItems"):
        found |= {word for each in told.get(name, ()) for word in keywords(each)}
    for name in ("properties", "$defs"):
        found |= {word for each in told.get(name, {}).values() for word in keywords(each)}
    return found


@pytest.mark.parametrize("name", LAYERS)
def test_a_schema_says_all_of_each_event_in_words_that_generators_know(name: str) -> None:
    told: Any = schema(PROTOCOLS[name])
    assert keywords(told) <= UNDERSTOOD
    assert {"event", "effect", "state", "config"} == {*told["properties"]}
    events = [told["$defs"][each["$ref"].rpartition("/")[2]] for each in told["$defs"]["Event"]["oneOf"]]
    assert all(each["additionalProperties"] is False for each in events)
    assert all([*each["properties"]] == each["required"] for each in events)
    types = [each["properties"]["type"]["enum"] for each in events]
    assert all(len(each) == 1 for each in types)
    assert len({each[0] for each in types}) == len(events)


@pytest.mark.parametrize(("kinds", "more"), [(5, []), (7, ["FAILS toy pair: and 2 kinds of failures more"])])
def test_of_many_kinds_of_failures_the_first_five_are_told(kinds: int, more: list[str]) -> None:
    failed = Replayed()
    for number in range(kinds):
        failed.add(Failure(number + 1, "crash", "", Fn({"member": "A"}), ()), f"E{number}")
    part = Part("toy", "pair", "rows", None, "again", replayed=failed)
    core = Conformance("toy", "pair", 0, None, failed, {}, 0.0, None)
    crashes = [f"FAILS toy pair: crash: E{number}, 1 rows, such as {number + 1}" for number in range(5)]
    for told in (lines(part, Places({}), failures_only=True), conform.lines(core, failures_only=True)):
        assert [*crashes, *more] == [*told]


def test_a_prelude_leads_from_the_start_to_a_state_by_what_is_in_it() -> None:
    """The view and the vote come from the layer below, and C from the set of those that have a promise."""
    view = View(ViewId(1, "A"), ("A", "B"))
    digest = Digest((name, DigestEntry(2, 2, 2)) for name in view.members)
    way: tuple[stable.Event, ...] = (stable.ViewInstalled(view, digest), DigestPromised("C"))
    config, state = stable.Config(0, 1, 1), stable.start("A")
    preludes = Preludes(STABLE, config)
    assert () == preludes.of("A", STABLE.codec.to_spec(state))
    for number, event in enumerate(way, start=1):
        state, _ = stable.step(config, state, event)
        assert STABLE.codec.to_spec(way[:number]) == preludes.of("A", STABLE.codec.to_spec(state))


JUDGE = Judge(STABLE)
START = STABLE.codec.to_spec(stable.start("A"))
HELD = json.loads(JUDGE.state(START))


@pytest.mark.parametrize(
    ("told", "verdict", "expected"),
    [
        ({"outcome": "done"}, "adapter_error", "an outcome, one of ignored, local_error, remote_error, handled"),
        ({"outcome": "ignored", "state": HELD}, "adapter_error", "no field state where the outcome is ignored"),
        ({"outcome": "handled", "effects": []}, "adapter_error", "the field state where the outcome is handled"),
        ({"outcome": "handled", "state": HELD}, "adapter_error", "the field effects where the outcome is handled"),
        ({"outcome": "handled", "state": {}, "effects": []}, "adapter_error", "state"),
        ({"outcome": "handled", "state": HELD, "effects": [1]}, "adapter_error", "effects"),
        ({"skipped": "no views", "see": "#7"}, "skipped", r"skipped: no views \(#7\)"),
        ({"skipped": 1}, "adapter_error", "skipped to be a reason"),
        ({"skipped": "no views", "outcome": "ignored"}, "adapter_error", "skipped to be a reason"),
        ({"error": "out of memory"}, "crash", "the adapter says: out of memory"),
        ({"error": 1}, "adapter_error", "error to be a text"),
        ({"error": "out of memory", "outcome": "ignored"}, "adapter_error", "error to be a text"),
    ],
)
def test_what_is_no_answer_has_a_verdict_and_says_what_was_expected(
    told: dict[str, Any], verdict: str, expected: str
) -> None:
    with pytest.raises(WrongAnswerError, match=expected) as caught:
        JUDGE.step(told, START)
    assert verdict == caught.value.verdict


@pytest.mark.parametrize("told", [{"ok": 1}, {"ok": False}, {"ok": True, "more": 1}, {"state": HELD}])
def test_only_true_says_that_something_is_done(told: dict[str, Any]) -> None:
    JUDGE.done({"ok": True})
    with pytest.raises(WrongAnswerError, match='"ok": true, and nothing else'):
        JUDGE.done(told)


@pytest.mark.parametrize(
    ("told", "expected"),
    [({"state": HELD, "more": 1}, "a state, and nothing else"), ({"state": []}, "state"), ({"ok": True}, "a state")],
)
def test_what_is_read_is_a_state_alone(told: dict[str, Any], expected: str) -> None:
    assert identical(START, JUDGE.kept({"state": HELD}))
    with pytest.raises(WrongAnswerError, match=expected):
        JUDGE.kept(told)


NOTHING = {"outcome": "handled", "state": HELD, "effects": []}


def test_a_member_that_keeps_its_state_tells_none() -> None:
    assert ("handled", START, ()) == JUDGE.step({"outcome": "handled", "effects": []}, START, stateful=True)
    assert ("ignored", START, ()) == JUDGE.step(NOTHING, START)
    with pytest.raises(WrongAnswerError, match="no field state"):
        JUDGE.step(NOTHING, START, stateful=True)


@pytest.mark.parametrize("cell", [0, HANDLED])
def test_a_step_that_changes_nothing_and_asks_for_nothing_is_one_that_is_ignored(cell: int) -> None:
    """Which of the two it is no port need know; an error is something else."""
    timeout = STABLE.codec.to_spec(stable.StableTimeout())
    assert isinstance(START, Fn)
    assert isinstance(timeout, Fn)
    one = StepTable({}, (START,), (timeout,), (Result({}, ()),), array("I", [cell]), 0.0, 0.0)
    asked = Asked(JUDGE, one)
    assert [None, None] == [asked.verdict(0, told) for told in ({"outcome": "ignored"}, NOTHING)]
    refused = asked.verdict(0, {"outcome": "local_error"})
    assert refused is not None
    assert ("wrong_outcome", "local_error") == (refused.verdict, refused.outcome)
    changed = asked.verdict(0, NOTHING | {"state": HELD | {"pending": True}})
    assert changed is not None
    assert ("wrong_outcome", "handled") == (changed.verdict, changed.outcome)
