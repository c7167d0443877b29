"""Which event comes next: drawn at random among what may happen.

`Chance.draw` gives events that `Ground.perform` may still refuse, which costs a draw. It looks at the group
as it is; all that it remembers are what is on its way and was not drawn yet (`Ground.new`).
"""

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from random import Random
from typing import Final, TypeVar

from groupcomm.view import address, name_and_life
from groupcomm_simulator.judges.membership import Process

from .ground import Copy, Event, Ground
from .setup import Faults

Item = TypeVar("Item")

_NAMES: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_PRIMARY: Final = 0.8  # with a majority: the share of groups in which no crash or leave is the end of the primary
_DIVIDES: Final = (0.0, 0.02, 0.1)  # with a majority, one of them: the share of draws that divide a half-formed view
_FALLS: Final = 3  # where clocks are set back, the number of each third incarnation of a name falls
_DOUBTFUL: Final = 0.5  # the share of groups with false suspicions, with partitions, with early timers, with clocks
_ANY: Final = 0.4  # the share of crashes and leaves that are not of a member that runs a flush

# Shares of the draws that change no membership; in the rest, applications multicast.
_TO_ARRIVE: Final = 0.72
_TO_SERVE: Final = 0.86
_TO_FIRE: Final = 0.91
_MANY: Final = 40  # messages on their way per member, beyond which applications wait
_GOSSIP: Final = 300  # messages on their way that may be lost; with more, a drawn message is lost
_DATAGRAMS: Final = 600  # the same over a network, which all that the layers say goes over
_LATE: Final = 0.1  # of the timers that are not set any more
_UNICASTS: Final = 0.1
_LOSS: Final = 0.1
_MOST_LOSS: Final = 0.3  # over a network each group draws what share of the datagrams is lost
_TO_NOBODY: Final = 0.3  # the share that lose it, of the draws of a datagram for an address without a process
_OF_THE_CRASHED: Final = 0.5
_TO_STRANGERS: Final = 0.5
_SILENT: Final = 0.5  # of the false reports, those to UNICAST, if messages are kept for a process


def one_of(random: Random, items: Sequence[Item]) -> Item:
    """Draw one of several; `random.choice` takes five times as long."""
    return items[int(random.random() * len(items))]


class Chance:
    """Draws events for a group of up to `members` processes."""

    def __init__(self, ground: Ground, members: int, faults: Faults, random: Random) -> None:
        self._ground = ground
        self._oracle = ground.oracle
        self._members = members
        self._random = random
        self._kinds = faults.kinds
        self._rate = faults.rate
        self._lasting = faults.lasting
        self._lives = dict.fromkeys(_NAMES[:members], 0)  # of each name, how many addresses it has had
        # In some groups no member that is alive is suspected: more is claimed of them.
        doubts, parts, early = (random.random() < _DOUBTFUL for _ in range(3))
        # On another branch of views a later incarnation might decide a view with the identifier of a view of
        # a former incarnation (FLAW-88).
        self._reuses = "restart" in faults.kinds and (ground.merges or not doubts)
        self._divides = one_of(random, _DIVIDES) if ground.majority and "partition" in faults.kinds else 0.0
        # (A copy draws: without the fault a seed is what it was.)
        self._falls = "clock" in faults.kinds and copy(random).random() < _DOUBTFUL
        self._loss = random.random() * _MOST_LOSS if ground.network else _LOSS
        self._goes_on = ground.majority and random.random() < _PRIMARY
        weights: list[tuple[str, int, Callable[[], Event | None]]] = [
            ("", 1, self._fetch),
            ("", 2, self._transfer),
            ("crash", 2, self._crash),
            ("join", 4, self._join),
            ("leave", 2, self._leave),
            ("suspicion", 1 if doubts else 0, self._doubt),
            ("merge", 1, self._found),
            ("merge", 2 if early else 0, self._early),
            ("partition", 1 if parts else 0, self._partition),
            ("partition", 1 if parts else 0, self._cut),
            ("partition", 2, self._heal),
        ]
        if ground.applications is not None:
            weights.append(("", 1, self._fail))
        self._choices = [
            change for kind, weight, change in weights if not kind or kind in self._kinds for _ in range(weight)
        ]

    def first(self) -> Iterator[Event]:
        """Begin with as many members as there may be: some found groups, the others ask one to be let in."""
        names = [self._fresh() for _ in range(self._members)]
        for name in names:
            yield "start", name
        founders = self._random.randint(1, len(names)) if "merge" in self._kinds and self._ground.merges else 1
        for place, name in enumerate(names):
            yield "join", name, name if place < founders else one_of(self._random, names[:founders])

    def draw(self) -> Event | None:
        """Draw an event that may be possible now; None if none was found."""
        ground, random = self._ground, self._random
        # (After false suspicions the last member may leave, too: then a new member comes.)
        if not ground.up:
            return self._join()
        if self._divides and random.random() < self._divides and (divided := self._divide()):
            return divided
        if random.random() < self._rate:
            return one_of(random, self._choices)()
        choice, waiting = random.random(), len(ground.new)
        if choice < _TO_ARRIVE and waiting:
            return self._arrives()
        process = one_of(random, ground.up)
        if choice < _TO_SERVE:
            return self._serves(process)
        if choice < _TO_FIRE:
            return self._fires(process)
        if waiting >= _MANY * len(ground.up):
            return self._arrives()
        if process.view is None:
            return None
        if random.random() < _UNICASTS:
            return "unicast", process.name, one_of(random, ground.up).name
        return "multicast", process.name

    def lasting(self) -> Event | None:
        """Draw the two members between which the fault lasts that is asked for; None for none."""
        members = [process.name for process in self._ground.up if process.view is not None]
        if self._lasting is None or len(members) < 2:  # noqa: PLR2004
            return None
        return "outlast", self._lasting, *self._random.sample(members, 2)

    # Messages on their way

    def _arrives(self) -> Event | None:
        new, random = self._ground.new, self._random
        # The youngest and the oldest are at the ends: without reordering the oldest come first, nearly.
        at = int(random.random() * len(new)) if "reordering" in self._kinds else 0
        item = new[at]
        if at < len(new) - 1:
            new[at] = new.pop()
        else:
            new.pop()
        if len(item) == 2:  # noqa: PLR2004
            return self._of_a_queue(*item)
        return self._of_a_datagram(item) if self._ground.network else self._of_a_copy(item)

    def _of_a_queue(self, sender: Process, receiver: Process) -> Event | None:
        ground, random = self._ground, self._random
        if not receiver.up:
            return None
        late = len(ground.inheritance(sender, receiver)) if "late" in self._kinds else 0
        if late and random.random() < _OF_THE_CRASHED:
            return "inherit", sender.name, receiver.name, random.randint(1, late)
        if not ground.queues.get((sender, receiver)):
            return None
        if "close" in self._kinds and ground.may_close(sender, receiver) and random.random() < _TO_STRANGERS:
            return "drop", sender.name, receiver.name
        if not sender.up and sender not in ground.departed and random.random() < _OF_THE_CRASHED:
            return "drop", sender.name, receiver.name
        if sender.up and not ground.reaches(sender, receiver):
            ground.new.append((sender, receiver))
            return None
        weaker = ground.weaker_unicasts
        if weaker == "overtakes":
            return "take", sender.name, receiver.name, int(random.random() * 4)
        if weaker and random.random() < _LOSS:
            return "again" if weaker == "doubles" else "miss", sender.name, receiver.name
        return "message", sender.name, receiver.name

    def _of_a_copy(self, copy: Copy) -> Event | None:
        ground, random = self._ground, self._random
        sender, number, receiver = copy
        if copy not in ground.copies or not receiver.up:
            return None
        kept, own, there = (ground.kept(copy), sender is receiver, not sender.up or ground.reaches(sender, receiver))
        if kept and not there:
            ground.new.append(copy)
            return None
        crashed = not sender.up and sender not in ground.departed
        rate = (_OF_THE_CRASHED if crashed else 0.0) if kept else _LOSS
        many = not kept and len(ground.new) > _GOSSIP
        lost = many or not there or ("loss" in self._kinds and random.random() < rate)
        if lost and not own:
            return "lose", sender.name, number, receiver.name
        doubled = "duplication" in self._kinds and random.random() < _LOSS / 2
        return "double" if doubled else "copy", sender.name, number, receiver.name

    def _of_a_datagram(self, copy: Copy) -> Event | None:
        ground, random = self._ground, self._random
        sender, number, receiver = copy
        if copy not in ground.copies:
            return None
        hearer = ground.hearer(copy)
        if hearer is None:
            if random.random() < _TO_NOBODY:
                return "lose", sender.name, number, receiver.name
            ground.new.append(copy)
            return None
        cut = (sender.up and not ground.reaches(sender, hearer)) or len(ground.new) > _DATAGRAMS
        lost = cut or ("loss" in self._kinds and random.random() < self._loss)
        if lost and sender is not hearer:
            return "lose", sender.name, number, receiver.name
        doubled = "duplication" in self._kinds and random.random() < self._loss / 2
        return "double" if doubled else "copy", sender.name, number, receiver.name

    # Events that a process waits for

    def _serves(self, process: Process) -> Event | None:
        ground, random = self._ground, self._random
        if process.view is None:
            found = [] if ground.gms_of(process).in_view else self._oracle.may_be_asked(process)
            return ("join", process.name, one_of(random, found).name) if found else None
        due = self._oracle.due(process)
        due += [("timer", process.name, timer) for timer in self._oracle.overdue(process)]
        due += self._oracle.discoveries(process, random)
        return one_of(random, due) if due else None

    def _fires(self, process: Process) -> Event | None:
        """A timer fires; seldom a cancelled timer. Timers of merging are early here."""
        timers = self._ground.timers[process]
        names = [timer for timer in timers if not timer.startswith(self._oracle.timers)]
        if self._ground.carries:  # a timer of each connection: many were set, and are not
            names = [timer for timer in names if timers[timer] or self._random.random() < _LATE]
        if not names:
            return None
        timer = one_of(self._random, names)
        if not timers[timer] and self._random.random() < 0.9:  # noqa: PLR2004
            return None
        return "timer", process.name, timer

    # Rare events

    def _some(self) -> Process:
        """Often a member that runs a flush: its faults are the hard cases."""
        ground = self._ground
        running = [process for process in ground.up if ground.flush_of(process).running]
        seldom = not running or self._random.random() < _ANY
        return one_of(self._random, ground.up if seldom else running)

    def _fetch(self) -> Event | None:
        return "fetch", one_of(self._random, self._ground.up).name

    def _fail(self) -> Event | None:
        return "fail", one_of(self._random, self._ground.up).name

    def _transfer(self) -> Event | None:
        process = one_of(self._random, self._ground.up)
        asked = self._ground.transfers.get(process) == "asked"
        return "give_up" if asked else "transfer", process.name

    def _crash(self) -> Event | None:
        process = self._some()
        return ("crash", process.name) if process.leaving or self._may_go(process) else None

    def _leave(self) -> Event | None:
        process = self._some()
        if process.leaving or process.view is None or not self._may_go(process):
            return None
        return "leave", process.name

    def _may_go(self, process: Process) -> bool:
        """Say whether enough members remain if one more goes."""
        staying = sum(not p.leaving and p.view is not None for p in self._ground.up)
        enough = staying > max(1, self._members // 2)
        return enough and (not self._goes_on or self._oracle.may_go_on(process))

    def _join(self) -> Event | None:
        ground, random = self._ground, self._random
        if len(ground.up) >= self._members:
            return None
        up = {name_and_life(process.address)[0] for process in ground.up}
        latest = {address(name, max(self._numbers(name))) for name, n in self._lives.items() if n and name not in up}
        current = ground.membership.current.items() if self._reuses else ()
        gone = [each for each, last in current if not last.up and each in latest]
        if gone and random.random() < 0.5:  # noqa: PLR2004
            return "start", one_of(random, gone)
        return "start", self._fresh()

    def _fresh(self) -> str:
        """The next address of the name that has had the fewest, of those of which no process is up.

        So a name has one incarnation at a time, each with a higher number than the last (LivesAreNumbered): but where
        clocks are set back, each third one has the number before.
        """
        up = {name_and_life(process.address)[0] for process in self._ground.up}
        name = min((each for each in self._lives if each not in up), key=self._lives.__getitem__)
        self._lives[name] += 1
        if not self._falls:
            return address(name, self._lives[name])
        used = self._numbers(name)
        is_back = self._lives[name] % _FALLS == 0 and max(used) - 1 not in used
        return address(name, max(used) - 1 if is_back else max(used) + 2)

    def _numbers(self, name: str) -> set[int]:
        """The numbers that incarnations of a name have had; -1 if there was none."""
        lives = map(name_and_life, self._ground.membership.current)
        return {number for each, number in lives if each == name} or {-1}

    def _found(self) -> Event | None:
        """A new member founds a group of its own."""
        process = one_of(self._random, self._ground.up)
        founds = process.view is None and self._ground.merges
        return ("join", process.name, process.name) if founds else None

    def _early(self) -> Event | None:
        """A timer of merging fires early, or after it was stopped."""
        process = one_of(self._random, self._ground.up)
        timers = [t for t in self._ground.timers[process] if t.startswith(self._oracle.timers)]
        return ("timer", process.name, one_of(self._random, timers)) if timers else None

    def _doubt(self) -> Event | None:
        process = one_of(self._random, self._ground.up)
        receivers = self._oracle.receivers(process)
        if receivers and self._random.random() < _SILENT:
            return "silent", process.name, one_of(self._random, receivers).name
        watched = self._oracle.watched(process)
        return ("suspect", process.name, one_of(self._random, watched).name) if watched else None

    def _partition(self) -> Event | None:
        up = self._ground.up
        if self._ground.side or len(up) < 2:  # noqa: PLR2004
            return None
        names = [process.name for process in up]
        self._random.shuffle(names)
        return "partition", tuple(sorted(names[: self._random.randint(1, len(names) - 1)]))

    def _cut(self) -> Event | None:
        one, other = one_of(self._random, self._ground.up), one_of(self._random, self._ground.up)
        return None if one is other or self._ground.cuts else ("cut", one.name, other.name)

    def _divide(self) -> Event | None:
        """While a view is being formed, those that know so, or have it, are cut off from all others."""
        ahead = tuple(sorted(process.name for process in self._oracle.half_formed()))
        return ("partition", ahead) if ahead else None

    def _heal(self) -> Event | None:
        return ("heal",) if self._ground.side or self._ground.cuts else None
