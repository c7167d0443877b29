"""The errata of merging on real JGroups."""

from collections.abc import Callable
from itertools import combinations

from .group import LONG, Flight, Group, mutual
from .jvm import Jvm
from .schedule import Seen, schedule, seen


def _parted(jvm: Jvm, members: int, *views: str, merge: int = LONG, join: int = LONG, leave: int = LONG) -> Group:
    group = Group(jvm, members, merge=merge, join=join, leave=leave)
    group.found("".join(sorted({each for view in views for each in view.partition(":")[2]})))
    group.install(*views)
    group.arrive()
    return group


def _no_view(to: str) -> Callable[[Flight], bool]:
    def hold(flight: Flight) -> bool:
        return flight.to == to and bool({"VIEW", "INSTALL_MERGE_VIEW"} & flight.headers)

    return hold


@schedule("FLAW-47")
def _skipped_by_merge(jvm: Jvm) -> Seen:
    """{A,B} and {C}: B multicasts m1, the copy to A is lost; they merge, then B multicasts m2."""
    group = _parted(jvm, 3, "15/A:AB", "16/C:C")
    group.send("B", "m0")
    group.arrive()
    group.send("B", "m1")
    group.give("MSG", by="B", to="B")
    group.lose("MSG", by="B")
    group.merge("A", A="15/A:AB", B="15/A:AB", C="16/C:C")
    group.settle(10)
    group.send("B", "m2")
    group.settle(10, 700)
    had = group.had("A", "B")
    return seen(
        present="m2" in had and "m1" not in had,
        text=f"A and B went from 15/A:AB to {group.view('A')}; A delivered {had}, B {group.had('B', 'B')}",
    )


@schedule("FLAW-47/suspicions")
def _skipped_by_merge_of_sides(jvm: Jvm) -> Seen:
    """As FLAW-47, with the sides made by a partition and suspicions."""
    group = Group(jvm, 3, acks=300, merge=2000)
    group.found("ABC")
    group.cut = {(one, other) for one, other in ("AC", "BC", "CA", "CB")}
    group.suspect("A", "C")
    group.settle(6)
    group.suspect("C", "A")
    group.advance(50)
    group.suspect("C", "B")
    group.settle(6)
    group.lose()
    group.cut = set()
    views = {member: str(group.view(member)) for member in "ABC"}
    group.send("B", "m0")
    group.arrive()
    group.send("B", "m1")
    group.give("MSG", by="B", to="B")
    group.lose("MSG", by="B")
    for leader in "AC":
        group.merge(leader, **views)
    group.settle(15)
    group.send("B", "m2")
    group.settle(10, 700)
    had = group.had("A", "B")
    return seen(present="m2" in had and "m1" not in had, text=f"sides {views}; A in {group.view('A')} delivered {had}")


@schedule("FLAW-103")
def _named_after_a_participant(jvm: Jvm) -> Seen:
    """{B,A} and {C}: C has the merged view when B, which leads, crashes; A has not."""
    group = _parted(jvm, 3, "16/B:BA", "15/C:C")
    group.merge("B", A="16/B:BA", B="16/B:BA", C="15/C:C")
    group.settle(12, hold=_no_view("A"))
    merged = group.view("C")
    group.crash("B")
    group.lose("VIEW", to="A")
    group.lose("INSTALL_MERGE_VIEW", to="A")
    group.suspect("AC", "B")
    group.settle(8)
    one, other = group.view("A"), group.view("C")
    same = one is not None and other is not None and one.id == other.id and one.members != other.members
    return seen(present=same, text=f"merged view at C {merged}; after the crash of B {group.shown('AC')}")


@schedule("FLAW-104")
def _overlapping(jvm: Jvm) -> Seen:
    """{A,B} and {C}: C never gets the merged view that lists it; then they are merged again."""
    group = _parted(jvm, 3, "16/A:AB", "15/C:C", merge=5000)
    group.merge("A", A="16/A:AB", B="16/A:AB", C="15/C:C")
    for _ in range(10):
        group.arrive(_no_view("C"))
        group.advance(100)
    group.lose(to="C")
    half = group.shown("AC")
    group.settle(12, 2000, hold=_no_view("C"))
    group.lose(to="C")
    apart = group.view("A") != group.view("C")
    group.merge("A", **{member: str(group.view(member)) for member in "ABC"})
    group.settle(12)
    together = group.view("A") == group.view("C")
    return seen(present=apart and together, text=f"after half a merge {half}; after the next one {group.shown('AC')}")


@schedule("FLAW-45")
def _join_in_a_merge(jvm: Jvm) -> Seen:
    """{A} and {C}: D asks C to let it in after C has answered MERGE_REQ."""
    group = _parted(jvm, 4, "16/A:AB", "15/C:C", join=400)
    group.merge("A", A="16/A:AB", B="16/A:AB", C="15/C:C")
    group.give("MERGE_REQ")

    def hold(flight: Flight) -> bool:
        return "MERGE_RSP" in flight.headers

    group.settle(2, 50, hold)
    group.connect("D", "C")
    group.settle(2, 100, hold)
    view = group.view("C")
    return seen(present=view is None or "D" in view.members, text=f"C while it is merging: {view}")


@schedule("FLAW-46")
def _nobody_coordinates(jvm: Jvm) -> Seen:
    """{B,A} and {C} merge: does the first of the merged view know that it coordinates?"""
    group = _parted(jvm, 3, "16/B:BA", "15/C:C")
    group.merge("B", A="16/B:BA", B="16/B:BA", C="15/C:C")
    group.settle(12)
    view = group.view("C")
    first = view.members[0] if view else "C"
    role = group.do("role", member=first)
    return seen(present="Coord" not in str(role), text=f"{group.shown('ABC')}; {first} is {role}")


@schedule("FLAW-102")
def _merge_given_up(jvm: Jvm) -> Seen:
    """{A} and {B}: B gives up the merge on its timer; then the merged view of that merge comes."""
    group = _parted(jvm, 2, "15/A:A", "16/B:B", merge=5000)
    group.merge("A", A="15/A:A", B="16/B:B")

    def hold(flight: Flight) -> bool:
        return "INSTALL_MERGE_VIEW" in flight.headers and flight.to == "B"

    group.settle(6, 50, hold)
    late = group.take(group.flying("INSTALL_MERGE_VIEW", to="B"))
    group.settle(10, 2000, hold)
    before = group.view("B")
    for flight in late:
        group.receive(flight)
    group.settle(4, hold=hold)
    return seen(
        present=bool(late) and group.view("B") != before,
        text=f"{len(late)} late; B {before}, after it {group.view('B')}",
    )


@schedule("FLAW-106")
def _gone_on(jvm: Jvm) -> Seen:
    """{A} and {C,B}: B suspects C and continues alone; then the merged view arrives at B."""
    group = _parted(jvm, 3, "15/A:A", "16/C:CB", merge=800)
    group.merge("A", A="15/A:A", B="16/C:CB", C="16/C:CB")

    def hold(flight: Flight) -> bool:
        return flight.to == "B" and flight.by == "C"

    group.settle(4, 30, hold)
    group.suspect("B", "C")
    group.settle(4, 200, hold)
    alone = group.view("B")
    group.settle(10)
    went = alone is not None and alone.members == "B"
    return seen(
        present=went and group.view("B") == group.view("C") != alone, text=f"B {alone}, then {group.shown('ABC')}"
    )


@schedule("suspicion-in-a-merge")
def _suspicion_lost(jvm: Jvm) -> Seen:
    """{A,B} and {C}: B crashes while A is in a merge, and is reported once."""
    group = _parted(jvm, 3, "16/A:AB", "15/C:C", merge=1500)
    views = {"A": "16/A:AB", "B": "16/A:AB", "C": "15/C:C"}
    for leader in "CA":
        group.merge(leader, **views)
    group.settle(2, 20, lambda flight: "MERGE_RSP" in flight.headers)
    group.crash("B")
    group.suspect("A", "B")
    group.settle(20, 200)
    view = group.view("A")
    return seen(present=view is not None and "B" in view.members, text=group.shown("AC"))


@schedule("FLAW-112")
def _view_under_way(jvm: Jvm) -> Seen:
    """{A,B} and {C}: A lets D in and awaits acknowledgements when a merge begins, again and again."""
    group = _parted(jvm, 4, "16/A:AB", "15/C:C", join=1000, merge=2000)
    group.connect("D", "A")
    group.give("JOIN_REQ")

    def hold(flight: Flight) -> bool:
        return "VIEW_ACK" in flight.headers

    group.settle(2, 50, hold)
    during = group.shown("ABCD")
    for _ in range(3):
        group.merge("A", **{each: str(group.view(each)) for each in "ABCD" if group.view(each)})
        group.settle(4, 300, hold)
    group.settle(20, 500)
    group.merge("A", **{each: str(group.view(each)) for each in "ABCD" if group.view(each)})
    group.settle(20, 500)
    views = {str(group.view(each)) for each in "ABCD"}
    return seen(present=len(views) > 1, text=f"when the merge began {during}; in the end {group.shown('ABCD')}")


@schedule("FLAW-59g")
def _in_again_in_the_same_life(jvm: Jvm) -> Seen:
    """C's m1 is delivered by all; {A,B} exclude C, and C is merged in again: does B deliver C's m2?"""
    group = Group(jvm, 3, "STABLE", gossip=1000)
    group.found("ABC")
    group.send("C", "m1")
    group.settle(2, 0)
    group.install("15/A:AB")
    group.settle(6, 1000, hold=lambda flight: "C" in {flight.by, flight.to})
    group.lose(by="C")
    group.lose(to="C")
    apart = group.shown("ABC")
    group.merge("A", **{each: str(group.view(each)) for each in "ABC"})
    group.settle(20, 1000)
    group.send("C", "m2")
    group.settle(10, 1000)
    had = {each: group.had(each, "C") for each in "ABC"}
    return seen(
        present=any("m1" not in each or "m2" not in each for each in had.values()),
        text=f"apart {apart}; then {group.shown('ABC')}: {had}",
    )


@schedule("JGRP-3033")
def _answered_with_a_merged_view(jvm: Jvm) -> Seen:
    """{A,B} and {C} merge. B leaves, unheard, and joins again: A answers with the merged view, in which B is."""
    group = _parted(jvm, 3, "15/A:AB", "15/C:C", merge=2000, join=300, leave=300)
    group.merge("A", A="15/A:AB", B="15/A:AB", C="15/C:C")
    group.settle(12)
    merged = group.view("A")
    group.leave("B")
    group.settle(20, 500, hold=lambda flight: flight.by == "B")
    group.lose(by="B")
    group.connect("B", "A")
    group.advance(100)
    group.give("JOIN_REQ", to="A")
    answers = group.flying("JOIN_RSP", to="B")
    if not answers or group.view("A") != merged:
        return Seen("absent", f"no answer with the merged view {merged}; A has {group.view('A')}")
    group.receive(answers[0])
    group.settle(6)
    group.send("A", "m1")
    group.send("C", "n1")
    group.settle(10, 700)
    had = group.had("B", "A") + group.had("B", "C")
    text = f"A has {merged}, B {group.view('B')} and delivered {had}"
    return seen(present="m1" not in had or "n1" not in had, text=text)


@schedule("non-transitive")
def _only_c_reaches_all(jvm: Jvm) -> Seen:
    """Only C reaches all of A to E, as in ELECTION2's picture (jgroups-raft): is each in one view with its members?"""
    group = Group(jvm, 5, acks=300, merge=2000)
    group.found("ABCDE")
    group.part(link for link in combinations("ABCDE", 2) if "C" not in link)
    apart = {name: str(group.view(name)) for name in group.names}
    group.heal()
    members = {name: view.partition(":")[2] for name, view in apart.items()}
    return seen(present=not mutual(members), text=f"{apart}; healed {group.shown('ABCDE')}")
