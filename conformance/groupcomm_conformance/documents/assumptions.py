"""The page of assumptions: what each layer assumes and gives, by which claims it is shown, and what is open.

Guarantees are modules of `spec/common`, and their conjuncts have names. A protocol's manifest names the
claims that show each conjunct that it gives. For each conjunct that it assumes, it names the models without
it. The meaning of a conjunct here is its comment in the module. Layers that are not written yet are in
`spec/common/layers.yaml`. A conjunct that a layer does not give is open, unless each layer that assumes the
guarantee has a model that holds without it.
"""

import inspect
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from groupcomm import stack as composed
from groupcomm_conformance.models.manifest import Manifest, Model
from groupcomm_conformance.models.model import NOT_ASKED, NOT_GIVEN
from groupcomm_conformance.models.modules import read_modules
from groupcomm_conformance.protocols.constants import module_of

from .budgets import budgets, lost
from .layers import Layer, above, declared, guarantee, layers
from .pages import opening

PATH: Final = Path("docs", "assumptions.md")

_TIMERS: Final = """\
A timer that is set where it is set already begins anew: set again at each message it never fires under
traffic. Neither TLC nor a simulation has a clock that would show it. So a core sets a timer only where it
is not set. Timers that it sets again, because a view begins them anew, are named in the module's `RESTARTS`;
`tests/stacks/test_timers.py` looks at simulated groups for any other."""


def page(root: Path, manifests: Iterable[Manifest]) -> tuple[str, list[str]]:
    """Write the page; and list what the cores say otherwise. FileError where a declaration is wrong."""
    manifests = [*manifests]
    stack = layers(root, manifests)
    parts = [opening(root, PATH, "Assumptions and guarantees of the layers"), *_overview(stack), ""]
    for layer in stack:
        if layer.manifest is not None:
            parts += _layer(root, stack, layer, layer.manifest)
    parts += ["## A step of a stack", "", *_semantics(), ""]
    parts += ["## Timers", "", _TIMERS, ""]
    parts += ["## Bounds", "", *_bounds(stack), ""]
    parts += ["## Open", "", *_open(root, stack), ""]
    wrong = [problem for layer in stack for problem in _core(layer)]
    return "\n".join(parts), wrong


def _overview(stack: Sequence[Layer]) -> Iterator[str]:
    yield from _head("layer", "does", "assumes", "gives", "")
    for layer in stack:
        written = "not written yet" if layer.manifest is None else f"[specification](../spec/{layer.name}/README.md)"
        gives = _code(layer.gives)
        if layer.gives_below:
            gives += "; to the layers beneath too: " + _code(layer.gives_below)
        yield f"| {layer.name} | {layer.does} | {_code(layer.assumes)} | {gives} | {written} |"


def _semantics() -> Iterator[str]:
    """Write what a composite step is, in the words of `groupcomm.stack`."""
    yield "The rest of this section is the theory of operation of `groupcomm.stack`."
    yield ""
    yield inspect.cleandoc(composed.__doc__).partition("-\n")[2]


def _layer(root: Path, stack: Sequence[Layer], layer: Layer, manifest: Manifest) -> Iterator[str]:
    yield f"## {layer.name}"
    yield ""
    for name, conjuncts in manifest.gives.items():
        modules = guarantee(root, name)
        yield f"### Gives `{name}`"
        yield ""
        yield from _head("conjunct", "meaning", "shown by the claim", "in models that hold", "refuted in")
        for conjunct, claims in conjuncts.items():
            holding = [m.name for m in manifest.models if m.holds and {*claims} <= {*manifest.cfg(m).claims}]
            refuted = [m.name for m in manifest.models if {*claims} & {*m.violated}]
            meaning = modules.meaning(name, conjunct) if modules else ""
            cells = (_code(claims), _some(holding), _some(refuted))
            if claims == NOT_GIVEN:
                cells = ("not given", "-", "-")
            yield f"| `{conjunct}` | {_cell(meaning)} | {' | '.join(cells)} |"
        yield ""
        for conjunct in _not_given([layer], name):
            if (users := above(stack, name)) and not _needing(users, name, conjunct):
                shown = (f"{user.name}, in {_code(_doing_without(user, name, conjunct))}" for user in users)
                yield f"All that assume `{name}` do without `{conjunct}`: {'; '.join(shown)}."
                yield ""
    for name, without in manifest.assumes.items():
        modules = guarantee(root, name)
        yield f"### Assumes `{name}`"
        yield ""
        yield from _head("conjunct", "meaning", "violated without it")
        for conjunct, names in without.items():
            if names != NOT_ASKED:
                meaning = modules.meaning(name, conjunct) if modules else ""
                fallen = _without(manifest.model(each) for each in names)
                yield f"| `{conjunct}` | {_cell(meaning)} | {fallen} |"
        yield ""
        if unused := [conjunct for conjunct, names in without.items() if names == NOT_ASKED]:
            yield f"Not used by {layer.name}: {_code(unused)}."
            yield ""
    if bare := [name for name in layer.assumes if name not in manifest.assumes]:
        yield f"Assumed besides, and not stated conjunct by conjunct: {_code(bare)}."
        yield ""


def _without(models: Iterable[Model]) -> str:
    """Say what models show that are without a conjunct."""
    if not (models := [*models]):
        return "not examined"
    falling = [f"`{model.violates}` (`{model.name}`)" for model in models if not model.holds]
    holding = [f"none (`{model.name}`)" for model in models if model.holds]
    return ", ".join((*falling, *holding))


def _open(root: Path, stack: Sequence[Layer]) -> Iterator[str]:
    """List the guarantees that a layer assumes and no layer is shown to give, by name."""
    assumed = dict.fromkeys(name for layer in stack for name in layer.assumes)
    anything = False
    for name in assumed:
        if given := [layer for layer in stack if layer.manifest is not None and name in layer.gives]:
            for line in _lacking(given, above(stack, name), name):
                anything = True
                yield line
            continue
        anything = True
        modules = guarantee(root, name)
        users = [layer.name for layer in above(stack, name)]
        planned = [layer.name for layer in stack if layer.manifest is None and name in layer.gives]
        what = f"- `{name}`"
        if modules is None:
            what += " (no module yet)"
        elif names := _conjuncts(stack, name):
            what += f" ({_code(names)})"
        yield f"{what}: assumed by {', '.join(users)}; no layer refines it yet{_planned(planned)}."
    for layer in stack:
        for line in _lost(layer):
            anything = True
            yield line
        for sentence in layer.open:
            anything = True
            yield f"- {layer.name}: {' '.join(sentence.split())}"
    if not anything:
        yield "Nothing: whatever a layer assumes, another is shown to give."


def _lost(layer: Layer) -> Iterator[str]:
    """Say which conjuncts a layer gives only where a budget of faults is not spent."""
    for each in lost(layer.manifest) if layer.manifest is not None else ():
        refuted = [f"`{name}` refutes {_code(those)}" for name, those in each.refuted.items()]
        seen = {name for those in each.refuted.values() for name in those}
        unshown = [name for name in each.conjuncts if name not in seen]
        but = f"; no model shows {_code(unshown)}" if unshown else ""
        said = f"{layer.name} does not give them with `{each.budget}`: {', '.join(refuted)}{but}."
        reason = layer.reasons.get(each.guarantee, {}).get(each.budget, "")
        yield f"- {_code(each.conjuncts)} of `{each.guarantee}`: {said} {' '.join(reason.split())}".rstrip()


def _bounds(stack: Sequence[Layer]) -> Iterator[str]:
    """Say what the models that hold have of each budget: how much, and what never together."""
    yield "Budgets of faults and of applications, in the models of each layer by itself that hold: the"
    yield "greatest value, the budgets that no model has together, and the budgets of no model that shows"
    yield "what the layer gives."
    yield ""
    yield from _head("layer", "greatest value", "never together", "given, but shown in no model with")
    for layer in stack:
        if layer.manifest is None:
            continue
        manifest = layer.manifest
        models = [m for m in manifest.models if m.holds and m.claims not in manifest.other_modules]
        spent = [(m, budgets(manifest.cfg(m).constants)) for m in models]
        times = _of_a_member(manifest)
        names = [name for name in budgets(manifest.reference) if name not in times]
        names = [name for name in names if any(found[name] for _, found in spent)]
        greatest = [f"`{name}` {max(found[name] for _, found in spent)}" for name in names]
        apart = []
        for at, name in enumerate(names):
            later = names[at + 1 :]
            others = [x for x in later if not any(found[name] and found[x] for _, found in spent)]
            apart += [f"`{name}` with {_code(others)}"] if others else []
        missing: dict[str, list[str]] = {}
        for module, conjuncts in manifest.gives.items():
            for conjunct, claims in conjuncts.items():
                shown = [found for m, found in spent if {*claims} <= {*manifest.cfg(m).claims}]
                lacks = [name for name in names if not any(found[name] for found in shown)]
                if claims != NOT_GIVEN and lacks:
                    missing.setdefault(f"{module}: {_code(lacks)}", []).append(conjunct)
        without = [f"{lacks} ({_code(conjuncts)})" for lacks, conjuncts in missing.items()]
        cells = ("; ".join(each) or "-" for each in (greatest, apart, without))
        yield f"| {layer.name} | {' | '.join(cells)} |"


def _of_a_member(manifest: Manifest) -> frozenset[str]:
    """Name the constants of what one member does, which bound no model, and what no correct caller does."""
    module = module_of(manifest.folder, manifest.protocol)
    modules = read_modules(manifest.folders, manifest.module)
    own = (name for name in manifest.reference if module and modules.declares(module, name))
    return frozenset((*own, "MaxMisuses"))


def _lacking(givers: Sequence[Layer], users: Sequence[Layer], name: str) -> Iterator[str]:
    """Say which conjuncts of a guarantee some layer does not give that others need, and why."""
    for conjunct in dict.fromkeys(each for layer in givers for each in _not_given([layer], name)):
        needing = _needing(users, name, conjunct)
        if not needing:
            continue
        without = [layer for layer in givers if conjunct in _not_given([layer], name)]
        with_it = [layer.name for layer in givers if layer not in without]
        by, to = (", ".join(each.name for each in those) for those in (without, needing))
        but = f" (but by {', '.join(with_it)})" if with_it else ""
        reasons = [layer.reasons.get(name, {}).get(conjunct, "") for layer in without]
        yield " ".join(
            (
                f"- `{conjunct}` of `{name}`: not given by {by}{but}, and assumed by {to}.",
                *dict.fromkeys(filter(None, reasons)),
            )
        )


def _not_given(givers: Iterable[Layer], name: str) -> list[str]:
    """Name the conjuncts of a guarantee that none of these layers gives."""
    links = [layer.manifest.gives[name] for layer in givers if layer.manifest is not None]
    return [each for each in links[0] if all(link.get(each, NOT_GIVEN) == NOT_GIVEN for link in links)]


def _needing(users: Iterable[Layer], name: str, conjunct: str) -> list[Layer]:
    """Name the layers that assume a guarantee, and of which no model holds without the conjunct."""
    return [
        user
        for user in users
        if _linked(user, name, conjunct) != NOT_ASKED and not _doing_without(user, name, conjunct)
    ]


def _doing_without(user: Layer, name: str, conjunct: str) -> list[str]:
    """Name the models of a layer that hold without a conjunct of what it assumes."""
    names = _linked(user, name, conjunct)
    if user.manifest is None or names == NOT_ASKED:
        return []
    return [each for each in names if user.manifest.model(each).holds]


def _linked(user: Layer, name: str, conjunct: str) -> tuple[str, ...]:
    """Give what a layer's manifest says of a conjunct that it assumes: models without it, or NOT_ASKED."""
    return user.manifest.assumes.get(name, {}).get(conjunct, ()) if user.manifest is not None else ()


def _conjuncts(stack: Sequence[Layer], name: str) -> list[str]:
    """Name the conjuncts of a guarantee that some protocol speaks of."""
    assumed = [layer.manifest.assumes.get(name, {}) for layer in stack if layer.manifest is not None]
    return list(dict.fromkeys(conjunct for each in assumed for conjunct in each))


def _planned(names: Sequence[str]) -> str:
    return f" (to be given by {', '.join(names)})" if names else ""


def _core(layer: Layer) -> Iterator[str]:
    """Compare a protocol's manifest with what its core declares, where it declares anything."""
    if layer.manifest is None:
        return
    assumes, gives = declared(layer.name, "ASSUMES"), declared(layer.name, "GIVES")
    file, core = layer.manifest.file, f"groupcomm.{layer.name}"
    for name in layer.manifest.assumes:
        if assumes and name not in assumes:
            yield f"{file}:1: assumes {name}, but ASSUMES of {core} is {', '.join(assumes)}"
    for name in layer.gives_below:
        if name not in gives:
            yield f"{file}:1: GIVES_BELOW of {core} has {name}, but GIVES is {', '.join(gives)}"
    if gives and {*gives} != {*layer.gives}:
        given = ", ".join(layer.gives) or "nothing"
        yield f"{file}:1: gives {given}, but GIVES of {core} is {', '.join(gives)}"


def _code(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "-"


_MOST: Final = 4


def _head(*columns: str) -> Iterator[str]:
    """Write the head of a table."""
    yield "".join(f"| {column} " if column else "| " for column in columns) + "|"
    yield "| --- " * len(columns) + "|"


def _some(names: Sequence[str]) -> str:
    """Write names, the first few where there are many."""
    more = len(names) - _MOST
    return f"{_code(names[:_MOST])} and {more} more" if more > 1 else _code(names)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
