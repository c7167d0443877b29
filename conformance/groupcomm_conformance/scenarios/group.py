r"""The operators that a protocol's group specification offers to scenarios, and their common beginning.

Names come from the modules: constants, variables, actions, and the fields of `Observed(m)`, an operator that
says of a member what scenarios look at besides its state. `conformance/scenarios/<protocol>.yaml` says what
the protocol's scenarios have in common:

```yaml
protocol: stable
constants: {MaxCrashes: 9, Sends: "<- [m \\in Member |-> 9]"}
given:
  views: {kind: decided views, sets: {Script: views}}
```

`constants` are the differences from the reference; `given` are words that a scenario may use to say how
it begins, and which constants these set. An expression may use the words and `Member`, the scenario's
members.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from attrs import define, field, frozen

from groupcomm.digest import Vector
from groupcomm.shapes import Shape, shape_of
from groupcomm.view import View
from groupcomm_conformance.files import strict_yaml
from groupcomm_conformance.files.strict_yaml import FileError, Node
from groupcomm_conformance.models import manifest as manifests
from groupcomm_conformance.models.manifest import Manifest
from groupcomm_conformance.models.modules import Modules, declared_by, read_modules
from groupcomm_conformance.protocols.derive import Protocol
from groupcomm_conformance.protocols.derive import load as derive

EXPRESSION: Final = "<- "

DECIDED: Final = "decided views"
_KINDS: Final[Mapping[str, Shape | None]] = {
    DECIDED: None,
    "view": shape_of(View),
    "vector": shape_of(Vector),
    "number": shape_of(int),
    "flag": shape_of(bool),
    "word": shape_of(str),
}


@frozen
class Given:
    """A word of a scenario's `given`: the shape of its value, and the constants that it sets.

    The shape is None where it is views as a membership service decides them.
    """

    shape: Shape | None
    sets: Mapping[str, str] = field(hash=False)


@define
class Groups:
    """The groups of the project at `root`, each read when it is first asked for."""

    root: Path
    _known: dict[str, "Group"] = field(factory=dict, init=False)

    def get(self, protocol: str) -> "Group":
        """Give a group. UnknownNameError, FileError, MappingError: see `load`."""
        if protocol not in self._known:
            self._known[protocol] = load(self.root, protocol)
        return self._known[protocol]


@frozen
class Group:
    """A protocol and its group. `constants`: what scenarios begin with, as cfg files have them.

    `by_member`: its `Next` says what one member does.
    """

    manifest: Manifest
    protocol: Protocol
    modules: Modules
    constants: Mapping[str, str] = field(hash=False)
    given: Mapping[str, Given] = field(hash=False)
    variables: tuple[str, ...]
    actions: tuple[str, ...]
    by_member: bool
    observed: tuple[str, ...]
    invariants: tuple[str, ...]


def shared(protocol: str) -> str:
    """Where it is written, within the project, what a protocol's scenarios have in common."""
    return f"conformance/scenarios/{protocol}.yaml"


def load(root: Path, protocol: str) -> Group:
    """Read what there is of a protocol.

    UnknownNameError where there is no such protocol, FileError where a file says something wrong,
    MappingError where the protocol has no implementation.
    """
    manifest = manifests.load(root, protocol)
    modules = read_modules(manifest.folders, manifest.module)
    names = (*declared_by(modules, manifest.module, "CONSTANT"), *modules.guards_of_scope(manifest.module))
    constants = {name: manifest.reference.get(name, "") for name in names}
    given: dict[str, Given] = {}
    file = root / shared(protocol)
    if file.is_file():
        document = strict_yaml.load(file, shared(protocol)).fields(("protocol",), ("constants", "given"))
        document["protocol"].choice((protocol,))
        for name, node in (document["constants"].entries() if "constants" in document else {}).items():
            known(node, name, constants)
            constants[name] = constant_text(node)
        for word, node in (document["given"].entries() if "given" in document else {}).items():
            found = node.fields(("kind", "sets"))
            sets = found["sets"].entries()
            for name, item in sets.items():
                known(item, name, constants)
            shape = _KINDS[found["kind"].choice(_KINDS)]
            given[word] = Given(shape, {name: item.text("an expression") for name, item in sets.items()})
    return Group(
        manifest=manifest,
        protocol=derive(manifest),
        modules=modules,
        constants=constants,
        given=given,
        variables=declared_by(modules, manifest.module, "VARIABLE"),
        actions=modules.actions("Spec"),
        by_member=modules.is_by_member("Spec"),
        observed=tuple(_observed(modules)),
        invariants=tuple(dict.fromkeys(c for cfg in manifest.cfgs.values() for c in cfg.invariants)),
    )


def known(node: Node, name: str, constants: Mapping[str, str]) -> None:
    """See that a constant exists."""
    if name not in constants:
        raise node.error(f"a constant of the specification, not {name}")


def constant_text(node: Node) -> str:
    """Read a constant's value as cfg files have it: `= 3`, `= {"A"}`, or `<- expression`."""
    match node.content:
        case bool(value):
            return f"= {'TRUE' if value else 'FALSE'}"
        case int(value):
            return f"= {value}"
        case str(text) if text.startswith(EXPRESSION):
            return text
        case str():
            return f'= "{_word(node)}"'
        case tuple(items):
            return f"= {{{', '.join(constant_text(item).removeprefix('= ') for item in items)}}}"
        case _:
            raise node.error('an integer, true, false, text, "<- expression" or a list')


def expression(side: str, words: Mapping[str, str]) -> str:
    """Write a side of a cfg as an expression, `words` replaced in it."""
    if not side.startswith(EXPRESSION):
        return side.removeprefix("= ")
    text = side.removeprefix(EXPRESSION)
    return re.sub(r'"[^"]*"|\w+', lambda found: f"({words[found[0]]})" if found[0] in words else found[0], text)


def _word(node: Node) -> str:
    return node.matching(r'[^"\\\n]+', "text without quotes, backslashes or line ends")


def _observed(modules: Modules) -> Iterator[str]:
    """The fields of the record that `Observed(m)` is."""
    found = modules.definition("Observed")
    if found is None:
        return
    module, text, line = found
    record = re.fullmatch(r"\[\s*(\w+\s*\|->.*)\]", text, re.DOTALL)
    if record is None:
        raise FileError(modules.files[module].name, line, "Observed(m) == [name |-> ..., name |-> ...]")
    depth = 0
    for token in re.findall(r"<<|>>|[\[\](){}]|\w+\s*\|->", record[1]):
        if token in ("<<", "[", "(", "{"):
            depth += 1
        elif token in (">>", "]", ")", "}"):
            depth -= 1
        elif depth == 0:
            yield token.split("|")[0].strip()
