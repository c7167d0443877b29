----------------------------- MODULE MCGmsLate ------------------------------
(***************************************************************************)
(* A model that begins in the middle of a story, as it takes four members  *)
(* and two lines of views, and all that these can do from the start is too *)
(* much. The first state is made by the steps that lead to it:             *)
(* conformance/scenarios/gms/granted_by_another.yaml is a path there.      *)
(***************************************************************************)
EXTENDS GmsDefects

ABC == <<"A", "B", "C">>

\* A let D into the second view. B suspected A, falsely, and has D's request, too; it learnt of that view from
\* C, and answers D again. But A and D have gone on to a third, without B.
GrantedByAnother ==
    LET After(s, e) == Step(s, e).state
        begun(m) == [Start(m) EXCEPT !.decision = FirstDecision,
                                     !.phase = IF m = "A" THEN "leading" ELSE "following"]
        nothing == [m \in FoundersSet |-> Nothing]
        asks == [type |-> "JoinReqReceived", sender |-> "D", message |-> JoinReq(0)]
        given == [type |-> "DigestGiven", asker |-> Self, request |-> 1, digest |-> nothing]
        timer == [type |-> "ViewTimeout"]
        suspects(x) == [type |-> "Suspected", suspect |-> x]
        wants(x) == [type |-> "JoinRequested", coordinator |-> x, life |-> 0]
        ack(x, of) == [type |-> "ViewAckReceived", sender |-> x, message |-> ViewAck(of.id)]
        sends(x, of) == [type |-> "NewViewReceived", sender |-> x, message |-> NewView(of)]
        query == Query(FirstDecision.id, {"A"})
        a2 == After(After(After(begun("A"), asks), timer), given)
        second == a2.decision
        a == After(After(After(After(a2, ack("C", second)), suspects("B")), ack("D", second)), timer)
        third == a.decision
        told2 == [type |-> "AnswerReceived", sender |-> "C", message |-> Answer(FirstDecision.id, second)]
        b == After(After(After(After(begun("B"), suspects("A")), asks), told2), ack("C", second))
        c == After(After(After(begun("C"), sends("A", second)),
                         [type |-> "QueryReceived", sender |-> "B", message |-> query]), sends("B", second))
        d2 == After(After(After(Start("D"), wants("A")), wants("B")),
                    [type |-> "JoinRspReceived", sender |-> "A", message |-> JoinRsp(second)])
        d == After(d2, sends("A", third))
        AsDecided(of, k, joins) ==
            [id |-> of.id, members |-> of.members, preds |-> {k},
             lives |-> [m \in MembersOf(of) |-> 0], joins |-> joins, digest |-> of.digest]
    IN
    /\ local = [m \in Member |-> CASE m = "A" -> a [] m = "B" -> b [] m = "C" -> c [] m = "D" -> d]
    /\ network = {Packet("A", "B", NewView(second)), Packet("B", "D", JoinRsp(second)),
                  Packet("A", "C", NewView(third)), Packet("D", "A", ViewAck(third.id))}
    /\ up = Member
    /\ life = [m \in Member |-> 0]
    /\ cast = [m \in Member |-> <<>>]
    /\ seen = [m \in Member |-> [x \in Member |-> Nothing]]
    /\ answers = [m \in Member |-> {}]
    /\ transfers = [m \in Member |-> {}]
    /\ told = [m \in Member |-> {}]
    /\ spent = [crashes |-> 0, false |-> 1, leaves |-> 0, restarts |-> 0, casts |-> 0, transfers |-> 0,
                misuses |-> 0]
    /\ views = First \o <<AsDecided(second, 1, {"D"}), AsDecided(third, 2, {})>>
    /\ installed = [m \in Member |-> IF m \in {"A", "D"} THEN 3 ELSE 2]
    /\ promises = {}
    /\ act = NoAct
=============================================================================
