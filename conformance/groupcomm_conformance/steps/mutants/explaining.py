"""Why a mutant survives: the files in `conformance/mutants`, which a person writes.

`<protocol>.yaml` is about mutants of the implementation, `<protocol>_spec.yaml` about those of `Step`,
`<protocol>_claims.yaml` about weakened claims, `<protocol>_guarantees.yaml` about weakened guarantees, and
`<protocol>_conditions.yaml` about conditions of `Step` that no claim notices:

    unheard:
      ResendDue: only variants have this event
    equivalent:
    - why: the table is empty before the first view
      mutants:
      - "ViewInstalled: IF again -> IF TRUE"
    unreached:
    - why: no model has a coordinator that ...
      needs: a conforming model in which ...
      mutants: [...]

An `equivalent` mutant differs nowhere, in no state and with no event (`random_events.mutants_by_events` tries it). An
`unreached` mutant would differ in a model that `needs` describes. `unheard` are types of events that no
conforming model has; only a file about `Step` has them.
"""

from collections.abc import Mapping
from os.path import lexists
from pathlib import Path
from typing import Literal, TypeAlias

from attrs import field, frozen

from groupcomm_conformance.files import strict_yaml
from groupcomm_conformance.files.strict_yaml import Node


@frozen
class Reason:
    """Why a mutant is not noticed, and for an `unreached` mutant what a model `needs` to reach it."""

    kind: Literal["equivalent", "unreached"]
    why: str
    needs: str = ""


@frozen
class Reasons:
    """The contents of such a file: reasons by the mutant's name, and types of events by name."""

    mutants: Mapping[str, Reason] = field(factory=dict, hash=False)
    unheard: Mapping[str, str] = field(factory=dict, hash=False)


About: TypeAlias = Literal["core", "spec", "claims", "guarantees", "conditions"]


def explanations(root: Path, protocol: str, about: About) -> Reasons:
    """Read the file about such mutants; nothing if there is none.

    FileError where it is amiss, or gives two reasons for one mutant.
    """
    shown = f"conformance/mutants/{protocol}{'' if about == 'core' else f'_{about}'}.yaml"
    if not lexists(root / shown):
        return Reasons()
    names = ("equivalent", "unreached", *(["unheard"] if about == "spec" else []))
    top = strict_yaml.load(root / shown, shown).fields((), names)
    unheard = top["unheard"].entries("a mapping from types of events to reasons") if "unheard" in top else {}
    found: dict[str, Reason] = {}
    if "equivalent" in top:
        for entry in top["equivalent"].items("a list of reasons"):
            keys = entry.fields(("why", "mutants"))
            _add(found, keys["mutants"], Reason("equivalent", keys["why"].text("why they are equivalent")))
    if "unreached" in top:
        for entry in top["unreached"].items("a list of reasons"):
            keys = entry.fields(("why", "needs", "mutants"))
            why, needs = keys["why"].text("why"), keys["needs"].text("the model that would be needed")
            _add(found, keys["mutants"], Reason("unreached", why, needs))
    return Reasons(found, {name: node.text("why no model has it") for name, node in unheard.items()})


def _add(found: dict[str, Reason], node: Node, reason: Reason) -> None:
    for name in node.items("a list of mutants"):
        text = name.text("the name of a mutant")
        if text in found:
            raise name.error("a mutant that has no reason yet")
        found[text] = reason
