"""Errors about files: what one says is wrong, or it cannot be used at all."""

import errno
import os
from pathlib import Path


class FileError(ValueError):
    """A file does not say what it must.

    `file` is the path as it is shown, `line` counts from 1, `expected` completes "expected ...".
    """

    def __init__(self, file: str, line: int, expected: str) -> None:
        super().__init__(f"{file}:{line}: expected {expected}")
        self.file = file
        self.line = line
        self.expected = expected

    def __reduce__(self) -> tuple[type["FileError"], tuple[str, int, str]]:
        return type(self), (self.file, self.line, self.expected)


class PathError(Exception):
    """A path cannot be read or written; the message says why and what to do."""

    def __init__(self, path: Path | str, why: str, remedy: str) -> None:
        super().__init__(f"{path}: {why}; {remedy}")
        self.path = path


_REASONS = {
    errno.ENOENT: "there is no such file",
    errno.EISDIR: "it is a folder, not a file",
    errno.ENOTDIR: "a part of the path is a file, not a folder",
    errno.EACCES: "its permissions forbid it",
    errno.EPERM: "its permissions forbid it",
    errno.EROFS: "the disk is read-only",
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EFBIG: "a file may not be as large (ulimit -f)",
    errno.ELOOP: "it is a symbolic link to itself",
    errno.ENAMETOOLONG: "the name is too long",
}


def reason(error: OSError) -> str:
    """Why the system refused, in words."""
    code = error.errno
    if code is None:
        return str(error)
    return _REASONS.get(code, os.strerror(code).lower())
