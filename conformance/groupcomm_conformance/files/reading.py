"""Reading files that people write: whatever is wrong with one is a `FileError` with file and line."""

import ast
import json
import stat
import sys
from pathlib import Path
from typing import Any, Final

from .errors import FileError, reason

_LARGEST: Final = 256 << 20
"""Bytes of a file that people write; far more than any has."""


def read_text(path: Path, shown: str | None = None, what: str = "a text file") -> str:
    """Read a file in UTF-8. FileError, calling it `shown`, where that cannot be done."""
    name = str(path) if shown is None else shown
    return decoded(read_bytes(path, name, what), name)


def read_bytes(path: Path, shown: str, what: str, largest: int = _LARGEST) -> bytes:
    """Read a file of at most `largest` bytes. FileError, calling it `shown`, where that cannot be done."""
    try:
        about = path.stat()
        if stat.S_ISDIR(about.st_mode):
            raise FileError(shown, 1, f"{what}, not a folder")
        if not stat.S_ISREG(about.st_mode):
            raise FileError(shown, 1, f"{what}, not a device or pipe, which may never end")
        if about.st_size > largest:
            raise FileError(shown, 1, f"{what} of at most {largest >> 20} MB, not {about.st_size >> 20}")
        return path.read_bytes()
    except OSError as error:
        raise FileError(shown, 1, f"{what}, but {reason(error)}") from None
    except FileError:
        raise
    except ValueError:  # a null byte in the name
        raise FileError(shown, 1, f"{what}, but no file can have this name") from None


def decoded(content: bytes, shown: str) -> str:
    """Decode UTF-8 with any ends of lines. FileError at the line of the first byte that is none."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise FileError(shown, line, f"text in UTF-8, not the byte 0x{content[error.start]:02x}") from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def python_tree(text: str, shown: str) -> ast.Module:
    """Read a Python module. FileError at the line that is no Python."""
    try:
        return ast.parse(text)
    except SyntaxError as error:
        raise FileError(shown, error.lineno or 1, f"Python ({error.msg})") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise FileError(shown, 1, f"Python ({error})") from None


def json_value(text: str, shown: str, line: int = 1) -> Any:  # noqa: ANN401 - of any type
    """Read JSON that starts at `line` of a file. FileError at the line where it stops being JSON."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise FileError(shown, line + error.lineno - 1, f"JSON: {error.msg}") from None
    except RecursionError:
        raise FileError(shown, line, "JSON with fewer levels of nesting") from None
    except ValueError:
        digits = sys.get_int_max_str_digits()
        raise FileError(shown, line, f"JSON whose integers have at most {digits:,} digits") from None
