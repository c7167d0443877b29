"""Views: who is in the group, in order of seniority, and which view it is. `Views`.

One view value is what every protocol sees (LAY-06). The coordinator is the first member.
"""

from typing import TypeAlias

from attrs import frozen

Address: TypeAlias = str


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
"""What a member has before its first view. `Views!NoView`."""
