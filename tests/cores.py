"""Helpers of tests of cores: a protocol by its name, a core that is broken on purpose, walks that detect it."""

import random
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from groupcomm.errors import ProtocolError
from groupcomm_conformance.models import checking
from groupcomm_conformance.models import manifest as manifests
from groupcomm_conformance.models.manifest import Model
from groupcomm_conformance.protocols import derive
from groupcomm_conformance.protocols.derive import AnyCore
from groupcomm_conformance.steps import closing, conform
from groupcomm_conformance.steps.table import Tables
from groupcomm_conformance.tla.values import Fn
from groupcomm_conformance.walks import graph as graphs
from groupcomm_conformance.walks.follow import Divergence, Follower, follow, replay
from groupcomm_conformance.walks.graph import Graph
from groupcomm_conformance.walks.machine import steer

ROOT = manifests.find_root(Path(__file__).parent)
CACHE = ROOT / ".cache" / "groupcomm"
NAMES = manifests.cores(ROOT)
ALL = {name: manifests.load(ROOT, name) for name in manifests.protocols(ROOT)}
"""The manifests of all protocols, also of those of notes alone. To read one takes as long as many a test."""
MANIFESTS = {name: ALL[name] for name in NAMES}
PROTOCOLS = {name: derive.load(manifest) for name, manifest in MANIFESTS.items()}
LAYERS = tuple(name for name in NAMES if PROTOCOLS[name].is_layer)
"""Not `Stack`, whose events are those of its layers: ports are of layers."""


def core_of(name: str, step: Callable[..., Any]) -> AnyCore:
    """The protocol's core, but for this `step`."""
    return SimpleNamespace(start=PROTOCOLS[name].core.start, step=step)


def conformance(name: str, model: Model, core: AnyCore | None = None) -> conform.Conformance:
    manifest = MANIFESTS[name]
    checked = checking.run_model(manifest, model, cache=checking.Cache.of(ROOT))
    return conform.conform(manifest, model, checked, PROTOCOLS[name], tables=Tables.of(ROOT), core=core)


def closed_conformance(name: str, model: Model, core: AnyCore | None = None) -> conform.Conformance:
    """The same for the states that the rows leave."""
    manifest, tables = MANIFESTS[name], Tables.of(ROOT)
    checked = checking.run_model(manifest, model, cache=checking.Cache.of(ROOT))
    assert checked.harvest is not None
    table, _ = conform.table_of(manifest, model, checked.harvest, tables)
    made = closing.closed(manifest, model, table, checked.harvest, tables)
    return conform.conform(manifest, model, checked, PROTOCOLS[name], core=core, made=made, closed=True)


@cache
def graph_of(name: str, model: str) -> Graph:
    manifest = MANIFESTS[name]
    return graphs.load(manifest, manifest.model(model), CACHE)


def follower(name: str, model: Model, core: AnyCore | None = None) -> Follower:
    return Follower(PROTOCOLS[name], derive.constants_of(MANIFESTS[name].cfg(model)), core)


@cache
def simulated(name: str, model: Model) -> tuple[tuple[Fn, ...], ...]:
    """Random walks of a model that is too large for a graph."""
    manifest = MANIFESTS[name]
    return graphs.simulate(manifest, manifest.cfg(model), CACHE, traces=8, depth=40, seed=2009)


def divergences(name: str, core: AnyCore) -> Iterator[Divergence]:
    """On walks along the graphs, each action as likely as any other, and then on random walks."""
    chance = random.Random(2009)  # noqa: S311 - repeatable, no secret
    manifest = MANIFESTS[name]
    for model in [model for model in manifest.models if model.walk] * 100:
        graph = graph_of(name, model.name)
        found = follow(follower(name, model, core), graph, steer(graph, chance, 60))
        if found is not None:
            yield found
    for model in manifest.models:
        if model.conform:
            of = follower(name, model, core)
            yield from (found for states in simulated(name, model) if (found := replay(of, states)))


def is_refused(
    step: Callable[[Any, Any], Any],
    state: Any,  # noqa: ANN401 - of the protocol
    event: object,
    error: type[ProtocolError],
    reason: str,
) -> None:
    """A refusal names the member, its state and the event, and says why."""
    with pytest.raises(error) as raised:
        step(state, event)
    refusal = raised.value
    assert (state.member, state, event, reason) == (refusal.member, refusal.state, refusal.event, refusal.reason)
    assert str(refusal).startswith(f"{state.member}: {reason}\n  event: {type(event).__name__}(")
