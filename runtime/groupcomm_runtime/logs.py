"""The log of an incarnation: a line for each step of its stack, with the kernel before an effect leaves.

A line is MessagePack, after its length. `python -m groupcomm_runtime.logs FILE` prints lines of JSON. The first
line has the configuration. Each other line is a step: its number, its cause, the event, the outcome, the number
of effects, and a digest of all that and of the lines before. So no line can be left out, or stand elsewhere. A
line has no state: steps are functions, so a replay of the events gives all states. What a member says to itself
is an effect before, so its arrival is the event `self`, without the bytes: the digest has them. Every `EVERY`
steps, and at the end, there is a digest of the state. The last line says that the incarnation ended, and how:
without it the process was killed, or the log was cut.

A log has the messages in clear, and its mode is 0600. Digests in their place would not do: a replay decodes
the bytes that came, and compares the bytes that a receiver has with those of the sender.
"""

import os
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import attrs
import msgspec
from msgspec import UNSET

from groupcomm.stack import State
from groupcomm.view import Address

from .codec import VERSION, canonical, pack, unpack
from .errors import BadInputError

FORMAT: Final = 3

EVERY: Final = 5_000
"""Steps between two digests of the state."""

SELF: Final = ("self",)
"""The event by which a member hears what it has said to itself."""

_SELF: Final = pack(SELF)
_LENGTH: Final = 4  # bytes
_LONG: Final = 100  # bytes


class _Line(msgspec.Struct):
    """The line of a step."""

    n: int
    cause: str
    event: msgspec.Raw
    outcome: str
    effects: int
    digest: str
    state: str | msgspec.UnsetType


def digest(value: Any) -> str:  # noqa: ANN401 - any value of MessagePack
    """Sixteen hexadecimal digits of a value."""
    return sha256(pack(value)).hexdigest()[:16]


def chained(chain: str, cause: str, event: bytes, effects: list[Any], payload: bytes) -> str:
    """The digest of a step, whose event is in MessagePack, and of the lines before, whose digest is `chain`.

    `payload`: the application's bytes in the event. The digest has them once: most effects carry them on.
    """
    whole = sha256(pack((chain, cause)))
    whole.update(event)
    whole.update(pack(_around(payload, effects) if len(payload) >= _LONG else effects))
    return whole.hexdigest()[:16]


def _around(payload: bytes, effect: Any) -> Any:  # noqa: ANN401 - any value of MessagePack
    """An effect with the bytes before and after a payload in its place."""
    if type(effect) is list:
        return [_around(payload, each) for each in effect]
    if type(effect) is not bytes:
        return effect
    at = effect.find(payload[:_LONG])
    holds = at >= 0 and effect.startswith(payload, at)
    return (None, effect[:at], effect[at + len(payload) :]) if holds else effect


def framed(line: Any) -> bytes:  # noqa: ANN401 - any value of MessagePack
    """A line as it is in a log."""
    data = pack(line)
    return len(data).to_bytes(_LENGTH) + data


def lines_of(data: bytes) -> tuple[list[bytes], bytes]:
    """The lines of a log, in MessagePack, and what is left of a last one that was cut."""
    found: list[bytes] = []
    at = 0
    while at + _LENGTH <= len(data) >= (end := at + _LENGTH + int.from_bytes(data[at : at + _LENGTH])):
        found.append(data[at + _LENGTH : end])
        at = end
    return found, data[at:]


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
        self._lines.append(framed(first))

    def step(
        self, cause: str, event: tuple[Any, ...], outcome: str, effects: list[Any], state: State, *, payload: bytes
    ) -> None:
        """Write a step; `event` and `effects` are in the form of the log, `state` is the state after it.

        `payload`: the application's bytes in the event.
        """
        self._count += 1
        packed = pack(event)
        self._chain = chained(self._chain, cause, packed, effects, payload)
        known = digest(canonical(state)) if self._count % EVERY == 0 else UNSET
        told = msgspec.Raw(_SELF if cause == "self" else packed)
        self._lines.append(framed(_Line(self._count, cause, told, outcome, len(effects), self._chain, known)))

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
                self._lines.append(framed(last))
                self.flush()
        finally:
            os.close(self._file)


if __name__ == "__main__":
    for file in sys.argv[1:]:
        for each in lines_of(Path(file).read_bytes())[0]:
            sys.stdout.write(msgspec.json.encode(unpack(each)).decode() + "\n")  # bytes are base64
