"""The one owner of the Spark session."""

import os
import re
import shutil
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from groupcomm_conformance.tlc.tools import find_java

from .errors import BadMaster, NoMaster, SparkFailed

_LOGGING: Final = "status = error\nname = groupcomm\nrootLogger.level = off\n"

# Of the driver: the best compiler takes longer to compile its code than that code runs.
_BRISK: Final = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


@contextmanager
def session(master: str, settings: Mapping[str, str]) -> Iterator[SparkSession]:
    """A session on `master`, ended on leaving; `settings` are Spark's own, besides.

    BadMaster where `master` is none, NoMaster where none answers, SparkFailed where no session starts.
    """
    local = master.startswith("local")
    hosts = [] if local else _hosts(master)
    java = find_java().resolve()
    own = Path(tempfile.mkdtemp(prefix="groupcomm-spark-"))
    (own / "log4j2.properties").write_text(_LOGGING, encoding="ascii")
    wanted = {"PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable}
    if not local and "PYSPARK_PYTHON" in os.environ:  # that of the workers may lie elsewhere
        del wanted["PYSPARK_PYTHON"]
    if (java.parent.parent / "bin" / "java").is_file():
        wanted["JAVA_HOME"] = str(java.parent.parent)
    if local or (hosts and _LOOPBACK.issuperset(hosts)):
        wanted["SPARK_LOCAL_IP"] = "127.0.0.1"
    if "SPARK_CONF_DIR" not in os.environ:
        wanted["SPARK_CONF_DIR"] = str(own)
    every = {
        "spark.driver.memory": "1g",
        "spark.driver.extraJavaOptions": f"-Djava.io.tmpdir={own} {_BRISK}",
        "spark.local.dir": str(own),
        "spark.sql.warehouse.dir": str(own / "warehouse"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        **settings,
    }
    builder = SparkSession.builder.master(master).appName("groupcomm")
    for name, value in every.items():
        builder = builder.config(name, value)
    interrupted = signal.getsignal(signal.SIGINT)  # PySpark puts a handler of its own there, and leaves it
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        spark = _started(builder, master, own / "spark.log")
        try:
            yield spark
        finally:
            with suppress(Py4JError, OSError):  # its process may be gone, as after a signal to all of ours
                spark.stop()
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, interrupted)
        for name, old in before.items():
            if old is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = old
        shutil.rmtree(own, ignore_errors=True)


_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1"})
_CONNECTING: Final = 5.0  # seconds; Spark itself would try for a minute


def _hosts(master: str) -> list[str]:
    """Give the hosts of a `spark://` address once one of them answers; NoMaster where none does.

    Of an address of any other kind Spark is the judge.
    """
    if (found := re.fullmatch(r"spark://([^\s/]+)", master)) is None:
        return []
    places = [each.rpartition(":") for each in found[1].split(",")]
    why = ""
    for host, _, port in places:
        if not host or re.fullmatch(r"[1-9][0-9]{0,4}", port, re.ASCII) is None:
            raise BadMaster(master)
        try:
            socket.create_connection((host.strip("[]"), int(port)), timeout=_CONNECTING).close()
        except (OSError, OverflowError, UnicodeError) as error:
            why = why or str(getattr(error, "strerror", None) or error)
        else:
            return [host for host, _, _ in places]
    raise NoMaster(master, why.lower())


def _started(builder: SparkSession.Builder, master: str, log: Path) -> SparkSession:
    """Start the session. From now on, stderr of the JVM and the workers goes to `log`."""
    sys.stderr.flush()
    stderr = os.dup(2)
    try:
        with log.open("wb") as file:
            os.dup2(file.fileno(), 2)
        try:
            return builder.getOrCreate()
        finally:
            os.dup2(stderr, 2)
    except Exception as error:
        if not isinstance(error, PySparkException) and type(error).__module__.partition(".")[0] != "py4j":
            raise
        if "Could not parse Master URL" in str(error):
            raise BadMaster(master) from None
        said = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        raise SparkFailed(f"{error} {' '.join(said[-3:])}") from error
    finally:
        os.close(stderr)
