----------------------------- MODULE SafeClaims -----------------------------
(***************************************************************************)
(* Claims about members that hear when their messages are safe: outcomes,  *)
(* frame conditions of the model, and liveness. Each claim is violated in  *)
(* some model of models.yaml.                                              *)
(***************************************************************************)
EXTENDS SafeGroup

-----------------------------------------------------------------------------
(* Types *)

LocalTypeOK(m) ==
    LET s == local[m] IN
    /\ s.member = m
    /\ s.told \in 0 .. s.sent /\ s.before <= s.sent /\ Own(s) <= s.sent
    /\ s.asks => s.before > s.told
    /\ s.view # NoView => m \in s.among
    /\ \A x \in DOMAIN s.acks : s.acks[x].view_id = s.view.id \/ s.acks[x].view_id.counter > s.view.id.counter

TypeOK ==
    /\ \A m \in Member : LocalTypeOK(m)
    /\ up \subseteq Member
    /\ \A m \in Member : installed[m] \in 0 .. Len(views) /\ had[m] \in Nat
    /\ spent \in [{"crashes", "misuses"} -> Nat]

-----------------------------------------------------------------------------
(* What is given to the application *)

Given == INSTANCE UniformDelivery WITH
    safe <- UNION {{[sender |-> m, number |-> n, way |-> told[m][n].way] : n \in {n \in DOMAIN told[m] : told[m][n].safe}} : m \in Member}
UniformAgreement == Given!UniformAgreement
HeldByAll == Given!HeldByAll
HeldByMajority == Given!HeldByMajority
HeldInBase == Given!HeldInBase
SafeIsDelivered == Given!SafeIsDelivered

\* What is told counts the messages as the sender does.
ToldInOrder == \A m \in Member : Len(told[m]) = local[m].told

\* No more is unknown than what was delivered before a merge.
UnknownByMerge ==
    \A m \in Member : \A n \in DOMAIN told[m] :
        ~told[m][n].safe => \E i \in DOMAIN told[m][n].way : i > 1 /\ Cardinality(views[told[m][n].way[i]].preds) > 1

\* The highest number of x's messages that m has delivered.
Latest(m, x) == Max({0} \cup {delivered[m][i][2] : i \in {i \in DOMAIN delivered[m] : delivered[m][i][1] = x}})

\* x is in m's view no more, and a later incarnation of its name is.
IsOverAt(m, x) ==
    LET now == MembersOf(local[m].view) IN x \notin now /\ \E y \in now \cup DOMAIN local[m].had : IsFormer(x, y)

\* A member knows of each member how much it has delivered, and of each name it remembers the latest incarnation alone.
HadIsDelivered ==
    \A m, x \in Member :
        IF IsOverAt(m, x) THEN x \notin DOMAIN local[m].had ELSE Entry(local[m].had, x, 0) = Latest(m, x)

\* m's first message that is not reported was not delivered in its view, or a member of the view has gone on, has not delivered it,
\* or has an ACK on its way.
NothingSafeWaits ==
    \A m \in {m \in up : installed[m] # 0} :
        LET k == installed[m]
            HasNext(x) == \E i \in DOMAIN delivered[x] : delivered[x][i] = <<m, Len(told[m]) + 1, k>>
        IN HasNext(m) => \E x \in MembersOf(views[k]) \ {m} : installed[x] # k \/ ~HasNext(x) \/ wire[x][m] # <<>>

-----------------------------------------------------------------------------
(* Steps. (m is the member that takes the step.) *)

\* SAFE delays, adds and drops no message.
PassesAllUpStep ==
    (act'.event.type = "DataReceived" /\ act'.outcome = "handled") =>
        act'.effects[1] = Deliver(act'.event.sender, act'.event.message.payload)

\* An ACK says of another member what its sender has delivered, in its view; with Majority this one is formed.
AckIsTrueStep ==
    \A m \in {act'.member} : \A i \in DOMAIN act'.effects : \A effect \in {act'.effects[i]} :
        effect.type = "Send" =>
            /\ Majority => installed'[m] \in formed'
            /\ effect.message = AckMessage(local'[m].view.id, Latest(m, effect.to)')

IsReport(effect) == effect.type = "PassUp" /\ effect.event.type \in {"SafeUpTo", "UnknownUpTo"}

\* A report speaks of messages of which nothing was said yet.
ToldOnceStep ==
    LET list == SelectSeq(act'.effects, IsReport)
    IN \A i \in DOMAIN list :
        list[i].event.number > IF i = 1 THEN local[act'.member].told ELSE list[i - 1].event.number

\* Some member of the view in which m delivered its n-th message lacks it, or is not in the present view.
IsDoubtful(m, n) ==
    LET i == CHOOSE i \in DOMAIN delivered[m] : delivered[m][i][1] = m /\ delivered[m][i][2] = n
    IN \E x \in MembersOf(views[delivered[m][i][3]]) :
        ~HasDelivered(x, <<m, n>>) \/ x \notin MembersOf(views'[installed'[m]])

\* What all members have that may know is not unknown, unless another view ends the wait for their answers.
UnknownIsDoubtfulStep ==
    \A i \in DOMAIN act'.effects :
        IsReport(act'.effects[i]) /\ act'.effects[i].event.type = "UnknownUpTo" =>
            \/ act'.action = "InstallView" /\ local[act'.member].asks
            \/ IsDoubtful(act'.member, act'.effects[i].event.number)

\* What no correct caller or peer causes changes nothing.
NoMisuseIsHandledStep == act'.action = "Misuse" => act'.outcome # "handled"

\* What a correct caller or peer causes is not refused.
NoEventRefusedStep == act'.outcome \in {"local_error", "remote_error"} => act'.action = "Misuse"

\* A step belongs to one member; wires and reports change by its effects alone.
OnlyByEffectsStep ==
    /\ OthersKeepLocal
    /\ UnchangedUnlessHandled
    /\ \A m \in Member : m # act'.member => told'[m] = told[m]
    /\ act'.action = "Crash" \/ wire' = AfterStep(wire, act'.member, act'.consumed, act'.effects, up)

PassesAllUp == [][PassesAllUpStep]_vars
AckIsTrue == [][AckIsTrueStep]_vars
ToldOnce == [][ToldOnceStep]_vars
UnknownIsDoubtful == [][UnknownIsDoubtfulStep]_vars
NoMisuseIsHandled == [][NoMisuseIsHandledStep]_vars
NoEventRefused == [][NoEventRefusedStep]_vars
OnlyByEffects == [][OnlyByEffectsStep]_vars

\* The layer below, as it is modelled, is the contract of SEQUENCER where views branch.
RefinesTotalOrder == [][TotalOrder!BranchNext]_<<below, sent, up>>

-----------------------------------------------------------------------------
(* Liveness *)

Fair ==
    \A m \in Member :
        /\ WF_vars(DeliverNext(m)) /\ WF_vars(ReceiveAck(m)) /\ WF_vars(InstallView(m))
        /\ WF_vars(FormView(m)) /\ WF_vars(LearnFormed(m))

LiveSpec == Spec /\ Fair

\* All members of m's view are there, and it is formed.
IsWhole(m) ==
    /\ m \in up /\ installed[m] # 0
    /\ \A x \in DOMAIN views[installed[m]].lives : x \in up /\ installed[x] = installed[m] /\ IsOrdered(x)

\* A member hears of every message that it has sent.
EventuallyTold == \A m \in Member : <>[]IsWhole(m) => <>[](Len(told[m]) = local[m].sent)
=============================================================================
