"""A member as a process of its own: it sends `count` messages, and writes what happens, a line each.

    python member.py NAME FOLDER COUNT PEOPLE

It begins to send when PEOPLE are in its view. It leaves when its input ends.
"""

import asyncio
import sys

import groupcomm_runtime
from groupcomm_runtime import Group, Message, NewView, Settings


async def show(group: Group) -> None:
    async for event in group:
        match event:
            case Message(sender, data):
                print("message", sender, data.decode(), flush=True)
            case NewView(view_id, members):
                print("view", f"{view_id.counter}/{view_id.creator}", *members, flush=True)


async def main(name: str, folder: str, count: int, people: int) -> None:
    settings = Settings(heartbeat=0.1, patience=1.0)
    async with groupcomm_runtime.join(
        "test", name=name, folder=folder, key=b"what members alone know", log=f"{folder}/logs", settings=settings
    ) as group:
        shown = asyncio.create_task(show(group))
        while len(group.members) < people:  # noqa: ASYNC110 - a group has its members, and no event for a change of them
            await asyncio.sleep(0.02)
        for number in range(count):
            await group.send(f"{name}{number}".encode())
        await asyncio.to_thread(sys.stdin.read)
    await shown
    print("left", flush=True)


asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
