"""SEQUENCER's errata on real JGroups, without FLUSH."""

from .group import Group, Installed
from .jvm import Jvm
from .schedule import Seen, schedule, seen


def _ordered(jvm: Jvm, members: str) -> tuple[Group, int]:
    group = Group(jvm, len(members), "SEQUENCER")
    group.found(members)
    for member in members:
        group.send(member, f"{member.lower()}0")
        group.settle(2, 50)
    return group, len(members)


def _after(group: Group, members: str, before: int) -> dict[str, list[str]]:
    return {member: [payload for _, payload in group.delivered[member][before:]] for member in members}


@schedule("FLAW-01")
def _order_differs(jvm: Jvm) -> Seen:
    """A orders c1, then b1. D has both, B and C neither. A crashes, and B sends its table again."""
    group, before = _ordered(jvm, "ABCD")
    for member, payload in (("C", "c1"), ("B", "b1")):
        group.send(member, payload)
        group.give(by=member, to="A")
    group.give(by="A", to="D")
    group.crash("A")
    group.install("9/B:BCD")
    group.settle(20, 200)
    had = _after(group, "BCD", before)
    return seen(present=had["B"] != had["D"], text=f"{had}")


@schedule("FLAW-02")
def _lost_at_one(jvm: Jvm) -> Seen:
    """a1 of the coordinator A reaches B only, and A crashes. B and C install the next view together."""
    group, before = _ordered(jvm, "ABC")
    group.send("A", "a1")
    group.give(by="A", to="A")
    group.give(by="A", to="A")
    group.give(by="A", to="B")
    group.crash("A")
    group.install("9/B:BC")
    group.settle(10, 200)
    group.send("B", "b1")
    group.settle(10, 200)
    had = _after(group, "BC", before)
    return seen(present=("a1" in had["B"]) != ("a1" in had["C"]), text=f"{had}")


@schedule("FLAW-04")
def _overtaken(jvm: Jvm) -> Seen:
    """c1 is in the table of C when A crashes; C has the next view and sends c2."""
    group, before = _ordered(jvm, "ABC")
    group.send("C", "c1")
    group.crash("A")
    group.lose(by="C")
    group.install("9/B:BC")
    group.send("C", "c2")
    group.settle(20, 200)
    had = _after(group, "BC", before)
    return seen(present=any(each != ["c1", "c2"] for each in had.values()), text=f"{had}")


@schedule("FLAW-05")
def _forward_too_early(jvm: Jvm) -> Seen:
    """A is dead; C has the next view and its FORWARD reaches B, the next coordinator, before the view
    does.
    """
    group, before = _ordered(jvm, "ABC")
    group.crash("A")
    group.do("install", member="C", view=Installed.of("9/B:BC").plain())
    group.arrive()
    group.send("C", "c1")
    group.arrive()
    group.do("install", member="B", view=Installed.of("9/B:BC").plain())
    group.settle(10, 200)
    group.send("C", "c2")
    group.settle(10, 200)
    had = _after(group, "BC", before)
    return seen(present=any("c1" not in each for each in had.values()), text=f"{had}")


@schedule("FLAW-08")
def _demoted(jvm: Jvm) -> Seen:
    """b1 is on its way to the coordinator A when a merge demotes A."""
    group, before = _ordered(jvm, "ABC")
    group.send("B", "b1")
    group.lose(by="B")
    group.install("9/C:CAB")
    group.settle(20, 200)
    had = _after(group, "ABC", before)
    return seen(present=any("b1" not in each for each in had.values()), text=f"{had}")


@schedule("SEQ-19")
def _in_no_table(jvm: Jvm) -> Seen:
    """a1 of the coordinator A reaches A only, and a merge demotes A."""
    group, before = _ordered(jvm, "ABC")
    group.send("A", "a1")
    group.give(by="A", to="A")
    group.give(by="A", to="A")
    group.lose(by="A")
    group.install("9/C:CAB")
    group.settle(20, 200)
    group.send("A", "a2")
    group.settle(10, 200)
    had = _after(group, "ABC", before)
    return seen(present=any("a1" not in each for each in had.values()), text=f"{had}")


# States: what a member has delivered, which JGroups' own state transfer is taken to give as it is when a member is in.


@schedule("FLAW-62")
def _in_the_state_already(jvm: Jvm) -> Seen:
    """A orders b1, which B misses. C joins A, and has its state. A crashes, and B sends b1 again."""
    group = Group(jvm, 3, "SEQUENCER", acks=2000)
    group.found("AB")
    group.send("B", "b1")
    group.give(by="B", to="A")
    group.lose(by="A", to="B")
    group.give(by="A", to="A")
    group.connect("C", "A")
    for _ in range(30):
        group.settle(1, 200, hold=lambda flight: flight.by == "A" and flight.to == "B")
    state = [payload for _, payload in group.delivered["A"]]
    group.crash("A")
    group.install("9/B:BC")
    group.settle(20, 200)
    applied = [*state, *(payload for _, payload in group.delivered["C"])]
    joined = group.happened("connected", "C")
    text = f"C is in: {joined}, its state and messages: {applied}"
    return seen(present=joined and applied.count("b1") > 1, text=text)


@schedule("states-that-merge")
def _two_states(jvm: Jvm) -> Seen:
    """A and B part, each delivers a message of its own, and they merge."""
    group = Group(jvm, 2, "SEQUENCER")
    group.found("AB")
    group.install("9/A:A", "9/B:B")
    for member in "AB":
        group.send(member, f"{member.lower()}1")
    group.settle(10, 200, hold=lambda flight: flight.by != flight.to)
    group.lose()
    group.merge("A", A="9/A:A", B="9/B:B")
    group.settle(30, 200)
    had = _after(group, "AB", 0)
    merged = group.view("A") == group.view("B")
    return seen(present=merged and had["A"] != had["B"], text=f"{group.shown('AB')}, {had}")


@schedule("delivered-by-the-dead")
def _dies_after_its_own_delivery(jvm: Jvm) -> Seen:
    """The coordinator A delivers its own a1, whose copies are lost, and crashes."""
    group, before = _ordered(jvm, "ABC")
    group.send("A", "a1")
    group.give(by="A", to="A")
    group.give(by="A", to="A")
    had = _after(group, "A", before)
    group.crash("A")
    group.install("9/B:BC")
    group.settle(20, 200)
    had |= _after(group, "BC", before)
    return seen(present="a1" in had["A"] and not any("a1" in had[each] for each in "BC"), text=f"{had}")


@schedule("FLUSH-above-SEQUENCER", flush=True)
def _flush_above(jvm: Jvm) -> Seen:
    """A, B, C with FLUSH above SEQUENCER: A, which orders, crashes, and B flushes for the next view."""
    group = Group(jvm, 3, "FLUSH", "SEQUENCER", flush_start=2000, acks=2000)
    group.found("ABC")
    group.crash("A")
    group.suspect("BC", "A")
    for _ in range(30):
        group.settle(1, 2000)
        if str(group.view("B")) == "3/B:BC" and group.view("B") == group.view("C"):
            break
    group.suspect("BC", "A")
    group.settle(10, 2000)
    return seen(
        present=group.view("B") != group.view("C") or "A" in str(group.view("B")),
        text=f"after 80 s and two reports: {group.shown('BC')}, START_FLUSH {group.said('START_FLUSH')}",
    )
