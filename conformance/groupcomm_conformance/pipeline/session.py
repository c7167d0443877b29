"""The one owner of the Spark session."""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from groupcomm_conformance.tlc.tools import find_java

from .errors import BadMaster, SparkFailed

__all__ = ["DEFAULT_MASTER", "session"]

DEFAULT_MASTER: Final = "local[*]"

_LOGGING: Final = "status = error\nname = groupcomm\nrootLogger.level = off\n"

# For a session that lives for seconds: what compiles best takes longer than what it compiles runs.
_BRISK: Final = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.shuffle.partitions": "2",
}
_BRISK_JVM: Final = " -XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


@contextmanager
def session(
    master: str = DEFAULT_MASTER, *, memory: str = "4g", brisk: bool = False
) -> Iterator[SparkSession]:
    """A session on `master`, ended on leaving.

    `memory` is the heap of the driver; on `local` masters that is all there is. `brisk` is for small tables
    only: it starts faster and computes slower. What does not fit into memory goes into a folder for temporary
    files. BadMaster where `master` is none; SparkFailed where there comes no session.
    """
    java = find_java().resolve()
    own = Path(tempfile.mkdtemp(prefix="groupcomm-spark-"))
    (own / "log4j2.properties").write_text(_LOGGING, encoding="ascii")
    wanted = {"PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable}
    if (java.parent.parent / "bin" / "java").is_file():
        wanted["JAVA_HOME"] = str(java.parent.parent)
    if master.startswith("local"):
        wanted["SPARK_LOCAL_IP"] = "127.0.0.1"
    if "SPARK_CONF_DIR" not in os.environ:
        wanted["SPARK_CONF_DIR"] = str(own)
    settings = {
        "spark.driver.memory": memory,
        "spark.driver.extraJavaOptions": f"-Djava.io.tmpdir={own}{_BRISK_JVM if brisk else ''}",
        "spark.local.dir": str(own),
        "spark.sql.warehouse.dir": str(own / "warehouse"),
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "16",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        **(_BRISK if brisk else {}),
    }
    builder = SparkSession.builder.master(master).appName("groupcomm")
    for name, value in settings.items():
        builder = builder.config(name, value)
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        spark = _started(builder, master, own / "spark.log")
        try:
            yield spark
        finally:
            spark.stop()
    finally:
        for name, old in before.items():
            if old is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = old
        shutil.rmtree(own, ignore_errors=True)


def _started(builder: SparkSession.Builder, master: str, log: Path) -> SparkSession:
    """Start the session. What the JVM and the workers write to stderr from now on goes to `log`."""
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
        raise SparkFailed("start", f"{error} {' '.join(said[-3:])}") from error
    finally:
        os.close(stderr)
