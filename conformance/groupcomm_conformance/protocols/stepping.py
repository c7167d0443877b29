"""Steps of a counterexample, taken by the core."""

from collections.abc import Callable, Mapping

from groupcomm.errors import LocalProtocolError, RemoteProtocolError
from groupcomm_conformance.models.manifest import Manifest
from groupcomm_conformance.tla.cfg import Cfg
from groupcomm_conformance.tla.readable import brief
from groupcomm_conformance.tla.trace import State
from groupcomm_conformance.tla.values import Fn, Value

from . import derive
from .codec import MappingError
from .derive import Protocol, constants_of


def repair(
    manifest: Manifest, constants: Mapping[str, str]
) -> Callable[[State, Fn], tuple[Value, tuple[str, Value, Value]] | None] | None:
    """Give a function that takes the step `act` after a state; None where the core has other constants.

    The function gives the state before the step, and the core's outcome, next state and effects. It gives
    None for a step of another layer and for a state of another form.
    """
    try:
        protocol = derive.load(manifest)
        config = protocol.config(constants_of(Cfg(constants=dict(constants))))
    except MappingError:
        return None

    def step(before: State, act: Fn) -> tuple[Value, tuple[str, Value, Value]] | None:
        try:
            return _taken(protocol, config, before, act)
        except (MappingError, TypeError, KeyError):
            return None

    return step


def _taken(protocol: Protocol, config: object, before: State, act: Fn) -> tuple[Value, tuple[str, Value, Value]]:
    """Give the state before a step, and what the core makes of the same event."""
    core, codec = protocol.core, protocol.codec
    local = before.values["local"]
    if not isinstance(local, Fn):
        raise MappingError("local is no function on the members")
    event = codec.from_spec(act["event"], protocol.events)
    if act.get("from_start") is True:
        ours = core.start(brief(act["member"]))
        state = codec.to_spec(ours)
    else:
        state = local[act["member"]]
        ours = codec.from_spec(state, protocol.state)
    try:
        after, effects = core.step(config, ours, event)
    except LocalProtocolError:
        return state, ("local_error", state, ())
    except RemoteProtocolError:
        return state, ("remote_error", state, ())
    if after is ours and not effects:
        return state, ("ignored", state, ())
    return state, ("handled", codec.to_spec(after), tuple(codec.to_spec(effect) for effect in effects))
