"""Doing vectors on the implementation, as a port does."""

from collections.abc import Iterator, Sequence

from attrs import frozen

from groupcomm_conformance.protocols.derive import AnyCore, MappingError, Protocol
from groupcomm_conformance.steps.rows import Replayed, Rows, replay
from groupcomm_conformance.walks.follow import Divergence, Follower
from groupcomm_conformance.walks.follow import replay as replay_walk

from .format import MANIFEST, VectorError
from .reading import Vectors

__all__ = ["Done", "do"]


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
