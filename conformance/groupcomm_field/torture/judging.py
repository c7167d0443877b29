"""What a campaign has done, judged: logs, events of applications, and their states."""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from groupcomm.effects import PassUp
from groupcomm.events import Deliver, ViewInstalled
from groupcomm.view import Address
from groupcomm_field.logs.claims import judge
from groupcomm_field.logs.replaying import Life, replayed
from groupcomm_runtime.transfer import numbered

from .outcome import Outcome, logs_of


def judge_logs(outcome: Outcome, logs: Path, progress: Callable[[str], None]) -> None:
    """Hold the logs of all incarnations against the stack, and against each other."""
    taken, lives = _taken(logs.parent / "taken"), []
    paths = logs_of(logs, frozenset(outcome.killed))
    for at, path in enumerate(paths):
        progress(f"log {at + 1} of {len(paths)}")
        life = replayed(path, path.read_bytes(), killed=path.stem in outcome.killed, most=0)
        outcome.found += _compared(life, taken.pop(life.member, []), outcome.survivors)
        lives.append(life.brief())
    outcome.found += (f"an application took events of {each or 'no member'}, which has no log" for each in taken)
    progress("all logs together")
    judged = judge(lives, outcome.survivors)
    if outcome.campaign.state and outcome.survivors:
        outcome.found += _states(logs.parent, outcome)
    outcome.incarnations, outcome.steps = len(lives), sum(len(life.steps) for life in lives)
    outcome.judged += judged.counts
    outcome.found += map(str, judged.rejected)


def _taken(folder: Path) -> dict[Address, list[str]]:
    """Give the events that the applications of all incarnations took, as they wrote them."""
    taken: defaultdict[Address, list[str]] = defaultdict(list)
    for path in sorted(folder.iterdir()):
        own = ""
        for line in path.read_text(encoding="utf-8").splitlines():
            kind, who, what = line.split()
            own = who if kind == "view" else own
            taken[own].append(f"view {what}" if kind == "view" else f"message {who} {what}")
    return taken


def _compared(life: Life, took: list[str], survivors: Collection[Address]) -> Iterator[str]:
    """Hold the events that an application took against the effects of its stack.

    It has taken a part of them, from the first on. A survivor has taken all messages. A process that cannot write its
    log may have taken more than its log says.
    """
    log, had = life.log, [*_passed_up(life)]
    if life.ends is None:
        took = took[: len(had)]
    if took != had[: len(took)]:
        at = next(at for at, one in enumerate(took) if at == len(had) or one != had[at])
        yield f"{log}: event {at + 1} of the application is {took[at]!r}, not that of its stack"
    lacks = [each for each in had[len(took) :] if each.startswith("message")]
    if life.member in survivors and lacks:
        yield f"{log}: the application of a survivor has not had {len(lacks)} messages"


def _states(folder: Path, outcome: Outcome) -> Iterator[str]:
    """At the end survivors have one state, no message is twice in it, and with `majority` all are that were safe.

    A state that was declared may lack some that were safe before.
    """
    states = {each: json.loads((folder / "states" / each).read_bytes()) for each in outcome.survivors}
    first = outcome.survivors[0]
    outcome.judged["states"] += len(states)
    yield from (f"{each} and {first} have other states" for each in states if states[each] != states[first])
    names = Counter(states[first])
    if twice := sum(number > 1 for number in names.values()):
        yield f"{twice} messages are twice in the state of {first}"
    if outcome.campaign.majority:
        safe = sent(folder)
        outcome.judged["safe, and in the state"] += len(safe)
        missing = [name for name in safe if name not in names]
        lost = [name for name in missing if name not in outcome.before_declaration]
        if outcome.judged["states declared"]:
            outcome.judged["safe, and lost by a declaration"] += len(missing) - len(lost)
        if lost:
            yield f"{len(lost)} messages were safe, and are not in the state of {first}: {lost[0]} is the first"


def sent(folder: Path) -> list[str]:
    """The messages of which `send` has returned, below the folder of a campaign."""
    return [line for path in sorted((folder / "sent").iterdir()) for line in path.read_text().split()]


def _passed_up(life: Life) -> Iterator[str]:
    """Give the events that a stack passed to its application, as the application writes them."""
    for step in life.steps:
        for effect in step.effects:
            match effect:
                case PassUp(ViewInstalled(view)):
                    yield f"view {view.id.counter}/{view.id.creator}"
                case PassUp(Deliver(sender, bytes(payload))):
                    for data in numbered(payload)[1]:
                        yield f"message {sender} {data.decode().split()[0]}"
                case _:
                    pass
