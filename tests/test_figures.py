"""figures: the committed SVG files are the command's output, and can be read."""

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from groupcomm_conformance.commands.main import main
from groupcomm_conformance.drawing.figures import FOLDER, figures, kept

ROOT = Path(__file__).parents[1]
DRAWN = figures(ROOT)


def parsed(name: str) -> ET.Element:
    return ET.fromstring(DRAWN[name])  # noqa: S314 - drawn above


def words_of(name: str) -> list[str]:
    return [text.text or "" for text in parsed(name).iter("{http://www.w3.org/2000/svg}text")]


def test_the_committed_figures_are_those_that_the_command_writes() -> None:
    assert {file.name for file in (ROOT / FOLDER).iterdir()} == set(DRAWN)
    assert [] == [name for name, text in DRAWN.items() if (ROOT / FOLDER / name).read_text() != text]
    assert list(kept(ROOT).values()) == list(DRAWN.values())


@pytest.mark.parametrize("name", DRAWN)
def test_a_figure_is_within_its_frame_and_fits_a_telephone(name: str) -> None:
    """Text of 13 pixels in a frame of 560 has 9 at a width of 400."""
    root = parsed(name)
    width, height = (int(root.attrib[key]) for key in ("width", "height"))
    assert width <= 560
    for text in root.iter("{http://www.w3.org/2000/svg}text"):
        half = 3.4 * len(text.text or "")
        assert half <= float(text.attrib["x"]) <= width - half, text.text
        assert 0 < float(text.attrib["y"]) < height


def test_each_figure_shows_what_it_is_named_for() -> None:
    words = {name: words_of(name) for name in DRAWN}
    assert {"SEQUENCER", "FLUSH", "MERGE over GMS", "STABLE", "NAKACK", "UNICAST"} <= set(words["stack.svg"])
    assert ["JOIN_REQ", "JOIN_RSP"] == [
        word for word in words["join.svg"] if word in {"JOIN_REQ", "JOIN_RSP"}
    ][::2]
    assert [2, 2] == [words["flush.svg"].count(word) for word in ("↑ Block", "↑ Unblock")]
    assert "RECONCILE" in words["failover.svg"]
    assert "INSTALL_MERGE_VIEW" in words["merge.svg"]


@pytest.mark.parametrize("name", DRAWN)
def test_a_figure_has_colours_for_a_dark_page(name: str) -> None:
    light, dark = DRAWN[name].split("prefers-color-scheme: dark")
    assert set(re.findall(r"\.fig-[a-z]+", light.partition("<style>")[2])) - {".fig-name"} == set(
        re.findall(r"\.fig-[a-z]+", dark.partition("</style>")[0])
    )


def test_check_belongs_to_figures(capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == main(["demo", "--figures", "--check"])
    assert 2 == main(["demo", "--check"])
    assert "--check is for --figures" in capsys.readouterr().err
