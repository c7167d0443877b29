r"""Instruments, by which a run of TLC reports more than its verdict: TLA+ text, and a reader of its output.

Every run has a root module of its own, `Run`, which extends the protocol's MC module; nothing is written
into `spec/`. Into it go operators that are always TRUE and print what is new to them:

- *witnesses*, as invariants: `@witness W` when the predicate `W` is true for the first time;
- *steps*, as an action constraint: each pair of action and outcome in `act'`. (`-coverage` reports them too:
  measured on 41,000 states with 664,000 transitions it costs 1.8 times the CPU time of the plain run,
  this constraint 1.0. And TLC names an inner operator there where one action applies another.)
- *falls*, for the kill matrix: each claim `C` becomes `C \/ Note`, which prints `@falls C` once and is
  true, so that the search continues and one run reports all claims that the state space refutes. Of a claim
  that is a list of conjuncts, each is noted by itself (`@part C/2`). One more claim is false, once, where the
  first of them is: TLC prints the counterexample and, with `-continue`, searches the rest;
- the *harvest*, as an invariant: each new local state, message and outside parameter. The group module
  defines what these are: `SeenLocal(m)`, `SeenMessages` (a set) and `SeenOutside(m)`.

Printed values are remembered in TLC's registers (`TLCGet`, `TLCSet`), of which each worker has its own:
with two workers a value may be printed twice. One register per member keeps the sets small. `ToString` keeps
a value on a single line.

Generated operators have names that begin with `Run_`, which no specification may use.

An action property `P` has its action in an operator of its own: `P == [][PStep]_vars`, and so has a
refinement, `P == Abstract!Init /\ [][PStep]_vars` with `PStep == Abstract!Step`. Properties without such an
operator are liveness; nothing can be added to these, so they are run as they are.
"""

import re
from collections.abc import Iterable
from typing import Final

from attrs import Factory, define, evolve, field, frozen

from groupcomm_conformance.tla.cfg import Cfg
from groupcomm_conformance.tla.values import Value, ValueSyntaxError, parse, show

from .modules import Modules

ROOT: Final = "Run"
"""The name of the generated module."""

SHOWN: Final = "Run_Shown"
STORY: Final = "Run_Story"
"""With what the generated names of what is shown begin, and that of a temporal claim in a story."""

OUTCOMES: Final = ("ignored", "local_error", "remote_error", "handled")
"""How an event may end. Only a handled event changes a state or has effects."""

_REGISTERS: Final = 1000
"""The first register used here: those below are the specifications' own."""


# Runs


@frozen
class Run:
    """The generated root module's text and the cfg to run it with."""

    text: str
    cfg: Cfg
    continues: bool = False
    """Whether TLC continues after the counterexample."""

    @property
    def generated(self) -> dict[str, str]:
        """The module as `tlc.run` takes it."""
        return {ROOT: self.text}


def remembered(run: Run, modules: Modules) -> Run:
    """The same run, in which a constant given by an operator (`History <- Failover`) is evaluated once.

    TLC remembers the value of `Failover`, and not that of a constant in whose place it stands: it evaluates
    the body of the operator at every use. So the body becomes the name of an operator that it remembers.
    """
    constants = dict(run.cfg.constants)
    definitions: list[str] = []
    for constant, side in run.cfg.constants.items():
        operator = side.removeprefix("<- ")
        bare = re.compile(rf"^{re.escape(operator)}\s*==", re.MULTILINE)
        is_constant = side != operator and modules.definition(constant) is None
        if is_constant and any(bare.search(text) for text in modules.texts.values()):
            constants[constant] = f"<- Run_Constant_{constant}"
            definitions.append(f"Run_Constant_{constant} == {operator}")
    if not definitions:
        return run
    head, _, _ = run.text.rpartition("====")
    text = "\n".join((head, *definitions, "====", ""))
    return evolve(run, text=text, cfg=evolve(run.cfg, constants=constants))


@define
class _Writer:
    """The operators and registers of a root module in the making."""

    operators: list[str] = Factory(list)
    noted: dict[str, int] = Factory(dict)  # the register of each text that is printed once
    _registers: int = field(default=_REGISTERS, init=False)
    _starts: list[str] = field(factory=list, init=False)

    def register(self, value: str) -> int:
        """Reserve a register that starts as `value`."""
        number, self._registers = self._registers, self._registers + 1
        self._starts.append(f"ASSUME TLCSet({number}, {value})")
        return number

    def once(self, condition: str, line: str) -> str:
        """Write an expression that is TRUE and prints `line` when `condition` is true for the first time."""
        number = self.noted[line] = self.register("FALSE")
        said = f'PrintT("{line}") /\\ TLCSet({number}, TRUE)'
        return f"IF TLCGet({number}) THEN TRUE ELSE IF {condition} THEN {said} ELSE TRUE"

    def module(self, extends: str) -> str:
        head = f"---- MODULE {ROOT} ----\nEXTENDS {extends}, TLC\n"
        return "\n".join((head, *self._starts, "", *self.operators, "====", ""))


def plain_run(module: str, cfg: Cfg) -> Run:
    """The model as it is."""
    return Run(_Writer().module(module), cfg)


def main_run(
    module: str, cfg: Cfg, *, witnesses: Iterable[str] = (), steps: bool = False, members: Iterable[str] = ()
) -> Run:
    """The model that watches for `witnesses`, notes `steps`, and harvests what `members` see."""
    writer = _Writer()
    invariants: list[str] = []
    constraints: list[str] = []
    for witness in witnesses:
        writer.operators.append(f"Run_Watch_{witness} == {writer.once(witness, f'@witness {witness}')}")
        invariants.append(f"Run_Watch_{witness}")
    if steps:
        number = writer.register("{}")
        writer.operators.append(
            "Run_Step ==\n"
            f"    \\/ <<act'.action, act'.outcome>> \\in TLCGet({number})\n"
            "    \\/ /\\ PrintT(ToString(<<\"step\", act'.action, act'.outcome>>))\n"
            f"       /\\ TLCSet({number}, TLCGet({number}) \\cup {{<<act'.action, act'.outcome>>}})"
        )
        constraints.append("Run_Step")
    if members := tuple(members):
        _harvest(writer, members)
        invariants.append("Run_Harvest")
    return Run(
        writer.module(module),
        evolve(
            cfg, invariants=(*cfg.invariants, *invariants), action_constraints=(*cfg.action_constraints, *constraints)
        ),
    )


_NOTE_NEW: Final = r"""Run_New(Run_register, Run_kind, Run_value) ==
    \/ Run_value \in TLCGet(Run_register)
    \/ /\ PrintT(ToString(<<Run_kind, Run_value>>))
       /\ TLCSet(Run_register, TLCGet(Run_register) \cup {Run_value})"""
_NOTE_ALL_NEW: Final = r"""Run_AllNew(Run_register, Run_kind, Run_values) ==
    LET Run_news == Run_values \ TLCGet(Run_register) IN
    IF Run_news = {} THEN TRUE
    ELSE /\ \A Run_value \in Run_news : PrintT(ToString(<<Run_kind, Run_value>>))
         /\ TLCSet(Run_register, TLCGet(Run_register) \cup Run_news)"""


def _harvest(writer: _Writer, members: tuple[str, ...]) -> None:
    messages = writer.register("{}")
    conjuncts = []
    for member in members:
        local, outside = writer.register("{}"), writer.register("{}")
        name = show(member)
        conjuncts.append(f'    /\\ Run_New({local}, "local", SeenLocal({name}))')
        conjuncts.append(f'    /\\ Run_New({outside}, "outside", SeenOutside({name}))')
    writer.operators += [
        _NOTE_NEW,
        _NOTE_ALL_NEW,
        "\n".join(("Run_Harvest ==", *conjuncts, f'    /\\ Run_AllNew({messages}, "message", SeenMessages)')),
    ]


@frozen
class Shown:
    """The counterexample that a run shows: the first to `claim` in which `story` is true, or to any claim.

    `story` is a state predicate: an invariant is asked for in its states, an action property of the steps
    that lead to such a state. The type invariants are asserted too.
    """

    claim: str | None = None
    story: str = "TRUE"


def note_run(
    module: str,
    cfg: Cfg,
    modules: Modules,
    types: Iterable[str],
    *,
    until: Iterable[str] | None = None,
    shown: Shown | None = None,
) -> tuple[Run, tuple[str, ...]]:
    """The model with each claim noted instead of asserted, and the claims that this can be done with.

    These are the invariants but for `types`, and the action properties. The claim that is `shown` is false
    once, where it is violated first. It is the last of the invariants or of the properties, since TLC looks
    at no more of them in a state or step that refutes one. The search ends with the last state. Given
    `until`, it ends when the counterexample was shown and all of these are violated: claims and conjuncts
    (`C/2`) that can be noted.
    """
    writer, left_out = _Writer(), frozenset(types)
    invariants: list[str] = []
    properties: list[str] = []
    noted: dict[str, str | None] = {}  # each claim with the subscript of its steps

    def demand(name: str, text: str, subscript: str | None) -> None:
        writer.operators.append(f"{name} == {text}" if subscript is None else f"{name} == [][{text}]_{subscript}")
        (invariants if subscript is None else properties).append(name)

    for claim in cfg.claims:
        subscript = modules.step_of(claim)
        if (claim in left_out and shown is None) or (claim not in cfg.invariants and subscript is None):
            continue
        holds = claim if subscript is None else f"{claim}Step"
        if parts := modules.conjuncts_of(claim):
            # A conjunct is looked at only where the whole is false.
            notes = [writer.once("TRUE", f"@falls {claim}")]
            for number, text in enumerate(parts, start=1):
                part = f"Run_Part_{claim}_{number}"
                writer.operators.append(f"{part} ==\n{text}")
                notes.append(writer.once(f"~{part}", f"@part {claim}/{number}"))
            said = r" /\ ".join(f"({each})" for each in notes)
            note = f"IF {holds} THEN TRUE ELSE {said}"
        else:
            note = writer.once(f"~{holds}", f"@falls {claim}")
        demand(f"Run_Note_{claim}", note, subscript)
        noted[claim] = subscript
    ends = [
        writer.noted[line]
        for name in until or ()
        if (line := f"@part {name}" if "/" in name else f"@falls {name}") in writer.noted
    ]
    if shown is not None:
        first = writer.register("FALSE")
        ends.append(first)
        steps = {subscript: None for subscript in noted.values() if subscript is not None}
        for kind, name in ((None, f"{SHOWN}_State"), (f"<<{', '.join(steps)}>>", f"{SHOWN}_Step")):
            stands = [
                f"~TLCGet({writer.noted[f'@falls {claim}']})"
                for claim, subscript in noted.items()
                if (shown.claim is None or claim in left_out) and (subscript is None) == (kind is None)
            ]
            if shown.claim is not None and (noted[shown.claim] is None) == (kind is None):
                stands.append(
                    rf"({shown.claim} \/ ~({shown.story}))"
                    if kind is None
                    else rf"({shown.claim}Step \/ ~({shown.story})')"
                )
            if stands:
                all_stand = r" /\ ".join(stands)
                demand(name, rf"TLCGet({first}) \/ ({all_stand}) \/ ~TLCSet({first}, TRUE)", kind)
    if until is not None and ends:
        all_fell = r" /\ ".join(f"TLCGet({number})" for number in ends)
        demand("Run_Stop", f'IF {all_fell} THEN TLCSet("exit", TRUE) ELSE TRUE', None)
    run = Run(
        writer.module(module),
        evolve(cfg, invariants=tuple(invariants), properties=tuple(properties)),
        continues=shown is not None,
    )
    return run, tuple(claim for claim in noted if claim not in left_out)


def sole_run(module: str, cfg: Cfg, claim: str) -> Run:
    """The model with one property and no other claim."""
    return Run(_Writer().module(module), evolve(cfg, invariants=(), properties=(claim,)))


def story_run(module: str, cfg: Cfg, claim: str, story: str | None, types: Iterable[str]) -> Run:
    """The model with the invariants `types` and one temporal claim, of behaviours that reach the `story`.

    That is a state predicate; without one the claim is asserted as it is.
    """
    writer = _Writer()
    if story is not None:
        writer.operators.append(f"{STORY} == (<>{story}) => {claim}")
    invariants = tuple(name for name in cfg.invariants if name in frozenset(types))
    asserted = claim if story is None else STORY
    return Run(writer.module(module), evolve(cfg, invariants=invariants, properties=(asserted,)))


# Reading what they print


@frozen
class Harvest:
    """The harvest of a run: local states of all members, messages, and parameters from outside."""

    local: frozenset[Value]
    messages: frozenset[Value]
    outside: frozenset[Value]


@define
class Heard:
    """Takes the lines that TLC prints (`take` is an `on_line`) and keeps what the operators above say."""

    witnesses: set[str] = Factory(set)
    falls: dict[str, None] = Factory(dict)  # in the order in which they were violated
    parts: set[str] = Factory(set)
    steps: set[tuple[str, str]] = Factory(set)
    _seen: dict[str, set[str]] = field(factory=lambda: {"local": set(), "message": set(), "outside": set()})

    def take(self, line: str) -> None:
        """Read a line; lines that the specification prints itself are passed over."""
        try:
            text = parse(line) if line.startswith('"') else None
        except ValueSyntaxError:
            return
        if not isinstance(text, str):
            return
        if text.startswith("@witness "):
            self.witnesses.add(text.removeprefix("@witness "))
        elif text.startswith("@falls "):
            self.falls[text.removeprefix("@falls ")] = None
        elif text.startswith("@part "):
            self.parts.add(text.removeprefix("@part "))
        elif found := re.match(r'<<"(local|message|outside)", (.*)>>', text, re.DOTALL):
            self._seen[found[1]].add(found[2])
        elif found := re.fullmatch(r'<<"step", "([^"]*)", "([^"]*)">>', text):
            self.steps.add((found[1], found[2]))

    def harvest(self) -> Harvest:
        """The values seen; ValueSyntaxError where one is none."""
        local, messages, outside = (frozenset(map(parse, self._seen[kind])) for kind in self._seen)
        return Harvest(local, messages, outside)
