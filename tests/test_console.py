"""What a person is told while runs go on, where there is no terminal to draw bars on."""

import itertools
import time
from pathlib import Path

import pytest

from groupcomm_conformance.commands.console import Watch
from groupcomm_conformance.models import manifest
from groupcomm_conformance.tlc.output import Progress


def test_a_long_run_tells_how_far_it_is_and_not_too_often(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = itertools.count(step=10.0)
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    model = manifest.load(Path(__file__).parents[1], "stable").model("pair")
    with Watch() as watch:
        watch.started(model, "search")
        for distinct in range(1000, 8000, 1000):
            watch.progress(model, "search", Progress(0, distinct, queue=20, depth=7, rate=300, elapsed=0.0))
        watch.ended(model, "search")
    assert capsys.readouterr().err.splitlines() == [
        "  pair: 3,000 states, 20 on queue, 300/min",
        "  pair: 6,000 states, 20 on queue, 300/min",
    ]
