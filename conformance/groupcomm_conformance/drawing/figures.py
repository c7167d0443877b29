"""Figures for documents, as SVG: the stack, and four parts of the schedule that `demo` draws.

A figure is a part of a chart, between two steps that predicates find. Time goes down, a lane is a member. An
arrow is a message, at the step that receives it. Below it stands what the step passes up or down; timers are
left out. The same sources give the same text.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Final

from attrs import frozen

from groupcomm_conformance.files import strict_yaml
from groupcomm_conformance.files.reading import read_text
from groupcomm_conformance.tla.readable import act_of, brief, delivery, named, named_effect
from groupcomm_simulator.setup import DATAGRAMS

from .charts import Step, steps_of
from .story import LIFE, story

__all__ = ["FOLDER", "figures", "kept"]

FOLDER: Final = Path("docs", "figures")
_LAYERS: Final = Path("spec", "common", "layers.yaml")
_SEED: Final = 1
_WIDTH: Final = 560
_MARGIN: Final = 90
_LINE: Final = 17
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
    """A part of a group's schedule, as a layer takes part in it.

    `begins` is true of its first step, `ends` of the steps from there to its last.
    """

    title: str
    layer: str
    begins: Callable[[Step], bool]
    ends: Callable[[Sequence[Step]], bool]


def _action(name: str, member: str = "") -> Callable[[Step], bool]:
    def found(step: Step) -> bool:
        act = act_of(step)
        return step.action == name and act is not None and member in ("", brief(act["member"]))

    return found


def _effect(name: str, times: int = 1) -> Callable[[Sequence[Step]], bool]:
    """Say whether the last of some steps has an effect for the time that is wanted."""

    def found(steps: Sequence[Step]) -> bool:
        return sum(any(name == each for _, each, _ in _effects(step)) for step in steps) == times

    return found


def _effects(step: Step) -> Iterator[tuple[str, str, str]]:
    act = act_of(step)
    effects = () if act is None else act["effects"]
    yield from map(named_effect, effects if isinstance(effects, tuple) else ())


_PARTS: Final = {
    "join": _Part(
        "B and C join the group of A (GMS)",
        "merge_gms",
        _action("JoinRequested", "B"),
        _effect("PassUp Resume"),
    ),
    "flush": _Part(
        "C stops the group to transfer the state (FLUSH)",
        "flush",
        lambda step: _action("Suspend", "C")(step) and step.number > _AFTER_MERGE,
        _effect("PassUp Unblock", 2),
    ),
    "failover": _Part(
        "A crashes; C fetches the message that it lacks, then the view changes (FLUSH)",
        "flush",
        _action("Crash", "A"),
        _effect("PassUp Unblock", 2),
    ),
    "merge": _Part(
        "B and C merge after a partition (merging over GMS)",
        "merge_gms",
        _action("DiscoverTimeout"),
        _effect("PassUp Resume"),
    ),
}
_AFTER_MERGE: Final = 74
"""The step of FLUSH's chart with the merged view: the first `Suspend` behind it is for the state."""


def figures(root: Path) -> dict[str, str]:
    """Draw all figures: the file's name and its text. FileError where spec/common/layers.yaml is amiss."""
    schedule = story(_SEED)
    charts = {
        layer: steps_of(LIFE, _SEED, schedule, layer) for layer in {part.layer for part in _PARTS.values()}
    }
    drawn = {"stack.svg": _stack(root)}
    for name, part in _PARTS.items():
        drawn[f"{name}.svg"] = _sequence(part.title, _cut(charts[part.layer], part))
    return drawn


def kept(root: Path) -> dict[str, str]:
    """Read the figures that a project has: their titles and texts, in the order of the story."""
    files = ((root / FOLDER / f"{name}.svg") for name in ("stack", *_PARTS))
    texts = [read_text(file, str(file.relative_to(root))) for file in files if file.is_file()]
    return {text.partition("<title>")[2].partition("</title>")[0]: text for text in texts}


def _cut(steps: Sequence[Step], part: _Part) -> list[Step]:
    """Give the steps of a part; ValueError where the schedule has none."""
    first = next((place for place, step in enumerate(steps) if part.begins(step)), None)
    for last in range(len(steps) if first is not None else 0):
        if last >= (first or 0) and part.ends(steps[first : last + 1]):
            return list(steps[first : last + 1])
    raise ValueError(f"the schedule of seed {_SEED} has no part {part.title!r}")


def _sequence(title: str, steps: Sequence[Step]) -> str:
    body: list[str] = []
    there = 64
    crashed: dict[str, int] = {}
    at = _places(steps)
    for step in steps:
        act = act_of(step)
        assert act is not None  # noqa: S101 - every step of a part has one
        member = brief(act["member"])
        lane = at[member]
        came = delivery(act)
        if came is not None and came[0] != member and came[0] in at:
            body.append(_arrow(at[came[0]], lane, there, _shouted(came[1])))
        else:
            text = _shouted(came[1]) if came is not None and came[1] else step.action
            text = f"own {text}" if came is not None and came[1] else text
            body.append(_text(lane, there, text, "fig-text fig-halo"))
        if step.action == "Crash" and named(act["event"])[0] == "none":
            crashed[member] = there
        for mark, name, _ in _effects(step):
            if mark == "-" and name.startswith("Pass"):
                there += _LINE
                direction, event = name.split(" ", 1)
                sign = "↑" if direction == "PassUp" else "↓"
                body.append(_text(lane, there, f"{sign} {event}", "fig-text fig-soft fig-halo"))
        there += 2 * _LINE
    lanes = [
        f'<line class="fig-lane" x1="{x}" x2="{x}" y1="44" y2="{crashed.get(name, there) + 4}"/>'
        for name, x in at.items()
    ]
    names = [_text(x, 36, name, "fig-text fig-name") for name, x in at.items()]
    return _svg(title, there + 12, [*lanes, *names, *body])


def _places(steps: Sequence[Step]) -> dict[str, int]:
    """Give each member that takes a step, or sends what arrives, a lane."""
    members = set()
    for step in steps:
        act = act_of(step)
        assert act is not None  # noqa: S101 - every step of a part has one
        came = delivery(act)
        members |= {brief(act["member"]), *([came[0]] if came is not None else [])}
    names = sorted(members)
    gap = (_WIDTH - 2 * _MARGIN) // max(1, len(names) - 1)
    return {name: _MARGIN + gap * place for place, name in enumerate(names)}


def _arrow(start: int, end: int, y: int, label: str) -> str:
    tip = -8 if end > start else 8
    middle = (start + end) // 2
    return (
        f'<line class="fig-line" x1="{start}" x2="{end + tip}" y1="{y}" y2="{y}"/>'
        f'<path class="fig-head" d="M{end} {y}l{tip} -5v10z"/>'
        + _text(middle, y - 7, label, "fig-text fig-halo")
    )


def _stack(root: Path) -> str:
    layers = strict_yaml.load(root / _LAYERS, str(_LAYERS)).entries("a mapping from layers")
    body: list[str] = []
    y = 20
    body.append(_text(_WIDTH // 2, y, "the application", "fig-text fig-soft"))
    for name in DATAGRAMS:
        y += 12
        body.append(f'<rect class="fig-box" x="20" y="{y}" width="{_WIDTH - 40}" height="46" rx="6"/>')
        body.append(_text(_WIDTH // 2, y + 19, name.upper().replace("_", " over "), "fig-text fig-name"))
        does = layers[name].entries()["does"].text()
        body.append(_text(_WIDTH // 2, y + 37, does, "fig-text fig-soft"))
        y += 46
    y += 22
    body.append(_text(_WIDTH // 2, y, "datagrams: lost, doubled, late", "fig-text fig-soft"))
    return _svg("The layers of the stack", y + 12, body)


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
