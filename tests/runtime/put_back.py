"""Faults that were mended, put back: the test that has each one's schedule fails.

    python -m tests.runtime.put_back             # all of them: a table, some minutes
    python -m tests.runtime.put_back NAME...     # these

`broken_glue.py` has the faults that campaigns notice.
"""

import asyncio
import subprocess
import sys
import time
from collections.abc import Callable, Coroutine, Iterable
from contextlib import nullcontext
from threading import Thread
from typing import Any, Final

import pytest
from attrs import evolve

from groupcomm_runtime import codec, discovery, flow, frames, group, layers, member, places, pulses, transports
from groupcomm_runtime.group import Group
from tests.runtime import test_forks


def _instead(owner: object, name: str, value: object) -> None:
    setattr(owner, name, value)


def _callers_give_their_places_back() -> None:
    sends = Group._sends  # noqa: SLF001 - what is broken

    async def gives_up(self: Group, data: bytes, *, safe: bool) -> bool:
        try:
            return await sends(self, data, safe=safe)
        except asyncio.CancelledError:
            self._window.give_back(1)
            raise

    _instead(Group, "_sends", gives_up)


def _a_second_cancellation_ends_the_leave() -> None:
    async def leaves(self: Group) -> None:
        self._leaving = True
        if self._members and not self._left.is_set():
            self._member.leave()
            await self._left.wait()
        self._member.close("closed")

    _instead(Group, "leave", leaves)


def _a_task_waits_for_itself() -> None:
    def waits(_self: Group, _what: str, call: Coroutine[Any, Any, Any]) -> Coroutine[Any, Any, Any]:
        return call

    _instead(Group, "_unless_events_wait", waits)


def _events_are_counted_alone() -> None:
    _instead(Group, "full", property(lambda self: len(self._events) >= 10_000 and not self._leaving))


def _a_worker_inherits() -> None:
    test_forks.MEMBER = "import os\nos.register_at_fork = lambda **_: None\n" + test_forks.MEMBER


def _a_resolver_stops_the_loop() -> None:
    def starts(self: Any, *_: Any, **__: Any) -> None:  # noqa: ANN401 - a thread
        self.run()

    _instead(places, "Thread", type("Thread", (Thread,), {"start": starts}))


def _one_request_a_view() -> None:
    _instead(layers, "_BUNDLE", 1)


def _fragments_have_numbers() -> None:
    numbers = iter(range(10**9))
    _instead(frames, "blake2b", lambda _item, digest_size: _Digest(next(numbers).to_bytes(digest_size)))


class _Digest:
    def __init__(self, digest: bytes) -> None:
        self.digest = lambda: digest


def _all_is_asked_for_at_once() -> None:
    chosen = layers.configs

    def chooses(*those: Any, **named: Any) -> dict[str, Any]:  # noqa: ANN401 - as those of `configs`
        found = chosen(*those, **named)
        return found | {"nakack": evolve(found["nakack"], first_asked=10**6)}

    for each in (member, group):
        _instead(each, "configs", chooses)


_SECONDS: Final = 45.0  # for a fault that hangs
_TESTS: Final = "tests/runtime/test_"


def _pulses_whatever_is_suspected() -> None:
    beats = pulses.Pulses.beats
    _instead(pulses.Pulses, "beats", lambda self, *said, **_: beats(self, *said, alike=True))


def _keeps_the_last(self: Any, sender: str, took: Any) -> None:  # noqa: ANN401 - a member, and what it takes
    for key in [key for key in self._joins if key[0] == sender]:
        del self._joins[key]
    _GATHERS(self, sender, took)


_GATHERS: Final = member.Member._gathers  # noqa: SLF001 - what is broken
PUT_BACK: Final[dict[str, tuple[str, Callable[[], object]]]] = {
    "a caller that stops waiting gives its message's place back": (
        "callers.py::test_callers_that_try_again_in_a_minority_are_bounded_and_a_receiver_drops_doubles",
        _callers_give_their_places_back,
    ),
    "a member lives on where its leave is cancelled": (
        "callers.py::test_a_join_that_is_cancelled_at_any_point_and_once_more_leaves_nothing",
        _a_second_cancellation_ends_the_leave,
    ),
    "a task that sends in its own loop waits for itself": (
        "callers.py::test_a_task_that_answers_in_its_own_loop_hears_that_it_waits_for_itself",
        _a_task_waits_for_itself,
    ),
    "events are bounded in number, and not in bytes": (
        "callers.py::test_a_slow_reader_is_bounded_in_bytes_and_hears_that_it_was_excluded",
        _events_are_counted_alone,
    ),
    "multicasts that some member lacks are bounded in number alone": (
        "callers.py::test_multicasts_that_a_member_lacks_are_bounded_in_bytes",
        lambda: _instead(flow.Flow, "_has_room", lambda _self: True),
    ),
    "a member does not notice that its machine slept": (
        "callers.py::test_a_coordinator_whose_machine_was_suspended_orders_nothing_before_it_hears_the_others",
        lambda: _instead(member, "awake_or_not", time.monotonic),
    ),
    "silent connections stay": (
        "tcp.py::test_silent_connections_keep_no_member_out_and_are_closed_within_the_patience",
        lambda: _instead(vars(transports)["_Incoming"], "_waits_for_a_frame", lambda _self: None),
    ),
    "a forked worker inherits lock and port": (
        "forks.py::test_a_worker_keeps_neither_the_name_nor_the_port_of_a_member_that_is_gone",
        _a_worker_inherits,
    ),
    "an error of the system passes through `join`": (
        "callers.py::test_a_call_of_the_system_that_fails_while_joining_is_one_clear_error_and_leaves_nothing",
        lambda: _instead(group, "_clear", lambda _group: nullcontext()),
    ),
    "two groups share their files": (
        "discovery.py::test_two_groups_in_one_folder_leave_each_other_alone",
        lambda: _instead(discovery, "folder_of", lambda _group: "all.group"),
    ),
    "a record that is gone stays gone": (
        "discovery.py::test_who_joins_by_a_folder_that_was_emptied_founds_no_group",
        lambda: _instead(discovery, "_about", lambda _path: (1,)),
    ),
    "names are looked up in the loop": (
        "places.py::test_a_resolver_that_hangs_keeps_nobody_out_and_stops_no_loop",
        _a_resolver_stops_the_loop,
    ),
    "a request to join takes the place of the one before": (
        "bundles.py::test_a_joiner_that_has_asked_twice_is_let_in",
        lambda: _instead(member.Member, "_gathers", _keeps_the_last),
    ),
    "a view grants one request": (
        "bundles.py::test_members_that_come_at_once_and_go_at_once_share_views",
        _one_request_a_view,
    ),
    "fragments that are sent again are those of another item": (
        "losses.py::test_messages_of_64_kib_arrive_in_small_datagrams_over_loss",
        _fragments_have_numbers,
    ),
    "all that is missing is asked for at once": (
        "losses.py::test_what_a_small_buffer_loses_is_not_sent_again_and_again",
        _all_is_asked_for_at_once,
    ),
    "a large message takes one place": (
        "large.py::test_a_large_message_has_all_places_and_one_that_is_larger_is_refused",
        lambda: _instead(group, "places", lambda _data: 1),
    ),
    "a large message is read as a small one": (
        "large.py::test_a_large_message_is_read_without_its_payload_and_no_other_way",
        lambda: _instead(codec.Codec, "decode_around", lambda self, data: (self.decode(data[8:]), data[8:])),
    ),
    "members vote though nothing is kept": (
        "quiet.py::test_a_quiet_group_sends_heartbeats_alone",
        lambda: _instead(member.Member, "_votes", lambda _self: True),
    ),
    "a member that keeps nothing never votes": (
        "quiet.py::test_a_member_that_keeps_nothing_votes_for_one_that_does",
        lambda: _instead(member.Member, "_votes", _keeps),
    ),
    "each heartbeat is whole": (
        "pulses.py::test_a_quiet_group_sends_pulses_and_few_whole_heartbeats",
        lambda: _instead(pulses.Pulses, "says", lambda _self, _to, _said: False),
    ),
    "each member beats when it likes": (
        "pulses.py::test_members_whose_clocks_agree_beat_at_once",
        lambda: _instead(member.Member, "_to_beat", lambda _self, delay: delay),
    ),
    "a pulse says of a member that is suspected that it is not": (
        "pulses.py::test_where_a_member_is_suspected_all_heartbeats_are_whole",
        _pulses_whatever_is_suspected,
    ),
}
"""Each fault, the test that has its schedule, and how it is put back."""


def _keeps(self: Any) -> bool:  # noqa: ANN401 - a member, and what it hides
    return any(each.kept for each in self._multicasts.windows.values())


def main(names: Iterable[str]) -> None:
    """Print a line for each fault."""
    for name in names:
        test, _ = PUT_BACK[name]
        program = f"import sys; from tests.runtime.put_back import run_with; sys.exit(run_with({name!r}))"
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
        noticed = done.returncode == pytest.ExitCode.TESTS_FAILED
        print(f"| {name} | {'noticed' if noticed else f'NOT NOTICED ({done.returncode})'}: `{test}` |", flush=True)  # noqa: T201 - a table


def run_with(name: str) -> int:
    """Run the test of a fault that is put back."""
    test, breaks = PUT_BACK[name]
    breaks()
    waits = asyncio.wait_for
    _instead(asyncio, "wait_for", lambda those, seconds: waits(those, min(seconds, _SECONDS)))
    return pytest.main(["-q", "-x", "-p", "no:cacheprovider", _TESTS + test])


if __name__ == "__main__":
    main(sys.argv[1:] or PUT_BACK)
