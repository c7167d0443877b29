"""A root module and all that it extends as one module, which says the same: EXTENDS is nothing else.

TLC asks of each definition without parameters whether it is constant, and walks for it through all that the
definition uses, an operator as often as it is named. It asks that anew in each module of a chain of EXTENDS,
for all that the module has from the others. In a chain of seven that was 3 of the 5 CPU seconds of a small
model of merging over GMS, and a third of those of GMS (docs/performance.md).

Every line stays a line, in its columns: what TLC says of a place is told of the module that it came from.
"""

import re
from bisect import bisect_right
from collections.abc import Mapping
from typing import Final

from attrs import frozen

__all__ = ["PLACE", "Flat", "flattened"]

PLACE: Final = re.compile(
    r"line (\d+), col(?:umn)? \d+(?: to line (\d+), col(?:umn)? \d+)? (?:of module|in) (\w+)", re.IGNORECASE
)
"""How TLC names a place: the first line, the last one if there are two, and the module."""

_COMMENT: Final = re.compile(r"\\\*[^\n]*|\(\*.*?\*\)", re.DOTALL)
_HEAD: Final = re.compile(r"^-{4,} *MODULE +(\w+) *-{4,}", re.MULTILINE)
_EXTENDS: Final = re.compile(r"\s*EXTENDS\s+(\w+(?:\s*,\s*\w+)*)")
_FOOT: Final = re.compile(r"^={4,}[^\n]*", re.MULTILINE)
_LIBRARY: Final = re.compile(r"^LOCAL INSTANCE (\w+)[ \t]*$", re.MULTILINE)


@frozen
class _Module:
    """What a module extends, and all else that it says, each line in its place."""

    extended: tuple[str, ...]
    body: str


@frozen
class Flat:
    """The text of the module, and which lines came from where: the first of each part, and its module."""

    root: str
    text: str
    starts: tuple[int, ...]
    names: tuple[str, ...]

    def told(self, line: str) -> str:
        """Give a line of TLC's with each place in this module as one in the module that it came from."""
        return PLACE.sub(self._origin, line)

    def _origin(self, place: re.Match[str]) -> str:
        if place[3] != self.root:
            return place[0]
        part = bisect_right(self.starts, int(place[1])) - 1
        if part < 0:
            return place[0]
        said, at = "", place.start()
        for group in (1, 2):
            if place[group] is not None:
                said += place.string[at : place.start(group)] + str(int(place[group]) - self.starts[part] + 1)
                at = place.end(group)
        return said + place.string[at : place.start(3)] + self.names[part]


def flattened(root: str, texts: Mapping[str, str]) -> Flat | None:
    """Put a root and what it extends of `texts` (name to text) into one module; what is not there is TLC's.

    None where it extends none of them, or where a module is not of the form that is understood: it has
    modules inside, or no end.
    """
    found: dict[str, _Module] = {}
    library: dict[str, None] = {}

    def put(name: str) -> bool:
        """Put a module behind those that it extends."""
        if name in found:
            return True
        if name not in texts:
            library.setdefault(name)
            return True
        module = _understood(name, texts)
        if module is None or not all(map(put, module.extended)):
            return False
        found[name] = module
        return True

    if not put(root) or len(found) == 1:
        return None
    lines = [f"---- MODULE {root} ----", f"EXTENDS {', '.join(library)}" if library else ""]
    starts: list[int] = []
    for module in found.values():
        starts.append(len(lines) + 1)
        lines += module.body.split("\n")
    return Flat(root, "\n".join([*lines, "====", ""]), tuple(starts), tuple(found))


def _understood(name: str, texts: Mapping[str, str]) -> _Module | None:
    text = texts[name]
    bare = _COMMENT.sub(_blank, text)
    head, feet = _HEAD.search(bare), list(_FOOT.finditer(bare))
    if head is None or head[1] != name or len(re.findall(r"\bMODULE\b", bare)) != 1 or len(feet) != 1:
        return None
    begin, end = head.end(), feet[0].start()
    extends = _EXTENDS.match(bare, begin)
    extended = tuple(re.split(r"\s*,\s*", extends[1])) if extends else ()
    begin = extends.end() if extends else begin
    # Two ways to the same definition are a clash: of TLC's own modules all that any has is extended.
    used = [each for each in _LIBRARY.finditer(bare, begin, end) if each[1] not in texts]
    for each in used:
        text = text[: each.start()] + _blank(each) + text[each.end() :]
    extended += tuple(each[1] for each in used)
    return _Module(extended, re.sub(r"[^\n]", " ", text[:begin]) + text[begin:end])


def _blank(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", found[0])
