"""report: a behaviour, scene by scene. Expectations are written by hand."""

from collections.abc import Mapping
from typing import Any

import pytest
from attrs import frozen
from markupsafe import Markup

from groupcomm_conformance.report.page import states
from groupcomm_conformance.report.story import Arrow, Effect, Row, Story, tell
from groupcomm_conformance.tla.values import Fn, Value, parse

LOCAL = '[p |-> [self |-> "p", votes |-> {}], q |-> [self |-> "q", votes |-> {}]]'


@frozen
class Step:
    """A state of a behaviour."""

    number: int
    action: str
    values: Fn


def behaviour(*variables: Mapping[str, str]) -> list[Step]:
    """States numbered from 1, each the state before with the given variables, as TLA+ text."""
    current: dict[Any, Value] = {"local": parse(LOCAL), "network": parse("{}"), "act": parse("0")}
    steps = []
    for number, changed in enumerate(variables, start=1):
        current |= {name: parse(text) for name, text in changed.items()}
        act = current["act"]
        action = str(act["action"]) if isinstance(act, Fn) else "Something"
        steps.append(Step(number, action, Fn(current)))
    return steps


def act(action: str, member: str, event: str, outcome: str = "handled", effects: str = "<<>>") -> str:
    return (
        f'[action |-> "{action}", member |-> "{member}", event |-> {event}, outcome |-> "{outcome}", '
        f"effects |-> {effects}]"
    )


def text(row: Row) -> list[str | None]:
    """The text of a row's cells, deletions and insertions as `-x` and `+x`."""
    return [None if cell is None else _said(str(cell.html)) for cell in row.cells]


def _said(html: str) -> str:
    return Markup(html.replace("<del>", "-").replace("<ins>", "+")).striptags()  # noqa: S704 - and no more


def rows(story: Story, number: int) -> dict[str, list[str | None]]:
    scene = story.scenes[number - 1]
    return {row.name: text(row) for row in (*scene.members, *scene.group)}


VOTE = '[type |-> "VoteReceived", sender |-> "q", message |-> [type |-> "VOTE", round |-> 3]]'


def test_a_message_that_arrives_is_an_arrow_from_its_sender() -> None:
    heard = LOCAL.replace("{}", '{"q"}', 1)
    send = '<<[type |-> "Send", to |-> "q", message |-> [type |-> "OK", round |-> 3]]>>'
    story = tell(behaviour({}, {"local": heard, "act": act("ReceiveVote", "p", VOTE, effects=send)}))
    first, second = story.scenes
    assert ("p", "q") == story.lanes
    assert (None, None, ()) == (first.lane, first.came, first.changes)
    assert (0, False, "handled") == (second.lane, second.outside, second.outcome)
    assert Arrow(source=1, target=0, name="VOTE", content="round=3", lost=False) == second.came
    assert (Effect("-->", "q: OK", "round=3"),) == second.effects
    assert ["p.votes {} -> {q}"] == [change.text() for change in second.changes]


def test_what_was_given_may_be_the_message_and_the_event_has_its_own_content() -> None:
    """A message of the layer below is no part of the member's event."""
    given = act("ReceiveData", "p", '[type |-> "Came", bytes |-> 4]')[:-1] + ', given |-> [sender |-> "q"]]'
    scene = tell(behaviour({}, {"act": given})).scenes[1]
    assert Arrow(source=1, target=0, name="data", content="", lost=False) == scene.came
    assert ("Came", "bytes=4", "sender=q") == (scene.event, scene.content, scene.given)


def test_own_messages_are_no_arrows_between_lanes() -> None:
    story = tell(behaviour({}, {"act": act("ReceiveVote", "q", VOTE)}))
    came = story.scenes[1].came
    assert came is not None
    assert came.own


def test_what_the_environment_does_is_told_apart_and_ends_a_lane() -> None:
    none = '[type |-> "none"]'
    crash = act("Crash", "q", none, "none")
    back = act("Restart", "q", '[type |-> "Restarted"]')
    story = tell(behaviour({}, {"act": crash}, {"act": back}))
    assert [(True, True), (True, False), (True, True)] == [scene.there for scene in story.scenes]
    assert [True, True, False] == [scene.outside for scene in story.scenes]


def test_without_act_a_step_is_in_the_lane_of_whose_state_changed() -> None:
    """Models for liveness do not keep `act`."""
    one = LOCAL.replace("{}", '{"q"}', 1)
    both = LOCAL.replace("{}", '{"p", "q"}')
    story = tell(behaviour({}, {"local": one}, {"local": both}, {"network": '{[from |-> "p", message |-> 1]}'}))
    assert [None, 0, None, None] == [scene.lane for scene in story.scenes]
    assert ["network {} -> {[from: p, message: 1]}"] == [c.text() for c in story.scenes[3].changes]


def test_the_state_has_a_column_for_each_member_and_rows_for_the_rest() -> None:
    """A field that only says whose state it is has no row; a function on the members is among the columns."""
    story = tell(behaviour({"store": "[p |-> 1, q |-> [a |-> TRUE]]", "budget": "7", "half": "[p |-> 1]"}))
    assert ["votes", "store"] == [row.name for row in story.scenes[0].members]
    assert {
        "votes": ["{}", "{}"],
        "store": ["1", "[a: TRUE]"],
        "budget": ["7"],
        "half": ["[p: 1]"],
        "network": ["{}"],
    } == rows(story, 1)


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        ("1", "2", "-1 → +2"),
        ('{"a", "b"}', '{"b", "c"}', "{-a, b, +c}"),
        ("[a |-> 1, b |-> 1]", "[a |-> 1, b |-> 2]", "[a: 1, b: -1 → +2]"),
        ("[a |-> 1]", "[a |-> 1, b |-> 2]", "[a: 1, b: +2]"),
        ("[a |-> 1, b |-> 2]", "[a |-> 1]", "[a: 1, b: -2]"),
        ("<<>>", "[a |-> 1]", "-<<>> → +[a: 1]"),
        ("<<{1}>>", "<<{1}, {2}>>", "<<{1}, +{2}>>"),
        ("<<1, 2>>", "<<1>>", "-<<1, 2>> → +<<1>>"),
        ("TRUE", "1", "-TRUE → +1"),
        ("3", "3", "3"),
    ],
)
def test_what_changed_in_a_value_is_marked(before: str, after: str, shown: str) -> None:
    story = tell(behaviour({"budget": before}, {"budget": after}))
    (row,) = (row for row in story.scenes[1].group if row.name == "budget")
    assert [shown] == text(row)
    assert (before != after) == row.changed


def test_a_member_without_a_field_has_no_cell_for_it() -> None:
    story = tell(behaviour({"local": "[p |-> [a |-> 1], q |-> [b |-> 2]]"}))
    assert {"a": ["1", None], "b": [None, "2"], "network": ["{}"]} == rows(story, 1)


def test_states_need_not_be_records_nor_members_strings() -> None:
    story = tell(behaviour({"local": "(1 :> 5 @@ 3 :> 6)"}, {"local": "(1 :> 5 @@ 3 :> 7)"}))
    assert ("1", "3") == story.lanes
    assert ["5", "-6 → +7"] == rows(story, 2)["local"]
    assert 1 == story.scenes[1].lane


def test_texts_of_a_specification_are_never_markup() -> None:
    story = tell(behaviour({"budget": '"<script>alert(1)</script>&"'}))
    (row,) = (row for row in story.scenes[0].group if row.name == "budget")
    (cell,) = row.cells
    assert cell is not None
    assert "<b>&lt;script&gt;alert(1)&lt;/script&gt;&amp;</b>" == str(cell.html)


def test_the_script_has_each_cell_once() -> None:
    """`-1 - index` is a cell that changed, null a cell that is not there."""
    first = {"local": "[p |-> [a |-> 1], q |-> [b |-> 1]]"}
    told = states(tell(behaviour(first, {"local": "[p |-> [a |-> 2], q |-> [b |-> 1]]"})))
    change = '<del><b>1</b></del><span class="to"> → </span><ins><b>2</b></ins>'
    assert ["<b>1</b>", '<span class="p">{</span><span class="p">}</span>', change] == told["html"]
    assert ["p", "q"] == told["lanes"]
    assert [["a", [0, None]], ["b", [None, 0]]] == told["scenes"][0]["members"]
    assert [["a", [-3, None]], ["b", [None, 0]]] == told["scenes"][1]["members"]


def test_a_lasso_and_a_behaviour_that_stays_are_told() -> None:
    lasso, still = tell(behaviour({}, {}), back_to=2), tell(behaviour({}), stutters=True)
    assert (2, False) == (lasso.back_to, lasso.stutters)
    assert (None, True) == (still.back_to, still.stutters)
