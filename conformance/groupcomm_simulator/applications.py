"""Applications above STATE_TRANSFER: their state is the messages that were passed up to them."""

from collections import Counter, defaultdict, deque
from collections.abc import Iterable
from typing import Any, Final, cast

from groupcomm import safe, sequencer, state_transfer
from groupcomm.events import Deliver, Payload, SafeUpTo, UnknownUpTo
from groupcomm.stack import Tagged
from groupcomm.view import Address, ViewId
from groupcomm_simulator.judges.claims import Message, Verdicts, Violation
from groupcomm_simulator.judges.membership import Process
from groupcomm_simulator.judges.states import OneSequence, OneState, Story

from .taps import Note

_PARTS: Final = 3
"""Of each state."""


class Application:
    """The application of a process: its state, what it has marked and is to read, and parts that came."""

    def __init__(self) -> None:
        self.story: Story = ()
        self.knows = False
        """It has heard that it has the state of the group."""
        self.reads: deque[state_transfer.ReadPart] = deque()
        self._marks: dict[Address, tuple[int, Story]] = {}
        self._parts: list[tuple[Story, int]] = []

    def part(self, *, fails: bool) -> state_transfer.PartRead | state_transfer.PartFailed:
        """Give the part that was asked for first, or fail to."""
        read = self.reads.popleft()
        if fails:
            return state_transfer.PartFailed(read.to, read.attempt)
        attempt, story = self._marks.get(read.to, (0, ()))
        data = Payload((story if attempt == read.attempt else ("another mark",), read.number))
        last = read.number == _PARTS
        return state_transfer.PartRead(read.to, read.attempt, read.number, data, last=last)

    def hear(self, me: Address, event: object) -> Message | None:
        """Take an event that is passed up; return the message, if it is one."""
        match event:
            case Deliver(_, payload):
                message = cast("Message", payload)
                self.story = (*self.story, message)
                return message
            case state_transfer.MarkState(to, attempt):
                self._marks[to] = attempt, self.story
            case state_transfer.ReadPart():
                self.reads.append(event)
            case state_transfer.FreeState(to):
                self._marks.pop(to)
            case state_transfer.PutPart(number, data):
                kept = [] if number == 1 else self._parts
                self._parts = [*kept, cast("tuple[Story, int]", data)]
            case state_transfer.StateSet():
                story = self._parts[0][0]
                if self._parts != [(story, number) for number in range(1, _PARTS + 1)]:
                    raise Violation("NothingTwice", f"the state of {me} is of parts of several: {self._parts}")
                self.story, self.knows = story, True
            case state_transfer.StateDeclared():
                self.story = ((me, 0),)
            case state_transfer.StateKept():
                self.knows = True
            case state_transfer.StateDropped() | state_transfer.NoState():
                self.knows = False
            case _:
                pass
        return None


class Applications:
    """The applications of all processes, and the judges of their states.

    `majority`: SEQUENCER has that option.
    """

    def __init__(self, verdicts: Verdicts, place: dict[str, int], *, majority: bool) -> None:
        self._of: dict[Process, Application] = {}
        self._at = place["state_transfer"]
        self._order = place["sequencer"]
        self._safe = place.get("safe")
        self._sent: dict[tuple[Process, int], Message] = {}  # by the number that SAFE gives
        self._told: Counter[Process] = Counter()  # the last of these numbers
        self._places: Counter[tuple[Process, ViewId]] = Counter()  # in the order of a view
        self._ordered: defaultdict[ViewId, set[Message]] = defaultdict(set)  # with `majority`, in each view
        self._majority = majority
        self._one_state = OneState(verdicts)
        self._one_sequence = OneSequence(verdicts)

    def of(self, process: Process) -> Application:
        """Return the application of a process."""
        return self._of.setdefault(process, Application())

    def hear(self, process: Process, note: Note) -> None:
        """A layer of a process has taken a step."""
        if note.place == self._order:
            match note.event:
                case sequencer.DataReceived(_, message):
                    self._places[process, message.view_id] += 1
                case _:
                    pass
        elif note.place == self._at:
            self._hear(process, note)
        elif note.place == self._safe:
            match note.event:
                case safe.SendRequested(Tagged(_, state_transfer.App(_, _, payload))):
                    self._sent[process, note.after.sent] = cast("Message", payload)
                case _:
                    pass

    def _hear(self, process: Process, note: Note) -> None:
        mine = self.of(process)
        if self._majority and isinstance(note.event, state_transfer.AppReceived):
            self._ordered[note.before.view.id].add(cast("Message", note.event.message.payload))
        for effect in note.effects:
            event: Any = getattr(effect, "event", None)
            if isinstance(event, state_transfer.StateDeclared):
                mine.knows = True
                if not note.before.has:  # otherwise what it had is the declared state
                    mine.hear(process.address, event)
                self._one_sequence.declared(mine.story)
                continue
            if isinstance(event, SafeUpTo | UnknownUpTo):
                self._tells(process, note.after.view.id, event)
            message = mine.hear(process.address, event)
            if message is not None:
                self._one_state.passed_up(process.address, message, mine.story)
        after: state_transfer.State = note.after
        self._one_state.knows(process.address, after, knows=mine.knows)
        if not after.has or not after.settled:
            return
        view = after.view.id
        self._one_state.holds(process.address, view, self._places[process, view], mine.story)
        if self._majority and after.formed == view.counter:
            self._one_sequence.in_primary(process.address, view, mine.story, self._ordered[view])

    def _tells(self, process: Process, view: ViewId, told: SafeUpTo | UnknownUpTo) -> None:
        """A process hears of its messages."""
        for number in range(self._told[process] + 1, told.number + 1):
            message = self._sent.pop((process, number), None)
            if self._majority and message is not None and isinstance(told, SafeUpTo):
                self._one_sequence.is_safe(view, message)
        self._told[process] = told.number

    def has_state(self, process: Process) -> bool:
        """Say whether the application of a process has heard that it has the state of the group."""
        return self.of(process).knows

    def quiet(self, processes: Iterable[Process]) -> None:
        """Nothing is on its way."""
        self._one_state.quiet((process.address, self.has_state(process)) for process in processes)

    def forget(self, kept: set[Process]) -> None:
        """Forget what is over, of the processes that are gone."""
        self._one_state.forget()
        self._places.clear()
        last = max(self._ordered, default=None)
        self._ordered = defaultdict(set, {view: each for view, each in self._ordered.items() if view == last})
        self._of = {process: mine for process, mine in self._of.items() if process in kept}
