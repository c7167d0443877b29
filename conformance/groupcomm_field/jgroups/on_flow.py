"""Flow control's errata on real JGroups: MFC, which has credits."""

from typing import Final

from .group import Flight, Group
from .jvm import Jvm
from .schedule import Seen, schedule, seen

_CREDIT: Final = 400
"""Bytes; a message has some fifty, so that eight are more than a sender has credit for."""

_PAYLOAD: Final = "{}" + 48 * "."


@schedule("FLAW-245")
def _kept_without_end(jvm: Jvm) -> Seen:
    """A multicasts ten times what it has credit for. All arrives, and so does credit; STABLE's messages are
    late. What do A and B keep?
    """
    group = Group(jvm, 2, "MFC", "STABLE", gossip=1000, credit=_CREDIT)
    group.found("AB")
    before = {member: group.kept(member) for member in "AB"}

    def hold(flight: Flight) -> bool:
        return "STABLE" in flight.text.upper()

    messages = 80
    for number in range(messages):
        group.send("A", _PAYLOAD.format(number))
        group.settle(1, 100, hold)
    out = len(group.had("B", "A"))
    kept = {member: group.kept(member) - before[member] for member in "AB"}
    return seen(
        present=max(kept.values()) * len(_PAYLOAD) > 2 * _CREDIT,
        text=f"{out} messages delivered at B, of {messages}; kept {kept}; credit given {group.said('REPLENISH')}",
    )


@schedule("FLAW-246", flush=True)
def _credit_of_the_dead(jvm: Jvm) -> Seen:
    """C crashes, and B has spent C's credit. A has the group stopped for the view without C, and B's application
    multicasts in `block()`. Does that return, and has B the view?
    """
    group = Group(jvm, 3, "FLUSH", "MFC", flush_start=2000, acks=2000, credit=_CREDIT)
    group.found("ABC")
    group.crash("C")
    for number in range(_CREDIT // len(_PAYLOAD)):
        group.send("B", _PAYLOAD.format(number))
    group.settle()
    group.do("at_block", member="B", payload=_PAYLOAD.format("last"))
    group.suspect("AB", "C")
    group.settle(240, 500)
    asked, returned = group.happened("block", "B"), group.happened("returned", "B")
    return seen(
        present=asked and not returned,
        text=f"block() returned within two minutes {returned}; {group.shown('AB')}; "
        f"credit asked for {group.said('CREDIT_REQUEST')}",
    )
