"""A group of FLUSH cores under a random schedule, larger than the models': what `FlushGroup` has around its members."""

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Literal, TypeAlias

from attrs import define, evolve, field, frozen

from groupcomm import flush
from groupcomm.digest import Vector
from groupcomm.effects import Multicast, PassDown, PassUp, Send
from groupcomm.events import Block, Deliver, Fetch, GroupStopped, Payload, Unblock
from groupcomm.view import NO_VIEW, Address, View, ViewId

CONFIG = flush.Config()

Applied: TypeAlias = Counter[tuple[ViewId, Address, Payload]]


@frozen
class Made:
    """A view that was decided, the one that it follows, and who begins with it."""

    view: View
    follows: ViewId
    joiners: frozenset[Address]


@frozen
class Answer:
    """A state on its way: it stands for what was delivered in a view."""

    to: Address
    sender: Address
    view: View
    digest: Vector
    state: Applied = field(eq=False)


@define
class Process:
    """A member with its application, the layer below, and who stands on FLUSH."""

    state: flush.State
    application: str = "free"
    maker: Literal["follows", "new", "free", "suspends", "stopped", "decided", "gone"] = "follows"
    transfer: Literal["none", "waits", "asks"] = "none"
    applied: Applied | None = None
    """What is in its application's state; None: it has none yet."""
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
        self.processes = {name: Process(flush.start(name)) for name in members + joiners}
        self.up = {*members, *joiners}
        self.wires: dict[tuple[Address, Address], list[flush.Message]] = defaultdict(list)
        self.copies: list[tuple[Address, Address, Address, flush.Data]] = []
        self.offers: list[tuple[Address, Address, Made]] = []
        self.answers: list[Answer] = []
        self.wishes: set[Address] = set()
        self.sent: dict[ViewId, list[tuple[Address, Payload]]] = defaultdict(list)
        self.casts = 0
        self.taken = 0
        """States that were set."""
        first = View(ViewId(1, members[0]), tuple(members))
        self.made = {first.id: Made(first, NO_VIEW.id, frozenset(members))}
        for name in members:
            process = self.processes[name]
            zeros = Vector(tuple((each, 0) for each in members))
            process.state = evolve(process.state, view=first, delivered=zeros)
            process.path.append(first.id)
            process.applied = Counter()
        self.processes[members[0]].maker = "free"

    # What may happen

    def moves(self) -> Iterator[Callable[[], None]]:
        """All that is on its way, or due."""
        for (sender, to), messages in self.wires.items():
            if messages and to in self.up:
                yield partial(self.arrive, sender, to)
        for copy in self.copies:
            yield partial(self.copied, copy)
        for offer in self.offers:
            if self.may_install(*offer):
                yield partial(self.install, offer)
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
            for missed in sorted(state.unsuspected - self.up):
                yield partial(self.take, name, flush.Suspected(missed))
            yield from self.views_moves(name, process)
            yield from self.state_moves(name, process)

    def views_moves(self, name: Address, process: Process) -> Iterator[Callable[[], None]]:
        """What a maker of views may do."""
        everywhere, must = self.is_everywhere(name), self.must_decide(name)
        match process.maker:
            case "follows" if self.may_take_over(name):
                yield partial(self.take_over, name)
            case "new" | "free" | "decided" if everywhere and (process.maker == "new" or must):
                yield partial(self.make, name, "suspends", flush.Suspend(flush.FOR_VIEWS))
            case "stopped" if everywhere and must:
                yield partial(self.decide, name)
            case _:
                pass
        if process.maker in {"stopped", "decided"} and everywhere and not must:
            yield partial(self.make, name, "free", flush.Resume(flush.FOR_VIEWS))
        if name in self.wishes and self.may_depart(name):
            yield partial(self.depart, name)

    def state_moves(self, name: Address, process: Process) -> Iterator[Callable[[], None]]:
        """What a state transfer may do."""
        if process.transfer != "asks":
            return
        asked = sorted(process.state.unsuspected - {name})
        for other in asked:
            if other in self.up and self.may_give(other, name):
                yield partial(self.give, other, name)
        for answer in self.answers:
            if answer.to == name and self.fits(answer):
                yield partial(self.set_state, answer)
        if not any(x not in self.up or self.processes[x].applied is not None for x in asked):
            yield partial(self.resume_state, name)

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
        if isinstance(event, flush.BlockReturned) and process.application == "handler":
            process.application = "blocked"
        for effect in effects:
            match effect:
                case Send(to, message):
                    self.wires[name, to].append(message)
                case Multicast(data):
                    if before.latched and not self.lets_go(event, before):
                        raise Violation(f"{name} multicasts while it is stopped")
                    self.sent[data.view_id].append((name, data.payload))
                    receivers = [m for m in process.state.view.members if m in self.up]
                    self.copies += [(name, to, name, data) for to in receivers]
                case PassUp(Block()):
                    if process.application != "free":
                        raise Violation(f"{name} is blocked twice")
                    process.application = "handler"
                case PassUp(Unblock()):
                    if process.application != "blocked":
                        raise Violation(f"{name} is freed without having been blocked")
                    process.application = "free"
                case PassUp(Deliver(sender, payload)):
                    process.delivered[process.path[-1]].append((sender, payload))
                    if process.applied is not None:
                        process.applied[process.path[-1], sender, payload] += 1
                case PassDown(GroupStopped(asker)):
                    self.check_stopped(name)
                    if asker == flush.FOR_VIEWS:
                        process.maker = "stopped"
                    else:
                        process.transfer = "asks"
                case PassDown(Fetch() as fetch):
                    process.fetches.append(fetch)
                case _:
                    pass
        if not process.state.owes:
            process.fetches.clear()

    def lets_go(self, event: flush.Event, before: flush.State) -> bool:
        """Whether who is stopped may go on."""
        match event:
            case flush.StopFlushReceived():
                return True
            case flush.Suspected(suspect):
                return (before.owner, before.asker) == (suspect, flush.FOR_STATE)
            case _:
                return False

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
            if data.view_id == process.state.view.id:
                process.window[sender][data.seqno] = data

    def serve(self, name: Address, fetch: Fetch) -> None:
        process = self.processes[name]
        process.fetches.remove(fetch)
        for seqno in range(process.state.delivered[fetch.sender] + 1, fetch.upto + 1):
            data = self.processes[fetch.holder].store[process.path[-1], fetch.sender, seqno]
            self.copies.append((fetch.holder, name, fetch.sender, data))

    # Views

    def enter(self, name: Address, view: View) -> None:
        process = self.processes[name]
        process.path.append(view.id)
        process.window.clear()
        process.fetches.clear()
        self.take(name, flush.ViewInstalled(view))

    def acts(self, name: Address) -> bool:
        """Whether it is the first of those that it does not suspect."""
        state = self.processes[name].state
        return next((m for m in state.view.members if m in state.unsuspected), None) == name

    def has_answered(self, other: Address, name: Address) -> bool:
        """Whether it refuses whom the other one, which is to take over, counts out before itself."""
        state, theirs = self.processes[name].state, self.processes[other].state
        before = state.view.members[: state.view.members.index(name)]
        if other not in self.up:
            return False
        if not theirs.joined:
            return other in self.made[state.view.id].joiners
        return not {*before} & theirs.unsuspected

    def may_take_over(self, name: Address) -> bool:
        state = self.processes[name].state
        if not state.joined or name in self.wishes or not self.acts(name):
            return False
        return all(self.has_answered(other, name) for other in state.unsuspected - {name})

    def take_over(self, name: Address) -> None:
        """The newest view goes to all who lack it, first to itself."""
        process = self.processes[name]
        old, trusted = process.state.view, process.state.unsuspected
        newer = [
            made
            for made in self.made.values()
            if made.follows == old.id
            and name in made.view.members
            and any(self.processes[x].state.view == made.view for x in trusted)
        ]
        if newer:
            self.enter(name, newer[0].view)
        process.maker = "new"
        self.offer(name, self.made[process.state.view.id])

    def offer(self, name: Address, made: Made) -> None:
        suspected = self.processes[name].state.suspected
        for other in made.view.members:
            if other != name and other in self.up and other not in suspected:
                self.offers.append((name, other, made))

    def may_install(self, sender: Address, to: Address, made: Made) -> bool:
        process = self.processes[to]
        if to not in self.up or sender in process.state.suspected:
            return False
        if process.state.joined:
            return process.state.view.id == made.follows
        olds = {*made.view.members} - made.joiners - self.processes[sender].state.suspected
        return to in made.joiners and all(made.view.id in self.processes[x].path for x in olds)

    def install(self, offer: tuple[Address, Address, Made]) -> None:
        self.offers.remove(offer)
        self.enter(offer[1], offer[2].view)

    def is_everywhere(self, name: Address) -> bool:
        state = self.processes[name].state
        return state.joined and all(self.processes[x].state.view == state.view for x in state.unsuspected)

    def joining(self) -> list[Address]:
        return sorted(name for name in self.up if not self.processes[name].state.joined)

    def must_decide(self, name: Address) -> bool:
        state = self.processes[name].state
        leaving = self.wishes & self.up & state.view.member_set
        return bool(state.suspected or leaving or [x for x in self.joining() if x not in state.view.members])

    def make(self, name: Address, maker: Literal["suspends", "free"], event: flush.Event) -> None:
        self.processes[name].maker = maker
        self.take(name, event)

    def decide(self, name: Address) -> None:
        """M - S - L + J, with some of those who want to leave and join."""
        process = self.processes[name]
        view = process.state.view
        leaving = {x for x in self.wishes & self.up & view.member_set if self.dice.random() < 0.7}
        joining = tuple(x for x in self.joining() if x not in view.members and self.dice.random() < 0.7)
        staying = tuple(m for m in view.members if m in process.state.unsuspected and m not in leaving)
        members = staying + joining
        if not members or members == view.members:
            return
        made = Made(
            View(ViewId(view.id.counter + 1, name), members), view.id, frozenset(members) - view.member_set
        )
        self.made[made.view.id] = made
        if name in members:
            process.maker = "decided"
            self.enter(name, made.view)
            self.offer(name, made)
        else:
            process.maker = "gone"
            self.offer(name, made)
            self.depart(name)

    def may_depart(self, name: Address) -> bool:
        """There is a view without it; or it would have to take over; or it is the last."""
        process = self.processes[name]
        view = process.state.view
        if any(made.follows == view.id and name not in made.view.members for made in self.made.values()):
            return True
        if process.maker == "follows":
            return process.state.joined and self.acts(name)
        return process.maker == "stopped" and view.members == (name,)

    def depart(self, name: Address) -> None:
        self.up.discard(name)
        self.copies = [c for c in self.copies if c[1] != name]

    # States

    def may_give(self, giver: Address, to: Address) -> bool:
        theirs, mine = self.processes[giver], self.processes[to].state
        given = Answer(to, giver, mine.view, mine.delivered, Counter())
        same = theirs.state.view == mine.view and theirs.state.delivered == mine.delivered
        return theirs.applied is not None and same and given not in self.answers

    def give(self, giver: Address, to: Address) -> None:
        process = self.processes[giver]
        assert process.applied is not None
        given = Counter(process.applied)
        self.answers.append(Answer(to, giver, process.state.view, process.state.delivered, given))

    def fits(self, answer: Answer) -> bool:
        state = self.processes[answer.to].state
        return (answer.view, answer.digest) == (state.view, state.delivered)

    def set_state(self, answer: Answer) -> None:
        self.processes[answer.to].applied = Counter(answer.state)
        self.taken += 1
        self.resume_state(answer.to)

    def resume_state(self, name: Address) -> None:
        self.processes[name].transfer = "none"
        self.answers = [answer for answer in self.answers if answer.to != name]
        self.take(name, flush.Resume(flush.FOR_STATE))

    # Applications and faults

    def cast(self, name: Address) -> None:
        if self.processes[name].state.joined:
            self.casts += 1
            self.take(name, flush.SendRequested(Payload(f"{name}{self.casts}")))

    def leave(self, name: Address) -> None:
        if self.processes[name].state.joined:
            self.wishes.add(name)

    def want_state(self, name: Address) -> None:
        process = self.processes[name]
        if process.state.joined and process.transfer == "none":
            process.transfer = "waits"
            self.take(name, flush.Suspend(flush.FOR_STATE))

    def give_up(self, name: Address) -> None:
        if self.processes[name].transfer != "none":
            self.resume_state(name)

    def crash(self, name: Address) -> None:
        """Some first part of what it sent to each arrives; each of its copies, views and states, or not."""
        self.up.discard(name)
        for (sender, _), messages in self.wires.items():
            if sender == name:
                del messages[self.dice.randint(0, len(messages)) :]
        self.copies = [c for c in self.copies if c[1] != name and (c[0] != name or self.dice.random() < 0.5)]
        self.offers = [o for o in self.offers if o[1] != name and (o[0] != name or self.dice.random() < 0.5)]
        self.answers = [a for a in self.answers if a.sender != name or self.dice.random() < 0.5]

    # What must be so

    def check_stopped(self, name: Address) -> None:
        """Who takes its group for stopped has it stopped, and all have delivered the same."""
        mine = self.processes[name].state
        for other in mine.unsuspected & self.up:
            theirs = self.processes[other].state
            if theirs.view == mine.view and not (theirs.latched and theirs.delivered == mine.delivered):
                raise Violation(f"{name} takes {other} for stopped: {theirs}")

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
        """All who live are in one view, of those who live, and free; they have what they sent, and one state."""
        there = {name: self.processes[name] for name in self.up if self.processes[name].state.joined}
        for name, process in there.items():
            state = process.state
            if {*state.view.members} != self.up or self.wishes & self.up:
                raise Violation(f"{name} is in {state.view.members}, there are {sorted(self.up)}")
            waits = state.latched or state.owner or state.waiting or state.later or state.wants
            if waits or process.application != "free" or process.transfer != "none":
                raise Violation(f"{name} is not free: {state}")
            said = {each for each in self.sent[process.path[-1]] if each[0] in self.up}
            if not said <= {*process.delivered[process.path[-1]]}:
                raise Violation(f"{name} lacks {said - {*process.delivered[process.path[-1]]}}")
        states = [(name, p.applied) for name, p in there.items() if p.applied is not None]
        if any(applied != states[0][1] for _, applied in states):
            raise Violation(f"not one state: {states}")
