"""The closed models of two neighbours and `Stack` have one order of effects.

These models do not take Composition's step: what one layer passes, its neighbour hears in the same step of TLC, or in
the next one, as each model says by hand. Here each member's walk is taken by the real `Stack`. The event that began a
step of the model is given to the stack from outside, and both layers must then be where the model has them. A model in
which an event is heard in another order than in `Stack` goes another way at once.
"""

from collections.abc import Iterable, Iterator
from functools import cache
from itertools import pairwise
from types import SimpleNamespace
from typing import Any, Final

import pytest
from attrs import evolve, field, fields, frozen

from groupcomm import flush, gms, merge, merge_gms, sequencer, stable, unicast
from groupcomm.digest import NOTHING, Digest, DigestEntry
from groupcomm.effects import Multicast, PassDown, PassUp, Send
from groupcomm.errors import ProtocolError
from groupcomm.events import Block, Payload, Resume, Suspend
from groupcomm.flush import BlockReturned
from groupcomm.stack import AnyCore, Arrived, Called, Event, Fired, Layer, Raised, Stack, State, Tagged
from groupcomm.view import View
from groupcomm_conformance.protocols.derive import constants_of
from groupcomm_conformance.tla.values import Fn
from groupcomm_conformance.walks import graph
from tests.cores import CACHE, MANIFESTS, PROTOCOLS
from tests.stacks import service

GROUND: Final = (
    "ReliableUnicast",
    "ReliableMulticast",
    "Network",
    "FailureDetector",
    "SilenceDetector",
    "Discovery",
    "Incarnations",
    "Membership",
    "Departures",
    "StopRequests",
    "JoinDigest",
    "VirtualSynchrony",
)


@frozen
class Closed:
    """A closed model of two layers: the variable that has each layer's states, top first.

    (A layer without a variable has no state.) `actions`: in how many different ones members take steps on its
    walks, at least. `at_once`: in the model BLOCK returns at once, and a member hears at once what FLUSH says to it.
    """

    protocol: str
    model: str
    variables: dict[str, str] = field(hash=False)
    actions: int
    at_once: bool = False

    @property
    def layers(self) -> tuple[str, ...]:
        return tuple(self.variables)

    @property
    def name(self) -> str:
        return f"{self.protocol}-{self.model}"


OVER_GMS: Final = {"flush": "flush", "gms": "local"}
OVER_MERGE: Final = {"flush": "flush", "merge_gms": "local"}
FLUSH_STABLE: Final = {"flush": "local", "stable": "stable"}
SEQUENCER_FLUSH: Final = {"sequencer": "sequencer", "flush": "local"}
MERGE_STABLE: Final = {"merge": "local", "service": "", "stable": "stable"}
SEQUENCER_MERGE: Final = {"sequencer": "sequencer", "merge": "local", "service": ""}
MODELS: Final = (
    Closed("gms", "flush_over_gms__basic", OVER_GMS, 9, at_once=True),
    Closed("gms", "flush_over_gms__join", OVER_GMS, 9, at_once=True),
    Closed("merge_gms", "flush_over_merge_gms__two_and_one", OVER_MERGE, 9, at_once=True),
    Closed("gms", "gms_over_stable__basic", {"gms": "local", "stable": "stable"}, 9),
    Closed("gms", "gms_over_unicast__join", {"gms": "local", "unicast": "unicast"}, 6),
    Closed("flush", "flush_over_stable__join", FLUSH_STABLE, 9),
    Closed("flush", "sequencer_over_flush__join", SEQUENCER_FLUSH, 9),
    Closed("flush", "sequencer_over_flush__crash", SEQUENCER_FLUSH, 9),
    Closed("merge", "merge_over_stable__given_up", MERGE_STABLE, 9),
    Closed("merge", "sequencer_over_merge__half", SEQUENCER_MERGE, 9),
)
CORES: Final[dict[str, Any]] = {
    "flush": flush,
    "gms": gms,
    "merge": merge,
    "merge_gms": merge_gms,
    "sequencer": sequencer,
    "service": service,
    "stable": stable,
    "unicast": unicast,
}


@cache
def walks(closed: Closed) -> tuple[tuple[Fn, ...], ...]:
    manifest = MANIFESTS[closed.protocol]
    model = manifest.model(closed.model)
    root = evolve(manifest, module=manifest.module_of(model.claims))
    return graph.simulate(root, manifest.cfg(model), CACHE, traces=24, depth=60, seed=2009)


def stack_of(closed: Closed, of: type[Stack] = Stack) -> Stack:
    configs: dict[str, Any] = {
        "flush": flush.Config(),
        "gms": gms.Config(max_bundle=3),
        "sequencer": sequencer.Config(),
        "service": None,
        "stable": stable.Config(max_bytes=0, stable_interval=2, stability_delay=1),
        "unicast": unicast.Config(retransmit_min=500, retransmit_max=500, resend_most=3),
    }
    for name in {"merge", "merge_gms"} & {*closed.layers}:
        configs[name] = PROTOCOLS[name].config(constants_of(MANIFESTS[name].cfgs["safety"]))
    layers = (Layer.of(CORES[name], configs[name]) for name in closed.variables)
    return of(tuple(layers), GROUND)


def state_of(closed: Closed, values: Any, member: str) -> State:  # noqa: ANN401 - all variables
    layers = []
    for name, variable in closed.variables.items():
        if not variable:
            layers.append(CORES[name].start(member))
            continue
        state = PROTOCOLS[name].codec.from_spec(values[variable][member], CORES[name].State)
        if name == "flush":
            state = evolve(state, waiting=tuple(map(payload, state.waiting)))
        if name == "unicast":
            state = evolve(
                state,
                sends=unicast.SendSides(
                    (peer, evolve(side, kept=carried(side.kept))) for peer, side in state.sends.items()
                ),
                receives=unicast.ReceiveSides(
                    (peer, evolve(side, ahead=carried(side.ahead))) for peer, side in state.receives.items()
                ),
            )
        layers.append(state)
    return State(member, tuple(layers))


def payload(value: Any) -> Payload:  # noqa: ANN401 - of the application, or of SEQUENCER
    """The payload of FLUSH: a message of SEQUENCER, where the model has one."""
    return Payload(of_sequencer(value) if isinstance(value, Fn) else value)


def carried(entries: Iterable[tuple[int, Any]]) -> tuple[tuple[int, Payload], ...]:
    """The messages that UNICAST keeps: messages of GMS, with their seqnos."""
    return tuple((seqno, of_gms(message)) for seqno, message in entries)


def of_gms(message: Any) -> Payload:  # noqa: ANN401 - a record
    return Payload(Tagged("gms", PROTOCOLS["gms"].codec.from_spec(message, CORES["gms"].Message)))


def of_sequencer(message: Any) -> Tagged:  # noqa: ANN401 - a record
    return Tagged("sequencer", PROTOCOLS["sequencer"].codec.from_spec(message, CORES["sequencer"].Message))


# Events that begin a step of the model, and their effects at once


def begins(closed: Closed, before: Any, after: Any) -> Event | None:  # noqa: ANN401 - all variables
    """The event from outside with which a step of the model begins; None for a step of the environment."""
    act = after["act"]
    member, given = act["member"], act["given"]
    match act["action"]:
        case "CastData":
            return Called(Multicast(Payload("whatever it says")))
        case "GetData":
            view = flush_view(before, member).id
            return Arrived(given["sender"], Tagged("flush", flush.Data(view, given["seqno"], Payload("likewise"))))
        case "AppBroadcasts":
            return Called(Multicast(Payload(after["sent"][member])))
        case "ReceiveForward" if "forwards" in before:  # the act may be of FLUSH, which is asked to multicast
            wires = before["forwards"]
            (sender,) = (x for x in wires if wires[x][member] not in {(), after["forwards"][x][member]})
            return Arrived(sender, of_sequencer(wires[sender][member][0]))
        case "AskForState":
            return Raised(Suspend("STATE_TRANSFER"))
        case "TakeState":
            return Raised(Resume("STATE_TRANSFER"))
    if act["event"]["type"] == "none":
        return None
    layer = hears(closed, act["event"])
    heard = PROTOCOLS[layer].codec.from_spec(act["event"], CORES[layer].Event)
    below = (*(getattr(heard, each.name) for each in fields(type(heard))), *digests(closed, after, member))
    if isinstance(heard, merge.DecisionInstalled):
        return Raised(service.Decided(heard.decision), below)
    if isinstance(heard, BlockReturned):
        return Called(PassDown(heard))
    if act["event"]["type"] == "SendRequested":
        return Called(Multicast(heard.payload))
    if act["event"]["type"].endswith("Received"):
        message = heard.message
        if isinstance(message, flush.Data):
            message = evolve(message, payload=payload(message.payload))
        if isinstance(message, unicast.Data):
            message = evolve(message, payload=of_gms(message.payload))
        return Arrived(heard.sender, Tagged(layer, message), below)
    if act["event"]["type"].endswith("Timeout"):
        timer = next(name for name, cls in PROTOCOLS[layer].timeouts.items() if cls is type(heard))
        number = f"/{heard.number}" if hasattr(heard, "number") else ""
        return Fired(f"{layer}/{timer}{number}", below)
    return Raised(heard, below)


def hears(closed: Closed, event: Any) -> str:  # noqa: ANN401 - a record
    """The lowest layer that has such an event, with these fields."""
    (layer, *_) = (
        name
        for name in reversed(closed.layers)
        if name in PROTOCOLS
        and hasattr(CORES[name], event["type"])
        and {each.name for each in fields(getattr(CORES[name], event["type"]))} <= {*event}
    )
    return layer


def flush_view(values: Any, member: str) -> View:  # noqa: ANN401 - all variables
    return PROTOCOLS["flush"].codec.from_spec(values["flush"][member]["view"], View)


def digests(closed: Closed, values: Any, member: str) -> tuple[Digest, ...]:  # noqa: ANN401 - all variables
    """The events of the layer beneath STABLE: the model's windows, when the step is done."""
    if "stable" not in closed.layers:
        return ()
    if "base" in values:
        base, delivered = values["base"][member], values["local"][member]["delivered"]
        seqnos = ((x, NOTHING + base[x] + delivered[x]) for x in sorted(base))
        return (Digest((x, DigestEntry(NOTHING, seqno, seqno)) for x, seqno in seqnos),)
    windows, seen = values["windows"][member], values["seen"][member]
    return (Digest((x, DigestEntry(windows[x]["low"], seen[x], seen[x])) for x in sorted(windows)),)


def at_once(member: str, effects: Iterable[Any]) -> Iterator[Event]:
    """The events after FLUSH's effects in the models: BLOCK returns, a member hears its messages to itself."""
    for effect in effects:
        match effect:
            case PassUp(Block()):
                yield Called(PassDown(BlockReturned()))
            case Send(to, Tagged("flush") as message) if to == member:
                yield Arrived(member, message)
            case Multicast(Tagged("flush") as message):
                yield Arrived(member, message)


def taken(closed: Closed, stack: Stack, state: State, event: Event) -> State:
    """The state after an event and all that it brings at once."""
    after, effects = stack.step(None, state, event)
    for brought in at_once(state.member, effects) if closed.at_once else ():
        after = taken(closed, stack, after, brought)
    return after


def untold(values: Any) -> bool:  # noqa: ANN401 - all variables
    """FLUSH has said, or UNICAST has delivered, what GMS has yet to hear."""
    return bool(values.get("said") or ("forgotten" in values and values["delivered"]))


def compared(closed: Closed, stack: Stack) -> Iterator[tuple[str, str]]:
    """The actions in which members take steps, each with where the stack goes elsewhere than the model, or ""."""
    for walk in walks(closed):
        steps = list(pairwise(walk))
        while steps:
            before, after = steps.pop(0)
            act: Any = after["act"]
            event = begins(closed, before, after)
            if event is None:
                continue
            while untold(after) and steps:  # GMS hears that in a step of its own
                _, after = steps.pop(0)
            if untold(after):
                break  # the walk ends before it has heard
            member, different = act["member"], ""
            try:
                got = taken(closed, stack, state_of(closed, before, member), event)
            except ProtocolError as error:
                different = f"at {member}: {error}"
            else:
                if got != state_of(closed, after, member):
                    different = f"at {member}: {act['event']!r}"
            yield act["action"], different


@pytest.mark.parametrize("closed", MODELS, ids=lambda closed: closed.name)
def test_the_stack_goes_where_the_closed_model_goes(closed: Closed) -> None:
    found = {*compared(closed, stack_of(closed))}
    assert [] == [each for each in found if each[1]][:3]
    assert len({action for action, _ in found}) >= closed.actions


def differ(closed: Closed, stack: Stack) -> bool:
    """Whether they go to different places; the walks after that are not taken."""
    return any(different for _, different in compared(closed, stack))


class BackToFront(Stack):
    """The last effect of a layer's step first."""

    def step(self, config: None, state: State, event: Event) -> Any:  # noqa: ANN401 - as a stack
        layers = tuple(evolve(layer, core=backwards(layer.core)) for layer in self.layers)
        return Stack(layers, self.ground).step(config, state, event)


def backwards(core: AnyCore) -> AnyCore:
    """A core whose effects come in the opposite order."""

    def step(config: Any, state: Any, event: Any) -> tuple[Any, tuple[Any, ...]]:  # noqa: ANN401 - of the core
        after, effects = core.step(config, state, event)
        return after, effects[::-1]

    return SimpleNamespace(start=core.start, step=step)


def test_a_stack_with_another_order_goes_elsewhere() -> None:
    assert differ(MODELS[1], stack_of(MODELS[1], BackToFront))


@pytest.mark.parametrize(
    ("closed", "ablation"),
    [
        (MODELS[2], "flush_over_merge_gms__without_suspend"),
        (MODELS[3], "gms_over_stable__without_digest_promised"),
        (MODELS[5], "flush_over_stable__without_view_installed"),
        (MODELS[6], "sequencer_over_flush__without_view_installed"),
        (MODELS[8], "merge_over_stable__without_promise_withdrawn"),
        (MODELS[9], "sequencer_over_merge__without_merging"),
    ],
    ids=lambda each: getattr(each, "name", each),
)
def test_a_model_in_which_less_is_heard_goes_elsewhere(closed: Closed, ablation: str) -> None:
    """A layer does not hear Suspend, promises, views (three times), or a withdrawal of a promise."""
    ablated = evolve(closed, model=ablation)
    assert differ(ablated, stack_of(ablated))
