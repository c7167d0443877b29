"""Views: the members of the group, in order of seniority, and the view's identifier. `Views`.

One view value is what every protocol sees (LAY-06). The coordinator is the first member.
"""

from collections.abc import Collection, Container
from typing import TypeAlias

from attrs import frozen

Address: TypeAlias = str
"""An incarnation of a member: its name and, from the second incarnation on, `#` and a number (`A`, `A#2`).

Addresses are ordered as strings are, a total order that all members share: enough to choose one of them the
same everywhere. It says nothing about age (`A#10` is before `A#2`). A later incarnation may take the same
address again only if it joins a view with a higher counter than any that an earlier one was in: then a
protocol distinguishes the two by views.
"""


def address(name: str, life: int = 1) -> Address:
    """Return the address of a member in this incarnation. Raises ValueError for an invalid name or number."""
    if not name or "#" in name or life < 1:
        raise ValueError(f"{name!r}, incarnation {life}: a name is not empty, without '#'; incarnations count from 1")
    return name if life == 1 else f"{name}#{life}"


def name_and_life(address: Address) -> tuple[str, int]:
    """The name, and the number of its incarnation, 1 by default. `Views!NameOf`, `!NumberOf`."""
    name, mark, number = address.rpartition("#")
    return (name, int(number)) if name and mark and number.isascii() and number.isdigit() else (address, 1)


def is_former(one: Address, other: Address) -> bool:
    """Whether `one` is of an earlier incarnation of the name that `other` is of. `Views!IsFormer`."""
    (name, life), (same, later) = name_and_life(one), name_and_life(other)
    return len(other) > len("A#") and name == same and life < later  # as the specification, of A#0 too


def later_than(
    one: Address, members: Container[Address], lives: Collection[Address], heard: Collection[Address]
) -> Address:
    """The latest incarnation of its name for which a member does not take `one`; an empty text if there is none.

    GMS refuses an outsider for one of `lives`. UNICAST ignores a peer that is not among those `heard` for one that is.
    `LaterIncarnations!LaterThan`.
    """
    known = (*(() if one in members else lives), *(() if one in heard else heard))
    if not known:
        return ""
    name, _ = name_and_life(one)
    later = [each for each in known if each.startswith(name) and is_former(one, each)]
    return max(later, key=lambda each: name_and_life(each)[1], default="")


def number_after(clock: int, *former: int) -> int:
    """The number of an incarnation that begins: of the clock, or one more than a former one where that was set back.

    `LaterIncarnations!NumberAfter`.
    """
    return max(clock, *(each + 1 for each in former))


@frozen(order=True)
class ViewId:
    """Identifies a view; ordered by counter, then creator (AMB-40).

    With its creator in it, two partitions never make the same one.
    """

    counter: int
    creator: Address


@frozen
class View:
    """A view: its identifier and its members, the most senior first."""

    id: ViewId
    members: tuple[Address, ...]

    @property
    def coordinator(self) -> Address:
        """The first member. Raises IndexError in `NO_VIEW`."""
        return self.members[0]

    @property
    def member_set(self) -> frozenset[Address]:
        """The members without their order."""
        return frozenset(self.members)


NO_VIEW = View(ViewId(0, ""), ())
"""The view of a member before its first view. `Views!NoView`."""
