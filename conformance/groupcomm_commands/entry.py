"""The console script: an interrupt is one line from the first import on."""

import sys


def run() -> int:
    """Run the command line and return its exit code."""
    try:
        from .main import main  # noqa: PLC0415 - it may be interrupted while it imports

        return main()
    except KeyboardInterrupt:
        sys.stderr.write("groupcomm: interrupted\n")
        return 130
