-------------------------- MODULE MCNoteGmsDigest ---------------------------
(* Bounds of the models of NoteGmsDigest: who multicasts how much. *)
EXTENDS NoteGmsDigest

Of(a, b, c) == [m \in Member |-> CASE m = "A" -> a [] m = "B" -> b [] m = "C" -> c [] OTHER -> 0]

NoCasts == Of(0, 0, 0)
OneOfA == Of(1, 0, 0)
OneOfB == Of(0, 1, 0)
TwoOfB == Of(0, 2, 0)
OneOfAAndB == Of(1, 1, 0)
OneOfEach == Of(1, 1, 1)

\* Defects, in the place of Start: the joiner starts after one message more of A than its digest says, or after one less.
StartsLater(digest, s) == IF s \notin DOMAIN digest THEN Nothing ELSE IF s = "A" THEN digest[s] + 1 ELSE digest[s]
StartsEarlier(digest, s) ==
    IF s \notin DOMAIN digest THEN Nothing ELSE IF digest[s] > Before(s) THEN digest[s] - 1 ELSE digest[s]
=============================================================================
