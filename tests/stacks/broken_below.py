"""Forty-nine broken cores of NAKACK and UNICAST, and how many of them a simulation over datagrams notices.

As `tests.stacks.broken`: `python -m tests.stacks.broken_below [NAME...]` runs 200,000 events of each.
"""

import sys
from collections.abc import Mapping
from typing import Final

from groupcomm_simulator.setup import DATAGRAMS, Setup

from .broken import Broken, Left, noticed

_UNICAST: Final = (
    ("nothing_sent_again", "side)), (*again, _timer(side))", "side)), (_timer(side),)"),
    ("retransmits_once", "side)), (*again, _timer(side))", "side)), again"),
    ("timer_never_set", "((sent,) if old is not None and old.kept else (sent, _timer(side)))", "(sent,)"),
    (
        "waiting_acknowledged",
        "Ack(connection, window.delivered, state.incarnation)",
        "Ack(connection, max((window.delivered, *(n for n, _ in window.ahead))), state.incarnation)",
    ),
    (
        "nothing_acknowledged",
        "Ack(connection, window.delivered, state.incarnation)",
        "Ack(connection, 0, state.incarnation)",
    ),
    (
        "gaps_skipped",
        "while count < len(ahead) and ahead[count][0] == window.delivered + count + 1:",
        "while count < len(ahead):",
    ),
    ("late_copies_wait", "if seqno <= window.delivered:", "if False:"),
    (
        "window_for_who_knows_nobody",
        "if message.receiver != state.incarnation:",
        "if message.receiver not in (state.incarnation, UNKNOWN):",
    ),
    ("window_for_any_incarnation", "if message.receiver != state.incarnation:", "if False:"),
    (
        "lower_connection_replaces",
        "if window is not None and connection < window.connection:\n            return heard",
        "if False:\n            return heard",
    ),
    (
        "higher_connection_goes_on",
        "if window is None or window.connection != connection:",
        "if window is None or connection < window.connection:",
    ),
    (
        "receive_sides_forgotten",
        "members=members, sends=SendSides(open_sides)), ()",
        (
            "members=members, sends=SendSides(open_sides), receives=ReceiveSides(tuple("
            "each for each in state.receives.entries if each[0] not in excluded))), ()"
        ),
    ),
    ("send_sides_stay", "if entry[0] not in excluded)", "if entry[0] not in ())"),
    ("silence_ignored", "if not state.members or peer in state.members or", "if True or"),
    ("silent_members_closed", "if not state.members or peer in state.members or", "if"),
    ("strangers_closed", "if entry[0] not in excluded)", "if entry[0] in members)"),
    (
        "later_incarnation_not_heard",
        "later = incarnation > state.known.get(sender, UNKNOWN)",
        "later = sender not in state.known",
    ),
    ("kept_is_dropped", "if not old.kept:\n        return evolve(", "if True:\n        return evolve("),
    ("connection_goes_on", "if peer not in state.known:", "if True:"),
    ("any_connection_acknowledged", "if side is None or side.connection != message.connection:", "if side is None:"),
    (
        "one_more_acknowledged",
        "bisect_right(side.kept, message.seqno, key",
        "bisect_right(side.kept, message.seqno + 1, key",
    ),
    ("asked_in_vain", "is new (UNI-19)\n            return heard", "is new (UNI-19)\n            return state, ()"),
    ("numbers_begin_again", "Connection(state.incarnation, state.opened + 1),", "Connection(state.incarnation, 1),"),
    ("incarnation_not_taken", "return evolve(state, incarnation=event.incarnation), ()", "return state, ()"),
    ("last_sent_again", "for place in range(count))", "for place in range(len(side.kept) - count, len(side.kept)))"),
)

_NAKACK: Final = (
    ("own_not_delivered", "        PassUp(Deliver(state.member, event.payload)),\n", ""),
    (
        "messages_of_any_view",
        (
            "    if not state.in_view or message.view_id != state.view.id:\n        return state, ()\n"
            "    _require_members(state, event, event.sender, message.origin)\n    window ="
        ),
        "    if message.origin not in state.windows:\n        return state, ()\n    window =",
    ),
    (
        "late_copies_kept",
        "if message.seqno <= window.delivered or message.seqno in window.pending:",
        "if message.seqno in window.pending:",
    ),
    (
        "gap_skipped",
        "_drain_of(state, origin, evolve(window, pending=",
        "_drain_of(state, origin, evolve(window, delivered=max(window.delivered, seqno - 1), pending=",
    ),
    (
        "highest_ignored",
        "return _asking(config, _with(state, heard), ()) if heard else (state, ())",
        "return state, ()",
    ),
    ("highest_never_told", "if not any(window.kept for window in state.windows.values()):", "if True:"),
    ("nothing_asked", "if state.asking or next(iter(_requests(config, state)), None) is None:", "if True:"),
    (
        "asked_once",
        "return _none_arrived(state), (*requests, _request_timer(config))",
        "return _none_arrived(state), requests",
    ),
    ("asking_never_ends", "return evolve(_none_arrived(state), asking=False), ()", "return state, ()"),
    ("nothing_answered", "if store is None or event.sender == state.member:", "if True:"),
    ("former_view_not_kept", "former = Former(state.view.id, PerMember(stores))", "former = _NO_FORMER"),
    (
        "one_more_purged",
        "min(event.digest[member], window.delivered))",
        "min(event.digest[member] + 1, window.delivered))",
    ),
    ("all_purged", "min(event.digest[member], window.delivered))", "window.delivered)"),
    (
        "waiting_outlives_view",
        "windows.append((member, _window(member, begun, begun if window is None else window.low)))",
        (
            "windows.append((member, evolve(_window(member, begun, begun if window is None else window.low), "
            "pending=_NOTHING_PENDING if window is None else window.pending)))"
        ),
    ),
    (
        "joiner_from_nothing",
        "begun = state.starts.get(member, NOTHING) if window is None else window.delivered",
        "begun = NOTHING if window is None else window.delivered",
    ),
    (
        "windows_set_anew",
        "begun = state.starts.get(member, NOTHING) if window is None else window.delivered",
        "begun = state.starts.get(member, NOTHING if window is None else window.delivered)",
    ),
    (
        "nothing_held_back_below",
        "return min(seqno, window.base + state.limit[origin]) if state.held else seqno",
        "return seqno",
    ),
    (
        "limit_from_the_start",
        "return min(seqno, window.base + state.limit[origin]) if state.held else seqno",
        "return min(seqno, NOTHING + state.limit[origin]) if state.held else seqno",
    ),
    ("fetch_ignored", "named = evolve(window, fetch=Source(event.holder, window.base + event.upto))", "named = window"),
    (
        "fetch_from_the_start",
        "named = evolve(window, fetch=Source(event.holder, window.base + event.upto))",
        "named = evolve(window, fetch=Source(event.holder, NOTHING + event.upto))",
    ),
    ("release_ignored", "return _drain_all(config, evolve(state, held=False, limit=EMPTY_VECTOR))", "return state, ()"),
    (
        "digest_one_too_high",
        "Vector(tuple((member, window.delivered) for member",
        "Vector(tuple((member, window.delivered + 1) for member",
    ),
    (
        "waiting_told_as_delivered",
        "DigestEntry(window.low, window.delivered, _highest_of",
        "DigestEntry(window.low, _highest_of(window, window.delivered), _highest_of",
    ),
    ("origin_alone_asked", "yield Datagram(window.told.holder, X", "yield Datagram(origin, X"),
)

BROKEN: Final = tuple(
    Broken(name, layer, name, old, new)
    for layer, cores in (("unicast", _UNICAST), ("nakack", _NAKACK))
    for name, old, new in cores
)

LEFT: Final[Mapping[str, Left]] = {
    "send_sides_stay": Left("two_messages_lossy", "a report closes what a view has left open"),
    "late_copies_kept": Left("merge", "what is kept for too long violates no claim"),
    "highest_ignored": Left("merge", "the next multicast shows the gap, and the flush fetches what is last"),
    "former_view_not_kept": Left("merge", "who is asked by a member of the former view is seldom the last to have it"),
    "one_more_purged": Left("merge", "a member must lack the message that is purged too early, and ask for it"),
    "waiting_outlives_view": Left("next", "what waits must have the seqno that is next in the next view"),
    "windows_set_anew": Left("", "merging gives starts of new members alone; tests/nakack has a step"),
    "fetch_ignored": Left("merge", "what the flush has named is mostly asked for already"),
    "fetch_from_the_start": Left("merge", "it asks for less than the cut, and the rest is mostly asked for already"),
    "waiting_told_as_delivered": Left(
        "", "little waits where it is read; rows have no more than steps, tests/nakack has it"
    ),
    "origin_alone_asked": Left("told", "a sender that has not crashed answers; others ask for what a crashed one sent"),
}
"""As `broken.LEFT`, of the cores here."""

if __name__ == "__main__":
    noticed(BROKEN, sys.argv[1:], Setup(DATAGRAMS), LEFT)
