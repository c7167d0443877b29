"""The tables, column by column. All are partitioned by `protocol` and `model`, in the names of their folders.

Values are kept once, in `values`; other tables name them by `value`, 64 bits of the text's digest
(`dump.identity`). States are named by TLC's fingerprints, transitions by their number in the dump, from 0,
and local steps by their row in the table of `groupcomm conform`, from 1.
"""

from typing import Final

from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DataType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
)

__all__ = ["ACTS", "MEMBERS", "NODES", "PARSED", "TABLE", "TABLES", "TREE"]

_INT, _LONG, _TEXT, _BOOL = IntegerType(), LongType(), StringType(), BooleanType()


def _schema(required: dict[str, DataType], optional: dict[str, DataType] | None = None) -> StructType:
    columns = [(name, kind, False) for name, kind in required.items()]
    columns += [(name, kind, True) for name, kind in (optional or {}).items()]
    return StructType([StructField(*column) for column in columns])


VALUES: Final = _schema({"variable": _TEXT, "value": _LONG, "text": _TEXT})
"""`variable` is one of the specification's, or `act`, `state`, `event` or `effects`."""

STATES: Final = _schema({"node": _LONG, "initial": _BOOL, "values": ArrayType(_LONG, containsNull=False)})
"""`values` are those of the variables but `act`, in the order of their names."""

EDGES: Final = _schema(
    {
        "edge": _LONG,
        "source": _LONG,
        "target": _LONG,
        "label": _TEXT,
        "act": _LONG,
        "action": _TEXT,
        "member": _TEXT,
        "outcome": _TEXT,
    },
    {"row": _INT},
)
"""`label` is TLC's name of the step, `row` the local step; null where the environment acts alone."""

LOCAL_STEPS: Final = _schema(
    {
        "row": _INT,
        "state": _LONG,
        "event": _LONG,
        "outcome": _TEXT,
        "next": _LONG,
        "effects": _LONG,
        "used": _BOOL,
        "edges": _LONG,
    }
)
"""`used`: a transition of the model is this step; `edges`: how many are."""

WALKS: Final = _schema(
    {"walk": _INT, "step": _INT, "node": _LONG},
    {"edge": _LONG, "act": _LONG, "action": _TEXT, "outcome": _TEXT, "row": _INT},
)
"""Step 0 is the initial state; `node` is the state after the step."""

VERDICTS: Final = _schema({"walk": _INT, "verdict": _TEXT, "steps": _INT, "passed": _INT}, {"reason": _TEXT})
"""`steps` of the walk, and how many of them `passed` before the step that the verdict is about."""

COVERAGE: Final = _schema({"kind": _TEXT, "edges": _LONG, "walked": _LONG}, {"name": _TEXT, "id": _LONG})
"""`kind`: `action` or `outcome` (by `name`), `local_step` or `edge` (by `id`; of edges those walked only).

`edges` are the model's, `walked` the steps of walks that passed.
"""

TABLES: Final = {
    "values": VALUES,
    "states": STATES,
    "edges": EDGES,
    "local_steps": LOCAL_STEPS,
    "walks": WALKS,
    "verdicts": VERDICTS,
    "coverage": COVERAGE,
}
"""The published tables."""

# On the way

PARSED: Final = _schema({"edge": _LONG, "source": _LONG, "target": _LONG, "label": _TEXT, "number": _INT})
"""A transition as the dump has it; `number` is its act's."""

NODES: Final = _schema(
    {},
    {
        "node": _LONG,
        "initial": _BOOL,
        "act": _LONG,
        "values": ArrayType(_LONG, containsNull=False),
        "variable": _TEXT,
        "value": _LONG,
        "text": _TEXT,
    },
)
"""States, with the act that found them, and in rows of their own the values that they name."""

MEMBERS: Final = _schema({"local": _LONG, "member": _TEXT, "state": _LONG, "text": _TEXT})
"""The members' states in a value of the variable `local`."""

ACTS: Final = _schema(
    {
        "number": _INT,
        "act": _LONG,
        "action": _TEXT,
        "member": _TEXT,
        "event": _LONG,
        "outcome": _TEXT,
        "effects": _LONG,
    },
    {"start": _LONG},
)
"""The meaning of each number; `start` is the state in which the member begins (again)."""

TABLE: Final = _schema({"row": _INT, "state": _LONG, "event": _LONG, "outcome": _TEXT, "next": _LONG, "effects": _LONG})
"""The table of `groupcomm conform`."""

TREE: Final = _schema({"node": _LONG}, {"edge": _LONG, "source": _LONG, "mark": _LONG})
"""For each state the transition that found it; null for the initial ones."""
