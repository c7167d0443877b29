"""Steps of the solver, written back as TLA+: by them TLC judges each transition of a model.

Nothing is said twice: the formulas are those of `sequencer`, printed in the words of the last section of
SequencerInductive. A choice that a step leaves open (which FORWARDs a crash takes with it) is read off the
state after.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from typing import Final

import z3
from attrs import field, frozen

from .symbols import ADDRESS, FUNCTIONS, INT, MEMBER, VIEW, A, N, S, T, W
from .values import Term
from .vocabulary import Action

__all__ = ["STEP", "written"]

STEP: Final = "EachStepIsRead"
_SETS: Final = {MEMBER: "Incarnations'", ADDRESS: "Member", VIEW: "DOMAIN views'", INT: "NumbersSoFar'"}
# Parameters of a step, besides the member that takes it.
_BOUND: Final = {
    "t": _SETS[MEMBER],
    "w": _SETS[VIEW],
    "n": _SETS[INT],
    "listens": "BOOLEAN",
}
# Facts that never change are stated of the views after the step.
_FACTS: Final = {
    "in": "LifeIn",
    "occupant": "OccupantIn",
    "before": "BeforeIn",
    "parent": "ParentIn",
    "follows": "FollowsIn",
    "counter": "CounterIn",
    "creator": "CreatorIn",
    "leader": "LeaderIn",
}
_GHOSTS: Final = ("seen_in",)
# Choices of a step, as the state after it has them.
_CHOSEN: Final[Mapping[str, str]] = {
    "place": "(IF PosNow(w, {0}, {1}) = 0 THEN PosNow(w, {0}, {1})' ELSE 0)",
    "more": "(LengthNow(w)' - LengthNow(w))",
    "kept": "KnownNow(a, {0})'",
    "stays": "WireNow({0}, {1}, {2})'",
}
_INFIX: Final = {
    z3.Z3_OP_AND: r"/\ ",
    z3.Z3_OP_OR: r"\/",
    z3.Z3_OP_IMPLIES: "=>",
    z3.Z3_OP_EQ: "=",
    z3.Z3_OP_DISTINCT: "#",
    z3.Z3_OP_LE: "<=",
    z3.Z3_OP_GE: ">=",
    z3.Z3_OP_LT: "<",
    z3.Z3_OP_GT: ">",
    z3.Z3_OP_ADD: "+",
    z3.Z3_OP_SUB: "-",
}


def written(decided: Sequence[Term], actions: Iterable[Action]) -> str:
    """Give the definitions by which each transition is one of the steps. `decided`: what a view has to be."""
    names = [name for name in FUNCTIONS if name not in _GHOSTS]
    said = [_define("IsDecided", ["w"], _Writer({"new_view": "w"}).all_of(decided))]
    said += [_define(f"Same_{name}", [], _after(name, S[name])) for name in names]
    steps = [" /\\ ".join(f"Same_{name}" for name in names)]
    for number, action in enumerate(actions):
        event = "none" if action.event is None else action.event["type"]
        writer = _Writer()
        parts = [writer.all_of(action.requires)]
        for name in names:
            is_same = action.after[name] is S[name]
            parts.append(f"Same_{name}" if is_same else _after(name, action.after[name]))
        body = "\n    /\\ ".join(parts)
        chosen = [name for name in _BOUND if re.search(rf"\b{name}\b", body)]
        step = f"{action.name}_{number}"
        said.append(_define(step, ["a", *chosen], "\n    /\\ " + body))
        bounds = ", ".join(f"{name} \\in {_BOUND[name]}" for name in chosen)
        steps.append(
            f"act'.event.type = \"{event}\" /\\ \\E a \\in {{x \\in Present' : x.address = act'.member}} : "
            + (f"\\E {bounds} : " if chosen else "")
            + f"{step}({', '.join(['a', *chosen])})"
        )
    either = "\n       \\/ ".join(steps)
    said.append(
        _define(
            f"{STEP}Step",
            [],
            "(InScope /\\ InScope') =>\n    /\\ ViewsOnlyGrow"
            "\n    /\\ \\A w \\in DOMAIN views' \\ DOMAIN views : IsDecided(w)"
            f"\n    /\\ \\/ {either}",
        )
    )
    said.append(f"{STEP} == [][{STEP}Step]_vars\n")
    return "\n".join(said)


def _define(name: str, parameters: Sequence[str], body: str) -> str:
    return f"{name}{'(' + ', '.join(parameters) + ')' if parameters else ''} == {body}\n"


def _after(name: str, rule: Term) -> str:
    """Say that a function of the state has this value after the step."""
    *sorts, _ = FUNCTIONS[name]
    variables = [z3.Const(f"v{i}_{name}", sort) for i, sort in enumerate(sorts)]
    writer = _Writer()
    words = [writer.named(variable) for variable in variables]
    term = rule(*variables)
    is_own = sorts[0] == MEMBER and name != "wire"  # of an incarnation that is over nothing is known any more
    sets = ["Present'" if is_own and i == 0 else _SETS[sort] for i, sort in enumerate(sorts)]
    bounds = ", ".join(f"{word} \\in {among}" for word, among in zip(words, sets, strict=True))
    now = f"{_operator(name)}({', '.join(words)})'"
    text = writer.text(term) if isinstance(term, z3.ExprRef) else _plain(term)
    return f"(\\A {bounds} : {now} = {text})"


def _operator(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_")) + "Now"


def _plain(value: object) -> str:
    return str(value).upper() if isinstance(value, bool) else str(value)


@frozen(eq=False)
class _Writer:
    """Prints terms; `given`: names of constants."""

    given: dict[str, str] = field(factory=dict)
    _fresh: count = field(factory=count)  # type: ignore[type-arg]

    def named(self, constant: Term) -> str:
        """Name a variable that is bound."""
        name = f"x{next(self._fresh)}"
        self.given[constant.decl().name()] = name
        return name

    def all_of(self, terms: Sequence[Term]) -> str:
        return "(" + (" /\\ ".join(self.text(each) for each in terms) or "TRUE") + ")"

    def text(self, term: Term) -> str:
        if z3.is_quantifier(term):
            constants = [
                z3.Const(f"bound {next(self._fresh)}", term.var_sort(i)) for i in range(term.num_vars())
            ]
            words = [self.named(each) for each in constants]
            inner = self.text(z3.substitute_vars(term.body(), *reversed(constants)))
            bounds = ", ".join(
                f"{word} \\in {_SETS[each.sort()]}" for word, each in zip(words, constants, strict=True)
            )
            quantifier = r"\A" if term.is_forall() else r"\E"
            return f"({quantifier} {bounds} : {inner})"
        operands = [self.text(each) for each in term.children()]
        match term.decl().kind():
            case z3.Z3_OP_TRUE | z3.Z3_OP_FALSE:
                return str(term).upper()
            case z3.Z3_OP_ANUM:
                return str(term)
            case z3.Z3_OP_NOT:
                return f"~{operands[0]}"
            case z3.Z3_OP_ITE:
                return f"(IF {operands[0]} THEN {operands[1]} ELSE {operands[2]})"
            case z3.Z3_OP_UNINTERPRETED:
                return self._named(term.decl().name(), operands)
            case kind if kind in _INFIX:
                return "(" + f" {_INFIX[kind]} ".join(operands) + ")"
            case _:
                raise NotImplementedError(f"no TLA+ for {term.decl().name()}")

    def _named(self, name: str, operands: Sequence[str]) -> str:
        inside = ", ".join(operands)
        if name in self.given:
            return self.given[name]
        if name == "address":
            return f"{inside}.address"
        if name in _FACTS:
            return f"{_FACTS[name]}(views', {inside})"
        if name in FUNCTIONS:
            return f"{_operator(name)}({inside})"
        if name in _CHOSEN:
            return _CHOSEN[name].format(*operands)
        if name in (str(each) for each in (A, T, W, N)):
            return "n" if name == str(N) else name
        if name == "listens":
            return name
        if name == "by":
            return "act'.event.sender"
        raise NotImplementedError(f"no TLA+ for {name}")
