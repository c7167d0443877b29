"""A group of FLUSH cores under a random schedule, larger than the models: what `FlushGroup` has around its members."""

import random
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from attrs import define, evolve, field

from groupcomm import flush
from groupcomm.digest import Vector
from groupcomm.effects import Multicast, PassDown, PassUp, Send
from groupcomm.events import Block, Deliver, Fetch, Left, Payload, Unblock, ViewInstalled
from groupcomm.view import Address, ViewId

CONFIG = flush.Config()


@define
class Process:
    """A member with its application and the layer below."""

    state: flush.State
    application: str = "free"
    path: list[ViewId] = field(factory=list)
    """The views that it installed."""
    delivered: dict[ViewId, list[tuple[Address, Payload]]] = field(factory=lambda: defaultdict(list))
    """What it passed up, in each view."""
    window: dict[Address, dict[int, flush.Data]] = field(factory=lambda: defaultdict(dict))
    """Multicasts of its view that have come and are not delivered."""
    store: dict[tuple[ViewId, Address, int], flush.Data] = field(factory=dict)
    """What it has ever received."""
    fetches: list[Fetch] = field(factory=list)


class Violation(AssertionError):  # noqa: N818 - what tests expect to see
    """The group does what it must not."""


class Group:
    """Members by address; `step` takes one step of those that may happen, at random."""

    def __init__(self, seed: int, members: str, joiners: str, step: Callable[..., Any] = flush.step) -> None:
        self.dice = random.Random(seed)  # noqa: S311 - repeatable, no secret
        self.core = step
        first = flush.Decision(ViewId(1, members[0]), tuple(members), flush.NO_DECISION.id, frozenset())
        self.processes = {name: Process(flush.start(name)) for name in members + joiners}
        for name in members:
            process = self.processes[name]
            zeros = Vector(tuple((each, 0) for each in members))
            process.state = evolve(process.state, decision=first, delivered=zeros)
            process.path.append(first.id)
        self.up = {*members, *joiners}
        self.wires: dict[tuple[Address, Address], list[flush.Message]] = defaultdict(list)
        self.copies: list[tuple[Address, Address, Address, flush.Data]] = []
        self.wishes: set[Address] = set()
        self.sent: dict[ViewId, list[tuple[Address, Payload]]] = defaultdict(list)
        self.casts = 0

    # What may happen

    def moves(self) -> Iterator[Callable[[], None]]:
        """All that is on its way, or due."""
        for (sender, to), messages in self.wires.items():
            if messages and to in self.up:
                yield partial(self.arrive, sender, to)
        for copy in self.copies:
            yield partial(self.copied, copy)
        for name in sorted(self.up):
            process = self.processes[name]
            state = process.state
            if process.application == "handler":
                yield partial(self.take, name, flush.BlockReturned())
            for fetch in process.fetches:
                if fetch.holder in self.up:
                    yield partial(self.serve, name, fetch)
            for sender, data in self.deliverable(process):
                yield partial(self.take, name, flush.DataReceived(sender, data))
            for missed in sorted(state.watched - state.suspected - self.up):
                if not self.processes[missed].state.gone or not self.wires[missed, name]:
                    yield partial(self.take, name, flush.Suspected(missed))
            if state.acts:
                yield from self.requests(name, state)

    def requests(self, name: Address, state: flush.State) -> Iterator[Callable[[], None]]:
        known = {*state.decision.members, *state.joining} | state.suspected
        for joiner in sorted(self.up - known):
            if not self.processes[joiner].state.joined:
                yield partial(self.take, name, flush.JoinRequested(joiner))
        for leaver in sorted(self.wishes & self.up & {*state.decision.members}):
            if leaver not in state.leaving or (leaver == name and state.last):
                yield partial(self.take, name, flush.LeaveRequested(leaver))

    def deliverable(self, process: Process) -> Iterator[tuple[Address, flush.Data]]:
        state = process.state
        for sender, count in state.delivered.items():
            data = process.window[sender].get(count + 1)
            if data is not None and not (state.frozen and count + 1 > state.limit[sender]):
                yield sender, data

    def step(self) -> bool:
        moves = [*self.moves()]
        if not moves:
            return False
        self.dice.choice(moves)()
        return True

    # Doing it

    def take(self, name: Address, event: flush.Event) -> None:
        process = self.processes[name]
        before = process.state
        process.state, effects = self.core(CONFIG, before, event)
        for effect in effects:
            match effect:
                case Send(to, message):
                    self.wires[name, to].append(message)
                case Multicast(data):
                    if before.frozen and process.state.frozen:
                        raise Violation(f"{name} multicasts while it is frozen")
                    self.sent[data.view_id].append((name, data.payload))
                    receivers = [m for m in process.state.decision.members if m in self.up]
                    self.copies += [(name, to, name, data) for to in receivers]
                case PassUp(Block()):
                    if process.application != "free":
                        raise Violation(f"{name} is blocked twice")
                    process.application = "handler"
                case PassUp(Unblock()):
                    if process.application == "free":
                        raise Violation(f"{name} is freed without having been blocked")
                    process.application = "free"
                case PassUp(Deliver(sender, payload)):
                    process.delivered[process.path[-1]].append((sender, payload))
                case PassUp(ViewInstalled(view)):
                    process.path.append(view.id)
                    process.window.clear()
                    process.fetches.clear()
                case PassUp(Left()):
                    self.up.discard(name)
                case PassDown(Fetch() as fetch):
                    process.fetches.append(fetch)
                case _:
                    pass
        if not process.state.owes:
            process.fetches.clear()
        if isinstance(event, flush.BlockReturned) and process.application == "handler":
            process.application = "blocked"

    def arrive(self, sender: Address, to: Address) -> None:
        message = self.wires[sender, to].pop(0)
        event = getattr(flush, f"{type(message).__name__}Received")
        self.take(to, event(sender, message))

    def copied(self, copy: tuple[Address, Address, Address, flush.Data]) -> None:
        self.copies.remove(copy)
        _, to, sender, data = copy
        process = self.processes[to]
        if to in self.up:
            process.store[data.view_id, sender, data.seqno] = data
            if data.view_id == process.state.decision.id:
                process.window[sender][data.seqno] = data

    def serve(self, name: Address, fetch: Fetch) -> None:
        process = self.processes[name]
        process.fetches.remove(fetch)
        for seqno in range(process.state.delivered[fetch.sender] + 1, fetch.upto + 1):
            data = self.processes[fetch.holder].store[process.path[-1], fetch.sender, seqno]
            self.copies.append((fetch.holder, name, fetch.sender, data))

    # Applications and faults

    def cast(self, name: Address) -> None:
        state = self.processes[name].state
        if state.there:
            self.casts += 1
            self.take(name, flush.SendRequested(Payload(f"{name}{self.casts}")))

    def leave(self, name: Address) -> None:
        state = self.processes[name].state
        if state.there and name not in self.wishes:
            self.wishes.add(name)
            self.take(name, flush.LeaveRequested(name))

    def crash(self, name: Address) -> None:
        """Some first part of what it sent to each arrives; each of its copies, or not."""
        self.up.discard(name)
        for (sender, _), messages in self.wires.items():
            if sender == name:
                del messages[self.dice.randint(0, len(messages)) :]
        self.copies = [c for c in self.copies if c[1] != name and (c[0] != name or self.dice.random() < 0.5)]

    # What must be so

    def check_paths(self) -> None:
        """Who goes from one view to the next together has delivered the same in the first, in senders' order."""
        left: dict[tuple[ViewId, ViewId], dict[Address, frozenset[tuple[Address, Payload]]]] = defaultdict(
            dict
        )
        for name, process in self.processes.items():
            for one, other in zip(process.path, process.path[1:], strict=False):
                left[one, other][name] = frozenset(process.delivered[one])
            for identifier, delivered in process.delivered.items():
                if len({*delivered}) < len(delivered):
                    raise Violation(f"{name} has delivered twice in {identifier}: {delivered}")
                for sender in {each for each, _ in delivered}:
                    own = [payload for each, payload in delivered if each == sender]
                    said = [payload for each, payload in self.sent[identifier] if each == sender]
                    if own != said[: len(own)]:
                        raise Violation(f"{name} has delivered {own} of {sender}'s {said} in {identifier}")
        for edge, sets in left.items():
            if len({*sets.values()}) > 1:
                raise Violation(f"on the way {edge} they have delivered {sets}")

    def check_rest(self) -> None:
        """All who live are in one view, of those who live, and free; and have delivered what they sent in it."""
        there = {name: self.processes[name] for name in self.up if self.processes[name].state.joined}
        for name, process in there.items():
            state = process.state
            if {*state.decision.members} != self.up or self.wishes & self.up:
                raise Violation(f"{name} is in {state.decision.members}, there are {sorted(self.up)}")
            if state.latched or state.owner or state.waiting or process.application != "free":
                raise Violation(f"{name} is not free: {state}")
            said = {each for each in self.sent[process.path[-1]] if each[0] in self.up}
            if not said <= {*process.delivered[process.path[-1]]}:
                raise Violation(f"{name} lacks {said - {*process.delivered[process.path[-1]]}}")
