"""Effects of SEQUENCER for the solver: what they do to logs, wires and deliveries."""

from collections.abc import Callable

import z3
from attrs import field, frozen

from . import symbols
from .reading import NotRead
from .symbols import INT, MEMBER, A, S, W
from .values import Items, Logic, SetOf, Term, Value
from .vocabulary import State


@frozen(eq=False)
class Effects:
    """The changes that effects make to logs, wires and deliveries; `readable`: the condition for that."""

    logic: Logic
    after: State
    event: Value
    required: list[Value] = field(factory=list)
    readable: list[Value] = field(factory=list)
    batches: list[Callable[[Term, Term], Value]] = field(factory=list)

    def take(self, condition: Value, effect: Value) -> None:
        """Take in one effect, which is there on a condition."""
        match effect["type"]:
            case "Multicast":
                self._multicast(condition, effect["message"])
            case "Send":
                view, (_, number) = self._sent(condition, effect)
                self._forward(view, lambda n: self.logic.all_of([condition, n == number]))
            case "PassUp":
                self._deliver(condition, effect["event"])
            case "Each":
                queue = effect["of"]
                held = lambda x: self.logic.all_of([condition, queue.contains(x)])  # noqa: E731
                self._each(SetOf(queue.sort, held, queue.wrap), effect["effects"])
            case other:
                raise NotRead(f"an effect {other}")

    def _sent(self, condition: Value, effect: Value) -> tuple[Term, tuple[Term, Term]]:
        view, multicast = effect["message"]["view_id"].term, effect["message"]["tag"].term
        right = [effect["to"] == symbols.address_of(symbols.leader_of(view)), multicast[0] == A]
        self.readable.append(self.logic.implies(condition, z3.And(*right)))
        return view, multicast

    def _forward(self, view: Term, which: Callable[[Term], Value]) -> None:
        """FORWARDs of the actor are on their way, if the coordinator listens; if not, they are gone."""
        listens, wire = z3.Bool("listens"), self.after["wire"]
        self.required.append(z3.Implies(S["up"](symbols.leader_of(view)), listens))
        self.after["wire"] = lambda s, v, n: z3.Or(wire(s, v, n), z3.And(s == A, v == view, listens, which(n)))

    def _multicast(self, condition: Value, message: Value) -> None:
        view, (member, number) = message["view_id"].term, message["tag"].term
        pos, length = self.after["pos"], self.after["length"]
        self.readable.append(
            self.logic.implies(
                condition,
                z3.And(
                    symbols.leader_of(view) == A, self.after["installed"](A) == view, pos(view, member, number) == 0
                ),
            )
        )
        self.after["pos"] = lambda v, s, n: self.logic.choice(
            self.logic.all_of([condition, v == view, s == member, n == number]), length(view) + 1, pos(v, s, n)
        )
        self.after["length"] = lambda v: self.logic.choice(
            self.logic.all_of([condition, v == view]), length(v) + 1, length(v)
        )

    def _deliver(self, condition: Value, delivered: Value) -> None:
        member, view, number = self.event["message"].term
        turn, turns = self.after["turn"], self.after["turns"]
        right = [
            self.logic.equal(delivered["sender"], symbols.address_of(member)),
            self.logic.equal(delivered["payload"], number),
        ]
        self.readable.append(self.logic.implies(condition, self.logic.all_of(right)))

        def here(*same: Term) -> Value:
            return self.logic.all_of([condition, *same])

        self.after["turn"] = lambda x, v, s, n: self.logic.choice(
            here(x == A, v == view, s == member, n == number), turns(A) + 1, turn(x, v, s, n)
        )
        self.after["turns"] = lambda x: self.logic.choice(here(x == A), turns(x) + 1, turns(x))
        self.after["seen_in"] = lambda x, b: self.logic.choice(
            here(x == A, b == symbols.address_of(member)), view, S["seen_in"](x, b)
        )

    def _each(self, queue: SetOf, effects: Callable[[Value], Items]) -> None:
        """An effect for each of a queue: multicasts are collected, for `finish`."""
        s, n = z3.Const("s", MEMBER), z3.Int("n")
        own = queue.sort is not None  # a forward-table; if not, FORWARDs that waited for this view
        key = n if own else (s, W, n)
        ((_, effect),) = effects(queue.wrap(key)).items
        if effect["type"] == "Send":
            view, _ = self._sent(condition=True, effect=effect)
            self._forward(view, queue.contains)
            return
        view, (member, number) = effect["message"]["view_id"].term, effect["message"]["tag"].term
        if not (z3.eq(number, n) and z3.eq(member, A if own else s)):
            raise NotRead("a multicast of another than what the queue has")
        self.readable.append(z3.And(symbols.leader_of(view) == A, view == W))
        if own:
            self.batches.append(lambda s, n: z3.And(s == A, queue.contains(n)))
        else:
            self.batches.append(lambda s, n: queue.contains((s, W, n)))

    def finish(self) -> None:
        """Put what was collected into the log of the view that is entered, each sender's in rising order."""
        if not self.batches:
            return
        place, more = z3.Function("place", MEMBER, INT, INT), z3.Int("more")
        s, r, n, m = z3.Const("s", MEMBER), z3.Const("r", MEMBER), z3.Int("n"), z3.Int("m")
        pos, length, batches = self.after["pos"], self.after["length"], self.batches

        def added(s: Term, n: Term) -> Value:
            return z3.Or(*(each(s, n) for each in batches))

        self.required.extend(
            [
                more >= 0,
                z3.ForAll(
                    [s, n],
                    z3.If(
                        added(s, n), z3.And(place(s, n) > length(W), place(s, n) <= length(W) + more), place(s, n) == 0
                    ),
                ),
                z3.ForAll(
                    [s, n, r, m], z3.Implies(z3.And(added(s, n), place(s, n) == place(r, m)), z3.And(s == r, n == m))
                ),
                z3.ForAll([s, n, m], z3.Implies(z3.And(added(s, n), added(s, m), n < m), place(s, n) < place(s, m))),
            ]
        )
        once = [z3.Not(z3.And(*(each(s, n) for each in batches)))] if len(batches) > 1 else []
        self.readable.append(z3.ForAll([s, n], z3.Implies(added(s, n), z3.And(pos(W, s, n) == 0, *once))))
        self.after["pos"] = lambda v, s, n: z3.If(z3.And(v == W, place(s, n) > 0), place(s, n), pos(v, s, n))
        self.after["length"] = lambda v: z3.If(v == W, length(v) + more, length(v))
