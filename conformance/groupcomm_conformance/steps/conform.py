"""Conformance of an implementation's local steps to the specification: `groupcomm conform`.

For each model with `conform: true`, a search harvests local states and messages, shared with `groupcomm
check`. A table (`table`) has all local steps that come of these. Every row of it is run on the implementation
(`rows`). A global step of the model is one member's local step and nothing else, so that the rows decide
every transition of the model. That this is so is not taken for granted: `CONDITIONS` are checked each time.
"""

import functools
import os
import platform
import time
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import Any, Final

import attrs
from attrs import frozen

from groupcomm_conformance.files.keys import code_digest
from groupcomm_conformance.files.keys import key as digest_of
from groupcomm_conformance.models import checking
from groupcomm_conformance.models.instruments import OUTCOMES, Harvest
from groupcomm_conformance.models.manifest import Manifest, Model
from groupcomm_conformance.protocols.arbitrary import arbitrary
from groupcomm_conformance.protocols.codec import MappingError, same
from groupcomm_conformance.protocols.derive import AnyCore, Protocol, constants_of
from groupcomm_conformance.tla.cfg import Cfg
from groupcomm_conformance.tla.readable import brief, diff
from groupcomm_conformance.tla.values import Fn, identical, show

from .rows import VERDICTS, Replayed, Rows, replay
from .table import StepTable, Tables, make

CONDITIONS: Final = {
    "only_by_effects": "TLC checked that members and network change by local steps and their effects alone",
    "same_fields": "a local state's fields are those of the implementation's state",
    "bijection": "arbitrary states and events survive the way to the other side and back",
    "start": "Start is what the implementation's constructor gives, for each member",
    "no_hidden_state": "rows in another order give the same, and change nothing that they were given",
}
"""Conditions for the rows to speak for the whole model."""

ONLY_BY_EFFECTS: Final = "OnlyByEffects"
"""The action property that a group's specification must have, and a conforming model must check."""

_SEED: Final = 20_240_229
_ARBITRARY: Final = 300
_SHOWN: Final = 5


@frozen
class Conformance:
    """The result of a model.

    `conditions` has, for each of `CONDITIONS`, what is wrong; "" if it holds. `seconds` is the CPU time of
    search, table and rows together, `tlc_seconds` that of the search without any instrument; None where it
    was not measured. `problem` says why nothing was run. `closed`: of the states that its rows leave.
    """

    protocol: str
    model: str
    transitions: int
    table: StepTable | None
    replayed: Replayed
    conditions: Mapping[str, str]
    seconds: float
    tlc_seconds: float | None
    problem: str = ""
    closed: bool = False

    @property
    def ok(self) -> bool:
        """True if every row passed and all conditions hold."""
        return not self.problem and self.replayed.passed and not any(self.conditions.values())

    def to_json(self) -> dict[str, Any]:
        """Give the result as plain values; `reverse_probes` are rows of events that are not handled."""
        counts = self.table.count() if self.table else dict.fromkeys(OUTCOMES, 0)
        return {
            "protocol": self.protocol,
            "model": self.model,
            "closed": self.closed,
            "ok": self.ok,
            "transitions": self.transitions,
            "local_steps": len(self.table) if self.table else 0,
            "states": len(self.table.states) if self.table else 0,
            "events": len(self.table.events) if self.table else 0,
            "outcomes": counts,
            "verdicts": dict(self.replayed.counts),
            "reverse_probes": sum(counts.values()) - counts["handled"],
            "side_conditions": {name: not wrong for name, wrong in self.conditions.items()},
            "problems": [text for text in (self.problem, *self.conditions.values()) if text],
            "failures": [
                {"verdict": group.verdict, "event": group.event, "count": group.count, "row": group.first.row}
                for group in self.replayed.groups.values()
            ],
            "seconds": round(self.seconds, 3),
            "tlc_seconds": None if self.tlc_seconds is None else round(self.tlc_seconds, 3),
        }


def table_of(
    manifest: Manifest, model: Model, harvest: Harvest, tables: Tables | None, *, fresh: bool = False
) -> tuple[StepTable, str]:
    """Give the table of a model and its key: a cached one unless `fresh`."""
    cfg, places = manifest.cfg(model), manifest.folders
    key = Tables.key(places, manifest.module, cfg, harvest)
    table = None if fresh or tables is None else tables.load(key)
    if table is None:
        table = make(places, manifest.module, cfg, harvest)
        if tables is not None:
            tables.store(key, table)
    return table, key


def tables_of(
    searched: Iterable[tuple[Manifest, Model, checking.CheckedModel]], tables: Tables
) -> Iterator[tuple[StepTable, str] | None]:
    """Give the tables of models with their keys, in order; None for a model that has no harvest.

    TLC makes a table with one worker, so some are made side by side.
    """
    pool = ThreadPoolExecutor(os.cpu_count())
    try:
        yield from pool.map(
            lambda each: each[2].harvest and table_of(each[0], each[1], each[2].harvest, tables), searched
        )
    finally:
        pool.shutdown(cancel_futures=True)


# Conditions


def side_conditions(rows: Rows, core: AnyCore, cfg: Cfg, replayed: Replayed) -> dict[str, str]:
    """Check `CONDITIONS`; give what is wrong with each, "" if nothing is. `replayed` is of all rows."""
    checks = {
        "only_by_effects": _only_by_effects(cfg),
        "same_fields": _same_fields(rows),
        "bijection": _bijection(rows),
        "start": _start(rows, core),
        "no_hidden_state": _no_hidden_state(rows, core, replayed),
    }
    return {name: checks[name] for name in CONDITIONS}


def _only_by_effects(cfg: Cfg) -> str:
    if ONLY_BY_EFFECTS in cfg.properties:
        return ""
    return f"{ONLY_BY_EFFECTS} is not among the model's properties: nothing says that its steps are local steps alone"


def _same_fields(rows: Rows) -> str:
    ours = set(rows.fields)
    for state in rows.table.states:
        theirs = {str(name) for name in state}
        if ours != theirs:
            lacks, has = sorted(theirs - ours), sorted(ours - theirs)
            return f"the specification's state has {lacks} and the implementation's {has}, which the other lacks"
    return ""


def _bijection(rows: Rows) -> str:
    """States and events of any kind, reachable or not, in both directions."""
    if wrong := _survive(rows.protocol):
        return wrong
    for theirs, wanted in _specified(rows):
        try:
            again = rows.protocol.codec.to_spec(rows.protocol.codec.from_spec(theirs, wanted))
        except MappingError as error:
            return f"{brief(theirs)} does not survive: {error}"
        if not identical(again, theirs):
            return f"{brief(theirs)} came back as {brief(again)}"
    return ""


@functools.cache
def _survive(protocol: Protocol) -> str:
    """Arbitrary values of the implementation, which are the same for all models: looked at once."""
    random = Random(_SEED)  # noqa: S311 - the same every time
    for wanted in (protocol.state, protocol.events):
        for _ in range(_ARBITRARY):
            ours = arbitrary(wanted, random)
            try:
                theirs = protocol.codec.to_spec(ours)
                back = protocol.codec.from_spec(theirs, wanted)
            except MappingError as error:
                return f"{ours} does not survive: {error}"
            if not same(back, ours):
                return f"{ours} came back as {back}"
    return ""


def _specified(rows: Rows) -> Iterator[tuple[Fn, Any]]:
    """All events; all states of the table, and others with fields of any of these."""
    for event in rows.table.events:
        yield event, rows.protocol.events
    for state in rows.table.states:
        yield state, rows.protocol.state
    random = Random(_SEED)  # noqa: S311 - the same every time
    for _ in range(_ARBITRARY):
        mixed = {name: random.choice(rows.table.states)[name] for name in rows.table.states[0]}
        yield Fn(mixed), rows.protocol.state


def _start(rows: Rows, core: AnyCore) -> str:
    if not rows.table.starts:
        return "the table has no Start"
    for member, theirs in rows.table.starts.items():
        try:
            ours = rows.protocol.codec.to_spec(core.start(member))
        except Exception as error:  # noqa: BLE001 - of the code under test
            return f"start({member!r}) raised {type(error).__name__}: {error}"
        if not identical(ours, theirs):
            changes = "; ".join(change.text() for change in diff(theirs, ours))
            return f"Start({member}) -> start({member!r}): {changes}"
    return ""


def _no_hidden_state(rows: Rows, core: AnyCore, replayed: Replayed) -> str:
    """All rows once more, state after state for one event, all in an arbitrary order."""
    if replayed.counts["timeout"]:
        return "not checked: there are rows that do not end"
    random = Random(_SEED)  # noqa: S311 - the same every time
    width = len(rows.events)
    states = random.sample(range(len(rows.states)), len(rows.states))
    events = random.sample(range(width), width)
    places = (at * width + number for number in events for at in states)
    again = replay(rows, core.step, places, stop=replayed.passed)
    # Rows that fail in either order alike have no memory to blame.
    if again.counts != replayed.counts and (failure := again.first):
        return f"in another order, row {failure.row} is {failure.verdict}: {failure.reason or failure.outcome}"
    given = zip((*rows.states, *rows.events), (*rows.table.states, *rows.table.events), strict=True)
    for ours, theirs in given:
        if ours is not None and not identical(rows.protocol.codec.to_spec(ours), theirs):
            return f"a step changed what it was given: {brief(theirs)} is now {ours}"
    return ""


# A model


def conform(
    manifest: Manifest,
    model: Model,
    checked: checking.CheckedModel,
    protocol: Protocol,
    *,
    tables: Tables | None = None,
    fresh: bool = False,
    plain_seconds: float | None = None,
    core: AnyCore | None = None,
    made: tuple[StepTable, str] | None = None,
    closed: bool = False,
) -> Conformance:
    """Run all local steps of a model on `core`, by default the protocol's own.

    `checked` is the model's search, with its harvest. `plain_seconds` is the time of the search without it.
    `made` is its table and key, where there is one. `closed` says that it is of the states that rows leave.
    """

    def nothing(problem: str) -> Conformance:
        return Conformance(manifest.protocol, model.name, checked.transitions, None, Replayed(), {}, 0.0, None, problem)

    if not checked.holds or checked.harvest is None:
        return nothing(f"the model does not hold ({checked.outcome}): see groupcomm check --model {model.name}")
    table, key = made or table_of(manifest, model, checked.harvest, tables, fresh=fresh)
    began = time.thread_time()
    if tables is not None and plain_seconds is not None:
        tables.store_plain_seconds(key, plain_seconds)
    core = core or protocol.core
    cfg = manifest.cfg(model)
    try:
        rows = Rows(protocol, table, constants_of(cfg))
    except MappingError as error:
        return nothing(f"the implementation is not one of this model: {error}")
    replayed = replay(rows, core.step)
    conditions = side_conditions(rows, core, cfg, replayed)
    replaying = time.thread_time() - began
    seconds = checked.cpu_seconds + table.tlc_seconds + table.read_seconds + replaying
    if plain_seconds is None and tables is not None:
        plain_seconds = tables.load_plain_seconds(key)
    return Conformance(
        protocol=manifest.protocol,
        model=model.name,
        transitions=checked.transitions,
        table=table,
        replayed=replayed,
        conditions=conditions,
        seconds=seconds,
        tlc_seconds=plain_seconds,
        closed=closed,
    )


# Used by commands


def verdict_key(manifest: Manifest, model: Model, protocol: Protocol) -> str:
    """Give the digest of all that decides whether a model's rows pass: its search, the core, and the code of both."""
    return digest_of(
        __name__,
        manifest.protocol,
        checking.result_key(manifest, model),
        sorted(protocol.parameters.items()),
        sorted((name, show(value)) for name, value in protocol.guards.items()),
        sorted(protocol.operators),
        code_digest(protocol.module.__name__, protocol.source.__name__),
        platform.python_version(),
    )


def measured(
    manifest: Manifest, model: Model, cache: checking.Cache, watch: checking.Listener
) -> tuple[checking.CheckedModel, float]:
    """Search twice, with instruments and without; give the CPU seconds of both, all of Python's with them."""
    began = time.process_time()
    checked = checking.run_model(manifest, model, cache=cache, fresh=True, listener=watch)
    middle = time.process_time()
    plain = checking.plain_cpu_seconds(manifest, model, workers=checked.workers)
    ended = time.process_time()
    return attrs.evolve(checked, cpu_seconds=checked.cpu_seconds + middle - began), plain + ended - middle


def again(protocol: str, model: str, *, closed: bool = False) -> str:
    """Give the command that runs a model again."""
    return f"groupcomm conform {protocol} --model {model}{' --closed' if closed else ''}"


def lines(came: Conformance, *, failures_only: bool) -> Iterator[str]:
    """Report a model, a line of text an item; with `failures_only` nothing of a model that is right."""
    name = f"{came.protocol} {came.model}{' closed' if came.closed else ''}"
    counts = came.replayed.counts
    if not failures_only and came.table is not None:
        told = ", ".join(f"{counts[verdict]:,} {verdict}" for verdict in VERDICTS if counts[verdict])
        yield (
            f"{name}: {'ok' if came.ok else 'FAILS'}: {told}: {len(came.table.states):,} local states x "
            f"{len(came.table.events):,} events, "
            + ("left by its rows" if came.closed else f"for {came.transitions:,} transitions")
        )
        if came.tlc_seconds is not None:
            yield f"  {came.seconds:.1f} s of CPU time, of which TLC's search alone {came.tlc_seconds:.1f} s"
    for wrong in (came.problem, *came.conditions.values()):
        if wrong:
            yield f"FAILS {name}: {wrong}"
    groups = sorted(came.replayed.groups.values(), key=lambda group: -group.count)
    for group in groups[:_SHOWN]:
        yield f"FAILS {name}: {group.verdict}: {group.event}, {group.count:,} rows, such as {group.first.row}"
        if came.table is not None:
            yield group.first.text(came.table, again(came.protocol, came.model, closed=came.closed))
    if len(groups) > _SHOWN:
        yield f"FAILS {name}: and {len(groups) - _SHOWN} kinds of failures more"
    if counts["skipped"]:
        yield f"FAILS {name}: {counts['skipped']:,} rows were not run, after rows that do not end"
