"""FLUSH's errata on real JGroups, whose last version with FLUSH is 5.3."""

from collections.abc import Callable

from .group import LONG, Flight, Group
from .jvm import Jvm
from .schedule import Seen, schedule, seen


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


@schedule("FLAW-27", flush=True)
def _nothing_is_done(jvm: Jvm) -> Seen:
    """B's m1 has reached B only; A has the group stopped: have all m1 when it counts as stopped?"""
    group = _flushed(jvm, "ABC", 3)
    _lost_copies(group, "B", "m0", "")
    _lost_copies(group, "B", "m1", "AC")
    stopped = _stopped(group, "A")
    have = {member: group.had(member, "B") for member in "ABC"}
    level = all(each == have["B"] for each in have.values())
    return seen(
        present=stopped and not level, text=f"stopped {stopped}, RECONCILE {group.said('FLUSH_RECONCILE')}: {have}"
    )


@schedule("FLAW-27/gap", flush=True)
def _gap(jvm: Jvm) -> Seen:
    """A multicasts m1 and m2: C has both, B only m2, so it waits for m1; A crashes, and B has the group
    stopped.
    """
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
    return seen(
        present=same and had["B"] != had["C"],
        text=f"{group.shown('BC')}, both from 2/A:ABC; RECONCILE {group.said('FLUSH_RECONCILE')}: {had}",
    )


@schedule("FLAW-91", flush=True)
def _target_not_reached(jvm: Jvm) -> Seen:
    """As FLAW-27, and requests for m1 go unanswered: does the flush count as done all the same?"""
    group = _flushed(jvm, "ABC", 3)
    _lost_copies(group, "B", "m0", "")
    _lost_copies(group, "B", "m1 m2", "AC")
    stopped = _stopped(group, "A", 60, lambda flight: bool({"XMIT_REQ", "XMIT_RSP"} & flight.headers))
    have = {member: group.had(member, "B") for member in "ABC"}
    level = all(each == have["B"] for each in have.values())
    return seen(present=stopped and not level, text=f"stopped {stopped}: {have}")


@schedule("FLAW-28", flush=True)
def _past_the_latch(jvm: Jvm) -> Seen:
    """B's m1 has passed the latch and reached no member when A has the group stopped; it arrives later."""
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
    return seen(present=stopped and not level and have != later, text=f"stopped {stopped}: {have}; afterwards {later}")


@schedule("FLAW-90", flush=True)
def _after_its_report(jvm: Jvm) -> Seen:
    """C multicasts m1 and crashes. A and B report that they have nothing. Then the copy arrives at B, before
    the view.
    """
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
    return seen(present=same and had["A"] != had["B"], text=f"{group.shown('AB')}, both from 2/A:ABC: {had}")


@schedule("FLAW-29", flush=True)
def _no_owner(jvm: Jvm) -> Seen:
    """A has the group stopped; C, which has stopped no member, says that the flush is over."""
    group = _flushed(jvm, "ABC", 3)
    _stopped(group, "A")
    before = [group.blocked(member) for member in "ABC"]
    group.do("resume", member="C")
    group.settle(4)
    after = [group.blocked(member) for member in "ABC"]
    return seen(present=all(before) and not all(after), text=f"latches closed {before}, after the resume of C {after}")


@schedule("FLAW-30", flush=True)
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
    return seen(
        present="x1" in had["B"] and entered["B"] != entered["C"], text=f"{entered}; x1 delivered so far: {had}"
    )


@schedule("FLAW-31", flush=True)
def _requester_and_successor(jvm: Jvm) -> Seen:
    """A has asked all to stop when A and B crash: do C and D resume?"""
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
    return seen(present=not done, text=f"{group.shown('CD')}; latches open: {freed}")


@schedule("FLAW-33/flush", flush=True)
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
    return seen(present=not after, text=f"stopped before the suspicion {before}, after it {after}")


@schedule("FLAW-34", flush=True)
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
    return seen(present=bool(closed), text=f"{group.shown('BC')}; latches closed at {closed}")


@schedule("FLAW-92", flush=True)
def _asked_one_dies(jvm: Jvm) -> Seen:
    """Only B has m1 of C, which is dead; A has the group stopped, and B crashes before it has sent m1 to
    the others.
    """
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
    return seen(present=not done, text=f"{group.shown('AD')}; latches open: {freed}")


@schedule("FLAW-121", flush=True)
def _two_flushes(jvm: Jvm) -> Seen:
    """A and B start flushes at the same time, each with its own request first: does either of them stop the
    group?
    """
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
    return seen(present=not won, text=f"{results}")


@schedule("FLAW-36", flush=True)
def _state_overwrites(jvm: Jvm) -> Seen:
    """B's m1 and m2 have reached C, not A, and requests go unanswered; C has the group stopped for A's
    state: has C delivered what is not in that state?
    """
    group = _flushed(jvm, "ABC", 3)
    _lost_copies(group, "B", "m0", "")
    _lost_copies(group, "B", "m1 m2", "A")
    stopped = _stopped(group, "C", 60, lambda flight: bool({"XMIT_REQ", "XMIT_RSP"} & flight.headers))
    state, own = group.had("A", "B"), group.had("C", "B")
    group.do("resume", member="C")
    group.settle(10, 1000)
    later = [payload for payload in group.had("A", "B") if payload not in state]
    lost = [payload for payload in own if payload in later]
    return seen(
        present=stopped and bool(lost),
        text=f"stopped {stopped}, A's state {state}, C had {own}; A delivers {later} later, C loses {lost}",
    )


@schedule("FLAW-94", flush=True)
def _joiner_multicasts(jvm: Jvm) -> Seen:
    """A lets C in, its answer reaches C and its view not yet B; C multicasts: does that go out?"""
    group = _flushed(jvm, "AB", 3)
    group.connect("C", "A")

    def hold(flight: Flight) -> bool:
        return flight.to == "B" and "VIEW" in flight.headers

    group.settle(8, 40, hold)
    answered = group.view("C")
    group.send("C", "x1")
    group.settle(2, 40, hold)
    out = bool(group.had("A", "C"))
    before = group.view("B")
    group.settle(20, 200)
    return seen(
        present=out and answered is not None and before != answered,
        text=f"C had {answered} when B had {before}: x1 went out {out}; later B had {group.had('B', 'C')}",
    )


@schedule("FLAW-123", flush=True)
def _suspected_by_the_requester(jvm: Jvm) -> Seen:
    """B has the group stopped, suspects C falsely, and resumes it: is C's latch opened?"""
    group = _flushed(jvm, "ABC", 3, flush_start=2000)
    stopped = _stopped(group, "B")
    closed = group.blocked("C")
    group.suspect("B", "C")
    group.settle(2, 100)
    group.do("resume", member="B")
    group.settle(20, 500)
    return seen(
        present=stopped and closed and group.blocked("C"),
        text=f"stopped {stopped}, C's latch closed {closed}; after the resume of B {group.blocked('C')}",
    )
