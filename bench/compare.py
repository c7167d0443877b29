"""Measure total order side by side: this project's runtime, PySyncObj, and JGroups with SEQUENCER.

Each member is a process on this machine. All groups stand at the same time, and their rounds take turns. In a
round each member sends so many messages, at most a window of them on their way, and waits until it has
delivered the messages of all members.

A member is a program. Its last arguments are its number and the places of all members. It prints `joined`;
then for each line `MESSAGES SIZE WINDOW` of stdin it takes part in a round, and prints a line of JSON. The
line has its processor time and the time of the clock in seconds, and the median and the 99th percentile of
the latencies of its own messages in milliseconds. It also says whether the member is the coordinator. The
member ends at the end of stdin.
"""

import argparse
import select
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from types import TracebackType
from typing import Final, Self

import msgspec

from groupcomm_conformance.files.digests import require_known

HERE: Final = Path(__file__).parent
BUILD: Final = HERE.parent / "build" / "bench"
HEADINGS: Final = (
    "members",
    "bytes",
    "system",
    "delivered a CPU second",
    "by the coordinator",
    "by another member",
    "delivered a second by each",
    "p50, p99 alone",
    "p50, p99 under load",
)


def jgroups() -> list[str]:
    """The command of a member of JGroups; Maven builds it where its source is newer."""
    classes, source = BUILD / "classes" / "Member.class", HERE / "src" / "main" / "java" / "Member.java"
    if not classes.exists() or classes.stat().st_mtime < source.stat().st_mtime:
        maven = shutil.which("mvn")
        if maven is None:
            sys.exit("Maven is not there: install it, or leave out jgroups")
        subprocess.run([maven, "-q", "-B", "-C", "-f", str(HERE / "pom.xml"), "compile"], check=True)
    require_known(BUILD / "lib", ".jar", HERE.parent / "conformance" / "jgroups" / "SHA256SUMS")
    path = f"{BUILD / 'classes'}:{BUILD / 'lib'}/*"
    return ["java", "-Djava.net.preferIPv4Stack=true", "-Djgroups.udp.ip_ttl=0", "-cp", path, "Member"]


def command(system: str, logs: str) -> list[str]:
    """The program of a system's members."""
    member = [sys.executable, str(HERE / "groupcomm_member.py")]
    match system:
        case "groupcomm":
            return [*member, "", ""]
        case "groupcomm-logs":
            return [*member, logs, ""]
        case "groupcomm-safe":
            return [*member, "", "safe"]
        case "groupcomm-send":
            return [*member, "", "send"]
        case "pysyncobj":
            return [sys.executable, str(HERE / "pysyncobj_member.py")]
        case _:
            return jgroups()


SYSTEMS: Final = {
    "groupcomm": 5,
    "groupcomm-logs": 5,
    "groupcomm-send": 1,
    "groupcomm-safe": 1,
    "pysyncobj": 1,
    "jgroups": 5,
}
"""The systems, and how many times as many messages a round of theirs has: so long that it can be measured."""

_COLD: Final = 2
"""Rounds of JGroups before those that are shown as cold."""


def places(count: int) -> list[str]:
    """Places on loopback that are free now."""
    with ExitStack() as stack:
        bound = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [f"127.0.0.1:{each.getsockname()[1]}" for each in bound]


class Measured(msgspec.Struct):
    """The figures of a member in a round; `first`: it is the coordinator."""

    first: bool
    cpu: float
    wall: float
    p50: float
    p99: float


class Members:
    """The processes of a group. Use it in a `with`."""

    def __init__(self, program: Sequence[str], count: int) -> None:
        known = places(count)
        self._processes: list[subprocess.Popen[str]] = []
        try:
            for number in range(count):
                process = subprocess.Popen(
                    [*program, str(number), *known],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL if program[0] == "java" else None,
                    text=True,
                    bufsize=1,
                )
                self._processes.append(process)
                while self._line(process) != "joined\n":
                    pass
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End them."""
        for process in self._processes:
            with process:  # which closes the pipes and waits
                process.kill()

    def round(self, count: int, size: int, window: int) -> list[Measured]:
        """Run a round; give each member's figures."""
        for process in self._processes:
            if process.stdin is not None:
                process.stdin.write(f"{count} {size} {window}\n")
        waiting = {process.stdout.fileno(): process for process in self._processes if process.stdout}
        found: list[Measured] = []
        while waiting:  # in any order: so the end of a member is noticed
            ready = [waiting.pop(file) for file in select.select([*waiting], [], [])[0]]
            found += [msgspec.json.decode(self._line(process), type=Measured) for process in ready]
        return found

    def _line(self, process: subprocess.Popen[str]) -> str:
        line = "" if process.stdout is None else process.stdout.readline()
        if not line:
            raise SystemExit("a member ended")
        return line


def row(loads: list[list[Measured]], alone: list[list[Measured]], count: int) -> list[str]:
    """The figures of a system: medians over rounds. `count`: the messages of a round under load."""

    def rate(who: set[bool]) -> float:
        shares = [[each.cpu for each in load if each.first in who] for load in loads]
        return median(count * len(share) / sum(share) for share in shares if share)

    def latencies(rounds: list[list[Measured]]) -> str:
        half = median(median(each.p50 for each in one) for one in rounds)
        most = median(median(each.p99 for each in one) for one in rounds)
        return f"{half:.1f}, {most:.1f} ms"

    wall = median(count / max(each.wall for each in load) for load in loads)
    rates = (rate({True, False}), rate({True}), rate({False}), wall)
    return [*(f"{each:,.0f}" for each in rates), latencies(alone), latencies(loads)]


def measured(members: int, size: int, asked: argparse.Namespace) -> list[list[str]]:
    """The rows of a group size and a message size."""
    with tempfile.TemporaryDirectory() as logs, ExitStack() as stack:
        groups = {name: stack.enter_context(Members(command(name, logs), members)) for name in asked.systems}
        loads: dict[str, list[list[Measured]]] = {name: [] for name in groups}
        alone: dict[str, list[list[Measured]]] = {name: [] for name in groups}
        for number in range(asked.warming + asked.rounds):
            for name, group in groups.items():
                if number < asked.warming - 1 and name != "jgroups":
                    continue  # Python need not be warmed
                loads[name].append(group.round(asked.messages * SYSTEMS[name], size, asked.window))
                alone[name].append(group.round(asked.messages // 10 + 1, size, 1))
        rows: list[list[str]] = []
        for name in groups:
            shown = {name: slice(-asked.rounds, None)}
            if name == "jgroups" and asked.warming > _COLD + asked.rounds:
                shown = {"jgroups, cold": slice(_COLD, _COLD + asked.rounds)} | shown
            for title, which in shown.items():
                count = members * asked.messages * SYSTEMS[name]
                rows.append([str(members), str(size), title, *row(loads[name][which], alone[name][which], count)])
        return rows


def main() -> None:
    """Measure, and print a table in Markdown."""
    parser = argparse.ArgumentParser(description="measure total order side by side")
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=list(SYSTEMS))
    parser.add_argument("--members", nargs="+", type=int, default=[3, 5])
    parser.add_argument("--sizes", nargs="+", type=int, default=[100, 1_000], help="bytes of a message")
    parser.add_argument("--messages", type=int, default=2_000, help="of a member in a round")
    parser.add_argument("--window", type=int, default=50, help="messages of a member on their way at once")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--warming", type=int, default=20, help="rounds of JGroups before the measured rounds")
    asked = parser.parse_args()
    print("| " + " | ".join(HEADINGS) + " |\n| " + " | ".join("---" for _ in HEADINGS) + " |")
    for members in asked.members:
        for size in asked.sizes:
            for figures in measured(members, size, asked):
                print("| " + " | ".join(figures) + " |", flush=True)


if __name__ == "__main__":
    main()
