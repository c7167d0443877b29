"""A member that forks a worker and is killed: its name and its port are free, though the worker lives."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import groupcomm_runtime
from groupcomm_runtime import NameTakenError, Settings
from groupcomm_runtime.discovery import Folder
from tests.runtime.conversing import KEY, of_demo, run

MEMBER = """
import asyncio, groupcomm_runtime, os, sys, time
async def main(folder, place, transport):
    settings = groupcomm_runtime.Settings(heartbeat=0.05, patience=1.0, transport=transport)
    async with groupcomm_runtime.join(
        "demo", name="b", key=%r, folder=folder, listen=place, settings=settings
    ) as group:
        while len(group.members) < 2:
            await anext(group)
        await group.send(b"x")
        if not os.fork():
            print(os.getpid(), flush=True)
            time.sleep(600)
        await asyncio.sleep(600)
asyncio.run(main(*sys.argv[1:]))
"""
LOCKS = """
import fcntl, os, sys, time
lock = open(sys.argv[1])
fcntl.flock(lock, fcntl.LOCK_EX)
if not os.fork():
    print(os.getpid(), flush=True)
time.sleep(600)
"""


@contextmanager
def killed(program: str, *arguments: str) -> Iterator[int]:
    """The worker of a process that was killed as soon as it had one."""
    with subprocess.Popen([sys.executable, "-c", program, *arguments], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        worker = int(process.stdout.readline())
        process.kill()
        process.wait()
        try:
            yield worker
        finally:
            os.kill(worker, signal.SIGKILL)


@pytest.mark.parametrize(("transport", "kind"), [("udp", socket.SOCK_DGRAM), ("tcp", socket.SOCK_STREAM)])
def test_a_worker_keeps_neither_the_name_nor_the_port_of_a_member_that_is_gone(
    tmp_path: Path, transport: str, kind: socket.SocketKind
) -> None:
    settings = Settings(heartbeat=0.05, patience=1.0, transport=transport)
    with socket.socket(socket.AF_INET, kind) as free:
        free.bind(("127.0.0.1", 0))
        place = f"127.0.0.1:{free.getsockname()[1]}"

    async def test() -> None:
        join = groupcomm_runtime.join
        async with join("demo", name="a", key=KEY, folder=tmp_path, settings=settings) as a:
            forked = killed(MEMBER % KEY, str(tmp_path), place, transport)
            worker = await asyncio.to_thread(forked.__enter__)
            try:
                os.kill(worker, 0)
                async with join("demo", name="b", key=KEY, folder=tmp_path, listen=place, settings=settings) as b:
                    while {*a.members} != {a.address, b.address}:
                        await asyncio.wait_for(anext(a), 30)
                    await asyncio.gather(a.send(b"y"), b.send(b"z"))
            finally:
                forked.__exit__(None, None, None)

    run(test())


def test_a_lock_that_a_worker_inherited_names_the_worker(tmp_path: Path) -> None:
    """The system's list has the process that took it, which is dead."""
    lock = of_demo(tmp_path) / "a.lock"
    lock.write_text("")
    lock.chmod(0o600)
    with (
        killed(LOCKS, str(lock)) as worker,
        pytest.raises(NameTakenError, match=rf"process {worker} holds it|does not name holds it"),
    ):
        Folder(tmp_path, "demo", "a")
