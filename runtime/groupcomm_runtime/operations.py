"""The log for the operator of a group: `logging` records, of which each message is a line of JSON.

The logger is `groupcomm_runtime`. A record has the name of its operation and its fields in `extra`, as
`record.operation` and `record.fields`. This log has no steps, and `accept` does not read it: that log is
`Log`.
"""

import logging
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from groupcomm.view import Address

LOGGER: Final = logging.getLogger("groupcomm_runtime")
LOGGER.addHandler(logging.NullHandler())  # without a handler of the application nothing is printed

DROPS: Final = (
    "strangers",
    "other versions",
    "refused",
    "for another incarnation",
    "replays",
    "not taken",
    "remote_error",
    "connections silent",
    "connections too many",
)
"""The counts of what a member has not taken."""

_PERIOD: Final = 1.0  # seconds from one record of drops to the next: a flood does not flood the log


class Operations:
    """The records of an incarnation."""

    def __init__(self, group: str, member: Address) -> None:
        self._who = {"group": group, "address": member}
        self._dropped: dict[str, int] = {}
        self._next = 0.0

    def record(self, operation: str, *, level: int = logging.INFO, **fields: Any) -> None:  # noqa: ANN401 - JSON
        """Write a record."""
        if LOGGER.isEnabledFor(level):
            line = msgspec.json.encode({"operation": operation, **self._who, **fields}).decode()
            LOGGER.log(level, "%s", line, extra={"operation": operation, "fields": self._who | fields})

    def drops(self, counts: Mapping[str, int], now: float) -> None:
        """Write how much was not taken since the last such record, by reason, once a second at most."""
        if now < self._next:
            return
        self._next = now + _PERIOD
        new = {
            reason: counts[reason] - self._dropped.get(reason, 0)
            for reason in DROPS
            if counts.get(reason, 0) > self._dropped.get(reason, 0)
        }
        if new:
            self._dropped = {reason: counts.get(reason, 0) for reason in DROPS}
            self.record("dropped", level=logging.WARNING, **new)
