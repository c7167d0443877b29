"""chart: behaviours drawn as sequence charts, and differences that a person can read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupcomm_conformance.tla.chart import Bounds, chart
from groupcomm_conformance.tla.outline import outline
from groupcomm_conformance.tla.readable import Change, brief, diff
from groupcomm_conformance.tla.trace import State
from groupcomm_conformance.tla.values import Fn, Value, parse

STABLE = '[type |-> "STABLE", view_id |-> 7, digest |-> [A |-> 1, B |-> 0]]'


def act(
    action: str,
    member: str,
    event: str = '[type |-> "none"]',
    outcome: str = "handled",
    *,
    effects: str = "<<>>",
    given: str = "[nothing |-> 0]",
) -> Fn:
    value = parse(
        f'[action |-> "{action}", member |-> "{member}", given |-> {given}, event |-> {event}, '
        f'consumed |-> {{}}, outcome |-> "{outcome}", effects |-> {effects}]'
    )
    assert isinstance(value, Fn)
    return value


def received(sender: str, message: str = STABLE) -> str:
    return f'[type |-> "StableReceived", sender |-> "{sender}", message |-> {message}]'


def state(text: str = "", **variables: str) -> dict[str, Value]:
    """Give a state of A, B and C, where `A.bytes` and so on are 0, and `text` replaces one of them."""
    local = "[A |-> [bytes |-> 0], B |-> [bytes |-> 0], C |-> [bytes |-> 0]]"
    if text:
        member, value = text.split()
        local = local.replace(f"{member} |-> [bytes |-> 0]", f"{member} |-> [bytes |-> {value}]")
    return {"local": parse(local), **{name: parse(value) for name, value in variables.items()}}


def step(number: int, action: str, step_act: Fn | None, values: dict[str, Value]) -> State:
    return State(number, action, Fn(values if step_act is None else {**values, "act": step_act}))


def drawn(step_act: Fn | None, after: dict[str, Value], *, width: int = 100) -> str:
    """Draw the step from `state()` to `after`."""
    steps = [
        step(1, "Init", None, state()),
        step(2, "X" if step_act is None else str(step_act["action"]), step_act, after),
    ]
    lines = chart(steps, width=width)
    return "\n".join(lines[3:])


def opening(text: str, **variables: str) -> list[str]:
    """Draw a first state whose members' local states are `text`."""
    values = {"local": parse(text), **{name: parse(value) for name, value in variables.items()}}
    return chart([step(1, "Init", None, values)])[2:]


def test_the_first_state_shows_what_is_not_empty_under_the_names_of_the_lanes() -> None:
    steps = [step(1, "Init", None, state("B 3", up='{"A", "C"}', act="[a |-> 1]", network="{}"))]
    assert (
        "\n".join(chart(steps))
        == """\
     A                       B                       C
  1  |                       |                       |
       B: bytes=3
       up: {A, C}"""
    )


def test_what_all_members_have_alike_is_said_once_and_a_view_is_short() -> None:
    view = '[id |-> [counter |-> 1, creator |-> "A"], members |-> <<"A", "B">>]'
    local = ", ".join(
        f'{m} |-> [member |-> "{m}", view |-> {view}, early |-> {early}]'
        for m, early in (("A", "<<>>"), ("B", "<<1>>"))
    )
    assert ["       all: view=[1/A: A, B]", "       B: early=<<1>>"] == opening(f"[{local}]")


def test_where_minus_one_means_none_zero_is_something() -> None:
    """The first message of a sender may have the number 0: a vector of -1 and 0 is not empty."""
    local = "[A |-> [vote |-> [A |-> -1, B |-> 0], seqno |-> 0], B |-> [vote |-> [A |-> -1, B |-> -1], seqno |-> 0]]"
    assert ["       A: vote=[A: -1, B: 0]", "       log: [B: <<1>>]"] == opening(
        local, log="[A |-> <<>>, B |-> <<1>>]", lost="[A |-> {}, B |-> {}]"
    )


def test_a_decided_view_says_of_itself_what_is_not_empty() -> None:
    view = (
        '[id |-> [counter |-> 2, creator |-> "B"], members |-> <<"B", "C">>, preds |-> {1}, joins |-> {},'
        " lives |-> [B |-> 0, C |-> 0]]"
    )
    assert "[2/B: B, C; preds={1}]" == brief(parse(view))
    assert "[2/B: B, C; lives=[B: 0, C: 1]; preds={1}]" == brief(parse(view.replace("C |-> 0", "C |-> 1")))


def test_what_is_written_for_claims_alone_is_no_part_of_the_first_state() -> None:
    assert ["       up: {A}"] == opening("[A |-> [seqno |-> 0]]", up='{"A"}', aux_path="[A |-> <<1>>]")


def test_a_change_of_view_is_one_change() -> None:
    one = '[id |-> [counter |-> 1, creator |-> "A"], members |-> <<"A", "B">>]'
    two = '[id |-> [counter |-> 2, creator |-> "B"], members |-> <<"B">>]'
    assert ["v [1/A: A, B] -> [2/B: B]"] == [c.text() for c in diff(parse(one), parse(two), "v")]


def test_a_delivery_is_an_arrow_from_lane_to_lane_with_the_content_below() -> None:
    effects = '<<[type |-> "SetTimer", name |-> "stability", low |-> 0, high |-> 1]>>'
    assert (
        drawn(act("ReceiveStable", "B", received("A"), effects=effects), state("B 4"))
        == """\
  2  |--------STABLE-------->|                       |
     |                       |- digest=[A: 1, B: 0] view_id=7
     |                       [ReceiveStable]         |
     |                       |- SetTimer stability 0..1
       B.bytes 0 -> 4"""
    )


def test_an_arrow_points_left_to_a_member_on_the_left() -> None:
    assert drawn(act("ReceiveStable", "A", received("C")), state()).splitlines()[0] == (
        "  2  |<--------------------STABLE--------------------|"
    )


def test_text_that_does_not_fit_right_of_its_lane_stands_left_of_it() -> None:
    effects = f'<<[type |-> "Multicast", message |-> {STABLE}]>>'
    assert (
        drawn(act("StableTimeoutFires", "C", effects=effects, event='[type |-> "T"]'), state(), width=80)
        == """\
  2  |                       |                       [StableTimeoutFires]
     |      STABLE digest=[A: 1, B: 0] view_id=7 <<--|
       nothing changed"""
    )


@pytest.mark.parametrize(
    ("effect", "expected"),
    [
        (f'[type |-> "Multicast", message |-> {STABLE}]', "-->> STABLE digest=[A: 1, B: 0] view_id=7"),
        ('[type |-> "Send", to |-> "B", message |-> [type |-> "JOIN_REQ"]]', "--> B: JOIN_REQ"),
        ('[type |-> "PassDown", event |-> [type |-> "Purge", digest |-> [A |-> 1]]]', "- PassDown Purge digest=[A: 1]"),
        ('[type |-> "PassUp", event |-> [type |-> "Block"]]', "- PassUp Block"),
        ('[type |-> "SetTimer", name |-> "stable"]', "- SetTimer stable"),
        ('[type |-> "CancelTimer", name |-> "stable"]', "- CancelTimer stable"),
        ('[type |-> "Deliver", message |-> 3]', "- Deliver message=3"),
    ],
)  # fmt: skip
def test_each_effect_has_its_line(effect: str, expected: str) -> None:
    lines = drawn(act("T", "A", '[type |-> "T"]', effects=f"<<{effect}>>"), state()).splitlines()
    assert expected == lines[1].removeprefix("     |").replace("|", " ").rstrip()


def test_an_own_message_needs_no_arrow() -> None:
    assert (
        drawn(act("ReceiveStable", "A", received("A"), "ignored"), state())
        == """\
  2  |- own STABLE digest=[A: 1, B: 0] view_id=7     |
     [ReceiveStable: ignored]                        |
       nothing changed"""
    )


def test_what_the_environment_does_is_starred_and_a_loss_ends_in_a_cross() -> None:
    given_ = '[sender |-> "C", seqno |-> 1]'
    assert (
        drawn(act("LoseData", "B", outcome="none", given=given_), state())
        == """\
  2  |                       |x---------data---------|
     |                       * LoseData sender=C seqno=1
       nothing changed"""
    )


def test_a_lane_ends_with_a_crash() -> None:
    lines = chart(
        [
            step(1, "Init", None, state()),
            step(2, "Crash", act("Crash", "B", outcome="none"), state()),
            step(3, "T", act("T", "A", '[type |-> "T"]'), state()),
        ]
    )
    assert (
        "\n".join(lines[3:])
        == """\
  2  |                       * Crash                 |
       nothing changed
     |                                               |
  3  [T]                                             |
       nothing changed"""
    )


def test_a_stranger_that_sends_has_a_lane() -> None:
    steps = [
        step(1, "Init", None, state()),
        step(2, "Misuse", act("Misuse", "C", received("Z"), "remote_error"), state()),
    ]
    lines = chart(steps)
    assert lines[0].split() == ["A", "B", "C", "Z"]
    assert lines[3] == "  2  |                      |                      |<--------STABLE-------|"
    assert lines[5] == "     |                      |                      [Misuse: remote_error] |"


def test_a_step_without_act_is_told_by_its_name() -> None:
    assert drawn(None, state("A 1")) == "  2  * X                     |                       |\n       A.bytes 0 -> 1"


def test_a_lasso_says_where_it_returns_to_and_stuttering_that_it_lasts() -> None:
    steps = [step(1, "Init", None, state())]
    assert chart(steps, back_to=1)[-1] == "back to state 1"
    assert chart(steps, stutters=True)[-1] == "stutters for ever"


def test_changes_are_listed_with_their_paths_and_folded_between_changes() -> None:
    after = {
        "local": parse("[A |-> [bytes |-> 1], B |-> [bytes |-> 22], C |-> [bytes |-> 333]]"),
        "rm": parse("[A |-> 3]"),
        "spent": parse("4"),
    }
    before = {**state(), "rm": parse("[A |-> 0]"), "spent": parse("0")}
    lines = chart([step(1, "Init", None, before), step(2, "X", None, after)], width=60)
    assert lines[-2:] == [
        "       A.bytes 0 -> 1; B.bytes 0 -> 22; C.bytes 0 -> 333;",
        "       rm.A 0 -> 3; spent 0 -> 4",
    ]


@given(
    members=st.lists(st.sampled_from("ABCDEFGH"), min_size=1, unique=True),
    width=st.integers(60, 120),
    words=st.lists(st.sampled_from(["a", "long" * 9, "endless" * 30]), max_size=9),
    data=st.data(),
)
def test_no_line_is_wider_than_asked_for(members: list[str], width: int, words: list[str], data: st.DataObject) -> None:
    local = Fn({member: Fn({"text": " ".join(words)}) for member in members})
    sender, member = (data.draw(st.sampled_from(members)) for _ in range(2))
    message = Fn({"type": "STABLE", "text": " ".join(words)})
    event = Fn({"type": "StableReceived", "sender": sender, "message": message})
    effects = (Fn({"type": "Multicast", "message": message}),)
    step_act = Fn({"action": "R", "member": member, "event": event, "outcome": "handled", "effects": effects})
    steps = [step(1, "Init", None, {"local": local}), step(2, "R", step_act, {"local": parse("[A |-> 1]")})]
    lines = chart(steps, width=width)
    assert max(map(len, lines)) <= width
    assert lines == chart(steps, width=width)
    assert all(line == line.rstrip() for line in lines)


def test_a_width_below_60_is_taken_as_60() -> None:
    steps = [step(1, "Init", None, state())]
    assert chart(steps, width=60) == chart(steps, width=10)


def test_members_too_many_for_lanes_are_named_at_each_step() -> None:
    names = [f"M{number:02}" for number in range(1, 31)]
    local = Fn({name: Fn({"n": 0}) for name in names})
    after: dict[str, Value] = {"local": local.replace(M07=Fn({"n": 1}))}
    lines = chart([State(1, "Init", Fn({"local": local})), step(2, "Vote", act("Vote", "M07"), after)], width=60)
    assert ["  2  * Vote M07", "       M07.n 0 -> 1"] == lines[-2:]
    assert max(map(len, lines)) <= 60


def long_behaviour(steps: int) -> list[State]:
    """A's `bytes` grow by one in each step."""
    return [
        step(number, "Vote", None if number == 1 else act("Vote", "A"), state(f"A {number - 1}"))
        for number in range(1, steps + 1)
    ]


def test_bounds_keep_the_last_steps_and_say_what_is_left_out() -> None:
    lines = chart(long_behaviour(50), bounds=Bounds("--json has them all", steps=2))
    assert "     ... steps 2 to 48 are not drawn: --json has them all" in lines
    assert ["A.bytes 47 -> 48", "A.bytes 48 -> 49"] == [line.strip() for line in lines if "->" in line]


def test_a_behaviour_within_bounds_is_drawn_whole() -> None:
    steps = long_behaviour(3)
    assert chart(steps) == chart(steps, bounds=Bounds("see", steps=2))


def test_bounds_cut_long_values() -> None:
    values = state(big=f"<<{', '.join(map(str, range(500)))}>>")
    lines = chart([step(1, "Init", None, values)], bounds=Bounds("--json has it", text=20))
    assert "       big: <<0, 1, 2, 3, 4... (2397 characters: --json has it)" in lines


def test_a_member_that_crashed_in_a_step_that_is_left_out_has_no_lane() -> None:
    steps = long_behaviour(3)
    crash = step(4, "Crash", act("Crash", "C", outcome="none"), state("A 2"))
    last = step(5, "Vote", act("Vote", "A"), state("A 3"))
    assert chart([*steps, crash, last])[-2:] == chart([*steps, crash, last], bounds=Bounds("see", steps=1))[-2:]


def test_a_message_is_not_said_to_be_in_the_network_too() -> None:
    """A message that an effect sends, or a step receives, is in a set or a queue as well, of any name."""
    multicast = f'<<[type |-> "Multicast", message |-> {STABLE}]>>'
    packet = f'[sender |-> "A", to |-> "*", message |-> {STABLE}]'
    sent = act("Vote", "A", effects=multicast)
    for before, after in (("{}", f"{{{packet}}}"), ("<<>>", f"<<{STABLE}>>"), ("{}", f"{{{STABLE}}}")):
        first = step(1, "Init", None, state(net=before))
        assert "       nothing changed" == chart([first, step(2, "Vote", sent, state(net=after))])[-1]
    unsent = step(2, "Vote", act("Vote", "A"), state(net=f"{{{packet}}}"))
    assert "net" in chart([step(1, "Init", None, state(net="{}")), unsent])[-1]


def test_a_lost_packet_is_an_arrow_that_does_not_arrive() -> None:
    packet = parse(f'[sender |-> "A", to |-> "B", message |-> {STABLE}]')
    lost = act("Lose", "B", outcome="none").replace(consumed=frozenset({packet}))
    lines = chart([step(1, "Init", None, state()), step(2, "Lose", lost, state())])
    assert any("STABLE" in line and "x|" in line for line in lines)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("1", "1", []),
        ("1", "TRUE", ["1 -> TRUE"]),
        ('[heard_from |-> {"B"}, n |-> 1]', "[heard_from |-> {}, n |-> 1]", ["heard_from {B} -> {}"]),
        ("[a |-> [b |-> 0]]", "[a |-> [b |-> 1]]", ["a.b 0 -> 1"]),
        ("[a |-> 0]", "[a |-> 0, b |-> 1]", ["b none -> 1"]),
        ("[a |-> [x |-> 0]]", "[a |-> [y |-> 0]]", ["a [x: 0] -> [y: 0]"]),
        ("(3 :> 0 @@ 4 :> 1)", "(3 :> 0 @@ 4 :> 2)", ["[4] 1 -> 2"]),
        ('<<"A", "B">>', '<<"A">>', ["<<A, B>> -> <<A>>"]),
        ("[e |-> <<[n |-> 1]>>]", "[e |-> <<[n |-> 2], [n |-> 3]>>]", ["e[1].n 1 -> 2", "e[2] none -> [n: 3]"]),
    ],
)
def test_a_difference_is_told_where_it_is(before: str, after: str, expected: list[str]) -> None:
    assert expected == [change.text() for change in diff(parse(before), parse(after))]


def test_of_a_large_set_only_what_came_and_went_is_told() -> None:
    before = frozenset({"a" * 20, "b" * 20, "c"})
    change = Change("network", before, before - {"c"} | {"d"})
    assert change.text() == "network + d, - c"


def test_values_are_written_for_people() -> None:
    text = brief(parse('[f |-> {2, 10}, e |-> <<>>, s |-> <<"A", TRUE>>]'))
    assert text == "[e: <<>>, f: {2, 10}, s: <<A, TRUE>>]"


def test_an_outline_has_a_line_a_step() -> None:
    sent = """<<[type |-> "Multicast", message |-> [type |-> "VOTE"]], [type |-> "Send", to |-> "B", message |-> [type |-> "ACK"]]>>"""
    steps = [
        step(1, "Init", None, state(up='{"A", "B"}', views="<<1>>")),
        step(2, "Vote", act("Vote", "A", '[type |-> "VoteTimeout"]', effects=sent), state()),
        step(3, "ReceiveStable", act("ReceiveStable", "B", received("A"), "ignored"), state()),
        step(4, "ReceiveStable", act("ReceiveStable", "A", received("A")), state()),
        step(5, "LoseData", act("LoseData", "B", outcome="none", given='[sender |-> "A"]'), state()),
        step(6, "Crash", None, state()),
    ]
    lines = [
        "1. views: <<1>>",
        "2. A: Vote -> all: VOTE, B: ACK",
        "3. B: ReceiveStable (STABLE from A): ignored",
        "4. A: ReceiveStable (own STABLE)",
        "5. * B: LoseData sender=A (data from A, lost)",
        "6. * Crash",
    ]
    assert lines == outline(steps)
    assert f"{lines[-1]}, and back to state 2" == outline(steps, back_to=2)[-1]
    assert f"{lines[-1]}, and so it stays for ever" == outline(steps, stutters=True)[-1]
    assert ["1. up: {A}"] == outline([step(1, "Init", None, state(up='{"A"}'))])
