"""The reader: evaluates the tree of a specification over values that may be terms of the solver.

A `Reader` knows the operators of a module, the constants, and `natives`: operators and variables whose
meaning is given to it, in place of their text. `clauses` takes a formula apart into universally
quantified implications, which a solver proves one by one.
"""

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final

import z3
from attrs import evolve, field, frozen

from groupcomm_conformance.models.modules import read_tree
from groupcomm_conformance.tla import tree

from .values import Items, Logic, Map, SetOf, Term, Value


class NotRead(ValueError):  # noqa: N818 - names what happened
    """The specification says something that the reader does not understand."""


@frozen(eq=False)
class Moment:
    """The subjects of expressions: the state, the next state (for primes), and the record of the step."""

    now: Value = None
    then: Value = None
    act: Value = None


@frozen(eq=False)
class Clause:
    """One universally quantified implication; `name` says of which operators it is a part.

    `bound`: the names that the specification gives to the variables, and to what is said to exist, with
    what they stand for.
    """

    name: str
    variables: tuple[Term, ...]
    given: Value
    goal: Value
    bound: tuple[tuple[str, Value], ...] = ()

    def formula(self) -> Term:
        if self.given is False or self.goal is True:
            return z3.BoolVal(val=True)
        body = self.goal if self.given is True else z3.Implies(self.given, self.goal)
        if isinstance(body, bool):
            return z3.BoolVal(body)
        return z3.ForAll([*self.variables], body) if self.variables else body

    def at(self, name: str, term: Term) -> "Clause":
        """Give the instance in which the variable that the specification calls so is this."""
        (variable,) = (value for each, value in self.bound if each == name)

        def instance(value: Value) -> Value:
            return z3.substitute(value, (variable, term)) if isinstance(value, z3.ExprRef) else value

        rest = tuple(each for each in self.variables if not each.eq(variable))
        return evolve(self, variables=rest, given=instance(self.given), goal=instance(self.goal))


Native = Callable[..., Value]
Witnesses = Mapping[str, Callable[[Moment, Sequence[Value]], Sequence[Value]]]
_Env = Mapping[int, Value]

# Operators of the standard modules, that are as defined as any other.
_ARITHMETIC: Final[Mapping[str, Callable[[Value, Value], Value]]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "<": lambda a, b: a < b,
    ">": lambda a, b: a > b,
    r"\leq": lambda a, b: a <= b,
    r"\geq": lambda a, b: a >= b,
}
_OWN: Final = frozenset({*_ARITHMETIC, "..", r"\o", r"\circ", "-."})


@frozen(eq=False)
class _Later:
    """A definition of a LET, in its surroundings."""

    definition: tree.Definition
    env: dict[int, Value]


@frozen(eq=False)
class Reader:
    """Evaluates expressions. `used` collects the operators whose text was read."""

    definitions: tree.Definitions
    constants: Mapping[str, Value]
    natives: Mapping[str, Native]
    logic: Logic
    witnesses: Witnesses = field(factory=dict)
    moment: Moment = field(factory=Moment)
    used: set[str] = field(factory=set)
    facts: list[Term] = field(factory=list)

    def at(self, moment: Moment) -> "Reader":
        """Give this reader for another moment."""
        return evolve(self, moment=moment)

    def definition(self, name: str) -> tree.Definition:
        found = self.definitions.find(name)
        if found is None:
            raise NotRead(f"{self.definitions.module}: no operator {name}")
        return found

    def call(self, name: str, *arguments: Value) -> Value:
        """Evaluate an operator of the module."""
        return self._run(self.definition(name), arguments, {})

    def _run(self, definition: tree.Definition, arguments: Sequence[Value], env: _Env) -> Value:
        name = definition.name.text
        if name in self.natives:
            return self.natives[name](self.moment, *arguments)
        self.used.add(name)
        return self.value(definition.body, self._bound(definition, arguments, env))

    def _bound(self, definition: tree.Definition, arguments: Sequence[Value], env: _Env) -> dict[int, Value]:
        numbers = (parameter.number for parameter in definition.parameters)
        return {**env, **dict(zip(numbers, arguments, strict=True))}

    def value(self, node: tree.Expression, env: _Env, old: Value = None) -> Value:
        """Evaluate an expression; `old` is the value of `@`."""
        match node:
            case tree.Text(text):
                return text
            case tree.Number(number):
                return number
            case tree.At():
                return old
            case tree.Operator(name) if isinstance(later := env.get(name.number), _Later):
                return lambda *arguments: self._run(later.definition, arguments, later.env)
            case tree.Let(definitions, body):
                return self.value(body, self._with(definitions, env), old)
            case tree.Apply(operator, operands, bounds):
                return self._applied(node, operator, operands, bounds, env, old)
            case _:
                raise NotRead(f"an expression of the kind {type(node).__name__}")

    def _with(self, definitions: Sequence[tree.Definition], env: _Env) -> dict[int, Value]:
        inner = dict(env)
        for definition in definitions:
            inner[definition.name.number] = _Later(definition, inner)
        return inner

    def _applied(  # noqa: PLR0917 - a node, taken apart, and where it stands
        self,
        node: tree.Apply,
        operator: tree.Name,
        operands: Sequence[tree.Expression],
        bounds: Sequence[tree.Bound],
        env: _Env,
        old: Value,
    ) -> Value:
        name = operator.text
        match operator.kind:
            case "parameter":
                return env[operator.number]
            case "constant" | "variable":
                if name in self.natives:
                    return self.natives[name](self.moment)
                if name not in self.constants:
                    raise NotRead(f"the {operator.kind} {name} has no meaning here (line {node.line})")
                return self.constants[name]
            case "defined" if name not in _OWN:
                arguments = [self.value(each, env, old) for each in operands]
                later = env.get(operator.number)
                if isinstance(later, _Later):
                    if later.definition.parameters:
                        return self._run(later.definition, arguments, later.env)
                    known = later.env[operator.number] = self._run(later.definition, (), later.env)
                    return known
                if later is not None:
                    return later
                if name in self.natives:
                    return self.natives[name](self.moment, *arguments)
                definition = self.definitions.operators.get(operator.number)
                if definition is None:
                    raise NotRead(f"{name} is defined elsewhere (line {node.line})")
                return self._run(definition, arguments, {})
        return self._builtin(node, name, operands, bounds, env, old)

    def _builtin(  # noqa: PLR0917 - as above
        self,
        node: tree.Apply,
        name: str,
        operands: Sequence[tree.Expression],
        bounds: Sequence[tree.Bound],
        env: _Env,
        old: Value,
    ) -> Value:
        logic = self.logic

        def of(index: int) -> Value:
            return self.value(operands[index], env, old)

        match name:
            case "TRUE" | "FALSE":
                return name == "TRUE"
            case "$ConjList" | r"\land" | "$DisjList" | r"\lor":
                ends = name in ("$DisjList", r"\lor")
                found = []
                for each in operands:
                    part = self.value(each, env, old)
                    if part is ends:
                        return ends
                    found.append(part)
                return logic.any_of(found) if ends else logic.all_of(found)
            case "=>":
                given = of(0)
                return True if given is False else logic.implies(given, of(1))
            case r"\lnot":
                return logic.negation(of(0))
            case "$IfThenElse":
                test = of(0)
                if isinstance(test, bool):
                    return of(1 if test else 2)
                return logic.choice(test, of(1), of(2))
            case "$Case":
                return self._case(node, operands, env, old)
            case "'":
                return self.at(Moment(self.moment.then, None, self.moment.act)).value(operands[0], env, old)
            case "$BoundedForall" | "$BoundedExists":
                return self._quantified(name == "$BoundedForall", operands[0], bounds, env, old)
            case "$BoundedChoose":
                return self._chosen(operands[0], bounds, env, old)
            case "$RcdConstructor":
                return {_text(pair, 0): self.value(_operands(pair)[1], env, old) for pair in operands}
            case "$RcdSelect":
                return of(0)[_text(node, 1)]
            case "$FcnApply":
                return logic.apply(of(0), of(1))
            case "$FcnConstructor":
                ((number,), domain) = self._range(bounds[0], env, old)
                return Map(domain, lambda x: self.value(operands[0], {**env, number: domain.wrap(x)}, old))
            case "$SubsetOf":
                ((number,), domain) = self._range(bounds[0], env, old)
                return SetOf(
                    domain.sort,
                    lambda x: logic.all_of(
                        [domain.contains(x), self.value(operands[0], {**env, number: domain.wrap(x)}, old)]
                    ),
                    domain.wrap,
                )
            case "$SetEnumerate":
                members = [self.value(each, env, old) for each in operands]
                return SetOf(
                    _sort_of(members) if members else logic.sort_of_addresses,
                    lambda x: logic.any_of([logic.equal(x, _term(each)) for each in members]),
                )
            case "$Tuple":
                return Items([(True, self.value(each, env, old)) for each in operands])
            case "$Except":
                return self._except(operands, env, old)
            case "DOMAIN":
                return of(0).domain
            case r"\in":
                return logic.has(of(1), of(0))
            case r"\notin":
                return logic.negation(logic.has(of(1), of(0)))
            case "-.":
                return -of(0)
        return self._infix(node, name, of(0), of(1))

    def _infix(self, node: tree.Apply, name: str, left: Value, right: Value) -> Value:
        logic = self.logic
        match name:
            case "=":
                return logic.equal(left, right)
            case "/=" | "#":
                return logic.negation(logic.equal(left, right))
            case r"\union" | r"\cup":
                return self._of_both(left, right, lambda a, b: logic.any_of([a, b]))
            case r"\intersect" | r"\cap":
                return self._of_both(left, right, lambda a, b: logic.all_of([a, b]))
            case "\\":
                return self._of_both(left, right, lambda a, b: logic.all_of([a, logic.negation(b)]))
            case r"\o" | r"\circ":
                return Items([*left.items, *right.items])
            case "..":
                return SetOf(z3.IntSort(), lambda x: logic.all_of([left <= x, x <= right]))
            case _ if name in _ARITHMETIC:
                return _ARITHMETIC[name](left, right)
        raise NotRead(f"the operator {name} (line {node.line})")

    def _of_both(self, left: SetOf, right: SetOf, join: Callable[[Value, Value], Value]) -> SetOf:
        sort = left.sort if left.sort is not None else right.sort

        def contains(x: Value) -> Value:
            return join(self.logic.has(left, x), self.logic.has(right, x))

        return SetOf(sort, contains, left.wrap)

    def _case(self, node: tree.Apply, operands: Sequence[tree.Expression], env: _Env, old: Value) -> Value:
        for arm in operands:
            guard, body = _operands(arm)
            if isinstance(guard, tree.Text) and guard.value == tree.OTHER:
                return self.value(body, env, old)
            test = self.value(guard, env, old)
            if not isinstance(test, bool):
                raise NotRead(f"a CASE whose guard is not known (line {node.line})")
            if test:
                return self.value(body, env, old)
        raise NotRead(f"a CASE without a case for this (line {node.line})")

    def _except(self, operands: Sequence[tree.Expression], env: _Env, old: Value) -> Value:
        record = dict(self.value(operands[0], env, old))
        for update in operands[1:]:
            path, replaced = _operands(update)
            name = _text(path, 0)
            record[name] = self.value(replaced, env, record[name])
        return record

    def _range(self, bound: tree.Bound, env: _Env, old: Value) -> tuple[list[int], SetOf]:
        domain = self.value(bound.domain, env, old)
        if bound.tuple_ or not isinstance(domain, SetOf):
            raise NotRead(f"a quantifier over {domain!r}")
        return [name.number for name in bound.names], domain

    def _quantified(
        self,
        every: bool,  # noqa: FBT001 - or some
        body: tree.Expression,
        bounds: Sequence[tree.Bound],
        env: _Env,
        old: Value,
    ) -> Value:
        variables: list[Term] = []
        guards: list[Value] = []
        inner = dict(env)
        for bound in bounds:
            numbers, domain = self._range(bound, env, old)
            for number in numbers:
                variable = self.logic.variable(domain.sort)
                variables.append(variable)
                guards.append(domain.contains(variable))
                inner[number] = domain.wrap(variable)
        formula = self.value(body, inner, old)
        guard = self.logic.all_of(guards)
        if every:
            formula = self.logic.implies(guard, formula)
            return formula if isinstance(formula, bool) else z3.ForAll(variables, formula)
        formula = self.logic.all_of([guard, formula])
        return formula if isinstance(formula, bool) else z3.Exists(variables, formula)

    def _chosen(self, body: tree.Expression, bounds: Sequence[tree.Bound], env: _Env, old: Value) -> Value:
        """Give a value with this property: it fits if any value fits."""
        ((number,), domain) = self._range(bounds[0], env, old)
        chosen = self.logic.variable(domain.sort, "chosen")

        def fits(term: Term) -> Value:
            inner = {**env, number: domain.wrap(term)}
            return self.logic.all_of([domain.contains(term), self.value(body, inner, old)])

        other = self.logic.variable(domain.sort)
        self.facts.append(z3.ForAll([other], z3.Implies(fits(other), fits(chosen))))
        return domain.wrap(chosen)

    # Taking formulas apart

    def clauses(self, name: str) -> list[Clause]:
        """Take an operator without parameters apart."""
        return [*self._clauses(self.definition(name).body, {}, (), [], name, (), ())]

    def _clauses(  # noqa: PLR0917 - a node, and what was passed on the way to it
        self,
        node: tree.Expression,
        env: _Env,
        variables: tuple[Term, ...],
        given: list[Value],
        name: str,
        outer: tuple[Value, ...],
        bound: tuple[tuple[str, Value], ...],
    ) -> Iterator[Clause]:
        match node:
            case tree.Apply(tree.Name("$ConjList" | r"\land"), operands):
                for each in operands:
                    yield from self._clauses(each, env, variables, given, name, outer, bound)
                return
            case tree.Apply(tree.Name("=>"), (left, right)):
                more = [*given, self.value(left, env)]
                yield from self._clauses(right, env, variables, more, name, outer, bound)
                return
            case tree.Apply(tree.Name("$BoundedForall"), (body,), bounds):
                inner, guards, found, values = dict(env), [*given], list(variables), list(outer)
                for among in bounds:
                    domain = self._range(among, env, None)[1]
                    for variable_name in among.names:
                        variable = self.logic.variable(domain.sort)
                        found.append(variable)
                        guards.append(domain.contains(variable))
                        inner[variable_name.number] = domain.wrap(variable)
                        values.append(inner[variable_name.number])
                        bound = (*bound, (variable_name.text, values[-1]))
                yield from self._clauses(body, inner, tuple(found), guards, name, tuple(values), bound)
                return
            case tree.Apply(tree.Name("$BoundedExists"), (body,), bounds) if name in self.witnesses:
                witnesses = iter(self.witnesses[name](self.moment, outer))
                inner = dict(env)
                for among in bounds:
                    domain = self._range(among, env, None)[1]
                    for variable_name in among.names:
                        value = inner[variable_name.number] = domain.wrap(next(witnesses))
                        bound = (*bound, (variable_name.text, value))
                        yield Clause(
                            f"{name}/among", variables, self.logic.all_of(given), self.logic.has(domain, value), bound
                        )
                yield from self._clauses(body, inner, variables, given, name, outer, bound)
                return
            case tree.Apply(tree.Name(text, "defined", number), operands) if text not in self.natives:
                definition = self.definitions.operators.get(number)
                if definition is not None and text not in _OWN:
                    self.used.add(text)
                    inner = self._bound(definition, [self.value(each, env) for each in operands], {})
                    part = text if not operands else f"{name}/{text}"
                    yield from self._clauses(definition.body, inner, variables, given, part, outer, bound)
                    return
            case _:
                pass
        yield Clause(name, variables, self.logic.all_of(given), self.value(node, env), bound)


def _operands(node: tree.Expression) -> tuple[tree.Expression, ...]:
    if not isinstance(node, tree.Apply):
        raise NotRead(f"a {type(node).__name__} where an operator should be")
    return node.operands


def _text(node: tree.Expression, index: int) -> str:
    found = _operands(node)[index]
    if not isinstance(found, tree.Text):
        raise NotRead("a field whose name is no text")
    return found.value


def _term(value: Value) -> Value:
    return getattr(value, "term", value)


def _sort_of(members: Sequence[Value]) -> Term:
    for each in members:
        term = _term(each)
        if isinstance(term, z3.ExprRef):
            return term.sort()
    return None


def known(constants: Mapping[str, str]) -> dict[str, Value]:
    """Give the values of constants as cfg files have them, where they are plain."""
    values = {name: _plain(text.removeprefix("= ")) for name, text in constants.items()}
    return {name: value for name, value in values.items() if value is not None}


def _plain(text: str) -> Value:
    if text in ("TRUE", "FALSE"):
        return text == "TRUE"
    if text.startswith('"'):
        return text.strip('"')
    return int(text) if text.isdigit() else None


@cache
def definitions_of(folders: tuple[Path, ...], root: str, replaces: tuple[str, str] = ("", "")) -> tree.Definitions:
    """Read a module and what it extends; where asked with a piece of its text, which it has once, replaced."""
    old, new = replaces
    if not old:
        return read_tree(folders, root)
    with tempfile.TemporaryDirectory(prefix="groupcomm-prove-") as name:
        for module in (each for folder in folders for each in folder.glob("*.tla")):
            text = module.read_text(encoding="utf-8")
            if module.stem == root:
                if text.count(old) != 1:
                    raise NotRead(f"{root} has {old!r} {text.count(old)} times, not once")
                text = text.replace(old, new)
            (Path(name) / module.name).write_text(text, encoding="utf-8")
        return read_tree([Path(name)], root)
