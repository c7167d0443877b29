"""The one owner of the Spark session."""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from pyspark.sql import SparkSession

from ..tlc import find_java

__all__ = ["DEFAULT_MASTER", "session"]

DEFAULT_MASTER: Final = "local[*]"

_LOGGING: Final = """status = error
name = groupcomm
rootLogger.level = off
"""


@contextmanager
def session(master: str = DEFAULT_MASTER, *, memory: str = "4g", folder: Path | None = None) -> Iterator[SparkSession]:
    """A session on `master`, ended on leaving. `memory` is the driver's heap; on `local` masters it is all.

    `folder` takes what does not fit into memory; by default it is one for temporary files.
    """
    java = find_java().resolve()
    settings = {"PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable}
    if (java.parent.parent / "bin" / "java").is_file():
        settings["JAVA_HOME"] = str(java.parent.parent)
    if master.startswith("local"):
        settings["SPARK_LOCAL_IP"] = "127.0.0.1"
    before = {name: os.environ.get(name) for name in settings}
    os.environ.update(settings)
    own = Path(tempfile.mkdtemp(prefix="groupcomm-spark-", dir=folder))
    logging = own / "log4j2.properties"
    logging.write_text(_LOGGING, encoding="ascii")
    builder = (
        SparkSession.builder.master(master)
        .appName("groupcomm")
        .config("spark.driver.memory", memory)
        .config("spark.driver.extraJavaOptions", f"-Dlog4j2.configurationFile={logging} -Djava.io.tmpdir={own}")
        .config("spark.local.dir", str(own))
        .config("spark.sql.warehouse.dir", str(own / "warehouse"))
        .config("spark.sql.shuffle.partitions", "8")
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", "50000")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.log.level", "OFF")
    )
    try:
        spark = builder.getOrCreate()
        try:
            yield spark
        finally:
            spark.stop()
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        shutil.rmtree(own, ignore_errors=True)
