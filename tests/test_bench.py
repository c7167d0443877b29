"""bench: the page that it writes, and the walks that it measures."""

from pathlib import Path

from bench.measure import Figure, page, prepared, replayed

from groupcomm_conformance.models.manifest import find_root, load
from groupcomm_conformance.walks.graph import load as load_graph
from groupcomm_conformance.walks.quotient import quotient
from tests.cores import follower

ROOT = find_root(Path(__file__).parent)

PAGE = """# Performance

Written by `make bench`; what is below the table is not.

- a machine

| what | measured | ratio | aim | met |
| --- | --- | --- | --- | --- |
| conform | 3 s | 0.50 | at most 1 | yes |
| replay | 7 a second |  | 9 | NO |
| start | 1 s |  |  |  |

## What was mended

Much.
"""


def test_the_page_keeps_what_people_wrote_below_the_table() -> None:
    figures = [
        Figure("conform", "3 s", "0.50", "at most 1", met=True),
        Figure("replay", "7 a second", "", "9", met=False),
        Figure("start", "1 s"),
    ]
    assert PAGE == page(figures, ["a machine"], "## What was mended\n\nMuch.\n")


def test_the_walks_that_are_measured_pass_and_take_every_transition() -> None:
    manifest = load(ROOT, "stable")
    model = manifest.model("pair_faults")
    of = quotient(load_graph(manifest, model, ROOT / ".cache" / "groupcomm"))
    following = follower("stable", model)
    walks = prepared(following, of)
    assert 0 < len(walks) == replayed(following, walks)
    assert model.counts is not None
    assert model.counts.transitions == len(of.edges)
    assert model.counts.distinct == len(of.states)
