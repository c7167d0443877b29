"""graph: TLC's dumps and walks, and what is refused about them."""

from pathlib import Path
from typing import NoReturn

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupcomm_conformance.models.manifest import load
from groupcomm_conformance.tla.values import Fn
from groupcomm_conformance.walks.graph import Graph, GraphError, Graphs, read_dot, read_simulation, simulate

# Nodes 10 -> 20 -> 30, 10 -> 30, 30 -> 30: `act` says how a node was reached, `n` is a number, `r` a record
# whose fields come in either order.
DOT = r"""strict digraph DiskGraph {
nodesep=0.35;
subgraph cluster_graph {
color="white";
10 [label="/\\ act = [action |-> \"Init\"]\n/\\ n = 0\n/\\ r = [a |-> 1, b |->\n  2]",style = filled]
10 -> 30 [label="InnerB",color="black",fontcolor="black"];
30 [label="/\\ act = [action |-> \"B\"]\n/\\ n = 2\n/\\ r = [b |-> 2, a |-> 1]"];
10 -> -20 [label="A",color="black",fontcolor="black"];
-20 [label="/\\ act = [action |-> \"A\"]\n/\\ n = 1\n/\\ r = [a |-> 1, b |-> 2]"];
-20 -> 30 [label="InnerB",color="black",fontcolor="black"];
30 -> 30 [label="InnerB",color="black",fontcolor="black"];
{rank = same; 10;}
}
}"""
COUNTS = {"nodes": 3, "edges": 4, "initial": 1}


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    return tmp_path / "m.dot"


def read(dump: Path, text: str = DOT) -> Graph:
    dump.write_text(text)
    return read_dot(dump, **COUNTS, shown="m.dot")


def test_a_step_is_named_after_the_act_that_it_leads_to(dump: Path) -> None:
    graph = read(dump)
    assert [(0, "A", 1), (0, "B", 2), (1, "B", 2), (2, "B", 2)] == list(graph.edges())
    assert ("A", "B") == graph.actions
    assert {"A": (1,), "B": (2,)} == graph.enabled[0]


def test_values_are_canonical_and_equal_texts_are_kept_once(dump: Path) -> None:
    graph = read(dump)
    assert Fn({"act": Fn({"action": "B"}), "n": 2, "r": Fn({"a": 1, "b": 2})}) == graph.values(2)
    assert 1 == sum(text.startswith("[a") and "b" in text for text in graph.texts)


def test_the_walk_to_a_node_is_a_shortest_one(dump: Path) -> None:
    graph = read(dump)
    assert [(0,), (0, 1), (0, 2)] == [graph.walk_to(node) for node in range(len(graph))]


@given(order=st.permutations(range(4, 11)))
def test_the_graph_does_not_depend_on_the_order_of_lines(
    tmp_path_factory: pytest.TempPathFactory, order: list[int]
) -> None:
    dump = tmp_path_factory.getbasetemp() / "shuffled.dot"
    lines = DOT.split("\n")
    shuffled = read(dump, "\n".join((*lines[:4], *(lines[index] for index in order), *lines[11:])))
    graph = read(dump)
    assert (graph.texts, graph.rows, graph.successors) == (shuffled.texts, shuffled.rows, shuffled.successors)


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ("}\n}", "}", "m.dot:13: expected 3 states, as TLC counted, not 2"),
        ("n = 2", "n = <<2", "m.dot:7: expected a state: unexpected end of the value"),
        ("/\\\\ n = 1", "/\\\\ n 1", "m.dot:9: expected a state: "),
        ("act", "fact", "m.dot:1: expected states with the variable act: the dump is of a run with VIEW"),
        ("-20 -> 30 [", "-20 -> 40 [", "m.dot:14: expected the state 40, which a step has and no line says"),
        ("-20 -> 30 [", "-20 -> 30 (", "m.dot:10: expected a state or a step, not '-20 -> 30 (label="),
    ],
)
def test_what_is_no_graph_is_refused_with_its_line(dump: Path, old: str, new: str, error: str) -> None:
    text = DOT.replace(old, new)
    if old == "}\n}":
        text = "\n".join(line for line in DOT.split("\n") if not line.startswith("-20 ["))
    with pytest.raises(GraphError) as raised:
        read(dump, text)
    assert str(raised.value).startswith(error)


@pytest.mark.parametrize("length", range(0, len(DOT), 7))
def test_a_dump_that_is_cut_off_is_refused_wherever_the_cut_is(dump: Path, length: int) -> None:
    with pytest.raises(GraphError, match=r"^m\.dot:\d+: expected "):
        read(dump, DOT[:length])


WALK = """---------------- MODULE /tmp/walk -----------------
STATE_1 ==
/\\ act = [action |-> "Init"]
/\\ n = 0


STATE_2 ==
/\\ act = [action |->
  "A"]
/\\ n = 1


=================================================
"""


def test_a_walk_is_its_states() -> None:
    assert [0, 1] == [state["n"] for state in read_simulation(WALK, "walk")]


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ("=================================================\n", "", "walk:12: expected a closing line of ===="),
        ("STATE_2", "STATE_3", "walk:7: expected STATE_2, not STATE_3 =="),
        ("n = 1", "n = ]", "walk:7: expected a state: "),
    ],
)
def test_a_walk_that_is_not_whole_is_refused(old: str, new: str, error: str) -> None:
    with pytest.raises(GraphError) as raised:
        read_simulation(WALK.replace(old, new), "walk")
    assert str(raised.value).startswith(error)


# The cache


def test_a_kept_graph_is_the_one_that_was_kept(dump: Path, tmp_path: Path) -> None:
    graph = read(dump)
    graphs = Graphs(tmp_path / "cache")
    assert graphs.load("key") is None
    graphs.store("key", graph)
    kept = graphs.load("key")
    assert kept is not None
    assert (graph.texts, graph.rows, graph.successors, graph.initial) == (
        *(kept.texts, kept.rows, kept.successors, kept.initial),
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"[[1,2],[2],[2]]", b"[[1],[2],[2]]"),  # a step less: shorter walks
        (b"[[1,2],[2],[2]]", b"[[1,2],[2],[]]"),
        (b"]", b""),
        (b"\n", b""),
    ],
)
def test_a_kept_graph_that_was_changed_is_made_again(dump: Path, tmp_path: Path, old: bytes, new: bytes) -> None:
    graphs = Graphs(tmp_path / "cache")
    graphs.store("key", read(dump))
    file = graphs.path("key")
    changed = file.read_bytes().replace(old, new, 1)
    assert changed != file.read_bytes()
    file.write_bytes(changed)
    assert graphs.load("key") is None


def test_a_kept_graph_that_was_cut_short_is_made_again(dump: Path, tmp_path: Path) -> None:
    """Wherever it was cut: none of its beginnings is taken for the whole."""
    graphs = Graphs(tmp_path / "cache")
    graphs.store("key", read(dump))
    whole = graphs.path("key").read_bytes()
    for length in range(len(whole)):
        graphs.path("key").write_bytes(whole[:length])
        assert graphs.load("key") is None


def test_a_kept_walk_is_drawn_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    toy = load(Path(__file__).parent / "data", "toy")
    cfg = toy.cfg(toy.model("pair"))

    def walks(*, depth: int = 5, seed: int = 1) -> tuple[tuple[Fn, ...], ...]:
        return simulate(toy, cfg, tmp_path / "cache", traces=2, depth=depth, seed=seed)

    drawn = walks()
    assert [2, True] == [len(drawn), all(drawn)]

    def forbidden(*_: object, **__: object) -> NoReturn:
        raise RuntimeError("TLC runs")

    monkeypatch.setattr("groupcomm_conformance.walks.graph.tlc.run", forbidden)
    assert drawn == walks()
    for asked in ({"depth": 6}, {"seed": 2}):
        with pytest.raises(RuntimeError, match="TLC runs"):
            walks(**asked)
