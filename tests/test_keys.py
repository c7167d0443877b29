"""keys: what is kept is known by all that it depends on."""

from pathlib import Path

import pytest

from groupcomm_conformance.files import keys


def test_other_words_or_another_room_make_another_key() -> None:
    one = keys.key(("tla",), "a", [1])
    assert one == keys.key(("tla",), "a", [1])
    assert 3 == len({one, keys.key(("tla",), "a", [2]), keys.key(("tlc", "tla"), "a", [1])})


@pytest.mark.parametrize("name", ["values.py", "Values.java"])
def test_a_change_of_any_module_of_a_room_changes_its_digest(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tla" / "deep").mkdir(parents=True)
    module = tmp_path / "tla" / "deep" / name
    monkeypatch.setattr(keys, "_PACKAGE", tmp_path)
    found = set()
    for content in ("a = 1;\n", "a = 2;\n"):
        module.write_text(content)
        keys.code_digest.cache_clear()
        found.add(keys.code_digest("tla"))
    keys.code_digest.cache_clear()
    assert 2 == len(found)


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


def test_a_room_that_there_is_not_is_refused() -> None:
    with pytest.raises(ValueError, match="no room of groupcomm_conformance is called attic"):
        keys.code_digest("attic")
