--------------------------- MODULE SilenceDetector ---------------------------
(***************************************************************************)
(* The reports of a failure detector to UNICAST, about processes that the  *)
(* member's view is without. FailureDetector has its reports to the        *)
(* membership service, about members; in a runtime both are of the same    *)
(* detector.                                                               *)
(*                                                                         *)
(* A report may be false, and come at any time: the process is merely      *)
(* slow, or was heard by others. Then messages to a process outside the    *)
(* view are lost, as they may be (ReliableUnicast, ClosedOnlyByViews).     *)
(* The report has to come. Otherwise the member sends to   *)
(* an address of a dead process for ever: no later view excludes it.       *)
(***************************************************************************)

\* SilenceIsReported: that a process is silent is reported in the end to each member that keeps messages for it and has a
\* view without it.
Conjuncts == {"SilenceIsReported"}
=============================================================================
