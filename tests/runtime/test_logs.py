"""accept: logs of a group that ran are accepted, and logs that anything was done to are not."""

import asyncio
import json
import subprocess
import sys
from base64 import b64decode
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest
from attrs import evolve
from typer.testing import CliRunner

import groupcomm_runtime
from groupcomm import unicast
from groupcomm_commands.main import app
from groupcomm_conformance.files.errors import FileError
from groupcomm_conformance.models.manifest import find_root
from groupcomm_field.logs.claims import judge
from groupcomm_field.logs.deciding import decide
from groupcomm_field.logs.replaying import Life, replayed
from groupcomm_runtime import Settings
from groupcomm_runtime.codec import pack, unpack
from groupcomm_runtime.layers import LAYERS
from groupcomm_runtime.logs import chained, framed, lines_of
from tests.runtime.conversing import KEY

NAMES = "abc"
TIMES_AT_THE_ENDS = 20
ROOT = find_root()


async def converse(folder: Path) -> None:
    """Three join one after the other, each sends some messages, and they leave."""
    settings = Settings(heartbeat=0.2, patience=2.0)  # most lines of a log are not heartbeats

    async def member(name: str) -> None:
        async with groupcomm_runtime.join(
            "demo", name=name, key=KEY, folder=folder, log=folder / "logs", settings=settings
        ) as group:
            while len(group.members) < len(NAMES):
                await anext(group)
            for number in range(6):
                await group.send(f"{name}{number}".encode())
            got = 0
            while got < 6 * len(NAMES):
                got += isinstance(await anext(group), groupcomm_runtime.Message)
            await asyncio.sleep(0.2)

    await asyncio.gather(*map(member, NAMES))


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, bytes]:
    folder = tmp_path_factory.mktemp("group")
    asyncio.run(asyncio.wait_for(converse(folder), 240))
    return {path: path.read_bytes() for path in sorted((folder / "logs").iterdir())}


@pytest.fixture(scope="module")
def lives(logs: dict[Path, bytes]) -> dict[Path, Life]:
    return {path: replayed(path, text) for path, text in logs.items()}


def test_the_logs_of_a_group_are_accepted(lives: dict[Path, Life]) -> None:
    judged = judge([*lives.values()])
    assert [] == judged.rejected
    assert judged == judge([life.brief() for life in lives.values()])
    assert 3 * 18 == judged.counts["deliveries"]
    assert judged.counts["received, and sent"] > 50
    assert judged.counts["pairs in a view"] > 2
    assert all(life.ends == "left" for life in lives.values())


# Corrupted logs

Lines = list[dict[str, Any]]


def lines_in(text: bytes) -> Lines:
    return [unpack(line) for line in lines_of(text)[0]]


def drop(lines: Lines, at: int, _random: Random) -> None:
    del lines[at]


def twice(lines: Lines, at: int, _random: Random) -> None:
    lines.insert(at, dict(lines[at]))


def exchange(lines: Lines, at: int, _random: Random) -> None:
    at = min(at, len(lines) - 2)
    lines[at], lines[at + 1] = lines[at + 1], lines[at]


def cut(lines: Lines, at: int, _random: Random) -> None:
    del lines[at:]


def alter(lines: Lines, at: int, random: Random) -> None:
    """Another value in one field: of bytes one bit, of a number one more, of a text another letter."""
    line = lines[at]
    name = random.choice(sorted(line))
    if name == "event":
        event = line["event"] = list(line["event"])
        place = random.randrange(len(event))
        if event[0] in {"arrived", "multicast"} and place == len(event) - 1:
            data = bytearray(event[place])
            data[random.randrange(len(data))] ^= 1 << random.randrange(8)
            event[place] = bytes(data)
        else:
            event[place] = altered(event[place], random)
    else:
        line[name] = altered(line[name], random)


def altered(value: Any, random: Random) -> Any:  # noqa: ANN401 - any value of a log
    if isinstance(value, int):
        return value + 1
    if isinstance(value, list):
        return [*value, "Z#1"]
    if isinstance(value, dict):
        chosen = random.choice([name for name, each in sorted(value.items()) if each != {}])
        return value | {chosen: altered(value[chosen], random)}
    at = random.randrange(len(value))
    return value[:at] + ("b" if value[at] == "a" else "a") + value[at + 1 :]


def numbered(lines: Lines) -> None:
    """Make the numbers right again: a forger would."""
    for number, line in enumerate(lines[1:], start=1):
        line["n"] = number if "ends" not in line else number - 1


def accepted(
    logs: dict[Path, bytes],
    lives: dict[Path, Life],
    change: Callable[[Lines, int, Random], None],
    count: int,
    *,
    forged: bool,
) -> list[str]:
    """The changes to logs, of `count` tried, that are accepted all the same."""
    random, found = Random(7), []  # noqa: S311 - dice
    read = {path: lines_in(text) for path, text in logs.items()}
    while count:
        path = random.choice([*logs])
        before = read[path]
        lines: Lines = [dict(line) for line in before]
        # (A random line is the first or the last of some 120 too seldom.)
        at = random.choice((0, len(lines) - 1)) if count <= TIMES_AT_THE_ENDS else random.randrange(len(lines))
        change(lines, at, random)
        if lines == before:  # two equal lines, exchanged
            continue
        count -= 1
        if forged:
            numbered(lines)
        text = b"".join(map(framed, lines))
        try:
            life = replayed(path, text)
        except FileError:  # the first line is not that of a log
            continue
        others = [life for other, life in lives.items() if other != path]
        if life.rejected is None and not judge([life, *others]).rejected:
            at = next(at for at, (line, was) in enumerate(zip(lines, before, strict=True)) if line != was)
            found.append(f"{path.name}:{at + 1}: {before[at]} -> {lines[at]}")
    return found


@pytest.mark.parametrize("change", [drop, twice, exchange, cut, alter])
def test_a_corrupted_log_is_rejected(
    logs: dict[Path, bytes], lives: dict[Path, Life], change: Callable[[Lines, int, Random], None]
) -> None:
    """1,000 of them, on any line, the first and the last one too."""
    assert [] == accepted(logs, lives, change, 200, forged=False)


def test_a_log_with_another_bit_is_rejected(logs: dict[Path, bytes]) -> None:
    """200 of them, in lengths and names of fields too, which the changes above leave as they are."""
    random = Random(7)  # noqa: S311 - dice
    for _ in range(200):
        path = random.choice([*logs])
        data = bytearray(logs[path])
        data[random.randrange(len(data))] ^= 1 << random.randrange(8)
        try:
            life = replayed(path, bytes(data))
        except FileError:
            continue
        assert life.rejected is not None


def test_a_log_is_printed_as_lines_of_json(logs: dict[Path, bytes], tmp_path: Path) -> None:
    path, text = min(logs.items())
    log = tmp_path / path.name
    log.write_bytes(text)
    printed = subprocess.run([sys.executable, "-m", "groupcomm_runtime.logs", log], capture_output=True, check=True)
    lines = [json.loads(line) for line in printed.stdout.splitlines()]
    assert "demo" == lines[0]["group"]
    assert [*range(1, len(lines) - 1)] == [line["n"] for line in lines[1:-1]]
    assert "left" == lines[-1]["ends"]
    said = next(line["event"][1] for line in lines[1:-1] if line["event"][0] == "multicast")
    assert b"0" in b64decode(said)


@pytest.mark.parametrize("change", [drop, twice, exchange])
def test_right_numbers_do_not_make_it_right(
    logs: dict[Path, bytes], lives: dict[Path, Life], change: Callable[[Lines, int, Random], None]
) -> None:
    """Without their digests a third of them were accepted: logs of other runs that may be."""
    assert [] == accepted(logs, lives, change, 60, forged=True)


@pytest.mark.parametrize(
    ("cause", "event", "outcome", "why"),
    [
        ("folder", ("read", ["z#1"], []), "ignored", "records are read unasked"),
        ("discovery", ("join", "z#1", 0), "local_error", "it joins whom FILE_PING has not found"),
        ("application", ("disconnect",), "local_error", ""),
    ],
)
def test_a_member_reads_and_joins_where_file_ping_asks_for_it(
    logs: dict[Path, bytes], cause: str, event: tuple[Any, ...], outcome: str, why: str
) -> None:
    """A step that changes nothing is put before the last line, with its right digest."""
    path, text = min(logs.items())
    *steps, last = lines_in(text)
    number = last["n"] + 1
    chain = chained(steps[-1]["digest"], cause, pack(event), [], b"")
    forged = {"n": number, "cause": cause, "event": event, "outcome": outcome, "effects": 0, "digest": chain}
    lines = [*steps, forged, last | {"n": number}]
    life = replayed(path, b"".join(map(framed, lines)))
    assert why in str(life.rejected) if why else life.rejected is None


def test_a_message_that_nobody_has_sent_is_rejected(lives: dict[Path, Life]) -> None:
    one, *others = lives.values()
    step = next(step for step in one.steps if any(effect[0] == "Datagram" for effect in step.on_paper))
    forged = evolve(one, steps=[*one.steps])
    forged.steps[one.steps.index(step)] = evolve(step, on_paper=())
    assert any("has not sent before" in each.why for each in judge([forged, *others]).rejected)


def test_claims_are_judged_of_deliveries(lives: dict[Path, Life]) -> None:
    """Histories that no correct stack has: order, agreement, integrity."""
    found = Counter[str]()
    all_of_them = [*lives.values()]
    one = all_of_them[0]
    places = [at for at, step in enumerate(one.steps) if any("Deliver" in repr(each) for each in step.ordered)]
    for at, other in pairwise(places):
        forged = evolve(one, steps=[*one.steps])
        forged.steps[at], forged.steps[other] = (
            _with(one.steps[at], one.steps[other]),
            _with(one.steps[other], one.steps[at]),
        )
        rejected = judge([forged, *all_of_them[1:]]).rejected
        assert rejected
        found.update(each.why.partition(" deliver ")[2] for each in rejected)
    assert found["in another order"] > 5


def _with(step: Any, other: Any) -> Any:  # noqa: ANN401 - of a log
    """A step with the deliveries of another."""
    return evolve(step, ordered=other.ordered)


def test_tlc_decides_the_steps_and_notices_a_core_that_differs(
    logs: dict[Path, bytes], lives: dict[Path, Life], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here UNICAST forgets nothing that is acknowledged: what ran is not what the specification says."""
    some = [next(iter(lives.values()))]
    (right,) = decide(ROOT, some, 40, layers=["unicast"])
    assert () == right.differences
    assert right.decided > 20
    assert right.steps == some[0].taken[list(LAYERS).index("unicast")] > right.decided
    (found,) = decide(ROOT, some, 40, layers=["file_ping"])
    assert () == found.differences
    assert found.decided > 5
    monkeypatch.setattr(unicast, "_ack_received", lambda _config, heard, _sender, _message: heard)
    (wrong,) = decide(ROOT, some, 40, layers=["unicast"])
    (different,) = wrong.differences
    assert "AckReceived" == type(different.difference.step.event).__name__
    (text,) = (text for path, text in logs.items() if path.name == different.life.log)
    assert "arrived" == lines_in(text)[different.line - 1]["event"][0]
    assert any("expected" in each and "kept" in each for each in different.shown), different.shown


def run(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["accept", *map(str, arguments), "--steps", "0"])
    return result.exit_code, result.output


def test_the_command_accepts_rejects_and_knows_who_was_killed(logs: dict[Path, bytes], tmp_path: Path) -> None:
    for path, text in logs.items():
        (tmp_path / path.name).write_bytes(text)
    code, output = run(tmp_path)
    assert 0 == code
    assert output.endswith("accepted\n")
    last = tmp_path / min(logs).name
    last.write_bytes(last.read_bytes()[:-9])
    code, output = run(tmp_path)
    assert 1 == code
    assert "the log is cut" in output
    assert output.count(" datagrams\n") >= 4, "the last steps before are shown"
    code, output = run(tmp_path, "--killed", "a")
    assert 0 == code, output


def test_the_folder_of_a_campaign_says_which_incarnations_were_killed(logs: dict[Path, bytes], tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    for path, text in logs.items():
        (tmp_path / "logs" / path.name).write_bytes(text)
    cut, empty = tmp_path / "logs" / min(logs).name, tmp_path / "logs" / "z#1.log"
    cut.write_bytes(cut.read_bytes()[:-9])
    empty.touch()
    outcome = tmp_path / "outcome.json"
    outcome.write_text(json.dumps({"killed": [cut.stem, empty.stem]}))
    code, output = run(tmp_path)
    assert 0 == code, output
    assert empty.name not in output, "it was killed before its first line"
    outcome.write_text(json.dumps({"killed": [empty.stem]}))
    code, output = run(tmp_path)
    assert 1 == code
    assert "the log is cut" in output
    for wrong in ("{", "[]", '{"killed": [1]}'):
        outcome.write_text(wrong)
        result = CliRunner().invoke(app, ["accept", str(tmp_path)])
        assert "outcome.json:1: expected" in str(result.exception)


def test_a_file_that_is_no_log_is_bad_input(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("hello\n")
    result = CliRunner().invoke(app, ["accept", str(tmp_path)])
    assert "a.log:1: expected the first line of a log of groupcomm_runtime" in str(result.exception)
