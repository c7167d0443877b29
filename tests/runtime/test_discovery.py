"""Discovery by a folder: FILE_PING on real files, of which some are broken, foreign, gone, or of the dead."""

import asyncio
import errno
import fcntl
import json
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from attrs import evolve

import groupcomm_runtime
from groupcomm_runtime import BadInputError, Group, NameTakenError
from groupcomm_runtime.discovery import Folder, Peers, folder_of
from groupcomm_runtime.operations import Operations
from tests.runtime.conversing import FAST, KEY, of_demo, run

HERE = ("127.0.0.1", 7801)
WHOLE = json.dumps({"host": "127.0.0.1", "port": 7802})


def records(folder: Path) -> set[str]:
    return {file.stem for file in of_demo(folder).glob("*.member")}


# The files


def test_a_record_is_read_whole_and_removed_by_anybody(tmp_path: Path) -> None:
    a, b = Folder(tmp_path, "demo", "a"), Folder(tmp_path, "demo", "b")
    for each, place in ((a, HERE), (b, ("127.0.0.1", 7802))):
        each.begin(place)
    a.write("a#1")
    b.write("b#2")
    assert {"a#1": HERE, "b#2": ("127.0.0.1", 7802)} == a.read().found == b.read().found
    assert HERE == b.place("a#1")
    b.remove(["a#1", "z#9"])
    assert {"b#2"} == {*a.read().found}
    a.write("a#1")
    assert {"a#1", "b#2"} == {*b.read().found}
    a.end()
    assert {"b#2"} == {*b.read().found}
    b.end()
    assert ["a.lock", "b.lock"] == sorted(each.name for each in of_demo(tmp_path).iterdir())


def not_utf8(file: Path) -> None:
    file.write_bytes(b"\xff\xfe")


def folder_of_that_name(file: Path) -> None:
    file.mkdir()


def link_to_nothing(file: Path) -> None:
    file.symlink_to("nowhere")


def pipe(file: Path) -> None:
    os.mkfifo(file)


@pytest.mark.parametrize(
    "make",
    [
        *(
            lambda file, text=text: file.write_text(text)
            for text in (
                "",
                WHOLE[:-1],
                "[]",
                "7",
                "[" * 900,
                WHOLE.replace("7802", "0"),
                WHOLE.replace("7802", "true"),
                WHOLE.replace("7802", "70000"),
                WHOLE.replace("127.0.0.1", "0.0.0.0"),  # noqa: S104 - no place to send to
                WHOLE.replace("127.0.0.1", "a.name.that.would.be.looked.up"),
                " " * 2_000 + WHOLE,
            )
        ),
        not_utf8,
        folder_of_that_name,
        link_to_nothing,
        pipe,
    ],
)
def test_a_broken_record_takes_nothing_from_the_others(tmp_path: Path, make: Callable[[Path], object]) -> None:
    own = of_demo(tmp_path)
    make(own / "b#1.member")
    (own / "c#1.member").write_text(WHOLE)
    (own / "notes.txt").write_text("no record")
    a = Folder(tmp_path, "demo", "a")
    reading = a.read()
    assert {"c#1": ("127.0.0.1", 7802)} == reading.found
    assert {"b#1"} == reading.broken
    assert 1 == a.bad
    a.end()


def test_a_record_that_is_written_again_is_whole_at_every_time(tmp_path: Path) -> None:
    """WrittenIsRead of Folder: a reader finds the former one or the new one (FLAW-209)."""
    a, b = Folder(tmp_path, "demo", "a"), Folder(tmp_path, "demo", "b")
    a.begin(HERE)
    a.write("a#1")
    replace, seen = Path.replace, []

    def looks(self: Path, target: Path) -> Path:
        seen.append(b.place("a#1"))  # what was written aside has not taken its place yet
        return replace(self, target)

    a.begin(there := ("127.0.0.1", 7_802))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "replace", looks)
        a.write("a#1")
        a.write("a#1")
    assert [HERE] == seen, "what stands is not written again"
    assert there == b.place("a#1")
    a.end()
    b.end()


def test_a_folder_that_is_gone_has_no_records_and_comes_back(tmp_path: Path) -> None:
    folder = tmp_path / "group"
    a = Folder(folder, "demo", "a")
    a.begin(HERE)
    a.write("a#1")
    shutil.rmtree(folder)
    a.write("a#1")
    a.remove(["a#1"])
    assert ({}, frozenset()) == (a.read().found, a.read().broken)
    folder.mkdir()
    a.write("a#1")
    assert {"a#1"} == {*a.read().found}
    a.end()


def test_what_a_killed_process_left_aside_is_no_record_and_does_not_stay(tmp_path: Path) -> None:
    own = of_demo(tmp_path)
    (own / ".a.aside").write_text("{")
    a = Folder(tmp_path, "demo", "a")
    assert ({}, 0) == (a.read().found, a.bad)
    a.begin(HERE)
    a.end()
    assert ["a.lock"] == [each.name for each in own.iterdir()]


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EOPNOTSUPP, errno.EIO])
def test_a_folder_without_locks_is_no_name_that_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """As NFS without its daemon says it. No file is left open, and the name can be taken when there are locks."""

    def has_none(_file: int, _operation: int) -> None:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        patch.setattr(fcntl, "flock", has_none)
        before = len([*Path("/dev/fd").iterdir()])
        with pytest.raises(BadInputError, match="has no locks: ") as raised:
            Folder(tmp_path, "demo", "a")
        assert not isinstance(raised.value, NameTakenError)
        assert before == len([*Path("/dev/fd").iterdir()])
    Folder(tmp_path, "demo", "a").end()


def test_a_list_has_no_records_and_greets() -> None:
    peers = Peers(["127.0.0.1:7801", "127.0.0.1:7802"], Operations("demo", "a"))
    assert ({}, None) == (peers.read().found, peers.place("a#1"))
    assert (HERE, ("127.0.0.1", 7802)) == peers.greets


def test_the_folders_of_two_groups_are_never_the_same() -> None:
    names = ["demo", "Demo", "de/mo", "de%2Fmo", ".", "..", "", "demo.group", "dé mo", "de\nmo"]
    folders = [folder_of(each) for each in names]
    assert len(names) == len({*folders})
    assert "demo.group" == folders[0]
    assert all("/" not in each and each not in {".", ".."} for each in folders)
    with pytest.raises(BadInputError, match="take a shorter one"):
        folder_of("é" * 100)


# Groups


async def until(holds: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + 40
    while not holds():
        assert time.monotonic() < end, f"it never came that {what}"
        await asyncio.sleep(0.02)


def one_view(*groups: Group) -> Callable[[], bool]:
    return lambda: {frozenset(each.members) for each in groups} == {frozenset(g.address for g in groups)}


def test_records_of_the_dead_and_of_strangers_go_and_those_of_members_come_back(tmp_path: Path) -> None:
    """FPG-09, on real files: a former incarnation of a, a member that never was, and an empty place."""

    async def test() -> None:
        own = of_demo(tmp_path)
        for name in ("a#1", "x#1", "foreign"):
            (own / f"{name}.member").write_text(WHOLE)
        (own / "b#1.member").write_text("{")
        join = groupcomm_runtime.join
        async with (
            join("demo", name="a", key=KEY, folder=tmp_path, settings=FAST) as a,
            join("demo", name="b", key=KEY, folder=tmp_path, settings=FAST) as b,
        ):
            await until(one_view(a, b), "both are in one view")
            those = {a.address, b.address}
            await until(lambda: records(tmp_path) == {*those, "b#1"}, "the silent ones are removed")
            for each in those:
                (own / f"{each}.member").unlink()
            await until(lambda: records(tmp_path) == {*those, "b#1"}, "living members write theirs again")
            assert 0 < a.counts["bad files"] + b.counts["bad files"]
        assert {"b#1"} == records(tmp_path)

    run(test())


def test_two_groups_in_one_folder_leave_each_other_alone(tmp_path: Path) -> None:
    """The members of one do not answer the other: each group removed the records of the other, with one lock a name."""

    async def test() -> None:
        join = groupcomm_runtime.join
        async with (
            join("demo", name="a", key=KEY, folder=tmp_path, settings=FAST) as a,
            join("other", name="a", key=KEY, folder=tmp_path, settings=FAST) as other,
        ):
            paths = [
                tmp_path / f"{group}.group" / f"{each.address}.member"
                for group, each in (("demo", a), ("other", other))
            ]
            end = time.monotonic() + 3 * FAST.patience  # each coordinator looks once in half a patience
            while time.monotonic() < end:
                assert [True, True] == [each.exists() for each in paths]
                await asyncio.sleep(0.01)
            assert 0 == a.counts["bad files"] + other.counts["bad files"]
            async with join("demo", name="b", key=KEY, folder=tmp_path, settings=FAST) as b:
                await until(one_view(a, b), "b is with a")
                assert (other.address,) == other.members

    run(test())


def test_who_joins_by_a_folder_that_was_emptied_founds_no_group(tmp_path: Path) -> None:
    """Members write their records again within a heartbeat, and who finds none looks a second time.

    FILE_PING writes them, too, some heartbeats later: here 15 at least, and the second look comes after three.
    """
    settings = evolve(FAST, patience=3.0)

    async def test() -> None:
        join = groupcomm_runtime.join
        async with (
            join("demo", name="a", key=KEY, folder=tmp_path, settings=settings) as a,
            join("demo", name="b", key=KEY, folder=tmp_path, settings=settings) as b,
        ):
            await until(one_view(a, b), "both are in one view")
            for turn in range(4):
                shutil.rmtree(of_demo(tmp_path))
                async with join("demo", name=f"c{turn}", key=KEY, folder=tmp_path, settings=settings) as c:
                    assert {a.address, b.address, c.address} == {*c.members}
                await until(one_view(a, b), "it has left")

    run(test())


def test_a_group_goes_on_without_its_folder_and_is_found_when_it_is_back(tmp_path: Path) -> None:
    async def test() -> None:
        folder = tmp_path / "group"
        join = groupcomm_runtime.join
        async with (
            join("demo", name="a", key=KEY, folder=folder, settings=FAST) as a,
            join("demo", name="b", key=KEY, folder=folder, settings=FAST) as b,
        ):
            await until(one_view(a, b), "both are in one view")
            folder.rename(tmp_path / "elsewhere")
            await asyncio.sleep(2 * FAST.patience)
            await a.send(b"on")
            assert one_view(a, b)()
            folder.mkdir()
            async with join("demo", name="c", key=KEY, folder=folder, settings=FAST) as c:
                await until(one_view(a, b, c), "c has found the others")

    run(test())


def test_groups_that_are_founded_apart_merge_as_soon_as_one_finds_the_other(tmp_path: Path) -> None:
    """Two folders become one: the second is renamed away, and its member's record is put into the first."""

    async def test() -> None:
        one, other = tmp_path / "one", tmp_path / "other"
        join = groupcomm_runtime.join
        async with (
            join("demo", name="a", key=KEY, folder=one, settings=FAST) as a,
            join("demo", name="b", key=KEY, folder=other, settings=FAST) as b,
        ):
            await asyncio.sleep(FAST.patience)
            assert (1, 1) == (len(a.members), len(b.members))
            shutil.copy(of_demo(other) / f"{b.address}.member", of_demo(one))
            await until(one_view(a, b), "they have merged")

    run(test())
