"""The files of a manifest: `models.yaml`, `recorded.yaml`, `errata.yaml`, and the modules that they name."""

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Final

from attrs import define

from groupcomm_conformance.files import strict_yaml
from groupcomm_conformance.files.strict_yaml import Node

from .model import folders
from .modules import Modules, read_modules

MANIFEST: Final = "models.yaml"
RECORDED: Final = "recorded.yaml"
ERRATA: Final = "errata.yaml"


@define(slots=False)
class Source:
    """The files of the protocol in `folder`, as trees of nodes; a module is read once."""

    folder: Path

    @cached_property
    def document(self) -> Node:
        """`models.yaml`."""
        return strict_yaml.load(self.folder / MANIFEST, self.shown(MANIFEST))

    @cached_property
    def top(self) -> Mapping[str, Node]:
        """The keys of `models.yaml`."""
        return self.document.fields(
            ("protocol", "module", "reference", "claims", "type_invariants", "witnesses", "models"),
            ("assumes", "gives", "with"),
        )

    @cached_property
    def recorded(self) -> Mapping[str, Node]:
        """Each model's row of `recorded.yaml`; nothing is recorded where that file is missing."""
        return _rows(self.folder / RECORDED, self.shown(RECORDED))

    @cached_property
    def errata(self) -> Mapping[str, Node]:
        """The errata, by the model that shows each."""
        return _rows(self.folder / ERRATA, self.shown(ERRATA))

    @cached_property
    def with_(self) -> tuple[str, ...]:
        """The protocols whose modules a composition uses."""
        nodes = self.top["with"].items("a list of protocols") if "with" in self.top else ()
        for node in nodes:
            if not (self.folder.parent / node.text()).is_dir():
                raise node.error(f"a protocol, but there is no spec/{node.text()}")
        return tuple(node.text() for node in nodes)

    @cached_property
    def modules(self) -> Callable[[str], Modules]:
        """Read a root module and what it needs, once: many models ask for the same."""
        return lru_cache(maxsize=None)(partial(read_modules, folders(self.folder, self.with_)))

    def shown(self, name: str) -> str:
        """Give the name of a file as errors have it."""
        return f"spec/{self.folder.name}/{name}"

    def models(self) -> Iterator[tuple[Node, Node | None]]:
        """Give each model's node in order, an ablation's after its control's and with it."""
        for node in self.top["models"].items("a list of models"):
            yield node, None
            entries = node.entries()
            for ablation in entries["without"].items("a list of ablations") if "without" in entries else ():
                yield ablation, node


def _rows(file: Path, shown: str) -> Mapping[str, Node]:
    """Read a mapping from names of models, which is empty where there is no such file."""
    return strict_yaml.load(file, shown).entries("a mapping from models") if file.exists() else {}
