"""A campaign: processes are started, faults are done to them, and the group is judged."""

import asyncio
import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from attrs import asdict, evolve

from groupcomm.view import name_and_life
from groupcomm_runtime.discovery import Place, folder_of

from .garbage import flood, idle, random_bytes
from .judging import judge_logs, sent
from .member import DISK_FULL, GROUP, LOOPBACK
from .namespaces import Namespaces
from .network import CALM
from .outcome import OUTCOME, Campaign, Outcome
from .plan import NETWORK, OF_STATES, Fault, Round, drawn
from .process import Process

if TYPE_CHECKING:
    import socket

__all__ = ["Campaign", "Outcome", "names_of", "tortured"]

_LOOKS: Final = 0.1  # seconds between two looks
_ROOM: Final = 20_000  # bytes of a log, before the disk is full
_SILENCES: Final = 6  # chance decides whether the last message of one is among the lost
_SLOW: Final = 3_600  # seconds that a clock is set back
_LOSSY: Final = evolve(CALM, loss=0.5)
_LACKS: Final = 5.0  # times the patience: some wait for the state, and nothing comes; then one is declared
_COMING: Final = "bytes of a coming state"
_ENDS: Final = 20.0  # seconds that a process may take to leave, times the patience


def names_of(members: int) -> list[str]:
    """The names of so many members."""
    return [chr(ord("a") + each) for each in range(members)]


def tortured(campaign: Campaign, folder: Path, progress: Callable[[str], None]) -> Outcome:
    """Run a campaign in an empty folder, and judge it. No process of it is left, however this ends."""
    running = _Running(campaign, folder, progress)
    began = time.monotonic()
    try:
        with asyncio.Runner() as runner:
            runner.run(running.runs())
    finally:
        running.kill_all()
    outcome = running.outcome
    # For `accept`, where this process ends while it judges.
    (folder / OUTCOME).write_text(json.dumps({"killed": outcome.killed}), encoding="utf-8")
    judge_logs(outcome, folder / "logs", progress)
    outcome.seconds = time.monotonic() - began
    return outcome


class _NotSoError(Exception):
    """A goal that the group has not reached."""


class _Running:
    """The group, and what is done to it."""

    def __init__(self, campaign: Campaign, folder: Path, progress: Callable[[str], None]) -> None:
        self.outcome = Outcome(campaign)
        self._campaign, self._folder, self._progress = campaign, folder, progress
        self._names = names_of(campaign.members)
        self._dice = random.Random(campaign.seed)  # noqa: S311 - dice
        self._processes: dict[str, Process] = {}
        self._rules = CALM
        self._cut: dict[str, frozenset[str]] = {}  # receiver: the senders that it does not hear
        self._one_way: dict[str, frozenset[str]] = {}
        self._stopped: set[str] = set()
        self._idle: list[socket.socket] = []
        self._namespaces = Namespaces() if campaign.namespaces else None
        self._began = time.monotonic()
        for name in ("taken", "sent", "states"):
            (folder / name).mkdir()
        self._notes = (folder / "faults.log").open("w", encoding="utf-8")

    def kill_all(self) -> None:
        """End all processes, whatever they do."""
        for each in self._processes.values():
            each.kill()
        self._no_idle()
        self._notes.close()

    async def runs(self) -> None:
        """Do all of it."""
        campaign = self._campaign
        options = {"state": campaign.state, "tcp": campaign.tcp}
        plan = drawn(campaign.seed, self._names, campaign.faults, campaign.patience, **options)
        done = 0
        try:
            await asyncio.gather(*map(self._start, self._names))
            await self._settles()
            for round_ in plan:
                self.outcome.rounds += 1
                self._progress(f"{done} of {campaign.faults} faults")
                await self._round(round_)
                done += len(round_.faults)
            self._progress("the end: no member sends")
            await self._ends()
        except _NotSoError as error:
            self._note(f"NOT SO: {error}")
            self.outcome.found.append(str(error))
        finally:
            await self._gone(self._processes)

    def _note(self, text: str) -> None:
        print(f"{time.monotonic() - self._began:9.3f} {text}", file=self._notes, flush=True)

    # Processes

    async def _start(self, name: str, slow: int = 0) -> None:
        """Begin a process. Its clock is slow by so many seconds."""
        campaign = self._campaign
        errors = (self._folder / f"{name}.err").open("ab")
        numbers = map(str, (campaign.rate, campaign.heartbeat, campaign.patience, slow, campaign.large))
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *campaign.program,
            str(os.getpid()),
            name,
            str(self._folder),
            self._namespaces.host(name) if self._namespaces else LOOPBACK,
            ",".join(each for each in ("majority", "state", "tcp") if getattr(campaign, each)),
            *numbers,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=errors,
            start_new_session=True,  # the campaign alone takes the interrupt of a terminal
        )
        one = self._processes[name] = Process(name, process, errors)
        self._note(f"{name} begins as process {process.pid}")
        if self._namespaces:
            await one.alone.wait()
            try:
                await self._namespaces.connect(name, process.pid)
            except OSError as error:  # if its process has ended, that has an error of its own
                self._note(str(error))
        self._apply()  # before its first datagram
        try:
            await asyncio.wait_for(one.located.wait(), self._campaign.limit)
        except TimeoutError:
            raise _NotSoError(f"{name} has no socket after {self._campaign.limit:g} s") from None
        self._apply()

    async def _kill(self, name: str) -> None:
        one = self._processes.pop(name, None)
        if one is None:
            return
        one.kill()
        await one.process.wait()
        self._stopped.discard(name)
        self._note(f"{name} is killed")
        self._spare(name)

    def _spare(self, name: str) -> None:
        """Note that the latest log of a name may end anywhere."""
        latest = self._latest(name)
        if latest is not None:
            self.outcome.killed.append(latest.stem)

    def _latest(self, name: str) -> Path | None:
        """The log of the latest incarnation of a name."""
        logs = (self._folder / "logs").glob(f"{name}#*.log")
        return max(logs, key=lambda each: name_and_life(each.stem)[1], default=None)

    async def _gone(self, names: Iterable[str]) -> None:
        for name in [*names]:
            await self._kill(name)

    def _signal(self, name: str, number: signal.Signals) -> None:
        one = self._processes.get(name)
        if one is not None and not one.ended:
            one.process.send_signal(number)
            self._note(f"{name} gets {number.name}")
            (self._stopped.add if number == signal.SIGSTOP else self._stopped.discard)(name)

    async def _leaves(self, names: Iterable[str]) -> None:
        """Have members leave, and end without an error."""
        those = [self._processes[name] for name in names if name in self._processes]
        for one in those:
            self._note(f"{one.name} leaves")
            one.tell(leave=True)
        for one in those:
            await self._ended(one, 0)

    async def _ended(self, one: Process, expected: int) -> None:
        limit = _ENDS * self._campaign.patience + self._campaign.limit
        try:
            code = await asyncio.wait_for(one.process.wait(), limit)
        except TimeoutError:
            raise _NotSoError(f"{one.name} does not end, {limit:g} s after the command") from None
        if code != expected:
            raise _NotSoError(f"{one.name} ends with {code}, not {expected}: see {one.name}.err")
        one.kill()
        self._processes.pop(one.name, None)

    # The network

    def _apply(self) -> None:
        """Send each process its rules."""
        for name, one in self._processes.items():
            deaf = self._places(self._cut.get(name, frozenset()))
            mute = deaf | self._places(self._one_way.get(name, frozenset()))
            one.tell(network={**asdict(self._rules), "mute": sorted(mute), "deaf": sorted(deaf)})

    def _places(self, names: Iterable[str]) -> frozenset[Place]:
        return frozenset(self._processes[each].place for each in names if each in self._processes)

    async def _parts(self, side: Collection[str]) -> None:
        """Cut the network between these members and the others; with none, heal it."""
        if self._namespaces:
            await self._namespaces.cut(side)
        else:
            rest = set(self._names) - set(side)
            cut = {name: frozenset(rest if name in side else side) for name in self._names}
            self._cut = cut if side else {}
            self._apply()

    # Faults

    async def _round(self, round_: Round) -> None:
        for fault in round_.faults:
            self._note(f"FAULT {fault}")
            self.outcome.faults[fault.kind] += 1
            await self._do(fault)
            await asyncio.sleep(fault.pause)
        for name in sorted(self._stopped):
            self._signal(name, signal.SIGCONT)
        self._rules = CALM
        self._one_way.clear()
        self._no_idle()
        for one in self._processes.values():
            one.tell(get=0)
        self._apply()
        await self._parts(())
        await asyncio.gather(*(self._start(name) for name in self._names if name not in self._processes))
        await self._settles()

    async def _do(self, fault: Fault) -> None:
        match fault.kind:
            case "kill" | "kill two" | "kill all":
                for name in fault.members:
                    await self._kill(name)
                    await asyncio.sleep(fault.seconds)
            case "restart":
                for name in fault.members:
                    for delay in (0, fault.seconds / 4, fault.seconds / 2):  # the last two while it joins
                        await asyncio.sleep(delay)
                        await self._kill(name)
                        await self._start(name)
            case "clock":
                for name in fault.members:
                    await self._kill(name)
                    await self._start(name, _SLOW)
            case "pause":
                for name in fault.members:
                    self._signal(name, signal.SIGSTOP)
                    await asyncio.sleep(fault.seconds)
                    self._signal(name, signal.SIGCONT)
            case "stop":
                for name in fault.members:
                    self._signal(name, signal.SIGSTOP)
                    await asyncio.sleep(fault.seconds)
            case "suspend" | "slow reader":
                command = "rest" if fault.kind == "slow reader" else "suspend"
                for name in fault.members:
                    self._processes[name].tell(**{command: fault.seconds})
                await asyncio.sleep(fault.seconds)
            case kind if kind in OF_STATES:
                await self._provides(fault)
            case "idle":
                for name in fault.members:
                    self._idle += idle(self._processes[name].place)
                await asyncio.sleep(fault.seconds)
            case "partition":
                await self._parts(fault.members)
                await asyncio.sleep(fault.seconds)
            case "one way":
                sender, *others = fault.members
                self._one_way = {sender: frozenset(others)}
                self._apply()
                await asyncio.sleep(fault.seconds)
            case kind if kind in NETWORK:
                self._rules = evolve(self._rules, **NETWORK[kind])
                self._apply()
                await asyncio.sleep(fault.seconds)
            case "garbage" | "strangers":
                for name in fault.members:
                    self._flood(self._processes[name], strangers=fault.kind == "strangers")
            case "files":
                self._files(fault.members[0])
                await asyncio.sleep(fault.seconds)
            case "leave" | "crowd leaves" | "all leave":
                await self._leaves(fault.members)
            case "full disk":
                await self._full(fault.members[0])
            case other:
                raise AssertionError(f"no such fault: {other}")

    def _flood(self, one: Process, *, strangers: bool) -> None:
        to = "" if one.latest is None else str(one.latest["address"])
        flood(self._dice, one.place, to if strangers else None, tcp=self._campaign.tcp)

    def _no_idle(self) -> None:
        for each in self._idle:
            each.close()
        self._idle.clear()

    async def _provides(self, fault: Fault) -> None:
        """Have a member begin again. The member that gives it the state is killed, or stopped, or takes long."""
        (joiner,) = fault.members
        seconds = fault.seconds if fault.kind == "slow state" else self._campaign.patience
        for one in self._processes.values():
            one.tell(get=seconds)
        await self._kill(joiner)
        await self._start(joiner)
        if fault.kind != "slow state" and (provider := await self._provider(joiner)) is not None:
            if fault.kind == "provider killed":
                await self._kill(provider)
            else:
                self._signal(provider, signal.SIGSTOP)
        await asyncio.sleep(fault.seconds)

    async def _provider(self, joiner: str) -> str | None:
        """The member that gives the state now, None where none does within ten times the patience."""
        end = time.monotonic() + 10 * self._campaign.patience
        others = [one for name, one in self._processes.items() if name != joiner]
        while time.monotonic() < end:
            for one, said in zip(others, await asyncio.gather(*(one.asked() for one in others)), strict=True):
                if said is not None and said["address"] and said["tables"]["states to give"]:
                    return one.name
            await asyncio.sleep(_LOOKS / 2)
        self._note(f"nobody gives {joiner} the state")
        return None

    def _files(self, name: str) -> None:
        """Break a record, remove another record, add a foreign record and a folder of such a name."""
        folder = self._folder / "group" / folder_of(GROUP)
        records = sorted(each for each in folder.glob("*.member") if each.is_file())
        for each in records:
            if name_and_life(each.stem)[0] == name:
                each.write_bytes(self._dice.choice((b"", b'{"host": "127.0', random_bytes(self._dice, 60))))
        others = [each for each in records if name_and_life(each.stem)[0] != name]
        if others:
            self._dice.choice(others).unlink(missing_ok=True)
        (folder / "zz.member").write_text(json.dumps({"host": "127.0.0.1", "port": 9}), encoding="utf-8")
        (folder / "zy.member").mkdir(exist_ok=True)

    async def _full(self, name: str) -> None:
        """Let its log grow a little more: then the member ends with an error that says why."""
        one = self._processes[name]
        latest = self._latest(name)
        one.tell(room=(latest.stat().st_size if latest else 0) + self._dice.randrange(_ROOM))
        await self._ended(one, DISK_FULL)
        self._note(f"{name} ends: its disk is full")
        self._spare(name)

    def _sends(self, rate: float) -> None:
        for one in self._processes.values():
            one.tell(rate=rate)

    # Goals

    async def _answers(self) -> list[dict[str, Any]]:
        """Return all states, [] unless each member is in a view. Raises _NotSoError if a process ended."""
        for one in self._processes.values():
            if one.ended:
                code = one.process.returncode
                raise _NotSoError(f"{one.name} has ended with {code}: see {one.name}.err")
        said = await asyncio.gather(*(one.asked() for one in self._processes.values()))
        answers = [each for each in said if each is not None and each["address"] and each["view"]]
        return answers if len(answers) == len(self._processes) else []

    async def _until(self, holds: Callable[[list[dict[str, Any]]], bool], what: str) -> list[dict[str, Any]]:
        began = time.monotonic()
        answers: list[dict[str, Any]] = []
        while time.monotonic() < began + self._campaign.limit:
            answers = await self._answers()
            if answers and holds(answers):
                self.outcome.settled.append(round(time.monotonic() - began, 2))
                self._note(f"{what} after {time.monotonic() - began:.2f} s: {answers[0]['members']}")
                return answers
            await asyncio.sleep(_LOOKS)
        last = {one.name: one.latest for one in self._processes.values()}
        self._note(f"last heard: {json.dumps(last)}")
        raise _NotSoError(
            f"it is not so that {what}, {self._campaign.limit:g} s after round {self.outcome.rounds}: "
            + "; ".join(_short(name, said) for name, said in last.items())
        )

    async def _settles(self) -> None:
        answers = await self._until(_one_view, "all are in one view")
        if not self._campaign.state:
            return
        lacks = _LACKS * self._campaign.patience
        latest = time.monotonic() + self._campaign.limit
        ends, came = time.monotonic() + lacks, None
        while time.monotonic() < min(ends, latest) and not (answers and _all_have(answers)):
            await asyncio.sleep(_LOOKS)
            answers = await self._answers()
            before, came = came, {each["address"]: each["tables"][_COMING] for each in answers}
            if came != before:  # a transfer is under way
                ends = time.monotonic() + lacks
        if waiting := [each for each in answers if not each["has"]]:
            self._declares(waiting)
        await self._until(_all_have, "all have the state")

    def _declares(self, waiting: list[dict[str, Any]]) -> None:
        """Some wait for the state, though all are there. An operator declares that with most messages."""
        best = max(waiting, key=lambda each: each["messages"])
        self._note(
            f"{len(waiting)} wait for the state: {best['address']} declares its own, of {best['messages']} messages"
        )
        self.outcome.judged["states declared"] += 1
        self.outcome.before_declaration.update(sent(self._folder))
        self._processes[name_and_life(best["address"])[0]].tell(declare=True)

    async def _ends(self) -> None:
        """All stop sending, some times: there is one view, and tables are empty. Then all leave.

        The last message is lost to some, so that no later one shows the gap.
        """
        answers: list[dict[str, Any]] = []
        patience = self._campaign.patience
        await asyncio.sleep(patience)  # all send, and no fault is under way
        for _ in range(_SILENCES):
            self._rules = _LOSSY
            self._apply()
            self._sends(self._campaign.rate)
            await asyncio.sleep(patience / 2)
            self._sends(0)
            await asyncio.sleep(1.5 * patience)  # all messages are ordered by now
            self._rules = CALM
            self._apply()
            answers = await self._until(
                lambda answers: _one_view(answers) and not any(any(each["tables"].values()) for each in answers),
                "all are in one view, and all tables are empty",
            )
        for each in answers:
            self.outcome.happened.update(each["counts"])
        self.outcome.survivors = [*answers[0]["members"]]
        await self._leaves([*self._processes])


def _all_have(answers: list[dict[str, Any]]) -> bool:
    return _one_view(answers) and all(each["has"] for each in answers)


def _one_view(answers: list[dict[str, Any]]) -> bool:
    """Return True if all have one view, which is primary, its members are exactly these, and no flush is in force."""
    views = {tuple(each["view"]) for each in answers}
    addresses = {each["address"] for each in answers}
    return (
        len(views) == 1
        and all(each["primary"] for each in answers)
        and all(set(each["members"]) == addresses for each in answers)
        and not any(each["tables"]["flushes"] for each in answers)
    )


def _short(name: str, said: dict[str, Any] | None) -> str:
    if said is None or not said.get("view"):
        return f"{name} is in no view"
    waits = {what: number for what, number in said["tables"].items() if number}
    counter, creator = said["view"]
    where = f"{counter}/{creator} of {len(said['members'])}{'' if said['primary'] else ', not primary'}"
    return f"{name} is in {where}, waits for {waits or 'nothing'}"
