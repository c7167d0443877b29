"""The setup of a simulation: a stack, its configuration, faults, and how much the layers beneath give."""

from collections.abc import Mapping
from copy import copy
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from random import Random
from typing import TYPE_CHECKING, Any, Final

import attrs
from attrs import field, frozen

import groupcomm
from groupcomm import nakack, safe, sequencer, state_transfer, unicast
from groupcomm.events import Suspend
from groupcomm.stack import AnyCore, Layer, Stack, StackError
from groupcomm_simulator.judges.claims import CLAIMS, MERGING

from .abstract import reliable_multicast, reliable_unicast
from .abstract.carriage import Carriage
from .taps import Note, Tap

if TYPE_CHECKING:
    from types import ModuleType

FLUSH: Final = "flush"
MULTICAST: Final = "reliable_multicast"
DECIDE: Final = ("merge_gms", "gms")
"""The layers that decide the views."""

WHOLE: Final = ("sequencer", FLUSH, "merge_gms", "stable")
"""All protocols over abstract layers, one stack. Merging over GMS is one layer."""

DATAGRAMS: Final = (*WHOLE, "nakack", "unicast")
"""All protocols, over nothing but a network."""

GROUND: Final = ("Network", "FailureDetector", "SilenceDetector", "Incarnations", "Discovery")
"""The layers beneath the stack, by the modules of `spec/common`."""

FAULTS: Final = (
    "loss",
    "duplication",
    "reordering",
    "partition",
    "crash",
    "join",
    "leave",
    "restart",
    "clock",
    "merge",
    "suspicion",
    "close",
    "late",
)
"""Events that may happen to a group over sound layers.

A merge brings groups together that were founded apart; a suspicion is of a member that is alive.
A close loses messages on their way to a process that is not in the sender's view. A late message was sent to
a former incarnation. A clock that was set back gives a number below that of a former incarnation of the name.
"""

LASTING: Final[Mapping[str, str]] = {
    "one_way": "one member does not hear another",
    "pair_cut": "two members do not hear one another",
    "slow": "two members hear one another in each third round alone, and suspect one another in the others",
}
"""Faults that may last, of the link between two members, over a network."""

IN_THE_END: Final = frozenset({"EventuallyDelivered", "EventuallyHasState", "EventuallyTold"})
"""The claims of the end that a primary owes alone: with `majority`, the members that are left may be none."""

WEAKER: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "multicast": ("ReliableMulticast", ("unordered", "lossy")),
    "unicast": ("ReliableUnicast", ("unordered", "duplicating", "lossy")),
}
"""Of a layer beneath: the guarantee that it gives, and the ways in which it can give less."""

_ABOVE_FLUSH: Final = frozenset({"VirtualSynchrony", "TotalOrderBroadcast"})
"""The guarantees that FLUSH gives, or a layer above it."""

_LARGEST: Final = 8  # of the numbers of a configuration, which a seed draws


@frozen
class Faults:
    """Which of `FAULTS` happen; `rate` is the share of draws that change which members there are.

    `lasting`: a fault of `LASTING`, which a group bears each time before it comes to rest, and for long.
    """

    kinds: frozenset[str] = frozenset(FAULTS)
    rate: float = 0.06
    lasting: str | None = None


@frozen
class Setup:
    """The setup of a run.

    `members` None: each group draws how many, from 2 to 8. `weaker`: of `WEAKER`, one each. `ignored`: claims
    that are not judged. `cores`: cores that stand in the stack for a layer's own. With none, a setup can be
    pickled. `majority`: SEQUENCER has that option. `one_path`: `DeliveredOnOnePath` is judged, which
    it gives. `bundle` None: each group draws how many requests a view grants.
    """

    names: tuple[str, ...] = WHOLE
    members: int | None = None
    faults: Faults = field(factory=Faults)
    weaker: tuple[tuple[str, str], ...] = ()
    ignored: frozenset[str] = frozenset()
    cores: tuple[tuple[str, AnyCore], ...] = ()
    majority: bool = False
    one_path: bool = False
    bundle: int | None = None

    @property
    def stack(self) -> str:
        """The stack by its name."""
        return "/".join(self.names)

    @property
    def guarantees(self) -> tuple[str, ...]:
        """The judged claims: the modules of `spec/common` that the layers give, and merging's own claims.

        `ApplicationView` is the whole stack's, where an application is given the messages of SEQUENCER.
        """
        without = frozenset[str]() if self.majority else {"OneSequence"}
        given = [name for layer in self.names for name in _protocol(layer).GIVES if name in CLAIMS.keys() - without]
        whole = ["ApplicationView"] if self.names[0] == "sequencer" else []
        return (*dict.fromkeys(given), *([MERGING] if "merge_gms" in self.names else []), *whole)

    @property
    def borne(self) -> frozenset[str]:
        """The faults that the stack bears: all, but merges where GMS decides the views without merging.

        STATE_TRANSFER and SAFE number the messages of an address, which is used once. With `majority` there
        is one founder.
        """
        merges = {"merge"} if "gms" in self.names or self.majority else set[str]()
        restarts = {"restart", "late"} if {"state_transfer", "safe"} & {*self.names} else set[str]()
        return frozenset(FAULTS) - merges - restarts

    @property
    def carriages(self) -> dict[str, Carriage]:
        """How the datagrams of each abstract layer beneath travel; of any other they may be lost."""
        weaker = dict(self.weaker).get("unicast")
        unicasts = {
            None: reliable_unicast.CARRIAGE,
            "unordered": Carriage(kept=True, ordered=True, overtakes=True),
            "duplicating": Carriage(kept=True, ordered=True, doubles=True),
            "lossy": Carriage(kept=True, ordered=True, loses=True),
        }
        all_of_them = {MULTICAST: reliable_multicast.CARRIAGE, "reliable_unicast": unicasts[weaker]}
        return {name: all_of_them[name] for name in map(name_of, beneath(self.names))}


def beneath(names: tuple[str, ...]) -> "tuple[ModuleType, ...]":
    """The abstract layers that stand beneath these: each where no protocol gives what it gives."""
    given = {guarantee for name in names for guarantee in _protocol(name).GIVES}
    return tuple(each for each in (reliable_multicast, reliable_unicast) if not given.issuperset(each.GIVES))


def stack_of(setup: Setup, random: Random, notes: list[Note]) -> Stack:
    """Make the stack of a setup, each layer with a configuration that is drawn; its steps go to `notes`.

    Raises StackError for a name that is no protocol's, for a stack that cannot stand, and for a stack that
    cannot be simulated: FLUSH stops the group for a layer that decides the views, and only such stacks run.
    """
    layers, replaced = [], dict(setup.cores)
    # (With a majority SEQUENCER needs that: OwnFirst of VirtualSynchrony.)
    delivers = dict(setup.weaker).get("multicast", "fifo")
    multicast = reliable_multicast.Config(delivers, own_at_once=setup.majority)  # type: ignore[arg-type]
    modules: list[tuple[ModuleType, object]] = [
        *((module, _drawn(module.Config, random, setup)) for module in map(_protocol, setup.names)),
        *((module, multicast if module is reliable_multicast else module.Config()) for module in beneath(setup.names)),
    ]
    for place, (module, config) in enumerate(modules):
        core = replaced.get(name_of(module), module)
        layers.append(Layer.of(Tap(core, place, notes), config, declared_by=module))
    stack = Stack(tuple(layers), GROUND)
    flush, deciding = _places(setup.names, (FLUSH,)), _places(setup.names, DECIDE)
    if len(deciding) != 1:
        raise StackError(
            f"{setup.stack} has {len(deciding)} layers that decide the views; one of {', '.join(DECIDE)} does"
        )
    if not any(layer.kind_of(Suspend) for layer in layers) or flush[0] + 1 != deciding[0]:
        raise StackError(f"{setup.names[deciding[0]]} has the group stopped for each view: flush stands right above it")
    for above, name in enumerate(setup.names):
        stands_on = _ABOVE_FLUSH.intersection(_protocol(name).ASSUMES)
        if stands_on and above > flush[0]:
            raise StackError(f"{name} stands on {', '.join(stands_on)}: it stands above flush")
        if above < flush[0] and not stands_on:
            raise StackError(f"{name} does not need VirtualSynchrony: it stands below {setup.names[deciding[0]]}")
    return stack


def giver(names: tuple[str, ...], guarantee: str) -> str:
    """The layer that gives a guarantee to those above it, of a stack of these or beneath them."""
    modules = (*map(_protocol, names), *beneath(names))
    return next(name_of(module) for module in modules if guarantee in module.GIVES)


def name_of(module: "ModuleType") -> str:
    """Give the name of a layer: that of its module."""
    return module.__name__.rpartition(".")[2]


def _places(names: tuple[str, ...], wanted: tuple[str, ...]) -> list[int]:
    return [place for place, name in enumerate(names) if name in wanted]


def _protocol(name: str) -> Any:  # noqa: ANN401 - a module
    if not name.isidentifier():
        raise StackError(f"{name!r} is no protocol; a stack is names with / between, as {'/'.join(WHOLE)}")
    try:
        module = import_module(f"groupcomm.{name}")
    except ModuleNotFoundError:
        raise StackError(f"no protocol is called {name!r}; there is {', '.join(_protocols())}") from None
    if not hasattr(module, "ASSUMES"):
        raise StackError(f"groupcomm.{name} is no protocol: it does not say what it assumes")
    if lacking := sorted({*module.ASSUMES} - _given()):
        raise StackError(f"{name} assumes {', '.join(lacking)}, which nothing that is simulated gives")
    return module


def _protocols() -> list[str]:
    """List the protocols that can be simulated: the ground or a layer gives what each assumes."""
    given = _given()
    return [name for name, module in _assuming().items() if given.issuperset(module.ASSUMES)]


@cache
def _given() -> frozenset[str]:
    """All that the ground gives, or some layer, up or down."""
    modules = [*_assuming().values(), reliable_multicast, reliable_unicast]
    return frozenset(GROUND).union(*([*each.GIVES, *getattr(each, "GIVES_BELOW", ())] for each in modules))


@cache
def _assuming() -> "dict[str, Any]":
    """The modules of `groupcomm` that say what they assume of the layers below, by name."""
    names = sorted(each.name for each in iter_modules(groupcomm.__path__))
    modules = {name: import_module(f"groupcomm.{name}") for name in names}
    return {name: module for name, module in modules.items() if hasattr(module, "ASSUMES")}


def _drawn(config: type, random: Random, setup: Setup) -> object:
    """Draw a configuration. Its numbers are small: no time passes in a simulation, and messages are small."""
    if config in (sequencer.Config, safe.Config):
        return config(majority=setup.majority)
    # Nothing is sent again where none may be or none is asked for, and no state comes in no parts.
    least = 1 if config in (unicast.Config, nakack.Config, state_transfer.Config) else 0
    bundle = setup.bundle or copy(random).randint(1, _LARGEST)  # as a copy: seeds are kept, and draw what they did
    drawn = {
        each.name: bundle if each.name == "max_bundle" else random.randint(least, _LARGEST)
        for each in attrs.fields(config)
        if each.name != "full_at"
    }
    return config(**drawn, **({"full_at": drawn["max_held"]} if config is state_transfer.Config else {}))
