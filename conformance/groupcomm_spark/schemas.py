"""The columns of the campaigns' tables; the first one is the key. Workers have no need of this."""

from typing import Final

import pyarrow as pa

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
"""The result of a seed's group: `Result` of `stacks.running`, and in how many seconds of processor time:
all else is the same in each run. `verdict` is `holds` or `violates`; of a
violation there is the claim, what it says, and the shortened schedule as JSON."""

MUTANTS: Final = _schema({"mutant": pa.string(), "line": pa.int32(), "verdict": pa.string(), "by": pa.string()})
"""The verdict on a mutant: `noticed`, `survives`, or `fails`, where TLC cannot evaluate it. `by`: what
noticed it, such as a row of a model."""

SEARCHES: Final = _schema(
    {
        "search": pa.string(),
        "protocol": pa.string(),
        "model": pa.string(),
        "tier": pa.string(),
        "expected": pa.string(),
        "outcome": pa.string(),
        "distinct": pa.int64(),
        "transitions": pa.int64(),
        "depth": pa.int32(),
        "trace_length": pa.int32(),
        "falls": pa.list_(pa.string()),
        "seconds": pa.float64(),
        "result": pa.string(),
    }
)
"""TLC's answer for a model, in the words of `check --json`. `search` names the model and all that its result
depends on, as a digest; `result` is the cached part."""

LOGS: Final = pa.schema([("log", pa.string()), ("life", pa.binary())])
"""A replayed log, pickled: what the claims over all logs need of it."""

TRANSITIONS: Final = _schema(
    {
        "transition": pa.string(),
        "model": pa.string(),
        "action": pa.string(),
        "member": pa.string(),
        "outcome": pa.string(),
        "act": pa.string(),
        "edges": pa.int64(),
        "verdict": pa.string(),
    },
    {"row": pa.int32(), "reason": pa.string()},
)
"""The verdict on a kind of transition: `act`, and the states of the members that act or change, before and
after. `edges` transitions of the model are of this kind, and `row` is their local step in the table of
`groupcomm conform`, from 1: null where the environment acts alone. `verdict` is `pass`, or what differs in the
implementation's step, and why."""
