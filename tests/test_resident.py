"""TLC kept in memory: a run in a JVM that has had others says what it says in a JVM of its own."""

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from attrs import asdict

from groupcomm_conformance.tlc import errors, resident, tools
from groupcomm_conformance.tlc import run as tlc

ORDER = r"""---- MODULE Order ----
EXTENDS TLC
VARIABLES first, log
Init == first = (CHOOSE s \in {"%s", "%s"} : TRUE) /\ log = <<>>
Next == UNCHANGED <<first, log>>
Named == PrintT(first)
====
"""
"""TLC orders strings by where it meets them first, and `CHOOSE` takes the least."""

BOUND = r"""---- MODULE Bound ----
VARIABLE x
Twice(log, first) == log + first
+(a, b) == <<a, b>>
Init == x \in {<<first, log>> : first \in {1, 2}, log \in {3}}
Next == \E first \in {1} : x' = <<first, 3>>
Least == x # <<2, 3>>
====
"""
"""A former variable's name is now a name of an operator's parameters and of bound variables."""

LIVE = r"""---- MODULE Live ----
EXTENDS Naturals
VARIABLE x
Init == x = 0
Next == x' = (x + 1) %% %d
Spec == Init /\ [][Next]_x /\ WF_x(Next)
Comes == <>(x = 3)
====
"""

REPLACED = r"""---- MODULE Replaced ----
EXTENDS Naturals
CONSTANT Limit
VARIABLE x
Moving == x
Fixed == 7
Stands == Fixed + Limit
Moves == Moving
Init == x = 0
Next == x < %d /\ x' = x + 1
Told == Stands = %s /\ Moves = %s
====
"""
"""Models put other definitions in the place of constant ones and of others: what is constant changes with them."""

ASKED = r"""---- MODULE Asked ----
EXTENDS Naturals
VARIABLES x, y
Init == x = 0 /\ y = 0
Next == x < %d /\ x' = x + 1 /\ y' = y
Picks(p) == LET w == p IN \E n \in 1 .. 3 : x' = n /\ y' = y /\ w + w = 4
Bound == LET w == x' IN \E n \in 1 .. 3 : x' = n /\ y' = y /\ w + w = 4
Below(v) == LET w == v + v IN w + w < 4 * %d /\ x' = w /\ y' = w
Told ==
    /\ ENABLED Picks(x') /\ ENABLED Bound /\ ENABLED Picks(2) /\ ENABLED (Picks(x) \/ Picks(2))
    /\ (ENABLED Picks(x)) = (x = 2)
    /\ (ENABLED Below(x)) = (x < %d)
Moves == [][(ENABLED Below(x)) = (x < %d) /\ (ENABLED Below(x))' = (x' < %d)]_<<x, y>>
====
"""
"""Whether an action is enabled: `w` is the next state's x in one place, found anew for each n, and a value in another."""

DOUBLED = "\n".join(
    (
        "---- MODULE Doubled ----\nEXTENDS Naturals\nVARIABLE x\nInit == x = 0\nNext == UNCHANGED x",
        "Far(p) ==\n    LET d0 == p",
        *(f"        d{n} == d{n - 1} + d{n - 1} - d{n - 1}" for n in range(1, 64)),
        "    IN x' = d63",
        "None == ENABLED Far(x)\n====",
    )
)
"""`d63` uses `d62` three times, and so on: computed at each use, that does not end."""

BOUND_NAMES = "\n".join(
    (
        "---- MODULE Bounds ----\nEXTENDS Naturals\nVARIABLE x",
        "---- MODULE Inner ----\nVARIABLE v\nMoves(n) == v' = v + n\nIs(n) == v = n\nCan(n) == ENABLED Moves(n)\n====",
        "In(v) == INSTANCE Inner",
        "RECURSIVE Sum(_)\nSum(n) == IF n = 0 THEN 0 ELSE LET m == n - 1 IN n + Sum(m)",
        "Init == x = 0",
        "Many(a) == \\E b \\in {a + 1} : LET n0 == a + b",
        *(f"        n{n} == n{n - 1} + n{n // 2} - n{n // 2}" for n in range(1, 150)),
        "    IN n149 = a + b /\\ n75 = n149 /\\ Sum(b) = Sum(a) + b /\\ In(x)!Is(a)",
        "Next == x < 8 /\\ \\E n \\in {1} : In(x)!Moves(n)",
        "Told == Many(x) /\\ (ENABLED In(x)!Moves(1)) /\\ In(x)!Can(1) /\\ x < %d\n====",
    )
)
"""More than 64 names bound inside one another, in a recursion, and by an instance."""

DEEP = "\n".join(
    (
        "---- MODULE Deep ----\nEXTENDS Naturals\nVARIABLE x\nInit == x = 0\nNext == UNCHANGED x\nNone == x = 0",
        *(f"D{n} == {f'D{n - 1} + D{n - 1}' if n else 'x'}" for n in range(64)),
        "====",
    )
)
"""A walk through D63 as often as it is used does not end."""


@pytest.fixture(autouse=True)
def _none_is_left() -> Iterator[None]:
    resident.end()
    resident._compiled.cache_clear()  # noqa: SLF001 - the cache is of the project that the test is in
    yield
    resident.end()
    resident._compiled.cache_clear()  # noqa: SLF001


def module(text: str) -> dict[str, str]:
    return {text.split()[2]: text}


def said(text: str, cfg: str, *, short: bool) -> object:
    """Everything that a run says but for its costs."""
    generated = module(text)
    (name,) = generated
    try:
        result = tlc.run([], name, cfg, generated=generated, workers=1, short=short)
    except errors.TLCError as error:
        return type(error), str(error)
    return {key: value for key, value in asdict(result).items() if "seconds" not in key}


BOTH = "INIT Init\nNEXT Next\nINVARIANT Named\n"
LEAST = "INIT Init\nNEXT Next\nINVARIANT Least\n"
COMES = "SPECIFICATION Spec\nPROPERTY Comes\n"
TOLD = "INIT Init\nNEXT Next\nCONSTANT Limit = 1\nINVARIANT Told\n"
ASKS = "INIT Init\nNEXT Next\nINVARIANT Told\nPROPERTY Moves\n"
RUNS = [
    (ORDER % ("pear", "apple"), BOTH),
    (BOUND.replace("+(a, b) == <<a, b>>\n", "").replace("log + first", "<<log, first>>"), LEAST),
    (BOUND, LEAST),  # does not parse
    (ORDER % ("apple", "pear"), BOTH),
    (LIVE % 3, COMES),
    (LIVE % 5, COMES),
    (LIVE % 3, COMES),
    (ORDER % ("apple", "pear"), BOTH.replace("Named", "Nameless")),
    (REPLACED % (2, "8", "x"), TOLD),
    (REPLACED % (3, "x + 1", "x"), TOLD + "CONSTANT Fixed <- Moving\n"),
    (REPLACED % (4, "8", "7"), TOLD + "CONSTANT Moving <- Fixed\n"),
    (REPLACED % (5, "8", "1"), TOLD),  # does not hold
    (ORDER % ("pear", "apple"), BOTH),
    (ASKED % (6, 3, 3, 3, 3), ASKS),
    (ASKED % (6, 3, 2, 3, 3), ASKS),  # does not hold
    (ASKED % (6, 3, 3, 3, 2), ASKS),  # nor does this, of a next state
    (BOUND_NAMES % 9, TOLD.replace("CONSTANT Limit = 1\n", "")),
    (BOUND_NAMES % 8, TOLD.replace("CONSTANT Limit = 1\n", "")),  # does not hold
]


@pytest.mark.nightly
def test_a_run_says_what_it_says_alone() -> None:
    """Names, orders of strings, what was violated, what failed: nothing of a run is left for the next."""
    alone = [said(text, cfg, short=False) for text, cfg in RUNS]
    assert [said(text, cfg, short=True) for text, cfg in RUNS] == alone
    assert len(resident._idle) == 1  # noqa: SLF001 - and all were of the same JVM
    assert len({str(each) for each in alone}) == len(RUNS) - 2  # those written twice


BASE = r"""---- MODULE Base ----
EXTENDS Naturals
CONSTANT Limit
VARIABLE x
Moving == x
Fixed == %d
Sum == Fixed + Limit
In(y) == INSTANCE Held WITH Least <- Fixed
Init == x = 0
Next == x < 2 /\ x' = x + 1
====
"""
HELD = r"""---- MODULE Held ----
EXTENDS Naturals
CONSTANT Least, y
Small == 1
Low == Least - Small
Is(n) == Low + y = n
====
"""
SEVEN, ONE = BASE % 7, "INIT Init\nNEXT Next\nINVARIANT Told\nCONSTANT Limit = 1\n"


@pytest.mark.parametrize("turns", [1, -1])
def test_modules_that_were_parsed_have_nothing_of_a_former_run(turns: int) -> None:
    """One root after another names them: with other constants, definitions and claims, or in another text."""
    for base, cfg, told, outcome in [
        (SEVEN, ONE, "Sum = 8", "holds"),
        (SEVEN, ONE.replace("Limit = 1", "Limit = 2"), "Sum = 9", "holds"),
        (SEVEN, ONE, "Sum = 9", "violates"),
        (SEVEN, f"{ONE}CONSTANT Fixed <- Moving\n", "Sum = x + 1", "holds"),
        (SEVEN, f"{ONE}CONSTANT Fixed = 3\n", "Sum = 4 /\\ In(x)!Is(2 + x)", "holds"),
        (SEVEN, f"{ONE}CONSTANT Small =[Held] 2\n", "In(x)!Is(5 + x)", "holds"),
        (SEVEN, ONE, "In(x)!Is(6 + x)", "holds"),
        (SEVEN, ONE, "Sum = )", "ParseFailed"),
        (SEVEN, ONE, "Sum = Other", "ParseFailed"),
        (BASE % 6, ONE, "Sum = 7", "holds"),
        (SEVEN, ONE, "Sum = 8", "holds"),
    ][::turns]:
        generated = (
            module(base)
            | module(HELD)
            | module(f"---- MODULE Root ----\nEXTENDS Base\nTold == x >= 0 /\\ {told}\n====\n")
        )
        try:
            found: str = tlc.run([], "Root", cfg, generated=generated, workers=1, short=True).outcome
        except errors.ParseFailed as error:
            found = type(error).__name__
        assert found == outcome, told
    assert len(resident._idle) == 1  # noqa: SLF001 - all were of the same JVM


def test_modules_of_which_the_parser_warns_are_searched() -> None:
    """A module declares a constant that one which it extends has declared: a warning, and no error."""
    generated = (
        module(SEVEN)
        | module(HELD)
        | module("---- MODULE Twice ----\nEXTENDS Base\nCONSTANT Limit\nMore == Limit + 1\n====\n")
        | module("---- MODULE Root ----\nEXTENDS Twice\nTold == More = 2\n====\n")
    )
    assert tlc.run([], "Root", ONE, generated=generated, workers=1, short=True).outcome == "holds"


WANDERS = r"""---- MODULE Wanders ----
EXTENDS Naturals
VARIABLE x
Init == x = 0
Next == \E n \in 1 .. %d : x' = (3 * x + n) %% 97
====
"""


def written(folder: Path, *, kept: bool) -> list[list[str]]:
    """The graphs and random walks, in turn, with other modules of the same name between them."""
    files = []
    for number, (bound, seed) in enumerate([(5, 1), (7, None), (5, 2), (5, None), (5, 1), (7, None)]):
        place = folder / f"{kept}-{number}"
        tlc.run(
            [],
            "Wanders",
            "INIT Init\nNEXT Next\n",
            generated=module(WANDERS % bound),
            workers=1,
            kept=kept,
            dump=place if seed is None else None,
            simulate=None if seed is None else tlc.Simulation(3, 20, seed, place),
        )
        texts = (each.read_text() for each in sorted(folder.glob(f"{place.name}*")))
        files.append([text.replace(str(place), "the file") for text in texts])
    return files


@pytest.mark.nightly
def test_graphs_and_random_walks_are_those_of_a_jvm_of_its_own(tmp_path: Path) -> None:
    alone = written(tmp_path, kept=False)
    assert written(tmp_path, kept=True) == alone
    assert [3, 1, 3, 1, 3, 1] == [*map(len, alone)]
    assert alone[0] == alone[4] != alone[2]
    assert alone[1] == alone[5] != alone[3]


def test_what_is_constant_is_not_asked_of_a_definition_as_often_as_it_is_used() -> None:
    cfg = "INIT Init\nNEXT Next\nINVARIANT None\n"
    result = tlc.run([], "Deep", cfg, generated=module(DEEP), workers=1, short=True, timeout=120)
    assert result.outcome == "holds"


def test_what_an_enabled_action_uses_is_computed_once() -> None:
    cfg = "INIT Init\nNEXT Next\nINVARIANT None\n"
    result = tlc.run([], "Doubled", cfg, generated=module(DOUBLED), workers=1, short=True, timeout=120)
    assert result.outcome == "holds"


def test_the_program_is_compiled_once_for_any_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project(tmp_path))
    compiled = []
    another = tmp_path / "java"
    another.write_text(f'#!/bin/sh\nexec {tools.find_java()} "$@"\n', encoding="utf-8")
    another.chmod(0o755)
    for java in (tools.find_java(), another):
        kept = resident.take(java, tools.find_jar(), "1g")
        assert kept is not None
        resident.give_back(kept, usable=False)
        (made,) = (tmp_path / ".cache" / "groupcomm").glob("tlc-*/Resident.class")
        compiled.append(made.stat().st_mtime_ns)
        resident._compiled.cache_clear()  # noqa: SLF001
    assert compiled[0] == compiled[1]


def project(folder: Path) -> Path:
    (folder / "spec" / "toy").mkdir(parents=True)
    (folder / "spec" / "toy" / "Toy.tla").touch()
    return folder


def test_a_java_without_its_compiler_goes_without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project(tmp_path))
    false = shutil.which("false")
    assert false is not None
    assert resident.take(Path(false), tools.find_jar(), "1g") is None


def test_without_a_place_to_keep_it_each_run_has_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = project(tmp_path)
    (root / ".cache").write_text("a file where the folder would be")
    monkeypatch.chdir(root)
    text, cfg = RUNS[0]
    assert said(text, cfg, short=True) == said(text, cfg, short=False)
    assert resident._idle == []  # noqa: SLF001


def test_one_that_was_killed_between_two_runs_is_replaced() -> None:
    text, cfg = RUNS[0]
    before = said(text, cfg, short=True)
    (kept,) = resident._idle  # noqa: SLF001
    os.kill(kept.jvm._process.pid, signal.SIGKILL)  # noqa: SLF001
    kept.jvm.ended(wait=True)
    assert said(text, cfg, short=True) == before


def test_a_run_that_takes_too_long_takes_its_jvm_along() -> None:
    endless = LIVE % 2_000_000_000
    with pytest.raises(errors.TimedOut):
        tlc.run([], "Live", COMES, generated=module(endless), workers=1, short=True, timeout=3)
    assert resident._idle == []  # noqa: SLF001
    text, cfg = RUNS[0]
    assert said(text, cfg, short=True) == said(text, cfg, short=False)
