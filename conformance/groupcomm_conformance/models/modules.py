"""The modules of a specification as text: which there are, and what they define."""

import functools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain
from pathlib import Path
from typing import Final

from attrs import frozen

from groupcomm_conformance.files.errors import FileError
from groupcomm_conformance.files.reading import read_text
from groupcomm_conformance.tla import tree
from groupcomm_conformance.tla.source import bare, blanked, declared, guards
from groupcomm_conformance.tla.witnesses import conjuncts
from groupcomm_conformance.tlc.syntax import export

_NAMES: Final = r"\w+(?:\s*,\s*\w+)*"
_DEFINITION: Final = re.compile(r"^(?:LOCAL\s+)?(\w+)(?:\([^)]*\))?\s*==", re.MULTILINE)
_NEXT: Final = re.compile(r"\[\]\s*\[\s*(?:\\E (\w+) \\in Member : )?(\w+)(?:\(\1\))?\s*\]\s*_")
_SEPARATOR: Final = re.compile(
    r"^(?:----|====|(?:LOCAL\s+)?(?:RECURSIVE|ASSUME|ASSUMPTION|AXIOM|THEOREM|LEMMA|CONSTANTS?|VARIABLES?|INSTANCE)\b)",
    re.MULTILINE,
)
_HEAD: Final = re.compile(r"^\s*-{4,}\s*MODULE\s+(\w+)\s*-{4,}", re.MULTILINE)
_LIBRARY: Final = frozenset(
    [
        "Bags",
        "FiniteSets",
        "Integers",
        "Json",
        "Naturals",
        "Randomization",
        "RealTime",
        "Reals",
        "Sequences",
        "TLC",
        "TLCExt",
        "Toolbox",
    ]
)
"""Modules that come with TLC, which no folder has."""

# Each model asks the same modules for the same operators: what is found in a text is remembered.


@functools.lru_cache(maxsize=256)
def _bare(text: str) -> str:
    """A module without comments and empty lines; the rest keeps its columns, which lists depend on."""
    lines = (line.rstrip() for line in blanked(text).splitlines())
    return "\n".join(line for line in lines if line)


@functools.lru_cache(maxsize=256)
def _definitions(text: str) -> dict[str, tuple[str, int]]:
    """Each operator of a module: its text after `==`, without comments and in its columns, and its place."""
    blank = blanked(text)
    ends = sorted(match.start() for pattern in (_DEFINITION, _SEPARATOR) for match in pattern.finditer(blank))
    found: dict[str, tuple[str, int]] = {}
    for match in _DEFINITION.finditer(blank):
        end = next((each for each in ends if each >= match.end()), len(blank))
        margin = " " * (match.end() - blank.rfind("\n", 0, match.end()) - 1)
        line = blank.count("\n", 0, match.start()) + 1
        found.setdefault(match[1], (margin + blank[match.end() : end], line))
    return found


@functools.lru_cache(maxsize=256)
def _declared(text: str) -> frozenset[str]:
    """The constants that a module declares, and its guards."""
    return frozenset((*declared(bare(text)), *guards(text)))


def _check_name(file: Path, text: str) -> None:
    """FileError where the module in a file has another name than the file, or where there is none."""
    head = _HEAD.search(text)
    if head is None:
        raise FileError(str(file), 1, f"a module: ---- MODULE {file.stem} ----, then its text, then ====")
    if head[1] != file.stem:
        line = text.count("\n", 0, head.start(1)) + 1
        raise FileError(str(file), line, f"the module {file.stem}, as the file is called, not {head[1]}")


@functools.lru_cache(maxsize=256)
def _extended(text: str) -> tuple[str, ...]:
    """The modules that a module extends."""
    lists = re.findall(rf"\bEXTENDS\s+({_NAMES})", _bare(text))
    return tuple(chain.from_iterable(re.split(r"\s*,\s*", names) for names in lists))


@functools.lru_cache(maxsize=256)
def _needed(text: str) -> tuple[str, ...]:
    """The modules that a module extends or instantiates."""
    return (*_extended(text), *re.findall(r"\bINSTANCE\s+(\w+)", _bare(text)))


@frozen
class Modules:
    """The modules that a root needs, without those of TLC's library: name to path, and name to text."""

    files: Mapping[str, Path]
    texts: Mapping[str, str]

    @property
    def bare(self) -> dict[str, str]:
        """The texts without comments and empty lines, in their columns: all of them that TLC reads."""
        return {name: _bare(text) for name, text in self.texts.items()}

    def definition(self, operator: str) -> tuple[str, str, int] | None:
        """Find an operator: its module, the text after `==` without comments, and its line number."""
        found = self.laid_out(operator)
        return None if found is None else (found[0], found[1].strip(), found[2])

    def laid_out(self, operator: str) -> tuple[str, str, int] | None:
        """Find an operator as `definition` does, its text in the columns that it has in the module."""
        for module, text in self.texts.items():
            if (found := _definitions(text).get(operator)) is not None:
                return module, *found
        return None

    def defined(self, module: str, operator: str) -> str | None:
        """Give the text of an operator of a module, in its columns."""
        found = _definitions(self.texts[module]).get(operator)
        return None if found is None else found[0]

    def declares(self, module: str, constant: str) -> bool:
        """Say whether a module declares a constant, or has a guard of this name."""
        return constant in _declared(self.texts[module])

    def guards_of_scope(self, root: str) -> dict[str, str]:
        """Give the guards of a root and of what it extends, with the reference's values (`= TRUE`)."""
        return {name: f"= {value}" for each in scope(self, root) for name, value in guards(self.texts[each]).items()}

    def guards_inside(self, root: str) -> dict[str, str]:
        """Give the guards that a root has by an `INSTANCE` alone, each with its module.

        A guard that two such modules have is left out: which is meant could not be said.
        """
        here = scope(self, root)
        homes: dict[str, list[str]] = {}
        for module, text in self.texts.items():
            for name in guards(text):
                homes.setdefault(name, []).append(module)
        return {name: each[0] for name, each in homes.items() if len(each) == 1 and each[0] not in here}

    def conjuncts(self, module: str) -> tuple[str, ...]:
        """Name the conjuncts of a guarantee, the elements of its `Conjuncts`; none without such a set."""
        found = re.search(r"^Conjuncts\s*==\s*\{([^}]*)\}", self.bare[module], re.MULTILINE)
        return tuple(re.findall(r'"(\w+)"', found[1])) if found else ()

    def has_conjunct(self, module: str, name: str) -> bool:
        """Say whether a guarantee has this conjunct: in `Conjuncts`, an operator, or a constant's value."""
        bare = self.bare[module]
        operator = re.search(rf"^{name}(?:\([^)]*\))?\s*==", bare, re.MULTILINE)
        return name in self.conjuncts(module) or operator is not None or f'"{name}"' in bare

    def meaning(self, module: str, conjunct: str) -> str:
        """Give the comments of a guarantee, or of a module it stands on, on a conjunct, joined."""
        for text in (self.texts[module], *self.texts.values()):
            found = re.search(
                rf"^[ \t]*\\\*[ \t]*{conjunct}:((?:[^\n]*\n[ \t]*\\\*)*[^\n]*)$", text, re.MULTILINE
            ) or re.search(
                rf"((?:^[ \t]*\\\*[^\n]*\n)+)^(?:LOCAL\s+)?{conjunct}(?:\([^)]*\))?\s*==", text, re.MULTILINE
            )
            if found:
                words = re.sub(r"^[ \t]*\\\*+", "", found[1], flags=re.MULTILINE).split()
                return " ".join(words).removeprefix("... ")
        return ""

    def conjuncts_of(self, claim: str) -> tuple[str, ...]:
        """Give, of a claim that is a list, each conjunct in the place of the whole; of any other nothing."""
        found = self.laid_out(f"{claim}Step") or self.laid_out(claim)
        parts = conjuncts(found[1]) if found else ()
        return parts if len(parts) > 1 else ()

    def knows(self, name: str) -> bool:
        """Say whether a module declares a constant of this name, or defines such an operator."""
        return any(name in _declared(text) for text in self.texts.values()) or (self.definition(name) is not None)

    def sentence(self, operator: str) -> tuple[str, int] | None:
        """Give the comment directly above an operator, joined ("" where there is none), and its place."""
        for text in self.texts.values():
            found = re.search(
                rf"((?:^[ \t]*\\\*[^\n]*\n)*)^(?:LOCAL\s+)?{operator}(?:\([^)]*\))?\s*==", text, re.MULTILINE
            )
            if found is not None:
                words = re.sub(r"^[ \t]*\\\*+", "", found[1], flags=re.MULTILINE).split()
                return " ".join(words), text.count("\n", 0, found.end()) + 1
        return None

    def actions(self, specification: str) -> tuple[str, ...]:
        r"""Name the actions: the operators in the `Next` of `Init /\ [][Next]_vars`, in its order.

        FileError where the definitions do not have that form.
        """
        body = self.definition(self._next(specification)[2])
        return tuple(dict.fromkeys(self._taken(body[1]))) if body else ()

    def is_by_member(self, specification: str) -> bool:
        r"""Say whether `Next` says what one member does: `[][\E m \in Member : Next(m)]_vars`."""
        return self._next(specification)[1] is not None

    def next_of(self, specification: str) -> str:
        """Give the expression that says what a step of a specification is."""
        found = self._next(specification)
        return found[2] if found[1] is None else f"\\E {found[1]} \\in Member : {found[2]}({found[1]})"

    def _next(self, specification: str) -> re.Match[str]:
        spec = self.definition(specification)
        if spec is None:
            raise FileError(f"{specification}", 1, f"the operator {specification}, but no module defines it")
        module, text, line = spec
        found = _NEXT.search(text)
        if found is None or self.definition(found[2]) is None:
            raise FileError(self.files[module].name, line, r"Init /\ [][Next]_vars, where Next is an operator")
        return found

    def _taken(self, text: str) -> Iterator[str]:
        r"""Name the actions in a disjunction: of `Next /\ Below`, a composition's, those of `Next`."""
        # The range of a quantifier is no action, nor is a formula that is true of other steps or before a
        # step.
        for word in re.findall(r"\w+", re.sub(r"(?:\\in|/\\)\s*\w+(?:\([^)]*\))?", "", text)):
            if (found := self.definition(word)) is not None and self._says_what_comes(word, set()):
                yield from self._taken(found[1]) if word == "Next" else (word,)

    def _says_what_comes(self, operator: str, known: set[str]) -> bool:
        """Say whether an operator, or an operator that it uses, says something of the next state."""
        found = None if operator in known else self.definition(operator)
        known.add(operator)
        return found is not None and (
            re.search(r"'|\bUNCHANGED\b", found[1]) is not None
            or any(self._says_what_comes(word, known) for word in set(re.findall(r"\w+", found[1])))
        )

    def step_of(self, claim: str) -> str | None:
        r"""Give the subscript of an action property `[A!Init /\] [][<claim>Step]_subscript`, or None.

        FileError where there is a `<claim>Step` and the claim is something else.
        """
        if self.definition(f"{claim}Step") is None or (found := self.definition(claim)) is None:
            return None
        module, text, line = found
        whole = re.fullmatch(rf"(?:\w+!\w+\s*/\\\s*)?\[\]\s*\[\s*{claim}Step\s*\]\s*_\s*(\w+|<<[^>]*>>)", text)
        if whole is None:
            raise FileError(
                self.files[module].name,
                line,
                f"{claim} == [][{claim}Step]_vars, as there is a {claim}Step, not {' '.join(text.split())}",
            )
        return whole[1]

    def refined(self, claim: str) -> frozenset[str]:
        """Name the modules that `claim` speaks of through an `INSTANCE`: of `A!Spec`, the module of `A`."""
        found = self.definition(claim)
        names = re.findall(r"\b(\w+)!", found[1]) if found else []
        instances = (definition[1] for name in names if (definition := self.definition(name)))
        return frozenset(word for text in instances for word in re.findall(r"\bINSTANCE\s+(\w+)", text))


def read_modules(folders: Iterable[Path], root: str) -> Modules:
    """Read the module `root` and all that it extends or instantiates, as far as they lie in `folders`.

    FileError where `root` does not, where a module has another name than its file, and where one extends or
    instantiates a module that there is not.
    """
    available = {file.stem: file for folder in folders for file in sorted(folder.glob("*.tla"))}
    if root not in available:
        raise FileError(f"{root}.tla", 1, "a module, but there is none")
    files: dict[str, Path] = {}
    texts: dict[str, str] = {}
    todo = [root]
    while todo:
        name = todo.pop(0)
        if name in files or name not in available:
            continue
        files[name] = available[name]
        text = texts[name] = read_text(available[name], what="a module")
        _check_name(available[name], text)
        for needed in _needed(text):
            if needed not in available and needed not in _LIBRARY:
                word = re.search(rf"\b(?:EXTENDS|INSTANCE)\b[\s\w,]*?\b{needed}\b", blanked(text))
                line = text.count("\n", 0, word.end()) + 1 if word else 1
                raise FileError(str(available[name]), line, f"a module, but there is no {needed}.tla")
            todo.append(needed)
    found = Modules(files, texts)
    # An operator of an instance must not be taken for one of the module itself, such as another `Next`.
    order = (*scope(found, root), *texts)
    return Modules(files, {name: texts[name] for name in dict.fromkeys(order)})


def read_tree(folders: Sequence[Path], root: str) -> tree.Definitions:
    """Read the module `root` and what it extends as the parser of TLA+ does, each guard as a constant.

    FileError as `read_modules`, TreeError and TLCError where the parser refuses the text.
    """
    return tree.read(export(folders, root), read_modules(folders, root).guards_of_scope(root))


def scope(modules: Modules, module: str) -> tuple[str, ...]:
    """Name a module and those modules that it extends, directly or not: it names them without an instance."""
    found = [module]
    for each in found:
        found += [n for n in _extended(modules.texts[each]) if n in modules.texts and n not in found]
    return tuple(found)


def declared_by(modules: Modules, module: str, keyword: str) -> tuple[str, ...]:
    """Name what a module and those that it extends declare, each once: of `keyword`, CONSTANT or VARIABLE."""
    texts = (_bare(modules.texts[each]) for each in scope(modules, module))
    lists = (names for text in texts for names in re.findall(rf"^{keyword}S?\s+({_NAMES})", text, re.MULTILINE))
    return tuple(dict.fromkeys(chain.from_iterable(re.split(r"\s*,\s*", names) for names in lists)))


def unused(texts: Mapping[str, str], own: AbstractSet[str], named: AbstractSet[str]) -> list[tuple[str, str, int]]:
    """Find operators that no operator uses and that are not `named`: each with its module and line.

    These are operators without parameters of the `own` modules, but for those of bounds (`MC...`), and only
    of modules that define a named operator: there a claim would stand.
    """
    words = Counter(word for text in texts.values() for word in re.findall(r"\w+", _bare(text)))
    return [
        (operator, module, line)
        for module, text in texts.items()
        if module in own and not module.startswith("MC") and not named.isdisjoint(_definitions(text))
        for operator, (_, line) in _definitions(text).items()
        if words[operator] == 1
        and operator not in named
        and re.search(rf"^(?:LOCAL\s+)?{operator}\s*==", _bare(text), re.MULTILINE)
    ]
