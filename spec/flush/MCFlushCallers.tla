---------------------------- MODULE MCFlushCallers ---------------------------
(******************************************************************************)
(* Claims about callers that want the group stopped, about the purpose of a   *)
(* flush, and about a member alone. Only models of these claims use this      *)
(* module. Two claims of MCFlushCalls do not hold in all of these models:     *)
(* - OwnFlushIsInForce in callers_of_both. B has sent STOP_FLUSH of a flush   *)
(*   for a state, and takes over before its own copy arrives. This copy opens *)
(*   B's latch while B's flush for a view runs; B's START_FLUSH closes it.    *)
(* - (limit # NoVector) = frozen, of EachInAPhase, in overtaken_at_report.    *)
(*   RECONCILE finds a member that is released, and has yet to report anew.   *)
(******************************************************************************)
EXTENDS MCFlushCalls

\* FST-05, FST-06: FLUSH knows which callers want the group stopped. (The first member of a merged view that has it
\* stopped is asked anew.)
CallersAreKnown ==
    \A m \in up :
        /\ (ForState \in local[m].wants) = (transfer[m] # "none")
        /\ maker[m] \in {"suspends", "stopped", "decided", "merges"} => ForViews \in local[m].wants
        /\ maker[m] \in {"follows", "free"} => ForViews \notin local[m].wants

\* When views may be decided no member takes its flush for one for a state: a suspicion of the requester would open its
\* latch.
PurposeIsKnown ==
    \A m \in up : maker[m] = "stopped" => \A x \in Mutual(m) : local[x].asker # ForState

\* A member whose first view has no other member may multicast: no STOP_FLUSH will come.
AloneIsOpenStep ==
    \A m \in {act'.member} \cap Member :
        (~InView(local[m]) /\ Members(local'[m]) = {m}) => ~local'[m].latched

\* As LimitIsSaid. A limit is in force where the member is frozen. (RECONCILE may find a member that has yet to report
\* anew: a former report of it was there, and meanwhile another flush went first. Then it awaits the target, and the
\* layer below hears of no limit: it may still multicast.)
LimitInForceIsSaidStep ==
    \A m \in {act'.member} \cap Member : local'[m].view = local[m].view =>
        LET old == local[m]
            new == local'[m]
            said == Limits(act'.effects)
        IN IF new.frozen = old.frozen /\ (new.frozen => new.limit = old.limit) THEN said = <<>>
           ELSE said # <<>> /\ said[Len(said)] = IF new.frozen THEN HoldBack(new.limit) ELSE Release

\* START_FLUSH is sent while a flush runs only when a caller wants more, a member is suspected or reports again, or a
\* view is installed.
BeginsAgainForCauseStep ==
    (\E i \in DOMAIN act'.effects : act'.effects[i].type = "Send" /\ act'.effects[i].message.type = "START_FLUSH") =>
        \/ ~Running(local[act'.member])
        \/ act'.event.type \in {"Suspend", "Suspected", "ViewInstalled"}
        \/ act'.event.type = "FlushCompletedReceived" /\ act'.event.sender \notin local[act'.member].run.want

\* A latch closes only for a flush that is in force, or in a first view. (No STOP_FLUSH of another would open it.)
LatchClosesForFlushStep ==
    \A m \in {act'.member} \cap Member :
        (~local[m].latched /\ local'[m].latched) => local'[m].owner # "" \/ ~InView(local[m])

LatchClosesForFlush == [][LatchClosesForFlushStep]_vars
AloneIsOpen == [][AloneIsOpenStep]_vars
LimitInForceIsSaid == [][LimitInForceIsSaidStep]_vars
BeginsAgainForCause == [][BeginsAgainForCauseStep]_vars

-----------------------------------------------------------------------------
(* Bounds *)

\* In the place of MayAsk: C asks; B asks when A and C have reported to C; and B again when A, which it has released,
\* has RECONCILE of C, and has yet to report anew.
BOvertakesAtReport(m) ==
    IF m = "C" THEN spent.states = 0
    ELSE /\ local["A"].owner = "C"
         /\ IF spent.states = 1 THEN ~local["A"].owes /\ local["C"].run.want = {"B"}
            ELSE ~local["A"].frozen /\ local["A"].limit # NoVector

\* In the place of IsDue: BLOCK does not return at once at A.
DueButForA(m) == m \in up /\ (wire[m][m] # <<>> \/ (m # "A" /\ app[m] = "handler"))

\* In the place of MayDoubt: C suspects B, which has overtaken it at A.
BAtReport(m, x) == x = "B" /\ local["A"].owner = x

-----------------------------------------------------------------------------
(* Defects *)

\* In the place of MemberStep: in a merged view each member wants the group for views as before; a group that is
\* stopped for a state counts as stopped for a view; a caller is forgotten when the other one asks; the layer below
\* hears of the limit before; STOP_FLUSH of a last flush, or a first report, makes the flush begin again; the layer below
\* hears of a target before the member's report.
WantsAsBefore(s, e) ==
    LET step == Step(s, e) IN
    IF e.type = "MergeViewInstalled" /\ step.outcome = "handled"
    THEN [step EXCEPT !.state.wants = s.wants] ELSE step
CountsForAny(s, e) ==
    IF e.type = "Suspend" /\ e.asker = ForViews /\ IsStopped(s)
    THEN Handled([s EXCEPT !.wants = @ \cup {ForViews}], <<GroupStopped(ForViews)>>)
    ELSE Step(s, e)

Forgets(asker, s, e) ==
    LET step == Step(s, e) IN
    IF e.type = "Suspend" /\ e.asker # asker /\ step.outcome = "handled" THEN [step EXCEPT !.state.wants = @ \ {asker}]
    ELSE step
ForgetsState(s, e) == Forgets(ForState, s, e)
ForgetsView(s, e) == Forgets(ForViews, s, e)
SaysFormerLimit(s, e) ==
    LET step == Step(s, e)
        Former(effect) == IF effect.type = "PassDown" /\ effect.event.type = "HoldBack" THEN HoldBack(s.limit) ELSE effect
    IN [step EXCEPT !.effects = [i \in DOMAIN @ |-> Former(@[i])]]
BeginsTwice(s, e) ==
    LET step == Step(s, e) IN
    IF e.type = "StopFlushReceived" /\ step.outcome = "handled" /\ Running(s)
    THEN LET begun == Begin(step.state) IN Handled(begun.state, step.effects \o begun.effects)
    ELSE step
BeginsAtReport(s, e) ==
    LET step == Step(s, e) IN
    IF e.type = "FlushCompletedReceived" /\ step.outcome = "handled" /\ s.run.round = 1
    THEN LET begun == Begin(s) IN Handled(begun.state, begun.effects)
    ELSE step
LimitsUnfrozen(s, e) ==
    LET step == Step(s, e) IN
    IF e.type = "ReconcileReceived" /\ step.outcome = "handled" /\ ~step.state.frozen /\ e.sender = s.owner
    THEN [step EXCEPT !.effects = Append(@, HoldBack(step.state.limit))] ELSE step

\* In the place of LatchedIn: a member alone waits for STOP_FLUSH, too.
LatchesAlone(s, v) == IF InView(s) THEN s.latched ELSE TRUE

\* In the place of MemberStep: BLOCK returns, and the latch closes for a flush that has ended.
LatchesLate(s, e) ==
    LET step == Step(s, e) IN
    IF e.type = "BlockReturned" /\ step.outcome = "handled" /\ IsFree(s)
    THEN [step EXCEPT !.state.latched = TRUE] ELSE step

\* In the place of MemberStep: RECONCILE and STOP_FLUSH of a suspected requester count as handled.
HearsSuspected(s, e) ==
    IF e.type \in {"ReconcileReceived", "StopFlushReceived"} /\ InView(s) /\ e.sender \in s.suspected /\ e.sender = s.owner
    THEN Handled(s, <<>>) ELSE Step(s, e)
=============================================================================
