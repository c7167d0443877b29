"""Claims about the logs of several incarnations together: which messages each received, in which order.

Each is judged of what the replayed stacks did, and not of what the logs say of it.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise

from attrs import define, field

from groupcomm import safe
from groupcomm.effects import ALL
from groupcomm.events import Deliver, ViewInstalled
from groupcomm.view import Address, ViewId

from .replaying import Life, Rejected, Step
from .states import one_sequence


@define
class Judged:
    """The judged claims, how often each was judged, and the violations."""

    counts: Counter[str] = field(factory=Counter)
    rejected: list[Rejected] = field(factory=list)


def judge(lives: Sequence[Life], survivors: Collection[Address] = ()) -> Judged:
    """Judge the logs of a group's incarnations together.

    `survivors`: the members of the last view, when all of them had stopped to send and nothing was under way.
    """
    judged = Judged()
    by_member = {life.member: life for life in lives}
    for life in lives:
        if life.rejected is not None:
            judged.rejected.append(life.rejected)
        if by_member[life.member] is not life:
            judged.rejected.append(Rejected(life.log, 1, f"two logs are of {life.member}"))
        if life.group != lives[0].group:
            judged.rejected.append(Rejected(life.log, 1, f"it is of the group {life.group!r}, others are not"))
    judged.rejected += _tied(by_member, judged.counts)
    histories = {member: _History.of(life, judged) for member, life in by_member.items()}
    judged.rejected += _ordered(histories, judged.counts)
    if all(life.configs["sequencer"].majority for life in lives):
        judged.rejected += _on_one_path([*histories.values()], judged.counts)
        if all("state_transfer" in life.configs for life in lives):
            judged.rejected += one_sequence(lives, judged.counts)
    if all("safe" in life.configs for life in lives):
        judged.rejected += _uniform([_Ways.of(life) for life in lives], judged.counts)
    judged.rejected += _nothing_lost(histories, survivors, judged.counts)
    return judged


# Every received message was sent, and before


def _tied(lives: Mapping[Address, Life], counts: Counter[str]) -> Iterator[Rejected]:
    """Go through all logs at once: a line that receives waits for the line that sends."""
    sent: dict[Address, set[tuple[Address, bytes]]] = {member: set() for member in lives}
    at = dict.fromkeys(lives, 0)
    moves = True
    while moves:
        moves = False
        for member, life in lives.items():
            while at[member] < len(life.steps) and _is_sent(member, life.steps[at[member]], sent, counts):
                for kind, to, data, *_ in (each for each in life.steps[at[member]].on_paper if each[0] == "Datagram"):
                    assert kind == "Datagram"  # noqa: S101
                    sent[member].add((to, data))
                at[member] += 1
                moves = True
    for member, life in lives.items():
        if at[member] < len(life.steps):
            step = life.steps[at[member]]
            yield Rejected(life.log, step.line, f"it receives what {step.written[1]} has not sent before, by its log")


def _is_sent(
    member: Address, step: Step, sent: Mapping[Address, set[tuple[Address, bytes]]], counts: Counter[str]
) -> bool:
    if step.written[0] != "arrived" or step.written[1] == member:
        return True
    _, sender, data = step.written
    if sender not in sent:
        counts["received from members without a log"] += 1
        return True
    if (member, data) in sent[sender] or (ALL, data) in sent[sender]:
        counts["received, and sent"] += 1
        return True
    return False


# Views and deliveries


@define
class _History:
    """An incarnation's deliveries in each of its views, in order; its views, in order; and its multicasts."""

    log: str
    record: list[ViewId] = field(factory=list)
    """The views that former incarnations of its name have left it, in order."""
    views: list[ViewId] = field(factory=list)
    delivered: dict[ViewId, list[tuple[Address, bytes]]] = field(factory=dict)
    members: dict[ViewId, tuple[Address, ...]] = field(factory=dict)
    sent: list[bytes] = field(factory=list)
    lines: dict[ViewId, int] = field(factory=dict)
    sent_to: dict[Address, list[bytes]] = field(factory=dict)
    """Its unicasts to each member, in order."""
    unicasts: list[tuple[int, Address, bytes]] = field(factory=list)
    """The unicasts that came: the line, the sender, and the bytes."""
    first: dict[tuple[Address, bytes], int] = field(factory=dict)
    """Of each delivery, the place of the view in which it came first."""

    @classmethod
    def of(cls, life: Life, judged: Judged) -> "_History":
        history = cls(life.log)
        for step in life.steps:
            if step.written[0] == "multicast":
                history.sent.append(step.written[1])
            elif step.written[0] == "unicast":
                history.sent_to.setdefault(step.written[1], []).append(step.written[2])
            elif step.written[0] == "restored":
                history.record = [ViewId(counter, creator) for counter, creator, _ in step.written[1]]
            for each in step.unicasts:
                assert isinstance(each.payload, bytes)  # noqa: S101 - the codec has nothing else
                history.unicasts.append((step.line, each.sender, each.payload))
                judged.counts["unicasts"] += 1
            for event in step.ordered:
                match event:
                    case ViewInstalled(view):
                        if life.member not in view.members:
                            judged.rejected.append(Rejected(life.log, step.line, "a view without this member"))
                        if history.views and view.id.counter <= history.views[-1].counter:
                            judged.rejected.append(Rejected(life.log, step.line, "the views do not rise"))
                        history.views.append(view.id)
                        history.delivered[view.id] = []
                        history.members[view.id] = view.members
                        history.lines[view.id] = step.line
                        judged.counts["views"] += 1
                    case Deliver(sender, payload):
                        if not history.views:
                            judged.rejected.append(Rejected(life.log, step.line, "a delivery in no view"))
                            continue
                        assert isinstance(payload, bytes)  # noqa: S101 - the codec has nothing else
                        history.delivered[history.views[-1]].append((sender, payload))
                        history.first.setdefault((sender, payload), len(history.views) - 1)
                        judged.counts["deliveries"] += 1
        return history

    def news(self, view: ViewId, other: "_History") -> list[tuple[Address, bytes]]:
        """Return its deliveries in a view that `other` is in, less the earlier deliveries of `other`.

        A member that was cut off sends again what others have delivered, and they drop it (`NewsTo` in
        `SequencerClaims`). A message is known by its sender and its bytes: the runtime numbers them.
        """
        place = other.views.index(view)
        return [each for each in self.delivered[view] if other.first.get(each, place) >= place]

    def next(self, view: ViewId) -> ViewId | None:
        place = self.views.index(view) + 1
        return self.views[place] if place < len(self.views) else None


def _ordered(histories: Mapping[Address, _History], counts: Counter[str]) -> Iterator[Rejected]:
    """Integrity, one view by an identifier, total order in a view, virtual synchrony."""
    in_view: defaultdict[ViewId, list[_History]] = defaultdict(list)
    for member, history in histories.items():
        yield from _integrity(history, histories)
        yield from _unicasts(member, history, histories)
        for view in history.views:
            in_view[view].append(history)
    for view, those in in_view.items():
        for place, one in enumerate(those):
            for other in those[place + 1 :]:
                counts["pairs in a view"] += 1
                mine, theirs = one.news(view, other), other.news(view, one)
                shorter = min(len(mine), len(theirs))
                where = f"in view {view.counter}/{view.creator} it and {other.log}"
                if one.members[view] != other.members[view]:
                    yield Rejected(one.log, one.lines[view], f"{where} have other members")
                if mine[:shorter] != theirs[:shorter]:
                    yield Rejected(one.log, one.lines[view], f"{where} deliver in another order")
                elif one.next(view) == other.next(view) and one.next(view) and mine != theirs:
                    yield Rejected(one.log, one.lines[view], f"{where} survive together, and deliver other messages")


def _on_one_path(histories: Sequence[_History], counts: Counter[str]) -> Iterator[Rejected]:
    """With the option majority: of two views with deliveries one precedes the other (DeliveredOnOnePath).

    The first view of an incarnation follows the views of its record. Counters begin anew where all were killed.
    """
    follows: defaultdict[ViewId, set[ViewId]] = defaultdict(set)
    for history in histories:
        path = [*history.record, *history.views]
        for place, view in enumerate(path):
            follows[view].update(path[max(place - 1, 0) : place])
    delivering = {view: each for each in histories for view in each.views if each.delivered[view]}
    before: dict[ViewId, frozenset[ViewId]] = {}
    try:
        for view in TopologicalSorter(follows).static_order():
            before[view] = frozenset().union(*({each} | before[each] for each in follows[view]))
    except CycleError as error:
        view = error.args[1][0]
        yield Rejected("the logs", 1, f"view {view.counter}/{view.creator} comes before itself, by their records")
        return
    for one, other in pairwise(view for view in before if view in delivering):
        counts["formed views in a line"] += 1
        if one not in before[other]:
            history = delivering[other]
            where = f"{one.counter}/{one.creator} and in {other.counter}/{other.creator}"
            why = f"members deliver in {where}, of which neither comes before the other"
            yield Rejected(history.log, history.lines[other], why)


@define
class _Ways:
    """What SAFE took and told in an incarnation.

    `had`: of each message, by sender and number, the place in `path` of the view in which it was delivered. `safe`: of
    each own message that was told safe its number, the way since its delivery, and the line.
    """

    member: Address
    log: str
    path: list[ViewId] = field(factory=list)
    had: dict[tuple[Address, int], int] = field(factory=dict)
    safe: list[tuple[int, list[ViewId], int]] = field(factory=list)

    @classmethod
    def of(cls, life: Life) -> "_Ways":
        ways, told = cls(life.member, life.log), 0
        for step in life.steps:
            for event in step.told:
                match event:
                    case ViewInstalled(view):
                        ways.path.append(view.id)
                    case (sender, number):
                        ways.had[sender, number] = len(ways.path) - 1
                    case safe.SafeUpTo(number):
                        for each in range(told + 1, number + 1):
                            since = ways.had.get((life.member, each), len(ways.path))
                            ways.safe.append((each, ways.path[since:], step.line))
                        told = number
                    case safe.UnknownUpTo(number):
                        told = number
        return ways

    def goes(self, way: Sequence[ViewId]) -> bool:
        """Say whether it has gone a way, whose first view is one of its own."""
        at = self.path.index(way[0])
        return self.path[at : at + len(way)] == way


def _uniform(those: Sequence[_Ways], counts: Counter[str]) -> Iterator[Rejected]:
    """What is safe is delivered by all that have gone the sender's way since its delivery (HeldByAll)."""
    been: defaultdict[ViewId, list[_Ways]] = defaultdict(list)
    for one in those:
        for view in {*one.path}:
            been[view].append(one)
    for one in those:
        for number, way, line in one.safe:
            counts["safe"] += 1
            there = been[way[0]] if way else []
            lacking = [other.log for other in there if other.goes(way) and (one.member, number) not in other.had]
            if not way:
                yield Rejected(one.log, line, f"its message {number} is told safe, and was not delivered here")
            if lacking:
                yield Rejected(one.log, line, f"its message {number} is told safe, and {', '.join(lacking)} lacks it")


def _integrity(history: _History, histories: Mapping[Address, _History]) -> Iterator[Rejected]:
    """Each member's messages are delivered at most once, in the order in which it sent them."""
    came = ((history.lines[view], *each) for view in history.views for each in history.delivered[view])
    sent = {sender: each.sent for sender, each in histories.items()}
    if (wrong := _not_sent_so(came, sent)) is not None:
        line, sender = wrong
        why = f"it delivers of {sender} what that has not sent, or twice, or in another order"
        yield Rejected(history.log, line, why)


def _unicasts(member: Address, history: _History, histories: Mapping[Address, _History]) -> Iterator[Rejected]:
    """What came for a member alone was sent to it, at most once, in the order of its sender (UNICAST)."""
    sent = {sender: each.sent_to.get(member, []) for sender, each in histories.items()}
    if (wrong := _not_sent_so(history.unicasts, sent)) is not None:
        line, sender = wrong
        why = f"a unicast of {sender} that it has not sent to {member}, or twice, or in another order"
        yield Rejected(history.log, line, why)


def _not_sent_so(
    came: Iterable[tuple[int, Address, bytes]], sent: Mapping[Address, list[bytes]]
) -> tuple[int, Address] | None:
    """Return the line and the sender of the first that was not sent, or comes twice, or in another order."""
    places: Counter[Address] = Counter()
    for line, sender, payload in came:
        if sender not in sent:
            continue
        try:
            places[sender] = sent[sender].index(payload, places[sender]) + 1
        except ValueError:
            return line, sender
    return None


def _nothing_lost(
    histories: Mapping[Address, _History], survivors: Collection[Address], counts: Counter[str]
) -> Iterator[Rejected]:
    """Survivors have their own messages back, and delivered the same in the view that has all of them."""
    those = [histories[member] for member in survivors if member in histories]
    for member in survivors:
        if member not in histories:
            yield Rejected(f"{member}.log", 1, "a survivor has no log")
    for history in those:
        counts["sent by survivors"] += len(history.sent)
        back = Counter(data for each in history.delivered.values() for _, data in each)
        lost = sum(not back[data] for data in history.sent)
        if lost:
            yield Rejected(history.log, 1, f"{lost} messages that it sent are lost")
    for one, other in pairwise(those):
        mine, theirs = (
            [view for view in each.views if set(each.members[view]) == set(survivors)] for each in (one, other)
        )
        if not mine or not theirs or mine[-1] != theirs[-1]:
            yield Rejected(one.log, 1, f"it and {other.log} do not end in one view of all survivors")
        elif one.news(mine[-1], other) != other.news(mine[-1], one):
            yield Rejected(one.log, 1, f"in the last view it and {other.log} have delivered other messages")
