"""Generated definitions in lines: the same words, short lines, strings whole."""

import pytest

from groupcomm_conformance.tla.folding import folded
from groupcomm_conformance.tlc import run as tlc


@pytest.mark.parametrize("text", ["Lit0 == 1", "Lit1 == <<>>", 'Lit2 == "a  b"'])
def test_a_short_one_stays(text: str) -> None:
    assert folded(text) == text


def test_a_long_one_has_short_lines() -> None:
    text = f"Long == <<{', '.join(f'Lit{n}' for n in range(400))}>>"
    lines = folded(text).splitlines()
    assert max(map(len, lines)) <= 110
    assert " ".join(line.strip() for line in lines) == text
    assert all(line.startswith(" ") for line in lines[1:])  # a name in the first column begins a definition


def test_strings_are_not_broken() -> None:
    r"""With spaces, with \" and with what looks like an end: TLC reads the same values."""
    values = ['"a, b  c"', '"say \\"x\\" , y"', '" == "'] * 30
    text = f"Long == <<{', '.join(values)}>>"
    assert max(map(len, folded(text).splitlines())) < 130
    module = (
        "---- MODULE Folded ----\nEXTENDS Sequences\nVARIABLE x\n"
        f"Is == {text.removeprefix('Long == ')}\n{folded(text)}\n"
        "Init == x = Is\nNext == UNCHANGED x\nSame == x = Long /\\ Len(x) = 90\n====\n"
    )
    result = tlc.run([], "Folded", "INIT Init\nNEXT Next\nINVARIANT Same\n", generated={"Folded": module}, workers=1)
    assert result.outcome == "holds"
