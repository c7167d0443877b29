"""The guarantee of FLUSH, judged at each of its steps: `VirtualSynchrony`, conjunct by conjunct.

The judge is notified of each step of the FLUSH of each member, of its multicasts and what it passes up, and
of each view that a member installs. It asks who is alive, and reads nothing else of the layers around. Claims
have the names that they have in `spec/common/VirtualSynchrony.tla` and `spec/flush/FlushClaims.tla`.
"""

from collections.abc import Callable, Iterable
from typing import Any

from groupcomm import flush, gms
from groupcomm.effects import Multicast, PassUp
from groupcomm.events import Block, Deliver, Unblock
from groupcomm.view import NO_VIEW, Address, ViewId

from .claims import Judge, Verdicts


class VirtualSynchrony(Judge):
    """Members that go from one view to the next together have received the same in it.

    `turned_away`: whether a member distrusts the creator of a view, after a false suspicion. Then views
    branch: the member goes another way than to that view (`MayInstallNext`), and what is said of members that
    go the same way is judged of the others. `blocked`: the application of each member.
    """

    def __init__(
        self, verdicts: Verdicts, alive: Callable[[Address], bool], turned_away: Callable[[Address, Address], bool]
    ) -> None:
        super().__init__(verdicts)
        self._alive = alive
        self._distrusts = turned_away
        self.blocked: dict[Address, str] = {}
        self._views: dict[ViewId, gms.Decision] = {}
        self._at: dict[Address, ViewId] = {}
        self._sent: dict[tuple[ViewId, Address], list[object]] = {}
        self._got: dict[Address, dict[Address, int]] = {}
        self._settled: dict[tuple[ViewId, ViewId], dict[Address, int]] = {}  # of a view, and one after it
        self._overtaken: dict[tuple[Address, Address], int] = {}  # of a member and a requester: its round

    def told(self, before: flush.State, event: flush.Event, after: flush.State, effects: tuple[Any, ...]) -> None:
        """A member has taken a step, with effects."""
        member = after.member
        if before.owner != "" and not before.owes and after.owner not in {"", before.owner}:
            self._overtaken[member, before.owner] = before.round
        match event:
            case flush.BlockReturned() if self.blocked.get(member) == "handler":
                self.blocked[member] = "blocked"
            case flush.SendRequested() if before.latched:
                self._judged("NoMulticastWhileStopped")
            case _:
                pass
        for effect in effects:
            match effect:
                case Multicast(flush.Data(view_id, _, payload)):
                    if (before.frozen or before.latched) and not _lets_go(before, event):
                        self._fail("NoMulticastWhileStopped", f"{member} is stopped, and multicasts")
                    self._cast(member, view_id, payload)
                case PassUp(Deliver(sender, payload)):
                    self._receive(member, sender, payload)
                case PassUp(Block()):
                    self._judged("BlockOnlyWhenFree")
                    if self.blocked.get(member, "free") != "free":
                        self._fail("BlockOnlyWhenFree", f"{member} gets BLOCK, and is blocked already")
                    self.blocked[member] = "handler"
                case PassUp(Unblock()):
                    self._judged("UnblockOnlyWhenBlocked")
                    if self.blocked.get(member, "free") == "free":
                        self._fail("UnblockOnlyWhenBlocked", f"{member} is set free, and was not blocked")
                    self.blocked[member] = "free"
                case _:
                    pass

    def overtaken_since_report(self, requester: flush.State) -> set[Address]:
        """The members whose report counts no more: another flush came into force there after it.

        The requester may not know of it, if the other one crashed, or if one suspects the other. When the
        member suspects it, too, it comes back to the former flush, and owes a report again.
        """
        return {
            member
            for (member, overtaken), number in self._overtaken.items()
            if overtaken == requester.member and number == requester.run.round
        }

    def stopped(self, member: Address, others: Iterable[Address]) -> None:
        """The group is stopped for a member: the `others`, whom it trusts, have delivered the same."""
        for other in others:
            self._judged("GroupIsStopped")
            if self._got[other] != self._got[member]:
                self._fail("GroupIsStopped", f"{member} has {self._got[member]}, and {other} {self._got[other]}")

    def installed(self, member: Address, decision: gms.Decision) -> None:
        """A member goes to a view."""
        self._views[decision.id] = decision
        here = self._at.get(member)
        others = [x for x in decision.members if self._alive(x) and self._at.get(x) == decision.follows]
        if here is None:
            others = [x for x in others if not self._turned_away(x, decision.id)]
            if decision.follows != NO_VIEW.id:
                self._judged("JoinersInstallLast")
            if (decision.follows, decision.id) not in self._settled and others:
                self._fail("JoinersInstallLast", f"{member} begins with {decision.id}; {others} are not there")
        else:
            self._leave(member, here, decision, others)
        self._at[member] = decision.id
        self._got[member] = {}

    def crashed(self, member: Address) -> None:
        """A member is gone; its address may come back."""
        for kept in (self.blocked, self._at, self._got):
            kept.pop(member, None)
        self._overtaken = {pair: number for pair, number in self._overtaken.items() if member not in pair}

    def _closing(self, member: Address, here: ViewId) -> list[ViewId]:
        """The views that a member may go to from its view, for which that is settled already."""
        return [
            after
            for before, after in self._settled
            if before == here and member in self._views[after].members and not self._turned_away(member, after)
        ]

    def _turned_away(self, member: Address, after: ViewId) -> bool:
        """Say whether a member takes another way than to a view."""
        return self._distrusts(member, after.creator)

    def _cast(self, member: Address, here: ViewId, payload: object) -> None:
        if self._at.get(member) != here:
            self._fail("SendingViewDelivery", f"{member} multicasts in {here}, in which it is not")
            return
        for after in self._closing(member, here):
            self._fail("CastOnlyBeforeCut", f"{member} multicasts in {here}, which a survivor has left for {after}")
        self._sent.setdefault((here, member), []).append(payload)

    def _receive(self, member: Address, sender: Address, payload: object) -> None:
        here, got = self._at[member], self._got[member]
        sent = self._sent.get((here, sender), [])
        count = got.get(sender, 0) + 1
        self._judged("SendingViewDelivery", *(["Fifo"] if count > 1 else []))
        if count > len(sent) or sent[count - 1] != payload:
            claim = "Fifo" if payload in sent else "SendingViewDelivery"
            self._fail(claim, f"{member} passes up {payload} of {sender} as its {count}. in {here}: {sent}")
        if member != sender and self._at.get(sender) == here:
            self._judged("OwnFirst")
            if self._got[sender].get(sender, 0) < count:
                self._fail("OwnFirst", f"{member} receives {payload}, which {sender} has yet to receive itself")
        for after in self._closing(member, here):
            if count > self._settled[here, after].get(sender, 0):
                self._fail("ReceiveOnlyCut", f"{member} receives, in {here}, what {after} was made without")
        got[sender] = count

    def _leave(self, member: Address, here: ViewId, decision: gms.Decision, others: list[Address]) -> None:
        mine = self._got[member]
        cut = self._settled.get((here, decision.id))
        if cut is not None:
            self._judged("LeavesWithCut", "CastOnlyBeforeCut", "ReceiveOnlyCut")
            if mine != cut:
                self._fail("LeavesWithCut", f"{member} goes to {decision.id} with {mine}, others with {cut}")
            return
        for other in others:
            self._judged("FirstLeaverHasAll")
            if self._sent.get((here, other)):
                self._judged("SelfDelivery")
            for sender, count in self._got[other].items():
                if count > mine.get(sender, 0) and not self._turned_away(other, decision.id):
                    self._fail("FirstLeaverHasAll", f"{member} goes to {decision.id}; {other} has more of {sender}")
            if len(self._sent.get((here, other), ())) > mine.get(other, 0):
                self._fail("SelfDelivery", f"{member} goes to {decision.id}, and {other} has multicast more")
        self._settled[here, decision.id] = dict(mine)

    def forget(self) -> None:
        """Nothing is on its way: forget what is over."""
        now = {*self._at.values()}
        self._settled = {edge: cut for edge, cut in self._settled.items() if edge[1] in now}
        kept = now | {here for here, _ in self._settled}
        self._views = {view: decision for view, decision in self._views.items() if view in kept}
        self._sent = {key: sent for key, sent in self._sent.items() if key[0] in kept}


def _lets_go(before: flush.State, event: flush.Event) -> bool:
    """Say whether a stopped member resumes: STOP_FLUSH, or a suspicion of its requester for a state."""
    match event:
        case flush.StopFlushReceived():
            return True
        case flush.Suspected(suspect):
            return before.asker == flush.FOR_STATE and suspect == before.owner
        case _:
            return False
