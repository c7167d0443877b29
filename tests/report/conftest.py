"""A small project with a whole report, and a browser to look at it with."""

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

from groupcomm_commands.main import main

ROOT = Path(__file__).parent.parent.parent
WANTED = ("pair", "note", "note_no_reset", "pair_live", "without_new_round_on_stability__on_pair_live")
STORIES = ("alone.yaml", "duplicate_vote.yaml", "member_leaves_in_mid_round.yaml")


def wanted(block: str) -> str:
    """A model of the manifest with those of its ablations that are wanted, and nothing that is lost."""
    model, _, ablations = block.partition("\n  without:\n  - name: ")
    kept = [each for each in ablations.split("\n  - name: ") if each.split("\n")[0] in WANTED]
    text = "\n  - name: ".join([f"{model}\n  without:", *kept]) if kept else model
    return re.sub("MaxLost: [1-9]", "MaxLost: 0", text)


def row(line: str) -> str:
    """What TLC counts where nothing is lost: of the models for liveness a third is left."""
    figures = {"distinct": 1883, "transitions": 5118, "depth": 31, "trace": 15}
    for name, number in figures.items() if "_live: " in line else ():
        line = re.sub(rf"{name}: \d+", f"{name}: {number}", line)
    return line


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int]:
    """A project with a report of a few models and stories of STABLE, and the exit code of the command.

    There are two counterexamples: one for safety, and a lasso.
    """
    root = tmp_path_factory.mktemp("report")
    for folder in ("spec/common", "spec/stable"):
        shutil.copytree(ROOT / folder, root / folder)
    # STABLE is composed with the modules of NAKACK, which is no protocol here.
    modules = shutil.ignore_patterns("models.yaml")
    shutil.copytree(ROOT / "spec/nakack", root / "spec/nakack", ignore=modules)
    (root / "conformance" / "scenarios" / "stable").mkdir(parents=True)
    for name in ("stable.yaml", *(f"stable/{story}" for story in STORIES)):
        shutil.copy(ROOT / "conformance/scenarios" / name, root / "conformance/scenarios" / name)
    manifest = root / "spec" / "stable" / "models.yaml"
    head, *models = manifest.read_text().split("\n- name: ")
    head = head[: head.index("witnesses:")] + "witnesses: {}\nmodels:\n"
    chosen = [wanted(model) for model in models if model.split("\n")[0] in WANTED]
    text = "\n- name: ".join((head, *chosen))
    assert len(WANTED) == text.count("- name: ")
    manifest.write_text(text.replace("  walk: true\n", "", 1))  # of pair, which conforms
    recorded = manifest.with_name("recorded.yaml")
    rows = recorded.read_text().splitlines(keepends=True)
    recorded.write_text("".join(row(line) for line in rows if line.split(":")[0] in WANTED))
    errata = manifest.with_name("errata.yaml")
    stories = [each for each in errata.read_text().split("\n\n") if each.split(":")[0] in WANTED]
    errata.write_text("\n\n".join(stories).replace("proved_by: [join_small]", "proved_by: [note]"))
    before = Path.cwd()
    os.chdir(root)
    try:
        code = main(["report", "--tier", "full"])
    finally:
        os.chdir(before)
    return root, code


@pytest.fixture(scope="session")
def report(made: tuple[Path, int]) -> Path:
    """The folder of the report."""
    return made[0] / "build" / "report"


@pytest.fixture(scope="session")
def chromium() -> Iterator[webdriver.Chrome]:
    """A headless browser. There must be one where CI is set; elsewhere these tests are skipped without."""
    browser, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if browser is None or driver is None:
        lacking = "no chromium and chromedriver on PATH (Debian: apt-get install chromium chromium-driver)"
        if os.environ.get("CI"):
            pytest.fail(lacking)
        pytest.skip(lacking)
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    options.add_argument("--headless=new")
    options.add_argument("--disable-dev-shm-usage")
    if os.geteuid() == 0:  # then Chromium has no sandbox
        options.add_argument("--no-sandbox")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    chrome = webdriver.Chrome(options=options, service=Service(driver))
    yield chrome
    chrome.quit()
