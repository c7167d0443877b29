"""Keys of results that are kept: digests of all that a result depends on, the code that made it included."""

import ast
import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Final

__all__ = ["code_digest", "key", "meant"]

_PACKAGE: Final = Path(__file__).parent.parent


def key(rooms: tuple[str, ...], *told: object) -> str:
    """Give a result's key: a digest of its input `told`, as JSON, and of the code of `rooms`, which made it.

    A room is a folder of this package, or a package beside it; `models`, `tla`, `tlc` and `files` made what
    `check` keeps.
    """
    return hashlib.sha256(json.dumps([*told, code_digest(*rooms)]).encode()).hexdigest()


@cache
def code_digest(*rooms: str) -> str:
    """Give the SHA-256 of the code in some rooms: names and contents of modules, Python's as `meant`."""
    digest = hashlib.sha256()
    for room in sorted(set(rooms)):
        folder = next(
            (found for found in (_PACKAGE / room, _PACKAGE.with_name(room)) if found.is_dir()), _PACKAGE / room
        )
        files = sorted(file for file in folder.rglob("*.*") if file.suffix in {".py", ".java"})
        if not files:
            raise ValueError(f"no room of {_PACKAGE.name} is called {room}")
        for file in files:
            content = file.read_bytes()
            content = meant(content) if file.suffix == ".py" else content
            digest.update(f"{file.relative_to(folder.parent)} {len(content)}\n".encode())
            digest.update(content)
    return digest.hexdigest()


def meant(code: bytes) -> bytes:
    """Give a Python module's syntax tree without docstrings: rewording one makes no result stale."""
    tree = ast.parse(code)
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    for node in ast.walk(tree):
        if isinstance(node, documented) and ast.get_docstring(node) is not None:
            del node.body[0]
    return ast.dump(tree).encode()
