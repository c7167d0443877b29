"""docs/messages.md: it has each message of each core, with its fields, and no other."""

import re
from pathlib import Path
from typing import Any, get_args

import attrs
import pytest

from groupcomm import flush, gms, merge, merge_gms, primary, sequencer, stable, unicast
from groupcomm_conformance.models import manifest
from groupcomm_conformance.protocols.derive import load

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

PARTS = {sequencer: (primary.__name__,)}


def rows(layer: str) -> dict[str, tuple[str, ...]]:
    section = re.split(r"^## ", PAGE, flags=re.MULTILINE)
    (text,) = (each for each in section if each.startswith(f"{layer}\n"))
    found = re.findall(r"^\| ([A-Z_]+) \| (.*?) \|", text, re.MULTILINE)
    return {name: tuple(re.findall(r"`(\w+)`", fields)) for name, fields in found}


def own(module: Any) -> dict[str, tuple[str, ...]]:  # noqa: ANN401 - a module
    """The messages that a module defines, or a part of it that is no protocol, by their type in the specification."""
    tags = load(manifest.load(ROOT, module.__name__.rpartition(".")[2])).codec.tags
    classes = get_args(module.Message) or (module.Message,)
    return {
        tags[cls]: tuple(field.name for field in attrs.fields(cls))
        for cls in classes
        if cls.__module__ in {module.__name__, *PARTS.get(module, ())}
    }


@pytest.mark.parametrize("layer", LAYERS)
def test_the_table_has_the_messages_of_the_core(layer: str) -> None:
    expected: dict[str, tuple[str, ...]] = {}
    for module in LAYERS[layer]:
        expected |= own(module)
    assert expected == rows(layer)


# Phases of a FLUSH member


def test_page_specification_and_core_have_the_same_phases() -> None:
    """That no other occurs, and each of these, TLC shows: EachInAPhase and the witnesses of FLUSH."""
    row = re.compile(r"^\| ([a-z ]+) \| (\w+) \| ([A-Z]+) \| ([A-Z]+) \| ([A-Z]+) \|", re.MULTILINE)
    page = [(phase, flags) for phase, *flags in row.findall(PAGE)]
    text = (ROOT / "spec/flush/Flush.tla").read_text().partition("\nPhases ==")[2].partition("]\n\n")[0]
    specified = [
        (phase.replace("_", " "), re.findall(r"\w+", flags))
        for phase, values in re.findall(r"(\w+) \|-> \{(.*?)\}", text)
        for flags in re.findall(r"<<(.*?)>>", values)
    ]
    core = {(phase, block, *map(str, rest)) for phase, all_ in flush.PHASES.items() for block, *rest in all_}
    assert page == specified
    assert core == {(phase, block, *map(str.title, rest)) for phase, (block, *rest) in page}
    assert len(core) == len(page) == 9
