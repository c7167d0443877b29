"""The arms of each CASE exclude each other. TLA+ gives CASE no order; TLC takes the first arm that is true.

Where two arms are true, the specification allows either value, and the rows that TLC computes have one. So each two
arms of a member's module have to differ in the literals that they ask one expression to be.
"""

from collections.abc import Iterator
from functools import cache
from itertools import combinations
from pathlib import Path

import pytest

from groupcomm_conformance.models.manifest import find_root, load, protocols
from groupcomm_conformance.models.modules import read_tree
from groupcomm_conformance.tla import tree
from groupcomm_conformance.tlc.syntax import export

ROOT = find_root()
Literals = dict[object, frozenset[object]]
"""The expressions that an arm constrains, and the values that it allows."""


def cases(node: tree.Expression) -> Iterator[tree.Apply]:
    match node:
        case tree.Let(definitions, body):
            for each in (*(definition.body for definition in definitions), body):
                yield from cases(each)
        case tree.Apply(operator, operands, bounds):
            if operator.text == "$Case":
                yield node
            for each in (*operands, *(bound.domain for bound in bounds)):
                yield from cases(each)


def form(node: tree.Expression) -> object:
    """An expression without the lines that it is on."""
    match node:
        case tree.Text(value) | tree.Number(value):
            return value
        case tree.Apply(operator, operands):
            return (operator.text, *map(form, operands))
        case _:
            return id(node)


def is_literal(node: tree.Expression) -> bool:
    return isinstance(node, tree.Text | tree.Number)


def literals(guard: tree.Expression) -> Literals:
    match guard:
        case tree.Apply(tree.Name("$ConjList" | r"\land"), operands):
            return {on: values for each in operands for on, values in literals(each).items()}
        case tree.Apply(tree.Name("="), (on, value)) if is_literal(value):
            return {form(on): frozenset({form(value)})}
        case tree.Apply(tree.Name(r"\in"), (on, tree.Apply(tree.Name("$SetEnumerate"), values))):
            return {form(on): frozenset(map(form, values))} if all(map(is_literal, values)) else {}
        case _:
            return {}


def overlapping(definitions: tree.Definitions) -> list[str]:
    """Say which operators have a CASE of which two arms may be true."""
    found = []
    for definition in definitions.operators.values():
        for each in cases(definition.body):
            guards = [arm.operands[0] for arm in each.operands if isinstance(arm, tree.Apply)]
            others = [guard for guard in guards if not (is_literal(guard) and form(guard) == tree.OTHER)]
            for one, other in combinations(map(literals, others), 2):
                if all(not one[on].isdisjoint(other[on]) for on in one.keys() & other.keys()):
                    found.append(f"{definition.name.text} (line {each.line})")
    return sorted(set(found))


@cache
def read(protocol: str) -> tree.Definitions:
    """Give the member's module of a protocol; SANY takes a JVM for each."""
    manifest = load(ROOT, protocol)
    return read_tree(manifest.folders, manifest.module.removeprefix("MC"))


@pytest.mark.parametrize("protocol", protocols(ROOT))
def test_the_arms_of_a_case_exclude_each_other(protocol: str) -> None:
    definitions = read(protocol)
    assert len([each for of in definitions.operators.values() for each in cases(of.body)]) > 1
    assert overlapping(definitions) == []


@pytest.mark.parametrize("protocol", protocols(ROOT))
def test_all_that_a_step_uses_is_read_and_written(protocol: str) -> None:
    definitions, name = read(protocol), load(ROOT, protocol).module.removeprefix("MC")
    assert definitions.find("Step") is not None
    assert all(tree.Writer().definition(each) for each in definitions.of_module(name))


OVERLAP = """---- MODULE Overlap ----
Same(a) == CASE a.type = "x" -> 1 [] a.gone -> 2
Twice(a) == CASE a.type \\in {"x", "y"} -> 1 [] a.type = "y" -> 2 [] OTHER -> 3
Apart(a, b) == CASE a = 1 /\\ b -> 1 [] a = 1 /\\ ~b -> 2
Disjoint(a, b) == CASE a = 1 /\\ b = "x" -> 1 [] a = 2 -> 2 [] a = 1 /\\ b = "y" -> 3 [] OTHER -> 4
====
"""


def test_arms_that_overlap_are_found() -> None:
    definitions = tree.read(export([Path()], "Overlap", generated={"Overlap": OVERLAP}))
    assert [each.split()[0] for each in overlapping(definitions)] == ["Apart", "Same", "Twice"]
