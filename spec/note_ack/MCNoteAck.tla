------------------------------- MODULE MCNoteAck -------------------------------
(* Bounds of the models are constants alone; defects that the claims must notice. *)
EXTENDS NoteAckClaims

\* In the place of AckTimeout: the sender announces without end.
NeverEnds(s, e) ==
    IF e.seqno \notin DOMAIN s.pending THEN Ignored(s) ELSE Handled(s, <<AckTimer>>)
=============================================================================
