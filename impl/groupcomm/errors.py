"""What a protocol raises when an event is refused. A refused event changes nothing."""

from .view import Address


class ProtocolError(Exception):
    """An event was refused. `member`, `state` and `event` say where, `reason` says why."""

    def __init__(self, member: Address, state: object, event: object, reason: str) -> None:
        super().__init__(f"{member}: {reason}\n  event: {event}\n  state: {state}")
        self.member = member
        self.state = state
        self.event = event
        self.reason = reason


class LocalProtocolError(ProtocolError):
    """The caller on this member may not do this now. Outcome `local_error`."""


class RemoteProtocolError(ProtocolError):
    """A peer sent what no correct peer sends. Outcome `remote_error`."""
