"""A standalone Spark on loopback: a master, and workers that can be killed."""

import os
import re
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

import pyspark

from groupcomm_conformance.tlc.tools import find_java

_HOME = Path(pyspark.__file__).parent
_STARTING = 60.0  # seconds, on a busy machine


class Cluster:
    """A master on a free port. Its processes write into `folder`; they end on leaving."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._processes: list[subprocess.Popen[bytes]] = []
        self.master = ""

    def __enter__(self) -> Self:
        log = self._start("master.Master", "--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
        self.master = self._said(log, r"Starting Spark master at (spark://\S+)")
        return self

    def worker(self, *, cores: int = 1) -> subprocess.Popen[bytes]:
        """Start a worker; it leads a group of processes, its executors among them."""
        work = self._folder / f"work{len(self._processes)}"
        options = ("--host", "127.0.0.1", "--webui-port", "0", "--memory", "1g", "--work-dir", str(work))
        log = self._start("worker.Worker", *options, "--cores", str(cores), self.master)
        self._said(log, r"(Successfully registered) with master")
        return self._processes[-1]

    def _start(self, name: str, *arguments: str) -> Path:
        log = self._folder / f"{len(self._processes)}-{name}.log"
        java = find_java().resolve()
        environment = {
            **os.environ,
            "JAVA_HOME": str(java.parent.parent),
            "SPARK_HOME": str(_HOME),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
        }
        command = [str(_HOME / "bin" / "spark-class"), f"org.apache.spark.deploy.{name}", *arguments]
        with log.open("wb") as out:
            process = subprocess.Popen(command, stdout=out, stderr=out, env=environment, start_new_session=True)
        self._processes.append(process)
        return log

    def _said(self, log: Path, pattern: str) -> str:
        until = time.monotonic() + _STARTING
        while time.monotonic() < until:
            if found := re.search(pattern, log.read_text(errors="replace")):
                return found[1]
            time.sleep(0.05)
        raise AssertionError(f"{log.name} does not say {pattern}: {log.read_text(errors='replace')[-2000:]}")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in reversed(self._processes):
            kill(process)


def kill(worker: subprocess.Popen[bytes]) -> None:
    """Kill a worker with its executors, as when a machine is lost."""
    with suppress(ProcessLookupError):
        os.killpg(worker.pid, signal.SIGKILL)
    worker.wait()
