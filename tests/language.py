"""Find phrases that the project's prose avoids, and hold their number at the recorded one: `python -m tests.language`.

Prose is comments, docstrings and messages of Python, comments of TLA+, Go, Java and TypeScript, paragraphs and cells of Markdown, and
the values of YAML that are sentences. Documents that are generated are left out: they repeat texts of other files. A rule is a
pattern, so its number is an upper bound: some matches may stay.

`--record` writes the record, where no rule has more places than before; `--list RULE` prints the places of a rule.
"""

import argparse
import collections
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import yaml

ROOT = Path(__file__).parent.parent
RECORD = "tests/data/language.yaml"
GENERATED = (
    "docs/errata/",
    "docs/requirements.md",
    "docs/stack.md",
    "docs/guarantees.md",
    "docs/performance.md",
)
MAX_WORDS = 30
_START = r"(?:^|(?<=[.;:(]\s))"


class Rule(NamedTuple):
    """A pattern of prose, of a name (`named`) or the number of words in a sentence (`words`), and what to write instead."""

    pattern: str
    advice: str
    kind: str = "prose"


class Place(NamedTuple):
    """A match: rule, file from the root, line, and the text that it is in."""

    rule: str
    file: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.text[:100]}"


RULES = {
    "who-subject": Rule(
        _START + r"(?:And |But |So |Of |Nor |Only )?(?:Who|Whom|Whose|Whoever|What|Whatever)\b(?!.*\?)",
        "begin with the noun: `a member that takes over`, not `who takes over`",
    ),
    "whether-it": Rule(
        _START + r"Whether (?:it|this|all|no|somebody|nobody)\b",
        "begin a docstring with a verb or a noun: `Return True if the member leads`",
    ),
    "one-as-noun": Rule(
        r"\b(?:that one|this one|the one|of one\b|one that)\b",
        "name the thing again: `the view`, not `the one`",
    ),
    "headless-that": Rule(
        r"\b(?:those|these) (?:who|that|which)\b|\b(?:of|by|to|from|for) (?:who|whom)\b",
        "name the noun: `members that crashed`, not `those that crashed`",
    ),
    "body-words": Rule(
        r"\b(?:[Nn]obody|[Ee]verybody|[Ss]omebody|[Aa]nybody)\b",
        "write `no member`, `every member`, `at least one member`",
    ),
    "told": Rule(r"\b(?:told|tells?|telling)\b", "name the event: notify, pass up, pass down, send, report"),
    "let-go": Rule(
        r"\b(?:let|lets|letting) (?:\w+ ){0,3}go\b",
        "name the event: resume, STOP_FLUSH opens the latch, grant the leave, end the promise",
    ),
    "goes-on": Rule(
        r"\b(?:go|goes|going|gone|went) on\b", "name the step: survive into the next view, resume, continue"
    ),
    "falls": Rule(
        r"\b(?:claims?|models?|`\w+`|it|that|they|what)\s+(?:falls?|fell)\b|\bfalls?\b(?= in| with| to| \()",
        "a claim is violated",
    ),
    "stands-still": Rule(
        r"\bstands? still\b|\bstood still\b",
        "a member is stopped: its latch is closed and its report is sent",
    ),
    "line-of-views": Rule(
        r"\blines? of views\b|\b(?:one|two|each|this|its|another) lines?\b(?! of (?:code|text|YAML|TLA))",
        "write `branch` of the view history",
    ),
    "life": Rule(r"\b(?:life|lives)\b", "one run of a member from start to crash is an incarnation"),
    "comes-to-a-view": Rule(
        r"\b(?:come|comes|came|coming) to (?:a|the|its|it|this|that|each)\b",
        "a member installs a view; a message arrives",
    ),
    "too-long": Rule(r"", f"split the sentence: at most {MAX_WORDS} words, better 25", "words"),
    "two-rules": Rule(r";[^;.]*;", "one statement a sentence: end it at the semicolon"),
    "riddle-name": Rule(
        r"^(?:Nobody|Somebody|Everybody|What|Who|Comes|Told|Quiet|Rests?)(?:[A-Z]\w*)?$|^Nothing(?:Is|Comes|Hangs|Twice)\w*$"
        r"|\w*(?:LetsNobodyGo|IsTold|AreTold|Beyond\w*)$",
        "name the fact by terms of the glossary, so that it can be read without the code",
        "name",
    ),
}
_SENTENCES = re.compile(r"(?<=[.?!])\s+|(?<=:)\s+")
_OPERATOR = re.compile(r"([A-Z]\w*)(?:\([^)]*\))? ==")
_VALUES = {
    "shows",
    "title",
    "bounds",
    "why",
    "repair",
    "harm",
    "says",
    "flaw",
    "means",
    "survives",
    "decision",
    "does",
    "needs",
    "limits",
    "scenario",
}
"""Keys of YAML whose values are sentences."""


def _paragraphs(lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Join lines up to the next empty one; each paragraph has the number of its first line."""
    start, got = 0, list[str]()
    for number, line in lines:
        text = line.strip()
        if text:
            start = start if got else number
            got.append(text)
        elif got:
            yield start, " ".join(got)
            got = []
    if got:
        yield start, " ".join(got)


def _markdown(text: str) -> Iterator[tuple[int, str]]:
    text = re.sub(r"```.*?```", lambda found: "\n" * found.group().count("\n"), text, flags=re.DOTALL)
    lines = list(enumerate(text.splitlines(), 1))
    yield from _paragraphs(
        (number, "" if line.startswith(("|", "    ", "#")) else re.sub(r"^[-*\d.> ]+", "", line))
        for number, line in lines
    )
    for number, line in lines:
        if line.startswith("|"):
            yield from ((number, cell.strip()) for cell in line.split("|") if cell.strip())


def _comments(text: str, comment: str) -> Iterator[tuple[int, str]]:
    """Return paragraphs of a language whose line comments begin with `comment`, and whose blocks are `(*` or `/*`.

    A comment beside code begins a paragraph.
    """
    inside, lines = False, list[tuple[int, str]]()
    opening = "/" if comment == "//" else r"\("
    for number, line in enumerate(text.splitlines(), 1):
        found = re.search(rf"{opening}\*+(.*?)(?:\*+[)/]|$)|{comment}(.*)", line)
        if inside:
            lines.append((number, re.split(r"\*+[)/]", line)[0].strip(" *")))
            inside = not re.search(r"\*[)/]", line)
        elif found:
            if line[: found.start()].strip():
                lines.append((number, ""))
            lines.append((number, (found.group(1) or found.group(2) or "").strip()))
            inside = found.group(1) is not None and not re.search(r"\*[)/]", found.group())
        else:
            lines.append((number, ""))
    return _paragraphs(lines)


def _python(text: str) -> Iterator[tuple[int, str]]:
    before = [(0, "")]
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        kind = tokenize.tok_name[token.type]
        if kind == "COMMENT":
            before.append((token.start[0], token.string.lstrip("# ")))
            continue
        if kind != "NL":
            yield from _paragraphs(before)
            before = []
        if kind in {"STRING", "FSTRING_MIDDLE"} and " " in token.string:
            text = token.string
            if re.match("[rR]?[fF]", text):  # before Python 3.12 such a token has the code in its braces, too
                text = re.sub(r"\{[^{}]*\}", "{}", text)
            body = re.sub(r"^[rbfRBF]*(\"\"\"|'''|\"|')|(\"\"\"|'''|\"|')$", "", text)
            if "---- MODULE " in body:
                yield from ((token.start[0] + line - 1, each) for line, each in _comments(body, r"\\\*"))
            else:
                yield from _paragraphs(enumerate(body.splitlines(), token.start[0]))


def _values(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.splitlines(), 1):
        if found := re.match(r"(?:.*\s)?#\s(.*)", line):
            yield number, found.group(1)
    after: object = None
    key = ""
    for token in yaml.scan(text, Loader=getattr(yaml, "CLoader", yaml.Loader)):
        if isinstance(token, yaml.ScalarToken):
            if isinstance(after, yaml.KeyToken):
                key = token.value
            elif key in _VALUES:
                yield from _paragraphs(enumerate(token.value.splitlines(), token.start_mark.line + 1))
        after = token


def prose(name: str, text: str) -> Iterator[tuple[int, str]]:
    """Return the line and the text of each paragraph, cell or string of the file `name`; none of a file of another kind."""
    kind = Path(name).suffix
    if kind == ".md":
        return _markdown(text)
    if kind == ".py":
        return _python(text)
    if kind in {".yaml", ".yml"}:
        return _values(text)
    if kind == ".tla":
        return _comments(text, r"\\\*")
    return _comments(text, "//") if kind in {".go", ".java", ".ts"} else iter(())


def find(files: Mapping[str, str]) -> list[Place]:
    """Return what the rules match in texts by file name."""
    places = []
    for name, text in files.items():
        for line, paragraph in prose(name, text):
            for rule, (pattern, _, kind) in RULES.items():
                if kind == "words":
                    sentences = _SENTENCES.split(paragraph)
                    hits = [s for s in sentences if len(re.sub(r"`[^`]*`", "x", s).split()) > MAX_WORDS]
                elif kind == "prose":
                    hits = [
                        paragraph[max(0, found.start() - 30) :] for found in re.finditer(pattern, paragraph)
                    ]
                else:
                    continue
                places += [Place(rule, name, line, hit) for hit in hits]
        if name.endswith(".tla"):
            for line, source in enumerate(text.splitlines(), 1):
                found = _OPERATOR.match(source)
                if found and re.search(RULES["riddle-name"].pattern, found.group(1).removesuffix("Step")):
                    places.append(Place("riddle-name", name, line, found.group(1)))
    return places


def compare(places: Iterable[Place], record: Mapping[str, Mapping[str, int]]) -> tuple[list[str], list[str]]:
    """Return what is wrong, and which rules have fewer places than the record.

    The total of a rule counts, so text may move; the places are listed of the files that have more than before.
    """
    found = collections.defaultdict[str, list[Place]](list)
    for place in places:
        found[place.rule].append(place)
    more, fewer = list[str](), list[str]()
    for rule, (_, advice, _) in RULES.items():
        known, now = record.get(rule, {}), len(found[rule])
        total = sum(known.values())
        if now > total:
            count = collections.Counter(place.file for place in found[rule])
            more.append(f"{rule}: {now} places, {total} are recorded: {advice}")
            more += [f"  {place}" for place in found[rule] if count[place.file] > known.get(place.file, 0)]
        elif now < total:
            fewer.append(f"{rule}: {now} places, {total} are recorded")
    return more, fewer


def counts(places: Iterable[Place]) -> dict[str, dict[str, int]]:
    """Return the record of these places: by rule and file, the number."""
    out: dict[str, collections.Counter[str]] = {rule: collections.Counter() for rule in RULES}
    for place in places:
        out[place.rule][place.file] += 1
    return {rule: dict(sorted(files.items())) for rule, files in out.items()}


def tracked(root: Path) -> dict[str, str]:
    """Return the texts of the files that git knows and that are there.

    Generated documents are left out, and the examples of the rules and of their tests.
    """
    names = subprocess.check_output(["git", "ls-files"], cwd=root, text=True).splitlines()
    kinds = (".md", ".py", ".yaml", ".yml", ".tla", ".go", ".java", ".ts")
    return {
        name: (root / name).read_text()
        for name in names
        if name.endswith(kinds)
        and not name.startswith(GENERATED)
        and name not in {RECORD, "tests/language.py", "tests/test_language.py"}
        and (root / name).is_file()
    }


def main(arguments: list[str] | None = None, root: Path = ROOT) -> int:
    """Run the command line; 1 if a rule has more places than recorded, or fewer, so that the record must be lowered."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.language", description="count phrases that the prose avoids"
    )
    parser.add_argument(
        "--record", action="store_true", help=f"write {RECORD}; remove it first to begin anew"
    )
    parser.add_argument("--list", metavar="RULE", choices=RULES, help="print the places of a rule")
    options = parser.parse_args(arguments)
    places = find(tracked(root))
    if options.list:
        sys.stdout.writelines(f"{place}\n" for place in places if place.rule == options.list)
        return 0
    file = root / RECORD
    more, fewer = compare(places, yaml.safe_load(file.read_text()) if file.is_file() else counts(places))
    if not more and options.record:
        head = (
            "# Places a rule of tests/language.py matches: `python -m tests.language --record` lowers them.\n"
        )
        file.write_text(head + yaml.safe_dump(counts(places), sort_keys=False, width=200))
        return 0
    if more:
        sys.stdout.write("\n".join(more) + "\n")
    elif fewer:
        sys.stdout.write("\n".join(fewer) + "\nlower the record: python -m tests.language --record\n")
    return 1 if more or fewer else 0


if __name__ == "__main__":
    sys.exit(main())
