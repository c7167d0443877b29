"""The cost of a seal: microseconds of CPU time to seal and to open a datagram, beside writing and reading it.

python bench/seal.py

With `Settings.encrypted` the datagram is encrypted, too.
"""

import time
from collections.abc import Callable
from statistics import median

import msgspec

from groupcomm_runtime.codec import pack
from groupcomm_runtime.frames import Frame, Seal

ROUNDS, CALLS = 9, 2_000
_read = msgspec.msgpack.Decoder(tuple[str, str, int, str, int, tuple[bytes, ...]]).decode


def cost(call: Callable[[], object]) -> float:
    """Microseconds of CPU time of a call: the median of rounds."""
    times = []
    for _ in range(ROUNDS):
        began = time.process_time()
        for _ in range(CALLS):
            call()
        times.append((time.process_time() - began) / CALLS * 1e6)
    return median(times)


def row(size: int) -> str:
    """The costs for items of so many bytes."""
    frame = Frame("A#1795470591897000", ("127.0.0.1", 7801), "B#1795470591897001", 7, (bytes(size),))
    fields = (frame.sender, *frame.place, frame.to, frame.number, frame.items)
    body = pack(fields)
    costs = [cost(lambda: pack(fields)), cost(lambda: _read(body))]
    for encrypted in (False, True):
        seal = Seal(bytes(range(32)), "bench", encrypted=encrypted)
        data = seal.close(frame)
        costs += [cost(lambda: seal.close(frame)), cost(lambda: seal.open(data))]  # noqa: B023 - called at once
    return f"| {size:,} | {' | '.join(f'{each:.1f}' for each in costs)} |"


def main() -> None:
    """Print a row for each size of datagram."""
    heads = ("bytes of items", "written", "read", "sealed", "opened", "encrypted", "decrypted")
    print(f"| {' | '.join(heads)} |")
    print(f"|{' --- |' * len(heads)}")
    for size in (100, 1_000, 8_000, 64_000):
        print(row(size))


if __name__ == "__main__":
    main()
