"""The facts of a protocol that the checks need, derived from its module and specification, not written.

From the implementation, `impl/<protocol>.py` of the project or else the module `groupcomm.<protocol>`, with
its annotations `Config`, `Message`, `Event`, `Effect` and `State`: the names of all classes in TLA+, the
fields that can be looked at, which event a message or a timer becomes. From the specification: which
constants make a member (`constants`). One spelling serves both sides:

==================================  ==================================================================
implementation                      specification
==================================  ==================================================================
class of an event or effect         the same name as its `type`
class `JoinReq` of a message        ``JOIN_REQ`` as its `type`
field `max_bytes` of `Config`       the constant `MaxBytes`
message `JoinReq`                   arrives as the event `JoinReqReceived`
timer "stability"                   fires as the event `StabilityTimeout`
==================================  ==================================================================

Every other constant of a member is a guard of its algorithm. The implementation is the reference: it cannot
conform to a model that has another value in a guard.

A module that makes cores and is none itself (`groupcomm.stack`) is compared by a core that
`tests/toys/<protocol>.py` of the project makes with it (`made`). That says besides: `Inside`, the classes
with a `type` that are inside its events and effects; `ROOTS`, what of the module is changed in mutants. Its
messages are inside of an event, too, and have none of their own: what arrives is their envelope. `TEXTS` has
the texts that stand under the names of some fields (timers, layers). Operators that its specification is
given (`StepOf <- ToyStep`) are guards, by their names.
"""

import re
import sys
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, Final, TypeAlias, cast

import attrs
from attrs import field, frozen

from groupcomm.core import Core
from groupcomm.shapes import Choice, Record, Shape, UnknownAnnotationError, classes_in, shape_of
from groupcomm_conformance.models.manifest import Manifest
from groupcomm_conformance.models.modules import read_modules
from groupcomm_conformance.tla.cfg import Cfg
from groupcomm_conformance.tla.values import Fn, Value, identical, parse, show

from .codec import Codec, MappingError
from .constants import Member, module_of
from .constants import member as member_of

__all__ = ["AnyCore", "MappingError", "Protocol", "constants_of", "load"]

AnyCore: TypeAlias = Core[Any, Any, Any, Any]
"""A core of which nothing is known but that it is one."""

_INSIDE: Final = "Inside"
_PARTS = ("Config", "Message", "Event", "Effect", "State")


@frozen
class Protocol:
    """The facts of a protocol that the checks need.

    `module`: the implementation. `source`: the module that it is made with, mostly the same. `configuration`,
    `state`, `events`, `effects`: its annotations. `parameters`: the constant that each field of the
    configuration comes from. `guards`: the values of the member's other constants in the reference.
    `operators`: the operators that its steps consist of or are taken through. `messages`: the classes by
    their names in TLA+. `received`: the event class of each message class. `timeouts`: the event class of
    each timer, by the timer's name. `texts`: what may stand in fields of these names that are no addresses.
    """

    name: str
    module: ModuleType
    source: ModuleType
    codec: Codec
    configuration: type
    state: type
    events: Any
    effects: Any
    parameters: Mapping[str, str] = field(hash=False)
    guards: Mapping[str, Value] = field(hash=False)
    operators: frozenset[str]
    messages: Mapping[str, type] = field(hash=False)
    received: Mapping[type, type] = field(hash=False)
    timeouts: Mapping[str, type] = field(hash=False)
    texts: Mapping[str, tuple[str, ...]] = field(hash=False)

    @property
    def core(self) -> AnyCore:
        """The implementation, as what it does."""
        return cast("AnyCore", self.module)

    @property
    def is_layer(self) -> bool:
        """True for a core by itself: `Stack` is made of cores, and its events are theirs."""
        return self.module is self.source

    def config(self, constants: Mapping[str, Value]) -> Any:  # noqa: ANN401 - of the protocol
        """Give the configuration of a model's members.

        `constants` is the result of `constants_of`. Raises MappingError in three cases: a guard of the model
        is not the reference's, a constant is not given by a value, or the model replaces an operator that the
        member's steps consist of or are taken through.
        """
        for name in sorted(self.operators & constants.keys()):
            raise MappingError(f"the model has another {name}, so that its members take other steps than {self.name}'s")
        for name, value in self.guards.items():
            if name not in constants:
                raise MappingError(f"the model gives no value for {name}, a guard of {self.name}")
            if not identical(constants[name], value):
                raise MappingError(f"the implementation has {name} = {show(value)}, not {show(constants[name])}")
        values: dict[str, Any] = {}
        shape = shape_of(self.configuration)
        assert isinstance(shape, Record)  # noqa: S101 - `load` has seen to it
        for name, constant in self.parameters.items():
            if constant not in constants:
                raise MappingError(f"the model gives no value for {constant}, which Config.{name} comes from")
            try:
                values[name] = self.codec.decode(constants[constant], shape.fields[name])
            except MappingError as error:
                raise MappingError(f"{constant}, which Config.{name} comes from: {error}") from None
        return self.configuration(**values)


def constants_of(cfg: Cfg) -> dict[str, Value]:
    """Give what a cfg says of constants: values, and of each operator that replaces another its name.

    `Views <- JoinViews` is ``[operator |-> "JoinViews"]``, which is no value that a guard can have.
    """
    return {
        name: parse(side.removeprefix("= ")) if side.startswith("= ") else Fn({"operator": side.removeprefix("<- ")})
        for name, side in cfg.constants.items()
    }


def load(manifest: Manifest) -> Protocol:
    """Derive what the checks know of a protocol.

    MappingError where it has no implementation, or where implementation and specification do not fit.
    """
    name = manifest.protocol
    module, source = _implementation(manifest)
    tags = dict(_tags(module))
    configuration, state = _record(module, "Config"), _record(module, "State")
    events = {cls.__name__: cls for cls in _classes(module, "Event")}
    messages = {_shouted(cls.__name__): cls for cls in _classes(module, "Message")}
    if "member" not in {attribute.name for attribute in attrs.fields(state)}:
        raise MappingError(f"{module.__name__}.State has no field member")
    parameters, guards, of_a_member = _constants(manifest, configuration, takes_operators=hasattr(module, _INSIDE))
    return Protocol(
        name=name,
        module=module,
        source=source,
        codec=Codec(tags),
        configuration=configuration,
        state=state,
        events=module.Event,
        effects=module.Effect,
        parameters=parameters,
        guards=guards,
        operators=of_a_member.operators,
        messages=messages,
        received={
            cls: _event(module, events, f"{cls.__name__}Received", f"the message {cls.__name__} arrives as")
            for cls in messages.values()
        }
        if not hasattr(module, _INSIDE)
        else _enveloped(module),
        timeouts={
            _snake(event.removesuffix("Timeout")): cls for event, cls in events.items() if event.endswith("Timeout")
        },
        texts=getattr(module, "TEXTS", {}),
    )


# The implementation


def _implementation(manifest: Manifest) -> tuple[ModuleType, ModuleType]:
    """The module that is a core, and the module that it is made with."""
    name, root = manifest.protocol, manifest.folder.parents[1]
    own = root / "impl" / f"{name}.py"
    if own.is_file():
        module = _whole(_imported(own, own.parent, name))
        return module, module
    whole = f"groupcomm.{name}"
    try:
        module = import_module(whole)
    except ModuleNotFoundError as error:
        if error.name != whole:
            raise
        raise MappingError(
            f"protocol {name} has no implementation: write impl/groupcomm/{name}.py (CONTRIBUTING, Adding a "
            f"protocol), or impl/{name}.py in a project of your own"
        ) from None
    source = module
    toys = root / "tests" / "toys" / f"{name}.py"
    if not hasattr(module, "step") and toys.is_file():
        module = _imported(toys, root, f"tests.toys.{name}")
    return _whole(module), source


def _imported(file: Path, folder: Path, name: str) -> ModuleType:
    """Import a module of the project, by its name in a folder; MappingError where another has that name."""
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    module = import_module(name)
    if module.__file__ is None or not file.samefile(module.__file__):
        raise MappingError(f"{file}: another module is called {name}: {module.__file__}; rename the protocol")
    return module


def _whole(module: ModuleType) -> ModuleType:
    """Give a module that is a core; MappingError names the part that another has not."""
    for part in (*_PARTS, "start", "step"):
        if not hasattr(module, part):
            raise MappingError(f"{module.__name__} has no {part}: see CONTRIBUTING, Adding a protocol")
    return module


def _shape(module: ModuleType, part: str) -> Shape:
    try:
        shape = shape_of(getattr(module, part))
        classes_in(shape)
    except UnknownAnnotationError as error:
        raise MappingError(f"{module.__name__}.{part} has {error}") from None
    return shape


def _record(module: ModuleType, part: str) -> type:
    shape = _shape(module, part)
    if isinstance(shape, Record):
        return shape.cls
    raise MappingError(f"{module.__name__}.{part} must be an attrs class")


def _options(module: ModuleType, part: str) -> Iterator[Record]:
    """The classes that `part`, a class or a union of classes, is made of."""
    shape = _shape(module, part)
    for option in shape.options if isinstance(shape, Choice) else (shape,):
        if not isinstance(option, Record):
            raise MappingError(f"{module.__name__}.{part} must be an attrs class or a union of such")
        yield option


def _classes(module: ModuleType, part: str) -> Iterator[type]:
    return (option.cls for option in _options(module, part))


def _tags(module: ModuleType) -> Iterator[tuple[type, str]]:
    """The `type` of each class that has one: two classes never share one, nor has a class two."""
    found: dict[type, str] = {}
    for cls in _classes(module, "Event"):
        found[cls] = cls.__name__
    for cls in _classes(module, "Message"):
        found[cls] = _shouted(cls.__name__)
    for option in _options(module, "Effect"):
        found[option.cls] = option.cls.__name__
        for _, argument in option.arguments:  # PassDown[Purge], PassUp[Deliver | Suspect]
            inner = shape_of(argument)
            for each in inner.options if isinstance(inner, Choice) else (inner,):
                if isinstance(each, Record):
                    found.setdefault(each.cls, each.cls.__name__)
    if hasattr(module, _INSIDE):
        found |= {cls: cls.__name__ for cls in _classes(module, _INSIDE)}
    owners: dict[str, type] = {}
    for cls, tag in found.items():
        if owners.setdefault(tag, cls) is not cls:
            raise MappingError(f"{cls} and {owners[tag]} would both have the type {tag} in TLA+")
    yield from found.items()


def _enveloped(module: ModuleType) -> dict[type, type]:
    """The events that have a `message` inside of an envelope, by its class."""
    inner = {option.cls: option.fields.get("message") for option in _options(module, "Event")}
    return {shape.cls: event for event, shape in inner.items() if isinstance(shape, Record)}


def _event(module: ModuleType, events: Mapping[str, type], name: str, what: str) -> type:
    if name not in events:
        raise MappingError(f"{module.__name__}.Event has no {name}, which {what}")
    return events[name]


def _shouted(name: str) -> str:
    """`JoinReq` as `JOIN_REQ`."""
    return _snake(name).upper()


def _snake(name: str) -> str:
    """`JoinReq` as `join_req`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def _pascal(name: str) -> str:
    """`max_bytes` as `MaxBytes`."""
    return "".join(part.capitalize() for part in name.split("_"))


# The specification


def _constants(
    manifest: Manifest, configuration: type, *, takes_operators: bool
) -> tuple[dict[str, str], dict[str, Value], Member]:
    """Where the fields of the configuration come from, and the guards with their values in the reference."""
    module = module_of(manifest.folder, manifest.protocol)
    modules = read_modules(manifest.folders, manifest.module)
    if module is None or module not in modules.texts:
        raise MappingError(
            f"{manifest.module} does not use a module that is called as the protocol is "
            f"({_pascal(manifest.protocol)}.tla): nothing says what a member is"
        )
    own = (name for name, file in modules.files.items() if file.parent == manifest.folder)
    of_a_member = member_of(modules.texts, manifest.module, module, own)
    parameters = {attribute.name: _pascal(attribute.name) for attribute in attrs.fields(configuration)}
    for name, constant in parameters.items():
        if constant not in of_a_member.constants:
            raise MappingError(f"Config.{name} comes from the constant {constant}, which {module}.tla does not have")
    reference = manifest.reference
    guards: dict[str, Value] = {}
    for name in of_a_member.constants:
        if name in parameters.values():
            continue
        side = reference.get(name, "")
        if takes_operators and side.startswith("<- "):
            guards[name] = Fn({"operator": side.removeprefix("<- ")})
            continue
        if not side.startswith("= "):
            raise MappingError(
                f"{name} is a guard of {module}.tla and has no value in the reference"
                f"{f', but {side}' if side else ''}: nothing says what the implementation is"
            )
        guards[name] = parse(side.removeprefix("= "))
    return parameters, guards, of_a_member
