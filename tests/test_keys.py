"""keys: what is kept is known by all that it depends on."""

import subprocess
import sys
from pathlib import Path

import pytest

from groupcomm_conformance.files import keys

PLAN = "groupcomm_conformance.models.plan"


def test_other_words_or_other_code_make_another_key() -> None:
    one = keys.key(PLAN, "a", [1])
    assert one == keys.key(PLAN, "a", [1])
    assert 3 == len({one, keys.key(PLAN, "a", [2]), keys.key("groupcomm_conformance.tlc.run", "a", [1])})


def test_the_code_is_what_python_imports() -> None:
    """But for packages as such, of which nothing is used: their modules are."""
    script = f"import sys, {PLAN}; print(*(name for name in sys.modules if not hasattr(sys.modules[name], '__path__')))"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    imported = {name for name in ran.stdout.split() if name.startswith("groupcomm")}
    assert {PLAN, "groupcomm_conformance.tlc.resident"} <= imported
    assert imported <= keys.using(PLAN).keys()
    assert "groupcomm_conformance.models.running" not in keys.using(PLAN)


@pytest.mark.parametrize(
    ("file", "changes"),
    [
        ("made.py", True),
        ("below/used.py", True),
        ("below/late.py", True),
        ("below/Program.java", True),
        ("below/other.py", False),
        ("Other.java", True),
    ],
)
def test_a_change_of_code_changes_the_digest_where_the_module_uses_it(
    file: str, *, changes: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "below").mkdir()
    texts = {
        "made.py": "import json\nfrom below.used import a\nb = 1\n",
        "below/used.py": "a = 1\ndef f():\n    from . import late\n",
        "below/late.py": "a = 1\n",
        "below/other.py": "a = 1\n",
        "below/Program.java": "one\n",
        "Other.java": "one\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    found = set()
    for content in (texts[file], texts[file].replace("1", "2").replace("one", "two")):
        (tmp_path / file).write_text(content)
        keys.code_digest.cache_clear()
        found.add(keys.code_digest("made"))
    keys.code_digest.cache_clear()
    assert changes == (len(found) > 1)


@pytest.mark.parametrize(
    ("code", "same"),
    [
        ('"""Other words."""\n\ndef f(x):\n    """And here."""\n    return x + 1  # one\n', True),
        ("def f(x): return (x + 1)\n", True),
        ('def f(x):\n    return "x" + 1\n', False),
        ('def f(x):\n    """Add."""\n    "no docstring"\n    return x + 2\n', False),
    ],
)
def test_a_reworded_module_means_the_same(code: str, *, same: bool) -> None:
    module = b'"""A module."""\n\n\ndef f(x):\n    """Add one."""\n    return x + 1\n'
    assert same == (keys.meant(module) == keys.meant(code.encode()))


def test_a_module_that_there_is_not_is_refused() -> None:
    with pytest.raises(ValueError, match="no module of ours is called groupcomm_conformance"):
        keys.code_digest("groupcomm_conformance.attic")


def test_what_a_module_imports_from_beside_and_above_has_its_whole_name(tmp_path: Path) -> None:
    text = "from . import a\nfrom .b import x\nfrom .. import c\nfrom ..d import y\nimport e.f\n"
    for file, module in (("m.py", "p.q.m"), ("__init__.py", "p.q")):
        (tmp_path / file).write_text(text)
        assert [*keys.imports(module, tmp_path / file)] == ["p.q", "p.q.b", "p", "p.d", "e.f"]
