--------------------------- MODULE FlushSequencer ---------------------------
(******************************************************************************)
(* SEQUENCER over FLUSH: a closed model of two neighbours. FLUSH multicasts   *)
(* the messages of SEQUENCER in the same step as SEQUENCER does. An event     *)
(* that FLUSH passes up happens to SEQUENCER in the same step. So no          *)
(* guarantee stands between the two: FLUSH's messages alone decide what       *)
(* members deliver before they leave a view.                                  *)
(*                                                                            *)
(* The group is that of FlushGroup, with all its actions; PassedUp says       *)
(* what follows from each for SEQUENCER. SEQUENCER's FORWARDs are             *)
(* unicasts: they pass the latch (FST-17), also those of applications that    *)
(* are blocked, and arrive in the order sent, beside those of FLUSH in any    *)
(* order. Messages that a coordinator orders behind its latch wait there. If  *)
(* a view is installed meanwhile, they are multicast in the new view with the *)
(* identifier of the old one, and no member delivers them: their senders have *)
(* them ordered again.                                                        *)
(*                                                                            *)
(* A member that wants to leave multicasts nothing more. It looks at its own  *)
(* table, and at nothing else (StopRule). SEQUENCER's `flushed` also reads    *)
(* other members' state: this follows from FLUSH's messages                   *)
(* (LeaverLosesNoMessage).                                                    *)
(******************************************************************************)
EXTENDS FlushClaims

CONSTANTS
    Sends,          \* bound: [Member -> how many multicasts its application makes]
    Hears,          \* the events that FLUSH passes up and SEQUENCER hears
    StopRule,       \* a member says that it wants to leave "at_once", or when its table is empty ("drained")
    HandlerWaits    \* BLOCK returns when the member's table is empty, and not before

VARIABLES
    sequencer,      \* [Member -> SEQUENCER's state]
    forwards,       \* [Member -> [Member -> FORWARDs in transit from the first to the second]]
    sent,           \* [Member -> number of multicasts so far]
    path,           \* [Member -> the numbers of the views that it has installed, in order]
    delivered,      \* [Member -> what it has delivered, in order]
    refused         \* whether SEQUENCER has refused anything

stack_vars == <<vars, sequencer, forwards, sent, path, delivered, refused>>
stack_view == <<view, sequencer, forwards, sent, path, delivered, refused>>

\* The cuts, without messages that no member delivers: those were ordered by a coordinator in a view that was over
\* before its latch opened.
Counted ==
    [k \in DOMAIN settled |-> [u \in DOMAIN settled[k] |->
        {r \in settled[k][u] : log[u][r[2]][r[3]].view_id = views[u].id}]]

\* SEQUENCER's group, as its own specification has it, over what FLUSH does. None of its actions is taken.
Above == INSTANCE SequencerClaims WITH
    local <- sequencer, wire <- forwards, aux_path <- path, aux_delivered <- delivered, held <- [m \in Member |-> <<>>],
    due <- {}, looked <- [m \in Member |-> 0], stops <- [m \in Member |-> "no"], spent <- [crashes |-> 0, duplicates |->
    0, forwards |-> 0, data |-> 0, unicasts |-> 0, stops |-> 0, misuses |-> 0, closes |-> 0, suspicions |-> 0],
    settled <- Counted, History <- First, Without <- {"Uniform"}, SendIsAtomic <- TRUE, Crashers <- {}, MaxCrashes <- 0,
    MaxDuplicates <- 0, MaxLostForwards <- 0, MaxLostData <- 0, MaxUnicasts <- 0, MaxStops <- 0, MaxMisuses <- 0,
    MaxCloses <- 0, MaxSuspicions <- 0, Inheritors <- {}, Majority <- FALSE, MaxAttempts <- 0, Lost <- {}

Drained(m) == sequencer[m].forward_table = <<>>

-----------------------------------------------------------------------------
(* SEQUENCER's calls to FLUSH *)

AsRequest(payload) == [type |-> "SendRequested", payload |-> payload]

\* FLUSH's step, and those in which it takes what SEQUENCER multicasts.
RECURSIVE AndSends(_, _)
AndSends(step, payloads) ==
    IF payloads = <<>> THEN step
    ELSE LET Takes(first) ==
                LET next == Step(first.state, AsRequest(Head(payloads)))
                IN AndSends([next EXCEPT !.effects = first.effects \o @], Tail(payloads))
         IN With(step, Takes)

ViewFor(v) == [type |-> "ViewInstalled", view |-> v]
IsView(e) == e.type \in {"ViewInstalled", "MergeViewInstalled"}

\* In the place of MemberStep: a view is SEQUENCER's, too, in the same step, which multicasts in it what it
\* has to order anew. (FLUSH is stopped then, and lets it wait: InstallsOnlyWhenLatched.)
StackStep(s, e) ==
    IF ~IsView(e) \/ "ViewInstalled" \notin Hears THEN Step(s, e)
    ELSE AndSends(Step(s, e), MulticastsOf(Above!Step(sequencer[s.member], ViewFor(e.view)).effects))

\* SEQUENCER's part of a step of m.
SequencerDid(m, event, consumed, step) ==
    /\ sequencer' = [sequencer EXCEPT ![m] = step.state]
    /\ forwards' = AfterStep(forwards, m, consumed, step.effects, up)
    /\ delivered' = [delivered EXCEPT ![m] = @ \o Above!DeliveredOf(event, step.effects, installed'[m])]
    /\ refused' = (refused \/ step.outcome \in {"local_error", "remote_error"})

\* m's SEQUENCER takes a step by itself, which multicasts one message at most.
SequencerSteps(action, m, event, consumed) ==
    /\ \E step \in {Above!Step(sequencer[m], event)} :
        /\ IF MulticastsOf(step.effects) # <<>>
           THEN /\ Apply(action, m, AsRequest(MulticastsOf(step.effects)[1]), {})
                /\ UNCHANGED beside
           ELSE /\ Record(action, m, FALSE, None, event, consumed, step.outcome, step.effects)
                /\ UNCHANGED view
        /\ SequencerDid(m, event, consumed, step)
    /\ UNCHANGED path

\* (Who wants to leave takes no more. A member that is blocked may: FLUSH answers for multicasts, and SEQUENCER's are
\* unicasts at most members.)
AppBroadcasts(m) ==
    /\ m \in up /\ sent[m] < Sends[m] /\ m \notin wishes
    /\ InView(local[m])
    /\ SequencerSteps("AppBroadcasts", m, AsRequest(sent[m] + 1), {})
    /\ sent' = [sent EXCEPT ![m] = @ + 1]

ForwardFrom(m, x) ==
    /\ m \in up /\ forwards[x][m] # <<>>
    /\ SequencerSteps("ReceiveForward", m,
                      [type |-> "ForwardReceived", sender |-> x, message |-> Head(forwards[x][m])],
                      {Packet(x, m, Head(forwards[x][m]))})
    /\ UNCHANGED sent

ReceiveForward(m) == \E x \in Member : ForwardFrom(m, x)

-----------------------------------------------------------------------------
(* The effects of a step of FLUSH's group on SEQUENCER *)

\* The events that m has passed up in this step: a view, a multicast, or a suspicion.
EventAbove(m) ==
    IF installed'[m] # installed[m] THEN ViewFor(ViewOf(views'[installed'[m]]))
    ELSE IF got'[m] = got[m]
    THEN [type |-> "Suspected", suspect |-> CHOOSE x \in local'[m].suspected : x \notin local[m].suspected]
    ELSE LET r == CHOOSE r \in got'[m] : r \notin got[m]
         IN [type |-> "DataReceived", sender |-> r[2], message |-> log[r[1]][r[2]][r[3]]]

PassedTo(m) ==
    \E event \in {EventAbove(m)} :
        IF event.type \in Hears
        THEN \E step \in {Above!Step(sequencer[m], event)} : SequencerDid(m, event, {}, step)
        ELSE UNCHANGED <<sequencer, forwards, delivered, refused>>

\* A first part of a crashed member's messages in transit arrives; no message to it arrives. (A member never has more
\* than two FORWARDs in transit.)
LostWith(m) ==
    /\ IF spent'.crashes = spent.crashes THEN forwards' = Deaf(forwards, m)
       ELSE \E keep \in [up' -> 0 .. 2] :
            /\ \A t \in up' : keep[t] <= Len(forwards[m][t])
            /\ forwards' = [f \in Member |-> [t \in Member |->
                    IF t \notin up' THEN <<>>
                    ELSE IF f = m THEN SubSeq(forwards[m][t], 1, keep[t]) ELSE forwards[f][t]]]
    /\ UNCHANGED <<sequencer, delivered, refused>>

PassedUp ==
    /\ \E gone \in {up \ up'}, moved \in {{m \in Member : installed'[m] # installed[m]}},
          heard \in {{m \in Member : got'[m] # got[m]}},
          warned \in {{m \in Member : ~(local'[m].suspected \subseteq local[m].suspected)}} :
        IF gone # {} THEN \E m \in gone : LostWith(m)
        ELSE IF moved # {} THEN \E m \in moved : PassedTo(m)
        ELSE IF heard # {} THEN \E m \in heard : PassedTo(m)
        ELSE IF warned # {} THEN \E m \in warned : PassedTo(m)
        ELSE UNCHANGED <<sequencer, forwards, delivered, refused>>
    /\ path' = IF installed' = installed THEN path
               ELSE [m \in Member |-> IF installed'[m] = installed[m] THEN path[m]
                                      ELSE Append(path[m], installed'[m])]
    /\ sent' = sent

MayReturn(m) == HandlerWaits => Drained(m)

\* Further conditions on applications: on leaving, and on the return of BLOCK.
AsApplicationsDo ==
    /\ \A m \in wishes' \ wishes : StopRule = "drained" => Drained(m)
    /\ \A m \in up : (app[m] = "handler" /\ app'[m] = "blocked") => MayReturn(m)

-----------------------------------------------------------------------------
StackInit ==
    /\ Init
    /\ sequencer = [m \in Member |->
            IF installed[m] = 0 THEN Above!Start(m)
            ELSE Above!Step(Above!Start(m), ViewFor(ViewOf(views[installed[m]]))).state]
    /\ forwards = [f \in Member |-> [t \in Member |-> <<>>]]
    /\ sent = [m \in Member |-> 0]
    /\ path = [m \in Member |-> IF installed[m] = 0 THEN <<>> ELSE <<installed[m]>>]
    /\ delivered = [m \in Member |-> <<>>]
    /\ refused = FALSE

StackNext ==
    \/ (\E m \in Member : Next(m)) /\ AsApplicationsDo /\ PassedUp
    \/ \E m \in Member : AppBroadcasts(m) \/ ReceiveForward(m)

StackSpec == StackInit /\ [][StackNext]_stack_vars

StackFairness == \A m, x \in Member : WF_stack_vars(ForwardFrom(m, x))

StackLiveSpec == StackSpec /\ Fairness /\ StackFairness

-----------------------------------------------------------------------------
(* Claims: SEQUENCER's own, over FLUSH *)

StackTypeOK ==
    /\ \A m \in Member :
        /\ sequencer[m].member = m /\ sent[m] \in 0 .. Sends[m]
        /\ \A x \in Member : \A i \in DOMAIN forwards[x][m] : forwards[x][m][i].type = "FORWARD"
    /\ refused \in BOOLEAN

\* SEQUENCER is in the view that FLUSH is in.
SameViewInBothLayers == \A m \in up : sequencer[m].view = local[m].view

TotalOrder == Above!TotalOrder
UniformTotalOrder == Above!UniformTotalOrder
Agreement == Above!Agreement
LaggardDeliversPrefix == Above!LaggardDeliversPrefix
NoMessageLost == Above!NoMessageLost

\* Neither refuses what the other says, or its peers. (FLUSH's part is NoEventRefused.)
NoEventRefusedAbove == ~refused

\* Each step of the stack is a step of TotalOrderBroadcast.
RefinesTotalOrderBroadcastStep == Above!RefinesTotalOrderBroadcastStep
RefinesTotalOrderBroadcast == [][RefinesTotalOrderBroadcastStep]_stack_vars

\* A view comes to members that are stopped: what SEQUENCER multicasts at once waits until the view is
\* everywhere.
InstallsOnlyWhenLatchedStep == \A m \in Member : (installed[m] # 0 /\ installed'[m] # installed[m]) => local[m].latched
InstallsOnlyWhenLatched == [][InstallsOnlyWhenLatchedStep]_stack_vars

\* Nothing is on its way, and no member has anything to do; BLOCK has returned where it may.
StackQuiescent ==
    /\ \A f, t \in Member : t \in up => wire[f][t] = <<>> /\ forwards[f][t] = <<>>
    /\ \A m \in up :
        /\ (app[m] = "handler" => ~MayReturn(m)) /\ Reports(m) = {}
        /\ \A f \in fetches[m] : ~IsPresent(f.holder, m)
        /\ ~MayTakeOver(m) /\ ~MaySuspend(m) /\ ~MayResume(m) /\ ~MayDecide(m) /\ ~MayDepart(m)
        /\ ~NoStateProvider(m)
        /\ Partners(m) = {} /\ maker[m] # "merges"
        /\ \A p \in up : ~MayGive(p, m)
    /\ \A o \in offers : o.to \in up => ~MayInstall(o)
    /\ \A c \in copies : c.to \in up => ~MayArrive(c.to, c)

\* Any member that is in a view has delivered what it sent, and what others of the view have delivered with it.
AllIsDelivered ==
    \A m \in {m \in up : InView(local[m])} :
        /\ Drained(m)
        /\ \A n \in 1 .. sent[m] : <<m, n>> \in Above!DeliveredBy(m)
        /\ \A x \in up : \A i \in DOMAIN delivered[x] :
            Above!StayedTogether(m, x, delivered[x][i][3]) =>
                Above!Message(delivered[x][i]) \in Above!DeliveredBy(m)

\* The group comes to rest only when every member has resumed, and all is delivered.
AllDeliveredWhenQuiescent == StackQuiescent => (IF StayApart THEN ConvergedOnEachBranch ELSE Converged) /\ AllIsDelivered

\* SEQ-21: a member whose leave is granted leaves nothing behind: every live member of its view has delivered all that
\* it sent.
IsLetGo(m) ==
    m \in up \ up' /\ spent' = spent
        /\ \E k \in DOMAIN views : Follows(installed[m], k) /\ m \notin DOMAIN views[k].lives

\* When a leave is granted, every live member of the leaver's view has delivered all that the leaver sent.
LeaverLosesNoMessageStep ==
    \A m \in Member : IsLetGo(m) =>
        \A x \in up : Above!Took(x, installed[m]) =>
            \A n \in 1 .. sent[m] : <<m, n>> \in Above!DeliveredBy(x)
LeaverLosesNoMessage == [][LeaverLosesNoMessageStep]_stack_vars

\* In the end.
EventuallyDelivered == Above!EventuallyDelivered

-----------------------------------------------------------------------------
(* Witnesses *)

\* A FORWARD is on its way to a coordinator that is stopped.
ForwardMeetsTheLatch ==
    \E f, t \in up : forwards[f][t] # <<>> /\ local[t].latched /\ CoordinatorOf(local[t].view) = t

\* Messages that a coordinator has ordered wait behind its latch, and their view is over.
OrderIsVoid ==
    \E m \in up : \E i \in DOMAIN local[m].waiting : local[m].waiting[i].view_id # local[m].view.id

\* A FORWARD reaches its next coordinator before the view.
ForwardComesEarly == \E m \in up : sequencer[m].early # <<>>

\* The coordinator has crashed; of what it has ordered one survivor lacks what another has delivered.
OrderIsPartial ==
    \E x, y \in up :
        /\ installed[x] = installed[y] /\ CoordinatorOf(local[x].view) \notin up
        /\ local[x].delivered # local[y].delivered

\* A message is ordered in two views.
OrderedTwice == Above!OrderedTwice

\* Some member that sent has left.
SenderIsGone ==
    \E m \in wishes \ up : sent[m] > 0 /\ \E k \in DOMAIN views : Follows(installed[m], k)
=============================================================================
