"""A member of a PySyncObj cluster, whose log has the messages; `compare.py` says what it reads and writes.

The cluster keeps its log in memory. It ticks by hand, and sends entries every 5 ms: docs/performance.md has
the other settings that were tried.
"""

import json
import os
import select
import sys
import time
from collections.abc import Callable

from pysyncobj import SyncObj, SyncObjConf, replicated


class Member(SyncObj):  # type: ignore[misc]
    """A member with this place, and the places of the others."""

    def __init__(self, place: str, others: list[str]) -> None:
        patient = {"raftMinTimeout": 2.0, "raftMaxTimeout": 3.5}  # no election on a busy machine
        settings = SyncObjConf(autoTick=False, commandsQueueSize=100_000, appendEntriesPeriod=0.005, **patient)
        super().__init__(place, others, settings)
        self.delivered = 0
        self.wanted = 0

    @replicated  # type: ignore[untyped-decorator]
    def deliver(self, _data: bytes) -> None:
        """Deliver a message."""
        self.delivered += 1

    def round(self, members: int, count: int, size: int, window: int) -> dict[str, object]:
        """Send and deliver what a round has; return what was measured."""
        while not self.isReady() or self._getLeader() is None:
            self.doTick(0.01)
        self.wanted += members * count
        latencies: list[float] = []
        sent = 0

        def back(began: float) -> Callable[[object, object], None]:
            def comes(_result: object, error: object) -> None:
                if error:
                    raise RuntimeError(f"a command failed: {error}")
                latencies.append(time.perf_counter() - began)

            return comes

        began, cpu = time.perf_counter(), time.process_time()
        while len(latencies) < count or self.delivered < self.wanted:
            while sent < count and sent - len(latencies) < window:
                sent += 1
                self.deliver(bytes(size), callback=back(time.perf_counter()))
            self.doTick(0.001)
        cpu, wall = time.process_time() - cpu, time.perf_counter() - began
        latencies.sort()
        return {
            "first": self._getLeader() == self.selfNode,
            "cpu": cpu,
            "wall": wall,
            "p50": latencies[count // 2] * 1e3,
            "p99": latencies[count * 99 // 100] * 1e3,
        }


def main(index: int, places: list[str]) -> None:
    """Join, and take part in the rounds that stdin names."""
    member = Member(places[index], [place for place in places if place != places[index]])
    print("joined", flush=True)
    while True:
        member.doTick(0.01)
        if not select.select([sys.stdin], [], [], 0)[0]:
            continue
        line = sys.stdin.readline()
        if not line:
            os._exit(0)
        print(json.dumps(member.round(len(places), *map(int, line.split()))), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
