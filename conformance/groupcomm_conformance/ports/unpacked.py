"""A protocol as an unpacked release has it: the driver needs no checkout there."""

from pathlib import Path

from groupcomm_conformance.models.manifest import Manifest, UnknownNameError
from groupcomm_conformance.models.modules import read_modules
from groupcomm_conformance.protocols.constants import module_of

from .errors import VectorError
from .pages import SPEC
from .release import MANIFEST
from .released import read_json

__all__ = ["manifest_in"]


def manifest_in(folder: Path, protocol: str) -> Manifest:
    """Give the manifest of the protocol in a folder of a release: its modules and guards, and no models.

    FileError where there is none, UnknownNameError where it is another protocol's.
    """
    told = read_json(folder / MANIFEST)
    there = str(told.get("protocol")) if isinstance(told, dict) else ""
    if there != protocol:
        raise UnknownNameError(f"protocol in {folder}", protocol, (there,))
    specification = folder / SPEC
    module = module_of(specification, protocol)
    if module is None:
        raise VectorError(str(specification), 1, f"the module of {protocol}: unpack the archive again")
    reference = read_modules([specification], module).guards_of_scope(module)
    return Manifest(protocol, specification, str(folder / MANIFEST), module, reference, {}, (), {}, ())
