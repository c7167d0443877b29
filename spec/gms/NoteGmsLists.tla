---------------------------- MODULE NoteGmsLists ----------------------------
(******************************************************************************)
(* The base of coordinator P's next view (pbcast DESIGN, "Membership Updating *)
(* for JOIN/LEAVE requests"). P decides a view at each request and multicasts *)
(* it; the view comes back to P like any other multicast, later, in the order *)
(* sent. Which membership is the base of the next view is a constant:         *)
(* - "copy": the last view that came back;                                    *)
(* - "local": P updates its membership before it multicasts, and a view       *)
(*   that comes back replaces it;                                             *)
(* - "temporary": the last view that came back, and with it a list of         *)
(*   joiners that are in no view that came back, and one of leavers;          *)
(* - "struck": that, and a request to join strikes its member from the        *)
(*   list of leavers, and one to leave from that of joiners;                  *)
(* - "ordered": the last view that came back, and all requests since, in      *)
(*   their order;                                                             *)
(* - "installed": P installs a view when it decides it, and what comes        *)
(*   back changes nothing. (So GMS does it.)                                  *)
(* Members make requests and have no other part here.                         *)
(******************************************************************************)
EXTENDS Steps, Acts, Naturals, Sequences

CONSTANTS
    Member,         \* all addresses but the coordinator's
    Lists,          \* the base of the next view
    Founders,       \* the first view, P first
    MaxRequests     \* bound

ASSUME Lists \in {"copy", "local", "temporary", "struck", "ordered", "installed"}

VARIABLES
    network,        \* views on their way back to P, in the order sent
    aux_requests,   \* the requests that P has taken, in order
    aux_sent        \* the views that P has multicast, in order

vars == <<local, network, aux_requests, aux_sent, act>>
view == <<local, network, aux_requests, aux_sent>>

P == "P"

-----------------------------------------------------------------------------
IsIn(m, list) == \E i \in DOMAIN list : list[i] = m
Without(list, m) == LET Other(x) == x # m IN SelectSeq(list, Other)
Outside(list, others) == LET Not(x) == ~IsIn(x, others) IN SelectSeq(list, Not)
Inside(list, others) == LET Is(x) == IsIn(x, others) IN SelectSeq(list, Is)
With(list, m) == IF IsIn(m, list) THEN list ELSE Append(list, m)

Request(kind, m) == [kind |-> kind, member |-> m]

\* A list after a request, and after several in order. (A new member is the youngest: LAY-06.)
After(list, r) == IF r.kind = "join" THEN With(list, r.member) ELSE Without(list, r.member)

RECURSIVE AfterAll(_, _)
AfterAll(list, requests) ==
    IF requests = <<>> THEN list ELSE AfterAll(After(list, Head(requests)), Tail(requests))

\* The members that P has taken a request of to join, and since then none to leave.
Wanted == AfterAll(Founders, aux_requests)

ViewMessage(members) == [type |-> "VIEW", members |-> members]

-----------------------------------------------------------------------------
(* The steps of P. Its state: `membership`; requests that are not official    *)
(* yet, in two lists or in one.                                               *)

\* The state after a request is noted.
Noted(s, r) ==
    CASE Lists \in {"local", "installed"} -> [s EXCEPT !.membership = After(@, r)]
      [] Lists = "ordered" -> [s EXCEPT !.requests = Append(@, r)]
      [] Lists = "temporary" ->
            IF r.kind = "join" THEN [s EXCEPT !.joining = With(@, r.member)]
            ELSE [s EXCEPT !.leaving = With(@, r.member)]
      [] Lists = "struck" ->
            IF r.kind = "join" THEN [s EXCEPT !.joining = With(@, r.member), !.leaving = Without(@, r.member)]
            ELSE [s EXCEPT !.leaving = With(@, r.member), !.joining = Without(@, r.member)]
      [] OTHER -> s

\* The view that it multicasts then.
NextView(s, r) ==
    CASE Lists = "copy" -> After(s.membership, r)
      [] Lists \in {"temporary", "struck"} ->
            Outside(s.membership \o Outside(s.joining, s.membership), s.leaving)
      [] Lists = "ordered" -> AfterAll(s.membership, s.requests)
      [] OTHER -> s.membership

Decide(r, event, consumed) ==
    \E s \in {Noted(local[P], r)} : \E members \in {NextView(s, r)} :
        /\ local' = [local EXCEPT ![P] = s]
        /\ network' = Append(network, members)
        /\ aux_requests' = Append(aux_requests, r)
        /\ aux_sent' = Append(aux_sent, members)
        /\ Record(IF r.kind = "join" THEN "Join" ELSE "Leave", P, FALSE, None, event, consumed, "handled",
                  <<Multicast(ViewMessage(members))>>)

Asks(m, kind, type, name) ==
    /\ Len(aux_requests) < MaxRequests
    /\ \E message \in {[type |-> type]} :
        Decide(Request(kind, m), [type |-> name, sender |-> m, message |-> message],
             {[sender |-> m, to |-> P, message |-> message]})

\* No member asks to join who is in, nor to leave who is not.
Join(m) == ~IsIn(m, Wanted) /\ Asks(m, "join", "JOIN_REQ", "JoinReqReceived")
Leave(m) == IsIn(m, Wanted) /\ Asks(m, "leave", "LEAVE_REQ", "LeaveReqReceived")

\* MBR-04, MBR-08, MBR-10: the oldest view on its way comes back, and is official.
ReceiveView ==
    /\ network # <<>>
    /\ \E v \in {Head(network)} :
        /\ local' = [local EXCEPT ![P] =
                CASE Lists = "installed" -> @
                  [] Lists = "ordered" -> [@ EXCEPT !.membership = v, !.requests = Tail(@)]
                  [] OTHER -> [@ EXCEPT !.membership = v, !.joining = Outside(@, v),
                                        !.leaving = Inside(@, v)]]
        /\ Record("ReceiveView", P, FALSE, None,
                  [type |-> "ViewReceived", sender |-> P, message |-> ViewMessage(v)],
                  {[sender |-> P, to |-> P, message |-> ViewMessage(v)]}, "handled", <<>>)
    /\ network' = Tail(network)
    /\ UNCHANGED <<aux_requests, aux_sent>>

Init ==
    /\ local = [m \in Member \cup {P} |->
                    IF m # P THEN None
                    ELSE [membership |-> Founders, joining |-> <<>>, leaving |-> <<>>, requests |-> <<>>]]
    /\ network = <<>>
    /\ aux_requests = <<>>
    /\ aux_sent = <<>>
    /\ act = NoAct

Next ==
    \/ \E m \in Member : Join(m) \/ Leave(m)
    \/ ReceiveView

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
(* Claims. All are about the view that P has multicast last. *)

LastSent == aux_sent[Len(aux_sent)]
LastRequest == aux_requests[Len(aux_requests)]
BeforeLast == IF Len(aux_sent) = 1 THEN Founders ELSE aux_sent[Len(aux_sent) - 1]

ListsTypeOK ==
    /\ \A i \in DOMAIN network : \A m \in {network[i][k] : k \in DOMAIN network[i]} : m \in Member \cup {P}
    /\ Len(aux_requests) = Len(aux_sent)

\* MBR-02, MBR-05: a view contains whoever has joined before and not left.
ViewHasEarlierJoiners == aux_sent # <<>> => \A m \in Member : IsIn(m, Wanted) => IsIn(m, LastSent)

\* MBR-09, MBR-10: no member that has left, and not joined again.
ViewLacksEarlierLeavers == aux_sent # <<>> => \A m \in Member : IsIn(m, LastSent) => IsIn(m, Wanted)

\* MBR-12: whoever asks to join is in the view that it is answered with.
JoinerInAnsweredView ==
    (aux_sent # <<>> /\ LastRequest.kind = "join") => IsIn(LastRequest.member, LastSent)

\* MBR-11: a view is its predecessor with one request more.
OneRequestPerView == aux_sent # <<>> => LastSent = After(BeforeLast, LastRequest)

-----------------------------------------------------------------------------
(* Witnesses, and stories of errata *)

\* Three views are on their way, of three joins; or the same member has joined, left and joined again.
ThreeAtOnce == Len(network) = 3 /\ \A i \in 1 .. 3 : aux_requests[i].kind = "join"
ToAndFro ==
    \E i, j, k \in DOMAIN aux_requests :
        /\ i < j /\ j < k
        /\ aux_requests[i].member = aux_requests[j].member /\ aux_requests[j].member = aux_requests[k].member

\* The note's stories are of joins alone; those about leavers of a leave.
OnlyJoins == \A i \in DOMAIN aux_requests : aux_requests[i].kind = "join"

P1 == <<"P">>
=============================================================================
