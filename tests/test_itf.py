"""Walks as ITF traces: valid, the specification's values, with types that readers can trust; and read by real readers."""

import json
import shutil
import subprocess
from itertools import pairwise
from pathlib import Path
from typing import Any

import itf_py
import pytest
from jsonschema import Draft202012Validator, ValidationError

from groupcomm.shapes import Choice, Fixed, Function, Record, Sequence, Subset, shape_of
from groupcomm_conformance.ports import vector_files
from groupcomm_conformance.ports.itf import Traces, kind_of
from groupcomm_conformance.protocols import derive
from groupcomm_conformance.tla.values import Fn, Value, from_json, identical
from groupcomm_conformance.walks.follow import Follower, replay
from tests.cores import MANIFESTS, PROTOCOLS, ROOT

READER = Path(__file__).parent / "data" / "itf"
MANIFEST = MANIFESTS["stable"]
MODEL = MANIFEST.model("pair_faults")
SCHEMA = json.loads(Path(str(vector_files.__file__)).with_name("itf.schema.json").read_text())


@pytest.fixture(scope="session")
def behaviours() -> list[list[Fn]]:
    return [*vector_files._behaviours(ROOT, MANIFEST, MODEL)]  # noqa: SLF001 - what all walks are made of


@pytest.fixture(scope="session")
def traces(behaviours: list[list[Fn]]) -> list[Any]:
    """Some of the walks, the longest among them."""
    written = Traces([state for states in behaviours for state in states])
    some = sorted(behaviours, key=len)[:: len(behaviours) // 20]
    return [json.loads(written.trace(f"walk {number}", states)) for number, states in enumerate(some, 1)]


def test_traces_are_as_the_schema_describes_them(traces: list[Any]) -> None:
    Draft202012Validator.check_schema(SCHEMA)
    for trace in traces:
        Draft202012Validator(SCHEMA).validate(trace)
        assert {*trace["#meta"]["varTypes"]} == {*trace["vars"]}
        assert all({*state} == {"#meta", *trace["vars"]} for state in trace["states"])


SPOILT: dict[str, Any] = {
    "a function that is an object": lambda told: told["states"][0].update(local={"A": {"member": "A"}}),
    "a plain integer": lambda told: told["states"][0].update(spent={"lost": 3}),
    "a state without its number": lambda told: told["states"][0].pop("#meta"),
    "no action": lambda told: told["states"][1].pop("mbt::actionTaken"),
    "a choice that is no option": lambda told: told["states"][1]["mbt::nondetPicks"].update(member="A"),
    "no types": lambda told: told["#meta"].pop("varTypes"),
    "one state": lambda told: told["states"].__delitem__(slice(1, None)),
}


@pytest.mark.parametrize("name", SPOILT)
def test_the_schema_notices(name: str, traces: list[Any]) -> None:
    told = json.loads(json.dumps(traces[0]))
    SPOILT[name](told)
    with pytest.raises(ValidationError):
        Draft202012Validator(SCHEMA).validate(told)


def same(value: Value, read: Any) -> bool:  # noqa: ANN401 - of another reader
    """Whether another reader has read a value: a record by its fields, a function by its pairs."""
    match value:
        case Fn() if hasattr(read, "_fields"):
            return {*value} == {*read._fields} and all(
                same(each, getattr(read, str(name))) for name, each in value.items()
            )
        case Fn():
            return len(value) == len(read) and all(
                name in read and same(each, read[name]) for name, each in value.items()
            )
        case tuple() if isinstance(read, dict):
            return [*range(1, len(value) + 1)] == sorted(read) and all(
                same(each, read[at]) for at, each in enumerate(value, 1)
            )
        case tuple():
            return isinstance(read, list | tuple) and len(value) == len(read) and all(map(same, value, read))
        case frozenset():
            return (
                isinstance(read, frozenset)
                and len(value) == len(read)
                and all(any(same(a, b) for b in read) for a in value)
            )
    return type(value) is type(read) and value == read


def by_itf_py(trace: Any) -> Any:  # noqa: ANN401 - of another reader
    """Read a trace without Quint's picks: itf-py makes a class of each tag, and `None`, a tag of Quint, is no name of a class."""
    states = [{name: each for name, each in state.items() if name != "mbt::nondetPicks"} for state in trace["states"]]
    return itf_py.trace_from_json({**trace, "states": states})


def test_a_reader_of_others_has_the_same_values(behaviours: list[list[Fn]], traces: list[Any]) -> None:
    some = sorted(behaviours, key=len)[:: len(behaviours) // 20]
    for states, trace in zip(some, traces, strict=True):
        read = by_itf_py(trace)
        assert ["mbt::actionTaken", "mbt::nondetPicks", *states[0]] == read.vars
        assert len(states) == len(read.states)
        for state, other in zip(states, read.states, strict=True):
            assert all(same(value, other.values[str(name)]) for name, value in state.items())


def test_another_value_is_another(behaviours: list[list[Fn]]) -> None:
    (first, second, *_) = behaviours[0]
    read = by_itf_py(json.loads(Traces([first, second]).trace("", [first, second]))).states[0].values
    assert not all(same(value, read[str(name)]) for name, value in second.items())


def test_values_are_the_specifications_and_pass_on_the_core(behaviours: list[list[Fn]], traces: list[Any]) -> None:
    """Each variable in each state, read back; and then the walk, done by the core."""
    some = sorted(behaviours, key=len)[:: len(behaviours) // 20]
    follower = Follower(PROTOCOLS["stable"], derive.constants_of(MANIFEST.cfg(MODEL)))
    for states, trace in zip(some, traces, strict=True):
        read = [Fn({name: from_json(state[name]) for name in states[0]}) for state in trace["states"]]
        assert all(map(identical, states, read))
        assert replay(follower, read) is None


def test_all_walks_together_take_each_transition(behaviours: list[list[Fn]]) -> None:
    """TLC counts them in a graph without `act`, another one than that which walks are made of."""
    taken = {
        (before.replace(act=0), after["act"], after.replace(act=0))
        for states in behaviours
        for before, after in pairwise(states)
    }
    assert MODEL.counts is not None
    assert MODEL.counts.transitions == len(taken)


def test_what_is_taken_stands_beside_the_variables(traces: list[Any]) -> None:
    for trace in traces:
        first, *others = trace["states"]
        assert first["mbt::actionTaken"] == "init"
        assert {option["tag"] for option in first["mbt::nondetPicks"].values()} == {"None"}
        for state in others:
            act, picks = state["act"], state["mbt::nondetPicks"]
            assert state["mbt::actionTaken"] == act["action"]
            assert (picks["event"]["tag"] == "Some") == (act["outcome"] != "none")
            assert picks["event"]["value"] in (act["event"], {"#tup": []})
            assert picks["member"]["value"] in (act["member"], {"#tup": []})


EMPTY = Fn({"A": ()})
TYPED: dict[str, tuple[list[Value], str, list[Any]]] = {
    "an empty function": (
        [Fn({"A": 1}), ()],
        "(Str -> Int)",
        [{"#map": [["A", {"#bigint": "1"}]]}, {"#map": []}],
    ),
    "an empty sequence": ([("a",), ()], "Seq(Str)", [["a"], []]),
    "empty everywhere": ([(), ()], "Seq(a)", [[], []]),
    "a function on 1..2 among others": (
        [(True, False), Fn({3: True})],
        "(Int -> Bool)",
        [
            {"#map": [[{"#bigint": "1"}, True], [{"#bigint": "2"}, False]]},
            {"#map": [[{"#bigint": "3"}, True]]},
        ],
    ),
    "empty within": ([EMPTY, Fn({"A": (1,)})], "(Str -> Seq(Int))", [{"#map": [["A", []]]}, {"#map": [["A", [{"#bigint": "1"}]]]}]),
    "a tuple": ([("A", 1)], "<<Str, Int>>", [{"#tup": ["A", {"#bigint": "1"}]}]),
    "no tuple of equal length": ([("A", 1), (1,)], "a", [{"#tup": ["A", {"#bigint": "1"}]}, [{"#bigint": "1"}]]),
    "records of two types": (
        [Fn({"type": "x", "n": ()}), Fn({"type": "y", "n": Fn({"A": 1})}), Fn({"type": "y", "n": ()})],
        "{ n: b, type: Str, a }",
        [
            {"n": [], "type": "x"},
            {"n": {"#map": [["A", {"#bigint": "1"}]]}, "type": "y"},
            {"n": {"#map": []}, "type": "y"},
        ],
    ),
    "a record and an integer": ([Fn({"n": True}), 3], "a", [{"n": True}, {"#bigint": "3"}]),
    "an empty set and others": ([frozenset(), frozenset({2, 1})], "Set(Int)", [{"#set": []}, {"#set": [{"#bigint": "1"}, {"#bigint": "2"}]}]),
    "only empty sets": ([frozenset()], "Set(a)", [{"#set": []}]),
}  # fmt: skip


@pytest.mark.parametrize("name", TYPED)
def test_a_place_has_one_type(name: str) -> None:
    values, of, written = TYPED[name]
    acts = Fn(
        {"action": "X", "member": "", "outcome": "none", "given": Fn({"nothing": 0}), "event": Fn({"type": "none"})}
    )
    states = [Fn({"act": acts, "x": value}) for value in values]
    traces = Traces(states)
    assert traces.types["x"] == of
    assert [state["x"] for state in json.loads(traces.trace("", states))["states"]] == written


@pytest.mark.parametrize("protocol", sorted(PROTOCOLS))
def test_a_record_is_told_from_a_function_as_the_core_has_it(protocol: str) -> None:
    """Fields begin with a small letter, of every record of every core: so a capital says that it is a function."""
    seen = set()

    def look(shape: Any) -> None:  # noqa: ANN401 - a shape
        if shape in seen:
            return
        seen.add(shape)
        match shape:
            case Record():
                assert all(name[0].islower() for name in shape.fields)
                for each in shape.fields.values():
                    look(each)
            case Sequence(item) | Subset(item):
                look(item)
            case Function(_, key, item):
                look(key)
                look(item)
            case Choice(options) | Fixed(options):
                for each in options:
                    look(each)

    of = PROTOCOLS[protocol]
    for annotation in (of.state, of.events, of.effects):
        look(shape_of(annotation))
    assert any(isinstance(shape, Record) for shape in seen)
    assert kind_of([Fn({"A": 1})]).name == "Fun"
    assert kind_of([Fn({"a": 1})]).name == "Rec"


@pytest.fixture(scope="session")
def files(traces: list[Any], tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("itf")
    for number, trace in enumerate(traces):
        (folder / f"{number}.itf.json").write_text(json.dumps(trace))
    return [str(file) for file in folder.iterdir()]


def ran(command: list[str], folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.itf
def test_rust_reads_them_with_types(traces: list[Any], files: list[str], tmp_path: Path) -> None:
    """STABLE's local state as structs, sets and maps, by the crate that Quint's own tools read traces with."""
    shutil.copytree(READER / "rust", tmp_path / "rust")
    told = ran(["cargo", "run", "--quiet", "--", *files], tmp_path / "rust")
    states = sum(len(trace["states"]) for trace in traces)
    assert told.splitlines()[-1] == f"{len(files)} traces, {states} states"


@pytest.mark.itf
def test_quint_reads_them(traces: list[Any], files: list[str], tmp_path: Path) -> None:
    """Quint's own reader, and its own writer: what comes out of the two is what went in."""
    shutil.copytree(READER / "quint", tmp_path / "quint")
    ran(["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--silent"], tmp_path / "quint")
    told = ran(["node", "read.js", *files], tmp_path / "quint")
    states = sum(len(trace["states"]) for trace in traces)
    assert told.splitlines()[-1] == f"{len(files)} traces, {states} states"
