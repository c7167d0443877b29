-------------------------- MODULE MCMergeGmsBundles --------------------------
(* Merging over GMS, and views that grant several requests: that such a view is reached. *)
EXTENDS MCMergeGms

JoinTogether == \E k \in DOMAIN views : views[k].preds # {} /\ Cardinality(views[k].joins) = MaxBundle
\* ... in a group that has merged.
JoinTogetherAfterAMerge ==
    \E k \in DOMAIN views : Cardinality(views[k].joins) = MaxBundle /\ \E j \in views[k].preds : IsThere(j)
=============================================================================
