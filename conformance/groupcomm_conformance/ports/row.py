"""Print a row of the vectors: a state, an event, and how `Step` ends. It needs Python 3 alone.

python3 row.py stable/join_small.json 206
"""

import json
import sys
from pathlib import Path
from typing import Any, Final

_OUTCOMES: Final = ("ignored", "local_error", "remote_error")
_USE: Final = "usage: python3 row.py PROTOCOL/MODEL.json ROW, with rows numbered from 1"


def row(file: dict[str, Any], number: int) -> dict[str, Any]:
    """Give the row of this number, from 1: what a port is given, and what it must answer."""
    rows, width = file["rows"], len(file["rows"][0])
    at, event = divmod(number - 1, width)
    state, cell = file["states"][at], rows[at][event]
    expected = {"outcome": _OUTCOMES[cell]} if cell < len(_OUTCOMES) else _handled(file, state, cell - len(_OUTCOMES))
    return {"config": file["config"], "state": state, "event": file["events"][event], "expected": expected}


def _handled(file: dict[str, Any], state: dict[str, Any], result: int) -> dict[str, Any]:
    changes, effects = file["results"][result]
    return {"outcome": "handled", "state": {**state, **changes}, "effects": [file["effects"][at] for at in effects]}


def main(arguments: list[str]) -> int:
    """Print a row of a file, each part of it on a line. Give 2 where there is none."""
    try:
        path, number = arguments[0], int(arguments[1])
    except (IndexError, ValueError):
        return _refuse(_USE)
    try:
        file = json.loads(Path(path).read_text(encoding="ascii"))
        if not isinstance(file, dict) or "states" not in file:
            return _refuse(f"{path}: expected the file of a model: {_USE}")
        if "rows" not in file:
            return _refuse(f"{path}: this model has walks alone, and no row")
        count = sum(map(len, file["rows"]))
        if not 1 <= number <= count:
            return _refuse(f"{path}: a row from 1 to {count:,}, not {number}")
        told = row(file, number)
    except OSError as error:
        return _refuse(f"{path}: {error.strerror}: name the file of a model")
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        return _refuse(f"{path}: cut off or altered ({error}): unpack the archive again")
    for name, value in told.items():
        sys.stdout.write(f"{name}: {json.dumps(value)}\n")
    return 0


def _refuse(why: str) -> int:
    sys.stderr.write(f"{why}\n")
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
