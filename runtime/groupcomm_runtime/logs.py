"""The log of an incarnation: a line for each step of its stack, with the kernel before an effect leaves.

A log is lines of JSON. The first has the configuration. Each other line is a step: its number, its cause, the
event (bytes in base64), the outcome, the number of effects, and a digest of all that and of the lines before.
So no line can be left out, or stand elsewhere. A line has no state: steps are functions, so a replay of the
events gives all states. Every `EVERY` steps, and at the end, there is a digest of the state. The last line
says that the incarnation ended, and how: without it the process was killed, or the log was cut.

A log has the messages in clear, and its mode is 0600. Digests in their place would not do: a replay decodes
the bytes that came, and compares the bytes that a receiver has with those of the sender.
"""

import os
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

import attrs
import msgspec
from msgspec import UNSET

from groupcomm.stack import State
from groupcomm.view import Address

from .codec import VERSION, canonical, pack
from .errors import BadInputError

__all__ = ["EVERY", "FORMAT", "Log", "digest"]

FORMAT: Final = 2

EVERY: Final = 5_000
"""Steps between two digests of the state."""

_json: Final = msgspec.json.Encoder().encode  # bytes are base64


class _Line(msgspec.Struct):
    """The line of a step."""

    n: int
    cause: str
    event: tuple[Any, ...]
    outcome: str
    effects: int
    digest: str
    state: str | msgspec.UnsetType


def digest(value: Any) -> str:  # noqa: ANN401 - any value of MessagePack
    """Sixteen hexadecimal digits of a value."""
    return blake2b(pack(value), digest_size=8).hexdigest()


class Log:
    """Written for one incarnation of a member. Raises BadInputError where it cannot be begun."""

    def __init__(self, folder: Path, group: str, member: Address, configs: dict[str, Any]) -> None:
        self._count = 0
        self._broken = False
        path = folder / f"{member}.log"
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise BadInputError(f"the log {path} cannot be written: {error.strerror}") from None
        self._lines: list[bytes] = []
        first: dict[str, Any] = {"format": FORMAT, "version": VERSION, "group": group, "member": member}
        first["configs"] = {name: attrs.asdict(config) for name, config in configs.items()}
        self._chain = digest(first)
        self._lines += (_json(first), b"\n")

    def step(self, cause: str, event: tuple[Any, ...], outcome: str, effects: list[Any], state: State) -> None:
        """Write a step; `event` and `effects` are in the form of the log, `state` is the state after it."""
        self._count += 1
        self._chain = digest((self._chain, cause, event, effects))
        known = digest(canonical(state)) if self._count % EVERY == 0 else UNSET
        line = _Line(self._count, cause, event, outcome, len(effects), self._chain, known)
        self._lines += (_json(line), b"\n")

    def flush(self) -> None:
        """Hand all lines to the kernel. Raises OSError where it does not take them."""
        data, self._lines = b"".join(self._lines), []
        try:
            while data:
                data = data[os.write(self._file, data) :]
        except OSError:
            self._broken = True
            raise

    def end(self, how: str, state: State) -> None:
        """Write that the incarnation has ended. A log that could not be written before stays as it is."""
        try:
            if not self._broken:
                last = {"ends": how, "n": self._count, "state": digest(canonical(state))}
                self._lines += (_json(last), b"\n")
                self.flush()
        finally:
            os.close(self._file)
