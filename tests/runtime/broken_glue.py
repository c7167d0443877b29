"""Pieces of glue that are broken on purpose, for campaigns of faults to notice.

    python tests/runtime/broken_glue.py                    # all of them: a table, some ten minutes
    python tests/runtime/broken_glue.py NAME ARGUMENT...   # a member with that piece broken

The cores are right in all of them. The runtime connects them wrongly to sockets, clocks and files.
"""

import asyncio
import runpy
import sys
import tempfile
from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final, cast

from attrs import evolve

from groupcomm.effects import PassUp, SetTimer
from groupcomm.events import Block, Deliver, ViewInstalled
from groupcomm.stack import Tagged
from groupcomm.state_transfer import MarkState, Part, Seen
from groupcomm_field.torture.running import Campaign, tortured
from groupcomm_runtime import group as groups
from groupcomm_runtime import logs
from groupcomm_runtime.codec import Codec
from groupcomm_runtime.discovery import Folder
from groupcomm_runtime.frames import Fragments, Once
from groupcomm_runtime.member import Member
from groupcomm_runtime.records import NO_RECORD
from groupcomm_runtime.transfer import Transfer


def _instead(owner: Any, name: str, make: Callable[[Any], Any]) -> None:  # noqa: ANN401 - a class or a module
    """Replace a function. `make` gets the old function and returns the new."""
    setattr(owner, name, make(getattr(owner, name)))


def _without(matches: Callable[[Any], bool]) -> None:
    """Some effects are not done."""
    _instead(Member, "_do", lambda do: lambda self, effect, data: None if matches(effect) else do(self, effect, data))


def _no_timer(name: str) -> None:
    _without(lambda effect: isinstance(effect, SetTimer) and effect.name.startswith(name))


def _told(**fields: frozenset[str]) -> None:
    """HEARTBEAT hears of other surroundings."""
    _instead(Member, "_around", lambda around: lambda self: evolve(around(self), **fields))


def _watches_members_alone() -> None:
    _instead(Member, "_around", lambda around: lambda self: evolve(around(self), watched=self.gms.others))


def _one_address() -> None:
    _instead(groups, "address", lambda address: lambda name, _life=1: address(name, 1))


def _log_after_sending() -> None:
    _instead(logs.Log, "flush", lambda flush: lambda self: asyncio.get_running_loop().call_later(0.05, flush, self))


def _full_disk_ignored() -> None:
    def careless(flush: Callable[[Any], None]) -> Callable[[Any], None]:
        def flushes(self: logs.Log) -> None:
            with suppress(OSError):
                flush(self)

        return flushes

    _instead(logs.Log, "flush", careless)


def _other_life() -> None:
    _instead(
        Member,
        "_received",
        lambda received: (
            lambda self, frame, *rest: received(self, evolve(frame, to=self.me) if frame.to else frame, *rest)
        ),
    )


def _own_first() -> None:
    def hurries(take: Callable[..., None]) -> Callable[..., None]:
        def takes(self: Any, cause: str, event: object, data: bytes = b"") -> None:  # noqa: ANN401 - a member, and what it hides
            take(self, cause, event, data)
            if cause == "self":
                self._queue.rotate(1)

        return takes

    _instead(Member, "_take", hurries)


def _events_jump() -> None:
    """Each second event comes before the first."""

    def jumps(happens: Callable[..., None]) -> Callable[..., None]:
        held: list[object] = []

        def puts(self: groups.Group, events: Iterable[object]) -> None:
            held.extend(events)
            while len(held) > 1:
                happens(self, [held.pop(), held.pop()])

        return puts

    _instead(groups.Group, "_happen", jumps)


def _no_records() -> None:
    _instead(Folder, "recall", lambda _: lambda _self: NO_RECORD)
    _instead(Folder, "claim", lambda _: lambda _self: None)


def _numbers_of_the_clock() -> None:
    _no_records()
    _instead(Member, "_is_former", lambda _: lambda _self, _later: None)


_deliveries = count(1)


def _one_in_forty(effect: object) -> bool:
    return isinstance(effect, PassUp) and isinstance(effect.event, Deliver) and next(_deliveries) % 40 == 0


def _marks_late() -> None:
    """The state is marked after messages that follow the cut."""

    def late(happens: Callable[..., None]) -> Callable[..., None]:
        def puts(self: groups.Group, events: Iterable[object]) -> None:
            those = [*events]
            if any(isinstance(each, MarkState) for each in those):
                asyncio.get_running_loop().call_later(0.3, happens, self, those)
            else:
                happens(self, those)

        return puts

    _instead(groups.Group, "_happen", late)


def _gives_another_mark() -> None:
    """Each member that asks gets the state as it was marked for the first."""
    marked: list[object] = []

    def first(mark: Callable[..., Any]) -> Callable[..., Any]:
        async def marks(self: Transfer, event: MarkState) -> None:
            provider = self._provider
            marked.append(provider.get())
            self._provider = cast("Any", SimpleNamespace(get=lambda: marked[0]))
            await mark(self, event)
            self._provider = provider

        return marks

    _instead(Transfer, "mark", first)


def _numbers_are_lost() -> None:
    """A part of a state comes without the numbers of the messages in it."""

    def forgets(decode: Callable[..., Any]) -> Callable[..., Any]:
        def decodes(self: Codec, data: bytes) -> Any:  # noqa: ANN401 - a message
            return _without_numbers(decode(self, data))

        return decodes

    _instead(Codec, "decode", forgets)


def _without_numbers(message: Any) -> Any:  # noqa: ANN401 - a message of any layer
    if isinstance(message, Part):
        return evolve(message, seen=Seen(()))
    if isinstance(message, Tagged):
        return evolve(message, message=_without_numbers(message.message))
    carried = getattr(message, "payload", None)
    return evolve(message, payload=_without_numbers(carried)) if isinstance(carried, Tagged) else message


def _passes_up(kind: type) -> Callable[[object], bool]:
    return lambda effect: isinstance(effect, PassUp) and isinstance(effect.event, kind)


BROKEN: Final[dict[str, Callable[[], None]]] = {
    "UNICAST's timers are not set": lambda: _no_timer("unicast/"),
    "NAKACK's requests are not sent again": lambda: _no_timer("nakack/request"),
    "NAKACK's highest seqno is not sent": lambda: _no_timer("nakack/highest"),
    "STABLE's timers are not set": lambda: _no_timer("stable/"),
    "FILE_PING's timers are not set": lambda: _no_timer("file_ping/"),
    "HEARTBEAT's timer is not set": lambda: _no_timer("heartbeat/"),
    "heartbeats go to watched members alone": lambda: _told(reachable=frozenset()),
    "heartbeats name no suspicions": lambda: _told(suspected=frozenset()),
    "the silence of outsiders is not reported": lambda: _told(sought=frozenset()),
    "a pause of the own process is not noticed": lambda: _instead(
        Member, "_notices_pause", lambda _: lambda _self: False
    ),
    "one address serves all incarnations": _one_address,
    "datagrams for another incarnation are taken": _other_life,
    "datagrams are taken again": lambda: _instead(Once, "first", lambda _: lambda _self, _number: True),
    "discovery finds no coordinator": lambda: _instead(Member, "_coordinators", lambda _: lambda _self: iter(())),
    "fragments are not put together": lambda: _instead(Fragments, "join", lambda _: lambda _self, _data: None),
    "own messages pass the queue": _own_first,
    "BLOCK is not answered": lambda: _without(_passes_up(Block)),
    "joiners are not watched": _watches_members_alone,
    "lines of a log follow the datagrams": _log_after_sending,
    "a full disk is ignored": _full_disk_ignored,
    "a delivery in forty is lost": lambda: _without(_one_in_forty),
    "events of the application change places": _events_jump,
    "the application hears of no view": lambda: _without(_passes_up(ViewInstalled)),
    "records are forgotten": _no_records,
    "numbers follow the clock alone": _numbers_of_the_clock,
    "the state is marked late": _marks_late,
    "the state is that of another mark": _gives_another_mark,
    "the state comes without the numbers in it": _numbers_are_lost,
    "a message is acknowledged before it is safe": lambda: _instead(
        groups.Group, "send", lambda send: lambda self, data: send(self, data, safe=False)
    ),
}
"""Each piece, and how it is broken."""

OF_STATES: Final = frozenset(
    {
        "the state is marked late",
        "the state is that of another mark",
        "the state comes without the numbers in it",
        "a message is acknowledged before it is safe",
    }
)
"""Those for which members join with a state."""

_MAJORITY: Final = OF_STATES | {"records are forgotten"}
"""Those for which members join with `majority`."""


def noticed(name: str, folder: Path, faults: int, *, limit: float, seed: int = 1) -> list[str]:
    """Return the findings of a campaign on members with that piece broken."""
    program = (str(Path(__file__)), name)
    campaign = Campaign(
        members=3,
        faults=faults,
        seed=seed,
        limit=limit,
        majority=name in _MAJORITY,
        state=name in OF_STATES,
        program=program,
    )
    return tortured(campaign, folder, lambda _: None).found


def main(names: Iterable[str]) -> None:
    """Print a line for each piece."""
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            found = noticed(name, Path(folder), 34, limit=25) if name else []
            print(f"{name}: {'; '.join(found)[:150] or 'NOT NOTICED'}", flush=True)  # noqa: T201 - a table


if __name__ == "__main__":
    if len(sys.argv) > 2:
        BROKEN[sys.argv.pop(1)]()
        sys.argv[0] = "member"
        runpy.run_module("groupcomm_field.torture.member", run_name="__main__")
    else:
        main(sys.argv[1:] or BROKEN)
