------------------------------ MODULE MCNoteFlow ------------------------------
(* Bounds of the models; defects that the claims must notice. *)
EXTENDS NoteFlowClaims

OneByte == {1}
OneOrTwo == {1, 2}

\* In the place of SendRequested: a message begins though all places are taken.
TakesAnyPlace(s, e) == IF s.waits # "no" THEN LocalError(s) ELSE Begins([s EXCEPT !.own = @ + 1], e.size)

\* In the place of DataReceived: an own message gives back no place.
KeepsPlace(s, e) ==
    Handled([s EXCEPT !.kept = @ + e.message.size],
            IF Gate = "credits" THEN <<Send(e.sender, CreditMessage(e.message.size))>> ELSE <<>>)

\* In the place of Purged: a member counts what it has purged.
ForgetsPurge(s, e) == Handled([s EXCEPT !.ahead = IF @ < e.size THEN 0 ELSE @ - e.size], <<>>)
=============================================================================
