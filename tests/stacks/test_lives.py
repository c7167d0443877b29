"""State does not grow with the past: names whose members crash and come back, each incarnation under an address of its own."""

import pickle
import sys
from collections import Counter
from time import process_time
from typing import Any

from groupcomm.view import address
from tests.stacks.test_one_stack import Member, Network

NAMES = ("A", "B", "C")


class Restarts:
    """A group of the whole stack in which one member after the other crashes and comes back."""

    def __init__(self) -> None:
        self.network = Network("")
        self.life = Counter(NAMES)
        self.up = [*NAMES]
        for name in NAMES:
            self._joins(name, NAMES[0])

    def _joins(self, member: str, to: str) -> None:
        self.network.members[member] = Member(member, self.network)
        self.network.joins(member, to)
        self.network.runs()

    def step(self) -> None:
        """The oldest member crashes, and its name comes back; each member multicasts."""
        gone = self.up.pop(0)
        self.network.crashes(gone)
        self.network.runs()
        name = gone.partition("#")[0]
        self.life[name] += 1
        back = address(name, self.life[name])
        self._joins(back, self.up[0])
        self.up.append(back)
        for member in self.network.members.values():
            member.sends("a message")
            member.delivered.clear()
            del member.views[:-1]

    @property
    def largest(self) -> int:
        """The size of the largest state, in bytes."""
        return max(len(pickle.dumps(member.state)) for member in self.network.members.values())


def run(lives: int, samples: int) -> list[dict[str, Any]]:
    """The size of the largest state, and the CPU microseconds per incarnation, at so many points on the way."""
    group = Restarts()
    found = []
    for _ in range(samples):
        began = process_time()
        for _ in range(lives // samples):
            group.step()
        found.append({"bytes": group.largest, "us": round((process_time() - began) / (lives // samples) * 1e6)})
    last = {tuple(group.up)}
    assert last == {member.views[-1] for member in group.network.members.values()}
    return found


def test_lives_that_are_over_leave_nothing_behind() -> None:
    """Each address that ever was would take some 40 bytes in two layers: 240 incarnations more than the first 60."""
    first, *_, last = run(300, 5)
    assert last["bytes"] <= first["bytes"] + 100


if __name__ == "__main__":
    samples = run(int(sys.argv[1]), 10)
    for number, sample in enumerate(samples, start=1):
        sys.stdout.write(f"{number} tenths: {sample['bytes']:,} bytes, {sample['us']:,} us an incarnation\n")
    sys.exit(samples[-1]["bytes"] > samples[0]["bytes"] + 100)
