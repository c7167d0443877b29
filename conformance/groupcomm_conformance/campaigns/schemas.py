"""The columns of the campaigns' tables; the first one is the key. Workers have no need of this."""

from typing import Final

import pyarrow as pa

__all__ = ["SEEDS"]

_COUNTS: Final = pa.map_(pa.string(), pa.int64())


def _schema(columns: dict[str, pa.DataType], may_lack: dict[str, pa.DataType] | None = None) -> pa.Schema:
    return pa.schema(
        [
            *(pa.field(name, kind, nullable=False) for name, kind in columns.items()),
            *(pa.field(name, kind) for name, kind in (may_lack or {}).items()),
        ]
    )


SEEDS: Final = _schema(
    {
        "seed": pa.int64(),
        "members": pa.int32(),
        "events": pa.int64(),
        "happened": _COUNTS,
        "judged": _COUNTS,
        "refused": pa.int64(),
        "seconds": pa.float64(),
        "verdict": pa.string(),
    },
    {"claim": pa.string(), "text": pa.string(), "schedule": pa.string()},
)
"""What the group of a seed did: `Result` of `stacks.running`, and in how many seconds of processor time:
all else is the same in each run. `verdict` is `holds` or `violates`; of a
violation there is the claim, what it says, and the shortened schedule as JSON."""
