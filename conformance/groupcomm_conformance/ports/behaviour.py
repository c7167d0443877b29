"""The behaviour of vectors: which answers their rows have, however files write them.

Its version is a number. It changes if and only if a row of the last release has another answer, or is a row
no more: then a port that was right may be wrong. New rows change nothing. Where the digests of the last
release's models are those of models now, nothing has changed. Where one is not, only the rows themselves say
whether they have changed, or stand in another model: `changes` needs the last archive.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Any, Final, TypeAlias

from attrs import define, field, frozen

from groupcomm_conformance.models.instruments import OUTCOMES
from groupcomm_conformance.steps.table import HANDLED

from .plain import compact

File: TypeAlias = Mapping[str, Any]
"""A file of a model, as `json` reads it."""

_SHOWN: Final = 300
_sorted: Final = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"), sort_keys=True).encode


class _Rows:
    """The rows of a model by what they are: state and event, and the answer, as texts in canonical order."""

    def __init__(self, file: File, without: AbstractSet[str] = frozenset()) -> None:
        def text(value: Any) -> str:  # noqa: ANN401 - JSON
            return _sorted(_less(value, without) if without else value)

        self.cells: list[list[int]] = file.get("rows", [])
        self.config = text(file["config"])
        self.states = [text(each) for each in file["states"][: len(self.cells)]]
        self.events = [text(each) for each in file["events"][: len(self.cells[0]) if self.cells else 0]]
        effects = file["effects"]
        self.answers = [
            *OUTCOMES[:HANDLED],
            *(text([changes, [effects[at] for at in numbers]]) for changes, numbers in file["results"]),
        ]


def _less(value: Any, without: AbstractSet[str]) -> Any:  # noqa: ANN401 - JSON
    """Give a value without the fields of some names."""
    if isinstance(value, dict):
        return {name: _less(each, without) for name, each in value.items() if name not in without}
    return [_less(each, without) for each in value] if isinstance(value, list) else value


def digest(file: File) -> str:
    """Give the digest of a model's rows, whatever their order, and the order in which values are written."""
    rows = _Rows(file)
    order = sorted(range(len(rows.events)), key=rows.events.__getitem__)
    answers = [hashlib.sha256(text.encode()).digest() for text in rows.answers]
    whole = hashlib.sha256(_sorted([rows.config, [rows.events[at] for at in order]]).encode())
    for state, cells in sorted(zip(rows.states, rows.cells, strict=True)):
        whole.update(hashlib.sha256(state.encode()).digest())
        whole.update(b"".join(answers[cells[at]] for at in order))
    return whole.hexdigest()


@frozen
class Row:
    """A row by its model and number, from 1, with its state, its event and its answer."""

    model: str
    number: int
    state: Mapping[str, Any] = field(hash=False)
    event: Mapping[str, Any] = field(hash=False)
    answer: str


@define
class Change:
    """Rows of an event that end otherwise than before (`now` is the first of them), or are rows no more (None)."""

    event: str
    count: int
    before: Row
    now: Row | None


def changes(
    before: Mapping[str, File], now: Mapping[str, File], without: AbstractSet[str] = frozenset()
) -> list[Change]:
    """Compare the rows of a protocol's models in two archives: the changes for a port that was right before.

    `without`: names of fields that are not looked at, as one of the two has not got them. Then several rows may
    be one, which has all of their answers.
    """
    texts: dict[str, int] = {}
    known: dict[tuple[int, int, int], dict[str, tuple[str, int, str]]] = {}
    for model, number, key, answer in _all(now, texts, without):
        known.setdefault(key, {}).setdefault(answer, (model, number, answer))
    found: dict[tuple[str, bool], Change] = {}
    seen: set[tuple[int, int, int]] = set()
    for model, number, key, answer in _all(before, texts, without):
        answers = known.get(key)
        same = answers is not None and answer in answers and (bool(without) or len(answers) == 1)
        if key in seen or same:
            continue
        seen.add(key)
        row = _row(before[model], model, number, answer)
        event = str(row.event["type"])
        change = found.get((event, answers is None))
        if change is not None:
            change.count += 1
            continue
        at = None if answers is None else next(place for each, place in answers.items() if each != answer)
        found[event, answers is None] = Change(event, 1, row, None if at is None else _row(now[at[0]], *at))
    return [found[key] for key in sorted(found)]


def _all(
    files: Mapping[str, File], texts: dict[str, int], without: AbstractSet[str]
) -> Iterator[tuple[str, int, tuple[int, int, int], str]]:
    """Give each row: its model, its number, and what it is (texts by numbers); and its answer."""
    for model, file in files.items():
        rows = _Rows(file, without)
        config = texts.setdefault(rows.config, len(texts))
        states = [texts.setdefault(each, len(texts)) for each in rows.states]
        events = [texts.setdefault(each, len(texts)) for each in rows.events]
        for at, cells in enumerate(rows.cells):
            for number, cell in enumerate(cells):
                yield model, at * len(cells) + number + 1, (config, states[at], events[number]), rows.answers[cell]


def _row(file: File, model: str, number: int, answer: str) -> Row:
    at, event = divmod(number - 1, len(file["rows"][0]))
    return Row(model, number, file["states"][at], file["events"][event], answer)


# As a page


def section(number: int, release: str, found: Mapping[str, Iterable[Change]], more: Mapping[str, Iterable[str]]) -> str:
    """Write what a right port must change for a version of behaviour: `more` has lines of a protocol besides."""
    return "\n".join(_section(number, release, found, more))


def _section(
    number: int, release: str, found: Mapping[str, Iterable[Change]], more: Mapping[str, Iterable[str]]
) -> Iterator[str]:
    yield f"## Behaviour {number} (release {release})\n"
    for protocol in sorted({*found, *more}):
        lines = [f"- {each}" for each in more.get(protocol, ())]
        for each in found.get(protocol, ()):
            lines += _lines(each)
        if lines:
            yield "\n".join((f"### {protocol}\n", *lines, ""))


def _lines(change: Change) -> Iterator[str]:
    before, now = change.before, change.now
    if now is None:
        yield f"- `{change.event}`: {change.count:,} rows are gone, the first {before.model} {before.number}."
        return
    yield f"- `{change.event}`: {change.count:,} rows have another answer, the first is {now.model} {now.number}:"
    for name, told in zip(
        ("state", "event", "before", "now"),
        (compact(now.state), compact(now.event), *_unlike(before.answer, now.answer)),
        strict=True,
    ):
        yield f"  - {name}: `{told if len(told) <= _SHOWN else f'{told[:_SHOWN]}...'}`"


def _unlike(*answers: str) -> Iterator[str]:
    """Write answers; of two that are handled the fields and effects that are not the same in both."""
    handled = [json.loads(each) for each in answers if each.startswith("[")]
    for each in answers:
        if not each.startswith("["):
            yield each
            continue
        changed, effects = json.loads(each)
        if len(handled) > 1:
            (one, some), (two, others) = handled
            changed = {name: value for name, value in changed.items() if one.get(name) != two.get(name)}
            effects = effects if some != others else None
        yield f"handled {compact(changed)}{'' if effects is None else f' {compact(effects)}'}"


def shapes(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    """Say what of the values has changed, from two schemas of a protocol."""
    old, new = before["$defs"], now["$defs"]
    for name in sorted({*old, *new}):
        if name not in new or name not in old:
            yield f"There is {'a new' if name in new else 'no'} `{name}`{'' if name in new else ' any more'}."
            continue
        fields, known = new[name].get("properties", {}), old[name].get("properties", {})
        for each in sorted({*fields, *known}):
            if each not in known:
                yield f"`{name}` has a new field `{each}`."
            elif each not in fields:
                yield f"`{name}` has no field `{each}` any more."
            elif _types(fields[each]) != _types(known[each]):
                yield f"`{each}` of `{name}` has another type."


def other_fields(before: Mapping[str, Any], now: Mapping[str, Any]) -> frozenset[str]:
    """Name the fields that a record has in one of two schemas alone."""
    old, new = before["$defs"], now["$defs"]
    return frozenset(
        name
        for each in {*old} & {*new}
        for name in {*old[each].get("properties", ())} ^ {*new[each].get("properties", ())}
    )


def _types(schema: Any) -> Any:  # noqa: ANN401 - JSON
    """Give a schema without its words."""
    if isinstance(schema, dict):
        return {name: _types(each) for name, each in schema.items() if name != "description"}
    return [_types(each) for each in schema] if isinstance(schema, list) else schema
