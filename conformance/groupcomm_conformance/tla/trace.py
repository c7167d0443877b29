"""Traces: the states of a behaviour, in order."""

from attrs import frozen

from .values import Fn


@frozen
class State:
    """One state of a trace: its 1-based number, the action that led to it, and its variables as a record."""

    number: int
    action: str
    values: Fn
