"""demo: what `groupcomm demo` prints."""

import json
import re
from importlib import import_module
from pathlib import Path
from typing import get_args

import pytest

from groupcomm_commands.main import main

ROOT = Path(__file__).parents[1]


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert 0 == main(["demo", *arguments])
    return capsys.readouterr().out


LAYERS = ("sequencer", "flush", "merge_gms", "stable")


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("seed", range(3))
def test_a_layer_has_three_lanes_and_each_step_is_one_of_its_specification(
    capsys: pytest.CaptureFixture[str], layer: str, seed: int
) -> None:
    output = run(capsys, layer, "--seed", str(seed))
    lines = output.splitlines()
    assert ["A", "B", "C"] == lines[3].split()
    assert 100 >= max(map(len, lines))
    events = {kind.__name__ for kind in get_args(import_module(f"groupcomm.{layer}").Event)}
    acts = {found for line in lines for found in re.findall(r"\[([A-Z]\w+)\]", line)}
    assert 4 <= len(acts)
    assert acts <= events
    steps = len(re.findall(r"^ {0,2}\d+  ", output, re.MULTILINE))
    assert lines.count("       nothing changed") <= steps / 2  # a step that only sends changes no state


def test_a_message_is_forwarded_ordered_and_delivered_by_all(capsys: pytest.CaptureFixture[str]) -> None:
    output = run(capsys, "sequencer")
    for what in ("Forward ", "-->> Data payload=", "[DataReceived]", "PassUp Deliver payload=b/1"):
        assert what in output
    for member in "ABC":
        assert f"{member}.received_table" in output


def test_flush_reconciles_what_only_one_has_of_who_crashed(capsys: pytest.CaptureFixture[str]) -> None:
    output = run(capsys, "flush")
    for what in ("StartFlush", "[BlockReturned]", "HoldBack", "Reconcile", "Fetch", "[StopFlushReceived]"):
        assert what in output


def test_views_come_with_members_and_merges(capsys: pytest.CaptureFixture[str]) -> None:
    output = run(capsys, "merge_gms")
    for what in ("JoinReq life=0", "NewView", "[Suspected]", "Query", "MergeReq", "MergeRsp", "MergeView"):
        assert what in output


@pytest.mark.parametrize(
    ("layer", "told"),
    [
        ("unicast", ["Lose", "RetransmitTimeout", "DataReceived", "PassUp Deliver", "AckReceived"]),
        ("nakack", ["Lose", "HighestTimeout", "HighestReceived", "XmitReq", "PassUp Deliver"]),
    ],
)
@pytest.mark.parametrize("seed", range(3))
def test_a_datagram_that_is_lost_is_sent_again(
    capsys: pytest.CaptureFixture[str], layer: str, told: list[str], seed: int
) -> None:
    """A lost message is there after the timer: in this order."""
    output = run(capsys, layer, "--seed", str(seed))
    place = 0
    for what in told:
        place = output.find(what, place) + 1
        assert place, what
    assert "sequencer/flush/merge_gms/stable/nakack/unicast promises holds" in output


def test_the_same_seed_is_the_same_story_and_another_is_another(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "--seed", "3") == run(capsys, "--seed", "3") != run(capsys, "--seed", "4")
    one, same, other = (run(capsys, "sequencer", "--seed", seed) for seed in ("3", "3", "4"))
    assert one == same != other


def test_a_story_can_be_short(capsys: pytest.CaptureFixture[str]) -> None:
    output = run(capsys, "flush", "--events", "12")
    assert "12 events, and all that" in output


def test_a_story_can_be_read_by_a_program(capsys: pytest.CaptureFixture[str]) -> None:
    told = json.loads(run(capsys, "sequencer", "--json"))
    assert ("sequencer/flush/merge_gms/stable", "sequencer", 1) == (told["stack"], told["layer"], told["seed"])
    assert [*range(1, len(told["steps"]) + 1)] == [step["number"] for step in told["steps"]]
    assert "Init" == told["steps"][0]["action"]


def test_the_next_coordinator_orders_a_forward_that_was_lost_with_the_first(capsys: pytest.CaptureFixture[str]) -> None:
    """What SEQUENCER's note is about: B sends b/2 to A, which has crashed, and then to C."""
    sent = [line.strip(" |") for line in run(capsys, "sequencer").splitlines() if "Forward payload=b/2" in line]
    assert ["A", "C"] == [line.removeprefix("--> ").partition(":")[0] for line in sent]


def test_readme_shows_a_part_of_what_is_drawn(capsys: pytest.CaptureFixture[str]) -> None:
    readme = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    (part,) = re.findall(r"```text\n(A .*?\n)(.*?)```", readme, re.DOTALL)
    drawn = run(capsys)
    assert part[0] in drawn
    assert part[1] in drawn


@pytest.mark.parametrize("arguments", [["nosuch"], ["gms/sequencer"], ["--events", "0"], ["--seed", "x"]])
def test_what_there_is_not_is_one_complaint(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    assert 2 == main(["demo", *arguments])
    captured = capsys.readouterr()
    assert not captured.out
    assert captured.err


@pytest.mark.parametrize("seed", range(6))
def test_without_a_name_it_is_the_life_of_a_group_in_outline(capsys: pytest.CaptureFixture[str], seed: int) -> None:
    """It forms, talks, loses its coordinator, is parted, merges, transfers its state: in this order."""
    output = run(capsys, "--seed", str(seed))
    lines = output.splitlines()
    lanes = lines.index("") + 1
    assert ["A", "B", "C"] == lines[lanes].split()
    assert 100 > len(lines)
    assert 110 >= max(map(len, lines))
    story = "\n".join(lines[lanes:])
    place = 0
    for word in (
        "founds a group",
        "sends a/1",
        "CRASHES",
        "suspects A",
        "delivers a/1",
        "B and the others cannot reach each other",
        "suspects",
        "the network heals",
        "finds C",
        "merged view B,C",
        "wants the state",
        "has the state",
    ):
        place = story.index(word, place)
    for member in "BC":  # a blocked member resumes, each time
        lane = [line[24 * "ABC".index(member) :][:24].strip() for line in lines[lanes + 1 : -2]]
        assert ["BLOCK", "UNBLOCK"] * 4 == [each for each in lane if "BLOCK" in each]


# Figures


def figure(name: str) -> str:
    return (ROOT / "docs" / "figures" / f"sequencer-{name}.svg").read_text(encoding="utf-8")


def test_the_five_pictures_tell_what_their_titles_say() -> None:
    def texts(name: str) -> list[str]:
        return re.findall(r"<text[^>]*>([^<]*)", figure(name))

    assert {"FORWARD b/1", "DATA b/1", "own DATA b/1"} <= {*texts("order")}
    assert texts("order").count("delivers b/1") == 3
    assert {"FORWARD b/2", "\N{MULTIPLICATION SIGN}", "crash"} <= {*texts("lost")}
    assert "delivers b/2" not in texts("lost")
    assert texts("failover").index("FORWARD b/2") > texts("failover").index("delivers a/1")
    assert texts("failover").count("delivers b/2") == 2
    assert {"delivers c/1", "delivers b/3", "delivers c/2"} <= {*texts("partition")}
    majority = texts("majority")
    assert majority.index("sends b/1") < majority.index("Heal") < majority.index("delivers b/1")


def test_no_arrow_leaves_or_reaches_a_dead_member_and_no_text_leaves_its_figure() -> None:
    for name in ("order", "lost", "failover", "partition", "majority"):
        text = figure(name)
        width = int(re.findall(r'viewBox="0 0 (\d+) ', text)[0])
        ends = {x: int(y) for x, y in re.findall(r'class="fig-lane" x1="(\d+)" .*?y2="(\d+)"', text)}
        for start, y in re.findall(r'class="fig-line" x1="(\d+)" .*?y1="(\d+)"', text):
            assert int(y) <= ends[start], name
        for end, y in re.findall(r'class="fig-head" d="M(\d+) (\d+)', text):
            assert int(y) <= ends[end], name
        for x, said in re.findall(r'<text[^>]* x="(\d+)"[^>]*>([^<]*)', text):
            assert 3.5 * len(said) <= min(int(x), width - int(x)), (name, said)
