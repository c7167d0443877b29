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
import sys
from pathlib import Path

from groupcomm_runtime import GroupError, key_in
from groupcomm_runtime.replicated import Replicated, command, share


class Dictionary(Replicated):
    """Texts, or integers, by key; the same for all members."""

    def __init__(self) -> None:
        self.entries: dict[str, str | int] = {}

    @command
    def put(self, key: str, value: str | int | None) -> None:
        """Put a value, or with None take it away."""
        if value is None:
            self.entries.pop(key, None)
        else:
            self.entries[key] = value

    @command
    def add(self, number: int, key: str) -> int:
        """Add to the number of a key, 0 if there is none; return what it is then."""
        before = self.entries.get(key)
        self.entries[key] = now = number + (before if isinstance(before, int) else 0)
        return now


async def talk(arguments: argparse.Namespace) -> None:
    """Do what is typed."""
    key = key_in(arguments.key or arguments.folder / "key")
    joins = {"name": arguments.name, "folder": arguments.folder, "key": key}
    async with share("dictionary", Dictionary(), **joins) as shared:
        print(f"* {len(shared.entries)} entries", flush=True)
        while line := await asyncio.to_thread(sys.stdin.readline):
            match line.split(maxsplit=2):
                case ["get", key]:
                    print(shared.entries.get(key, "* no such entry"), flush=True)
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
