"""Malformed messages: what a peer may send that errs, given to stacks in the states of simulated runs.

A simulated group runs as always. Each message that arrives is also given, distorted in several ways, to the
stack in the state that it finds there, and what comes of that is dropped. A layer may take or ignore it, or
refuse it as a peer's mistake (RemoteProtocolError). Anything else is a finding.
"""

import sys
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from time import process_time
from typing import Any, Final

from attrs import define, evolve, field

from groupcomm.errors import RemoteProtocolError
from groupcomm.stack import Arrived, Stack, State, Tagged
from groupcomm_conformance.models.manifest import cores, find_root, load
from groupcomm_conformance.protocols import derive
from groupcomm_conformance.protocols.derive import Protocol
from groupcomm_simulator.running import simulate
from groupcomm_simulator.setup import MULTICAST, Setup
from groupcomm_simulator.taps import Tap

from .drawn import NAMES, distorted

_SIMULATED: Final = 3_000
"""Simulated events in a run, from which states are taken."""


@define
class Came:
    """The results of distorted messages, and their layers; `findings`: what was raised, where, how often."""

    messages: int = 0
    outcomes: Counter[str] = field(factory=Counter)
    layers: Counter[str] = field(factory=Counter)
    findings: Counter[str] = field(factory=Counter)
    examples: dict[str, str] = field(factory=dict)


def send(setup: Setup, protocols: dict[str, Protocol], number: int, seed: int, *, each: int = 4) -> Came:
    """Give at least `number` distorted messages to simulated stacks, `each` for every arriving message."""
    came = Came()
    while came.messages < number:
        random = Random(seed)  # noqa: S311 - repeatable, no secret
        with _with_distorted(came, protocols, random, each):
            simulate(setup, events=_SIMULATED, seed=seed)
        seed += 1
    return came


@contextmanager
def _with_distorted(came: Came, protocols: dict[str, Protocol], random: Random, each: int) -> Iterator[None]:
    """Give distorted messages to a stack before each of its steps."""
    step = Stack.step
    bare: dict[int, Stack] = {}

    def steps(stack: Stack, config: None, state: Any, event: Any) -> Any:  # noqa: ANN401 - of any stack
        if isinstance(event, Arrived) and event.message.layer:
            if id(stack) not in bare:
                bare[id(stack)] = _bare(stack)
            for _ in range(each):
                made = _distorted(stack, state, event, protocols, random)
                if made is not None:
                    _try(bare[id(stack)], step, state, *made, came)
        return step(stack, config, state, event)

    setattr(Stack, "step", steps)  # noqa: B010 - a method of a frozen class
    try:
        yield
    finally:
        setattr(Stack, "step", step)  # noqa: B010


def _bare(stack: Stack) -> Stack:
    """The same cores without the taps between them: no judge hears of a message that no member sent."""
    layers = (evolve(layer, core=layer.core.core) if isinstance(layer.core, Tap) else layer for layer in stack.layers)
    return Stack(tuple(layers), stack.ground)


def _distorted(
    stack: Stack, state: State, event: Arrived, protocols: dict[str, Protocol], random: Random
) -> tuple[str, Arrived] | None:
    """A layer's message is distorted, and mostly that which another carries; or its sender is another one.

    Gives the layer's name as well; None where the message is one of the layers that stand for those below.
    """
    names = [layer.name for layer in stack.layers]
    layer = ""

    def of(tagged: Tagged) -> Tagged:
        nonlocal layer
        message: Any = tagged.message
        inner: Any = getattr(message, "payload", None)
        carries = isinstance(inner, Tagged) and inner.layer in names
        if carries and (tagged.layer not in protocols or random.random() < 0.5):  # noqa: PLR2004 - a coin
            return evolve(tagged, message=evolve(message, payload=of(inner)))
        if tagged.layer not in protocols:
            return tagged
        layer = tagged.layer
        own = state.layers[names.index(layer)]
        changed = distorted(protocols[layer], own, message, random)
        if isinstance(inner, Tagged):
            changed = evolve(changed, payload=inner)
        return evolve(tagged, message=changed)

    message = of(event.message)
    if not layer:
        return None
    sender = event.sender
    if event.message.layer != MULTICAST:  # its windows are of members alone: what they deliver has a sender
        sender = random.choice((sender, sender, state.member, random.choice(NAMES)))
    return layer, evolve(event, sender=sender, message=message)


def _try(stack: Stack, step: Any, state: Any, layer: str, event: Arrived, came: Came) -> None:  # noqa: ANN401, PLR0917
    came.messages += 1
    came.layers[layer] += 1
    try:
        after, effects = step(stack, None, state, event)
        came.outcomes["ignored" if after == state and not effects else "handled"] += 1
    except RemoteProtocolError:
        came.outcomes["remote_error"] += 1
    except Exception as error:  # noqa: BLE001 - that is what is looked for
        came.outcomes[type(error).__name__] += 1
        place = traceback.extract_tb(error.__traceback__)[-1]
        reason = getattr(error, "reason", str(error))
        text = f"{type(error).__name__} {Path(place.filename).name}:{place.lineno} {reason}"
        came.findings[text] += 1
        came.examples.setdefault(text, f"{event}")


def main(number: int, seed: int) -> int:
    """Send to the whole stack, and say what came of it; 1 if there is a finding."""
    root = find_root()
    known = {name: derive.load(load(root, name)) for name in cores(root)}
    began = process_time()
    came = send(Setup(), known, number, seed)
    told = ", ".join(f"{count:,} {outcome}" for outcome, count in came.outcomes.most_common())
    sys.stdout.write(
        f"malformed messages, from seed {seed}: {'FAILS' if came.findings else 'ok'}: {came.messages:,}: "
        f"{told} ({process_time() - began:.0f} s of CPU time)\n"
    )
    for finding, count in came.findings.most_common():
        sys.stdout.write(f"FAILS {finding}, {count:,} times, such as {came.examples[finding]}\n")
    return 1 if came.findings else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
