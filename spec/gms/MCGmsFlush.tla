----------------------------- MODULE MCGmsFlush -----------------------------
(* Bounds of the models of GMS under FLUSH. *)
EXTENDS GmsFlush, GmsDefects

JustA == <<"A">>
AB == <<"A", "B">>
ABC == <<"A", "B", "C">>

OneOfA == [m \in Member |-> IF m = "A" THEN 1 ELSE 0]
OneOfAD == [m \in Member |-> IF m \in {"A", "D"} THEN 1 ELSE 0]
OneOfD == [m \in Member |-> IF m = "D" THEN 1 ELSE 0]
OneOfC == [m \in Member |-> IF m = "C" THEN 1 ELSE 0]

NoneOf == [m \in Member |-> 0]
OneOfB == [m \in Member |-> IF m = "B" THEN 1 ELSE 0]

-----------------------------------------------------------------------------
(* Defects that violate a single conjunct of a claim *)

\* In the place of FlushStep: it is resumed, and its latch stays closed; or it keeps its owner. Or the coordinator's FLUSH takes
\* GMS for waiting.
LatchStaysClosed(s, e) ==
    LET step == Flush!Step(s, e)
    IN IF e.type = "StopFlushReceived" THEN [step EXCEPT !.state.latched = s.latched] ELSE step
OwnerStays(s, e) ==
    LET step == Flush!Step(s, e) IN IF e.type = "StopFlushReceived" THEN [step EXCEPT !.state.owner = s.owner] ELSE step
CallerStays(s, e) ==
    LET step == Flush!Step(s, e)
    IN IF e.type = "StopFlushReceived" /\ e.sender = s.member THEN [step EXCEPT !.state.wants = {Self}] ELSE step

\* In the place of MayReach: the layer below holds nothing back.
ReachesUnlimited(m, x) ==
    LET n == flush[m].delivered[x] + 1 IN
    /\ x # m
    /\ n \in DOMAIN log[installed[m]][x]
    /\ (x \notin up /\ [to |-> m, view |-> installed[m], sender |-> x] \in lost) =>
        \E f \in fetches[m] : f.sender = x /\ n <= f.upto /\ f.holder \in up

\* In the place of PassedUp, where no member crashes: of what a coordinator that leaves does in one step, one part is wrong.
Departs == views' # views /\ up' # up
PassedUpButFor(logs, cuts, received) ==
    /\ AfterStepOf(act'.member)
    /\ sent' = sent
    /\ IF Departs THEN log' = logs /\ settled' = cuts /\ got' = received
       ELSE /\ log' = IF views' = views THEN log ELSE Append(log, Channel!NoCasts(views'[Len(views')]))
            /\ LET m == act'.member
                   all == IF views' = views THEN settled ELSE Append(settled, Channel!NoArrivals)
               IN IF installed' = installed THEN settled' = all /\ got' = got
                  ELSE settled' = [all EXCEPT ![installed'[m]] = Channel!Came(m, @)] /\ Channel!Forgets(m)

NewLog == Append(log, Channel!NoCasts(views'[Len(views')]))
NewCuts == Append(settled, Channel!NoArrivals)
\* The log of the new view has an outsider. The new view has a cut already. The leaver receives a message that was never sent.
PassedUpWithLog ==
    PassedUpButFor(Append(log, [m \in DOMAIN views'[Len(views')].lives \cup {"Z"} |-> <<>>]), NewCuts, got)
PassedUpWithCut == PassedUpButFor(NewLog, Append(settled, [u \in {0} |-> {}]), got)
PassedUpWithReceipt == PassedUpButFor(NewLog, NewCuts, [got EXCEPT ![act'.member] = @ \cup {<<1, act'.member, 1>>}])

\* In the place of StopGroup: with the leaver goes another member. And the former view is changed.
StopGroupButFor(m, ups, known) ==
    /\ m \in up \cap stops.asked
    /\ \E event \in {StoppedFor(Self)} : \E step \in {MemberStep(local[m], event)} :
        /\ Take("StopGroup", m, None, event, {}, step)
        /\ up' = IF step.state.gone THEN ups ELSE up
        /\ network' = AfterStep(network, m, {}, step.effects, up')
        /\ seen' = AfterView(m, step.state.decision)
        /\ answers' = [answers EXCEPT ![m] = IF step.state.gone THEN {} ELSE AfterRequests(m, {}, step.effects)]
        /\ stops' = AfterStops(m, event, step)
        /\ told' = [told EXCEPT ![m] = @ \cap Watched(step.state)]
        /\ \E new \in {NewDecisions(m, step)} :
            views' = IF new = {} THEN views
                     ELSE Append(IF step.state.gone THEN known ELSE views, AsView(CHOOSE d \in new : TRUE))
        /\ installed' = [installed EXCEPT ![m] = IF step.state.decision = local[m].decision THEN @
                                                 ELSE NumberIn(views', step.state.decision)]
        /\ promises' = AfterPromises(m, event, step)
    /\ UNCHANGED world
StopGroupTakesAnother(m) == StopGroupButFor(m, up \ {m, "C"}, views)
StopGroupChangesViews(m) == StopGroupButFor(m, up \ {m}, [views EXCEPT ![1].digest = [x \in {"A"} |-> Nothing]])

\* In the place of CastData: a member receives another message besides its own. Its multicast makes a cut. It multicasts after the cut.
CastsButFor(m, received, cuts) ==
    /\ m \in up /\ sent[m] < Casts[m] /\ InView(local[m])
    /\ sent' = [sent EXCEPT ![m] = @ + 1]
    /\ log' = Channel!Casts(log, m, installed[m], <<sent[m] + 1>>)
    /\ got' = [got EXCEPT ![m] = @ \cup received]
    /\ settled' = cuts
    /\ Record("CastData", m, FALSE, None, NoEvent, {}, "handled", <<>>)
    /\ Alone
    /\ UNCHANGED <<flush, wires, said, fetches, refused, lost>>
OwnMessage(m) == <<installed[m], m, Len(log[installed[m]][m]) + 1>>
CastsAndReceivesMore(m) == CastsButFor(m, {OwnMessage(m), <<0, m, 1>>}, settled)
CastsAndCuts(m) == CastsButFor(m, {OwnMessage(m)}, [settled EXCEPT ![1] = [u \in {0} |-> {}]])
CastsAfterCut(m) ==
    /\ \E k \in DOMAIN views : Channel!ClosedBy(m, installed[m], k)
    /\ CastsButFor(m, {OwnMessage(m)}, settled)

\* ... in the place of MemberStep: B takes no view.
IgnoresViews(s, e) == IF s.member = "B" /\ e.type = "NewViewReceived" THEN Ignored(s) ELSE Step(s, e)
=============================================================================
