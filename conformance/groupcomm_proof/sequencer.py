"""SEQUENCER for the solver: the steps and the invariant, as they are read.

Multicasts are known by their sender, an incarnation, and their number, which is the seqno of their tag. A
queue of them (a forward-table, the FORWARDs that wait, a log) is read as which are in it, and, where the
order counts, as their places: `pos`. That a queue is in order of seqnos is part of the invariant (Rising,
TableIsInterval), and so is what each step adds to it (`Action.readable`).
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

import z3
from attrs import field, frozen

from groupcomm_conformance.models.manifest import Manifest
from groupcomm_conformance.tla import tree

from . import symbols
from .ablations import OF_SEQUENCER, Ablation
from .effects import Effects
from .reading import Clause, Moment, Native, NotRead, Reader, definitions_of, known
from .symbols import ADDRESS, BOOL, INT, MEMBER, NO_VIEW, VIEW, A, N, S, T, W
from .values import Entity, Items, Logic, Map, SetOf, Term, Value
from .vocabulary import Action, State
from .writing import Words, written

LEMMAS: Final = ("BeyondTheCut", "ToComeIsHigher")
CLAIMS: Final = (*LEMMAS, "OnePlace", "NumberedTotalOrder", "NumberedAgreement", "DeliveredOnce")
_GHOSTS: Final = ("seen_in",)
_WORDS: Final = Words(
    sets={
        MEMBER: "IncarnationsOf(life')",
        ADDRESS: "Member",
        VIEW: "DOMAIN views'",
        INT: "NumbersSoFar'",
        BOOL: "BOOLEAN",
    },
    names={
        "address": "{0}.address",
        "by": "act'.event.sender",
        "in": "LifeIn(views', {0}, {1})",
        "occupant": "OccupantIn(views', {0}, {1})",
        "before": "BeforeIn(views', {0}, {1})",
        "parent": "ParentIn(views', {0})",
        "follows": "FollowsIn(views', {0})",
        "counter": "CounterIn(views', {0})",
        "creator": "CreatorIn(views', {0})",
        "leader": "LeaderIn(views', {0})",
        # Choices
        "place": "(IF PosNow(w, {0}, {1}) = 0 THEN PosNow(w, {0}, {1})' ELSE 0)",
        "more": "(LengthNow(w)' - LengthNow(w))",
        "kept": "KnownNow(a, {0})'",
        "stays": "WireNow({0}, {1}, {2})'",
    },
    among={"a": "{x \\in PresentOf(life') : x.address = act'.member}"},
    functions={name: sorts for name, sorts in symbols.FUNCTIONS.items() if name not in _GHOSTS},
    # Of an incarnation that is over nothing is known any more.
    defined={
        name: "IsPresent({0})'" for name, sorts in symbols.FUNCTIONS.items() if sorts[0] == MEMBER and name != "wire"
    },
)


def _natives(logic: Logic, reader: Callable[[], Reader], in_order: list[Term]) -> dict[str, Native]:
    kept = z3.Function("kept", ADDRESS, BOOL)

    def append(_: Moment, queue: SetOf, value: Value) -> SetOf:
        n = z3.Int("n")
        if isinstance(value, Entity):  # a FORWARD, and where it is ordered it will be the last of its sender
            new = member, view, number = value.term
            is_last = z3.Implies(queue.contains((member, view, n)), n < number)
            in_order.append(z3.ForAll([n], z3.Implies(symbols.leader_of(view) == A, is_last)))
        else:
            new = value["seqno"]
            in_order.append(z3.ForAll([n], z3.Implies(queue.contains(n), n < new)))

        def contains(x: Value) -> Value:
            same = [p == q for p, q in zip(x, new, strict=True)] if isinstance(new, tuple) else [x == new]
            return logic.any_of([queue.contains(x), logic.all_of(same)])

        return SetOf(queue.sort, contains, queue.wrap)

    def select(_: Moment, queue: Value, keeps: Callable[[Value], Value]) -> Value:
        if isinstance(queue, Items):
            return queue
        return SetOf(queue.sort, lambda x: logic.all_of([queue.contains(x), keeps(queue.wrap(x))]), queue.wrap)

    def each(queue: Value, effects: Callable[[Value], Items]) -> Items:
        return (
            Items([])
            if isinstance(queue, Items)
            else Items([(True, {"type": "Each", "of": queue, "effects": effects})])
        )

    def resent(_: Moment, state: Value) -> Items:
        if reader().constants["ResendOrder"] != "rising":
            raise NotRead("a table that is not sent again in rising order")
        return each(state["forward_table"], lambda e: Items([(True, reader().call("Submit", state, e))]))

    return {
        "Member": lambda _: SetOf(MEMBER, symbols.every),
        "InGroup": lambda at: SetOf(MEMBER, at.now["begun"]),
        "Numbers": lambda _: SetOf(INT, symbols.every),
        "up": lambda at: SetOf(MEMBER, at.now["up"]),
        "views": lambda at: Map(SetOf(VIEW, at.now["decided"]), lambda v: v),
        "installed": lambda at: Map(SetOf(MEMBER, symbols.every), at.now["installed"]),
        "Begun": lambda at, x: at.now["begun"](x),
        "In": lambda _, v, x: symbols.is_in(v, x),
        "SameAddress": lambda _, x, y: symbols.address_of(x) == symbols.address_of(y),
        "Parent": lambda _, v: symbols.parent_of(v),
        "Before": lambda _, u, v: symbols.is_before(u, v),
        "Toward": lambda _, u, v: symbols.toward(u, v),
        "Follows": lambda _, v: symbols.follows(v),
        "Counter": lambda _, v: symbols.counter_of(v),
        "Leader": lambda _, v: symbols.leader_of(v),
        "LeaderPresent": lambda *_: True,
        "Took": lambda at, x, v: at.now["took"](x, v),
        "Pos": lambda at, v, s, n: at.now["pos"](v, s, n),
        "LogLength": lambda at, v: at.now["length"](v),
        "OnWire": lambda at, s, v, n: at.now["wire"](s, v, n),
        "HeldAt": lambda at, r, s, v, n: at.now["held"](r, s, v, n),
        "AddressIn": lambda _, v, x: symbols.is_address_in(v, symbols.address_of(x)),
        "HeldFor": lambda at, s, v, n: z3.And(symbols.is_in(v, s), at.now["held"](symbols.leader_of(v), s, v, n)),
        "InTable": lambda at, s, n: at.now["table"](s, n),
        "SeqnoOf": lambda at, s: at.now["seqno"](s),
        "Got": lambda at, x: at.now["got"](x),
        "Settled": lambda at, k: z3.And(symbols.follows(k), at.now["settled"](k)),
        "Cut": lambda at, k: at.now["cut"](k),
        "BeganWith": lambda at, x, v: z3.And(at.now["begun"](x), at.now["began"](x) == v),
        "HasRecorded": lambda at, x, s, v, n: z3.And(
            at.now["known"](x, symbols.address_of(s)),
            at.now["known_in"](x, symbols.address_of(s)) == v,
            at.now["highest"](x, symbols.address_of(s)) == n,
        ),
        "Turn": lambda at, x, v, s, n: at.now["turn"](x, v, s, n),
        "Turns": lambda at, x: at.now["turns"](x),
        # Of Sequencer: queues, and what is known of the actor
        "Joined": lambda _, state: state["view"] is not NO_VIEW,
        "IsCoordinator": lambda _, state: state["view"]["leads"],
        "CoordinatorOf": lambda _, view: view["coordinator"],
        "MembersOf": lambda _, view: view["members"],
        "Tag": lambda _, _sender, _epoch, seqno: symbols.tag_value(A, seqno),
        "Append": append,
        "SelectSeq": select,
        "Resent": resent,
        "OrderedAll": lambda _, state, queue: each(queue, lambda f: reader().call("Ordered", state, f)),
        # (Whether or not it is the same: nothing is delivered.)
        "Duplicate": lambda _, _s, cleared: {"outcome": "handled", "state": cleared, "effects": Items([])},
        # Some of other incarnations are forgotten; which does not matter here.
        "LatestLives": lambda _, function, _members: Map(
            SetOf(ADDRESS, lambda s: z3.And(function.domain.contains(s), kept(s))), function.rule
        ),
    }


@frozen(eq=False)
class Theory:
    """SEQUENCER in the language of the solver."""

    reader: Reader
    before: State = field(factory=lambda: S)
    claims: tuple[str, ...] = CLAIMS
    lemmas: tuple[str, ...] = LEMMAS
    ablations: tuple[Ablation, ...] = OF_SEQUENCER
    confirmed: tuple[str, ...] = ("claim", "Init", "InstallView", "Join", "ReceiveData")
    small: tuple[Mapping[Term, int], ...] = symbols.SMALL
    steps_in_small_groups: bool = False
    without: str = ""  # what the layers below do not give
    in_order: list[Term] = field(factory=list)  # that what is appended to a queue is its last

    @classmethod
    def of(cls, definitions: tree.Definitions, reference: Mapping[str, str], without: str = "") -> "Theory":
        """Build it from the definitions of SequencerInductive and the reference's constants, as TLA+ text."""
        constants = known(reference)
        logic = Logic(sort_of_addresses=ADDRESS, address=symbols.address_of)
        made: list[Reader] = []
        witnesses = {
            "RecordedWasDelivered": lambda at, outer: [at.now["seen_in"](outer[0], symbols.address_of(outer[1]))]
        }
        in_order: list[Term] = []
        natives = _natives(logic, lambda: made[0], in_order)
        made.append(Reader(definitions, constants, natives, logic, witnesses, Moment(S, S)))
        return cls(made[0], without=without, in_order=in_order)

    def written(self) -> str:
        """Give the definitions of InitIsRead and EachStepIsRead: the formulas, written back as TLA+."""
        ((decided, _),) = self.decisions()
        return written(_WORDS, self.before, self.initial(), decided.requires, self.actions())

    def _given(self, name: str, required: Term) -> Term:
        """Require what a layer gives, unless the proof is to do without."""
        return z3.BoolVal(val=True) if name == self.without else required

    def forest(self) -> list[Clause]:
        """Give Forest as the specification says it."""
        return self.reader.clauses("Forest")

    def reading(self) -> list[Term]:
        """Give what the reading adds: an address has one member in a view, and its coordinator is one."""
        v, x = z3.Const("v", VIEW), z3.Const("x", MEMBER)
        return [
            z3.ForAll([v, x], z3.Implies(symbols.is_in(v, x), symbols.occupant(v, symbols.address_of(x)) == x)),
            z3.ForAll([v], symbols.is_in(v, symbols.leader_of(v))),
        ]

    def clauses(self, name: str, now: State) -> list[Clause]:
        """Take an operator apart, of a state."""
        return self.reader.at(Moment(now, now)).clauses(name)

    def settled(self) -> State:
        return self.before

    def initial(self) -> list[Term]:
        """All members of first views have begun, in these; nothing was sent."""
        x, y, s = (z3.Const(name, MEMBER) for name in ("x", "y", "s"))
        v, b, n = z3.Const("v", VIEW), z3.Const("b", ADDRESS), z3.Int("n")
        return [
            z3.ForAll([v], z3.Not(symbols.follows(v))),
            z3.ForAll(
                [x],
                z3.Implies(
                    S["begun"](x), z3.And(symbols.is_in(S["installed"](x), x), S["began"](x) == S["installed"](x))
                ),
            ),
            z3.ForAll([x, v], S["took"](x, v) == z3.And(S["begun"](x), S["installed"](x) == v)),
            z3.ForAll(
                [x, y],
                z3.Implies(z3.And(S["up"](x), S["up"](y), symbols.address_of(x) == symbols.address_of(y)), x == y),
            ),
            z3.ForAll([x, n], z3.And(S["seqno"](x) == 0, z3.Not(S["table"](x, n)))),
            z3.ForAll([x, b], z3.Not(S["known"](x, b))),
            z3.ForAll([x, s, v, n], z3.And(z3.Not(S["held"](x, s, v, n)), z3.Not(S["wire"](s, v, n)))),
            z3.ForAll([v, s, n], z3.And(S["pos"](v, s, n) == 0, S["length"](v) == 0)),
            z3.ForAll([x], z3.And(S["got"](x) == 0, S["turns"](x) == 0)),
            z3.ForAll([v], z3.Not(S["settled"](v))),
            z3.ForAll([x, v, s, n], S["turn"](x, v, s, n) == 0),
        ]

    def decisions(self) -> list[tuple[Action, State]]:
        """Give the step in which a view is decided, and the state before: nothing is known of it yet."""
        view = z3.Const("new_view", VIEW)
        before: State = {**S, "decided": lambda v: v != view}
        x, s, r = (z3.Const(name, MEMBER) for name in ("x", "s", "r"))
        v, b, n = z3.Const("v", VIEW), z3.Const("b", ADDRESS), z3.Int("n")
        required = (
            z3.ForAll([v], z3.Implies(symbols.is_before(view, v), v == view)),
            z3.ForAll([x], z3.Not(S["took"](x, view))),
            z3.ForAll([x], z3.Implies(S["begun"](x), z3.And(S["installed"](x) != view, S["began"](x) != view))),
            z3.ForAll([x, b], z3.Implies(S["known"](x, b), S["known_in"](x, b) != view)),
            z3.ForAll([s, n], z3.And(S["pos"](view, s, n) == 0, z3.Not(S["wire"](s, view, n)))),
            # (What is held of it already is a mistake: not for its coordinator, or not by a member.)
            z3.ForAll(
                [r, s, n],
                z3.Implies(
                    S["held"](r, s, view, n),
                    z3.And(
                        z3.Implies(S["begun"](r), symbols.counter_of(view) > symbols.counter_of(S["installed"](r))),
                        z3.Or(r != symbols.leader_of(view), z3.Not(symbols.is_address_in(view, symbols.address_of(s)))),
                    ),
                ),
            ),
            z3.ForAll([x, s, n], S["turn"](x, view, s, n) == 0),
            S["length"](view) == 0,
            z3.Not(S["settled"](view)),
        )
        return [(Action("Decide", required, before, S, z3.BoolVal(val=True)), before)]

    def actions(self) -> Iterator[Action]:
        """Read the steps."""
        here = S["installed"](A)
        begun = [S["begun"](A), S["up"](A)]
        leading = ((True, symbols.leader_of(here) == A), (False, symbols.leader_of(here) != A))
        for leads, is_leader in leading:
            event = {"type": "SendRequested", "payload": z3.Int("payload")}
            yield self._step("Send", [*begun, is_leader], dict(S), event, leads=leads)
        v, n = z3.Const("v", VIEW), z3.Int("n")
        waits = [
            S["wire"](T, W, N),
            symbols.address_of(A) == symbols.address_of(symbols.leader_of(W)),
            S["up"](A),
            # fifo: messages of the same view arrive in the order in which they were sent
            self._given("fifo", z3.ForAll([n], z3.Implies(S["wire"](T, W, n), n >= N))),
        ]
        taken = {**S, "wire": symbols.with_value("wire", (T, W, N), z3.BoolVal(val=False))}
        event = {
            "type": "ForwardReceived",
            "sender": symbols.address_of(T),
            "message": symbols.message_value("FORWARD", T, W, N),
        }
        for leads, is_leader in leading:
            yield self._step("ReceiveForward", [*waits, *begun, is_leader], dict(taken), event, leads=leads)
        yield self._step("ReceiveForwardBefore", [*waits, z3.Not(begun[0])], dict(taken), event, begun=False)
        event = {
            "type": "DataReceived",
            "sender": symbols.address_of(symbols.leader_of(here)),
            "message": symbols.message_value("DATA", T, here, N),
        }
        received = {**S, "got": symbols.with_value("got", (A,), S["got"](A) + 1)}
        place = S["pos"](here, T, N)
        comes = z3.And(place > 0, self._given("Fifo", place == S["got"](A) + 1))
        for leads, is_leader in leading:
            yield self._step("ReceiveData", [*begun, comes, is_leader], dict(received), event, leads=leads)
        for leads in (True, False):
            entered = {
                **S,
                "begun": symbols.with_value("begun", (A,), z3.BoolVal(val=True)),
                "installed": symbols.with_value("installed", (A,), W),
                "took": symbols.with_value("took", (A, W), z3.BoolVal(val=True)),
                "got": symbols.with_value("got", (A,), z3.IntVal(0)),
            }
            there = [S["up"](A), symbols.is_in(W, A), symbols.leader_of(W) == A if leads else symbols.leader_of(W) != A]
            event = {"type": "ViewInstalled", "view": symbols.view_value(W, leads=leads)}
            yield self._step("Join", [*there, z3.Not(begun[0])], dict(entered), event, begun=False)
            settles = z3.And(z3.Not(S["settled"](W)))
            entered["cut"] = lambda k, s=settles: z3.If(z3.And(k == W, s), S["got"](A), S["cut"](k))
            entered["settled"] = symbols.with_value("settled", (W,), z3.BoolVal(val=True))
            goes = [
                symbols.follows(W),
                self._given("SinglePath", symbols.parent_of(W) == here),
                self._given("LeavesWithCut", z3.Implies(S["settled"](W), S["got"](A) == S["cut"](W))),
            ]
            for was, is_leader in leading:
                required = [*begun, *there, *goes, is_leader]
                yield self._step("InstallView", required, dict(entered), event, leads=was)
        comes_up = (z3.Not(begun[0]), z3.ForAll([v], z3.Not(symbols.is_in(v, A))))
        # (The incarnation before may be up till then: it was excluded.)
        up = {
            **S,
            "up": lambda x: z3.Or(x == A, z3.And(S["up"](x), symbols.address_of(x) != symbols.address_of(A))),
            "wire": _stays(lambda _, v: symbols.address_of(symbols.leader_of(v)) == symbols.address_of(A)),
        }
        yield Action("Restart", comes_up, S, up, z3.BoolVal(val=True))
        down = {
            **S,
            "up": symbols.with_value("up", (A,), z3.BoolVal(val=False)),
            "wire": _stays(lambda _, v: symbols.address_of(symbols.leader_of(v)) == symbols.address_of(A)),
        }
        yield Action("Crash", (S["up"](A),), S, down, z3.BoolVal(val=True))
        # A message to a process that is not in the view of its sender may be lost.
        other = symbols.address_of(T)
        closed = {**S, "wire": _stays(lambda s, v: z3.And(s == A, symbols.address_of(symbols.leader_of(v)) == other))}
        yield Action("Close", (*begun, z3.Not(symbols.is_address_in(here, other))), S, closed, z3.BoolVal(val=True))
        yield from self._mistakes(begun, leading)

    def _mistakes(self, begun: list[Term], leading: tuple[tuple[bool, Term], ...]) -> Iterator[Action]:
        """Read what no correct peer or caller does: at most a FORWARD waits for nothing."""
        here, sender, address = S["installed"](A), z3.Const("by", ADDRESS), symbols.address_of
        forward = {"type": "ForwardReceived", "sender": sender, "message": symbols.message_value("FORWARD", T, W, N)}
        # By another than its sender, or not for the coordinator of the view, or not by a member of it.
        no_forward = z3.Or(
            sender != address(T), z3.Not(symbols.is_address_in(W, address(T))), symbols.leader_of(W) != A
        )
        data = {"type": "DataReceived", "sender": sender, "message": symbols.message_value("DATA", T, W, N)}
        no_data = z3.Or(
            sender != address(symbols.leader_of(here)), here != W, z3.Not(symbols.is_address_in(here, address(T)))
        )
        for leads, is_leader in leading:
            again = {"type": "ViewInstalled", "view": symbols.view_value(here, leads=leads)}
            strange = {"type": "ViewInstalled", "view": symbols.view_value(W, leads=False)}
            without = z3.Not(symbols.is_address_in(W, address(A)))
            for event, wrong in ((again, True), (strange, without), (forward, no_forward), (data, no_data)):
                required = [*begun, is_leader, wrong]
                yield self._step("Misuse", required, dict(S), event, leads=leads, mistake=True)

    def _step(
        self,
        name: str,
        required: list[Value],
        after: State,
        event: Value,
        *,
        begun: bool = True,
        leads: bool = False,
        mistake: bool = False,
    ) -> Action:
        """Let the actor take Step, and apply its effects; of a mistake there are none."""
        self.reader.logic.restart()
        self.in_order.clear()
        done = self.reader.call("Step", symbols.local_value(begun=begun, leads=leads), event)
        state, logic = done["state"], self.reader.logic
        table, records, early = state["forward_table"], state["received_table"], state["early"]

        def own(rule: Callable[..., Value], old: str) -> Callable[..., Value]:
            return lambda x, *rest: logic.choice(x == A, rule(*rest), S[old](x, *rest))

        after["seqno"] = own(lambda: state["seqno"], "seqno")
        after["table"] = own(table.contains, "table")
        after["known"] = own(records.domain.contains, "known")
        after["known_in"] = own(lambda s: records.rule(s)["epoch"].term, "known_in")
        after["highest"] = own(lambda s: records.rule(s)["seqno"], "highest")
        after["held"] = own(lambda *key: early.contains(key), "held")
        after["began"] = own(lambda: state["epoch"].term, "began")
        effects = Effects(self.reader.logic, after, event)
        if mistake:
            new = z3.And(early.contains((T, W, N)), z3.Not(S["held"](A, T, W, N)))
            is_ordered = z3.And(symbols.leader_of(W) == A, symbols.is_address_in(W, symbols.address_of(T)))
            effects.readable.append(z3.Not(z3.And(new, is_ordered)))
            effects.readable.extend(logic.negation(condition) for condition, _ in done["effects"].items)
        else:
            for condition, effect in done["effects"].items:
                effects.take(condition, effect)
            effects.finish()
            effects.readable.extend(self.in_order)
        return Action(
            name,
            tuple(x for x in (*required, *effects.required) if x is not True),
            S,
            after,
            z3.And(z3.BoolVal(val=True), *effects.readable),
            A,
            event,
            done["effects"],
        )


def _stays(may_go: Callable[[Term, Term], Term]) -> Callable[..., Term]:
    """Give the wires without some of the FORWARDs, by sender and view, that may go."""
    stays = z3.Function("stays", MEMBER, VIEW, INT, BOOL)
    return lambda s, v, n: z3.And(S["wire"](s, v, n), z3.Or(z3.Not(may_go(s, v)), stays(s, v, n)))


def theory_of(manifest: Manifest, ablation: Ablation | None = None) -> Theory:
    """Read the modules of SEQUENCER, as they are or with something taken away."""
    constants, without = ({}, "") if ablation is None else (ablation.constants, ablation.layer)
    definitions = definitions_of((manifest.folder, manifest.folder.parent / "common"), "SequencerInductive")
    return Theory.of(definitions, {**manifest.reference, **constants}, without)
