"""The command `groupcomm prove`."""

import time
from typing import Annotated

import typer

from groupcomm_conformance.models.manifest import find_root, load

from .exits import ExitCode, verdict

__all__ = ["command"]


def command(
    steps: Annotated[
        list[str] | None, typer.Option("--step", help="Only the obligations of this step, such as JoinStep.")
    ] = None,
    clauses: Annotated[
        list[str] | None, typer.Option("--clause", help="Only those of this conjunct, such as Guards.")
    ] = None,
) -> None:
    """Ask an SMT solver whether STABLE's invariant is inductive, in a group of any size.

    It needs the extra `prove` (z3-solver). Exits with 1 if an obligation is not shown to follow.
    """
    try:
        from groupcomm_conformance.proof import proving, stable  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise typer.BadParameter(f"{error}: pip install 'groupcomm[prove]'") from error
    root = find_root()
    began = time.process_time()
    definitions = stable.definitions_of(root / "spec" / "stable", root / "spec" / "common")
    theory = stable.Theory.of(definitions, load(root, "stable").reference)
    count = open_ = 0
    for obligation in proving.obligations(theory, steps or (), clauses or ()):
        found = proving.prove(obligation)
        count += 1
        if not found.follows:
            open_ += 1
            typer.echo(f"OPEN  {found.step}: {found.clause}: {found.answer}, {found.seconds:.1f} s")
    if not count:
        typer.echo("nothing to judge: no obligation has these names", err=True)
        raise typer.Exit(ExitCode.NOTHING)
    seconds = time.process_time() - began
    typer.echo(f"{count} obligations, {open_} open, {seconds:.0f} s of CPU time")
    raise typer.Exit(verdict(ok=open_ == 0))
