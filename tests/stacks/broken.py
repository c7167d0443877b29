"""Twenty broken cores over all layers, and how many of them a simulation of the whole stack notices.

Each is one change of a core's text. `python -m tests.stacks.broken [NAME...]` runs 200,000 events of each.
Those that are not noticed have an entry in `LEFT`: why, and whose rows notice them (`groupcomm conform`).
"""

import ast
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Final

from attrs import frozen

from groupcomm_simulator.running import simulate
from groupcomm_simulator.setup import Setup

EVENTS: Final = 200_000


@frozen
class Broken:
    """A core in which `old` is `new`. `guard`: what is off, by its name in the specification."""

    name: str
    layer: str
    guard: str
    old: str
    new: str

    @property
    def module(self) -> ModuleType:
        """The core."""
        return import_module(f"groupcomm.{self.layer}")

    def functions(self) -> list[ast.stmt]:
        """Return the functions that differ. ValueError unless the text is there once."""
        text = Path(str(self.module.__file__)).read_text(encoding="utf-8")
        if text.count(self.old) != 1:
            raise ValueError(f"{self.name}: {self.layer}.py has {text.count(self.old)} times {self.old!r}")
        before, after = (ast.parse(each).body for each in (text, text.replace(self.old, self.new)))
        return [new for old, new in zip(before, after, strict=True) if ast.dump(old) != ast.dump(new)]

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """Put the changed functions into the module, for every user of it."""
        module = self.module
        kept = {str(getattr(each, "name", "")): each for each in self.functions()}
        former = {name: getattr(module, name) for name in kept}
        exec(compile(ast.Module([*kept.values()], []), self.name, "exec"), module.__dict__)  # noqa: S102
        try:
            yield
        finally:
            for name, function in former.items():
                setattr(module, name, function)


BROKEN: Final = (
    Broken(
        "table_not_sent_again", "sequencer", "ResendsTable", "again = (*effects, *_resent(after))", "again = effects"
    ),
    Broken(
        "early_forwards_lost",
        "sequencer",
        "KeepsEarly",
        "if is_early:\n        return evolve(state, early=(*state.early, message)), ()",
        "if is_early:\n        return state, ()",
    ),
    Broken(
        "departed_forgotten",
        "sequencer",
        "RemembersAll",
        "received = state.received_table.put(tag.sender, mark)",
        "received = ReceivedTable(tuple((m, k) for m, k in state.received_table.items() if m in "
        "state.view.members)).put(tag.sender, mark)",
    ),
    Broken(
        "latch_open",
        "flush",
        "Latch",
        "_reporting((evolve(back, latched=True), ()))",
        "_reporting((evolve(back, latched=False), ()))",
    ),
    Broken(
        "nothing_held_back",
        "flush",
        "Freeze",
        "hold: Effects = () if state.frozen else (PassDown(HoldBack(state.delivered)),)",
        "hold: Effects = ()",
    ),
    Broken(
        "not_reconciled",
        "flush",
        "Reconcile",
        "if all(report == target for report in run.reports.values()):",
        "if True:",
    ),
    Broken(
        "not_rechecked",
        "flush",
        "Recheck",
        "return _maybe_done(evolve(state, run=evolve(run, want=run.want - {member}, reports=reports)))\n\n\n# Every member",
        "return evolve(state, run=evolve(run, want=run.want - {member}, reports=reports)), ()\n\n\n# Every member",
    ),
    Broken(
        "deferred_flush_lost",
        "flush",
        "MaybeTake",
        "if first is None or not state.is_free:\n        return state, ()",
        "if True:\n        return state, ()",
    ),
    Broken(
        "one_resume_for_all",
        "flush",
        "Resume",
        "return (without, ()) if without.wants else _ending(_resume_all(without))",
        "return _ending(_resume_all(without))",
    ),
    Broken(
        "answered_before_acks",
        "gms",
        "JoinRspAfterAcks",
        "awaits=olds, owed=decision.joiners)\n    return proceed(announcing, (*_installed(decision), *views, *released))",
        "awaits=olds | decision.joiners)\n    answers = _send_all(decision, decision.joiners, JoinRsp(decision))\n"
        "    return proceed(announcing, (*_installed(decision), *views, *released, *answers))",
    ),
    Broken(
        "seniors_not_refused",
        "gms",
        "RefuseSeniors",
        "refused = query.seniors & state.decision.before(sender)",
        "refused = frozenset()",
    ),
    Broken("any_view_installed", "gms", "PredecessorCheck", "if decision.follows != state.decision.id:", "if False:"),
    Broken("dead_awaited", "gms", "Struck", "awaits=state.awaits - {member}, ", ""),
    Broken(
        "counter_above_own",
        "merge",
        "CounterAbove",
        "max(decision.id.counter for decision in decisions) + 1",
        "state.decision.id.counter + 1",
    ),
    Broken(
        "last_digest_taken",
        "merge",
        "GreatestOf",
        "found[member] = max(number, found.get(member, number))",
        "found[member] = number",
    ),
    Broken(
        "second_leader_replaces_first",
        "merge_gms",
        "OneLeader",
        "if isinstance(state.wish, MergeReqReceived) and state.wish.sender != event.sender:",
        "if False:",
    ),
    Broken(
        "questions_kept_for_ever",
        "merge_gms",
        "AnswerEarly",
        "ready = [word for word in state.early if not _is_early(state, word)]",
        "ready: list[Early] = []",
    ),
    Broken(
        "windows_not_added",
        "merge_gms",
        "WindowsAdded",
        "        case WindowsAdded() | DigestPromised() | PromiseWithdrawn():\n            return state, (PassDown(event),)",
        "        case WindowsAdded():\n            return state, ()\n"
        "        case DigestPromised() | PromiseWithdrawn():\n            return state, (PassDown(event),)",
    ),
    Broken("one_vote_missing", "stable", "AllVotes", "if counted.heard_from:", "if len(counted.heard_from) > 1:"),
    Broken(
        "votes_for_received",
        "stable",
        "SentVoteWithinDelivered",
        "vote = state.vote if state.promised else event.digest.delivered",
        "vote = state.vote if state.promised else event.digest.received",
    ),
)


@frozen
class Left:
    """Why 200,000 events do not notice a core, and the model whose rows do; "" where it is a test of its own."""

    model: str
    why: str


LEFT: Final[Mapping[str, Left]] = {
    "departed_forgotten": Left(
        "majority_parts", "a member must leave, come back by a merge, and send again what it sent"
    ),
    "answered_before_acks": Left("join", "a coordinator must crash between its answer and the last ACK"),
    "seniors_not_refused": Left("false_suspicion", "who is refused must then not hear of its exclusion by another way"),
    "second_leader_replaces_first": Left("three_crash", "two leaders must ask while the group is being stopped"),
}
"""Of the cores here. The reasons are read off the change, and no run has shown them."""


def noticed(cores: tuple[Broken, ...], names: list[str], setup: Setup, left: Mapping[str, Left] = LEFT) -> None:
    """Simulate a stack with each of the cores, or those of some names, and print what is noticed."""
    found = 0
    chosen = [each for each in cores if not names or each.name in names]
    for each in chosen:
        with each.in_place():
            outcome = simulate(setup, events=EVENTS, seed=1)
        found += outcome.found is not None
        claim = "not noticed" if outcome.found is None else outcome.found.claim
        model = left[each.name].model if outcome.found is None and each.name in left else ""
        rows = f"  but by the rows of {model}" if model else ""
        print(f"{each.layer:10} {each.name:30} {claim:22} {outcome.events:9,}{rows}", flush=True)  # noqa: T201
    print(f"{found} of {len(chosen)} are noticed within {EVENTS:,} events")  # noqa: T201


if __name__ == "__main__":
    noticed(BROKEN, sys.argv[1:], Setup())
