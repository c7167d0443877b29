"""Modules as trees: what SANY understood of a module, read, and written again."""

import pytest

from groupcomm_conformance.tla import tree
from groupcomm_conformance.tla.tree import Apply, Definitions, Let, Name, Number, TreeError, Writer, children
from groupcomm_conformance.tlc import syntax
from groupcomm_conformance.tlc.errors import ParseFailed

MODULE = r"""---- MODULE Forms ----
EXTENDS Integers, Sequences, FiniteSets

CONSTANTS Limit, Eager

Lists(s, e) ==
    /\ s.at + 1 - 2 <= Limit
    /\ \/ ~Eager
       \/ s.name # "x" /\ e \notin DOMAIN s.table

Choices(s) ==
    IF s = <<>> THEN {} ELSE
    LET n == Len(s)
        Late(x) == x > n
    IN CASE n = 1 -> {s[1]}
         [] n > 2 -> {x \in 1 .. n : Late(x)} \ {3}
         [] OTHER -> {x * 2 : x \in {1, 2} \cup {3}}

Changed(s, m) == [s EXCEPT !.at = @ + 1, !.table[m] = [i \in {m} |-> CHOOSE x \in {1} : TRUE]]

RECURSIVE Sum(_)
Sum(n) == LET RECURSIVE Half(_)
              Half(k) == IF k < 2 THEN 0 ELSE 1 + Half(k - 2)
          IN IF n = 0 THEN 0 ELSE Half(n) + Sum(n - 1)

Built(s) == [kind |-> "pair", parts |-> SelectSeq(s \o <<1, 2>>, LAMBDA x : \A y \in {1} : x # y)]
====
"""


@pytest.fixture(scope="module")
def forms() -> Definitions:
    return tree.read(syntax.export([], "Forms", generated={"Forms": MODULE}))


def written(definitions: Definitions, name: str) -> str:
    found = definitions.find(name)
    assert found is not None
    return Writer().definition(found)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        # Minus binds more than plus: 1 - 2 comes first.
        (
            "Lists",
            (
                r"""Lists(s, e) == ((s.at + (1 - 2)) <= Limit) /\ ((~Eager) \/ ((s.name # "x") """
                r"""/\ (e \notin (DOMAIN s.table))))"""
            ),
        ),
        (
            "Choices",
            (
                r"Choices(s) == IF s = <<>> THEN {} ELSE (LET n == Len(s) Late(x) == x > n IN "
                r"CASE (n = 1) -> {s[1]} [] (n > 2) -> ({x \in 1 .. n : Late(x)} \ {3}) "
                r"[] OTHER -> {x * 2 : x \in {1, 2} \cup {3}})"
            ),
        ),
        (
            "Changed",
            (
                r"Changed(s, m) == [s EXCEPT !.at = @ + 1, "
                r"!.table[m] = [i \in {m} |-> CHOOSE x \in {1} : TRUE]]"
            ),
        ),
        (
            "Built",
            (
                r"""Built(s) == [kind |-> "pair", """
                r"parts |-> SelectSeq(s \o <<1, 2>>, LAMBDA x : \A y \in {1} : x # y)]"
            ),
        ),
    ],
)
def test_an_operator_is_written_as_it_was_meant(forms: Definitions, name: str, text: str) -> None:
    assert written(forms, name) == text


def test_what_is_written_is_read_as_the_same(forms: Definitions) -> None:
    """Written without line ends, with parentheses for layout, the module is still the same module."""
    names = ("Lists", "Choices", "Changed", "Sum", "Built")
    found = [each for name in names if (each := forms.find(name)) is not None]
    text = "\n".join(Writer().definitions(found))
    assert "RECURSIVE Sum(_)" in text
    module = f"---- MODULE Again ----\nEXTENDS Integers, Sequences\nCONSTANTS Limit, Eager\n{text}\n====\n"
    again = tree.read(syntax.export([], "Again", generated={"Again": module}))
    assert [written(again, name) for name in names] == [written(forms, name) for name in names]


def test_constants_and_places_are_known(forms: Definitions) -> None:
    assert forms.constants == ("Eager", "Limit")
    assert [(each.name.text, each.line) for each in forms.of_module("Forms")] == [
        ("Lists", 6),
        ("Choices", 11),
        ("Changed", 19),
        ("Sum", 22),
        ("Built", 26),
    ]


def test_local_operators_of_a_module_that_is_extended_are_read_with_those_that_use_them() -> None:
    """No module lists them, and none but their own may name them: what is written elsewhere has to bring them along."""
    inner = (
        "---- MODULE Inner ----\nEXTENDS Integers\nRECURSIVE Down(_)\nLOCAL Down(n) == IF n = 0 THEN 0 ELSE Down(n - 1)\n"
        "LOCAL Twice(n) == LET Once(x) == x IN Down(n) + Once(n)\nOf(n) == Twice(n)\n====\n"
    )
    outer = "---- MODULE Outer ----\nEXTENDS Inner\nWhole(n) == Of(n)\n====\n"
    found = tree.read(syntax.export([], "Outer", generated={"Inner": inner, "Outer": outer}))
    names = {each.name.text for each in found.operators.values()}
    assert {"Whole", "Of", "Twice", "Down"} <= names
    assert "Once" not in names
    assert found.find("Twice") is None


def test_one_place_is_written_otherwise_though_the_same_text_stands_elsewhere(forms: Definitions) -> None:
    lists = forms.find("Lists")
    assert lists is not None
    limit = next(node for node in walk(lists.body) if isinstance(node, Apply) and node.operator.text == "Limit")
    writer = Writer(around=lambda node, text: "7" if node is limit else text)
    assert "<= 7)" in writer.definition(lists)


def walk(node: tree.Expression) -> list[tree.Expression]:
    return [node, *(inner for child in children(node) for inner in walk(child))]


def test_local_operators_are_in_their_order(forms: Definitions) -> None:
    choices = forms.find("Choices")
    assert choices is not None
    (let,) = (node for node in walk(choices.body) if isinstance(node, Let))
    assert [each.name.text for each in let.definitions] == ["n", "Late"]


def test_a_module_that_does_not_parse_is_no_tree() -> None:
    broken = "---- MODULE Broken ----\nA == 1 +\n====\n"
    with pytest.raises(
        ParseFailed, match=r"Broken: SANY does not export it: .*Could not parse module Broken from file"
    ):
        syntax.export([], "Broken", generated={"Broken": broken})


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no XML: "),
        ("<html/>", "no RootModule in html"),
        ("<modules><RootModule>M</RootModule><context/></modules>", "no module M"),
    ],
)
def test_what_is_no_export_of_sany_is_refused(text: str, reason: str) -> None:
    with pytest.raises(TreeError, match=reason):
        tree.read(text)


DECIMAL = """<modules><RootModule>M</RootModule><context>
<entry><UID>1</UID><ModuleNode><uniquename>M</uniquename><UserDefinedOpKindRef><UID>2</UID></UserDefinedOpKindRef>
</ModuleNode></entry>
<entry><UID>2</UID><UserDefinedOpKind><location><line><begin>2</begin></line><filename>M</filename></location>
<uniquename>A</uniquename><arity>0</arity><body><DecimalNode/></body></UserDefinedOpKind></entry>
</context></modules>"""


def test_an_operator_that_is_not_understood_is_left_out_of_a_standard_module_alone() -> None:
    """`A == 1.5`: one of the module itself that was left out would be mutated, and judged, nowhere."""
    with pytest.raises(TreeError, match="an expression of the kind DecimalNode"):
        tree.read(DECIMAL)
    library = tree.read(DECIMAL.replace("<filename>M<", "<filename>Reals<"))
    assert library.find("A") is None


INNER = r"""---- MODULE Inner ----
CONSTANT Bound
Step(s, e) == s < Bound + e
Start(m) == 0
===="""

OUTER = r"""---- MODULE Outer ----
EXTENDS Integers
CONSTANT Own
I == INSTANCE Inner WITH Bound <- Own
Step(s, e) == ~I!Step(s, e) /\ I!Start(e) \in {Own}
Start(m) == I!Start(m) + 1
===="""


def test_of_a_module_that_is_instantiated_nothing_is_read() -> None:
    """Its operators and constants may have the names of this module's, and are not meant."""
    modules = {"Outer": OUTER, "Inner": INNER.replace("CONSTANT", "EXTENDS Integers\nCONSTANT")}
    outer = tree.read(syntax.export([], "Outer", generated=modules))
    assert outer.constants == ("Own",)
    assert written(outer, "Step") == r"Step(s, e) == (~I!Step(s, e)) /\ (I!Start(e) \in {Own})"
    assert written(outer, "Start") == "Start(m) == I!Start(m) + 1"
    assert [each.name.text for each in outer.of_module("Outer")] == ["Step", "Start"]
    assert outer.of_module("Inner") == []


ONE = Number(1)


@pytest.mark.parametrize(
    ("form", "operands", "reason"),
    [
        ("$Unknown", (), r"\$Unknown"),
        ("$Case", (ONE,), "an arm of a CASE"),
        ("$RcdConstructor", (ONE,), "a field of a record"),
        ("$Except", (ONE, ONE), "an EXCEPT with something else"),
    ],
)
def test_a_form_that_is_not_understood_is_refused(form: str, operands: tuple[Number, ...], reason: str) -> None:
    with pytest.raises(TreeError, match=reason):
        Writer().text(Apply(Name(form, "builtin", 1), operands))
