"""The checker of local steps, checked: broken implementations get the verdict that they deserve."""

import ast
import copy
import json
import re
import shutil
import time
from array import array
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import TypeAlias, cast

import pytest
import typer
from attrs import evolve, frozen

from groupcomm import stable
from groupcomm.effects import ALL, Datagram, SetTimer
from groupcomm.errors import LocalProtocolError, RemoteProtocolError
from groupcomm_commands import conform as conform_command
from groupcomm_commands import mutants as command
from groupcomm_conformance.models import checking
from groupcomm_conformance.models.instruments import Harvest
from groupcomm_conformance.models.manifest import Manifest, UnknownNameError, load
from groupcomm_conformance.ports.renaming import is_row
from groupcomm_conformance.protocols import derive
from groupcomm_conformance.protocols.codec import Codec
from groupcomm_conformance.steps import conform, rows
from groupcomm_conformance.steps import table as steptable
from groupcomm_conformance.steps.mutants import implementation
from groupcomm_conformance.steps.table import HANDLED, StepTable, TableError, Tables
from groupcomm_conformance.tla.cfg import Cfg
from groupcomm_conformance.tla.values import Fn, Value, show
from groupcomm_conformance.tlc import run as tlc

ROOT = Path(__file__).parent.parent

Broken: TypeAlias = Callable[[stable.Config, stable.State, stable.Event], object]

MODELS = """
witnesses: {}
models:
- name: pair
  tier: smoke
  shows: two members
  constants: {Script: "<- PairScript", MaxBytes: 2}
  conform: true
"""

OPERATORS = "".join(
    f"\n{name} == TRUE\n" for name in ("Put", "Code", "Rows", "Good", "Outcomes", "Changes", "Lit0", "States0")
)
"""Definitions of a specification, whose names the generated modules leave free."""


@frozen
class Pair:
    """A project with one small model, and what its first run made of it."""

    root: Path
    manifest: Manifest
    checked: checking.CheckedModel
    table: StepTable
    key: str
    rows: rows.Rows

    @property
    def cfg(self) -> Cfg:
        return self.manifest.cfg(self.manifest.models[0])

    def conform(
        self, step: Broken = stable.step, start: Callable[[str], stable.State] = stable.start
    ) -> conform.Conformance:
        return conform.conform(
            self.manifest,
            self.manifest.models[0],
            self.checked,
            derive.load(self.manifest),
            tables=Tables.of(self.root),
            core=SimpleNamespace(step=step, start=start),
        )


@pytest.fixture(scope="session")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    root = tmp_path_factory.mktemp("project")
    for folder in ("common", "stable"):
        shutil.copytree(ROOT / "spec" / folder, root / "spec" / folder)
    # STABLE is composed with the modules of NAKACK, which is no protocol here.
    modules = shutil.ignore_patterns("models.yaml")
    shutil.copytree(ROOT / "spec/nakack", root / "spec/nakack", ignore=modules)
    file = root / "spec" / "stable" / "models.yaml"
    reference = file.read_text().partition("\nwitnesses:")[0]
    file.write_text(reference + MODELS)
    (file.parent / "recorded.yaml").write_text("pair: {distinct: 1, transitions: 1, depth: 1}\n")
    (file.parent / "errata.yaml").unlink()
    module = file.with_name("StableGroup.tla")
    module.write_text(module.read_text().replace("\n====", OPERATORS + "\n====", 1))
    manifest = load(root, "stable")
    model = manifest.models[0]
    checked = checking.run_model(manifest, model, cache=checking.Cache.of(root))
    assert checked.harvest is not None
    table, key = conform.table_of(manifest, model, checked.harvest, Tables.of(root))
    constants = derive.constants_of(manifest.cfg(model))
    return Pair(root, manifest, checked, table, key, rows.Rows(derive.load(manifest), table, constants))


def test_the_implementation_conforms(pair: Pair) -> None:
    came = pair.conform()
    assert {**dict.fromkeys(rows.VERDICTS, 0), "pass": len(pair.table)} == came.replayed.counts
    assert dict.fromkeys(conform.CONDITIONS, "") == came.conditions
    assert came.ok


def test_every_state_meets_every_event(pair: Pair) -> None:
    assert len(pair.table.states) * len(pair.table.events) == len(pair.table) > 100
    assert all(pair.table.count().values())
    assert set(pair.table.starts) == {"A", "B", "C"}
    assert set(pair.table.starts.values()) <= set(pair.table.states)


def test_a_renamed_cell_is_a_row_where_the_core_answers_so(pair: Pair) -> None:
    """A driver asks a port for these alone: a cell that is left out without reason is judged nowhere."""
    table = pair.table
    assert all(is_row(pair.rows, place) for place in range(len(table)))
    # An ignored event is handled here, and the other way round; errors change places.
    cells = array("I", [0 if cell >= HANDLED else (HANDLED, 2, 1)[cell] for cell in table.cells])
    wrong = rows.Rows(derive.load(pair.manifest), evolve(table, cells=cells), derive.constants_of(pair.cfg))
    assert not any(is_row(wrong, place) for place in range(len(table)))


# Broken implementations


def wrong_minimum(config: stable.Config, state: stable.State, event: stable.Event) -> object:
    """The running minimum is not touched by a vote."""
    after, effects = stable.step(config, state, event)
    if isinstance(event, stable.StableReceived):
        return (after if after is state else evolve(after, minimum=state.minimum)), effects
    return after, effects


def missed_reset(config: stable.Config, state: stable.State, event: stable.Event) -> object:
    """A new round does not list all members again."""
    after, effects = stable.step(config, state, event)
    if isinstance(event, stable.StabilityReceived) and after is not state:
        return evolve(after, heard_from=state.heard_from), effects
    return after, effects


def number_for_truth(config: stable.Config, state: stable.State, event: stable.Event) -> object:
    after, effects = stable.step(config, state, event)
    return (after if after is state else evolve(after, pending=cast("bool", int(after.pending)))), effects


def extra_effect(config: stable.Config, state: stable.State, event: stable.Event) -> object:
    after, effects = stable.step(config, state, event)
    return after, (*effects, SetTimer("stable", 0, 0)) if effects else effects


def missing_effect(config: stable.Config, state: stable.State, event: stable.Event) -> object:
    after, effects = stable.step(config, state, event)
    return after, tuple(effect for effect in effects if not isinstance(effect, Datagram))


def swapped_effects(config: stable.Config, state: stable.State, event: stable.Event) -> object:
    after, effects = stable.step(config, state, event)
    return after, effects[::-1]


def listed_effects(config: stable.Config, state: stable.State, event: stable.Event) -> object:
    after, effects = stable.step(config, state, event)
    return after, list(effects)


def accepts_a_stranger(config: stable.Config, state: stable.State, event: stable.Event) -> object:
    try:
        return stable.step(config, state, event)
    except RemoteProtocolError:
        return state, ()


def blames_the_peer(config: stable.Config, state: stable.State, event: stable.Event) -> object:
    try:
        return stable.step(config, state, event)
    except LocalProtocolError as error:
        raise RemoteProtocolError(error.state, error.event, error.reason) from None


def blames_another_member(config: stable.Config, state: stable.State, event: stable.Event) -> object:
    try:
        return stable.step(config, state, event)
    except LocalProtocolError as error:
        raise LocalProtocolError(evolve(state, member="Z"), error.event, error.reason) from None


def copies_what_it_ignores(config: stable.Config, state: stable.State, event: stable.Event) -> object:
    after, effects = stable.step(config, state, event)
    return (evolve(after) if after is state else after), effects


def crashes(config: stable.Config, state: stable.State, event: stable.Event) -> object:
    if isinstance(event, stable.StabilityTimeout):
        return 1 / 0
    return stable.step(config, state, event)


def exits(config: stable.Config, state: stable.State, event: stable.Event) -> object:
    if isinstance(event, stable.StabilityTimeout):
        raise SystemExit
    return stable.step(config, state, event)


def returns_a_dictionary(config: stable.Config, state: stable.State, event: stable.Event) -> object:
    after, effects = stable.step(config, state, event)
    return {"state": after, "effects": effects}


def returns_another_class(config: stable.Config, state: stable.State, event: stable.Event) -> object:
    after, effects = stable.step(config, state, event)
    return (after if after is state else (after.view, after.vote)), effects


class Name(str):
    """Equal to the text, and no text of the protocol."""

    __slots__ = ()


def another_class_of_text(config: stable.Config, state: stable.State, event: stable.Event) -> object:
    after, effects = stable.step(config, state, event)
    return (after if after is state else evolve(after, member=Name(after.member))), effects


def unknown_effect(config: stable.Config, state: stable.State, event: stable.Event) -> object:
    after, effects = stable.step(config, state, event)
    return after, (*effects, object()) if effects else effects


BROKEN: list[tuple[Broken, str, set[str]]] = [
    (wrong_minimum, "wrong_state", {"StableReceived"}),
    (missed_reset, "wrong_state", {"StabilityReceived"}),
    (extra_effect, "wrong_effects", {"StableTimeout", "StabilityReceived"}),
    (missing_effect, "wrong_effects", {"StableTimeout", "StabilityTimeout"}),
    (swapped_effects, "wrong_effects", {"StableTimeout"}),
    (accepts_a_stranger, "wrong_outcome", {"StableReceived", "StabilityReceived"}),
    (blames_the_peer, "wrong_outcome", {"ViewInstalled", "StableTimeout"}),
    (blames_another_member, "wrong_outcome", {"ViewInstalled", "StableTimeout"}),
    (copies_what_it_ignores, "wrong_outcome", {"StableReceived", "PromiseWithdrawn"}),
    (crashes, "crash", {"StabilityTimeout"}),
    (exits, "crash", {"StabilityTimeout"}),
    (number_for_truth, "adapter_error", {"StableReceived"}),
    (listed_effects, "adapter_error", {"StableTimeout", "PromiseWithdrawn"}),
    (returns_a_dictionary, "adapter_error", {"StableTimeout", "PromiseWithdrawn"}),
    (returns_another_class, "adapter_error", {"StableTimeout"}),
    (another_class_of_text, "adapter_error", {"StableReceived", "ViewInstalled"}),
    (unknown_effect, "adapter_error", {"StableTimeout"}),
]


@pytest.mark.parametrize(("step", "verdict", "events"), BROKEN, ids=[entry[0].__name__ for entry in BROKEN])
def test_broken(pair: Pair, step: Broken, verdict: str, events: set[str]) -> None:
    replayed = rows.replay(pair.rows, step)
    assert {verdict} == {group.verdict for group in replayed.groups.values()}
    assert events <= {group.event for group in replayed.groups.values()}
    assert not replayed.passed
    assert len(pair.table) == sum(replayed.counts.values())


def test_a_row_that_does_not_end_times_out_and_then_the_rest_is_skipped(pair: Pair) -> None:
    def loops(config: stable.Config, state: stable.State, event: stable.Event) -> object:
        while isinstance(event, stable.StableTimeout):
            pass
        return stable.step(config, state, event)

    replayed = rows.replay(pair.rows, loops, limit=0.05)
    assert "timeout" == getattr(replayed.first, "verdict", None)
    assert 3 == replayed.counts["timeout"]
    assert 0 < replayed.counts["skipped"] < len(pair.table)
    assert len(pair.table) == sum(replayed.counts.values())
    assert not replayed.passed


def test_quick_rows_of_a_long_table_do_not_time_out(pair: Pair) -> None:
    """The limit is of a row: the clock ticks several times here, at another row each time."""

    def takes_its_time(config: stable.Config, state: stable.State, event: stable.Event) -> object:
        time.sleep(0.01)
        return stable.step(config, state, event)

    replayed = rows.replay(pair.rows, takes_its_time, range(60), limit=0.15)
    assert {**dict.fromkeys(rows.VERDICTS, 0), "pass": 60} == replayed.counts


def test_rows_that_can_be_translated_are_judged_where_others_cannot(pair: Pair) -> None:
    """A core is not asked for the others: it may refuse whatever it does not know."""
    some = copy.copy(pair.rows)
    some.states, some.events = [None, *pair.rows.states[1:]], [None, *pair.rows.events[1:]]
    some.problem = "these have no translation"
    asked: list[object] = []

    def listens(config: stable.Config, state: stable.State, event: stable.Event) -> object:
        asked.extend((state, event))
        return stable.step(config, state, event)

    replayed = rows.replay(some, listens)
    without = len(pair.table.states) + len(pair.table.events) - 1
    passed = len(pair.table) - without
    assert {**dict.fromkeys(rows.VERDICTS, 0), "adapter_error": without, "pass": passed} == replayed.counts
    assert "these have no translation" == getattr(replayed.first, "reason", None)
    assert None not in asked


def test_memory_between_steps_is_found(pair: Pair) -> None:
    seen: set[object] = set()

    def remembers(config: stable.Config, state: stable.State, event: stable.Event) -> object:
        if (state, event) in seen:
            return evolve(state, pending=not state.pending), ()
        seen.add((state, event))
        return stable.step(config, state, event)

    came = pair.conform(remembers)
    assert came.replayed.passed
    assert re.match(r"in another order, row \d+ is wrong_", came.conditions["no_hidden_state"])
    assert not came.ok


def test_a_wrong_step_without_memory_is_not_blamed_for_memory(pair: Pair) -> None:
    came = pair.conform(wrong_minimum)
    assert not came.replayed.passed
    assert not came.conditions["no_hidden_state"]


def test_a_step_that_writes_into_its_state_is_found(pair: Pair) -> None:
    calls: list[stable.Event] = []

    def writes(config: stable.Config, state: stable.State, event: stable.Event) -> object:
        calls.append(event)
        try:
            return stable.step(config, state, event)
        finally:
            if len(calls) == 2 * len(pair.table):
                object.__setattr__(state, "pending", not state.pending)

    came = pair.conform(writes)
    assert came.replayed.passed
    assert came.conditions["no_hidden_state"].startswith("a step changed what it was given")


def test_another_start_is_found(pair: Pair) -> None:
    came = pair.conform(start=lambda member: evolve(stable.start(member), pending=True))
    assert "Start(A) -> start('A'): pending FALSE -> TRUE" == came.conditions["start"]


def test_a_start_that_raises_is_found(pair: Pair) -> None:
    def raises(member: str) -> stable.State:
        raise ZeroDivisionError(member)

    assert "start('A') raised ZeroDivisionError: A" == pair.conform(start=raises).conditions["start"]


def conditions_of(pair: Pair, table: StepTable, replayed: rows.Replayed) -> dict[str, str]:
    protocol, constants = derive.load(pair.manifest), derive.constants_of(pair.cfg)
    conditions = conform.side_conditions(rows.Rows(protocol, table, constants), stable, pair.cfg, replayed)
    return {name: wrong for name, wrong in conditions.items() if wrong}


def test_a_table_without_starts_says_nothing_of_them(pair: Pair) -> None:
    replayed = rows.replay(pair.rows, stable.step)
    assert {"start": "the table has no Start"} == conditions_of(pair, evolve(pair.table, starts={}), replayed)


def test_rows_that_do_not_end_leave_open_whether_a_core_has_memory(pair: Pair) -> None:
    replayed = rows.Replayed()
    replayed.counts["timeout"] = 1
    assert {"no_hidden_state": "not checked: there are rows that do not end"} == conditions_of(
        pair, pair.table, replayed
    )


@pytest.mark.parametrize(
    ("change", "outcome"), [({"outcome": "violates: TypeOK"}, "violates: TypeOK"), ({"harvest": None}, "holds")]
)
def test_a_model_that_does_not_hold_has_no_rows_that_speak(pair: Pair, change: dict[str, object], outcome: str) -> None:
    checked = evolve(pair.checked, **change)  # type: ignore[arg-type]
    came = evolve(pair, checked=checked).conform()
    assert (False, None) == (came.ok, came.table)
    assert f"the model does not hold ({outcome}): see groupcomm check --model pair" == came.problem


def test_a_model_without_the_claim_that_steps_are_local_does_not_speak(pair: Pair) -> None:
    cfg = evolve(pair.cfg, properties=())
    conditions = conform.side_conditions(pair.rows, stable, cfg, rows.replay(pair.rows, stable.step))
    assert "OnlyByEffects is not among" in conditions["only_by_effects"]
    assert ["only_by_effects"] == [name for name, wrong in conditions.items() if wrong]


def test_a_field_that_the_specification_does_not_have_is_found(pair: Pair) -> None:
    @frozen
    class Larger(stable.State):
        secret: int = 0

    protocol = evolve(derive.load(pair.manifest), state=Larger)
    larger = rows.Rows(protocol, pair.table, derive.constants_of(pair.cfg))
    replayed = rows.replay(larger, stable.step)
    conditions = conform.side_conditions(larger, stable, pair.cfg, replayed)
    assert "['secret']" in conditions["same_fields"]
    assert len(pair.table) == replayed.counts["adapter_error"]


@pytest.mark.parametrize(
    ("name", "lost"),
    [("pending", False), ("received_bytes", 500), ("size", 500)],
    ids=["of every state", "of a state that none reaches", "of an event that no model has"],
)
def test_a_codec_that_drops_something_is_found(pair: Pair, name: str, lost: int) -> None:
    class Careless(Codec):
        def to_spec(self, value: object) -> Value:
            spec = super().to_spec(value)
            return spec.replace(**{name: min(spec.get(name), lost)}) if isinstance(spec, Fn) and name in spec else spec

    protocol = derive.load(pair.manifest)
    careless = evolve(protocol, codec=Careless(protocol.codec.tags))
    told = rows.Rows(careless, pair.table, derive.constants_of(pair.cfg))
    conditions = conform.side_conditions(told, stable, pair.cfg, rows.replay(told, stable.step))
    assert " came back as " in conditions["bijection"]


def test_a_failure_shows_what_is_needed_to_see_and_repeat_it(pair: Pair) -> None:
    failure = rows.replay(pair.rows, wrong_minimum).first
    assert failure is not None
    text = failure.text(pair.table, "groupcomm conform stable --model pair")
    assert re.search(r"^  event    \[message: .*type: STABLE.*sender: [AB]", text, re.MULTILINE)
    assert re.search(r"^  expected handled: .*minimum\.", text, re.MULTILINE)
    assert re.search(r"^    state\.minimum\.[AB] -1 -> 0$", text, re.MULTILINE)
    assert f"groupcomm conform stable --model pair --row {failure.row}" in text


def test_an_error_that_was_not_expected_is_shown_with_its_reason(pair: Pair) -> None:
    failure = rows.replay(pair.rows, blames_the_peer).first
    assert failure is not None
    shown = failure.text(pair.table, "groupcomm conform")
    outcomes = (
        "  expected local_error\n  got      remote_error\n  expected -> got\n    outcome local_error -> remote_error\n"
    )
    assert f"{outcomes}  raised: " in shown


# The table


def test_a_damaged_table_counts_as_absent(pair: Pair, tmp_path: Path) -> None:
    tables = Tables(tmp_path)
    tables.store("key", pair.table)
    assert pair.table == tables.load("key")
    whole = tables.path("key").read_bytes()
    for content in (whole[:-1], whole[:-9] + bytes([whole[-9] ^ 1]) + whole[-8:], whole.replace(b"\n", b"", 1), b""):
        tables.path("key").write_bytes(content)
        assert tables.load("key") is None
    assert tables.load("no such key") is None


def test_a_table_survives_storing(pair: Pair) -> None:
    stored = Tables.of(pair.root).load(pair.key)
    assert stored is not None
    assert pair.table.cells == stored.cells
    assert [*map(show, pair.table.states)] == [*map(show, stored.states)]
    assert all(pair.table.expected(row) == stored.expected(row) for row in range(1, len(stored) + 1))


def test_a_table_that_is_asked_for_fresh_is_made_anew_and_kept(
    pair: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    harvest, tables, anew = pair.checked.harvest, Tables(tmp_path), evolve(pair.table, tlc_seconds=77.0)
    assert harvest is not None
    tables.store(pair.key, pair.table)
    monkeypatch.setattr(conform, "make", lambda *_: anew)
    for where, fresh, seconds in (
        (tables, False, pair.table.tlc_seconds),
        (None, False, 77.0),
        (tables, True, 77.0),
        (tables, False, 77.0),
    ):
        table, key = conform.table_of(pair.manifest, pair.manifest.models[0], harvest, where, fresh=fresh)
        assert (seconds, pair.key) == (table.tlc_seconds, key)


def test_chunks_give_the_same_table(pair: Pair) -> None:
    harvest = pair.checked.harvest
    assert harvest is not None
    chunk = len(harvest.local) // 2 + 1
    table = steptable.make(pair.manifest.folders, "MCStable", pair.cfg, harvest, chunk=chunk)

    def by_content(table: StepTable) -> dict[tuple[Fn, Fn], tuple[str, object]]:
        width = len(table.events)
        return {
            (table.states[place // width], table.events[place % width]): (
                table.outcome(place + 1),
                table.expected(place + 1),
            )
            for place in range(len(table))
        }

    assert by_content(pair.table) == by_content(table)


ROW = '"<<\\"row\\", <<3, 0, 3>>>>"'
CAME = '"<<[bytes |-> 1], <<>>>>"'


@pytest.mark.parametrize(
    "lines",
    [[ROW, CAME], [ROW, CAME, ROW], [ROW, CAME, CAME, CAME], [CAME], [ROW, CAME, CAME]],
    ids=["result missing", "cut off by a row", "result too many", "no row", "no states"],
)
def test_every_row_is_accounted_for(lines: list[str]) -> None:
    reader = steptable._Reader()  # noqa: SLF001 - what TLC never prints must be refused as well

    def read() -> None:
        for line in lines:
            reader.take(line)
        reader.end()

    with pytest.raises(TableError):
        read()


TWO = Harvest(frozenset({Fn({"member": "A"}), Fn({"member": "B"})}), frozenset(), frozenset())


def printed(event: str, *, states: int = 1) -> list[str]:
    """What TLC prints of a chunk of one state, and of one event, which is ignored."""
    values = ("event", Fn({"type": event})), ("row", (0,)), ("end", states, 1)
    return [show(show(value)) for value in values]


def made(monkeypatch: pytest.MonkeyPatch, *runs: list[str], local: Harvest = TWO, outcome: str = "holds") -> StepTable:
    """Make a table, a state a run, where TLC prints these lines."""
    waiting = iter(runs)

    def run(*_: object, on_line: Callable[[str], None], **__: object) -> SimpleNamespace:
        for line in next(waiting):
            on_line(line)
        return SimpleNamespace(outcome=outcome, violated="Invariant", cpu_seconds=0.0)

    monkeypatch.setattr(tlc, "run", run)
    return steptable.make([], "MCToy", Cfg(), local, chunk=1)


def test_a_table_is_what_all_runs_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    table = made(monkeypatch, printed("Came"), printed("Came"))
    assert ((Fn({"member": "A"}), Fn({"member": "B"})), (Fn({"type": "Came"}),)) == (table.states, table.events)
    assert ["ignored", "ignored"] == [table.outcome(row) for row in (1, 2)]
    for row in (0, 3):
        with pytest.raises(IndexError, match=f"rows are 1 to 2, not {row}"):
            table.place(row)


def test_runs_that_tell_something_else_are_no_table(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(TableError, match="Invariant is violated"):
        made(monkeypatch, printed("Came"), outcome="violates: Invariant")
    with pytest.raises(TableError, match="not print as many states and events as it counted"):
        made(monkeypatch, printed("Came", states=2))
    with pytest.raises(TableError, match="not print as many states and events as it counted"):
        made(monkeypatch, printed("Came")[:-1])
    with pytest.raises(TableError, match="two chunks of the table have different events"):
        made(monkeypatch, printed("Came"), printed("Went"))
    with pytest.raises(TableError, match="a local state is a record, not 1"):
        made(monkeypatch, local=evolve(TWO, local=frozenset({1})))


# The commands


def run(pair: Pair, monkeypatch: pytest.MonkeyPatch, command: Callable[..., None], **given: object) -> int:
    monkeypatch.chdir(pair.root)
    with pytest.raises(typer.Exit) as end:
        command(**given)
    return end.value.exit_code


def test_conform_tells_in_json(pair: Pair, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == run(pair, monkeypatch, conform_command.command, as_json=True)
    (told,) = json.loads(capsys.readouterr().out)
    assert ("stable", "pair", True) == (told["protocol"], told["model"], told["ok"])
    assert len(pair.table) == told["local_steps"] == told["verdicts"]["pass"]
    assert len(pair.table) - pair.table.count()["handled"] == told["reverse_probes"]
    assert dict.fromkeys(conform.CONDITIONS, True) == told["side_conditions"]


def test_conform_exits_with_1_and_shows_the_row(
    pair: Pair, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(stable, "_vote", lambda state: Datagram(ALL, stable.Stable(state.view.id, state.minimum)))
    assert 1 == run(pair, monkeypatch, conform_command.command)
    again = re.search(r"wrong_effects: StableTimeout.*?--row (\d+)", capsys.readouterr().out, re.DOTALL)
    assert again is not None
    assert 1 == run(pair, monkeypatch, conform_command.command, protocol=["stable"], model=["pair"], row=int(again[1]))
    assert "effects[1].message.digest" in capsys.readouterr().out


def test_several_protocols_by_processes_say_what_each_says_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in ("common", "file_ping", "heartbeat"):
        shutil.copytree(ROOT / "spec" / folder, tmp_path / "spec" / folder)
    module = tmp_path / "spec/heartbeat/Heartbeat.tla"
    module.write_text(module.read_text().replace("Greatest(known.missed, known.gap - 1)", "known.missed"))
    monkeypatch.chdir(tmp_path)

    def said(*protocols: str) -> str:
        with pytest.raises(typer.Exit) as end:
            conform_command.command([*protocols], tier="smoke")
        assert ("heartbeat" in protocols) == end.value.exit_code
        return capsys.readouterr().out

    together = said("heartbeat", "file_ping")
    assert "FAILS heartbeat two_members: wrong_state: HeartbeatReceived" in together
    assert "file_ping two_starters: ok" in together
    assert said("heartbeat") + said("file_ping") == together


def test_conform_refuses_what_there_is_not(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(pair.root)
    with pytest.raises(
        UnknownNameError, match=r'no model marked conform is called "pare" .did you mean pair..; there is pair'
    ):
        conform_command.command(model=["pare"])
    with pytest.raises(UnknownNameError, match='no protocol is called "stale"'):
        conform_command.command(["stale"])
    with pytest.raises(typer.BadParameter, match=f"rows 1 to {len(pair.table)}"):
        conform_command.command(model=["pair"], row=len(pair.table) + 1)
    with pytest.raises(typer.BadParameter, match="name it with --model"):
        conform_command.command(row=1)


# Mutants


def test_mutants_are_made_of_what_step_reaches() -> None:
    made = implementation.mutants(derive.load(load(ROOT, "stable")))
    assert {"step", "_new_round", "State.joined", "start"} <= {mutant.function for mutant in made}
    assert len(made) == len({mutant.name for mutant in made}) > 100
    assert not any("assert_never" in mutant.before for mutant in made)


@pytest.mark.parametrize(
    ("form", "changes"),
    [
        ("a == b", ["a != b"]),
        ("a < b", ["a <= b", "a >= b", "a == b"]),
        ("a and b", ["a or b", "b", "a"]),
        ("not a", ["a"]),
        ("a - b", ["a + b", "a | b", "a"]),
        ("b if a else c", ["c if a else b", "b", "c"]),
        ("1", ["2", "0"]),
        ("True", ["False"]),
        ("'x'", ["'xx'"]),
        ("'words for people'", []),
        ("min(a, b)", ["max(a, b)"]),
        ("g(a, b)", ["g(b, a)"]),
        ("(a, b, c)", ["(b, c)", "(a, c)", "(a, b)", "(b, a, c)", "(a, c, b)"]),
        ("evolve(state, a=b, c=d)", ["evolve(state, c=d)", "evolve(state, a=b)"]),
        ("RemoteProtocolError(a, b, 'why')", ["RemoteProtocolError(b, a, 'why')"]),
    ],
)
def test_each_form_of_python_has_its_changes(form: str, changes: list[str]) -> None:
    made = implementation.changed("m", ast.parse(f"class C:\n    def f(self, a: int) -> str:\n        return {form}"))
    assert [f"C.f: return {form} -> return {each}" for each in changes] == [each.name for each in made]


def test_statements_are_left_out_and_a_step_leaves_its_state_or_has_no_effects() -> None:
    module = "def f(a):\n    if a:\n        raise a\n\ndef step(state, event):\n    return (after(state), event)\n"
    assert [each.name for each in implementation.changed("m", ast.parse(module))] == [
        "f: if a: -> if not a:",
        "f: if a: raise a -> pass",
        "f: raise a -> pass",
        "step: return (after(state), event) -> return (state, event)",
        "step: return (after(state), event) -> return (after(state), ())",
    ]


def test_mutants_are_killed_or_told(
    pair: Pair, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = stable.State.joined
    explained = pair.root / "conformance" / "mutants" / "stable.yaml"
    explained.parent.mkdir(parents=True)
    explained.write_text("equivalent:\n- why: it does not exist\n  mutants: ['step: x -> y']\n")
    assert 1 == run(pair, monkeypatch, command.command, protocol="stable", random=0, workers=1, as_json=True)
    told = json.loads(capsys.readouterr().out)
    assert told["killed"] + told["survived"] == told["mutants"]
    assert 85 < told["score"]
    assert {"step: x -> y": ""} == told["stale"]
    assert before is stable.State.joined
    assert pair.conform().ok
