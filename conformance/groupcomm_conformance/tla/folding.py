"""Lines of generated modules: short, since TLC's time for a line is in the square of its length.

It searches every module for a PlusCal algorithm, and reads a line from its beginning for each word.
"""

import re
from typing import Final

_WIDTH: Final = 100
_WORD: Final = re.compile(r'(?:"(?:[^"\\]|\\.)*"|[^\s"])+')


def folded(text: str) -> str:
    r"""Break a long definition into lines, between words and never in a string.

    For text without lists of `/\` or `\/` that are laid out in columns.
    """
    if len(text) <= _WIDTH:
        return text
    lines: list[str] = []
    line: list[str] = []
    length = 0
    for word in _WORD.findall(text):
        if line and length + len(word) > _WIDTH:
            lines.append(" ".join(line))
            line, length = [], 0
        line.append(word)
        length += len(word) + 1
    lines.append(" ".join(line))
    return "\n    ".join(lines)
