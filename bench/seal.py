"""The cost of a seal: microseconds of CPU time to seal and to open a datagram, beside writing and reading it.

python bench/seal.py
"""

import time
from collections.abc import Callable
from hashlib import blake2b
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


def row(seal: Seal, size: int) -> str:
    """The costs for items of so many bytes."""
    frame = Frame("A#1795470591897000", ("127.0.0.1", 7801), "B#1795470591897001", 7, (bytes(size),))
    data = seal.close(frame)
    fields = (frame.sender, *frame.place, frame.to, frame.number, frame.items)
    body = pack(fields)
    costs = (
        cost(lambda: seal.close(frame)),
        cost(lambda: seal.open(data)),
        cost(lambda: pack(fields)),
        cost(lambda: _read(body)),
        cost(lambda: blake2b(body, key=bytes(64), digest_size=16).digest()),
    )
    return f"| {size:,} | {' | '.join(f'{each:.1f}' for each in costs)} |"


def main() -> None:
    """Print a row for each size of datagram."""
    seal = Seal(bytes(range(32)), "bench")
    print("| bytes of items | sealed | opened | written alone | read alone | the digest alone |")
    print("| --- | --- | --- | --- | --- | --- |")
    for size in (100, 1_000, 8_000, 64_000):
        print(row(seal, size))


if __name__ == "__main__":
    main()
