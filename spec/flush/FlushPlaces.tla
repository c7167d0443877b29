------------------------------ MODULE FlushPlaces -----------------------------
(******************************************************************************)
(* A member's place in two flushes at once: the table at the head of Flush.   *)
(******************************************************************************)
EXTENDS MCFlush

\* A member's own flush runs only while it is the flush in force: of owner and own flush no other pairs occur than those
\* that the table has.
OwnFlushIsInForce == \A m \in Member : Running(local[m]) => local[m].owner = m
=============================================================================
