"""Mistakes that the tables of FLUSH show by views out of order, two senders or another creator alone."""

import inspect

import pytest
from attrs import evolve

from groupcomm import flush
from groupcomm_conformance.steps import conform
from groupcomm_conformance.steps.mutants.core_by_rows import mutated
from groupcomm_conformance.steps.mutants.implementation import mutants
from tests.cores import MANIFESTS, PROTOCOLS, closed_conformance, conformance

BROKEN = {
    "the counter for the identifier of a view": (
        ("_reconcile_received", "message.view_id != state.view.id", "message.view_id.counter != state.view.id.counter"),
        "join",
    ),
    "two requesters wait, the least by name is first": (
        ("_maybe_take", "in state.view.members if", "in sorted(state.view.members) if"),
        "three_states",
    ),
    "a junior by name waits": (
        ("_maybe_begin", "order = state.view.members", "order = tuple(sorted(state.view.members))"),
        "three_states",
    ),
    "the least by name goes first": (
        ("_has_priority", "order = state.view.members", "order = tuple(sorted(state.view.members))"),
        "three_states",
    ),
    "the least by name is the holder": (
        ("_holders", "for m in state.view.members", "for m in sorted(state.view.members)"),
        "leave_unsorted",
    ),
    "two are fetched in another order": (
        ("_reconcile_received", "for sender in state.view.members", "for sender in reversed(state.view.members)"),
        "two_senders",
    ),
}  # fmt: skip


@pytest.mark.parametrize("mistake", BROKEN)
def test_rows_tell_what_sorted_views_and_one_sender_hide(mistake: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (name, old, new), model = BROKEN[mistake]
    source = inspect.getsource(getattr(flush, name))
    assert source.count(old) == 1
    found: dict[str, object] = {}
    exec(source.replace(old, new), vars(flush), found)  # noqa: S102 - the function with one mistake
    monkeypatch.setattr(flush, name, found[name])
    replayed = conformance("flush", MANIFESTS["flush"].model(model)).replayed
    assert replayed is not None
    assert not replayed.passed


def test_what_only_a_row_that_could_not_happen_leads_to_is_found() -> None:
    """FLUSH's `_stop` once forgot whether the member is frozen: no row of any model shows it, random events did.

    A member that gets RECONCILE before it was asked to stop has a limit, and is not frozen.
    """
    name = (
        "_stop: again: Effects = (PassDown(HoldBack(cut)),) if state.frozen and state.limit != cut else () "
        "-> again: Effects = (PassDown(HoldBack(cut)),) if state.limit != cut else ()"
    )
    protocol = PROTOCOLS["flush"]
    join = evolve(MANIFESTS["flush"].model("join"), conform=True)
    (forgets,) = (mutant for mutant in mutants(protocol) if mutant.name == name)
    with mutated(protocol, forgets) as core:
        assert conformance("flush", join, core).ok
        came = closed_conformance("flush", join, core)
    assert not came.ok
    assert {("wrong_effects", "StartFlushReceived")} == {*came.replayed.groups}
    failed = "\n".join(conform.lines(came, failures_only=False))
    assert failed.startswith("flush join closed: FAILS: ")
    assert "again    groupcomm conform flush --model join --closed --row " in failed
