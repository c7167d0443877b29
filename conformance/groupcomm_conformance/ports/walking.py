"""Steps in a row on a port: random walks beyond the bounds, walks of models, paths of scenarios.

Two levels. Where the adapter can `step`, each step is asked for with its state. Where it can `start`, the
members of a walk live in the adapter: each begins with `start` and the events of its prelude, gets its events
in turn, and its state is read at the end where the adapter can do that. An adapter that can do both does
both.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from random import Random
from typing import Final
from zlib import crc32

from attrs import field, frozen

from groupcomm_conformance.models.instruments import OUTCOMES
from groupcomm_conformance.protocols.derive import Protocol
from groupcomm_conformance.random_events.drawn import PORTS
from groupcomm_conformance.random_events.drawn import walk as drawn
from groupcomm_conformance.steps.rows import Failure
from groupcomm_conformance.tla.readable import brief, diff
from groupcomm_conformance.tla.values import Fn, Value, identical
from groupcomm_conformance.walks.follow import LOCAL
from groupcomm_conformance.walks.graph import ACT

from .adapter import Answer, Gone
from .conforming import Part, Places
from .judging import WrongAnswerError
from .plain import compact
from .port import Port
from .prelude import Preludes

SCALES: Final = (1, 5, 2**33)
"""What random walks have times the constants of a member: so what is more than another stays more."""

_NO_PRELUDE: Final = "the adapter cannot step, and no short way leads from start to where the walk begins"
_SEED: Final = 20_240_229
_CHUNK: Final = 10  # walks between two looks at the clock


@frozen
class Step:
    """A step of a member as it should be. `begins`: from its start. `place` says where it is written."""

    member: str
    before: Value
    event: Fn
    outcome: str
    after: Value
    effects: Value
    begins: bool = False
    place: str = ""


@frozen
class Begun:
    """A member begins anew, and no other member does anything: a step of the environment."""

    member: str
    state: Value


@frozen
class Walk:
    """Steps under a name. `members`: the prelude of each member; None where one has none.

    `firsts` and `ends`: the states of the members where it begins and at its end.
    """

    name: str
    steps: tuple[Step | Begun, ...]
    members: Mapping[str, tuple[Fn, ...]] | None = field(default=None, hash=False)
    firsts: Mapping[str, Value] = field(factory=dict, hash=False)
    ends: Mapping[str, Value] = field(factory=dict, hash=False)


@frozen
class _Prelude:
    """An event of a prelude: it is handled; what it gives is judged by the state in which the walk begins."""

    event: Fn


@frozen
class _Due:
    """The purpose of a request: a step, a state to be read, or an action to be done."""

    what: "Step | _Prelude | Value | None"
    text: str
    stateful: bool = False


def scaled(protocol: Protocol, constants: Mapping[str, Value], by: int) -> dict[str, Value]:
    """Give the constants with other numbers for those that configure a member."""
    own = {*protocol.parameters.values()}
    return {name: value * by if name in own and type(value) is int else value for name, value in constants.items()}


def random_walks(
    protocol: Protocol, constants: Mapping[str, Value], model: str, count: int, seed: int = 1
) -> Iterator[tuple[dict[str, Value], Iterator[Walk]]]:
    """Draw `count` walks of a model, some at a time; give them with the constants that they are for.

    Models draw different walks, so that all models with one configuration together search more.
    """
    begin = seed + crc32(model.encode())
    for first in range(0, count, _CHUNK):
        numbers = scaled(protocol, constants, SCALES[first // _CHUNK % len(SCALES)])
        seeds = range(begin + first, begin + min(first + _CHUNK, count))
        draw = partial(random_walk, protocol, protocol.config(numbers))
        yield numbers, map(draw, seeds)


def random_walk(protocol: Protocol, config: object, seed: int) -> Walk:
    """Draw a walk far beyond the bounds, as the core takes it.

    RuntimeError where the core has no answer: that is a finding about the core, and no port's.
    """
    of = drawn(protocol, config, seed, domain=PORTS)
    to_spec = protocol.codec.to_spec
    steps: list[Step] = []
    for each in of.steps:
        if each.outcome not in OUTCOMES:
            raise RuntimeError(f"the core of {protocol.name} raised {each.outcome} in the random walk {seed}")
        event = to_spec(each.event)
        assert isinstance(event, Fn)  # noqa: S101 - an event is a record
        before, after, effects = map(to_spec, (each.before, each.after, each.effects))
        steps.append(Step(of.member, before, event, each.outcome, after, effects))
    ends = {of.member: steps[-1].after} if steps else {}
    return Walk(f"seed {seed}", tuple(steps), {of.member: ()}, ends=ends)


def steps_of(
    name: str, states: Sequence[Fn], start: Callable[[str], Value], preludes: Preludes, places: Sequence[str] = ()
) -> Walk:
    """Give the steps of a walk of a group; `start` gives a member's first state.

    `places`: where the step that led to each state is written.
    """
    steps: list[Step | Begun] = []
    for at, (before, state) in enumerate(pairwise(states), 1):
        act, was, now = state[ACT], before[LOCAL], state[LOCAL]
        assert isinstance(act, Fn) and isinstance(was, Fn) and isinstance(now, Fn)  # noqa: S101, PT018
        if act["outcome"] == "none":
            steps += (
                Begun(str(member), local) for member, local in now.items() if not identical(local, was.get(member))
            )
            continue
        member, event, begins = str(act["member"]), act["event"], act.get("from_start") is True
        assert isinstance(event, Fn)  # noqa: S101
        given = start(member) if begins else was[member]
        place = places[at] if places else ""
        steps.append(Step(member, given, event, str(act["outcome"]), now[member], act["effects"], begins, place))
    first, last = states[0][LOCAL], states[-1][LOCAL]
    assert isinstance(first, Fn) and isinstance(last, Fn)  # noqa: S101, PT018
    ways = {str(member): preludes.of(str(member), local) for member, local in first.items()}
    known = {member: way for member, way in ways.items() if way is not None}
    ends = {str(member): local for member, local in last.items()}
    firsts = {str(member): local for member, local in first.items()}
    return Walk(name, tuple(steps), known if len(known) == len(ways) else None, firsts, ends)


def started(protocol: Protocol) -> Callable[[str], Value]:
    """Give what a member is at its start, as a value of the specification."""
    return lambda member: protocol.codec.to_spec(protocol.core.start(member))


def walked(
    port: Port, part: Part, walks: Iterable[Walk], places: Places, *, strict: bool = False, before: int = 0
) -> None:
    """Walk on the port; the failures of a walk have its number as their row, and its name in their reason.

    `before`: how many walks of the part were judged before. With `strict` once more in another order: a port
    that remembers another walk gives something else then.
    """
    if not port.can("step") and not port.can("start"):
        part.note = "the adapter can neither step nor start"
        return
    every = list(walks)
    plans = [[*_plan(port, each)] for each in every]
    live = sum(each.members is not None for each in every) if port.can("start") else 0
    part.what = f"walks, {before + live} of them from start" if live else part.what

    def judge(at: int, answers: Sequence[Answer]) -> None:
        for due, told in zip(plans[at], answers, strict=True):
            try:
                wrong = _wrong(port, due, told)
            except WrongAnswerError as error:
                wrong = Failure(0, error.verdict, "", (), (), str(error))
            if wrong is not None:
                _failed(part, places, before + at, every[at], due=due, failure=wrong)
                return
        part.replayed.counts["pass"] += 1

    def lost(at: int, request: int, gone: Gone) -> None:
        failure = Failure(0, gone.verdict, "", (), (), str(gone))
        _failed(part, places, before + at, every[at], due=plans[at][request], failure=failure)

    jobs = [at for at, plan in enumerate(plans) if plan]
    if not port.can("step"):
        nowhere = sum(each.members is None for each in every)
        if nowhere == len(every):
            part.note = _NO_PRELUDE
            return
        part.not_run |= {_NO_PRELUDE: nowhere} if nowhere else {}
    if strict:
        jobs += Random(_SEED).sample(jobs, len(jobs))  # noqa: S311 - the same every time
    left = port.run(jobs, lambda at: [each.text for each in plans[at]], judge, lost)
    part.replayed.counts["skipped"] += left


def _plan(port: Port, walk: Walk) -> Iterator[_Due]:
    """Give the requests of a walk, with what each is about."""
    judge = port.judge
    if port.can("step"):
        for step in walk.steps:
            if isinstance(step, Step):
                state, event = judge.state(step.before), judge.event(step.event)
                yield _Due(step, f'"do":"step","state":{state},"event":{event}}}')
    if walk.members is None or not port.can("start"):
        return
    for member, prelude in walk.members.items():
        yield _start(member)
        for each in prelude:
            yield _Due(_Prelude(each), _event(port, member, each), stateful=True)
    for step in walk.steps:
        if isinstance(step, Begun) or step.begins:
            yield _start(step.member)
        if isinstance(step, Step):
            yield _Due(step, _event(port, step.member, step.event), stateful=True)
    if port.can("read"):
        for member, end in walk.ends.items():
            yield _Due(end, f'"do":"read","member":{compact(member)}}}', stateful=True)


def _start(member: str) -> _Due:
    return _Due(None, f'"do":"start","member":{compact(member)}}}', stateful=True)


def _event(port: Port, member: str, event: Fn) -> str:
    return f'"do":"event","member":{compact(member)},"event":{port.judge.event(event)}}}'


def _wrong(port: Port, due: _Due, told: Answer) -> Failure | None:
    step = due.what
    if step is None:
        port.judge.done(told)
        return None
    if isinstance(step, _Prelude):
        outcome, after, effects = port.judge.step(told, (), stateful=True)
        return None if outcome == "handled" else Failure(0, "wrong_outcome", outcome, after, effects)
    if not isinstance(step, Step):
        got = port.judge.kept(told)
        return None if identical(got, step) else Failure(0, "wrong_state", "", got, ())
    outcome, after, effects = port.judge.step(told, step.before, stateful=due.stateful)
    alike = outcome == step.outcome or (
        {outcome, step.outcome} == {"ignored", "handled"} and (due.stateful or identical(after, step.after))
    )
    if not alike:
        return Failure(0, "wrong_outcome", outcome, after, effects)
    if not due.stateful and not identical(after, step.after):
        return Failure(0, "wrong_state", outcome, after, effects)
    return None if identical(effects, step.effects) else Failure(0, "wrong_effects", outcome, after, effects)


def _failed(part: Part, places: Places, at: int, walk: Walk, *, due: _Due, failure: Failure) -> None:
    step = due.what
    event = str(step.event["type"]) if isinstance(step, Step | _Prelude) else "start or read"
    found = Failure(at + 1, failure.verdict, failure.outcome, failure.state, failure.effects, failure.reason)
    first = (failure.verdict, event) not in part.replayed.groups
    part.replayed.add(found, event)
    if first:
        part.wrong.append(_failure_text(part, walk, due, found, places.of(event)))


def _failure_text(part: Part, walk: Walk, due: _Due, failure: Failure, place: str) -> str:
    step = due.what
    level = "from start" if due.stateful else "from given states"
    lines = [f"{failure.verdict} in {walk.name}, {level}"]
    if isinstance(step, _Prelude):
        lines += [f"  event    {brief(step.event)}, before the walk begins", "  expected handled"]
    elif isinstance(step, Step):
        where = f"{f' at {step.place}' if step.place else ''}{place}"
        lines += [f"  step     {step.event['type']} at {step.member}{where}"]
        lines += [f"  state    {brief(step.before)}", f"  event    {brief(step.event)}"]
        if failure.outcome:
            wanted = {"outcome": step.outcome, "effects": step.effects}
            got = {"outcome": failure.outcome, "effects": failure.effects}
            if not due.stateful:
                wanted, got = {**wanted, "state": step.after}, {**got, "state": failure.state}
            lines += ["  expected -> got", *(f"    {each.text()}" for each in diff(Fn(wanted), Fn(got)))]
    elif step is not None and failure.verdict == "wrong_state":
        lines += ["  at its end, expected -> got", *(f"    {each.text()}" for each in diff(step, failure.state))]
    lines += [f"  {failure.reason}"] if failure.reason else []
    lines += [f"  again    {part.again}"] if part.again else []
    return "\n".join(lines)
