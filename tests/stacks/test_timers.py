"""No timer is set again under traffic: it would never fire. Neither TLC nor a simulation has a clock that would show it."""

from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import Any

from attrs import evolve

from groupcomm import merge_gms, stable
from groupcomm.effects import CancelTimer, SetTimer
from groupcomm.stack import Fired
from groupcomm_simulator.chance import Chance
from groupcomm_simulator.ground import Told
from groupcomm_simulator.judges.membership import Process
from groupcomm_simulator.running import ground_of
from groupcomm_simulator.setup import Faults, Setup

RESTARTS = {("stable", timer) for timer in stable.RESTARTS} | {("merge_gms", timer) for timer in merge_gms.RESTARTS}


def restarted(setup: Setup, seeds: Iterator[int], events: int) -> set[tuple[str, str]]:
    """Which timers of which layers were set where they were set already."""
    found: set[tuple[str, str]] = set()
    for seed in seeds:
        ground, random, members = ground_of(setup, seed)
        layers: Mapping[int, str] = {place: name for name, place in ground.place.items()}
        running: set[tuple[Process, str, str]] = set()

        def hear(
            told: Told, layers: Mapping[int, str] = layers, running: set[tuple[Process, str, str]] = running
        ) -> None:
            if isinstance(told.event, Fired):
                layer, _, timer = told.event.timer.partition("/")
                running.discard((told.process, layer, timer))
            for note in told.notes:
                for effect in note.effects:
                    if not isinstance(effect, SetTimer | CancelTimer):
                        continue
                    each = told.process, layers[note.place], effect.name
                    if isinstance(effect, CancelTimer):
                        running.discard(each)
                    elif each in running:
                        found.add(each[1:])
                    else:
                        running.add(each)

        ground.listener = hear
        chance = Chance(ground, members, Faults(), random)
        for event in chance.first():
            ground.perform(event)
        while ground.events < events:
            drawn = chance.draw()
            if drawn is not None:
                ground.perform(drawn)
    return found


def test_a_timer_is_set_again_only_where_its_core_says_so() -> None:
    """And what a core says is so: each of them is."""
    assert restarted(Setup(), iter(range(1, 7)), 2_000) == RESTARTS


def test_a_timer_that_is_set_at_each_message_is_found() -> None:
    def eager(config: Any, state: Any, event: Any) -> Any:  # noqa: ANN401
        after, effects = stable.step(config, state, event)
        voted = isinstance(event, stable.StableReceived)
        return after, (*effects, SetTimer("stability", 5, 5)) if voted else effects

    core = SimpleNamespace(start=stable.start, step=eager)
    found = restarted(evolve(Setup(), cores=(("stable", core),)), iter(range(1, 3)), 1_000)
    assert ("stable", "stability") in found - RESTARTS
