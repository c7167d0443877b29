r"""Weakenings of a root module: of its claims, and of the guarantees that it claims to give.

A guarantee is a module of `spec/common`, of which a claim asks each conjunct alone: `Alone("Fifo")!Next`, where
`Alone(conjunct) == INSTANCE VirtualSynchrony WITH Off <- ...`. There is a copy of such a module, with a constant more,
the number of the weakening that stands in it (0: none), and an instance of the copy, `Weak_Alone(weak, conjunct)`.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from attrs import evolve, field, frozen

from groupcomm_conformance.models.manifest import Manifest
from groupcomm_conformance.models.modules import read_modules, read_tree
from groupcomm_conformance.tla.folding import folded
from groupcomm_conformance.tla.tree import Apply, Definitions, Expression, Name, Operator, Writer, children
from groupcomm_conformance.tlc.errors import UnexpectedOutput

from .copying import Uses, copies, of_instance, replacing
from .weakening import AT_LEAST, AT_MOST, Side, Weakenings, called, defined_names, primed, sides, weakenings

NUMBERS: Final = 6_000
"""The first register of comparisons of numbers."""

HELPERS: Final = rf"""
Weak_IsNumber(v) == \E i \in 0 .. 99 : ToString(v) = ToString(i)
Weak_AreNumbers(a, b, n) ==
    /\ Weak_IsNumber(a) /\ Weak_IsNumber(b)
    /\ IF TLCGet({NUMBERS} + n) THEN TRUE
       ELSE PrintT(ToString(<<"number", n>>)) /\ TLCSet({NUMBERS} + n, TRUE)
{AT_LEAST}(a, b, n) == IF a = b THEN TRUE ELSE IF Weak_AreNumbers(a, b, n) THEN a >= b ELSE FALSE
{AT_MOST}(a, b, n) == IF a = b THEN TRUE ELSE IF Weak_AreNumbers(a, b, n) THEN a <= b ELSE FALSE
"""

_INSTANCE: Final = re.compile(r"^(?:LOCAL\s+)?(\w+)\(([^)]+)\)\s*==\s*INSTANCE\b", re.MULTILINE)
_GUARANTEE: Final = re.compile(
    r"^(\w+)(?:\(([^)]*)\))?\s*==\s*INSTANCE\s+(\w+)(?:\s+WITH\b(.*?))?\s*(?=^\S|\Z)", re.MULTILINE | re.DOTALL
)


@frozen
class Root:
    """A root module, the claims that can be noted in it, with the operators that say them, and weakenings."""

    module: str
    claims: Mapping[str, str]
    weakened: Weakenings = field(repr=False)
    uses: Uses = field(repr=False)

    head: str = ""
    """Definitions that all weakenings need."""
    beside: Mapping[str, str] = MappingProxyType({})
    """Modules that are generated as well, name to text."""

    def weaker(self, at: int, top: str, prefix: str) -> Iterator[str]:
        """Write the operator of a claim with a weakening in it, and what it uses, with a prefix to their names."""
        mutant = self.weakened.mutants[at]
        yield from copies(self.uses, top, [mutant.operator], replacing(mutant), prefix)

    @classmethod
    def of(cls, manifest: Manifest, module: str) -> "Root":
        """Weaken the claims of the sets over a module; what its group and members' steps use stays."""
        definitions = read_tree(manifest.folders, module)
        modules = read_modules(manifest.folders, module)
        claims: dict[str, str] = {}
        group: set[str] = set()
        for name, cfg in manifest.cfgs.items():
            if manifest.module_of(name) != module:
                continue
            words = (cfg.specification, cfg.init, cfg.next, cfg.view)
            group |= {word for word in (*words, *cfg.constraints, *cfg.action_constraints) if word}
            for claim in cfg.claims:
                if claim in manifest.type_invariants:
                    continue
                if modules.step_of(claim) is not None:
                    claims[claim] = f"{claim}Step"
                elif claim in cfg.invariants:
                    claims[claim] = claim
        if lost := [name for name in {*group, *claims.values()} if definitions.find(name) is None]:
            raise UnexpectedOutput(f"{module}: SANY's tree has no {', '.join(sorted(lost))}")
        kept = called(definitions, group)
        own = {file.stem for file in manifest.folder.glob("*.tla")}
        kept |= {number for number, each in definitions.operators.items() if each.module not in own}
        kept -= {found.name.number for name in claims.values() if (found := definitions.find(name))}
        instances = {
            found[1]: len(found[2].split(",")) for text in modules.bare.values() for found in _INSTANCE.finditer(text)
        }
        return cls.made(definitions, claims, kept, instances)

    @classmethod
    def made(
        cls, definitions: Definitions, claims: Mapping[str, str], kept: Collection[int], instances: Mapping[str, int]
    ) -> "Root":
        """Weaken claims; `kept` are the numbers of the operators that stay as they are."""
        uses = Uses.of(definitions, claims.values(), kept, instances)
        said: dict[str, list[tuple[str, Side | None]]] = {top: [(top, "claimed")] for top in claims.values()}
        return cls(definitions.module, claims, weakenings(definitions, said, kept), uses)


@frozen
class Guarantee(Root):
    """A root of which a guarantee is weakened, with its instances, and by claim the operators that name one of them."""

    heads: frozenset[str] = frozenset()
    users: Mapping[str, Collection[str]] = MappingProxyType({})

    def weaker(self, at: int, top: str, prefix: str) -> Iterator[str]:
        """Write the operator of a claim, of the guarantee with a weakening in it."""

        def weak(node: Expression, text: str, plain: Callable[[Expression], str]) -> str:
            head, _, tail = _instantiated(node).partition("!")
            if head not in self.heads:
                return text
            given = [plain(each) for each in node.operands] if isinstance(node, Apply) else []
            return of_instance(f"Weak_{head}", tail, [str(at + 1), *given], 1 + self.uses.instances.get(head, 0))

        yield from copies(self.uses, top, self.users[top], weak, prefix)


def guarantees_of(manifest: Manifest, root: Root) -> Iterator[Guarantee]:
    """Weaken each guarantee of which a claim of a root speaks."""
    modules = read_modules(manifest.folders, root.module)
    definitions = root.uses.definitions
    own, common, *_ = (
        {name for name, file in modules.files.items() if file.parent == folder} for folder in manifest.folders
    )
    found = {
        head: (given, module, rest)
        for name in sorted(own)
        for head, given, module, rest in _GUARANTEE.findall(modules.bare[name])
        if module in common
    }
    named = {number: _heads(definitions.operators[number].body) for number in root.uses.used}
    for guarantee in dict.fromkeys(module for _, module, _ in found.values()):
        heads = {head: each for head, each in found.items() if each[1] == guarantee}
        tails = {top: _tails(root, top, heads) for top in root.claims.values()}
        users = {
            top: {
                definitions.operators[each].name.text for each in numbers & named.keys() if heads.keys() & named[each]
            }
            for top, numbers in root.uses.tops.items()
        }
        asked = sorted({tail for each in tails.values() for tail, _ in each})
        if not asked:
            continue
        given = read_tree(manifest.folders, guarantee)
        kept = {number for number, each in given.operators.items() if each.module != guarantee}
        made = _of_places(weakenings(given, tails, kept), said(given, asked))
        named_whole = tuple(evolve(each, name=f"{guarantee}!{each.name}") for each in made.mutants)
        yield Guarantee(
            root.module,
            root.claims,
            evolve(made, mutants=named_whole),
            root.uses,
            "\n".join(_instance(head, *each) for head, each in heads.items()),
            {f"Weak_{guarantee}": _copy(modules.bare[guarantee], given, made)},
            frozenset(heads),
            users,
        )


def _tails(root: Root, top: str, heads: Collection[str]) -> list[tuple[str, Side | None]]:
    """Give the operators of a guarantee that the operator of a claim names, each with the sides on which it does.

    (A claim that has an operator in a condition says more where the operator says less.)
    """
    definitions, found = root.uses.definitions, set[tuple[str, Side | None]]()
    for node, on in sides(definitions, top, definitions.operators.keys() - root.uses.used.keys()):
        head, _, tail = _instantiated(node).partition("!")
        if head in heads:
            found |= {(tail, side) for side in on}
    return sorted(found, key=str)


def said(definitions: Definitions, operators: Iterable[str]) -> set[int]:
    """Give the places of a guarantee, by identity, that say more than how the variables of the history change.

    In a formula that speaks of the next state these are the conjuncts with a name, `On("Fifo") => ...`, and operators
    that are given nothing of the next state (`MayReceive(m, u, s, i)`). So it is in the operators that it uses which
    speak of the next state themselves, whatever they are given (`Install(m, k, log'[k][m])`).
    """
    found: set[int] = set()
    entered: set[int] = set()
    todo = [each for name in operators if (each := definitions.find(name)) is not None]

    def enter(node: Expression) -> None:
        todo.extend(definitions.operators[each] for each in defined_names(node) if each in definitions.operators)

    def walk(node: Expression) -> None:
        match node:
            case Apply(Name("=>"), (condition, said)) if "On" in _names(condition):
                found.update(map(id, _all(said)))
                enter(said)
                return
            case Apply(Name(_, "defined", number), operands) if number in definitions.operators:
                definition = definitions.operators[number]
                if _is_next(definition.body) or not any(map(_is_next, operands)):
                    todo.append(definition)
            case _:
                pass
        for child in children(node):
            walk(child)

    while todo:
        definition = todo.pop()
        if definition.name.number in entered:
            continue
        entered.add(definition.name.number)
        if _is_next(definition.body):
            walk(definition.body)
        else:
            found.update(map(id, _all(definition.body)))
            enter(definition.body)
    return found


def _all(node: Expression) -> Iterator[Expression]:
    yield node
    for child in children(node):
        yield from _all(child)


def _names(node: Expression) -> set[str]:
    return {each.operator.text for each in _all(node) if isinstance(each, Apply)}


def _is_next(node: Expression) -> bool:
    """Say whether an expression speaks of the next state itself."""
    return not _names(node).isdisjoint({"'", "UNCHANGED"})


def _of_places(made: Weakenings, places: Collection[int]) -> Weakenings:
    every = zip(made.mutants, made.comparisons, made.claims, strict=True)
    left = [each for each in every if id(each[0].place) in places]
    return Weakenings(
        tuple(mutant for mutant, _, _ in left),
        tuple(number for _, number, _ in left),
        tuple(claims for _, _, claims in left),
    )


def _instance(head: str, given: str, module: str, rest: str) -> str:
    """Write an instance of a guarantee's copy, with the number of the weakening."""
    parameters = ", ".join(("weak", *([given] if given else [])))
    substitutions = f"{' '.join(rest.split())}, " if rest else ""
    return f"Weak_{head}({parameters}) == INSTANCE Weak_{module} WITH {substitutions}Weakened <- weak"


def _copy(text: str, definitions: Definitions, made: Weakenings) -> str:
    """Write a module in which the constant `Weakened` chooses one weakening, from 1; with 0 there is none."""
    places: dict[int, list[tuple[int, Expression]]] = {}
    for at, mutant in enumerate(made.mutants, start=1):
        places.setdefault(id(mutant.place), []).append((at, mutant.becomes))
    plain = Writer(around=primed)

    def around(node: Expression, text: str) -> str:
        text = primed(node, text)
        for at, becomes in places.get(id(node), ()):
            text = f"(IF Weakened = {at} THEN {plain.text(becomes)} ELSE {text})"
        return text

    for name in dict.fromkeys(mutant.operator for mutant in made.mutants):
        found = definitions.find(name)
        begun = re.search(rf"^(LOCAL\s+)?{name}\s*(?:\([^=]*\))?\s*==", text, re.MULTILINE)
        if found is None or begun is None:
            raise UnexpectedOutput(f"{definitions.module} does not define {name} at the beginning of a line")
        end = re.compile(r"^\S", re.MULTILINE).search(text, begun.end())
        rest = text[end.start() :] if end else ""
        text = f"{text[: begun.start()]}{begun[1] or ''}{folded(Writer(around=around).definition(found))}\n\n{rest}"
    extended = re.search(r"^EXTENDS\b(.*?)(?=^\S)", text, re.MULTILINE | re.DOTALL)
    known = f", {' '.join(extended[1].split())}" if extended else ""
    body = text[extended.end() :] if extended else text.partition("\n")[2]
    head = f"---- MODULE Weak_{definitions.module} ----\nEXTENDS Naturals, TLC{known}\nCONSTANT Weakened\n"
    return f"{head}{HELPERS if any(each is not None for each in made.comparisons) else ''}{body}"


def _heads(node: Expression) -> set[str]:
    """Give the instances that an expression names."""
    return {_instantiated(each).partition("!")[0] for each in _all(node)}


def _instantiated(node: Expression) -> str:
    match node:
        case Apply(Name() as name) | Operator(name) if name.is_instantiated:
            return name.text
        case _:
            return ""
