"""`groupcomm report`: all that was found, as JUnit XML for a machine and as one HTML page for a person.

`findings` asks `check`, `conform` and `scenario` for their results; `junit` and `page` write them down, and
`story` makes of a counterexample something that can be stepped through.
"""

from .command import command

__all__ = ["command"]
