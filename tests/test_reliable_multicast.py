"""reliable_multicast: the layer below, against a list of what was received."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from groupcomm.digest import NOTHING, DigestEntry, Vector
from groupcomm.sim import reliable_multicast as rm

SEQNOS = st.integers(0, 8)


class Window(RuleBasedStateMachine):
    """One window, and the plain history that it stands for."""

    @initialize(low=st.integers(NOTHING, 3))
    def begin(self, low: int) -> None:
        self.low = low
        self.window = rm.window(low)
        self.received: set[int] = set()
        self.purged = NOTHING

    @rule(seqno=SEQNOS)
    def add(self, seqno: int) -> None:
        before = self.window
        self.window = rm.add(self.window, seqno)
        if seqno > self.low:
            self.received.add(seqno)
        assert (self.window is before) == (not rm.lacks(before, seqno))

    @rule(seqno=st.integers(NOTHING, 8))
    def purge(self, seqno: int) -> None:
        """Stability never passes what this member has delivered."""
        seqno = min(seqno, self.window.delivered)
        windows = rm.purge({"A": self.window, "B": rm.window()}, Vector.of(A=seqno))
        self.window = windows["A"]
        self.purged = max(self.purged, seqno)
        assert rm.window() == windows["B"]

    @invariant()
    def drained(self) -> None:
        """DLV-03: what can be delivered is delivered, in the step in which it arrived."""
        assert self.window.delivered + 1 not in self.received
        assert set(range(self.low + 1, self.window.delivered + 1)) <= self.received
        assert {n for n in self.received if n > self.window.delivered} == self.window.ahead

    @invariant()
    def delivered_within_received(self) -> None:
        """STB-02."""
        assert self.window.delivered <= self.window.received
        assert max(self.received, default=self.low) == self.window.received

    @invariant()
    def holds_what_was_received_and_not_purged(self) -> None:
        """DLV-05, AMB-10: the purge is inclusive."""
        held = {n for n in range(10) if rm.holds(self.window, n)}
        assert {n for n in self.received if n > self.purged} == held

    @invariant()
    def lacks_what_was_never_received(self) -> None:
        lacked = {n for n in range(10) if rm.lacks(self.window, n)}
        assert {n for n in range(10) if n > self.low and n not in self.received} == lacked


TestWindow: Any = Window.TestCase


@given(order=st.permutations(range(5)))
def test_any_order_of_arrival_delivers_all(order: list[int]) -> None:
    window = rm.window()
    for seqno in order:
        window = rm.add(window, seqno)
    assert (4, frozenset()) == (window.delivered, window.ahead)


def test_a_consumer_that_does_not_drain_would_report_less() -> None:
    """DLV-02: seqno 0 fills the gap, and with it 1 and 2 are deliverable too."""
    window = rm.add(rm.add(rm.window(), 1), 2)
    assert (NOTHING, 2) == (window.delivered, window.received)
    assert 2 == rm.add(window, 0).delivered


def test_the_purge_is_inclusive() -> None:
    """AMB-10: with entry 1 messages 0 and 1 go, 2 stays."""
    window = rm.add(rm.add(rm.add(rm.window(), 0), 1), 2)
    purged = rm.purge({"A": window}, Vector.of(A=1))["A"]
    assert [False, False, True] == [rm.holds(purged, seqno) for seqno in range(3)]


def test_a_purge_is_never_taken_back() -> None:
    windows = rm.purge(rm.purge({"A": rm.window(5)}, Vector.of(A=4)), Vector.of(A=2))
    assert 4 == windows["A"].purged


def test_a_purge_of_strangers_changes_nothing() -> None:
    assert {"A": rm.window()} == rm.purge({"A": rm.window()}, Vector.of(Z=4))


def test_a_starting_point_is_no_purge() -> None:
    """A joiner starts after 3: it never held what came before, and purged nothing."""
    window = rm.add(rm.window(3), 4)
    assert (NOTHING, 4) == (window.purged, window.delivered)
    assert not rm.holds(window, 3)
    assert rm.holds(window, 4)


def test_the_digest_has_the_three_seqnos_of_each_sender() -> None:
    """AMB-03."""
    digest = rm.digest_of({"B": rm.add(rm.window(1), 3), "A": rm.window()})
    assert DigestEntry(low=1, delivered=1, received=3) == digest["B"]
    assert DigestEntry(low=-1, delivered=-1, received=-1) == digest["A"]


def test_a_new_view_keeps_windows_and_starts_those_of_joiners() -> None:
    kept = rm.add(rm.window(), 0)
    assert {"A": kept, "C": rm.window()} == rm.install_windows({"A": kept, "B": kept}, ("A", "C"))


def test_a_joiner_starts_where_the_digest_ends() -> None:
    assert {"A": rm.window(7), "C": rm.window()} == rm.join_windows(Vector.of(A=7, B=2), ("A", "C"))
