"""A protocol as an unpacked release has it: the driver needs no checkout there."""

import json
from pathlib import Path

from groupcomm_conformance.files.reading import read_text
from groupcomm_conformance.models.manifest import Manifest, UnknownNameError
from groupcomm_conformance.models.modules import read_modules
from groupcomm_conformance.protocols.constants import module_of

from .pages import SPEC
from .release import MANIFEST

__all__ = ["manifest_in"]


def manifest_in(folder: Path, protocol: str) -> Manifest:
    """Give the manifest of the protocol in a folder of a release: its modules and guards, and no models.

    FileError where there is none, UnknownNameError where it is another protocol's.
    """
    text = read_text(folder / MANIFEST, what="vectors of a protocol, unpacked (docs/vectors.md)")
    there = json.loads(text).get("protocol")
    specification = folder / SPEC
    module = module_of(specification, protocol)
    if there != protocol or module is None:
        raise UnknownNameError(f"protocol in {folder}", protocol, (there,))
    reference = read_modules([specification], module).guards_of_scope(module)
    return Manifest(protocol, specification, str(folder / MANIFEST), module, reference, {}, (), {}, ())
