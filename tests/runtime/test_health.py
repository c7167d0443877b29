"""What monitors and `groupcomm probe` read of a group that runs; and a group for a program without asyncio."""

import asyncio
import json
import re
from pathlib import Path
from threading import active_count
from typing import Any

import pytest
from typer.testing import CliRunner

from groupcomm_commands.main import app
from groupcomm_runtime import BadInputError, EndedError, Message, join
from groupcomm_runtime.health import serve
from groupcomm_runtime.replicated import Counter, share
from groupcomm_runtime.threads import running
from tests.runtime.conversing import FAST, KEY, run


def joined(folder: Path, name: str, **joins: Any) -> Any:  # noqa: ANN401 - a context manager
    return join("demo", name=name, folder=folder, key=KEY, settings=FAST, **joins)


async def answered(place: tuple[str, int], request: bytes) -> tuple[bytes, str]:
    reader, writer = await asyncio.open_connection(*place)
    writer.write(request)
    head, _, body = (await reader.read()).partition(b"\r\n\r\n")
    writer.close()
    return head.splitlines()[0] if head else b"", body.decode()


def test_a_monitor_gets_numbers_in_the_text_format_of_prometheus(tmp_path: Path) -> None:
    async def test() -> None:
        async with joined(tmp_path, "A") as a, joined(tmp_path, "B"), serve(a) as place:
            await a.send(b"x")
            before = a.counts
            assert before["flush sent"] > 0
            status, text = await answered(place, b"GET /metrics HTTP/1.1\r\nHost: here\r\n\r\n")
            assert b"HTTP/1.1 200 OK" == status
            sample = re.compile(r'([a-z_]+)\{((?:[a-z]+="(?:[^"\\]|\\.)*",?)+)\} ([0-9]+)')
            samples = [sample.fullmatch(line) for line in text.splitlines() if not line.startswith("# TYPE ")]
            assert all(samples)
            found = {(each[1], each[2]): int(each[3]) for each in samples if each}
            of = f'group="demo",member="{a.address}"'
            assert 2 == found["groupcomm_members", of]
            assert 1 == found["groupcomm_leader", of] == found["groupcomm_primary", of]
            for what, count in before.items():
                assert found["groupcomm_total", f'{of},what="{what}"'] >= count, what

    run(test())


@pytest.mark.parametrize("request_", [b"GET /other HTTP/1.1\r\n\r\n", b"POST / HTTP/1.1\r\n\r\n", b"\r\n\r\n"])
def test_what_is_no_question_gets_404_and_harms_nobody(tmp_path: Path, request_: bytes) -> None:
    async def test() -> None:
        async with joined(tmp_path, "A") as a, serve(a) as place:
            assert b"HTTP/1.1 404 Not Found" == (await answered(place, request_))[0]
            assert b"" == (await answered(place, b"x" * 100_000 + b"\r\n\r\n"))[0]
            assert b"HTTP/1.1 200 OK" == (await answered(place, b"GET / HTTP/1.1\r\n\r\n"))[0]

    run(test())


def test_a_member_in_a_minority_says_503_and_what_it_is(tmp_path: Path) -> None:
    async def test() -> None:
        async with joined(tmp_path, "A", majority=True) as a, serve(a) as place:
            await a.send(b"x")
            a._formed = None  # as after a view without a majority  # noqa: SLF001
            status, body = await answered(place, b"GET / HTTP/1.1\r\n\r\n")
            assert b"HTTP/1.1 503 Service Unavailable" == status
            assert a.address == json.loads(body)["address"]

    run(test())


def test_a_place_that_is_taken_or_none_is_refused(tmp_path: Path) -> None:
    async def test() -> None:
        async with joined(tmp_path, "A") as a, serve(a) as (host, port):
            for place, why in {f"{host}:{port}": "cannot be listened at", "9100": "is no place"}.items():
                with pytest.raises(BadInputError, match=why):
                    await serve(a, place).__aenter__()

    run(test())


def probed(*places: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["probe", *places])
    return result.exit_code, result.stdout


def test_probe_shows_members_that_agree_and_names_one_that_is_silent(tmp_path: Path) -> None:
    async def test() -> None:
        async with joined(tmp_path, "A") as a, joined(tmp_path, "B") as b, serve(a) as one, serve(b) as two:
            await asyncio.gather(a.send(b"x"), b.send(b"y"))
            places = [f"{host}:{port}" for host, port in (one, two)]
            code, text = await asyncio.to_thread(probed, *places)
            assert 0 == code, text
            assert "all are in one view, and deliver" in text
            assert a.address in text
            code, text = await asyncio.to_thread(probed, "--json", *places, "127.0.0.1:1")
            assert 1 == code
            said = json.loads(text)
            assert not said["agree"]
            assert "it gives no answer" in said["members"]["127.0.0.1:1"]["error"]
            assert [2, a.address] == said["members"][places[1]]["view"]

    run(test())


def test_a_program_without_asyncio_sends_and_takes_events(tmp_path: Path) -> None:
    threads = active_count()
    with running(joined(tmp_path, "A")) as (group, wait):
        wait(group.send(b"hello"))
        while not isinstance(event := wait(group.__anext__(), 60), Message):
            pass
        assert b"hello" == event.data
        with pytest.raises(TimeoutError):
            wait(group.__anext__(), 0.1)
    assert threads == active_count()
    with running(share("count", Counter(), name="A", folder=tmp_path, key=KEY, settings=FAST)) as (counter, wait):
        assert 5 == wait(counter.add(5))
    assert threads == active_count()


def test_what_ends_a_group_is_raised_in_the_program_without_asyncio(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="folder= or by peers="), running(join("demo", name="A", key=KEY)):
        pytest.fail("it has no folder")
    with running(joined(tmp_path, "A")) as (group, wait), running(joined(tmp_path, "B")) as (_, other):
        with pytest.raises(BadInputError, match="another event loop"):
            other(group.send(b"x"))
        wait(group.leave())
        with pytest.raises(EndedError):
            wait(group.send(b"x"))
