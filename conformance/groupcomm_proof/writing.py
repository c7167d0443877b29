"""Steps of the solver, written back as TLA+: by them TLC judges each transition of a model, and its start.

Nothing is said twice: the formulas are those that the solver is given, printed in the words (`Words`) of the
last section of StableInductive or SequencerInductive. A choice that a step leaves open (which FORWARDs a
crash takes with it) is read off the state after.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from typing import Final

import z3
from attrs import evolve, field, frozen

from .values import Term
from .vocabulary import Action, State

START: Final = "InitIsRead"
STEP: Final = "EachStepIsRead"


@frozen(eq=False)
class Words:
    """The words of TLA+ for a theory. In a text, `{0}` is the first argument.

    `sets`: the elements of each sort, after a step. `undecided`: of some sorts, those there are when a view
    is decided. `names`: texts of facts, and of choices, as the state after the step has them. `among`: what a
    choice ranges over, if not over its sort. `functions`: those of the state that are judged, and their
    sorts. `defined`: where a function's value means anything. `by_event`: a step has one event, or none.
    `module`: the instance that has the words for the state, if they are in one.
    """

    sets: Mapping[Term, str]
    names: Mapping[str, str]
    among: Mapping[str, str]
    functions: Mapping[str, Sequence[Term]]
    defined: Mapping[str, str]
    undecided: Mapping[Term, str] = field(factory=dict)
    by_event: bool = True
    module: str = ""

    def operator(self, name: str) -> str:
        """Name the operator for a function of the state."""
        return self.module + "".join(part.capitalize() for part in name.split("_")) + "Now"


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


def written(
    words: Words, now: State, initial: Sequence[Term], decided: Sequence[Term], actions: Iterable[Action]
) -> str:
    """Give the definitions of InitIsRead and EachStepIsRead: the start and each transition are the solver's.

    `now`: the state before a step. `decided`: what is required of a view that is decided, `new_view`.
    """
    start = _Writer(words).all_of(initial).replace("'", "")  # there is no step yet
    unsent = evolve(words, sets={**words.sets, **words.undecided})
    said = [
        _define(START, [], f"InScope => {start}"),
        _define("IsDecided", ["w"], _Writer(unsent, {"new_view": "w"}).all_of(decided)),
        *(_define(f"Same_{name}", [], _after(words, name, now[name])) for name in words.functions),
    ]
    steps = [" /\\ ".join(f"Same_{name}" for name in words.functions)]
    for number, action in enumerate(actions):
        event = "none" if action.event is None else action.event["type"]
        writer = _Writer(words)
        if action.actor is not None:
            writer.text(action.actor)  # (choices are read off its state)
        parts = [writer.all_of(action.requires)]
        for name in words.functions:
            is_same = action.after[name] is now[name]
            parts.append(f"Same_{name}" if is_same else _after(words, name, action.after[name], writer.free))
        step = re.sub(r"\W", "", f"{action.name}_{number}")
        said.append(_define(step, list(writer.free), "\n    /\\ " + "\n    /\\ ".join(parts)))
        bounds = ", ".join(f"{name} \\in {among}" for name, among in writer.free.items())
        steps.append(
            (f'act\'.event.type = "{event}" /\\ ' if words.by_event else "")
            + (f"\\E {bounds} : {step}({', '.join(writer.free)})" if bounds else step)
        )
    either = "\n       \\/ ".join(steps)
    said.append(
        _define(
            f"{STEP}Step",
            [],
            f"(InScope /\\ InScope') =>\n    /\\ {words.module}GrowsByOne(views, views')"
            "\n    /\\ \\A w \\in DOMAIN views' \\ DOMAIN views : IsDecided(w)"
            f"\n    /\\ \\/ {either}",
        )
    )
    said.append(f"{STEP} == [][{STEP}Step]_vars\n")
    return "\n".join(said)


def _define(name: str, parameters: Sequence[str], body: str) -> str:
    return f"{name}{'(' + ', '.join(parameters) + ')' if parameters else ''} == {body}\n"


def _after(words: Words, name: str, rule: Term, free: dict[str, str] | None = None) -> str:
    """Say that a function of the state has this value after the step."""
    *sorts, _ = words.functions[name]
    variables = [z3.Const(f"v{i}_{name}", sort) for i, sort in enumerate(sorts)]
    writer = _Writer(words, free={} if free is None else free)
    said = [writer.named(variable) for variable in variables]
    term = rule(*variables)
    bounds = ", ".join(f"{word} \\in {words.sets[sort]}" for word, sort in zip(said, sorts, strict=True))
    given = f"{words.defined[name].format(*said)} => " if name in words.defined else ""
    text = writer.text(term) if isinstance(term, z3.ExprRef) else _plain(term)
    return f"(\\A {bounds} : {given}{words.operator(name)}({', '.join(said)})' = {text})"


def _plain(value: object) -> str:
    return _number(value) if type(value) is int else str(value).upper()


def _number(value: int) -> str:
    return str(value) if value >= 0 else f"(0 - {-value})"


@frozen(eq=False)
class _Writer:
    """Prints terms. `given`: names of bound variables. `free`: of all others, and what they range over."""

    words: Words
    given: dict[str, str] = field(factory=dict)
    free: dict[str, str] = field(factory=dict)
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
            constants = [z3.Const(f"bound {next(self._fresh)}", term.var_sort(i)) for i in range(term.num_vars())]
            words = [self.named(each) for each in constants]
            inner = self.text(z3.substitute_vars(term.body(), *reversed(constants)))
            bounds = ", ".join(
                f"{word} \\in {self.words.sets[each.sort()]}" for word, each in zip(words, constants, strict=True)
            )
            quantifier = r"\A" if term.is_forall() else r"\E"
            return f"({quantifier} {bounds} : {inner})"
        operands = [self.text(each) for each in term.children()]
        match term.decl().kind():
            case z3.Z3_OP_TRUE | z3.Z3_OP_FALSE:
                return str(term).upper()
            case z3.Z3_OP_ANUM:
                return _number(term.as_long())
            case z3.Z3_OP_NOT:
                return f"~{operands[0]}"
            case z3.Z3_OP_ITE:
                return f"(IF {operands[0]} THEN {operands[1]} ELSE {operands[2]})"
            case z3.Z3_OP_UNINTERPRETED:
                return self._named(term, operands)
            case kind if kind in _INFIX:
                return "(" + f" {_INFIX[kind]} ".join(operands) + ")"
            case _:
                raise NotImplementedError(f"no TLA+ for {term.decl().name()}")

    def _named(self, term: Term, operands: Sequence[str]) -> str:
        name = term.decl().name()
        if name in self.given:
            return self.given[name]
        is_named = name in self.words.names
        among = self.words.among.get(name.partition("!")[0])
        word = re.sub(r"\W", "_", name)
        if among is not None or not (operands or is_named):
            self.free[word] = among or self.words.sets[term.sort()]
        if is_named:
            return self.words.names[name].format(*operands)
        if not operands:
            return word
        if name not in self.words.functions:
            raise NotImplementedError(f"no TLA+ for {name}")
        return f"{self.words.operator(name)}({', '.join(operands)})"
