"""Which views are decided, and who installs which of them. `Membership`.

Decided views form a forest: a view follows none, one, or as a merge view several. A process walks down one
path of it, from the view that it joins with, and skips none.

Each step of a membership service is held against it: NotAllowedError names the conjunct of the module that
forbids the step.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from groupcomm.view import Address, View, ViewId


class NotAllowedError(ValueError):
    """Something is not within a guarantee. `conjunct`: what forbids it, as its module names it."""

    def __init__(self, text: str, conjunct: str = "") -> None:
        super().__init__(text)
        self.conjunct = conjunct


class Process:
    """One incarnation of a member: `name` is its own, also where a later incarnation takes its address again.

    Its field `life` counts the incarnations of the address from 0, `order` all processes. `view` is the view
    that its layers have installed. `path`: the views that it has installed, since the history was last
    forgotten.
    """

    __slots__ = ("address", "leaving", "life", "name", "order", "path", "up", "view")

    def __init__(self, name: str, address: Address, life: int, order: int) -> None:
        self.name = name
        self.address = address
        self.life = life
        self.order = order
        self.up = True
        self.leaving = False
        self.view: Decided | None = None
        self.path: list[Decided] = []

    def __repr__(self) -> str:
        return self.name


class Decided:
    """A decided view: which processes its members are, what it follows and what follows it.

    `roots`: the numbers of the first views before it. `forgotten`: those of the views before it that `preds` and
    their like do not lead to any more.
    """

    __slots__ = ("at", "forgotten", "joins", "number", "preds", "processes", "roots", "successors", "view")

    def __init__(self, number: int, view: View, processes: tuple[Process, ...], preds: tuple["Decided", ...]) -> None:
        self.number = number
        self.view = view
        self.processes = processes
        self.at = {process.address: process for process in processes}
        self.preds = preds
        roots = frozenset[int]().union(*(pred.roots for pred in preds))
        self.roots: frozenset[int] = roots or frozenset({number})
        self.forgotten = frozenset[int]()
        self.successors: list[Decided] = []
        self.joins = frozenset(p for p in processes if not any(p in pred.processes for pred in preds))

    def before(self) -> set[int]:
        """The numbers of the view and of all before it."""
        found, todo = {self.number, *self.forgotten}, [self]
        while todo:
            new = [each for each in todo.pop().preds if each.number not in found]
            found.update(number for each in new for number in (each.number, *each.forgotten))
            todo += new
        return found

    def __repr__(self) -> str:
        return f"{self.view.id.creator}|{self.view.id.counter}[{','.join(map(repr, self.processes))}]"


class Membership:
    """The forest of decided views, and the processes in it.

    `lives`: all processes, by address and incarnation.
    """

    def __init__(self) -> None:
        self.processes: dict[str, Process] = {}
        self.current: dict[Address, Process] = {}
        self.lives: dict[tuple[Address, int], Process] = {}
        self.views: list[Decided] = []
        self._ids: set[ViewId] = set()
        self._begun: Counter[Address] = Counter()
        self._decided = 0
        self._started = 0

    def start(self, address: Address) -> Process:
        """Begin a new incarnation of an address. NotAllowedError while an earlier incarnation is up."""
        last = self.current.get(address)
        if last is not None and last.up:
            raise NotAllowedError(f"{address} is up")
        name = address if last is None else f"{address}~{self._started}"
        process = Process(name, address, self._begun[address], self._started)
        self._started += 1
        self._begun[address] += 1
        self.processes[name] = self.current[address] = process
        self.lives[address, process.life] = process
        return process

    def decide(
        self, creator: Process, counter: int, processes: Sequence[Process], preds: Iterable[Decided] = ()
    ) -> Decided:
        """Decide a view. NotAllowedError where the guarantee forbids it. `Membership!MayDecide`.

        The members of a view are processes, so that all have begun (ValidIncarnations). The joiners of a view
        are derived, not claimed (JoinersAreNew). The very first view may have any members (`First`); a later
        view that follows none has one member.
        """
        follows = tuple(preds)
        identifier = ViewId(counter, creator.address)
        members = tuple(process.address for process in processes)
        if identifier in self._ids:
            raise NotAllowedError(f"{identifier} names a view already", "UniqueViewId")
        if any(pred.view.id.counter >= counter for pred in follows):
            raise NotAllowedError(f"counter {counter} does not rise", "CounterIncreases")
        alone = not follows and (members == (creator.address,) or not self._decided)
        if not alone and not any(creator in pred.processes for pred in follows):
            raise NotAllowedError(
                f"{creator} creates a view, is in none that it follows, and not alone", "CreatorFromPredecessor"
            )
        if not members or len(set(members)) < len(members):
            raise NotAllowedError(f"{members} is no list of members", "WellFormedView")
        for pred in follows:
            for process in processes:
                former = pred.at.get(process.address, process)
                if former is not process:
                    raise NotAllowedError(f"{process} takes the place of {former}", "ExcludedFirst")
        decided = Decided(self._decided, View(identifier, members), tuple(processes), follows)
        self._decided += 1
        self._ids.add(identifier)
        self.views.append(decided)
        for pred in follows:
            pred.successors.append(decided)
        return decided

    def may_install(self, process: Process, here: Decided | None, after: Decided) -> None:
        """NotAllowedError if a process may not go from a view, or none, to one. `Membership!MayInstall`."""
        if process not in after.processes:
            raise NotAllowedError(f"{process} installs {after} and is not in it", "SelfInclusion")
        if here is None and process not in after.joins:
            raise NotAllowedError(f"{process} begins with {after}, and does not join with it", "SinglePath")
        if here is not None and here not in after.preds:
            raise NotAllowedError(f"{process} goes from {here} to {after}, which does not follow it", "SinglePath")

    def install(self, process: Process, after: Decided) -> None:
        """A process installs a view. NotAllowedError where that is forbidden, or the process is down."""
        if not process.up:
            raise NotAllowedError(f"{process} is down")
        self.may_install(process, process.view, after)
        process.view = after
        process.path.append(after)

    def forget(self) -> None:
        """Forget views that no live process is in or on the way to, and their members."""
        kept = {process for process in self.processes.values() if process.up}
        alive = [view for view in self.views if any(p.view is view or p in view.joins for p in kept)]
        for view in alive:
            view.forgotten |= view.before() - {view.number}
            view.preds = tuple(pred for pred in view.preds if pred in alive)
        self.views = [view for view in self.views if view in alive or any(s in alive for s in view.successors)]
        known = kept.union(*(view.processes for view in self.views))
        self.processes = {name: process for name, process in self.processes.items() if process in known}
        self.lives = {key: process for key, process in self.lives.items() if process in known}
        for process in kept:
            process.path = [process.view] if process.view is not None else []


def comes_after(view: Decided, before: Decided) -> bool:
    """Say whether a view comes after another on its branch."""
    return view.number > before.number and any(pred is before or comes_after(pred, before) for pred in view.preds)
