"""A replicated dictionary: run it in several terminals, each with a name of its own.

    python examples/dictionary.py alice
    set colour green
    get colour

Each member has all entries. All make the changes in one order, so that all have the same. A member that comes
takes over what is there; so the entries live as long as any member does. `add N KEY` adds to a number: no two
members add to the same one at once. Ctrl-D ends it.
"""

import argparse
import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import groupcomm_runtime
from groupcomm_runtime import Group, GroupError, Message, key_in


class Dictionary:
    """Texts, or integers, by key; the same for all members. `replicated` makes one."""

    def __init__(self) -> None:
        self._entries: dict[str, Any] = {}
        self._changed = asyncio.Condition()
        self._made = 0  # own changes that were made here
        self._asked = 0
        self._group: Group

    # Called by the group (`groupcomm_runtime.StateProvider`)

    def get(self) -> bytes:
        """All entries."""
        return json.dumps(self._entries).encode()

    def set(self, state: bytes) -> None:
        """Begin with the entries of others."""
        self._entries = json.loads(state)

    # Used by a program

    def __getitem__(self, key: str) -> Any:  # noqa: ANN401 - what was put there
        return self._entries[key]

    def __contains__(self, key: str) -> bool:
        return key in self._entries

    def __len__(self) -> int:
        return len(self._entries)

    async def put(self, key: str, value: str | int | None) -> None:
        """Put a value, or with None take it away; return when it is so here.

        Raises groupcomm_runtime.NotDelivered if it is unknown whether it will be so.
        """
        await self._changes("put", key, value)

    async def add(self, number: int, key: str) -> None:
        """Add to the number of a key, 0 if there is none; return when it is so here. Raises as `put`."""
        await self._changes("add", key, number)

    async def _changes(self, what: str, key: str, value: str | int | None) -> None:
        await self._group.send(json.dumps([what, key, value]).encode())
        self._asked += 1  # changes are delivered in the order in which they are sent
        mine = self._asked
        async with self._changed:
            await self._changed.wait_for(lambda: self._made >= mine)

    async def follow(self, group: Group) -> None:
        """Make the changes of all members, in their order."""
        self._group = group
        async for event in group:
            if not isinstance(event, Message):
                continue
            what, key, value = json.loads(event.data)
            before = self._entries.get(key)
            if what == "add":
                value += before if isinstance(before, int) else 0
            if value is None:
                self._entries.pop(key, None)
            else:
                self._entries[key] = value
            async with self._changed:
                self._made += event.sender == group.address
                self._changed.notify_all()


@asynccontextmanager
async def replicated(group: str, **joins: Any) -> AsyncIterator[Dictionary]:  # noqa: ANN401 - what `join` takes
    """Give a dictionary that the members of a group share; `joins` as for `groupcomm_runtime.join`."""
    shared = Dictionary()
    async with groupcomm_runtime.join(group, state=shared, **joins) as joined:
        follows = asyncio.create_task(shared.follow(joined))
        await joined.has_state()
        yield shared
    await follows


async def talk(arguments: argparse.Namespace) -> None:
    """Do what is typed."""
    key = key_in(arguments.key or arguments.folder / "key")
    joins = {"name": arguments.name, "folder": arguments.folder, "key": key}
    async with replicated("dictionary", **joins) as shared:
        print(f"* {len(shared)} entries", flush=True)
        while line := await asyncio.to_thread(sys.stdin.readline):
            match line.split(maxsplit=2):
                case ["get", key]:
                    print(shared[key] if key in shared else "* no such entry", flush=True)  # noqa: SIM401 - it is no `dict`
                case ["set", key, value]:
                    await shared.put(key, value.strip())
                case ["add", number, key] if number.removeprefix("-").isdecimal():
                    await shared.add(int(number), key.strip())
                case ["drop", key]:
                    await shared.put(key, None)
                case _:
                    print("* set KEY VALUE, get KEY, add N KEY, or drop KEY", flush=True)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="A replicated dictionary.")
    parser.add_argument("name", help="yours; no other member has it")
    parser.add_argument("--folder", type=Path, default=Path.home() / ".groupcomm" / "dictionary")
    parser.add_argument("--key", type=Path, metavar="FILE", help="what only members know; default: FOLDER/key")
    try:
        asyncio.run(talk(parser.parse_args()))
    except GroupError as error:
        sys.exit(f"dictionary: {error}")


if __name__ == "__main__":
    main()
