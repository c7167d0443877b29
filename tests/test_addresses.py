"""Addresses in specifications: their order and their incarnations are those of the cores."""

import re
from itertools import chain, combinations, product
from pathlib import Path

import pytest

from groupcomm.view import later_than, number_after
from groupcomm_conformance.files.errors import FileError
from groupcomm_conformance.models.manifest import cfg_text, load
from groupcomm_conformance.tlc import run as tlc
from groupcomm_conformance.tlc.errors import TLCError

ROOT = Path(__file__).parent.parent
NAMES = ("B", "a", "alice", "alice#2", "alice#10", "alic", "Z", "A", "10", "9", "~", "!x", "bob.example:7800")


def _printed(expression: str) -> str:
    module = f"""---- MODULE Ordered ----
EXTENDS Addresses, LaterIncarnations, TLC
VARIABLE x
ASSUME PrintT({expression})
Init == x = 0
Next == x' = x
====
"""
    ran = tlc.run(
        [ROOT / "spec" / "common"], "Ordered", "INIT Init\nNEXT Next\n", generated={"Ordered": module}, short=True
    )
    return " ".join(ran.printed)


def _written(names: tuple[str, ...]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def test_addresses_are_ordered_as_texts_are() -> None:
    """The cores sort addresses as Python does; a specification that dropped one, or went by incarnation, would differ."""
    in_order = tuple(sorted(NAMES))
    told = _printed(f"Sorted({{{_written(NAMES)}}}) = <<{_written(in_order)}>>")
    assert told.endswith("TRUE"), _printed(f"Sorted({{{_written(NAMES)}}})")
    ends = _printed(f"<<FirstOf({{{_written(NAMES)}}}), LastOf({{{_written(NAMES)}}})>>")
    assert f'"{in_order[0]}"' in ends
    assert f'"{in_order[-1]}"' in ends


def _sets(*values: str) -> tuple[tuple[str, ...], ...]:
    return tuple(chain.from_iterable(combinations(values, n) for n in range(len(values) + 1)))


def test_later_incarnations_are_those_of_the_specification() -> None:
    """`LaterThan`, of all addresses and sets of three incarnations and another name, and `NumberAfter`."""
    every = _sets("A", "A#2", "A#10")
    cases = [
        f'<<"{one}", {{{_written(members)}}}, {{{_written((*lives, "B#11"))}}}, {{{_written(heard)}}}, '
        f'"{later_than(one, members, (*lives, "B#11"), heard)}">>'
        for one, members, lives, heard in product(("A", "A#2", "A#10"), every, every, every)
    ]
    assert _printed(f"{{c \\in {{{', '.join(cases)}}} : LaterThan(c[1], c[2], c[3], c[4]) # c[5]}}") == "{}"
    numbers = [
        f"<<{clock}, {{{', '.join(formers)}}}, {number_after(clock, *map(int, formers))}>>"
        for clock, formers in product(range(1, 5), _sets("1", "2", "3")[1:])
    ]
    assert _printed(f"{{c \\in {{{', '.join(numbers)}}} : NumberAfter(c[1], c[2]) # c[3]}}") == "{}"


def test_a_character_without_a_place_is_refused() -> None:
    """An address is never dropped silently: what has no place in the order ends the run."""
    with pytest.raises((TLCError, FileError)):
        _printed('Sorted({"a b", "a c", "a", " "})')


@pytest.mark.parametrize(
    ("protocol", "model"),
    [("merge", "two_singletons"), ("merge_gms", "two_singletons"), ("flush", "merged_rest_is_quiet")],
)
def test_members_of_other_names_do_the_same(protocol: str, model: str) -> None:
    """With other names, in the same order, a group has exactly as many states and steps as are recorded."""
    manifest = load(ROOT, protocol)
    each = manifest.model(model)
    root = manifest.module_of(each.claims)
    names = dict(zip("ABCDEF", ("ada#7", "bob", "carl", "dora", "eve", "fay.org:1"), strict=True))

    def renamed(text: str) -> str:
        return re.sub(r'"([A-F])"', lambda found: f'"{names[found[1]]}"', text)

    text = (manifest.folder / f"{root}.tla").read_text()
    ran = tlc.run(
        manifest.folders,
        "Renamed",
        renamed(cfg_text(manifest, each)),
        generated={"Renamed": renamed(text.replace(f"MODULE {root} ", "MODULE Renamed "))},
        workers=1,
        short=True,
    )
    assert each.counts is not None
    assert ran.outcome == "holds"
    assert (ran.distinct, ran.transitions, ran.depth) == (
        each.counts.distinct,
        each.counts.transitions,
        each.counts.depth,
    )
