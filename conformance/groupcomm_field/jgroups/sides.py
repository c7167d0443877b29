"""The two sides of a schedule: a group of real JGroups members, and one of our stack."""

from collections.abc import Iterable
from random import Random
from typing import Final

from groupcomm_simulator.ground import Ground
from groupcomm_simulator.rest import quiesce, serve
from groupcomm_simulator.setup import Setup

from .group import Group
from .jvm import Jvm

_LOST: Final = 0.5  # of the copies that a member that crashes has on their way


class Ours:
    """A group of ours on the ground of the simulator."""

    def __init__(self, stack: tuple[str, ...], random: Random) -> None:
        self._ground = Ground(Setup(stack), random)
        self._random = random

    def do(self, *event: str) -> None:
        """Have an event happen, where it is possible."""
        self._ground.perform(event)

    def join(self, member: str) -> None:
        """Start a member and have it ask the first that is in a view."""
        inside = [process.name for process in self._ground.up if process.view is not None]
        self.do("start", member)
        self.do("join", member, inside[0] if inside else member)

    def some(self, count: int) -> None:
        """Have some of what is on its way arrive, at random."""
        for _ in range(count):
            ground = self._ground
            ways: list[tuple[str | int, ...]] = [
                ("message", sender.name, to.name) for (sender, to), queue in ground.queues.items() if queue
            ]
            ways += [("copy", sender.name, number, to.name) for sender, number, to in ground.copies]
            if ways:
                ground.perform(self._random.choice(ways))

    def rest(self) -> None:
        """Have all come to rest, and judge. Raises Violation."""
        quiesce(self._ground, self._ground.perform)

    def cut(self, links: Iterable[tuple[str, str]]) -> None:
        """Have the two of each link hear nothing of each other, and all come to rest as far as it can then."""
        for one, other in links:
            self.do("cut", one, other)
            self.do("cut", other, one)
        serve(self._ground, self._ground.perform)

    def found_apart(self, side: str) -> None:
        """Have members form a group of their own, which others do not find yet."""
        ground = self._ground
        for member in side:
            self.do("start", member)
            self.do("join", member, side[0])
            moving = True
            while moving:
                moving = False
                for sender, to in [pair for pair, queue in ground.queues.items() if queue]:
                    moving |= ground.perform(("message", sender.name, to.name))
                for sender, number, to in list(ground.copies):
                    moving |= ground.perform(("copy", sender.name, number, to.name))
                for process in list(ground.up):
                    for event in ground.oracle.due(process):
                        moving |= ground.perform(event)

    def views(self) -> dict[str, str]:
        """Give the members of the view that each is in."""
        return {
            process.name: "".join(process.view.view.members) for process in self._ground.up if process.view is not None
        }


class Real:
    """A group of JGroups that gets the same events as ours."""

    def __init__(self, jvm: Jvm, members: int, *layers: str) -> None:
        self.group = Group(jvm, members, *layers, join=900, acks=400, leave=500, merge=1000, flush_start=1200)
        self.leaving: set[str] = set()

    def inside(self) -> list[str]:
        """List the members in a view that neither crashed nor leave."""
        group = self.group
        return [
            name for name in group.names if group.views[name] and name not in group.dead and name not in self.leaving
        ]

    def coordinator(self) -> str | None:
        """Name a member that is the first living one of its view."""
        for name in self.inside():
            view = self.group.view(name)
            living = [each for each in view.members if each in self.inside()] if view else []
            if living[:1] == [name]:
                return name
        return None

    def join(self, member: str) -> None:
        self.group.connect(member, self.coordinator())

    def leave(self, member: str) -> None:
        self.leaving.add(member)
        self.group.leave(member)

    def crash(self, member: str, random: Random | None = None) -> None:
        self.group.crash(member, lost=False)
        if random is not None:
            self.group.take([flight for flight in self.group.flying(by=member) if random.random() < _LOST])

    def report(self, gone: Iterable[str], to: Iterable[str]) -> None:
        """Report departed members to every member that still has them in its view."""
        for name in to:
            for each in gone:
                view = self.group.view(name)
                if view is not None and each in view.members and name != each:
                    self.group.suspect(name, each)

    def ask_again(self, joiners: Iterable[str]) -> None:
        """Have discovery find for each joiner that is not in yet who coordinates now."""
        coordinator = self.coordinator()
        for name in joiners:
            if not self.group.happened("connected", name) and coordinator is not None:
                self.group.do("discover", member=name, found=coordinator)

    def views(self, members: Iterable[str]) -> dict[str, str]:
        """Give the members of the view that each is in."""
        return {name: view.members if (view := self.group.view(name)) else "" for name in members}
