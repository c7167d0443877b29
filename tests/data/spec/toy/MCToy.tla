------------------------------- MODULE MCToy --------------------------------
EXTENDS ToyGroup

\* Predicates that tests make witnesses and stories of.
Spoken == <<AllCommit, NeverHappens>>
=============================================================================
