"""Steps in a row on a port: random walks beyond the bounds, walks of models, paths of scenarios.

Each step is asked for with its state (`step`), where the adapter can do that. A random walk begins with
`start`, so it is walked by `start` and `event` too, where the adapter can do that, and its end is read.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

from attrs import frozen

from groupcomm_conformance.beyond.drawing import walk as drawn
from groupcomm_conformance.models.instruments import OUTCOMES
from groupcomm_conformance.protocols.derive import Protocol
from groupcomm_conformance.steps.rows import Failure
from groupcomm_conformance.tla.readable import brief, diff
from groupcomm_conformance.tla.values import Fn, Value, identical
from groupcomm_conformance.walks.follow import LOCAL
from groupcomm_conformance.walks.graph import ACT

from .adapter import Answer, Gone
from .conforming import Part
from .judging import WrongAnswerError
from .plain import compact
from .port import Port
from .skipping import Skips

__all__ = ["Step", "Walk", "random_walk", "steps_of", "walked"]


@frozen
class Step:
    """A step of a member as it should be."""

    before: Value
    event: Fn
    outcome: str
    after: Value
    effects: Value


Due: TypeAlias = "Step | Value | None"
"""What a request is about: a step, the state that is to be read, or neither."""


@frozen
class Walk:
    """Steps under a name; where they are those of one member from its start, its name is `member`."""

    name: str
    steps: tuple[Step, ...]
    member: str = ""


def random_walk(protocol: Protocol, config: object, seed: int) -> Walk:
    """Draw a walk far beyond the bounds, as the core takes it.

    RuntimeError where the core has no answer: that is a finding about the core, and no port's.
    """
    of = drawn(protocol, config, seed)
    to_spec = protocol.codec.to_spec
    steps: list[Step] = []
    for each in of.steps:
        if each.outcome not in OUTCOMES:
            raise RuntimeError(f"the core of {protocol.name} raised {each.outcome} in the random walk {seed}")
        event = to_spec(each.event)
        assert isinstance(event, Fn)  # noqa: S101 - an event is a record
        before, after, effects = map(to_spec, (each.before, each.after, each.effects))
        steps.append(Step(before, event, each.outcome, after, effects))
    return Walk(f"seed {seed}", tuple(steps), of.member)


def steps_of(name: str, states: Sequence[Fn], start: Any) -> Walk:  # noqa: ANN401 - a function of the specification
    """Give the local steps of a walk of a group; `start` gives a member's first state."""
    steps: list[Step] = []
    for before, state in pairwise(states):
        act, was, now = state[ACT], before[LOCAL], state[LOCAL]
        assert isinstance(act, Fn) and isinstance(was, Fn) and isinstance(now, Fn)  # noqa: S101, PT018
        if act["outcome"] == "none":
            continue
        member = act["member"]
        event = act["event"]
        assert isinstance(event, Fn)  # noqa: S101
        given = start(member) if act.get("from_start") is True else was[member]
        steps.append(Step(given, event, str(act["outcome"]), now[member], act["effects"]))
    return Walk(name, tuple(steps))


def walked(port: Port, part: Part, walks: Iterable[Walk], skips: Skips) -> None:
    """Walk on the port; the failures of a walk have its number as their row, and its name in their reason."""
    if not port.can("step") and not port.can("start"):
        part.note = "the adapter can neither step nor start"
        return
    every = list(walks)
    plans = [[*_plan(port, each)] for each in every]

    def judge(at: int, answers: Sequence[Answer]) -> None:
        for (step, stateful, _), told in zip(plans[at], answers, strict=True):
            try:
                wrong = _wrong(port, step, told, stateful=stateful)
            except WrongAnswerError as error:
                wrong = Failure(0, error.verdict, "", (), (), str(error))
            if wrong is not None:
                _failed(part, skips, at, every[at], step=step, failure=wrong)
                return
        part.replayed.counts["pass"] += 1

    def lost(at: int, request: int, gone: Gone) -> None:
        failure = Failure(0, gone.verdict, "", (), (), str(gone))
        _failed(part, skips, at, every[at], step=plans[at][request][0], failure=failure)

    jobs = [at for at, plan in enumerate(plans) if plan]
    left = port.run(jobs, lambda at: [each[2] for each in plans[at]], judge, lost)
    part.replayed.counts["skipped"] += left


def _plan(port: Port, walk: Walk) -> Iterator["tuple[Due, bool, str]"]:
    """Give the requests of a walk, with what each is about and whether it is stateful."""
    judge = port.judge
    if port.can("step"):
        for step in walk.steps:
            yield (
                step,
                False,
                f'"do":"step","state":{judge.state(step.before)},"event":{judge.event(step.event)}}}',
            )
    if walk.member and port.can("start"):
        member = compact(walk.member)
        yield None, True, f'"do":"start","member":{member}}}'
        for step in walk.steps:
            yield step, True, f'"do":"event","member":{member},"event":{judge.event(step.event)}}}'
        if port.can("read") and walk.steps:
            yield walk.steps[-1].after, True, f'"do":"read","member":{member}}}'


def _wrong(port: Port, step: "Due", told: Answer, *, stateful: bool) -> Failure | None:
    if step is None:
        port.judge.done(told)
        return None
    if not isinstance(step, Step):
        got = port.judge.kept(told)
        return None if identical(got, step) else Failure(0, "wrong_state", "", got, ())
    outcome, after, effects = port.judge.step(told, step.before, stateful=stateful)
    alike = outcome == step.outcome or (
        {outcome, step.outcome} == {"ignored", "handled"} and (stateful or identical(after, step.after))
    )
    if not alike:
        return Failure(0, "wrong_outcome", outcome, after, effects)
    if not stateful and not identical(after, step.after):
        return Failure(0, "wrong_state", outcome, after, effects)
    return None if identical(effects, step.effects) else Failure(0, "wrong_effects", outcome, after, effects)


def _failed(part: Part, skips: Skips, at: int, walk: Walk, *, step: "Due", failure: Failure) -> None:
    event = str(step.event["type"]) if isinstance(step, Step) else "start or read"
    found = Failure(at + 1, failure.verdict, failure.outcome, failure.state, failure.effects, failure.reason)
    if (failure.verdict, event) not in part.replayed.groups:
        part.wrong.append(_told(walk, step, found))
    part.add(found, event, skips)


def _told(walk: Walk, step: "Due", failure: Failure) -> str:
    lines = [f"{failure.verdict} in {walk.name}"]
    if isinstance(step, Step):
        lines += [f"  state    {brief(step.before)}", f"  event    {brief(step.event)}"]
        if failure.outcome:
            wanted = Fn({"outcome": step.outcome, "state": step.after, "effects": step.effects})
            got = Fn({"outcome": failure.outcome, "state": failure.state, "effects": failure.effects})
            lines += ["  expected -> got", *(f"    {each.text()}" for each in diff(wanted, got))]
    elif step is not None and failure.verdict == "wrong_state":
        lines += [
            "  at its end, expected -> got",
            *(f"    {each.text()}" for each in diff(step, failure.state)),
        ]
    lines += [f"  {failure.reason}"] if failure.reason else []
    return "\n".join(lines)
