"""STABLE as the solver gets it: the steps and the invariant, as they are read, and ghosts (`ghosts`).

Of the operators of the vocabulary of StableInductive the solver has the names (`vocabulary`), and Forest as
axioms.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

import z3
from attrs import define, evolve, field, frozen

from groupcomm_conformance.models.manifest import Manifest
from groupcomm_conformance.tla import tree

from . import vocabulary as words
from .ablations import OF_STABLE, Ablation
from .ghosts import WITNESSES, inherit, note_agreement, on_the_way, one_id, pass_on
from .reading import Clause, Moment, NotRead, Reader, definitions_of, known
from .stable_words import CHOSEN, WORDS
from .values import Logic, Term, Value
from .vocabulary import ADDRESS, ANNOUNCED, MEMBER, PROMISE, SMALL, VIEW, VOTE, Action, State, state
from .writing import written

CLAIMS: Final = (
    "AlongAfterEntry",
    "NoneComesFromCut",
    "NoPrematurePurgeTogether",
    "RequestsServableTogether",
    "ClaimsInTree",
)
_MODULE: Final = "StableInductive"
# The actions: the operator of StableInductive, and what its parameters are.
STEPS: Final[Mapping[str, tuple[str, ...]]] = {
    "DataArrivesStep": ("member",),
    "StableTimeoutFiresStep": ("member",),
    "StabilityTimeoutFiresStep": ("member",),
    "ReceiveStableStep": ("member", "vote"),
    "ReceiveStabilityStep": ("member", "announced"),
    "InstallViewStep": ("member", "view"),
    "BeginStep": ("member", "view"),
    "JoinStep": ("member", "view"),
    "PromiseDigestStep": ("member", "member", "promise"),
    "ReleaseStep": ("member", "member"),
    "MisuseStep": ("member",),
}


_ELSEWHERE: Final = "ElsewhereStep"  # a crash, or the start of a new incarnation: who is up
# The history of MergeDigest that these steps change: what was so stays so.
_HISTORY: Final = ("served", "abandoned")
_CHANGE_HISTORY: Final = ("InstallViewStep", "JoinStep", "ReleaseStep")
# Of the view that is installed, what comes before it: the solver follows no path further back by itself.
_BY_PARENT: Final = ("ParentIsOnPath", "AlongByParent", "CarriedByParent", "WaitsByParent")


@define(eq=False)
class _Step:
    """A step that is being read: what is known of it so far."""

    actor: Term
    after: State
    moment: Moment
    effects: Value = None
    local: Value = None
    event: Value = None
    purges: bool = False
    requires: list[Value] = field(factory=list)


@frozen(eq=False)
class Theory:
    """STABLE in the language of the solver."""

    reader: Reader
    before: State
    claims: tuple[str, ...] = CLAIMS
    lemmas: tuple[str, ...] = ("AlongAfterEntry", "NoneComesFromCut", "NoPrematurePurgeTogether")
    ablations: tuple[Ablation, ...] = OF_STABLE
    confirmed: tuple[str, ...] = ("claim", "Init", "InstallViewStep", "JoinStep", "ReceiveStabilityStep")
    small: tuple[Mapping[Term, int], ...] = SMALL
    steps_in_small_groups: bool = True
    forgets: tuple[str, str] = ("", "")  # a step, and the function of the state that it leaves as it was

    @classmethod
    def of(cls, definitions: tree.Definitions, reference: Mapping[str, str]) -> "Theory":
        """Build it from the definitions of StableInductive and the reference's constants, as TLA+ text."""
        constants = known(reference)
        logic = Logic(sort_of_addresses=ADDRESS, address=words.address_of)
        values = {**constants, "MaxBytes": z3.Int("MaxBytes")}
        before = state()
        reader = Reader(definitions, values, words.natives(logic), logic, WITNESSES, Moment(before, before))
        return cls(reader, before)

    def forest(self) -> list[Clause]:
        """Give Forest as the specification says it."""
        return self._always().clauses("Forest")

    def reading(self) -> list[Term]:
        """Give what the reading adds: an address has one member in a view, and no view has the stranger."""
        u, v, x = z3.Const("u", VIEW), z3.Const("v", VIEW), z3.Const("x", MEMBER)
        stranger = self.reader.logic.as_element(ADDRESS, "Z")
        return [
            z3.ForAll([v, x], z3.Implies(words.is_in(v, x), words.occupant_of(v, words.address_of(x)) == x)),
            z3.ForAll([v, x], z3.Implies(words.is_in(v, x), words.address_of(x) != stranger)),
            z3.ForAll(
                [u, v, x],
                z3.Implies(z3.And(words.precedes(u, v), z3.Not(words.is_in(u, x))), words.follows_other(v, x)),
            ),
            z3.Int("MaxBytes") >= 0,
        ]

    def written(self) -> str:
        """Give the definitions of InitIsRead and EachStepIsRead: the formulas, written back as TLA+."""
        ((decided, _),) = self.decisions()
        return written(WORDS, self.before, self.initial(), decided.requires, self.actions())

    def _always(self) -> Reader:
        every: State = {**self.before, "standing": lambda _: True, "decided": lambda _: True}
        return self.reader.at(Moment(every, every))

    def clauses(self, name: str, now: State) -> list[Clause]:
        """Take an operator apart, of a state."""
        return self.reader.at(Moment(now, now)).clauses(name)

    def settled(self) -> State:
        """The state before a step that decides no view: the sort of views has exactly the decided views."""
        return {**self.before, "decided": lambda _: True}

    def initial(self) -> list[Term]:
        """All members of first views have begun, in these; no member has voted, purged or promised."""
        now, x, v, s = self.settled(), z3.Const("x", MEMBER), z3.Const("v", VIEW), z3.Const("s", ADDRESS)
        y, u = z3.Const("y", MEMBER), z3.Const("u", VIEW)
        m, p, q = z3.Const("m", VOTE), z3.Const("p", ANNOUNCED), z3.Const("q", PROMISE)
        return [
            z3.ForAll([v], words.is_first(v)),
            z3.ForAll([x], z3.Implies(now["begun"](x), words.is_in(now["installed"](x), x))),
            z3.ForAll([v, x], z3.Implies(words.is_in(v, x), z3.And(now["begun"](x), now["installed"](x) == v))),
            z3.ForAll(
                [x, s],
                z3.And(
                    now["minimum"](x, s) >= words.NIL,
                    now["minimum"](x, s) == now["vote"](x, s),
                    now["vote"](x, s) <= now["delivered"](x, s),
                    now["purged"](x, s) == words.NIL,
                    z3.Not(now["promised"](x, s)),
                    now["heard_from"](x, s) == z3.And(now["begun"](x), words.address_in(now["installed"](x), s)),
                ),
            ),
            z3.ForAll([x], z3.Not(now["pending"](x))),
            z3.ForAll([m], z3.Not(now["sent_votes"](m))),
            z3.ForAll([p], z3.Not(now["sent_announcements"](p))),
            z3.ForAll([q], z3.Not(now["standing"](q))),
            z3.ForAll([x, y, v], z3.Not(now["served"](x, y, v))),
            z3.ForAll([u, v], z3.Not(now["abandoned"](u, v))),
            z3.ForAll([x, v, s], now["cast"](x, v, s) == words.NIL),
        ]

    def decisions(self) -> list[tuple[Action, State]]:
        """Give the step in which a view is decided, and the state before.

        No other view follows it yet, and no message names it.
        """
        view = z3.Const("new_view", VIEW)
        before: State = {**self.before, "decided": lambda v: v != view}
        after: State = {**self.before, "decided": lambda _: True}
        v, x, y, s, m, p = (
            z3.Const(n, sort)
            for n, sort in (("v", VIEW), ("x", MEMBER), ("y", MEMBER), ("s", ADDRESS), ("m", VOTE), ("p", ANNOUNCED))
        )
        decided = Action(
            "DecideStep",
            (
                z3.ForAll([x, y, v], z3.Implies(words.along(x, y, view, v), v == view)),
                z3.ForAll([v], z3.Not(words.precedes(view, v))),
                z3.ForAll([x, s], before["cast"](x, view, s) == words.NIL),  # no message names it yet
                z3.ForAll([m], words.SENT[VOTE][1](m) != view),
                z3.ForAll([p], words.SENT[ANNOUNCED][1](p) != view),
            ),
            before,
            after,
            z3.BoolVal(val=True),  # no member takes a step
        )
        return [(decided, before)]

    def actions(self, names: Sequence[str] = (*STEPS, _ELSEWHERE)) -> Iterator[Action]:
        """Read the actions; an action that has several events is several."""
        for name in names:
            if name == _ELSEWHERE:
                yield self._elsewhere()
                continue
            definition = self.reader.definition(name)
            constants = [
                z3.Const(f"{parameter.text}_{index}", words.SORTS[kind])
                for index, (parameter, kind) in enumerate(zip(definition.parameters, STEPS[name], strict=True))
            ]
            before = self.settled()
            arguments = [
                words.WRAPS[kind](before, term) if kind in words.WRAPS else term
                for term, kind in zip(constants, STEPS[name], strict=True)
            ]
            env = {p.number: value for p, value in zip(definition.parameters, arguments, strict=True)}
            yield from self._actions(name, definition.body, env, before, constants)

    def _elsewhere(self) -> Action:
        """Let members crash or come up: a new incarnation has not begun, and has sent nothing."""
        before, up = self.settled(), z3.Function("up_then", *words.FUNCTIONS["up"])
        return Action(_ELSEWHERE, (), before, {**before, "up": up}, z3.BoolVal(val=True))

    def _actions(
        self, name: str, body: tree.Expression, env: dict[int, Value], before: State, constants: list[Term]
    ) -> Iterator[Action]:
        actor = constants[0]
        after = dict(before)
        for each in CHOSEN:
            after[each] = _replaced(actor, z3.Function(f"{each}_then", *words.FUNCTIONS[each][1:]), before[each])
        grow = [_grows(each, before, after) for each in _HISTORY] if name in _CHANGE_HISTORY else []
        act = {"event": {"size": z3.Int("size")}}
        for index, event in enumerate(_events(body)):
            self.reader.logic.restart()
            purges = any(isinstance(part, tree.Apply) and part.operator.text == "OnlyPurges" for part in _parts(body))
            step = _Step(actor, dict(after), Moment(before, None, act), purges=purges, requires=[*grow])
            for part in _parts(body):
                self._part(step, part, env, event)
            lemmas: list[tuple[str, Term]] = []
            if name in ("InstallViewStep", "JoinStep"):
                inherit(step.after, before, constants)
                step.requires += [
                    each.at("w", constants[1]).formula() for each in self.forest() if each.name in _BY_PARENT
                ]
                lemmas = on_the_way(before, step.after, constants)
            if name == "PromiseDigestStep":
                pass_on(step.after, before, constants)
            if name == "ReceiveStabilityStep":
                note_agreement(step.after, before, actor)
            facts = [each for each in step.requires if each is not True]
            if any(isinstance(each, bool) for each in facts):
                raise NotRead(f"{name} can never happen")
            label = name if index == 0 else f"{name} {index + 1}"
            if name == self.forgets[0]:
                step.after[self.forgets[1]] = before[self.forgets[1]]
                lemmas = []  # they are of the step as it is
            yield Action(
                label,
                (*facts, *one_id(before, constants)),
                before,
                step.after,
                self._readable(step),
                actor,
                step.event,
                step.effects,
                lemmas,
            )

    def _part(self, step: _Step, part: tree.Expression, env: dict[int, Value], event: tree.Expression) -> None:
        """Take in one conjunct of an action: the event is applied, an assignment done, all else required."""
        reader = self.reader.at(evolve_moment(step))
        logic = reader.logic
        if isinstance(part, tree.Apply) and part.operator.text in ("=", r"\in"):
            target = _target(part.operands[0])
            if target == "event":
                self._take(step, reader.value(event, env))
                return
            if target == "installed":
                view = reader.value(part.operands[1], env)
                old_inst, old_begun = step.after["installed"], step.after["begun"]
                step.after["installed"] = lambda x: z3.If(x == step.actor, view, old_inst(x))
                step.after["begun"] = lambda x: z3.Or(x == step.actor, old_begun(x))
                return
            if target == "standing":
                held = reader.value(part.operands[1], env)
                step.after["standing"] = lambda q: logic.has(held, q)
                return
            if target == "rm":
                windows = reader.value(part.operands[1], env)
                for name in ("delivered", "purged"):
                    step.after[name] = _replaced(
                        step.actor, lambda s, n=name: windows.rule(s)[n], step.moment.now[name]
                    )
                return
        if (
            isinstance(part, tree.Apply)
            and part.operator.kind == "defined"
            and (definition := self.reader.definitions.operators.get(part.operator.number)) is not None
            and part.operator.text == "OnlyPurges"
        ):
            inner = {definition.parameters[0].number: reader.value(part.operands[0], env)}
            self._part(step, definition.body, inner, event)
            return
        if isinstance(part, tree.Apply) and part.operator.text == "HasPromises":
            who, view = (reader.value(each, env) for each in part.operands)
            other = z3.Const("other", VIEW)
            promise = words.WRAPS["promise"](step.moment.now, words.redeemed(other))
            comes = z3.And(words.precedes(other, view), z3.Not(words.is_in(other, who)))
            redeems = reader.call("Redeems", promise, who, other, view)
            stands = step.moment.now["standing"](promise.term)
            cut = step.after["abandoned"](other, view)
            step.requires.append(z3.ForAll([other], z3.Implies(comes, z3.Or(cut, z3.And(stands, redeems)))))
            return
        step.requires.append(reader.value(part, env))

    def _take(self, step: _Step, event: Value) -> None:
        """Apply Step to the local state of the actor, and its effects to the network."""
        before, actor = step.moment.now, step.actor
        reader = self.reader.at(step.moment)
        names = {each: reader.logic.as_element(ADDRESS, event[each]) for each in ("sender", "to") if each in event}
        done = reader.call("Step", words.local(before, actor), {**event, **names})
        local, after = done["state"], step.after
        step.local, step.event = local, event
        for name in ("vote", "minimum"):
            after[name] = _replaced(actor, local[name].rule, before[name])
        for name in ("heard_from", "promised"):
            after[name] = _replaced(actor, local[name].contains, before[name])
        for name in ("pending", "received_bytes"):
            after[name] = _replaced(actor, lambda value=local[name]: value, before[name])
        step.effects = done["effects"]
        step.moment.act["effects"] = done["effects"]
        for condition, effect in done["effects"].items:
            match effect["type"]:
                case "Datagram":
                    step.requires.append(self._send(step, condition, effect["message"]))
                case "PassDown" if effect["event"]["type"] == "Purge" and step.purges:
                    pass  # OnlyPurges says what that does
                case "SetTimer" | "CancelTimer":
                    pass  # any timer may fire at any time
                case other:
                    raise NotRead(f"an effect {other} in a step that does not say what it does")

    def _readable(self, step: _Step) -> Term:
        """Say that the local state after a step is what `words.local` makes of the state of the group."""
        logic, actor = self.reader.logic, step.actor
        expected = words.local(step.after, actor)
        same = [logic.equal(step.local[name], expected[name]) for name in ("member", "view")]
        same += [
            logic.every(
                ADDRESS,
                lambda s, n=name: logic.equal(  # type: ignore[misc]
                    step.local[n].domain.contains(s), words.address_in(step.after["installed"](actor), s)
                ),
            )
            for name in ("vote", "minimum")
        ]
        known = logic.implies(step.after["begun"](actor), logic.all_of(same))
        return z3.BoolVal(known) if isinstance(known, bool) else known

    def _send(self, step: _Step, condition: Value, message: Value) -> Value:
        logic, actor, after = self.reader.logic, step.actor, step.after
        is_vote = message["type"] == "STABLE"
        sort, kind = (VOTE, "sent_votes") if is_vote else (ANNOUNCED, "sent_announcements")
        sender, view, vector = words.SENT[sort]
        new, s = logic.variable(sort, "sent"), z3.Const("s", ADDRESS)
        sent = after[kind]
        after[kind] = lambda each: logic.any_of([sent(each), logic.all_of([condition, each == new])])
        if is_vote:
            cast = after["cast"]
            after["cast"] = lambda x, v, a: logic.choice(
                logic.all_of([condition, x == actor, v == view(new), words.address_in(v, a)]),
                z3.If(message["digest"].rule(a) > cast(x, v, a), message["digest"].rule(a), cast(x, v, a)),
                cast(x, v, a),
            )
        return logic.implies(
            condition,
            z3.And(
                sender(new) == actor,
                view(new) == step.moment.now["installed"](actor),
                z3.ForAll([s], z3.Implies(words.address_in(view(new), s), vector(new, s) == message["digest"].rule(s))),
            ),
        )


def evolve_moment(step: _Step) -> Moment:
    """The moment of a step that is being read."""
    return evolve(step.moment, then=step.after)


def _replaced(actor: Term, rule: Callable[..., Value], old: Callable[..., Value]) -> Callable[..., Value]:
    logic = Logic()
    return lambda x, *rest: logic.choice(True if x is actor else x == actor, rule(*rest), old(x, *rest))


def _grows(name: str, before: State, after: State) -> Term:
    """Let a step add to a relation, and say that it takes nothing away."""
    after[name] = z3.Function(f"{name}_then", *words.FUNCTIONS[name])
    places = [z3.Const(f"{name}_{index}", sort) for index, sort in enumerate(words.FUNCTIONS[name][:-1])]
    return z3.ForAll(places, z3.Implies(before[name](*places), after[name](*places)))


def _parts(body: tree.Expression) -> Sequence[tree.Expression]:
    return body.operands if isinstance(body, tree.Apply) and body.operator.text == "$ConjList" else (body,)


def _events(body: tree.Expression) -> Iterator[tree.Expression]:
    for part in _parts(body):
        if (
            isinstance(part, tree.Apply)
            and part.operator.text in ("=", r"\in")
            and _target(part.operands[0]) == "event"
        ):
            right = part.operands[1]
            if not isinstance(right, tree.Apply):
                raise NotRead("an event that is no record")
            yield from right.operands if part.operator.text == r"\in" else (right,)


def _target(node: tree.Expression) -> str:
    """Give the variable that the left side of an equation primes: of `rm'[a]`, rm; of act'.event, event."""
    if not isinstance(node, tree.Apply):
        return ""
    if node.operator.text == "$RcdSelect":
        field_ = node.operands[1]
        return field_.value if isinstance(field_, tree.Text) and _target(node.operands[0]) == "act" else ""
    if node.operator.text == "$FcnApply":
        return _target(node.operands[0]) if _is_primed(node.operands[0]) else ""
    if node.operator.text == "'":
        inner = node.operands[0]
        return inner.operator.text if isinstance(inner, tree.Apply) and not inner.operands else ""
    return ""


def _is_primed(node: tree.Expression) -> bool:
    return isinstance(node, tree.Apply) and node.operator.text == "'"


def theory_of(manifest: Manifest, ablation: Ablation | None = None) -> Theory:
    """Read the modules of a protocol, as they are or with something taken away."""
    replaces, constants = (("", ""), {}) if ablation is None else (ablation.replaces, ablation.constants)
    definitions = definitions_of((manifest.folder, manifest.folder.parent / "common"), _MODULE, replaces)
    theory = Theory.of(definitions, {**manifest.reference, **constants})
    if ablation is None or not ablation.forgets:
        return theory
    return evolve(theory, forgets=(ablation.step, ablation.forgets))
