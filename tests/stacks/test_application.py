"""`ApplicationView`: the judge says of each history what TLC says of it, and each conjunct falls alone."""

from random import Random
from typing import TYPE_CHECKING, Any, Final, cast

import pytest

from groupcomm.effects import Multicast, PassUp, SetTimer
from groupcomm.events import Block, Deliver, Left, MergeViewInstalled, Payload, Unblock, ViewInstalled
from groupcomm.stack import Called
from groupcomm.view import View, ViewId
from groupcomm_conformance.models.manifest import find_root
from groupcomm_conformance.tla.values import Value, parse, show
from groupcomm_conformance.tlc import run as tlc
from groupcomm_simulator.judges import application
from groupcomm_simulator.judges.application import CONJUNCTS, History, Life
from groupcomm_simulator.judges.claims import Verdicts, Violation
from groupcomm_simulator.judges.membership import Decided, Membership, Process
from groupcomm_simulator.running import simulate
from groupcomm_simulator.setup import Faults, Setup

if TYPE_CHECKING:
    from groupcomm_simulator.judges.claims import Message

FIRST, SECOND = ViewId(1, "A"), ViewId(2, "A")
OF_TWO: Final = CONJUNCTS[CONJUNCTS.index("OneIdentifierOneView") :]
ROWS: Final = 150
LONGEST: Final = 12
"""Events of a history that TLC judges: it looks at all pairs of them, and at pairs of pairs."""


def sends(member: str, number: int) -> object:
    return Multicast(Payload((member, number)))


def given(sender: str, number: int) -> object:
    return Deliver(sender, Payload((sender, number)))


def view(counter: int, members: str, *of: ViewId, creator: str = "A") -> object:
    told = View(ViewId(counter, creator), tuple(members))
    return MergeViewInstalled(told, frozenset(of)) if of else ViewInstalled(told)


def violated(a: History, b: History = ()) -> set[str]:
    lives = (Life.of("A", a), Life.of("B", b))
    return {claim for claim, _ in application.violated(lives, one_path=True)}


AB = view(1, "AB")
SENT = tuple(sends("B", number) for number in (1, 2, 3))
FALLS: dict[str, tuple[History, History]] = {
    "SelfInclusion": ((view(1, "B"),), ()),
    "OnceInView": ((view(1, "ABA"),), ()),
    "ViewsRise": ((AB, view(1, "AB", creator="B")), ()),
    "MergesOwn": ((AB, view(2, "AB", ViewId(1, "B"), ViewId(1, "C"))), ()),
    "SendsInView": ((sends("A", 1),), ()),
    "DeliversInView": ((given("B", 1),), (AB, *SENT)),
    "SenderIsMember": ((view(1, "A"), given("B", 1)), (view(1, "B", creator="B"), *SENT)),
    "NoDuplicates": ((view(1, "AB"), given("B", 1), given("B", 1)), (view(2, "AB"), *SENT)),
    "SenderFifo": ((view(1, "AB"), given("B", 2), given("B", 1)), (view(2, "AB"), *SENT)),
    "BlocksAlternate": ((Block(), Block()), ()),
    "BlockedBeforeView": ((AB, Block(), Unblock(), view(2, "AB")), ()),
    "NothingAfterLeft": ((AB, Left(), Block()), ()),
    "OneIdentifierOneView": ((AB,), (view(1, "B"),)),
    "OneMergeOfView": ((view(2, "AB", FIRST),), (view(2, "AB", ViewId(1, "B")),)),
    "OneOrderInView": (
        (AB, sends("A", 1), given("A", 1), given("B", 1)),
        (AB, sends("B", 1), given("B", 1), given("A", 1)),
    ),
    "VirtualSynchrony": ((AB, given("B", 1), view(2, "AB")), (AB, sends("B", 1), view(2, "AB"))),
    "Integrity": ((AB, given("B", 1)), ()),
    "NoGaps": ((AB, given("B", 2)), (AB, *SENT)),
    "TotalOrder": (
        (view(1, "AB"), sends("A", 1), given("A", 1), given("B", 1), view(5, "AB")),
        (view(2, "AB"), *SENT, given("B", 1), given("A", 1), view(6, "AB")),
    ),
}


@pytest.mark.parametrize("conjunct", CONJUNCTS)
def test_each_conjunct_falls_alone(conjunct: str) -> None:
    assert violated(*FALLS[conjunct]) == {conjunct}


def test_what_a_group_may_see() -> None:
    both = view(2, "AB")
    a = (view(1, "A"), Block(), both, Unblock(), given("B", 1), sends("A", 1), given("A", 1), Left())
    assert violated(a, (both, sends("B", 1), given("B", 1), given("A", 1))) == set()


class Seen:
    """A and B have come to a view, and B has sent a message; the applications of both are judged."""

    def __init__(self) -> None:
        self.verdicts, self.group = Verdicts(), Membership()
        self.judge = application.ApplicationView(self.verdicts)
        self.a, self.b = self.group.start("A"), self.group.start("B")
        self.enter(self.group.decide(self.a, 1, [self.a, self.b]), self.a, self.b)
        self.sends(self.b)

    def enter(self, decided: Decided, *members: Process) -> None:
        for process in members:
            self.group.install(process, decided)
            self.told(process, ViewInstalled(decided.view))

    def sends(self, process: Process) -> None:
        self.judge.hear(process, Called(Multicast(Payload((process.name, 1)))), ())

    def told(self, process: Process, *events: object) -> None:
        self.judge.hear(process, None, [*map(PassUp, events), SetTimer("stability", 1, 2)])

    def rests(self, *, one_path: bool = True) -> str:
        """Give the conjunct that is violated, with its histories; "" if none is."""
        try:
            self.judge.quiet(one_path=one_path)
        except Violation as violation:
            return str(violation).removeprefix("ApplicationView: ")
        return ""


def test_applications_are_judged_at_each_rest() -> None:
    group = Seen()
    group.told(group.a, given("B", 1), Deliver("B", Payload(None)))
    assert group.rests() == ""
    group.judge.forget({group.a})
    assert group.rests() == ""
    assert group.verdicts.judged == {"ApplicationView": 1}  # then A is alone
    group.told(group.a, given("B", 1))
    assert group.rests() == ""  # of the former message nothing is known any more, but the view is
    group.told(group.a, given("B", 1))
    assert group.rests().startswith("NoDuplicates: A has seen (ViewInstalled(")


def test_an_application_is_known_by_its_incarnation() -> None:
    """A later incarnation of B numbers its messages anew."""
    group = Seen()
    group.told(group.a, given("B", 1))
    group.b.up = False
    alone = group.group.decide(group.a, 2, [group.a], group.a.path)
    group.enter(alone, group.a)
    later = group.group.start("B")
    group.enter(group.group.decide(group.a, 3, [group.a, later], [alone]), group.a, later)
    group.sends(later)
    for process in (group.a, later):
        group.told(process, Deliver("B", Payload((later.name, 1))))
    assert group.rests() == ""
    group.told(group.a, Deliver("B", Payload(("B", 2))))
    assert group.rests().startswith("Integrity: A has seen ")


def test_one_order_over_all_views_is_asked_of_one_path_where_none_is_merged() -> None:
    for merges, one_path, falls in ((False, True, "TotalOrder"), (False, False, ""), (True, True, "")):
        group = Seen()
        first = group.group.views[0]
        for process, order in ((group.a, (given("A", 1), given("B", 1))), (group.b, (given("B", 1), given("A", 1)))):
            here = group.group.decide(process, 2, [group.a, group.b], [first])
            after = group.group.decide(process, 3, [group.a, group.b], [here])
            group.enter(here, process)
            if process is group.a:
                group.sends(process)
            group.told(process, *order)
            group.group.install(process, after)
            merged = MergeViewInstalled(after.view, frozenset({here.view.id}))
            group.told(process, merged if merges else ViewInstalled(after.view))
        assert group.rests(one_path=one_path).partition(":")[0] == falls


def test_a_message_that_is_sent_again_is_owed_from_where_it_was_first_sent() -> None:
    again = (AB, sends("B", 1), sends("B", 2), view(2, "AB"), sends("B", 1))
    assert violated((AB, given("B", 2)), again) == {"NoGaps"}


def drawn(random: Random) -> list[tuple[History, History]]:
    """Histories of two applications of each of some small groups, by the names A and B."""
    kept: list[tuple[History, History]] = []
    quiet = application.ApplicationView.quiet

    def keep(self: application.ApplicationView, *, one_path: bool) -> None:
        quiet(self, one_path=one_path)
        seen = self._seen
        for _ in range(3 if len(seen) > 1 else 0):
            names = dict(zip((each.name for each in random.sample([*seen], len(seen))), "ABCDEFGHIJ", strict=False))
            both = {
                names[each.name]: application._named(each, told)  # noqa: SLF001
                for each, told in seen.items()
            }
            if max(len(both["A"]), len(both["B"])) <= LONGEST:
                kept.append((renamed(both["A"], names), renamed(both["B"], names)))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(application.ApplicationView, "quiet", keep)
        for kinds in ({"join", "leave", "crash"}, {"join", "partition", "suspicion", "merge", "leave"}):
            setup = Setup(("sequencer", "flush", "merge_gms"), members=3, faults=Faults(frozenset(kinds), 0.1))
            for seed in range(60):
                assert simulate(setup, events=60, seed=seed).found is None
    return kept


def renamed(history: History, names: dict[str, str]) -> History:
    """A history by other names."""

    def name(member: str) -> str:
        return names.get(member, "Z")

    def again(each: Any) -> object:  # noqa: ANN401 - of any class
        match each:
            case Multicast((sender, number)):
                return sends(name(sender), number)
            case Deliver(sender, payload):
                return given(name(sender), cast("Message", payload)[1])
            case ViewInstalled(told):
                of = each.subgroups if isinstance(each, MergeViewInstalled) else ()
                return view(
                    told.id.counter,
                    "".join(map(name, told.members)),
                    *(ViewId(one.counter, name(one.creator)) for one in of),
                    creator=name(told.id.creator),
                )
            case _:
                return each

    return tuple(map(again, history))


def corrupted(random: Random, a: History, b: History) -> tuple[History, History]:
    """Up to two edits: something is lost, doubled, moved, forged, or seen by the other."""
    both = [list(a), list(b)]
    for _ in range(random.choice((0, 1, 1, 2))):
        mine, other = random.sample(both, 2)
        at = random.randrange(len(mine) + 1)
        forged: list[object] = [
            random.choice((Block(), Unblock(), Left(), sends("AB"[both.index(mine)], random.randint(1, 9)))),
            given(random.choice("ABC"), random.randint(1, 9)),
            view(
                random.randint(1, 9),
                "".join(random.choices("ABC", k=random.randint(1, 3))),
                *random.sample([FIRST, SECOND, ViewId(1, "B")], random.randint(0, 2)),
                creator=random.choice("AB"),
            ),
        ]
        match random.randrange(5):
            case 0 if at < len(mine):
                del mine[at]
            case 1 if at < len(mine):
                mine.insert(random.randrange(at, len(mine)), mine[at])
            case 2 if at + 1 < len(mine):
                mine[at], mine[at + 1] = mine[at + 1], mine[at]
            case 3 if other:
                mine.insert(at, random.choice([each for each in other if not isinstance(each, Multicast)] or [Left()]))
            case _:
                mine.insert(at, random.choice(forged))
    return tuple(both[0]), tuple(both[1])


def written(history: History) -> Value:
    """A history as the module has it."""

    def identifier(of: ViewId) -> Value:
        return of.counter, of.creator

    def event(each: object) -> Value:
        match each:
            case Multicast(message):
                return "sends", cast("Message", message)[1]
            case Deliver(sender, payload):
                return "given", sender, cast("Message", payload)[1]
            case ViewInstalled(told):
                of = each.subgroups if isinstance(each, MergeViewInstalled) else frozenset[ViewId]()
                return "view", identifier(told.id), told.members, frozenset(map(identifier, of))
            case _:
                return (type(each).__name__.lower(),)

    return tuple(map(event, history))


def judged_by_tlc(rows: list[tuple[History, History]]) -> list[set[str]]:
    of_one = [
        f'[name |-> "{each}", holds |-> {each}("A", r[1]) /\\ {each}("B", r[2])]'
        for each in CONJUNCTS
        if each not in OF_TWO
    ]
    of_two = [
        f'[name |-> "{each}", holds |-> {each}("A", r[1], "B", r[2])]'
        if each in {"Integrity", "NoGaps"}
        else f'[name |-> "{each}", holds |-> {each}(r[1], r[2]) /\\ {each}(r[2], r[1])]'
        for each in OF_TWO
    ]
    module = f"""---- MODULE Rows ----
EXTENDS ApplicationView, TLC
Rows == {show(tuple(tuple(map(written, row)) for row in rows))}
All(r) == {{{", ".join(of_one + of_two)}}}
ASSUME \\A i \\in DOMAIN Rows : PrintT(ToString({{c.name : c \\in {{d \\in All(Rows[i]) : ~d.holds}}}}))
Stop == FALSE /\\ UNCHANGED seen
===="""
    cfg = 'CONSTANTS\n  Member = {"A", "B"}\n  OnePath = TRUE\nINIT Init\nNEXT Stop\n'
    result = tlc.run([find_root() / "spec/common"], "Rows", cfg, generated={"Rows": module}, workers=1, short=True)
    return [set(cast("frozenset[str]", parse(str(parse(line))))) for line in result.printed]


def test_the_judge_says_what_tlc_says() -> None:
    random = Random(1)  # noqa: S311 - dice, not secrets
    histories = drawn(random)
    rows = [*FALLS.values(), *(corrupted(random, *random.choice(histories)) for _ in range(ROWS))]
    mine = [violated(*row) for row in rows]
    theirs = judged_by_tlc(rows)
    for row, ours, tlcs in zip(rows, mine, theirs, strict=True):
        assert ours == tlcs, row
    assert sum(not claims for claims in mine) > ROWS // 4
    assert len({frozenset(claims) for claims in mine}) > ROWS // 4
