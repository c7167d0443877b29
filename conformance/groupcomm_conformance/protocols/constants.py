r"""The constants of a specification that a member's steps depend on.

They are a member's configuration and the guards of its algorithm: a model that has another value in one of
them is a model of another member. The others (who is there, what is sent, faults and bounds) belong to the
group.

A constant is a member's if the module of the protocol declares it, or a module of the same folder that the
protocol's module extends. Wherever it is declared, it is also a member's if `Step` or `Start` speak of it, be
it through other operators. Too many rather than too few: a constant wrongly taken for a guard makes
conformance refuse a model, and a constant wrongly left out would make it approve of a model of something
else.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Final

from attrs import frozen

from groupcomm_conformance.tla.source import bare, declared, guards

_EXTENDS: Final = re.compile(r"\bEXTENDS\s+(\w+(?:\s*,\s*\w+)*)")
_INSTANCE: Final = re.compile(r"\bINSTANCE\s+(\w+)")
_PARAMETERS: Final = r"(?:\((?:[^()]|\([^()]*\))*\)|\[[^\]]*\])?"
_DEFINITION: Final = re.compile(rf"^(?:LOCAL\s+)?(\w+)\s*{_PARAMETERS}\s*==(?!=)", re.MULTILINE)
_SEPARATOR: Final = re.compile(r"^\s*(?:-{4,}|={4,})", re.MULTILINE)
_STEPS: Final = ("Step", "Start")


@frozen
class _Module:
    """The parts of a module that are read: constants, modules that it uses, words of each operator."""

    constants: tuple[str, ...]
    extends: tuple[str, ...]
    words: Mapping[str, frozenset[str]]

    @classmethod
    @lru_cache(maxsize=256)  # some commands derive several protocols, which share modules, more than once
    def of(cls, text: str) -> "_Module":
        found = bare(text)
        extended = (word for each in _EXTENDS.finditer(found) for word in re.findall(r"\w+", each[1]))
        return cls((*declared(found), *guards(text)), tuple(extended), dict(_words(found)))


def _words(text: str) -> Iterator[tuple[str, frozenset[str]]]:
    """Each operator and the words of its definition; with `INSTANCE M`, the module too."""
    starts = [*_DEFINITION.finditer(text)]
    for number, start in enumerate(starts):
        end = starts[number + 1].start() if number + 1 < len(starts) else len(text)
        separator = _SEPARATOR.search(text, start.end(), end)
        body = text[start.end() : separator.start() if separator else end]
        body = re.sub(r"\.\s*\w+|\w+\s*\|->", " ", body)  # fields are no operators
        yield start[1], frozenset(re.findall(r"\w+", body))
    yield "", frozenset(_INSTANCE.findall(text))


@frozen
class Member:
    """The dependencies of a member: its constants, in the order of their declarations, and operators.

    `operators` are the operators that its steps consist of, and the operators through which a group takes
    them.
    """

    constants: tuple[str, ...]
    operators: frozenset[str]


def member(texts: Mapping[str, str], root: str, module: str, own: Iterable[str]) -> Member:
    """Give the dependencies of a member's steps.

    `texts`: all modules of a model. `root`: the module that TLC is given. `module`: the protocol's. `own`:
    the modules in the protocol's folder.
    """
    modules = {name: _Module.of(text) for name, text in texts.items()}
    mine = {*own}
    found: dict[str, None] = {}
    for name in _extended(modules, module):
        if name in mine:
            found.update(dict.fromkeys(modules[name].constants))
    spoken = _spoken_of(modules, root)
    for each in modules.values():
        found.update(dict.fromkeys(name for name in each.constants if name in spoken))
    # No model can change a value that an instance is given (`INSTANCE M WITH Guard <- TRUE`).
    here = {constant for name in _extended(modules, root) for constant in modules[name].constants}
    found = {name: None for name in found if name in here}
    defined = {name for each in modules.values() for name in each.words}
    return Member(tuple(found), ((spoken | {*_STEPS}) & defined | _speaking_of_step(modules)).difference(found))


def _extended(modules: Mapping[str, _Module], first: str) -> list[str]:
    """A module and all that it extends."""
    found = [first]
    for name in found:  # which grows
        found += (other for other in modules[name].extends if other in modules and other not in found)
    return found


def _spoken_of(modules: Mapping[str, _Module], root: str) -> frozenset[str]:
    """All words in the definitions of `Step` and `Start`, and in those of the operators there, and so on.

    A word is an operator only where the module sees that operator: elsewhere it is a field or a variable.
    """
    seen_from = {name: _seen_from(modules, name) for name in modules}
    found: set[str] = set()
    here = _extended(modules, root)
    todo = [(name, word) for name in here for word in _STEPS if word in modules[name].words]
    done = set(todo)
    while todo:
        definer, operator = todo.pop()
        words = modules[definer].words[operator]
        found |= words
        for word in words:
            if word in modules:  # an instance of it: its constants have the names that they have here
                found.update(name for each in _extended(modules, word) for name in modules[each].constants)
            new = {(name, word) for name in seen_from[definer] if word in modules[name].words} - done
            done |= new
            todo += new
    return frozenset(found)


def _speaking_of_step(modules: Mapping[str, _Module]) -> frozenset[str]:
    """The operators that speak of `Step`, if through others: another in their place takes other steps."""
    found = {"Step"}
    before = 0
    while len(found) > before:
        before = len(found)
        for module in modules.values():
            found.update(name for name, words in module.words.items() if name and words & found)
    return frozenset(found)


def _seen_from(modules: Mapping[str, _Module], first: str) -> frozenset[str]:
    """The modules whose operators a module may speak of."""
    found = _extended(modules, first)
    for name in found:  # which grows
        for other in modules[name].words[""]:
            if other in modules:
                found += (each for each in _extended(modules, other) if each not in found)
    return frozenset(found)


def module_of(folder: Path, protocol: str) -> str | None:
    """Name the module of a protocol: the module in its folder that has the protocol's name."""
    wanted = protocol.replace("_", "")
    return next((file.stem for file in sorted(folder.glob("*.tla")) if file.stem.lower() == wanted), None)
