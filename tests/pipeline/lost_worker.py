"""The cost of a campaign here, on a cluster on loopback, and with a lost worker: docs/campaigns.md.

    python -m tests.pipeline.lost_worker [SEEDS]

Each run is the same seeds of `simulate`, with groups of some seeds; the tables have to be the same.
"""

import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow.parquet as pq

from groupcomm_simulator.setup import Faults, Setup
from groupcomm_spark import running, schemas, seeds
from groupcomm_spark.running import Campaign, Done
from groupcomm_spark.table import table
from tests.pipeline.cluster import Cluster, kill

SETUP = Setup(("flush", "gms"), members=3, faults=Faults(Setup(("flush", "gms")).borne))
GROUP = 2  # seeds


def campaign(
    folder: Path, count: int, master: str, on_wait: Callable[[int, int], None] = lambda _rows, _executors: None
) -> tuple[Done, list[dict[str, object]], float]:
    """Run the seeds; give what was done, the rows, and the seconds from the first row on."""
    came: list[float] = []
    with table(folder, seeds.identity(SETUP), schemas.SEEDS) as opened:
        done = running.run(
            Campaign(seeds.prepare, SETUP, most=GROUP),
            range(1, count + 1),
            count,
            opened,
            master=master,
            on_rows=lambda rows: came.extend([time.monotonic()] * len(rows)),
            on_wait=lambda executors: on_wait(len(came), executors),
        )
    rows = pq.read_table(folder).drop_columns(["seconds"]).sort_by("seed").to_pylist()
    return done, rows, came[-1] - came[0]


def main(count: int) -> None:
    """Measure, and print a table."""
    with TemporaryDirectory() as own:
        folder = Path(own)
        _told("local[2]", *(first := campaign(folder / "local", count, "local[2]")), first[1])
        with Cluster(folder) as cluster:
            workers = [cluster.worker() for _ in range(2)]
            _told("two workers", *campaign(folder / "two", count, cluster.master), first[1])
            lost: list[int] = []

            def lose(rows: int, executors: int) -> None:
                if not lost and executors == len(workers) and rows >= count // 3:
                    kill(workers[0])
                    lost.append(rows)

            _told("one of them lost", *campaign(folder / "lost", count, cluster.master, lose), first[1])
            print(f"lost after {lost} rows")  # noqa: T201 - a program
            _told("the remaining worker", *campaign(folder / "one", count, cluster.master), first[1])


def _told(name: str, done: Done, rows: list[dict[str, object]], working: float, first: list[dict[str, object]]) -> None:
    same = "the same table" if rows == first else "ANOTHER TABLE"
    print(  # noqa: T201
        f"{name}: {done.seconds:.1f} s, {working:.1f} s from the first row on, {done.groups} groups, "
        f"{done.repeated} begun again, {same}",
        flush=True,
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
