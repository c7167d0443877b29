"""Bad input of every kind: one clear line, the documented exit code, no traceback, nothing half-written.

Each case damages a small project (the toy of `data`), or gives wrong arguments, and runs the command line in
this process. There is no Java here: whatever is wrong with a file must be found before TLC is started.
"""

import codecs
import functools
import hashlib
import io
import json
import os
import re
import shutil
import stat
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

from groupcomm_commands import vectors as vectors_command
from groupcomm_commands.exits import ExitCode
from groupcomm_commands.main import main
from groupcomm_conformance.models.manifest import Manifest, load
from groupcomm_conformance.ports.judging import Judge
from groupcomm_conformance.ports.plain import loose
from groupcomm_conformance.ports.vector_files import FORMAT
from groupcomm_conformance.protocols import derive
from groupcomm_conformance.tlc import tools

DATA = Path(__file__).parent / "data"
MANIFEST = "spec/toy/models.yaml"
RECORDED = "spec/toy/recorded.yaml"
ERRATA = "spec/toy/errata.yaml"
MODULE = "spec/toy/Toy.tla"

Damage = Callable[[Path], None]


@frozen
class Bad:
    """A case: what is done to the project, the command, and what it must say; `{}` stands for the file."""

    name: str
    arguments: tuple[str, ...]
    says: str
    damage: Damage = lambda _project: None
    code: ExitCode = ExitCode.BAD_INPUT
    listed: bool = False  # whether the line is one of several results, on stdout


# Errors of any file


def content(file: str, new: bytes) -> Damage:
    return lambda project: void((project / file).write_bytes(new))


def changed(file: str, change: Callable[[bytes], bytes]) -> Damage:
    def damage(project: Path) -> None:
        old = (project / file).read_bytes()
        new = change(old)
        assert new != old
        (project / file).write_bytes(new)

    return damage


def edited(file: str, old: str, new: str) -> Damage:
    return changed(file, lambda text: text.replace(old.encode(), new.encode(), 1))


def replaced(file: str, make: Callable[[Path], object]) -> Damage:
    def damage(project: Path) -> None:
        (project / file).unlink()
        make(project / file)

    return damage


def void(_: object) -> None:
    """Ignore a value."""


def sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(300 << 20)


UNREADABLE: tuple[tuple[str, Callable[[str], Damage], str], ...] = (
    ("a folder", lambda file: replaced(file, Path.mkdir), r"{}:1: expected .*not a folder"),
    (
        "a link to nothing",
        lambda file: replaced(file, lambda path: path.symlink_to("nowhere")),
        r"{}:1: expected .*there is no such file",
    ),
    (
        "a link to itself",
        lambda file: replaced(file, lambda path: path.symlink_to(path.name)),
        r"{}:1: expected .*a symbolic link to itself",
    ),
    (
        "a link to a device without end",
        lambda file: replaced(file, lambda path: path.symlink_to("/dev/zero")),
        r"{}:1: expected .*not a device",
    ),
    ("a pipe", lambda file: replaced(file, os.mkfifo), r"{}:1: expected .*not a device or pipe"),
    ("300 MB", lambda file: replaced(file, sparse), r"{}:1: expected .* of at most 256 MB, not 300"),
    (
        "a byte that is not UTF-8 at the start",
        lambda file: changed(file, lambda old: b"\xff" + old),
        r"{}:1: expected text in UTF-8, not the byte 0xff",
    ),
    (
        "Latin-1 on the third line",
        lambda file: changed(file, lambda old: b"\n\n\xe9" + old),
        r"{}:3: expected text in UTF-8, not the byte 0xe9",
    ),
    (
        "UTF-8 that is cut off",
        lambda file: changed(file, lambda old: old + "é".encode()[:1]),
        r"{}:\d+: expected text in UTF-8, not the byte 0xc3",
    ),
    (
        "UTF-16",
        lambda file: changed(file, lambda old: codecs.BOM_UTF16_LE + old.decode().encode("utf-16-le")),
        r"{}:1: expected text in UTF-8, not the byte 0xff",
    ),
    (
        "a surrogate",
        lambda file: changed(file, lambda old: old + b"\xed\xa0\x80"),
        r"{}:\d+: expected text in UTF-8, not the byte 0xed",
    ),
)

MISSING = ("missing", lambda file: replaced(file, lambda _: None), r"{}.*there is no")


def unreadable(kind: str, file: str, *arguments: str) -> Iterator[Bad]:
    for name, damage, says in UNREADABLE:
        yield Bad(f"{kind}: {name}", arguments, says.replace("{}", f"{re.escape(Path(file).name)}"), damage(file))


# YAML

YAML: tuple[tuple[str, bytes, str], ...] = (
    ("nothing", b"", "a document, not an empty file"),
    ("blanks", b"  \n\n \n", "a document, not an empty file"),
    ("a comment alone", b"# nothing\n", "a document, not an empty file"),
    ("a list", b"- a\n- b\n", "a mapping with protocol, .*, not a list"),
    ("a word", b"word\n", 'a mapping with .*, not "word"'),
    ("a number", b"17\n", "a mapping with .*, not 17"),
    ("an endless word", b"w" * 100_000, r'a mapping with .*, not "w{80}"\.\.\.'),
    ("an open bracket", b"a: [1, 2\n", r"2: expected well-formed YAML \(.*flow sequence"),
    ("an open brace", b"a: {b: 1\n", r"well-formed YAML \(.*flow mapping"),
    ("an open quote", b'a: "text\n', r"well-formed YAML \(.*quoted scalar"),
    ("a tab", b"a:\n\tb: 1\n", "2: expected well-formed YAML"),
    ("a bad indentation", b"a:\n    b: 1\n  c: 2\n", "3: expected well-formed YAML"),
    ("an anchor", b"a: &x 1\n", "a value written out, not an anchor or alias"),
    ("an alias", b"a: *x\n", "a value written out, not an anchor or alias"),
    ("a billion laughs", b"a: &a [x]\nb: &b [*a, *a]\n", "1: expected a value written out"),
    ("a merge key", b"a:\n  <<: {b: 1}\n", "2: expected"),
    ("a tag", b"a: !!python/object:os.system x\n", "a value without a tag, not .*os.system"),
    ("an unknown tag handle", b"a: !e!x 1\n", "well-formed YAML"),
    ("a second document", b"a: 1\n---\nb: 2\n", "the end of the file, not a second document"),
    ("a key twice", b"a: 1\nb: 2\na: 3\n", r'3: expected each key once, not "a" again \(first on line 1\)'),
    ("a number as a key", b"1: a\n", r"text as a key"),
    ("a list as a key", b"? [a]\n: b\n", "text as a key"),
    ("null", b"a: null\n", "an integer, true, false or text: if null is text"),
    ("a tilde", b"a: ~\n", "an integer, true, false or text"),
    ("no value", b"a:\n", "a value, not nothing"),
    ("yes", b"a: yes\n", 'if yes is text, write "yes"'),
    ("a date", b"a: 2020-01-31\n", "if 2020-01-31 is text"),
    ("a time", b"a: 12:30\n", "if 12:30 is text"),
    ("a fraction", b"a: 1.5\n", "if 1.5 is text"),
    ("an exponent", b"a: 1e400\n", "if 1e400 is text"),
    ("not a number", b"a: .nan\n", "if .nan is text"),
    ("hexadecimal", b"a: 0x10\n", "if 0x10 is text"),
    ("an octal number", b"a: 017\n", "if 017 is text"),
    ("19 digits", b"a: 1234567890123456789\n", "an integer of at most 18 digits, not one of 19"),
    ("5,000 digits", b"a: " + b"9" * 5_000, "an integer of at most 18 digits, not one of 5000"),
    ("5,000 digits below 0", b"a: -" + b"9" * 5_000, "an integer of at most 18 digits, not one of 5000"),
    ("a float of 5,000 digits", b"a: 0." + b"9" * 5_000, r"an integer, true, false or text: if 0\.9{78}\.\.\."),
    ("50 lists inside each other", b"a: " + b"[" * 50 + b"]" * 50, "at most 40 levels of nesting"),
    ("100,000 open brackets", b"a: " + b"[" * 100_000, "at most 40 levels of nesting"),
    ("1,000 levels", b"".join(b" " * level + b"a:\n" for level in range(1_000)), "at most 40 levels of nesting"),
    ("half a character", b'a: "\\ud800"\n', "characters, no unpaired surrogate"),
    ("no character", b'a: "\\UFFFFFFFF"\n', "well-formed YAML"),
    ("a bad escape", b'a: "\\q"\n', "well-formed YAML .*escape"),
    ("a zero byte", b"a: b\0c\n", "printable characters only"),
    ("a bell", b"a: 1\nb: \x07\n", "2: expected printable characters only"),
    ("a version of 5,000 digits", b"%YAML 1." + b"9" * 5_000 + b"\n---\na: 1\n", "well-formed YAML"),
    ("an unknown directive twice", b"%YAML 1.1\n%YAML 1.1\n---\na: 1\n", "well-formed YAML .*duplicate"),
    ("an unknown key", b"protocl: toy\n", 'not the unknown key "protocl"'),
    ("not enough keys", b"protocol: toy\n", 'the key "module", which is missing'),
)


def yaml() -> Iterator[Bad]:
    for name, text, says in YAML:
        yield Bad(f"YAML: {name}", ("list",), rf"spec/toy/models\.yaml:\d*:? ?.*{says}", content(MANIFEST, text))


# The manifest

EDITS: tuple[tuple[str, str, str, str], ...] = (
    ("another protocol's name", "protocol: toy", "protocol: tyo", '2: expected toy, not "tyo"'),
    ("a module that is not there", "module: MCToy", "module: MCTyo", "3: expected a module .*no MCTyo.tla"),
    ("a module outside", "module: MCToy", "module: ../x", "3: expected the name of a module"),
    ("a reference that is a list", "reference:\n", "reference: []\nx:\n", 'not the unknown key "x"'),
    ("a constant too large", "MaxLost: 0", "MaxLost: 2147483648", "expected an integer from -2147483648 to 2147483647"),
    ("a constant too small", "MaxLost: 0", "MaxLost: -2147483649", "expected an integer from -2147483648"),
    ("an element too large", "[A, B]", "[2147483648]", "expected an integer from -2147483648"),
    ("a constant that is a mapping", "MaxLost: 0", "MaxLost: {a: 1}", 'an integer, true, false, text, "<- Operator"'),
    ("no specification", "    specification: Spec\n", "", 'expected "specification", or "init" and "next"'),
    ("a set of claims like itself", "specification: Spec", "like: safety", "a set of claims above it"),
    ("a set of claims like none", "specification: LiveSpec", "like: safty", "a set of claims above it"),
    ("an unknown key of a set", "view: view", "veiw: view", 'not the unknown key "veiw"'),
    ("an invariant twice", "[TypeOK, NoEarlyCommit]", "[TypeOK, TypeOK]", "each name once, not TypeOK again"),
    ("an invariant that is a number", "[TypeOK, NoEarlyCommit]", "[17]", "expected the name of an operator, not 17"),
    ("an invariant with a blank", "[TypeOK, NoEarlyCommit]", "[Type OK]", "expected the name of an operator"),
    ("models that are a number", "models:\n", "models: 3\nx:\n", 'expected .*not the unknown key "x"'),
    ("a tier that is none", "tier: smoke", "tier: huge", '22: expected one of smoke, full, deep, not "huge"'),
    ("a tier that is a number", "tier: smoke", "tier: 3", "22: expected one of smoke, full, deep, not 3"),
    ("a flag that is a number", "conform: true", "conform: 1", "24: expected true or false, not 1"),
    ("a name in capitals", "- name: pair", "- name: Pair", '21: expected a name in lower case, not "Pair"'),
    ("a name with a slash", "- name: pair", "- name: ../pair", "21: expected a name in lower case"),
    ("a name twice", "name: forgetful\n", "name: hasty\n", "expected each model once"),
    (
        "two lines of text",
        "shows: no member",
        "shows: |\n    a\n    b\n  bounds: no member",
        "expected one line of text",
    ),
    ("an empty text", "shows: no member commits too early (TOY-03)", 'shows: ""', "expected one line of text"),
    ("a constant that is none", "{MaxLost: 1}", "{MaxLots: 1}", "expected a constant of .*not MaxLots"),
    ("a constant with a quote", "{MaxLost: 1}", "{MaxLost: 'a\"b'}", "expected text without quotes"),
    ("a constant of 5,000 digits", "{MaxLost: 1}", "{MaxLost: " + "9" * 5_000 + "}", "an integer of at most 18"),
    ("an operator that is none", "{MaxLost: 1}", "{MaxLost: '<- 3x'}", 'expected "<- " and an operator'),
    ("a set with an element twice", "{MaxLost: 1}", "{MaxLost: [1, 1]}", "expected a set, but an element"),
    ("a set in a set", "{MaxLost: 1}", "{MaxLost: [[1]]}", "expected text without quotes"),
    (
        "an ablation that is a word",
        "  - name: hasty\n",
        "  - hasty\n  - name: hasty\n",
        "expected a mapping from constants",
    ),
    (
        "ablations that are a word",
        "  without:\n  - name: lossy_live\n    MaxLost: 1\n    violates: EventuallyCommitted\n    shows: a lost vote is never replaced",
        "  without: lossy_live",
        "expected a list of ablations",
    ),
    ("nothing ablated", "    WaitForAll: false\n", "", "expected a constant in which the ablation differs"),
    ("what is as in the control", "WaitForAll: false", "WaitForAll: true", "expected another value than that of pair"),
    ("a guard that is none", "WaitForAll: false", "WaitForSome: false", "expected a constant of .*not WaitForSome"),
    (
        "a guard that the reference says again",
        "  MaxLost: 0",
        "  WaitForAll: true\n  MaxLost: 0",
        "expected a constant, not WaitForAll",
    ),
    ("a model that says what is recorded", "  conform: true\n", "  distinct: 25\n", 'not the unknown key "distinct"'),
    ("a claim that is none", "violates: NoEarlyCommit", "violates: NoEarly", "expected .*not NoEarly"),
    ("a witness in a model that is none", "SomeCommit: pair", "SomeCommit: pear", "expected .*pear"),
)


# What is recorded of models, and errata

ROWS: tuple[tuple[str, str, str, str], ...] = (
    ("a negative count", "distinct: 25", "distinct: -1", "4: expected an integer from 0 up, not -1"),
    ("a count that is a word", "distinct: 25", "distinct: many", '4: expected an integer, not "many"'),
    ("a count that is true", "distinct: 25", "distinct: true", "4: expected an integer, not true"),
    ("a count of 5,000 digits", "distinct: 25", "distinct: " + "9" * 5_000, "4: expected an integer of at most 18"),
    ("a count that is missing", "distinct: 25, ", "", '4: expected the key "distinct"'),
    ("a count of an ablation", "trace: 3", "trace: 3, distinct: 3", 'not the unknown key "distinct"'),
    ("a digest that is not deep", "distinct: 25", "digest: '0', distinct: 25", 'not the unknown key "digest"'),
    ("a row that is a word", "pair: {distinct: 25, transitions: 170, depth: 7}", "pair: 25", "4: expected a mapping"),
    (
        "a row of no model",
        "pair: {",
        "pear: {distinct: 1, transitions: 1, depth: 1}\npair: {",
        "4: expected a model of .*not pear",
    ),
    ("a violated claim that is none", "[NoEarlyCommit]", "[NoEarly]", "expected a claim"),
    ("a violated claim twice", "[NoEarlyCommit]", "[NoEarlyCommit, NoEarlyCommit]", "each name once"),
    ("a trace below 0", "trace: 3", "trace: -3", "expected an integer from 1 up, not -3"),
)

STORIES: tuple[tuple[str, str, str, str], ...] = (
    ("an ID that is none", "id: TOY-91", "id: toy91", 'expected an ID such as "FLAW-15"'),
    (
        "an erratum without a flaw",
        "  flaw: The first vote makes a member commit.\n",
        "",
        'the key "flaw", which is missing',
    ),
    ("an erratum of a model that holds", "hasty:\n", "pair:\n", "expected an ablation of .*not pair"),
    ("a proof that is none", "proved_by: [pair, lossy]", "proved_by: [pear]", "a model that holds, not pear"),
)


def manifests() -> Iterator[Bad]:
    for file, edits in ((MANIFEST, EDITS), (RECORDED, ROWS), (ERRATA, STORIES)):
        for name, old, new, says in edits:
            yield Bad(f"{file}: {name}", ("list",), rf"{re.escape(file)}:.*{says}", edited(file, old, new))


# Arguments

ARGUMENTS: tuple[tuple[str, str], ...] = (
    ("chekc", "No such command 'chekc'. Did you mean 'check'"),
    ("lst", "No such command 'lst'. Did you mean 'list'"),
    ("explain", r"Missing argument 'PROTOCOL\|FLAW'"),
    ("explain toy", "expected a model of toy after it: groupcomm list toy shows them"),
    ("explain toy hsty", r'no model is called "hsty" \(did you mean hasty\?\); there is pair, hasty, forgetful, lossy'),
    ("explain tyo hasty", r'no protocol is called "tyo" \(did you mean toy\?\); there is toy'),
    ("check tyo", r'no protocol is called "tyo" \(did you mean toy\?\); there is toy'),
    ("check ../toy", 'no protocol is called "../toy"'),
    ("check toy/", 'no protocol is called "toy/"'),
    ("check --model pear", r'no model is called "pear" \(did you mean pair\?\)'),
    ("check --model=", 'no model is called ""'),
    ("check --tier smok", r"smok is none of smoke, full, deep \(did you mean smoke\?\)"),
    ("check --tier SMOKE", "SMOKE is none of smoke, full, deep"),
    ("check --tier=", "is none of smoke, full, deep"),
    ("check --heap much", "a whole number and k, m or g, such as 2g, not much"),
    ("check --heap 0g", "a whole number and k, m or g"),
    ("check --heap -1g", "a whole number and k, m or g"),
    ("check --heap 1k", "from 2m to 8192g, not 1k"),
    ("check --heap 999999999g", "from 2m to 8192g, not 999999999g"),
    ("check --heap 1.5g", "a whole number and k, m or g"),
    ("check --heap ٣g", "a whole number and k, m or g"),
    ("check --heap " + "9" * 5_000 + "g", "a whole number and k, m or g"),
    ("check --workers 0", "Invalid value for '--workers': a whole number from 1 to 1024, not 0"),
    ("check --workers -1", "a whole number from 1 to 1024, not -1"),
    ("check --workers 1e400", "a whole number from 1 to 1024, not 1e400"),
    ("check --workers nan", "a whole number from 1 to 1024, not nan"),
    ("check --workers 1000000", "a whole number from 1 to 1024, not 1000000"),
    ("check --workers " + "9" * 5_000, r"a whole number from 1 to 1024, not 9{60}\.\.\.$"),
    ("check --no-such", "No such option: --no-such"),
    ("check --tier", "Option '--tier' requires an argument"),
    ("list tyo", r'no protocol is called "tyo" \(did you mean toy\?\)'),
    ("list --tier huge", "huge is none of smoke, full, deep"),
    ("list --jsno", "No such option: --jsno"),
    ("conform --tier huge", "huge is none of smoke, full, deep"),
    ("conform --model pear", r'no model marked conform is called "pear" \(did you mean pair\?\); there is pair'),
    ("conform tyo", r'no protocol is called "tyo" \(did you mean toy\?\)'),
    ("conform --row 0", "a whole number from 1 to 1000000000000, not 0"),
    ("conform --row nan", "a whole number from 1 to 1000000000000, not nan"),
    ("conform toy --closed --fresh", "only --model, --row and --tier go with it"),
    ("conform toy --closed --random 5", "only --model, --row and --tier go with it"),
    ("mutants", "Missing argument 'PROTOCOL'"),
    ("mutants tyo", r'no protocol is called "tyo" \(did you mean toy\?\)'),
    ("mutants toy --workers 0", "a whole number from 1 to 1024, not 0"),
    ("mutants toy --random -1", "a whole number from 0 to 1000000000, not -1"),
    ("report --tier huge", "huge is none of smoke, full, deep"),
    ("report tyo", r'no protocol is called "tyo" \(did you mean toy\?\)'),
    ("vectors", "Missing option '--out'"),
    ("vectors --out x", "name one, or --all"),
    ("vectors toy --all --out x", "a release has all of all protocols"),
    ("vectors toy --out x --minimal", "this is for a port"),
    ("vectors toy --out x --adapter y", "a port is for --check"),
    ("vectors toy", "Missing option '--out'"),
    ("vectors tyo --out x", "tyo"),
    ("vectors toy --out x --tier huge", "huge"),
    ("pipeline", "Missing argument 'PROTOCOL'"),
    ("pipeline tyo", r'no protocol is called "tyo" \(did you mean toy\?\)'),
    ("pipeline toy --tier huge", "huge is none of smoke, full, deep"),
    ("simulate --members 0", "a whole number from 1 to 26, not 0"),
    ("simulate --members 1e400", "a whole number from 1 to 26, not 1e400"),
    ("simulate --events 1e400", "a whole number from 1 to .*, not 1e400"),
    ("simulate --events -1", "a whole number from 1 to .*, not -1"),
    ("simulate --events " + "9" * 5_000, "a whole number from 1 to .*, not 9{60}"),
    ("simulate --events 0e9", "a whole number from 1 to .*, not 0e9"),
    ("simulate --events 1e", "a whole number from 1 to .*, not 1e"),
    ("simulate --events 1.5", "a whole number from 1 to .*, not 1.5"),
    ("simulate --events 1.25e1", "a whole number from 1 to .*, not 1.25e1"),
    ("simulate --events 1e-3", "a whole number from 1 to .*, not 1e-3"),
    ("simulate --events 1e99", "a whole number from 1 to .*, not 1e99"),
    ("simulate --events 1,000", "a whole number from 1 to .*, not 1,000"),
    ("simulate --master local[0]", r"local\[\*\], local\[2\] or spark://host:7077, not local\[0\]"),
    ("check --master local[", r"local\[\*\], local\[2\] or spark://host:7077, not local\["),
    ("mutants toy --master :7077", "spark://host:7077, not :7077"),
    ("simulate --seed nan", "a whole number from 0 to .*, not nan"),
    ("simulate nosuch", "nosuch"),
    ("simulate os", "os"),
    ("simulate ../stable", "stable"),
    ("simulate /", "."),
    ("errata --chekc", "No such option: --chekc"),
    ("requirements --no", "No such option: --no"),
    ("pipeline toy --master local[", r"local\[\*\], local\[2\] or spark://host:7077, not local\["),
    ("pipeline toy --model hasty", "."),
)


def arguments() -> Iterator[Bad]:
    for line, says in ARGUMENTS:
        yield Bad(f"arguments: {line[:60]}", tuple(line.split(" ")), says)


# Selections that leave nothing


def removed(folder: str) -> Damage:
    return lambda project: shutil.rmtree(project / folder)


def nothing() -> Iterator[Bad]:
    no_smoke = changed(MANIFEST, lambda text: text.replace(b"tier: smoke", b"tier: full"))
    cases = (
        ("no model of the tier", ("check", "--tier", "smoke"), no_smoke, "toy has no model in the tier smoke"),
        ("no protocol", ("check",), removed("spec/toy"), "no folder of .*spec has a models.yaml"),
        ("no protocol to list", ("list",), removed("spec/toy"), "no folder of .*spec has a models.yaml"),
        (
            "no erratum",
            ("errata",),
            lambda project: (project / ERRATA).unlink(),
            "no model of a manifest has an erratum",
        ),
    )
    for name, line, damage, says in cases:
        yield Bad(f"nothing: {name}", line, f"nothing to judge: {says}", damage, ExitCode.NOTHING)


# Places that cannot be written


def places() -> Iterator[Bad]:
    def build_a_file(project: Path) -> None:
        (project / "build").write_text("a file")

    def page_a_folder(project: Path) -> None:
        (project / "build/docs/errata/README.md").mkdir(parents=True)

    yield Bad("place: build is a file", ("errata",), "errata.*|build.* is a file, not a folder", build_a_file)

    def out_a_file(project: Path) -> None:
        (project / "out").write_text("a file")

    def page_in_out_a_folder(project: Path) -> None:
        (project / "out/index.html").mkdir(parents=True)

    long = "x" * 300
    out_cases = (
        ("is a file", "out", out_a_file, "out: it is a file, not a folder; name another place with --out"),
        ("is below a file", "out/deep", out_a_file, "out/deep: .*out is a file, not a folder"),
        ("is below a device", "/dev/null/x", void, "/dev/null/x: /dev/null is a file, not a folder"),
        ("is of the kernel's", "/proc/x", void, "/proc/x: nothing can be written in it, as"),
        ("has too long a name", long, void, "the name is too long"),
        ("has too long a name in the middle", f"{long}/x", void, "the name is too long"),
        ("has a page that is a folder", "out", page_in_out_a_folder, "index.html: it is a folder, not a file"),
    )
    for name, out, damage, says in out_cases:
        yield Bad(f"place: report's {name}", ("report", "--out", out), says, damage)
    yield Bad("place: the page is a folder", ("errata",), "README.md: it is a folder, not a file", page_a_folder)


# Tools


def variable(name: str, value: str) -> Damage:
    return lambda _: os.environ.__setitem__(name, value)


def jar(make: Callable[[bytes], bytes]) -> Damage:
    """Name, by TLC_JAR, a jar that is made from the real one."""

    def damage(project: Path) -> None:
        (project / "named.jar").write_bytes(make(REAL_JAR.read_bytes()))
        os.environ["TLC_JAR"] = str(project / "named.jar")

    return damage


def zipped(content: bytes) -> bytes:
    """A jar with one file, whose content is stored as it is."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("tlc2/TLC.class", content)
    return file.getvalue()


def java(script: str) -> Damage:
    def damage(project: Path) -> None:
        (project / "java").write_bytes(b"#!/bin/sh\n" + script.encode("latin-1"))
        (project / "java").chmod(0o755)
        os.environ["GROUPCOMM_JAVA"] = str(project / "java")

    return damage


REAL_JAR = tools.find_jar()


def broken_tools() -> Iterator[Bad]:
    check = ("check", "--model", "pair")
    install = "install Java 17 or newer"
    cases = (
        ("no Java", variable("GROUPCOMM_JAVA", "/nowhere/java"), f"/nowhere/java does not run .*: {install}"),
        ("a Java that is a folder", variable("GROUPCOMM_JAVA", "/"), f"/ does not run .*: {install}"),
        ("a Java that is none", variable("GROUPCOMM_JAVA", "/bin/true"), f"/bin/true is not a working Java: {install}"),
        ("a Java that is data", variable("GROUPCOMM_JAVA", str(REAL_JAR)), f"tla2tools.jar does not run .*: {install}"),
        ("a Java that is too old", java("echo 'version \"11.0.2\"' >&2"), f"is Java 11: {install}"),
        (
            "a Java of no century",
            java("echo 'version \"" + "9" * 5_000 + "\"' >&2"),
            f"is not a working Java: {install}",
        ),
        ("a Java that speaks Latin-1", java("echo '\xe9' >&2; exit 1"), f"is not a working Java: {install}"),
        ("no jar", variable("TLC_JAR", "/nowhere.jar"), "TLC_JAR names /nowhere.jar, which is not a file: correct it"),
        ("a jar that is a folder", variable("TLC_JAR", "/"), "TLC_JAR names /, which is not a file: correct it"),
        ("a jar that is none", jar(lambda _: b"no jar"), "named.jar, which is not a jar .*: correct it or unset it"),
        ("an empty jar", jar(lambda _: b""), "named.jar, which is not a jar .*: correct it or unset it"),
        ("half a jar", jar(lambda whole: whole[: len(whole) // 2]), "named.jar, which is not a jar .*: correct it"),
        (
            "a jar with a hole",
            jar(lambda whole: whole[:500_000] + bytes(2_000) + whole[502_000:]),
            r"named.jar, which is (damaged|not a jar) \(.*: correct it or unset it",
        ),
        (
            "a jar with another byte",
            jar(lambda _: zipped(b"class").replace(b"class", b"clasp", 1).replace(b"TLC.clasp", b"TLC.class", 1)),
            "named.jar, which is (damaged|not a jar|not TLC's)",
        ),
        (
            "another program's jar",
            jar(lambda _: zipped(b"")),
            "which is not TLC's, as it lacks tla2sany/.*Naturals.tla",
        ),
    )
    for name, damage, says in cases:
        yield Bad(f"tool: {name}", check, says, damage, ExitCode.TOOL_FAILED)


# Vectors


def file_entry(content: bytes) -> dict[str, object]:
    return {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}


@functools.cache
def whole_vectors() -> str:
    """A manifest and the file of a model, with one row: A starts, and a timer goes off."""
    protocol = derive.load(stable())
    judge = Judge(protocol)
    constants = derive.constants_of(stable().cfg(stable().model("pair")))
    counts = {"states": 1, "events": 1, "rows": 1, "walks": 0, "steps": 0}
    state = json.loads(judge.state(protocol.codec.to_spec(protocol.core.start("A"))))
    pools = {"states": [state], "events": [{"type": "StableTimeout"}], "effects": [], "results": []}
    told = {name: loose(value) for name, value in constants.items()}
    head = {"model": "pair", "path": "pair.json", "constants": told, "counts": counts}
    manifest = {"format": FORMAT, "protocol": "stable", "files": {}, "models": [head], "scenarios": []}
    return json.dumps([manifest, {**pools, "starts": {"A": 0}, "rows": [[0]]}])


def vectors(
    change: Callable[[dict[str, Any]], object] = void,
    *,
    within: Callable[[dict[str, Any]], object] = void,
    file: bytes | None = None,
    manifest: bytes | None = None,
) -> Damage:
    """Write a folder of vectors whose manifest, or whose file (with its digest), is changed."""

    def damage(project: Path) -> None:
        folder = project / "vectors"
        folder.mkdir()
        told, content = json.loads(whole_vectors())
        within(content)
        data = json.dumps(content).encode() if file is None else file
        told["files"]["pair.json"] = file_entry(data)
        change(told)
        (folder / "pair.json").write_bytes(data)
        (folder / "manifest.json").write_bytes(json.dumps(told).encode() if manifest is None else manifest)

    return damage


def model(told: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = told["models"][0]
    return found


def listed(told: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = told["files"]["pair.json"]
    return found


def in_place_of(file: Path, make: Callable[[Path], object]) -> None:
    file.unlink()
    make(file)


def vector_folders() -> Iterator[Bad]:
    deep = b"[" * 100_000 + b"]" * 100_000
    digits = b"9" * 5_000
    broken = "expected a manifest of a release"
    manifests: tuple[tuple[str, Damage, str], ...] = (
        ("an empty manifest", vectors(manifest=b""), "manifest.json:1: expected JSON"),
        ("a manifest that is no object", vectors(manifest=b"[]"), broken),
        ("half a manifest", vectors(manifest=b'{"format": "gro'), "manifest.json:1: expected JSON"),
        ("a manifest that is not UTF-8", vectors(manifest=b'{"a": "\xff"}'), "manifest.json:1: expected text in UTF-8"),
        ("a manifest nested deeply", vectors(manifest=deep), "manifest.json:1: expected JSON .*nested"),
        (
            "a manifest of 5,000 digits",
            vectors(manifest=b'{"format":' + digits + b"}"),
            "manifest.json:1: expected JSON",
        ),
        ("a manifest with infinity", vectors(manifest=b'{"format": 1e400, "protocol": ""}'), "the format"),
        ("a manifest with NaN", vectors(manifest=b'{"format": NaN}'), "NaN is no number in JSON"),
        ("a key twice", vectors(manifest=b'{"format": 1, "format": 2}'), "a key is there twice"),
        (
            "another format",
            vectors(lambda told: told.update(format="groupcomm vectors 2")),
            'expected the format "groupcomm vectors 3" of stable, not groupcomm vectors 2',
        ),
        ("no models", vectors(lambda told: told.update(models=[])), "models and scenarios, each once"),
        ("no files", vectors(lambda told: told.update(files={})), "no file that the manifest has not"),
        ("models that are a number", vectors(lambda told: told.update(models=3)), broken),
        ("models that are null", vectors(lambda told: told.update(models=None)), broken),
        ("no protocol", vectors(lambda told: told.pop("protocol")), broken),
        ("another protocol", vectors(lambda told: told.update(protocol="sequencer")), "of stable, not"),
        ("a path outside", vectors(lambda told: told["files"].update({"../x": {}})), "to be there"),
        ("an absolute path", vectors(lambda told: told["files"].update({"/etc/passwd": {}})), "to be there"),
        ("no path", vectors(lambda told: told["files"].update({"": {}})), "to be there"),
        ("a path with a zero", vectors(lambda told: told["files"].update({"a\0": {}})), "to be there"),
        ("a file that is not there", vectors(lambda told: told["files"].update(x={})), "the manifest has"),
        ("an entry that is a list", vectors(lambda told: told["files"].update({"pair.json": []})), broken),
        (
            "a file of another name",
            vectors(lambda told: model(told).update(path="../../etc/passwd")),
            "a file that is called like its model",
        ),
        ("a name that is a path", vectors(lambda told: model(told).update(model="../pair")), "like its model"),
        (
            "more rows",
            vectors(lambda told: model(told)["counts"].update(rows=2)),
            "pair.json:1: expected .*'rows': 2.*, as the manifest has it",
        ),
        ("no counts", vectors(lambda told: model(told).pop("counts")), broken),
        ("counts that are a list", vectors(lambda told: model(told).update(counts=[3])), broken),
        ("another digest", vectors(lambda told: listed(told).update(sha256="0" * 64)), "with SHA-256 0000"),
        ("a model twice", vectors(lambda told: told.update(models=[model(told)] * 2)), "each once"),
        (
            "constants that are not all there",
            vectors(lambda told: model(told).update(constants={"N": 1})),
            "the constants that make a member of pair",
        ),
        (
            "a constant that is null",
            vectors(lambda told: model(told)["constants"].update(MaxBytes=None)),
            "the constants that make a member of pair",
        ),
        (
            "constants of another algorithm",
            vectors(lambda told: model(told)["constants"].update(MergeRule="max")),
            "pair to be of what is implemented",
        ),
        ("constants nested deeply", vectors(lambda told: model(told)["constants"].update(MaxBytes=nested(900))), "."),
    )
    for name, damage, says in manifests:
        yield Bad(f"vectors: {name}", CHECK_VECTORS, says, damage)
    pools = "pair.json:1: expected states, events, effects and results"

    def state(told: dict[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = told["states"][0]
        return found

    within: tuple[tuple[str, Callable[[dict[str, Any]], object], str], ...] = (
        ("no rows", lambda told: told["rows"].clear(), "as the manifest has it"),
        ("a row that is a number", lambda told: told.update(rows=[7]), "manifest.json:1: expected "),
        ("an unknown cell", lambda told: told.update(rows=[[3]]), "a number of an outcome or a result, not 3"),
        ("a cell below 0", lambda told: told.update(rows=[[-1]]), "a number of an outcome or a result"),
        ("a cell that is true", lambda told: told.update(rows=[[True]]), "of an outcome or a result, not True"),
        ("no states", lambda told: told["states"].clear(), "and a state and an event for each"),
        ("no list of states", lambda told: told.pop("states"), pools),
        ("a state that is a number", lambda told: told.update(states=[3]), pools),
        ("a state with another field", lambda told: state(told).update(more=1), pools),
        ("a state without a field", lambda told: state(told).pop("vote"), pools),
        ("a fraction", lambda told: state(told).update(received_bytes=1.5), pools),
        ("a null", lambda told: state(told).update(received_bytes=None), pools),
        ("an event of no type", lambda told: told.update(events=[{"type": "Nothing"}]), pools),
        ("a result of three", lambda told: told.update(results=[[{}, [], 1]]), pools),
        ("an effect that is not there", lambda told: told.update(results=[[{}, [5]]]), pools),
        ("no starts", lambda told: told.pop("starts"), "the states in which members start"),
        ("a start that is not there", lambda told: told.update(starts={"A": 1}), "in which members start"),
    )
    for name, change, says in within:
        yield Bad(f"vectors: {name}", CHECK_VECTORS, says, vectors(within=change))
    files = (
        ("a file that is no JSON", b"{", "pair.json:1: expected JSON"),
        ("a file that is not UTF-8", b'\n{"x":"\xff"}', "pair.json:2: expected text in UTF-8"),
        ("a file that is a list", b"[]", "expected "),
        ("a file of 5,000 digits", b'{"rows":' + digits + b"}", "pair.json:1: expected JSON"),
        ("a file nested deeply", b'{"rows":' + deep + b"}", "nested so deeply"),
        ("a field twice", b'{"rows":[],"rows":[]}', "a key is there twice"),
        ("an empty file", b"", "pair.json:1: expected JSON"),
    )
    for name, text, says in files:
        yield Bad(f"vectors: {name}", CHECK_VECTORS, says, vectors(file=text))

    def without(make: Callable[[Path], object]) -> Damage:
        return lambda project: void((vectors()(project), make(project / "vectors")))

    others = (
        ("no folder", void, "manifest.json:1: expected a manifest of vectors, but there is no such file"),
        ("another file", without(lambda folder: (folder / "x").write_text("")), "x:1: expected no file that"),
        ("a link to nothing", without(lambda folder: (folder / "x").symlink_to("nowhere")), "x:1: expected"),
        ("a pipe", without(lambda folder: os.mkfifo(folder / "x")), "x:1: expected"),
        (
            "a pipe in the place of a file",
            without(lambda folder: in_place_of(folder / "pair.json", os.mkfifo)),
            "pair.json:1: expected a file",
        ),
        (
            "a folder in the place of a file",
            without(lambda folder: in_place_of(folder / "pair.json", Path.mkdir)),
            "pair.json:1: expected to be there",
        ),
    )
    for name, damage, says in others:
        yield Bad(f"vectors: {name}", CHECK_VECTORS, says, damage)
    line = (*CHECK_VECTORS, "--model", "nosuch")
    yield Bad("vectors: a model that is not in them", line, 'a model or scenario "nosuch"', vectors())


CHECK_VECTORS = ("vectors", "stable", "--out", "vectors", "--check")


def nested(depth: int) -> list[Any]:
    found: list[Any] = []
    for _ in range(depth):
        found = [found]
    return found


# Documents


def added(file: str, text: bytes, then: Damage = void) -> Damage:
    """Write a file first, and then do something to it."""

    def damage(project: Path) -> None:
        (project / file).parent.mkdir(parents=True, exist_ok=True)
        (project / file).write_bytes(text)
        then(project)

    return damage


def documents() -> Iterator[Bad]:
    readme = "spec/toy/README.md"
    test = "tests/toy/test_toy.py"
    scenario = "conformance/scenarios/toy/one.yaml"
    page = "docs/requirements.md"  # what people wrote of it
    for kind, file in (("README", readme), ("test", test), ("scenario", scenario), ("page", page)):
        for name, damage, says in UNREADABLE:
            made = added(file, b"# text\n", damage(file))
            says_so = says.replace("{}", re.escape(Path(file).name))
            line = ("requirements",)
            if kind != "page" or name != "a folder":
                yield Bad(f"document: a {kind} that is {name}", line, says_so, made)
    python = (
        ("no Python", b"\n\ndef test_(:\n", r"test_toy.py:3: expected Python \(invalid syntax"),
        ("an open string", b'"""text\n', r"test_toy.py:1: expected Python \(unterminated"),
        ("a zero byte", b"a = 1\0\n", r"test_toy.py:\d+: expected Python \(.*null bytes"),
        ("nested too deeply", b"(" * 10_000, r"test_toy.py:1: expected Python \("),
        ("an integer of 5,000 digits", b"a = " + b"9" * 5_000, r"test_toy.py:1: expected Python \(.*digits"),
    )
    for name, text, says in python:
        yield Bad(f"document: a test with {name}", ("requirements",), says, added(test, text))


# Scenarios


def scenarios() -> Iterator[Bad]:
    file = "story.yaml"
    line = ("scenario", file)
    for name, damage, says in UNREADABLE:
        made = added(file, b"scenario: a story\n", damage(file))
        yield Bad(f"scenario: {name}", line, says.replace("{}", re.escape(file)), made, listed=True)
    for name, text, says in YAML:
        if "a mapping with" not in says and "unknown key" not in says and "is missing" not in says:
            yield Bad(f"scenario: {name}", line, rf"story.yaml:.*{says}", added(file, text), listed=True)
    missing = r"nowhere.yaml:1: expected .*there is no such file"
    yield Bad("scenario: a file that is not there", ("scenario", "nowhere.yaml"), missing, listed=True)


CASES = (
    *unreadable("manifest", MANIFEST, "list"),
    *unreadable("module", MODULE, "check", "--model", "pair"),
    *yaml(),
    *manifests(),
    *arguments(),
    *nothing(),
    *places(),
    *broken_tools(),
    *vector_folders(),
    *documents(),
    *scenarios(),
)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with the toy protocol, and no Java."""
    folder = tmp_path / "project"
    shutil.copytree(DATA, folder)
    monkeypatch.chdir(folder)
    for name in ("GROUPCOMM_JAVA", "TLC_JAR", "JAVA_HOME"):
        monkeypatch.setenv(name, "")  # so that a case's own value is undone
        monkeypatch.delenv(name)
    monkeypatch.setenv("GROUPCOMM_JAVA", "/bin/false")
    monkeypatch.setattr(vectors_command, "load", known_protocol)
    return folder


def known_protocol(root: Path, name: str) -> Manifest:
    """STABLE as it is, read once, so that vectors have an implementation; others from the project."""
    return stable() if name == "stable" else load(root, name)


@functools.cache
def stable() -> Manifest:
    return load(Path(__file__).parents[1], "stable")


def snapshot(folder: Path) -> dict[str, bytes | str]:
    """All files below a folder, with their content; of what is no file its kind."""
    found: dict[str, bytes | str] = {}
    for path in sorted(folder.rglob("*")):
        mode = path.lstat().st_mode
        small = stat.S_ISREG(mode) and path.stat().st_size < 1_000_000
        found[str(path.relative_to(folder))] = path.read_bytes() if small else f"{stat.S_IFMT(mode):o}"
    return found


@pytest.mark.parametrize("bad", CASES, ids=[case.name for case in CASES])
def test_bad_input_is_one_clear_line_and_an_exit_code(
    bad: Bad, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad.damage(project)
    before = snapshot(project)
    code = main(bad.arguments)
    out, err = capsys.readouterr()
    problem = f"{bad.arguments} ended with {code}\n{out}{err}"
    assert "Traceback" not in err, problem
    lines, heads = (out, ("unreadable  ",)) if bad.listed else (err, ("groupcomm: ", "Error: "))
    (line,) = [each for each in lines.splitlines() if each.startswith(heads)] or [""]
    assert re.search(bad.says, line), problem
    assert len(line) < 1_000 or "9" * 1_000 in line, problem
    assert bad.code == code, problem
    assert bad.listed or not out, problem
    assert before == snapshot(project)


def test_there_are_at_least_200_bad_inputs_each_once() -> None:
    assert len(CASES) >= 200
    assert len(CASES) == len({case.name for case in CASES})
