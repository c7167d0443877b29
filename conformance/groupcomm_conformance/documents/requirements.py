r"""The page of requirements: the checks of each requirement, found by tags, and gated.

The requirements of a protocol are the rows of the tables in `spec/<protocol>/README.md`, and in
`requirements.md` beside it, whose first cell is
an ID such as `STB-05`. The checks of a requirement are

- A claim that an ablation refutes: the ID stands in the comment directly above it (or above its step).
- An ablation, where a claim is violated without a guard: the ID stands in its `shows`, or in its erratum.
- A witness, a state that must be reached: the ID stands in the comment above it.
- A test function of `tests/<protocol>/` that pytest collects and that expects something (`assert`,
  `pytest.raises`, or a function of the file that does): the ID stands in it, or in the comment above it.
- A scenario of `conformance/scenarios/<protocol>/` with the ID under `requirements`.

The other way round, a row's cell under a heading with "check" in it may name, in backticks, any of these. A
test or scenario that is named must cite the ID.

A model that holds checks nothing: it holds with or without what a requirement asks. It is listed as what it
is. So is the comment above any other operator: where a requirement is specified.

A scenario alone is nominal, and a problem: a story shows that it may be so, and not that it is.

A row that nothing can check has a reason in place of checks: `reading: why`, of a sentence that is only read
in a certain way, or `absent: why`, of what is not here. A row without either is a problem. So are an ID
without a row, a number of a note without a row or reason (`notes`), and a name without a thing. Every problem
has its `file:line`.
"""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from os.path import lexists
from pathlib import Path
from typing import Final, Literal, TypeAlias

from attrs import Factory, define, evolve, frozen

from groupcomm_conformance.files import strict_yaml
from groupcomm_conformance.files.errors import FileError
from groupcomm_conformance.files.reading import python_tree, read_text
from groupcomm_conformance.models.manifest import Manifest

from . import notes
from .notes import Heading
from .pages import opening

PATH: Final = Path("docs", "requirements.md")

Kind: TypeAlias = Literal["claim", "ablation", "witness", "test", "scenario", "model", "operator", "mention"]

_CHECKS: Final = frozenset(("claim", "ablation", "witness", "test", "scenario"))
_ID: Final = re.compile(r"\b(?!SHA-|UTF-|ISO-)[A-Z]{3,5}-\d{2,3}[a-z]?\b")
_TAGGED: Final = re.compile(r"((?:^[ \t]*\\\*[^\n]*\n)+)^(?:LOCAL +)?(\w+)(?:\([^)]*\))? *==", re.MULTILINE)
_LONG: Final = "requirements.md"
_STORIES: Final = "conformance/scenarios/"
_REASON: Final = re.compile(r"(reading|absent): +(.+)")
_RULE: Final = re.compile(r"\|?[\s:|-]+\|?")
_ABSENT: Final = "## Headings that no protocol implements"


@define
class Requirement:
    """A row: its ID, its text, where it stands, where it is specified, and what checks it.

    `holding` are models that hold, which check nothing. `reason` is in place of checks: it begins with
    `reading` or `absent`.
    """

    id: str
    text: str
    place: str
    reason: str = ""
    specified: list[str] = Factory(list)
    checks: list[str] = Factory(list)
    holding: list[str] = Factory(list)

    @property
    def nominal(self) -> bool:
        """True if nothing but scenarios checks it: stories show that it may be so, and not that it is."""
        return bool(self.checks) and all(check.startswith(_STORIES) for check in self.checks)


@frozen
class Table:
    """Requirements by protocol, headings of the notes, and all that is amiss, each `file:line: what`."""

    protocols: Mapping[str, tuple[Requirement, ...]]
    headings: tuple[Heading, ...]
    problems: tuple[str, ...]


@frozen
class _Tag:
    """An ID and where it stands. `name` is what it tags, a thing of `kind`; "" where it tags nothing.

    `lacking` says why a claim or test checks nothing, although it is one.
    """

    id: str
    place: str
    name: str = ""
    kind: Kind = "mention"
    lacking: str = ""


@frozen
class _Thing:
    """A thing that a row may name: its name on the page, its kind, and the part that it lacks for a check.

    `cites` are the IDs in a test or scenario; None where a thing need not cite any.
    """

    shown: str
    kind: Kind
    lacking: str = ""
    cites: frozenset[str] | None = None


@define
class _Rows:
    rows: list[Requirement] = Factory(list)
    cited: list[tuple[Requirement, str]] = Factory(list)
    problems: list[str] = Factory(list)


def counts(table: Table) -> str:
    """Count the IDs that rows or the list of headings have: checked, read, or absent for a reason."""
    kinds: dict[str, str] = {}
    for each in table.headings:
        kinds |= dict.fromkeys(each.reasons, "absent")
        kinds |= dict.fromkeys(each.ids if each.absent else (), "absent")
    for row in (row for rows in table.protocols.values() for row in rows):
        kind = "nominal" if row.nominal else "checked" if row.checks else row.reason.partition(":")[0] or "unchecked"
        if kinds.get(row.id) != "checked":
            kinds[row.id] = kind
    found = {
        kind: sum(each == kind for each in kinds.values())
        for kind in ("checked", "nominal", "reading", "absent", "unchecked")
    }
    return (
        f"{len(kinds)} requirements: {found['checked']} checked, {found['nominal']} nominal, "
        f"{found['reading']} readings, {found['absent']} absent for a reason, "
        f"{found['unchecked']} without check or reason"
    )


def page(root: Path, table: Table) -> str:
    """Write the page."""
    lines = [opening(root, PATH, "Requirements"), f"{counts(table)}.", "", *notes.implemented(table.headings), ""]
    for protocol, requirements in table.protocols.items():
        lines += [f"## {protocol}", "", "| ID | requirement | specified in | checked by |", "| --- | --- | --- | --- |"]
        for row in requirements:
            specified, checks, holding = (
                ", ".join(map(_linked, names)) for names in (row.specified, row.checks, row.holding)
            )
            checked = f"{checks or row.reason or '-'}{f' (holds in {holding})' if holding else ''}"
            lines.append(f"| {row.id} | {row.text} | {specified or '-'} | {checked} |")
        lines.append("")
    lines += [_ABSENT, "", *notes.left_out(table.headings), ""]
    return "\n".join(lines)


def _linked(name: str) -> str:
    """Write the name of a check: that of a test or scenario without its folder, and linked to its file."""
    path, _, test = name.partition("::")
    if "/" not in path:
        return f"`{name}`"
    return f"[`{test or Path(path).stem}`](../{path})"


def trace(root: Path, manifests: Iterable[Manifest]) -> Table:
    """Find all rows, tags and problems of the project at `root`."""
    found: dict[str, tuple[Requirement, ...]] = {}
    problems: list[str] = []
    rows: dict[str, dict[str, Requirement]] = {}
    tags: list[tuple[str, _Tag]] = []
    errata: set[str] = set()
    lacking: dict[str, list[str]] = {}
    for path in sorted((root / "spec" / "common").glob("*.tla")):
        tags += [("", tag) for tag in _specification(root, path, {})]
    for manifest in manifests:
        tags += [(manifest.protocol, tag) for tag in _own(root, manifest)]
        read = _readme(root, manifest)
        problems += read.problems
        for row in read.rows:
            of = rows.setdefault(row.id, {})
            if manifest.protocol in of:
                problems.append(f"{row.place}: {row.id} has a row already, at {of[manifest.protocol].place}")
            of.setdefault(manifest.protocol, row)
        known = _known(root, manifest)
        for row, name in read.cited:
            if name not in known:
                problems.append(f"{row.place}: no claim, witness, model, test or scenario is called {name}")
            else:
                problems += _cite(row, known[name], lacking)
        found[manifest.protocol] = tuple(read.rows)
        errata |= {model.erratum.id for model in manifest.models if model.erratum}
    for protocol, tag in tags:
        of = rows.get(tag.id, {})
        if not of and tag.id not in errata:
            problems.append(f"{tag.place}: {tag.id} has no row in any spec/*/README.md or requirements.md")
        # Of a requirement that several protocols have, each one's checks are its own.
        for row in [of[protocol]] if protocol in of else of.values():
            if tag.name:
                _cite(row, _Thing(tag.name, tag.kind, tag.lacking), lacking)
    problems += [problem for of in rows.values() for row in of.values() for problem in _unchecked(row, lacking)]
    listed = notes.headings(root)
    prefixes = {
        protocol: {row.id.partition("-")[0]: row.place for row in reversed(of)} for protocol, of in found.items()
    }
    problems += notes.differences(listed, prefixes)
    problems += notes.unlisted(listed, rows)
    return Table(found, tuple(listed), tuple(dict.fromkeys(problems)))


def _cite(row: Requirement, thing: _Thing, lacking: dict[str, list[str]]) -> list[str]:
    """Note in a row what is said to check or specify it; give the problem if it does not speak of it."""
    if thing.cites is not None and row.id not in thing.cites:
        return [f"{row.place}: {thing.shown} does not cite {row.id}"]
    if thing.lacking:
        lacking.setdefault(row.place, []).append(f"{thing.shown} {thing.lacking}")
    elif thing.kind in _CHECKS:
        row.checks.append(thing.shown)
    elif thing.kind == "model":
        row.holding.append(thing.shown)
    elif thing.kind == "operator":
        row.specified.append(thing.shown)
    return []


def _unchecked(row: Requirement, lacking: Mapping[str, list[str]]) -> Iterator[str]:
    """Drop what is noted twice; say so where nothing checks the row, and what comes near it."""
    row.checks = list(dict.fromkeys(row.checks))
    row.specified = list(dict.fromkeys(row.specified))
    row.holding = list(dict.fromkeys(row.holding))
    if row.checks and row.reason:
        yield f"{row.place}: {row.id} has a reason, and {row.checks[0]} checks it: remove one of the two"
    if row.nominal:
        yield f"{row.place}: only scenarios check {row.id}: name a claim that is violated, a witness or a test"
    if row.checks or row.reason:
        return
    hints = list(dict.fromkeys(lacking.get(row.place, ())))
    hints += [f"{name} is a model that holds, which checks nothing" for name in row.holding]
    hints += [f"the comment above {name} checks nothing: it is no claim" for name in row.specified[:1]]
    hint = f" ({'; '.join(hints)})" if hints else ""
    yield f"{row.place}: nothing checks {row.id}{hint}: name a claim that is violated, a witness or a test"


def _readme(root: Path, manifest: Manifest) -> _Rows:
    """Read the rows of the README, and of requirements.md beside it, where long tables are."""
    found = _Rows()
    readme = manifest.folder / "README.md"
    if not lexists(readme):
        shown = readme.relative_to(root)
        found.problems.append(f"{shown}:1: there is none, so {manifest.protocol} has no requirements")
        return found
    for path in (readme, manifest.folder / _LONG):
        if lexists(path):
            _read_rows(path, path.relative_to(root), found)
    if not found.rows:
        shown = readme.relative_to(root)
        found.problems.append(f"{shown}:1: no table with IDs, so {manifest.protocol} has no requirements")
    return found


def _read_rows(path: Path, shown: Path, found: _Rows) -> None:
    heads: list[str] = []
    previous: list[str] = []
    for number, line in enumerate(read_text(path, str(shown)).splitlines(), start=1):
        if not line.lstrip().startswith("|"):
            heads, previous = [], []
            continue
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().removeprefix("|").removesuffix("|"))]
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
            if "check" in head.lower() and (reason := _REASON.fullmatch(cell)):
                row.reason = reason[0]
            elif "check" in head.lower():
                found.cited += [(row, name) for name in re.findall(r"`([^`]+)`", cell)]


def _operators(manifest: Manifest) -> dict[str, _Thing]:
    """Give the claims and witnesses by name. A claim that no ablation refutes checks nothing."""
    falls = {claim for model in manifest.models for claim in model.violated}
    claims = {
        claim: _Thing(claim, "claim", "" if claim in falls else "is violated by no ablation")
        for claim in manifest.claims()
    }
    return {witness: _Thing(witness, "witness") for witness in manifest.witnesses} | claims


def _known(root: Path, manifest: Manifest) -> dict[str, _Thing]:
    """Give what a README may cite, each with the name that the page has for it."""
    known: dict[str, _Thing] = {}
    for path in _tests(root, manifest.protocol):
        for test in _collected(path, str(path.relative_to(root))):
            thing = _Thing(test.shown, "test", test.lacking, frozenset(test.cites))
            known |= dict.fromkeys((test.name, test.shown), thing)
    for path in _scenarios(root, manifest.protocol):
        shown = str(path.relative_to(root))
        thing = _Thing(shown, "scenario", cites=frozenset(_required(path, shown)))
        known |= dict.fromkeys((path.stem, path.name, shown), thing)
    known |= {model.name: _Thing(model.name, "model" if model.holds else "ablation") for model in manifest.models}
    return known | _operators(manifest)


def _own(root: Path, manifest: Manifest) -> Iterator[_Tag]:
    """Find the tags of a protocol."""
    operators = _operators(manifest)
    for path in sorted(manifest.folder.glob("*.tla")):
        yield from _specification(root, path, operators)
    for model in manifest.models:
        texts = [model.shows, model.bounds]
        if model.erratum:
            texts += [model.erratum.title, model.erratum.flaw, model.erratum.repair]
        kind: Kind = "model" if model.holds else "ablation"
        for identifier in _ids("\n".join(texts)):
            yield _Tag(identifier, f"{manifest.file}:{model.line}", model.name, kind)
    for path in _tests(root, manifest.protocol):
        yield from _test(path, str(path.relative_to(root)))
    for path in _scenarios(root, manifest.protocol):
        shown = str(path.relative_to(root))
        required = _required(path, shown)
        for number, line in enumerate(read_text(path, shown).splitlines(), start=1):
            for identifier in _ids(line):
                tag = _Tag(identifier, f"{shown}:{number}")
                yield evolve(tag, name=shown, kind="scenario") if identifier in required else tag


def _specification(root: Path, path: Path, operators: Mapping[str, _Thing]) -> Iterator[_Tag]:
    shown = path.relative_to(root)
    text = read_text(path, str(shown))
    above: dict[int, str] = {}
    for match in _TAGGED.finditer(text):
        first = text.count("\n", 0, match.start(1)) + 1
        above |= {first + offset: match[2] for offset in range(match[1].count("\n"))}
    for number, line in enumerate(text.splitlines(), start=1):
        name = above.get(number, "")
        # The step of an action property stands above the property.
        thing = operators.get(name) or operators.get(name.removesuffix("Step"))
        for identifier in _ids(line):
            tag = _Tag(identifier, f"{shown}:{number}")
            if thing is not None:
                yield evolve(tag, name=thing.shown, kind=thing.kind, lacking=thing.lacking)
            elif name:
                yield evolve(tag, name=f"{path.stem}!{name}", kind="operator")
            else:
                yield tag


# Tests


@define
class _Test:
    """A test function: its range, with the comment above it, its IDs, and why it checks nothing."""

    name: str
    shown: str
    lines: range
    lacking: str
    cites: list[str] = Factory(list)


def _test(path: Path, shown: str) -> Iterator[_Tag]:
    tests = _collected(path, shown)
    for number, line in enumerate(read_text(path, shown).splitlines(), start=1):
        owner = next((test for test in tests if number in test.lines), None)
        for identifier in _ids(line):
            tag = _Tag(identifier, f"{shown}:{number}")
            yield tag if owner is None else evolve(tag, name=owner.shown, kind="test", lacking=owner.lacking)


def _collected(path: Path, shown: str) -> list[_Test]:
    """Find the test functions of a file; of a function that pytest does not collect, say why."""
    text = read_text(path, shown)
    lines = text.splitlines()
    tree = python_tree(text, shown)
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    found: list[_Test] = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef) or not node.name.startswith("test_"):
            continue
        first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        while first > 1 and lines[first - 2].lstrip().startswith("#"):
            first -= 1
        lacking = "" if _expects(node, functions, frozenset()) else "expects nothing"
        last = functions.get(node.name)
        if last is None or last.lineno != node.lineno:
            lacking = "is no test that pytest collects"
        elif any(".mark.skip" in ast.unparse(decorator) for decorator in node.decorator_list):
            lacking = "is skipped"
        test = _Test(node.name, f"{shown}::{node.name}", range(first, (node.end_lineno or first) + 1), lacking)
        test.cites = _ids("\n".join(lines[first - 1 : test.lines.stop - 1]))
        found.append(test)
    return found


def _expects(node: ast.FunctionDef, functions: Mapping[str, ast.FunctionDef], seen: frozenset[str]) -> bool:
    """Say whether a function expects something: it asserts, lets pytest assert, or calls such a function."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Assert):
            # An assertion that is true of every program checks nothing of this program.
            if not isinstance(inner.test, ast.Constant):
                return True
        elif isinstance(inner, ast.Call):
            name = ast.unparse(inner.func)
            if name.split(".")[-1] in {"raises", "fail"}:
                return True
            called = functions.get(name)
            if called is not None and name not in seen and _expects(called, functions, seen | {name}):
                return True
    return False


def _tests(root: Path, protocol: str) -> list[Path]:
    return sorted((root / "tests" / protocol).rglob("test_*.py"))


# Scenarios


def _scenarios(root: Path, protocol: str) -> list[Path]:
    return sorted((root / "conformance" / "scenarios" / protocol).rglob("*.yaml"))


def _required(path: Path, shown: str) -> list[str]:
    """Give the IDs that a scenario is about; none where it cannot be read, which its own check reports."""
    try:
        named = strict_yaml.load(path, shown).entries().get("requirements")
        return [] if named is None else [item.text() for item in named.items()]
    except FileError:
        return []


def _ids(text: str) -> list[str]:
    return list(dict.fromkeys(_ID.findall(text)))
