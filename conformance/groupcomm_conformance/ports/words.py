"""The transition table of a protocol in words, with the conditions.

The words have the comment above the operator of an event, its text, and every way that its rows go: how they end, which
fields change, which effects come in which order, and a row of each.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from attrs import frozen

from groupcomm_conformance.models.instruments import OUTCOMES
from groupcomm_conformance.models.manifest import Manifest
from groupcomm_conformance.models.modules import read_modules
from groupcomm_conformance.steps.table import HANDLED

_ARM: Final = re.compile(r'e\.type = "(\w+)"\s*->\s*(.*?)(?=\n\s*\[\]|\Z)', re.DOTALL)
_CALLED: Final = re.compile(r"\b(\w+)\(s, e\)")

_Ways: TypeAlias = Mapping[str, Mapping[tuple[str, str, str], list[Any]]]

_HEAD: Final = """\
From the tables of local steps. Each line is a way that rows go, with their number and the first of them
(`python3 row.py PROTOCOL/MODEL.json N` shows it). When a way is taken is said above the lines, and in full by
the operator, whose text is in spec/ with all that it names. A step that is not handled changes nothing and has no
effects."""


@frozen
class Arm:
    """The operator by which `Step` handles an event: its place (`Flush.tla:312`), its comment, and its text.

    Before its text is what `Step` asks first, if anything, with the operators that it names.
    """

    operator: str
    place: str
    sentence: str
    text: str = ""


def arms(manifest: Manifest) -> dict[str, Arm]:
    """Find the operator of each event in `Step` of a protocol."""
    modules = read_modules(manifest.folders, manifest.module)
    step = modules.definition("Step")
    found: dict[str, Arm] = {}
    for event, arm in _ARM.findall(step[1]) if step else ():
        named = [
            (operator, where)
            for operator in _CALLED.findall(arm)
            if (where := modules.definition(operator)) is not None
        ]
        if named:
            operator, where = named[-1]
            said = modules.sentence(operator)
            texts = [_written(modules.texts[file].splitlines(), line - 1) for _, (file, _, line) in named]
            before = [] if arm.startswith(f"{operator}(") else [arm]
            found[event] = Arm(
                operator, f"{where[0]}.tla:{where[2]}", said[0] if said else "", "\n\n".join([*before, *texts])
            )
    return found


def _written(lines: Sequence[str], at: int) -> str:
    """Give an operator as it is written, from its line to the empty line or the comment at the margin after it."""
    end = next((n for n in range(at + 1, len(lines)) if not lines[n].strip() or lines[n][0] != " "), len(lines))
    return "\n".join(lines[at:end])


def transitions(manifest: Manifest, schema: Mapping[str, Any], files: Mapping[str, bytes]) -> str:
    """Write the table as Markdown from the files of models (`vector_files`)."""
    ways: dict[str, dict[tuple[str, str, str], list[Any]]] = {}
    for model, data in files.items():
        told = json.loads(data)
        for event, way, row in _ways(told):
            known = ways.setdefault(event, {}).setdefault(way, [0, f"{model} {row}"])
            known[0] += 1
    return "\n".join(_lines(manifest, schema, ways))


def _lines(manifest: Manifest, schema: Mapping[str, Any], ways: _Ways) -> Iterator[str]:
    yield f"# {manifest.protocol}: what each event does\n"
    yield _HEAD
    places = arms(manifest)
    for event, found in sorted(ways.items()):
        fields = [name for name in schema["$defs"].get(event, {}).get("properties", {}) if name != "type"]
        yield f"\n## {event}({', '.join(fields)})\n"
        if event in places:
            arm = places[event]
            yield f"`{arm.operator}`, {arm.place}. {arm.sentence}".rstrip() + "\n"
            yield f"```tla\n{arm.text}\n```\n"
        yield "| ends | fields that change | effects, in this order | rows | first |"
        yield "| --- | --- | --- | --- | --- |"
        for (outcome, changes, effects), (count, first) in sorted(found.items()):
            yield f"| {outcome} | {changes} | {effects} | {count:,} | {first} |"
    yield ""


def _ways(told: Mapping[str, Any]) -> Iterator[tuple[str, tuple[str, str, str], int]]:
    """Give each row of a model: its event, its way in words, its number."""
    kinds = [kind(effect) for effect in told["effects"]]
    handled = [
        (OUTCOMES[HANDLED], ", ".join(sorted(changes)), ", ".join(kinds[at] for at in effects))
        for changes, effects in told["results"]
    ]
    events = [str(event["type"]) for event in told["events"]]
    for at, cells in enumerate(told.get("rows", ())):
        for number, cell in enumerate(cells):
            way = handled[cell - HANDLED] if cell >= HANDLED else (OUTCOMES[cell], "", "")
            yield events[number], way, at * len(cells) + number + 1


def kind(effect: Mapping[str, Any]) -> str:
    """Name an effect: its type, with that of the message or event in it."""
    inner = (str(each.get("type", "")) for each in effect.values() if isinstance(each, dict))
    return "/".join((str(effect["type"]), *inner))
