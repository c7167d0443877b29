"""Ports that narrow what the models never reach: random walks and renamed rows notice each of them.

Such a port is a core that reads and writes values through a narrow type, as ports in other languages do.
"""

import ctypes
import unicodedata
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from groupcomm.errors import LocalProtocolError, ProtocolError, RemoteProtocolError
from groupcomm.shapes import Sequence, shape_of
from groupcomm_conformance.ports.renaming import WAYS, borne, renamed
from groupcomm_conformance.ports.walking import SCALES, scaled
from groupcomm_conformance.protocols.derive import Protocol, constants_of
from groupcomm_conformance.random_events.drawn import CORES, PORTS, Domain, Drawn, walk
from groupcomm_conformance.steps.rows import Rows, replay
from groupcomm_conformance.tla.values import Fn, Value, function, identical
from tests.cores import MANIFESTS, PROTOCOLS
from tests.test_adapter import SMALL, table

Narrow = Callable[[tuple[str, ...], Value], Value]
"""What a port keeps of a value without parts, by the names of the fields that it is in."""

WALKS = 40

RARE = {"state_transfer": 3}
"""So many times the walks: its timer is set where all members have refused."""

WALKED = {**SMALL, "stable": "vote_held_two_rounds"}
"""The model of each protocol whose constants the members of the walks have: that of STABLE counts bytes."""


def numbers(keep: Callable[[int], int], *fields: str) -> Narrow:
    return lambda path, value: (
        keep(value) if type(value) is int and not {*fields}.isdisjoint(path) and "payload" not in path else value
    )


def names(keep: Callable[[str], str]) -> Narrow:
    return lambda path, value: keep(value) if isinstance(value, str) and path[-1:] != ("type",) else value


def payloads(keep: Callable[[Value], Value]) -> Narrow:
    return lambda path, value: keep(value) if path[-1:] == ("payload",) else value


def signed(number: int) -> int:
    return ctypes.c_int32(number).value


def double(number: int) -> int:
    return int(float(number))


def turned(name: str) -> str:
    """Swap two names, of which UTF-16 has the other first."""
    return {"\uffee": "\U0001d11e", "\U0001d11e": "\uffee"}.get(name, name)


def step_of(name: str, keep: Narrow) -> Callable[[Any, Any, Any], Any]:
    """A port, as a core that answers with its answers."""
    protocol = PROTOCOLS[name]
    port = Port(protocol, keep)

    def step(config: Any, state: Any, event: Any) -> Any:  # noqa: ANN401 - of the protocol
        outcome, after, effects = port.step(config, state, event)
        if outcome == "ignored":
            return state, ()
        if outcome != "handled":
            refused = LocalProtocolError if outcome == "local_error" else RemoteProtocolError
            raise refused(state, event, outcome)
        shapes = port.shapes[0], Sequence(shape_of(protocol.effects))
        return tuple(protocol.codec.decode(*each) for each in zip((after, effects), shapes, strict=True))

    return step


def fails(keep: Narrow, name: str, model: str, by: str) -> bool:
    """Whether a way of renaming notices a port by the rows of a model."""
    protocol, of = PROTOCOLS[name], table(name, model)
    constants = constants_of(MANIFESTS[name].cfg(MANIFESTS[name].model(model)))
    way = next(each for each in WAYS if each.name == by and each.suits(name))
    rows = Rows(protocol, renamed(protocol, of, way), constants)
    return not replay(rows, step_of(name, keep), borne(rows, of, way), stop=True).passed


ORDERED = [("file_ping", "two_starters"), ("merge", "pairs")]
"""Models whose members are ordered by their names."""

FURTHER = tuple(str(number) for number in range(64, 70))
"""The last digits of the names of the 64th member and those behind, of 70."""

WIDE = {
    "nakack": ("seqno", "delivered", "upto", "pending", "digest", "starts", "counter"),
    "stable": ("counter", "delivered", "digest", "minimum"),
    "sequencer": ("counter",),
    "unicast": ("incarnation",),
    "flush": ("counter",),
    "gms": ("request", "life", "counter", "digest"),
    "merge": ("life", "digest"),
}
"""Fields of each protocol whose numbers a port may have in 32 bits."""

TIMES = {
    "nakack": ("high", "low"),
    "stable": ("high", "low"),
    "unicast": ("interval", "high"),
    "merge": ("high", "low"),
    "merge_gms": ("high",),
    "file_ping": ("high", "low"),
    "heartbeat": ("high",),
    "state_transfer": ("high",),
}
"""Fields that have to do with the constants of a member, which may be large."""

COUNTED = {
    ("nakack", "pair_small", "arrivals_up"): ("arrived",),
    ("sequencer", "misuse", "seqnos_up"): ("seqno",),
    ("unicast", "two_messages_lossy", "seqnos_up"): ("delivered", "next", "seqno"),
    ("unicast", "two_messages_lossy", "connections_up"): ("number", "opened"),
    ("flush", "join", "rounds_up"): ("round",),
    ("flush", "crash", "rounds_up"): ("later",),
    ("flush", "join", "seqnos_up"): ("delivered", "limit", "reports", "sent", "target", "upto"),
    ("gms", "join", "requests_up"): ("asked",),
    ("merge", "two_singletons", "merges_up"): ("begun", "number"),
    ("merge_gms", "two_singletons", "merges_up"): ("begun", "number"),
    ("heartbeat", "misuse", "beats_up"): ("beats", "since"),
    ("heartbeat", "two_members", "silences_up"): ("gap", "missed"),
    ("state_transfer", "join_of_one", "attempts_up"): ("attempt",),
    ("state_transfer", "join_of_one", "parts_up"): ("credit", "parts"),
    ("state_transfer", "join_of_one", "seqnos_up"): ("seen", "sent"),
}
"""Fields that a member counts up from 0, so that no walk makes them large: the way and the model that do."""

NARROW: dict[str, tuple[str, Narrow]] = {
    **{f"{name} {each} in 32 bits": (name, numbers(signed, each)) for name in WIDE for each in WIDE[name]},
    **{f"{name} {each} in 32 bits": (name, numbers(signed, each)) for name in TIMES for each in TIMES[name]},
    **{f"{name} numbers as doubles": (name, numbers(double, *WIDE[name])) for name in WIDE},
    "stable size in 32 bits": ("stable", numbers(signed, "size")),
    "stable received_bytes in 32 bits": ("stable", numbers(signed, "received_bytes")),
    "nakack payload or none": ("nakack", payloads(lambda value: value or "")),
    "nakack payload true is 1": ("nakack", payloads(lambda value: 1 if value is True else value)),
    "nakack payload of digits": ("nakack", payloads(lambda value: 0 if value == "0" else value)),
    "sequencer names without case": ("sequencer", names(str.lower)),
    "flush names in one Unicode form": ("flush", names(lambda name: unicodedata.normalize("NFC", name))),
    "gms name of a property": ("gms", names(lambda name: "" if name == "constructor" else name)),
    "stable 64 members": ("stable", names(lambda name: "" if name[-2:] in FURTHER else name)),
}


def kept(keep: Narrow, value: Value, path: tuple[str, ...] = ()) -> Value:
    match value:
        case Fn():
            return function((kept(keep, key, path), kept(keep, each, (*path, str(key)))) for key, each in value.items())
        case tuple() if path[-1:] != ("payload",):
            return tuple(kept(keep, each, path) for each in value)
        case frozenset():
            return frozenset(kept(keep, each, path) for each in value)
    return keep(path, value)


class Port:
    """A core behind a narrow type."""

    def __init__(self, protocol: Protocol, keep: Narrow) -> None:
        self.protocol, self.keep = protocol, keep
        self.shapes = shape_of(protocol.state), shape_of(protocol.events)

    def told(self, value: Any) -> Value:  # noqa: ANN401 - of the protocol
        return kept(self.keep, self.protocol.codec.to_spec(value))

    def step(self, config: Any, state: Any, event: Any) -> tuple[str, Value, Value]:  # noqa: ANN401 - of the protocol
        """Outcome, next state and effects, as the port would write them; of an exception its name."""
        codec = self.protocol.codec
        try:
            before, came = (
                codec.decode(self.told(each), shape) for each, shape in zip((state, event), self.shapes, strict=True)
            )
            after, effects = self.protocol.core.step(config, before, came)
        except ProtocolError as error:
            outcome = "local_error" if isinstance(error, LocalProtocolError) else "remote_error"
            return outcome, codec.to_spec(state), ()
        except Exception as error:  # noqa: BLE001 - a port that ends is noticed
            return type(error).__name__, codec.to_spec(state), ()
        if after is before and not effects:
            return "ignored", codec.to_spec(state), ()
        return "handled", self.told(after), self.told(effects)


@cache
def steps_of(name: str, domain: Domain) -> tuple[tuple[Any, Drawn], ...]:
    """Steps of walks, each with its configuration."""
    protocol, constants = PROTOCOLS[name], constants_of(MANIFESTS[name].cfg(MANIFESTS[name].model(WALKED[name])))
    configs = [protocol.config(scaled(protocol, constants, by)) for by in (SCALES if domain is PORTS else (1,))]
    walks = WALKS * RARE.get(name, 1)
    drawn = ((configs[seed % len(configs)], seed) for seed in range(1, walks + 1))
    return tuple((config, step) for config, seed in drawn for step in walk(protocol, config, seed, domain=domain).steps)


def noticed(name: str, keep: Narrow, domain: Domain) -> bool:
    """Whether the port gives another answer to a step of the walks than the core."""
    port, to_spec = Port(PROTOCOLS[name], keep), PROTOCOLS[name].codec.to_spec
    return any(
        not identical(
            port.step(config, step.before, step.event), (step.outcome, to_spec(step.after), to_spec(step.effects))
        )
        for config, step in steps_of(name, domain)
    )


@pytest.mark.parametrize("name", NARROW)
def test_a_narrow_port_is_noticed_by_random_walks(name: str) -> None:
    protocol, keep = NARROW[name]
    assert noticed(protocol, keep, PORTS)


@pytest.mark.parametrize("name", WIDE)
def test_a_wide_port_passes(name: str) -> None:
    assert not noticed(name, lambda _, value: value, PORTS)


def test_what_tlc_can_judge_shows_no_narrow_number() -> None:
    """So ports have a domain of their own."""
    assert not noticed("nakack", numbers(signed, *WIDE["nakack"]), CORES)


@pytest.mark.parametrize("field", ["seqno", "delivered", "upto", "purged", "base"])
def test_a_seqno_of_32_bits_is_noticed_by_renamed_rows(field: str) -> None:
    assert fails(numbers(signed, field), "nakack", "pair_small", "seqnos_up")


@pytest.mark.parametrize(("name", "model", "by", "field"), [(*of, each) for of in COUNTED for each in COUNTED[of]])
def test_what_is_counted_in_32_bits_is_noticed_by_renamed_rows(name: str, model: str, by: str, field: str) -> None:
    assert fails(numbers(signed, field), name, model, by)


@pytest.mark.parametrize(("name", "model"), ORDERED)
def test_an_order_of_names_by_utf_16_is_noticed_by_renamed_rows(name: str, model: str) -> None:
    assert fails(names(turned), name, model, "code_points")


@pytest.mark.parametrize(
    ("name", "model", "by"),
    [("nakack", "pair_small", "seqnos_up"), ("file_ping", "two_starters", "code_points"), *COUNTED],
)
def test_a_wide_port_passes_renamed_rows(name: str, model: str, by: str) -> None:
    assert not fails(lambda _, value: value, name, model, by)
