"""The steps of a scenario, once it was read: data, and nothing that runs.

A scenario is a list of steps, each about one member or one copy of a message: a line of a file that says `at:
[A, B]`, or `deliver: STABLE, from: all`, became several. All values are those of TLA+. `Step.label` names a
step for people, without its place in the file; an ablation says by this label which step it makes fail.
"""

from collections.abc import Mapping
from typing import TypeAlias

from attrs import field, frozen

from groupcomm_conformance.tla.values import Value


@frozen
class Do:
    """A step of the specification at member `at`.

    `what` is the type of its event, or (not `is_event`) the name of the group's action. `fields` are those of
    the event, or of what the action was given, that the scenario says. `outcome` and `effects` are compared
    where they are not None.
    """

    line: int
    at: str
    what: str
    is_event: bool
    fields: tuple[tuple[str, Value], ...] = ()
    outcome: str | None = None
    effects: "Value | None" = None

    @property
    def label(self) -> str:
        return f"do {self.what}"


@frozen
class Copy:
    """The `nth` oldest copy in flight of a message of type `message` from one member to another.

    Only those count whose `fields` are these.
    """

    message: str
    sender: str
    to: str
    nth: int = 1
    fields: tuple[tuple[str, Value], ...] = ()


@frozen
class Deliver:
    """A copy arrives: its receiver does the step of the event. `if_any`: where there is such a copy."""

    line: int
    copy: Copy
    event: str
    if_any: bool = False
    outcome: str | None = None
    effects: "Value | None" = None

    @property
    def label(self) -> str:
        return f"deliver {self.copy.message}"


@frozen
class Drop:
    """A copy does not arrive any more."""

    line: int
    copy: Copy
    if_any: bool = False

    @property
    def label(self) -> str:
        return f"drop {self.copy.message}"


@frozen
class Duplicate:
    """A copy is in flight once more, as the youngest."""

    line: int
    copy: Copy
    if_any: bool = False

    @property
    def label(self) -> str:
        return f"duplicate {self.copy.message}"


@frozen
class Settle:
    """Messages in flight between these pairs (from, to) arrive, in any order, until nothing more can."""

    line: int
    pairs: tuple[tuple[str, str], ...]

    @property
    def label(self) -> str:
        return "settle"


@frozen
class Crash:
    """A member stops; copies on their way to it are gone."""

    line: int
    at: str

    @property
    def label(self) -> str:
        return "crash"


@frozen
class Restart:
    """A member begins anew, without a view and without memory."""

    line: int
    at: str

    @property
    def label(self) -> str:
        return "restart"


@frozen
class Check:
    """A field of a member's state, or (`of_group`) what the group says of it as `Observed`, has a value."""

    line: int
    at: str
    field: str
    value: Value
    of_group: bool = False

    @property
    def label(self) -> str:
        return f"check {self.field}"


@frozen
class Same:
    """A field, or an observable, is the same at all these members."""

    line: int
    members: tuple[str, ...]
    field: str
    of_group: bool = False

    @property
    def label(self) -> str:
        return f"same {self.field}"


@frozen
class Never:
    """The specification does not allow such a step now."""

    line: int
    step: Do

    @property
    def label(self) -> str:
        return f"never {self.step.what}"


@frozen
class Whatever:
    """A claim stays true for all receipts among these members and all firings of their timers.

    The claim is about each state that they can reach. The scenario continues from the state before this step.
    """

    line: int
    members: tuple[str, ...]
    claims: tuple[Check | Same | Never, ...]

    @property
    def label(self) -> str:
        return f"whatever {' and '.join(claim.label for claim in self.claims)}"


@frozen
class Try:
    """The answer of `Step` to an event in the state that member `at` is in. Nothing moves.

    So a scenario says what is refused: no environment need be able to bring the event about.
    """

    line: int
    at: str
    event: Value
    outcome: str
    effects: "Value | None" = None

    @property
    def label(self) -> str:
        name = self.event["type"] if isinstance(self.event, Mapping) else self.event
        return f"try {name}"


@frozen
class Again:
    """The end of a round of a loop: where `claims` hold the scenario continues at step `leave` (from 0).

    Where they do not another round follows; after the `last` one, they must.
    """

    line: int
    claims: tuple[Check | Same | Never, ...]
    leave: int
    last: bool

    @property
    def label(self) -> str:
        return "until"


Step: TypeAlias = (
    Do | Deliver | Drop | Duplicate | Settle | Crash | Restart | Check | Same | Never | Whatever | Try | Again
)


@frozen
class Ablation:
    """The same scenario where constants have other values, and what is then other than it says.

    `falls` is the label of the first step that fails (`check purged`), or the name of a claim that does not
    hold somewhere on the way.
    """

    line: int
    constants: Mapping[str, str] = field(hash=False)
    falls: str
    is_claim: bool

    @property
    def name(self) -> str:
        """The constants as a scenario has them."""
        return ", ".join(f"{name} = {text}" for name, text in self.constants.items())


@frozen
class Scenario:
    """A scenario that was read: all names in it mean something.

    `constants` are all constants of the specification, as TLA+ text. `steps` are in order; `line` is where
    the beginning is given.
    """

    name: str
    protocol: str
    source: str
    requirements: tuple[str, ...]
    members: tuple[str, ...]
    file: str
    line: int
    constants: Mapping[str, str] = field(hash=False)
    steps: tuple[Step, ...]
    ablations: tuple[Ablation, ...]
