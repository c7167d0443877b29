"""Why a mutant survives: the files in `conformance/mutants`, which a person writes.

`<protocol>.yaml` is about mutants of the implementation, and maps each survivor to why it is equivalent.

`<protocol>_spec.yaml` is about mutants of the specification:

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

`unheard` are types of events that no conforming model has. What is `equivalent` differs nowhere; what is
`unreached` would differ, in a model that `needs` says, and counts against the score.
"""

from collections.abc import Mapping
from os.path import lexists
from pathlib import Path
from typing import Literal

from attrs import field, frozen

from groupcomm_conformance.files import strict_yaml
from groupcomm_conformance.files.strict_yaml import Node

__all__ = ["Reason", "SpecReasons", "explanations", "spec_explanations"]


def explanations(root: Path, protocol: str) -> dict[str, str]:
    """Read `conformance/mutants/<protocol>.yaml`; nothing if there is none. FileError where it is amiss."""
    shown = f"conformance/mutants/{protocol}.yaml"
    if not lexists(root / shown):
        return {}
    entries = strict_yaml.load(root / shown, shown).entries("a mapping from mutants to explanations")
    return {name: node.text("why the mutant is equivalent") for name, node in entries.items()}


@frozen
class Reason:
    """Why a mutant of a specification is not noticed, and for one that is `unreached` what that `needs`."""

    kind: Literal["equivalent", "unreached"]
    why: str
    needs: str = ""


@frozen
class SpecReasons:
    """What `<protocol>_spec.yaml` says: reasons by the mutant's name, and types of events by name."""

    mutants: Mapping[str, Reason] = field(factory=dict, hash=False)
    unheard: Mapping[str, str] = field(factory=dict, hash=False)


def spec_explanations(root: Path, protocol: str) -> SpecReasons:
    """Read `conformance/mutants/<protocol>_spec.yaml`; nothing if there is none.

    FileError where it is amiss, or gives two reasons for one mutant.
    """
    shown = f"conformance/mutants/{protocol}_spec.yaml"
    if not lexists(root / shown):
        return SpecReasons()
    top = strict_yaml.load(root / shown, shown).fields((), ("unheard", "equivalent", "unreached"))
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
    return SpecReasons(found, {name: node.text("why no model has it") for name, node in unheard.items()})


def _add(found: dict[str, Reason], node: Node, reason: Reason) -> None:
    for name in node.items("a list of mutants"):
        text = name.text("the name of a mutant")
        if text in found:
            raise name.error("a mutant that has no reason yet")
        found[text] = reason
