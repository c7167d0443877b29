"""`docs/errata.md`: each flaw that a model shows, its shortest counterexample, the repair, what proves it.

All of it comes from the manifests and from TLC, and is the same every time: counterexamples are those of
searches with one worker, counts are the recorded ones, which `groupcomm check` holds TLC to.
"""

import textwrap
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from groupcomm_conformance.models.checking import CheckedModel, differences
from groupcomm_conformance.models.manifest import Counts, Erratum, Manifest, Model
from groupcomm_conformance.tla.chart import chart

__all__ = ["PATH", "Unproved", "models", "page"]

PATH: Final = Path("docs", "errata.md")

_WIDTH: Final = 110
_HEAD: Final = """\
# Errata

Flaws of the design notes' algorithms, as counterexamples that TLC finds, each with its repair and what
proves the repair. Written by `groupcomm errata` from `spec/*/models.yaml`; do not edit it.

A chart has a lane for each member and time runs downwards: arrows are messages, text beside a lane is what
the member does and what follows, the indented lines are what changed.
"""


class Unproved(Exception):  # noqa: N818 - it says what the flaw is
    """A model does not show what its erratum says; the message tells the model and the difference."""


def models(manifests: Iterable[Manifest]) -> list[tuple[Manifest, Model, Erratum]]:
    """List the models that show a flaw, in the order of the page."""
    return [
        (manifest, model, model.erratum)
        for manifest in manifests
        for model in manifest.models
        if model.erratum is not None
    ]


def page(shown: Iterable[tuple[Manifest, Model, Erratum, CheckedModel]]) -> str:
    """Write the page. Unproved where a model does not do what its manifest expects."""
    parts = [_HEAD]
    for manifest, model, erratum, checked in shown:
        if different := differences(model, checked):
            raise Unproved(f"{manifest.protocol} {model.name} does not show {erratum.id}: {different[0]}")
        parts.append(_section(manifest, model, erratum, checked))
    return "\n".join(parts)


def _section(manifest: Manifest, model: Model, erratum: Erratum, checked: CheckedModel) -> str:
    own = manifest.cfg(model).constants
    control = manifest.model(str(model.control))
    with_guard = manifest.cfg(control).constants
    off = ", ".join(f"`{name} {own[name]}`" for name in model.ablates)
    on = ", ".join(f"`{name} {with_guard[name]}`" for name in model.ablates)
    drawing = chart(checked.trace, back_to=checked.loop, stutters=checked.stuttering)
    proof = [_proof(manifest.model(name)) for name in erratum.proved_by if name != control.name]
    return "\n".join(
        (
            f"## {erratum.id}: {erratum.title}",
            "",
            _folded(erratum.flaw),
            "",
            _folded(
                f"Model `{model.name}` of {manifest.protocol} ({off}) violates `{model.violates}`; "
                f"its shortest counterexample has {len(checked.trace)} states:"
            ),
            "",
            "```text",
            *drawing,
            "```",
            "",
            _folded(f"**Repair.** {erratum.repair}"),
            "",
            _folded(f"**Proof.** The same bounds with {on} hold: `{control.name}` ({_size(control)})."),
            *(["", "With the repair in place hold:", "", *proof] if proof else []),
            "",
        )
    )


def _proof(model: Model) -> str:
    bounds = f" ({model.bounds})" if model.bounds else ""
    return textwrap.fill(
        f"- `{model.name}`: {model.shows}{bounds}; {_size(model)}.", _WIDTH, subsequent_indent="  "
    )


def _size(model: Model) -> str:
    counts = model.counts or Counts(0, 0, 0)
    return f"{counts.distinct:,} states, {counts.transitions:,} transitions, depth {counts.depth}"


def _folded(text: str) -> str:
    return textwrap.fill(" ".join(text.split()), _WIDTH, break_on_hyphens=False, break_long_words=False)
