"""The examples do what they say: several members in one process, over loopback."""

import asyncio
import json
import re
import socket
import sys
from contextlib import AsyncExitStack
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

import groupcomm_runtime
from groupcomm_runtime import BadInputError, Group, Message
from groupcomm_runtime.replicated import share
from tests.runtime.conversing import FAST, KEY, run, until

EXAMPLES = Path(__file__).parents[2] / "examples"


def example(name: str) -> Any:  # noqa: ANN401 - a module
    spec = spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_counter_of_readme_goes_on_though_a_member_is_killed(tmp_path: Path) -> None:
    """As README says it, with all defaults: two terminals, kill -9, and the killed member again."""
    saved("README.md", tmp_path, "counter.py")

    async def test() -> None:
        async with AsyncExitStack() as stack:
            alice = await started(stack, tmp_path, "counter.py", "alice")
            assert "alice makes it 1" == await says(alice)
            bob = await started(stack, tmp_path, "counter.py", "bob")
            assert "bob makes it 2" == await says(bob) == await says(alice)
            alice.kill()
            await alice.wait()
            again = await started(stack, tmp_path, "counter.py", "alice")
            assert "alice makes it 3" == await says(again) == await says(bob)

    run(test())


def saved(document: str, folder: Path, name: str) -> None:
    """Save a program of a document as its reader does: the one that names itself, or the only one."""
    text = (EXAMPLES.parent / document).read_text(encoding="utf-8")
    programs = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    (program,) = [each for each in programs if len(programs) == 1 or each.startswith(f"# {name}\n")]
    (folder / name).write_text(program, encoding="utf-8")


async def started(stack: AsyncExitStack, folder: Path, *program: str) -> asyncio.subprocess.Process:
    """A member as a process, which is killed in the end."""
    pipe = asyncio.subprocess.PIPE
    member = await asyncio.create_subprocess_exec(sys.executable, *program, cwd=folder, stdout=pipe, stderr=pipe)

    async def ends() -> None:
        if member.returncode is None:
            member.kill()
        await member.communicate()

    stack.push_async_callback(ends)
    return member


async def says(member: asyncio.subprocess.Process) -> str:
    """The next line of a member; addresses without the numbers of incarnations."""
    assert member.stdout is not None
    return re.sub("#[0-9]+", "", (await member.stdout.readline()).decode().strip())


def test_the_leader_of_the_quick_start_is_the_senior_member_and_leaves_at_sigterm(tmp_path: Path) -> None:
    saved("docs/quick-start.md", tmp_path, "leader.py")

    async def test() -> None:
        async with AsyncExitStack() as stack:
            alice = await started(stack, tmp_path, "leader.py", "alice")
            assert "leads 1" == await says(alice)
            bob = await started(stack, tmp_path, "leader.py", "bob")
            assert "leads 2" == await says(alice)
            assert "follows 2" == await says(bob)
            alice.terminate()
            assert "leads 1" == await says(bob)
            assert 0 == await alice.wait()

    run(test())


def test_the_votes_of_the_quick_start_are_the_same_at_all_members(tmp_path: Path) -> None:
    saved("docs/quick-start.md", tmp_path, "votes.py")

    async def test() -> None:
        async with AsyncExitStack() as stack:
            alice = await started(stack, tmp_path, "votes.py", "alice", "tea")
            assert "1" == await says(alice)
            bob = await started(stack, tmp_path, "votes.py", "bob", "tea")
            assert "2" == await says(bob)
            carol = await started(stack, tmp_path, "votes.py", "carol", "milk")
            assert "1" == await says(carol)
            votes = "{'tea': 2, 'milk': 1}"
            assert f"leads {votes}" == await says(alice)
            for each in (bob, carol):
                assert await says(each) in {f"leads {votes}", f"follows {votes}"}  # the others may have left
            assert 0 == await alice.wait() == await bob.wait() == await carol.wait()

    run(test())


def test_the_lock_of_the_quick_start_goes_to_the_next_member_when_its_holder_is_killed(tmp_path: Path) -> None:
    """Alice holds it for ten minutes here: on a busy machine 6 seconds are over before bob waits."""
    saved("docs/quick-start.md", tmp_path, "lock.py")
    program = (tmp_path / "lock.py").read_text()
    assert 1 == program.count("sleep(6)")
    (tmp_path / "long.py").write_text(program.replace("sleep(6)", "sleep(600)"))

    async def test() -> None:
        async with AsyncExitStack() as stack:
            alice = await started(stack, tmp_path, "long.py", "alice")
            assert ["waits", "has it, turn 1"] == [await says(alice), await says(alice)]
            bob = await started(stack, tmp_path, "lock.py", "bob")
            assert "waits" == await says(bob)
            alice.kill()
            assert "has it, turn 2" == await says(bob)
            assert 0 == await bob.wait()

    run(test())


def test_the_operated_program_says_how_it_is(tmp_path: Path) -> None:
    """Its log can be read, it answers HTTP, and it leaves at SIGTERM."""
    saved("docs/operating.md", tmp_path, "operated.py")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]

    async def test() -> None:
        async with AsyncExitStack() as stack:
            alice = await started(stack, tmp_path, "operated.py", "alice", f"127.0.0.1:{port}")
            assert (await says(alice)).startswith("NewView(")
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"GET / HTTP/1.0\r\n\r\n")
            head, _, body = (await reader.read()).partition(b"\r\n\r\n")
            writer.close()
            assert b"HTTP/1.1 200 OK" == head.splitlines()[0]
            assert ["alice"] == [each.partition("#")[0] for each in json.loads(body)["members"]]
            alice.terminate()
            _, log = await alice.communicate()
            assert 0 == alice.returncode
            assert " INFO view: group=operated " in log.decode()

    run(test())


def test_members_of_the_quick_start_answer_each_other(tmp_path: Path) -> None:
    saved("docs/quick-start.md", tmp_path, "answers.py")

    async def test() -> None:
        async with AsyncExitStack() as stack:
            alice = await started(stack, tmp_path, "answers.py", "alice")
            bob = await started(stack, tmp_path, "answers.py", "bob")
            assert "HELLO OF ALICE" == await says(alice)
            assert "HELLO OF BOB" == await says(bob)
            assert "2" == await says(alice) == await says(bob)
            assert 0 == await alice.wait() == await bob.wait()

    run(test())


def test_a_program_without_asyncio_is_a_member(tmp_path: Path) -> None:
    saved("docs/quick-start.md", tmp_path, "plain.py")

    async def test() -> None:
        async with AsyncExitStack() as stack:
            alice = await started(stack, tmp_path, "plain.py", "alice")
            assert "alice b'hello'" == await says(alice)
            assert 0 == await alice.wait()

    run(test())


def test_a_dictionary_has_the_same_entries_everywhere_and_those_of_before_at_a_member_that_comes(
    tmp_path: Path,
) -> None:
    dictionary = example("dictionary").Dictionary

    async def test() -> None:
        joins = {"key": KEY, "folder": tmp_path, "settings": FAST}
        async with share("d", dictionary(), name="a", **joins) as a:
            await asyncio.gather(a.put("colour", "green"), a.put("large", "x" * 50_000))
            for number in range(4):
                await a.put(f"large{number}", "y" * 50_000)
            async with (
                share("d", dictionary(), name="b", **joins) as b,
                share("d", dictionary(), name="c", **joins) as c,
            ):
                assert "green" == b.entries["colour"] == c.entries["colour"]
                assert 6 == len(a.entries) == len(b.entries) == len(c.entries)
                await asyncio.gather(*(each.add(1, "count") for each in (a, b, c) for _ in range(20)))
                await asyncio.gather(*(each.put(f"{number}", None) for number, each in enumerate((a, b, c))))
                for each in (a, b, c):
                    await each.until(lambda one=each: one.entries["count"] == 60 and len(one.entries) == 7)
                assert a.entries == b.entries == c.entries

    run(test())


def test_a_task_is_run_though_the_coordinator_that_ran_it_goes(tmp_path: Path) -> None:
    tasks = example("tasks")

    async def test() -> None:
        ran: list[str] = []
        stays = asyncio.Event()
        began = asyncio.Event()

        def runs(name: str) -> Any:  # noqa: ANN401 - a function
            async def one(command: str) -> str:
                ran.append(f"{name} {command}")
                if name == "a":
                    began.set()
                    await stays.wait()
                return command.upper()

            return one

        follows: list[asyncio.Task[None]] = []

        async with AsyncExitStack() as all_of_them:

            async def worker(stack: AsyncExitStack, name: str) -> Any:  # noqa: ANN401 - of the example
                queue = tasks.Tasks()
                group = await stack.enter_async_context(
                    groupcomm_runtime.join("t", name=name, key=KEY, folder=tmp_path, settings=FAST, state=queue)
                )
                one = tasks.Worker(group, queue, runs(name))
                follows.append(asyncio.create_task(one.follow()))
                await group.has_state()
                return one

            async with AsyncExitStack() as coordinator:
                await worker(coordinator, "a")
                b = await worker(all_of_them, "b")
                c = await worker(all_of_them, "c")
                asked = [asyncio.create_task(each.add(f"task {each is b} {n}")) for n in range(3) for each in (b, c)]
                await began.wait()
            results = await asyncio.gather(*asked)
            assert {f"TASK {who} {n}".upper() for who in (True, False) for n in range(3)} == set(results)
            assert 1 == len([each for each in ran if each.startswith("a")]), "it ran one, and never ended it"
            assert 7 == len(ran), "its task ran twice, all others once"
            assert {} == b.tasks.waiting == c.tasks.waiting
        await asyncio.gather(*follows)

    run(test())


class Log:
    """An application whose state is its input."""

    def __init__(self, has: bytes = b"") -> None:
        self.has = has

    def get(self) -> bytes:
        return self.has

    def set(self, state: bytes) -> None:
        self.has = state

    async def follow(self, group: Group) -> None:
        async for event in group:
            if isinstance(event, Message):
                self.has += event.data


def test_a_state_is_taken_over_while_others_go_on_sending(tmp_path: Path) -> None:
    async def test() -> None:
        logs = {name: Log() for name in "abc"}
        async with AsyncExitStack() as stack:
            groups = {}
            follows = []

            async def enters(name: str) -> None:
                groups[name] = await stack.enter_async_context(
                    groupcomm_runtime.join("s", name=name, key=KEY, folder=tmp_path, settings=FAST, state=logs[name])
                )
                follows.append(asyncio.create_task(logs[name].follow(groups[name])))
                await groups[name].has_state()

            await enters("a")
            await groups["a"].send(b"0" * 60_000)
            await groups["a"].send(b"0" * 60_000)

            async def sends() -> None:
                for number in range(300):
                    await groups["a"].send(b" %d" % number)

            sending = asyncio.create_task(sends())
            await enters("b")
            await enters("c")
            await sending
            await asyncio.gather(*(each.send(b"!") for each in groups.values()))
            await until(lambda: len({len(each.has) for each in logs.values()}) == 1)
            assert logs["a"].has == logs["b"].has == logs["c"].has
            assert b" 299" in logs["c"].has
            assert 300 == logs["c"].has.count(b" ")
        await asyncio.gather(*follows)

    run(test())


def test_a_group_without_a_state_has_none_to_wait_for(tmp_path: Path) -> None:
    async def test() -> None:
        async with groupcomm_runtime.join("s", name="a", key=KEY, folder=tmp_path, settings=FAST) as a:
            with pytest.raises(BadInputError, match="without state="):
                await a.has_state()

    run(test())
