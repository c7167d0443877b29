"""The page of JGroups: each erratum against versions of it, from `conformance/jgroups/verdicts.yaml`.

The verdicts of rows that have a schedule are held against runs by `groupcomm jgroups`; the others are a
reader's.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from attrs import frozen

from groupcomm_conformance.files.strict_yaml import Node, load

from .differential import FILE as DIFFERENCES
from .differential import RUNS, Explained
from .jvm import VERSIONS, Version
from .schedules import SCHEDULES

FILE: Final = Path("conformance", "jgroups", "verdicts.yaml")
PATH: Final = Path("docs", "jgroups.md")

_WORDS: Final = {"present": "**present**", "repaired": "repaired", "absent": "absent", "none": "-", "undecided": "?"}


@frozen
class Row:
    """A row of the table: its name, the errata that it is about, a verdict for each version, and why."""

    name: str
    errata: tuple[str, ...]
    verdicts: Mapping[str, str]
    says: str

    @property
    def run(self) -> bool:
        """True if a schedule decides it."""
        return self.name in SCHEDULES

    def differs(self, version: Version, seen: str) -> bool:
        """Say whether a run shows something else than the row says."""
        return (self.verdicts[version.number] == "present") != (seen == "present")


def read(root: Path, errata: Iterable[str]) -> tuple[Row, ...]:
    """Read the rows.

    FileError where an erratum has none, or a row is of no erratum or says what cannot be.
    """
    document = load(root / FILE, str(FILE))
    fields = document.fields(("versions", "rows"))
    versions = tuple(node.choice(VERSIONS) for node in fields["versions"].items())
    if versions != tuple(VERSIONS):
        raise fields["versions"].error(f"the versions {', '.join(VERSIONS)}, in this order")
    known, rows = set(errata), tuple(_row(node) for node in fields["rows"].items())
    names = [row.name for row in rows]
    had = {erratum for row in rows for erratum in row.errata}
    for node, row in zip(fields["rows"].items(), rows, strict=True):
        if names.count(row.name) > 1:
            raise node.error(f"each row once, not {row.name} again")
        if unknown := sorted(set(row.errata) - known):
            raise node.error(f"errata of spec/*/errata.yaml, not {', '.join(unknown)}")
    if missing := sorted(known - had):
        raise fields["rows"].error(f"a row for each erratum, also for {', '.join(missing)}")
    if missing := sorted(set(SCHEDULES) - set(names)):
        raise fields["rows"].error(f"a row for each schedule, also for {', '.join(missing)}")
    return rows


def _row(node: Node) -> Row:
    fields = node.fields(("row", "verdicts", "says"), ("errata",))
    name = fields["row"].text()
    errata = (
        tuple(each.text() for each in fields["errata"].items()) if "errata" in fields else (name.partition("/")[0],)
    )
    verdicts = [each.choice(_WORDS) for each in fields["verdicts"].items()]
    if len(verdicts) != len(VERSIONS):
        raise fields["verdicts"].error(f"{len(VERSIONS)} verdicts, a version each")
    row = Row(name, errata, dict(zip(VERSIONS, verdicts, strict=True)), " ".join(fields["says"].text().split()))
    for version in VERSIONS.values():
        verdict = row.verdicts[version.number]
        if row.run and verdict == "undecided":
            raise fields["verdicts"].error("present, repaired or absent: a schedule decides it")
        if row.run and (verdict == "none") == SCHEDULES[name].suits(version):
            raise fields["verdicts"].error(f"none where its layer is not there, and only there ({version.number})")
    return row


def page(opening: str, rows: Iterable[Row], explained: Mapping[tuple[str, str, str], Explained]) -> str:
    """Write the page: its `opening`, then the tables."""
    entries = tuple(rows)
    current = list(VERSIONS)[-1]
    counted = {word: sum(row.verdicts[current] == word for row in entries) for word in _WORDS}
    lines = [
        opening,
        "## The errata",
        "",
        "`repaired`: by the change that is named. `absent`: there was never such a step, or it is harmless.",
        "`-`: the version has no such layer or message. `?`: not examined. *Run*: a schedule decides,",
        "and `groupcomm jgroups NAME` runs it; *read*: a reader of JGroups' source decided.",
        f"In {current} {counted['present']} rows are present.",
        "[jgroups-reports.md](jgroups-reports.md) has a report of each.",
        "",
        f"| erratum | {' | '.join(VERSIONS)} | by | |",
        f"| --- |{' --- |' * len(VERSIONS)} --- | --- |",
    ]
    for row in entries:
        anchors = "".join(f'<a id="{each.lower()}"></a>' for each in row.errata if "/" not in row.name)
        shown = row.name if row.run or row.errata == (row.name,) else ", ".join(row.errata)
        by = "run" if row.run else "-" if set(row.verdicts.values()) <= {"undecided", "none"} else "read"
        words = " | ".join(_WORDS[row.verdicts[version]] for version in VERSIONS)
        lines.append(f"| {anchors}{shown} | {words} | {by} | {row.says} |")
    lines += ["", "## What the schedules do", "", "| schedule | |", "| --- | --- |"]
    lines += [f"| `{each.name}` | {each.says} |" for each in (SCHEDULES[row.name] for row in entries if row.run)]
    lines += ["", "## Random schedules", "", "| run | compares |", "| --- | --- |"]
    lines += [f"| `{run.name}` | {run.says} |" for run in RUNS.values()]
    lines += [
        "",
        f"Differences that are known, from `{DIFFERENCES}`:",
        "",
        "| run | difference | versions | | why |",
        "| --- | --- | --- | --- | --- |",
    ]
    grouped: dict[tuple[str, str, Explained], list[str]] = {}
    for (run_name, kind, version), each in explained.items():
        grouped.setdefault((run_name, kind, each), []).append(version)
    lines += [
        f"| `{run_name}` | {kind} | {', '.join(versions)} | {each.verdict} | {' '.join(each.why.split())} |"
        for (run_name, kind, each), versions in grouped.items()
    ]
    return "\n".join(lines) + "\n"
