"""Scenarios: stories of a group, written in YAML and run on the implementation.

A scenario names its protocol, where the story comes from and the requirements that it shows; then its
members, what is `given`, and `steps`. The group is that of `simulation`: nothing moves unless a step says so.
The verbs, one a step:

- `{at: A, do: StableTimeout}`: an event, with its fields, or a deed of what is around the members;
- `{deliver: STABLE, from: A, to: B}`: the oldest such copy arrives (`nth: 2`: the second oldest);
- `{drop: STABLE, from: A, to: B}`, `{duplicate: ...}`: it is lost; it is in flight twice;
- `{partition: [[A, B], [C]]}`, `{heal: all}`: copies between blocks wait, until it heals;
- `{crash: C}`, `{restart: C}`: with restart it is back, without memory;
- `{advance: {ms: 100}}`: time passes, and timers fire;
- `{settle: [A, B]}`: deliveries and timers among these, until nothing new can come;
- `{at: A, check: {pending: true}}`: observables have these values.

`given` says how things are at first: what the protocol's surroundings know (such as `view`),
`config`, and how long timers take: `timers: earliest` (the default) or `latest`, or `delays`, ms
for each member, kept within a timer's bounds.

Where a member is named there may be a list, or `all`: those that have not crashed. With a `do` or `deliver`,
`error: RemoteProtocolError` says that it must be refused, and `expect` lists the exact effects in order.

What a file says wrongly is a `FileError` (`file:line: expected ...`) before anything runs. A step that does
not go as the scenario says is a `Failed`: file and line, what happened, and the way there as a chart.
"""

import json
import types
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import ModuleType
from typing import (
    Annotated,
    Any,
    Final,
    Literal,
    TypeAlias,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import attrs
import typer
from attrs import evolve, frozen

from groupcomm.digest import DigestEntry
from groupcomm.errors import LocalProtocolError, ProtocolError, RemoteProtocolError
from groupcomm.per_member import PerMember
from groupcomm.view import Address, View, ViewId
from groupcomm_conformance import mapping, simulation
from groupcomm_conformance.files import strict_yaml
from groupcomm_conformance.files.strict_yaml import FileError, Node
from groupcomm_conformance.mapping import MappingError, Protocol
from groupcomm_conformance.models.manifest import UnknownNameError, find_root
from groupcomm_conformance.protocols.shapes import item_of
from groupcomm_conformance.simulation import Group, Happened, Impossible
from groupcomm_conformance.tla.chart import brief, chart

__all__ = ["Failed", "Result", "Scenario", "command", "files", "load", "run"]

ALL: Final = "all"
ERRORS: Final[Mapping[str, type[ProtocolError]]] = {
    "LocalProtocolError": LocalProtocolError,
    "RemoteProtocolError": RemoteProtocolError,
}
VERBS: Final = (
    *("do", "deliver", "drop", "duplicate", "partition", "heal"),
    *("crash", "restart", "advance", "settle", "check"),
)


class Failed(Exception):  # noqa: N818 - it says what the scenario has done
    """A step did not go as the scenario says. `line` is the step's; `chart` shows the way up to it."""

    def __init__(self, file: str, line: int, problem: str, shown: Iterable[str]) -> None:
        super().__init__(f"{file}:{line}: {problem}")
        self.file = file
        self.line = line
        self.problem = problem
        self.chart = tuple(shown)


Do: TypeAlias = Callable[[Group], None]


@frozen
class Step:
    """A step: its line, and what to do with the group. Raises Impossible where it does not go as told."""

    line: int
    do: Do


@frozen
class Scenario:
    """A scenario that was read: all names in it mean something."""

    name: str
    protocol: Protocol
    source: str
    requirements: tuple[str, ...]
    members: tuple[Address, ...]
    file: str
    line: int
    given: Mapping[str, Any]
    config: Any
    delay: simulation.Delay
    steps: tuple[Step, ...]


def files(root: Path, protocol: str | None = None) -> tuple[Path, ...]:
    """The scenarios of a protocol, or of all, by folder."""
    return tuple(sorted((root / "conformance" / "scenarios").glob(f"{protocol or '*'}/*.yaml")))


def load(path: Path, shown: str | None = None) -> Scenario:
    """Read a scenario. FileError, with file and line, where it says what has no meaning."""
    return _Reader.of(strict_yaml.load(path, shown)).scenario()


def run(scenario: Scenario, core: ModuleType | None = None) -> Group:
    """Run a scenario, on `core` if given and else on the protocol's own. Raises Failed."""
    group = Group(
        scenario.protocol,
        scenario.members,
        config=scenario.config,
        delay=scenario.delay,
        core=core,
    )
    line = scenario.line
    try:
        group.around.begin(scenario.given)
        group.log.clear()
        group.note("Init", "")
        for step in scenario.steps:
            line = step.line
            step.do(group)
    except Impossible as problem:
        raise Failed(scenario.file, line, str(problem), chart(group.log)) from None
    except MappingError as problem:
        raise Failed(scenario.file, line, f"adapter error: {problem}", chart(group.log)) from problem
    except Exception as problem:  # whatever the implementation raises is its failure
        told = f"{type(problem).__name__}: {problem}"
        raise Failed(scenario.file, line, f"crash: {told}", chart(group.log)) from problem
    return group


# Reading

_REQUIREMENT: Final = r"[A-Z]+-[0-9]+[a-z]?"
_ADDRESS: Final = r"[A-Z][A-Za-z0-9]*"


@frozen
class _Reader:
    """Reads one document; `protocol` is what it says it is for."""

    document: Mapping[str, Node]
    protocol: Protocol
    members: tuple[Address, ...]
    around: Any

    @classmethod
    def of(cls, node: Node) -> "_Reader":
        keys = ("scenario", "protocol", "source", "requirements", "members", "steps")
        document = node.fields(keys, ("given",))
        name = document["protocol"].matching(r"[a-z][a-z0-9_]*", "the name of a protocol")
        try:
            protocol = mapping.load(name)
        except MappingError:
            raise document["protocol"].error(f"a protocol that has a mapping, not {name}") from None
        members: list[Address] = []
        for item in document["members"].items("a list of members"):
            member = item.matching(_ADDRESS, "a member such as A")
            if member in members:
                raise item.error(f"each member once, not {member} again")
            members.append(member)
        if not members:
            raise document["members"].error("at least one member")
        return cls(document, protocol, tuple(members), protocol.surroundings(Group(protocol, members)))

    def scenario(self) -> Scenario:
        document = self.document
        requirements = document["requirements"].items("a list of requirement IDs")
        given = document["given"].entries() if "given" in document else {}
        known = (*self.around.given, "config", "delays", "timers")
        facts: dict[str, Any] = {}
        config = None
        delay: simulation.Delay = simulation.earliest
        for key, node in given.items():
            if key not in known:
                raise node.error(f"one of {', '.join(known)}, not {key}")
            if key == "config":
                config = self.config(node)
            elif key == "timers":
                word = node.choice(("earliest", "latest"))
                delay = simulation.latest if word == "latest" else simulation.earliest
            elif key == "delays":
                if "timers" in given:
                    raise node.error("either timers or delays")
                entries = node.entries("a mapping from members to ms").items()
                delays = {self.member(member, n): n.integer(0) for member, n in entries}
                delay = simulation.within_bounds(delays)
            else:
                facts[key] = self.value(node, self.around.given[key])
        return Scenario(
            name=document["scenario"].text(),
            protocol=self.protocol,
            source=document["source"].text(),
            requirements=tuple(item.matching(_REQUIREMENT, "an ID such as STB-08") for item in requirements),
            members=self.members,
            file=document["steps"].file,
            line=document["given"].line if "given" in document else document["members"].line,
            given=facts,
            config=config,
            delay=delay,
            steps=tuple(
                Step(node.line, self.step(node)) for node in document["steps"].items("a list of steps")
            ),
        )

    def config(self, node: Node) -> Any:  # noqa: ANN401
        default = self.around.config
        hints = get_type_hints(type(default))
        found = node.fields((), tuple(hints))
        return evolve(default, **{name: self.value(item, hints[name]) for name, item in found.items()})

    # Steps

    def step(self, node: Node) -> Do:
        entries = node.entries("a step such as {at: A, do: ...}")
        verbs = [verb for verb in VERBS if verb in entries]
        if len(verbs) != 1:
            told = " and ".join(verbs) or "none of them"
            raise node.error(f"one verb of {', '.join(VERBS)}, not {told}")
        read: Callable[[Node], Do] = getattr(self, f"read_{verbs[0]}")
        return read(node)

    def read_do(self, node: Node) -> Do:
        entries = node.entries()
        name = entries["do"].text("an event or a deed")
        events = {cls.__name__: cls for cls in get_args(self.protocol.events)}
        if name in events:
            hints = _fields(events[name])
            supplied = self.around.supplied(events[name])
            required = [field for field in hints if field not in supplied]
        elif name in self.around.deeds:
            hints = {field: (field, hint) for field, hint in self.around.deeds[name].items()}
            required = [field for field in hints if field != "bytes"]
        else:
            raise entries["do"].error(f"one of {', '.join((*events, *self.around.deeds))}, not {name}")
        optional = (*(field for field in hints if field not in required), "error", "expect")
        found = node.fields(("at", "do", *required), optional)
        who = self.some(found["at"])
        fields = {hints[key][0]: self.value(found[key], hints[key][1]) for key in hints if key in found}
        judge = self.judge(found)

        def do(group: Group) -> None:
            for member in who(group):
                group.require_up(member)
                happened = (
                    group.happen(member, group.around.event(member, events[name], fields))
                    if name in events
                    else group.around.do(member, name, fields)
                )
                judge(member, happened)

        return do

    def judge(self, found: Mapping[str, Node]) -> Callable[[Address, Happened | None], None]:
        """What the step says of its outcome and effects."""
        error = ERRORS[found["error"].choice(ERRORS)] if "error" in found else None
        effects: tuple[Any, ...] | None = None
        if "expect" in found:
            if error is not None:
                raise found["expect"].error("no effects of an event that is refused")
            items = found["expect"].items("a list of effects")
            effects = tuple(self.tagged(item, None) for item in items)

        def judge(member: Address, happened: Happened | None) -> None:
            refused = None if happened is None else happened.error
            if error is not None:
                if not isinstance(refused, error):
                    told = "was not refused" if refused is None else f"raised {type(refused).__name__}"
                    raise Impossible(f"at {member} a {error.__name__} was expected; the event {told}")
            elif refused is not None:
                raise Impossible(
                    f"at {member} the event was refused: {type(refused).__name__}: {refused.reason}"
                )
            if effects is not None and (happened is None or happened.effects != effects):
                actual = () if happened is None else happened.effects
                raise Impossible(
                    f"at {member} the effects are {self.told(actual)}, expected {self.told(effects)}"
                )

        return judge

    def copies(self, node: Node, verb: str, optional: tuple[str, ...] = ()) -> tuple[Mapping[str, Node], Any]:
        found = node.fields((verb, "from", "to"), ("nth", *optional))
        name = found[verb].choice(self.around.messages)
        senders, receivers = self.some(found["from"], dead=True), self.some(found["to"])
        nth = found["nth"].integer(1) if "nth" in found else 1
        open_ended = ALL in (found["from"].content, found["to"].content)

        def copies(group: Group) -> list[simulation.Copy]:
            pairs = [(sender, receiver) for sender in senders(group) for receiver in receivers(group)]
            there = []
            for sender, receiver in pairs:
                try:
                    there.append(group.copy(name, sender, receiver, nth))
                except Impossible:
                    if not open_ended:
                        raise
            if not there:
                raise Impossible(f"no {name} is in flight between any of them")
            return there

        return found, copies

    def read_deliver(self, node: Node) -> Do:
        found, copies = self.copies(node, "deliver", ("error", "expect"))
        judge = self.judge(found)

        def do(group: Group) -> None:
            for copy in copies(group):
                judge(copy.to, group.deliver(copy))

        return do

    def read_drop(self, node: Node) -> Do:
        _, copies = self.copies(node, "drop")
        whole = ALL in (node.entries()["from"].content, node.entries()["to"].content)

        def do(group: Group) -> None:
            for copy in copies(group):
                if not (whole and copy.sender == copy.to):  # which is never lost
                    group.drop(copy)

        return do

    def read_duplicate(self, node: Node) -> Do:
        _, copies = self.copies(node, "duplicate")

        def do(group: Group) -> None:
            for copy in copies(group):
                group.duplicate(copy)

        return do

    def read_partition(self, node: Node) -> Do:
        blocks: list[tuple[Address, ...]] = []
        for item in node.fields(("partition",))["partition"].items("a list of blocks"):
            block = tuple(self.name(member) for member in item.items("a block: a list of members"))
            for member in block:
                if any(member in other for other in blocks):
                    raise item.error(f"{member} in one block only")
            blocks.append(block)
        return lambda group: group.partition(blocks)

    def read_heal(self, node: Node) -> Do:
        node.fields(("heal",))["heal"].choice((ALL,))
        return lambda group: group.heal()

    def read_crash(self, node: Node) -> Do:
        who = self.some(node.fields(("crash",))["crash"])

        def do(group: Group) -> None:
            for member in who(group):
                group.crash(member)

        return do

    def read_restart(self, node: Node) -> Do:
        member = self.name(node.fields(("restart",))["restart"])
        return lambda group: group.restart(member)

    def read_advance(self, node: Node) -> Do:
        ms = node.fields(("advance",))["advance"].fields(("ms",))["ms"].integer(0)
        return lambda group: group.advance(ms)

    def read_settle(self, node: Node) -> Do:
        who = self.some(node.fields(("settle",))["settle"])
        return lambda group: group.settle(who(group))

    def read_check(self, node: Node) -> Do:
        found = node.fields(("at", "check"))
        who = self.some(found["at"], dead=True)
        hints = get_type_hints(self.protocol.state)
        known = {name: hints[name] for name in self.protocol.observables} | dict(self.around.observables)
        wanted: dict[str, Any] = {}
        for name, item in found["check"].entries("a mapping from observables to values").items():
            if name not in known:
                raise item.error(f"one of {', '.join(known)}, not the observable {name}")
            wanted[name] = self.value(item, known[name])

        def do(group: Group) -> None:
            for member in who(group):
                for name, expected in wanted.items():
                    of_state = name in self.protocol.observables
                    actual = (
                        getattr(group.states[member], name)
                        if of_state
                        else group.around.observe(member, name)
                    )
                    if actual != expected:
                        raise Impossible(
                            f"at {member} {name} is {self.told(actual)}, expected {self.told(expected)}"
                        )

        return do

    # Members

    def name(self, node: Node) -> Address:
        return self.member(node.text("a member"), node)

    def member(self, name: str, node: Node) -> Address:
        if name not in self.members:
            raise node.error(f"one of {', '.join(self.members)}, not the member {name}")
        return name

    def some(self, node: Node, *, dead: bool = False) -> Callable[[Group], list[Address]]:
        """One member, a list, or `all`, which leaves out those that have crashed."""
        if node.content == ALL:
            return lambda group: [member for member in group.members if member in group.up]
        if isinstance(node.content, tuple):
            named = [self.name(item) for item in node.content]
        else:
            named = [self.name(node)]

        def some(group: Group) -> list[Address]:
            if not dead:
                for member in named:
                    group.require_up(member)
            return named

        return some

    # Values

    def told(self, value: object) -> str:
        return brief(self.protocol.codec.to_spec(value))

    def value(self, node: Node, hint: Any) -> Any:  # noqa: ANN401 - any annotation
        """Read the value that an annotation asks for."""
        origin, arguments = get_origin(hint), get_args(hint)
        if hint is bool:
            return node.boolean()
        if hint is int:
            return node.integer()
        if hint is str:
            return node.text("a name")
        if origin is Literal:
            return node.choice(arguments)
        if hint is ViewId:
            creator, counter = self.parts(node, 2, "a view's identifier such as [A, 1]")
            return ViewId(counter.integer(0), creator.matching(r"\w*", "an address"))
        if hint is View:
            creator, counter, members = self.parts(node, 3, "a view such as [A, 1, [A, B]]")
            view_id = ViewId(counter.integer(0), creator.matching(r"\w*", "an address"))
            return View(view_id, tuple(item.text("a member") for item in members.items("a list of members")))
        if hint is DigestEntry:
            return self.entry(node)
        if isinstance(hint, type) and issubclass(hint, PerMember):
            entries = node.entries("a mapping from members")
            inner = item_of(hint)
            return hint((member, self.value(item, inner)) for member, item in entries.items())
        if origin is frozenset:
            return frozenset(self.value(item, arguments[0]) for item in node.items())
        if origin is tuple:
            return tuple(self.value(item, arguments[0]) for item in node.items())
        if origin in (dict, Mapping) or (isinstance(origin, type) and issubclass(origin, Mapping)):
            return {key: self.value(item, arguments[1]) for key, item in node.entries().items()}
        if isinstance(hint, type) and attrs.has(hint) and hint not in self.protocol.codec.tags:
            hints = _fields(hint)
            fields = node.fields(tuple(hints))
            return hint(**{hints[key][0]: self.value(item, hints[key][1]) for key, item in fields.items()})
        return self.tagged(node, hint)

    def entry(self, node: Node) -> DigestEntry:
        if isinstance(node.content, int):
            seqno = node.integer(-1)
            return DigestEntry(low=-1, delivered=seqno, received=seqno)
        found = node.fields(("low", "delivered", "received"))
        return DigestEntry(**{name: item.integer(-1) for name, item in found.items()})

    def parts(self, node: Node, count: int, what: str) -> tuple[Node, ...]:
        items = node.items(what)
        if len(items) != count:
            raise node.error(what)
        return items

    def tagged(self, node: Node, hint: Any) -> Any:  # noqa: ANN401
        """Read `{TAG: {field: value, ...}}`; `hint` None or a type variable allows any tag."""
        tags = {tag: cls for cls, tag in self.protocol.codec.tags.items()}
        if hint is not None and not isinstance(hint, TypeVar):
            classes = get_args(hint) if get_origin(hint) in (types.UnionType, Union) else (hint,)
            tags = {tag: cls for tag, cls in tags.items() if cls in {get_origin(c) or c for c in classes}}
        entries = node.entries(f"{{{'|'.join(tags)}: {{...}}}}")
        if len(entries) != 1 or next(iter(entries)) not in tags:
            raise node.error(f"one of {', '.join(tags)}, not {', '.join(entries) or 'nothing'}")
        ((tag, content),) = entries.items()
        hints = _fields(tags[tag])
        if [type(hint) for _, hint in hints.values()] == [TypeVar]:  # a wrapper: {Multicast: {STABLE: ...}}
            return tags[tag](self.tagged(content, None))
        found = content.fields(tuple(hints))
        return tags[tag](**{hints[key][0]: self.value(item, hints[key][1]) for key, item in found.items()})


def _fields(cls: type) -> dict[str, tuple[str, Any]]:
    """The fields of a class: from the name in a scenario to the name in the class and its annotation."""
    hints = get_type_hints(cls)
    return {field.name: (field.name, hints[field.name]) for field in attrs.fields(cls)}


# The command


@frozen
class Result:
    """How a scenario went. `outcome`: `pass`, `fail`, or `unreadable` where its file says something wrong."""

    file: str
    outcome: str
    scenario: str = ""
    requirements: tuple[str, ...] = ()
    line: int = 0
    problem: str = ""
    chart: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """A line, and where it failed the chart."""
        if self.outcome == "pass":
            return f"pass  {self.file}  {self.scenario}"
        lines = [f"{self.outcome}  {self.file}:{self.line}: {self.problem}"]
        if self.scenario:
            lines += [f"      {self.scenario}", "", *self.chart, ""]
        return "\n".join(lines)


def check(path: Path, shown: str, core: ModuleType | None = None) -> Result:
    """Read and run one scenario."""
    try:
        scenario = load(path, shown)
    except FileError as error:
        return Result(shown, "unreadable", line=error.line, problem=f"expected {error.expected}")
    try:
        run(scenario, core)
    except Failed as failed:
        return Result(
            shown,
            "fail",
            scenario.name,
            scenario.requirements,
            line=failed.line,
            problem=failed.problem,
            chart=failed.chart,
        )
    return Result(shown, "pass", scenario.name, scenario.requirements)


def command(
    what: Annotated[
        list[str] | None, typer.Argument(metavar="[PROTOCOL | FILE]...", help="What to run; default: all.")
    ] = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON document.")] = False,
) -> None:
    """Run scenarios: exit 0 if all pass, 1 if one fails, 2 if a file says something wrong."""
    root = find_root()
    try:
        chosen = [file for name in what or [""] for file in _chosen(root, name)]
    except UnknownNameError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from None
    results = [check(file, _shown(file, root)) for file in chosen]
    if as_json:
        typer.echo(json.dumps({"scenarios": [attrs.asdict(result) for result in results]}, indent=2))
    else:
        for result in results:
            typer.echo(result.text)
        passed = sum(result.outcome == "pass" for result in results)
        typer.echo(f"{passed} of {len(results)} scenarios pass")
    outcomes = {result.outcome for result in results}
    if outcomes != {"pass"}:
        raise typer.Exit(2 if "unreadable" in outcomes or not results else 1)


def _chosen(root: Path, name: str) -> tuple[Path, ...]:
    if name.endswith(".yaml") or Path(name).is_file():
        return (Path(name),)
    if name and not files(root, name):
        known = sorted({file.parent.name for file in files(root)})
        raise UnknownNameError("protocol with scenarios", name, tuple(known))
    return files(root, name or None)


def _shown(file: Path, root: Path) -> str:
    absolute = file.absolute()
    return str(absolute.relative_to(root)) if absolute.is_relative_to(root) else str(file)
