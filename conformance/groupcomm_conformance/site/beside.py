"""Specification and code of a protocol side by side: each operator of the module, and the function of its name."""

import ast
import re
from collections.abc import Iterator
from typing import Final

from attrs import frozen

_DEFINED: Final = re.compile(r"^(?:LOCAL )?(\w+)(?:\([^)\n]*\))? *==")
_HEADING: Final = re.compile(r"^\(\* (.*?) *\*\)$")
_RULE: Final = re.compile(r"^(?:----|====)")


@frozen
class Pair:
    """A part of the module, and the part of the core that does the same; either may be empty.

    `name` is the operator's: of the first part, with all before `Start`, it is empty, as of the functions that
    have no operator. `heading` is the module's heading above it.
    """

    name: str
    heading: str
    tla: str
    python: str

    def names(self, word: str) -> bool:
        """Say whether the part of the module has a word."""
        return re.search(rf"\b{word}\b", self.tla) is not None


def pairs(module: str, core: str) -> list[Pair]:
    """Put the operators of a module beside the functions of a core: `ViewInstalled` and `_view_installed`."""
    functions = dict(_functions(core))
    taken = {"": functions.pop("", "")}
    found = []
    for name, heading, text in _operators(module):
        plain = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
        own = next((each for each in (plain, f"_{plain}") if each in functions), None)
        python = functions.pop(own) if own else taken.pop(name, "")
        found.append(Pair(name, heading, text, python))
    rest = "\n\n".join(functions.values())
    return [*found, *([Pair("", "Functions that have no operator", "", rest)] if rest else [])]


def _operators(module: str) -> Iterator[tuple[str, str, str]]:
    """Give each operator from `Start` on with the heading and the comment above it; first all that is before."""
    lines = module.splitlines()
    begins: list[tuple[int, str]] = []
    for at, line in enumerate(lines):
        if (defined := _DEFINED.match(line)) and (begins or defined[1] == "Start"):
            first = at
            while first and lines[first - 1].startswith("\\*"):
                first -= 1
            begins.append((first, defined[1]))
    heading = ""
    for number, (at, name) in enumerate([(0, ""), *begins]):
        part = lines[at : begins[number][0] if number < len(begins) else len(lines)]
        said = heading
        while part and (not part[-1].strip() or _RULE.match(part[-1]) or _HEADING.match(part[-1])):
            if (head := _HEADING.match(part[-1])) is not None:
                heading = head[1]
            part.pop()
        yield name, said, "\n".join(part)


def _functions(core: str) -> Iterator[tuple[str, str]]:
    """Give each function of a core from the first on with its text; first all that is before."""
    lines = core.splitlines()
    nodes = [node for node in ast.parse(core).body if isinstance(node, ast.FunctionDef)]
    spans = [
        (min(node.lineno, *(each.lineno for each in node.decorator_list)) if node.decorator_list else node.lineno, node)
        for node in nodes
    ]
    yield "", "\n".join(lines[: spans[0][0] - 1]).rstrip() if spans else core
    for first, node in spans:
        yield node.name, "\n".join(lines[first - 1 : node.end_lineno])
