"""NAKACK's errata on real JGroups: NAKACK in 2.12.2, NAKACK2 in later versions. Without FLUSH."""

from typing import Final

from .group import Flight, Group
from .jvm import Jvm
from .schedule import Seen, schedule, seen

_GOSSIP: Final = 1000


def _founded(jvm: Jvm, members: str, *layers: str, gossip: int = 0) -> Group:
    group = Group(jvm, len(members), *layers, gossip=gossip)
    group.found(members)
    for member in members:
        group.send(member, f"{member.lower()}0")
    group.settle(4)
    return group


def _highest(flight: Flight) -> bool:
    return "HIGHEST_SEQNO" in flight.headers


def _sent_to(group: Group, by: str, payload: str, to: str) -> None:
    """Have a member multicast; the copies to some arrive, and the others are lost."""
    group.send(by, payload)
    for member in to:
        group.give("MSG", by=by, to=member)
    group.lose("MSG", by=by)


def _asked(group: Group, by: str) -> list[str]:
    """List whom a member has asked to send something again."""
    return [
        "all" if event["to"] is None else event["to"]
        for event in group.log
        if event["kind"] == "sent" and event["member"] == by and "XMIT_REQ" in event["headers"]
    ]


@schedule("FLAW-18")
def _last_message(jvm: Jvm) -> Seen:
    """A's last message to B is lost, and so is whatever A says of it: does B learn of it from STABLE?"""
    group = _founded(jvm, "AB", "STABLE", gossip=_GOSSIP)
    _sent_to(group, "A", "m1", "A")
    group.settle(30, _GOSSIP, hold=_highest)
    return seen(
        present="m1" not in group.had("B", "A"),
        text=f"B delivered {group.had('B', 'A')}, and asked {_asked(group, 'B')}",
    )


@schedule("FLAW-155")
def _last_message_of_the_dead(jvm: Jvm) -> Seen:
    """C's last message reaches A only, and C crashes but stays in the view. Does B learn of it?"""
    group = _founded(jvm, "ABC", "STABLE", gossip=_GOSSIP)
    _sent_to(group, "C", "m1", "AC")
    group.crash("C")
    group.settle(30, _GOSSIP)
    return seen(
        present="m1" not in group.had("B", "C") and not _asked(group, "B"),
        text=f"A delivered {group.had('A', 'C')}, B {group.had('B', 'C')}, and asked {_asked(group, 'B')}",
    )


@schedule("FLAW-19")
def _only_the_sender(jvm: Jvm) -> Seen:
    """C's m1 reaches A only, its m2 A and B, and C crashes but stays in the view. Whom does B ask for m1?"""
    group = _founded(jvm, "ABC")
    _sent_to(group, "C", "m1", "AC")
    _sent_to(group, "C", "m2", "ABC")
    group.crash("C")
    group.settle(30, _GOSSIP)
    asked = _asked(group, "B")
    return seen(
        present="m1" not in group.had("B", "C") and set(asked) == {"C"},
        text=f"A delivered {group.had('A', 'C')}, B {group.had('B', 'C')}, and asked {sorted(set(asked))}",
    )


@schedule("FLAW-157")
def _of_another_view(jvm: Jvm) -> Seen:
    """A takes B for dead and excludes it. Its next multicast reaches B, in the view before."""
    group = _founded(jvm, "AB")
    group.suspect("A", "B")
    group.settle(6)
    group.send("A", "m1")
    sent = group.view("A")
    group.settle(4)
    return seen(
        present="m1" in group.had("B", "A") and group.view("B") != sent,
        text=f"A sent m1 in {sent}; B is in {group.view('B')} and delivered {group.had('B', 'A')}",
    )


@schedule("FLAW-160")
def _waits_for_the_next_view(jvm: Jvm) -> Seen:
    """B's m1 is lost on its way to A, so m2 waits there. C joins, and m1 is sent again in the view with C."""
    group = Group(jvm, 3)
    group.found("AB")
    _sent_to(group, "B", "m1", "B")
    _sent_to(group, "B", "m2", "AB")
    before = group.view("A")
    group.connect("C", "A")
    group.settle(20, _GOSSIP // 2, hold=lambda flight: bool({"XMIT_REQ", "XMIT_RSP"} & flight.headers))
    entered, waited = group.view("A"), not group.had("A", "B")
    group.settle(10, _GOSSIP)
    return seen(
        present=waited and entered != before and "m2" in group.had("A", "B"),
        text=f"B delivered m1 and m2 in {before}; A nothing until {entered}, and then {group.had('A', 'B')}",
    )


@schedule("FLAW-158")
def _gone_on(jvm: Jvm) -> Seen:
    """A's m1 is lost on its way to B; A installs the view with C. B has not, and asks A for m1."""
    group = Group(jvm, 3)
    group.found("AB")
    _sent_to(group, "A", "m1", "A")
    group.connect("C", "A")

    def hold(flight: Flight) -> bool:
        return flight.to == "B" and "VIEW" in flight.headers

    group.settle(2, 0, hold=hold)
    views = group.shown("AB")
    group.send("A", "m2")
    group.settle(10, _GOSSIP)
    return seen(
        present="m1" not in group.had("B", "A"),
        text=f"{views}; B asked {sorted(set(_asked(group, 'B')))} and delivered {group.had('B', 'A')}",
    )


@schedule("FLAW-161")
def _set_again(jvm: Jvm) -> Seen:
    """A's m1 is lost on its way to B, and a message follows every 100 ms: does B ask for m1?"""
    group = _founded(jvm, "AB")
    _sent_to(group, "A", "m1", "A")
    for number in range(2, 52):
        group.send("A", f"m{number}")
        group.settle(1, 100, hold=_highest)
        if "m1" in group.had("B", "A"):
            break
    return seen(
        present="m1" not in group.had("B", "A"),
        text=f"after {number - 1} messages B had asked {_asked(group, 'B')}: {group.had('B', 'A')[:3]}",
    )


def _joined_in_time(jvm: Jvm, *layers: str, multicast: str = "") -> tuple[list[str], str]:
    """A lets C in while B's m1 is on its way to A: give what C delivers of B's m1 and m2, and what was seen."""
    group = Group(jvm, 3, *layers, gossip=_GOSSIP, multicast=multicast)
    group.found("AB")
    group.send("B", "m0")
    group.settle(4, _GOSSIP)

    def late(flight: Flight) -> bool:
        return (flight.to == "B" and "VIEW" in flight.headers) or (flight.by, flight.to) == ("B", "C")

    group.send("B", "m1")
    group.connect("C", "A")
    group.arrive(lambda flight: late(flight) or flight.by == "B")
    views = group.shown("ABC")
    group.settle(4, _GOSSIP, hold=late)
    group.lose("MSG", by="B", to="C")
    group.settle(6, _GOSSIP)
    group.send("B", "m2")
    group.settle(10, _GOSSIP)
    had = group.had("C", "B")
    text = f"{views}; then A delivered {group.had('A', 'B')} and C {had}, which asked {len(_asked(group, 'C'))} times"
    return had, f"{'/'.join((*layers, multicast)).strip('/')}: {text}"


@schedule("NAKACK4", acks=True)
def _acknowledged_before_the_view(jvm: Jvm) -> Seen:
    """A's digest for C is older than B's m1, which A and B acknowledge before B has the view with C: does C get it?"""
    had, text = _joined_in_time(jvm, multicast="NAKACK4")
    beside, other = _joined_in_time(jvm, "STABLE")
    return seen(present=had == [] and beside == ["m1", "m2"], text=f"{text}. {other}")
