"""A JVM with real JGroups stacks: built with Maven, driven by JSON lines. Sources: conformance/jgroups."""

import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from attrs import frozen

from groupcomm_conformance.files.digests import require_known
from groupcomm_conformance.tlc.tools import find_java

_PROJECT: Final = Path("conformance", "jgroups")
_OUTPUT: Final = Path("build", "jgroups")
_SHOWN: Final = 20  # lines of Maven's errors


class JvmError(Exception):
    """Maven, Java or the driver in it failed; the message says how, and what to do."""


@frozen
class Version:
    """A version of JGroups: its number, its generation of interfaces, and whether it has FLUSH and NAKACK4."""

    number: str
    line: int
    flush: bool = True
    acks: bool = False

    @property
    def multicast(self) -> str:
        """The name of its layer for reliable multicast."""
        return "NAKACK" if self.line < _NAKACK2_SINCE else "NAKACK2"


_NAKACK2_SINCE: Final = 3

VERSIONS: Final = {
    version.number: version
    for version in (
        Version("2.12.2", 2),
        Version("3.6.20", 3),
        Version("5.3.10", 5),
        Version("5.5.7", 5, flush=False, acks=True),
    )
}
"""The versions of the table, the oldest first."""


def built(root: Path, version: Version) -> Path:
    """Return the folder of the driver for a version; Maven compiles it where its sources are newer.

    All jars in it are those of `SHA256SUMS`, whenever they were fetched.
    """
    output = _built(root, version)
    try:
        require_known(output / "lib", ".jar", root / _PROJECT / "SHA256SUMS")
    except ValueError as error:
        raise JvmError(str(error)) from None
    return output


def _built(root: Path, version: Version) -> Path:
    project, output = root / _PROJECT, root / _OUTPUT / version.number
    mark = output / ".built"
    sources = [project / "pom.xml", *(project / "src").rglob("*.java")]
    if mark.exists() and all(source.stat().st_mtime <= mark.stat().st_mtime for source in sources):
        return output
    maven = shutil.which("mvn")
    if maven is None:
        raise JvmError("Maven is not there: install it (Debian, Ubuntu: apt-get install maven)")
    command = [maven, "-q", "-B", "-C", "-f", str(project / "pom.xml"), f"-Djgroups.version={version.number}"]
    done = subprocess.run(
        [*command, f"-Djgroups.line={version.line}", "compile"], capture_output=True, text=True, check=False
    )
    if done.returncode:
        lines = [line for line in (done.stdout + done.stderr).splitlines() if "ERROR" in line][:_SHOWN]
        raise JvmError(f"Maven cannot build the driver for JGroups {version.number}: {' '.join(lines)}")
    mark.touch()
    return output


class Jvm:
    """A JVM that runs one group at a time. Use it in a `with`."""

    def __init__(self, root: Path, version: Version) -> None:
        output = built(root, version)
        self.version = version
        self._process = subprocess.Popen(
            [
                str(find_java()),
                *("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UseDynamicNumberOfCompilerThreads"),
                *("-Xss512k", "-Djava.util.logging.config.file=/dev/null", "-Djava.net.preferIPv4Stack=true"),
                *("-cp", f"{output / 'classes'}:{output / 'lib'}/*", "groupcomm.jgroups.Main"),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the JVM."""
        with self._process:  # which closes the pipes and waits
            self._process.kill()

    def ask(self, command: dict[str, object]) -> tuple[object, Sequence[dict[str, Any]]]:
        """Give a command; return its result and the events that it led to. Raises JvmError."""
        stdin, stdout = self._process.stdin, self._process.stdout
        if stdin is None or stdout is None:
            raise JvmError("the JVM has no pipes")
        try:
            stdin.write(json.dumps(command) + "\n")
            stdin.flush()
            line = stdout.readline()
        except OSError as error:
            raise JvmError(f"the JVM of JGroups {self.version.number} is gone: {error}") from error
        if not line:
            raise JvmError(f"the JVM of JGroups {self.version.number} ended at {json.dumps(command)}")
        answer = json.loads(line)
        if "error" in answer:
            raise JvmError(f"JGroups {self.version.number} at {json.dumps(command)}: {answer['error']}")
        return answer["result"], answer["events"]
