r"""`docs/requirements.md`: which check holds a requirement, told by tags, and gated.

The requirements of a protocol are the rows of the tables in `spec/<protocol>/README.md` whose first cell is
an ID such as `STB-05`. A check is tagged by writing the ID

- in the comment directly above a claim of the specification, or in a manifest's text about a model;
- in a test function of `tests/<protocol>/` (its docstring, its body, the comment above it), or elsewhere in
  such a file, which then counts as a whole;
- in a scenario of `conformance/scenarios/<protocol>/`;
- the other way round, a row's cell under a heading with "check" in it may name, in backticks, a claim, a
  model, a test function or a scenario.

The comment above any other operator says where a requirement is specified, which checks nothing. A row
without a check is a problem, and so are an ID without a row and a name without a thing.
"""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from attrs import Factory, define, frozen

from groupcomm_conformance.models.manifest import Manifest

__all__ = ["PATH", "Requirement", "Table", "page", "trace"]

PATH: Final = Path("docs", "requirements.md")

_ID: Final = re.compile(r"\b(?!SHA-|UTF-|ISO-)[A-Z]{3,5}-\d{2,3}[a-z]?\b")
_TAGGED: Final = re.compile(r"((?:^[ \t]*\\\*[^\n]*\n)+)^(?:LOCAL +)?(\w+)(?:\([^)]*\))? *==", re.MULTILINE)
_RULE: Final = re.compile(r"\|?[\s:|-]+\|?")
_HEAD: Final = """\
# Requirements

What each protocol must do, where its specification says so, and which checks hold it. Written by
`groupcomm requirements` from the tables in `spec/*/README.md` and from the tags in specifications, tests and
scenarios; do not edit it.
"""


@define
class Requirement:
    """A row: its ID, its text, where it stands, where it is specified, and what checks it."""

    id: str
    text: str
    place: str
    specified: list[str] = Factory(list)
    checks: list[str] = Factory(list)


@frozen
class Table:
    """The requirements of all protocols by ID, and all that is amiss, each `file:line: what`."""

    protocols: Mapping[str, tuple[Requirement, ...]]
    problems: tuple[str, ...]


@frozen
class _Tag:
    """An ID and where it stands. `name` is what it tags: a check, or an operator where `check` is False."""

    id: str
    place: str
    name: str = ""
    check: bool = False


@define
class _Rows:
    rows: list[Requirement] = Factory(list)
    cited: list[tuple[Requirement, str]] = Factory(list)
    problems: list[str] = Factory(list)


def page(table: Table) -> str:
    """Write the page."""
    lines = [_HEAD]
    for protocol, requirements in table.protocols.items():
        lines += [
            f"## {protocol}",
            "",
            "| ID | requirement | specified in | checked by |",
            "| --- | --- | --- | --- |",
        ]
        for row in requirements:
            specified, checks = (
                ", ".join(f"`{name}`" for name in names) or "-" for names in (row.specified, row.checks)
            )
            lines.append(f"| {row.id} | {row.text} | {specified} | {checks} |")
        lines.append("")
    return "\n".join(lines)


def trace(root: Path, manifests: Iterable[Manifest]) -> Table:
    """Find all rows, tags and problems of the project at `root`."""
    found: dict[str, tuple[Requirement, ...]] = {}
    problems: list[str] = []
    rows: dict[str, Requirement] = {}
    tags: list[_Tag] = []
    errata: set[str] = set()
    common = sorted((root / "spec" / "common").glob("*.tla"))
    for path in common:
        tags += _specification(root, path, frozenset())
    for manifest in manifests:
        own = [*_own(root, manifest)]
        tags += own
        read = _readme(root, manifest)
        problems += read.problems
        for row in read.rows:
            if row.id in rows:
                problems.append(f"{row.place}: {row.id} has a row already, at {rows[row.id].place}")
            rows.setdefault(row.id, row)
        known = _known(root, manifest, own)
        for row, name in read.cited:
            if name in known:
                row.checks.append(known[name])
            else:
                problems.append(f"{row.place}: no claim, model, test or scenario is called {name}")
        found[manifest.protocol] = tuple(read.rows)
        errata |= {model.erratum.id for model in manifest.models if model.erratum}
    for tag in tags:
        if tag.id in rows:
            if tag.name:
                (rows[tag.id].checks if tag.check else rows[tag.id].specified).append(tag.name)
        elif tag.id not in errata:
            problems.append(f"{tag.place}: {tag.id} has no row in any spec/*/README.md")
    for row in rows.values():
        row.checks = list(dict.fromkeys(row.checks))
        row.specified = list(dict.fromkeys(row.specified))
        if not row.checks:
            hint = (
                f" (the comment above {row.specified[0]} checks nothing: it is no claim)"
                if row.specified
                else ""
            )
            problems.append(f"{row.place}: nothing checks {row.id}{hint}")
    return Table(found, tuple(dict.fromkeys(problems)))


def _readme(root: Path, manifest: Manifest) -> _Rows:
    path = manifest.folder / "README.md"
    shown = path.relative_to(root)
    found = _Rows()
    if not path.is_file():
        found.problems.append(f"{shown}:1: there is none, so {manifest.protocol} has no requirements")
        return found
    heads: list[str] = []
    previous: list[str] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if not line.lstrip().startswith("|"):
            heads, previous = [], []
            continue
        cells = [
            cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().removeprefix("|").removesuffix("|"))
        ]
        if _RULE.fullmatch(line.strip()):
            heads = previous
            continue
        previous = cells
        identifier = cells[0].strip("`* ")
        if not heads or not _ID.fullmatch(identifier):
            continue
        row = Requirement(identifier, cells[1] if len(cells) > 1 else "", f"{shown}:{number}")
        found.rows.append(row)
        for head, cell in zip(heads, cells, strict=False):
            if "check" in head.lower():
                found.cited += [(row, name) for name in re.findall(r"`([^`]+)`", cell)]
    if not found.rows:
        found.problems.append(f"{shown}:1: no table with IDs, so {manifest.protocol} has no requirements")
    return found


def _known(root: Path, manifest: Manifest, tags: Iterable[_Tag]) -> dict[str, str]:
    """Give what a README may cite, each with the name that the page has for it."""
    known = {tag.name: tag.name for tag in tags if tag.check}
    for path in _tests(root, manifest.protocol):
        shown = str(path.relative_to(root))
        known |= {path.name: shown, shown: shown}
        for function, _ in _functions(path.read_text(encoding="utf-8")):
            known |= dict.fromkeys((function, f"{shown}::{function}"), f"{shown}::{function}")
    for path in _scenarios(root, manifest.protocol):
        shown = str(path.relative_to(root))
        known |= dict.fromkeys((path.stem, path.name, shown), shown)
    known |= {model.name: model.name for model in manifest.models}
    return known | {claim: claim for claim in manifest.claims()}


def _own(root: Path, manifest: Manifest) -> Iterator[_Tag]:
    """Find the tags of one protocol."""
    for path in sorted(manifest.folder.glob("*.tla")):
        yield from _specification(root, path, frozenset(manifest.claims()))
    for model in manifest.models:
        texts = [model.shows, model.bounds]
        if model.erratum:
            texts += [model.erratum.title, model.erratum.flaw, model.erratum.repair]
        for identifier in _ids("\n".join(texts)):
            yield _Tag(identifier, f"{manifest.file}:{model.line}", model.name, check=True)
    for path in _tests(root, manifest.protocol):
        yield from _test(root, path)
    for path in _scenarios(root, manifest.protocol):
        shown = str(path.relative_to(root))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            for identifier in _ids(line):
                yield _Tag(identifier, f"{shown}:{number}", shown, check=True)


def _specification(root: Path, path: Path, claims: frozenset[str]) -> Iterator[_Tag]:
    shown = path.relative_to(root)
    text = path.read_text(encoding="utf-8")
    above: dict[int, str] = {}
    for match in _TAGGED.finditer(text):
        first = text.count("\n", 0, match.start(1)) + 1
        above |= {first + offset: match[2] for offset in range(match[1].count("\n"))}
    for number, line in enumerate(text.splitlines(), start=1):
        name = above.get(number, "")
        # The step of an action property stands above the property.
        claim = name if name in claims else name.removesuffix("Step")
        for identifier in _ids(line):
            if claim in claims:
                yield _Tag(identifier, f"{shown}:{number}", claim, check=True)
            else:
                yield _Tag(identifier, f"{shown}:{number}", name and f"{path.stem}!{name}")


def _test(root: Path, path: Path) -> Iterator[_Tag]:
    shown = path.relative_to(root)
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    owner: dict[int, str] = {}
    for name, (first, last) in _functions(text):
        while first > 1 and lines[first - 2].lstrip().startswith("#"):
            first -= 1  # noqa: PLW2901 - the comment above belongs to it
        owner |= dict.fromkeys(range(first, last + 1), f"{shown}::{name}")
    for number, line in enumerate(lines, start=1):
        for identifier in _ids(line):
            yield _Tag(identifier, f"{shown}:{number}", owner.get(number, str(shown)), check=True)


def _functions(text: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """Name the test functions of a file, with their first and last lines."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            yield node.name, (first, node.end_lineno or node.lineno)


def _tests(root: Path, protocol: str) -> list[Path]:
    return sorted((root / "tests" / protocol).rglob("*.py"))


def _scenarios(root: Path, protocol: str) -> list[Path]:
    return sorted((root / "conformance" / "scenarios" / protocol).rglob("*.yaml"))


def _ids(text: str) -> list[str]:
    return list(dict.fromkeys(_ID.findall(text)))
