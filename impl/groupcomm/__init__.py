"""groupcomm: the group-communication protocols of the JGroups design notes, as pure state machines.

Each protocol is one module with `start(...)` and `step(config, state, event) -> (state, effects)`; nothing
in it opens a socket, reads a clock, starts a thread or draws a random number. Folder `spec/<protocol>/` has
the specification that a module implements, under the same names. `Stack` makes one core of several.

    >>> from groupcomm import stable
    >>> state = stable.start("A")

A group over sockets is `groupcomm_runtime` (the extra `runtime`).
"""

from importlib.metadata import PackageNotFoundError as _NotFound
from importlib.metadata import version as _version

from . import (
    digest,
    effects,
    events,
    file_ping,
    flush,
    gms,
    heartbeat,
    merge,
    merge_gms,
    nakack,
    sequencer,
    stable,
    stack,
    unicast,
)
from .core import Core
from .digest import Digest, DigestEntry
from .effects import CancelTimer, Datagram, Multicast, PassDown, PassUp, Send, SetTimer
from .errors import LocalProtocolError, ProtocolError, RemoteProtocolError
from .per_member import PerMember
from .stack import Arrived, Called, Fired, Layer, Stack, StackError
from .view import Address, View, ViewId

try:
    __version__ = _version("groupcomm")
except _NotFound:  # pragma: no cover - not installed
    __version__ = "0"

PROTOCOLS = (stable, sequencer, gms, merge, merge_gms, flush, nakack, unicast, heartbeat, file_ping)
"""The cores, each a module with `Config`, `start` and `step`."""

__all__ = [
    "PROTOCOLS",
    "Address",
    "Arrived",
    "Called",
    "CancelTimer",
    "Core",
    "Datagram",
    "Digest",
    "DigestEntry",
    "Fired",
    "Layer",
    "LocalProtocolError",
    "Multicast",
    "PassDown",
    "PassUp",
    "PerMember",
    "ProtocolError",
    "RemoteProtocolError",
    "Send",
    "SetTimer",
    "Stack",
    "StackError",
    "View",
    "ViewId",
    "digest",
    "effects",
    "events",
    "file_ping",
    "flush",
    "gms",
    "heartbeat",
    "merge",
    "merge_gms",
    "nakack",
    "sequencer",
    "stable",
    "stack",
    "unicast",
]
