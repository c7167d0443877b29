---------------------------- MODULE MCNoteGossip -----------------------------
(* Bounds of the models, and defects that the claims must notice. *)
EXTENDS NoteGossipClaims

AB == <<"A", "B">>
ABC == <<"A", "B", "C">>
ABD == <<"A", "B", "D">>
BC == <<"B", "C">>
NoList == <<>>

Of(a, b, c) == [m \in Member |-> CASE m = "A" -> a [] m = "B" -> b [] OTHER -> c]

None0 == Of(0, 0, 0)
OneA == Of(1, 0, 0)
OneB == Of(0, 1, 0)
OneC == Of(0, 0, 1)
OneAB == Of(1, 1, 0)
TwoA == Of(2, 0, 0)
ThreeA == Of(3, 0, 0)
Lag1 == Of(1, 1, 1)
LagC == Of(0, 0, 1)

\* In the place of Threshold: the lag is forgotten.
WholeDigest(s, vector) == vector

\* In the place of Delivered, in GossipTimeout: a gossip names what was received.
SaysReceived(digest) == Received(digest)

\* In the place of Scatter: the members to which a gossip goes count as members that have seen it.
StrikesOffTargets(among, fanout, message) ==
    IF among = {} THEN <<>>
    ELSE <<[type |-> "Scatter", among |-> among, fanout |-> fanout,
            message |-> [message EXCEPT !.not_seen = IF fanout = 0 THEN {} ELSE @]]>>
=============================================================================
