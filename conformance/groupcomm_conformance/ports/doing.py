"""Doing vectors on the implementation, as a port does."""

from collections.abc import Iterator, Sequence
from typing import Any

from attrs import frozen

from groupcomm.errors import LocalProtocolError, ProtocolError
from groupcomm_conformance.protocols.derive import AnyCore, MappingError, Protocol
from groupcomm_conformance.steps.rows import Replayed, Rows, replay
from groupcomm_conformance.tla.readable import diff
from groupcomm_conformance.tla.values import Fn, identical
from groupcomm_conformance.walks.follow import Divergence, Follower
from groupcomm_conformance.walks.follow import replay as replay_walk

from .format import MANIFEST, VectorError
from .reading import Vectors
from .released import VectorSet
from .walking import Begun, Walk

__all__ = ["Done", "do", "follow"]


@frozen
class Done:
    """What became of a set of vectors on the implementation; `name` is a model or a scenario."""

    name: str
    replayed: Replayed | None
    walks: int
    steps: int
    divergences: tuple[tuple[str, Divergence], ...]

    @property
    def passed(self) -> bool:
        """Whether all of them passed, and there was one."""
        done = self.steps + (0 if self.replayed is None else sum(self.replayed.counts.values()))
        return done > 0 and not self.divergences and (self.replayed is None or self.replayed.passed)


def do(
    vectors: Vectors, protocol: Protocol, core: AnyCore | None = None, only: Sequence[str] = ()
) -> Iterator[Done]:
    """Do all vectors, or those of the sets `only`, on the implementation, or on `core`.

    VectorError where a file is not what it should be, or constants are those of another algorithm.
    """
    core = core or protocol.core
    for name in dict.fromkeys(only) or vectors.files:
        values = vectors.constants[name]
        table = vectors.steps(name)
        try:
            replayed = None if table is None else replay(Rows(protocol, table, values), core.step)
            follower = Follower(protocol, values, core)
        except MappingError as error:
            place = str(vectors.folder / MANIFEST)
            raise VectorError(place, 1, f"{name} to be of what is implemented: {error}") from None
        count, steps = 0, 0
        wrong: list[tuple[str, Divergence]] = []
        for path, states in vectors.walks(name):
            count, steps = count + 1, steps + len(states) - 1
            if (found := replay_walk(follower, states)) is not None:
                wrong.append((path, found))
        yield Done(name, replayed, count, steps, tuple(wrong))


def follow(
    protocol: Protocol, each: VectorSet, core: AnyCore | None = None
) -> tuple[Replayed | None, list[str]]:
    """Do the vectors of a model or a scenario of a release on the implementation, or on `core`.

    What became of the rows, and what is wrong in walks, a text for each walk. MappingError for constants that
    are those of another algorithm.
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
    held: dict[str, Any] = {
        member: codec.from_spec(state, protocol.state) for member, state in walk.firsts.items()
    }
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
