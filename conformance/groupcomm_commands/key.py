"""key: keys for groups that run. See docs/security.md."""

from pathlib import Path
from typing import Annotated

import typer

from groupcomm_conformance.files.errors import PathError, reason
from groupcomm_runtime.keys import new_key, write_key

from .exits import EPILOG

app = typer.Typer(
    name="key",
    epilog=EPILOG,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Make keys for groups that run.",
)


@app.callback()
def _key() -> None:
    """Make keys for groups that run."""


@app.command()
def new(
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="A new file, of mode 600. Without it: the output.")
    ] = None,
) -> None:
    """Make a key of 32 bytes from chance, as text."""
    if file is None:
        typer.echo(new_key())
        return
    try:
        write_key(file)
    except OSError as error:
        raise PathError(file, reason(error), "name a file that is not there, in a folder that is") from None
