"""What a process forks has no part in its groups.

A worker that a member forks inherits its files. A lock, a port or a connection would outlive the member as
long as the worker lives, and its name would stay taken. So a child has `/dev/null` in the place of each. It
is not closed there: the number would be another file's, which an object of the parent closes later.
"""

import os
from collections.abc import Iterable
from typing import Final, Protocol
from weakref import WeakSet


class Holds(Protocol):
    """Holder of files of a member."""

    def files(self) -> Iterable[int]:
        """The open ones; -1 for a file that is closed."""


_holders: Final[WeakSet[Holds]] = WeakSet()


def keep_from_children(holder: Holds) -> None:
    """Have children of fork inherit none of its files, as long as it is."""
    _holders.add(holder)


def _in_a_child() -> None:
    nothing = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    for holder in _holders:
        for file in holder.files():
            if file >= 0:
                os.dup2(nothing, file, inheritable=False)
    os.close(nothing)


os.register_at_fork(after_in_child=_in_a_child)
