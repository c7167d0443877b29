"""How probable it is that a gossip reaches all members: docs/gossip.md and its figure.

    python bench/gossip.py            # writes both, in some two minutes

The rules are those of the note (`spec/note_gossip`), in hops: a member that handles a gossip for the first
time strikes itself off the list of that copy, and sends it to `fanout` members drawn from the rest. A copy
that comes again is discarded. A member that finds the list empty purges.

`exact` computes probabilities as fractions, over all lists. `simulated` draws them, with a seed.
`epidemic` is the formula of the field. It draws receivers from all members and not from a list, and is right
for large groups.
"""

from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import cache
from itertools import combinations, product
from math import exp, prod
from pathlib import Path
from random import Random
from typing import Final, NamedTuple, TypeAlias

ROOT: Final = Path(__file__).parents[1]
PAGE: Final = ROOT / "docs" / "gossip.md"
FIGURE: Final = ROOT / "docs" / "figures" / "gossip.svg"

EXACT: Final = [(n, fanout) for n in (3, 4, 5) for fanout in range(1, n)]
SIMULATED: Final = {
    10: (4_000, (2, 3, 4, 6)),
    100: (1_000, (3, 5, 7, 10)),
    1_000: (200, (5, 7, 8, 10)),
    10_000: (30, (10, 12, 14)),
}
"""Members: runs, and fanouts."""
_Z: Final = 2.58  # an interval of 99 %


class Chances(NamedTuple):
    """Of one gossip: reached all, mean members reached, mean copies sent, some member purges."""

    all: Fraction | float
    reached: Fraction | float
    copies: Fraction | float
    purged: Fraction | float


_Copy: TypeAlias = tuple[int, frozenset[int]]  # a member that handles it, and the list without that member


@cache
def exact(members: int, fanout: int) -> Chances:
    """Compute the chances in a group of a few members: 2 to 5 (of 6 it takes minutes)."""
    everybody = frozenset(range(members))

    @cache
    def after(seen: frozenset[int], active: frozenset[_Copy]) -> Chances:
        if not active:
            return Chances(Fraction(seen == everybody), Fraction(len(seen)), Fraction(0), Fraction(0))
        drawn = [
            [(left, frozenset(targets)) for targets in combinations(sorted(left), min(fanout, len(left)))]
            for _, left in active
        ]
        sent = sum(len(choices[0][1]) for choices in drawn)
        worlds = prod(map(len, drawn))
        found = [Fraction(0), Fraction(0), Fraction(sent), Fraction(0)]
        for world in product(*drawn):
            came: dict[int, list[frozenset[int]]] = {}
            for left, targets in world:
                for target in targets - seen:
                    came.setdefault(target, []).append(left - {target})
            # Of the copies that come in one hop any one may be the first, which is handled.
            share = Fraction(1, worlds * prod(map(len, came.values())))
            for firsts in product(*came.values()):
                now = list(zip(came, firsts, strict=True))
                rest = after(seen.union(came), frozenset(copy for copy in now if copy[1]))
                purged = Fraction(1) if any(not left for _, left in now) else rest.purged
                for at, value in enumerate((rest.all, rest.reached, rest.copies, purged)):
                    found[at] += share * Fraction(value)
        return Chances(*found)

    return after(frozenset({0}), frozenset({(0, everybody - {0})}))


def simulated(members: int, fanout: int, runs: int, seed: int, loss: float = 0.0) -> Chances:
    """Draw so many gossips. `loss`: the share of copies that are lost, 0 to 1."""
    random = Random(seed)  # noqa: S311 - repeatable, no secret
    reached_all = reached = copies = purged = 0
    for _ in range(runs):
        seen, purges = {0}, False
        active = [(0, frozenset({0}))]  # a member, and the members off the list of its copy
        while active:
            came: dict[int, list[frozenset[int]]] = {}
            for _, path in active:
                targets: set[int] = set()
                while len(targets) < min(fanout, members - len(path)):
                    target = random.randrange(members)
                    if target not in path:
                        targets.add(target)
                copies += len(targets)
                for target in sorted(targets):
                    if random.random() >= loss:
                        came.setdefault(target, []).append(path)
            active = []
            for target, paths in came.items():
                if target not in seen:
                    seen.add(target)
                    path = random.choice(paths) | {target}
                    if len(path) == members:
                        purges = True
                    else:
                        active.append((target, path))
        reached_all += len(seen) == members
        reached += len(seen)
        purged += purges
    return Chances(reached_all / runs, reached / runs, copies / runs, purged / runs)


def epidemic(members: int, fanout: float) -> float:
    """Return the probability that a gossip reaches all: exp(-n exp(-f x)), where x = 1 - exp(-f x)."""
    share = 1.0
    for _ in range(1_000):
        share = 1 - exp(-fanout * share)
    return exp(-members * exp(-fanout * share))


def interval(share: float, runs: int) -> tuple[float, float]:
    """Return Wilson's interval of 99 % for a share of so many runs."""
    width = 1 + _Z * _Z / runs
    middle = (share + _Z * _Z / (2 * runs)) / width
    half = _Z * ((share * (1 - share) + _Z * _Z / (4 * runs)) / runs) ** 0.5 / width
    return max(0.0, middle - half), min(1.0, middle + half)


def small() -> Iterator[str]:
    """Yield the rows of groups that are computed exactly."""
    for members, fanout in EXACT:
        found = exact(members, fanout)
        yield (
            f"| {members:,} | {fanout} | {float(found.all):.3f} | exact | {epidemic(members, fanout):.3f} "
            f"| {float(found.copies):.2f} | {float(found.purged):.3f} |"
        )


def large(members: int) -> Iterator[tuple[int, float, float, float, str]]:
    """Yield fanout, share, interval and row of each fanout of a group that is simulated."""
    runs, fanouts = SIMULATED[members]
    for fanout in fanouts:
        found = simulated(members, fanout, runs, members + fanout)
        low, high = interval(float(found.all), runs)
        row = (
            f"| {members:,} | {fanout} | {found.all:.3f} | {low:.3f} to {high:.3f}, {runs:,} runs "
            f"| {epidemic(members, fanout):.3f} | {float(found.copies):,.2f} | {found.purged:.3f} |"
        )
        yield fanout, float(found.all), low, high, row


_HEAD: Final = """\
# How probable a gossip is

With the gossip of the first note (PBCAST) nothing is certain. A member may never hear of a gossip, and
hardly any member purges ([errata](errata/README.md)). How probable is it that a gossip reaches all
members? Written by `python bench/gossip.py`; do not edit it.

Gossip goes in hops, no copy is lost, and no member crashes. The third column is the probability that the
gossip reaches all. It is exact where the chain of all lists can be computed (up to five members). In larger
groups it is simulated, with a seed and Wilson's interval of 99 %. The formula is that of epidemics, for
receivers drawn from all members: `exp(-n exp(-f x))` with `x = 1 - exp(-f x)`. The note draws them from a
list, so small groups do better than the formula. The last column is the probability that at least one
member purges.

| members | fanout | reaches all | | formula | copies | purges |
| ---: | ---: | ---: | --- | ---: | ---: | ---: |
"""
_TAIL: Final = """
![Probability that a gossip reaches all members, by fanout](figures/gossip.svg)

The fanout that is needed grows with the logarithm of the group, and the copies with members times fanout.
The note's example, 30 % of the members, is 3,000 copies for each member at 10,000 members. With a fanout of
1 the gossip passes each member in turn, and the last member purges: certain without a loss, and lost with
any. With 2 or more no member was seen to purge in any run: each copy's list has members that had the gossip
from others (FLAW-21).

STABLE's votes have neither problem, as each member hears each vote ([stable](../spec/stable/README.md)).
"""


def _place(fanout: float, share: float) -> tuple[float, float]:
    return 60 + 32 * fanout, 280 - 240 * share


def figure(points: dict[int, list[tuple[int, float, float, float]]]) -> str:
    """Draw the formula as a line and what was simulated as points, with intervals."""
    colours = dict(zip(points, ("#1f5fa8", "#b3541e", "#3d7a3d", "#7a3d7a"), strict=True))
    title = "Probability that a gossip reaches all members"
    body = []
    for fanout in range(0, 15, 2):
        x, y = _place(fanout, 0)
        body.append(f'<line class="grid" x1="{x:.0f}" x2="{x:.0f}" y1="40" y2="{y:.0f}"/>')
        body.append(f'<text x="{x:.0f}" y="{y + 18:.0f}" text-anchor="middle">{fanout}</text>')
    for tenth in (0, 5, 10):
        x, y = _place(0, tenth / 10)
        body.append(f'<line class="grid" x1="{x:.0f}" x2="508" y1="{y:.0f}" y2="{y:.0f}"/>')
        body.append(f'<text x="{x - 8:.0f}" y="{y + 4:.0f}" text-anchor="end">{tenth / 10:.1f}</text>')
    body.append('<text x="284" y="318" text-anchor="middle">fanout</text>')
    for at, (members, found) in enumerate(points.items()):
        colour = colours[members]
        places = (_place(step / 8, epidemic(members, step / 8)) for step in range(8, 113))
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        body.append(f'<polyline points="{line}" stroke="{colour}" fill="none" stroke-width="1.6"/>')
        for fanout, share, low, high in found:
            (x, y), (_, top), (_, bottom) = _place(fanout, share), _place(fanout, high), _place(fanout, low)
            body.append(f'<line x1="{x:.0f}" x2="{x:.0f}" y1="{top:.1f}" y2="{bottom:.1f}" stroke="{colour}"/>')
            body.append(f'<circle cx="{x:.0f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>')
        body.append(f'<rect x="516" y="{52 + 22 * at}" width="12" height="12" fill="{colour}"/>')
        body.append(f'<text x="534" y="{63 + 22 * at}">{members:,} members</text>')
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 650 330" width="650" height="330" role="img" '
        f'aria-label="{title}">\n<title>{title}: formula (lines), simulated (points)</title>\n'
        "<style>text { fill: #1b1f24; font: 13px system-ui, sans-serif } .grid { stroke: #d8dee6 }</style>\n"
        '<rect width="650" height="330" rx="8" fill="#ffffff"/>\n'
    )
    return head + "\n".join((f'<text x="60" y="24">{title}</text>', *body, "</svg>", ""))


def page(rows: Iterable[str]) -> str:
    """Write the page around the rows of its table."""
    return _HEAD + "\n".join(rows) + "\n" + _TAIL


def main() -> None:
    """Write page and figure."""
    rows = [*small()]
    points: dict[int, list[tuple[int, float, float, float]]] = {}
    for members in SIMULATED:
        found = [*large(members)]
        rows += [each[4] for each in found]
        points[members] = [each[:4] for each in found]
    PAGE.write_text(page(rows), encoding="utf-8")
    FIGURE.write_text(figure(points), encoding="utf-8")


if __name__ == "__main__":
    main()
