"""simulate with FLUSH over merging over GMS: groups part and become one again; what is broken is found."""

from typing import Any

import pytest

from groupcomm import flush, merge, merge_gms
from groupcomm.events import ViewInstalled
from groupcomm.stack import StackError
from groupcomm_conformance.stacks.running import WHOLE, borne, simulate
from tests.simulated import all_holds, setup, violation

STACK = "flush/merge/gms"
BORNE = borne(STACK.split("/"))
CALM = BORNE - {"suspicion", "partition", "remerge"}
"""Groups that were founded apart become one; nobody is suspected who is alive."""


NEVER_RESTS = {"QuietIsFree", "Settled", "ComesToRest"}


@pytest.mark.parametrize("stack", [STACK, WHOLE])
@pytest.mark.parametrize(("kinds", "seed"), [(BORNE, 1000), (CALM, 2000)], ids=["partitions", "calm"])
def test_thirty_thousand_events_and_all_that_is_promised_holds(
    stack: str, kinds: frozenset[str], seed: int
) -> None:
    outcome = all_holds(setup(stack, kinds), events=30_000, seed=seed)
    happened = {kind for kind, count in outcome.kinds.items() if count}
    assert {"start", "join", "leave", "crash", "suspect", "digest", "discover", "merged views"} <= happened
    assert {"return", "serve", "message", "notice", "drop", "multicast", "data", "lose"} <= happened
    assert {"transfer", "transferred", "timer"} <= happened
    assert ({"partition", "heal"} <= happened) == (kinds is BORNE)


# Rules that are left out, by the function of the core that has them


def is_merged_at_once(original: Any) -> Any:  # noqa: ANN401
    """A request to merge is answered while the group goes on, with the digest of nothing."""

    def received(config: Any, state: Any, event: Any) -> Any:  # noqa: ANN401
        if state.merge.merging or state.holds != "no" or not state.gms_idle:
            return original(config, state, event)
        digested = merge_gms._digested(event, merge_gms._unknown(state))  # noqa: SLF001
        after = merge_gms._carried(config, state, *merge.step(config, state.merge, digested))  # noqa: SLF001
        return merge_gms._ending(config, *after)  # noqa: SLF001

    return received


def is_plain(_: Any) -> Any:  # noqa: ANN401
    """FLUSH takes a merged view for one of GMS."""
    return lambda state, event: flush._view_installed(state, ViewInstalled(event.view))  # noqa: SLF001


REPLACED: list[tuple[Any, str, Any, set[str]]] = [
    (merge_gms, "_merge_req_received", is_merged_at_once, {"DigestIsGreatest", "StartsWhereTold"}),
    (merge_gms, "_answer_early", lambda _: lambda _config, state: (state, ()), NEVER_RESTS),
    (flush, "_merge_view_installed", is_plain, NEVER_RESTS),
]
"""What falls is one of the claims."""


@pytest.mark.parametrize(
    ("module", "name", "other", "claims"), REPLACED, ids=[f"{each[0].__name__}{each[1]}" for each in REPLACED]
)
def test_a_rule_that_is_left_out_is_found(
    module: Any,  # noqa: ANN401
    name: str,
    other: Any,  # noqa: ANN401
    claims: set[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, name, other(getattr(module, name)))
    found = violation(setup(STACK, BORNE))
    assert found.claim in claims, str(found)


@pytest.mark.parametrize(
    "stack", ["merge/gms", "merge/gms/stable", "merge/stable/gms", "gms/merge", "flush/merge"]
)
def test_merging_and_gms_stand_together_below_flush(stack: str) -> None:
    with pytest.raises(StackError, match="merge"):
        simulate(setup(stack, BORNE), events=1, seed=1)
