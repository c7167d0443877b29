"""What the tables of FLUSH show: mistakes that only views out of order, two senders or another creator tell."""

import inspect

import pytest

from groupcomm import flush
from tests.cores import MANIFESTS, conformance

BROKEN = {
    "the counter for the identifier of a view": (
        ("_reconcile_received", "message.view_id != state.view.id", "message.view_id.counter != state.view.id.counter"),
        "join",
    ),
    "two requesters wait, the least by name is first": (
        ("_take_later", "in state.view.members if", "in sorted(state.view.members) if"),
        "three_states",
    ),
    "a junior by name waits": (
        ("_begin_if_due", "order = state.view.members", "order = tuple(sorted(state.view.members))"),
        "three_states",
    ),
    "the least by name goes first": (
        ("_goes_first", "order = state.view.members", "order = tuple(sorted(state.view.members))"),
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
def test_rows_tell_what_sorted_views_and_one_sender_hide(
    mistake: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (name, old, new), model = BROKEN[mistake]
    source = inspect.getsource(getattr(flush, name))
    assert source.count(old) == 1
    found: dict[str, object] = {}
    exec(source.replace(old, new), vars(flush), found)  # noqa: S102 - the function with one mistake
    monkeypatch.setattr(flush, name, found[name])
    replayed = conformance("flush", MANIFESTS["flush"].model(model)).replayed
    assert replayed is not None
    assert not replayed.passed
