-------------------------- MODULE MCMergeGmsBundles --------------------------
(* Merging over GMS, and views that grant several requests: bounds, and that such a view is reached. *)
EXTENDS MCMergeGms

JoinReqs == {p \in network : p.message.type = "JOIN_REQ"}

\* Bound: F and then G ask A, and A hears both, without a step between.
BothAskA ==
    /\ act'.action = "AskToJoin" => /\ act'.member = (IF spent.joins = 0 THEN "F" ELSE "G")
                                    /\ \A p \in JoinReqs' : p.to = "A"
    /\ spent.joins = 1 => act'.action = "AskToJoin"
    /\ JoinReqs # {} /\ spent.joins = 2 => act'.action = "ReceiveJoinReq"

JoinsTogether(k) == views[k].preds # {} /\ Cardinality(views[k].joins) = MaxBundle
JoinTogether == \E k \in DOMAIN views : JoinsTogether(k)
\* ... in a group that has merged, and in one that merges later.
JoinTogetherAfterAMerge == \E k \in DOMAIN views : JoinsTogether(k) /\ \E j \in views[k].preds : IsMerged(j)
MergeAfterJoinTogether == \E k \in DOMAIN views : IsMerged(k) /\ \E j \in views[k].preds : JoinsTogether(j)
=============================================================================
