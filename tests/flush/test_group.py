"""flush: groups of up to eight members under random schedules, to the end; and what breaks them is noticed."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from attrs import evolve

from groupcomm import flush
from groupcomm.effects import Send
from tests.flush.group import Group, Violation


def play(seed: int, step: Callable[..., Any] = flush.step, *, most: int = 20_000) -> Group:
    """A schedule with anything at any moment; then nothing more, until all is still."""
    size = 2 + seed % 5
    group = Group(seed, "ABCDEF"[:size], "XY"[: seed // 5 % 3], step)
    dice = group.dice
    crashes, leaves, states = dice.randint(0, size - 1), dice.randint(0, 2), dice.randint(0, 4)
    for _ in range(250):
        roll = dice.random()
        names = sorted(group.up)
        if not names:
            break
        if roll < 0.12:
            group.cast(dice.choice(names))
        elif roll < 0.14 and crashes:
            crashes -= 1
            group.crash(dice.choice(names))
        elif roll < 0.16 and leaves:
            leaves -= 1
            group.leave(dice.choice(names))
        elif roll < 0.2 and states:
            states -= 1
            group.want_state(dice.choice(names))
        elif roll < 0.205:
            group.give_up(dice.choice(names))
        else:
            group.step()
    for _ in range(most):
        if not group.step():
            break
    else:
        raise Violation("the group does not come to rest")
    group.check_paths()
    group.check_rest()
    return group


@pytest.mark.parametrize("seeds", [range(100), range(100, 200), (259, 450, 997, 1008, 1889)], ids=len)
def test_virtual_synchrony_and_an_end_under_any_schedule(seeds: Sequence[int]) -> None:
    """FST-02, FST-03, FVI-08, FVI-09, FCR-03, FCR-06, FVB-15: larger groups than the models', more of everything."""
    views = states = 0
    for seed in seeds:
        group = play(seed)
        views += max(len(process.path) for process in group.processes.values())
        states += group.taken
    assert views > 2 * len(seeds)
    assert states > len(seeds) // 10


def broken(change: Callable[[flush.State, flush.State, tuple[Any, ...]], tuple[flush.State, Any]]) -> Any:  # noqa: ANN401
    def step(config: flush.Config, state: flush.State, event: flush.Event) -> Any:  # noqa: ANN401
        return change(state, *flush.step(config, state, event))

    return step


def unlatched(_: flush.State, after: flush.State, effects: tuple[Any, ...]) -> tuple[flush.State, Any]:
    return evolve(after, latched=False), effects


def never_reconciling(
    _: flush.State, after: flush.State, effects: tuple[Any, ...]
) -> tuple[flush.State, Any]:
    kept = tuple(e for e in effects if not (isinstance(e, Send) and isinstance(e.message, flush.Reconcile)))
    return after, kept


def forgetting(_: flush.State, after: flush.State, effects: tuple[Any, ...]) -> tuple[flush.State, Any]:
    return evolve(after, later=flush.Rounds(())), effects


@pytest.mark.parametrize("change", [unlatched, never_reconciling, forgetting])
def test_a_broken_core_is_noticed(change: Callable[..., Any]) -> None:
    step = broken(change)

    def some_schedules() -> None:
        for seed in range(200):
            play(seed, step)

    with pytest.raises(Violation):
        some_schedules()
