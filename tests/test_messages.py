"""docs/messages.md: it has each message of each core, with its fields, and no other."""

import re
from pathlib import Path
from typing import Any, get_args

import attrs
import pytest

from groupcomm import flush, gms, merge, merge_gms, sequencer, stable, unicast
from groupcomm_conformance.models import manifest
from groupcomm_conformance.models.checking import Cache, run_model
from groupcomm_conformance.protocols.derive import load
from groupcomm_conformance.tla.readable import brief
from groupcomm_conformance.tla.values import Fn

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs/messages.md").read_text()
LAYERS = {
    "SEQUENCER": (sequencer,),
    "FLUSH": (flush,),
    "Merging": (merge, merge_gms),
    "GMS": (gms,),
    "STABLE": (stable,),
    "UNICAST": (unicast,),
}


def rows(layer: str) -> dict[str, tuple[str, ...]]:
    section = re.split(r"^## ", PAGE, flags=re.MULTILINE)
    (text,) = (each for each in section if each.startswith(f"{layer}\n"))
    found = re.findall(r"^\| ([A-Z_]+) \| (.*?) \|", text, re.MULTILINE)
    return {name: tuple(re.findall(r"`(\w+)`", fields)) for name, fields in found}


def own(module: Any) -> dict[str, tuple[str, ...]]:  # noqa: ANN401 - a module
    """The messages that a module defines, by their type in the specification."""
    tags = load(manifest.load(ROOT, module.__name__.rpartition(".")[2])).codec.tags
    classes = get_args(module.Message) or (module.Message,)
    return {
        tags[cls]: tuple(field.name for field in attrs.fields(cls))
        for cls in classes
        if cls.__module__ == module.__name__
    }


@pytest.mark.parametrize("layer", LAYERS)
def test_the_table_has_the_messages_of_the_core(layer: str) -> None:
    expected: dict[str, tuple[str, ...]] = {}
    for module in LAYERS[layer]:
        expected |= own(module)
    assert expected == rows(layer)


# Phases of a FLUSH member


FLAGS = ("block", "owes", "latched", "frozen")


def phases() -> set[tuple[str, ...]]:
    """The values of the flags that the page's table has."""
    found = re.findall(r"^\| [a-z ]+ \| (\w+) \| ([A-Z]+) \| ([A-Z]+) \| ([A-Z]+) \|", PAGE, re.MULTILINE)
    assert len(found) == len(set(found))
    return set(found)


def test_the_phases_of_flush_are_those_that_tlc_reaches() -> None:
    """In these models a member joins, crashes, is given a state while it crashes, and is merged."""
    flushing = manifest.load(ROOT, "flush")
    reached: set[tuple[str, ...]] = set()
    for name in ("join", "crash", "state_crash_of_two", "merge"):
        checked = run_model(flushing, flushing.model(name), cache=Cache.of(ROOT))
        assert checked.harvest is not None
        for state in checked.harvest.local:
            assert isinstance(state, Fn)
            reached.add(tuple(brief(state[flag]) for flag in FLAGS))
            assert (state["limit"] != ()) == state["frozen"]
    assert phases() == reached


def test_other_values_of_the_flags_do_not_pass() -> None:
    """There are 3 x 2 x 2 x 2 of them; eight are phases."""
    assert len(phases()) == 8
    assert ("free", "FALSE", "FALSE", "TRUE") not in phases()
