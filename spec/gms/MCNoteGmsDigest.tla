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
=============================================================================
