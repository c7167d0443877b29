"""The pages of errata: each flaw that a model shows, its shortest counterexample, the repair, what proves it.

An index by protocol and by harm, which begins with `docs/errata/README.md`, and a page a protocol. An erratum
is a story: prose, the shortest counterexample that leads to its harm as a line a step, and at the end why: the
claim that is false there, and the members for which it is false. `explain` and the report have the
counterexample with all its states. All of it comes from the manifests and from TLC, and is always the same:
counterexamples are those of searches with one worker, counts are the recorded ones, which `groupcomm check`
holds TLC to.
"""

import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from os.path import lexists
from pathlib import Path
from types import MappingProxyType
from typing import Final

from attrs import frozen

from groupcomm_conformance.files import strict_yaml
from groupcomm_conformance.models.checking import CheckedModel, differences
from groupcomm_conformance.models.manifest import Counts, Erratum, Manifest, Model
from groupcomm_conformance.tla.outline import outline
from groupcomm_conformance.tla.readable import brief
from groupcomm_conformance.tla.trace import State
from groupcomm_conformance.tla.values import Fn, Value
from groupcomm_conformance.why.repaired_step import REASONS, Instead
from groupcomm_conformance.why.why import Why

from .pages import made, opening

INDEX: Final = Path("docs", "errata", "README.md")
JGROUPS: Final = Path("docs", "jgroups.md")
"""What JGroups has of each flaw, in a project that compares the two."""
ORDER: Final = Path("spec", "common", "errata.yaml")
NOTE: Final = "Flaws of the design note, in the order of its story"
OWN: Final = "Flaws of what is built here: of repairs, and of protocols put together"

_WIDTH: Final = 110
_LONG: Final = 300
_NEVER: Final = ("After state ", "The behaviour stays ", "The last step is none ")
"""How the reason of a violation of liveness begins."""
_PROTOCOL: Final = """\
Written by `groupcomm errata` from `spec/*/errata.yaml`. [All errata](README.md).

A counterexample has a line a step: its number, who takes it, the action, in brackets the message that came
and its sender, and after the arrow what follows (`all: DATA` goes to all, `B: ACK` to B). `*` marks what the
environment does. Of the first state only the views are named. `2/B` is the view with the counter 2
that B created, `[2/B: B, C]` that view with its members. The number of a view is its place in `views`.
`<<a, b>>` is a sequence.
"""


class Unproved(Exception):  # noqa: N818 - it says what the flaw is
    """A model does not show what its erratum says; the message names the model and the difference."""


@frozen
class Shown:
    """An erratum, the model that shows it, its result, why its claim is false, and what the repair does."""

    manifest: Manifest
    model: Model
    erratum: Erratum
    checked: CheckedModel
    why: Why | None
    instead: Instead | None = None

    @property
    def endless(self) -> bool:
        """True if the counterexample never ends; then TLC found it, and it may not be the shortest."""
        return self.checked.loop is not None or self.checked.stuttering


def models(manifests: Iterable[Manifest]) -> list[tuple[Manifest, Model, Erratum]]:
    """List the models that show a flaw, in the order of the page."""
    return [
        (manifest, model, model.erratum)
        for manifest in manifests
        for model in manifest.models
        if model.erratum is not None
    ]


@frozen
class Order:
    """A protocol's flaws in the order of its story: of the note, and of what is built here."""

    note: tuple[str, ...]
    own: tuple[str, ...]


def orders(root: Path, known: Mapping[str, Iterable[str]]) -> dict[str, Order]:
    """Read the order of each protocol's flaws; `known` are the flaws that its models show.

    None for a protocol that the file does not name. FileError where a flaw is missing, unknown or doubled.
    """
    if not (root / ORDER).exists():
        return {}
    found: dict[str, Order] = {}
    document = strict_yaml.load(root / ORDER, str(ORDER))
    for protocol, node in document.entries("a mapping from protocols").items():
        fields = node.fields(("note", "own"))
        note, own = (tuple(each.text() for each in fields[key].items()) for key in ("note", "own"))
        there, listed = sorted(known.get(protocol, ())), sorted((*note, *own))
        if there != listed:
            missing, more = set(there) - set(listed), set(listed) - set(there)
            raise node.error(
                f"each flaw of {protocol} once: missing {', '.join(sorted(missing)) or 'none'}, "
                f"unknown {', '.join(sorted(more)) or 'none'}"
            )
        found[protocol] = Order(note, own)
    return found


def unexplained(shown: Iterable[Shown]) -> Iterator[str]:
    """Name the flaws of which no words say why the claim is false, or for which values or how for ever."""
    for each in shown:
        why = each.why
        if why and not (why.sentence and (why.cases or why.plain.startswith(_NEVER))):
            missing = "for what" if why.sentence else "in words what"
            yield f"{each.erratum.id}: nothing says {missing} {why.claim} is false"


def pages(root: Path, shown: Iterable[Shown], order: Mapping[str, Order] = MappingProxyType({})) -> dict[Path, str]:
    """Write the index and the page of each protocol: path to text.

    Flaws are in the `order` of their protocol, or else in the manifest's. Unproved where a model does not do
    what its manifest expects.
    """
    entries = list(shown)
    for each in entries:
        if different := differences(each.model, each.checked):
            name = f"{each.manifest.protocol} {each.model.name}"
            raise Unproved(f"{name} does not show {each.erratum.id}: {different[0]}")
    protocols: dict[str, list[Shown]] = {}
    for each in entries:
        protocols.setdefault(each.manifest.protocol, []).append(each)
    parts = {protocol: _parts(own, order.get(protocol)) for protocol, own in protocols.items()}
    folder = made(INDEX).parent
    jgroups = JGROUPS.name if lexists(root / JGROUPS) else ""
    written = {made(INDEX): opening(root, INDEX, "Errata") + "\n" + _index(parts)}
    for protocol, groups in parts.items():
        lines = [f"# Errata of {protocol}\n\n{_PROTOCOL}"]
        for title, own in groups:
            lines += [*([f"{title}:", ""] if title else []), *_table(own), ""]
        sections = [_section(each, jgroups) for _, own in groups for each in own]
        written[folder / f"{protocol}.md"] = "\n".join((*lines, *sections))
    return written


def _parts(entries: Sequence[Shown], order: Order | None) -> list[tuple[str, list[Shown]]]:
    """Sort a protocol's flaws into groups with titles: of the note, and of what is built here."""
    if order is None:
        return [("", list(entries))]
    by_id = {each.erratum.id: each for each in entries}
    groups = ((NOTE, order.note), (OWN, order.own))
    return [(title, [by_id[name] for name in names]) for title, names in groups if names]


def _index(protocols: Mapping[str, list[tuple[str, list[Shown]]]]) -> str:
    every = [each for groups in protocols.values() for _, own in groups for each in own]
    lines = []
    for protocol, groups in protocols.items():
        lines += [f"## {protocol}", ""]
        for title, own in groups:
            lines += [*([f"{title}:", ""] if title else []), *_table(own, f"{protocol}.md"), ""]
    harms: dict[str, list[str]] = {}
    for each in every:
        link = f"[{each.erratum.id}]({each.manifest.protocol}.md#{_anchor(each.erratum)})"
        harms.setdefault(each.erratum.harm, []).append(link)
    lines += ["## By harm", "", "| harm | flaws |", "| --- | --- |"]
    lines += [f"| {harm} | {', '.join(links)} |" for harm, links in sorted(harms.items())]
    lines += ["", "## The repaired step", "", _counted(every)]
    return "\n".join((*lines, ""))


def _counted(entries: Sequence[Shown]) -> str:
    """Count the flaws that name a repaired step, and name the others by their reasons."""
    said = [each.instead for each in entries if each.instead is not None]
    named = sum(not each.reason for each in said)
    lines = [f"Of {len(entries)} flaws {named} name the step that the repair changes."]
    for reason, sentence in REASONS.items():
        names = [each.erratum.id for each in entries if each.instead and each.instead.reason == reason]
        lines += [f"{', '.join(names)}: {sentence}"] if names else []
    return _folded(" ".join(lines))


def first_sentence(text: str) -> str:
    """Give a text up to its first full stop."""
    return re.split(r"(?<=[.!?])\s", " ".join(text.split()), maxsplit=1)[0]


def _anchor(erratum: Erratum) -> str:
    return re.sub(r"[^\w -]", "", f"{erratum.id}: {erratum.title}".lower()).replace(" ", "-")


def _table(entries: Iterable[Shown], page: str = "") -> list[str]:
    rows = []
    for each in entries:
        erratum, count = each.erratum, len(each.checked.trace)
        length = f"{count}, for ever" if each.endless else f"{count}"
        repair = first_sentence(erratum.repair).replace("|", "\\|")
        title = erratum.title.replace("|", "\\|")
        link = f"[{erratum.id}]({page}#{_anchor(erratum)})"
        rows.append(f"| {link} {title} | {erratum.harm} | {length} | {repair} |")
    return ["| flaw | harm | states | repair |", "| --- | --- | --- | --- |", *rows]


def _section(shown: Shown, jgroups: str) -> str:
    manifest, model, erratum, checked = shown.manifest, shown.model, shown.erratum, shown.checked
    own = manifest.cfg(model).constants
    control = manifest.model(str(model.control))
    with_guard = manifest.cfg(control).constants
    off = ", ".join(f"`{name} {_side(own, name)}`" for name in model.ablates)
    on = ", ".join(f"`{name} {_side(with_guard, name)}`" for name in model.ablates)
    trace = shown.why.trace if shown.why else checked.trace
    outlined = outline(trace, back_to=checked.loop, stutters=checked.stuttering)
    outlined[0] = first_state(trace[0], outlined[0])
    proof = [_proof(manifest.model(name)) for name in erratum.proved_by if name != control.name]
    kind = "a counterexample" if shown.endless else "its shortest counterexample"
    story = f" in which `{erratum.story}` is true" if erratum.story else ""
    return "\n".join(
        (
            f"## {erratum.id}: {erratum.title}",
            "",
            _folded(erratum.flaw),
            "",
            _folded(
                f"Model `{model.name}` of {manifest.protocol} ({off}) violates `{model.violates}`; "
                f"{kind}{story} has {len(trace)} states "
                f"(`groupcomm explain {manifest.protocol} {model.name}`):"
            ),
            *(["", _folded(erratum.several)] if erratum.several else []),
            "",
            *(_folded(line, indent="    ") for line in outlined),
            "",
            *_because(shown),
            *_instead(shown),
            _folded(f"**Repair.** {erratum.repair}"),
            "",
            _folded(f"**Proof.** The same bounds with {on} hold: `{control.name}` ({_size(control)})."),
            *(["", "With the repair in place hold:", "", *proof] if proof else []),
            "",
            *([f"**In JGroups**: [its row](../{jgroups}#{erratum.id.lower()}).", ""] if jgroups else []),
        )
    )


def _because(shown: Shown) -> list[str]:
    """Say why the claim is false at the end: its sentence, and for which values."""
    why = shown.why
    if why is None:
        return []
    sentence = f": {why.sentence}" if why.sentence else "."
    lines = [_folded(f"**Why.** `{why.claim}` is false{sentence}"), ""]
    if why.cases:
        lines += [*(_folded(f"- {case}", indent="  ") for case in why.cases), ""]
    return lines + ([_folded(why.plain), ""] if why.plain else [])


def _instead(shown: Shown) -> list[str]:
    """Say what the control does instead, from the state in which the ablation departs."""
    if shown.instead is None:
        return []
    head, *parts = shown.instead.lines()
    lines = [_folded(f"**With the repair.** {head}"), ""]
    return [*lines, *(_folded(part, indent="  ") for part in parts), *([""] if parts else [])]


def first_state(state: State, line: str) -> str:
    """Write the first state; of a long one only which members have which view."""
    if len(line) <= _LONG:
        return line
    if "views" in state.values:
        return f"1. views: {brief(state.values['views'])}"
    local = state.values.get("local")
    views: dict[str, list[str]] = {}
    for member, value in local.items() if isinstance(local, Fn) else ():
        for view in dict.fromkeys(_views(value)):
            views.setdefault(view, []).append(brief(member))
    told = "; ".join(f"{', '.join(members)}: view {view}" for view, members in views.items())
    return f"1. {told}" if told else line


def _views(value: Value) -> Iterator[str]:
    """Find the current views in a member's state, of all its layers."""
    if isinstance(value, tuple):
        for item in value:
            yield from _views(item)
    elif isinstance(value, Fn):
        view = value.get("view")
        if isinstance(view, Fn) and view.get("members"):
            yield brief(view)


def _side(constants: Mapping[str, str], name: str) -> str:
    """Give the right-hand side of a constant, or of an operator that is not replaced."""
    return constants.get(name, "as the module defines it")


def _proof(model: Model) -> str:
    bounds = f" ({model.bounds})" if model.bounds else ""
    return textwrap.fill(f"- `{model.name}`: {model.shows}{bounds}; {_size(model)}.", _WIDTH, subsequent_indent="  ")


def _size(model: Model) -> str:
    counts = model.counts or Counts(0, 0, 0)
    return f"{counts.distinct:,} states, {counts.transitions:,} transitions, depth {counts.depth}"


def _folded(text: str, indent: str = "") -> str:
    return textwrap.fill(
        " ".join(text.split()), _WIDTH, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False
    )
