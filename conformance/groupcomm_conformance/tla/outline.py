"""Outlines of behaviours: a line a step, for where a chart is too much.

A line says who took the step, the action, the message that came and its sender, and what followed:

    6. A: ReceiveFlushCompleted (FLUSH_COMPLETED from B) -> PassDown GroupStopped

A chart also has the contents of messages and the changes of states.
"""

import re
from collections.abc import Sequence

from .readable import HIDDEN, Step, act_of, brief, delivery, fields, named, named_effect, opening


def outline(steps: Sequence[Step], *, back_to: int | None = None, stutters: bool = False) -> list[str]:
    """Write a behaviour as the items of a list in Markdown, one a state; of the first the views, or else all.

    `back_to` is the state that a lasso returns to, `stutters` a behaviour that stays in its last state.
    """
    first = [line for step in steps[:1] for line in opening(step.values, HIDDEN)]
    views = [line for line in first if re.search(r"\bviews?\b", line)] or first
    lines = [f"1. {'; '.join(views)}"]
    lines += [f"{step.number}. {_line(step)}" for step in steps[1:]]
    if back_to is not None:
        lines[-1] += f", and back to state {back_to}"
    if stutters:
        lines[-1] += ", and so it stays for ever"
    return lines


def _line(step: Step) -> str:
    act = act_of(step)
    if act is None:
        return f"* {step.action}"
    outside = named(act["event"])[0] == "none"
    given = fields(act.get("given", ()), leave_out="nothing")
    came = delivery(act)
    about = ""
    if came is not None:
        own = came[0] == brief(act["member"])
        lost = ", lost" if outside and "Lose" in brief(act["action"]) else ""
        name = came[1] or "data"
        about = f" (own {name}{lost})" if own else f" ({name} from {came[0]}{lost})"
    outcome = "" if act["outcome"] in {"handled", "none"} else f": {brief(act['outcome'])}"
    effects = act["effects"] if isinstance(act["effects"], tuple) else ()
    told = (named_effect(effect) for effect in effects)
    after = ", ".join(f"all: {name}" if mark == "-->>" else name for mark, name, _ in told)
    member = brief(act["member"])
    who = f"* {member}" if outside else member
    arrow = f" -> {after}" if after else ""
    action = f"{brief(act['action'])} {given}".strip()
    return f"{who}: {action}{about}{outcome}{arrow}"
