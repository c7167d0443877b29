"""STABLE: implementation state and TLA+ variables of `StableGroup`, and the simulated group.

`StableCluster` has one method an action of the group, in the specification's order. The members' steps are
the core's; the layer below is `groupcomm.sim.reliable_multicast`; the rest is the environment that the
specification describes. The same environment for scenarios is in `stable_surroundings`.
"""

import re
from collections.abc import Mapping
from functools import cache
from types import ModuleType
from typing import Any

from attrs import frozen

from groupcomm import effects as effect_classes
from groupcomm import stable
from groupcomm.digest import EMPTY_VECTOR, Vector
from groupcomm.errors import LocalProtocolError, RemoteProtocolError
from groupcomm.sim import reliable_multicast as rm
from groupcomm.view import Address, View
from groupcomm_conformance.tla.values import Fn, Value

from . import Codec, MappingError, Protocol
from .stable_surroundings import StableSurroundings, story

EVENTS = (
    stable.ViewInstalled,
    stable.StableTimeout,
    stable.MessageReceived,
    stable.StableReceived,
    stable.StabilityTimeout,
    stable.StabilityReceived,
    stable.JoinerDigestTaken,
    stable.JoinAbandoned,
)

CODEC = Codec(
    tags={
        **{event: event.__name__ for event in EVENTS},
        stable.Stable: "STABLE",
        stable.Stability: "STABILITY",
        stable.Purge: "Purge",
        effect_classes.Multicast: "Multicast",
        effect_classes.PassDown: "PassDown",
        effect_classes.SetTimer: "SetTimer",
        effect_classes.CancelTimer: "CancelTimer",
    },
)

NO_EVENT = Fn({"type": "none"})
NO_PARAMETERS = Fn({"nothing": 0})


def config(constants: Mapping[str, Value]) -> stable.Config:
    """The configuration of a model's members. Raises MappingError where the model is of another variant."""
    if constants["Variant"] != "repaired":
        message = f"the implementation is the repaired variant, not {constants['Variant']!r}"
        raise MappingError(message)
    return stable.Config(
        max_bytes=_int(constants["MaxBytes"]),
        stable_interval=_int(constants["StableInterval"]),
        stability_delay=_int(constants["StabilityDelay"]),
    )


@frozen(cache_hash=True)
class Packet:
    """A STABLE or STABILITY message on its way; `to` is "*" on a network that remembers."""

    sender: Address
    to: Address
    message: stable.Message


class StableCluster:
    """The variables of `StableGroup`, as implementation values."""

    def __init__(self, core: ModuleType, constants: Mapping[str, Value], initial: Fn) -> None:
        """The group in an initial state of the specification.

        The members of the first view are made by the core's own constructor and first step, not copied.
        """
        self.core: Any = core
        self.config = config(constants)
        self.remembers = bool(constants["Remembers"])
        self.listeners = _names(constants["Listeners"])
        self.rm: dict[Address, rm.Windows] = {}
        self.local: dict[Address, Any] = {}
        self.network: frozenset[Packet] = frozenset()
        for member, windows in _entries(initial["rm"]).items():
            self.rm[member] = {s: CODEC.from_spec(w, rm.Window) for s, w in _entries(windows).items()}
            self.local[member] = core.start(member)
            if self.rm[member]:
                view = CODEC.from_spec(_fn(_fn(initial["local"])[member])["view"], View)
                first = (
                    self.rm[member]
                    if constants["FirstVotes"] == "late"
                    else rm.install_windows({}, view.members)
                )
                event = stable.ViewInstalled(view, rm.digest_of(first))
                self.local[member], _ = core.step(self.config, self.local[member], event)
        self.up = frozenset(self.local)
        self.start: Vector = EMPTY_VECTOR
        self.lost: frozenset[tuple[Address, int, Address]] = frozenset()
        self.spent = dict.fromkeys(("lost", "crashes", "abandoned", "misuses"), 0)
        self._act("Init", "", NO_PARAMETERS)

    def values(self) -> Fn:
        """The global state as TLA+ values."""
        return Fn({name: CODEC.to_spec(part) for name, part in self.parts().items()})

    def parts(self) -> Mapping[str, object]:
        """The global state as it is held here."""
        return {
            "local": self.local,
            "rm": self.rm,
            "network": self.network,
            "up": self.up,
            "start": self.start,
            "lost": self.lost,
            "spent": self.spent,
            "act": self.act,
        }

    def apply(self, act: Fn) -> None:
        """Do the step that `act` names. Raises MappingError if the group has no such action."""
        action = getattr(self, _method(act["action"]), None)
        if action is None:
            message = f"StableGroup has no action {act['action']!r}"
            raise MappingError(message)
        action(act["member"], _fn(act["given"]), _fn(act["event"]))

    # Applying the core's step to one member: `StableGroup!Apply`

    def _step(
        self,
        action: str,
        member: Address,
        event: Any,  # noqa: ANN401 - an event of the core under test
        *,
        given: Fn = NO_PARAMETERS,
        consumed: frozenset[Packet] = frozenset(),
    ) -> None:
        before = self.local[member]
        try:
            after, effects = self.core.step(self.config, before, event)
        except (LocalProtocolError, RemoteProtocolError) as error:
            outcome = "local_error" if isinstance(error, LocalProtocolError) else "remote_error"
            after, effects = before, ()
        else:
            outcome = "ignored" if after is before and not effects else "handled"
        self.local[member] = after
        network = self.network if self.remembers else self.network - consumed
        for effect in effects:
            match effect:
                case effect_classes.Multicast(message):
                    receivers = ("*",) if self.remembers else self.up & self.listeners
                    network |= {Packet(member, to, message) for to in receivers}
                case effect_classes.PassDown(purge):
                    self.rm[member] = rm.purge(self.rm[member], purge.digest)
        self.network = network
        self._act(action, member, given, event=event, consumed=consumed, outcome=outcome, effects=effects)

    def _act(
        self,
        action: str,
        member: Address,
        given: Fn,
        *,
        event: object = None,
        consumed: frozenset[Packet] = frozenset(),
        outcome: str = "none",
        effects: tuple[object, ...] = (),
    ) -> None:
        self.act: Mapping[str, object] = {
            "action": action,
            "member": member,
            "given": given,
            "event": NO_EVENT if event is None else event,
            "consumed": consumed,
            "outcome": outcome,
            "effects": effects,
        }

    # Data: the layer below

    def _receive(self, action: str, member: Address, given: Fn, sender: Address) -> None:
        windows = self.rm[member]
        self.rm[member] = {**windows, sender: rm.add(windows[sender], _int(given["seqno"]))}
        self._step(action, member, stable.MessageReceived(1), given=given)

    def multicast_data(self, member: Address, given: Fn, _event: Fn) -> None:
        self._receive("MulticastData", member, given, member)

    def receive_data(self, member: Address, given: Fn, _event: Fn) -> None:
        self._receive("ReceiveData", member, given, _str(given["sender"]))

    def lose_data(self, member: Address, given: Fn, _event: Fn) -> None:
        self.lost |= {(_str(given["sender"]), _int(given["seqno"]), member)}
        self.spent["lost"] += 1
        self._act("LoseData", member, given)

    def retransmit(self, member: Address, given: Fn, _event: Fn) -> None:
        holder, sender = _str(given["holder"]), _str(given["sender"])
        if not rm.holds(self.rm[holder][sender], _int(given["seqno"])):
            message = f"{holder} does not hold {sender}'s message {given['seqno']}"
            raise MappingError(message)
        self._receive("Retransmit", member, given, sender)

    # Membership

    def take_joiner_digest(self, member: Address, _given: Fn, _event: Fn) -> None:
        self.start = rm.digest_of(self.rm[member]).delivered
        self._step("TakeJoinerDigest", member, stable.JoinerDigestTaken())

    def abandon_join(self, member: Address, _given: Fn, _event: Fn) -> None:
        self.start = EMPTY_VECTOR
        self.spent["abandoned"] += 1
        self._step("AbandonJoin", member, stable.JoinAbandoned())

    def install_view(self, member: Address, _given: Fn, event: Fn) -> None:
        view = CODEC.from_spec(event["view"], View)
        self.rm[member] = rm.install_windows(self.rm[member], view.members)
        self._step("InstallView", member, stable.ViewInstalled(view, rm.digest_of(self.rm[member])))

    def join(self, member: Address, given: Fn, event: Fn) -> None:
        view = CODEC.from_spec(event["view"], View)
        self.local[member] = self.core.start(member)
        self.rm[member] = rm.join_windows(self.start, view.members)
        self._step("Join", member, stable.ViewInstalled(view, rm.digest_of(self.rm[member])), given=given)

    def crash(self, member: Address, _given: Fn, _event: Fn) -> None:
        crashed = self.local[member]
        newest = max(self.local[m].view.id.counter for m in self.up)
        self.up -= {member}
        if crashed.held and newest == crashed.view.id.counter:
            self.start = EMPTY_VECTOR
        consumed = frozenset(packet for packet in self.network if packet.to == member)
        self.network -= consumed
        self.spent["crashes"] += 1
        self._act("Crash", member, NO_PARAMETERS, consumed=consumed)

    # Gossip

    def stable_timeout_fires(self, member: Address, _given: Fn, _event: Fn) -> None:
        self._step("StableTimeoutFires", member, stable.StableTimeout())

    def stability_timeout_fires(self, member: Address, _given: Fn, _event: Fn) -> None:
        self._step("StabilityTimeoutFires", member, stable.StabilityTimeout())

    def receive_stable(self, member: Address, _given: Fn, event: Fn) -> None:
        packet = self._packet(member, event)
        self._step("ReceiveStable", member, _vote_of(packet), consumed=_only(packet))

    def receive_stability(self, member: Address, _given: Fn, event: Fn) -> None:
        packet = self._packet(member, event)
        digest = rm.digest_of(self.rm[member])
        arrived = stable.StabilityReceived(packet.sender, packet.message, digest)  # type: ignore[arg-type]
        self._step("ReceiveStability", member, arrived, consumed=_only(packet))

    def lose_gossip(self, member: Address, given: Fn, _event: Fn) -> None:
        self.network -= {CODEC.from_spec(given["packet"], Packet)}
        self.spent["lost"] += 1
        self._act("LoseGossip", member, given)

    def misuse(self, member: Address, _given: Fn, event: Fn) -> None:
        self.spent["misuses"] += 1
        self._step("Misuse", member, CODEC.from_spec(event, stable.Event))  # type: ignore[arg-type]

    def _packet(self, member: Address, event: Fn) -> Packet:
        """The packet in the network that the event names; the network decides, not the event."""
        packet = _packet_of(event, "*" if self.remembers else member)
        if packet not in self.network:
            message = f"no such message from {event['from']} to {member} is in the network"
            raise MappingError(message)
        return packet


@cache
def _vote_of(packet: Packet) -> stable.StableReceived:
    return stable.StableReceived(packet.sender, packet.message)  # type: ignore[arg-type]


@cache
def _only(packet: Packet) -> frozenset[Packet]:
    return frozenset({packet})


@cache
def _packet_of(event: Fn, to: Address) -> Packet:
    return Packet(_str(event["sender"]), to, CODEC.from_spec(event["message"], stable.Message))  # type: ignore[arg-type]


@cache
def _method(action: Value) -> str:
    """The method of a group action: `ReceiveData` is done by `receive_data`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", _str(action)).lower()


def _fn(value: Value) -> Fn:
    if not isinstance(value, Fn):
        message = f"a record or function was expected, not {value!r}"
        raise MappingError(message)
    return value


def _entries(value: Value) -> dict[str, Value]:
    return {} if value == () else {_str(key): item for key, item in _fn(value).items()}


def _str(value: Value) -> str:
    if not isinstance(value, str):
        message = f"a name was expected, not {value!r}"
        raise MappingError(message)
    return value


def _names(value: Value) -> frozenset[str]:
    if not isinstance(value, frozenset):
        message = f"a set of names was expected, not {value!r}"
        raise MappingError(message)
    return frozenset(_str(name) for name in value)


def _int(value: Value) -> int:
    if not isinstance(value, int):
        message = f"a number was expected, not {value!r}"
        raise MappingError(message)
    return value


PROTOCOL = Protocol(
    name="stable",
    core=stable,
    codec=CODEC,
    state=stable.State,
    events=stable.Event,
    config=config,
    cluster=StableCluster,
    observables=("view", "vote", "minimum", "heard_from", "pending", "bytes", "held"),
    surroundings=StableSurroundings,
    story=story,
)
