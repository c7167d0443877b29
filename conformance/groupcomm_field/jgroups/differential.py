"""The same random schedules for real JGroups and for our stack of cores: what differs, and why.

A run takes a JVM and the dice of a schedule, and gives the differences that it finds, each of a kind. Our
side is the ground of `groupcomm simulate`, with its judges: whatever they do not allow is a difference of
ours, which no file may explain. `conformance/jgroups/differences.yaml` explains those of JGroups.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from itertools import combinations, pairwise
from pathlib import Path
from random import Random
from typing import Final

from attrs import frozen

from groupcomm_conformance.files.strict_yaml import load
from groupcomm_simulator.judges.claims import Violation
from groupcomm_simulator.setup import DATAGRAMS, WHOLE

from .group import Group, mutual
from .jvm import VERSIONS, Jvm, Version
from .sides import Ours, Real

FILE: Final = Path("conformance", "jgroups", "differences.yaml")

OURS: Final = "ours"
"""The kind of a difference in which a judge of our own stack speaks."""

CLASSES: Final = ("departure", "defect", "unexplained")


@frozen
class Difference:
    """A difference: its kind, and what was seen."""

    kind: str
    text: str


@frozen
class Run:
    """A kind of schedules: what it compares, and whether it needs FLUSH."""

    name: str
    says: str
    schedule: Callable[[Jvm, Random], list[Difference]]
    flush: bool = False

    def suits(self, version: Version) -> bool:
        """Say whether a version has the layers."""
        return version.flush or not self.flush


@frozen
class Explained:
    """The file's entry for the differences of a kind: `departure`, `defect` or `unexplained`, and why."""

    verdict: str
    why: str


def explained(root: Path) -> Mapping[tuple[str, str, str], Explained]:
    """Read the file: what it says of a run's differences of a kind on a version. Raises FileError."""
    found: dict[tuple[str, str, str], Explained] = {}
    for entry in load(root / FILE, str(FILE)).items("a list of explanations"):
        fields = entry.fields(("run", "kind", "versions", "class", "why"))
        run = fields["run"].choice(RUNS)
        kind = fields["kind"].text()
        if kind == OURS:
            raise fields["kind"].error("a kind of JGroups' differences: none of ours is explained away")
        for version in fields["versions"].items():
            key = run, kind, version.choice(VERSIONS)
            if key in found:
                raise version.error(f"each version once for {run} {kind}, not {key[2]} again")
            found[key] = Explained(fields["class"].choice(CLASSES), fields["why"].text())
    return found


def _ours(act: Callable[[], None]) -> list[Difference]:
    """Do something with our stack; a difference if a judge objects."""
    try:
        act()
    except Violation as violation:
        return [Difference(OURS, str(violation))]
    return []


# Membership


def _operations(random: Random, names: str, count: int) -> tuple[list[tuple[str, str]], list[str]]:
    """Draw joins, leaves and crashes; give also who is inside in the end, at least two members."""
    operations, inside, used = [("join", names[0])], [names[0]], 1
    while len(operations) < count:
        kind = random.choice(["join", "join", "leave", "crash", "crash"])
        if kind == "join" and used < len(names):
            operations.append(("join", names[used]))
            inside.append(names[used])
            used += 1
        elif kind != "join" and len(inside) > _KEPT:
            member = inside[0] if random.random() < _FIRST else random.choice(inside)
            inside.remove(member)
            operations.append((kind, member))
    return operations, inside


_KEPT: Final = 2
_FIRST: Final = 0.5  # how often it is the coordinator that goes
_LOST: Final = 0.25  # of the copies, where the network loses some
_CUT: Final = 0.5  # of the links
_MEMBERS: Final = "ABCDEF"


def _one_at_a_time(jvm: Jvm, random: Random) -> list[Difference]:
    operations, _ = _operations(random, _MEMBERS, 8)
    real, ours = Real(jvm, len(_MEMBERS)), Ours(("flush", "merge_gms", "stable"), random)
    gone: set[str] = set()
    for kind, member in operations:
        getattr(real, kind)(member)
        if kind != "join":
            gone.add(member)
        if kind == "crash":
            real.report(member, real.inside())
        real.group.settle(4, 300)
        for _ in range(12):
            done = {"join": "connected", "leave": "left", "crash": "failed"}[kind]
            if kind == "crash" or real.group.happened(done, member):
                break
            real.group.settle(2, 500)

        def act(kind: str = kind, member: str = member) -> None:
            if kind == "join":
                ours.join(member)
            else:
                ours.do(kind, member)
            ours.rest()

        if objection := _ours(act):
            return objection
        inside = real.inside()
        if (one := real.views(inside)) != (other := ours.views()):
            same = {name: sorted(view) for name, view in one.items()} == {
                name: sorted(view) for name, view in other.items()
            }
            kind_of = "order" if same else "members"
            return [Difference(kind_of, f"after {kind} {member} of {operations}: JGroups {one}, ours {other}")]
    return []


def _concurrent(jvm: Jvm, random: Random) -> list[Difference]:
    operations, inside = _operations(random, _MEMBERS, 7)
    operations = [each for each in operations if each not in [("join", name) for name in _MEMBERS[:3]]]
    operations = [(kind, name) for kind, name in operations if kind != "leave" or name in _MEMBERS[:3]]
    gone = {name for kind, name in operations if kind != "join"}
    inside = [*(name for name in _MEMBERS[:3] if name not in gone)]
    inside += [name for kind, name in operations if kind == "join" and name not in gone]
    real, ours = Real(jvm, len(_MEMBERS)), Ours(("flush", "merge_gms", "stable"), random)
    real.group.found(_MEMBERS[:3])

    def act() -> None:
        for name in _MEMBERS[:3]:
            ours.join(name)
            ours.rest()
        for kind, name in operations:
            if kind == "join":
                ours.join(name)
            else:
                ours.do(kind, name)
            ours.some(random.randrange(6))
        ours.rest()

    found = _ours(act)
    reports: list[tuple[str, str]] = []
    for kind, name in operations:
        if kind == "crash":
            real.crash(name, random)
            reports += [(to, name) for to in _MEMBERS if to != name]
        else:
            getattr(real, kind)(name)
        for _ in range(random.randrange(6)):
            ready = [flight for flight in real.group.flying() if flight.to not in real.group.dead]
            chosen = random.randrange(len(ready) + len(reports)) if ready or reports else None
            if chosen is None:
                break
            if chosen < len(ready):
                real.group.receive(ready[chosen])
            else:
                real.report(reports[chosen - len(ready)][1], [reports.pop(chosen - len(ready))[0]])
    for to, name in reports:
        if to not in real.group.dead:
            real.report(name, [to])
    wanted = dict.fromkeys(inside)
    for kind in ("", "reported_again", "merged_again", "never"):
        for _ in range(10):
            real.group.arrive(random=random)
            real.group.advance(500)
            real.ask_again(inside)
        views = {str(real.group.view(name)) for name in wanted}
        members = set(real.views(wanted).values())
        if len(views) == 1 and {"".join(sorted(each)) for each in members} == {"".join(sorted(inside))}:
            return found + ([Difference(kind, f"{operations}")] if kind else [])
        if kind == "":
            real.report(gone, inside)
        elif kind == "reported_again":
            real.report(gone, inside)
            views_now = {name: str(view) for name in inside if (view := real.group.view(name)) is not None}
            for name in inside:
                if views_now.get(name, ":").partition(":")[2][:1] == name:
                    real.group.merge(name, **views_now)
    return [*found, Difference("never", f"{operations}: {real.group.shown(inside)}")]


# Virtual synchrony


def _episodes(group: Group, members: Iterable[str]) -> dict[str, list[tuple[str, list[tuple[str, str]]]]]:
    """Give for each member its views in order, and what its application delivered in each."""
    seen: dict[str, list[tuple[str, list[tuple[str, str]]]]] = {name: [] for name in members}
    for event in group.log:
        if event["member"] not in seen:
            continue
        episodes = seen[event["member"]]
        if event["kind"] == "view":
            view = event["view"]
            episodes.append((f"{view['counter']}/{view['creator']}:{''.join(view['members'])}", []))
        elif event["kind"] == "deliver" and episodes:
            episodes[-1][1].append((event["sender"], event["payload"]))
    return seen


def _asynchronous(group: Group, members: Iterable[str]) -> list[Difference]:
    """Find messages that a survivor lacks and another has, and messages that are delivered in two views."""
    seen = _episodes(group, members)
    found = []
    for one, other in combinations(sorted(seen), 2):
        steps = [
            {(before[0], after[0]): set(before[1]) for before, after in pairwise(seen[name])} for name in (one, other)
        ]
        for step in steps[0].keys() & steps[1].keys():
            if lacking := steps[0][step] ^ steps[1][step]:
                text = f"{one} and {other} go from {step[0]} to {step[1]}; one has not {sorted(lacking)}"
                found.append(Difference("virtual_synchrony", text))
    where: dict[tuple[str, str], set[str]] = defaultdict(set)
    for episodes in seen.values():
        for view, messages in episodes:
            for message in messages:
                where[message].add(view)
    found += [
        Difference("two_views", f"{message} is delivered in {sorted(views)}")
        for message, views in where.items()
        if len(views) > 1
    ]
    return found


def _founded(ours: Ours, names: str) -> list[Difference]:
    """Found our group of these members."""

    def act() -> None:
        for name in names:
            ours.join(name)
            ours.rest()

    return _ours(act)


def _receive(group: Group, random: Random, count: int) -> None:
    """Let so many messages arrive at live members of the real group, each drawn from all on their way."""
    for _ in range(count):
        if ready := [flight for flight in group.flying() if flight.to not in group.dead]:
            group.receive(random.choice(ready))


def _flush(jvm: Jvm, random: Random) -> list[Difference]:
    what = random.choice(("join", "crash A", "crash A", "crash C", "join, crash A", "leave B"))
    real, ours = Real(jvm, 4, "FLUSH"), Ours(WHOLE, random)
    group = real.group
    group.found("ABC")
    found = _founded(ours, "ABC")

    def some(count: int) -> None:
        ours.some(count)
        _receive(group, random, count)

    sent = 0

    def send(name: str) -> None:
        nonlocal sent
        sent += 1
        group.send(name, f"m{sent}")
        ours.do("multicast", name)

    for _ in range(random.randrange(1, 4)):
        send(random.choice("ABC"))
        some(random.randrange(5))
    living = set("ABC")
    if "join" in what:
        real.join("D")
        ours.join("D")
        living.add("D")
        some(random.randrange(8))
    if random.random() < _FIRST:
        send(random.choice("BC"))
        some(random.randrange(3))
    if "leave" in what:
        real.leave("B")
        ours.do("leave", "B")
        living.discard("B")
        some(random.randrange(8))
    if "crash" in what:
        dead = what[-1]
        living.discard(dead)
        real.crash(dead, random)
        ours.do("crash", dead)
        for name in sorted(living - {"D"}):
            real.report(dead, [name])
            some(random.randrange(4))
    found += _ours(ours.rest)
    found += _settled(real, random, living, what)
    group.settle(8, 2000)
    return found + [Difference(each.kind, f"{what}: {each.text}") for each in _asynchronous(group, living)]


def _settled(real: Real, random: Random, living: set[str], what: str) -> list[Difference]:
    """Let all arrive and time pass until all live members share a view and are free, or give a difference."""
    group = real.group
    for turn in range(40):
        group.arrive(random=random)
        group.advance(700)
        real.ask_again(living)
        if turn % 6 == _PATIENT:
            real.report(set("ABC") - living, sorted(living))
        views = {str(group.view(name)) for name in living}
        settled = len(views) == 1 and set(views.pop().partition(":")[2]) == living
        if settled and not any(group.blocked(name) for name in sorted(living)):
            return []
    closed = [name for name in sorted(living) if group.blocked(name)]
    text = f"{what}: {group.shown(sorted(living))}, latches closed at {closed}"
    return [Difference("never", text)]


_PATIENT: Final = 5


# Merging


_SIDES: Final = (("AB", "CD"), ("BA", "CD"), ("A", "B", "C"), ("BCA", "DE"), ("A", "BCDE"), ("DA", "CB"))


def _merge(jvm: Jvm, random: Random) -> list[Difference]:
    sides = random.choice(_SIDES)
    names = "".join(sorted("".join(sides)))
    group = Group(jvm, len(names), acks=500)
    group.found(names)
    views = {name: f"{20 + at}/{side[0]}:{side}" for at, side in enumerate(sides) for name in side}
    group.install(*dict.fromkeys(views.values()))
    group.arrive()
    group.merge(min(side[0] for side in sides), **views)
    group.settle(20, 500)
    real = {name: view.members if (view := group.view(name)) else "" for name in names}
    ours = Ours(WHOLE, random)

    def act() -> None:
        for side in sides:
            ours.found_apart(side)
        ours.rest()

    found = _ours(act)
    merged = ours.views()
    text = f"{sides}: JGroups {real}, ours {merged}"
    if real == merged:
        return found
    same = {name: sorted(view) for name, view in real.items()} == {name: sorted(view) for name, view in merged.items()}
    return [*found, Difference("order" if same else "members", text)]


def _links(jvm: Jvm, random: Random) -> list[Difference]:
    names = "ABCDE"
    links = [link for link in combinations(names, 2) if random.random() < _CUT]
    ours = Ours(DATAGRAMS, random)
    found = _founded(ours, names)
    ours.do("multicast", random.choice(names))
    found += _ours(lambda: ours.cut(links))
    if not mutual(views := ours.views()):
        found.append(Difference(OURS, f"without {links}: {views}"))
    found += _ours(ours.rest)
    group = Group(jvm, len(names), acks=300, merge=2000)
    group.found(names)
    group.part(links)
    real = {name: str(group.view(name)) for name in names}
    if not mutual({name: view.partition(":")[2] for name, view in real.items()}):
        found.append(Difference("apart", f"without {links}: JGroups {real}, ours {views}"))
    group.heal()
    if len(healed := {str(group.view(name)) for name in names}) != 1:
        found.append(Difference("never", f"without {links}, then with all: {real}, then {healed}"))
    return found


# Total order, stability


def _sequencer(jvm: Jvm, random: Random) -> list[Difference]:
    real, ours = Real(jvm, 4, "SEQUENCER"), Ours(WHOLE, random)
    group = real.group
    group.found("ABCD")
    found = _founded(ours, "ABCD")
    for number in range(random.randrange(3, 8)):
        name = random.choice("ABCD")
        group.send(name, f"m{number}")
        ours.do("multicast", name)
        count = random.randrange(6)
        ours.some(count)
        _receive(group, random, count)
    if random.random() < _FIRST:
        real.crash("A", random)
        ours.do("crash", "A")
        real.report("A", "BCD")
    living = [name for name in "ABCD" if name not in group.dead]
    found += _ours(ours.rest)
    for _ in range(15):
        group.arrive(random=random)
        group.advance(700)
        real.report(group.dead, living)
    orders = {name: group.delivered[name] for name in living}
    for one, other in combinations(living, 2):
        common = set(orders[one]) & set(orders[other])
        if [each for each in orders[one] if each in common] != [each for each in orders[other] if each in common]:
            found.append(Difference("order", f"{one} {orders[one]}, {other} {orders[other]}"))
        if set(orders[one]) != set(orders[other]):
            text = f"{one} and {other}: {sorted(set(orders[one]) ^ set(orders[other]))}"
            found.append(Difference("agreement", text))
    return found


def _stable(jvm: Jvm, random: Random) -> list[Difference]:
    group = Group(jvm, 3, "STABLE", acks=500, gossip=500)
    group.found("ABC")
    ours = Ours(WHOLE, random)
    found = _founded(ours, "ABC")
    sent: list[str] = []
    for number in range(random.randrange(4, 10)):
        name = random.choice("ABC")
        group.send(name, f"m{number}")
        sent.append(f"m{number}")
        ours.do("multicast", name)
        for flight in group.flying("MSG"):
            if flight.to != flight.by and random.random() < _LOST:
                group.take([flight])
        count = random.randrange(8)
        ours.some(count)
        _receive(group, random, count)
        if random.random() < _FIRST:
            group.advance(random.choice((200, 1000)))
    found += _ours(ours.rest)
    group.settle(20, 700)
    if not group.said("STABLE_GOSSIP"):
        found.append(Difference("no_gossip", "STABLE has sent no digest: nothing was at stake"))
    for name in "ABC":
        had = [payload for _, payload in group.delivered[name]]
        if sorted(had) != sorted(sent):
            found.append(Difference("purged", f"{name} delivered {had} of {sent}"))
    return found


RUNS: Final = {
    run.name: run
    for run in (
        Run("gms", "joins, leaves and crashes, one at a time: members and order of each view", _one_at_a_time),
        Run("gms_concurrent", "joins, leaves and crashes while others are under way: one view in the end", _concurrent),
        Run("flush", "multicasts, and a join, a leave or a crash: virtual synchrony", _flush, flush=True),
        Run("merge", "groups that find each other: members and order of the merged view", _merge),
        Run("links", "five of which some do not reach others: in a view are those that are in no other", _links),
        Run("sequencer", "multicasts and a crash of the coordinator: one order, and the same messages", _sequencer),
        Run("stable", "multicasts, losses and gossip: whatever is purged has been delivered by all", _stable),
    )
}
