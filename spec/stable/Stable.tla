------------------------------- MODULE Stable -------------------------------
(***************************************************************************)
(* STABLE, one member: a pure function of its own state and an event.      *)
(*                                                                         *)
(* Theory. A member may throw a multicast away once every member of its    *)
(* view has delivered it. Each member votes: it multicasts the highest     *)
(* seqnos it has delivered (STABLE). Every member keeps the minimum of the *)
(* votes of a round and the list of members it has not heard from; with    *)
(* the list empty the minimum is stable, and after a random delay the      *)
(* member announces it (STABILITY), unless another was faster. On          *)
(* STABILITY everybody purges and starts a new round.                      *)
(*                                                                         *)
(* Why it is safe. Within one view a member's delivered seqnos only grow,  *)
(* so every vote it ever cast in the view, however old, duplicated or late,*)
(* is a lower bound of what it has delivered now. A minimum with a vote of *)
(* every member of the view in it is therefore delivered everywhere. Two   *)
(* things break that chain, and the guards below are about them: a vote of *)
(* another view (its author may be another incarnation, or its members     *)
(* others), and a joiner, who starts from a digest that was taken while    *)
(* the old view was still collecting.                                      *)
(*                                                                         *)
(* Variant "repaired" is the reference; "note" is pbcast DESIGN, "STABLE   *)
(* protocol", as written, with its documented fix and later ones as        *)
(* switches. Every other constant of the first group is a guard of the     *)
(* repaired variant; models.yaml sets them all on.                         *)
(***************************************************************************)
EXTENDS Views, Digests, FiniteSets

CONSTANTS
    Variant,                \* "repaired", or "note"
    VoteViewCheck,          \* a vote counts in: "id" its view; "members" any view with its members; "none" any
    ForeignVote,            \* a vote of another view: "ignored", or "resets" the round
    StabilityViewCheck,     \* STABILITY of another view is ignored
    SenderCheck,            \* a message of the view from outside the view is refused
    ResetOnView,            \* a view change starts a new round
    DropPendingOnView,      \* a view change drops the pending STABILITY
    DropPendingOnStability, \* a STABILITY message drops the pending one
    NewRoundOnStability,    \* a STABILITY message starts a new round
    HoldVote,               \* the vote stays while a joiner has our digest and not yet our view
    MergeRule,              \* "min", or "max"
    HeardFromAs,            \* "set", or "count"
    VoteOf,                 \* "delivered", or "received"
    NoteReset,              \* note: heard_from is reset by "none", "foreign" votes, "foreign_and_view"
    NoteKeepsMinimum,       \* note: re-reading the own digest keeps the running minimum
    MaxBytes,               \* received bytes that make a member vote; 0: only the timer does
    StableInterval,         \* time between votes, ms
    StabilityDelay          \* longest delay of a STABILITY message, ms

ASSUME
    /\ Variant \in {"repaired", "note"}
    /\ VoteViewCheck \in {"id", "members", "none"}
    /\ ForeignVote \in {"ignored", "resets"}
    /\ {StabilityViewCheck, SenderCheck, ResetOnView, DropPendingOnView, DropPendingOnStability,
        NewRoundOnStability, HoldVote, NoteKeepsMinimum} \subseteq BOOLEAN
    /\ MergeRule \in {"min", "max"}
    /\ HeardFromAs \in {"set", "count"}
    /\ VoteOf \in {"delivered", "received"}
    /\ NoteReset \in {"none", "foreign", "foreign_and_view"}
    /\ {MaxBytes, StableInterval, StabilityDelay} \subseteq Nat

-----------------------------------------------------------------------------
(* Messages and effects *)

StableMessage(view_id, vector) == [type |-> "STABLE", view_id |-> view_id, digest |-> vector]
StabilityMessage(view_id, vector) == [type |-> "STABILITY", view_id |-> view_id, digest |-> vector]

Multicast(message) == [type |-> "Multicast", message |-> message]
PassDownPurge(vector) == [type |-> "PassDown", event |-> [type |-> "Purge", digest |-> vector]]
SetStableTimer == [type |-> "SetTimer", name |-> "stable", low |-> StableInterval, high |-> StableInterval]
SetStabilityTimer == [type |-> "SetTimer", name |-> "stability", low |-> 0, high |-> StabilityDelay]
CancelStabilityTimer == [type |-> "CancelTimer", name |-> "stability"]

Handled(state, effects) == [outcome |-> "handled", state |-> state, effects |-> effects]
Ignored(state) == [outcome |-> "ignored", state |-> state, effects |-> <<>>]
LocalError(state) == [outcome |-> "local_error", state |-> state, effects |-> <<>>]
RemoteError(state) == [outcome |-> "remote_error", state |-> state, effects |-> <<>>]

-----------------------------------------------------------------------------
(* State *)

EmptyVector == [m \in {} |-> Nothing]

\* A member before its first view.
Start(member) ==
    [member |-> member,           \* this member's address
     view |-> NoView,           \* the view installed
     vote |-> EmptyVector,      \* what it votes in this round
     minimum |-> EmptyVector,   \* the running minimum of the votes counted in this round
     heard_from |-> {},         \* the members whose vote this round still lacks (the note's name)
     pending |-> FALSE,         \* a STABILITY message waits for its delay to pass
     bytes |-> 0,               \* multicast bytes received since the last own vote
     held |-> FALSE]            \* a joiner was given our digest and the view with it is not installed

Joined(state) == state.view # NoView

OwnVector(digest) == IF VoteOf = "delivered" THEN Delivered(digest) ELSE Received(digest)

NewRound(state, vote) ==
    [state EXCEPT !.vote = vote, !.minimum = vote, !.heard_from = MembersOf(state.view)]

\* Strike a voter off. Kept as a count, the list cannot tell a second vote from another member's.
Strike(heard_from, from) ==
    IF HeardFromAs = "set" \/ heard_from = {}
    THEN heard_from \ {from}
    ELSE heard_from \ {CHOOSE m \in heard_from : TRUE}

Merged(v, w) == IF MergeRule = "min" THEN MinVector(v, w) ELSE MaxVector(v, w)

CancelIf(pending) == IF pending THEN <<CancelStabilityTimer>> ELSE <<>>

-----------------------------------------------------------------------------
(* One operator an event, in the order of the theory *)

\* STB-19, STB-06: a new view is a new round; what was counted or pending belonged to the old one.
ViewInstalled(s, e) ==
    IF s.member \notin MembersOf(e.view) \/ DOMAIN e.digest # MembersOf(e.view) THEN LocalError(s)
    ELSE IF e.view.id.counter <= s.view.id.counter THEN Ignored(s)
    ELSE
    LET fresh == OwnVector(e.digest)
        first == ~Joined(s)
        entered == [s EXCEPT !.view = e.view, !.held = FALSE, !.bytes = 0]
        extended(v) == [m \in MembersOf(e.view) |-> IF m \in DOMAIN v THEN v[m] ELSE fresh[m]]
        reset == first \/ ResetOnView
        drop == s.pending /\ DropPendingOnView
        round == IF reset THEN NewRound(entered, fresh)
                 ELSE [entered EXCEPT !.vote = extended(@), !.minimum = extended(@)]
    IN Handled([round EXCEPT !.pending = @ /\ ~drop],
               CancelIf(drop) \o <<SetStableTimer>>)

\* STB-03: the vote goes out periodically. It is the one fixed at the start of the round (AMB-51).
StableTimeout(s, e) ==
    IF ~Joined(s) THEN LocalError(s)
    ELSE Handled([s EXCEPT !.bytes = 0],
                 <<Multicast(StableMessage(s.view.id, s.vote)), SetStableTimer>>)

\* STB-04, AMB-57: the vote goes out after a number of received bytes as well.
MessageReceived(s, e) ==
    IF ~Joined(s) THEN LocalError(s)
    ELSE IF MaxBytes = 0 THEN Ignored(s)
    ELSE IF s.bytes + e.bytes < MaxBytes THEN Handled([s EXCEPT !.bytes = @ + e.bytes], <<>>)
    ELSE Handled([s EXCEPT !.bytes = 0], <<Multicast(StableMessage(s.view.id, s.vote))>>)

SameView(s, message) ==
    CASE VoteViewCheck = "id" -> message.view_id = s.view.id
      [] VoteViewCheck = "members" -> DOMAIN message.digest = MembersOf(s.view)
      [] VoteViewCheck = "none" -> TRUE

\* May this member have sent this message in our view? (A peer that says so and is not in the view erred.)
FromView(s, e) ==
    \/ ~SenderCheck
    \/ e.sender \in MembersOf(s.view) /\ DOMAIN e.message.digest = MembersOf(s.view)
    \/ VoteViewCheck = "none"

\* STB-05, STB-07, STB-08: merge, then strike off; the last vote arms the staggered STABILITY (STB-09).
StableReceived(s, e) ==
    IF ~Joined(s) THEN Ignored(s)
    ELSE IF ~SameView(s, e.message) THEN
        IF ForeignVote = "ignored" THEN Ignored(s)
        ELSE Handled([s EXCEPT !.heard_from = MembersOf(s.view), !.pending = FALSE], CancelIf(s.pending))
    ELSE IF ~FromView(s, e) THEN RemoteError(s)
    ELSE IF HeardFromAs = "set" /\ e.sender \notin s.heard_from THEN Ignored(s)
    ELSE
    LET heard == Strike(s.heard_from, e.sender)
        complete == s.heard_from # {} /\ heard = {}
    IN Handled([s EXCEPT !.minimum = Merged(@, e.message.digest),
                         !.heard_from = heard,
                         !.pending = @ \/ complete],
               IF complete THEN <<SetStabilityTimer>> ELSE <<>>)

\* STB-09: the delay has passed and nobody was faster.
StabilityTimeout(s, e) ==
    IF ~s.pending THEN Ignored(s)
    ELSE Handled([s EXCEPT !.pending = FALSE], <<Multicast(StabilityMessage(s.view.id, s.minimum))>>)

\* STB-10, STB-11, STB-18: all agreed. Purge, drop the own pending announcement, begin again.
StabilityReceived(s, e) ==
    IF ~Joined(s) \/ (StabilityViewCheck /\ e.message.view_id # s.view.id) THEN Ignored(s)
    ELSE IF StabilityViewCheck /\ ~FromView(s, e) THEN RemoteError(s)
    ELSE IF DOMAIN e.digest # MembersOf(s.view) THEN LocalError(s)
    ELSE
    LET drop == s.pending /\ DropPendingOnStability
        vote == IF s.held /\ HoldVote THEN s.vote ELSE OwnVector(e.digest)
        settled == [s EXCEPT !.pending = @ /\ ~drop]
    IN Handled(IF NewRoundOnStability THEN NewRound(settled, vote) ELSE settled,
               <<PassDownPurge(e.message.digest)>> \o CancelIf(drop))

\* A joiner was given this member's digest as its starting point (JOI-03, JOI-05). Until the view with
\* the joiner is installed, this member is the joiner's proxy in the old view: it must not vote for more
\* than the joiner was told, or the old view collects what the joiner will ask for. No note says so.
JoinerDigestTaken(s, e) ==
    IF ~Joined(s) THEN LocalError(s)
    ELSE IF s.held THEN Ignored(s)
    ELSE Handled([s EXCEPT !.held = TRUE], <<>>)

\* The joiner gave up, or died, before any view with it existed.
JoinAbandoned(s, e) ==
    IF ~s.held THEN Ignored(s)
    ELSE Handled([s EXCEPT !.held = FALSE], <<>>)

-----------------------------------------------------------------------------
(* The note's variant: one digest, re-read at each vote and merged in place; no view identifiers.  *)
(* `minimum` is the note's digest, `vote` is not used.                                             *)

NoteViewInstalled(s, e) ==
    IF s.member \notin MembersOf(e.view) \/ DOMAIN e.digest # MembersOf(e.view) THEN LocalError(s)
    ELSE IF e.view.id.counter <= s.view.id.counter THEN Ignored(s)
    ELSE IF ~Joined(s) \/ NoteReset = "foreign_and_view"
    THEN Handled([s EXCEPT !.view = e.view, !.minimum = OwnVector(e.digest),
                           !.heard_from = MembersOf(e.view), !.pending = FALSE],
                 CancelIf(s.pending) \o <<SetStableTimer>>)
    ELSE Handled([s EXCEPT !.view = e.view], <<SetStableTimer>>)

NoteStableTimeout(s, e) ==
    IF ~Joined(s) THEN LocalError(s)
    ELSE
    LET fresh == OwnVector(e.digest)
        own == IF NoteKeepsMinimum THEN MinVector(fresh, s.minimum) ELSE fresh
    IN Handled([s EXCEPT !.minimum = own], <<Multicast(StableMessage(NoViewId, own)), SetStableTimer>>)

\* STB-13, STB-14: the documented fix compares with the own digest, and only digests that are received.
NoteStableReceived(s, e) ==
    IF ~Joined(s) THEN Ignored(s)
    ELSE IF NoteReset # "none" /\ DOMAIN e.message.digest # DOMAIN s.minimum
    THEN Handled([s EXCEPT !.heard_from = MembersOf(s.view), !.pending = FALSE], CancelIf(s.pending))
    ELSE
    LET heard == s.heard_from \ {e.sender}
        complete == s.heard_from # {} /\ heard = {}
    IN Handled([s EXCEPT !.minimum = MinVector(@, e.message.digest),
                         !.heard_from = heard,
                         !.pending = @ \/ complete],
               IF complete THEN <<SetStabilityTimer>> ELSE <<>>)

NoteStabilityTimeout(s, e) ==
    IF ~s.pending THEN Ignored(s)
    ELSE Handled([s EXCEPT !.pending = FALSE], <<Multicast(StabilityMessage(NoViewId, s.minimum))>>)

NoteStabilityReceived(s, e) ==
    IF ~Joined(s) THEN Ignored(s)
    ELSE Handled([s EXCEPT !.minimum = OwnVector(e.digest),
                           !.heard_from = MembersOf(s.view), !.pending = FALSE],
                 <<PassDownPurge(e.message.digest)>> \o CancelIf(s.pending))

-----------------------------------------------------------------------------
(* Step: total over the alphabet *)

RepairedStep(s, e) ==
    CASE e.type = "ViewInstalled" -> ViewInstalled(s, e)
      [] e.type = "StableTimeout" -> StableTimeout(s, e)
      [] e.type = "MessageReceived" -> MessageReceived(s, e)
      [] e.type = "StableReceived" -> StableReceived(s, e)
      [] e.type = "StabilityTimeout" -> StabilityTimeout(s, e)
      [] e.type = "StabilityReceived" -> StabilityReceived(s, e)
      [] e.type = "JoinerDigestTaken" -> JoinerDigestTaken(s, e)
      [] e.type = "JoinAbandoned" -> JoinAbandoned(s, e)

NoteStep(s, e) ==
    CASE e.type = "ViewInstalled" -> NoteViewInstalled(s, e)
      [] e.type = "StableTimeout" -> NoteStableTimeout(s, e)
      [] e.type = "MessageReceived" -> Ignored(s)
      [] e.type = "StableReceived" -> NoteStableReceived(s, e)
      [] e.type = "StabilityTimeout" -> NoteStabilityTimeout(s, e)
      [] e.type = "StabilityReceived" -> NoteStabilityReceived(s, e)
      [] e.type = "JoinerDigestTaken" -> Ignored(s)
      [] e.type = "JoinAbandoned" -> Ignored(s)

Step(s, e) == IF Variant = "note" THEN NoteStep(s, e) ELSE RepairedStep(s, e)
=============================================================================
