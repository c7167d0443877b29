"""Arguments and options that several commands have, each written once."""

import math
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Final, TypeAlias, cast

import typer

from groupcomm_conformance.models.manifest import TIERS, Tier, did_you_mean, find_root, load, protocols

MOST_WORKERS: Final = 1024

MOST_SECONDS: Final = 1_000_000.0
"""The longest time that an option takes, some 11 days: a longer one is a slip."""


def one_of(words: Iterable[str], text: str) -> str:
    """Accept one of some words; a BadParameter names them, and the word that was probably meant."""
    known = tuple(words)
    if text in known:
        return text
    raise typer.BadParameter(f"{brief(text)} is none of {', '.join(known)}{did_you_mean(text, known)}")


def tier(text: str) -> Tier:
    """Accept the name of a tier."""
    return cast("Tier", one_of(TIERS, text))


def heap(text: str) -> str:
    """Accept the size of a JVM's heap, such as 2g, as Java takes it: at least 2 MB."""
    found = re.fullmatch(r"([1-9][0-9]{0,8})([kmgKMG])", text, re.ASCII)
    if found is None:
        raise typer.BadParameter(f"a whole number and k, m or g, such as 2g, not {brief(text)}")
    size = int(found[1]) << {"k": 10, "m": 20, "g": 30}[found[2].lower()]
    if not _LEAST_HEAP <= size <= _MOST_HEAP:
        raise typer.BadParameter(f"from 2m to 8192g, not {text}")
    return text


_LEAST_HEAP: Final = 2 << 20
_MOST_HEAP: Final = 8 << 40


def whole(least: int, most: int) -> Callable[[str], int]:
    """Make a parser that accepts a whole number of these bounds."""

    def parse(text: str) -> int:
        if re.fullmatch(r"-?[0-9]{1,18}", text, re.ASCII) is None or not least <= int(text) <= most:
            raise typer.BadParameter(f"a whole number from {least} to {most}, not {brief(text)}")
        return int(text)

    return parse


def count(least: int, most: int) -> Callable[[str], int]:
    """Make a parser that accepts a whole number of these bounds, also in the form 1e9 or 2.5e6."""

    def parse(text: str) -> int:
        found = re.fullmatch(r"([0-9]{1,18})(?:\.([0-9]{1,18}))?[eE]\+?([0-9]{1,2})", text, re.ASCII)
        if found is None:
            return whole(least, most)(text)
        digits, part, power = found[1], (found[2] or "").rstrip("0"), int(found[3])
        value = int((digits + part).ljust(len(digits) + power, "0"))
        if power < len(part) or not least <= value <= most:
            raise typer.BadParameter(f"a whole number from {least} to {most}, not {brief(text)}")
        return value

    return parse


def brief(text: str) -> str:
    """Shorten what a person typed, for an error."""
    return text if len(text) <= _BRIEF else f"{text[:_BRIEF]}..."


_BRIEF: Final = 60


def seconds(text: str) -> float:
    """Accept a time in seconds that is above 0 and ends."""
    try:
        found = float(text)
    except ValueError:
        raise typer.BadParameter(f"a number of seconds, not {brief(text)}") from None
    if not math.isfinite(found) or not 0 < found <= MOST_SECONDS:
        raise typer.BadParameter(f"above 0 and at most {MOST_SECONDS:,.0f} seconds, not {brief(text)}")
    return found


def master(text: str) -> str:
    """Accept the address of a Spark, as far as its text shows that it is one."""
    if re.fullmatch(r"local(\[(\*|[1-9][0-9]{0,3})\])?|(?!local)[a-z0-9]+(://\S+)?", text, re.ASCII) is None:
        raise typer.BadParameter(f"local[*], local[2] or spark://host:7077, not {brief(text)}")
    return text


def _protocols(incomplete: str) -> list[str]:
    try:
        return [name for name in protocols(find_root()) if name.startswith(incomplete)]
    except (OSError, ValueError, LookupError):
        return []  # a shell that completes has no use for an error


def _models(ctx: typer.Context, incomplete: str) -> list[str]:
    try:
        root = find_root()
        given = ctx.params.get("protocol") or protocols(root)
        names = [given] if isinstance(given, str) else given
        models = (model.name for name in names for model in load(root, name).models)
        return [name for name in dict.fromkeys(models) if name.startswith(incomplete)]
    except (OSError, ValueError, LookupError):
        return []


Protocols: TypeAlias = Annotated[
    list[str] | None, typer.Argument(metavar="[PROTOCOL]...", help="Default: all.", autocompletion=_protocols)
]
OneProtocol: TypeAlias = Annotated[str, typer.Argument(metavar="PROTOCOL", autocompletion=_protocols)]
OneOrAll: TypeAlias = Annotated[
    str | None, typer.Argument(metavar="PROTOCOL", autocompletion=_protocols, show_default=False)
]
ModelNames: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--model", metavar="NAME", help="Only this model. May be given several times.", autocompletion=_models
    ),
]
_TIER: Final = typer.Option(
    "--tier",
    parser=tier,
    metavar="smoke|full|deep",
    help="Which models; full, the default, includes smoke, deep both.",
    autocompletion=lambda: list(TIERS),
)
TierOption: TypeAlias = Annotated[Tier, _TIER]
MaybeTier: TypeAlias = Annotated[Tier | None, _TIER]
"""A tier, or none where it was not said."""
AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="JSON on stdout instead of text.")]
Workers: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--workers",
        parser=whole(1, MOST_WORKERS),
        metavar="N",
        help="Threads that search at a time. Default: one per core.",
    ),
]
Processes: TypeAlias = Annotated[
    int | None,
    typer.Option("--workers", parser=whole(1, MOST_WORKERS), metavar="N", help="Processes. Default: one per core."),
]
Heap: TypeAlias = Annotated[str, typer.Option("--heap", parser=heap, metavar="SIZE", help="Memory of each JVM.")]
Row: TypeAlias = Annotated[
    int | None, typer.Option("--row", parser=whole(1, 10**12), metavar="N", help="Only run and show this row.")
]
Seed: TypeAlias = Annotated[
    int | None, typer.Option(parser=whole(0, 10**15), metavar="S", help="Of the first random walk. Default: 1.")
]
Out: TypeAlias = Annotated[Path, typer.Option("--out", metavar="DIR", help="The folder to write.")]
Master: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--master",
        parser=master,
        metavar="MASTER",
        help="Run as a campaign on a Spark: local[*], local[2] or spark://host:7077.",
    ),
]
TableFolder: TypeAlias = Annotated[
    Path | None,
    typer.Option("--table", metavar="DIR", help="The table of the campaign, local[*] if no --master is given."),
]
