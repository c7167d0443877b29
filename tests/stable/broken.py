"""Cores of STABLE that are broken on purpose, for walks of any kind."""

from attrs import evolve

from groupcomm import stable
from groupcomm.effects import PassDown


def forgets_the_minimum(config: stable.Config, state: stable.State, event: stable.Event) -> stable.Transition:
    """The note's flaw: a timer that fires within a round throws the running minimum away (FLAW-12)."""
    after, effects = stable.step(config, state, event)
    if isinstance(event, stable.StableTimeout):
        after = evolve(after, minimum=after.vote)
    return after, effects


def does_not_purge(config: stable.Config, state: stable.State, event: stable.Event) -> stable.Transition:
    after, effects = stable.step(config, state, event)
    return after, tuple(effect for effect in effects if not isinstance(effect, PassDown))
