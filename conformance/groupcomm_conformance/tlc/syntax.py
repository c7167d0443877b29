"""The syntax tree of SANY, the parser of TLA+, for a module: its XML, by the exporter in TLC's jar."""

import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final

from .errors import ParseFailed, TimedOut
from .run import gather
from .tools import find_jar, find_java

_LIMIT: Final = 120.0


def export(folders: Sequence[Path], module: str, *, generated: Mapping[str, str] = MappingProxyType({})) -> str:
    """Give the XML of `module`, which lies in one of `folders` or is `generated`.

    ParseFailed where it does not parse, TimedOut where SANY does not end.
    """
    with tempfile.TemporaryDirectory(prefix="groupcomm-sany-") as name:
        folder = Path(name)
        gather(folders, generated, folder)
        command = [
            *(str(find_java()), "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xss16m"),
            *("-Dfile.encoding=UTF-8", f"-Djava.io.tmpdir={folder}", "-cp", str(find_jar())),
            *("tla2sany.xml.XMLExporter", "-o", f"{module}.tla"),
        ]
        try:
            ran = subprocess.run(
                command, cwd=folder, capture_output=True, encoding="utf-8", timeout=_LIMIT, check=False
            )
        except subprocess.TimeoutExpired as error:
            raise TimedOut(f"{module}: SANY was killed after {_LIMIT:g} s") from error
    if ran.returncode != 0 or not ran.stdout.startswith("<?xml"):
        said = (ran.stderr + ran.stdout).strip()
        raise ParseFailed(f"{module}: SANY does not export it: {' '.join(said.split())[-600:]}", text=said)
    return ran.stdout
