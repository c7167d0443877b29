"""A task queue that survives its coordinator: run workers in several terminals, and kill any of them.

    python examples/tasks.py alice
    python examples/tasks.py bob
    do sleep 5

Each task is a command line that a single worker runs. All workers have the whole queue. The order of messages
alone decides which worker runs which task: no member decides for the others, and nothing waits for one
process. The first member that runs nothing has the next task. The tasks of a worker that is gone are run by
others, so a task runs once or, where its worker is suspected or dies, once more. Ctrl-D ends a worker; its
tasks go to the others.
"""

import argparse
import asyncio
import json
import shlex
import sys
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import groupcomm_runtime
from groupcomm.view import Address, name_and_life
from groupcomm_runtime import Group, GroupError, Message, NewLife, NewView


class Tasks:
    """The queue, the same for all members: a function of what the group has delivered."""

    def __init__(self) -> None:
        self.waiting: dict[str, str] = {}
        """Tasks by identifier, the oldest first."""
        self.running: dict[str, Address] = {}
        """The member that runs each of them."""
        self.done: dict[str, str] = {}
        """Results, by identifier: of the last thousand."""
        self._members: tuple[Address, ...] = ()

    # Called by the group (`groupcomm_runtime.StateProvider`)

    def get(self) -> bytes:
        """The queue."""
        return json.dumps([self.waiting, self.running, self.done]).encode()

    def set(self, state: bytes) -> None:
        """Begin with the queue of others."""
        self.waiting, self.running, self.done = json.loads(state)
        self._assign()

    # Changes of the queue

    def view(self, members: tuple[Address, ...]) -> None:
        """Members that are not in the view run nothing any more."""
        self._members = members
        self._assign()

    def message(self, text: bytes) -> None:
        """A task comes, or its first result."""
        match json.loads(text):
            case ["do", str(task), str(command)] if task not in self.done:
                self.waiting.setdefault(task, command)
            case ["done", str(task), str(result)] if self.waiting.pop(task, None) is not None:
                self.done[task] = result
                while len(self.done) > 1_000:  # noqa: PLR2004 - as it says
                    del self.done[next(iter(self.done))]
        self._assign()

    def _assign(self) -> None:
        """Give each task that no member runs to the first member that runs nothing."""
        self.running = {
            task: worker
            for task, worker in self.running.items()
            if task in self.waiting and worker in self._members
        }
        free = [each for each in self._members if each not in self.running.values()]
        for task in [each for each in self.waiting if each not in self.running][: len(free)]:
            self.running[task] = free.pop(0)


class Worker:
    """A member of the group of workers. `run` does a task, and gives its result."""

    def __init__(self, group: Group, tasks: Tasks, run: Callable[[str], Awaitable[str]]) -> None:
        self.tasks = tasks
        self._group, self._run = group, run
        self._changed = asyncio.Condition()
        self._at: tuple[str, asyncio.Task[None]] | None = None
        self._count = 0

    async def add(self, command: str) -> str:
        """Add a task to the queue, and wait for its result. Raises groupcomm_runtime.NotDelivered."""
        self._count += 1
        task = f"{self._group.address}/{self._count}"
        await self._group.send(json.dumps(["do", task, command]).encode())
        async with self._changed:
            await self._changed.wait_for(lambda: task in self.tasks.done)
        return self.tasks.done[task]

    async def follow(self) -> None:
        """Take what happens, and run the tasks that are this member's."""
        async for event in self._group:
            match event:
                case NewView(_, members):
                    self.tasks.view(members)
                case Message(_, data):
                    self.tasks.message(data)
                case NewLife():
                    self.tasks.view(())
            self._begins()
            async with self._changed:
                self._changed.notify_all()

    def _begins(self) -> None:
        mine = next((task for task, who in self.tasks.running.items() if who == self._group.address), None)
        if self._at is not None and self._at[0] != mine:
            self._at[1].cancel()  # another member has it now, or was faster
            self._at = None
        if mine is not None and self._at is None:
            self._at = mine, asyncio.create_task(self._works(mine, self.tasks.waiting[mine]))

    async def _works(self, task: str, command: str) -> None:
        result = await self._run(command)
        with suppress(GroupError):  # then the others do it
            await self._group.send(json.dumps(["done", task, result]).encode())


async def shell(command: str) -> str:
    """Run a command line, and give what it has written."""
    process = await asyncio.create_subprocess_exec(
        *shlex.split(command), stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    return (await process.communicate())[0].decode(errors="replace").strip()


async def _told(command: str) -> str:
    print(f"* runs {command}", flush=True)
    try:
        return await shell(command)
    except (OSError, ValueError) as error:
        return f"{command}: {error}"


async def work(arguments: argparse.Namespace) -> None:
    """Join, run tasks, and add a task for each line that is typed."""
    tasks = Tasks()
    joins: dict[str, Any] = {"name": arguments.name, "folder": arguments.folder, "key": arguments.key}
    async with groupcomm_runtime.join("tasks", state=tasks, **joins) as group:
        worker = Worker(group, tasks, _told)
        follows = asyncio.create_task(worker.follow())
        await group.has_state()
        results: set[asyncio.Task[None]] = set()

        async def show(command: str) -> None:
            print(f"{command}: {await worker.add(command)}", flush=True)

        while line := await asyncio.to_thread(sys.stdin.readline):
            match line.split(maxsplit=1):
                case ["do", command]:
                    results.add(asyncio.create_task(show(command.strip())))
                case ["who"]:
                    for task, who in tasks.running.items():
                        print(f"{name_and_life(who)[0]}: {tasks.waiting[task]}", flush=True)
                case _:
                    print("* do COMMAND, or who", flush=True)
        for each in results:
            each.cancel()
    await follows


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="A task queue.")
    parser.add_argument("name", help="yours; no other worker has it")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "groupcomm-tasks")
    parser.add_argument(
        "--key", default="all readers of this can run commands here", help="what only members know"
    )
    try:
        asyncio.run(work(parser.parse_args()))
    except GroupError as error:
        sys.exit(f"tasks: {error}")


if __name__ == "__main__":
    main()
