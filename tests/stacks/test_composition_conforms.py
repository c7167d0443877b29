"""`Stack` and the closed model have one order of effects: each step of the model's walks is a step of the real stack."""

from functools import cache
from itertools import pairwise
from typing import Any

import pytest
from attrs import evolve

from groupcomm import events, flush, gms, stable
from groupcomm.digest import EMPTY_VECTOR, NOTHING, Vector
from groupcomm.effects import PassDown
from groupcomm.errors import LocalProtocolError, ProtocolError, RemoteProtocolError
from groupcomm.stack import Arrived, Called, Layer, Raised, Stack, State, Tagged
from groupcomm.view import View
from groupcomm_conformance.protocols.codec import Codec
from groupcomm_conformance.tla.values import Fn, Value
from groupcomm_conformance.walks import graph
from groupcomm_simulator.abstract import reliable_multicast
from groupcomm_simulator.abstract.reliable_multicast import Window
from tests.cores import CACHE, MANIFESTS, PROTOCOLS

MODULES: dict[str, Any] = {"flush": flush, "gms": gms, "stable": stable}
CODEC = Codec({cls: tag for name in MODULES for cls, tag in PROTOCOLS[name].codec.tags.items()})
STACK = Stack(
    (
        Layer.of(flush, flush.Config()),
        Layer.of(gms, gms.Config(max_bundle=2)),
        Layer.of(stable, stable.Config(max_bytes=0, stable_interval=2, stability_delay=1)),
        Layer.of(reliable_multicast, reliable_multicast.Config()),
    ),
    ("ReliableUnicast", "Network", "FailureDetector", "SilenceDetector", "Incarnations", "Discovery"),
)
WAYS = {"Receive", "ReturnFromBlock", "AskToJoin", "Detect", "AskForState", "TakeState"}
REFUSALS: dict[type[ProtocolError], str] = {LocalProtocolError: "local_error", RemoteProtocolError: "remote_error"}


@cache
def walks(model: str) -> tuple[tuple[Fn, ...], ...]:
    manifest = MANIFESTS["gms"]
    root = evolve(manifest, module=manifest.module_of("stack"))
    return graph.simulate(root, manifest.cfg(manifest.model(model)), CACHE, traces=24, depth=45, seed=2009)


def event_of(value: Any) -> Any:  # noqa: ANN401 - of any of the modules
    for module in (events, flush, gms):
        if hasattr(module, value["type"]):
            return CODEC.from_spec(value, getattr(module, value["type"]))
    raise LookupError(value["type"])


def from_outside(event: Any) -> Any:  # noqa: ANN401 - of a stack
    match event["type"]:
        case "Arrived":
            layer = event["message"]["layer"]
            message = CODEC.from_spec(event["message"]["message"], MODULES[layer].Message)
            return Arrived(event["sender"], Tagged(layer, message))
        case "Called":
            return Called(PassDown(event_of(event["request"]["event"])))
        case "Raised":
            return Raised(event_of(event["event"]))


def state_of(member: str, layers: Any) -> State:  # noqa: ANN401 - as the model has it
    whole = [CODEC.from_spec(value, MODULES[name].State) for value, name in zip(layers[:3], MODULES, strict=True)]
    view = CODEC.from_spec(layers[3]["view"], View)
    starts, base, delivered, limit = (
        CODEC.from_spec(layers[3][name], Vector) for name in ("starts", "base", "delivered", "limit")
    )
    windows = {m: Window(NOTHING, base[m], seqno, seqno, NOTHING) for m, seqno in delivered.items()}
    below = evolve(reliable_multicast.start(member), view=view, windows=windows, starts=starts, limit=limit or None)
    return State(member, (*whole, below))


def as_the_model_has_it(state: State) -> Value:
    layers: Any
    below: Any
    *layers, below = state.layers
    told = {
        "member": below.member,
        "view": below.view,
        "starts": below.starts,
        "base": Vector(tuple((m, window.base) for m, window in below.windows.items())),
        "delivered": Vector(tuple((m, window.delivered) for m, window in below.windows.items())),
        "limit": EMPTY_VECTOR if below.limit is None else below.limit,
    }
    windows = {name: CODEC.to_spec(each) for name, each in told.items()}
    return (*map(CODEC.to_spec, layers), Fn({**windows, "held": (*below.store.values(),)}))


def differences(stack: Stack, model: str) -> tuple[set[str], list[str]]:
    """The ways in which the model's members took steps, and where the stack takes another step."""
    ways, different = set(), []
    for walk in walks(model):
        for before, after in pairwise(walk):
            act: Any = after["act"]
            if act["event"]["type"] == "none":
                continue
            member = act["member"]
            ways.add(act["action"])
            local: Any = before["local"]
            state = state_of(member, local[member])
            try:
                done, effects = stack.step(None, state, from_outside(act["event"]))
                outcome = "handled" if effects or done != state else "ignored"
            except ProtocolError as error:
                done, effects, outcome = state, (), REFUSALS[type(error)]
            got = (outcome, as_the_model_has_it(done), CODEC.to_spec(effects))
            layers: Any = after["local"]
            if got != (act["outcome"], layers[member], act["effects"]):
                different.append(f"{act['action']} at {member}: {act['event']!r}")
    return ways, different


@pytest.mark.parametrize("model", ["stack__restart_first", "stack__state"])
def test_the_stack_takes_the_model_s_steps(model: str) -> None:
    ways, different = differences(STACK, model)
    assert [] == different
    assert ways >= WAYS - ({"AskForState", "TakeState"} if model == "stack__restart_first" else set())


@pytest.mark.parametrize("model", ["stack__views_heard_late", "stack__highest_first", "stack__read_when_passed"])
def test_another_order_is_told_apart(model: str) -> None:
    """The models with another order take steps that the stack does not take."""
    assert differences(STACK, model)[1]
