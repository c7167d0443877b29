"""The constants of UNICAST that make a member, and its timers."""

from groupcomm import unicast
from tests.cores import PROTOCOLS


def test_what_makes_a_member_are_these_constants() -> None:
    assert {
        "retransmit_min": "RetransmitMin",
        "retransmit_max": "RetransmitMax",
        "resend_most": "ResendMost",
    } == PROTOCOLS["unicast"].parameters
    assert {"retransmit": unicast.RetransmitTimeout} == PROTOCOLS["unicast"].timeouts
