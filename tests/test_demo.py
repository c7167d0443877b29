"""demo: what `groupcomm demo` prints."""

import json

import pytest
import typer
from typer.testing import CliRunner

from groupcomm_conformance import mapping
from groupcomm_conformance.commands import demo

APP = typer.Typer()
APP.command()(demo.command)


def run(*arguments: str) -> str:
    result = CliRunner().invoke(APP, arguments)
    assert 0 == result.exit_code, result.output
    return result.output


@pytest.mark.parametrize("seed", range(12))
def test_each_story_ends_with_a_purge_at_all_three_and_fits_a_terminal(seed: int) -> None:
    output = run("stable", "--seed", str(seed))
    assert dict.fromkeys("ABC", 1) == {member: output.count(f"purged.{member}.A -1 -> ") for member in "ABC"}
    assert 100 >= max(map(len, output.splitlines()))


@pytest.mark.parametrize("seed", range(12))
def test_sequencers_survivors_have_one_order_and_lack_nothing_of_theirs(seed: int) -> None:
    """SEQ-13: the coordinator is killed under load; with its own message or, if nobody got it, without."""
    output = run("sequencer", "--seed", str(seed))
    assert 100 >= max(map(len, output.splitlines()))
    *_, at_b, at_c = output.splitlines()
    assert at_b.replace("B has", "C has", 1) == at_c
    delivered = at_b.removeprefix("B has delivered ").removesuffix(".").split()
    assert ["B1", "B2", "C1", "C2"] == sorted(name for name in delivered if name != "A1")
    assert len(set(delivered)) == len(delivered)
    assert "* Crash" in output


def test_in_each_of_sequencers_stories_something_is_sent_again() -> None:
    told = [mapping.load("sequencer").story(seed).closing[1] for seed in range(12)]
    assert not [line for line in told if "nothing" in line]


def test_one_member_announces() -> None:
    for seed in range(12):
        effects = [
            effect["message"]["type"]  # type: ignore[call-overload,index]
            for step in mapping.load("stable").story(seed).steps
            for effect in step.values["act"]["effects"]  # type: ignore[call-overload,index,union-attr]
            if effect["type"] == "Multicast"  # type: ignore[call-overload,index]
        ]
        assert ["STABLE"] * 3 + ["STABILITY"] == effects


def test_a_seed_gives_the_same_story_and_another_another() -> None:
    assert run("--seed", "4") == run("--seed", "4")
    assert run("--seed", "4") != run("--seed", "5")


def test_unicode_draws_the_same() -> None:
    plain, drawn = run(), run("--unicode")
    assert "\u2502" in drawn
    assert len(plain.splitlines()) == len(drawn.splitlines())


def test_json_has_every_state() -> None:
    told = json.loads(run("--json", "--seed", "2"))
    assert 2 == told["seed"]
    assert ["Init", "MulticastData"] == [step["action"] for step in told["steps"][:2]]
    assert {"#set": ["A", "B"]} == told["steps"][0]["state"]["heard_from"]["A"]


def test_an_unknown_protocol_is_named() -> None:
    result = CliRunner().invoke(APP, ["unheard_of"])
    assert (2, True) == (result.exit_code, "unheard_of" in result.output)
