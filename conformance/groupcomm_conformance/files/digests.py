"""Files that others made, held against the SHA-256 digests that are known of them."""

import hashlib
from pathlib import Path


def require_known(folder: Path, suffix: str, sums: Path) -> None:
    """Refuse, as a ValueError, a folder with a file of this suffix that `sums` does not have.

    `sums` has lines as `sha256sum` prints them: the digest, two spaces, the file's name.
    """
    lines = sums.read_text(encoding="ascii").splitlines()
    known = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
    for file in sorted(folder.glob(f"*{suffix}")):
        with file.open("rb") as content:
            digest = hashlib.file_digest(content, "sha256").hexdigest()
        if digest != (expected := known.get(file.name, "no such file")):
            raise ValueError(
                f"{file} has SHA-256 {digest}, expected {expected} ({sums.name}): delete {folder}, and what "
                f"Maven has kept of it, and build again"
            )
