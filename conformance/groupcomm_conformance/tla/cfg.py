r"""TLC's `.cfg` files, read, changed and written.

A `Cfg` is what such a file says. Models of a protocol share a file and differ in constants, which
`Cfg.override` replaces; `attrs.evolve` changes anything else (a run for a dump has no `view`, a witness
run one invariant). Comments (`\* ...` and `(* ... *)`, which nest) are dropped; the order of names is kept.

The right-hand side of a constant is text in one canonical spelling (set elements sorted, one space
after a comma), with its operator: `= 3`, `= {"A", "B"}`, `<- JoinViews`. Two constants are the same if
and only if these texts are.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from attrs import evolve, field, frozen

from groupcomm_conformance.files.errors import FileError
from groupcomm_conformance.files.reading import read_text

_TOKEN = re.compile(
    r"""
    (?P<space>\s+|\\\*[^\n]*)
  | (?P<comment>\(\*)
  | (?P<text>"[^"\\\n]*")
  | (?P<word>-?[A-Za-z0-9_!]+)
  | (?P<sign><-|[={},()\[\]])
    """,
    re.VERBOSE,
)
_ONE = {"SPECIFICATION": "specification", "INIT": "init", "NEXT": "next", "VIEW": "view"}
_MANY = {
    "INVARIANT": "invariants",
    "INVARIANTS": "invariants",
    "PROPERTY": "properties",
    "PROPERTIES": "properties",
    "CONSTRAINT": "constraints",
    "CONSTRAINTS": "constraints",
    "ACTION_CONSTRAINT": "action_constraints",
    "ACTION_CONSTRAINTS": "action_constraints",
    "SYMMETRY": "symmetry",
}
_CONSTANTS = ("CONSTANT", "CONSTANTS")
_KEYWORDS = frozenset((*_ONE, *_MANY, *_CONSTANTS))


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

    def override(self, constants: Mapping[str, str]) -> "Cfg":
        """Replace right-hand sides. KeyError, with the name, for a constant that this cfg has not."""
        for name in constants:
            if name not in self.constants:
                raise KeyError(name)
        return evolve(self, constants={**self.constants, **constants})

    @property
    def claims(self) -> tuple[str, ...]:
        """What a run with this cfg asserts: invariants, then properties."""
        return (*self.invariants, *self.properties)

    def render(self) -> str:
        """Write the file, so that `parse` gives this Cfg again."""
        parts: list[str] = []
        for keyword, name in (
            ("SPECIFICATION", self.specification),
            ("INIT", self.init),
            ("NEXT", self.next),
        ):
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


def load(path: Path, shown: str | None = None) -> Cfg:
    """Read the file at `path`. FileError (`file:line: expected ...`), calling it `shown`."""
    name = str(path) if shown is None else shown
    return parse(read_text(path, name, "a cfg file"), name)


def parse(text: str, shown: str) -> Cfg:
    """Read the text of a cfg file. FileError (`file:line: expected ...`), calling it `shown`."""
    return _Reader(shown, [*_tokens(text, shown)]).cfg()


@frozen
class _Token:
    kind: str
    text: str
    line: int


def _tokens(text: str, shown: str) -> Iterator[_Token]:
    position = 0
    line = 1
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise FileError(shown, line, f"a name, value or keyword, not {text[position]!r}")
        kind = str(match.lastgroup)
        end = _comment_end(text, position, line, shown) if kind == "comment" else match.end()
        if kind not in {"space", "comment"}:
            yield _Token(kind, match.group(), line)
        line += text.count("\n", position, end)
        position = end
    yield _Token("end", "the end of the file", line)


def _comment_end(text: str, start: int, line: int, shown: str) -> int:
    depth = 0
    for match in re.compile(r"\(\*|\*\)").finditer(text, start):
        depth += 1 if match.group() == "(*" else -1
        if depth == 0:
            return match.end()
    raise FileError(shown, line, '"*)" for the comment that starts here')


class _Reader:
    """Recursive descent over the tokens of one file."""

    def __init__(self, shown: str, tokens: list[_Token]) -> None:
        self._shown = shown
        self._tokens = tokens
        self._at = 0

    def cfg(self) -> Cfg:
        one: dict[str, str] = {}
        many: dict[str, list[str]] = {}
        constants: dict[str, str] = {}
        while self._seen.kind != "end":
            keyword = self._take()
            if keyword.text in _ONE:
                field = _ONE[keyword.text]
                if field in one:
                    raise self._error(keyword, f"one {keyword.text}, not a second")
                one[field] = self._name()
            elif keyword.text in _MANY:
                names = many.setdefault(_MANY[keyword.text], [])
                while self._seen.kind == "word" and self._seen.text not in _KEYWORDS:
                    name = self._take()
                    if name.text in names:
                        raise self._error(name, f"each name once, not {name.text} again")
                    names.append(name.text)
            elif keyword.text in _CONSTANTS:
                while self._seen.kind == "word" and self._seen.text not in _KEYWORDS:
                    name = self._take()
                    if name.text in constants:
                        raise self._error(name, f"each constant once, not {name.text} again")
                    constants[name.text] = self._side()
            else:
                raise self._error(keyword, f"a keyword such as CONSTANTS or INVARIANTS, not {keyword.text}")
        return Cfg(
            specification=one.get("specification"),
            init=one.get("init"),
            next=one.get("next"),
            view=one.get("view"),
            constants=constants,
            invariants=tuple(many.get("invariants", ())),
            properties=tuple(many.get("properties", ())),
            constraints=tuple(many.get("constraints", ())),
            action_constraints=tuple(many.get("action_constraints", ())),
            symmetry=tuple(many.get("symmetry", ())),
        )

    @property
    def _seen(self) -> _Token:
        return self._tokens[self._at]

    def _take(self) -> _Token:
        token = self._seen
        self._at = min(self._at + 1, len(self._tokens) - 1)
        return token

    def _name(self) -> str:
        token = self._take()
        if token.kind != "word" or token.text in _KEYWORDS:
            raise self._error(token, f"a name, not {token.text}")
        return token.text

    def _side(self) -> str:
        sign = self._take()
        if sign.text == "=":
            return f"= {self._value()}"
        if sign.text == "<-":
            module = ""
            if self._seen.text == "[":
                self._take()
                module = f"[{self._name()}]"
                self._expect("]")
            return f"<- {module}{self._name()}"
        raise self._error(sign, f'"=" or "<-" after a constant, not {sign.text}')

    def _value(self, depth: int = 0) -> str:
        token = self._take()
        if token.kind == "text" or (token.kind == "word" and token.text not in _KEYWORDS):
            if _is_number(token.text) and not _is_tlc_integer(token.text):
                raise self._error(token, f"an integer from {_LEAST} to {_GREATEST}: TLC has no others")
            return token.text
        if depth == _DEEPEST:
            raise self._error(token, f"at most {_DEEPEST} sets inside each other")
        if token.text != "{":
            raise self._error(token, f"a value, not {token.text}")
        elements: set[str] = set()
        while self._seen.text != "}":
            if elements:
                self._expect(",")
            elements.add(self._value(depth + 1))
        self._expect("}")
        return set_text(elements)

    def _expect(self, sign: str) -> None:
        token = self._take()
        if token.text != sign:
            raise self._error(token, f'"{sign}", not {token.text}')

    def _error(self, token: _Token, expected: str) -> FileError:
        return FileError(self._shown, token.line, expected)


def set_text(elements: set[str]) -> str:
    """Write a set in the canonical order: numbers by size, before everything else by spelling."""
    numbers = sorted((text for text in elements if _is_number(text)), key=int)
    others = sorted(text for text in elements if not _is_number(text))
    return "{" + ", ".join((*numbers, *others)) + "}"


_DEEPEST = 40
_LEAST = -(2**31)
_GREATEST = 2**31 - 1


def _is_tlc_integer(text: str) -> bool:
    """Whether digits are an integer of TLC; of very many, Python would refuse to read the number."""
    return len(text) <= len(str(_LEAST)) and _LEAST <= int(text) <= _GREATEST


def _is_number(text: str) -> bool:
    return re.fullmatch(r"-?[0-9]+", text) is not None
