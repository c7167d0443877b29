"""Names that prose cites are names that there are: a renamed operator is renamed in the texts that explain it.

Two forms are read: `Module!Operator` in any prose, and a name in backticks that looks like an operator of the specification
(`MayInstall`) in Markdown and in comments of TLA+. And a function of a core has the name of the operator that it is.
"""

import ast
import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]
GENERATED = ("docs/guarantees.md", "docs/performance.md")
WORD = re.compile(r"\b[A-Za-z_]\w*\b")
QUALIFIED = re.compile(r"\b([A-Z]\w*)!([A-Z]\w*)")
CAMEL = re.compile(r"`([A-Z][a-z]+(?:[A-Z][a-z0-9]*)+)(?:\([^`]*\))?`")
HISTORY = "CHANGELOG.md"
"""It names what there was at the time."""
PLACEHOLDERS = {"A", "Abstract", "Instance"}
"""They stand for any instance, where a form of TLA+ is explained."""
OF_JGROUPS = {"AckTable", "FlowControl", "LastSeqnoResender"}
"""Classes of JGroups."""


def code(name: str, text: str) -> str:
    """The text of a module of TLA+ without its comments; of another file, the text."""
    if not name.endswith(".tla"):
        return text
    text = re.sub(r"\\\*.*", "", text)
    return re.sub(r"\(\*.*?\*\)", "", text, flags=re.DOTALL)


def defined(files: Mapping[str, str]) -> dict[str, set[str]]:
    """By module, and by each name under which a module is instantiated, the operators that it has or extends."""
    modules = {Path(name).stem: code(name, text) for name, text in files.items() if name.endswith(".tla")}
    found: dict[str, set[str]] = {}

    def of(module: str) -> set[str]:
        if module not in found:
            text = modules.get(module, "")
            found[module] = {*re.findall(r"^\s*(?:LET |LOCAL )?(\w+)(?:\([^=\n]*\))? ==", text, re.MULTILINE)}
            for conjuncts in re.findall(r"^Conjuncts == \{(.*?)\}", text, re.MULTILINE | re.DOTALL):
                found[module] |= {*WORD.findall(conjuncts)}
            for extended in re.findall(r"^EXTENDS (.*(?:,\n.*)*)", text, re.MULTILINE):
                for name in WORD.findall(extended):
                    found[module] |= of(name)
        return found[module]

    names = {module: of(module) for module in modules}
    for text in modules.values():
        for alias, module in re.findall(r"(\w+)(?:\([^=\n]*\))? ==\s+INSTANCE (\w+)", text):
            names[alias] = names.get(alias, set()) | of(module)
    return names


def unknown(files: Mapping[str, str]) -> Iterator[str]:
    """The places at which prose cites a name that no file has."""
    operators = defined(files)
    words = {
        word
        for name, text in files.items()
        if name.endswith((".tla", ".py", ".go", ".java"))
        for word in WORD.findall(code(name, text))
    }
    words |= {Path(name).stem for name in files}
    for name, text in files.items():
        if name == HISTORY or name.startswith("tests/"):
            continue
        for number, line in enumerate(prose(name, text).splitlines(), 1):
            for module, operator in QUALIFIED.findall(line):
                if module not in PLACEHOLDERS and operator not in operators.get(module, ()):
                    yield f"{name}:{number}: {module}!{operator}"
            if name.endswith((".md", ".tla")):
                for word in CAMEL.findall(line):
                    if word not in words | OF_JGROUPS:
                        yield f"{name}:{number}: {word}"


def otherwise_named(core: str, module: str, operators: set[str]) -> Iterator[str]:
    """The functions of a core, and the properties of its `State`, that cite operators of their module and none by their name.

    The name is the operator's in the case of Python: `_ack_received` is `AckReceived`. Where an operator is a condition its
    `Is` may be left out, and what raises without it says so: `State.stopped` is `IsStopped`, `_require_fits` is `Fits`.
    """
    found = ast.parse(core).body
    state = [each for node in found if isinstance(node, ast.ClassDef) and node.name == "State" for each in node.body]
    for node in (*found, *state):
        if isinstance(node, ast.FunctionDef):
            own = node.name.strip("_").removeprefix("require_")
            said = QUALIFIED.findall(ast.get_docstring(node) or "")
            cited = {name for its, name in said if its == module and name in operators}
            names = {re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower() for name in cited}
            if cited and own not in names | {name.removeprefix("is_") for name in names}:
                yield node.name


def prose(name: str, text: str) -> str:
    """The text, of Markdown without blocks of code; lines keep their numbers."""
    if not name.endswith(".md"):
        return text
    return re.sub(r"```.*?```", lambda block: "\n" * block.group().count("\n"), text, flags=re.DOTALL)


def tracked() -> dict[str, str]:
    """The files of the project with prose that is not generated, by their names."""
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return {
        name: (ROOT / name).read_text(encoding="utf-8")
        for name in names.splitlines()
        if name.endswith((".py", ".tla", ".go", ".java", ".ts", ".md", ".yaml"))
        and not name.startswith(GENERATED)
        and (ROOT / name).is_file()
    }


def test_each_name_that_prose_cites_is_there() -> None:
    assert [] == [*unknown(tracked())]


def test_each_test_that_a_reason_of_a_mutant_cites_is_there() -> None:
    files = tracked()
    there = {Path(name).stem for name in files} | {
        name for text in files.values() for name in re.findall(r"^ *(?:async )?def (test_\w+)", text, re.MULTILINE)
    }
    reasons = {name: text for name, text in files.items() if name.startswith("conformance/mutants/")}
    assert len(reasons) > 20
    cited = {(name, test) for name, text in reasons.items() for test in re.findall(r"\bneeds: .*?(test_\w+)", text)}
    assert len(cited) > 10
    assert [] == sorted((name, test) for name, test in cited if test not in there)


def test_a_function_of_a_core_has_the_name_of_the_operator_that_it_cites() -> None:
    found = {}
    for file in sorted(ROOT.glob("impl/groupcomm/*.py")):
        for module in ROOT.glob(f"spec/*/{file.stem.title().replace('_', '')}.tla"):
            own = {
                *re.findall(r"^(\w+)(?:\([^=\n]*\))? ==", code(module.name, module.read_text("utf-8")), re.MULTILINE)
            }
            found[file.stem] = " ".join(sorted(otherwise_named(file.read_text("utf-8"), module.stem, own)))
    assert len(found) > 10
    assert {name: names for name, names in found.items() if names} == {}


def test_a_function_with_the_name_of_another_operator_than_it_cites_is_found() -> None:
    core = """
def _free(state): "Pass UNBLOCK up. `Flush!Unblock`."
def _unblock(state): "Pass UNBLOCK up. `Flush!Unblock`, after `Flush!Free`."
def _require_fits(state): "`Flush!Fits`."
def _list(state): "As `Gms!Free` has it."
class State:
    @property
    def stopped(self): "`Flush!IsStopped`."
    @property
    def joined(self): "`Flush!InView`."
"""
    assert [*otherwise_named(core, "Flush", {"Free", "Unblock", "Fits", "IsStopped", "InView"})] == ["_free", "joined"]


def test_names_that_are_not_there_are_found_and_others_are_not() -> None:
    files = {
        "spec/Gms.tla": "---- MODULE Gms ----\nEXTENDS Views\nMayTake(s) == TRUE\n\\* `MayFollow`: Gms!Following\n====",
        "spec/Views.tla": "---- MODULE Views ----\n(* Gms!MayTake, Group!InView\n*)\nInView(s) == TRUE\n====",
        "spec/Top.tla": "---- MODULE Top ----\nGroup == INSTANCE Gms WITH a <- b\n====",
        "README.md": "`MayTake(s)` and `InView`, Gms!InView; `IsGone`, Nowhere!InView, Views!MayTake.\n",
        HISTORY: "`WasThere`, Gms!WasThere\n",
    }
    assert [*unknown(files)] == [
        "spec/Gms.tla:4: Gms!Following",
        "spec/Gms.tla:4: MayFollow",
        "README.md:1: Nowhere!InView",
        "README.md:1: Views!MayTake",
        "README.md:1: IsGone",
    ]
