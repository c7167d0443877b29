"""site: links lead to what is there; a protocol's page has note, specification, code and errata, in a browser too."""

import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from posixpath import dirname, join, normpath

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.support.wait import WebDriverWait

from groupcomm_commands import jgroups
from groupcomm_commands.main import main
from groupcomm_conformance.models.selecting import manifests_of
from groupcomm_conformance.site.beside import pairs
from groupcomm_conformance.site.pages import pages
from tests.report.conftest import chromium

ROOT = Path(__file__).parents[2]
CORE = """\
\"\"\"Toy.\"\"\"
LIMIT = 1


def start(member):
    return State(member)


def _vote_received(state, event):
    return state, ()


def _helped(state):
    return state
"""
README = "# The toy\n\nSee [the commit](spec/toy/README.md#the-rows), [its module](spec/toy/Toy.tla).\n"
ROWS = "# Toy\n\n## The rows\n\n| ID | text | checked by |\n| --- | --- | --- |\n| TOY-01 | No member commits early. | `NoEarlyCommit` |\n"

__all__ = ["chromium"]


def broken(site: Mapping[str, str]) -> Iterator[str]:
    """The links of a site that lead to no page, or to no element of it, and names of two elements."""
    named = {place: re.findall(r' id="([^"]*)"', text) for place, text in site.items() if place.endswith(".html")}
    for place, names in named.items():
        yield from (f"{place}: {name} twice" for name in {*names} if names.count(name) > 1)
    for place, text in site.items():
        for href in re.findall(r' (?:href|src)="([^"]*)"', text) if place.endswith(".html") else ():
            if re.match(r"(?:[a-z]+:)", href):
                continue
            to, _, anchor = href.partition("#")
            target = normpath(join(dirname(place), to)) if to else place
            if target not in site or (anchor and anchor not in named.get(target, ())):
                yield f"{place}: {href}"


def test_each_link_of_the_project_leads_to_a_page_and_to_a_place_that_are_there() -> None:
    """Without the errata's own pages, which take TLC: nothing links into them but their index."""
    site = dict(pages(ROOT, manifests_of(ROOT), (), {}, {"docs/jgroups.md": jgroups.page(ROOT)}))
    assert [] == [*broken(site)]
    assert {"index.html", "docs/operating.html", "protocols/stable.html", "docs/figures/failover.svg"} <= {*site}
    assert [] != [place for place in site if place.endswith(".yaml.html")]
    row = site["protocols/stable.html"].split('id="ViewInstalled"')[1].split("</section>")[0]
    assert [] == [
        part
        for part in ('id="STB-19"', "ResetOnView", "_view_installed", "EventuallyPurged")
        if part not in row.replace("<wbr>", "")
    ]


def test_operators_stand_beside_the_functions_of_their_names() -> None:
    found = pairs((ROOT / "tests/data/spec/toy/Toy.tla").read_text(encoding="utf-8"), CORE)
    assert [("", True), ("Start", True), ("Decide", False), ("VoteReceived", True), ("Step", False), ("", True)] == [
        (each.name, bool(each.python)) for each in found
    ]
    assert "LIMIT = 1" in found[0].python
    assert found[3].tla.startswith("\\* TOY-01, TOY-02\nVoteReceived(s, e) ==")
    assert "_helped" in found[-1].python
    assert found[3].names("KeepCommit")
    assert not found[3].names("Keep")


@pytest.fixture
def site(checked_toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The site of a small project."""
    shutil.copytree(checked_toy, tmp_path, dirs_exist_ok=True)
    (tmp_path / "README.md").write_text(README)
    (tmp_path / "spec/toy/README.md").write_text(ROWS)
    (tmp_path / "impl/groupcomm").mkdir(parents=True)
    (tmp_path / "impl/groupcomm/toy.py").write_text(CORE)
    monkeypatch.chdir(tmp_path)
    assert 0 == main(["site"])
    return tmp_path / "build/site"


def test_the_page_of_a_protocol_has_all_four_side_by_side(site: Path) -> None:
    found = {str(file.relative_to(site)): file.read_text(encoding="utf-8") for file in site.rglob("*.*")}
    assert [] == [*broken(found)]
    row = found["protocols/toy.html"].split('id="VoteReceived"')[1].split("</section>")[0].replace("<wbr>", "")
    for part in (
        "No member commits early.",
        "VoteReceived",
        "_vote_received",
        "NoEarlyCommit",
        'id="TOY-91"',
        "data-story",
    ):
        assert part in row
    assert 'href="spec/toy/index.html#the-rows"' in found["index.html"]
    assert "http" not in "".join(found.values()).replace("http://www.w3.org/", "")


def test_a_link_to_nothing_is_named_by_its_line(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (site.parents[1] / "README.md").write_text("# Toy\n\nSee [it](docs/nowhere.md).\n")
    assert 2 == main(["site"])
    assert "README.md:3: expected a link to what there is, not to docs/nowhere.md" in capsys.readouterr().err


@pytest.mark.parametrize("width", [400, 1280])
def test_a_browser_finds_a_flaw_and_steps_through_it(site: Path, chromium: Chrome, width: int) -> None:
    chromium.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width == 400},
    )
    chromium.get((site / "index.html").as_uri())
    chromium.find_element(By.CSS_SELECTOR, ".search input").send_keys("hasty commit\n")
    waits = WebDriverWait(chromium, 30)
    waits.until(lambda there: "toy.html" in there.current_url)
    chromium.get((site / "protocols/toy.html").as_uri() + "#TOY-91")
    waits.until(lambda there: there.execute_script("return document.getElementById('TOY-91').open"))
    waits.until(lambda there: there.find_elements(By.CSS_SELECTOR, "#TOY-91 .viewer.live"))
    chromium.find_element(By.CSS_SELECTOR, "#TOY-91 [data-go=on]").click()
    assert "2" == chromium.find_element(By.CSS_SELECTOR, "#TOY-91 .place b").text
    assert chromium.execute_script("return document.documentElement.scrollWidth") <= width
    places = chromium.execute_script(
        "return [...document.querySelector('#Start').children].map((part) => Math.round(part.getBoundingClientRect().left))"
    )
    assert (1 if width == 400 else 4) == len({*places})
    assert [] == chromium.get_log("browser")  # type: ignore[no-untyped-call]
