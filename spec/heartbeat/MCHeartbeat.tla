----------------------------- MODULE MCHeartbeat -----------------------------
(* The views at the start, and bounds. *)
EXTENDS HeartbeatDefects

\* A and B have a view together, or each its own.
Together1 == <<FirstView(1, "A", <<"A", "B">>)>>
Apart1 == <<FirstView(1, "A", <<"A">>), FirstView(1, "B", <<"B">>)>>
\* B has decided a view that A has yet to install.
Ahead == Together1 \o <<DecidedView(ViewId(3, "B"), <<"A", "B">>, {1}, [m \in {"A", "B"} |-> 0], {})>>
=============================================================================
