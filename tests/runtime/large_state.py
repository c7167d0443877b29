"""A state of 1 GiB goes to a joiner, and its provider is killed half-way: the memory of the members is bounded.

    python -m tests.runtime.large_state [MEBIBYTES]

Three processes. The applications make the state as it is read, and take it over piece by piece. Prints a line of JSON:
seconds, the bytes that went out over the state's size, and the peak memory of each process, in MiB. Some minutes.
"""

import asyncio
import hashlib
import json
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import groupcomm_runtime
from groupcomm_runtime import Settings

KEY: Final = b"a key of 16 bytes or more"
_PIECE: Final = 1 << 20


class Large:
    """Holder of a state of so many MiB, which it never has as a whole."""

    def __init__(self, mebibytes: int) -> None:
        self.mebibytes, self.digest, self.came = mebibytes, "", 0

    def get(self) -> Iterator[bytes]:
        """The state."""
        return (bytes([number % 251]) * _PIECE for number in range(self.mebibytes))

    def set_parts(self, parts: Iterator[bytes]) -> None:
        """Take over the state."""
        digest = hashlib.sha256()
        for part in parts:
            digest.update(part)
            self.came += len(part)
        self.digest = digest.hexdigest()


def peak() -> int:
    """The most memory that this process had, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


async def member(name: str, folder: Path, mebibytes: int) -> None:
    """Be a member, and say so at the start and at the end."""
    state = Large(mebibytes)
    settings = Settings(largest_state=mebibytes << 20)
    async with groupcomm_runtime.join(
        "large", name=name, key=KEY, folder=folder, settings=settings, state=state
    ) as group:

        async def takes() -> None:
            async for _ in group:
                pass

        task = asyncio.create_task(takes())
        half = (mebibytes << 20) // 2
        while name == "c" and group.tables["bytes of a coming state"] < half and not state.digest:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        if name == "c":
            print(json.dumps({"half": name, "peak": peak()}), flush=True)  # noqa: T201 - its answer
        await group.has_state()
        print(json.dumps({"has": name, "digest": state.digest, "came": state.came, "peak": peak()}), flush=True)  # noqa: T201
        await asyncio.to_thread(sys.stdin.readline)
        print(json.dumps({"ends": name, "peak": peak(), "counts": group.counts}), flush=True)  # noqa: T201
        task.cancel()


def main(mebibytes: int) -> None:
    """Run the three members."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = [sys.executable, "-m", "tests.runtime.large_state", folder, str(mebibytes)]

        def begins(name: str) -> subprocess.Popen[str]:
            return subprocess.Popen([*arguments, name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

        def says(one: subprocess.Popen[str]) -> dict[str, object]:
            assert one.stdout is not None
            said: dict[str, object] = json.loads(one.stdout.readline())
            return said

        a = begins("a")
        says(a)
        b = begins("b")
        first = says(b)
        start = time.monotonic()
        c = begins("c")
        half = says(c)
        half_after = time.monotonic() - start
        a.send_signal(signal.SIGKILL)
        has = says(c)
        took = time.monotonic() - start
        for each in (b, c):
            assert each.stdin is not None
            each.stdin.close()
        ends = [says(each) for each in (b, c)]
        for each in (a, b, c):
            each.wait()
        assert first["digest"] == has["digest"]
        assert has["came"] == mebibytes << 20
        print(  # noqa: T201 - the figures
            json.dumps(
                {
                    "MiB": mebibytes,
                    "seconds until half": round(half_after, 1),
                    "seconds": round(took, 1),
                    "peak of the joiner at half, MiB": half["peak"],
                    "peaks, MiB": {str(each["ends"]): each["peak"] for each in ends},
                }
            )
        )


if __name__ == "__main__":
    if len(sys.argv) == 4:
        asyncio.run(member(sys.argv[3], Path(sys.argv[1]), int(sys.argv[2])))
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 1024)
