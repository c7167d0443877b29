"""The verdict on each mutant of a specification: made, confronted with the conforming models, and kept.

It needs the models' tables and nothing of the implementation. Verdicts are kept in the cache, by all that
they depend on, so that after a change of the implementation alone they are there at once.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from attrs import field, frozen

from groupcomm_conformance.files.errors import FileError
from groupcomm_conformance.files.keys import key
from groupcomm_conformance.files.store import Store
from groupcomm_conformance.models.manifest import Manifest
from groupcomm_conformance.models.modules import read_modules, read_tree
from groupcomm_conformance.tla.cfg import Cfg
from groupcomm_conformance.tla.tree import Definitions
from groupcomm_conformance.tla.values import Fn, Value, identical
from groupcomm_conformance.tlc import tools

from .conforming import ModelTable
from .places import unheard
from .shapes import Shapes
from .spec_by_tlc import Noticed, confront
from .specification import SpecMutant, mutants


@frozen
class Judged:
    """All mutants of a protocol's specification with what notices each, and the events that no model has.

    `definitions` are what the mutants are made of, and `places` says of some by name where they could be noticed.
    """

    definitions: Definitions = field(repr=False)
    protocol: str
    models: tuple[str, ...]
    mutants: tuple[SpecMutant, ...]
    noticed: tuple[Noticed | None, ...]
    unheard: tuple[str, ...]
    places: Mapping[str, str] = field(factory=dict, hash=False)


class _Verdicts(Store):
    name = "spec_mutants.json"


def judge(
    manifest: Manifest,
    tables: Mapping[str, ModelTable],
    *,
    cache: Path | None = None,
    workers: int | None = None,
    confronting: Callable[..., list[Noticed | None]] = confront,
) -> Judged:
    """Make the mutants and confront them with `tables`, by the models' names, as `confront` does.

    FileError where the specification lacks what is needed.
    """
    definitions, made, silent = broken(manifest, tables)
    sides = {name: given(definitions, manifest.cfg(manifest.model(name)), manifest.file, name) for name in tables}
    steps = {name: each.table for name, each in tables.items()}
    keys = sorted((name, each.key) for name, each in tables.items())
    told = [definitions.module, keys, [sorted(side.items()) for side in sides.values()]]
    texts = sorted(read_modules(manifest.folders, manifest.module).texts.items())
    store = _Verdicts(cache) if cache else None
    place = key(__name__, told, texts, tools.jar_digest(tools.find_jar()))
    noticed = _kept(store, place, made)
    if noticed is None:
        noticed = confronting(manifest.folders, definitions, made, steps, sides, workers=workers)
        if store:
            kept = {
                mutant.name: None if found is None else [found.by, found.fails]
                for mutant, found in zip(made, noticed, strict=True)
            }
            store.write(place, json.dumps(kept).encode())
    return Judged(definitions, manifest.protocol, tuple(tables), tuple(made), tuple(noticed), silent)


def broken(
    manifest: Manifest, tables: Mapping[str, ModelTable]
) -> tuple[Definitions, list[SpecMutant], tuple[str, ...]]:
    """Give what the mutants are made of, the mutants, and the types of events that no model has."""
    definitions = read_tree(manifest.folders, _module(manifest))
    steps = [each.table for each in tables.values()]
    types = {event.get("type", "") for table in steps for event in table.events}
    events = {name for name in types if isinstance(name, str)}
    made = mutants(
        definitions,
        _common(definitions, [each.constants for each in tables.values()]),
        Shapes.of([value for table in steps for value in (*table.states, *table.events)]),
        events,
    )
    return definitions, made, tuple(unheard(definitions, events))


def _kept(store: _Verdicts | None, place: str, made: Sequence[SpecMutant]) -> "list[Noticed | None] | None":
    body = store.read(place) if store else None
    if body is None:
        return None
    found = json.loads(body)
    if set(found) != {mutant.name for mutant in made}:
        return None
    return [Noticed(*found[mutant.name]) if found[mutant.name] else None for mutant in made]


def _module(manifest: Manifest) -> str:
    """Name the module that defines `Step`."""
    found = read_modules(manifest.folders, manifest.module).definition("Step")
    if found is None:
        raise FileError(f"{manifest.module}.tla", 1, "an operator Step in it, or in what it extends")
    return found[0]


def given(definitions: Definitions, cfg: Cfg, file: str, model: str) -> dict[str, str]:
    """A model's values for the constants of the module, as a cfg has them."""
    values = cfg.constants
    for name in definitions.constants:
        if not values.get(name, "").startswith(("= ", "<- ")):
            raise FileError(file, 1, f"a value for {name}, a constant of {definitions.module}, in {model}")
    return {name: values[name] for name in definitions.constants}


def _common(definitions: Definitions, all_values: Sequence[Mapping[str, Value]]) -> dict[str, Value]:
    """The constants that have one value in all models."""
    first, *rest = all_values
    return {
        name: first[name]
        for name in definitions.constants
        if name in first
        and not _is_operator(first[name])
        and all(name in values and identical(values[name], first[name]) for values in rest)
    }


def _is_operator(value: Value) -> bool:
    return isinstance(value, Fn) and "operator" in value
