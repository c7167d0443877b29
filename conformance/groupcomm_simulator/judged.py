"""A world with judges: they hear the steps of each layer at its tap."""

from collections import Counter
from random import Random
from typing import TYPE_CHECKING, Final

from groupcomm import flush, gms, safe, state_transfer, unicast
from groupcomm.effects import PassDown, PassUp
from groupcomm.events import Deliver, GroupStopped, HoldBack, Purge, Release, ViewFormed, ViewInstalled
from groupcomm.stack import Tagged
from groupcomm.view import Address
from groupcomm_simulator.judges.application import ApplicationView
from groupcomm_simulator.judges.claims import Verdicts, Violation
from groupcomm_simulator.judges.membership import Decided, NotAllowedError, Process
from groupcomm_simulator.judges.multicasts import ReliableMulticast
from groupcomm_simulator.judges.order import TotalOrderBroadcast
from groupcomm_simulator.judges.stability import StabilitySafety
from groupcomm_simulator.judges.synchrony import VirtualSynchrony
from groupcomm_simulator.judges.unicasts import ReliableUnicast
from groupcomm_simulator.judges.uniform import UniformDelivery
from groupcomm_simulator.judges.views import Views

from .applications import Applications
from .setup import Setup
from .taps import Note
from .world import World

if TYPE_CHECKING:
    from collections.abc import Callable

_ASKED: Final = ("GetReceived", "XmitReqReceived")  # questions for what a store has


class Judged(World):
    """A world with the judges of what the layers do. `happened` counts what did."""

    def __init__(self, setup: Setup, random: Random) -> None:
        super().__init__(setup, random)
        self.happened: Counter[str] = Counter()
        late = frozenset({"OwnFirst"} if "nakack" not in setup.names and not setup.majority else ())
        self.verdicts = Verdicts(setup.ignored | late)
        self.views = Views(self.verdicts, self, self._entered)
        self.synchrony = VirtualSynchrony(self.verdicts, self._alive, self._turned_away)
        self.order = TotalOrderBroadcast(self.verdicts, one_path=setup.one_path)
        self.stability = StabilitySafety(self.verdicts, self.windows)
        self.unicasts = ReliableUnicast(self.verdicts)
        self.multicasts = ReliableMulticast(self.verdicts)
        self.uniform = UniformDelivery(self.verdicts, majority=setup.majority) if "safe" in self.place else None
        self.seen = ApplicationView(self.verdicts) if "ApplicationView" in setup.guarantees else None
        self._judges: Final[dict[int, Callable[[Process, Note], None]]] = {
            self._flush: self._hear_flush,
            self._deciding: self._hear_views,
            self._multicasting: self._hear_multicast,
        }
        if "ReliableUnicast" in self.carries:
            self._judges[self._unicasting] = self._hear_unicast
        if "sequencer" in self.place:
            self._judges[self.place["sequencer"]] = self._hear_order
        if self.uniform is not None:
            self._judges[self.place["safe"]] = self._hear_safe
        self.applications = (
            Applications(self.verdicts, self.place, majority=setup.majority) if "state_transfer" in self.place else None
        )

    def _alive(self, address: Address) -> bool:
        process = self.membership.current.get(address)
        return process is not None and process.up

    def _turned_away(self, address: Address, creator: Address) -> bool:
        suspected = self.gms_of(self.membership.current[address]).suspected
        return self.falsely and creator in suspected

    def _hear_order(self, process: Process, note: Note) -> None:
        for effect in note.effects:
            if isinstance(effect, PassUp) and isinstance(effect.event, Deliver):
                payload = effect.event.payload
                while isinstance(payload, Tagged) and isinstance(payload.message, safe.Data | state_transfer.App):
                    payload = payload.message.payload
                if isinstance(payload, tuple):
                    self.order.delivered(process, effect.event.sender, payload)

    def _hear_safe(self, process: Process, note: Note) -> None:
        if self.uniform is None:
            return
        match note.event:
            case safe.DataReceived(sender, message):
                self.uniform.delivered(process, sender, message.number)
            case ViewFormed(view, before):
                self.uniform.formed(view, before)
            case _:
                pass
        for event in _passed_up(note):
            if isinstance(event, safe.SafeUpTo | safe.UnknownUpTo):
                self.uniform.told(process, event.number, is_safe=isinstance(event, safe.SafeUpTo))

    def _hear_flush(self, process: Process, note: Note) -> None:
        self.synchrony.told(note.before, note.event, note.after, note.effects)
        for effect in note.effects:
            if isinstance(effect, PassDown) and isinstance(effect.event, GroupStopped):
                there = [other for other in self.views.reached(process) if other.view is process.view]
                # Another requester may have overtaken this member at some of them (spec/flush).
                if effect.event.asker == flush.FOR_STATE:
                    former = self.synchrony.overtaken_since_report(note.after)
                    there = [other for other in there if other.address not in former]
                self.synchrony.stopped(process.address, [other.address for other in there])

    def _hear_views(self, process: Process, note: Note) -> None:
        before = note.before.gms if self.merges else note.before
        merged = self.views.merged
        self.views.told(process, before, note.event, self.gms_of(process), note.effects)
        self.happened["merged views"] += self.views.merged - merged

    def _entered(self, process: Process, decision: gms.Decision) -> None:
        self.synchrony.installed(process.address, decision)

    def _hear_multicast(self, process: Process, note: Note) -> None:
        match note.event:
            case ViewInstalled():
                former, decided = process.view, self.views.installed[process]
                self._install(process, decided)
                self.order.installed(process, former, decided)
                self.stability.installed(process, former, decided)
                if self.uniform is not None:
                    self.uniform.installed(process, decided)
            case Purge(digest):
                self.happened["purges"] += 1
                self.stability.purged(process, digest)
                self.purged(process, digest)
            case _ if type(note.event).__name__ in _ASKED and note.effects:
                self.stability.served()
            case _:
                pass
        if "ReliableMulticast" in self.carries:
            self._hear_multicasts(process, note)

    def _hear_multicasts(self, process: Process, note: Note) -> None:
        heard = [event for event in _passed_up(note) if isinstance(event, Deliver)]
        match note.event:
            case ViewInstalled():
                bases = {m: window.base for m, window in note.after.windows.items()}
                self.multicasts.installed(process, bases, len(heard))
            case HoldBack(limit):
                self.multicasts.limited(process, limit)
            case Release():
                self.multicasts.limited(process, None)
            case _ if type(note.event).__name__ == "SendRequested":
                own = any(each.payload is note.event.payload for each in heard)
                self.multicasts.cast(process, note.event.payload, at_once=own)
            case _:
                pass
        for each in heard:
            self.multicasts.delivered(process, each.sender, each.payload)

    def _hear_unicast(self, process: Process, note: Note) -> None:
        match note.event:
            case ViewInstalled(view):
                self.unicasts.installed(process, view.member_set)
            case unicast.UnicastRequested(to, payload):
                self.unicasts.sent(process, to, payload)
            case unicast.SilenceReported(peer):
                self.unicasts.reported(process, peer)
            case _:
                pass
        for event in _passed_up(note):
            if isinstance(event, Deliver):
                self.unicasts.delivered(process, event.sender, event.payload)

    def _install(self, process: Process, decided: Decided) -> None:
        self.happened["views"] += 1
        try:
            self.membership.install(process, decided)
        except NotAllowedError as error:
            raise Violation(error.conjunct or "Membership", str(error)) from None


def _passed_up(note: Note) -> list[object]:
    return [effect.event for effect in note.effects if isinstance(effect, PassUp)]
