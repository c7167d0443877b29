"""The pages: an index and one HTML file a protocol, which hold all they need and fetch nothing.

`pages` fills `index.html` and `protocol.html`, both within `layout.html`; `page.css` and `page.js` stand in
them as they are. All tables can be read without JavaScript. With it they can be filtered and sorted, and a
counterexample can be stepped through: it lies in a `template` until its story is opened, so that a browser
lays out what is looked at. The table of the state is the only thing that the script builds, from `states`.

An element that something may point to has the name of what it is: `FLAW-30` is a flaw, on the index and on
its protocol's page; `stable/note_no_reset` is a model's counterexample, and `stable/note_no_reset/7` its
seventh state.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import jinja2
from attrs import frozen
from markupsafe import Markup

from groupcomm_conformance.documents.errata import first_sentence
from groupcomm_conformance.models.checking import CheckedModel, actions, expected
from groupcomm_conformance.models.instruments import OUTCOMES
from groupcomm_conformance.models.manifest import Manifest, Model
from groupcomm_conformance.steps.conform import CONDITIONS, Conformance, lines
from groupcomm_conformance.steps.rows import VERDICTS
from groupcomm_conformance.why.repaired_step import Instead
from groupcomm_conformance.why.why import Why

from .findings import Findings
from .story import Cell, Row, Story, tell

HERE: Final = Path(__file__).parent
_OUTCOMES: Final = ("handled", *(outcome for outcome in OUTCOMES if outcome != "handled"), "none")
"""As a reader wants them; the environment's own actions end with `none`."""
_WORDS: Final = {"none": "environment"}
_SHORT: Final = 10.0
"""Seconds below which tenths are shown."""
_SPECK: Final = 0.05
"""The least share whose bar is visible."""


@frozen
class _Proof:
    """A model that must hold, and what came of it; None if it was not run."""

    model: Model
    checked: CheckedModel | None


@frozen
class Shown:
    """A model as the page shows it."""

    findings: Findings
    model: Model
    checked: CheckedModel
    expected: str
    differences: Sequence[str]
    story: Story | None
    why: Why | None
    instead: Instead | None
    ablated: Sequence[tuple[str, str, str]]

    @property
    def id(self) -> str:
        return f"{self.checked.protocol}/{self.model.name}"

    @property
    def result(self) -> str:
        """The words that the filter of the page compares."""
        return "differs" if self.differences else "ok"

    @property
    def control(self) -> "_Proof | None":
        """The model with the guard in place."""
        return None if self.model.control is None else self._proof(self.model.control)

    @property
    def proofs(self) -> list["_Proof"]:
        """The models that prove the repair, besides the control."""
        erratum = self.model.erratum
        names = erratum.proved_by if erratum else ()
        return [self._proof(name) for name in names if name != self.model.control]

    def _proof(self, name: str) -> "_Proof":
        return _Proof(self.findings.manifest.model(name), self.findings.checked.get(name))

    @property
    def states(self) -> Markup:
        """The data of the story that the script needs."""
        return _script(states(self.story)) if self.story else Markup()


@frozen
class _Protocol:
    """A protocol as the page shows it."""

    findings: Findings
    models: Sequence[Shown]

    @property
    def name(self) -> str:
        return self.findings.protocol

    @property
    def holding(self) -> list[Shown]:
        return [shown for shown in self.models if shown.model.holds]

    @property
    def ablations(self) -> list[Shown]:
        return [shown for shown in self.models if not shown.model.holds]

    @property
    def errata(self) -> list[Shown]:
        return [shown for shown in self.models if shown.model.erratum is not None]

    @property
    def stories(self) -> list[Shown]:
        """The counterexamples without an erratum; unexpected ones first."""
        told = [shown for shown in self.models if shown.story and shown.model.erratum is None]
        return sorted(told, key=lambda shown: shown.checked.outcome == shown.expected)

    @property
    def differing(self) -> list[Shown]:
        return [shown for shown in self.models if shown.differences]

    @property
    def coverage(self) -> list[tuple[str, list[tuple[str, list[str]]]]]:
        """For each action and outcome, the models that hold and in which the action had the outcome."""
        holding = [shown.checked for shown in self.holding if shown.checked.steps]
        taken = {action for checked in holding for action, _ in checked.steps}
        every = actions(self.findings.manifest)
        names = (*every, *sorted(taken.difference(every)))
        return [
            (
                action,
                [
                    (outcome, [checked.model for checked in holding if (action, outcome) in checked.steps])
                    for outcome in _OUTCOMES
                ],
            )
            for action in names
        ]

    @property
    def noted(self) -> int:
        """How many models report coverage."""
        return sum(bool(shown.checked.steps) for shown in self.holding)

    @property
    def witnesses(self) -> list[tuple[str, list[tuple[str, bool]]]]:
        """For each witness, the models asked for it that were run, and whether they reached it."""
        checked = self.findings.checked
        return [
            (witness, [(name, witness in checked[name].witnesses) for name in names if name in checked])
            for witness, names in self.findings.manifest.witnesses.items()
        ]

    @property
    def complete(self) -> bool:
        """True if all models that report coverage were run."""
        return all(gate.ok is not None for gate in self.findings.gates if gate.name == "actions")

    @property
    def all_hold(self) -> bool:
        return all(shown.checked.holds for shown in self.holding)

    @property
    def failing(self) -> bool:
        """True if something other than a model is not as it must be."""
        return not self.findings.ok and (
            any(gate.ok is False for gate in self.findings.gates)
            or not all(each.ok for each in self.findings.conformances)
            or self.passed < len(self.findings.scenarios)
        )

    @property
    def states(self) -> int:
        return sum(shown.checked.distinct for shown in self.models)

    @property
    def passed(self) -> int:
        return sum(result.outcome == "pass" for result in self.findings.scenarios)

    def share(self, shown: Shown) -> str:
        """Give a model's time as a share of the longest, from 0 to 1; a speck is nothing."""
        longest = max(each.checked.seconds for each in self.models)
        of = shown.checked.seconds / longest if longest else 0.0
        return f"{of if of > _SPECK else 0:.3f}"

    def taken(self, cells: Sequence[tuple[str, list[str]]]) -> bool:
        """Say whether an action was ever taken, or no model reports it."""
        return not self.noted or any(models for _, models in cells)

    @property
    def rows(self) -> int:
        return sum(len(each.table) for each in self.findings.conformances if each.table)

    @property
    def passing(self) -> int:
        return sum(each.replayed.counts["pass"] for each in self.findings.conformances)


def pages(
    found: Iterable[Findings], *, made: str, figures: Mapping[str, str] = MappingProxyType({})
) -> Iterator[tuple[str, str]]:
    """Give the name and the text of each page, the index last.

    `made` says of what and when it was made, `figures` are SVG by their titles.
    """
    templates = environment()
    protocols = [_Protocol(findings, [shown(findings, model) for model in findings.models]) for findings in found]
    common = {"protocols": protocols, "made": made, "css": _own("page.css"), "js": _own("page.js")}
    own = {"outcomes": _OUTCOMES, "verdicts": VERDICTS, "conditions": CONDITIONS, "complaints": _complaints}
    page = templates.get_template("protocol.html")
    for protocol in protocols:
        yield f"{protocol.name}.html", page.render(common, **own, p=protocol, ok=protocol.findings.ok)

    def every(models: Callable[[_Protocol], Iterable[Shown]]) -> list[Shown]:
        return [shown for protocol in protocols for shown in models(protocol)]

    index = templates.get_template("index.html").render(
        common,
        p=None,
        ok=all(protocol.findings.ok for protocol in protocols),
        errata=every(lambda protocol: protocol.errata),
        stories=every(lambda protocol: protocol.stories),
        holding=every(lambda protocol: protocol.holding),
        figures={title: Markup(text) for title, text in figures.items()},  # noqa: S704 - ours
    )
    yield "index.html", index


def environment(*folders: Path) -> jinja2.Environment:
    """Give the templates of these folders and of this one, with the filters that they use."""
    found = jinja2.Environment(
        loader=jinja2.FileSystemLoader([*folders, HERE]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters["seconds"] = _seconds
    found.filters["told"] = lambda name: _WORDS.get(name, name.replace("_", " "))
    found.filters["humps"] = _humps
    found.filters["first_sentence"] = first_sentence
    found.filters["count"] = lambda number: f"{number:,}"
    return found


def _own(name: str) -> Markup:
    """Read a file of ours that stands in the page as it is."""
    return Markup((HERE / name).read_text(encoding="utf-8"))  # noqa: S704 - it is ours


def states(story: Story) -> dict[str, Any]:
    """Give what the script needs of a story as plain values.

    `html` has each different cell once. The rows of `members` and `group` are `[name, cells]`. A cell is an
    index of `html`, `-1 - index` if it changed, and null where a member has none.
    """
    numbers: dict[Markup, int] = {}

    def number(cell: Cell | None) -> int | None:
        if cell is None:
            return None
        place = numbers.setdefault(cell.html, len(numbers))
        return -1 - place if cell.changed else place

    def table(rows: Sequence[Row]) -> list[object]:
        return [[row.name, [number(cell) for cell in row.cells]] for row in rows]

    scenes = [{"members": table(scene.members), "group": table(scene.group)} for scene in story.scenes]
    return {"lanes": list(story.lanes), "scenes": scenes, "html": [str(html) for html in numbers]}


def _script(value: object) -> Markup:
    """Write JSON that may stand in a `script` element."""
    text = json.dumps(value, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c").replace("&", "\\u0026"))  # noqa: S704 - these end the element


def shown(findings: Findings, model: Model) -> Shown:
    """Give a model that was run as a page shows it, with the story of its counterexample."""
    checked = findings.checked[model.name]
    story = None
    why = findings.whys.get(model.name)
    if checked.trace:
        story = tell(why.trace if why else checked.trace, back_to=checked.loop, stutters=checked.stuttering)
    return Shown(
        findings,
        model,
        checked,
        expected(model),
        findings.differences[model.name],
        story,
        why,
        findings.insteads.get(model.name),
        _ablated(findings.manifest, model),
    )


def _ablated(manifest: Manifest, model: Model) -> list[tuple[str, str, str]]:
    """Name the constants that are ablated, what they are with the guard and what they are without."""
    if model.control is None:
        return []
    own, guarded = manifest.cfg(model).constants, manifest.cfg(manifest.model(model.control)).constants
    # An operator that another one replaces is no constant: with the guard it is what the module defines.
    return [(name, guarded.get(name, "as defined"), own.get(name, "as defined")) for name in model.ablates]


def _complaints(conformance: Conformance) -> str:
    return "\n".join(lines(conformance, failures_only=True))


def _humps(name: str) -> Markup:
    """Write a name so that it may be broken before its capitals and after its underscores."""
    return Markup("<wbr>").join(re.findall(r"[A-Z]+[^A-Z_]*_*|[^A-Z_]+_*|_+", name))


def _seconds(value: float) -> str:
    """Write a duration: `0.4 s`, `12 s`, `2 min 7 s`."""
    if value < _SHORT:
        return f"{value:.1f} s"
    minutes, seconds = divmod(round(value), 60)
    return f"{minutes} min {seconds} s" if minutes else f"{seconds} s"
