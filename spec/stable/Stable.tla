------------------------------- MODULE Stable -------------------------------
(******************************************************************************)
(* STABLE, one member: a pure function of its own state and an event.         *)
(*                                                                            *)
(* Theory. A member may purge a multicast once every member of its view has   *)
(* delivered it. Each member votes: it multicasts the highest seqnos it has   *)
(* delivered (STABLE). Every member keeps the minimum of the votes of a round *)
(* and the list of members whose vote is missing. When the list is empty the  *)
(* minimum is stable, and after a random delay the member announces it        *)
(* (STABILITY), unless another member was faster. On STABILITY every member   *)
(* purges and starts a new round.                                             *)
(*                                                                            *)
(* Why it is safe. Within one view a member's delivered seqnos only grow. So  *)
(* every vote it ever cast in the view, however old, duplicated or late, is a *)
(* lower bound of its deliveries now. A minimum with a vote of every member   *)
(* of the view in it is therefore delivered everywhere. Two things break that *)
(* chain, and the guards below are about them:                                *)
(* - A vote of another view: its author may be another incarnation, or its    *)
(*   members others. So messages carry the view's identifier, and a view      *)
(*   change is a new round.                                                   *)
(* - A process from outside the group, a joiner or the other side of a merge, *)
(*   starts from a digest. A member took that digest while its view was still *)
(*   voting. That digest is a promise: until a view with the newcomer is      *)
(*   installed, or the promise is withdrawn, the promiser does not raise its  *)
(*   vote. Agreement in each view on the way needs that vote, so it cannot    *)
(*   pass the newcomer's start digest. Views without the newcomer change      *)
(*   nothing about that.                                                      *)
(*                                                                            *)
(* The guards have the values of the repaired algorithm. A model of its own   *)
(* takes each away. The note's algorithm as written is in NoteStable.         *)
(******************************************************************************)
EXTENDS Steps, Views, Digests, FiniteSets

CONSTANTS
    MaxBytes,               \* received bytes that make a member vote; 0: only the timer does
    StableInterval,         \* time between votes, ms
    StabilityDelay          \* longest delay of a STABILITY message, ms

(* Guards: conditions of the algorithm. A model may take one away, or give it another value. *)
VoteViewCheck == "id"          \* a vote counts in its own view ("id"), in a view with its counter ("counter"), in a
                               \* view with its members ("members"), or in any view ("none")
StabilityViewCheck == "id"     \* and a STABILITY message
ForeignVote == "ignored"       \* a vote of another view: "ignored", or "resets" the round
SenderCheck == TRUE            \* a message of the view from outside the view is refused
ResetOnView == TRUE            \* a view change starts a new round
DropPendingOnView == TRUE      \* a view change drops the pending STABILITY
DropPendingOnStability == TRUE \* a STABILITY message drops the pending one
NewRoundOnStability == TRUE    \* a STABILITY message starts a new round
HoldVote == "until_redeemed"   \* a promised digest holds the vote "until_redeemed", "until_a_view" or not: "never"
MergeRule == "min"             \* "min", or "max"
HeardFromKind == "set"         \* "set", or "count"
VoteSource == "delivered"      \* "delivered", or "received"

ASSUME
    /\ {VoteViewCheck, StabilityViewCheck} \subseteq {"id", "counter", "members", "none"}
    /\ ForeignVote \in {"ignored", "resets"}
    /\ {SenderCheck, ResetOnView, DropPendingOnView, DropPendingOnStability, NewRoundOnStability}
        \subseteq BOOLEAN
    /\ HoldVote \in {"until_redeemed", "until_a_view", "never"}
    /\ MergeRule \in {"min", "max"}
    /\ HeardFromKind \in {"set", "count"}
    /\ VoteSource \in {"delivered", "received"}
    /\ {MaxBytes, StableInterval, StabilityDelay} \subseteq Nat

-----------------------------------------------------------------------------
(* Messages, and effects of this protocol alone *)

StableMessage(view_id, vector) == [type |-> "STABLE", view_id |-> view_id, digest |-> vector]
StabilityMessage(view_id, vector) == [type |-> "STABILITY", view_id |-> view_id, digest |-> vector]

PurgeUpTo(vector) == PassDown([type |-> "Purge", digest |-> vector])
SetStableTimer == SetTimer("stable", StableInterval, StableInterval)
SetStabilityTimer == SetTimer("stability", 0, StabilityDelay)
CancelStabilityTimer == CancelTimer("stability")

-----------------------------------------------------------------------------
(* State *)

EmptyVector == [m \in {} |-> Nothing]

\* A member before its first view.
Start(member) ==
    [member |-> member,         \* this member's address
     view |-> NoView,           \* the view installed
     vote |-> EmptyVector,      \* what it votes in this round
     minimum |-> EmptyVector,   \* the running minimum of the votes counted in this round
     heard_from |-> {},         \* the members whose vote this round still lacks (the note's name)
     pending |-> FALSE,         \* a STABILITY message waits for its delay to pass
     received_bytes |-> 0,      \* multicast bytes received since the last own vote
     promised |-> {}]           \* who has our digest, and is in no view that we have installed since

Joined(state) == state.view # NoView

OwnVector(digest) == IF VoteSource = "delivered" THEN Delivered(digest) ELSE Received(digest)

\* STB-06, STB-18.
NewRound(state, vote) ==
    [state EXCEPT !.vote = vote, !.minimum = vote, !.heard_from = MembersOf(state.view)]

\* A vector for these members: what it had stays, the others' is as in `fresh`.
Extended(vector, fresh) == [m \in DOMAIN fresh |-> IF m \in DOMAIN vector THEN vector[m] ELSE fresh[m]]

\* Strike a voter off. If the list were a count, a second vote would look like another member's.
Strike(heard_from, sender) ==
    IF HeardFromKind = "set" \/ heard_from = {}
    THEN heard_from \ {sender}
    ELSE heard_from \ {CHOOSE m \in heard_from : TRUE}

Merged(v, w) == IF MergeRule = "min" THEN MinVector(v, w) ELSE MaxVector(v, w)

CancelIf(pending) == IF pending THEN <<CancelStabilityTimer>> ELSE <<>>

\* Was this message sent in our view, as far as `check` asks?
OfView(check, s, message) ==
    CASE check = "id" -> message.view_id = s.view.id
      [] check = "counter" -> message.view_id.counter = s.view.id.counter
      [] check = "members" -> DOMAIN message.digest = MembersOf(s.view)
      [] check = "none" -> TRUE

\* May this member have sent this message in our view? (A peer that says so and is not in the view erred.)
FromView(check, s, e) ==
    \/ ~SenderCheck
    \/ check = "none"
    \/ e.sender \in MembersOf(s.view) /\ DOMAIN e.message.digest = MembersOf(s.view)

-----------------------------------------------------------------------------
(* One operator an event, in the order of the theory *)

\* STB-19, STB-06: a new view is a new round; what was counted or pending belonged to the old one. Any member that has
\* our digest and is in the view votes for itself from now on. For the others the vote stays where it was.
ViewInstalled(s, e) ==
    IF s.member \notin MembersOf(e.view) \/ DOMAIN e.digest # MembersOf(e.view) THEN LocalError(s)
    ELSE IF e.view.id.counter <= s.view.id.counter THEN Ignored(s)
    ELSE
    LET fresh == OwnVector(e.digest)
        waiting == IF HoldVote = "until_a_view" THEN {} ELSE s.promised \ MembersOf(e.view)
        held == waiting # {} /\ HoldVote # "never"
        entered == [s EXCEPT !.view = e.view, !.promised = waiting, !.received_bytes = 0]
        drop == s.pending /\ DropPendingOnView
        round == IF ~Joined(s) \/ ResetOnView
                 THEN NewRound(entered, IF held THEN Extended(s.vote, fresh) ELSE fresh)
                 ELSE [entered EXCEPT !.vote = Extended(@, fresh), !.minimum = Extended(@, fresh)]
    IN Handled([round EXCEPT !.pending = @ /\ ~drop], CancelIf(drop) \o <<SetStableTimer>>)

\* STB-03: the vote goes out periodically. It is the vote fixed at the start of the round (AMB-51).
StableTimeout(s, e) ==
    IF ~Joined(s) THEN LocalError(s)
    ELSE Handled([s EXCEPT !.received_bytes = 0],
                 <<Datagram(All, StableMessage(s.view.id, s.vote)), SetStableTimer>>)

\* STB-04, AMB-57: the vote goes out after a number of received bytes as well.
MessageReceived(s, e) ==
    IF ~Joined(s) THEN LocalError(s)
    ELSE IF MaxBytes = 0 THEN Ignored(s)
    ELSE IF s.received_bytes + e.size < MaxBytes
         THEN Handled([s EXCEPT !.received_bytes = @ + e.size], <<>>)
    ELSE Handled([s EXCEPT !.received_bytes = 0], <<Datagram(All, StableMessage(s.view.id, s.vote))>>)

\* STB-05, STB-07, STB-08: merge, then strike off; the last vote arms the staggered STABILITY (STB-09).
\* A second vote in the same round adds nothing: the first is a lower bound already.
StableReceived(s, e) ==
    IF ~Joined(s) THEN Ignored(s)
    ELSE IF ~OfView(VoteViewCheck, s, e.message) THEN
        IF ForeignVote = "ignored" THEN Ignored(s)
        ELSE Handled([s EXCEPT !.heard_from = MembersOf(s.view), !.pending = FALSE], CancelIf(s.pending))
    ELSE IF ~FromView(VoteViewCheck, s, e) THEN RemoteError(s)
    ELSE IF HeardFromKind = "set" /\ e.sender \notin s.heard_from THEN Ignored(s)
    ELSE
    LET heard == Strike(s.heard_from, e.sender)
        complete == s.heard_from # {} /\ heard = {}
    IN Handled([s EXCEPT !.minimum = Merged(@, e.message.digest),
                         !.heard_from = heard,
                         !.pending = @ \/ complete],
               IF complete THEN <<SetStabilityTimer>> ELSE <<>>)

\* STB-09: the delay has passed and no member was faster.
StabilityTimeout(s, e) ==
    IF ~s.pending THEN Ignored(s)
    ELSE Handled([s EXCEPT !.pending = FALSE], <<Datagram(All, StabilityMessage(s.view.id, s.minimum))>>)

\* STB-10, STB-11, STB-18: all agreed. Purge, drop the own pending announcement, begin again.
StabilityReceived(s, e) ==
    IF ~Joined(s) \/ ~OfView(StabilityViewCheck, s, e.message) THEN Ignored(s)
    ELSE IF ~FromView(StabilityViewCheck, s, e) THEN RemoteError(s)
    ELSE IF DOMAIN e.digest # MembersOf(s.view) THEN LocalError(s)
    ELSE
    LET drop == s.pending /\ DropPendingOnStability
        held == s.promised # {} /\ HoldVote # "never"
        settled == [s EXCEPT !.pending = @ /\ ~drop]
    IN Handled(IF NewRoundOnStability
               THEN NewRound(settled, IF held THEN s.vote ELSE OwnVector(e.digest))
               ELSE settled,
               <<PurgeUpTo(e.message.digest)>> \o CancelIf(drop))

\* This member's digest was given to `to`, to start from (JOI-03, JOI-05): the vote stays as it is. No note
\* says so. `to` is outside the view: a former incarnation of it has to be excluded first, or the next view would be
\* taken for the view that `to` joins with.
DigestPromised(s, e) ==
    IF ~Joined(s) \/ e.to \in MembersOf(s.view) THEN LocalError(s)
    ELSE IF e.to \in s.promised THEN Ignored(s)
    ELSE Handled([s EXCEPT !.promised = @ \cup {e.to}], <<>>)

\* No view with `to` and that digest will be installed by any member.
PromiseWithdrawn(s, e) ==
    IF e.to \notin s.promised THEN Ignored(s)
    ELSE Handled([s EXCEPT !.promised = @ \ {e.to}], <<>>)

-----------------------------------------------------------------------------
(* Step: total over the alphabet *)

Step(s, e) ==
    CASE e.type = "ViewInstalled" -> ViewInstalled(s, e)
      [] e.type = "StableTimeout" -> StableTimeout(s, e)
      [] e.type = "MessageReceived" -> MessageReceived(s, e)
      [] e.type = "StableReceived" -> StableReceived(s, e)
      [] e.type = "StabilityTimeout" -> StabilityTimeout(s, e)
      [] e.type = "StabilityReceived" -> StabilityReceived(s, e)
      [] e.type = "DigestPromised" -> DigestPromised(s, e)
      [] e.type = "PromiseWithdrawn" -> PromiseWithdrawn(s, e)
=============================================================================
