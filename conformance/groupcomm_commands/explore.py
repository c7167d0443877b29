"""explore: whole stacks in all orders of events within budgets. See docs/application.md."""

import platform
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Annotated, Final

import typer
from attrs import asdict, frozen

from groupcomm_conformance.files import strict_yaml
from groupcomm_conformance.files.keys import code_digest, key
from groupcomm_conformance.files.store import Verdicts
from groupcomm_conformance.files.strict_yaml import Node
from groupcomm_conformance.models.manifest import find_root
from groupcomm_simulator.explorer.composed import Configuration, Seat
from groupcomm_simulator.explorer.search import Explored, explore

from .exits import ExitCode
from .options import count

if TYPE_CHECKING:
    from collections.abc import Mapping

FILE: Final = Path("spec/stack/explored.yaml")
TIERS: Final = ("smoke", "full")
_BUDGETS: Final = ("crashes", "suspicions", "partitions")
_MOST: Final = 2_000_000


@frozen
class Expected:
    """A configuration of the manifest, and what a search of it finds."""

    name: str
    tier: str
    configuration: Configuration
    states: int
    transitions: int


def load(root: Path) -> tuple[Expected, ...]:
    """Read the manifest. Raises FileError."""
    tiers = strict_yaml.load(root / FILE, str(FILE)).fields(TIERS)
    return tuple(_expected(name, tier, node) for tier, named in tiers.items() for name, node in named.entries().items())


def _expected(name: str, tier: str, node: Node) -> Expected:
    fields = node.fields(
        ("stack", "multicasts", "founders", "states", "transitions"), ("leaves", "after", "delays", *_BUDGETS)
    )
    multicasts = fields["multicasts"].entries()
    addresses = [*multicasts]
    named = {
        key: [each.choice(addresses) for each in fields[key].items()] if key in fields else []
        for key in ("founders", "leaves")
    }
    after: Mapping[str, Node] = fields["after"].entries() if "after" in fields else {}
    seats = tuple(
        Seat(
            address,
            address in named["founders"],
            number.integer(0),
            address in named["leaves"],
            addresses.index(after[address].choice(addresses)) if address in after else -1,
        )
        for address, number in multicasts.items()
    )
    budgets = {key: fields[key].integer(0) for key in (*_BUDGETS, "delays") if key in fields}
    configuration = Configuration(tuple(fields["stack"].text().split("/")), seats, **budgets)
    return Expected(name, tier, configuration, fields["states"].integer(1), fields["transitions"].integer(0))


def command(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="Configurations. Default: those of the tier.")
    ] = None,
    *,
    tier: Annotated[str, typer.Option(help=f"One of {', '.join(TIERS)}.")] = "smoke",
    states: Annotated[
        int | None, typer.Option(parser=count(1, 10**9), metavar="N", help=f"At most. Default: {_MOST:,}.")
    ] = None,
    cached: Annotated[
        bool, typer.Option("--cached", help="Search nothing that was searched with the same code and found right.")
    ] = False,
) -> None:
    """Search whole stacks exhaustively: what applications see, in all orders of events within budgets.

    Exits with 1 if something is seen that may not be, if the group cannot come to rest from some state, or if
    the number of states is not that of the manifest; shows the events that lead there. Exits with 4 if a
    search was cut.
    """
    root = find_root()
    known, verdicts = load(root), Verdicts.of(root)
    if tier not in TIERS:
        raise typer.BadParameter(f"--tier is one of {', '.join(TIERS)}, not {tier!r}")
    by_name = {each.name: each for each in known}
    if unknown := [name for name in names or () if name not in by_name]:
        raise typer.BadParameter(f"{FILE} has no {unknown[0]!r}; it has {', '.join(by_name)}")
    chosen = [by_name[name] for name in names] if names else [each for each in known if each.tier == tier]
    code = ExitCode.OK
    for each in chosen:
        start = process_time()
        place = verdict_key(each.configuration)
        kept = verdicts.load(place) if cached else None
        found = explore(each.configuration, most=states or _MOST) if kept is None else Explored(*kept)
        if found.violation is None and not found.cut:
            verdicts.keep(place, [found.states, found.transitions, found.good])
        seconds = f"{process_time() - start:.1f} s" if kept is None else "as before, from the cache"
        verdict, shown = _verdict(each, found)
        typer.echo(
            f"{each.name}: {found.states:,} states, {found.transitions:,} transitions, "
            f"{found.good:,} of them good, {seconds}: {shown}"
        )
        for number, label in enumerate(found.schedule, 1):
            typer.echo(f"  {number:3}  {' '.join(label)}")
        code = verdict if code is ExitCode.OK or verdict is ExitCode.DIFFERS else code
    raise typer.Exit(code)


def verdict_key(configuration: Configuration) -> str:
    """Give the digest of all that a search depends on: the configuration, and the code of simulator and cores."""
    cores = code_digest(*(f"groupcomm.{layer}" for layer in configuration.stack))
    return key(explore.__module__, asdict(configuration), cores, platform.python_version())


def _verdict(expected: Expected, found: Explored) -> tuple[ExitCode, str]:
    if found.violation is not None:
        return ExitCode.DIFFERS, f"VIOLATION of {found.violation}"
    if found.cut:
        return ExitCode.NOTHING, "cut: there are more states, give more with --states"
    if (found.states, found.transitions) != (expected.states, expected.transitions):
        return ExitCode.DIFFERS, (
            f"DIFFERS: {FILE} has {expected.states:,} states and {expected.transitions:,} transitions"
        )
    return ExitCode.OK, "holds" if expected.configuration.delays is None else "holds within its delays"
