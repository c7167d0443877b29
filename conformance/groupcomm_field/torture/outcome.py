"""A campaign that is ordered, and what came of it."""

from collections import Counter
from pathlib import Path
from typing import Final

from attrs import define, field, frozen

from groupcomm.view import Address
from groupcomm_conformance.files.errors import FileError
from groupcomm_conformance.files.reading import json_value, read_text

OUTCOME: Final = "outcome.json"
"""The file with the outcome, in the folder of a campaign."""


@frozen
class Campaign:
    """A campaign that is ordered. `rate`: messages a second of a member. `limit`: seconds to one view.

    `majority`: members join with that option, and are the primary after each round. `state`: their applications have
    a state, which is all messages. `tcp`: in the place of UDP. `large`: bytes of one message in 40.
    `namespaces`: each member has a network namespace. This process leaves the network of its machine.
    `program`: the arguments by which Python runs a member.
    """

    members: int
    faults: int
    seed: int
    rate: float = 10.0
    heartbeat: float = 0.1
    patience: float = 1.0
    limit: float = 60.0
    namespaces: bool = False
    majority: bool = False
    state: bool = False
    tcp: bool = False
    large: int = 20_000
    program: tuple[str, ...] = ("-m", "groupcomm_field.torture.member")


@define
class Outcome:
    """The events of a campaign, the number of judgements, and the findings."""

    campaign: Campaign
    faults: Counter[str] = field(factory=Counter)
    rounds: int = 0
    settled: list[float] = field(factory=list)
    happened: Counter[str] = field(factory=Counter)
    judged: Counter[str] = field(factory=Counter)
    incarnations: int = 0
    steps: int = 0
    killed: list[Address] = field(factory=list)
    survivors: list[Address] = field(factory=list)
    found: list[str] = field(factory=list)
    before_declaration: set[str] = field(factory=set)  # messages that were safe when a state was last declared
    seconds: float = 0.0


def logs_and_killed(folder: Path) -> tuple[list[Path], frozenset[str]]:
    """The logs in a folder, and the incarnations that were killed. In the folder of a campaign its outcome names them.

    Raises FileError for a file of that name that is no outcome.
    """
    file = folder / OUTCOME
    if not file.exists():
        return sorted(folder.glob("*.log")), frozenset()
    match json_value(read_text(file), str(file)):
        case {"killed": [*killed]} if all(type(each) is str for each in killed):
            return logs_of(folder / "logs", frozenset(killed)), frozenset(killed)
    raise FileError(str(file), 1, "the outcome of a campaign, with a list `killed`")


def logs_of(folder: Path, killed: frozenset[Address]) -> list[Path]:
    """The logs of a campaign, less those of incarnations that were killed before their first line: they did nothing."""
    return sorted(each for each in folder.glob("*.log") if each.stat().st_size or each.stem not in killed)
