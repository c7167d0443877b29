"""What a group costs by its number of members: docs/performance.md has the table, and this draws its picture.

    python bench/members.py 3 5 10 20 30 40 50     # some minutes: a row for each
    python bench/members.py --draw                 # the picture of the rows in docs/performance.md

Each member is a process of its own, over UDP on loopback, with the default settings. All join an empty folder at
once. Then nobody sends for a while. Then each sends in turn. Then the coordinator is killed, and each other member
sends a message. Then all leave at once. Times are of the machine's clock, CPU times are those of the processes.
"""

import argparse
import asyncio
import multiprocessing
import signal
import socket
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import takewhile
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, Final

from attrs import astuple, frozen

from groupcomm_runtime import Group, GroupError, NewView, join

PAGE: Final = Path(__file__).parents[1] / "docs" / "performance.md"
FIGURE: Final = PAGE.parent / "figures" / "members.svg"
KEY: Final = b"what members alone know"
MESSAGES: Final = 200
SIZE: Final = 100
PATIENCE: Final = 120.0
_FORK: Final = multiprocessing.get_context("fork")  # so what is imported is there in each


@frozen
class Row:
    """What was measured of a group: seconds, percent of a core, kB a second, microseconds."""

    members: int
    forms: float
    idle_cpu: float
    idle_sent: float
    delivery: float
    first_after_kill: float
    last_after_kill: float
    leaves: float


class Counted(socket.socket):
    """A socket that counts what it sends."""

    sent = 0

    def __init__(self) -> None:
        super().__init__(socket.AF_INET, socket.SOCK_DGRAM)

    def sendto(self, data: bytes, place: Any) -> int:  # type: ignore[override]  # noqa: ANN401 - a socket's
        Counted.sent += len(data)
        return super().sendto(data, place)


async def lives(name: str, folder: Path, pipe: Connection) -> None:
    """A member: do what the pipe says, and say what happens."""
    told: asyncio.Queue[str] = asyncio.Queue()
    asyncio.get_running_loop().add_reader(pipe.fileno(), lambda: told.put_nowait(pipe.recv()))
    await told.get()
    async with join("bench", name=name, key=KEY, folder=folder, transport=Counted) as group:
        takes = asyncio.create_task(_takes(group, pipe))
        while (what := await told.get()) != "leave":
            if what == "usage":
                mine = group.counts.get("delivered", 0)
                pipe.send(("usage", (time.process_time(), Counted.sent, group.leader == group.address, mine)))
            else:
                for _ in range(int(what)):
                    with suppress(GroupError):  # it was excluded, on a machine that is too busy
                        await group.send(bytes(SIZE))
                pipe.send(("sent", time.monotonic()))
        takes.cancel()
    pipe.send(("left", time.monotonic()))


async def _takes(group: Group, pipe: Connection) -> None:
    async for event in group:
        if isinstance(event, NewView):
            pipe.send(("view", (len(event.members), time.monotonic())))


def _begins(name: str, folder: Path, pipe: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    asyncio.run(lives(name, folder, pipe))


class Processes:
    """The members of a group, as processes."""

    def __init__(self, count: int, folder: Path) -> None:
        self.members: dict[Connection, Any] = {}
        for number in range(count):
            here, there = _FORK.Pipe()
            name = f"m{number}"
            process = _FORK.Process(target=_begins, name=name, args=(name, folder, there), daemon=True)
            process.start()
            there.close()
            self.members[here] = process

    def tell(self, what: str) -> float:
        for each in self.members:
            each.send(what)
        return time.monotonic()

    def all_say(
        self,
        holds: Callable[[tuple[str, Any]], bool],
        hears: Callable[[Connection, tuple[str, Any]], None] = lambda _each, _word: None,
    ) -> list[Any]:
        """Wait until each has said something that holds, and give that. TimeoutError names those that do not."""
        waits = {*self.members}
        said: list[Any] = []
        end = time.monotonic() + PATIENCE
        while waits:
            if time.monotonic() > end:
                silent = sorted(self.members[each].name for each in waits)
                raise TimeoutError(f"{len(waits)} of {len(self.members)} members did not answer: {', '.join(silent)}")
            ready = {*wait([*waits], 1)}
            for each in [each for each in waits if each in ready]:
                if holds(word := each.recv()):
                    waits.remove(each)
                    said.append(word[1])
                    hears(each, word)
        return said

    def usage(self) -> tuple[float, float, int]:
        """CPU seconds, bytes sent, and multicasts delivered, of all."""
        self.tell("usage")
        those = self.all_say(lambda word: word[0] == "usage")
        return sum(each[0] for each in those), sum(each[1] for each in those), sum(each[3] for each in those)

    def kill_the_first(self) -> None:
        """Kill each member that coordinates."""
        self.tell("usage")
        leads: list[Connection] = []
        self.all_say(lambda word: word[0] == "usage", lambda each, word: leads.extend([each] * word[1][2]))
        for each in leads:
            self.members.pop(each).kill()

    def end(self) -> None:
        for each in self.members.values():
            with suppress(OSError):
                each.kill()


def measured(count: int, folder: Path, seconds: float, messages: int = MESSAGES) -> Row:
    """Measure a group of so many, which is idle for so many seconds. TimeoutError where a member does not answer."""
    group = Processes(count, folder)
    try:
        began = group.tell("join")
        said = group.all_say(lambda word: word[0] == "view" and word[1][0] == count)
        forms = max(at for _, at in said) - began
        time.sleep(min(seconds, 5.0))
        (cpu, sent, _), began = group.usage(), time.monotonic()
        time.sleep(seconds)
        (cpu_after, sent_after, had), idle = group.usage(), time.monotonic() - began
        each = messages // count
        for at, one in enumerate(group.members):
            one.send(str(each + (at < messages - each * count)))
        group.all_say(lambda word: word[0] == "sent")
        cpu_then, _, has = group.usage()
        delivery = (cpu_then - cpu_after) / (has - had)
        time.sleep(1)
        group.kill_the_first()
        killed = group.tell("1")
        after = [at - killed for at in group.all_say(lambda word: word[0] == "sent" and word[1] > killed)]
        time.sleep(1)
        leave = group.tell("leave")
        left = max(group.all_say(lambda word: word[0] == "left")) - leave
    finally:
        group.end()
    return Row(
        count,
        forms,
        100 * (cpu_after - cpu) / count / idle,
        (sent_after - sent) / count / idle / 1_000,
        1e6 * delivery,
        min(after),
        max(after),
        left,
    )


PANELS: Final[tuple[tuple[str, tuple[tuple[str, str], ...]], ...]] = (
    ("all are in one view, all have left (s)", (("forms", "joins"), ("leaves", "leaves"))),
    ("idle: % of a core, each", (("idle_cpu", ""),)),
    ("idle: kB/s sent, each", (("idle_sent", ""),)),
    ("CPU time of a delivery (us)", (("delivery", ""),)),
    ("coordinator killed: a message is back (s)", (("first_after_kill", "first"), ("last_after_kill", "last"))),
)
COLOURS: Final = ("#1f5fa8", "#b3541e")
_WIDE, _HIGH, _LEFT, _TOP = 300, 190, 46, 34


def figure(rows: Sequence[Row]) -> str:
    """Draw the rows: a panel for each thing that was measured, with the members on its axis."""
    title = "What a group costs by its number of members"
    width, height = 2 * (_WIDE + 20) + 20, 3 * (_HIGH + 50) + 20
    body = [line for at, panel in enumerate(PANELS) for line in _panel(rows, at, *panel)]
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-label="{title}">\n<title>{title}</title>\n'
        "<style>text { fill: #1b1f24; font: 12px system-ui, sans-serif } .grid { stroke: #d8dee6 }</style>\n"
        f'<rect width="{width}" height="{height}" rx="8" fill="#ffffff"/>\n'
    )
    return head + "\n".join((*body, "</svg>", ""))


def _panel(rows: Sequence[Row], at: int, title: str, lines: Sequence[tuple[str, str]]) -> Iterator[str]:
    left, top = 20 + (at % 2) * (_WIDE + 20) + _LEFT, 10 + (at // 2) * (_HIGH + 50) + _TOP
    wide, high = _WIDE - _LEFT - 10, _HIGH - _TOP
    most = _round_up(max(getattr(row, name) for row in rows for name, _ in lines))
    widest = max(row.members for row in rows)

    def place(members: float, value: float) -> tuple[float, float]:
        return left + wide * members / widest, top + high * (1 - value / most)

    yield f'<text x="{left}" y="{top - 12}">{title}</text>'
    for tenth in (0, 5, 10):
        x, y = place(0, most * tenth / 10)
        yield f'<line class="grid" x1="{x:.0f}" x2="{left + wide}" y1="{y:.0f}" y2="{y:.0f}"/>'
        yield f'<text x="{x - 6:.0f}" y="{y + 4:.0f}" text-anchor="end">{most * tenth / 10:g}</text>'
    for row in rows:
        x, y = place(row.members, 0)
        yield f'<text x="{x:.0f}" y="{y + 16:.0f}" text-anchor="middle">{row.members}</text>'
    for at_line, (colour, (name, label)) in enumerate(zip(COLOURS, lines, strict=False)):
        places = [place(row.members, getattr(row, name)) for row in rows]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        yield f'<polyline points="{line}" stroke="{colour}" fill="none" stroke-width="1.6"/>'
        yield from (f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in places)
        if label:
            yield f'<text x="{left + 10}" y="{top + 16 + 16 * at_line}" style="fill: {colour}">{label}</text>'


def _round_up(value: float) -> float:
    """The next of 1, 2, 4, 5 or 10 times a power of ten."""
    power = 10.0 ** (len(f"{value:.0f}") - 1 if value >= 1 else -2)
    return next(power * step for step in (1, 2, 4, 5, 10, 20, 40, 50, 100) if power * step >= value)


HEAD: Final = "| members | one view | idle, each | sends, each | a delivery | first message | last | all left |"
_UNITS: Final = ("", " s", " %", " kB/s", " us", " s", " s", " s")


def written(row: Row) -> str:
    """A row of the table."""
    cells = (
        f"{value:.{2 if unit in {' s', ' %'} else 1}f}{unit}"
        for value, unit in zip(astuple(row)[1:], _UNITS[1:], strict=True)
    )
    return f"| {row.members} | " + " | ".join(cells) + " |"


def rows_in(page: str) -> list[Row]:
    """The rows of the table in a page."""
    lines = page[page.index(HEAD) :].splitlines()[2:]
    cells = [line.strip("| ").split(" | ") for line in takewhile(lambda line: line.startswith("|"), lines)]
    return [Row(int(first), *(float(each.split()[0]) for each in others)) for first, *others in cells]


def main() -> None:
    """Print a row for each number of members; or draw those of the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("members", type=int, nargs="*", default=[3, 10, 20])
    parser.add_argument("--seconds", type=float, default=10.0, help="for which nobody sends")
    parser.add_argument("--messages", type=int, default=MESSAGES, help="of all members together")
    parser.add_argument("--draw", action="store_true")
    asked = parser.parse_args()
    if asked.draw:
        FIGURE.write_text(figure(rows_in(PAGE.read_text(encoding="utf-8"))), encoding="utf-8")
        return
    print(HEAD + "\n|" + " ---: |" * len(_UNITS))
    for count in asked.members:
        with tempfile.TemporaryDirectory() as folder:
            print(written(measured(count, Path(folder), asked.seconds, asked.messages)), flush=True)


if __name__ == "__main__":
    main()
