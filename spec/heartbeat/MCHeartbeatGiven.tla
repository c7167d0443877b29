--------------------------- MODULE MCHeartbeatGiven ---------------------------
(***************************************************************************)
(* Models of what HEARTBEAT gives, whose ablations violate one part of it  *)
(* alone (`groupcomm mutants --guarantees`). No member installs a view.    *)
(***************************************************************************)
EXTENDS MCHeartbeat

NextView(counter, creator, members, preds) ==
    DecidedView(ViewId(counter, creator), members, preds, [m \in {members[i] : i \in DOMAIN members} |-> 0], {})

\* B has yet to come into the view with A, from its own view, or by way of another view with A.
MergedBehind == Apart1 \o <<NextView(2, "A", <<"A", "B">>, {1, 2})>>
MergedLongAgo == MergedBehind \o <<NextView(3, "A", <<"A", "B">>, {3})>>
\* B has yet to continue without A.
LeavesNext == Together1 \o <<NextView(2, "B", <<"B">>, {1})>>
\* B has merged with C, which had an own view. A has yet to install the merged view.
MergedWithThird ==
    <<FirstView(1, "C", <<"C">>), FirstView(1, "A", <<"A", "B">>), NextView(2, "A", <<"A", "B", "C">>, {1, 2})>>
\* B was alone before A joined it, and has installed a view that A has yet to install.
JoinedEarlier ==
    <<FirstView(1, "B", <<"B">>), NextView(2, "B", <<"A", "B">>, {1}), NextView(3, "B", <<"A", "B">>, {2})>>
\* B has continued without A, and with A once more. A has yet to install the first view of these.
LeftAndMerged ==
    Together1 \o <<NextView(2, "B", <<"A", "B">>, {1}), NextView(3, "B", <<"B">>, {2}),
                   NextView(4, "B", <<"A", "B">>, {2, 3})>>
\* A has founded a group with B, which has a group of its own.
Unrelated == <<FirstView(1, "B", <<"B">>), FirstView(1, "A", <<"A", "B">>)>>

-----------------------------------------------------------------------------
\* A member that was not heard yet is reported only for what is true now.
UnheardIsReportedRightlyStep == \A x \in ByWordAlone : Against(x).view = NoViewId => IsTrueNow(x)
UnheardIsReportedRightly == [][UnheardIsReportedRightlyStep]_vars

-----------------------------------------------------------------------------
\* In the place of InstallView.
NoViewIsInstalled(m) == FALSE
=============================================================================
