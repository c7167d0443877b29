"""torture: real processes under faults, and no process that outlives its campaign."""

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from attrs import evolve
from typer.testing import CliRunner

from groupcomm.effects import PassUp
from groupcomm.events import ViewInstalled
from groupcomm_commands import torture
from groupcomm_commands.main import app
from groupcomm_conformance.models.manifest import find_root
from groupcomm_field.logs.claims import judge
from groupcomm_field.logs.deciding import decide
from groupcomm_field.logs.replaying import replayed
from groupcomm_field.torture.network import LossySocket, Rules
from groupcomm_field.torture.outcome import Outcome, logs_and_killed
from groupcomm_field.torture.plan import KINDS, OF_STATES, OF_TCP, Fault, Round, drawn
from groupcomm_field.torture.running import Campaign, _Running, names_of, tortured
from tests.runtime.broken_glue import BROKEN, noticed
from tests.runtime.put_back import PUT_BACK

TORTURE = [sys.executable, "-c", "from groupcomm_commands.main import main; exit(main())", "torture"]
PATIENCE = 60.0  # seconds, of a busy machine
SEED, KILL_ALL, CLOCK, CUT_OFF = (263, 3), (5, 1), (2, 1), (44, 1)
"""Seeds, and numbers of faults: the first has `kill` and `one way`, the others have the fault of their names."""


def until(holds: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, f"it never came that {what}"
        time.sleep(0.05)


# The plan


def test_a_plan_is_a_function_of_its_seed_and_has_every_kind_before_one_comes_again() -> None:
    names = "abcde"
    for seed in range(50):
        plan = drawn(seed, names, 46, 1.0)
        assert plan == drawn(seed, names, 46, 1.0)
        kinds = [fault.kind for round_ in plan for fault in round_.faults]
        assert 46 == len(kinds)
        assert {*KINDS} == {*kinds[: len(KINDS)]} == {*kinds[len(KINDS) : 2 * len(KINDS)]}
    assert drawn(1, names, 40, 1.0) != drawn(2, names, 40, 1.0)


def test_with_a_state_one_incarnation_at_most_ends_in_a_round() -> None:
    ends = {"kill", "kill two", "kill all", "restart", "clock", "leave", "crowd leaves", "all leave", "full disk"}
    for seed in range(50):
        plan = drawn(seed, "abcde", 40, 1.0, state=True)
        assert 40 == sum(len(round_.faults) for round_ in plan)
        ended = [[fault.kind for fault in round_.faults if fault.kind in ends] for round_ in plan]
        assert {0, 1} == {*map(len, ended)}
        assert all(1 == len(each.faults) for each in plan if {fault.kind for fault in each.faults} & {*OF_STATES})
        assert {"kill", "restart", "clock", "leave", "full disk"} == {kind for each in ended for kind in each}


def test_a_fault_hits_members_that_run() -> None:
    for seed in range(200):
        for round_ in drawn(seed, "abc", 30, 1.0):
            gone: set[str] = set()
            for fault in round_.faults:
                assert not gone & {*fault.members}
                if fault.kind in {"kill", "kill two", "leave", "crowd leaves", "all leave", "full disk", "stop"}:
                    gone |= {*fault.members}


# The network


def test_a_socket_loses_and_repeats_what_its_rules_say() -> None:
    with LossySocket() as one, LossySocket() as other:
        for each in (one, other):
            each.bind(("127.0.0.1", 0))
            each.settimeout(5)
        there = other.getsockname()

        def arrives(rules: Rules, data: bytes, deaf: Rules | None = None) -> list[bytes]:
            """The datagrams that arrive, up to the next that goes through."""
            one.rules, other.rules = rules, deaf or Rules()
            one.sendto(data, there)
            one.rules = Rules()
            if deaf is None:
                one.sendto(b"end", there)
                return [*iter(lambda: other.recvfrom(100)[0], b"end")]
            other.settimeout(0)
            with pytest.raises(BlockingIOError):
                other.recvfrom(100)
            other.settimeout(5)
            return []

        assert [b"a"] == arrives(Rules(), b"a")
        assert [] == arrives(Rules(loss=1), b"b")
        assert [] == arrives(Rules(mute=frozenset({there})), b"c")
        assert [b"d", b"d"] == arrives(Rules(twice=1), b"d")
        assert [b"e", b"e"] == arrives(Rules(again=1), b"e")
        assert [] == arrives(Rules(), b"f", deaf=Rules(deaf=frozenset({one.getsockname()})))


# A campaign


def test_all_kinds_of_faults_and_the_logs_of_all_lives_are_accepted(tmp_path: Path) -> None:
    """Some 40 seconds. Each kind of fault comes at least once."""
    out = tmp_path / "out"
    run = subprocess.run(
        [*TORTURE, "--members", "4", "--faults", "22", "--seed", "7", "--out", str(out), "--json"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert 0 == run.returncode, f"{run.stdout}{run.stderr}{(out / 'faults.log').read_text()[-3000:]}"
    record = json.loads(run.stdout)
    assert [] == record["found"]
    assert {*KINDS} == {*record["faults"]}
    assert 22 == sum(record["faults"].values())
    assert record["judged"]["deliveries"] > 300
    assert record["judged"]["sent by survivors"] > 30
    assert record["judged"]["views"] > 20
    assert record == json.loads((out / "outcome.json").read_text())
    assert record["killed"]
    again = CliRunner().invoke(app, ["accept", str(out), "--steps", "0"])
    assert 0 == again.exit_code, again.output
    lost_is_noticed(out, record)
    tlc_decides(out, record)


@pytest.mark.nightly
def test_with_a_majority_all_end_with_one_state_that_has_what_was_safe(tmp_path: Path) -> None:
    """The coordinator is cut off, then it is killed, and another."""
    out = tmp_path / "out"
    run = subprocess.run(
        [*TORTURE, "--members=3", "--faults=4", "--seed=276943", "--majority", "--state", "--out", str(out), "--json"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert 0 == run.returncode, f"{run.stdout}{run.stderr}{(out / 'faults.log').read_text()[-3000:]}"
    record = json.loads(run.stdout)
    assert {"partition": 1, "loss": 1, "clock": 1, "restart": 1} == record["faults"]
    assert 3 == record["judged"]["states"]
    assert 50 < record["judged"]["safe, and in the state"]
    assert 50 < record["judged"]["safe"], "of which accept judges what SAFE has told"


@pytest.mark.nightly
def test_a_state_is_declared_where_nobody_has_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each member begins again before it has got the state of the one that goes next. Some 45 seconds."""

    async def all_begin_again(self: Any, _: Fault) -> None:  # noqa: ANN401 - of a campaign that runs
        for name in ("c", "b", "a"):
            for one in self._processes.values():
                one.tell(get=30)
            await self._kill(name)
            await self._start(name)
            await asyncio.sleep(4)

    monkeypatch.setattr(
        "groupcomm_field.torture.running.drawn", lambda *_, **__: [Round((Fault("kill all", ("a", "b", "c"), 0, 0),))]
    )
    monkeypatch.setattr("groupcomm_field.torture.running._Running._do", all_begin_again)
    outcome = tortured(Campaign(3, 1, 1, majority=True, state=True), tmp_path, lambda _: None)
    assert [] == outcome.found
    assert (1, 3) == (outcome.judged["states declared"], outcome.judged["states"])
    assert outcome.judged["safe, and in the state"] > outcome.judged["safe, and lost by a declaration"] > 0


@pytest.mark.parametrize("comes", [True, False])
def test_no_state_is_declared_while_one_comes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, comes: bool) -> None:
    """On a busy machine a transfer takes long; the operator waits for it, and not for one that does not go on."""
    looks, seconds = count(), count()
    running = _Running(Campaign(2, 1, 1, state=True), tmp_path, lambda _: None)
    monkeypatch.setattr("groupcomm_field.torture.running.time", SimpleNamespace(monotonic=lambda: next(seconds)))
    monkeypatch.setattr("groupcomm_field.torture.running._LOOKS", 0)

    async def answers() -> list[dict[str, Any]]:
        look = next(looks)
        one = {"view": [1, "a"], "primary": True, "members": ["a", "b"], "messages": 0}
        tables = {"flushes": 0, "bytes of a coming state": look if comes else 0}
        return [{**one, "address": each, "has": each == "a" or look >= 12, "tables": tables} for each in ("a", "b")]

    declared: list[Any] = []
    monkeypatch.setattr(running, "_answers", answers)
    monkeypatch.setattr(running, "_declares", declared.append)
    asyncio.run(running._settles())  # noqa: SLF001
    running.kill_all()
    assert comes == (not declared)


@pytest.mark.nightly
def test_over_tcp_with_states_whose_providers_die_stop_and_are_slow(tmp_path: Path) -> None:
    """Each kind that needs TCP or a state is there, among the others."""
    out = tmp_path / "out"
    asked = ["--members=4", "--faults=6", "--seed=2776", "--tcp", "--majority", "--state", "--large=300000"]
    run = subprocess.run([*TORTURE, *asked, "--out", str(out), "--json"], capture_output=True, text=True, check=False)
    assert 0 == run.returncode, f"{run.stdout}{run.stderr}{(out / 'faults.log').read_text()[-3000:]}"
    record = json.loads(run.stdout)
    assert {*OF_STATES, *OF_TCP} <= {*record["faults"]}
    assert 4 == record["judged"]["states"]
    assert 50 < record["judged"]["safe, and in the state"]


def test_a_partition_of_namespaces_is_cut_by_the_kernel_and_heals(tmp_path: Path) -> None:
    """Where a namespace may be made; where not, the command says so."""
    out = tmp_path / "out"
    names = names_of(3)
    seed = next(each for each in count() if parts(*drawn(each, names, 1, 1.0)[0].faults))
    run = subprocess.run(
        [*TORTURE, "--members=3", "--faults=1", f"--seed={seed}", "--out", str(out), "--namespaces", "--json"],
        capture_output=True,
        text=True,
        check=False,
    )
    if subprocess.run(["unshare", "--net", "true"], capture_output=True, check=False).returncode:
        assert "--namespaces: " in run.stderr
        assert 0 != run.returncode
        return
    assert 0 == run.returncode, f"{run.stdout}{run.stderr}{(out / 'faults.log').read_text()[-3000:]}"
    record = json.loads(run.stdout)
    assert {"partition": 1} == record["faults"]
    assert 0 < record["counts"]["application merged"]
    assert 0 < record["counts"]["suspected: silent"]


def parts(fault: Fault) -> bool:
    """Whether a fault is a partition in which both parts have views of their own: so a merge follows."""
    return fault.kind == "partition" and fault.seconds >= 3


def tlc_decides(out: Path, record: dict[str, Any]) -> None:
    """A log in which members come again: the specification compares their numbers, which are large."""
    lives = [
        replayed(path, path.read_bytes(), killed=path.stem in record["killed"])
        for path in sorted((out / "logs").glob("*.log"))
    ]
    life = max(filter(comes_again, lives), key=lambda each: len(each.steps))
    for layer in decide(find_root(), [life], 10_000, layers=["sequencer"]):
        assert () == layer.differences
        assert layer.decided == layer.steps > 50


def comes_again(life: Any) -> bool:  # noqa: ANN401 - a replayed log
    """Whether views of a log list two incarnations of one name."""
    addresses = {each for step in life.steps for each in views_in(step.effects)}
    return len(addresses) > len({each.partition("#")[0] for each in addresses})


def views_in(effects: tuple[object, ...]) -> list[str]:
    """The members of all views that a stack passes up."""
    return [
        member
        for effect in effects
        if isinstance(effect, PassUp) and isinstance(effect.event, ViewInstalled)
        for member in effect.event.view.members
    ]


def lost_is_noticed(out: Path, record: dict[str, Any]) -> None:
    """The same logs, but for one delivery of a survivor: it is not lost without a word."""
    lives = [
        replayed(path, path.read_bytes(), killed=path.stem in record["killed"], most=0)
        for path in sorted((out / "logs").glob("*.log"))
    ]
    survivors = record["survivors"]
    assert [] == judge(lives, survivors).rejected
    one = next(life for life in lives if life.member == survivors[0])

    def without(delivery: str, at: int) -> list[str]:
        """Why the logs are rejected where the step with that delivery had no effect."""
        steps = [place for place, step in enumerate(one.steps) if delivery in repr(step.ordered)]
        forged = evolve(one, steps=[*one.steps])
        forged.steps[steps[at]] = evolve(one.steps[steps[at]], ordered=())
        others = [life for life in lives if life is not one]
        return [each.why for each in judge([forged, *others], survivors).rejected]

    assert any("have delivered other messages" in why for why in without("Deliver(", -1))
    assert any("1 messages that it sent are lost" in why for why in without(f"Deliver(sender='{one.member}'", 0))
    assert any("has no log" in each.why for each in judge(lives, [*survivors, "z#1"]).rejected)


# Processes that are left


def runs(pid: int) -> bool:
    """Return True if a process runs or is stopped, False of a zombie."""
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return state.stdout.strip()[:1] not in {"", "Z"}


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -signal.SIGKILL)]
)
def test_no_process_is_left_when_a_campaign_is_ended(tmp_path: Path, number: signal.Signals, code: int) -> None:
    out = tmp_path / "out"
    signal.signal(signal.SIGINT, signal.default_int_handler)  # it is ignored where a shell began this beside it
    with subprocess.Popen(
        [*TORTURE, "--members", "3", "--faults", "500", "--out", str(out)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as campaign:
        try:
            log = out / "faults.log"
            until(lambda: log.exists() and "all are in one view" in log.read_text(), "a group is there")
            pids = [int(line.split()[-1]) for line in log.read_text().splitlines() if "begins" in line]
            assert 3 <= len(pids)
            assert any(map(runs, pids))
            os.kill(pids[0], signal.SIGSTOP)  # a stopped process must end, too
            os.kill(campaign.pid, number)
            assert code == campaign.wait(PATIENCE)
        finally:
            campaign.kill()
    pids = [int(line.split()[-1]) for line in log.read_text().splitlines() if "begins" in line]
    until(lambda: not any(map(runs, pids)), "no member is left")


def test_the_command_that_judges_again_is_short(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A campaign kills hundreds of incarnations; the file in its folder names them."""
    killed = [f"a#{life}" for life in range(300)]
    monkeypatch.setattr(torture, "tortured", lambda campaign, *_: Outcome(campaign, killed=killed, found=["it"]))
    result = CliRunner().invoke(app, ["torture", "--out", str(tmp_path / "out")])
    assert f"again: groupcomm accept {tmp_path / 'out'}\n" in result.output
    assert ([], frozenset(killed)) == logs_and_killed(tmp_path / "out")


def test_bad_input_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for arguments, text in (
        (["--members", "2"], "a whole number from 3 to 26, not 2"),
        (["--faults", "0"], "a whole number from 1 to 1000000, not 0"),
        (["--out", str(tmp_path)], "no empty folder"),
        (["--out", str(tmp_path / "file")], "no empty folder"),
    ):
        result = CliRunner().invoke(app, ["torture", *arguments])
        assert text in result.output + str(result.exception)
        assert 0 != result.exit_code


@pytest.mark.parametrize(
    ("name", "plan", "limit", "text"),
    [
        ("BLOCK is not answered", SEED, 8, "not so that all are in one view"),
        ("NAKACK's highest seqno is not sent", SEED, 8, "and all tables are empty"),
        ("one address serves all incarnations", SEED, 60, "has ended with 1"),
        ("events of the application change places", SEED, 60, "of the application is"),
        ("records are forgotten", KILL_ALL, 60, "of which neither comes before the other"),
        ("numbers follow the clock alone", CLOCK, 8, "is in no view"),
        ("a message is acknowledged before it is safe", CUT_OFF, 60, "messages were safe, and are not in the state"),
    ],
)
def test_broken_glue_is_noticed(tmp_path: Path, name: str, plan: tuple[int, int], limit: float, text: str) -> None:
    """Seven of the pieces of `broken_glue.py`, of which docs/runtime.md has the table.

    A seed says what happens, and not to the millisecond when: whether a message is on its way as its sender is
    killed differs from run to run. So a plan has five tries.
    """
    seed, faults = plan
    found: list[list[str]] = []
    for number in range(5):
        (folder := tmp_path / f"{number}").mkdir()
        found.append(noticed(name, folder, faults, limit=limit, seed=seed))
        if any(text in each for each in found[-1]):
            return
    pytest.fail(f"{text!r} is in none of {found}")


def test_the_table_of_broken_glue_has_all_pieces() -> None:
    page = (Path(__file__).parents[2] / "docs/runtime.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (.*?) \| (?:noticed|not noticed): ", page, re.MULTILINE)
    assert [*BROKEN] == rows


def test_the_table_of_faults_put_back_has_all_of_them() -> None:
    page = (Path(__file__).parents[2] / "docs/runtime.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([^|]*?) \| `(test_\w+\.py)`: `(\w+)` \|$", page, re.MULTILINE)
    faults = {each: [*PUT_BACK[each][0].split("::")] for each in PUT_BACK}
    assert [(each, f"test_{file}", test.removeprefix("test_")) for each, (file, test) in faults.items()] == rows
