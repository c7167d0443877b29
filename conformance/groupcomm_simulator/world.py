"""The processes of a group, each with one stack, and the network between them: what is so at a moment."""

from collections import Counter, deque
from collections.abc import Collection, Iterator, Mapping
from random import Random
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

from attrs import frozen

from groupcomm import flush, gms, merge, sequencer, state_transfer
from groupcomm.digest import NOTHING, Vector
from groupcomm.stack import Tagged
from groupcomm.view import Address
from groupcomm_simulator.judges.claims import Message
from groupcomm_simulator.judges.membership import Membership, NotAllowedError, Process
from groupcomm_simulator.judges.stability import Window
from groupcomm_simulator.judges.unicasts import ReliableUnicast
from groupcomm_simulator.judges.views import Views

from .abstract.carriage import Carriage
from .setup import DECIDE, FLUSH, Setup, giver, stack_of

if TYPE_CHECKING:
    from groupcomm import unicast

    from .applications import Applications
    from .taps import Note

Event: TypeAlias = tuple[str | int | tuple[str, ...], ...]
"""A kind and its arguments: names of processes, numbers."""

Copy: TypeAlias = tuple[Process, int, Process]
"""A datagram on its way: its sender, its number, its receiver."""

LOSSY: Final = Carriage()


@frozen
class Seen:
    """A window as the judges see it: where it starts, and the highest seqnos delivered and purged."""

    low: int
    delivered: int
    purged: int


class World:
    """`now`: of each process the states of its layers. `up`: the processes that have not crashed.

    `falsely`: a member that is alive is suspected, a merge was given up early, or some process was admitted
    twice, since the group was at rest. Then views may branch. `network`: nothing is beneath the stack but a
    network. A datagram is then for an address, and reaches the incarnation that has it when it arrives.
    """

    views: Views
    unicasts: ReliableUnicast
    applications: "Applications | None"

    def __init__(self, setup: Setup, random: Random) -> None:
        self.notes: list[Note] = []
        self.stack = stack_of(setup, random, self.notes)
        self.place: Final = {layer.name: at for at, layer in enumerate(self.stack.layers)}
        self._carriages = setup.carriages
        self.network = not self._carriages
        self.carries = frozenset(setup.guarantees) & {"ReliableMulticast", "ReliableUnicast"}
        self._weak = bool(setup.weaker)
        self.majority = setup.majority
        unicasts = self._carriages.get("reliable_unicast", LOSSY)
        self.weaker_unicasts = next((how for how in ("overtakes", "doubles", "loses") if getattr(unicasts, how)), "")
        deciding = next(name for name in DECIDE if name in self.place)
        self.merges = deciding == "merge_gms"
        self._deciding, self._flush = self.place[deciding], self.place[FLUSH]
        self._multicasting = self.place[giver(setup.names, "ReliableMulticast")]
        self._unicasting = self.place[giver(setup.names, "ReliableUnicast")]
        # The group
        self.membership = Membership()
        self.up: list[Process] = []
        self.departed: set[Process] = set()  # left in good order: all that they sent arrives
        self.now: dict[Process, list[Any]] = {}
        self.timers: dict[Process, dict[str, bool]] = {}  # whether it is set; if not, it was
        self.in_handler: set[Process] = set()
        self.asked: dict[Process, set[Address]] = {}  # of later incarnations, whom they asked to let them in
        self.transfers: dict[Process, str] = {}
        self.fetching: dict[Process, set[int]] = {}
        self.falsely = False
        self._sent: Counter[Process] = Counter()
        self._purges: dict[Process, dict[Process, int]] = {}
        self._fetches = 0
        # The network
        self.side: frozenset[Process] = frozenset()
        self.cuts: set[tuple[Process, Process]] = set()
        self.queues: dict[tuple[Process, Process], deque[Tagged]] = {}
        self.copies: dict[Copy, Tagged] = {}
        # Messages of a process to the last incarnation of an address that received any of them, or is over.
        self.former: dict[tuple[Process, Address], tuple[Process, deque[Tagged]]] = {}
        self.new: list[tuple[Process, Process] | Copy] = []  # what was sent, and not looked at by chance yet
        self._numbers: Counter[Process] = Counter()

    # Facts of the group

    def process(self, name: str) -> Process:
        """Return the process of a name. NotAllowedError if there is none, or it has crashed."""
        found = self.membership.processes.get(name)
        if found is None or not found.up:
            raise NotAllowedError(f"no process {name} is up")
        return found

    def known(self, name: str) -> Process:
        """Return the process of a name, up or not. NotAllowedError if there is none."""
        found = self.membership.processes.get(name)
        if found is None:
            raise NotAllowedError(f"there is no {name}")
        return found

    def in_view(self, name: str) -> Process:
        """Return the process of a name, which is up and has a view. NotAllowedError otherwise."""
        process = self.process(name)
        if process.view is None:
            raise NotAllowedError(f"{process} is in no view")
        return process

    def last_sent(self, process: Process) -> Message:
        """Return the message that the application of a process sent last."""
        return process.name, self._sent[process]

    def reaches(self, sender: Process, receiver: Process) -> bool:
        """Say whether no partition or cut keeps what one sends from the other."""
        apart = bool(self.side) and (sender in self.side) != (receiver in self.side)
        return sender is receiver or not (apart or (sender, receiver) in self.cuts)

    def may_close(self, sender: Process, receiver: Process) -> bool:
        """Say whether the sender has a view without the receiver: `ReliableUnicast`'s ClosedOnlyByViews."""
        return sender.up and sender.view is not None and receiver not in sender.view.processes

    def inheritance(self, sender: Process, receiver: Process) -> deque[Tagged]:
        """Return the last unicasts to the receiver's former incarnation, if the receiver has none yet."""
        former, messages = self.former.get((sender, receiver.address), (receiver, deque()))
        return messages if former is not receiver and sender.up else deque()

    def connected(self, one: Process, other: Process) -> bool:
        """Say whether two processes reach each other."""
        return self.reaches(one, other) and self.reaches(other, one)

    def gms_of(self, process: Process) -> gms.State:
        """Return the state of GMS at a process."""
        state = self.now[process][self._deciding]
        return cast("gms.State", state.gms if self.merges else state)

    def merging_of(self, process: Process) -> merge.State:
        """Return the state of merging at a process."""
        return cast("merge.State", self.now[process][self._deciding].merge)

    def transfer_of(self, process: Process) -> state_transfer.State:
        """Return the state of STATE_TRANSFER at a process."""
        return cast("state_transfer.State", self.now[process][self.place["state_transfer"]])

    def order_of(self, process: Process) -> sequencer.State:
        """Return the state of SEQUENCER at a process."""
        return cast("sequencer.State", self.now[process][self.place["sequencer"]])

    def flush_of(self, process: Process) -> flush.State:
        """Return the state of FLUSH at a process."""
        return cast("flush.State", self.now[process][self._flush])

    def kept_by(self, process: Process) -> Iterator[tuple[Process, tuple[object, ...], bool]]:
        """List each receiver of a process, the messages kept for it, and whether UNICAST seeks it."""
        if "ReliableUnicast" in self.carries:
            state = cast("unicast.State", self.now[process][self._unicasting])
            sought = state.sought
            for to, side in state.sends.items():
                yield self.membership.current[to], side.kept, to in sought

    def heard_by(self, process: Process) -> Collection[Address]:
        """List the addresses that UNICAST has heard at a process."""
        if "ReliableUnicast" not in self.carries:
            return ()
        return cast("unicast.State", self.now[process][self._unicasting]).known

    def windows(self, process: Process) -> Mapping[Process, Window]:
        """Return the window of each member of a process's view, {} where it has none.

        NAKACK purges by each Purge event; what it has purged is no field of its state.
        """
        if process.view is None or process not in self.now:
            return {}
        windows = self.now[process][self._multicasting].windows
        if "ReliableMulticast" not in self.carries:
            return {process.view.at[member]: window for member, window in windows.items()}
        purged, found = self._purges.get(process, {}), dict[Process, Window]()
        for address, window in windows.items():
            member = process.view.at[address]
            found[member] = Seen(window.low, window.delivered, purged.get(member, NOTHING))
        return found

    def purged(self, process: Process, vector: Vector) -> None:
        """Note that a process purges what it has delivered, up to these seqnos."""
        purges = self._purges.setdefault(process, {})
        for member, window in self.windows(process).items():
            purges[member] = max(window.purged, min(vector.get(member.address, NOTHING), window.delivered))

    def on_the_way(self) -> Iterator[tuple[Process, Process, object]]:
        """List the unicasts of all layers: sender, receiver and message.

        A unicast that UNICAST keeps for an address without a process is not on its way.
        """
        for sender, address, kept in self.unicasts.waiting():
            if self.membership.current[address].up:
                yield sender, self.membership.current[address], kept.message
        for (sender, to), queue in self.queues.items():
            for tagged in queue:
                content = cast("Any", tagged.message).payload
                yield sender, to, content.message if isinstance(content, Tagged) else content

    def hearer(self, copy: Copy) -> Process | None:
        """Return the process that a copy reaches if it arrives now, None if none is there.

        Over a network it is sent to an address: a later incarnation hears what a former one was sent.
        """
        there = self.membership.current.get(copy[2].address) if self.network else copy[2]
        return there if there is not None and there.up else None

    def waits(self, sender: Process, receiver: Process) -> bool:
        """Say whether a unicast is on its way from one process to another."""
        return bool(self.queues.get((sender, receiver))) or self.unicasts.waits(sender, receiver.address)

    def carrying(self, process: Process) -> list[str]:
        """List the timers that a process has set in the layers that carry; an abstract one has none."""
        layers = {self.stack.layers[at].name for at in (self._multicasting, self._unicasting)}
        return [name for name, is_set in self.timers[process].items() if is_set and name.split("/")[0] in layers]

    def carried(self) -> tuple[object, ...]:
        """Return the progress of retransmission: the states above UNICAST, and what waits for ACKs."""
        return (
            [self.now[process][: self._unicasting] for process in self.up],
            [(to, kept) for process in self.up for to, kept, _ in self.kept_by(process) if to.up],
        )

    def kept(self, copy: Copy) -> bool:
        """Say whether a copy that is on its way cannot be lost while its sender is up."""
        return self._carriages.get(self.copies[copy].layer, LOSSY).kept
