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
    solver.add(*written)
    if numbers is not None:
        solver.add(*(z3.And(each >= 0, each < numbers) for each in _arguments(written)))
    for function in _functions(written):
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


_known: Final[dict[tuple[object, ...], tuple[Term, Term]]] = {}


def _remembered(term: Term, sizes: Mapping[Term, int], universe: Mapping[Term, Sequence[Term]]) -> Term:
    """Write a formula out, once for each size: most of what one ablation asks is what the others ask.

    (The formula is kept beside the result, so that no other gets its number.)
    """
    place = term.get_id(), *sorted((sort.get_id(), size) for sort, size in sizes.items())
    if place not in _known:
        _known[place] = term, _written_out(z3.simplify(term), universe)
    return _known[place][1]


def _elements(sort: Term, size: int) -> list[Term]:
    return [z3.IntVal(i) if sort == z3.IntSort() else z3.Const(f"{sort}!{i}", sort) for i in range(size)]


def _arguments(formulas: Sequence[Term]) -> Iterator[Term]:
    """Give the numbers that functions are of: a group has no more of them than it says."""
    return (
        argument
        for term in _parts(formulas)
        if _is_own(term)
        for argument in term.children()
        if argument.sort() == z3.IntSort() and not z3.is_int_value(argument)
    )


def _written_out(term: Term, universe: Mapping[Term, Sequence[Term]]) -> Term:
    if z3.is_quantifier(term):
        ranges = [universe[term.var_sort(i)] for i in range(term.num_vars())]
        # Variables are numbered from the last one; those of a quantifier inside wait for their turn.
        cases = [_written_out(z3.substitute_vars(term.body(), *reversed(each)), universe) for each in product(*ranges)]
        return z3.And(cases) if term.is_forall() else z3.Or(cases)
    if z3.is_app(term) and term.num_args() and (z3.is_bool(term) or z3.is_app_of(term, z3.Z3_OP_ITE)):
        return term.decl()(*(_written_out(each, universe) for each in term.children()))
    return term


def _functions(formulas: Sequence[Term]) -> Iterator[Term]:
    known: set[int] = set()
    for term in _parts(formulas):
        if _is_own(term) and term.decl().get_id() not in known:
            known.add(term.decl().get_id())
            yield term.decl()


def _is_own(term: Term) -> bool:
    return bool(z3.is_app(term) and term.decl().kind() == z3.Z3_OP_UNINTERPRETED)


def _parts(formulas: Sequence[Term]) -> Iterator[Term]:
    seen: set[int] = set()
    rest = list(formulas)
    while rest:
        term = rest.pop()
        if term.get_id() not in seen:
            seen.add(term.get_id())
            rest += term.children()
            yield term
