"""A protocol as an unpacked release has it: the driver needs no checkout there."""

from pathlib import Path

from groupcomm_conformance.models.manifest import Manifest
from groupcomm_conformance.models.modules import read_modules
from groupcomm_conformance.protocols.constants import module_of

from .errors import VectorError
from .pages import SPEC
from .vector_files import MANIFEST
from .vector_reader import manifest_of


def manifest_in(folder: Path, protocol: str) -> Manifest:
    """Give the manifest of the protocol in a folder of a release: its modules and guards, and no models.

    VectorError where there is none of this format and protocol.
    """
    manifest_of(folder, protocol)
    specification = folder / SPEC
    module = module_of(specification, protocol)
    if module is None:
        raise VectorError(str(specification), 1, f"the module of {protocol}: unpack the archive again")
    reference = read_modules([specification], module).guards_of_scope(module)
    return Manifest(protocol, specification, str(folder / MANIFEST), module, reference, {}, (), {}, ())
