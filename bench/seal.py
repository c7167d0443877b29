"""The cost of a seal: microseconds of CPU time to seal and to open a datagram, beside writing and reading it.

python bench/seal.py

Where the package `cryptography` is installed, it also has the cost of encrypting that body, and of its
decryption, with a seal in it (AEAD). The runtime does not encrypt: these columns say what it would cost.
"""

import time
from collections.abc import Callable
from hashlib import blake2b
from importlib import import_module
from statistics import median
from typing import Any

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


def ciphers() -> dict[str, Any]:
    """The ciphers by name, with a key each; none without the package."""
    try:
        aead = import_module("cryptography.hazmat.primitives.ciphers.aead")
    except ModuleNotFoundError:
        return {}
    return {"AES-256-GCM": aead.AESGCM(bytes(range(32))), "ChaCha20-Poly1305": aead.ChaCha20Poly1305(bytes(range(32)))}


def encryption(cipher: Any, body: bytes) -> str:  # noqa: ANN401 - of a package that may not be there
    """The costs of encrypting and of decrypting a body: the nonce counts datagrams, and is not drawn."""
    nonce = bytes(12)
    secret = cipher.encrypt(nonce, body, b"gc")
    to, back = (cost(lambda: cipher.encrypt(nonce, body, b"gc")), cost(lambda: cipher.decrypt(nonce, secret, b"gc")))
    return f"{to:.1f} / {back:.1f}"


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
    numbers = [f"{each:.1f}" for each in costs]
    return f"| {size:,} | {' | '.join([*numbers, *(encryption(each, body) for each in ciphers().values())])} |"


def main() -> None:
    """Print a row for each size of datagram."""
    seal = Seal(bytes(range(32)), "bench")
    names = ("bytes of items", "sealed", "opened", "written alone", "read alone", "the digest alone")
    heads = [*names, *(f"{name}, there / back" for name in ciphers())]
    print(f"| {' | '.join(heads)} |")
    print(f"|{' --- |' * len(heads)}")
    for size in (100, 1_000, 8_000, 64_000):
        print(row(seal, size))


if __name__ == "__main__":
    main()
