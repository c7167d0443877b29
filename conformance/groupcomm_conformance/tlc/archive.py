"""TLC's classes as an archive that the JVM maps into memory (class-data sharing), instead of loading them.

Most runs are short: a start of TLC takes 0.72 CPU seconds without and 0.49 with it (docs/performance.md). The
archive is made once, by a run of a small model, and kept in `.cache/groupcomm`; it belongs to one jar and one
Java. Where it cannot be made or kept, TLC starts without.
"""

import functools
import hashlib
import os
import subprocess
import tempfile
import threading
from pathlib import Path
from typing import Final

from groupcomm_conformance.files.project import find_root

from .tools import jar_digest

__all__ = ["located", "options"]

_LIMIT: Final = 60.0
_making: Final = threading.Lock()
"""Runs begin side by side: the first makes the archive, the others wait for it."""

# Something of all that specifications use, so that its classes are in the archive.
_MODULE: Final = r"""---- MODULE Warm ----
EXTENDS Integers, Sequences, FiniteSets, TLC
VARIABLES x, log
vars == <<x, log>>
Members == {"A", "B"}
RECURSIVE Sum(_)
Sum(s) == IF s = <<>> THEN 0 ELSE Head(s) + Sum(Tail(s))
Max(a, b) == IF a > b THEN a ELSE b
Init == x = [m \in Members |-> 0] /\ log = <<>>
Step(m) == \E record \in {[member |-> m, at |-> x[m] + 1]} :
    /\ record.at <= 2
    /\ x' = [x EXCEPT ![m] = record.at]
    /\ log' = SelectSeq(Append(log, record.at), LAMBDA n : n > 0)
Next == \E m \in Members : Step(m)
Spec == Init /\ [][Next]_vars /\ WF_vars(Next)
Bounded == /\ Sum(log) \in 0 .. 6 /\ Cardinality(DOMAIN x \cup {"C"}) = 3
           /\ PrintT(ToString(<<"state", x>>)) /\ TLCSet(1, {x}) /\ x \in TLCGet(1)
           /\ CASE log = <<>> -> TRUE [] OTHER -> Max(Len(log), 1) > 0
Rises == [][\A m \in Members : x'[m] >= x[m]]_vars
Ends == <>(\A m \in Members : x[m] = 2)
====
"""
_CFG: Final = "SPECIFICATION Spec\nINVARIANT Bounded\nPROPERTIES Rises Ends\n"


def options(java: Path, jar: Path) -> tuple[str, ...]:
    """Give the options for a JVM that runs `jar`: those that use the archive, none if there can be none."""
    stat = jar.stat()
    with _making:
        archive = located(java, jar, stat.st_size, stat.st_mtime_ns)
    if archive is None:
        return ()
    return f"-XX:SharedArchiveFile={archive}", "-Xshare:auto", "-Xlog:cds=off", "-Xlog:cds+dynamic=off"


@functools.cache
def located(java: Path, jar: Path, size: int, modified: int) -> Path | None:
    """Give the archive for a Java and a jar of this size and time of change; None where there can be none."""
    try:
        program = java.resolve().stat()
        told = [jar_digest(jar), jar, size, modified, java.resolve(), program.st_size, program.st_mtime_ns]
        key = hashlib.sha256(repr(told).encode()).hexdigest()
        archive = find_root() / ".cache" / "groupcomm" / f"tlc-{key[:32]}.jsa"
        if not archive.is_file():
            archive.parent.mkdir(parents=True, exist_ok=True)
            _make(java, jar, archive)
    except (OSError, subprocess.SubprocessError):
        return None
    return archive if archive.is_file() else None


def _make(java: Path, jar: Path, archive: Path) -> None:
    """Run a small model, and let the JVM write the archive of what it loaded."""
    with tempfile.TemporaryDirectory(prefix=".archive-", dir=archive.parent) as name:
        folder = Path(name)
        (folder / "Warm.tla").write_text(_MODULE, encoding="utf-8")
        (folder / "Warm.cfg").write_text(_CFG, encoding="utf-8")
        made = folder / "tlc.jsa"
        command = [
            *(str(java), "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xss16m", "-Xmx256m"),
            *(f"-XX:ArchiveClassesAtExit={made}", f"-Djava.io.tmpdir={folder}", "-cp", str(jar)),
            *("tlc2.TLC", "-tool", "-workers", "1", "-metadir", str(folder / "states"), "-deadlock"),
            *("-checkpoint", "0", "-fp", "0", "-config", "Warm.cfg", "Warm.tla"),
        ]
        ran = subprocess.run(command, cwd=folder, capture_output=True, timeout=_LIMIT, check=False)
        if ran.returncode == os.EX_OK and made.is_file():
            made.replace(archive)
