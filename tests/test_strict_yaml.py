"""strict_yaml: what it reads, and that each surprise of YAML is refused with `file:line`."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupcomm_conformance.files.strict_yaml import FileError, Plain, load, parse

KEYS = st.text(alphabet="abcxyz_ABC019 -", min_size=1, max_size=5)


def refusal(text: str) -> str:
    with pytest.raises(FileError) as caught:
        parse(text, "f.yaml")
    return str(caught.value)


def test_a_document_reads_as_plain_values() -> None:
    text = """\
protocol: stable
views: [[A, 1, [A, B]], "<- JoinViews"]
counts: {zero: 0, less: -3, "on": "on", quoted: '12:30'}
walk: true
prose: |
  two
  lines
"""
    expected: Plain = {
        "protocol": "stable",
        "views": [["A", 1, ["A", "B"]], "<- JoinViews"],
        "counts": {"zero": 0, "less": -3, "on": "on", "quoted": "12:30"},
        "walk": True,
        "prose": "two\nlines\n",
    }
    assert expected == parse(text, "f.yaml").plain()


@pytest.mark.parametrize(
    "scalar",
    ["on", "No", "True", "~", "null", "12:30", "1.5", "1e3", "0x1F", "017", "0o17", "+3", "1_000", "2020-01-31"],
)
def test_what_other_readers_take_for_something_else_needs_quotes(scalar: str) -> None:
    expected = f'f.yaml:2: expected an integer, true, false or text: if {scalar} is text, write "{scalar}"'
    assert expected == refusal(f"a: 1\nb: {scalar}\n")
    assert {"b": scalar} == parse(f"b: '{scalar}'\n", "f.yaml").plain()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "f.yaml:1: expected a document, not an empty file"),
        ("a: 1\nb:\nc: 2\n", 'f.yaml:2: expected a value, not nothing (text may be empty as "")'),
        ("a: 1\nb: 2\na: 3\n", 'f.yaml:3: expected each key once, not "a" again (first on line 1)'),
        ("a:\n  b: 1\n  'b': 2\n", 'f.yaml:3: expected each key once, not "b" again (first on line 2)'),
        ("a: 1\non: 2\n", 'f.yaml:2: expected an integer, true, false or text: if on is text, write "on"'),
        ("- a\n- 1: x\n", "f.yaml:2: expected text as a key (in quotes where it looks like something else)"),
        ("? [a]\n: b\n", "f.yaml:1: expected text as a key (in quotes where it looks like something else)"),
        ("a: &x 1\nb: *x\n", "f.yaml:1: expected a value written out, not an anchor or alias"),
        ("- !Member A\n", "f.yaml:1: expected a value without a tag, not !Member"),
        ("a: 1\n---\nb: 2\n", "f.yaml:2: expected the end of the file, not a second document"),
        (
            "a: 1\nb: [1, 2\n",
            "f.yaml:3: expected well-formed YAML (while parsing a flow sequence expected ',' or ']', but got '<stream end>')",
        ),
        ("a: 1\n  b: 2\n", "f.yaml:2: expected well-formed YAML (mapping values are not allowed here)"),
        ("a: 1\nb: \x07\n", "f.yaml:2: expected printable characters only"),
        ("[" * 50 + "]" * 50, "f.yaml:1: expected at most 40 levels of nesting"),
    ],
)
def test_every_refusal_says_where_and_what_was_expected(text: str, expected: str) -> None:
    assert expected == refusal(text)


@given(keys=st.lists(KEYS, max_size=6))
def test_a_mapping_is_read_if_and_only_if_its_keys_differ(keys: list[str]) -> None:
    text = "".join(f'"{key}": {number}\n' for number, key in enumerate(keys))
    text = f"top:\n{''.join('  ' + line + chr(10) for line in text.splitlines())}" if keys else "top: {}"
    repeated = next((n for n, key in enumerate(keys) if key in keys[:n]), None)
    if repeated is None:
        assert {"top": {key: n for n, key in enumerate(keys)}} == parse(text, "f.yaml").plain()
    else:
        key = keys[repeated]
        again = f'each key once, not "{key}" again (first on line {keys.index(key) + 2})'
        assert f"f.yaml:{repeated + 2}: expected {again}" == refusal(text)


@given(text=st.text(alphabet="ab:-[]{}'\"#&*!|>?%@ \n\t01.,", max_size=40))
def test_any_text_is_read_or_refused_and_nothing_else(text: str) -> None:
    try:
        parse(text, "f.yaml").plain()
    except FileError as error:
        refused = error
    else:
        return
    assert str(refused).startswith(f"f.yaml:{refused.line}: expected ")
    assert 1 <= refused.line <= text.count("\n") + 1


def test_a_reader_of_one_kind_refuses_every_other() -> None:
    fields = parse("n: 3\nflag: true\nword: hi\nlist:\n- 1\n", "f.yaml").entries()

    def message(read: object, *arguments: object) -> str:
        assert callable(read)
        with pytest.raises(FileError) as caught:
            read(*arguments)
        return str(caught.value)

    assert message(fields["n"].text) == "f.yaml:1: expected text, not 3"
    assert message(fields["n"].integer, 4) == "f.yaml:1: expected an integer from 4 up, not 3"
    assert message(fields["flag"].integer) == "f.yaml:2: expected an integer, not true"
    assert message(fields["word"].boolean) == 'f.yaml:3: expected true or false, not "hi"'
    assert message(fields["word"].choice, ("a", "b")) == 'f.yaml:3: expected one of a, b, not "hi"'
    assert message(fields["list"].entries) == "f.yaml:4: expected a mapping, not a list"
    assert message(fields["flag"].items) == "f.yaml:2: expected a list, not true"


def test_fields_are_those_named_and_no_others() -> None:
    node = parse("step: 1\ndrop: 2\n", "f.yaml")
    assert {"step": 1, "drop": 2} == {k: n.integer() for k, n in node.fields(["step"], ["drop"]).items()}
    with pytest.raises(FileError, match=r'^f.yaml:2: expected one of step, at, not the unknown key "drop"$'):
        node.fields(["step"], ["at"])
    with pytest.raises(FileError, match=r'^f.yaml:1: expected the key "at", which is missing$'):
        node.fields(["step", "at"], ["drop"])


def test_a_file_that_is_missing_or_not_text_is_an_error_of_that_file(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"^spec/x.yaml:1: expected a file in YAML, but there is no such file$"):
        load(tmp_path / "x.yaml", "spec/x.yaml")
    (tmp_path / "x.yaml").write_bytes(b"a: 1\nb: \xff\n")
    with pytest.raises(FileError, match=r"^spec/x.yaml:2: expected text in UTF-8, not the byte 0xff$"):
        load(tmp_path / "x.yaml", "spec/x.yaml")


def test_forty_levels_of_nesting_are_read_and_no_more() -> None:
    for opens, inside, closes in (("[", "", "]"), ("{a: ", "{}", "}")):
        levels = 41 - bool(inside)
        parse(opens * levels + inside + closes * levels, "f.yaml")
        deeper = opens * (levels + 1) + inside + closes * (levels + 1)
        assert refusal(deeper) == "f.yaml:1: expected at most 40 levels of nesting"


def test_what_is_read_is_shown_cut_off_at_eighty_characters() -> None:
    for text, shown in (("w" * 80, '"' + "w" * 80 + '"'), ("w" * 81, '"' + "w" * 80 + '"...')):
        with pytest.raises(FileError) as caught:
            parse(text, "f.yaml").boolean()
        assert str(caught.value) == f"f.yaml:1: expected true or false, not {shown}"
    for digits, expected in ((78, "0." + "9" * 78), (79, "0." + "9" * 78 + "...")):
        number = "0." + "9" * digits
        assert refusal(number).endswith(f'if {expected} is text, write "{expected}"')


def test_an_integer_has_eighteen_digits_at_most_with_either_sign() -> None:
    for sign in ("", "-"):
        assert parse(sign + "9" * 18, "f.yaml").integer() == int(sign + "9" * 18)
        assert refusal(sign + "9" * 19).endswith("an integer of at most 18 digits, not one of 19")


def test_the_line_of_a_value_is_that_of_its_key() -> None:
    node = parse("a:\n- x\n-\n  - y\nb: >\n  z\n", "f.yaml").entries()
    assert [node["a"].line, *(each.line for each in node["a"].items()), node["b"].line] == [1, 2, 4, 5]
    assert parse("\n\n- x\n", "f.yaml").line == 3


def test_text_is_not_blank_and_matches_as_a_whole() -> None:
    blank, word = parse('[" ", word]', "f.yaml").items()
    assert (word.text(), word.matching("w.*d", "a word"), word.choice(["word"])) == ("word", "word", "word")
    for read, says in (
        (lambda: blank.text("a name"), 'a name, not " "'),
        (lambda: word.matching("wor", "a word"), 'a word, not "word"'),
        (lambda: word.choice(["other"]), 'other, not "word"'),
        (word.integer, 'an integer, not "word"'),
        (lambda: parse("{}", "f.yaml").text(), "text, not a mapping"),
        (lambda: parse("false", "f.yaml").items(), "a list, not false"),
        (lambda: parse("[]", "f.yaml").fields(()), "a mapping with named fields, not a list"),
        (lambda: parse("[]", "f.yaml").fields(("a", "b")), "a mapping with a, b, not a list"),
    ):
        with pytest.raises(FileError) as caught:
            read()
        assert str(caught.value) == f"f.yaml:1: expected {says}"
    assert parse("3", "f.yaml").integer(3) == 3
