"""What is on its way between processes, and what becomes of it: copies of multicasts, unicasts, datagrams.

Each method is an event of a group (see `group`). It raises NotAllowedError where the layers do not allow it.
"""

from collections.abc import Callable, Iterable
from typing import Final

from groupcomm.abstract.membership import NotAllowedError, Process
from groupcomm.events import MessageReceived
from groupcomm.stack import Arrived, Raised, Tagged

from .group import Group

__all__ = ["MESSAGE_RECEIVED", "Traffic"]

MESSAGE_RECEIVED: Final = MessageReceived(1)


class Traffic:
    """The events of a group in which something arrives, or does not."""

    def __init__(self, group: Group) -> None:
        self._group = group
        self.events: Final[dict[object, Callable[..., None]]] = {
            "data": self._data,
            "lose": self._lose,
            "skip": self._skip,
            "message": self._message,
            "drop": self._drop,
            "take": self._take,
            "again": self._again,
            "miss": self._miss,
            "gossip": self._gossip,
        }

    # Copies of multicasts

    def _data(self, name: str, sender: str, seqno: int) -> None:
        receiver, source = self._receivable(name, sender, seqno)
        unordered = self._group.layers.multicast == "unordered"
        arrive = self._group.multicast.arrive_out_of_order if unordered else self._group.multicast.arrive
        self._arrived(receiver, source, arrive(receiver, source, seqno))

    def _skip(self, name: str, sender: str, seqno: int) -> None:
        receiver, source = self._receivable(name, sender, seqno)
        if self._group.layers.multicast != "lossy" or receiver is source:
            raise NotAllowedError("the multicast layer leaves no message out")
        self._arrived(receiver, source, self._group.multicast.skip(receiver, source, seqno))

    def _receivable(self, name: str, sender: str, seqno: int) -> tuple[Process, Process]:
        receiver = self._group.in_view(name)
        source = self._group.membership.processes.get(sender)
        if source is None:
            raise NotAllowedError(f"there is no {sender}")
        if source not in self._group.multicast.windows[receiver]:
            raise NotAllowedError(f"{sender} is not in the view of {name}")
        gate, multicast = self._group.gate, self._group.multicast
        if gate is not None:
            if not gate.may_receive(receiver, source, seqno):
                raise NotAllowedError("the view is settled without it, or it is held back")
            gate.drop_what_is_beyond(receiver, source)
            if gate.must_receive(receiver, source, seqno) and multicast.lacks(receiver, source, seqno):
                return receiver, source
        holders = [
            p
            for p in self.holders(receiver)
            if p is not receiver and (gate is None or gate.may_serve(p, source))
        ]
        if not multicast.may_arrive(receiver, source, seqno, holders):
            raise NotAllowedError("no copy of it can arrive")
        return receiver, source

    def holders(self, receiver: Process) -> Iterable[Process]:
        """Who can be asked for a retransmission."""
        view = receiver.view
        known = view.processes if view is not None else ()
        return (p for p in known if p.up and self._group.connected(p, receiver))

    def _arrived(self, receiver: Process, source: Process, messages: list[object]) -> None:
        self._group.step(receiver, Raised(MESSAGE_RECEIVED))
        for message in messages:
            if isinstance(message, Tagged):
                self._group.step(receiver, Arrived(source.address, message))

    def _lose(self, name: str, sender: str, seqno: int) -> None:
        receiver, source = self._group.process(name), self._group.membership.processes.get(sender)
        if source is None or receiver is source or receiver.view is None:
            raise NotAllowedError("what a member multicasts comes back to it")
        number = receiver.view.number if self._group.layers.synchrony else -1
        self._group.multicast.lose((receiver, source, number, seqno))

    # Unicasts and datagrams

    def _message(self, name: str, to: str) -> None:
        sender, receiver = self._pair(name, to)
        self._got(sender, receiver, self._group.unicast.arrive(sender, receiver))

    def _drop(self, name: str, to: str) -> None:
        sender, receiver = self._group.membership.processes.get(name), self._group.process(to)
        if sender is None or sender.up or sender in self._group.departed:
            raise NotAllowedError("a unicast is lost only where its sender has crashed")
        self._group.unicast.lose(sender, receiver)

    def _take(self, name: str, to: str, place: int) -> None:
        sender, receiver = self._pair(name, to, "unordered")
        self._got(sender, receiver, self._group.unicast.arrive_out_of_order(sender, receiver, place))

    def _again(self, name: str, to: str) -> None:
        sender, receiver = self._pair(name, to, "duplicating")
        self._group.new_unicasts.append((sender, receiver))
        self._got(sender, receiver, self._group.unicast.again(sender, receiver))

    def _miss(self, name: str, to: str) -> None:
        sender, receiver = self._pair(name, to, "lossy")
        self._group.unicast.arrive(sender, receiver)

    def _pair(self, name: str, to: str, layer: str = "") -> tuple[Process, Process]:
        sender, receiver = self._group.membership.processes.get(name), self._group.process(to)
        if sender is None or (layer and self._group.layers.unicast != layer):
            raise NotAllowedError("the unicast layer does not do that")
        if sender.up and not self._group.connected(sender, receiver):
            raise NotAllowedError("a partition is between them")
        return sender, receiver

    def _got(self, sender: Process, receiver: Process, message: object) -> None:
        if isinstance(message, Tagged):
            self._group.step(receiver, Arrived(sender.address, message))

    def _gossip(self, name: str, number: int, to: str) -> None:
        sender, receiver = self._group.membership.processes.get(name), self._group.process(to)
        if sender is None or receiver.view is None:
            raise NotAllowedError("there is nobody")
        if sender.up and not self._group.connected(sender, receiver):
            raise NotAllowedError("a partition is between them")
        message = self._group.network.arrive(sender, number, receiver)
        if isinstance(message, Tagged):
            event = Arrived(sender.address, message)
            if self._group.stack.takes(event):
                event = Arrived(sender.address, message, (self._group.multicast.digest(receiver),))
            self._group.step(receiver, event)
