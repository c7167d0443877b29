"""Real processes on loopback: some converse, one is killed, the others continue, a new incarnation joins."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread

import pytest

MEMBER = Path(__file__).with_name("member.py")
PATIENCE = 40.0  # seconds, of a busy machine; it takes some three


class Running:
    """A process that is a member, and the lines that it has written."""

    def __init__(self, name: str, folder: Path, count: int, people: int) -> None:
        self.lines: list[str] = []
        self.process = subprocess.Popen(
            [sys.executable, str(MEMBER), name, str(folder), str(count), str(people)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._reader = Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line.rstrip("\n"))

    def leave(self) -> None:
        """Its input ends; it leaves and has no error."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        assert 0 == self.process.wait(PATIENCE)
        self._reader.join(PATIENCE)
        assert self.lines[-1] == "left"

    def end(self) -> None:
        """Kill it in any state."""
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            pipe.close()

    @property
    def messages(self) -> list[str]:
        return [line for line in self.lines if line.startswith("message")]

    @property
    def people(self) -> int:
        views = [line.split()[2:] for line in self.lines if line.startswith("view")]
        return len(views[-1]) if views else 0


@pytest.fixture
def started(tmp_path: Path) -> Iterator[Callable[[str, int, int], Running]]:
    """Start members in one folder; all are ended after the test."""
    all_of_them: list[Running] = []

    def start(name: str, count: int, people: int) -> Running:
        all_of_them.append(Running(name, tmp_path, count, people))
        return all_of_them[-1]

    yield start
    for each in all_of_them:
        each.end()


def until(holds: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, f"it never came that {what}"
        time.sleep(0.02)


def test_three_converse_one_is_killed_and_a_new_life_joins(started: Callable[[str, int, int], Running]) -> None:
    """The two that stay deliver the same, in one order; the third has delivered the beginning of it."""
    a, b, c = (started(name, 40, 3) for name in "abc")
    until(lambda: all(len(each.messages) == 120 for each in (a, b, c)), "all three have delivered all")
    assert a.messages == b.messages == c.messages
    killed = next(each for each in (a, b, c) if each.lines[0].count(" ") == 2)  # who founded it: the coordinator
    others = [each for each in (a, b, c) if each is not killed]
    killed.process.kill()
    until(lambda: all(each.people == 2 for each in others), "the others have a view without it")
    name = killed.lines[0].split()[2].partition("#")[0]
    again = started(name, 40, 3)
    until(lambda: all(len(each.messages) == 160 for each in others), "the new incarnation has sent to the others")
    until(lambda: len(again.messages) == 40, "the new incarnation has delivered its own")
    assert others[0].messages == others[1].messages
    assert others[0].messages[120:] == again.messages
    for each in (*others, again):
        each.leave()
