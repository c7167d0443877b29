"""A schedule as the applications of a group see it, in lanes: without the messages of the protocols."""

from collections.abc import Iterable
from typing import Final

from groupcomm.effects import Multicast, PassUp
from groupcomm.events import Block, Deliver, MergeViewInstalled, Unblock, ViewInstalled
from groupcomm.stack import Called
from groupcomm_simulator.ground import Event, Ground, Told
from groupcomm_simulator.running import replay
from groupcomm_simulator.setup import Setup

_LANE: Final = 24

Row = dict[str, str]
"""Events at members, by their names; at none: in the network."""


def outline(setup: Setup, seed: int, schedule: Iterable[Event]) -> list[str]:
    """Draw the lines of a chart: a lane for each process. Equal events of several processes share a line."""
    rows: list[Row] = []

    def add(name: str, text: str) -> None:
        last = rows[-1] if rows else {}
        if text and name and name not in last and text in last.values():
            last[name] = text
        elif text:
            rows.append({name: text})

    def listen(_ground: Ground, event: Event, told: Told | None) -> None:
        if told is None:
            add(*_outside(event))
            return
        name = told.process.name
        if isinstance(told.event, Called) and isinstance(told.event.request, Multicast):
            add(name, f"sends {_message(told.event.request.message)}")
        for effect in told.effects:
            match effect:
                case PassUp(MergeViewInstalled(view)):
                    add(name, f"merged view {','.join(view.members)}")
                case PassUp(ViewInstalled(view)):
                    add(name, f"view {','.join(view.members)}")
                case PassUp(Deliver(_, payload)):
                    add(name, f"delivers {_message(payload)}")
                case PassUp(Block()):
                    add(name, "BLOCK")
                case PassUp(Unblock()):
                    add(name, "UNBLOCK")
                case _:
                    pass

    replay(setup, seed, schedule, listen)
    names = list(dict.fromkeys(name for row in rows for name in row if name))
    header = "".join(f"{name:<{_LANE}}" for name in names).rstrip()
    return [header, *(_line(row, names) for row in rows)]


def _outside(event: Event) -> tuple[str, str]:
    """Say what an event is, and at which process; "" where what comes of it says as much."""
    match event:
        case ("start", str(name)):
            return name, "starts"
        case ("join", str(name), str(found)):
            return name, "founds a group" if name == found else f"asks {found} to join"
        case ("crash", str(name)):
            return name, "CRASHES"
        case ("suspect", str(name), str(other)):
            return name, f"suspects {other}"
        case ("silent", str(name), str(other)):
            return name, f"no longer hears {other}"
        case ("discover", str(name), tuple(found)):
            return name, f"finds {', '.join(other for other in found if other != name)}"
        case ("transfer", str(name)):
            return name, "wants the state"
        case ("transferred", str(name)):
            return name, "has the state"
        case ("partition", tuple(side)):
            return "", f"{', '.join(side)} and the others cannot reach each other"
        case ("heal",):
            return "", "the network heals"
        case _:
            return "", ""


def _line(row: Row, names: list[str]) -> str:
    if "" in row:
        return f"- {row['']} ".ljust(_LANE * len(names), "-")
    return "".join(f"{row.get(name, '|'):<{_LANE}}" for name in names).rstrip()


def _message(content: object) -> str:
    name, number = content if isinstance(content, tuple) else (str(content), "")
    return f"{name.lower()}/{number}"
