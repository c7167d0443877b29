"""The stack that runs, its times, and how a step of it is written down."""

from collections.abc import Mapping
from types import ModuleType
from typing import Any, Final

import attrs

from groupcomm import (
    file_ping,
    flush,
    gms,
    heartbeat,
    merge_gms,
    nakack,
    safe,
    sequencer,
    stable,
    state_transfer,
    unicast,
)
from groupcomm.effects import Datagram, Multicast, PassDown, Send
from groupcomm.events import Payload
from groupcomm.stack import Arrived, Called, Effect, Event, Fired, Layer, Raised, Stack, Tagged
from groupcomm.view import View, ViewId

from .codec import Codec, RefusedError, canonical
from .settings import Settings

LAYERS: Final[Mapping[str, ModuleType]] = {
    "state_transfer": state_transfer,
    "safe": safe,
    "sequencer": sequencer,
    "flush": flush,
    "merge_gms": merge_gms,
    "stable": stable,
    "nakack": nakack,
    "unicast": unicast,
    "heartbeat": heartbeat,
    "file_ping": file_ping,
}
"""Top first; beneath them are a network and a folder. No message passes through the last two.

STATE_TRANSFER is there for applications with a state alone, SAFE where it is asked for.
"""

DISCOVER: Final = "merge_gms/discover"
"""The timer at which discovery reports the coordinators that it hears."""

BEAT: Final = "heartbeat/beat"
"""The timer at which heartbeats are sent."""

VOTE: Final = "stable/stable"
"""The timer at which STABLE votes."""

HIGHEST: Final = "nakack/highest"
"""The timer at which NAKACK tells its highest seqno."""

LOOK: Final = "file_ping/look"
"""The timer at which FILE_PING has the record written, and a coordinator looks for others."""

RECURRING: Final = frozenset({BEAT, DISCOVER, VOTE, HIGHEST, LOOK})
"""The timers that fire again and again in a quiet group."""

_GROUND: Final = ("Network", "Incarnations", "Folder")

_WINDOW: Final = 4  # parts of a state in transit
_RECORD: Final = 512  # bytes that a message counts besides its own, where it waits for a state

_BUNDLE: Final = 64  # requests that one view grants
_LONGEST: Final = 8  # times the patience: no silence is borne longer


def configs(settings: Settings, *, state: bool = False) -> dict[str, Any]:
    """The configuration of each layer, by the patience of the failure detector.

    `state`: the application has a state. STATE_TRANSFER has parts of some 65,000 bytes in transit.
    A silent member is suspected before a merge is given up, and a message is sent again before that. A record
    that was removed is written again before its member is suspected.
    """
    ms = round(settings.patience * 1_000)
    beats = round(settings.patience / settings.heartbeat)
    above: dict[str, Any] = {}
    if state:
        most = settings.held_bytes + 2 * settings.unstable_bytes  # of others and of a view that ends
        above["state_transfer"] = state_transfer.Config(
            window=_WINDOW, full_at=settings.held_bytes, max_held=most, ask_time=ms
        )
    if settings.reports_safe:
        above["safe"] = safe.Config(majority=settings.majority)
    return above | {
        "sequencer": sequencer.Config(majority=settings.majority),
        "flush": flush.Config(),
        "merge_gms": merge_gms.Config(
            max_bundle=_BUNDLE, min_interval=ms // 2, max_interval=2 * ms, leader_timeout=2 * ms, member_timeout=4 * ms
        ),
        # A message counts 1 here: NAKACK does not report sizes.
        "stable": stable.Config(max_bytes=200, stable_interval=500, stability_delay=50),
        "nakack": nakack.Config(highest_interval=200, request_delay=20, first_asked=4),
        "unicast": unicast.Config(retransmit_min=50, retransmit_max=2_000, resend_most=16),
        "heartbeat": heartbeat.Config(
            patience=beats, longest=_LONGEST * beats, beat_interval=round(settings.heartbeat * 1_000)
        ),
        "file_ping": file_ping.Config(
            discovery_time=max(2 * ms // 5, 1), join_time=ms, look_min=max(ms // 4, 1), look_max=max(ms // 2, 1)
        ),
    }


def multicast(payload: bytes) -> Called:
    """The application multicasts. STATE_TRANSFER takes the size with the call."""
    return Called(Multicast(Payload(payload)), (len(payload) + _RECORD,))


def stack_of(chosen: Mapping[str, Any]) -> Stack:
    """The stack with these configurations, one a layer."""
    layers = (Layer.of(module, chosen[name]) for name, module in LAYERS.items() if name in chosen)
    return Stack(tuple(layers), _GROUND)


def payload_in(carrier: object) -> bytes:
    """The application's bytes within an event or a message of layers, none where it has none."""
    while not isinstance(carrier, bytes):
        match carrier:
            case Arrived(_, within) | Tagged(_, within) | Called(Multicast(within) | Send(_, within)):
                carrier = within
            case _:
                carrier = getattr(carrier, "payload", b"")
    return carrier


def written(effect: Effect, codec: Codec) -> list[Any]:
    """An effect as values of MessagePack; the message of a datagram as the bytes that travel."""
    if isinstance(effect, Datagram):
        return ["Datagram", effect.to, codec.encode(effect.message)]
    plain: list[Any] = canonical(effect)
    return plain


# Events, as a log has them: a kind and its values


def written_event(event: Event, data: bytes) -> tuple[Any, ...]:
    """An event from outside as a kind and texts and bytes. `data`: the bytes of a message that arrived.

    Raises TypeError for an event that no runtime has.
    """
    match event:
        case Arrived(sender):
            return "arrived", sender, data
        case Fired(timer, ()):
            return "fired", timer
        case Fired(timer, (frozenset() as found,)):
            return "fired", timer, sorted(found)
        case Fired(timer, (heartbeat.Around() as around,)):
            return "beat", timer, *map(sorted, attrs.astuple(around))
        case Called(Multicast(payload)):
            return "multicast", payload
        case Called(Send(to, payload)):
            return "unicast", to, payload
        case Called(PassDown(state_transfer.PartRead(to, attempt, number, part, last))):
            return "part", to, attempt, number, part, last
        case Called(PassDown(state_transfer.PartFailed(to, attempt))):
            return "no part", to, attempt
        case Called(PassDown(state_transfer.DeclareRequested())):
            return ("declare",)
        case Called(PassDown(flush.BlockReturned())):
            return ("returned",)
        case Called(PassDown(file_ping.ConnectRequested())):
            return ("connect",)
        case Raised(file_ping.RecordsRead(found, broken)):
            return "read", sorted(found), sorted(broken)
        case Called(PassDown(file_ping.DisconnectRequested())):
            return ("disconnect",)
        case Called(PassDown(gms.LeaveRequested())):
            return ("leave",)
        case Called(PassDown(gms.JoinRequested(coordinator, life))):
            return "join", coordinator, life
        case Raised(unicast.IncarnationBegins(incarnation)):
            return "begins", incarnation
        case Raised(sequencer.Restored(attempts)):
            return "restored", [[view.id.counter, view.id.creator, [*view.members]] for view in attempts]
        case _:
            raise TypeError(f"no event of this runtime: {event!r}")


def event_of(values: Any, codec: Codec) -> Event:  # noqa: ANN401 - anything that a file has
    """The event of which these are the kind and the values. Raises RefusedError."""
    match values:
        case ["arrived", str(sender), bytes(data)]:
            return Arrived(sender, codec.decode(data))
        case ["fired", str(timer)]:
            return Fired(timer)
        case ["fired", str(timer), [*found]] if all(type(each) is str for each in found):
            return Fired(timer, (frozenset(found),))
        case ["beat", str(timer), [*watched], [*suspected], [*sought], [*reachable]] if all(
            type(each) is str for each in (*watched, *suspected, *sought, *reachable)
        ):
            around = heartbeat.Around(*map(frozenset, (watched, suspected, sought, reachable)))
            return Fired(timer, (around,))
        case ["multicast", bytes(payload)]:
            return multicast(payload)
        case ["unicast", str(to), bytes(payload)]:
            return Called(Send(to, Payload(payload)))
        case ["part", str(to), int(attempt), int(number), bytes(part), bool(last)]:
            read = state_transfer.PartRead(to, attempt, number, Payload(part), last)
            return Called(PassDown(read))
        case ["no part", str(to), int(attempt)]:
            return Called(PassDown(state_transfer.PartFailed(to, attempt)))
        case ["declare"]:
            return Called(PassDown(state_transfer.DeclareRequested()))
        case ["returned"]:
            return Called(PassDown(flush.BlockReturned()))
        case ["connect"]:
            return Called(PassDown(file_ping.ConnectRequested()))
        case ["read", [*found], [*broken]] if all(type(each) is str for each in (*found, *broken)):
            return Raised(file_ping.RecordsRead(frozenset(found), frozenset(broken)))
        case ["disconnect"]:
            return Called(PassDown(file_ping.DisconnectRequested()))
        case ["leave"]:
            return Called(PassDown(gms.LeaveRequested()))
        case ["join", str(coordinator), int(life)]:
            return Called(PassDown(gms.JoinRequested(coordinator, life)))
        case ["restored", [*attempts]]:
            return Raised(sequencer.Restored(tuple(_view_of(each) for each in attempts)))
        case ["begins", int(incarnation)]:
            return Raised(unicast.IncarnationBegins(incarnation))
        case _:
            raise RefusedError("no event of a member")


def _view_of(values: Any) -> View:  # noqa: ANN401 - anything that a file has
    match values:
        case [int(counter), str(creator), [*members]] if all(type(each) is str for each in members):
            return View(ViewId(counter, creator), tuple(members))
        case _:
            raise RefusedError("no view of a record")
