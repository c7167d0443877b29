"""Doing vectors on the implementation, as a port does."""

from typing import Any

from groupcomm.errors import LocalProtocolError, ProtocolError
from groupcomm_conformance.protocols.derive import AnyCore, Protocol
from groupcomm_conformance.steps.rows import Replayed, Rows, replay
from groupcomm_conformance.tla.readable import diff
from groupcomm_conformance.tla.values import Fn, identical

from .vector_reader import VectorSet
from .walking import Begun, Walk


def follow(protocol: Protocol, each: VectorSet, core: AnyCore | None = None) -> tuple[Replayed | None, list[str]]:
    """Do the vectors of a model or a scenario of a release on the implementation, or on `core`.

    Return the results of the rows, and the errors in walks, a text for each walk. Raises MappingError for
    constants of another algorithm.
    """
    core = core or protocol.core
    replayed = None
    if each.table is not None:
        replayed = replay(Rows(protocol, each.table, each.constants), core.step)
    config = protocol.config(each.constants)
    wrong = [text for walk in each.walks if (text := _wrong(protocol, core, config, walk))]
    return replayed, wrong


def _wrong(protocol: Protocol, core: AnyCore, config: object, walk: Walk) -> str:
    """Say where the implementation leaves a walk; "" where it does all of it."""
    codec = protocol.codec
    held: dict[str, Any] = {member: codec.from_spec(state, protocol.state) for member, state in walk.firsts.items()}
    for number, step in enumerate(walk.steps, 1):
        if isinstance(step, Begun) or step.begins:
            held[step.member] = core.start(step.member)
        if isinstance(step, Begun):
            continue
        before = held[step.member]
        try:
            after, effects = core.step(config, before, codec.from_spec(step.event, protocol.events))
            outcome = "ignored" if after is before and not effects else "handled"
        except ProtocolError as error:
            local = isinstance(error, LocalProtocolError)
            outcome, after, effects = "local_error" if local else "remote_error", before, ()
        except Exception as error:  # noqa: BLE001 - whatever the implementation raises is a verdict on it
            return f"{walk.name}: step {number}: crash: {type(error).__name__}: {error}"
        held[step.member] = after
        got = Fn({"outcome": outcome, "state": codec.to_spec(after), "effects": codec.to_spec(effects)})
        wanted = Fn({"outcome": step.outcome, "state": step.after, "effects": step.effects})
        if not identical(got, wanted):
            changes = "; ".join(change.text() for change in diff(wanted, got))
            return f"{walk.name}: step {number}, {step.event['type']} at {step.member}: {changes}"
    return ""
