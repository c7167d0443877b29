"""codec, frames: any bytes are a message or are refused, and nothing else is raised."""

from collections import Counter
from functools import cache
from random import Random
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from groupcomm import (
    file_ping,
    flush,
    gms,
    heartbeat,
    merge,
    merge_gms,
    nakack,
    sequencer,
    stable,
    state_transfer,
    unicast,
)
from groupcomm.digest import EMPTY_VECTOR
from groupcomm.effects import Datagram
from groupcomm.events import Payload
from groupcomm.gms import Lives
from groupcomm.stack import APPLICATION, Tagged
from groupcomm.view import ViewId
from groupcomm_runtime.codec import LARGEST_INTEGER, VERSION, Codec, RefusedError, canonical, pack
from groupcomm_runtime.frames import Fragments, Frame, Once, OtherVersionError, Seal, StrangerError
from groupcomm_simulator.chance import Chance
from groupcomm_simulator.ground import Told
from groupcomm_simulator.running import ground_of
from groupcomm_simulator.setup import DATAGRAMS, Setup

LAYERS = {
    "state_transfer": state_transfer,
    "sequencer": sequencer,
    "flush": flush,
    "merge_gms": merge_gms,
    "stable": stable,
    "nakack": nakack,
    "unicast": unicast,
    "heartbeat": heartbeat,
    "file_ping": file_ping,
}
CODEC = Codec(LAYERS)


def with_bytes(message: object) -> object:
    """A message of a simulation, in which the application's payload is bytes: no other value travels."""
    if not isinstance(message, Tagged):
        return message
    if message.layer == APPLICATION:
        return Tagged(APPLICATION, repr(message.message).encode())
    inner: Any = message.message
    if isinstance(inner, state_transfer.App):
        return Tagged(message.layer, evolve(inner, payload=Payload(repr(inner.payload).encode())))
    if isinstance(inner, state_transfer.Part):
        return Tagged(message.layer, evolve(inner, data=Payload(repr(inner.data).encode())))
    payload = getattr(inner, "payload", None)
    if payload is not None or isinstance(inner, sequencer.Plain):
        held = with_bytes(payload) if isinstance(payload, Tagged) else repr(payload).encode()
        inner = evolve(inner, payload=held)
    return Tagged(message.layer, inner)


@cache
def simulated() -> tuple[Tagged, ...]:
    """All messages that simulated groups put on the network, each once."""
    found: dict[Tagged, None] = {}

    def hear(told: Told) -> None:
        for effect in told.effects:
            if isinstance(effect, Datagram):
                message = with_bytes(effect.message)
                assert isinstance(message, Tagged)
                found.setdefault(message)

    for seed in (1, 2):
        setup = Setup(("state_transfer", *DATAGRAMS), members=4)
        ground, random, members = ground_of(setup, seed)
        ground.listener = hear
        chance = Chance(ground, members, setup.faults, random)
        for event in chance.first():
            ground.perform(event)
        while ground.events < 4_000:
            drawn = chance.draw()
            if drawn is not None:
                ground.perform(drawn)
    # In no simulated stack:
    pinged = (file_ping.GetMbrsReq(starting=True), file_ping.GetMbrsRsp("A#7"))
    beaten = heartbeat.Heartbeat(3, ViewId(2, "A#7"), counts=True, suspects=False)
    others = (*(Tagged("file_ping", message) for message in pinged), Tagged("heartbeat", beaten))
    return (*found, *others)


def test_each_message_of_simulated_groups_comes_back_as_it_was() -> None:
    kinds: Counter[str] = Counter()
    for message in simulated():
        data = CODEC.encode(message)
        assert message == CODEC.decode(data)
        inner: object = message
        while isinstance(inner, Tagged):
            kinds[f"{inner.layer} {type(inner.message).__name__}"] += 1
            inner = getattr(inner.message, "payload", None)
    met = {name.partition(" ")[0] for name in kinds}
    assert set() == {*LAYERS} - met
    assert len(kinds) > 25


def test_a_join_answer_with_a_merged_view_comes_back_as_it_was() -> None:
    """JGroups reads a merged view in a JOIN_RSP as a plain one, and then its digest from the wrong place (JGRP-3033)."""
    answered = 0
    for message in simulated():
        inner: Any = message
        while isinstance(inner, Tagged) or hasattr(inner, "payload"):
            inner = inner.message if isinstance(inner, Tagged) else inner.payload
        if isinstance(inner, merge.InstallMergeView | merge.MergeView):
            own = evolve(gms.NO_DECISION, id=min(inner.merged.follows, key=repr))
            decision = inner.merged.after_own(own)
            assert decision.digest
            answer = Tagged("merge_gms", gms.JoinRsp(decision))
            assert answer == CODEC.decode(CODEC.encode(answer))
            answered += 1
    assert answered > 1


@given(st.binary(max_size=300))
def test_arbitrary_bytes_are_a_message_or_refused(data: bytes) -> None:
    try:
        message = CODEC.decode(data)
    except RefusedError:
        return
    assert data == CODEC.encode(message)


@settings(max_examples=600)
@given(st.data())
def test_a_message_with_changed_bytes_is_a_message_or_refused(data: st.DataObject) -> None:
    """And what is taken has one form: it is written as it came, but for how long MessagePack makes a number."""
    message = data.draw(st.sampled_from(simulated()))
    written = bytearray(CODEC.encode(message))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(written) - 1))
        match data.draw(st.sampled_from(("change", "drop", "cut", "double"))):
            case "change":
                written[at] = data.draw(st.integers(0, 255))
            case "drop":
                del written[at]
            case "cut":
                del written[at + 1 :]
            case _:
                written[at:at] = written[at : at + 8]
        written = written or bytearray(1)
    try:
        changed = CODEC.decode(bytes(written))
    except RefusedError:
        return
    assert changed == CODEC.decode(CODEC.encode(changed))


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats()
    | st.text(max_size=4)
    | st.binary(max_size=4),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=2), inner, max_size=2),
    max_leaves=12,
)


@settings(max_examples=400)
@given(st.integers(-1, 8), st.integers(-1, 10), values)
def test_any_value_of_messagepack_is_a_message_or_refused(layer: int, option: int, value: object) -> None:
    try:
        message = CODEC.decode(pack([layer, option, value]))
    except RefusedError:
        return
    assert message == CODEC.decode(CODEC.encode(message))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        pack([0, b"of no layer"]),
        pack([5, 0, [[1, "A"], "A", LARGEST_INTEGER + 1, [0, b"x"]]]),
        pack([5, 0, [[1, "A"], "A", True, [0, b"x"]]]),
        pack([5, 1, [[1, "A"], [["B", 1], ["A", 1]]]]),
        pack([5, 1, [[1, "A"], [["A", 1], ["A", 1]]]]),
        pack([5, 0, [[1, "A"], "A", 1, "a text"]]),
        b"\x91" * 100_000,
        CODEC.encode(Tagged("nakack", nakack.Highest(ViewId(1, "A"), EMPTY_VECTOR))) + b"\x00",
    ],
)
def test_what_is_refused(data: bytes) -> None:
    with pytest.raises(RefusedError):
        CODEC.decode(data)


def test_messages_within_messages_end_somewhere() -> None:
    inner = Tagged(APPLICATION, b"x")
    for _ in range(20):
        inner = Tagged("unicast", unicast.Data(unicast.Connection(0, 1), 1, 0, inner))  # type: ignore[arg-type]
    with pytest.raises(RefusedError):
        CODEC.decode(CODEC.encode(inner))


def test_equal_values_have_one_canonical_form() -> None:
    assert canonical(frozenset("CAB")) == ["A", "B", "C"]
    assert pack(canonical(Lives((("B", 1), ("A", 0))))) == pack(canonical(Lives((("A", 0), ("B", 1)))))
    with pytest.raises(TypeError):
        canonical(1.5)


# Datagrams

KEY = b"what members alone know"
FRAME = Frame("A#7", ("127.0.0.1", 7801), "B#9", 3, (b"one", b"two"))


def test_a_datagram_is_opened_by_who_has_the_key() -> None:
    data = Seal(KEY, "demo").close(FRAME)
    assert FRAME == Seal(KEY, "demo").open(data)
    for other in (Seal(b"what other members know", "demo"), Seal(KEY, "another group")):
        with pytest.raises(StrangerError):
            other.open(data)
    with pytest.raises(OtherVersionError):
        Seal(KEY, "demo").open(data[:2] + bytes([VERSION + 1]) + data[3:])


def test_an_encrypted_datagram_shows_nothing_is_no_other_and_is_opened_by_who_has_the_key() -> None:
    seal, peer = (Seal(KEY, "demo", encrypted=True) for _ in range(2))
    first, second = seal.close(FRAME), seal.close(FRAME)
    assert FRAME == peer.open(first) == peer.open(second) == seal.open(first)
    assert Seal.digest_of(first) != Seal.digest_of(second) != Seal.digest_of(peer.close(FRAME))
    for at in range(len(first) - 3):
        assert first[at : at + 3] != b"one"
    for other in (Seal(b"what other members know", "demo", encrypted=True), Seal(KEY, "demo")):
        with pytest.raises(StrangerError):
            other.open(first)
        with pytest.raises(StrangerError):
            peer.open(other.close(FRAME))


def test_ciphers_of_other_senders_are_bounded_and_a_stranger_adds_none() -> None:
    seal = Seal(KEY, "demo", encrypted=True)
    for _ in range(300):
        assert FRAME == seal.open(Seal(KEY, "demo", encrypted=True).close(FRAME))
    remembered = set(seal._ciphers)  # noqa: SLF001 - what it remembers
    assert 256 == len(remembered)
    with pytest.raises(StrangerError):
        seal.open(Seal(b"what other members know", "demo", encrypted=True).close(FRAME))
    assert remembered == set(seal._ciphers)  # noqa: SLF001


@pytest.mark.parametrize("encrypted", [False, True])
def test_a_datagram_with_any_bit_changed_is_refused(*, encrypted: bool) -> None:
    seal = Seal(KEY, "demo", encrypted=encrypted)
    data = seal.close(FRAME)
    for bit in range(8 * len(data)):
        changed = bytearray(data)
        changed[bit // 8] ^= 1 << bit % 8
        with pytest.raises(RefusedError):
            seal.open(bytes(changed))


@given(st.binary(max_size=200))
def test_arbitrary_bytes_are_no_datagram_even_where_the_seal_is_right(data: bytes) -> None:
    seal = Seal(KEY, "demo")
    head = b"gc" + bytes([VERSION])
    for datagram in (data, head + data, head + seal._digest(data) + data):  # noqa: SLF001 - as one with the key could
        try:
            opened = seal.open(datagram)
        except RefusedError:
            continue
        assert opened.sender


@pytest.mark.parametrize("key", [b"", b"x" * 15, b"x" * 65])
def test_a_key_has_a_length(key: bytes) -> None:
    with pytest.raises(ValueError, match="16 to 64 bytes"):
        Seal(key, "demo")


def test_a_number_is_taken_once() -> None:
    once = Once()
    assert [True, True, False, True, False] == [once.first(number) for number in (5, 7, 5, 6, 7)]
    assert once.first(5_000)
    assert not once.first(5_000 - 1_024), "so late that the receiver cannot know whether it was seen"
    assert once.first(5_000 - 1_023)


@given(st.lists(st.integers(1, 3_000), max_size=60))
def test_no_number_is_taken_twice(numbers: list[int]) -> None:
    once = Once()
    taken = [number for number in numbers if once.first(number)]
    assert len(taken) == len(set(taken))


@given(st.integers(0, 5_000), st.randoms(use_true_random=False))
def test_fragments_are_put_together_in_any_order(length: int, random: Random) -> None:
    fragments = Fragments(size=1_000)
    item = random.randbytes(length) + b"."
    pieces = fragments.cut(item)
    random.shuffle(pieces)
    joined = [fragments.join(piece) for piece in pieces]
    assert [item] == [each for each in joined if each is not None]
    assert joined[-1] == item


def test_an_item_that_would_stop_the_loop_for_seconds_is_refused_by_its_first_fragment() -> None:
    """A view of 100,000 members, from a holder of the key: it has 5.5 MB, and took 2 s to read."""
    member = pack([[f"m{number}#{number}" for number in range(100_000)], 1, "m0#0"])
    piece = 60_000
    count = -(-len(member) // piece)
    fragments, name = Fragments(size=8_192), bytes(16)
    with pytest.raises(RefusedError, match=f"{count} of 60000 bytes are more than 1048576"):
        fragments.join(pack((name, 0, count, member[:piece])))
    with pytest.raises(RefusedError, match="are more than 1048576"):
        fragments.join(pack((name, 0, 256, bytes(4_097))))
    assert fragments.join(pack((name, 0, 256, bytes(4_096)))) is None
    with pytest.raises(ValueError, match="too many fragments"):
        fragments.cut(bytes((1 << 20) + 1))
    assert b"".join([fragments.join(each) or b"" for each in fragments.cut(bytes(1_000_000))]) == bytes(1_000_000)


def test_fragments_of_an_item_that_is_sent_again_complete_it() -> None:
    """Of 74 datagrams at 15 % loss all arrive in one of 166,000 sendings: each sending adds to those before."""
    fragments = Fragments(size=1_000)
    item, other = b"x" * 10_000, b"y" * 10_000
    first, again = fragments.cut(item), fragments.cut(item)
    came = [fragments.join(each) for each in (*first[:15], *fragments.cut(other)[:5], first[3], *again[15:])]
    assert [item] == [each for each in came if each is not None]


def test_unfinished_items_are_forgotten_and_fragments_that_are_none_refused() -> None:
    """4 MiB of them are kept: that whose last fragment came first goes first."""
    fragments = Fragments(size=65_000)
    begun = [fragments.cut(bytes([number]) * 128_000) for number in range(65)]
    assert [None] * 65 == [fragments.join(first) for first, _ in begun]
    assert fragments.join(begun[0][0]) is None, "again"
    assert fragments.join(fragments.cut(b"more" * 32_000)[0]) is None
    assert fragments.join(begun[1][1]) is None, "its first one is gone, and now that of the next"
    staying = (0, 3, 4)
    assert [bytes([number]) * 128_000 for number in staying] == [fragments.join(begun[number][1]) for number in staying]
    name = bytes(16)
    wrong = [(name, 2, 2, b""), (name, -1, 2, b""), (name, 0, 10**6, b""), (name[1:], 0, 2, b""), (1, 0, 2, b"")]
    for data in (b"", *map(pack, wrong)):
        with pytest.raises(RefusedError):
            fragments.join(data)
