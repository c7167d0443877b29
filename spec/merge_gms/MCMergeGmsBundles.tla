-------------------------- MODULE MCMergeGmsBundles --------------------------
(* Merging over GMS, and views that grant several requests: that such a view is reached. *)
EXTENDS MCMergeGms

JoinTogether == \E k \in DOMAIN views : views[k].preds # {} /\ Cardinality(views[k].joins) = MaxBundle
=============================================================================
