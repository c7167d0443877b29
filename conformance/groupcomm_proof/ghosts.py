"""The ghosts of STABLE's proof: the guards of each member, and the lemmas on them.

A ghost is a value that the invariant says there is: which members guard, and in which view members agreed
on a purge. The specification has no variable for it, so each step says here how it changes.
"""

from collections.abc import Iterator
from typing import Final

import z3

from . import vocabulary as words
from .values import Term
from .vocabulary import MEMBER, PROMISE, VIEW, VOTE, State


def one_id(now: State, constants: list[Term]) -> Iterator[Term]:
    """UniqueViewId, of the view that a message was sent in and the receiver's."""
    for each in constants[1:]:
        if each.sort() in words.SENT:
            view, own = words.SENT[each.sort()][1](each), now["installed"](constants[0])
            same = z3.And(
                words.counter_of(view) == words.counter_of(own), words.creator_of(view) == words.creator_of(own)
            )
            yield z3.Implies(same, view == own)
            yield now["sent_votes" if each.sort() == VOTE else "sent_announcements"](each)
        if each.sort() == PROMISE:
            return


def _comes(constants: list[Term], s: Term) -> Term:
    """Say that a member enters the path of a sender with a view."""
    newcomer, view = constants
    elsewhere = z3.Not(words.is_in(words.parent_of(view, s), newcomer))
    return z3.And(words.is_in(view, s), z3.Not(words.joins(view, s)), elsewhere)


def _own(promise: Term, v: Term, s: Term) -> Term:
    """Say that the promiser itself guards in a view, and not a guard of the promiser."""
    promised_in = words.promised_in(promise)
    return z3.Or(
        words.along(s, s, promised_in, v),
        z3.Not(words.is_in(promised_in, s)),
        words.along(words.by_of(promise), s, v, promised_in),
    )


def inherit(after: State, before: State, constants: list[Term]) -> None:
    """The guards of a newcomer: its promiser; in views before the promiser's, the promiser's guards.

    Of a side that is abandoned the view itself is noted.
    """
    newcomer, view = constants

    def promise(s: Term) -> Term:
        return words.redeemed(words.parent_of(view, s))

    for name, inherited, value in (
        ("guard", "promise_guard", lambda s: words.by_of(promise(s))),
        ("guarded_for", "promise_for", lambda s: words.to_of(promise(s))),
        ("guarded_until", "promise_until", lambda _: view),
    ):
        after[name] = lambda x, v, s, n=name, i=inherited, value=value: z3.If(
            z3.And(x == newcomer, _comes(constants, s)),
            z3.If(
                z3.Or(after["abandoned"](words.parent_of(view, s), view), _own(promise(s), v, s)),
                value(s),
                before[i](promise(s), v, s),
            ),
            before[n](x, v, s),
        )


def on_the_way(before: State, after: State, constants: list[Term]) -> list[tuple[str, Term]]:
    """Give what is true of a member that installs a view, on the way to its guards."""
    a, w = constants
    v, s = z3.Const("v", VIEW), z3.Const("s", MEMBER)
    j = words.parent_of(w, s)
    q = words.redeemed(j)
    by, at = words.by_of(q), words.promised_in(q)
    comes, own, on = _comes(constants, s), _own(q, v, s), words.along(s, s, v, j)
    starts = z3.And(comes, z3.Not(after["abandoned"](j, w)))  # from a promise
    before_w = z3.And(words.along(s, s, v, w), v != w)
    u, z, i = z3.Const("u", VIEW), z3.Const("z", MEMBER), before["installed"](a)
    follows = z3.And(words.is_in(w, s), z3.Not(words.joins(w, s)))
    told = z3.If(words.is_in(at, s), words.told(q, words.address_of(s)), words.NIL)
    return [
        ("ComesFromParent", z3.ForAll([v, s], z3.Implies(before_w, z3.And(z3.Not(words.joins(w, s)), on)))),
        (
            "StaysOrComes",
            z3.ForAll(
                [s],
                z3.Implies(z3.And(follows, z3.Not(comes)), z3.And(before["begun"](a), j == i, words.along(a, s, j, w))),
            ),
        ),
        (
            "IsThere",
            z3.ForAll([s], z3.Implies(words.is_in(w, s), z3.And(words.along(a, s, w, w), words.along(s, s, w, w)))),
        ),
        ("FurtherOn", z3.ForAll([u, s], z3.Implies(z3.And(follows, words.along(s, s, u, j)), words.along(s, s, u, w)))),
        (
            "StaysAlong",
            z3.ForAll(
                [v, s], z3.Implies(z3.And(follows, z3.Not(comes), words.along(a, s, v, j)), words.along(a, s, v, w))
            ),
        ),
        (
            "FurtherOnFromPromise",
            z3.ForAll(
                [u, s],
                z3.Implies(z3.And(starts, words.is_in(at, s), words.along(s, s, u, at)), words.along(s, s, u, w)),
            ),
        ),
        ("OwnIsAlong", z3.ForAll([v, s], z3.Implies(z3.And(starts, on, own), words.along(by, s, v, j)))),
        (
            "OwnWaits",
            z3.ForAll(
                [v, s],
                z3.Implies(
                    z3.And(starts, on, own, z3.Not(words.along(by, s, v, at))),
                    z3.And(words.waits(q, v), words.carried(by, s, at, v)),
                ),
            ),
        ),
        (
            "IsThereOrJoins",
            z3.ForAll(
                [v, s],
                z3.Implies(
                    z3.And(before["begun"](a), words.is_in(w, s), words.along(a, a, w, v), words.carried(a, s, i, v)),
                    z3.Or(words.is_in(i, s), words.joins(w, s)),
                ),
            ),
        ),
        (
            "ComesFromBefore",
            z3.ForAll(
                [v],
                z3.Implies(
                    z3.And(before["begun"](a), words.along(a, a, w, v)),
                    z3.And(words.along(a, a, i, v), words.along(a, a, i, w)),
                ),
            ),
        ),
        (
            "GoesFurther",
            z3.ForAll(
                [u, v], z3.Implies(z3.And(words.along(a, a, w, v), words.along(a, a, v, u)), words.along(a, a, w, u))
            ),
        ),
        (
            "KeepsVote",
            z3.ForAll(
                [s, z],
                z3.Implies(
                    z3.And(
                        before["begun"](a),
                        before["promised"](a, words.address_of(z)),
                        z3.Not(words.address_in(w, words.address_of(z))),
                        words.is_in(w, s),
                        z3.Or(words.is_in(i, s), words.joins(w, s)),
                    ),
                    after["vote"](a, words.address_of(s))
                    <= z3.If(words.is_in(i, s), before["vote"](a, words.address_of(s)), words.NIL),
                ),
            ),
        ),
        (
            "OthersAreBefore",
            z3.ForAll(
                [v, s],
                z3.Implies(
                    z3.And(starts, on, z3.Not(own)),
                    z3.And(
                        words.along(s, s, v, at),
                        z3.Not(words.along(by, s, v, at)),
                        words.is_in(at, s),
                        words.along(s, s, at, w),
                    ),
                ),
            ),
        ),
        (
            "IsPromised",
            z3.ForAll(
                [s],
                z3.Implies(
                    starts,
                    z3.And(
                        before["standing"](q),
                        before["begun"](by),
                        words.is_in(w, words.to_of(q)),
                        z3.Not(words.is_in(j, words.to_of(q))),
                        after["served"](by, words.to_of(q), w),
                        words.is_in(w, by),
                        words.is_in(j, by),
                        after["delivered"](a, words.address_of(s)) >= told,
                        words.parent_of(w, by) == j,
                    ),
                ),
            ),
        ),
    ]


def pass_on(after: State, before: State, constants: list[Term]) -> None:
    """A guard of a promiser at the time of a promise guards the promised messages."""
    promiser, _, promise = constants
    for name, own in (("promise_guard", "guard"), ("promise_for", "guarded_for"), ("promise_until", "guarded_until")):
        after[name] = lambda q, v, s, n=name, o=own: z3.If(q == promise, before[o](promiser, v, s), before[n](q, v, s))


def note_agreement(after: State, before: State, actor: Term) -> None:
    """A member purges only messages on which its view has agreed."""

    def agreed(x: Term, s: Term) -> Term:
        purges = after["purged"](actor, words.address_of(s)) != before["purged"](actor, words.address_of(s))
        return z3.If(z3.And(x == actor, purges), before["installed"](actor), before["agreed"](x, s))

    after["agreed"] = agreed


WITNESSES: Final = {
    "Guards": lambda at, outer: [at.now[n](*outer) for n in ("guard", "guarded_for", "guarded_until")],
    "PromisersAreGuarded": lambda at, outer: [
        at.now[n](outer[0].term, *outer[1:]) for n in ("promise_guard", "promise_for", "promise_until")
    ],
    "PurgedIsAgreed": lambda at, outer: [at.now["agreed"](*outer)],
    "RequestsServable": lambda _, outer: [outer[1]],
    "RequestsServableTogether": lambda _, outer: [outer[1]],
}
