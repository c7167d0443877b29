"""The result of a model, in numbers."""

from collections.abc import Mapping
from typing import Any

from attrs import frozen

__all__ = ["Summary"]


@frozen
class Summary:
    """The result of a model: TLC's counts, and the figures of the tables.

    `beyond` are transitions that are no row of the table, of a model that is not for conformance: its
    alphabet need not have all that happens there. Seconds are of wall-clock time; `driver_mb` is the most
    memory that the driver's Python has had, in MiB.
    """

    protocol: str
    model: str
    states: int
    edges: int
    depth: int
    local_steps: int
    used: int
    beyond: int
    walks: int
    walked: int
    covers: str
    to_cover: int
    verdicts: Mapping[str, int]
    covered_steps: int
    covered_edges: int
    seconds: Mapping[str, float]
    driver_mb: float

    @property
    def ok(self) -> bool:
        """True if every walk passed, and covered what it was to cover."""
        return set(self.verdicts) <= {"pass"} and self.covered_steps == self.used

    @property
    def steps_per_edge(self) -> float:
        """Steps walked for each transition covered."""
        return self.walked / self.covered_edges if self.covered_edges else 0.0

    def to_json(self) -> dict[str, Any]:
        """Give it as plain values."""
        return {
            "protocol": self.protocol,
            "model": self.model,
            "ok": self.ok,
            "states": self.states,
            "edges": self.edges,
            "depth": self.depth,
            "local_steps": self.local_steps,
            "local_steps_used": self.used,
            "edges_beyond": self.beyond,
            "walks": self.walks,
            "walks_cover": self.covers,
            "to_cover": self.to_cover,
            "walk_steps": self.walked,
            "steps_per_covered_edge": round(self.steps_per_edge, 3),
            "verdicts": dict(self.verdicts),
            "covered_local_steps": self.covered_steps,
            "covered_edges": self.covered_edges,
            "driver_mb": round(self.driver_mb, 1),
            "seconds": {name: round(value, 3) for name, value in self.seconds.items()},
        }
