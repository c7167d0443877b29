r"""Mutants of a specification: `Step` and `Start` with one small change in an operator that they use.

`mutants` makes them from the tree that SANY gives of the protocol's module, in the order of the file.
`changes.Maker` lists the changes of a place:

- A conjunct or disjunct dropped, `/\` for `\/`, a negation or a whole condition turned round, one branch
  taken always.
- `=` for `#`, `<` for `<=`, `\in` for `\notin`, ..., and values that are compared by one of their fields
  instead of whole (views by their counters).
- `+` for `-`, a bound or a number one more or less, `\cup` for `\cap`, one side alone.
- A field read instead of another of its type, two fields of a record exchanged, a Boolean turned round,
  a string that is no other.
- Another outcome, effects dropped or in another order, an update of an `EXCEPT` dropped, a filter dropped.

Places that the constants of all conforming models rule out are left alone (`places.Known`): they belong to
flawed variants. So is the dispatch by the type of the event, where each change is noticed at once.
"""

from collections.abc import Collection, Mapping

from attrs import frozen

from groupcomm_conformance.tla.tree import Apply, Definition, Definitions, Expression, Name, Text, children
from groupcomm_conformance.tla.values import Value

from .changes import SHOW, Maker, field_names
from .places import Known, places, reached
from .shapes import Shapes


@frozen(eq=False)
class SpecMutant:
    """One changed place of a specification.

    `place` is the expression there and `becomes` what it is changed to; `what` says the change in words, with
    the operator before it. `name` is `what`, with a number where several places are changed alike; it has no
    line number, which any edit would change.
    """

    name: str
    module: str
    operator: str
    line: int
    place: Expression
    becomes: Expression


def mutants(
    definitions: Definitions, constants: Mapping[str, Value], shapes: Shapes, events: Collection[str]
) -> list[SpecMutant]:
    """All mutants of what `Step` and `Start` use, no two of them the same, module by module in their order.

    `constants` are the values that all conforming models give, `shapes` the records that occur in them, and
    `events` the types of their events.
    """
    known = Known(definitions, constants, events)
    all_reached = reached(definitions, known.live)
    outcomes = {each.name.text: each for each in all_reached if "outcome" in _builds(each)}
    exchangeable = {
        each.name.text: [
            other.name
            for other in all_reached
            if other.name != each.name
            and other.module == each.module != definitions.module
            and len(other.parameters) == len(each.parameters) > 0
            and not _builds(each)
            and _form(other) == _form(each)
        ]
        for each in all_reached
    }
    maker = Maker(shapes, known, outcomes, {name: names for name, names in exchangeable.items() if names})
    found: list[SpecMutant] = []
    for definition in sorted(all_reached, key=lambda each: (each.module != definitions.module, each.module, each.line)):
        if definition.name.text in outcomes:
            continue  # every use of it is changed
        state = definition.parameters[0] if len(definition.parameters) == 2 else None  # noqa: PLR2004
        fields = _fields_read(definition.body)
        seen: set[tuple[int, str]] = set()
        times: dict[str, int] = {}
        for node in places(definition.body, known):
            for what, becomes in maker.changes(node, state, fields):
                text = SHOW.text(becomes)
                if text == SHOW.text(node) or (id(node), text) in seen:
                    continue
                if known.value(node) is not None and known.value(becomes) == known.value(node):
                    continue
                seen.add((id(node), text))
                times[what] = times.get(what, 0) + 1
                suffix = "" if times[what] == 1 else f" (place {times[what]})"
                line = node.line if isinstance(node, Apply) else definition.line
                found.append(
                    SpecMutant(
                        f"{definition.name.text}: {what}{suffix}",
                        definition.module,
                        definition.name.text,
                        line or definition.line,
                        node,
                        becomes,
                    )
                )
    return found


def _fields_read(body: Expression) -> dict[str, frozenset[str]]:
    """The fields that an expression reads of each record, by the record's text."""
    found: dict[str, frozenset[str]] = {}
    todo = [body]
    while todo:
        node = todo.pop()
        todo += children(node)
        match node:
            case Apply(Name("$RcdSelect"), (record, Text(name))):
                text = SHOW.text(record)
                found[text] = found.get(text, frozenset()) | {name}
            case _:
                pass
    return found


def _form(definition: Definition) -> str:
    return definition.body.operator.text if isinstance(definition.body, Apply) else ""


def _builds(definition: Definition) -> tuple[str, ...]:
    """The fields of the record that an operator builds; none where it does something else."""
    match definition.body:
        case Apply(Name("$RcdConstructor"), pairs):
            return tuple(field_names(pairs))
        case _:
            return ()
