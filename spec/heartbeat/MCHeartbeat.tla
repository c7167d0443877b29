----------------------------- MODULE MCHeartbeat -----------------------------
(* The views at the start, and bounds. *)
EXTENDS HeartbeatDefects

\* A and B have a view together, or each its own.
Together1 == <<FirstView(1, "A", <<"A", "B">>)>>
Apart1 == <<FirstView(1, "A", <<"A">>), FirstView(1, "B", <<"B">>)>>
\* A alone has a view.
Alone1 == <<FirstView(1, "A", <<"A">>)>>
\* Addresses of more than a letter: one begins with another, two differ in the first letter alone.
Named1 == <<FirstView(1, "a#2", <<"a#2", "a", "b#2">>)>>
\* B has decided a view that A has yet to install.
Ahead == Together1 \o <<DecidedView(ViewId(3, "B"), <<"A", "B">>, {1}, [m \in {"A", "B"} |-> 0], {})>>
\* A has yet to merge with B, and B has continued alone meanwhile and has merged with A once more.
MergedAhead ==
    Apart1 \o <<DecidedView(ViewId(2, "A"), <<"A", "B">>, {1, 2}, [m \in {"A", "B"} |-> 0], {}),
                DecidedView(ViewId(2, "B"), <<"B">>, {2}, [m \in {"B"} |-> 0], {}),
                DecidedView(ViewId(3, "B"), <<"A", "B">>, {3, 4}, [m \in {"A", "B"} |-> 0], {})>>
=============================================================================
