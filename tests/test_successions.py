"""successions, composition: equal up to names is equal, views that no member installed are left out, records go stale."""

import shutil
from pathlib import Path

import pytest

from groupcomm_conformance.documents import composition
from groupcomm_conformance.files.errors import FileError
from groupcomm_conformance.models.checking import digest
from groupcomm_conformance.models.manifest import load
from groupcomm_conformance.models.successions import Succession, canonical, compared, seen
from groupcomm_conformance.tla.values import parse

ROOT = Path(__file__).parent.parent

FIRST = '<<"A", <<"A", "B">>, {}, {"A", "B"}, {<<"A", 0>>, <<"B", 0>>}>>'
# A leaves: it decides the view of B alone, which it does not install.
LEFT = '<<"A", <<"B">>, {1}, {}, {<<"B", 0>>}>>'
ALONE = '<<"B", <<"B">>, {%d}, {}, {<<"B", 0>>}>>'
PROMISE = '{<<"B", 0, %d, "C", 0>>}'


def succession(views: str, promises: str = "{}", installed: str = "{1}") -> Succession:
    return canonical(*seen(parse(f"<<<<{views}>>, {promises}, {installed}>>")))


def test_names_do_not_matter() -> None:
    other = FIRST.replace("A", "X").replace("B", "A").replace("X", "B")
    assert succession(FIRST) == succession(other)
    assert succession(FIRST) != succession(FIRST.replace('<<"A", "B">>', '<<"B", "A">>'))


def test_a_view_that_nobody_has_installed_is_left_out() -> None:
    assert succession(f"{FIRST}, {LEFT}") == succession(FIRST)
    assert 2 == succession(f"{FIRST}, {LEFT}", installed="{1, 2}").views
    # Some member has installed it, if a member decided the next view on top of it.
    assert 3 == succession(f"{FIRST}, {LEFT}, {ALONE % 2}").views


def test_the_views_that_are_left_are_numbered_anew() -> None:
    left_out = succession(f"{FIRST}, {LEFT}, {ALONE % 1}", PROMISE % 3, "{1, 3}")
    assert succession(f"{FIRST}, {ALONE % 1}", PROMISE % 2, "{1, 2}") == left_out


def test_what_is_not_above_is_longer_or_another() -> None:
    short, promised = succession(FIRST), succession(FIRST, PROMISE % 1)
    long = succession(f"{FIRST}, {ALONE % 1}")
    below = frozenset({short, promised, long})
    found = compared(below, frozenset({short}), promises=True)
    assert (3, 1, 1, (promised,)) == (found.reached, found.met, found.longer, found.other)
    # Without promises, and without creators, the first two are one.
    found = compared(below, frozenset({short}), promises=False)
    assert (2, 1, 1, ()) == (found.reached, found.met, found.longer, found.other)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "spec", tmp_path / "spec")
    (tmp_path / "conformance").mkdir()
    return tmp_path


def test_a_record_of_other_specifications_is_a_problem(project: Path) -> None:
    pair = "{below: stable same_counter_two_creators, above: stable same_counter_two_creators, promises: true, reached: 7, met: 5, longer: 1, other: 1, of: 9"
    (project / composition.FILE).write_text(f"- {pair}}}\n")
    manifest = load(project, "stable")
    assert (
        "`stable same_counter_two_creators` | `stable same_counter_two_creators` | views and promises | 7 | 5 of 6 (above: 9) | 1 |"
        in "\n".join(composition.section(project))
    )
    assert ["of other specifications"] == [
        "of other specifications" for each in composition.problems(project, [manifest]) if "--record" in each
    ]
    known = digest(manifest, manifest.model("same_counter_two_creators"))
    (project / composition.FILE).write_text(f'- {pair}, digest: "{known} {known}"}}\n')
    (problem,) = composition.problems(project, [manifest])
    assert problem.endswith("1 of 7 are not taken above, though they are as short")
    (project / composition.FILE).write_text(
        f"- {pair}}}\n".replace("stable same_counter_two_creators", "stable no_such_model")
    )
    with pytest.raises(
        FileError, match=r"successions.yaml:1: expected a model of a protocol, not stable no_such_model"
    ):
        list(composition.problems(project, [manifest]))
