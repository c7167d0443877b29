"""Exceptions for refused events. A refused event changes nothing."""

from typing import Protocol

from .view import Address


class LocalState(Protocol):
    """The part of a state that every protocol has."""

    @property
    def member(self) -> Address:
        """The member whose state it is."""


class ProtocolError(Exception):
    """An event was refused. `member`, `state` and `event` say where, `reason` says why."""

    def __init__(self, state: LocalState, event: object, reason: str) -> None:
        super().__init__(state, event, reason)
        self.member = state.member
        self.state = state
        self.event = event
        self.reason = reason

    def __str__(self) -> str:
        """Written only when some member reads it."""
        return f"{self.member}: {self.reason}\n  event: {self.event}\n  state: {self.state}"


class LocalProtocolError(ProtocolError):
    """The caller on this member may not do this now. Outcome `local_error`."""


class RemoteProtocolError(ProtocolError):
    """A peer sent what no correct peer sends. Outcome `remote_error`."""
