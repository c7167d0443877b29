"""A group in which nobody sends: heartbeats alone, and what some member keeps is purged all the same."""

import asyncio
from pathlib import Path

import groupcomm_runtime
from groupcomm import stable
from groupcomm.stack import Arrived, Tagged
from groupcomm_runtime import Group, Settings
from groupcomm_runtime.layers import BEAT, configs
from tests.runtime.conversing import FAST, KEY, messages, run, until


def quiet(*groups: Group) -> bool:
    """True if nobody keeps a multicast, and no flush is under way."""
    return not any(each.tables["unstable"] or each.tables["flushes"] or each.tables["on their way"] for each in groups)


def test_a_quiet_group_sends_heartbeats_alone(tmp_path: Path) -> None:
    """Before, each voted twice a second: three quarters of the bytes of a quiet group of twenty."""

    async def test() -> None:
        join = groupcomm_runtime.join
        async with (
            join("demo", name="a", key=KEY, folder=tmp_path, settings=FAST) as a,
            join("demo", name="b", key=KEY, folder=tmp_path, settings=FAST) as b,
            join("demo", name="c", key=KEY, folder=tmp_path, settings=FAST) as c,
        ):
            groups = (a, b, c)
            await until(lambda: all(len(each.members) == 3 for each in groups))
            await b.send(b"x")
            for each in groups:
                await messages(each, 1)
            await until(lambda: quiet(*groups))
            interval = configs(FAST)["stable"].stable_interval / 1_000
            await asyncio.sleep(3 * interval)  # votes that were under way begin a round, which ends
            before = [dict(each.counts) for each in groups]
            await asyncio.sleep(4 * interval)
            names = {
                name
                for each, then in zip(groups, before, strict=True)
                for name, number in each.counts.items()
                if name.endswith(" sent") and number != then.get(name)
            }
            assert names <= {"heartbeat sent", "file_ping sent"}, names

    run(test())


def test_a_quiet_member_wakes_for_its_beats_alone(tmp_path: Path) -> None:
    """Also where they are rarer than HIGHEST, which would be told each 0.2 seconds."""

    async def test() -> None:
        settings = Settings(heartbeat=0.3, patience=1.5)
        assert configs(settings)["nakack"].highest_interval < 1_000 * settings.heartbeat
        async with groupcomm_runtime.join("demo", name="a", key=KEY, folder=tmp_path, settings=settings) as a:
            await until(lambda: len(a.members) == 1)
            await asyncio.sleep(3 * settings.heartbeat)
            for _ in range(20):
                await asyncio.sleep(settings.heartbeat / 6)
                assert {*a._member._timers} == {BEAT}  # noqa: SLF001

    run(test())


def looks(of: Group) -> int:
    """How often a timer had it look for others, or merge with them."""
    return of.counts.get("file_ping timers", 0) + of.counts.get("merge_gms timers", 0)


def test_a_member_that_follows_looks_for_no_others_until_it_coordinates(tmp_path: Path) -> None:
    """Its record is there all the same: it is written with a heartbeat."""

    async def test() -> None:
        join = groupcomm_runtime.join
        async with (
            join("demo", name="a", key=KEY, folder=tmp_path, settings=FAST) as a,
            join("demo", name="b", key=KEY, folder=tmp_path, settings=FAST) as b,
        ):
            await until(lambda: len(a.members) == len(b.members) == 2)
            leads, follows = (a, b) if a.leader == a.address else (b, a)
            await asyncio.sleep(FAST.patience)
            (record,) = [each for each in (tmp_path / "demo.group").iterdir() if each.stem == follows.address]
            record.unlink()
            own, others = looks(follows), looks(leads)
            await until(lambda: looks(leads) > others + 2)
            assert looks(follows) == own
            assert record.exists()
            await leads.leave()
            await until(lambda: looks(follows) > own + 2)

    run(test())


def of_the_message(event: object) -> bool:
    """True of a message of STABLE that says that a multicast is delivered."""
    match event:
        case Arrived(_, Tagged("stable", stable.Stable(_, digest) | stable.Stability(_, digest))):
            return any(seqno >= 0 for seqno in digest.values())
    return False


def test_a_member_that_keeps_nothing_votes_for_one_that_does(tmp_path: Path) -> None:
    """B misses A's vote and announcement. A has purged; B's votes make it vote again."""

    async def test() -> None:
        join = groupcomm_runtime.join
        async with (
            join("demo", name="a", key=KEY, folder=tmp_path, settings=FAST) as a,
            join("demo", name="b", key=KEY, folder=tmp_path, settings=FAST) as b,
        ):
            await until(lambda: len(a.members) == len(b.members) == 2 and quiet(a, b))
            take = b._member._take  # noqa: SLF001
            misses = True

            def takes(cause: str, event: object, data: bytes = b"") -> None:
                if not (misses and cause.startswith("a#") and of_the_message(event)):
                    take(cause, event, data)  # type: ignore[arg-type]

            setattr(b._member, "_take", takes)  # noqa: B010, SLF001 - mypy knows it as a method
            await b.send(b"x")
            await messages(a, 1)
            await until(lambda: not a.tables["unstable"])
            assert b.tables["unstable"]
            misses = False
            await until(lambda: quiet(a, b))

    run(test())
