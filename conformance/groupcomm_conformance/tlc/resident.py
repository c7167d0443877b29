"""TLC kept in memory: one JVM for many short runs, by the program `Resident.java` beside this file.

Most runs are short: of the 1.5 CPU seconds that a small model takes in a JVM of its own, 1.2 are for loading
TLC and for compiling what is soon thrown away (docs/performance.md). The program is compiled once and kept in
`.cache/groupcomm`, and with it `FastTool.java`, `Context.java`, `Validator.java` and `SANY.java`, which take the
places of TLC's own classes of these names. They are made for the pinned TLC. With another, and where they cannot
be compiled or kept (a Java without its compiler), each run has a JVM of its own, as very long ones always have:
that is TLC as it comes.
"""

import atexit
import functools
import hashlib
import subprocess
import tempfile
import threading
import zipfile
from pathlib import Path
from typing import Final

from attrs import define

from groupcomm_conformance.files.project import find_root
from groupcomm_conformance.files.store import folder_for_results

from .jvm import JVM, OPTIONS
from .tools import MINIMUM_JAVA, PINNED_JAR, jar_digest

ENDED: Final = "@!@!@ENDED "
"""With what the line begins that ends a run's output; exit code and CPU nanoseconds follow."""

_SOURCES: Final = tuple(
    Path(__file__).with_name(f"{each}.java") for each in ("Resident", "FastTool", "Context", "Validator", "SANY")
)
_LIBRARY: Final = "tla2sany/StandardModules/"
_LIMIT: Final = 60.0
_RUNS: Final = 1000
"""Runs after which a JVM is replaced: each leaves 0.4 MB behind, and a new JVM compiles for 10 s."""

# The first run: something of all that specifications use. No specification uses its names and strings, since
# they keep their numbers in TLC's table of names.
_MODULE: Final = r"""---- MODULE Resident_ ----
EXTENDS Integers, Sequences, FiniteSets, TLC
VARIABLES r_x, r_log
r_vars == <<r_x, r_log>>
r_Members == {"r_A", "r_B"}
RECURSIVE r_Sum(_)
r_Sum(r_s) == IF r_s = <<>> THEN 0 ELSE Head(r_s) + r_Sum(Tail(r_s))
r_Max(r_a, r_b) == IF r_a > r_b THEN r_a ELSE r_b
r_Init == r_x = [r_m \in r_Members |-> 0] /\ r_log = <<>>
r_Step(r_m) == \E r_r \in {[r_member |-> r_m, r_at |-> r_x[r_m] + 1]} :
    /\ r_r.r_at <= 2
    /\ r_x' = [r_x EXCEPT ![r_m] = r_r.r_at]
    /\ r_log' = SelectSeq(Append(r_log, r_r.r_at), LAMBDA r_n : r_n > 0)
r_Next == \E r_m \in r_Members : r_Step(r_m)
r_Spec == r_Init /\ [][r_Next]_r_vars /\ WF_r_vars(r_Next)
r_Bounded ==
    /\ r_Sum(r_log) \in 0 .. 6 /\ Cardinality(DOMAIN r_x \cup {"r_C"}) = 3
    /\ PrintT(ToString(<<"r_state", r_x>>)) /\ TLCSet(1, {r_x}) /\ r_x \in TLCGet(1)
    /\ CASE r_log = <<>> -> TRUE [] OTHER -> r_Max(Len(r_log), 1) > 0
r_Rises == [][\A r_m \in r_Members : r_x'[r_m] >= r_x[r_m]]_r_vars
r_Ends == <>(\A r_m \in r_Members : r_x[r_m] = 2)
====
"""
_CFG: Final = "SPECIFICATION r_Spec\nINVARIANT r_Bounded\nPROPERTIES r_Rises r_Ends\n"
_FIRST: Final = ("-tool", "-workers", "1", "-deadlock", "-checkpoint", "0", "-fp", "0")
# The parsed modules of a run are garbage when it ends. With room for several runs few are in use, and copied,
# when it is collected: of 24 small runs the collector took 2.7 of 14 CPU seconds, and 0.8 with this. (In a
# smaller heap Java takes what there is, and is not to say so.)
_GARBAGE: Final = ("-XX:+UseSerialGC", "-XX:NewSize=600m", "-Xlog:gc+ergo=off")
# Of few runs the first compiler is worth its time, and the second is not: 20 small ones took 19 CPU seconds with
# both and 9 with the first alone, 34 took 20 and 12, 267 took 76 and 66; of 135 longer ones it saved 63 of 256.
_COLD: Final = ("-XX:TieredStopAtLevel=1",)
# Among many the second takes a method when it was called 16 times as often as Java would have it. Each
# run asks for other methods of the parser and of TLC: for GMS's models it took 66 of 232 CPU seconds, and
# with this 39 of 207. (1,500 runs have no more of 64 times as often: small ones are slower, at the end.)
_HOT: Final = (
    "-XX:Tier4InvocationThreshold=80000",
    "-XX:Tier4MinInvocationThreshold=9600",
    "-XX:Tier4CompileThreshold=240000",
    "-XX:Tier4BackEdgeThreshold=640000",
)


@define(eq=False)
class Kept:
    """A JVM, what it is for (Java, jar, heap, hot), its folder, and how many runs it has had."""

    jvm: JVM
    key: tuple[Path, Path, str, bool]
    folder: "tempfile.TemporaryDirectory[str]"
    runs: int = 0


_lock: Final = threading.Lock()
_idle: Final[list[Kept]] = []


def take(java: Path, jar: Path, heap: str, *, hot: bool = False) -> Kept | None:
    """Give a JVM that waits for a run, a new one if there is none; None where there can be none.

    A `hot` one is for much work: what it does often is compiled a second time.
    """
    key = java, jar, heap, hot
    with _lock:  # runs begin side by side: the first compiles the program, the others wait for it
        for kept in [each for each in _idle if each.key == key]:
            _idle.remove(kept)
            if kept.jvm.ended(wait=False) is None:
                return kept
            _end(kept)
        found = _program(java, jar)
        if found is None:
            return None
        folder = tempfile.TemporaryDirectory(prefix="groupcomm-tlc-")
        place = Path(folder.name)
        (place / "Resident_.tla").write_text(_MODULE, encoding="utf-8")
        (place / "Resident_.cfg").write_text(_CFG, encoding="utf-8")
        command = [
            *(str(java), *_GARBAGE, *(_HOT if hot else _COLD), *OPTIONS, f"-Xmx{heap}", f"-Djava.io.tmpdir={place}"),
            *("-cp", f"{found}:{jar}", "Resident", *_FIRST, "-metadir", str(place / "states")),
            *("-config", "Resident_.cfg", str(place / "Resident_.tla")),
        ]
        return Kept(JVM(command, place, asked=True), key, folder)


def program(java: Path, jar: Path) -> Path | None:
    """Give the folder with the compiled program and evaluator; None where they cannot be compiled or kept."""
    with _lock:
        return _program(java, jar)


def _program(java: Path, jar: Path) -> Path | None:
    return _compiled(java, jar, jar_digest(jar))


def give_back(kept: Kept, *, usable: bool) -> None:
    """Take back a JVM after a run; end it if it is not usable, or has run for long enough."""
    with _lock:
        kept.runs += 1
        if usable and kept.runs < _RUNS:
            _idle.append(kept)
            return
        _end(kept)


@atexit.register
def end() -> None:
    """End all JVMs that wait for a run."""
    with _lock:
        while _idle:
            _end(_idle.pop())


def _end(kept: Kept) -> None:
    kept.jvm.kill()
    kept.jvm.ended(wait=True)
    kept.jvm.close()
    kept.folder.cleanup()


@functools.cache
def _compiled(java: Path, jar: Path, digest: str) -> Path | None:
    """Give the folder with the program: who can compile it does so, and any Java can run it."""
    try:
        sources = [source.read_bytes() for source in _SOURCES]
        if digest != PINNED_JAR:
            return None
        key = hashlib.sha256(repr((digest, sources)).encode()).hexdigest()
        folder = folder_for_results(find_root() / ".cache" / "groupcomm") / f"tlc-{key[:32]}"
        if not folder.is_dir():
            _compile(java, jar, folder)
    except (OSError, subprocess.SubprocessError):
        return None
    return folder if (folder / "Resident.class").is_file() else None


def _compile(java: Path, jar: Path, folder: Path) -> None:
    with tempfile.TemporaryDirectory(prefix=".compiled-", dir=folder.parent) as name:
        made = Path(name, "made")
        with zipfile.ZipFile(jar) as file:  # beside the parser, where it looks for them
            file.extractall(made, [each for each in file.namelist() if each.startswith(_LIBRARY)])
        command = [
            *(str(java), "-m", "jdk.compiler/com.sun.tools.javac.Main", "-cp", str(jar)),
            *("--release", str(MINIMUM_JAVA), "-d", str(made), *map(str, _SOURCES)),
        ]
        ran = subprocess.run(command, capture_output=True, timeout=_LIMIT, check=False)
        if ran.returncode == 0:
            made.rename(folder)
