r"""Scenarios as a model: one module in which TLC looks for the paths of many scenarios at once.

The module has the variables of the protocol's group and some of its own. Each scenario, and each of its
ablations, is a *case* with its own constants: an INSTANCE of the protocol's module. Its initial states are
those of its instance, and it is at step 0. At step k, `at` becomes k + 1

- by a step of the specification (`Next` of the instance) that is as step k says,
- or by none, where step k looks at the state only, and the state is so.

The scenario is a path of the specification if and only if a state is reached in which all steps are done.
A step's conditions are checked in *every* state in which the scenario can be at that step: where the
specification leaves open what happens (a `settle`, in any order), all of it must be as the scenario says.

`in_flight` are the copies of messages that were sent on the way: the effects of the steps so far, without
the copies that arrived. The specification's own network decides what may arrive; this says which copies a
scenario means. `trail` are the states so far. It is hidden by VIEW: of two ways to a state, the shorter is
kept.

A trail is a sequence of rows. `[at, state]` has the state that step `at` led to, `[at, member, event,
result]` the answer of `Step` in a `try`, and `[at]` is a copy that was dropped or duplicated. TLC prints
these lines:

    <<"@at", case, k>>                 step k is reached for the first time
    <<"@path", case, trail>>           all steps are done
    <<"@wrong", case, k, trail, seen>> what step k looks at is otherwise (the first time), and what it is
    <<"@falls", case, trail>>          the claim that the case is about does not hold (the first time)
    <<"@before", trail, flight>>       with a probe: where the scenario stands
    <<"@may", act>>                    with a probe: a step that the specification allows there
"""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from attrs import frozen

from groupcomm_conformance.models.modules import scope
from groupcomm_conformance.tla.values import Value, show

from .group import Group
from .steps import (
    Ablation,
    Again,
    Check,
    Copy,
    Crash,
    Deliver,
    Do,
    Drop,
    Duplicate,
    Never,
    Restart,
    Same,
    Scenario,
    Settle,
    Step,
    Try,
    Whatever,
)

ROOT: Final = "Scenarios"
_ACT: Final = "act"
_ASSUME: Final = r"^ASSUME\b([^\n]*(?:\n[ \t][^\n]*)*)"
_ANY: Final = "0"
"""For a parameter that means nothing. TLC walks through what has none, to see whether it is constant: nine
tenths of the time of a protocol's scenarios went into that."""
_ERRORS: Final = '{"local_error", "remote_error"}'

_HEAD: Final = r"""---- MODULE Scenarios ----
EXTENDS Views, Integers, Sequences, FiniteSets, TLC

VARIABLES {variables}
VARIABLES
    sc_case,    \* the case
    sc_at,      \* the step that is next, from 0
    sc_free,    \* the members do as they please, since step sc_at (a `whatever`)
    sc_flight,  \* the copies in flight: a sequence of [sender, to, message], the oldest first
    sc_trail    \* how the scenario came here

sc_group == <<{variables}>>
sc_view == <<{visible}, sc_case, sc_at, sc_free, sc_flight>>
sc_Row == [at |-> sc_at, state |-> [{row}]]

\* The copies that a step's effects make, `all` being the members in order.
RECURSIVE sc_Sent(_, _, _)
sc_Sent(m, effects, all) ==
    IF effects = <<>> THEN <<>>
    ELSE LET e == Head(effects)
             Copy(to) == [sender |-> m, to |-> to, message |-> e.message]
         IN
         (CASE e.type = "Multicast" -> [i \in DOMAIN all |-> Copy(all[i])]
            [] e.type = "Datagram" ->
                IF e.to = "*" THEN [i \in DOMAIN all |-> Copy(all[i])] ELSE <<Copy(e.to)>>
            [] e.type = "Send" -> <<Copy(e.to)>>
            [] OTHER -> <<>>)
         \o sc_Sent(m, Tail(effects), all)

sc_Without(flight, i) == SubSeq(flight, 1, i - 1) \o SubSeq(flight, i + 1, Len(flight))

\* A step in which a message arrives.
sc_Arrives(a) == a.outcome # "none" /\ {"sender", "message"} \subseteq DOMAIN a.event

sc_IsCopy(c, a) == c.to = a.member /\ c.sender = a.event.sender /\ c.message = a.event.message

\* Actions in which a message arrives and stays in flight; actions in which one is lost.
sc_Duplicates == {duplicates}
sc_Losses == {losses}

\* Where in flight the oldest copy is that arrived with a step, and is gone from there; 0: nowhere.
sc_Taken(flight, a) ==
    IF ~sc_Arrives(a) \/ a.action \in sc_Duplicates THEN 0
    ELSE LET found == {i \in DOMAIN flight : sc_IsCopy(flight[i], a)} IN
         IF found = {} THEN 0 ELSE CHOOSE i \in found : \A j \in found : i <= j

sc_After(flight, a, all) ==
    LET i == sc_Taken(flight, a) IN
    (IF i = 0 THEN flight ELSE sc_Without(flight, i)) \o sc_Sent(a.member, a.effects, all)

\* Where in flight the n-th oldest copy is that Is; 0: nowhere.
sc_Nth(flight, Is(_), n) ==
    LET found == {i \in DOMAIN flight : Is(flight[i])} IN
    IF Cardinality(found) < n THEN 0 ELSE CHOOSE i \in found : Cardinality({j \in found : j <= i}) = n

\* The group takes a step, and the scenario notes it.
sc_Noted == sc_trail' = Append(sc_trail, [at |-> sc_at, state |-> sc_Row'.state])
sc_Moves(all) == sc_flight' = sc_After(sc_flight, act', all) /\ sc_Noted /\ sc_free' = FALSE
sc_Ends(m) ==
    LET NotTo(c) == c.to # m IN sc_flight' = SelectSeq(sc_flight, NotTo) /\ sc_Noted /\ sc_free' = FALSE

\* It does not.
sc_Looks == UNCHANGED <<sc_group, sc_free, sc_flight, sc_trail>>

\* It does not, and it is noted all the same.
sc_Booked == sc_trail' = Append(sc_trail, [at |-> sc_at]) /\ UNCHANGED <<sc_group, sc_free>>

\* The event, or what the action was given, has this in a field.
sc_Has(a, name, value) ==
    (name \in DOMAIN a.event /\ a.event[name] = value) \/ (name \in DOMAIN a.given /\ a.given[name] = value)

\* A step that a `whatever` allows: a message among these members arrives, or a timer of a member fires.
sc_Freely(a, members, timeouts) ==
    /\ a.outcome # "none" /\ a.member \in members
    /\ a.event.type \in timeouts \/ (sc_Arrives(a) /\ a.event.sender \in members)

sc_Once(what, line) ==
    what \in TLCGet(1) \/ (PrintT(ToString(line)) /\ TLCSet(1, TLCGet(1) \cup {what}))

ASSUME TLCSet(1, {}) /\ TLCSet(2, {})
"""

_TAIL: Final = r"""
sc_Report ==
    /\ sc_Right \/ sc_Once(<<"wrong", sc_case, sc_at>>, <<"@wrong", sc_case, sc_at, sc_trail, sc_Seen>>)
    /\ sc_free
       \/ IF sc_at = sc_Length THEN sc_Once(<<"path", sc_case>>, <<"@path", sc_case, sc_trail>>)
          ELSE sc_Once(<<"at", sc_case, sc_at>>, <<"@at", sc_case, sc_at>>)
    /\ sc_Claim \/ sc_Once(<<"falls", sc_case>>, <<"@falls", sc_case, sc_trail>>)
"""

_LONGEST: Final = 2000
"""More steps of the group than any scenario has: a `settle` that comes to no end is cut off there."""


@frozen
class Case:
    """A scenario, or one of its ablations. `number` is from 1."""

    number: int
    scenario: Scenario
    ablation: Ablation | None = None

    @property
    def substitutions(self) -> str:
        """The constants of the case; cases with the same share an instance."""
        other = self.ablation.constants if self.ablation else {}
        sides = {**self.scenario.constants, **other}
        return ", ".join(f"{name} <- {text}" for name, text in sides.items())


def cfg() -> str:
    """Give the configuration to check the module with."""
    return "SPECIFICATION sc_Spec\nVIEW sc_view\nINVARIANT sc_Report\n"


def module(group: Group, cases: Sequence[Case], probe: int | None = None) -> str:
    """Write the module for these cases; with `probe`, for one case, print what is allowed at that step."""
    head = _HEAD.replace("{variables}", ", ".join(group.variables))
    head = head.replace("{visible}", ", ".join(name for name in group.variables if name != _ACT))
    head = head.replace("{row}", ", ".join(f"{name} |-> {name}" for name in group.variables))
    for word, prefix in (("{duplicates}", "Duplicate"), ("{losses}", "Lose")):
        names = frozenset(action for action in group.actions if action.startswith(prefix))
        head = head.replace(word, show(names))
    parts = [head]
    instances: dict[str, str] = {}
    for case in cases:
        if case.substitutions not in instances:
            instances[case.substitutions] = f"G{len(instances) + 1}"
            name = instances[case.substitutions]
            parts.append(f"{name} == INSTANCE {group.manifest.module} WITH {case.substitutions}")
            parts.append(f"{name}_Next(sc_any) == {_next(group, case, name)}")
            parts += _assumed(group, case, name)
    writers = [_Writer(group, case, instances[case.substitutions]) for case in cases]
    parts += (f"\n{writer.next(probe)}\n{writer.right()}\n{writer.seen()}" for writer in writers)
    parts.append(_by_case("sc_Length", writers, lambda w: str(len(w.case.scenario.steps))))
    parts.append(_by_case("sc_Right", writers, lambda w: f"sc_Right{w.case.number}"))
    parts.append(_by_case("sc_Seen", writers, lambda w: f"sc_Seen{w.case.number}"))
    parts.append(_by_case("sc_Claim", writers, _Writer.claim))
    starts = "\n       \\/ ".join(f"sc_case = {w.case.number} /\\ {w.g}!Init" for w in writers)
    parts.append(
        f"sc_Init ==\n    /\\ \\/ {starts}\n"
        "    /\\ sc_at = 0 /\\ sc_free = FALSE /\\ sc_flight = <<>> /\\ sc_trail = <<sc_Row>>"
    )
    steps = "\n       \\/ ".join(f"sc_case = {w.case.number} /\\ sc_Next{w.case.number}({_ANY})" for w in writers)
    parts.append(
        "sc_Next(sc_any) ==\n    /\\ sc_case' = sc_case\n    /\\ sc_Right\n"
        f"    /\\ Len(sc_trail) <= {_LONGEST}\n    /\\ \\/ {steps}\n\n"
        "sc_vars == <<sc_group, sc_case, sc_at, sc_free, sc_flight, sc_trail>>\n"
        f"sc_Spec == sc_Init /\\ [][sc_Next({_ANY})]_sc_vars"
    )
    parts.append(_TAIL)
    parts.append("====\n")
    return "\n".join(parts)


def _assumed(group: Group, case: Case, instance: str) -> Iterable[str]:
    """Write what the modules assume of their constants: TLC does not ask it of an instance."""
    constants = {**case.scenario.constants, **(case.ablation.constants if case.ablation else {})}
    for name in scope(group.modules, group.manifest.module):
        for text in re.findall(_ASSUME, group.modules.bare[name], re.MULTILINE):
            words = dict.fromkeys(re.findall(r"\b[A-Za-z]\w*", text))
            named = {word: constants[word] for word in words if word in constants}
            if not named:
                continue
            asked = text.strip("\n")
            for word in words:
                if word not in named and group.modules.definition(word) is not None:
                    asked = re.sub(rf'(?<![\w!.\\"]){word}\b(?!")', f"{instance}!{word}", asked)
            sides = "\n        ".join(f"{constant} == {value}" for constant, value in named.items())
            shown = ", ".join(f"{each} = {value}" for each, value in named.items())
            plain = re.sub(r"[^\w\s=,.:{}()<>\[\]-]", "'", shown)
            refused = f"{name}.tla does not allow, by ASSUME, what these are: {plain}"
            yield (
                f"ASSUME\n    LET {sides}\n        sc_allowed ==\n{asked}\n"
                f'    IN sc_allowed \\/ Assert(FALSE, "{refused}")'
            )


def _next(group: Group, case: Case, instance: str) -> str:
    """Write the group's steps, whether it says them of all members or of a single member."""
    if not group.by_member:
        return f"{instance}!Next"
    return f"\\E sc_m \\in {show(frozenset(case.scenario.members))} : {instance}!Next(sc_m)"


def _by_case(name: str, writers: "Sequence[_Writer]", text: "Callable[[_Writer], str]") -> str:
    arms = "\n      [] ".join(f"sc_case = {writer.case.number} -> {text(writer)}" for writer in writers)
    return f"{name} ==\n    CASE {arms}"


@frozen
class _Writer:
    """Writes one case; `g` is its instance."""

    group: Group
    case: Case
    g: str

    @property
    def all(self) -> str:
        return show(self.case.scenario.members)

    def next(self, probe: int | None) -> str:
        """The case's steps."""
        lines = [f"sc_Next{self.case.number}(sc_any) =="]
        for at, step in enumerate(self.case.scenario.steps):
            lines += (f"    \\/ sc_at = {at} /\\ {text}" for text in self.step(at, step))
            if at == probe:
                lines.append(
                    f"    \\/ /\\ sc_at = {at} /\\ ~sc_free /\\ {self.g}_Next({_ANY})\n"
                    '       /\\ sc_Once(<<"before">>, <<"@before", sc_trail, sc_flight>>)\n'
                    "       /\\ sc_trail \\in TLCGet(2) \\/ (TLCGet(2) = {} /\\ TLCSet(2, {sc_trail}))\n"
                    '       /\\ sc_Once(<<"may", act\'>>, <<"@may", act\'>>)\n'
                    "       /\\ FALSE /\\ UNCHANGED sc_at /\\ sc_Looks"
                )
        if not self.case.scenario.steps:
            lines.append("    FALSE")
        return "\n".join(lines)

    def right(self) -> str:
        """The conditions of the case's steps."""
        arms = [
            f"sc_at = {at} -> {text}"
            for at, step in enumerate(self.case.scenario.steps)
            if (text := self.looked_at(step))
        ]
        return _cases(f"sc_Right{self.case.number}", arms, "TRUE")

    def seen(self) -> str:
        """The values that the case's steps look at."""
        arms = [
            f"sc_at = {at} -> {text}"
            for at, step in enumerate(self.case.scenario.steps)
            if (text := self.seen_by(step))
        ]
        return _cases(f"sc_Seen{self.case.number}", arms, "<<>>")

    def seen_by(self, step: Step) -> str:
        match step:
            case Check():
                return self.value(step.at, step.field, of_group=step.of_group)
            case Same():
                values = (self.value(m, step.field, of_group=step.of_group) for m in step.members)
                return f"<<{', '.join(values)}>>"
            case Try():
                return self.asked(step)
            case _:
                return ""

    def claim(self) -> str:
        ablation = self.case.ablation
        return f"{self.g}!{ablation.falls}" if ablation and ablation.is_claim else "TRUE"

    # Steps

    def step(self, at: int, step: Step) -> Iterable[str]:
        """The ways in which a step is done, each without its `sc_at = ..`."""
        on = f"~sc_free /\\ sc_at' = {at + 1}"
        match step:
            case Do():
                yield f"{on} /\\ {self.g}_Next({_ANY}) /\\ {self.fits(step)} /\\ sc_Moves({self.all})"
            case Crash(_, member):
                fits = f"act'.action = \"Crash\" /\\ act'.member = {show(member)}"
                yield f"{on} /\\ {self.g}_Next({_ANY}) /\\ {fits} /\\ sc_Ends({show(member)})"
            case Restart(_, member):
                m = show(member)
                fits = (
                    f"act'.outcome = \"none\" /\\ act'.member = {m} /\\ local'[{m}] = {self.g}!Start({m})"
                    ' /\\ act\'.action # "Crash"'
                )
                yield f"{on} /\\ {self.g}_Next({_ANY}) /\\ {fits} /\\ sc_Ends({m})"
            case Deliver():
                move = f"{self.g}_Next({_ANY}) /\\ {self.delivers(step)}"
                yield f"{on} /\\ {move} /\\ sc_Moves({self.all})"
                if step.if_any:
                    yield f"{on} /\\ ~ENABLED ({move}) /\\ sc_Looks"
            case Drop():
                yield from self.drops(on, step)
            case Duplicate():
                there = f"LET i == {self.nth(step.copy)} IN"
                more = "sc_flight' = Append(sc_flight, sc_flight[i]) /\\ sc_Booked"
                nothing = "sc_Looks" if step.if_any else "FALSE"
                yield f"{on} /\\ {there} IF i = 0 THEN {nothing} ELSE {more}"
            case Settle():
                pairs = show(frozenset(step.pairs))
                move = (
                    f"{self.g}_Next({_ANY}) /\\ sc_Arrives(act') /\\ act'.action \\notin sc_Duplicates"
                    f" /\\ <<act'.event.sender, act'.member>> \\in {pairs}"
                    " /\\ \\E i \\in DOMAIN sc_flight : sc_IsCopy(sc_flight[i], act')"
                )
                yield f"~sc_free /\\ sc_at' = {at} /\\ {move} /\\ sc_Moves({self.all})"
                yield f"{on} /\\ ~ENABLED ({move}) /\\ sc_Looks"
            case Check() | Same() | Never():
                yield f"{on} /\\ sc_Looks"
            case Whatever():
                members = show(frozenset(step.members))
                timeouts = show(frozenset(cls.__name__ for cls in self.group.protocol.timeouts.values()))
                yield f"{on} /\\ sc_Looks"
                yield (
                    f"sc_at' = {at} /\\ {self.g}_Next({_ANY}) /\\ sc_Freely(act', {members}, {timeouts})"
                    " /\\ sc_free' = TRUE /\\ sc_Noted /\\ UNCHANGED sc_flight"
                )
            case Try():
                row = f"[at |-> {at}, member |-> {show(step.at)}, event |-> {show(step.event)}, result |-> r]"
                yield (
                    f"{on} /\\ LET r == {self.asked(step)} IN"
                    f" sc_trail' = Append(sc_trail, {row}) /\\ UNCHANGED <<sc_group, sc_free, sc_flight>>"
                )
            case Again():
                claims = self.all_of(step.claims)
                yield f"~sc_free /\\ sc_at' = (IF {claims} THEN {step.leave} ELSE {at + 1}) /\\ sc_Looks"

    def fits(self, step: Do) -> str:
        """The value of `act'` in a step."""
        parts = [f"act'.member = {show(step.at)}"]
        if step.is_event:
            parts += ['act\'.outcome # "none"', f"act'.event.type = {show(step.what)}"]
            parts += (f"act'.event.{name} = {show(value)}" for name, value in step.fields)
        else:
            parts.append(f"act'.action = {show(step.what)}")
            parts += (f"sc_Has(act', {show(name)}, {show(value)})" for name, value in step.fields)
        return _and((*parts, *_conditions(step.outcome, step.effects)))

    def delivers(self, step: Deliver) -> str:
        """The value of `act'` where a copy arrives."""
        copy = step.copy
        parts = (
            "i # 0",
            "sc_Arrives(act')",
            "act'.action \\notin sc_Duplicates",
            f"act'.member = {show(copy.to)}",
            f"act'.event.sender = {show(copy.sender)}",
            f"act'.event.type = {show(step.event)}",
            "act'.event.message = sc_flight[i].message",
            *_conditions(step.outcome, step.effects),
        )
        return f"LET i == {self.nth(copy)} IN {_and(parts)}"

    def nth(self, copy: Copy) -> str:
        parts = [
            f"c.sender = {show(copy.sender)}",
            f"c.to = {show(copy.to)}",
            f"c.message.type = {show(copy.message)}",
            *(f"c.message.{name} = {show(value)}" for name, value in copy.fields),
        ]
        return f"sc_Nth(sc_flight, LAMBDA c : {_and(parts)}, {copy.nth})"

    def drops(self, on: str, step: Drop) -> Iterable[str]:
        """The specification loses the copy, where it has a step for that; or it just never arrives."""
        there = f"LET i == {self.nth(step.copy)} IN"
        gone = "sc_flight' = sc_Without(sc_flight, i)"
        loses = (
            f"{self.g}_Next({_ANY}) /\\ act'.action \\in sc_Losses /\\ act'.member = {show(step.copy.to)}"
            " /\\ \\E p \\in act'.consumed : p.message = sc_flight[i].message"
        )
        if step.if_any:
            yield f"{on} /\\ {there} i = 0 /\\ sc_Looks"
        yield f"{on} /\\ {there} i # 0 /\\ {loses} /\\ {gone} /\\ sc_Noted /\\ UNCHANGED sc_free"
        yield (f"{on} /\\ {there} i # 0 /\\ ~ENABLED ({loses}) /\\ {gone} /\\ sc_Booked")

    # Conditions

    def looked_at(self, step: Step) -> str:
        """The condition on the state before this step; "" if it has none."""
        match step:
            case Check() | Same() | Never():
                return self.claimed(step)
            case Whatever():
                return self.all_of(step.claims)
            case Try():
                parts = [f"r.outcome = {show(step.outcome)}"]
                if step.effects is not None:
                    parts.append(f"r.effects = {show(step.effects)}")
                return f"LET r == {self.asked(step)} IN {_and(parts)}"
            case Again(last=True):
                return self.all_of(step.claims)
            case _:
                return ""

    def all_of(self, claims: Iterable[Check | Same | Never]) -> str:
        return _and(map(self.claimed, claims))

    def claimed(self, claim: Check | Same | Never) -> str:
        match claim:
            case Check():
                return f"{self.value(claim.at, claim.field, of_group=claim.of_group)} = {show(claim.value)}"
            case Same():
                values = [self.value(m, claim.field, of_group=claim.of_group) for m in claim.members]
                return f"({_and(f'{value} = {values[0]}' for value in values[1:])})"
            case Never():
                return f"~ENABLED ({self.g}_Next({_ANY}) /\\ {self.fits(claim.step)})"

    def value(self, member: str, name: str, *, of_group: bool) -> str:
        m = show(member)
        return f"{self.g}!Observed({m}).{name}" if of_group else f"local[{m}].{name}"

    def asked(self, step: Try) -> str:
        return f"{self.g}!Step(local[{show(step.at)}], {show(step.event)})"


def _cases(name: str, arms: Sequence[str], other: str) -> str:
    """An operator that is one of these arms, or else something other."""
    text = "CASE " + "\n      [] ".join((*arms, f"OTHER -> {other}")) if arms else other
    return f"{name} ==\n    {text}"


def _and(parts: Iterable[str]) -> str:
    return " /\\ ".join(parts)


def _conditions(outcome: str | None, effects: "Value | None") -> Iterable[str]:
    """The condition on a step's outcome and effects. No event is refused unless that is said."""
    yield f"act'.outcome \\notin {_ERRORS}" if outcome is None else f"act'.outcome = {show(outcome)}"
    if effects is not None:
        yield f"act'.effects = {show(effects)}"
