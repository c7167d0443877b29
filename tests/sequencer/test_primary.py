"""Who may be primary: the table of spec/sequencer/README.md, and what its rules are for."""

import pytest
from attrs import evolve

from groupcomm import primary, sequencer
from groupcomm.effects import Multicast, PassUp, Send
from groupcomm.errors import LocalProtocolError, RemoteProtocolError
from groupcomm.events import ViewFormed
from groupcomm.view import Address, View, ViewId

CONFIG = primary.Config(majority=True)


def view(counter: int, *members: Address, creator: Address = "") -> View:
    return View(ViewId(counter, creator or members[0]), members)


ABC, BC, A, B, C, AC = (view(n, *members) for n, members in enumerate(["ABC", "BC", "A", "B", "C", "AC"], start=1))


def forms(in_view: View, records: dict[Address, primary.Record]) -> bool:
    """Whether the coordinator forms its view when these members have reported their records."""
    return primary.is_quorum(records, in_view)


def test_the_table_of_the_readme() -> None:
    assert forms(BC, {"B": (ABC,), "C": (ABC,)})
    assert not forms(A, {"A": (ABC,)})
    assert forms(B, {"B": (BC,)})
    assert not forms(C, {"C": (BC,)})
    assert not forms(AC, {"A": (ABC, A), "C": (BC, C)})
    assert not forms(view(7, "D", "E"), {"D": (), "E": ()})


def test_whoever_has_helped_to_form_a_view_counts_for_no_view_without_its_majority() -> None:
    """Had C not been in [BC], A and C would be two of three."""
    assert forms(AC, {"A": (ABC, A), "C": (ABC, C)})


def test_a_record_ends_with_the_view_that_is_installed_until_one_is_formed() -> None:
    begun = primary.in_formed(evolve(sequencer.start("C"), view=ABC))
    assert primary.on_disk(begun) == (ABC,)
    parted, effects = primary.attempt(CONFIG, begun, evolve(begun, view=BC))
    assert primary.on_disk(parted) == (ABC, BC)
    assert effects == (Send("B", primary.Report(BC.id, (ABC,))),)
    formed, _ = primary.formed_received(
        CONFIG, parted, primary.FormedReceived("B", primary.Formed(BC.id, ABC.id.counter))
    )
    assert primary.on_disk(formed) == (BC,)
    alone, _ = primary.attempt(CONFIG, formed, evolve(formed, view=C))
    assert primary.on_disk(alone) == (BC, C)
    assert primary.must_wait(CONFIG, alone)


def test_a_founder_forms_its_view_and_a_member_with_a_lost_record_does_not() -> None:
    new = sequencer.start("A")
    first = evolve(new, view=A, epoch=A.id)
    asks, effects = primary.attempt(CONFIG, new, first)
    formed = primary.Formed(A.id, 0)
    assert effects == (Multicast(formed),)
    assert not primary.must_wait(CONFIG, asks)
    assert primary.on_disk(asks) == (), "its FORMED may be held back"
    heard, effects = primary.formed_received(CONFIG, asks, primary.FormedReceived("A", formed))
    assert primary.on_disk(heard) == (A,)
    assert effects == (PassUp(ViewFormed(A.id, 0)),)
    again, _ = primary.restored(CONFIG, new, primary.Restored(()))
    assert primary.must_wait(CONFIG, primary.attempt(CONFIG, again, evolve(first, founds=False))[0])


def test_a_record_of_a_view_without_members_is_refused() -> None:
    """A peer that holds the key, or a disk, may say anything; no member ends by an error of its own."""
    begun = evolve(primary.in_formed(evolve(sequencer.start("B"), view=BC)), formed=False)
    report = primary.Report(BC.id, (View(ViewId(1, ""), ()),))
    with pytest.raises(RemoteProtocolError, match="without members"):
        primary.report_received(CONFIG, begun, primary.ReportReceived("C", report))
    with pytest.raises(LocalProtocolError, match="without members"):
        primary.restored(CONFIG, sequencer.start("B"), primary.Restored(report.attempts))


def test_an_incarnation_counts_as_the_former_ones_that_had_its_record() -> None:
    assert primary.counts_as("A#3", (view(1, "A", "B"),), "A")
    assert primary.counts_as("A#3", (view(1, "A#2", "B"),), "A#2")
    assert not primary.counts_as("A#3", (view(1, "A#2", "B"),), "A")
    assert not primary.counts_as("A#3", (), "A")
    assert not primary.counts_as("A#2", (view(1, "A", "A#2", "B"),), "A"), "it was beside it"


def test_a_leaver_counts_by_the_record_of_a_member_of_the_view_that_it_has_formed() -> None:
    """C#2, which begins again, knows [BACD], and not what B has reported to others since."""
    last, first = view(3, "B", "D"), view(1, "B", "A", "C", "D")
    left = view(4, "D", "C#2", creator="B")
    assert forms(view(4, "D", creator="B"), {"D": (last,)})
    assert not forms(left, {"D": (first, last), "C#2": (first,)})
