"""A chat in total order: run it in several terminals, each with a name of its own.

    python examples/chat.py alice
    python examples/chat.py bob

Each line that you type is delivered to all, and all terminals show all lines in one order. Ctrl-D ends it.
The key is made by itself, in a file that you alone read; members on other machines need a copy of it.
"""

import argparse
import asyncio
import sys
from pathlib import Path

import groupcomm_runtime
from groupcomm.view import name_and_life
from groupcomm_runtime import Group, GroupError, Message, NewLife, NewView, NotDelivered, key_in


def named(*addresses: str) -> str:
    """Names without the numbers of their incarnations."""
    return ", ".join(name_and_life(each)[0] for each in addresses)


async def show(group: Group) -> None:
    """Print what happens, as it happens."""
    async for event in group:
        match event:
            case Message(sender, data):
                print(f"{named(sender)}: {data.decode(errors='replace')}", flush=True)
            case NewView(_, members, merged, came):
                what = "together again" if merged else f"{named(*came)} came" if came else "a member left"
                print(f"* {what}: {named(*members)}", flush=True)
            case NewLife():
                print("* the group did not let you in: you begin again", flush=True)


async def say(group: Group) -> None:
    """Send what is typed, until the input ends."""
    while line := await asyncio.to_thread(sys.stdin.readline):
        try:
            await group.send(line.rstrip("\n").encode())
        except NotDelivered:
            print("* it may be that no other member has read this", flush=True)


async def chat(arguments: argparse.Namespace) -> None:
    """Join, show and say."""
    key = key_in(arguments.key or arguments.folder / "key")
    found = {"peers": arguments.peers} if arguments.peers else {"folder": arguments.folder}
    async with groupcomm_runtime.join(
        "chat", name=arguments.name, key=key, listen=arguments.listen, log=arguments.log, **found
    ) as group:
        shown = asyncio.create_task(show(group))
        await say(group)
    await shown


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="A chat in total order.")
    parser.add_argument("name", help="yours; no other in the chat has it")
    parser.add_argument("--folder", type=Path, default=Path.home() / ".groupcomm" / "chat")
    parser.add_argument("--peers", nargs="*", default=[], metavar="HOST:PORT", help="instead of a folder")
    parser.add_argument("--listen", default="127.0.0.1:0", metavar="HOST:PORT")
    parser.add_argument("--key", type=Path, metavar="FILE", help="what only members know; default: FOLDER/key")
    parser.add_argument("--log", type=Path, help="a folder for the logs of this member")
    try:
        asyncio.run(chat(parser.parse_args()))
    except GroupError as error:
        sys.exit(f"chat: {error}")


if __name__ == "__main__":
    main()
