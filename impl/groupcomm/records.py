"""`evolve`: a record with other values in some of its fields; attrs' own, in a fifth of the time.

States have many fields, and a step changes few of them. So their classes are `frozen(slots=False)`: then the
fields of a record are copied all at once. No converter and no validator is asked.
"""

from typing import TYPE_CHECKING, Any, TypeVar

__all__ = ["evolve"]

RecordT = TypeVar("RecordT")

if TYPE_CHECKING:
    from attrs import evolve  # mypy knows the fields by this name
else:

    def evolve(record: RecordT, /, **changes: Any) -> RecordT:  # noqa: ANN401 - of any field
        """The record with these fields changed. TypeError for a field that it has not."""
        after = object.__new__(type(record))
        fields = after.__dict__
        fields.update(record.__dict__)
        count = len(fields)
        fields.update(changes)
        if len(fields) != count:
            raise TypeError(f"{type(record).__name__} has not all the fields {', '.join(changes)}")
        return after
