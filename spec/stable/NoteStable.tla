----------------------------- MODULE NoteStable -----------------------------
(***************************************************************************)
(* STABLE as the note has it (pbcast DESIGN, "STABLE protocol"): one       *)
(* digest, read again at each vote and merged in place; no identifiers of  *)
(* views in messages. Its documented fix, and what it would take besides,  *)
(* are switches. Events and effects are those of Stable; of the state,     *)
(* `minimum` is the note's digest, and `vote` and `promised` are not used. *)
(***************************************************************************)
EXTENDS Stable

CONSTANTS
    NoteReset,              \* heard_from is reset by "none", "foreign" votes, "foreign_and_view" changes too
    NoteKeepsMinimum        \* reading the own digest again keeps the running minimum

ASSUME
    /\ NoteReset \in {"none", "foreign", "foreign_and_view"}
    /\ NoteKeepsMinimum \in BOOLEAN

LOCAL NoteViewInstalled(s, e) ==
    IF s.member \notin MembersOf(e.view) \/ DOMAIN e.digest # MembersOf(e.view) THEN LocalError(s)
    ELSE IF e.view.id.counter <= s.view.id.counter THEN Ignored(s)
    ELSE IF ~Joined(s) \/ NoteReset = "foreign_and_view"
    THEN Handled([s EXCEPT !.view = e.view, !.minimum = Delivered(e.digest),
                           !.heard_from = MembersOf(e.view), !.pending = FALSE],
                 CancelIf(s.pending) \o <<SetStableTimer>>)
    ELSE Handled([s EXCEPT !.view = e.view], <<SetStableTimer>>)

\* The digest is read again, and is what is merged into from now on.
LOCAL NoteStableTimeout(s, e) ==
    IF ~Joined(s) THEN LocalError(s)
    ELSE
    LET fresh == Delivered(e.digest)
        own == IF NoteKeepsMinimum THEN MinVector(fresh, s.minimum) ELSE fresh
    IN Handled([s EXCEPT !.minimum = own], <<Datagram(All, StableMessage(NoViewId, own)), SetStableTimer>>)

\* STB-13, STB-14: the documented fix compares with the own digest, and only digests that are received.
LOCAL NoteStableReceived(s, e) ==
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

LOCAL NoteStabilityTimeout(s, e) ==
    IF ~s.pending THEN Ignored(s)
    ELSE Handled([s EXCEPT !.pending = FALSE], <<Datagram(All, StabilityMessage(NoViewId, s.minimum))>>)

LOCAL NoteStabilityReceived(s, e) ==
    IF ~Joined(s) THEN Ignored(s)
    ELSE Handled([s EXCEPT !.minimum = Delivered(e.digest),
                           !.heard_from = MembersOf(s.view), !.pending = FALSE],
                 <<PurgeUpTo(e.message.digest)>> \o CancelIf(s.pending))

NoteStep(s, e) ==
    CASE e.type = "ViewInstalled" -> NoteViewInstalled(s, e)
      [] e.type = "StableTimeout" -> NoteStableTimeout(s, e)
      [] e.type = "StableReceived" -> NoteStableReceived(s, e)
      [] e.type = "StabilityTimeout" -> NoteStabilityTimeout(s, e)
      [] e.type = "StabilityReceived" -> NoteStabilityReceived(s, e)
      [] OTHER -> Ignored(s)
=============================================================================
