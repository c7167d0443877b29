"""Exhaustive search of whole stacks: what applications see, in all orders of events.

Each process runs the shipped `Stack`, over the abstract layers of the simulation, and what the environment
owes a process is the simulation's `Oracle`. A global state is a tuple of small integers: records of
processes, histories of their applications, and what is on its way are numbered, and a composite step that
was computed once is not computed again.

What keeps the search small, and loses nothing that `ApplicationView` speaks of:

- a member takes its own multicasts in the step that sends them; what a dead member was is forgotten;
- a datagram that is on its way twice is on its way once;
- timers and discovery fire only at rest: nothing can arrive, no application is in its handler, and no failure
  detector owes a report. At rest each has its turn before any has a second.

With `delays` a search is not of all orders: a default order, and up to so many choices that are not it.
"""

from collections import deque
from collections.abc import Iterator

from attrs import evolve, field, frozen

from groupcomm_simulator.judges.claims import Violation

from .composed import Class, Configuration, Group, Label, State


@frozen
class Explored:
    """What a search found. `violation`, and the `schedule` to it, or None; `cut`: there are more states."""

    states: int
    transitions: int
    good: int
    cut: bool = False
    violation: Violation | None = None
    schedule: tuple[Label, ...] = ()


@frozen
class _Graph:
    """The states found, each with the one before it, and those before it."""

    states: list[State] = field(factory=list)
    found: dict[State, int] = field(factory=dict)
    parents: list[tuple[int, Label]] = field(factory=list)
    before: list[list[int]] = field(factory=list)

    def add(self, state: State, parent: int, label: Label) -> tuple[int, bool]:
        number = self.found.setdefault(state, len(self.states))
        new = number == len(self.states)
        if new:
            self.states.append(state)
            self.parents.append((parent, label))
            self.before.append([])
        return number, new

    def schedule(self, number: int) -> tuple[Label, ...]:
        labels: list[Label] = []
        while number:
            number, label = self.parents[number]
            labels.append(label)
        return tuple(reversed(labels))


def explore(configuration: Configuration, *, most: int = 2_000_000) -> Explored:
    """Search all states, breadth first, or those within the delays, `most` at most.

    Without delays a good state must be reachable from each (AG EF Good). Raises StackError for what is no
    stack.
    """
    search, graph = Group(configuration), _Graph()
    graph.add(search.start(), 0, ())
    bound = configuration.delays
    levels: list[deque[int]] = [deque([0])] + [deque() for _ in range(bound or 0)]
    cost, expanded, transitions = {0: 0}, set[int](), 0
    at = 0
    try:
        for level, queue in enumerate(levels):
            while queue:
                at = queue.popleft()
                if at in expanded or len(graph.states) >= most:
                    continue
                expanded.add(at)
                for extra, label, after in _costed(search, graph.states[at], delays=bound is not None):
                    if level + extra >= len(levels):
                        continue
                    transitions += 1
                    number, new = graph.add(after, at, label)
                    graph.before[number].append(at)
                    if new:
                        here, at = at, number
                        search.judge(after)
                        at = here
                    if new or level + extra < cost[number]:
                        cost[number] = level + extra
                        graph.parents[number] = at, label
                        levels[level + extra].append(number)
    except Violation as violation:
        return Explored(len(graph.states), transitions, 0, violation=violation, schedule=graph.schedule(at))
    cut = len(expanded) < len(graph.states)
    good = [number for number, state in enumerate(graph.states) if search.is_good(state)]
    result = Explored(len(graph.states), transitions, len(good), cut)
    lost = None if bound is not None or cut else _lost(graph, good)
    if lost is None:
        return result
    text = f"no good state can be reached from here: {search.told(graph.states[lost])}"
    return evolve(result, violation=Violation("ComesToRest", text), schedule=graph.schedule(lost))


def _costed(search: Group, state: State, *, delays: bool) -> Iterator[tuple[int, Label, State]]:
    """The events of a state, each with what it costs: nothing if it is the default, a fault, or at rest."""
    found = [*search.events(state)]
    first = min(((kind, at) for at, (kind, _, _) in enumerate(found)), default=(Class.FREE, 0))
    for at, (kind, label, after) in enumerate(found):
        free = not delays or kind is Class.FREE or (kind, at) == first or kind is first[0] is Class.TIMER
        yield int(not free), label, after


def _lost(graph: _Graph, good: list[int]) -> int | None:
    """The first state from which no good state can be reached."""
    reaches, todo = {*good}, [*good]
    while todo:
        for before in graph.before[todo.pop()]:
            if before not in reaches:
                reaches.add(before)
                todo.append(before)
    return next((number for number in range(len(graph.states)) if number not in reaches), None)
