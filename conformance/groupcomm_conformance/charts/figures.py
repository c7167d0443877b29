"""Figures for documents, as SVG: SEQUENCER in five parts of the story that `demo sequencer` draws, and the stack.

Time goes down, a lane is a member. An arrow is a message with its payload, at the step that receives it; below
stands what the step passes to the application. A message of a crashed member is another's copy of it, so no
arrow leaves the dead. The same sources give the same text.
"""

import re
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Final

from attrs import frozen

from groupcomm_conformance.files import strict_yaml
from groupcomm_conformance.models.manifest import LAYERS
from groupcomm_conformance.tla.readable import act_of, brief, delivery, named_effect
from groupcomm_conformance.tla.values import Fn

from .schedule import Step, steps_of
from .story import LIFE, PARTED, parted, story

__all__ = ["FOLDER", "figures"]

FOLDER: Final = Path("docs", "figures")
_SEED: Final = 1
_WIDTH: Final = 460
_MARGIN: Final = 80
_LINE: Final = 17
_FIT: Final = 56
"""Characters of a line in a box of the stack."""
_STYLE: Final = """\
<style>
.fig-paper { fill: #ffffff }
.fig-text { fill: #1b1f24; font: 13px system-ui, sans-serif }
.fig-name { font-weight: 600; font-size: 15px }
.fig-soft { fill: #57606a; font-size: 12px }
.fig-line { stroke: #1f5fa8; stroke-width: 1.6; fill: none }
.fig-head { fill: #1f5fa8 }
.fig-lane { stroke: #b6bec8; stroke-width: 1.2 }
.fig-box { fill: #eef3f9; stroke: #b6bec8 }
.fig-halo { paint-order: stroke; stroke: #ffffff; stroke-width: 5px; stroke-linejoin: round }
@media (prefers-color-scheme: dark) {
.fig-paper { fill: #14181d }
.fig-text { fill: #e6eaef }
.fig-soft { fill: #a3adb8 }
.fig-line { stroke: #7db4f0 }
.fig-head { fill: #7db4f0 }
.fig-lane { stroke: #48515c }
.fig-box { fill: #1f2730; stroke: #48515c }
.fig-halo { stroke: #14181d }
}
</style>"""


@frozen
class _Part:
    """A part of SEQUENCER's chart: from the first step of its first action to the last step before its end.

    An action is named with the member that takes it, `SendRequested B`, and with how often it has come by then.
    """

    title: str
    begins: tuple[str, int]
    ends: tuple[str, int]


_PARTS: Final = {
    "order": _Part("A, the coordinator, orders a message of B", ("SendRequested B", 1), ("SendRequested A", 1)),
    "lost": _Part("A crashes with B's FORWARD b/2", ("SendRequested B", 2), ("DataReceived C", 2)),
    "failover": _Part("B sends b/2 again in the next view, and C orders it", ("Crash A", 1), ("Partition ", 1)),
    "partition": _Part(
        "B and C are parted: each orders for itself, and then B for both", ("Partition ", 1), ("end", 1)
    ),
}
_MAJORITY: Final = _Part(
    "With a majority alone: B waits until it is with the others again", ("Partition ", 1), ("end", 1)
)


def figures(root: Path) -> dict[str, str]:
    """Draw all figures: the file's name and its text. FileError where spec/common/layers.yaml is amiss."""
    life = steps_of(LIFE, _SEED, story(_SEED), "sequencer")
    drawn = {f"sequencer-{name}.svg": _sequence(part.title, _cut(life, part)) for name, part in _PARTS.items()}
    primary = steps_of(PARTED, _SEED, parted(_SEED), "sequencer")
    drawn["sequencer-majority.svg"] = _sequence(_MAJORITY.title, _cut(primary, _MAJORITY))
    return drawn | {"stack.svg": _stack(root)}


def _cut(steps: Sequence[Step], part: _Part) -> list[Step]:
    """Give the steps of a part; ValueError where the chart has none."""
    came: dict[str, int] = {}
    found: list[Step] = []
    for step in steps:
        act = act_of(step)
        name = f"{step.action.partition(':')[0]} {act['member'] if act else ''}"
        came[name] = came.get(name, 0) + 1
        if found and (name, came[name]) == part.ends:
            return found
        if found or (name, came[name]) == part.begins:
            found.append(step)
    if not found or part.ends[0] != "end":
        raise ValueError(f"the story of seed {_SEED} has no part {part.title!r}")
    return found


def _sequence(title: str, steps: Sequence[Step]) -> str:
    body: list[str] = []
    there = 64
    crashed: dict[str, int] = {}
    names = sorted({member for step in steps for member in _members(step)})
    gap = (_WIDTH - 2 * _MARGIN) // max(1, len(names) - 1)
    at = {name: _MARGIN + gap * place for place, name in enumerate(names)}
    for step in steps:
        act = act_of(step)
        member = brief(act["member"]) if act else ""
        if act is None or member not in at:
            body.append(_text(_WIDTH // 2, there, step.action, "fig-text fig-soft fig-halo"))
            there += 2 * _LINE
            continue
        came = delivery(act)
        label = _label(step.action, act) if came is None else f"{_shouted(came[1])} {_payload(act['event'])}".rstrip()
        if came is not None and came[0] != member and came[0] in at and came[0] not in crashed:
            body.append(_arrow(at[came[0]], at[member], there, label))
        else:
            whose = "" if came is None else "own " if came[0] == member else f"{came[0]}'s "
            body.append(_text(at[member], there, f"{whose}{label}", "fig-text fig-halo"))
        if step.action == "Crash":
            crashed[member] = there
        for to in _lost(step, steps):
            there += 2 * _LINE
            body.append(_stub(at[member], at[to], there, f"FORWARD {_payload(act['event'])}"))
        for effect in act["effects"] if isinstance(act["effects"], tuple) else ():
            if (name := named_effect(effect)[1]) in {"PassUp Deliver", "PassUp ViewFormed"}:
                there += _LINE
                what = f"delivers {_payload(effect)}" if name == "PassUp Deliver" else "has a majority"
                body.append(_text(at[member], there, what, "fig-text fig-soft fig-halo"))
        there += 2 * _LINE
    lanes = [
        f'<line class="fig-lane" x1="{x}" x2="{x}" y1="44" y2="{crashed.get(name, there) + 4}"/>'
        for name, x in at.items()
    ]
    heads = [_text(x, 36, name, "fig-text fig-name") for name, x in at.items()]
    return _svg(title, there + 4, [*lanes, *heads, *body])


def _lost(step: Step, steps: Sequence[Step]) -> list[str]:
    """Name the coordinator that a message goes to and that never gets it, as it crashes."""
    act = act_of(step)
    if act is None or step.action != "SendRequested" or not isinstance(act["effects"], tuple):
        return []
    crashed = {brief(other["member"]) for each in steps if each.action == "Crash" and (other := act_of(each))}
    return [to for each in act["effects"] if isinstance(each, Fn) and (to := str(each.get("to"))) in crashed]


def _members(step: Step) -> set[str]:
    """Name the members that take part in a step."""
    act = act_of(step)
    if act is None or not act["member"]:
        return set()
    came = delivery(act)
    return {brief(act["member"]), *((came[0],) if came is not None else ())}


def _label(action: str, act: Fn) -> str:
    """Say what a step without a message is about: the payload, the suspect, or the members of the view."""
    event = act["event"]
    fields = event if isinstance(event, Fn) else Fn({})
    match action:
        case "SendRequested":
            return f"sends {_payload(event)}"
        case "Suspected":
            return f"suspects {brief(fields['suspect'])}"
        case "ViewInstalled":
            return f"view {brief(fields['view'])}"
        case _:
            return action.lower()


def _payload(value: object) -> str:
    """Find a payload in a message, an event or an effect: `b/2`; nothing where it has none."""
    if not isinstance(value, Fn):
        return ""
    if "payload" in value:
        return brief(value["payload"]).strip('"')
    return next((found for each in value.values() if (found := _payload(each))), "")


def _arrow(start: int, end: int, y: int, label: str) -> str:
    tip = -8 if end > start else 8
    return (
        f'<line class="fig-line" x1="{start}" x2="{end + tip}" y1="{y}" y2="{y}"/>'
        f'<path class="fig-head" d="M{end} {y}l{tip} -5v10z"/>'
        + _text((start + end) // 2, y - 7, label, "fig-text fig-halo")
    )


def _stub(start: int, end: int, y: int, label: str) -> str:
    """Draw a message that is lost: an arrow that ends halfway."""
    half = (start + end) // 2
    return (
        f'<line class="fig-line" x1="{start}" x2="{half}" y1="{y}" y2="{y}"/>'
        + _text(half, y + 5, "\N{MULTIPLICATION SIGN}", "fig-text fig-halo")
        + _text(half, y - 9, label, "fig-text fig-halo")
    )


def _stack(root: Path) -> str:
    """Draw every layer, top first, with what it does in its box."""
    body = [_text(_WIDTH // 2, 20, "the application", "fig-text fig-soft")]
    y = 20
    for name, layer in strict_yaml.load(root / LAYERS, str(LAYERS)).entries("a mapping from layers").items():
        lines = _folded(layer.entries()["does"].text())
        high = 28 + _LINE * len(lines)
        y += 12
        body.append(f'<rect class="fig-box" x="12" y="{y}" width="{_WIDTH - 24}" height="{high}" rx="6"/>')
        body.append(_text(_WIDTH // 2, y + 19, name.upper(), "fig-text fig-name"))
        for place, line in enumerate(lines, 1):
            body.append(_text(_WIDTH // 2, y + 19 + _LINE * place, line, "fig-text fig-soft"))
        y += high
    y += 22
    body.append(_text(_WIDTH // 2, y, "datagrams: lost, doubled, late", "fig-text fig-soft"))
    return _svg("The layers of the stack", y + 12, body)


def _folded(text: str) -> list[str]:
    lines = [""]
    for word in text.split():
        if len(lines[-1]) + 1 + len(word) > _FIT:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


def _text(x: int, y: int, text: str, classes: str) -> str:
    return f'<text class="{classes}" x="{x}" y="{y}" text-anchor="middle">{escape(text)}</text>'


def _svg(title: str, height: int, body: Sequence[str]) -> str:
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}"',
            f'height="{height}" role="img" aria-label="{escape(title)}">',
            f"<title>{escape(title)}</title>",
            _STYLE,
            f'<rect class="fig-paper" width="{_WIDTH}" height="{height}" rx="8"/>',
            *body,
            "</svg>",
            "",
        )
    )


def _shouted(name: str) -> str:
    """`StartFlush` as `START_FLUSH`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).upper()
