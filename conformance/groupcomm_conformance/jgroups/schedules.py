"""Schedules that show on real JGroups whether an erratum's flaw is there. One function a flaw.

Each is the shortest that is known, in JGroups' own words: what arrives, what is lost, who crashes, and what time
passes. It returns whether the flaw is present, and what was seen.
"""

from collections.abc import Callable
from typing import Final, Literal

from attrs import frozen

from .group import LONG, Flight, Group
from .jvm import Jvm, Version

__all__ = ["SCHEDULES", "Schedule", "Seen"]

Verdict = Literal["present", "absent"]


@frozen
class Seen:
    """What a schedule showed on a version."""

    verdict: Verdict
    text: str


@frozen
class Schedule:
    """A schedule: its name (an erratum's, and a word where there are several), what it does, and for whom."""

    name: str
    says: str
    run: Callable[[Jvm], Seen]
    flush: bool

    @property
    def erratum(self) -> str:
        """The erratum that it is about."""
        return self.name.partition("/")[0]

    def suits(self, version: Version) -> bool:
        """Whether a version has the layers that it is about."""
        return version.flush or not self.flush


SCHEDULES: Final[dict[str, Schedule]] = {}


def _schedule(name: str, *, flush: bool = False) -> Callable[[Callable[[Jvm], Seen]], Callable[[Jvm], Seen]]:
    def added(run: Callable[[Jvm], Seen]) -> Callable[[Jvm], Seen]:
        SCHEDULES[name] = Schedule(name, " ".join((run.__doc__ or "").split()), run, flush)
        return run

    return added


def _seen(*, present: bool, text: str) -> Seen:
    return Seen("present" if present else "absent", text)


# GMS


@_schedule("FLAW-66")
def _joiner_answered_first(jvm: Jvm) -> Seen:
    """C joins A and B; A's view is not at B when C has its answer; A crashes."""
    group = Group(jvm, 3)
    group.found("AB")
    return _answered_early(group)


@_schedule("FLAW-66/timeout")
def _joiner_answered_after_timeout(jvm: Jvm) -> Seen:
    """C joins A and B; B's acknowledgement is late, and A stops waiting for it; A crashes."""
    group = Group(jvm, 3, acks=2000)
    group.found("AB")
    return _answered_early(group, late=3000)


def _answered_early(group: Group, late: int = 0) -> Seen:
    group.connect("C", "A")
    group.give("JOIN_REQ")
    group.give("VIEW", by="A", to="A")
    group.give("VIEW_ACK", to="A")
    if late:
        group.advance(late)
    if not group.flying("JOIN_RSP"):
        return Seen("absent", "no JOIN_RSP while B has not acknowledged the view")
    group.give("JOIN_RSP")
    group.crash("A")
    group.suspect("BC", "A")
    group.arrive()
    return _seen(present=group.view("B") != group.view("C"), text=group.shown("BC"))


@_schedule("FLAW-32")
def _view_of_the_dead(jvm: Jvm) -> Seen:
    """A, B, C; A lets D in, its view reaches C only, and A crashes; B takes over."""
    group = Group(jvm, 4)
    group.found("ABC")
    group.connect("D", "A")
    group.give("JOIN_REQ")
    group.give("VIEW", by="A", to="C")
    group.crash("A")
    group.suspect("BC", "A")
    group.arrive()
    return _seen(present=group.view("B") != group.view("C"), text=group.shown("BC"))


@_schedule("FLAW-68")
def _late_view(jvm: Jvm) -> Seen:
    """As FLAW-32, but A's view reaches C after B's."""
    group = Group(jvm, 4)
    group.found("ABC")
    group.connect("D", "A")
    group.give("JOIN_REQ")
    late = group.take(group.flying("VIEW", by="A", to="C"))
    group.crash("A")
    group.suspect("BC", "A")
    group.arrive()
    before = group.view("C")
    for flight in late:
        group.receive(flight)
    group.arrive()
    return _seen(present=group.view("C") != before, text=f"C {before}, after A's view {group.view('C')}")


@_schedule("FLAW-67")
def _one_identifier(jvm: Jvm) -> Seen:
    """A leaves, and its view reaches C only; D crashes; B suspects A and D at once."""
    group = Group(jvm, 4, bundle=60)
    group.found("ABCD")
    group.leave("A")
    group.advance(150)
    group.give("LEAVE_REQ")
    group.advance(150)
    deciders = sorted({flight.by for flight in group.flying("VIEW")})
    group.give("VIEW", to="C")
    for member in "AD":
        group.crash(member)
    group.lose("VIEW", to="B")
    for member in "BC":
        for of in "AD":
            group.suspect(member, of)
    group.settle(6)
    one, other = group.view("B"), group.view("C")
    same = one is not None and other is not None and one.id == other.id and one != other
    return _seen(present=same, text=f"{group.shown('BC')}; the view without A was decided by {', '.join(deciders)}")


@_schedule("FLAW-71")
def _leaver_takes_over(jvm: Jvm) -> Seen:
    """B asks to leave; A's view without it reaches C only, and A crashes; B takes over, and D follows it."""
    group = Group(jvm, 4, leave=400)
    group.found("ABCD")
    group.leave("B")
    group.give("LEAVE_REQ")
    group.give("VIEW", to="C")
    group.crash("A")
    group.lose("LEAVE_RSP")
    group.suspect("BCD", "A")
    group.settle(20)
    led = any(view.creator == "B" for view in group.views["D"])
    views = {member: [str(view) for view in group.views[member][-2:]] for member in "BCD"}
    return _seen(present=led, text=f"{views}")


@_schedule("FLAW-73")
def _late_request(jvm: Jvm) -> Seen:
    """B asks twice to join, joins and leaves; its second request comes then."""
    group = Group(jvm, 2, join=300)
    group.found("A")
    group.connect("B", "A")
    group.advance(500)
    first, *late = group.take(group.flying("JOIN_REQ"))
    if not late:
        return Seen("absent", "B asked once only")
    group.receive(first)

    def hold(flight: Flight) -> bool:
        return "JOIN_REQ" in flight.headers

    group.settle(6, hold=hold)
    joined = group.view("B")
    group.leave("B")
    group.settle(6, hold=hold)
    before = group.view("A")
    group.receive(late[0])
    group.arrive(hold)
    after = group.view("A")
    back = before is not None and after is not None and "B" not in before.members and "B" in after.members
    left = group.happened("left", "B")
    return _seen(present=back and left, text=f"B joined {joined} and left; A {before}, after the request {after}")


def _second_suspected_first(jvm: Jvm, bundle: int, between: int) -> Seen:
    group = Group(jvm, 3, bundle=bundle, acks=2000)
    group.found("ABC")
    for member in "AB":
        group.crash(member)
    group.suspect("C", "B")
    group.advance(between)
    group.suspect("C", "A")
    group.settle(6)
    view = group.view("C")
    return _seen(present=view is None or view.members != "C", text=f"{[str(view) for view in group.views['C'][-2:]]}")


@_schedule("FLAW-31/gms")
def _suspected_apart(jvm: Jvm) -> Seen:
    """A and B crash; C hears of B first and of A later than one bundle takes."""
    return _second_suspected_first(jvm, 50, 200)


@_schedule("FLAW-33")
def _ack_of_the_dead(jvm: Jvm) -> Seen:
    """C crashes; A is told while the first of two joiners is let in: does the second view wait for C, too?"""
    group = Group(jvm, 5)
    group.found("ABC")
    group.crash("C")
    for joiner in "DE":
        group.connect(joiner, "A")
    group.give("JOIN_REQ")
    group.arrive()
    group.suspect("A", "C")
    group.settle(20)
    views = [group.view(member) for member in "ADE"]
    view = views[0]
    together = view is not None and views.count(view) == len(views) and "C" not in view.members
    return _seen(present=not together, text=group.shown("ADE"))


@_schedule("FLAW-75")
def _digest_after_view(jvm: Jvm) -> Seen:
    """A multicasts between the request of B and its view: does B deliver the first message of its view?"""
    group = Group(jvm, 2)
    group.found("A")
    group.connect("B", "A")
    group.give("JOIN_REQ")
    group.send("A", "m1")
    group.settle(2)
    group.send("A", "m2")
    group.settle(10, 700)
    return _seen(present="m1" not in group.had("B", "A"), text=f"B in {group.view('B')} delivered {group.had('B', 'A')}")


@_schedule("FLAW-75/repeated")
def _repeated_answer(jvm: Jvm) -> Seen:
    """B asks twice; A multicasts m1 in the view with B, answers again, and the second answer arrives first."""
    group = Group(jvm, 2, join=300, acks=200)
    group.found("A")
    group.connect("B", "A")
    group.advance(500)
    first, *again = group.take(group.flying("JOIN_REQ"))
    group.receive(first)
    group.give("VIEW", to="A")
    group.give("VIEW_ACK", to="A")
    group.advance(500)
    group.send("A", "m1")
    group.give("MSG", by="A", to="A")
    for flight in again:
        group.receive(flight)
    answers = group.take(group.flying("JOIN_RSP"))
    if len(answers) < _BOTH:
        return Seen("absent", "A does not answer a second time")
    group.receive(answers[-1])
    group.settle(10, 1000)
    group.send("A", "m2")
    group.settle(10, 1000)
    return _seen(present="m1" not in group.had("B", "A"), text=f"B in {group.view('B')} delivered {group.had('B', 'A')}")


_BOTH: Final = 2


@_schedule("FLAW-80")
def _one_added_twice(jvm: Jvm) -> Seen:
    """B's first answer is lost; it asks again, is answered, and A multicasts."""
    group = Group(jvm, 2, join=300, acks=200)
    group.found("A")
    group.connect("B", "A")
    group.advance(500)
    first, *again = group.take(group.flying("JOIN_REQ"))
    group.receive(first)
    group.give("VIEW", to="A")
    group.give("VIEW_ACK", to="A")
    group.advance(200)
    group.lose("JOIN_RSP")
    for flight in again[:1]:
        group.receive(flight)
    group.settle(4)
    for payload in ("m1", "m2"):
        group.send("A", payload)
        group.settle(5, 1000)
    return _seen(present="m1" not in group.had("B", "A"), text=f"B in {group.view('B')} delivered {group.had('B', 'A')}")


@_schedule("FLAW-87")
def _granted_twice(jvm: Jvm) -> Seen:
    """B asks twice before it is answered: is it let in twice?"""
    group = Group(jvm, 2, join=300)
    group.found("A")
    group.connect("B", "A")
    group.advance(500)
    group.settle(6)
    views = [str(view) for view in group.views["A"]]
    return _seen(present=len(set(views)) > _BOTH, text=f"A {views}")


# Merging


def _parted(jvm: Jvm, members: int, *views: str, merge: int = LONG, join: int = LONG) -> Group:
    group = Group(jvm, members, merge=merge, join=join)
    group.found("".join(sorted({each for view in views for each in view.partition(":")[2]})))
    group.install(*views)
    group.arrive()
    return group


def _no_view(to: str) -> Callable[[Flight], bool]:
    def hold(flight: Flight) -> bool:
        return flight.to == to and bool({"VIEW", "INSTALL_MERGE_VIEW"} & flight.headers)

    return hold


@_schedule("FLAW-47")
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
    return _seen(
        present="m2" in had and "m1" not in had,
        text=f"A went from 15/A:AB to {group.view('A')} with B and delivered {had}, B delivered {group.had('B', 'B')}",
    )


@_schedule("FLAW-47/suspicions")
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
    return _seen(present="m2" in had and "m1" not in had, text=f"sides {views}; A in {group.view('A')} delivered {had}")


@_schedule("FLAW-103")
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
    return _seen(present=same, text=f"merged view at C {merged}; after the crash of B {group.shown('AC')}")


@_schedule("FLAW-104")
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
    return _seen(present=apart and together, text=f"after half a merge {half}; after the next one {group.shown('AC')}")


@_schedule("FLAW-45")
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
    return _seen(present=view is None or "D" in view.members, text=f"C while it is merging: {view}")


@_schedule("FLAW-46")
def _nobody_coordinates(jvm: Jvm) -> Seen:
    """{B,A} and {C} merge: does the first of the merged view know that it coordinates?"""
    group = _parted(jvm, 3, "16/B:BA", "15/C:C")
    group.merge("B", A="16/B:BA", B="16/B:BA", C="15/C:C")
    group.settle(12)
    view = group.view("C")
    first = view.members[0] if view else "C"
    role = group.do("role", member=first)
    return _seen(present="Coord" not in str(role), text=f"{group.shown('ABC')}; {first} is {role}")


@_schedule("FLAW-102")
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
    return _seen(
        present=bool(late) and group.view("B") != before,
        text=f"{len(late)} late; B {before}, after it {group.view('B')}",
    )


@_schedule("FLAW-106")
def _gone_on(jvm: Jvm) -> Seen:
    """{A} and {C,B}: B suspects C and goes on by itself; then the merged view comes to it."""
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
    return _seen(
        present=went and group.view("B") == group.view("C") != alone, text=f"B {alone}, then {group.shown('ABC')}"
    )


@_schedule("suspicion-in-a-merge")
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
    return _seen(present=view is not None and "B" in view.members, text=group.shown("AC"))


# FLUSH


def _flushed(jvm: Jvm, members: str, names: int, flush_start: int = LONG) -> Group:
    group = Group(jvm, names, "FLUSH", flush_start=flush_start, acks=2000)
    group.found(members)
    return group


def _lost_copies(group: Group, by: str, payloads: str, to: str) -> None:
    """Have a member multicast; its copies to some are lost, the others arrive."""
    for payload in payloads.split():
        group.send(by, payload)
        for member in group.names:
            (group.lose if member in to else group.give)("MSG", by=by, to=member)


def _stopped(group: Group, member: str, rounds: int = 30, hold: Callable[[Flight], bool] | None = None) -> bool:
    """Have the application of a member stop the group; whether that was said to be done."""
    group.do("stop", member=member)
    for _ in range(rounds):
        group.settle(1, 200, hold or (lambda _flight: False))
        if group.happened("stopped", member):
            return True
    return False


@_schedule("FLAW-27", flush=True)
def _nothing_is_done(jvm: Jvm) -> Seen:
    """B's m1 has reached B only; A has the group stopped: have all m1 when it counts as stopped?"""
    group = _flushed(jvm, "ABC", 3)
    _lost_copies(group, "B", "m0", "")
    _lost_copies(group, "B", "m1", "AC")
    stopped = _stopped(group, "A")
    have = {member: group.had(member, "B") for member in "ABC"}
    level = all(each == have["B"] for each in have.values())
    return _seen(present=stopped and not level, text=f"stopped {stopped}, RECONCILE {group.said('FLUSH_RECONCILE')}: {have}")


@_schedule("FLAW-27/gap", flush=True)
def _gap(jvm: Jvm) -> Seen:
    """A multicasts m1 and m2: C has both, B only m2, so it waits for m1; A crashes, and B has the group stopped."""
    group = _flushed(jvm, "ABC", 3, flush_start=2000)
    _lost_copies(group, "A", "m0", "")
    _lost_copies(group, "A", "m1", "B")
    _lost_copies(group, "A", "m2", "")
    group.crash("A")
    group.suspect("BC", "A")
    for _ in range(20):
        group.settle(1, 500)
        if str(group.view("B")) == "3/B:BC" and group.view("B") == group.view("C"):
            break
    group.settle(6, 3000)
    had = {member: group.had(member, "A") for member in "BC"}
    same = group.view("B") == group.view("C")
    return _seen(
        present=same and had["B"] != had["C"],
        text=f"{group.shown('BC')}, both from 2/A:ABC; RECONCILE {group.said('FLUSH_RECONCILE')}: {had}",
    )


@_schedule("FLAW-91", flush=True)
def _target_not_reached(jvm: Jvm) -> Seen:
    """As FLAW-27, and requests for m1 go unanswered: does the flush count as done all the same?"""
    group = _flushed(jvm, "ABC", 3)
    _lost_copies(group, "B", "m0", "")
    _lost_copies(group, "B", "m1 m2", "AC")
    stopped = _stopped(group, "A", 60, lambda flight: bool({"XMIT_REQ", "XMIT_RSP"} & flight.headers))
    have = {member: group.had(member, "B") for member in "ABC"}
    level = all(each == have["B"] for each in have.values())
    return _seen(present=stopped and not level, text=f"stopped {stopped}: {have}")


@_schedule("FLAW-28", flush=True)
def _past_the_latch(jvm: Jvm) -> Seen:
    """B's m1 has passed the latch and reached nobody when A has the group stopped; it comes afterwards."""
    group = _flushed(jvm, "ABC", 3)
    _lost_copies(group, "B", "m0", "")
    group.send("B", "m1")
    late = group.flying("MSG", by="B")
    stopped = _stopped(group, "A", hold=lambda flight: flight in late)
    have = {member: group.had(member, "B") for member in "ABC"}
    for flight in late:
        group.receive(flight)
    later = {member: group.had(member, "B") for member in "ABC"}
    level = all("m1" in each for each in have.values())
    return _seen(present=stopped and not level and have != later, text=f"stopped {stopped}: {have}; afterwards {later}")


@_schedule("FLAW-90", flush=True)
def _after_its_report(jvm: Jvm) -> Seen:
    """C multicasts m1 and crashes; A and B report that they have nothing; then the copy comes to B, before the view."""
    group = _flushed(jvm, "ABC", 3)
    _lost_copies(group, "C", "m0", "")
    group.send("C", "m1")
    late = group.take(group.flying("MSG", by="C"))
    group.crash("C")

    def hold(flight: Flight) -> bool:
        return "VIEW" in flight.headers

    group.suspect("AB", "C")
    group.settle(8, 60, hold)
    for flight in late:
        if flight.to == "B":
            group.receive(flight)
    group.settle(10)
    had = {member: group.had(member, "C") for member in "AB"}
    same = group.view("A") == group.view("B") and str(group.view("A")) != "2/A:ABC"
    return _seen(present=same and had["A"] != had["B"], text=f"{group.shown('AB')}, both from 2/A:ABC: {had}")


@_schedule("FLAW-29", flush=True)
def _no_owner(jvm: Jvm) -> Seen:
    """A has the group stopped; C, which has stopped nobody, says that the flush is over."""
    group = _flushed(jvm, "ABC", 3)
    _stopped(group, "A")
    before = [group.blocked(member) for member in "ABC"]
    group.do("resume", member="C")
    group.settle(4)
    after = [group.blocked(member) for member in "ABC"]
    return _seen(present=all(before) and not all(after), text=f"latches closed {before}, after the resume of C {after}")


@_schedule("FLAW-30", flush=True)
def _opened_by_suspicion(jvm: Jvm) -> Seen:
    """A has the group stopped for D, its view reaches C only, A crashes; B multicasts x1."""
    group = _flushed(jvm, "ABC", 4, flush_start=2000)
    group.connect("D", "A")

    def hold(flight: Flight) -> bool:
        return "VIEW" in flight.headers

    group.settle(8, 40, hold)
    group.give("VIEW", by="A", to="C")
    group.give("VIEW_ACK", to="A")
    group.crash("A")
    group.send("B", "x1")
    for member in "CB":
        group.suspect(member, "A")
    for _ in range(12):
        group.settle(1, 30, hold)
        if not group.blocked("B"):
            break
    group.settle(2, 30, hold)
    entered = {member: str(group.view(member)) for member in "BC"}
    had = {member: group.had(member, "B") for member in "BC"}
    return _seen(
        present="x1" in had["B"] and entered["B"] != entered["C"], text=f"{entered}; x1 delivered so far: {had}"
    )


@_schedule("FLAW-31", flush=True)
def _requester_and_successor(jvm: Jvm) -> Seen:
    """A has asked all to stop when A and B crash: do C and D go on?"""
    group = _flushed(jvm, "ABCD", 4, flush_start=2000)
    group.do("stop", member="A")
    group.give("FLUSH", by="A")
    for member in "AB":
        group.crash(member)
    for member in "CD":
        for of in "AB":
            group.suspect(member, of)
    group.settle(100, 500)
    view = group.view("C")
    freed = not any(group.blocked(member) for member in "CD")
    done = freed and view is not None and view.members == "CD" and view == group.view("D")
    return _seen(present=not done, text=f"{group.shown('CD')}; latches open: {freed}")


@_schedule("FLAW-33/flush", flush=True)
def _report_of_the_dead(jvm: Jvm) -> Seen:
    """C crashes and is asked to stop: is its report awaited when C is suspected?"""
    group = _flushed(jvm, "ABC", 3)
    group.crash("C")
    group.do("stop", member="A")
    group.settle(3)
    before = group.happened("stopped", "A")
    group.suspect("AB", "C")
    group.settle(20)
    after = group.happened("stopped", "A")
    return _seen(present=not after, text=f"stopped before the suspicion {before}, after it {after}")


@_schedule("FLAW-34", flush=True)
def _leaver_has_stopped_all(jvm: Jvm) -> Seen:
    """The coordinator leaves, and none of its STOP_FLUSH arrive."""
    group = _flushed(jvm, "ABC", 3)
    group.leave("A")

    def hold(flight: Flight) -> bool:
        return "STOP_FLUSH" in flight.headers and flight.by == "A"

    group.settle(12, 60, hold)
    group.crash("A")
    group.suspect("BC", "A")
    group.settle(30, 200)
    closed = [member for member in "BC" if group.blocked(member)]
    return _seen(present=bool(closed), text=f"{group.shown('BC')}; latches closed at {closed}")


@_schedule("FLAW-92", flush=True)
def _asked_one_dies(jvm: Jvm) -> Seen:
    """Only B has m1 of C, which is dead; A has the group stopped, and B crashes before it has sent m1 to the others."""
    group = _flushed(jvm, "ABCD", 4, flush_start=2000)
    _lost_copies(group, "C", "m0", "")
    _lost_copies(group, "C", "m1", "AD")
    group.crash("C")
    group.suspect("ABD", "C")
    group.settle(6, 40, lambda flight: bool({"XMIT_REQ", "XMIT_RSP"} & flight.headers))
    group.crash("B")
    group.suspect("AD", "B")
    group.settle(60, 500)
    view = group.view("A")
    freed = not any(group.blocked(member) for member in "AD")
    done = freed and view is not None and view.members == "AD" and view == group.view("D")
    return _seen(present=not done, text=f"{group.shown('AD')}; latches open: {freed}")


@_schedule("FLAW-121", flush=True)
def _two_flushes(jvm: Jvm) -> Seen:
    """A and B have the group stopped at the same time, each asked by itself first: does one of the two come to it?"""
    group = _flushed(jvm, "ABC", 3, flush_start=3000)
    for member in "AB":
        group.do("stop", member=member)
    for member in "AB":
        group.give("FLUSH", by=member, to=member)
    group.settle(100)
    results = {
        event["member"]: event.get("result", event.get("error", ""))
        for event in group.log
        if event["kind"] in {"stopped", "failed"}
    }
    won = any(result in {"true", "null"} for result in results.values())
    return _seen(present=not won, text=f"{results}")


# SEQUENCER, without FLUSH


def _ordered(jvm: Jvm, members: str) -> tuple[Group, int]:
    group = Group(jvm, len(members), "SEQUENCER")
    group.found(members)
    for member in members:
        group.send(member, f"{member.lower()}0")
        group.settle(2, 50)
    return group, len(members)


def _after(group: Group, members: str, before: int) -> dict[str, list[str]]:
    return {member: [payload for _, payload in group.delivered[member][before:]] for member in members}


def _next_view(group: Group, view: str) -> None:
    for member in view.partition(":")[2]:
        group.do("install", member=member, view=_view(view))


def _view(text: str) -> dict[str, object]:
    name, members = text.split(":")
    counter, creator = name.split("/")
    return {"counter": int(counter), "creator": creator, "members": list(members)}


@_schedule("FLAW-01")
def _order_differs(jvm: Jvm) -> Seen:
    """A orders c1, then b1; D has both, B and C neither; A crashes; B sends its table again."""
    group, before = _ordered(jvm, "ABCD")
    for member, payload in (("C", "c1"), ("B", "b1")):
        group.send(member, payload)
        group.give(by=member, to="A")
    group.give(by="A", to="D")
    group.crash("A")
    _next_view(group, "9/B:BCD")
    group.settle(20, 200)
    had = _after(group, "BCD", before)
    return _seen(present=had["B"] != had["D"], text=f"{had}")


@_schedule("FLAW-02")
def _lost_at_one(jvm: Jvm) -> Seen:
    """a1 of the coordinator A reaches B only; A crashes; B and C go on together."""
    group, before = _ordered(jvm, "ABC")
    group.send("A", "a1")
    group.give(by="A", to="A")
    group.give(by="A", to="A")
    group.give(by="A", to="B")
    group.crash("A")
    _next_view(group, "9/B:BC")
    group.settle(10, 200)
    group.send("B", "b1")
    group.settle(10, 200)
    had = _after(group, "BC", before)
    return _seen(present=("a1" in had["B"]) != ("a1" in had["C"]), text=f"{had}")


@_schedule("FLAW-04")
def _overtaken(jvm: Jvm) -> Seen:
    """c1 is in the table of C when A crashes; C has the next view and sends c2."""
    group, before = _ordered(jvm, "ABC")
    group.send("C", "c1")
    group.crash("A")
    group.lose(by="C")
    _next_view(group, "9/B:BC")
    group.send("C", "c2")
    group.settle(20, 200)
    had = _after(group, "BC", before)
    return _seen(present=any(each != ["c1", "c2"] for each in had.values()), text=f"{had}")


@_schedule("FLAW-05")
def _forward_too_early(jvm: Jvm) -> Seen:
    """A is dead; C has the next view and its FORWARD reaches B, the next coordinator, before the view does."""
    group, before = _ordered(jvm, "ABC")
    group.crash("A")
    group.do("install", member="C", view=_view("9/B:BC"))
    group.arrive()
    group.send("C", "c1")
    group.arrive()
    group.do("install", member="B", view=_view("9/B:BC"))
    group.settle(10, 200)
    group.send("C", "c2")
    group.settle(10, 200)
    had = _after(group, "BC", before)
    return _seen(present=any("c1" not in each for each in had.values()), text=f"{had}")


@_schedule("FLAW-08")
def _demoted(jvm: Jvm) -> Seen:
    """b1 is on its way to the coordinator A when a merge demotes A."""
    group, before = _ordered(jvm, "ABC")
    group.send("B", "b1")
    group.lose(by="B")
    _next_view(group, "9/C:CAB")
    group.settle(20, 200)
    had = _after(group, "ABC", before)
    return _seen(present=any("b1" not in each for each in had.values()), text=f"{had}")


@_schedule("SEQ-19")
def _in_no_table(jvm: Jvm) -> Seen:
    """a1 of the coordinator A reaches A only, and a merge demotes A."""
    group, before = _ordered(jvm, "ABC")
    group.send("A", "a1")
    group.give(by="A", to="A")
    group.give(by="A", to="A")
    group.lose(by="A")
    _next_view(group, "9/C:CAB")
    group.settle(20, 200)
    group.send("A", "a2")
    group.settle(10, 200)
    had = _after(group, "ABC", before)
    return _seen(present=any("a1" not in each for each in had.values()), text=f"{had}")
