"""Models of formulas in a small group: every quantifier is written out over so many elements of each sort.

The solver's result is then no search among instances but an answer: a group in which all the formulas hold,
or that there is none of this size.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Final

import z3
from attrs import frozen

from .values import Term

_LIMIT: Final = 40_000_000
"""The solver's limit, in its own unit, which does not depend on the machine."""


@frozen(eq=False)
class Group:
    """A model: of each sort its elements, and a value of each term."""

    elements: Mapping[Term, Sequence[Term]]
    model: Term

    def value(self, term: Term) -> Term:
        """Give the value of a term: a truth value, a number, or an element of its sort."""
        written = _written_out(z3.simplify(term), self.elements)
        value = self.model.eval(written, model_completion=True)
        for each in self.elements.get(term.sort(), ()):
            if z3.eq(self.model.eval(each, model_completion=True), value):
                return each
        return value


def model_of(formulas: Sequence[Term], sizes: Mapping[Term, int], largest: int | None = None) -> Group | None:
    """Give a model of the formulas with so many elements of each sort; None if none is found.

    With `largest`: one in which functions have no numbers but those from -1 to it.
    """
    universe = {sort: _elements(sort, size) for sort, size in sizes.items()}
    numbers = sizes.get(z3.IntSort())
    solver = z3.SolverFor("QF_UFLIA")
    solver.set("rlimit", _LIMIT)
    for sort, elements in universe.items():
        if len(elements) > 1 and sort != z3.IntSort():
            solver.add(z3.Distinct(*elements))
    written = [_remembered(each, sizes, universe) for each in formulas]
    solver.add(*(each.term for each in written))
    if numbers is not None:  # a group has no more numbers that functions are of than its size says
        numbered = {number: term for each in written for number, term in each.arguments.items()}
        solver.add(*(z3.And(each >= 0, each < numbers) for each in numbered.values()))
    functions = {number: function for each in written for number, function in each.functions.items()}
    for function in functions.values():
        sorts = [function.domain(i) for i in range(function.arity())]
        if not all(sort in universe for sort in sorts):
            continue
        for arguments in product(*(universe[sort] for sort in sorts)):
            value = function(*arguments)
            if function.range() in universe and function.range() != z3.IntSort():
                solver.add(z3.Or([value == each for each in universe[function.range()]]))
            elif largest is not None and function.range() == z3.IntSort():
                solver.add(value >= -1, value <= largest)
    return Group(universe, solver.model()) if solver.check() == z3.sat else None


@frozen(eq=False)
class _Written:
    """A formula that is written out, with its functions and the numbers that they are of, by the solver's numbers.

    (The formula that it was is kept as well, so that no other gets its number.)
    """

    was: Term
    term: Term
    functions: Mapping[int, Term]
    arguments: Mapping[int, Term]

    @classmethod
    def of(cls, formula: Term, universe: Mapping[Term, Sequence[Term]]) -> "_Written":
        written = _written_out(z3.simplify(formula), universe)
        functions, arguments = dict[int, Term](), dict[int, Term]()
        for term in _parts(written):
            if z3.is_app(term) and term.decl().kind() == z3.Z3_OP_UNINTERPRETED:
                functions[term.decl().get_id()] = term.decl()
                for each in term.children():
                    if each.sort() == z3.IntSort() and not z3.is_int_value(each):
                        arguments[each.get_id()] = each
        return cls(formula, written, functions, arguments)


_known: Final[dict[tuple[object, ...], _Written]] = {}


def _remembered(term: Term, sizes: Mapping[Term, int], universe: Mapping[Term, Sequence[Term]]) -> _Written:
    """Write a formula out, once for each size: most of what one ablation asks is what the others ask."""
    place = term.get_id(), *sorted((sort.get_id(), size) for sort, size in sizes.items())
    if place not in _known:
        _known[place] = _Written.of(term, universe)
    return _known[place]


def _elements(sort: Term, size: int) -> list[Term]:
    return [z3.IntVal(i) if sort == z3.IntSort() else z3.Const(f"{sort}!{i}", sort) for i in range(size)]


def _written_out(term: Term, universe: Mapping[Term, Sequence[Term]], outer: Sequence[Term] = ()) -> Term:
    """Write out the quantifiers of a term; `outer` are the sorts of the variables that are bound around it."""
    if z3.is_quantifier(term):
        sorts = [term.var_sort(i) for i in range(term.num_vars())]
        # Variables are numbered from the last one of the innermost quantifier. Written out, the body has those of the
        # quantifiers around it alone.
        body = _written_out(term.body(), universe, [*reversed(sorts), *outer])
        around = [z3.Var(i, sort) for i, sort in enumerate(outer)]
        values = product(*(universe[sort] for sort in sorts))
        cases = [z3.substitute_vars(body, *reversed(each), *around) for each in values]
        return z3.And(cases) if term.is_forall() else z3.Or(cases)
    if z3.is_app(term) and term.num_args() and (z3.is_bool(term) or z3.is_app_of(term, z3.Z3_OP_ITE)):
        return term.decl()(*(_written_out(each, universe, outer) for each in term.children()))
    return term


def _parts(formula: Term) -> Iterator[Term]:
    seen: set[int] = set()
    rest = [formula]
    while rest:
        term = rest.pop()
        if term.get_id() not in seen:
            seen.add(term.get_id())
            rest += term.children()
            yield term
