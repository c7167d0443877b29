"""The lint of language: it finds each phrase wherever prose stands, and its record only goes down."""

from pathlib import Path

import pytest
import yaml

from tests import language

BAD = {
    "who-subject": "Who takes over has asked the others.",
    "whether-it": "Whether it leads.",
    "one-as-noun": "The view is the one of A.",
    "headless-that": "The views of those that crashed.",
    "body-words": "A message that nobody sends.",
    "told": "GMS is told.",
    "let-go": "B lets the group go.",
    "goes-on": "A member that goes on to the next view.",
    "falls": "The claim falls.",
    "stands-still": "The group stands still.",
    "line-of-views": "It stays on its line of views.",
    "life": "Another life of B.",
    "comes-to-a-view": "B comes to the view.",
    "too-long": "A " + "very " * 30 + "long sentence.",
    "two-rules": "A sends; B waits; C installs the view.",
}
GOOD = """A member that takes over has queried every member. Who crashed? Return True if it leads. One member is
stopped. No claim is violated. Each branch of the view history converges; the incarnation is new."""


@pytest.mark.parametrize("rule", BAD)
def test_a_bad_sentence_is_found_by_its_rule(rule: str) -> None:
    assert rule in {place.rule for place in language.find({"a.md": BAD[rule] + "\n"})}


def test_all_rules_have_an_example_and_good_prose_has_no_match() -> None:
    assert {*BAD, "riddle-name"} == set(language.RULES)
    assert language.find({"a.md": GOOD}) == []


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("a.md", "# T\n\nA message that\nnobody sends.\n", 3),
        ("a.md", "| a | b |\n| --- | --- |\n| x | nobody |\n", 3),
        ("a.tla", "A == 1   \\* a message that\n         \\* nobody sends\n", 1),
        ("a.tla", "(* A message that\n   nobody sends *)\nA == 1\n", 1),
        ("a.py", '"""Text.\n\nA message that nobody sends.\n"""\n', 3),
        ("a.py", "x = 1\n# a message that\n# nobody sends\n", 2),
        ("a.py", "x = 1\ny = f'{x} and nobody'\n", 2),
        ("a.py", 'x = """---- MODULE A ----\n\n\\\\* nobody sends\n===="""\n', 3),
        ("a.yaml", "models:\n- shows: >\n    a message that nobody\n    sends\n", 2),
        ("a.yaml", "x: 1  # nobody\n", 1),
        ("a.go", "var x = 1 // nobody\n", 1),
    ],
)
def test_prose_is_found_with_its_line(name: str, text: str, line: int) -> None:
    assert [("body-words", name, line)] == [place[:3] for place in language.find({name: text})]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.md", "```\nnobody\n```\n"),
        ("a.tla", 'A == {"nobody sends"}\n'),
        ("a.py", "nobody = 1\n"),
        ("a.py", "x = f'{nobody} said'\n"),
        ("a.py", 'x = """---- MODULE A ----\nA == {"nobody sends"}\n===="""\n'),
        ("a.yaml", "constants: nobody sends\n"),
        ("a.png", "nobody"),
    ],
)
def test_what_is_no_prose_is_left_alone(name: str, text: str) -> None:
    assert language.find({name: text}) == []


def test_names_of_operators_are_looked_at_but_not_uses_of_them() -> None:
    text = "NothingIsLost == TRUE\nNobodyComesStep == TRUE\nNothing == -1\nNoMessageLost == NothingIsLost\n"
    assert ["NothingIsLost", "NobodyComesStep"] == [place.text for place in language.find({"a.tla": text})]


def test_more_places_are_listed_with_file_line_and_advice() -> None:
    record = {"told": {"a.md": 1, "b.md": 1}}
    more, fewer = language.compare(
        language.find({"a.md": "He is told.\n\nHe tells.\n", "b.md": "told\n"}), record
    )
    assert fewer == []
    assert more[0].startswith("told: 3 places, 2 are recorded: name the event")
    assert more[1:] == ["  a.md:1: He is told.", "  a.md:3: He tells."]


def test_text_may_move_to_another_file() -> None:
    assert ([], []) == language.compare(language.find({"b.md": "told"}), {"told": {"a.md": 1}})


def test_fewer_places_ask_for_a_lower_record() -> None:
    assert ([], ["told: 0 places, 1 are recorded"]) == language.compare([], {"told": {"a.md": 1}})


def test_the_record_is_lowered_but_not_raised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(text: str, *arguments: str) -> int:
        monkeypatch.setattr(language, "tracked", lambda _: {"a.md": text})
        return language.main(list(arguments), tmp_path)

    file = tmp_path / language.RECORD
    file.parent.mkdir(parents=True)
    assert run("told\n\ntold", "--record") == 0
    assert run("told\n\ntold") == 0
    assert run("told") == 1
    assert "lower the record" in capsys.readouterr().out
    assert run("told\n\ntold\n\ntold", "--record") == 1
    assert "a.md:5: told" in capsys.readouterr().out
    assert run("told", "--record") == 0
    assert {"a.md": 1} == yaml.safe_load(file.read_text())["told"]


def test_generated_documents_the_record_and_the_examples_of_rules_are_not_read() -> None:
    names = language.tracked(language.ROOT)
    assert "README.md" in names
    assert not {language.RECORD, "docs/stack.md", "docs/errata/flush.md", "tests/language.py"} & set(names)
