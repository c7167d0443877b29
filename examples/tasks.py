"""A task queue that survives its coordinator: run workers in several terminals, and kill any of them.

    python examples/tasks.py alice
    python examples/tasks.py bob
    do wait 5

Each task is the name of a function of this program, and its argument: whoever has the key can ask for these,
and for nothing else. A single worker runs it. All workers have the whole queue. The order of messages
alone decides which worker runs which task: no member decides for the others, and nothing waits for one
process. The first member that runs nothing has the next task. The tasks of a worker that is gone are run by
others, so a task runs once or, where its worker is suspected or dies, once more. Ctrl-D ends a worker; its
tasks go to the others.
"""

import argparse
import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import groupcomm_runtime
from groupcomm.view import Address, name_and_life
from groupcomm_runtime import Group, GroupError, Message, NewLife, NewView, key_in


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
            case ["do", str(task), str(what)] if task not in self.done:
                self.waiting.setdefault(task, what)
            case ["done", str(task), str(result)] if self.waiting.pop(task, None) is not None:
                self.done[task] = result
                while len(self.done) > 1_000:  # noqa: PLR2004 - as it says
                    del self.done[next(iter(self.done))]
        self._assign()

    def _assign(self) -> None:
        """Give each task that no member runs to the first member that runs nothing."""
        self.running = {
            task: worker for task, worker in self.running.items() if task in self.waiting and worker in self._members
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

    async def add(self, what: str) -> str:
        """Add a task to the queue, and wait for its result. Raises groupcomm_runtime.NotDelivered."""
        self._count += 1
        task = f"{self._group.address}/{self._count}"
        await self._group.send(json.dumps(["do", task, what]).encode())
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

    async def _works(self, task: str, what: str) -> None:
        result = await self._run(what)
        with suppress(GroupError):  # then the others do it
            await self._group.send(json.dumps(["done", task, result]).encode())


async def wait(argument: str) -> str:
    """Wait so many seconds."""
    await asyncio.sleep(float(argument))
    return f"{argument} seconds later"


async def divisors(argument: str) -> str:
    """The numbers that divide a number."""
    number = int(argument)
    return " ".join(str(each) for each in range(1, min(number, 10**6) + 1) if number % each == 0)


FUNCTIONS: dict[str, Callable[[str], Awaitable[str]]] = {"wait": wait, "divisors": divisors}
"""What a task can be: a message names one, and is never run itself."""


async def called(task: str) -> str:
    """Call the function that a task names, and give its result."""
    name, _, argument = task.partition(" ")
    if name not in FUNCTIONS:
        return f"there is no {name}, but {', '.join(FUNCTIONS)}"
    print(f"* runs {task}", flush=True)
    try:
        return await FUNCTIONS[name](argument)
    except ValueError as error:
        return str(error)


async def work(arguments: argparse.Namespace) -> None:
    """Join, run tasks, and add a task for each line that is typed."""
    tasks = Tasks()
    key = key_in(arguments.key or arguments.folder / "key")
    joins: dict[str, Any] = {"name": arguments.name, "folder": arguments.folder, "key": key}
    async with groupcomm_runtime.join("tasks", state=tasks, **joins) as group:
        worker = Worker(group, tasks, called)
        follows = asyncio.create_task(worker.follow())
        await group.has_state()
        results: set[asyncio.Task[None]] = set()

        async def show(what: str) -> None:
            print(f"{what}: {await worker.add(what)}", flush=True)

        while line := await asyncio.to_thread(sys.stdin.readline):
            match line.split(maxsplit=1):
                case ["do", what]:
                    results.add(asyncio.create_task(show(what.strip())))
                case ["who"]:
                    for task, who in tasks.running.items():
                        print(f"{name_and_life(who)[0]}: {tasks.waiting[task]}", flush=True)
                case _:
                    print(f"* do {' N, do '.join(FUNCTIONS)} N, or who", flush=True)
        for each in results:
            each.cancel()
    await follows


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="A task queue.")
    parser.add_argument("name", help="yours; no other worker has it")
    parser.add_argument("--folder", type=Path, default=Path.home() / ".groupcomm" / "tasks")
    parser.add_argument("--key", type=Path, metavar="FILE", help="what only members know; default: FOLDER/key")
    try:
        asyncio.run(work(parser.parse_args()))
    except GroupError as error:
        sys.exit(f"tasks: {error}")


if __name__ == "__main__":
    main()
