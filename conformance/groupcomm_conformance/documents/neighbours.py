"""Guards of a neighbour that manifests and modules repeat: they are as the neighbour's own manifest has them.

A set of claims over a composition gives the guards of each protocol in it, and a module that has another
protocol inside gives them in its `INSTANCE ... WITH`. Were a guard off there, all models of the composition
would be of another neighbour than the proved neighbour, and would hold or be violated all the same.
Numbers are bounds and times, and may differ. A model that changes a guard says so itself.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from groupcomm_conformance.files import strict_yaml
from groupcomm_conformance.files.errors import FileError
from groupcomm_conformance.files.strict_yaml import Node
from groupcomm_conformance.models.judging import Gate
from groupcomm_conformance.models.manifest import MANIFEST, Manifest, ManifestError, load, protocols
from groupcomm_conformance.models.modules import Modules, read_modules, scope
from groupcomm_conformance.protocols.constants import module_of

__all__ = ["gate", "require"]

_NUMBER: Final = re.compile(r"= -?\d+")
_ASSUME: Final = re.compile(r"^ASSUME\b[^\n]*(?:\n[ \t][^\n]*)*", re.MULTILINE)
_WITH: Final = re.compile(r"\bINSTANCE\s+(\w+)\s+WITH\b")
_LITERAL: Final = re.compile(r'\s*(\w+)\s*<-\s*(?:(TRUE|FALSE|"[^"]*")(?=\s*(?:,|\n|$))|[^,\n]*)(,?)')


def require(manifest: Manifest) -> None:
    """Refuse a manifest that names what its modules do not define or use, or has a set of claims in vain.

    Raises ManifestError, which names the place.
    """
    try:
        for node, expected in _amiss(manifest):
            raise node.error(expected)
    except FileError as error:
        raise ManifestError(error.file, error.line, error.expected) from None


def _amiss(manifest: Manifest) -> Iterator[tuple[Node, str]]:
    top = _document(manifest)
    words = _words(read_modules(manifest.folders, manifest.module))
    for name, node in top["reference"].entries().items():
        if words.get(name, 0) < 2:  # noqa: PLR2004 - where it is declared or defined, and somewhere else
            yield node, f"a constant that the modules use, but none uses {name}"
    used = {model.claims for model in manifest.models}
    for name, node in top["claims"].entries().items():
        cfg, root = manifest.cfgs[name], manifest.module_of(name)
        modules = read_modules(manifest.folders, root)
        entries = node.entries()
        own = entries["constants"].entries() if "constants" in entries else {}
        for constant in cfg.constants:
            if not modules.knows(constant):
                yield (
                    own.get(constant, node),
                    f"a constant that {root} has, but no module declares {constant}",
                )
        for operator in filter(None, (*cfg.claims, cfg.specification, cfg.init, cfg.next, cfg.view)):
            if modules.definition(operator) is None:
                yield node, f"claims that {root} has, but no module defines {operator}"
        if name not in used and not any(
            _text(each, "like") == name for each in top["claims"].entries().values()
        ):
            yield node, f"a set of claims that a model is checked for, but none is for {name}"


def gate(root: Path, manifest: Manifest) -> Gate:
    """Compare the guards of neighbours, in a manifest and its modules, with their own manifests."""
    own = _references(root)
    problems, number = [], 0
    for problem in (*_of_sets(manifest, own), *_of_instances(manifest, own)):
        number += 1
        problems += [problem] if problem else []
    if not number:
        return Gate("neighbours", None, "nothing to judge: no guard of another protocol is said again")
    if problems:
        return Gate("neighbours", ok=False, text="; ".join(problems))
    return Gate("neighbours", ok=True, text=f"{number} guards are as their protocols have them")


def _references(root: Path) -> dict[str, Manifest]:
    """Give the manifests, by the module that says what one member does."""
    found = {}
    for name in protocols(root):
        manifest = load(root, name, recording=True)
        if (module := module_of(manifest.folder, name)) is not None:
            found[module] = manifest
    return found


def _of_sets(manifest: Manifest, own: Mapping[str, Manifest]) -> Iterator[str]:
    """Give for each guard in a set over a composition what is wrong with it, "" if nothing is."""
    claims = _document(manifest)["claims"].entries()
    for name, root in manifest.other_modules.items():
        modules = read_modules(manifest.folders, root)
        node = claims[name]
        entries = node.entries()
        places = entries["constants"].entries() if "constants" in entries else {}
        for constant, value in manifest.cfgs[name].constants.items():
            for module in _declaring(modules, root, constant, own):
                place = places.get(constant, node)
                yield from _compared(constant, value, own[module], f"{manifest.file}:{place.line}: {name}")


def _declaring(modules: Modules, root: str, constant: str, own: Mapping[str, Manifest]) -> list[str]:
    """Name whose constant it is: of the protocol that the root extends, or else of those inside it."""
    those = [name for name in modules.texts if name in own and modules.declares(name, constant)]
    extended = [name for name in those if name in scope(modules, root)]
    return extended or those


def _of_instances(manifest: Manifest, own: Mapping[str, Manifest]) -> Iterator[str]:
    """Give for each guard in an `INSTANCE ... WITH` of the folder's modules what is wrong with it."""
    for file in sorted(manifest.folder.glob("*.tla")):
        text = read_modules(manifest.folders, file.stem).bare[file.stem]
        for instance in _WITH.finditer(text):
            if (neighbour := own.get(instance[1])) is None:
                continue
            at, goes_on = instance.end(), True
            while goes_on and (side := _LITERAL.match(text, at)) is not None:
                at, goes_on = side.end(), bool(side[3])
                if side[2] is not None:
                    place = f"spec/{manifest.protocol}/{file.name}: INSTANCE {instance[1]}"
                    yield from _compared(side[1], f"= {side[2]}", neighbour, place)


def _compared(constant: str, value: str, neighbour: Manifest, place: str) -> Iterator[str]:
    expected = neighbour.reference.get(constant)
    if expected is None or _NUMBER.fullmatch(expected):
        return
    whose = f"as the reference of {neighbour.protocol} has it"
    told = f"{place}: expected {constant} {expected}, {whose}, not {value}"
    yield "" if expected == value else told


def _words(modules: Modules) -> Mapping[str, int]:
    """Count in how many places each word stands, but for what is assumed of constants."""
    found: dict[str, int] = {}
    for text in modules.bare.values():
        for word in re.findall(r"\w+", _ASSUME.sub("", text)):
            found[word] = found.get(word, 0) + 1
    return found


def _document(manifest: Manifest) -> Mapping[str, Node]:
    return strict_yaml.load(manifest.folder / MANIFEST, manifest.file).entries()


def _text(node: Node, key: str) -> str:
    entries = node.entries()
    return entries[key].text() if key in entries else ""
