"""Attacks by a stranger on the network, by another user of the folder, and by files: docs/security.md."""

import asyncio
import json
import logging
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import pytest

import groupcomm_runtime
from groupcomm_commands.main import main
from groupcomm_field import strangers
from groupcomm_runtime import BadInputError, Group, NameTakenError, Settings, frames, key_in, member
from groupcomm_runtime.codec import VERSION, Codec, RefusedError, pack, unpack
from groupcomm_runtime.discovery import Folder, Place, places_of
from groupcomm_runtime.doubts import READINGS, Doubts
from groupcomm_runtime.frames import Frame, Refusal, Seal
from groupcomm_runtime.layers import LAYERS
from groupcomm_runtime.logs import framed, lines_of
from groupcomm_runtime.transports import Tcp
from tests.runtime.conversing import FAST, KEY, OTHER, messages, of_demo, run, until

join = groupcomm_runtime.join
HERE = ("127.0.0.1", 7801)
RECORD = json.dumps({"host": "127.0.0.1", "port": 7802})
TCP = Settings(heartbeat=0.05, patience=1.0, transport="tcp")


async def both(*groups: Group) -> None:
    """Wait until all are in one view."""
    await until(lambda: {frozenset(each.members) for each in groups} == {frozenset(each.address for each in groups)})


def udp() -> socket.socket:
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.bind(("127.0.0.1", 0))
    sock.settimeout(0)
    return sock


def received(sock: socket.socket) -> list[bytes]:
    got = []
    try:
        while True:
            got.append(sock.recv(65_536))
    except BlockingIOError:
        return got


def test_each_attack_of_the_table_has_a_test() -> None:
    """A name is part of that of a test in a file that the row names, or in this one."""
    root = Path(__file__).parents[2]
    text = (root / "docs" / "security.md").read_text(encoding="utf-8")
    rows = text.partition("| --- | --- | --- | --- |")[2].partition("\n\n")[0].splitlines()[1:]
    assert 30 < len(rows)
    for row in rows:
        what, *_, tests = row.strip("| ").split(" | ")
        named = re.findall(r"`([^`]*)`", tests.partition("(")[0])
        files = [name for name in named if name.endswith(".py")]
        paths = [Path(__file__), *(next(root.joinpath("tests").rglob(Path(name).name)) for name in files)]
        sources = "\n".join(path.read_text(encoding="utf-8") for path in paths)
        for name in named:
            assert name in files or name == "torture" or re.search(rf"def test_\w*{name}", sources), row
        assert named or "**not held**" in row, f"{what}: it has no test"


# Another user of the folder


def test_links_and_pipes_that_another_has_put_there_are_not_written_and_not_waited_for(tmp_path: Path) -> None:
    """The victim's files are as they were, and the loop never stands."""
    precious = tmp_path / "thesis.tex"
    precious.write_text("precious")
    folder = tmp_path / "group"
    folder.mkdir()
    own = of_demo(folder)
    lock = own / "a.lock"
    makes: tuple[Callable[[], None], ...] = (
        lambda: lock.symlink_to(precious),
        lambda: lock.hardlink_to(precious),
        lambda: os.mkfifo(lock),
    )
    for make in makes:
        make()
        with pytest.raises(BadInputError):
            Folder(folder, "demo", "a")
        lock.unlink()
    aside = own / ".a.aside"
    makes = (lambda: aside.symlink_to(precious), lambda: os.mkfifo(aside))
    for make in makes:
        make()
        a = Folder(folder, "demo", "a")
        a.begin(HERE)
        a.write("a#1")
        assert HERE == a.place("a#1")
        a.end()
    (own / "b#1.member").symlink_to(precious)
    assert "precious" == precious.read_text()
    assert Folder(folder, "demo", "c").place("b#1") is None


@pytest.mark.parametrize("mode", [0o777, 0o775, 0o1777])
def test_a_folder_in_which_others_write_is_refused(tmp_path: Path, mode: int) -> None:
    tmp_path.chmod(mode)
    with pytest.raises(BadInputError, match=r"other users can write in the folder .*chmod go-w"):
        Folder(tmp_path, "demo", "a")
    tmp_path.chmod(0o700)
    of_demo(tmp_path).chmod(mode)
    with pytest.raises(BadInputError, match=r"other users can write in the folder .*demo\.group"):
        Folder(tmp_path, "demo", "a")


def test_a_folder_of_another_user_and_a_link_of_his_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: own + 1)
    with pytest.raises(BadInputError, match=f"is of the user {own}, and not of {own + 1}"):
        Folder(tmp_path, "demo", "a")


def test_what_a_group_writes_is_of_its_user_alone(tmp_path: Path) -> None:
    folder, logs = tmp_path / "new" / "group", tmp_path / "logs"

    async def test() -> None:
        async with join("demo", name="a", key=KEY, folder=folder, log=logs, settings=FAST) as a:
            await a.send(b"x")
            modes = {each.name.partition("#")[0]: each.stat().st_mode & 0o777 for each in of_demo(folder).iterdir()}
            assert {"a.lock": 0o600, "a.record": 0o600, "a": 0o600} == modes
            assert [0o600] == [each.stat().st_mode & 0o777 for each in logs.iterdir()]

    run(test())
    for each in (folder, folder / "demo.group", logs):
        assert 0o700 == each.stat().st_mode & 0o777


def test_a_lock_that_another_process_holds_names_that_process(tmp_path: Path) -> None:
    """It writes no number of its own there, and has opened the file to read alone."""
    lock = of_demo(tmp_path) / "a.lock"
    lock.write_text("1")
    lines = (
        "import fcntl, sys",
        f"lock = open({str(lock)!r})",
        "fcntl.flock(lock, fcntl.LOCK_EX)",
        "print(flush=True)",
        "sys.stdin.read()",
    )
    with subprocess.Popen(
        [sys.executable, "-c", "\n".join(lines)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        with pytest.raises(NameTakenError, match=rf"process {holder.pid} holds it|does not name holds it"):
            Folder(tmp_path, "demo", "a")
        holder.communicate(b"")
    Folder(tmp_path, "demo", "a").end()
    assert 0o600 == lock.stat().st_mode & 0o777, "so that others cannot open it"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (b"!#5.member", RECORD.replace('"127.0.0.1"', "2130706433")),
        (b"!#5.member", RECORD.replace('"127.0.0.1"', "true")),
        (b"!\xff#5.member", RECORD),
    ],
)
def test_a_foreign_record_takes_nothing_from_a_group(tmp_path: Path, name: bytes, text: str) -> None:
    write = (of_demo(tmp_path) / os.fsdecode(name)).write_text

    async def test() -> None:
        async with (
            join("demo", name="a", key=KEY, folder=tmp_path, settings=FAST) as a,
            join("demo", name="b", key=KEY, folder=tmp_path, settings=FAST) as b,
        ):
            await both(a, b)
            view = a.view
            write(text)
            async with asyncio.timeout(20):
                while not a.counts["bad files"] + b.counts["bad files"]:
                    await a.send(b"x")
                await asyncio.sleep(2 * FAST.patience)
                await asyncio.gather(a.send(b"y"), b.send(b"z"))
            assert view == a.view == b.view

    run(test())


def test_records_beyond_a_bound_are_counted_and_come_another_time(tmp_path: Path) -> None:
    for number in range(1_200):
        (of_demo(tmp_path) / f"x#{number}.member").write_text(RECORD)
    a = Folder(tmp_path, "demo", "a")
    seen: set[str] = set()
    # (Which ones a turn reads is drawn: that one of 1,200 is left out 60 times is less likely than one in 10^10.)
    for turn in range(1, 61):
        found = a.read().found
        assert 500 == len(found)
        assert 700 * turn == a.bad
        seen |= found.keys()
        if len(seen) == 1_200:
            break
    assert 1_200 == len(seen)
    a.end()


def test_a_place_that_a_socket_refuses_takes_nothing_from_the_others(tmp_path: Path) -> None:
    """One receiver's failure is his own: what comes after it in a turn goes out."""

    class Refuses(socket.socket):
        bad: Place | None = None

        def sendto(self, data: bytes, place: Place) -> int:  # type: ignore[override]
            if place == self.bad:
                raise TypeError("no place")
            return super().sendto(data, place)

    made: list[Refuses] = []

    def transport() -> Refuses:
        made.append(Refuses(socket.AF_INET, socket.SOCK_DGRAM))
        return made[-1]

    async def test() -> None:
        one = {"folder": tmp_path, "settings": FAST, "key": KEY}
        async with (
            join("demo", name="c", transport=transport, **one) as c,  # type: ignore[arg-type]
            join("demo", name="a", **one) as a,  # type: ignore[arg-type]
            join("demo", name="d", **one) as d,  # type: ignore[arg-type]
        ):
            await both(a, c, d)
            made[0].bad = a.place  # which comes before d
            await c.send(b"on")
            assert [b"on"] == await messages(d, 1)
            assert 0 < c.counts["not sent"]

    run(test())


# A stranger on the network


def test_a_copy_that_is_faster_moves_no_member(tmp_path: Path) -> None:
    """All that b sends to a comes first from a stranger's place."""
    stranger = udp()

    class Copied(socket.socket):
        def sendto(self, data: bytes, place: Place) -> int:  # type: ignore[override]
            stranger.sendto(data, place)
            return super().sendto(data, place)

    async def test() -> None:
        async with join("demo", name="a", key=KEY, folder=tmp_path, settings=FAST) as a:
            known = [f"127.0.0.1:{a.place[1]}"]
            copied = lambda: Copied(socket.AF_INET, socket.SOCK_DGRAM)  # noqa: E731 - short
            async with join("demo", name="b", key=KEY, peers=known, settings=FAST, transport=copied) as b:
                await both(a, b)
                await asyncio.sleep(2 * FAST.patience)
                await a.send(b"on")
                assert [b"on"] == await messages(b, 1)
                assert 2 == len(a.members)
                assert 0 < a.counts["replays"]

    run(test())
    assert [] == received(stranger)
    stranger.close()


@pytest.mark.parametrize("copies", [1, 50])
def test_who_greets_gets_three_times_the_bytes_until_it_answers(copies: int) -> None:
    """Greetings of former incarnations come again, from a victim's place, and their own place is silent."""
    seal = Seal(KEY, "demo")
    with udp() as victim, udp() as former:

        async def test() -> None:
            async with join("demo", name="a", key=KEY, peers=["127.0.0.1:1"], settings=FAST) as a:
                sent = 0
                for life in range(2, 18):
                    greeting = seal.close(Frame(f"b#{life}", former.getsockname(), "", 1, (bytes(200),)))
                    for _ in range(copies):
                        victim.sendto(greeting, a.place)
                        sent += len(greeting)
                        await asyncio.sleep(0)
                await asyncio.sleep(2 * FAST.patience)
                assert 0 < sum(map(len, received(former))) <= 3 * sent
                assert [] == received(victim)
                await asyncio.sleep(FAST.patience)
                assert [] == received(former), "it is over"
                assert 0 == a.known["unanswered"]

        run(test())


def test_wrong_frames_over_tcp_open_no_connection_and_are_told_why(tmp_path: Path) -> None:
    async def test() -> None:
        async with join("demo", name="a", key=KEY, folder=tmp_path, settings=TCP) as a:
            carries = a._transport  # noqa: SLF001 - its connections are counted
            assert isinstance(carries, Tcp)
            wrong = b"gc%c" % VERSION + bytes(60)
            for _ in range(30):
                reader, writer = await asyncio.open_connection(*a.place)
                writer.write(b"gt" + len(wrong).to_bytes(4) + wrong)
                assert (await asyncio.wait_for(reader.read(), 10))[4:6] in (b"gr", b""), "20 in a heartbeat"
                writer.close()
            await asyncio.sleep(0.2)
            assert {} == carries.outgoing
            place = f"127.0.0.1:{a.place[1]}"
            with pytest.raises(BadInputError, match=f"{place} is a member .* has another key"):
                async with join("demo", name="b", key=OTHER, peers=[place], settings=TCP):
                    pass
            async with join("demo", name="c", key=KEY, folder=tmp_path, settings=TCP) as c:
                await both(a, c)
                assert {c.place} == {*carries.outgoing}
            await asyncio.sleep(2 * TCP.patience)
            assert all(peer.idle for peer in carries.outgoing.values()), "no member is there any more"
            carries.keep(set())
            assert {} == carries.outgoing

    run(test())


class Rogue:
    """A process without the key, which answers each datagram with a forged refusal."""

    def __init__(self) -> None:
        self._sock = udp()
        self.place: Place = self._sock.getsockname()
        self.count = 0

    def __enter__(self) -> Self:
        asyncio.get_running_loop().add_reader(self._sock, self._refuse)
        return self

    def _refuse(self) -> None:
        data, sender = self._sock.recvfrom(65_536)
        refusal = Seal(OTHER, "demo").refuse(data)
        if refusal is not None:
            self.count += 1
            self._sock.sendto(refusal, sender)

    def __exit__(self, *_: object) -> None:
        asyncio.get_running_loop().remove_reader(self._sock)
        self._sock.close()


def test_forged_refusals_keep_nobody_out_of_a_group_that_stands(tmp_path: Path) -> None:
    """A record names the rogue."""

    async def test() -> None:
        with Rogue() as rogue:
            async with (
                join("demo", name="a", key=KEY, folder=tmp_path, settings=FAST) as a,
                join("demo", name="b", key=KEY, folder=tmp_path, settings=FAST) as b,
            ):
                await both(a, b)
                for number in range(3):
                    record = {"host": rogue.place[0], "port": rogue.place[1]}
                    (of_demo(tmp_path) / f"!#{number}.member").write_text(json.dumps(record))
                    async with join("demo", name=f"c{number}", key=KEY, folder=tmp_path, settings=FAST) as c:
                        await both(a, b, c)
            assert 0 < rogue.count

    run(test())


async def two_found(known: str, key: bytes) -> None:
    """Two members that hear each other, and a place that refuses both."""
    with udp() as one, udp() as other:
        places = [f"127.0.0.1:{each.getsockname()[1]}" for each in (one, other)]

    async def enters(name: str, listen: str) -> None:
        peers = [known, *places]
        async with join("demo", name=name, key=key, peers=peers, listen=listen, settings=FAST) as group:
            await until(lambda: len(group.members) >= 2)
            await group.send(name.encode())
            assert {b"b", b"c"} == {*await messages(group, 2)}

    await asyncio.gather(enters("b", places[0]), enters("c", places[1]))


def named(caplog: pytest.LogCaptureFixture) -> set[str]:
    """The places that records of refusals name."""
    said = [json.loads(record.getMessage()) for record in caplog.records]
    return {each["place"] for each in said if each["operation"] == "refused" and "another key" in each["why"]}


def test_forged_refusals_do_not_keep_two_from_founding_a_group(caplog: pytest.LogCaptureFixture) -> None:
    """A rogue holds a place of the list. Alone, a member cannot know better, and says so; two found."""

    async def test() -> None:
        with Rogue() as rogue:
            known = f"127.0.0.1:{rogue.place[1]}"
            with pytest.raises(BadInputError, match=f"{known} .* another key.* name that place no more"):
                async with join("demo", name="a", key=KEY, peers=[known], settings=FAST):
                    pass
            caplog.clear()
            await two_found(known, KEY)
            assert known in named(caplog)

    with caplog.at_level(logging.WARNING, logger="groupcomm_runtime"):
        run(test())


def test_a_refusal_from_elsewhere_is_nothing() -> None:
    """A stranger sees a greeting, and answers it from a place of his own."""

    async def test() -> None:
        with udp() as listed, udp() as seer:
            known = f"127.0.0.1:{listed.getsockname()[1]}"

            async def sees() -> None:
                while True:
                    data, sender = await asyncio.get_running_loop().sock_recvfrom(listed, 65_536)
                    seer.sendto(Seal(OTHER, "demo").refuse(data) or b"", sender)

            answers = asyncio.create_task(sees())
            async with join("demo", name="a", key=KEY, peers=[known], settings=FAST) as a:
                assert 1 == len(a.members)
            answers.cancel()

    run(test())


@pytest.mark.parametrize("how", ["version", "majority"])
def test_two_of_another_version_or_majority_found_no_second_group(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """They hear each other, and the refusals of the group that stands are certain."""
    if how == "version":
        close, open_, refuse = Seal.close, Seal.open, Seal.refuse

        def other(call: Callable[..., Any]) -> Callable[..., Any]:
            def calls(self: Seal, *rest: object) -> object:
                with monkeypatch.context() as patch:
                    patch.setattr(frames, "VERSION", VERSION + bool(getattr(self, "later", False)))
                    return call(self, *rest)

            return calls

        for name, call in (("close", close), ("open", open_), ("refuse", refuse)):
            monkeypatch.setattr(Seal, name, other(call))

    async def test() -> None:
        async with join("demo", name="a", key=KEY, folder=tmp_path, settings=FAST) as a:
            if how == "version":
                a._seal.later = True  # type: ignore[attr-defined]  # noqa: SLF001 - it speaks another version

            async def enters(name: str) -> str:
                with pytest.raises(BadInputError) as error:
                    async with join(
                        "demo", name=name, key=KEY, folder=tmp_path, settings=FAST, majority=how == "majority"
                    ):
                        pass
                return str(error.value)

            why = (
                f"version {VERSION + 1}, and this is {VERSION}"
                if how == "version"
                else "another majority=, safe=, state=, encrypted= or era=: give"
            )
            for text in await asyncio.gather(enters("b"), enters("c")):
                assert why in text
            await a.send(b"on")

    run(test())


def test_two_groups_of_other_keys_side_by_side_are_named(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Neither can be certain of the other, so both stand; it is not done in silence."""

    async def test() -> None:
        async with join("demo", name="a", key=KEY, folder=tmp_path, settings=FAST) as a:
            known = f"127.0.0.1:{a.place[1]}"
            await two_found(known, OTHER)
            assert known in named(caplog)
            assert 1 == len(a.members)

    with caplog.at_level(logging.WARNING, logger="groupcomm_runtime"):
        run(test())


def test_a_doubt_ends() -> None:
    """The rule, without sockets: certain, heard, ceased, and repeated."""
    forged, certain = (Refusal(VERSION, b"", certain=each) for each in (False, True))
    doubts = Doubts()
    assert doubts.founds(0.0, hears=False) is True
    doubts.refused(HERE, forged, 1.0)
    assert doubts.founds(1.0, hears=False) is None
    assert doubts.founds(1.0, hears=True) is True
    assert doubts.founds(3.1, hears=False) is True, "it was said once"
    for turn in range(2, READINGS):
        doubts.refused(HERE, forged, 4.0)
        assert doubts.founds(4.0, hears=False) is None, turn
        assert doubts.founds(4.0, hears=False) is None, "nothing new came"
    doubts.refused(HERE, forged, 4.0)
    assert doubts.founds(4.0, hears=False) is False
    doubts.refused(HERE, certain, 5.0)
    doubts.refused(HERE, forged, 5.0)
    assert doubts.founds(9.0, hears=True) is False


def test_hostile_messages_of_all_classes_end_no_member() -> None:
    came = asyncio.run(strangers.messages(4_000, 1))
    assert {} == came.findings
    assert strangers.KINDS == came.kinds
    assert 4_000 <= came.sent
    assert 500 < came.counts["steps"]


@pytest.mark.parametrize("name", ["A#" + "9" * 5_000, "x" * 301])
def test_an_address_has_a_length(name: str) -> None:
    greeting = Seal(KEY, "demo").close(Frame(name, HERE, "", 1, ()))
    with pytest.raises(RefusedError, match="a datagram has a sender"):
        Seal(KEY, "demo").open(greeting)
    with pytest.raises(RefusedError, match="an address that is too long"):
        Codec(LAYERS).decode(pack([[*LAYERS].index("file_ping") + 1, 1, [name]]))
    with pytest.raises(RefusedError, match="no places"):
        places_of(pack([(name, *HERE)]))


def test_what_is_remembered_of_others_does_not_grow_with_their_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a bound of 1,024, which is reached. `make strangers` has 100,000 incarnations, and the bound in use."""
    monkeypatch.setattr(member, "MOST_HEARD", 1_024)
    came = asyncio.run(strangers.incarnations(3_000))
    assert {} == came.findings
    assert 3_000 == came.sent
    assert 1_024 < came.tables["known numbers"] < 2_048
    for name in ("places", "unanswered", "fragments", "clocks"):
        assert came.tables[f"known {name}"] < 2_048, name


# Keys


def test_a_key_is_made_once_for_one_user(tmp_path: Path) -> None:
    file = tmp_path / "new" / "key"
    key = key_in(file)
    assert 64 == len(key)
    assert key == key_in(file) != key_in(tmp_path / "other")
    assert (0o600, 0o700) == (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777)
    assert ["key"] == [each.name for each in file.parent.iterdir()]
    for mode in (0o640, 0o604, 0o660):
        file.chmod(mode)
        with pytest.raises(BadInputError, match="is not of this user alone"):
            key_in(file)
    os.mkfifo(tmp_path / "pipe", 0o600)
    with pytest.raises(BadInputError, match="no regular file"):
        key_in(tmp_path / "pipe")
    with pytest.raises(BadInputError, match="/dev/null/key cannot be used"):
        key_in("/dev/null/key")


def test_the_command_makes_a_key(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == main(["key", "new"])
    one = capsys.readouterr().out.strip()
    assert 64 == len(one)
    assert 0 == main(["key", "new", str(tmp_path / "key")])
    assert one != key_in(tmp_path / "key")
    assert 2 == main(["key", "new", str(tmp_path / "key")])
    assert "file exists" in capsys.readouterr().err


def test_a_text_costs_who_guesses_it(tmp_path: Path) -> None:
    """Each text is derived once, and the group's name has a part in it."""

    async def test() -> None:
        text = "correct horse battery staple"
        async with (
            join("demo", name="a", key=text, folder=tmp_path, settings=FAST) as a,
            join("demo", name="b", key=text, folder=tmp_path, settings=FAST) as b,
        ):
            await both(a, b)

    run(test())
    from groupcomm_runtime.keys import derived  # noqa: PLC0415 - for this alone

    assert derived("x" * 16, "one") != derived("x" * 16, "other")
    began = time.process_time()
    derived("y" * 16, "one")
    assert time.process_time() - began > 1e-3, "2^14 rounds take 20 ms and more"


# Files for `accept`


@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_accept_refuses_what_may_never_end(tmp_path: Path, kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "a#1.log"
    if kind == "pipe":
        os.mkfifo(log)
    else:
        log.symlink_to("/dev/zero")
    assert 2 == main(["accept", str(tmp_path), "--steps", "0"])
    assert "not a device or pipe, which may never end" in capsys.readouterr().err


@pytest.mark.parametrize("place", ["first", "event", "long"])
def test_accept_rejects_numbers_that_no_log_has_and_lines_without_an_end(
    tmp_path: Path, place: str, capsys: pytest.CaptureFixture[str]
) -> None:
    async def test() -> None:
        async with join("demo", name="a", key=KEY, folder=tmp_path / "g", log=tmp_path / "logs", settings=FAST):
            pass

    run(test())
    (log,) = (tmp_path / "logs").iterdir()
    lines = [unpack(line) for line in lines_of(log.read_bytes())[0]]
    at, field = {"first": (0, "extra"), "event": (1, "event"), "long": (1, "cause")}[place]
    lines[at][field] = {"first": 2**64 - 1, "event": ["multicast", 2**64 - 1], "long": "x" * (65 << 20)}[place]
    log.write_bytes(b"".join(map(framed, lines)))
    assert main(["accept", str(log), "--steps", "0"]) in (1, 2)
    out, err = capsys.readouterr()
    assert "REJECTED" in out or "expected the first line" in err
    if place == "long":
        assert "at most 67,108,864" in out


# Examples, which are copied


def test_examples_and_documents_have_no_key_and_no_folder_that_others_can_make() -> None:
    root = Path(__file__).parents[2]
    shown = [
        root / "README.md",
        *(root / "docs").glob("*.md"),
        *(root / "examples").glob("*.py"),
        *(root / "runtime").rglob("*.py"),
    ]
    for file in shown:
        if file.name == "security.md":  # it says what not to do
            continue
        text = file.read_text()
        for wrong in ("/" + "tmp", "gettempdir", "key=[\"'][a-z]", "subprocess", "shlex"):
            assert not re.search(wrong, text), f"{file.name}: {wrong}"


def test_the_queue_of_tasks_runs_functions_and_no_command_lines(tmp_path: Path) -> None:
    """Two processes with all defaults: the key is a file of mode 600 in the home of their user."""
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, root / "examples" / "tasks.py", "a"],
        input=f"do divisors 12\ndo touch {tmp_path}/made\n",
        env=os.environ | {"HOME": str(tmp_path), "PYTHONUNBUFFERED": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert 0 == done.returncode, done.stderr
    assert not (tmp_path / "made").exists()
    key = tmp_path / ".groupcomm" / "tasks" / "key"
    assert 0o600 == key.stat().st_mode & 0o777
