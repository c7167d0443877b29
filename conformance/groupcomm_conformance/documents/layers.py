"""Layers and what each assumes and gives: of protocols as their manifests say it, of others as a list does.

`spec/common/layers.yaml` lists, top first, all layers of the stack: the protocols by name, and layers that
are not written yet with the guarantees that they will assume and give. Of a conjunct that a protocol does not
give it may say why, and what is lost.
"""

import importlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from attrs import field, frozen

from groupcomm_conformance.files import strict_yaml
from groupcomm_conformance.files.strict_yaml import Node
from groupcomm_conformance.models.manifest import LAYERS, Manifest
from groupcomm_conformance.models.model import NOT_GIVEN, NOTE
from groupcomm_conformance.models.modules import Modules, read_modules

from .budgets import lost


@frozen
class Layer:
    """A layer: its guarantees by name. `manifest` is None where there is no protocol yet.

    `gives_below`: those of `gives` that the layers beneath have of it, too. `reasons`: why it does not give
    conjuncts, by guarantee and conjunct, or by guarantee and the budget of faults under which it does not.
    `open`: what no model has, and no constant says.
    """

    name: str
    does: str
    assumes: tuple[str, ...]
    gives: tuple[str, ...]
    manifest: Manifest | None
    gives_below: tuple[str, ...] = ()
    reasons: Mapping[str, Mapping[str, str]] = field(factory=dict)
    open: tuple[str, ...] = ()


def layers(root: Path, manifests: Iterable[Manifest]) -> list[Layer]:
    """Read the list. FileError where it says twice what a manifest says, or leaves a protocol out."""
    known = {manifest.protocol: manifest for manifest in manifests}
    document = strict_yaml.load(root / LAYERS, str(LAYERS))
    found: list[Layer] = []
    for name, node in document.entries("a mapping from layers, top first").items():
        manifest = known.get(name)
        if manifest is not None:
            found_keys = node.fields(("does",), ("not_given", "open"))
            does = found_keys["does"].text()
            reasons = _reasons(manifest, found_keys["not_given"]) if "not_given" in found_keys else {}
            # A guarantee that only the core declares has no conjuncts here: it is assumed all the same.
            assumes = tuple(dict.fromkeys((*manifest.assumes, *declared(name, "ASSUMES"))))
            below = declared(name, "GIVES_BELOW")
            more = found_keys["open"].items("a list of sentences") if "open" in found_keys else ()
            said = tuple(item.text() for item in more)
            layer = Layer(name, does, assumes, tuple(manifest.gives), manifest, below, reasons, said)
        else:
            keys = node.fields(("does", "assumes", "gives"))
            assumes, gives = (
                tuple(item.text() for item in keys[key].items("a list of guarantees")) for key in ("assumes", "gives")
            )
            layer = Layer(name, keys["does"].text(), assumes, gives, None)
        found.append(layer)
    listed = {layer.name for layer in found}
    for name in known:
        if name not in listed and not name.startswith(NOTE) and _is_layer(name):
            raise document.error(f"all layers, but the protocol {name} is missing (its place, and what it does)")
    return found


def _is_layer(protocol: str) -> bool:
    """Say whether a protocol has a place in a stack: not one whose module makes cores and is none itself."""
    try:
        return hasattr(importlib.import_module(f"groupcomm.{protocol}"), "step")
    except ModuleNotFoundError:
        return True


def _reasons(manifest: Manifest, node: Node) -> dict[str, dict[str, str]]:
    """Read why conjuncts are not given. FileError where the manifest does not say that they are not."""
    found: dict[str, dict[str, str]] = {}
    for name, conjuncts in node.entries("a mapping from guarantees").items():
        for conjunct, reason in conjuncts.entries("a mapping from conjuncts to reasons").items():
            budget = any((each.guarantee, each.budget) == (name, conjunct) for each in lost(manifest))
            if manifest.gives.get(name, {}).get(conjunct) != NOT_GIVEN and not budget:
                raise reason.error(
                    f"a conjunct of {name} that {manifest.protocol} does not give, or a budget under which "
                    f"it does not give all, not {conjunct}"
                )
            found.setdefault(name, {})[conjunct] = reason.text()
    return found


def declared(protocol: str, key: str) -> tuple[str, ...]:
    """Give what a core declares as ASSUMES, GIVES or GIVES_BELOW; nothing where there is none."""
    try:
        core = importlib.import_module(f"groupcomm.{protocol}")
    except ModuleNotFoundError:
        return ()
    return tuple(getattr(core, key, ()))


def guarantee(root: Path, name: str) -> Modules | None:
    """Read a guarantee's module with the modules that it uses; None where there is none yet."""
    folder = root / "spec" / "common"
    return read_modules([folder], name) if (folder / f"{name}.tla").is_file() else None


def above(stack: Sequence[Layer], name: str) -> list[Layer]:
    """Name the layers that assume a guarantee."""
    return [layer for layer in stack if name in layer.assumes]
