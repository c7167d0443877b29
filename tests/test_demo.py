"""demo: what `groupcomm demo` prints."""

import json

import pytest

from groupcomm_conformance.commands.main import main


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert 0 == main(["demo", *arguments])
    return capsys.readouterr().out


@pytest.mark.parametrize("seed", range(6))
def test_a_story_has_three_lanes_and_fits_a_terminal(capsys: pytest.CaptureFixture[str], seed: int) -> None:
    output = run(capsys, "sequencer", "--seed", str(seed))
    lines = output.splitlines()
    assert ["A", "B", "C"] == lines[3].split()
    assert 100 >= max(map(len, lines))
    assert "36 events, and all that sequencer promises holds." in output


def test_a_message_is_forwarded_ordered_and_delivered_by_all(capsys: pytest.CaptureFixture[str]) -> None:
    output = run(capsys, "sequencer")
    for what in ("---Forward---", "-->> Data payload=c/1", "[data]", "A.delivered <<>> -> <<c/1>>"):
        assert what in output
    for member in "BC":
        assert f"{member}.delivered <<>> -> <<c/1>>" in output


def test_the_same_seed_is_the_same_story_and_another_is_another(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "--seed", "3") == run(capsys, "--seed", "3") != run(capsys, "--seed", "4")
    one, same, other = (run(capsys, "sequencer", "--seed", seed) for seed in ("3", "3", "4"))
    assert one == same != other


def test_a_story_can_be_short_and_drawn_with_box_characters(capsys: pytest.CaptureFixture[str]) -> None:
    output = run(capsys, "sequencer", "--events", "9", "--unicode")
    assert "\u2502" in output
    assert "9 events, and all that" in output


def test_a_story_can_be_read_by_a_program(capsys: pytest.CaptureFixture[str]) -> None:
    told = json.loads(run(capsys, "sequencer", "--json"))
    assert ("sequencer", 1) == (told["stack"], told["seed"])
    assert [*range(1, len(told["steps"]) + 1)] == [step["number"] for step in told["steps"]]
    assert "Init" == told["steps"][0]["action"]


@pytest.mark.parametrize("arguments", [["nosuch"], ["gms/sequencer"], ["--events", "0"], ["--seed", "x"]])
def test_what_there_is_not_is_one_complaint(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    assert 2 == main(["demo", *arguments])
    captured = capsys.readouterr()
    assert not captured.out
    assert captured.err


@pytest.mark.parametrize("seed", range(6))
def test_without_a_name_it_is_the_life_of_a_group_in_outline(
    capsys: pytest.CaptureFixture[str], seed: int
) -> None:
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
    for member in "BC":  # who is blocked goes on, each time
        lane = [line[24 * "ABC".index(member) :][:24].strip() for line in lines[lanes + 1 : -2]]
        assert ["BLOCK", "UNBLOCK"] * 4 == [each for each in lane if "BLOCK" in each]


@pytest.mark.parametrize("seed", range(6))
def test_members_come_and_go_with_gms(capsys: pytest.CaptureFixture[str], seed: int) -> None:
    """Three join at once and get three views; one leaves; the coordinator crashes, and the next excludes it."""
    output = run(capsys, "gms", "--seed", str(seed))
    lines = output.splitlines()
    assert ["A", "B", "C", "D"] == lines[3].split()
    assert 100 >= max(map(len, lines))
    assert 3 == output.count("--> A: JoinReq life=0")
    installed = [line.split() for line in lines if ".view " in line and " -> " in line]
    counters = [int(view[-1].partition("/")[0]) for view in installed]
    assert [1, 2, 3, 4, 5, 6] == sorted(set(counters))
    # Of the three that joined one has left: the last view has the other two, and nobody crashed in it.
    last = {view[-1] for view, counter in zip(installed, counters, strict=True) if counter == 6}
    assert 1 == len(last)
    assert 2 == len([line for line in installed if line[-1] in last])
    assert "A" not in last.pop().partition("[")[2]
    assert "all that gms promises holds." in output


@pytest.mark.parametrize("seed", range(4))
def test_a_partition_heals_with_merging(capsys: pytest.CaptureFixture[str], seed: int) -> None:
    """Four are together, two and two apart, and four together again, in a view that A has made."""
    output = run(capsys, "merge", "--seed", str(seed))
    lines = output.splitlines()
    assert ["A", "B", "C", "D"] == lines[3].split()
    assert 100 >= max(map(len, lines))
    installed = [line.split() for line in lines if ".view " in line and " -> " in line]
    last = {line[0].removesuffix(".view"): (line[1], line[-1]) for line in installed}
    assert {"6/A[A,B,C,D]"} == {after for _, after in last.values()}
    assert ["5/A[A,B]", "5/A[A,B]", "5/C[C,D]", "5/C[C,D]"] == [last[member][0] for member in "ABCD"]
    for what in (
        "Partition: A, B from the rest",
        "Suspect",
        "MergeReq",
        "MergeRsp",
        "InstallMergeView",
        "MergeView",
    ):
        assert what in output
    # What both halves have multicast meanwhile the others do not get; what comes after, all do.
    delivered = {line.split(".")[0].strip(): line for line in lines if ".delivered " in line}
    assert all("c/1>>" in delivered[member] for member in "ABCD")
    assert "b/1" not in delivered["C"]
    assert "all that merge promises holds." in output


@pytest.mark.parametrize("stack", ["flush/gms", "sequencer/flush/gms"])
@pytest.mark.parametrize("seed", range(3))
def test_the_coordinator_is_lost_with_flush(
    capsys: pytest.CaptureFixture[str], seed: int, stack: str
) -> None:
    """What A has multicast only one of two has when A crashes; both deliver it before the view without A."""
    output = run(capsys, stack, "--seed", str(seed))
    lines = output.splitlines()
    assert ["A", "B", "C"] == lines[3].split()
    assert 100 >= max(map(len, lines))
    for what in ("StartFlush", "[return]", "HoldBack", "Reconcile", "Fetch", "NewView", "Query", "StopFlush"):
        assert what in output, what
    for member in "BC":
        delivered = next(
            i for i, line in enumerate(lines) if f"{member}.delivered " in line and "a/1" in line
        )
        last = next(
            i
            for i, line in enumerate(lines)
            if f"{member}.view " in line and line.endswith(("[B,C]", "[C,B]"))
        )
        assert delivered < last
    assert f"all that {stack} promises holds." in output
