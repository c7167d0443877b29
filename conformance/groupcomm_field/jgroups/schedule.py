"""A schedule that shows on real JGroups whether an erratum's flaw is there.

Each is the shortest that is known, in JGroups' own words: what arrives, what is lost, who crashes, and what
time passes. It returns whether the flaw is present, and what was seen.
"""

from collections.abc import Callable
from typing import Final, Literal

from attrs import frozen

from .jvm import Jvm, Version

Verdict = Literal["present", "absent"]


@frozen
class Seen:
    """The observation of a schedule on a version."""

    verdict: Verdict
    text: str


@frozen
class Schedule:
    """A schedule: its name (an erratum's, and a word where there are several), text, and use of FLUSH and NAKACK4."""

    name: str
    says: str
    run: Callable[[Jvm], Seen]
    flush: bool = False
    acks: bool = False

    @property
    def erratum(self) -> str:
        """The erratum that it is about."""
        return self.name.partition("/")[0]

    def suits(self, version: Version) -> bool:
        """Say whether a version has the layers that it is about."""
        return (version.flush or not self.flush) and (version.acks or not self.acks)


SCHEDULES: Final[dict[str, Schedule]] = {}


def schedule(
    name: str, *, flush: bool = False, acks: bool = False
) -> Callable[[Callable[[Jvm], Seen]], Callable[[Jvm], Seen]]:
    """Add a function to the schedules; its docstring says what it does."""

    def added(run: Callable[[Jvm], Seen]) -> Callable[[Jvm], Seen]:
        SCHEDULES[name] = Schedule(name, " ".join((run.__doc__ or "").split()), run, flush, acks)
        return run

    return added


def seen(*, present: bool, text: str) -> Seen:
    """Give the verdict and what was seen."""
    return Seen("present" if present else "absent", text)
