"""probe: what running members say of their group. See docs/runtime.md."""

import json
from http.client import HTTPException
from typing import Annotated, Any, Final
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

import typer

from . import console
from .exits import verdict
from .options import AsJson

_SECONDS: Final = 5.0


def command(
    places: Annotated[
        list[str], typer.Argument(metavar="HOST:PORT...", help="Where members `serve` their health, each of one group.")
    ],
    *,
    as_json: AsJson = False,
) -> None:
    """Ask running members for view, versions, tables and what they dropped. Code 1: they differ, or one is silent."""
    asked = {place: _asked(place) for place in places}
    said = [each for each in asked.values() if "error" not in each]
    same = len({(each["group"], each["version"], str(each["view"])) for each in said}) == 1
    good = same and len(said) == len(places) and all(each["primary"] for each in said)
    if as_json:
        typer.echo(json.dumps({"agree": good, "members": asked}, indent=2))
    else:
        out = console.stdout()
        heads = ("place", "group", "member", "version", "view", "of members", "delivers", "waiting", "dropped")
        out.print(console.plain_table(heads, [_row(place, each) for place, each in asked.items()]))
        for place, each in asked.items():
            if "error" in each:
                out.print(f"{place}: {each['error']}", soft_wrap=True, markup=False)
        typer.echo("all are in one view, and deliver" if good else "they are not in one view that delivers")
    raise typer.Exit(verdict(ok=good))


def _asked(place: str) -> dict[str, Any]:
    try:
        with urlopen(f"http://{place}/", timeout=_SECONDS) as answer:
            said = json.load(answer)
    except HTTPError as error:  # 503: it says what it is, and delivers nothing
        try:
            said = json.load(error)
        except ValueError:
            said = None
    except (URLError, HTTPException, OSError, ValueError) as error:
        return {"error": f"it gives no answer ({getattr(error, 'reason', error)}): name a place of `health.serve`"}
    if not isinstance(said, dict) or not {"group", "version", "address", "view", "members", "primary"} <= said.keys():
        return {"error": "its answer is no member's: name a place of `health.serve`"}
    return said


def _row(place: str, said: dict[str, Any]) -> tuple[str, ...]:
    if "error" in said:
        return (place, *["-"] * 8)
    view = "-" if said["view"] is None else "{}/{}".format(*said["view"])
    counts = {**said.get("counts", {})}
    dropped = sum(count for what, count in counts.items() if what.startswith("dropped"))
    waiting = sum(said.get("tables", {}).values())
    return (
        *(place, said["group"], said["address"], str(said["version"]), view, str(len(said["members"]))),
        *("yes" if said["primary"] else "no", f"{waiting:,}", f"{dropped:,}"),
    )
