r"""For which values a formula is false: TLA+ text made from the formula's own text, which prints them.

A claim is mostly `\A m \in S : P(m) => \A n \in T(m) : Q(m, n)`. `instrumented` goes inwards through bounded
quantifiers, implications and LETs as far as it can, and puts `(Q) \/ PrintT(...)` in the place of the
innermost `Q`: evaluating the formula then prints each pair of `m` and `n` that refutes it, and gives TRUE.
Lists of conjuncts are done one by one. Where `Q` is a single comparison without line ends, both sides are
printed too.

With `unfold` it goes further: beyond every implication, into both branches of an IF, into conjunctions on a
line and through parentheses. A formula that only names an operator is then replaced by what `unfold` gives
for that name: an operator that is instrumented in the same way.

The text keeps its columns, because the layout of a list of conjuncts has a meaning.
"""

import functools
import re
from collections.abc import Callable
from typing import Final

from attrs import evolve, frozen

_TOKEN: Final = re.compile(
    r"""(?P<text>"[^"\n]*")|(?P<open>\(|\[|\{|<<)|(?P<close>\)|\]|\}|>>)
    |(?P<op>=>|<=>|==|=<|<=|>=|/\\|\\/|\\[A-Za-z]+|:>|@@|:=|\.\.|->|<-|[-+*/=\#<>~:,!.])|(?P<word>\w+'?)""",
    re.VERBOSE,
)
_COMPARISONS: Final = ("=", "#", "<", ">", "<=", "=<", ">=", "\\in", "\\notin", "\\subseteq")
_OPENING: Final = frozenset(("IF", "CASE", "CHOOSE", "LET", "\\A", "\\E"))


@frozen
class Leaf:
    """An innermost formula: its text without line ends, the names bound around it, and what it compares."""

    formula: str
    names: tuple[str, ...]
    sides: tuple[str, str, str] | None = None
    operator: str = ""
    """The operator whose text the formula stands in; "" for the claim itself."""
    guarantee: str = ""
    """The module of which the formula is `Next`: the sides are then sets of conjuncts that are violated."""


@frozen
class _Token:
    kind: str
    text: str
    start: int
    depth: int


Unfold = Callable[[str], str | None]
"""Gives the instrumented operator for an operator (`Op` or `Instance!Op`); None where there is none."""


def instrumented(
    text: str,
    tag: str,
    *,
    leaves: list[Leaf] | None = None,
    names: tuple[str, ...] = (),
    operator: str = "",
    unfold: Unfold | None = None,
) -> tuple[str, tuple[Leaf, ...]]:
    """Give the formula with what it prints, and the leaves that there are, in the order of their numbers.

    The printed line is `<<tag, number, values of the names, left side, right side>>`, the sides being 0 where
    there is no comparison. `text` is the formula without comments, in its own columns. `leaves` have their
    numbers already, and the leaves of the formula are added. `names` are the names bound around it.
    """
    numbered = [] if leaves is None else leaves
    found: list[tuple[Leaf, int, int]] = []
    _descend(text, 0, len(text.rstrip()), names, found, deep=unfold is not None)
    whole = text.rstrip()
    replaced: list[tuple[int, int, str]] = []
    for leaf, start, end in found:
        call = _CALL.match(whole, start, end) if unfold is not None else None
        if unfold is not None and call is not None and _is_call(whole[start:end], call[0]):
            other = unfold(call[0])
            if other is not None:
                replaced.append((start, start + len(call[0]), other))
                continue
        margin = " " * (start - whole.rfind("\n", 0, start) - 1)
        values = f"<<{', '.join(leaf.names)}>>"
        sides = f"{leaf.sides[0]}, {leaf.sides[2]}" if leaf.sides else "0, 0"
        told = f'PrintT(ToString(<<"{tag}", {len(numbered)}, {values}, {sides}>>))'
        replaced.append((start, end, f"((\n{margin}{whole[start:end]}\n{margin}) \\/ {told})"))
        numbered.append(evolve(leaf, operator=operator))
    for start, end, body in reversed(replaced):
        whole = whole[:start] + body + whole[end:]
    return whole, tuple(numbered)


_CALL: Final = re.compile(r"\w+(?:!\w+)?")


def _is_call(formula: str, name: str) -> bool:
    """Say whether a formula is a name, with or without arguments, and nothing else."""
    tokens = _tokens(formula, len(name), len(formula))
    return not tokens or (
        tokens[0].text == "(" and tokens[-1].text == ")" and all(token.depth > 0 for token in tokens[1:-1])
    )


def names_of(parameters: str) -> tuple[str, ...]:
    """Name the parameters of an operator, of the text between its parentheses."""
    return tuple(re.findall(r"\w+", parameters))


@functools.lru_cache(maxsize=1024)
def conjuncts(text: str) -> tuple[str, ...]:
    """Give, for each innermost formula, the whole with all others replaced by TRUE; in its own columns."""
    leaves: list[tuple[Leaf, int, int]] = []
    whole = text.rstrip()
    _descend(whole, 0, len(whole), (), leaves)
    found: list[str] = []
    for number in range(len(leaves)):
        alone = whole
        for place, (_, start, end) in reversed([*enumerate(leaves)]):
            if place != number:
                alone = alone[:start] + "TRUE" + alone[end:]
        found.append(alone)
    return tuple(found)


def _tokens(text: str, start: int, end: int) -> list[_Token]:
    found: list[_Token] = []
    depth = 0
    for match in _TOKEN.finditer(text, start, end):
        kind = str(match.lastgroup)
        if kind == "close":
            depth -= 1
        found.append(_Token(kind, match[0], match.start(), depth))
        if kind == "open":
            depth += 1
    return found


def _descend(
    text: str, start: int, end: int, names: tuple[str, ...], leaves: list[tuple[Leaf, int, int]], *, deep: bool = False
) -> None:
    while True:
        tokens = _tokens(text, start, end)
        if not tokens:
            return
        start = tokens[0].start
        first = tokens[0].text
        if deep:
            parts = _parts(tokens, end)
            if len(parts) == 1:
                ((start, end),) = parts
                continue
            if parts:
                for begin, finish in parts:
                    _descend(text, begin, finish, names, leaves, deep=True)
                return
        if first == "/\\":
            for begin, finish in _items(text, tokens, end):
                _descend(text, begin, finish, names, leaves, deep=deep)
            return
        if first == "\\A":
            colon = next((t for t in tokens if t.text == ":" and t.depth == 0), None)
            if colon is None:
                break
            names = (*names, *_bound(text[start + 2 : colon.start]))
            start = colon.start + 1
            continue
        if first == "LET":
            inside = _let(tokens)
            if inside is None:
                break
            if not any(token.text == "LET" for token in tokens[1:inside]):
                block = text[start + 3 : tokens[inside].start]
                names = (*names, *(name for name in re.findall(r"(\w+)\s*==", block) if name not in names))
            start = tokens[inside].start + len("IN")
            continue
        arrow = _implication(tokens)
        if arrow is not None and (deep or tokens[arrow + 1].text in {"\\A", "LET"}):
            start = tokens[arrow + 1].start
            continue
        break
    finish = start + len(text[start:end].rstrip())
    formula = " ".join(text[start:finish].split())
    leaves.append((Leaf(formula, names, _sides(text[start:finish])), start, finish))


def _parts(tokens: list[_Token], end: int) -> list[tuple[int, int]]:
    """Find what is false if the whole is: inside parentheses, in both branches, in each conjunct."""
    first = tokens[0]
    if first.text == "(" and tokens[-1].text == ")" and all(token.depth > 0 for token in tokens[1:-1]):
        return [(first.start + 1, tokens[-1].start)]
    if first.text == "IF":
        then, other = (_branch(tokens, word) for word in ("THEN", "ELSE"))
        if then is None or other is None:
            return []
        return [(then.start + len("THEN"), other.start), (other.start + len("ELSE"), end)]
    if first.text == "/\\":
        return []
    stop = next((k for k, t in enumerate(tokens) if t.depth == 0 and t.text in _OPENING), len(tokens))
    at_top = [token for token in tokens[:stop] if token.depth == 0]
    signs = [token for token in at_top if token.text == "/\\"]
    if not signs or any(token.text in {"\\/", "=>", "<=>"} for token in at_top):
        return []
    begins = [first.start, *(sign.start + 2 for sign in signs)]
    return list(zip(begins, [*(sign.start for sign in signs), end], strict=True))


def _branch(tokens: list[_Token], word: str) -> _Token | None:
    """Find the THEN or the ELSE of the IF that the tokens begin with."""
    open_ifs = 0
    for token in tokens:
        if token.text == "IF":
            open_ifs += 1
        elif token.text == word and open_ifs == 1 and token.depth == tokens[0].depth:
            return token
        elif token.text == "ELSE":
            open_ifs -= 1
    return None


def _items(text: str, tokens: list[_Token], end: int) -> list[tuple[int, int]]:
    """Find the conjuncts of the list that the tokens begin with: those whose sign is in the same column."""

    def column(token: _Token) -> int:
        return token.start - text.rfind("\n", 0, token.start) - 1

    signs = [t for t in tokens if t.text == "/\\" and t.depth == 0 and column(t) == column(tokens[0])]
    ends = [*(sign.start for sign in signs[1:]), end]
    return [
        (sign.start + 2, sign.start + 2 + len(text[sign.start + 2 : stop].rstrip()))
        for sign, stop in zip(signs, ends, strict=True)
    ]


def _bound(bounds: str) -> list[str]:
    r"""Name what `m, n \in S, <<a, b>> \in T` binds."""
    names: list[str] = []
    naming = True
    for token in _tokens(bounds, 0, len(bounds)):
        if token.text == "\\in" and token.depth == 0:
            naming = False
        elif token.text == "," and token.depth == 0:
            naming = True
        elif token.kind == "word" and naming:
            names.append(token.text)
    return names


def _let(tokens: list[_Token]) -> int | None:
    """Find the IN of the LET that the tokens begin with."""
    open_lets = 0
    for place, token in enumerate(tokens):
        if token.text == "LET":
            open_lets += 1
        elif token.text == "IN":
            open_lets -= 1
            if open_lets == 0:
                return place
    return None


def _implication(tokens: list[_Token]) -> int | None:
    """Find the first `=>` that nothing before it could hold in itself."""
    for place, token in enumerate(tokens[:-1]):
        if token.depth == 0 and token.text in _OPENING:
            return None
        if token.depth == 0 and token.text == "=>":
            return place
    return None


def _sides(formula: str) -> tuple[str, str, str] | None:
    """Split the comparison that a formula ends in, after its last implication."""
    tokens = _tokens(formula, 0, len(formula))
    arrow = _implication(tokens)
    if arrow is not None:
        tokens = tokens[arrow + 1 :]
    if not tokens or "\n" in formula[tokens[0].start :]:
        return None
    at_top = [token for token in tokens if token.depth == 0]
    if any(t.text in _OPENING or t.text in {"/\\", "\\/", "~", "=>", "<=>", "ELSE"} for t in at_top):
        return None
    signs = [token for token in at_top if token.text in _COMPARISONS]
    if len(signs) != 1:
        return None
    left = formula[tokens[0].start : signs[0].start].strip()
    return left, signs[0].text, formula[signs[0].start + len(signs[0].text) :].strip()
