"""report: the page in a real browser. It is expected to show the stories of docs/errata."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver import Chrome, Keys
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement

from groupcomm_commands.main import main

STORY = "stable/note_no_reset"
PATIENCE = 30.0
"""Seconds that a busy machine may take to answer a key."""
LAPTOP = (1440, 900)
PHONE = (390, 844)
NARROW = (320, 640)
"""The narrowest that WCAG asks for, here with a scroll bar that takes its share."""


class Page:
    """The report in a browser."""

    def __init__(self, chrome: Chrome, report: Path, name: str = "stable.html") -> None:
        self.chrome = chrome
        self.url = (report / name).as_uri()

    def open(self, fragment: str = "", size: tuple[int, int] = LAPTOP, scheme: str = "light") -> None:
        width, height = size
        self.do(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": size == PHONE},
        )
        wanted = {"prefers-color-scheme": scheme, "prefers-reduced-motion": "reduce"}
        features = [{"name": name, "value": value} for name, value in wanted.items()]
        self.do("Emulation.setEmulatedMedia", {"features": features})
        self.chrome.get("about:blank")
        self.chrome.get(self.url + (f"#{fragment}" if fragment else ""))

    def do(self, command: str, arguments: Mapping[str, object]) -> None:
        self.chrome.execute_cdp_cmd(command, dict(arguments))

    def ask(self, script: str, *arguments: object) -> Any:  # noqa: ANN401 - of any type
        return self.chrome.execute_script(f"return {script}", *arguments)

    def wait(self, script: str, wanted: object, *arguments: object) -> None:
        """Wait until a script gives what is wanted; say what it gave last if it does not."""
        end = time.monotonic() + PATIENCE
        while (came := self.ask(script, *arguments)) != wanted and time.monotonic() < end:
            time.sleep(0.05)
        assert wanted == came

    def viewer(self, story: str = STORY) -> "Viewer":
        selector = f'.viewer[data-story="{story}"]'
        self.wait("document.querySelector(arguments[0]) !== null", True, selector)  # noqa: FBT003 - it is made when opened
        return Viewer(self, self.chrome.find_element(By.CSS_SELECTOR, selector))

    def press(self, *keys: str) -> None:
        ActionChains(self.chrome).send_keys(*keys).perform()


class Viewer:
    """A counterexample."""

    def __init__(self, page: Page, section: WebElement) -> None:
        self.page = page
        self.section = section

    def one(self, selector: str) -> WebElement:
        return self.section.find_element(By.CSS_SELECTOR, selector)

    def reaches(self, number: int) -> None:
        """Wait until toolbar, slider, chart and heading all show this state, and nothing else."""
        script = """((section) => [
            section.querySelector('.place b').textContent,
            section.querySelector('input').value,
            ...[...section.querySelectorAll('[aria-current] .number')].map((link) => link.textContent),
            section.querySelector('.now').textContent.split('.')[0],
        ])(arguments[0])"""
        self.page.wait(script, [str(number)] * 4, self.section)

    def click(self, selector: str) -> None:
        """Click what can be clicked there, in the middle of the screen."""
        element = self.one(selector)
        self.page.ask("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", element)
        ActionChains(self.page.chrome).click(element).perform()

    @property
    def state(self) -> dict[str, list[str]]:
        """The table: for each row the text of its cells, with what was struck out in brackets of its own."""
        script = """[...arguments[0].querySelectorAll('.state tbody tr')].map((row) => [
            row.querySelector('th').textContent, [...row.querySelectorAll('td')].map((cell) => {
                const copy = cell.cloneNode(true);
                for (const del of copy.querySelectorAll('del')) del.textContent = `(${del.textContent})`;
                return copy.textContent;
            })])"""
        return dict(self.page.ask(script, self.section))

    @property
    def changed(self) -> list[str]:
        """The rows that are highlighted."""
        return [row.text for row in self.section.find_elements(By.CSS_SELECTOR, ".state .changed th")]

    @property
    def marked(self) -> list[list[str]]:
        """The cells with a background of their own: row and member."""
        script = """[...arguments[0].querySelectorAll('.state tbody td')]
            .filter((cell) => !['transparent', 'rgba(0, 0, 0, 0)'].includes(getComputedStyle(cell).backgroundColor))
            .map((cell) => [cell.parentElement.cells[0].textContent,
                cell.closest('table').tHead.rows[0].cells[cell.cellIndex].textContent])"""
        marked: list[list[str]] = self.page.ask(script, self.section)
        return marked

    def scene(self, number: int) -> WebElement:
        return self.section.find_elements(By.CSS_SELECTOR, ".scene")[number - 1]


@pytest.fixture
def page(chromium: Chrome, report: Path) -> Iterator[Page]:
    """The page; afterwards, nothing was complained of and nothing was fetched."""
    page = Page(chromium, report)
    chromium.get_log("browser")  # type: ignore[no-untyped-call]
    yield page
    assert [] == page.ask("performance.getEntriesByType('resource').map((entry) => entry.name)")
    assert [] == chromium.get_log("browser")  # type: ignore[no-untyped-call]


def test_the_page_begins_with_the_first_state_of_the_first_counterexample(page: Page) -> None:
    page.open()
    viewer = page.viewer()
    viewer.reaches(1)
    assert ["A", "B", "C"] == [head.text for head in viewer.section.find_elements(By.CSS_SELECTOR, ".names span")]
    assert ["{A, B}", "{A, B}", "{}"] == viewer.state["heard_from"]
    assert [] == viewer.changed


def test_the_keyboard_steps_through_a_counterexample(page: Page) -> None:
    """B's vote of two members reaches A (5); at the end C purges what B lacks (14)."""
    page.open()
    viewer = page.viewer()
    viewer.one("[data-go=on]").send_keys(*[Keys.ARROW_RIGHT] * 4)
    viewer.reaches(5)
    assert "5. A: ReceiveStable" == viewer.one(".now").text
    spoken = viewer.one(".spoken[aria-live=polite]").get_property("textContent")
    assert "State 5 of 14. A: ReceiveStable. A.heard_from {A, B} → {A}" == spoken
    assert "STABLE" in viewer.one("[aria-current] .arrow").text
    assert "digest=[A: -1, B: -1]" in viewer.one(".said").text
    assert ["heard_from"] == viewer.changed
    assert [["heard_from", "A"]] == viewer.marked
    assert ["{A, (B)}", "{A, B}", "{}"] == viewer.state["heard_from"]
    page.press(Keys.END)
    viewer.reaches(14)
    assert "PassDown Purge digest=[A: -1, B: -1, C: 0]" in viewer.one(".said").text
    assert ["minimum", "rm"] == viewer.changed
    assert [["minimum", "C"], ["rm", "C"]] == viewer.marked
    assert "{A, B, C}" == viewer.state["heard_from"][0]
    assert "purged: (-1) → 0" in viewer.state["rm"][2]
    assert "purged: (-1)" not in viewer.state["rm"][1]
    page.press(Keys.ARROW_RIGHT)
    viewer.reaches(14)
    page.press(Keys.ARROW_UP, Keys.ARROW_LEFT)
    viewer.reaches(12)
    assert "(TRUE) → FALSE" == viewer.state["pending"][0]
    page.press(Keys.ARROW_DOWN)
    viewer.reaches(13)
    page.press(Keys.HOME)
    viewer.reaches(1)
    assert page.ask("location.hash") == f"#{STORY}/1"


def test_the_mouse_steps_through_a_counterexample(page: Page) -> None:
    page.open()
    viewer = page.viewer()
    viewer.click(".scene:nth-child(6) .changes")
    viewer.reaches(6)
    assert "6. B: InstallView" == viewer.one(".now").text
    assert "members: <<A, B>>" in viewer.state["view"][1]
    assert ["view", "installed", "rm"] == viewer.changed
    viewer.click("[data-go=on]")
    viewer.reaches(7)
    assert ["heard_from", "minimum", "view", "installed", "rm", "promises"] == viewer.changed
    viewer.click("[data-go=last]")
    viewer.reaches(14)
    viewer.click("[data-go=back]")
    viewer.reaches(13)
    viewer.click("[data-go=first]")
    viewer.reaches(1)
    # The chart is scrolled so that what is shown is seen.
    viewer.click("[data-go=last]")
    inside = "arguments[0].getBoundingClientRect().bottom <= arguments[1].getBoundingClientRect().bottom + 1"
    page.wait(inside, True, viewer.scene(14), viewer.one(".scenes"))  # noqa: FBT003


def test_keys_go_on_from_the_scene_that_was_clicked(page: Page) -> None:
    page.open()
    viewer = page.viewer()
    viewer.click(".scene:nth-child(3) .changes")
    page.press(Keys.ARROW_DOWN)
    viewer.reaches(4)
    assert page.ask("document.activeElement === arguments[0]", viewer.one("[aria-current] .number"))


def test_an_address_leads_to_a_state(page: Page) -> None:
    page.open(f"{STORY}/7")
    viewer = page.viewer()
    viewer.reaches(7)
    assert "7. C: Join" == viewer.one(".now").text
    assert "() → " not in viewer.state["minimum"][2]
    assert "(<<>>) → [A: -1, B: -1, C: -1]" == viewer.state["minimum"][2]
    top = "Math.abs(arguments[0].closest('details').getBoundingClientRect().top - 16) < 60"
    page.wait(top, True, viewer.section)  # noqa: FBT003 - what the script gives
    page.chrome.find_element(
        By.CSS_SELECTOR, "#kills a[href='#stable/without_new_round_on_stability__on_pair_live']"
    ).click()
    other = page.viewer("stable/without_new_round_on_stability__on_pair_live")
    page.wait("arguments[0].closest('details').open", True, other.section)  # noqa: FBT003
    other.reaches(1)


def test_a_lasso_leads_back(page: Page) -> None:
    """In the end no member votes any more: an announcement did not begin a new round."""
    page.open("stable/without_new_round_on_stability__on_pair_live/15")
    viewer = page.viewer("stable/without_new_round_on_stability__on_pair_live")
    viewer.reaches(15)
    link = viewer.one(".loop a")
    found = re.fullmatch(r"state (\d+)", link.text)
    assert found
    link.click()
    viewer.reaches(int(found[1]))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_in_any_light(page: Page, scheme: str) -> None:
    """At least 4.5 to 1, as WCAG asks of text, for all text that is shown; dark is dark."""
    page.open(f"{STORY}/7", scheme=scheme)
    script = """(() => {
        const box = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
        const rgba = (text) => {
            box.clearRect(0, 0, 1, 1); box.fillStyle = text; box.fillRect(0, 0, 1, 1);
            return [...box.getImageData(0, 0, 1, 1).data];
        };
        const light = (rgb) => {
            const [r, g, b] = rgb.slice(0, 3).map((n) => n / 255)
                .map((n) => n <= 0.04045 ? n / 12.92 : ((n + 0.055) / 1.055) ** 2.4);
            return 0.2126 * r + 0.7152 * g + 0.0722 * b;
        };
        const back = (element) => {
            for (let at = element; at; at = at.parentElement) {
                const color = rgba(getComputedStyle(at).backgroundColor);
                if (color[3] > 250) return color;
            }
            return rgba('white');
        };
        const bad = [];
        for (const element of document.querySelectorAll('body *')) {
            const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
            if (!own || !element.checkVisibility() || element.closest('.unseen, .skip, script')) continue;
            const [a, b] = [light(rgba(getComputedStyle(element).color)), light(back(element))];
            const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
            if (ratio < 4.5) bad.push(`${element.className || element.tagName} ${ratio.toFixed(2)} ${element.textContent.trim().slice(0, 30)}`);
        }
        return [light(back(document.body)), [...new Set(bad)]];
    })()"""
    background, hard = page.ask(script)
    assert [] == hard
    assert background < 0.05 if scheme == "dark" else background > 0.8


def test_a_story_is_laid_out_when_it_is_opened(page: Page) -> None:
    """A page of some hundred counterexamples would take a minute to load otherwise."""
    page.open()
    other = "document.querySelector('[id=\"stable/without_new_round_on_stability__on_pair_live\"]')"
    assert 0 == page.ask(f"{other}.querySelectorAll('.scene').length")
    page.ask(f"{other}.querySelector('summary').click()")
    page.wait(f"{other}.querySelectorAll('.scene').length > 0", True)  # noqa: FBT003
    page.viewer("stable/without_new_round_on_stability__on_pair_live").reaches(1)


@pytest.mark.parametrize(
    ("words", "result", "found"),
    [
        ("", "", ["STB-13", "note", "pair", "pair_live", "without_new_round_on_stability__on_pair_live"]),
        ("stb-13", "", ["STB-13"]),
        ("LOST announcement voted", "", ["STB-13"]),
        ("pair", "ok", ["pair", "pair_live", "without_new_round_on_stability__on_pair_live"]),
        ("no such word", "", []),
        ("", "differs", []),
    ],
)
def test_the_index_is_filtered_by_words_and_result(
    chromium: Chrome, report: Path, words: str, result: str, found: list[str]
) -> None:
    page = Page(chromium, report, "index.html")
    page.open()
    chromium.find_element(By.CSS_SELECTOR, ".find input").send_keys(words)
    if result:
        chromium.find_element(By.CSS_SELECTOR, f".find option[value={result}]").click()
    shown = """[...document.querySelectorAll('tr[data-result]')].filter((row) => row.checkVisibility())
        .map((row) => row.cells[0].textContent).sort()"""
    page.wait(shown, found)
    count = f"{len(found)} of 5" if words or result else ""
    assert count == chromium.find_element(By.CSS_SELECTOR, ".find output").text


def test_a_protocols_page_is_filtered_whole_and_enter_goes_to_the_first_hit(chromium: Chrome, report: Path) -> None:
    page = Page(chromium, report, "stable.html")
    page.open()
    field = chromium.find_element(By.CSS_SELECTOR, ".find input")
    field.send_keys("note_no_reset")
    rows = """[...document.querySelectorAll('#kills tbody tr')].filter((row) => row.checkVisibility()).length"""
    page.wait(rows, 1)
    assert 2 == page.ask("document.querySelectorAll('#kills tbody tr').length")
    assert 0 == page.ask("[...document.querySelectorAll('.gates li')].filter((row) => row.checkVisibility()).length")
    field.send_keys("\n")
    first = "[...document.querySelectorAll('[data-result]')].find((row) => !row.hidden).getBoundingClientRect()"
    page.wait(f"{first}.top < innerHeight && {first}.bottom > 0", True)  # noqa: FBT003 - what the script says


def test_an_unknown_address_is_said(chromium: Chrome, report: Path) -> None:
    page = Page(chromium, report, "stable.html")
    page.open("stable/nosuch/4")
    page.wait("document.querySelector('.find output').textContent", "stable/nosuch/4 is not on this page")


def test_a_list_is_sorted_by_its_heading(chromium: Chrome, report: Path) -> None:
    page = Page(chromium, report, "index.html")
    page.open()
    states = """[...document.querySelectorAll('#models [data-label=states]')]
        .map((cell) => Number(cell.textContent.replaceAll(',', '')))"""
    head = chromium.find_element(By.CSS_SELECTOR, "#models th:nth-child(4) button")
    head.click()
    up = page.ask(states)
    assert sorted(up) == up
    head.click()
    assert up[::-1] == page.ask(states)
    assert "descending" == head.find_element(By.XPATH, "..").get_attribute("aria-sort")


def test_a_flaw_has_an_address_on_the_index_and_on_its_page(chromium: Chrome, report: Path) -> None:
    page = Page(chromium, report, "index.html")
    page.open("STB-13")
    row = chromium.find_element(By.CSS_SELECTOR, "tr:target")
    row.find_element(By.TAG_NAME, "a").click()
    assert chromium.current_url.endswith("stable.html#STB-13")
    assert "STB-13" in chromium.find_element(By.CSS_SELECTOR, ".erratum:target h3").text


@pytest.mark.parametrize("name", ["stable.html", "index.html"])
@pytest.mark.parametrize("size", [LAPTOP, PHONE, NARROW])
def test_nothing_is_wider_than_the_screen(chromium: Chrome, report: Path, size: tuple[int, int], name: str) -> None:
    page = Page(chromium, report, name)
    page.open(f"{STORY}/7", size)
    page.ask("document.querySelectorAll('summary').forEach((summary) => summary.click())")
    assert page.ask("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    assert size[0] == page.ask("innerWidth")


def test_on_a_phone_the_buttons_stay_in_reach(page: Page) -> None:
    """While the state is read, the next one is a tap away."""
    page.open(f"{STORY}/7", PHONE)
    viewer = page.viewer()
    viewer.reaches(7)
    button = viewer.one("[data-go=on]")
    page.ask("arguments[0].scrollIntoView({block: 'end'})", viewer.one(".said"))
    box = page.ask(
        "(({width, height, top, bottom}) => [width, height, top, bottom])(arguments[0].getBoundingClientRect())", button
    )
    assert box[0] >= 40
    assert box[1] >= 40
    assert 0 <= box[2] < box[3] <= PHONE[1]
    button.click()
    viewer.reaches(8)


def test_the_tables_need_no_script(chromium: Chrome, report: Path) -> None:
    page = Page(chromium, report)
    page.do("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        page.open()
        text = chromium.find_element(By.TAG_NAME, "main").text
    finally:
        page.do("Emulation.setScriptExecutionDisabled", {"value": False})
    assert "959 9,507 18" in text
    assert "44 1,144 192 652 60 240 9,507" in text
    assert "groupcomm explain stable note_no_reset draws it" in text


def test_what_can_be_used_has_a_name_and_is_reached_by_tab(page: Page) -> None:
    page.open()
    nameless = """[...document.querySelectorAll('a, button, input, summary, [role=region]')].filter((element) =>
        !(element.getAttribute('aria-label') || element.textContent.trim())).length"""
    assert 0 == page.ask(nameless)
    viewer = page.viewer()
    viewer.one("[data-go=last]").send_keys(Keys.TAB)
    assert page.ask("document.activeElement === arguments[0]", viewer.one("[aria-current] .number"))
    # One stop for the whole chart: the next is behind it.
    page.press(Keys.TAB)
    assert not page.ask("arguments[0].contains(document.activeElement)", viewer.one(".scenes"))


def test_another_protocol_is_shown_without_a_word_about_it(
    chromium: Chrome, checked_toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The toy's first vote makes a member commit: who hears of it commits before the other has voted."""
    monkeypatch.chdir(checked_toy)
    main(["report", "toy", "--tier", "smoke", "--out", str(tmp_path)])
    page = Page(chromium, tmp_path, "toy.html")
    page.open("toy/hasty/3")
    viewer = page.viewer("toy/hasty")
    viewer.reaches(3)
    assert sorted(["FALSE", "(FALSE) → TRUE"]) == sorted(viewer.state["committed"])
    assert {"committed", "heard_from"} <= set(viewer.changed)
    assert "ReceiveVote" in viewer.one(".now").text


@pytest.mark.parametrize("ci", ["true", ""])
def test_without_a_browser_continuous_integration_fails(ci: str) -> None:
    """Elsewhere the reason of the skip is seen."""
    environment = {**os.environ, "PATH": "/nonexistent", "CI": ci}
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-rs", "-p", "no:cacheprovider", f"{__file__}::test_a_lasso_leads_back"],
        env=environment,
        cwd=Path(__file__).parent.parent.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "no chromium and chromedriver on PATH (Debian: apt-get install" in run.stdout
    assert bool(ci) == bool(run.returncode)
    assert ("1 error" if ci else "1 skipped") in run.stdout


def test_what_differs_is_told_first(page: Page, made: tuple[Path, int]) -> None:
    """So few models do not refute each claim: a gate fails, and the exit code says so."""
    page.open()
    assert 1 == made[1]
    first = page.chrome.find_element(By.CSS_SELECTOR, ".protocol > section")
    assert "Differences" in first.text
    assert "no ablation refutes PurgeWithinPromise" in first.text
    assert "Not all is as expected." in page.chrome.find_element(By.CSS_SELECTOR, ".lead").text
