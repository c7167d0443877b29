"""The tables of local steps, closed once more: what a core does after a row that could not happen.

A table has the states that TLC reached, each with every event of the alphabet. Most of these rows could not
happen, and what they leave is often a state that no row has: a step after it was compared nowhere. Here
these states meet the whole alphabet, too. The states that *these* rows leave stay open: a round has some six
times as many rows as the round before.
"""

from attrs import evolve

from groupcomm_conformance.models.instruments import Harvest
from groupcomm_conformance.models.manifest import Manifest, Model
from groupcomm_conformance.tla.values import Fn

from .conform import table_of
from .table import HANDLED, StepTable, Tables


def left_by(table: StepTable) -> frozenset[Fn]:
    """Give the states that rows of a table leave, and that are none of its own."""
    width = len(table.events)
    found = {(place // width, cell) for place, cell in enumerate(table.cells) if cell >= HANDLED}
    after = {table.states[at].replace(**table.results[cell - HANDLED].changes) for at, cell in found}
    return frozenset(after.difference(table.states))


def closed(
    manifest: Manifest, model: Model, table: StepTable, harvest: Harvest, tables: Tables | None
) -> tuple[StepTable, str]:
    """Give the table of the states that the rows of a model's `table` leave, with its key.

    It has each member's `Start` as well, as every table has.
    """
    return table_of(manifest, model, evolve(harvest, local=left_by(table)), tables)
