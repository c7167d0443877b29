"""join, send: groups in one process; what is refused, and what is dropped."""

import asyncio
import json
import socket
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

import groupcomm_runtime
from groupcomm_runtime import (
    LARGEST_MESSAGE,
    BadInputError,
    EndedError,
    Group,
    MessageTooLargeError,
    NameTakenError,
    Settings,
)
from groupcomm_runtime.codec import VERSION
from groupcomm_runtime.discovery import Folder
from groupcomm_runtime.frames import Frame, Seal
from groupcomm_runtime.layers import configs
from groupcomm_runtime.member import Member
from tests.runtime.conversing import FAST, KEY, OTHER, messages, run, until


def test_members_found_by_peers_deliver_one_order_and_a_message_in_fragments() -> None:
    async def test() -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
            free.bind(("127.0.0.1", 0))
            known = f"127.0.0.1:{free.getsockname()[1]}"
        join = groupcomm_runtime.join
        async with (
            join("demo", name="a", key=KEY, peers=[known], listen=known, settings=FAST) as a,
            join("demo", name="b", key=KEY, peers=[known], settings=FAST) as b,
        ):
            large = b"x" * 65_536
            await asyncio.gather(b.send(large), a.send(b"small"))
            assert await messages(a, 2) == (got := await messages(b, 2))
            assert {large, b"small"} == set(got)
            with pytest.raises(MessageTooLargeError, match="and the largest has 16777216: send it in parts"):
                await a.send(bytes(LARGEST_MESSAGE + 1))
            with pytest.raises(BadInputError, match="no str: encode it"):
                await a.send("text")  # type: ignore[arg-type]
        with pytest.raises(EndedError):
            await a.send(b"late")

    run(test())


def test_a_list_may_lack_the_coordinator() -> None:
    async def test() -> None:
        places = []
        for _ in range(2):
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
                free.bind(("127.0.0.1", 0))
                places.append(f"127.0.0.1:{free.getsockname()[1]}")
        first, second = places
        join = groupcomm_runtime.join
        async with (
            join("demo", name="a", key=KEY, peers=[first], listen=first, settings=FAST) as a,
            join("demo", name="b", key=KEY, peers=[first], listen=second, settings=FAST),
        ):
            await until(lambda: len(a.members) >= 2)
            async with asyncio.timeout(10), join("demo", name="c", key=KEY, peers=[second], settings=FAST) as c:
                assert [each.split("#")[0] for each in c.members] == ["a", "b", "c"]

    run(test())


def test_a_member_asks_to_leave_when_its_messages_are_delivered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """FLUSH drains no table of a leaver: `sequencer_over_flush__stop_rule_at_once`."""

    async def test() -> None:
        join = groupcomm_runtime.join
        async with join("demo", name="a", key=KEY, folder=tmp_path, settings=FAST) as a:
            async with join("demo", name="b", key=KEY, folder=tmp_path, settings=FAST) as b:
                sending = asyncio.create_task(b.send(b"last"))
                await asyncio.sleep(0)
                delivered: list[bool] = []
                leave = Member.leave

                def noted(member: Member) -> None:
                    delivered.append(sending.done())
                    leave(member)

                monkeypatch.setattr(Member, "leave", noted)
            assert [True] == delivered
            assert [b"last"] == await messages(a, 1)

    run(test())


def test_messages_of_one_loop_turn_are_multicast_together_and_a_cancelled_one_keeps_its_place(tmp_path: Path) -> None:
    async def test() -> None:
        join = groupcomm_runtime.join
        async with (
            join("demo", name="a", key=KEY, folder=tmp_path, settings=FAST) as a,
            join("demo", name="b", key=KEY, folder=tmp_path, settings=FAST) as b,
        ):
            sent = [b"%d " % number + bytes(300) for number in range(200)]
            sends = [asyncio.create_task(b.send(data)) for data in sent]
            await asyncio.sleep(0)
            sends[50].cancel()
            assert sent == await messages(a, 200) == await messages(b, 200)
            await asyncio.wait(sends)
            assert [50] == [number for number, each in enumerate(sends) if each.cancelled()]
            # 200 of 309 bytes, and up to 32,768 bytes in a multicast
            assert 2 == a.counts["delivered"] == b.counts["delivered"]
            assert 0 == a.tables["on their way"] == b.tables["on their way"]

    run(test())


def test_three_members_of_which_two_know_one_place_converse() -> None:
    """The first names to each of the two the place of the other."""

    async def test() -> None:
        join = groupcomm_runtime.join
        async with join("demo", name="a", key=KEY, peers=["127.0.0.1:1"], settings=FAST) as a:
            known = [f"127.0.0.1:{a.place[1]}"]
            async with (
                join("demo", name="b", key=KEY, peers=known, settings=FAST) as b,
                join("demo", name="c", key=KEY, peers=known, settings=FAST) as c,
            ):
                for each in (a, b, c):
                    await each.send(each.address.encode())
                assert await messages(b, 2) == (await messages(c, 2))
                await asyncio.sleep(2 * FAST.patience)
                assert 3 == len(a.members) == len(b.members), "no member is suspected"

    run(test())


def test_garbage_is_counted_and_harms_nobody(tmp_path: Path) -> None:
    async def test() -> None:
        join = groupcomm_runtime.join
        async with join("demo", name="a", key=KEY, folder=tmp_path, settings=FAST) as a:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
                ours, theirs = (b"gc%c" % version + bytes(40) for version in (VERSION, VERSION + 1))
                for data in (b"", b"gc", ours, theirs, bytes(60_000)):
                    stranger.sendto(data, a.place)
                seal = Seal(KEY, "demo")
                greeting = seal.close(Frame("z#1795471590897000", a.place, "", 1, ()))
                forged = seal.refuse(greeting)
                assert forged is not None
                assert len(forged) < len(greeting), "no address gets more than was sent in its name"
                assert seal.refuse(forged) is None
                stranger.sendto(forged, a.place)
            await a.send(b"on")
            counts = a.counts
        assert 4 == counts["strangers"]
        assert 1 == counts["other versions"]

    run(test())


@pytest.mark.parametrize("how", ["folder", "peers"])
def test_another_key_is_one_clear_error_and_another_group_is_none(tmp_path: Path, how: str) -> None:
    async def test() -> None:
        join = groupcomm_runtime.join
        async with join("demo", name="a", key=KEY, folder=tmp_path, settings=FAST) as a:
            place = f"127.0.0.1:{a.place[1]}"
            found: dict[str, Any] = {"folder": tmp_path} if how == "folder" else {"peers": [place]}
            text = f"{place} is a member of the group 'demo' and has another key: give the same key=; if no member is there"
            with pytest.raises(BadInputError, match=text):
                async with join("demo", name="b", key=OTHER, settings=FAST, **found):
                    pass
            async with join("other", name="c", key=OTHER, settings=FAST, **found) as c:
                assert 1 == len(c.members), "a place may be used again, by another group"
            await a.send(b"on")
            assert 1 == len(a.members)

    run(test())


def test_another_version_is_one_clear_error_and_forged_refusals_are_nothing() -> None:
    """At the place is what looks like a member of a later version."""

    async def test() -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as later:
            later.bind(("127.0.0.1", 0))
            later.settimeout(0)
            place = "{}:{}".format(*later.getsockname())

            async def refuses(*, honest: bool) -> None:
                while True:
                    data, sender = await asyncio.get_running_loop().sock_recvfrom(later, 1_000)
                    refusal = Seal(OTHER, "demo").refuse(data)
                    assert refusal is not None
                    digest = refusal[3:] if honest else bytes(16) + refusal[19:]
                    later.sendto(b"gr%c" % (VERSION + 1) + digest, sender)

            join = groupcomm_runtime.join
            answers = asyncio.create_task(refuses(honest=False))
            async with join("demo", name="a", key=KEY, peers=[place], settings=FAST) as a:
                assert 1 == len(a.members)
            answers.cancel()
            answers = asyncio.create_task(refuses(honest=True))
            text = f"{place} is a member .* has version {VERSION + 1}, or another key, and this is {VERSION}: use one release"
            with pytest.raises(BadInputError, match=text):
                async with join("demo", name="a", key=KEY, peers=[place], settings=FAST):
                    pass
            answers.cancel()

    run(test())


def test_a_port_and_a_name_that_are_in_use_are_refused_and_free_again(tmp_path: Path) -> None:
    async def test() -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as used:
            used.bind(("127.0.0.1", 0))
            place = f"127.0.0.1:{used.getsockname()[1]}"
            with pytest.raises(BadInputError, match=f"{place} cannot be listened at: Address already in use"):
                async with groupcomm_runtime.join("demo", name="a", key=KEY, folder=tmp_path, listen=place):
                    pass
        Folder(tmp_path, "demo", "a").end()
        held = Folder(tmp_path, "demo", "a")
        with pytest.raises(NameTakenError, match=r"the name 'a' is taken in .*: process \d+ holds it"):
            Folder(tmp_path, "demo", "a")
        held.end()

    run(test())


def test_a_name_that_is_heard_is_refused(tmp_path: Path) -> None:
    """Found by peers, where no lock is."""

    async def test() -> None:
        join = groupcomm_runtime.join
        async with join("demo", name="a", key=KEY, folder=tmp_path, settings=FAST) as a:
            place = f"127.0.0.1:{a.place[1]}"
            with pytest.raises(NameTakenError, match=f"'a' is taken in the group 'demo': a#.* at {place} has it"):
                async with join("demo", name="a", key=KEY, peers=[place], settings=FAST):
                    pass
            await a.send(b"on")
            assert 1 == len(a.members)

    run(test())


@pytest.mark.parametrize("settings", [FAST, groupcomm_runtime.FAST, groupcomm_runtime.PATIENT, Settings()])
def test_what_waits_for_another_time_is_longer(settings: Settings) -> None:
    """A merge waits for suspicions, those for heartbeats; and a record is back before its member is missed."""
    settings.check()
    chosen = configs(settings)
    merging, unicasts, finding = chosen["merge_gms"], chosen["unicast"], chosen["file_ping"]
    patience, heartbeat = 1_000 * settings.patience, 1_000 * settings.heartbeat
    assert merging.member_timeout > merging.leader_timeout > patience >= 3 * heartbeat
    assert patience > unicasts.retransmit_min
    beats = chosen["heartbeat"]
    assert beats.longest > beats.patience >= 3
    assert beats.beat_interval * beats.patience <= patience + beats.beat_interval
    assert patience >= finding.look_max + finding.discovery_time > finding.discovery_time >= 2 * heartbeat


def test_an_application_that_asks_hears_when_it_is_blocked_and_no_other_does(tmp_path: Path) -> None:
    async def test() -> None:
        join = groupcomm_runtime.join
        async with (
            join("demo", name="a", key=KEY, folder=tmp_path, settings=FAST, blocks=True) as a,
            join("demo", name="b", key=KEY, folder=tmp_path, settings=FAST) as b,
        ):
            await b.send(b"end")
            heard: dict[Group, list[str]] = {}
            for each in (a, b):
                heard[each] = []
                while "Message" not in heard[each]:
                    heard[each].append(type(await anext(each)).__name__)
        views = ["NewView", "Blocked", "NewView", "Unblocked", "Message"]
        assert views == [each for each in heard[a] if each in views]
        assert {"NewView", "Message"} == {*heard[b]}

    run(test())


def test_a_joiner_that_asks_hears_its_first_view_and_nothing_of_the_block_for_it(tmp_path: Path) -> None:
    async def test() -> None:
        join = groupcomm_runtime.join
        async with (
            join("demo", name="a", key=KEY, folder=tmp_path, settings=FAST),
            join("demo", name="b", key=KEY, folder=tmp_path, settings=FAST, blocks=True) as b,
        ):
            await b.send(b"first")
            assert ["NewView", "Message"] == [type(await anext(b)).__name__ for _ in range(2)]

    run(test())


def test_metrics_are_a_line_of_json_with_counts_of_each_layer(tmp_path: Path) -> None:
    async def test() -> None:
        join = groupcomm_runtime.join
        async with (
            join("demo", name="a", key=KEY, folder=tmp_path, settings=FAST) as a,
            join("demo", name="b", key=KEY, folder=tmp_path, settings=FAST) as b,
        ):
            await b.send(b"on")
            line = b.metrics
            assert "\n" not in line
            said = json.loads(line)
            assert ["demo", b.address, [2, a.address]] == [said["group"], said["address"], said["view"]]
            assert b.tables.keys() == said["tables"].keys()
            counts = said["counts"]
            for each in ("sequencer received", "flush received", "nakack received", "file_ping sent"):
                assert counts[each] > 0, each
            assert counts["unicast sent"] >= counts["merge_gms sent"] > 0

    run(test())


def test_an_encrypted_group_shows_no_message_on_the_network_and_refuses_a_member_that_is_not(tmp_path: Path) -> None:
    async def test() -> None:
        seen: list[bytes] = []

        class Sees(socket.socket):
            def sendto(self, data: bytes, *where: Any) -> int:  # type: ignore[override]  # noqa: ANN401 - a place
                seen.append(data)
                return super().sendto(data, *where)

        joins: Any = {"key": KEY, "folder": tmp_path, "transport": partial(Sees, socket.AF_INET, socket.SOCK_DGRAM)}
        secret, join = evolve(FAST, encrypted=True), groupcomm_runtime.join
        async with (
            join("demo", name="a", settings=secret, **joins) as a,
            join("demo", name="b", settings=secret, **joins) as b,
        ):
            await a.send(b"the word of the day")
            assert [b"the word of the day"] == await messages(b, 1)
            assert len(seen) > 10
            assert not any(
                b"the word" in each or a.address.encode() in each for each in seen
            )  # two bytes come by chance
            with pytest.raises(BadInputError, match="encrypted= or era=: give the same"):
                async with join("demo", name="c", settings=FAST, **joins):
                    pytest.fail("it reads nothing")

    run(test())


@pytest.mark.parametrize("encrypted", [False, True])
def test_a_group_changes_its_key_while_it_runs(tmp_path: Path, *, encrypted: bool) -> None:
    """Each member is replaced by one of the next step. Without the steps between the newcomer is a stranger."""

    class State:
        value = b""

        def get(self) -> bytes:
            return self.value

        def set(self, state: bytes) -> None:
            self.value = state

    old, new = KEY, OTHER
    settings = evolve(FAST, encrypted=encrypted)

    def joins(name: str, key: list[bytes], state: State) -> Any:  # noqa: ANN401 - what `join` gives
        return groupcomm_runtime.join("demo", name=name, key=key, folder=tmp_path, settings=settings, state=state)

    async def test() -> None:
        first = State()
        first.value = b"the state"
        before = joins("a", [old], first)
        tasks = [asyncio.create_task(taken(await before.__aenter__()))]
        with pytest.raises(BadInputError, match="another key: give the same key="):
            async with joins("z", [new], State()):
                pytest.fail("it is a stranger")
        for name, keys in (("b", [old, new]), ("c", [new, old]), ("d", [new])):
            state = State()
            after = joins(name, keys, state)
            group = await after.__aenter__()
            tasks.append(asyncio.create_task(taken(group)))
            await asyncio.wait_for(group.has_state(), 20)
            assert b"the state" == state.value
            await before.__aexit__(None, None, None)
            before = after
        await before.__aexit__(None, None, None)
        await asyncio.gather(*tasks)

    async def taken(group: Group) -> None:
        async for _ in group:
            pass

    run(test())


def test_encryption_without_its_package_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def test() -> None:
        monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.ciphers.aead", None)
        with pytest.raises(BadInputError, match=r"cryptography.*groupcomm\[runtime,encryption\]"):
            async with groupcomm_runtime.join(
                "demo", name="a", key=KEY, folder=tmp_path, settings=evolve(FAST, encrypted=True)
            ):
                pytest.fail("it encrypts nothing")

    run(test())
