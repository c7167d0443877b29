"""Conformance of a port: `groupcomm conform --adapter`.

Every local step is asked for, as on a core. Beside that:

``start``           `Start` of each member, where the adapter can start and read
``kept``            with `--strict`: all rows once more in another order, on states that the adapter keeps
                    and on states that it gave itself. At the end every kept state is read back
``renamed``         with `--renamed`: the same rows with other names, counters and payloads (`renaming`)
``random``          with `--random`: walks far beyond the bounds, which the core takes too

Each gives a `Part`, with verdicts like those of a core. A part that the adapter cannot do is not passed: it
says so, and `Part.note` is why.
"""

from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Any, Final

from attrs import define, evolve, field, frozen

from groupcomm_conformance.steps.rows import VERDICTS, Failure, Replayed
from groupcomm_conformance.steps.table import HANDLED, StepTable
from groupcomm_conformance.tla.readable import diff
from groupcomm_conformance.tla.values import identical

from .adapter import Answer, Gone
from .judging import Asked, WrongAnswerError
from .port import Port

_SHOWN: Final = 5
_SEED: Final = 20_240_229


@define
class Part:
    """The result of a part of a model: counts by verdict, and of each kind of failure the first.

    `name`: the part, such as `rows`. `again`: the command that runs it again. `note` says why nothing was
    run; `wrong` what is amiss that belongs to no row. `not_run`: how many were not run, by the reason.
    """

    protocol: str
    model: str
    name: str
    table: StepTable | None
    again: str
    what: str = "rows"
    replayed: Replayed = field(factory=Replayed)
    note: str = ""
    wrong: list[str] = field(factory=list)
    not_run: dict[str, int] = field(factory=dict)

    @property
    def count(self) -> int:
        """How many rows there were."""
        return sum(self.replayed.counts.values()) + sum(self.not_run.values())

    @property
    def ok(self) -> bool:
        """True if all that ran passed, or if it was not to be run."""
        if self.note:
            return True
        passed = self.replayed.counts["pass"]
        return not self.wrong and 0 < passed == sum(self.replayed.counts.values())

    def to_json(self) -> dict[str, Any]:
        """Give the result as plain values."""
        return {
            "protocol": self.protocol,
            "model": self.model,
            "part": self.name,
            "ok": self.ok,
            "count": self.count,
            "verdicts": dict(self.replayed.counts),
            "not_run": dict(self.not_run),
            "note": self.note,
            "problems": list(self.wrong),
            "failures": [
                {"verdict": group.verdict, "event": group.event, "count": group.count, "row": group.first.row}
                for group in self.replayed.groups.values()
            ],
        }


@frozen
class Places:
    """Where the specification says what an event does: operator, file and line, requirements."""

    by_event: Mapping[str, str] = field(hash=False)

    def of(self, event: str) -> str:
        """Say where; "" where nothing is known of it."""
        place = self.by_event.get(event, "")
        return f" ({place})" if place else ""


def lines(part: Part, places: Places, *, failures_only: bool) -> Iterator[str]:
    """Report a part, a line of text an item; with `failures_only` nothing of a part that is right."""
    name = f"{part.protocol} {part.model}{'' if part.name == 'rows' else f' {part.name}'}"
    if part.note:
        if not failures_only:
            yield f"{name}: not run: {part.note}"
        return
    counts = part.replayed.counts
    if not failures_only:
        told = [f"{counts[verdict]:,} {verdict}" for verdict in VERDICTS if counts[verdict]]
        told += [f"{count:,} not run ({reason})" for reason, count in part.not_run.items()]
        size = (
            f"{len(part.table.states):,} local states x {len(part.table.events):,} events" if part.table else part.what
        )
        yield f"{name}: {'ok' if part.ok else 'FAILS'}: {', '.join(told) or 'nothing was run'}: {size}"
    for wrong in part.wrong:
        yield f"FAILS {name}: {wrong}"
    groups = sorted(part.replayed.groups.values(), key=lambda group: -group.count)
    for group in groups[:_SHOWN]:
        yield (
            f"FAILS {name}: {group.verdict}: {group.event}, {group.count:,} {part.what}, such as "
            f"{group.first.row}{places.of(group.event)}"
        )
        if part.table is not None:
            yield group.first.text(part.table, part.again)
    if len(groups) > _SHOWN:
        yield f"FAILS {name}: and {len(groups) - _SHOWN} kinds of failures more"
    if counts["skipped"]:
        yield f"FAILS {name}: {counts['skipped']:,} {part.what} were skipped, and none of them passed"


# Rows


def rows(port: Port, part: Part, asked: Asked, places: Sequence[int] | None = None) -> list[int]:
    """Ask for all rows, or those at `places`, numbers from 0, and judge them; give the places that passed."""
    table = asked.table
    width = len(table.events)
    passed: list[int] = []
    jobs = range(len(table)) if places is None else places

    def judge(place: int, answers: Sequence[Answer]) -> None:
        failure = asked.verdict(place, answers[0])
        if failure is None:
            passed.append(place)
        else:
            part.replayed.add(failure, str(table.events[place % width]["type"]))

    def lost(place: int, _request: int, gone: Gone) -> None:
        before = table.states[place // width]
        failure = Failure(place + 1, gone.verdict, "", before, (), str(gone))
        part.replayed.add(failure, str(table.events[place % width]["type"]))

    left = port.run(jobs, lambda place: (asked.request(place),), judge, lost)
    part.replayed.counts["skipped"] += left
    part.replayed.counts["pass"] += len(passed)
    return passed


# Start


def starts(port: Port, part: Part, table: StepTable) -> None:
    """Hold the start of each member against `Start`."""
    if not port.can("start", "read"):
        part.note = "the adapter cannot start and read"
        return
    members = [*table.starts]

    def requests(at: int) -> Sequence[str]:
        return f'"do":"start","member":"{members[at]}"}}', f'"do":"read","member":"{members[at]}"}}'

    def judge(at: int, answers: Sequence[Answer]) -> None:
        wanted = table.starts[members[at]]
        try:
            port.judge.done(answers[0])
            got = port.judge.kept(answers[1])
        except WrongAnswerError as error:
            part.wrong.append(f"start({members[at]}): {error.verdict}: {error}")
        else:
            if identical(got, wanted):
                part.replayed.counts["pass"] += 1
            else:
                changes = "; ".join(change.text() for change in diff(wanted, got))
                part.wrong.append(f"Start({members[at]}) -> its start: {changes}")

    def lost(at: int, _request: int, gone: Gone) -> None:
        part.wrong.append(f"start({members[at]}): {gone.verdict}: {gone}")

    left = port.run(range(len(members)), requests, judge, lost)
    if left:
        part.wrong.append(f"{left} members were not started")


# Kept states


def kept(port: Port, part: Part, asked: Asked, right: Sequence[int]) -> None:
    """Ask again for the rows that are `right`, on kept states, and for each on a state that the port gave.

    A port that remembers more than its state, or changes a state in place, gives something else then.
    """
    if not right:
        part.note = "no row is right"
        return
    random = Random(_SEED)  # noqa: S311 - the same every time
    order = random.sample(right, len(right))
    if not port.can("keep"):
        _again(port, part, asked, order)
        return
    plan = _Plan(asked, order)

    def judge(_job: int, answers: Sequence[Answer]) -> None:
        for (kind, what), told in zip(plan.kinds, answers, strict=True):
            _judge_kept(port, asked, part, kind=kind, what=what, told=told)

    def lost(_job: int, request: int, gone: Gone) -> None:
        kind, what = plan.kinds[request]
        where = f"row {what + 1}" if kind == _STEP else f"{kind} of a state"
        part.wrong.append(f"{gone.verdict}: {where}, on kept states: {gone}")

    port.run((0,), lambda _: plan.requests, judge, lost)


def _again(port: Port, part: Part, asked: Asked, order: Sequence[int]) -> None:
    """Of an adapter that keeps nothing, only the order of rows shows this."""
    rows(port, part, asked, order)
    for group in part.replayed.groups.values():
        reason = f"right in order, and wrong in another: {group.first.reason}".rstrip(": ")
        group.first = evolve(group.first, reason=reason)


_KEEP: Final = "keep"
_STEP: Final = "step"
_READ: Final = "read"


class _Plan:
    """Requests on kept states, and what each is: a number kept, a row's place, a number and its state."""

    def __init__(self, asked: Asked, order: Sequence[int]) -> None:
        table = asked.table
        width = len(table.events)
        self.requests: list[str] = []
        self.kinds: list[tuple[str, Any]] = []
        self._number = len(table.states)
        known = {state: at for at, state in enumerate(asked.states)}
        given: dict[int, int] = {}  # the state of the table -> the number under which the port has its own
        reads: list[tuple[int, str]] = [*enumerate(asked.states)]
        for at, state in enumerate(asked.states):
            self._add(_KEEP, at, f'"do":"keep","keep":{at},"state":{state}}}')
        for place in order:
            number = self._step(asked, place, place // width)
            if number is not None:
                text = asked.next_state(place)
                reads.append((number, text))
                if text in known:
                    given.setdefault(known[text], number)
        for place in order:
            if place // width in given:
                number = self._step(asked, place, given[place // width])
                if number is not None:
                    reads.append((number, asked.next_state(place)))
        for number, text in reads:
            self._add(_READ, text, f'"do":"read","at":{number}}}')

    def _add(self, kind: str, what: Any, request: str) -> None:  # noqa: ANN401 - as `kinds` says
        self.kinds.append((kind, what))
        self.requests.append(request)

    def _step(self, asked: Asked, place: int, at: int) -> int | None:
        """Ask for a row at a kept state; the number of the next state, which is kept where it is handled."""
        event = asked.events[place % len(asked.events)]
        if asked.table.cells[place] < HANDLED:
            self._add(_STEP, place, f'"do":"step","at":{at},"event":{event}}}')
            return None
        number, self._number = self._number, self._number + 1
        self._add(_STEP, place, f'"do":"step","at":{at},"event":{event},"keep":{number}}}')
        return number


def _judge_kept(
    port: Port,
    asked: Asked,
    part: Part,
    *,
    kind: str,
    what: Any,  # noqa: ANN401 - as `_Plan.kinds` says
    told: Answer,
) -> None:
    if kind == _STEP:
        failure = asked.verdict(what, told)
        if failure is None:
            part.replayed.counts["pass"] += 1
            return
        reason = f"right when the state is given, and wrong when it is kept: {failure.reason}".rstrip(": ")
        event = str(asked.table.events[what % len(asked.table.events)]["type"])
        part.replayed.add(evolve(failure, reason=reason), event)
        return
    try:
        if kind == _KEEP:
            port.judge.done(told)
            return
        got = port.judge.kept(told)
    except WrongAnswerError as error:
        _first(part, f"{error.verdict}: {kind} of a state: {error}")
        return
    if port.judge.state(got) != what:
        wanted = port.judge.read_state(what)
        changes = "; ".join(change.text() for change in diff(wanted, got))
        _first(part, f"a state that was kept is another one at the end, changed in place: {changes}")


def _first(part: Part, text: str) -> None:
    """Note what is wrong; of many such the first few."""
    if len(part.wrong) < _SHOWN:
        part.wrong.append(text)
    elif len(part.wrong) == _SHOWN:
        part.wrong.append("and more of that")
