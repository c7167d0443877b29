"""Reading scenarios: from YAML to frozen steps. An error in a file is `file:line: expected ...`."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

import attrs
from attrs import define, field

from groupcomm.shapes import Choice, Record, Shape, shape_of
from groupcomm_conformance.files import strict_yaml
from groupcomm_conformance.files.strict_yaml import Node
from groupcomm_conformance.models.manifest import UnknownNameError, protocols
from groupcomm_conformance.protocols.codec import MappingError
from groupcomm_conformance.tla.values import Fn, Value, show

from . import group as groups
from .group import EXPRESSION, Group, Groups
from .literals import Literals, decided_views, untyped
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

ALL: Final = "all"
ERRORS: Final = {"LocalProtocolError": "local_error", "RemoteProtocolError": "remote_error"}
OUTCOMES: Final = ("handled", "ignored")
NO_SEQNO: Final = -1
MOST_ROUNDS: Final = 20
MOST_STEPS: Final = 1000
_JUDGED: Final = ("error", "outcome", "expect")
_REQUIREMENT: Final = r"[A-Z]+-[0-9]+[a-z]?"
_ADDRESS: Final = r"[A-Z][A-Za-z0-9]*(#[0-9]+)?"
_VERBS: Final = (
    *("do", "try", "deliver", "drop", "duplicate", "settle", "partition", "heal"),
    *("crash", "restart", "whatever", "repeat", "check", "same", "never"),
)
_CLAIMS: Final = ("check", "same", "never")


def files(root: Path, protocol: str = "*") -> tuple[Path, ...]:
    """The scenarios of a protocol, or of all, by folder."""
    return tuple(sorted((root / "conformance" / "scenarios").glob(f"{protocol}/*.yaml")))


def load(known: Groups, path: Path, shown: str | None = None) -> Scenario:
    """Read a scenario. FileError, with file and line, where it says what has no meaning."""
    return read(known, strict_yaml.load(path, shown))


def read(known: Groups, node: Node) -> Scenario:
    """Read a document."""
    keys = ("scenario", "protocol", "source", "requirements", "members", "steps")
    document = node.fields(keys, ("given", "ablates"))
    name = document["protocol"].matching(r"[a-z][a-z0-9_]*", "the name of a protocol")
    try:
        group = known.get(name)
    except UnknownNameError:
        raise document["protocol"].error(f"one of {', '.join(protocols(known.root))}, not {name}") from None
    except MappingError as error:
        raise document["protocol"].error(f"a protocol with an implementation: {error}") from None
    members: list[str] = []
    for item in document["members"].items("a list of members"):
        member = item.matching(_ADDRESS, "a member such as A")
        if member in members:
            raise item.error(f"each member once, not {member} again")
        members.append(member)
    if not members:
        raise document["members"].error("at least one member")
    return _Reader(group, tuple(members)).scenario(document)


@define
class _Reader:
    """Reads one document. `up` and `blocks` are what holds at the step that is read."""

    group: Group
    members: tuple[str, ...]
    up: list[str] = field(init=False)
    blocks: tuple[frozenset[str], ...] = ()
    steps: list[Step] = field(factory=list)
    literals: Literals = field(init=False)
    events: Mapping[str, Record] = field(init=False)
    state: Mapping[str, Shape] = field(init=False)

    def __attrs_post_init__(self) -> None:
        protocol = self.group.protocol
        self.up = list(self.members)
        self.literals = Literals(protocol.codec)
        events = shape_of(protocol.events)
        options = events.options if isinstance(events, Choice) else (events,)
        self.events = {each.cls.__name__: each for each in options if isinstance(each, Record)}
        state = shape_of(protocol.state)
        assert isinstance(state, Record)  # noqa: S101 - deriving the protocol has seen to it
        self.state = {name: each for name, each in state.fields.items() if name != "member"}

    def scenario(self, document: Mapping[str, Node]) -> Scenario:
        constants = self.constants(document)
        for node in document["steps"].items("a list of steps"):
            self.step(node)
        items = document["requirements"].items("a list of requirement IDs")
        return Scenario(
            name=document["scenario"].text(),
            protocol=self.group.protocol.name,
            source=document["source"].text(),
            requirements=tuple(item.matching(_REQUIREMENT, "an ID such as STB-08") for item in items),
            members=self.members,
            file=document["steps"].file,
            line=document["given"].line if "given" in document else document["members"].line,
            constants=constants,
            steps=tuple(self.steps),
            ablations=self.ablations(document["ablates"], constants) if "ablates" in document else (),
        )

    # The beginning

    def constants(self, document: Mapping[str, Node]) -> Mapping[str, str]:
        """All constants of the specification as expressions."""
        words: dict[str, str] = {"Member": show(frozenset(self.members))}
        sides = dict(self.group.constants)
        sides["Member"] = f"= {words['Member']}"
        for name, node in (document["given"].entries() if "given" in document else {}).items():
            if name in self.group.given:
                given = self.group.given[name]
                value = (
                    decided_views(node, self.members) if given.shape is None else self.literals.read(node, given.shape)
                )
                if isinstance(value, Fn) and any(isinstance(n, int) and n < NO_SEQNO for n in value.values()):
                    raise node.error(f"seqnos from {NO_SEQNO}, which is none")
                words[name] = show(value)
                sides |= {constant: f"{EXPRESSION}{text}" for constant, text in given.sets.items()}
            elif name in sides and name != "Member":
                sides[name] = groups.constant_text(node)
            else:
                told = ", ".join(self.group.given)
                raise node.error(f"one of {told}, or a constant of the specification, not {name}")
        texts = {name: groups.expression(side, words) for name, side in sides.items()}
        for name, text in texts.items():
            if not text or (text.isidentifier() and self.group.modules.definition(text) is not None):
                raise document["protocol"].error(
                    f"a value of {name} for scenarios, in {groups.shared(self.group.protocol.name)}"
                )
        return texts

    def ablations(self, node: Node, constants: Mapping[str, str]) -> tuple[Ablation, ...]:
        labels = {step.label for step in self.steps}
        invariants = self.group.invariants
        found: list[Ablation] = []
        for item in node.items("a list of ablations such as {HoldVote: false, falls: check purged}"):
            entries = dict(item.entries())
            falls = entries.pop("falls", None)
            if falls is None:
                raise item.error('the key "falls", which is missing')
            word = falls.text("the claim or step that fails")
            if word not in labels and word not in invariants:
                raise falls.error(f"one of {', '.join((*sorted(labels), *invariants))}, not {word}")
            if not entries:
                raise item.error("a constant and its other value")
            other: dict[str, str] = {}
            for name, value in entries.items():
                groups.known(value, name, constants)
                words = {"Member": constants["Member"]}
                other[name] = groups.expression(groups.constant_text(value), words)
                if other[name] == constants[name]:
                    raise value.error(f"another value of {name} than it has: {constants[name]}")
            found.append(Ablation(item.line, other, word, is_claim=word in invariants))
        return tuple(found)

    # Steps

    def step(self, node: Node) -> None:
        """Read a step, which may be several judged steps."""
        entries = node.entries("a step such as {at: A, do: ...}")
        verbs = [verb for verb in _VERBS if verb in entries]
        if "whatever" in verbs:
            verbs = ["whatever"]
        elif "repeat" in verbs:
            verbs = ["repeat"]
        if len(verbs) != 1:
            raise node.error(f"one verb of {', '.join(_VERBS)}, not {' and '.join(verbs) or 'none of them'}")
        getattr(self, f"read_{verbs[0]}")(node)
        if len(self.steps) > MOST_STEPS:
            raise node.error(f"at most {MOST_STEPS} steps")

    def read_do(self, node: Node) -> None:
        found = node.entries()
        what, is_event, fields = self.what(found["do"], dict(found), ("at", "do", *_JUDGED))
        outcome, effects = self.judged(found)
        for member in self.some(self.need(node, "at")):
            self.steps.append(Do(node.line, member, what, is_event, fields, outcome, effects))

    def what(
        self, name: Node, found: dict[str, Node], others: Iterable[str]
    ) -> tuple[str, bool, tuple[tuple[str, Value], ...]]:
        """An event's type, or an action, and those of its fields that are said."""
        word = name.text("an event or an action")
        rest = {key: node for key, node in found.items() if key not in others}
        if word in self.events:
            shape = self.events[word]
            for key, node in rest.items():
                if key not in shape.fields:
                    allowed = ", ".join((*others, *shape.fields))
                    raise node.error(f'one of {allowed}, not the unknown key "{key}"')
            return word, True, self.literals.fields(rest, shape)
        if word in self.group.actions:
            return word, False, tuple((key, untyped(node)) for key, node in rest.items())
        raise name.error(f"one of {', '.join((*self.events, *self.group.actions))}, not {word}")

    def judged(self, found: Mapping[str, Node]) -> "tuple[str | None, Value | None]":
        """The conditions of the step on its outcome and effects."""
        if "error" in found and "outcome" in found:
            raise found["outcome"].error("no other outcome than the error")
        if "error" in found and "expect" in found:
            raise found["expect"].error("no effects of an event that is refused")
        outcome = ERRORS[found["error"].choice(ERRORS)] if "error" in found else None
        if "outcome" in found:
            outcome = found["outcome"].choice(OUTCOMES)
        if "expect" not in found:
            return outcome, None
        shape = shape_of(self.group.protocol.effects)
        items = found["expect"].items("a list of effects")
        return outcome, tuple(self.literals.read(item, shape) for item in items)

    def read_try(self, node: Node) -> None:
        entries = node.entries()
        word = entries["try"].choice(self.events)
        shape = self.events[word]
        found = node.fields(("at", "try", *shape.fields), _JUDGED)
        outcome, effects = self.judged(found)
        event = Fn({"type": word, **dict(self.literals.fields(dict(found), shape))})
        if outcome is None:
            raise node.error("an error or an outcome")
        for member in self.some(found["at"]):
            self.steps.append(Try(node.line, member, event, outcome, effects))

    def copies(
        self, node: Node, verb: str, optional: tuple[str, ...] = ()
    ) -> tuple[Mapping[str, Node], list[Copy], bool]:
        """The copies that a step is about, and whether those count that there are."""
        found = node.fields((verb, "from", "to"), ("nth", "with", *optional))
        messages = self.group.protocol.messages
        name = found[verb].choice(messages)
        nth = found["nth"].integer(1) if "nth" in found else 1
        shape = shape_of(messages[name])
        assert isinstance(shape, Record)  # noqa: S101 - `load` of the protocol has seen to it
        fields: tuple[tuple[str, Value], ...] = ()
        if "with" in found:
            fields = self.literals.fields(dict(found["with"].fields((), tuple(shape.fields))), shape)
        if_any = ALL in (found["from"].content, found["to"].content)
        senders, receivers = self.some(found["from"], dead=True), self.some(found["to"])
        pairs = [(sender, to) for sender in senders for to in receivers]
        apart = [pair for pair in pairs if not self.connected(*pair)]
        if apart and (not if_any or len(apart) == len(pairs)):
            sender, to = apart[0]
            raise node.error(f"a copy that can arrive: a partition lies between {sender} and {to}")
        copies = [Copy(name, sender, to, nth, fields) for sender, to in pairs if (sender, to) not in apart]
        return found, copies, if_any

    def read_deliver(self, node: Node) -> None:
        found, copies, if_any = self.copies(node, "deliver", _JUDGED)
        outcome, effects = self.judged(found)
        protocol = self.group.protocol
        event = protocol.received[protocol.messages[copies[0].message]].__name__
        self.steps += (Deliver(node.line, copy, event, if_any, outcome, effects) for copy in copies)

    def read_drop(self, node: Node) -> None:
        _, copies, if_any = self.copies(node, "drop")
        # A member's own copies are never lost.
        self.steps += (Drop(node.line, copy, if_any) for copy in copies if not (if_any and copy.sender == copy.to))

    def read_duplicate(self, node: Node) -> None:
        _, copies, if_any = self.copies(node, "duplicate")
        self.steps += (Duplicate(node.line, copy, if_any) for copy in copies)

    def read_settle(self, node: Node) -> None:
        members = self.some(node.fields(("settle",))["settle"])
        pairs = tuple((f, t) for f in members for t in members if self.connected(f, t))
        self.steps.append(Settle(node.line, pairs))

    def read_partition(self, node: Node) -> None:
        blocks: list[frozenset[str]] = []
        for item in node.fields(("partition",))["partition"].items("a list of blocks"):
            block = frozenset(self.name(member) for member in item.items("a block: a list of members"))
            for member in sorted(block):
                if any(member in other for other in blocks):
                    raise item.error(f"{member} in one block only")
            blocks.append(block)
        alone = (frozenset({m}) for m in self.members if not any(m in block for block in blocks))
        self.blocks = (*blocks, *alone)

    def read_heal(self, node: Node) -> None:
        node.fields(("heal",))["heal"].choice((ALL,))
        self.blocks = ()

    def connected(self, sender: str, to: str) -> bool:
        return not self.blocks or any({sender, to} <= block for block in self.blocks)

    def read_crash(self, node: Node) -> None:
        for member in self.some(node.fields(("crash",))["crash"]):
            self.up.remove(member)
            self.steps.append(Crash(node.line, member))

    def read_restart(self, node: Node) -> None:
        found = node.fields(("restart",))["restart"]
        for member in self.some(found, dead=True):
            if member not in self.up:
                self.up = [each for each in self.members if each in self.up or each == member]
            self.steps.append(Restart(node.line, member))

    # Claims

    def read_check(self, node: Node) -> None:
        self.steps += self.claims(node, node.fields(("at", "check")))

    def read_same(self, node: Node) -> None:
        self.steps += self.claims(node, node.fields(("at", "same")))

    def read_never(self, node: Node) -> None:
        self.steps += self.claims(node, node.entries())

    def read_whatever(self, node: Node) -> None:
        entries = node.entries()
        claims = [verb for verb in _CLAIMS if verb in entries]
        if len(claims) != 1:
            raise node.error(f"one of {', '.join(_CLAIMS)} beside whatever, not {' and '.join(claims) or 'none'}")
        members = tuple(self.some(entries["whatever"]))
        said = {key: item for key, item in entries.items() if key != "whatever"}
        if claims != ["never"]:
            node.fields(("whatever", "at", claims[0]))
        self.steps.append(Whatever(node.line, members, tuple(self.claims(node, said))))

    def read_repeat(self, node: Node) -> None:
        found = node.fields(("repeat", "steps"), ("until",))
        times = found["repeat"].integer(1)
        if times > MOST_ROUNDS:
            raise found["repeat"].error(f"an integer from 1 to {MOST_ROUNDS}, not {times}")
        before, ends = list(self.up), []
        for number in range(1, times + 1):
            for item in found["steps"].items("a list of steps"):
                self.step(item)
            if self.up != before:
                raise found["steps"].error("a round after which the same members are up")
            if "until" in found:
                until = found["until"]
                claims = self.claims(until, until.fields(("at",), ("check", "same")))
                ends.append(len(self.steps))
                self.steps.append(Again(until.line, tuple(claims), leave=0, last=number == times))
        for end in ends:
            step = self.steps[end]
            assert isinstance(step, Again)  # noqa: S101 - put there above
            self.steps[end] = attrs.evolve(step, leave=len(self.steps))

    def claims(self, node: Node, found: Mapping[str, Node]) -> list[Check | Same | Never]:
        verbs = [verb for verb in _CLAIMS if verb in found]
        if len(verbs) != 1 or "at" not in found:
            raise node.error("at, and one of check, same, never")
        (verb,) = verbs
        members = self.some(found["at"], dead=True)
        if verb == "never":
            what, is_event, fields = self.what(found["never"], dict(found), ("at", "never"))
            return [Never(node.line, Do(node.line, member, what, is_event, fields)) for member in members]
        if verb == "same":
            if len(members) < 2:  # noqa: PLR2004 - a comparison
                raise found["at"].error("two members or more")
            name = found["same"].text("a field or an observable")
            return [Same(node.line, tuple(members), name, of_group=self.is_of_group(found["same"], name))]
        claims: list[Check | Same | Never] = []
        for name, item in found["check"].entries("a mapping from fields and observables to values").items():
            of_group = self.is_of_group(item, name)
            value = untyped(item) if of_group else self.literals.read(item, self.state[name])
            claims += (Check(node.line, member, name, value, of_group) for member in members)
        return claims

    def is_of_group(self, node: Node, name: str) -> bool:
        if name in self.state:
            return False
        if name in self.group.observed:
            return True
        raise node.error(f"one of {', '.join((*self.state, *self.group.observed))}, not {name}")

    # Members

    def need(self, node: Node, key: str) -> Node:
        entries = node.entries()
        if key not in entries:
            raise node.error(f'the key "{key}", which is missing')
        return entries[key]

    def name(self, node: Node) -> str:
        word = node.text("a member")
        if word not in self.members:
            raise node.error(f"one of {', '.join(self.members)}, not the member {word}")
        return word

    def some(self, node: Node, *, dead: bool = False) -> list[str]:
        """One member, a list, or `all`, which leaves out crashed members."""
        if node.content == ALL:
            return list(self.up)
        listed = node.content if isinstance(node.content, tuple) else (node,)
        named = [self.name(item) for item in listed]
        if not named or len(set(named)) < len(named):
            raise node.error("one member or more, each once")
        for member in named:
            if not dead and member not in self.up:
                raise node.error(f"a member that is up, and {member} has crashed")
        return named
