"""TLA+ text: a module without its comments, and the constants that it declares."""

import re
from typing import Final

__all__ = ["bare", "declared"]

_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|\\\*[^\n]*|\(\*|\*\)')
_NAME: Final = r"\w+(?:\s*\([\s_,]*\))?"
_CONSTANTS: Final = re.compile(rf"\bCONSTANTS?\s+({_NAME}(?:\s*,\s*{_NAME})*)")


def bare(text: str) -> str:
    """Give a module's text without its comments, which may be nested, and with all strings empty."""
    parts: list[str] = []
    depth = end = 0
    for token in _TOKEN.finditer(text):
        if depth == 0:
            parts.append(text[end : token.start()])
        end = token.end()
        if token[0] == "(*":
            depth += 1
        elif token[0] == "*)":
            depth = max(0, depth - 1)
        elif depth == 0 and token[0].startswith('"'):
            parts.append('""')
        if depth == 0:
            parts.append(" ")
    parts.append(text[end:] if depth == 0 else "")
    return "".join(parts)


def declared(text: str) -> tuple[str, ...]:
    """Name the constants that a module's bare text declares itself, in order."""
    lists = (re.sub(r"\([^)]*\)", "", found[1]) for found in _CONSTANTS.finditer(text))
    return tuple(name for names in lists for name in re.findall(r"\w+", names))
