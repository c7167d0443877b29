"""TLC's `.cfg` files, as values that are changed and written.

A `Cfg` is what such a file says. Models of a protocol share one and differ in constants, which `Cfg.override`
replaces; `attrs.evolve` changes anything else (a run for a dump has no `view`, a witness run one invariant).

The right-hand side of a constant is text in one canonical spelling (set elements sorted, one space after a
comma), with its operator: `= 3`, `= {"A", "B"}`, `<- JoinViews`. Two constants are the same if and only if
these texts are.
"""

import re
from collections.abc import Mapping
from typing import Final

from attrs import field, frozen

LEAST: Final = -(2**31)
GREATEST: Final = 2**31 - 1
"""The greatest integer of TLC."""


@frozen
class Cfg:
    """The contents of a cfg file: operator names, and constants with their right-hand sides."""

    specification: str | None = None
    init: str | None = None
    next: str | None = None
    constants: Mapping[str, str] = field(default={}, hash=False)
    invariants: tuple[str, ...] = ()
    properties: tuple[str, ...] = ()
    view: str | None = None
    constraints: tuple[str, ...] = ()
    action_constraints: tuple[str, ...] = ()
    symmetry: tuple[str, ...] = ()

    @property
    def claims(self) -> tuple[str, ...]:
        """The claims of a run with this cfg: invariants, then properties."""
        return (*self.invariants, *self.properties)

    def render(self) -> str:
        """Write the file."""
        parts: list[str] = []
        for keyword, name in (("SPECIFICATION", self.specification), ("INIT", self.init), ("NEXT", self.next)):
            if name is not None:
                parts.append(f"{keyword} {name}")
        if self.constants:
            lines = (f"    {name} {side}" for name, side in self.constants.items())
            parts.append("\n".join(("CONSTANTS", *lines)))
        if self.view is not None:
            parts.append(f"VIEW {self.view}")
        for keyword, names in (
            ("CONSTRAINTS", self.constraints),
            ("ACTION_CONSTRAINTS", self.action_constraints),
            ("SYMMETRY", self.symmetry),
            ("INVARIANTS", self.invariants),
            ("PROPERTIES", self.properties),
        ):
            if names:
                parts.append("\n".join((keyword, *(f"    {name}" for name in names))))
        return "\n".join(parts) + "\n"


_PROPERTIES: Final = frozenset(("PROPERTY", "PROPERTIES"))
_KEYWORDS: Final = frozenset(
    (
        *("SPECIFICATION", "INIT", "NEXT", "VIEW", "CONSTANT", "CONSTANTS", "INVARIANT", "INVARIANTS"),
        *("CONSTRAINT", "CONSTRAINTS", "ACTION_CONSTRAINT", "ACTION_CONSTRAINTS", "SYMMETRY"),
        *_PROPERTIES,
    )
)


def properties_of(text: str) -> tuple[str, ...]:
    """List the properties that the text of a cfg file names; it has no comments."""
    found: list[str] = []
    keyword = ""
    for word in text.split():
        if word in _KEYWORDS:
            keyword = word
        elif keyword in _PROPERTIES:
            found.append(word)
    return tuple(found)


def set_text(elements: set[str]) -> str:
    """Write a set in the canonical order: numbers by size, before everything else by spelling."""
    numbers = sorted((text for text in elements if _is_number(text)), key=int)
    others = sorted(text for text in elements if not _is_number(text))
    return "{" + ", ".join((*numbers, *others)) + "}"


def _is_number(text: str) -> bool:
    return re.fullmatch(r"-?[0-9]+", text) is not None
