"""Copies of operators with changes in them, beside the operators as they are."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TypeAlias

from attrs import field, frozen

from groupcomm_conformance.steps.mutants.specification import SpecMutant
from groupcomm_conformance.tla.tree import Apply, Definitions, Expression, Name, Writer

from .weakening import all_used, called, defined_names, primed


@frozen
class Uses:
    """The operators that some use, by number, and those that each of these uses, but for those that stay as they are.

    `instances` are those with parameters, and how many each has.
    """

    definitions: Definitions = field(repr=False)
    tops: Mapping[str, set[int]]
    used: Mapping[int, set[int]]
    instances: Mapping[str, int] = MappingProxyType({})

    @classmethod
    def of(
        cls,
        definitions: Definitions,
        tops: Iterable[str],
        kept: Collection[int] = (),
        instances: Mapping[str, int] = MappingProxyType({}),
    ) -> "Uses":
        """Look at the operators of these names; `kept` are the numbers of those that stay as they are."""
        found = {name: called(definitions, [name]) for name in tops}
        every = set[int]().union(*found.values()).difference(kept)
        return cls(definitions, found, {number: all_used(definitions, [number]) for number in every}, instances)


Changing: TypeAlias = Callable[[Expression, str, Callable[[Expression], str]], str]
"""Gives the text of an expression in a copy: takes it, its text with what is changed inside, and a plain writer."""


def replacing(mutant: SpecMutant) -> Changing:
    """Put what a mutant becomes in the place of what it changes."""

    def changed(node: Expression, text: str, plain: Callable[[Expression], str]) -> str:
        return f"({plain(mutant.becomes)})" if node is mutant.place else text

    return changed


def of_instance(head: str, tail: str, given: Sequence[str], count: int) -> str:
    """Write an operator of an instance, of which the first `count` of what is given are the parameters."""
    first, rest = (f"({', '.join(each)})" if each else "" for each in (given[:count], given[count:]))
    return f"{head}{first}!{tail}{rest}"


def copies(uses: Uses, top: str, operators: Collection[str], changing: Changing, prefix: str) -> Iterator[str]:
    """Write the operators from a claim to those that are changed, each under a name of its own."""
    all_operators = uses.definitions.operators
    changed = {number for number in uses.used if all_operators[number].name.text in operators}
    copied = {number for number in uses.tops[top] & uses.used.keys() if changed & uses.used[number]}
    # No other module may name a LOCAL operator.
    todo = [*copied]
    while todo:
        for number in {*defined_names(all_operators[todo.pop()].body)} & uses.used.keys() - copied:
            if uses.definitions.find(all_operators[number].name.text) is None:
                copied.add(number)
                todo.append(number)

    def name(each: Name) -> str:
        if each.number in copied:
            return f"{prefix}{each.text}"
        local = each.kind == "parameter" or (
            each.kind == "defined" and each.number not in all_operators and not each.is_instantiated
        )
        return f"{each.text}_{each.number}" if local and each.number > 0 else each.text

    def form(node: Expression, text: str) -> str:
        """Write Alone(x)!Next, which SANY has as Alone!Next of x."""
        head, _, tail = node.operator.text.partition("!") if isinstance(node, Apply) else ("", "", "")
        if not (isinstance(node, Apply) and tail and head in uses.instances):
            return primed(node, text)
        return of_instance(head, tail, [plain.text(each) for each in node.operands], uses.instances[head])

    plain = Writer(name, form)

    def around(node: Expression, text: str) -> str:
        return changing(node, form(node, text), plain.text)

    # An operator stands before its users.
    order = sorted(copied, key=lambda number: (len(uses.used[number] & copied), number))
    yield from Writer(name, around).definitions(all_operators[number] for number in order)
