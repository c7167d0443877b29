"""Keys of results that are kept: digests of all that a result depends on, the code that made it included."""

import ast
import hashlib
import json
import sys
import sysconfig
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

_LIBRARIES: Final = frozenset(map(sysconfig.get_path, ("stdlib", "platstdlib", "purelib", "platlib")))


def key(module: str, *told: object) -> str:
    """Give a result's key: a digest of its input `told`, as JSON, and of the code of `module`, which made it."""
    return hashlib.sha256(json.dumps([*told, code_digest(module)]).encode()).hexdigest()


@cache
def code_digest(*modules: str) -> str:
    """Give the SHA-256 of the code of some modules and of all that they import, Python's as `meant`.

    That is what `using` gives, and the programs in Java beside any of it. ValueError where there is no such module.
    """
    found = using(*modules)
    digest = hashlib.sha256()
    programs = {program for file in found.values() for program in file.parent.glob("*.java")}
    for name, file in sorted((found | {program.name: program for program in programs}).items()):
        content = file.read_bytes()
        content = meant(content) if file.suffix == ".py" else content
        digest.update(f"{name} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()


def using(*modules: str) -> dict[str, Path]:
    """List some modules and all of ours that they import, directly or not, with their files.

    Ours are those of the packages `groupcomm...`, and those that no library has. A package as such counts where a name
    is imported from it that is no module of it; what a program imports by a name that it makes is not seen.
    """
    found: dict[str, Path] = {}
    waiting = [*modules]
    while waiting:
        name = waiting.pop()
        if name not in found and (file := _file(name)) is not None:
            found[name] = file
            waiting += imports(name, file)
    if unknown := sorted({*modules} - found.keys()):
        raise ValueError(f"no module of ours is called {unknown[0]}")
    return found


def imports(module: str, file: Path) -> Iterator[str]:
    """Give the names of modules that a module imports, wherever in its text."""
    package = module if file.name == "__init__.py" else module.rpartition(".")[0]
    for node in _parsed(file.read_bytes())[1]:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
            continue
        above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
        base = ".".join(part for part in (*above, node.module) if part)
        for alias in node.names:
            inner = f"{base}.{alias.name}"
            yield inner if _file(inner) is not None else base


def _file(module: str) -> Path | None:
    """Find the file of a module of ours; None for any other name."""
    for place in sys.path:
        path = Path(place, *module.split("."))
        if module.startswith("groupcomm") or place not in _LIBRARIES:
            for file in (path / "__init__.py", path.with_suffix(".py")):
                if file.is_file():
                    return file
    return None


def meant(code: bytes) -> bytes:
    """Give a Python module's syntax tree without docstrings: rewording one makes no result stale."""
    return _parsed(code)[0]


@cache
def _parsed(code: bytes) -> tuple[bytes, tuple[ast.Import | ast.ImportFrom, ...]]:
    """Give what a module means, and its imports: each text is parsed once."""
    tree = ast.parse(code)
    nodes = [*ast.walk(tree)]
    for node in nodes:
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            del node.body[0]
    return ast.dump(tree).encode(), tuple(node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom))
