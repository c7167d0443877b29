"""TLA+ text: a module without its comments, and the constants that it declares."""

import functools
import re
from typing import Final

_STRING: Final = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_TOKEN: Final = re.compile(rf"{_STRING.pattern}|\\\*[^\n]*|\(\*")
_INSIDE: Final = re.compile(r"\(\*|\*\)")
_NAME: Final = r"\w+(?:\s*\([\s_,]*\))?"
_GUARDS: Final = re.compile(r"^\(\* Guards\b[^\n]*\*\)\n((?:\w+ == [^\n]*\n|[ \t]*\\\*[^\n]*\n)+)", re.MULTILINE)
_GUARD: Final = re.compile(r'^(\w+) == (TRUE|FALSE|"[^"\n]*")', re.MULTILINE)
_CONSTANTS: Final = re.compile(rf"\bCONSTANTS?\s+({_NAME}(?:\s*,\s*{_NAME})*)")


@functools.lru_cache(maxsize=256)
def blanked(text: str) -> str:
    """Give a module with spaces in the place of its comments, which may be nested, all else in its place."""
    parts: list[str] = []
    kept = at = 0
    while (token := _TOKEN.search(text, at)) is not None:
        at = token.end()
        if token[0].startswith('"'):
            continue
        depth = 1 if token[0] == "(*" else 0
        while depth:
            found = _INSIDE.search(text, at)
            at = len(text) if found is None else found.end()
            depth = 0 if found is None else depth + (1 if found[0] == "(*" else -1)
        parts += [text[kept : token.start()], re.sub(r"[^\n]", " ", text[token.start() : at])]
        kept = at
    return "".join((*parts, text[kept:]))


def bare(text: str) -> str:
    """Give a module's text with spaces in the place of comments, and with all strings empty."""
    return _STRING.sub('""', blanked(text))


def declared(text: str) -> tuple[str, ...]:
    """Name the constants that a module's bare text declares itself, in order."""
    lists = (re.sub(r"\([^)]*\)", "", found[1]) for found in _CONSTANTS.finditer(text))
    return tuple(name for names in lists for name in re.findall(r"\w+", names))


@functools.lru_cache(maxsize=256)
def guards(text: str) -> dict[str, str]:
    """Give the definitions below the heading `(* Guards ... *)` of a module: their values in the reference.

    A model may give one another value: as of a constant, its cfg says which.
    """
    return {found[1]: found[2] for part in _GUARDS.finditer(text) for found in _GUARD.finditer(part[1])}


def as_constants(text: str) -> str:
    """Give a module with its guards as constants, for an `INSTANCE` that substitutes them."""
    return _GUARDS.sub(lambda part: f"CONSTANTS {', '.join(found[1] for found in _GUARD.finditer(part[1]))}\n", text)
