"""What it costs in views and messages that many join or leave at once."""

from collections import deque
from collections.abc import Iterable

import pytest
from attrs import define, field

from groupcomm import gms
from groupcomm.digest import Vector
from groupcomm.effects import PassDown, PassUp, Send
from groupcomm.events import DigestGiven, GetDigest, GroupStopped, Suspend

RECEIVED = {
    gms.JoinReq: gms.JoinReqReceived,
    gms.JoinRsp: gms.JoinRspReceived,
    gms.LeaveReq: gms.LeaveReqReceived,
    gms.LeaveRsp: gms.LeaveRspReceived,
    gms.NewView: gms.NewViewReceived,
    gms.ViewAck: gms.ViewAckReceived,
}


@define
class Group:
    """A coordinator A and others; the group is stopped, and a digest given, when no message is on its way."""

    config: gms.Config
    states: dict[str, gms.State] = field(factory=dict)
    sent: int = 0
    _network: deque[tuple[str, gms.Event]] = field(factory=deque)
    _asked: deque[tuple[str, gms.Event]] = field(factory=deque)

    @property
    def views(self) -> int:
        return self.states["A"].decision.id.counter

    def all(self, members: Iterable[str], event: gms.Event) -> None:
        for member in members:
            self._step(member, event)
        while self._network or self._asked:
            self._step(*(self._network or self._asked).popleft())

    def _step(self, member: str, event: gms.Event) -> None:
        before = self.states.setdefault(member, gms.start(member))
        self.states[member], effects = gms.step(self.config, before, event)
        for effect in effects:
            match effect:
                case Send(to, message):
                    self.sent += 1
                    self._network.append((to, RECEIVED[type(message)](member, message)))
                case PassUp(Suspend(asker)):
                    self._asked.append((member, GroupStopped(asker)))
                case PassDown(GetDigest(asker, request)):
                    digest = Vector(tuple((each, -1) for each in before.decision.members))
                    self._asked.append((member, DigestGiven(asker, request, digest)))


@pytest.mark.parametrize("count", [1, 3, 10, 20, 50])
def test_what_joins_or_leaves_at_once_takes_one_view_and_messages_of_its_own(count: int) -> None:
    """JOIN_REQ, JOIN_RSP and VIEW_ACK for each joiner; LEAVE_REQ and LEAVE_RSP for each leaver."""
    group = Group(gms.Config(max_bundle=count))
    others = [f"B{number}" for number in range(count)]
    group.all("A", gms.JoinRequested("A", 0))
    group.all(others, gms.JoinRequested("A", 0))
    assert (2, 3 * count) == (group.views, group.sent)
    assert ("A", *others) == group.states[others[-1]].decision.members
    group.all(others, gms.LeaveRequested())
    assert (3, 5 * count) == (group.views, group.sent)
    assert (("A",), True) == (group.states["A"].decision.members, all(group.states[each].gone for each in others))


@pytest.mark.parametrize("count", [1, 3, 10, 20, 50])
def test_a_view_for_each_costs_a_square(count: int) -> None:
    """A joiner: JOIN_REQ, and a message and its acknowledgement for each other member, the new one too.

    A leaver: LEAVE_REQ in each view in which it waits, LEAVE_RSP, and the same for each that stays but A.
    """
    group = Group(gms.Config(max_bundle=1))
    others = [f"B{number}" for number in range(count)]
    group.all("A", gms.JoinRequested("A", 0))
    group.all(others, gms.JoinRequested("A", 0))
    assert (1 + count, sum(1 + 2 * place for place in range(1, count + 1))) == (group.views, group.sent)
    joined = group.sent
    group.all(others, gms.LeaveRequested())
    waiting = sum(range(1, count + 1))
    staying = sum(range(count))
    assert (1 + 2 * count, waiting + count + 2 * staying) == (group.views, group.sent - joined)
