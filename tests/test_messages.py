"""docs/messages.md: it has each message of each core, with its fields, and no other."""

import re
from pathlib import Path
from typing import Any, get_args

import attrs
import pytest

from groupcomm import flush, gms, merge, merge_gms, sequencer, stable, unicast
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
