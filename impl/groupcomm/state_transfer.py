"""STATE_TRANSFER: a member that lacks the state of the group gets it from another. `StateTransfer`.

The member asks by a message in the total order (ASK): the state holds the messages before it, and the messages after
it are delivered on top. The provider unicasts the state in parts. A member whose provider is gone, or cannot give the
state, asks again. The members of a merged view tell which state each has (TELL), and keep one. The head of
`spec/state_transfer/StateTransfer.tla` says which one, what a sender is told meanwhile, and why a member multicasts
nothing in a step that a message of the order causes.

Duties of the application. `MarkState`: keep the state as it is now, for one member, until its last part is
read, it fails, it is marked again for that member, or `FreeState`. `ReadPart` is answered by `PartRead` or
`PartFailed`. After `Full` the program takes no multicasts until `Room`, but where a view is to change.
"""

from collections import Counter
from typing import Annotated, Final, TypeAlias, assert_never, final

from attrs import frozen

from .effects import Multicast, PassUp, Send, SetTimer
from .errors import LocalProtocolError, RemoteProtocolError
from .events import Below, Deliver, MergeViewInstalled, Payload, SafeUpTo, UnknownUpTo, ViewFormed, ViewInstalled
from .per_member import PerMember
from .records import evolve
from .view import NO_VIEW, Address, View, ViewId

ASSUMES: Final = ("TotalOrderBroadcast", "ReliableUnicast")
"""The modules of `spec/common` that say what the layers below must give."""

GIVES: Final = ("OneState", "OneSequence")
"""The modules that say what this layer gives to the application; the second, with `majority` of SEQUENCER."""

__all__ = [
    "ASSUMES",
    "GIVES",
    "NOBODY",
    "App",
    "AppReceived",
    "Ask",
    "AskReceived",
    "AskTimeout",
    "Cannot",
    "CannotReceived",
    "Config",
    "Credit",
    "CreditReceived",
    "DeclareRequested",
    "Deliver",
    "Effect",
    "Event",
    "FreeState",
    "Full",
    "Gift",
    "Given",
    "Giving",
    "Held",
    "MarkState",
    "MergeViewInstalled",
    "Message",
    "Name",
    "NoState",
    "OwnIsInState",
    "Part",
    "PartFailed",
    "PartRead",
    "PartReceived",
    "Payload",
    "PutPart",
    "ReadPart",
    "Room",
    "SafeUpTo",
    "Seen",
    "SendRequested",
    "SoonTimeout",
    "Standing",
    "State",
    "StateDeclared",
    "StateDropped",
    "StateKept",
    "StateSet",
    "Tell",
    "TellReceived",
    "Told",
    "Transition",
    "UnknownUpTo",
    "ViewFormed",
    "ViewInstalled",
    "start",
    "step",
]

NOBODY: Final = ""
"""In the place of a provider: none."""

Name: TypeAlias = tuple[ViewId, ...]
"""Of a state: members that tell equal names have equal states. Empty: the member lacks one."""


@frozen
class Config:
    """The constants of a member, each 1 or more.

    `window`: parts in transit at most. `full_at`: bytes of messages that wait for a state; with as many, a member
    takes no more. `max_held`: and with as many, if another comes all the same, it asks again. `ask_time`: ms
    until a member that no member gives the state to asks again.
    """

    window: int
    full_at: int
    max_held: int
    ask_time: int


@final
@frozen
class Seen(PerMember[int]):
    """Of each member the number of its last message."""


# Messages -----------------------------------------------------------------------------------------


@frozen
class Standing:
    """The state that a member has. `stood`: the counter of the last formed view in which that stood, or 0.

    `name`: members with equal names have equal states; empty: it lacks one. `declared`: the state counts as
    declared; without a name, its application declares one. The formed views with a counter above `after` and up
    to `upto` were vacant: none of their members had the state of the primary.
    """

    stood: int
    name: Name
    declared: bool
    after: int
    upto: int


@frozen
class App:
    """In the order: the `number`-th message of the sender's application. `size`: its bytes, 1 at least."""

    number: int
    size: int
    payload: Payload


@frozen
class Ask:
    """In the order: the sender wants the state as it is here, from `provider`."""

    provider: Address
    attempt: int


@frozen
class Tell:
    """In the order: the state that the sender came to the view with."""

    view_id: ViewId
    standing: Standing


@frozen
class Part:
    """A part of the state. `seen`: the numbers of the messages that are in it."""

    attempt: int
    number: int
    data: Payload
    last: bool
    seen: Seen
    declared: bool


@frozen
class Credit:
    """The sender has taken the parts up to `number`."""

    attempt: int
    number: int


@frozen
class Cannot:
    """The sender cannot give the state."""

    attempt: int


Message: TypeAlias = App | Ask | Tell | Part | Credit | Cannot

# Events -------------------------------------------------------------------------------------------


@frozen
class SendRequested:
    """The application multicasts `payload`. `size`: its bytes, which come with the call."""

    payload: Payload
    size: Annotated[int, Below]


@frozen
class AppReceived:
    """A message of an application came in its place."""

    sender: Address
    message: App


@frozen
class AskReceived:
    """An ASK came in its place."""

    sender: Address
    message: Ask


@frozen
class TellReceived:
    """A TELL came in its place."""

    sender: Address
    message: Tell


@frozen
class PartRead:
    """The application gives a part of the state that it has marked for `to`."""

    to: Address
    attempt: int
    number: int
    data: Payload
    last: bool


@frozen
class PartFailed:
    """The application cannot give the state to `to`."""

    to: Address
    attempt: int


@frozen
class PartReceived:
    """A part arrived."""

    sender: Address
    message: Part


@frozen
class CreditReceived:
    """A CREDIT arrived."""

    sender: Address
    message: Credit


@frozen
class CannotReceived:
    """A CANNOT arrived."""

    sender: Address
    message: Cannot


@frozen
class AskTimeout:
    """It is time to ask again."""


@frozen
class SoonTimeout:
    """It is time to multicast what a message of the order has caused."""


@frozen
class DeclareRequested:
    """The application declares that its own state is the group's, where no member gives one."""


Event: TypeAlias = (
    SendRequested
    | AppReceived
    | AskReceived
    | TellReceived
    | PartRead
    | PartFailed
    | PartReceived
    | CreditReceived
    | CannotReceived
    | AskTimeout
    | SoonTimeout
    | DeclareRequested
    | SafeUpTo
    | UnknownUpTo
    | ViewFormed
    | ViewInstalled
    | MergeViewInstalled
)

# Effects ------------------------------------------------------------------------------------------


@frozen
class MarkState:
    """To the application: keep the state as it is now, for `to`."""

    to: Address
    attempt: int


@frozen
class ReadPart:
    """To the application: give this part of what is marked for `to`."""

    to: Address
    attempt: int
    number: int


@frozen
class FreeState:
    """To the application: what is marked for `to` is not needed any more."""

    to: Address


@frozen
class PutPart:
    """To the application: take this part; number 1 begins anew."""

    number: int
    data: Payload


@frozen
class StateSet:
    """To the application: the parts that came are the state now."""


@frozen
class OwnIsInState:
    """To the application: its own messages up to `number` are in the state that was just set."""

    number: int


@frozen
class StateKept:
    """To the application: it is decided that the state that it has is the group's."""


@frozen
class StateDropped:
    """To the application: another state is kept. It may multicast again what this one has beyond it."""


@frozen
class NoState:
    """To the application: no member of the view gives a state. This one asks again."""


@frozen
class StateDeclared:
    """To the application: its own state is the group's from here on, and counts as declared."""


@frozen
class Full:
    """To the program: take no more multicasts until `Room`, but where a view is to change."""


@frozen
class Room:
    """To the program: take multicasts again."""


Effect: TypeAlias = (
    Multicast[App | Ask | Tell]
    | Send[Part | Credit | Cannot]
    | PassUp[
        Deliver
        | ViewFormed
        | MarkState
        | ReadPart
        | FreeState
        | PutPart
        | StateSet
        | OwnIsInState
        | StateKept
        | StateDropped
        | NoState
        | StateDeclared
        | Full
        | Room
        | SafeUpTo
        | UnknownUpTo
    ]
    | SetTimer
)

# State --------------------------------------------------------------------------------------------


@frozen
class Held:
    """A message that waits for the state."""

    sender: Address
    number: int
    payload: Payload


@frozen
class Gift:
    """A transfer to a member: its attempt, the next part, the last part it has room for, what is seen."""

    attempt: int
    number: int
    credit: int
    seen: Seen


@final
@frozen
class Giving(PerMember[Gift]):
    """The members that this one provides."""


@frozen
class Given:
    """What PART says of the state that is coming."""

    seen: Seen
    declared: bool


@final
@frozen
class Told(PerMember[Standing]):
    """The standings that were told since the last decision."""


@frozen(slots=False)
class State:
    """The local state of the specification, field for field: `StateTransfer!Start` explains each."""

    member: Address
    view: View
    sent: int
    seen: Seen
    has: bool
    declared: bool
    name: Name
    formed: int
    base: int
    stood: int
    after: int
    upto: int
    settled: bool
    vacant: bool
    telling: bool
    declares: bool
    told: Told
    attempt: int
    provider: Address
    refused: frozenset[Address]
    marked: bool
    parts: int
    whole: bool
    given: Given
    held: tuple[Held, ...]
    bytes: int
    full: bool
    timer: bool
    soon: bool
    owes: bool
    came: int
    said: int
    safe: int
    giving: Giving


Transition: TypeAlias = tuple[State, tuple[Effect, ...]]

_NONE_SEEN: Final = Seen(())
_NOTHING_GIVEN: Final = Given(_NONE_SEEN, declared=False)
_NONE_TOLD: Final = Told(())
_NONE_REFUSED: Final[frozenset[Address]] = frozenset()


def start(member: Address) -> State:
    """Give a member before its first view. `StateTransfer!Start`."""
    return State(
        member=member,
        view=NO_VIEW,
        sent=0,
        seen=_NONE_SEEN,
        has=False,
        declared=False,
        name=(),
        formed=0,
        base=0,
        stood=0,
        after=0,
        upto=0,
        settled=True,
        vacant=False,
        telling=False,
        declares=False,
        told=_NONE_TOLD,
        attempt=0,
        provider=NOBODY,
        refused=_NONE_REFUSED,
        marked=False,
        parts=0,
        whole=False,
        given=_NOTHING_GIVEN,
        held=(),
        bytes=0,
        full=False,
        timer=False,
        soon=False,
        owes=False,
        came=0,
        said=0,
        safe=0,
        giving=Giving(()),
    )


def step(config: Config, state: State, event: Event) -> Transition:
    """Give the next state, and what is to be done, in order. `StateTransfer!Step`."""
    after, effects = _step_of(config, state, event)
    if isinstance(event, AppReceived | AskReceived | TellReceived) and event.sender == state.member:
        after = evolve(after, came=after.came + 1)  # whatever it does
    return after, effects


def _step_of(config: Config, state: State, event: Event) -> Transition:
    """Give the same, but for the count of own messages. `StateTransfer!StepOf`."""
    match event:
        case SendRequested(payload, size):
            if not state.has or state.vacant:
                raise LocalProtocolError(state, event, "a member multicasts while it has the state")
            number = state.sent + 1
            return evolve(state, sent=number), (Multicast(App(number, size, payload)),)
        case AppReceived():
            return _app_received(config, state, event)
        case AskReceived():
            return _ask_received(config, state, event)
        case TellReceived():
            return _tell_received(state, event)
        case PartRead():
            return _part_read(state, event)
        case PartFailed(to, attempt):
            if to not in state.giving or attempt != state.giving[to].attempt:
                return state, ()
            return evolve(state, giving=_without(state.giving, to)), (Send(to, Cannot(attempt)),)
        case PartReceived():
            return _part_received(state, event)
        case CreditReceived():
            return _credit_received(config, state, event)
        case CannotReceived(sender, message):
            if not _is_present(state, sender, message.attempt):
                return state, ()
            after = evolve(state, refused=state.refused | {sender})
            return _ask(config, after) if state.settled else _stop(after)
        case AskTimeout():
            return _ask_timeout(config, state)
        case SoonTimeout():
            return _soon_timeout(config, state)
        case DeclareRequested():
            return _declare_requested(state, event)
        case SafeUpTo(number) | UnknownUpTo(number):
            if number <= state.said:
                return state, ()
            if isinstance(event, SafeUpTo) and not state.settled:
                return evolve(state, safe=number), ()
            return evolve(state, said=number, safe=0), (PassUp(event),)
        case ViewFormed():
            return _view_formed(state, event)
        case ViewInstalled():
            return _view_installed(config, state, event)
        case _:
            assert_never(event)


# Asking -------------------------------------------------------------------------------------------


def _idle(state: State) -> State:
    """No transfer to this member. `StateTransfer!Idle`."""
    without = evolve(state, provider=NOBODY, marked=False, parts=0, whole=False, given=_NOTHING_GIVEN)
    return evolve(without, held=(), bytes=0, full=False)


def _makes_room(state: State) -> tuple[Effect, ...]:
    """Take multicasts again: the transfer ends. `StateTransfer!MakesRoom`."""
    return (PassUp(Room()),) if state.full else ()


def _stop(state: State) -> Transition:
    """End the transfer; the member asks when it is decided which state is kept. `StateTransfer!Stop`."""
    return _idle(state), _makes_room(state)


def _ask(config: Config, state: State, before: tuple[Effect, ...] = ()) -> Transition:
    """Ask the first member of the view that may have the state. `StateTransfer!Ask`."""
    idle, first = _idle(state), (*before, *_makes_room(state))
    for each in state.view.members:
        if each != state.member and each not in state.refused:
            attempt = state.attempt + 1
            return evolve(idle, attempt=attempt, provider=each), (*first, Multicast(Ask(each, attempt)))
    if _is_formed(state) and state.view.members == (state.member,) and not state.told:
        return _vacates(state), (*first, PassUp(NoState()))
    if _is_formed(state) and not state.told:
        choosing = _begins(state)
        return choosing, (*first, _tell(choosing))
    if state.timer:
        return idle, (*first, PassUp(NoState()))
    timer = SetTimer("ask", config.ask_time, config.ask_time)
    return evolve(idle, timer=True), (*first, PassUp(NoState()), timer)


def _sets_soon(state: State) -> tuple[Effect, ...]:
    """Multicast in a step of its own. `StateTransfer!SetsSoon`."""
    return () if state.soon else (SetTimer("soon", 0, 0),)


def _ask_soon(state: State, before: tuple[Effect, ...] = ()) -> Transition:
    """Ask in a step of its own. `StateTransfer!AskSoon`."""
    return evolve(_idle(state), soon=True), (*before, *_makes_room(state), *_sets_soon(state))


def _soon_timeout(config: Config, state: State) -> Transition:
    """Multicast what a message of the order has caused. `StateTransfer!SoonTimeout`."""
    if not state.soon:
        return state, ()
    after = evolve(state, soon=False, owes=False)
    if state.owes:
        return after, (_tell(state),)
    if state.has or not state.settled or state.provider != NOBODY or state.declares:
        return after, ()
    return _ask(config, after)


def _ask_timeout(config: Config, state: State) -> Transition:
    """Ask all members again, where none gave the state. `StateTransfer!AskTimeout`."""
    if not state.timer:
        return state, ()
    after = evolve(state, timer=False)
    if state.has or not state.settled or state.provider != NOBODY or state.declares:
        return after, ()
    return _ask(config, evolve(after, refused=_NONE_REFUSED))


def _is_present(state: State, sender: Address, attempt: int) -> bool:
    """Say whether a message is of the transfer that this member waits for. `StateTransfer!IsPresent`."""
    return not state.has and sender == state.provider and attempt == state.attempt


def _is_new(seen: Seen, sender: Address, number: int) -> bool:
    """Say whether a message is not among those that are seen. `StateTransfer!IsNew`."""
    return sender not in seen or number > seen[sender]


def _install_if_whole(state: State, before: tuple[Effect, ...]) -> Transition:
    """Set the state, and deliver the held messages that are not in it. `StateTransfer!InstallIfWhole`."""
    if not (state.whole and state.settled and state.marked):
        return state, before
    seen, fresh = state.given.seen, []
    own = seen.get(state.member)
    reports = (PassUp(OwnIsInState(own)),) if own is not None and _is_new(state.seen, state.member, own) else ()
    for each in state.held:
        if _is_new(seen, each.sender, each.number):
            seen = seen.put(each.sender, each.number)
            fresh.append(PassUp(Deliver(each.sender, each.payload)))
    after = evolve(_idle(state), has=True, seen=seen, declared=state.given.declared, refused=_NONE_REFUSED)
    return after, (*before, PassUp(StateSet()), *reports, *fresh, *_makes_room(state))


def _app_received(config: Config, state: State, event: AppReceived) -> Transition:
    """Deliver, hold or drop a message of the application. `StateTransfer!AppReceived`."""
    sender, message = event.sender, event.message
    if sender not in state.view.members or min(message.number, message.size) < 1:
        raise RemoteProtocolError(state, event, "a member of the view numbers its messages from 1, and each has bytes")
    if state.has:
        if not _is_new(state.seen, sender, message.number):
            return state, ()
        seen = state.seen.put(sender, message.number)
        return evolve(state, seen=seen), (PassUp(Deliver(sender, message.payload)),)
    if state.provider == NOBODY or not state.marked:
        return state, ()
    if state.bytes >= config.max_held:
        return _ask_soon(state) if state.settled else _stop(state)
    held = (*state.held, Held(sender, message.number, message.payload))
    size = state.bytes + message.size
    if size < config.full_at or state.full:
        return evolve(state, held=held, bytes=size), ()
    return evolve(state, held=held, bytes=size, full=True), (PassUp(Full()),)


def _ask_received(config: Config, state: State, event: AskReceived) -> Transition:
    """The cut: of the own ASK, or, for the provider that it names, of another's. `StateTransfer!AskReceived`."""
    sender, message = event.sender, event.message
    if sender not in state.view.members or message.provider == sender:
        raise RemoteProtocolError(state, event, "a member of the view asks another")
    if sender == state.member:
        if state.has or state.provider == NOBODY or state.marked or message.attempt != state.attempt:
            return state, ()
        stood = state.formed if _is_formed(state) else state.stood
        return _install_if_whole(evolve(state, marked=True, stood=stood), ())
    if message.provider != state.member:
        if sender not in state.giving:
            return state, ()
        return evolve(state, giving=_without(state.giving, sender)), (PassUp(FreeState(sender)),)
    if not state.settled and not state.vacant:  # who lacks a state asks again when it is decided which one is kept
        return state, ()
    if not state.has or state.vacant:
        return state, (Send(sender, Cannot(message.attempt)),)
    gift = Gift(message.attempt, 1, config.window, state.seen)
    return evolve(state, giving=state.giving.put(sender, gift)), (
        PassUp(MarkState(sender, message.attempt)),
        PassUp(ReadPart(sender, message.attempt, 1)),
    )


# Parts --------------------------------------------------------------------------------------------


def _without(giving: Giving, member: Address) -> Giving:
    return Giving(tuple(entry for entry in giving.entries if entry[0] != member))


def _part_read(state: State, event: PartRead) -> Transition:
    """Send a part, and read the next one where there is room for it. `StateTransfer!PartRead`."""
    if event.to not in state.giving:
        return state, ()
    gift = state.giving[event.to]
    if (event.attempt, event.number) != (gift.attempt, gift.number):
        return state, ()
    part = Send(event.to, Part(event.attempt, event.number, event.data, event.last, gift.seen, state.declared))
    if event.last:
        return evolve(state, giving=_without(state.giving, event.to)), (part,)
    after = evolve(state, giving=state.giving.put(event.to, _next(gift)))
    if event.number < gift.credit:
        return after, (part, PassUp(ReadPart(event.to, event.attempt, event.number + 1)))
    return after, (part,)


def _next(gift: Gift) -> Gift:
    return Gift(gift.attempt, gift.number + 1, gift.credit, gift.seen)


def _part_received(state: State, event: PartReceived) -> Transition:
    """Take the next part of the present attempt. `StateTransfer!PartReceived`."""
    message = event.message
    if message.number < 1:
        raise RemoteProtocolError(state, event, "parts are numbered from 1")
    present = _is_present(state, event.sender, message.attempt)
    if not present or message.number != state.parts + 1 or state.whole:
        return state, ()
    given = Given(message.seen, message.declared)
    took = evolve(state, parts=message.number, whole=message.last, given=given)
    put = PassUp(PutPart(message.number, message.data))
    if message.last:
        return _install_if_whole(took, (put,))
    return took, (put, Send(event.sender, Credit(message.attempt, message.number)))


def _credit_received(config: Config, state: State, event: CreditReceived) -> Transition:
    """The asker has room for more. `StateTransfer!CreditReceived`."""
    sender, message = event.sender, event.message
    if sender not in state.giving:
        return state, ()
    gift = state.giving[sender]
    credit = message.number + config.window
    if message.attempt != gift.attempt or credit <= gift.credit:
        return state, ()
    giving = state.giving.put(sender, Gift(gift.attempt, gift.number, credit, gift.seen))
    stalled = gift.number > gift.credit
    return evolve(state, giving=giving), ((PassUp(ReadPart(sender, gift.attempt, gift.number)),) if stalled else ())


# Views, and which state is kept where they merge --------------------------------------------------


def _name_after(state: State) -> Name:
    """Name the state that a member leaves its view with, or that is coming to it. `StateTransfer!NameAfter`."""
    if not state.has and not state.marked:
        return ()
    return (state.view.id,) if state.settled else (*state.name, state.view.id)


def _is_formed(state: State) -> bool:
    """Say whether this member knows that its view is formed. `StateTransfer!IsFormed`."""
    return state.view != NO_VIEW and state.formed == state.view.id.counter


def _stands(state: State) -> State:
    """Its view is formed: its state stands there, if it stood in the base. `StateTransfer!Stands`."""
    if not _is_formed(state):
        return state
    if state.vacant:
        after = state.after if state.upto == state.base else state.base
        return evolve(state, after=after, upto=state.formed)
    return evolve(state, stood=state.formed) if state.stood >= state.base else state


def _is_stale(state: State) -> bool:
    """Say whether all states are one, and not that of the primary. `StateTransfer!IsStale`."""
    return _is_formed(state) and state.settled and state.has and state.stood < state.base


def _begins(state: State) -> State:
    """Begin a choice of the state that is kept. `StateTransfer!Begins`."""
    name = () if not state.has else (state.view.id,) if state.settled else state.name
    return evolve(_idle(state), settled=False, vacant=False, telling=True, told=_NONE_TOLD, name=name)


def _vacates(state: State) -> State:
    """Its view has no state of the primary. `StateTransfer!Vacates`."""
    return _stands(evolve(_begins(state), telling=state.declares, vacant=True))


def _lacks_alone(state: State) -> bool:
    """Say whether no member of its view can give it a state. `StateTransfer!LacksAlone`."""
    return _is_formed(state) and state.view.members == (state.member,) and state.settled and not state.has


def _view_formed(state: State, event: ViewFormed) -> Transition:
    """Note that messages are ordered in this view, which may not be passed up yet. `StateTransfer!ViewFormed`."""
    counter = event.view_id.counter
    if counter <= state.formed or not 0 <= event.before < counter:
        raise LocalProtocolError(state, event, "views are formed by rising counters")
    after = _stands(evolve(state, formed=counter, base=event.before))
    if not _lacks_alone(after) and not _is_stale(after):
        return after, (PassUp(event),)
    return _vacates(after), (PassUp(event), PassUp(NoState()))


def _tell(state: State) -> Multicast[App | Ask | Tell]:
    """Tell the standing of this member. `StateTransfer!Tell`."""
    name, declared = state.name if state.has else (), state.declared or state.declares
    return Multicast(Tell(state.view.id, Standing(state.stood, name, declared, state.after, state.upto)))


def _freed(state: State, gone: frozenset[Address]) -> tuple[Effect, ...]:
    return tuple(PassUp(FreeState(each)) for each in state.view.members if each in state.giving and each in gone)


def _wanted(state: State, told: Told) -> int:
    """Give the counter of the last formed view before this one that was not vacant. `StateTransfer!Wanted`."""
    last = state.base if _is_formed(state) else 0
    while last and (vacant := [each.after for each in told.values() if each.after < last <= each.upto]):
        last = max(0, min(vacant))
    return last


def _kept_by(state: State, told: Told) -> frozenset[Address]:
    """Name the members that have the state that is kept; none: the view is vacant. `StateTransfer!KeptBy`."""
    counted = Counter(each.name for each in told.values())
    wanted = _wanted(state, told)
    named = [told[each] for each in state.view.members if told[each].name]
    declarers = [each for each in state.view.members if told[each].declared]
    kept = [each for each in named if not each.declared and each.stood >= wanted]
    if not kept and declarers:
        kept = [each for each in named if not each.declared] or named
    if not kept:
        return frozenset(declarers[:1])
    first = max(kept, key=lambda each: (each.stood, counted[each.name]))
    return frozenset(each for each, standing in told.items() if standing.name == first.name)


def _tell_received(state: State, event: TellReceived) -> Transition:
    """A member tells its state; after the last TELL it is decided which one is kept. `StateTransfer!TellReceived`."""
    sender, message = event.sender, event.message
    if message.view_id != state.view.id:
        return state, ()
    if sender not in state.view.members:
        raise RemoteProtocolError(state, event, "a member of the view tells")
    after = state
    room: tuple[Effect, ...] = ()
    tells: tuple[Effect, ...] = ()
    if state.settled or state.vacant:
        tells_soon = not state.telling
        after = evolve(_begins(state), owes=tells_soon, soon=state.soon or tells_soon)
        room = _makes_room(state)
        tells = _sets_soon(state) if tells_soon else ()
    elif sender in state.told:
        return state, ()
    told = after.told.put(sender, message.standing)
    heard = evolve(after, told=told, telling=after.telling and sender != state.member)
    if len(told) < len(state.view.members):
        return heard, (*room, *tells)
    decided, effects = _decided(heard, told)
    if state.safe and decided.settled:
        return evolve(decided, said=state.safe, safe=0), (*room, *effects, PassUp(SafeUpTo(state.safe)))
    return decided, (*room, *effects)


def _decided(state: State, told: Told) -> Transition:
    """Keep one state, which members without it ask for; or find the view vacant. `StateTransfer!Decided`."""
    holders, wanted = _kept_by(state, told), _wanted(state, told)
    if not holders:
        none = evolve(state, vacant=True, telling=False, declares=False)
        return evolve(none, after=wanted, upto=state.formed) if _is_formed(state) else none, (PassUp(NoState()),)
    stood = state.formed if _is_formed(state) else state.stood
    done = evolve(state, settled=True, telling=False, declares=False, refused=_NONE_REFUSED, stood=stood)
    if state.member in holders:
        if state.has and (state.declared or any(told[each].stood >= wanted for each in holders)):
            return done, (PassUp(StateKept()),)
        return evolve(done, has=True, declared=True), (PassUp(StateDeclared()),)
    if state.marked and state.provider in holders and told[state.provider].name == state.name:
        return _install_if_whole(done, ())  # the state that is coming is the one that is kept
    lacks = evolve(done, has=False, declared=False, refused=frozenset(told) - holders, giving=Giving(()))
    freed = _freed(state, frozenset(state.giving))
    return _ask_soon(lacks, (*freed, PassUp(StateDropped())) if state.has else freed)


def _declare_requested(state: State, event: DeclareRequested) -> Transition:
    """Begin a choice, in which this member declares a state. `StateTransfer!DeclareRequested`."""
    lacks = state.settled and not state.has and state.provider == NOBODY
    if state.view == NO_VIEW or state.declares or not (lacks or state.vacant):
        raise LocalProtocolError(state, event, "a member declares a state, once, after NoState")
    after = evolve(state, declares=True, telling=True, name=state.name if state.has else ())
    return after, (_tell(after),)


def _view_installed(config: Config, state: State, event: ViewInstalled) -> Transition:
    """Begin with the state as founder; tell where views merge; or ask again. `StateTransfer!ViewInstalled`."""
    now = event.view.member_set
    if state.member not in now or event.view.id.counter <= state.view.id.counter:
        raise LocalProtocolError(state, event, "views are installed at their members, by rising counters")
    alone, merges = now == {state.member}, isinstance(event, MergeViewInstalled)
    vacant = state.vacant and not merges
    unsettled = not alone and not vacant and (merges or not state.settled)
    staying = Giving(tuple(entry for entry in state.giving.entries if entry[0] in now))
    entered = evolve(
        state,
        view=event.view,
        seen=state.seen.latest(now),
        has=state.has or (alone and state.view == NO_VIEW),
        name=_name_after(state),
        settled=not unsettled and not vacant,
        vacant=vacant,
        telling=unsettled,
        owes=False,
        said=state.said if state.settled else max(state.said, state.came),
        safe=0,
        declares=False,
        told=_NONE_TOLD,
        refused=_NONE_REFUSED,
        giving=staying,
    )
    entered = _stands(entered)
    unknown = (PassUp(UnknownUpTo(entered.said)),) if entered.said > state.said else ()
    freed = (*unknown, *_freed(state, frozenset(state.giving) - now))
    if unsettled:
        if state.marked and state.provider in now:  # perhaps its state is kept
            return entered, (*freed, _tell(entered))
        return _idle(entered), (*freed, *_makes_room(state), _tell(entered))
    if _is_stale(entered):
        return _vacates(entered), (*freed, PassUp(NoState()))
    if entered.has or vacant:
        decides = entered.settled and not (state.has and state.settled)  # a founder, or alone where a choice was open
        return _idle(entered), (*freed, PassUp(StateKept())) if decides else freed
    if state.provider in now:
        return entered, freed
    return _ask(config, entered, freed)
