"""SEQUENCER: implementation state and TLA+ variables of `SequencerGroup`.

What is around the members, for walks and for scenarios, is in `sequencer_surroundings`.
"""

from collections.abc import Mapping
from types import ModuleType
from typing import Final

from groupcomm import effects, sequencer
from groupcomm_conformance.simulation import Followed
from groupcomm_conformance.tla.values import Fn, Value

from . import Cluster, Codec, MappingError, Protocol
from .sequencer_surroundings import SequencerSurroundings, story

EVENTS: Final = (
    sequencer.SendRequested,
    sequencer.UnicastRequested,
    sequencer.PlainReceived,
    sequencer.ForwardReceived,
    sequencer.DataReceived,
    sequencer.ViewInstalled,
)

CODEC: Final = Codec(
    tags={
        **{event: event.__name__ for event in EVENTS},
        sequencer.Forward: "FORWARD",
        sequencer.Data: "DATA",
        sequencer.Plain: "PLAIN",
        sequencer.Deliver: "Deliver",
        effects.Send: "Send",
        effects.Multicast: "Multicast",
        effects.PassUp: "PassUp",
    },
)

GUARDS: Final[Mapping[str, Value]] = {
    "ResendOn": "every_view",
    "ResendOrder": "rising",
    "ResendBeforeNew": True,
    "OwnInTable": True,
    "RemoveOn": "data",
    "Dedup": "highest",
    "KeepDeparted": False,
    "EpochInTag": True,
    "EarlyForward": "held",
    "LateForward": "dropped",
    "SenderFrom": "header",
    "DataOfOtherViews": False,
}
"""What the implementation is, in the specification's constants: the repaired algorithm."""


def config(constants: Mapping[str, Value]) -> sequencer.Config:
    """The configuration of a model's members. MappingError where a guard of the model is another."""
    for name, value in GUARDS.items():
        if constants[name] != value:
            message = f"the implementation has {name} {value!r}, not {constants[name]!r}"
            raise MappingError(message)
    return sequencer.Config()


def cluster(core: ModuleType, constants: Mapping[str, Value], initial: Fn) -> Cluster:
    """A simulated group, to follow walks of the specification."""
    return Followed(PROTOCOL, core, constants, initial)


PROTOCOL = Protocol(
    name="sequencer",
    core=sequencer,
    codec=CODEC,
    state=sequencer.State,
    events=sequencer.Event,
    config=config,
    cluster=cluster,
    observables=("view", "epoch", "seqno", "forward_table", "received_table", "early"),
    surroundings=SequencerSurroundings,
    story=story,
)
