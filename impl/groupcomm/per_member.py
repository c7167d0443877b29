"""`PerMember`: one value per member, immutable; a TLA+ function whose domain is a set of members."""

from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from operator import itemgetter
from typing import Any, Self, TypeVar

from attrs import field, frozen

from .view import Address, name_and_life

Item = TypeVar("Item")


def _by_member(entries: Iterable[tuple[Address, Any]]) -> tuple[tuple[Address, Any], ...]:
    """One entry per member, the last given, in one order: equal mappings are equal tuples."""
    return tuple(sorted(dict(entries).items(), key=itemgetter(0)))


@frozen
class PerMember(Mapping[Address, Item]):
    """A mapping from members; hashable where its items are, and equal to another with the same entries."""

    entries: tuple[tuple[Address, Item], ...] = field(converter=_by_member)

    def __getitem__(self, member: Address) -> Item:
        for name, item in self.entries:
            if name == member:
                return item
        raise KeyError(member)

    def __contains__(self, member: object) -> bool:
        for name, _ in self.entries:  # noqa: SIM110 - `any` takes twice the time
            if name == member:
                return True
        return False

    def __iter__(self) -> Iterator[Address]:
        return (name for name, _ in self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def put(self, member: Address, item: Item) -> Self:
        """The same with this item for a member."""
        for place, (name, _) in enumerate(self.entries):
            if name == member:  # it keeps its place: nothing is sorted again
                after = object.__new__(type(self))
                entries = (*self.entries[:place], (member, item), *self.entries[place + 1 :])
                object.__setattr__(after, "entries", entries)
                return after
        return type(self)((*self.entries, (member, item)))

    def latest(self, members: Iterable[Address]) -> Self:
        """The same without the addresses, but for `members`, that are over. `Views!LatestLives`.

        They are over where a later incarnation of their name is an address here, or one of `members`.
        """
        staying = set(members)
        if not any("#" in name for name in staying) and not any("#" in name for name, _ in self.entries):
            return self
        newest: dict[str, int] = {}
        for name, life in map(name_and_life, {*staying, *self.keys()}):
            newest[name] = max(life, newest.get(name, life))
        kept = []
        for entry in self.entries:
            name, life = name_and_life(entry[0])
            if life == newest[name] or entry[0] in staying:
                kept.append(entry)
        return self if len(kept) == len(self.entries) else type(self)(tuple(kept))

    def keys(self) -> KeysView[Address]:
        """The members: a dict's own view, which is compared several times as fast as Mapping's."""
        return dict(self.entries).keys()

    def items(self) -> ItemsView[Address, Item]:
        """The entries: Mapping's own view searches for each item, which takes quadratic time."""
        return dict(self.entries).items()

    def values(self) -> ValuesView[Item]:
        """The items, for the same reason."""
        return dict(self.entries).values()
