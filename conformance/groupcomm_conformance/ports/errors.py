"""The error of whoever reads or writes vectors."""

from groupcomm_conformance.files.errors import FileError


class VectorError(FileError):
    """A file of vectors is not what the manifest or the format says: `file:line: expected ...`."""
