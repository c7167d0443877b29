"""The words of StableInductive for what the solver has of STABLE: the last section of that module."""

from typing import Final

import z3

from . import vocabulary as words
from .vocabulary import ADDRESS, ANNOUNCED, MEMBER, PROMISE, VIEW, VOTE
from .writing import Words

# A step says what it requires of these, and leaves them open besides.
CHOSEN: Final = ("delivered", "purged", "low", "ahead", "received")
_OWN: Final = ("begun", "installed", "up", "heard_from", "pending", "received_bytes", "promised")
_VECTORS: Final = (*CHOSEN, "vote", "minimum")
_PACKETS: Final = {VOTE: "Votes(network')", ANNOUNCED: "Announcements(network')"}
WORDS: Final = Words(
    sets={
        MEMBER: "IncarnationsOf(life')",
        ADDRESS: "Member",
        VIEW: "DOMAIN views'",
        PROMISE: "(standing \\cup standing')",
        z3.IntSort(): "(SeqnosAhead \\cup SeqnosAhead')",
        **_PACKETS,
    },
    undecided={VOTE: "Votes(network)", ANNOUNCED: "Announcements(network)"},
    names={
        "address": "{0}.address",
        "address Z": '"Z"',
        "address of nobody": '""',
        "size": "act'.event.size",
        "MaxBytes": "MaxBytes",
        "in": "LifeIn(views', {0}, {1})",
        "occupant": "OccupantIn(views', {0}, {1})",
        "precedes": "PrecedesIn(views', {0}, {1})",
        "follows_other": "FollowsOtherIn(views', {0}, {1})",
        "joins": "JoinsIn(views', {0}, {1})",
        "along": "AlongIn(views', {0}, {1}, {2}, {3})",
        "carried": "CarriedIn(views', {0}, {1}, {2}, {3})",
        "parent": "ParentIn(views', {0}, {1})",
        "first": "(views'[{0}].preds = {{}})",
        "counter": "CounterIn(views', {0})",
        "creator": "CreatorIn(views', {0})",
        "waits": "(\\E k \\in {{{1}}} : WaitsIn({0}, k)')",
        "tells": "(\\E k \\in {{{2}}} : TellsIn({0}, {1}, k)')",
        "by": "By({0})",
        "to": "To({0})",
        "promised_in": "{0}.view",
        "told": "Entry({0}.vector, {1})",
        **{f"sender_{sort}": "SenderIn(views', {0})" for sort in _PACKETS},
        **{f"view_{sort}": "NumberIn(views', {0}.message.view_id)" for sort in _PACKETS},
        **{f"vector_{sort}": "Entry({0}.message.digest, {1})" for sort in _PACKETS},
        # Choices
        **{f"{name}_then": f"{name.capitalize()}Now(a_0, {{0}})'" for name in CHOSEN},
        "ahead_then": "AheadNow(a_0, {0}, {1})'",
        "up_then": "UpNow({0})'",
        "served_then": "(\\E w \\in {{{2}}} : ServedNow({0}, {1}, w)')",
        "abandoned_then": "(\\E u \\in {{{0}}}, w \\in {{{1}}} : AbandonedNow(u, w)')",
        "redeemed": "redeemed[{0}]",
    },
    among={
        "a_0": "{x \\in PresentOf(life') : x.address = act'.member}",
        "sent": "(IF network' = {} THEN {None} ELSE network')",
        "redeemed": "[DOMAIN views -> standing \\cup {None}]",
    },
    functions={name: sorts for name, sorts in words.FUNCTIONS.items() if name not in (*words.GHOSTS, "decided")},
    # Of an incarnation that is over nothing is known any more. A vector has entries for members of the view.
    defined={**dict.fromkeys(_OWN, "IsPresent({0})'"), **dict.fromkeys(_VECTORS, "HasEntry({0}, {1})'")},
)
