------------------------------- MODULE MCGms --------------------------------
(******************************************************************************)
(* Bounds. And models that begin in the middle of a story, since some stories *)
(* are too large from the start: they need four members, two branches of      *)
(* views, or another incarnation. Such a first state is made by the steps     *)
(* that lead to it, and a scenario is a path there.                           *)
(******************************************************************************)
EXTENDS GmsDefects

NoFounders == <<>>
JustA == <<"A">>
AB == <<"A", "B">>
ABC == <<"A", "B", "C">>
ABCD == <<"A", "B", "C", "D">>

-----------------------------------------------------------------------------
\* The state, after these events, of a member of the first view, and of a process in no view.
RECURSIVE After(_, _)
After(s, events) == IF events = <<>> THEN s ELSE After(Step(s, Head(events)).state, Tail(events))

Begun(m) ==
    [Start(m) EXCEPT !.decision = FirstDecision, !.phase = IF m = Founders[1] THEN "at rest" ELSE "following"]

Asks(m, incarnation) == [type |-> "JoinReqReceived", sender |-> m, message |-> JoinReq(incarnation)]
Wants(c, incarnation) == [type |-> "JoinRequested", coordinator |-> c, life |-> incarnation]
Stopped == StoppedFor(Self)
Given(members, n) ==
    [type |-> "DigestGiven", asker |-> Self, request |-> n, digest |-> [m \in members |-> Nothing]]
Suspects(m) == [type |-> "Suspected", suspect |-> m]
Sends(m, of) == [type |-> "NewViewReceived", sender |-> m, message |-> NewView(of)]
Answers(m, of) == [type |-> "JoinRspReceived", sender |-> m, message |-> JoinRsp(of)]
Acknowledges(m, of) == [type |-> "ViewAckReceived", sender |-> m, message |-> ViewAck(of.id)]
Tells(m, of) == [type |-> "AnswerReceived", sender |-> m, message |-> Answer(FirstDecision.id, of)]
AsksFor(m, seniors) == [type |-> "QueryReceived", sender |-> m, message |-> Query(FirstDecision.id, seniors)]

\* No member has multicast. The views after the first are `decided`, the open promises `promised`, and the stopped members `held`.
LateWith(locals, packets, alive, lives, decided, numbers, held, used, promised) ==
    /\ local = locals
    /\ network = packets
    /\ up = alive
    /\ life = lives
    /\ cast = [m \in Member |-> <<>>]
    /\ seen = [m \in Member |-> [x \in Member |-> Nothing]]
    /\ answers = [m \in Member |-> {}]
    /\ transfers = [m \in Member |-> {}]
    /\ stops = [asked |-> {m \in alive : locals[m].phase = "stopping"},
                given |-> {m \in alive : HoldsGroup(locals[m])}, held |-> held]
    /\ told = [m \in Member |-> {}]
    /\ spent = [crashes |-> used.crashes, false |-> 1, leaves |-> 0, restarts |-> used.restarts, casts |-> 0,
                transfers |-> 0, misuses |-> 0, closes |-> 0]
    /\ views = LET all == <<FirstDecision>> \o decided
                   From(k) == {j \in 1 .. k - 1 : all[j].id = all[k].follows}
               IN [k \in DOMAIN all |->
                    IF k = 1 THEN First[1]
                    ELSE [id |-> all[k].id, members |-> all[k].members, preds |-> From(k),
                          lives |-> [m \in MembersOf(all[k]) |-> all[k].lives[m]], joins |-> all[k].joiners,
                          digest |-> all[k].digest]]
    /\ installed = numbers
    /\ promises = promised
    /\ act = NoAct

Late(locals, packets, alive, lives, decided, numbers, held, used) ==
    LateWith(locals, packets, alive, lives, decided, numbers, held, used, {})

\* A, B and C; A lets D into the second view, and C has it. B suspects A, falsely, and asks C, which refuses A
\* from then on. B has D's request, too: so it learns of that view, and answers D again.
SecondBy(a) == After(Begun(a), <<Asks("D", 0), Stopped, Given(FoundersSet, 1)>>)

TakesOver(b, incarnation, second) ==
    After(Begun(b), <<Suspects("A"), Asks("D", incarnation), Tells("C", second), Acknowledges("C", second)>>)

IsAsked(c, second) == After(Begun(c), <<Sends("A", second), AsksFor("B", {"A"}), Sends("B", second)>>)

\* D is in the second view, and in A's third, which leaves B out.
\* conformance/scenarios/gms/granted_by_another.yaml is a path there.
GrantedByAnother ==
    \E second \in {SecondBy("A").decision} :
    \E a \in {After(SecondBy("A"), <<Acknowledges("C", second), Suspects("B"), Acknowledges("D", second),
                                     Stopped>>)} :
        Late([m \in Member |->
                CASE m = "A" -> a
                  [] m = "B" -> TakesOver("B", 0, second)
                  [] m = "C" -> IsAsked("C", second)
                  [] m = "D" -> After(Start("D"), <<Wants("A", 0), Wants("B", 0), Answers("A", second),
                                                    Sends("A", a.decision)>>)],
             {Packet("A", "B", NewView(second)), Packet("B", "D", JoinRsp(second)),
              Packet("A", "C", NewView(a.decision)), Packet("D", "A", ViewAck(a.decision.id))},
             Member,
             [m \in Member |-> 0],
             <<second, a.decision>>,
             [m \in Member |-> IF m \in {"A", "D"} THEN 3 ELSE 2],
             Member,
             [crashes |-> 0, restarts |-> 0])

\* D was in the second view, has crashed, and is back: it asked A, which left its former incarnation and then C
\* out, and let it in; and it asked B.
\* conformance/scenarios/gms/back_in_another_line.yaml is a path there.
BackInAnotherLine ==
    \E second \in {SecondBy("A").decision} :
    \E a3 \in {After(SecondBy("A"), <<Acknowledges("C", second), Suspects("B"), Acknowledges("D", second),
                                      Asks("D", 1), Stopped>>)} :
    \E a4 \in {After(a3, <<Suspects("C"), Stopped, Given({"A", "C"}, 2)>>)} :
        Late([m \in Member |->
                CASE m = "A" -> After(a4, <<Acknowledges("D", a4.decision)>>)
                  [] m = "B" -> TakesOver("B", 1, second)
                  [] m = "C" -> IsAsked("C", second)
                  [] m = "D" -> After(Start("D"), <<Wants("A", 1), Wants("B", 1), Answers("A", a4.decision)>>)],
             {Packet("B", "D", JoinRsp(second))},
             Member,
             [m \in Member |-> IF m = "D" THEN 1 ELSE 0],
             <<second, a3.decision, a4.decision>>,
             [m \in Member |-> IF m \in {"A", "D"} THEN 4 ELSE 2],
             {"B", "C"},
             [crashes |-> 1, restarts |-> 1])

TwoBranches == GrantedByAnother \/ BackInAnotherLine

\* A, B and C; C has crashed and is back, and A leaves its former incarnation out. B suspects A, falsely, and asks C about the
\* first view, from where C is in none.
\* conformance/scenarios/gms/asked_for_a_former_life.yaml is a path there.
RequestOfFormerIncarnation ==
    \E a \in {After(Begun("A"), <<Suspects("C"), Stopped>>)} :
        Late([m \in Member |->
                CASE m = "A" -> a
                  [] m = "B" -> After(Begun("B"), <<Suspects("A")>>)
                  [] m = "C" -> Start("C")],
             {Packet("A", "B", NewView(a.decision)), Packet("B", "C", Query(FirstDecision.id, {"A"}))},
             Member,
             [m \in Member |-> IF m = "C" THEN 1 ELSE 0],
             <<a.decision>>,
             [m \in Member |-> CASE m = "A" -> 2 [] m = "B" -> 1 [] m = "C" -> 0],
             {"A", "B"},
             [crashes |-> 1, restarts |-> 1])

\* And B has crashed, and A has left it out, while its question is on its way.
RequestOfCrashed ==
    \E a2 \in {After(Begun("A"), <<Suspects("C"), Stopped>>)} :
    \E a \in {After(a2, <<Suspects("B"), Stopped>>)} :
        Late([m \in Member |->
                CASE m = "A" -> a
                  [] m = "B" -> After(Begun("B"), <<Suspects("A")>>)
                  [] m = "C" -> Start("C")],
             {Packet("B", "C", Query(FirstDecision.id, {"A"}))},
             {"A", "C"},
             [m \in Member |-> IF m = "C" THEN 1 ELSE 0],
             <<a2.decision, a.decision>>,
             [m \in Member |-> CASE m = "A" -> 3 [] m = "B" -> 1 [] m = "C" -> 0],
             {},
             [crashes |-> 2, restarts |-> 1])

\* A and B; A suspects B, falsely, and continues alone: it admits C, and then D. A, C and D have crashed, D before it
\* was answered. B has excluded A in a view of its own.
OneMemberBranch ==
    \E a2 \in {After(Begun("A"), <<Suspects("B"), Stopped>>)} :
    \E a3 \in {After(a2, <<Asks("C", 0), Stopped, Given({"A"}, 1)>>)} :
    \E a4 \in {After(a3, <<Acknowledges("C", a3.decision), Asks("D", 0), Stopped, Given({"A", "C"}, 2)>>)} :
    \E b \in {After(Begun("B"), <<Suspects("A"), Stopped>>)} :
        Late([m \in Member |->
                CASE m = "A" -> a4
                  [] m = "B" -> b
                  [] m = "C" -> After(Start("C"), <<Wants("A", 0), Answers("A", a3.decision),
                                                    Sends("A", a4.decision)>>)
                  [] m = "D" -> Start("D")],
             {},
             {"B"},
             [m \in Member |-> 0],
             <<a2.decision, a3.decision, a4.decision, b.decision>>,
             [m \in Member |-> CASE m \in {"A", "C"} -> 4 [] m = "B" -> 5 [] m = "D" -> 0],
             {},
             [crashes |-> 3, restarts |-> 0])
\* The same, and B admits D, which has asked it, too, in the view that excludes A. A, B and C have crashed, and B's answer is
\* on its way to D.
GrantedOnLowerBranch ==
    \E a2 \in {After(Begun("A"), <<Suspects("B"), Stopped>>)} :
    \E a3 \in {After(a2, <<Asks("C", 0), Stopped, Given({"A"}, 1)>>)} :
    \E a4 \in {After(a3, <<Acknowledges("C", a3.decision), Asks("D", 0), Stopped, Given({"A", "C"}, 2)>>)} :
    \E b \in {After(Begun("B"), <<Suspects("A"), Asks("D", 0), Stopped, Given({"A", "B"}, 1)>>)} :
        LateWith([m \in Member |->
                    CASE m = "A" -> a4
                      [] m = "B" -> b
                      [] m = "C" -> After(Start("C"), <<Wants("A", 0), Answers("A", a3.decision),
                                                        Sends("A", a4.decision)>>)
                      [] m = "D" -> After(Start("D"), <<Wants("A", 0), Wants("B", 0)>>)],
                 {Packet("B", "D", JoinRsp(b.decision))},
                 {"D"},
                 [m \in Member |-> 0],
                 <<a2.decision, a3.decision, a4.decision, b.decision>>,
                 [m \in Member |-> CASE m \in {"A", "C"} -> 4 [] m = "B" -> 5 [] m = "D" -> 0],
                 {},
                 [crashes |-> 3, restarts |-> 0],
                 {[by |-> "A", by_life |-> 0, view |-> 3, to |-> "D", to_life |-> 0,
                   vector |-> [m \in {"A", "C"} |-> Nothing]],
                  [by |-> "B", by_life |-> 0, view |-> 1, to |-> "D", to_life |-> 0,
                   vector |-> [m \in {"A", "B"} |-> Nothing]]})

\* A bound: a member wants to leave when A has crashed, and B has D's request to join.
LeaveAfterJoin(m) == "A" \notin up /\ IsQueued(local["B"], "join", "D")

\* A, B and C; C has crashed, and A has left it out in a view with B. B, which suspected A falsely, is in a view of its own.
\* The view of A, or that of B, was decided first.
WithoutC == After(Begun("A"), <<Suspects("C"), Stopped>>)
BAlone == After(Begun("B"), <<Suspects("A"), Suspects("C"), Stopped>>)
Sides(of_a, of_b, numbers) ==
    Late([m \in Member |-> CASE m = "A" -> of_a [] m = "B" -> of_b [] m = "C" -> Start("C")],
         {Packet("A", "B", NewView(WithoutC.decision))},
         {"A", "B"},
         [m \in Member |-> 0],
         [k \in {1, 2} |-> IF k + 1 = numbers["A"] THEN of_a.decision ELSE of_b.decision],
         numbers,
         {"A"},
         [crashes |-> 1, restarts |-> 0])
SideOfAFirst == Sides(WithoutC, BAlone, [m \in Member |-> CASE m = "A" -> 2 [] m = "B" -> 3 [] m = "C" -> 0])
SideOfBFirst == Sides(WithoutC, BAlone, [m \in Member |-> CASE m = "A" -> 3 [] m = "B" -> 2 [] m = "C" -> 0])

\* A, B and C; A, which suspects B and C falsely, is alone, and has let D in. B and C are in a later view.
DBesideB ==
    \E a2 \in {After(Begun("A"), <<Suspects("B"), Suspects("C"), Stopped>>)} :
    \E a \in {After(a2, <<Asks("D", 0), Stopped, Given({"A"}, 1)>>)} :
    \E b \in {After(Begun("B"), <<Suspects("A"), Suspects("C"), Stopped>>)} :
        Late([m \in Member |->
                CASE m = "A" -> After(a, <<Acknowledges("D", a.decision)>>)
                  [] m = "B" -> b
                  [] m = "C" -> Start("C")
                  [] m = "D" -> After(Start("D"), <<Wants("A", 0), Answers("A", a.decision)>>)],
             {},
             {"A", "B", "D"},
             [m \in Member |-> 0],
             <<a2.decision, a.decision, b.decision>>,
             [m \in Member |-> CASE m \in {"A", "D"} -> 3 [] m = "B" -> 4 [] m = "C" -> 0],
             {},
             [crashes |-> 1, restarts |-> 0])
=============================================================================
