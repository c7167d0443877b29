"""View identifiers for the solver: of GMS, and of merging over GMS, as ViewIdentifiers has them.

A member is an address, and its incarnation a number. So the text of ViewIdentifiers is read as it stands, over
views, who has installed which, incarnations, and who is up.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

import z3
from attrs import field, frozen

from groupcomm_conformance.models.manifest import Manifest

from .ablations import OF_IDENTIFIERS, Ablation
from .reading import Clause, Moment, Native, Reader, definitions_of
from .values import Entity, Logic, Map, Place, SetOf, Term, Value
from .vocabulary import ADDRESS, VIEW, Action, State
from .writing import Words, written

_INT, _BOOL = z3.IntSort(), z3.BoolSort()
_MODULE: Final = "ViewIdentifiers"

# Facts of views, which never change.
_is_in = z3.Function("in", VIEW, ADDRESS, _BOOL)
_life_in = z3.Function("life_in", VIEW, ADDRESS, _INT)
_precedes = z3.Function("precedes", VIEW, VIEW, _BOOL)
counter = z3.Function("counter", VIEW, _INT)
_creator = z3.Function("creator", VIEW, ADDRESS)
_FUNCTIONS: Final = {
    "begun": (ADDRESS, _BOOL),
    "installed": (ADDRESS, VIEW),
    "decided": (VIEW, _BOOL),
    "life": (ADDRESS, _INT),
    "up": (ADDRESS, _BOOL),
}
_S: Final[State] = {name: z3.Function(name, *sorts) for name, sorts in _FUNCTIONS.items()}
_A, _W, _STAYS = z3.Const("a", ADDRESS), z3.Const("w", VIEW), z3.Bool("stays")
_TRUE, _FALSE = z3.BoolVal(val=True), z3.BoolVal(val=False)

_WORDS: Final = Words(
    sets={ADDRESS: "Member", VIEW: "DOMAIN views'"},
    names={
        "in": "Ids!MemberIn(views', {0}, {1})",
        "life_in": "Ids!LifeOfIn(views', {0}, {1})",
        "precedes": "Ids!PrecedesIn(views', {0}, {1})",
        "counter": "Ids!CounterIn(views', {0})",
        "creator": "Ids!CreatorIn(views', {0})",
        "stays": "(act'.member \\in up')",
    },
    among={"a": "{act'.member}"},
    functions=_FUNCTIONS,
    defined={"installed": "Ids!BegunNow({0})'"},
    by_event=False,
    module="Ids!",
)


def view_value(view: Term) -> Value:
    """Give a view as ViewIdentifiers reads it."""
    fields = {
        "id": {"counter": counter(view), "creator": _creator(view)},
        "preds": SetOf(VIEW, lambda u: _precedes(u, view)),
        "lives": Map(SetOf(ADDRESS, lambda x: _is_in(view, x)), lambda x: _life_in(view, x)),
    }
    return Entity(view, fields)


def _every(_: Term) -> bool:
    return True


_NATIVES: Final[Mapping[str, Native]] = {
    "Member": lambda _: SetOf(ADDRESS, _every),
    "up": lambda at: SetOf(ADDRESS, at.now["up"]),
    "views": lambda at: Map(SetOf(VIEW, at.now["decided"]), view_value),
    "installed": lambda at: Map(SetOf(ADDRESS, _every), lambda x: Place(at.now["installed"](x), at.now["begun"](x))),
    "life": lambda at: Map(SetOf(ADDRESS, _every), at.now["life"]),
}


def _at(name: str, key: Term, value: Term) -> Callable[[Term], Term]:
    """Give the function of the state, with another value at one place."""
    return lambda each: z3.If(each == key, value, _S[name](each))


_DECIDES: Final[State] = {"decided": _at("decided", _W, _TRUE)}
# (A member that asked a senior to leave may leave as it installs a view: the senior is gone.)
_INSTALLS: Final[State] = {
    "begun": _at("begun", _A, _TRUE),
    "installed": _at("installed", _A, _W),
    "up": _at("up", _A, _STAYS),
}
_GOES: Final[State] = {"up": _at("up", _A, _FALSE)}
_STEPS: Final[Mapping[str, State]] = {
    "FoundStep": {**_DECIDES, **_INSTALLS},
    "DecideStep": {**_DECIDES, **_INSTALLS},
    "HandOverStep": {**_DECIDES, **_GOES},
    "EnterStep": _INSTALLS,
    "JoinStep": _INSTALLS,
    "GoStep": _GOES,
    "RestartStep": {
        "begun": _at("begun", _A, _FALSE),
        "life": _at("life", _A, _S["life"](_A) + 1),
        "up": _at("up", _A, _TRUE),
    },
}
"""The steps of ViewIdentifiers, and what each of them changes."""


@frozen(eq=False)
class Theory:
    """View identifiers in the language of the solver."""

    reader: Reader
    before: State = field(factory=lambda: _S)
    claims: tuple[str, ...] = ("ViewIdsAreUnique",)
    lemmas: tuple[str, ...] = ()
    ablations: tuple[Ablation, ...] = OF_IDENTIFIERS
    confirmed: tuple[str, ...] = ("claim", "Init", *_STEPS)
    small: tuple[Mapping[Term, int], ...] = ({ADDRESS: 2, VIEW: 2}, {ADDRESS: 2, VIEW: 3})
    steps_in_small_groups: bool = True

    def written(self) -> str:
        """Give the definitions of InitIsRead and EachStepIsRead: the formulas, written back as TLA+."""
        return written(_WORDS, self.before, self.initial(), [], self.actions())

    def forest(self) -> list[Clause]:
        """Assume nothing of views: the invariant says it."""
        return []

    def reading(self) -> list[Term]:
        """Add nothing: of what is read, all is in the specification."""
        return []

    def clauses(self, name: str, now: State) -> list[Clause]:
        """Take an operator apart, of a state."""
        return self.reader.at(Moment(now, now)).clauses(name)

    def settled(self) -> State:
        return self.before

    def initial(self) -> list[Term]:
        """Read the start."""
        return [each.formula() for each in self.clauses("IsStart", self.before)]

    def decisions(self) -> Iterator[tuple[Action, State]]:
        """Give no step besides those of members, who decide the views."""
        return iter(())

    def actions(self) -> Iterator[Action]:
        """Read the steps."""
        for name, changes in _STEPS.items():
            self.reader.logic.restart()
            after = {**self.before, **changes}
            reader = self.reader.at(Moment(self.before, after))
            arguments = (_A, _W)[: len(reader.definition(name).parameters)]
            required = z3.And(_TRUE, reader.call(name, *arguments))
            yield Action(name, (required,), self.before, after, _TRUE, _A)


def theory_of(manifest: Manifest, ablation: Ablation | None = None) -> Theory:
    """Read ViewIdentifiers, as it is or with something taken away."""
    replaces = ("", "") if ablation is None else ablation.replaces
    common = manifest.folder.parent / "common"
    definitions = definitions_of((common,), _MODULE, replaces)
    return Theory(Reader(definitions, {}, _NATIVES, Logic(sort_of_addresses=ADDRESS), moment=Moment(_S, _S)))
