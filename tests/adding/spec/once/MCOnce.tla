------------------------------- MODULE MCOnce -------------------------------
EXTENDS OnceGroup

\* A network that repeats itself for ever, and a member that passes everything up, would have no end.
Few == \A m \in Member : Len(delivered[m]) <= 3
=============================================================================
