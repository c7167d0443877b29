"""Progress that a person sees during runs, where there is no terminal to draw bars on, and the estimate of the rest."""

import itertools
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import pytest

from groupcomm_commands import console
from groupcomm_commands.console import Watch
from groupcomm_commands.progress import Estimate, duration
from groupcomm_conformance.models.manifest import Counts, Manifest, Model, load, protocols
from groupcomm_conformance.tlc.output import Progress

ROOT: Final = Path(__file__).parents[1]


@pytest.fixture
def toy() -> Manifest:
    """The toy protocol: `pair` has 25 states and 170 transitions, `lossy` 75 and 520; `hasty` is an ablation."""
    return load(Path(__file__).parent / "data", "toy")


def counts(distinct: int) -> Progress:
    return Progress(0, distinct, queue=20, depth=7, rate=300, elapsed=0.0)


def test_a_long_run_says_every_30_seconds_how_far_it_is(
    toy: Manifest, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = itertools.count(step=10.0)
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    model = toy.model("pair")
    with Watch([(toy, model)]) as watch:
        watch.started(model, "search")
        for distinct in range(1, 8):
            watch.progress(model, "search", counts(distinct))
        watch.ended(model, "search")
    assert capsys.readouterr().err.splitlines() == [
        "  pair: 3 of 25 states, 20 on queue, 300 per minute",
        "  pair: 6 of 25 states, 20 on queue, 300 per minute",
    ]


def test_several_models_have_a_total_and_what_runs_at_the_moment(
    toy: Manifest, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = itertools.count(step=40.0)
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    models = [toy.model("pair"), toy.model("lossy")]
    with Watch([(toy, model) for model in models]) as watch:
        for model in models:
            watch.started(model, "search")
        watch.progress(models[0], "search", counts(5))
        watch.progress(models[1], "search", counts(15))
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("  0 of 2 models; pair: 5 of 25 states") or "left; pair: 5 of 25" in first
    assert "; lossy: 15 of 75 states, 20 on queue" in second


class Clock:
    """A clock that is set by hand, in seconds."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def sized(toy: Manifest, name: str, transitions: int) -> Model:
    """A model of the toy with another size."""
    model = toy.model(name)
    object.__setattr__(model, "counts", Counts(100, transitions, 5))
    return model


def test_the_time_left_follows_from_the_recorded_sizes(toy: Manifest) -> None:
    """Starting TLC counts as 20,000 transitions: 100,000 and 300,000 here."""
    clock = Clock()
    small, large = sized(toy, "pair", 80_000), sized(toy, "lossy", 280_000)
    estimate = Estimate([(toy, small), (toy, large)], clock)
    assert (None, "0 of 2 models") == (estimate.seconds_left(), estimate.text())
    clock.now = 10.0
    estimate.progressed(small, "search", 50)  # half of 100,000 in 10 seconds
    assert 70.0 == estimate.seconds_left()
    estimate.ended(small, cached=False)
    assert 30.0 == estimate.seconds_left()
    assert "1 of 2 models, about 30 s left" == estimate.text()
    estimate.ended(large, cached=False)
    assert "2 of 2 models" == estimate.text()


def test_what_the_cache_has_is_no_measure_of_the_pace(toy: Manifest) -> None:
    clock = Clock()
    small, large = sized(toy, "pair", 80_000), sized(toy, "lossy", 280_000)
    estimate = Estimate([(toy, small), (toy, large)], clock)
    clock.now = 10.0
    estimate.ended(small, cached=True)
    assert (None, "1 of 2 models") == (estimate.seconds_left(), estimate.text())


def test_an_ablation_is_searched_twice_and_as_large_as_its_control(toy: Manifest) -> None:
    clock = Clock()
    sized(toy, "pair", 80_000)
    hasty = toy.model("hasty")
    assert "pair" == hasty.control
    estimate = Estimate([(toy, hasty)], clock)
    clock.now = 10.0
    estimate.progressed(hasty, "search", 1_000)  # never more than all of it
    assert 10.0 == estimate.seconds_left()


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.2, "1 s"), (59.4, "59 s"), (90, "2 min"), (3_540, "59 min"), (4_800, "1 h 20 min")]
)
def test_a_duration_is_written_for_people(seconds: float, text: str) -> None:
    assert text == duration(seconds)


def test_there_are_letters_for_any_number_of_claims() -> None:
    """SEQUENCER has more than twice the alphabet."""
    letters = console._letters(80)  # noqa: SLF001
    assert (80, 80) == (len(letters), len(set(letters)))
    assert ["a", "z", "aa", "az", "ba"] == [letters[place] for place in (0, 25, 26, 51, 52)]


def left_of(heads: str) -> int:
    """The first column of a matrix, by the line of its heads."""
    return heads.index(heads.split()[1])


@pytest.mark.parametrize("width", [60, 120])
@pytest.mark.parametrize("protocol", protocols(ROOT))
def test_the_kill_matrix_can_be_read_however_many_claims_there_are(protocol: str, width: int) -> None:
    manifest = load(ROOT, protocol)
    ablations = {model.name: model for model in manifest.models if not model.holds and model.tier != "deep"}
    results: Any = {
        name: SimpleNamespace(falls={*model.violated}, judged=manifest.cfg(model).claims)
        for name, model in ablations.items()
    }
    lines = console.kill_table(manifest, results, width)
    end = next(number for number, line in enumerate(lines) if line.startswith("x violated"))
    assert width >= max(map(len, lines[:end])), "the matrix; a name in the legend is as long as it is"
    meaning = dict(map(str.split, lines[end + 1 :]))
    read: dict[str, set[str]] = {name: set() for name in ablations}
    upper = lower = ""
    for above, line in itertools.pairwise(lines[:end]):
        row = line.split()[0]
        if row == "ablation":
            upper, lower = above if above.startswith(" ") else "", line
            continue
        name = meaning.get(row, row)
        for column, cell in enumerate(line):
            if cell == "x" and column >= left_of(lower) and name in ablations:
                read[name].add(meaning[f"{upper.ljust(len(lower))[column]}{lower[column]}".strip()])
    for name, model in ablations.items():
        assert {claim for claim in model.violated if "/" not in claim} == read[name], name
