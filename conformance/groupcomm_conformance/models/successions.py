r"""The successions of views, with the promises open in them, that a model reaches.

Modules show that a layer gives what the layer above assumes: the lower layer refines `Membership` and
`JoinDigest`, and the upper layer takes their steps. This module computes less, and is closer to the models.
TLC reaches some forests of views in a model of the layer below. Which of these does it also reach in a model
of the layer above, where it chooses the views itself?

A run prints each value of `views` and, where there is such a variable, `promises` once. Two successions
are the same if they differ in the names of members only: `canonical` is the least of all renamings. Left
out are the entries of digests, the first counters, and views that no member has installed: the layer above
sees a view when a member installs it. (A coordinator that leaves decides a view that it does not install.
If no other member installs it, another view follows instead.)
"""

from collections.abc import Callable
from itertools import permutations
from typing import Final, TypeAlias, cast

from attrs import evolve, frozen

from groupcomm_conformance.tla.values import Value, parse, show
from groupcomm_conformance.tlc import run as tlc

from .instruments import ROOT, Run, remembered
from .manifest import Manifest, Model
from .modules import read_modules

__all__ = ["Comparison", "Succession", "canonical", "compared", "reached", "seen"]

Views: TypeAlias = tuple[Value, ...]

_TEXT: Final = r"""---- MODULE {root} ----
EXTENDS {module}, TLC
ASSUME TLCSet(1000, {{}})
Run_Promises == {promises}
Run_View(Run_v) ==
    <<Run_v.id.creator, Run_v.members, Run_v.preds, Run_v.joins,
      {{<<m, Run_v.lives[m]>> : m \in DOMAIN Run_v.lives}}>>
Run_Succession ==
    LET Run_now == <<[k \in DOMAIN views |-> Run_View(views[k])], Run_Promises,
                    {{installed[m] : m \in DOMAIN installed}}>>
    IN \/ Run_now \in TLCGet(1000)
       \/ /\ PrintT(ToString(Run_now))
          /\ TLCSet(1000, TLCGet(1000) \cup {{Run_now}})
====
"""
_PROMISES: Final = "{<<p.by, p.by_life, p.view, p.to, p.to_life>> : p \\in promises}"


@frozen(order=True)
class Succession:
    """Views in the order of decision, and the promises open by then, under the least names."""

    views: int
    text: str


@frozen
class Comparison:
    """How many successions the lower model reaches, and what becomes of them above.

    `met`: the upper one takes them. `longer`: they have more views than any that it takes. `other`: it
    takes none of these, though it has as many views: its bounds on lists, promises or branches leave
    them out.
    """

    reached: int
    met: int
    longer: int
    other: tuple[Succession, ...]


def reached(manifest: Manifest, model: Model) -> frozenset[Succession]:
    """Search a model, without its claims, for the successions that it reaches."""
    cfg = manifest.cfg(model)
    module = manifest.module_of(model.claims)
    modules = read_modules(manifest.folders, module)
    promising = any("\n    promises" in text for name, text in modules.texts.items() if name != "JoinDigest")
    text = _TEXT.format(root=ROOT, module=module, promises=_PROMISES if promising else "{}")
    run = remembered(Run(text, evolve(cfg, invariants=("Run_Succession",), properties=())), modules)
    found: set[Succession] = set()

    def take(line: str) -> None:
        if line.startswith('"<<'):
            found.add(canonical(*seen(parse(cast("str", parse(line))))))

    tlc.run(
        manifest.folders, ROOT, run.cfg.render(), generated=run.generated, workers=1, heap="1g", on_line=take
    )
    return frozenset(found)


def seen(value: Value) -> tuple[Views, frozenset[Value]]:
    """Leave out the views that no member has installed.

    A view was installed in three cases. Its creator is in it, since a creator installs what it decides. It is
    some member's view now. Or an installed view follows it.
    """
    views, promises, installed = cast("tuple[Views, frozenset[Value], frozenset[Value]]", value)
    kept: set[int] = set()
    for number in range(len(views), 0, -1):
        creator, members, *_ = cast("tuple[Value, tuple[Value, ...]]", views[number - 1])
        followed = any(number in _preds(views[later - 1]) for later in kept)
        if creator in members or number in installed or followed:
            kept.add(number)
    place = {number: rank for rank, number in enumerate(sorted(kept), start=1)}
    return (
        tuple(
            (*view[:2], frozenset(place[each] for each in _preds(view)), *view[3:])
            for view in (cast("Views", views[number - 1]) for number in sorted(kept))
        ),
        frozenset((*p[:2], place[cast("int", p[2])], *p[3:]) for p in cast("frozenset[Views]", promises)),
    )


def _preds(view: Value) -> frozenset[int]:
    return cast("frozenset[int]", cast("Views", view)[2])


def canonical(views: Views, promises: frozenset[Value]) -> Succession:
    """Rename the members so that the text is the least."""
    names = sorted(_names((views, promises)))
    texts = (
        show(_renamed((views, promises), dict(zip(names, other, strict=True)).__getitem__))
        for other in permutations([f"m{number}" for number in range(len(names))])
    )
    return Succession(len(views), min(texts))


def compared(below: frozenset[Succession], above: frozenset[Succession], *, promises: bool) -> Comparison:
    """Compare what two models reach; without `promises` the views alone, and not who created them."""
    lower, upper = (frozenset(each if promises else _views(each) for each in side) for side in (below, above))
    longest = max((each.views for each in upper), default=0)
    others = sorted(each for each in lower - upper if each.views <= longest)
    return Comparison(
        len(lower), len(lower & upper), sum(each.views > longest for each in lower), tuple(others)
    )


def _views(succession: Succession) -> Succession:
    views, _ = cast("tuple[tuple[Views, ...], Value]", parse(succession.text))
    return canonical(tuple(view[1:] for view in views), frozenset())


def _names(value: Value) -> set[str]:
    match value:
        case str():
            return {value}
        case tuple() | frozenset():
            return {name for each in value for name in _names(each)}
        case _:
            return set()


def _renamed(value: Value, name: Callable[[str], str]) -> Value:
    match value:
        case str():
            return name(value)
        case tuple():
            return tuple(_renamed(each, name) for each in value)
        case frozenset():
            return frozenset(_renamed(each, name) for each in value)
        case _:
            return value
