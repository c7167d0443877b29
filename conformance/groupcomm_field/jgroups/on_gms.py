"""GMS's errata on real JGroups."""

from typing import Final

from .group import Flight, Group
from .jvm import Jvm
from .schedule import Seen, schedule, seen


@schedule("FLAW-66")
def _joiner_answered_first(jvm: Jvm) -> Seen:
    """C joins A and B. A's view is not at B when C has its answer, and A crashes."""
    group = Group(jvm, 3)
    group.found("AB")
    return _answered_early(group)


@schedule("FLAW-66/timeout")
def _joiner_answered_after_timeout(jvm: Jvm) -> Seen:
    """C joins A and B. B's acknowledgement is late, and A stops waiting for it. A crashes."""
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
    return seen(present=group.view("B") != group.view("C"), text=group.shown("BC"))


@schedule("FLAW-32")
def _view_of_the_dead(jvm: Jvm) -> Seen:
    """A, B, C: A admits D, its view reaches C only, and A crashes. B takes over."""
    group = Group(jvm, 4)
    group.found("ABC")
    group.connect("D", "A")
    group.give("JOIN_REQ")
    group.give("VIEW", by="A", to="C")
    group.crash("A")
    group.suspect("BC", "A")
    group.arrive()
    return seen(present=group.view("B") != group.view("C"), text=group.shown("BC"))


@schedule("FLAW-68")
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
    return seen(present=group.view("C") != before, text=f"C {before}, after A's view {group.view('C')}")


@schedule("FLAW-67")
def _one_identifier(jvm: Jvm) -> Seen:
    """A leaves, and its view reaches C only. D crashes, and B suspects A and D at once."""
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
    return seen(present=same, text=f"{group.shown('BC')}; the view without A was decided by {', '.join(deciders)}")


@schedule("FLAW-71")
def _leaver_takes_over(jvm: Jvm) -> Seen:
    """B asks to leave. A's view without B reaches C only, and A crashes. B takes over, and D follows it."""
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
    return seen(present=led, text=f"{views}")


@schedule("FLAW-73")
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
    return seen(present=back and left, text=f"B joined {joined} and left; A {before}, after the request {after}")


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
    return seen(present=view is None or view.members != "C", text=f"{[str(view) for view in group.views['C'][-2:]]}")


@schedule("FLAW-31/gms")
def _suspected_apart(jvm: Jvm) -> Seen:
    """A and B crash; C hears of B first and of A later than one bundle takes."""
    return _second_suspected_first(jvm, 50, 200)


@schedule("FLAW-33")
def _ack_of_the_dead(jvm: Jvm) -> Seen:
    """C crashes, and A learns it while it admits the first of two joiners: does the next view wait for C?"""
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
    return seen(present=not together, text=group.shown("ADE"))


@schedule("FLAW-75")
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
    return seen(present="m1" not in group.had("B", "A"), text=f"B in {group.view('B')} delivered {group.had('B', 'A')}")


@schedule("FLAW-75/repeated")
def _repeated_answer(jvm: Jvm) -> Seen:
    """B asks twice; A multicasts m1 in the view with B, answers again, and the second answer arrives
    first.
    """
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
    return seen(present="m1" not in group.had("B", "A"), text=f"B in {group.view('B')} delivered {group.had('B', 'A')}")


_BOTH: Final = 2


@schedule("FLAW-80")
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
    return seen(present="m1" not in group.had("B", "A"), text=f"B in {group.view('B')} delivered {group.had('B', 'A')}")


@schedule("FLAW-87")
def _granted_twice(jvm: Jvm) -> Seen:
    """B asks twice before it is answered: is it let in twice?"""
    group = Group(jvm, 2, join=300)
    group.found("A")
    group.connect("B", "A")
    group.advance(500)
    group.settle(6)
    views = [str(view) for view in group.views["A"]]
    return seen(present=len(set(views)) > _BOTH, text=f"A {views}")


@schedule("FLAW-23")
def _one_more_is_not_the_view(jvm: Jvm) -> Seen:
    """A's m1 has not come back to A when A takes the digest for B: does B deliver m1?"""
    group = Group(jvm, 2)
    group.found("A")
    group.connect("B", "A")
    group.send("A", "m1")
    late = group.take(group.flying("MSG", by="A", to="A"))
    group.give("JOIN_REQ")
    before = group.had("A", "A")
    for flight in late:
        group.receive(flight)
    group.settle(10, 700)
    group.send("A", "m2")
    group.settle(10, 700)
    had = group.had("B", "A")
    return seen(
        present=not before and "m2" in had and "m1" not in had,
        text=f"A had delivered {before} when it took the digest; B in {group.view('B')} delivered {had}",
    )


@schedule("FLAW-133")
def _excluded_before_it_knew(jvm: Jvm) -> Seen:
    """A lets B in, B's answer is lost, and A suspects B: is B let in when it asks again?"""
    group = Group(jvm, 2, join=1000, acks=300)
    group.found("A")
    group.connect("B", "A")
    group.give("JOIN_REQ")

    def hold(flight: Flight) -> bool:
        return flight.to == "B"

    group.settle(2, 0, hold=hold)
    let_in = group.view("A")
    group.lose(to="B")
    group.suspect("A", "B")
    group.settle(4, 100, hold=hold)
    group.lose(to="B")
    without = group.view("A")
    group.settle(20, 500)
    inside = group.view("B") is not None and group.view("A") == group.view("B")
    return seen(present=not inside, text=f"A {let_in}, {without}, and in the end {group.shown('AB')}")


@schedule("bundling")
def _ten_at_once(jvm: Jvm) -> Seen:
    """Ten join A at once, and then all ten leave at once: does either take more than two views?"""
    others = "BCDEFGHIJK"
    group = Group(jvm, 1 + len(others), bundle=60)
    group.found("A")
    began = len(group.log)
    for member in others:
        group.connect(member, "A")
    group.settle(20)
    came = str(group.view("A"))
    joins = _cost(group, began)
    began = len(group.log)
    for member in others:
        group.leave(member)
    group.settle(20)
    leaves = _cost(group, began)
    done = all(group.happened("connected", each) and group.happened("left", each) for each in others)
    shown = [f"{views} views and {messages} messages" for views, messages in (joins, leaves)]
    return seen(
        present=not done or max(joins[0], leaves[0]) > _BOTH,
        text=f"{shown[0]} to {came}, {shown[1]} to {group.view('A')}",
    )


def _cost(group: Group, began: int) -> tuple[int, int]:
    """Count the views of A in the log from a place on, and GMS's messages; a multicast is one."""
    log = group.log[began:]
    views = sum(event["kind"] == "installed" and event["member"] == "A" for event in log)
    return views, sum(event["kind"] == "sent" and bool(_OF_GMS & set(event["headers"])) for event in log)


_OF_GMS: Final = frozenset(("JOIN_REQ", "JOIN_RSP", "LEAVE_REQ", "LEAVE_RSP", "VIEW", "VIEW_ACK"))
