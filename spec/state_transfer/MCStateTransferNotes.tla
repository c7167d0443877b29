------------------------ MODULE MCStateTransferNotes -------------------------
(***************************************************************************)
(* Claims about what a member notes of incarnations that are over, and of  *)
(* formed views; and their defects. Only models of these claims use this   *)
(* module.                                                                 *)
(***************************************************************************)
EXTENDS MCStateTransferCalls

Three == 3
ABCOrBC == {<<"A", "B", "C">>, <<"B", "C">>}

-----------------------------------------------------------------------------
(* Incarnations *)

\* Names of incarnations, and names that look like such.
OfNames == {<<"C", x>> : x \in {"A", "A#2", "A#10", "A12", "A#x", "B#2"}}

\* C founds a group, others come and go, and each multicasts once.
NameEvents(s) ==
    (IF s.view = NoView THEN {[type |-> "ViewInstalled", view |-> View(1, "C", <<"C">>)]} ELSE PlainViews(s))
    \cup Texts(MembersOf(s.view) \ {s.member}, {1}, {1})

\* The numbers of former incarnations are forgotten when a later one is in the view, and no others.
ForgetsFormerStep ==
    EachStep(LAMBDA s, e, t :
        LET now == MembersOf(t.view)
            over == IF IsView(e) THEN Superseded(DOMAIN s.seen \cup now) \ now ELSE {}
            new == IF e.type = "AppReceived" /\ act'.outcome = "handled" THEN {e.sender} ELSE {}
        IN s.has => DOMAIN t.seen = (DOMAIN s.seen \ over) \cup new)

-----------------------------------------------------------------------------
(* Formed views *)

\* C in views that are formed, and that merge: A tells what it has, or refuses.
NotedEvents(s) ==
    (IF s.view.id.counter = 1 THEN NextViews(s) ELSE PlainViews(s))
    \cup {f \in Forms(s) : f.view_id.counter > s.formed}
    \cup (IF s.view.id.counter = 2 /\ ~s.has /\ s.settled
          THEN {[type |-> "ViewFormed", view_id |-> ViewId(3, "A"), before |-> 2]} ELSE {})
    \cup (IF s.settled THEN Refusals({"A"}, {s.attempt})
          ELSE {[type |-> "SafeUpTo", number |-> 1]} \cup TellsOf(s, {"A"}, {Lacks, Standing(1, N1, FALSE, 0, 0), Standing(2, N2, TRUE, 0, 0)}))
    \cup {[type |-> "SoonTimeout"]} \cup (IF s.vacant THEN {Send9, Message("A", AskMessage("C", 1))} ELSE {})

\* A formed view in which the member's state stood in the base is one where the state stands. A formed view that is vacant is noted as
\* such, with those directly before it. Nothing else is noted of formed views, but by a decision, or a cut.
NotesFormedStep ==
    EachStep(LAMBDA s, e, t :
        LET forms == (IsView(e) \/ e.type = "ViewFormed") /\ act'.outcome = "handled" /\ IsFormed(t)
            follows == s.vacant /\ e.type # "MergeViewInstalled"
            decides == e.type = "TellReceived" /\ DOMAIN t.told = MembersOf(t.view)
            marks == e.type = "AskReceived" /\ e.sender = s.member
        IN IF decides THEN TRUE
           ELSE /\ t.stood = IF forms /\ ~follows /\ s.stood >= t.base THEN t.formed ELSE IF marks THEN t.stood ELSE s.stood
                /\ <<t.after, t.upto>> = IF forms /\ t.vacant THEN <<IF s.upto = t.base THEN s.after ELSE t.base, t.formed>>
                                         ELSE <<s.after, s.upto>>)

\* A choice that neither a view nor another member begins is the last way of a member that all others have refused, and the first
\* choice in its view. (If that brings no state, it asks again by its timer.)
ChoosesAtLastStep ==
    EachStep(LAMBDA s, e, t :
        (s.settled /\ ~t.settled /\ ~t.vacant /\ e.type \notin {"MergeViewInstalled", "TellReceived"}) =>
            /\ MembersOf(t.view) \subseteq {t.member} \cup s.refused \cup {s.provider} /\ ~IsView(e)
            /\ IsFormed(s) /\ DOMAIN s.told = {})

\* A view is vacant by a decision; or it is formed, and its member has a stale state, or is alone and has none.
VacantForReasonStep ==
    EachStep(LAMBDA s, e, t : (t.vacant /\ ~s.vacant) =>
        \/ e.type = "TellReceived" /\ DOMAIN t.told = MembersOf(t.view)
        \/ IsFormed(t) /\ IF s.has THEN t.stood < t.base ELSE t.view.members = <<t.member>>)

-----------------------------------------------------------------------------
(* Founding, and declaring *)

\* STT-07: a member has a state without asking if it founds a group, alone in its first view, and only then. Alone it chooses from nothing.
FoundsAloneStep ==
    EachStep(LAMBDA s, e, t : (IsView(e) /\ act'.outcome = "handled") =>
        LET alone == e.view.members = <<s.member>> IN
        /\ t.has <=> s.has \/ (alone /\ s.view = NoView)
        /\ alone => t.settled \/ t.vacant)

\* A declaration names the state that the member has, if it has one.
DeclaresByNameStep ==
    EachStep(LAMBDA s, e, t : (e.type = "DeclareRequested" /\ act'.outcome = "handled") =>
        CastsOf("TELL")[1].standing.name = IF s.has THEN s.name ELSE LacksName)

\* C joins, is alone, and declares a state; and again, in a formed view where the state does not stand.
DeclarerEvents(s) ==
    {v \in PlainViews(s) : v.view.members = IF s.view = NoView THEN <<"A", "C">> ELSE <<"C">>} \cup {Declare}
    \cup (IF s.view.id.counter = 3 THEN Forms(s) ELSE {})

\* All refuse, after a decision.
RefusedEvents(s) ==
    (IF s.view.id.counter = 1 THEN NextViews(s) ELSE PlainViews(s)) \cup Forms(s) \cup {[type |-> "SoonTimeout"]}
    \cup (IF s.settled THEN Refusals({"A"}, {s.attempt}) ELSE TellsOf(s, {"A"}, {Standing(1, N2, FALSE, 0, 0)}))

\* The state of another member than the provider is kept.
UnkeptEvents(s) ==
    JoinerEvents(s) \cup (IF s.settled /\ ~s.full THEN {} ELSE TellsOf(s, {"B"}, {Standing(1, N2, FALSE, 0, 0)}))

-----------------------------------------------------------------------------
(* C has sent a message, and its state is dropped *)

LoserEvents(s) ==
    (IF s.view = NoView THEN {[type |-> "ViewInstalled", view |-> View(1, "C", <<"C">>)]}
     ELSE {v \in NextViews(s) : v.type = "MergeViewInstalled"})
    \cup {Send9, [type |-> "SoonTimeout"]} \cup Parts({"A"}, {1}, {1}, Seens)
    \cup (IF s.settled THEN {} ELSE TellsOf(s, {"A"}, {Standing(1, N2, FALSE, 0, 0)}))

ForgetsFormer == [][ForgetsFormerStep]_vars
NotesFormed == [][NotesFormedStep]_vars
ChoosesAtLast == [][ChoosesAtLastStep]_vars
VacantForReason == [][VacantForReasonStep]_vars
FoundsAlone == [][FoundsAloneStep]_vars
DeclaresByName == [][DeclaresByNameStep]_vars

-----------------------------------------------------------------------------
(* Defects: in the place of MemberStep *)

\* Each number is kept.
ForgetsNone(s, e) ==
    LET step == Step(s, e) IN IF e.type = "ViewInstalled" THEN [step EXCEPT !.state.seen = s.seen] ELSE step

\* A vacant view alone is noted, and not those before it.
NotesOneVacant(s, e) ==
    LET step == Step(s, e)
    IN IF e.type = "ViewFormed" /\ step.state.upto # s.upto THEN [step EXCEPT !.state.after = step.state.base] ELSE step

\* A member tells where its provider refuses, and a choice begins anew.
ChoosesAgain(s, e) ==
    LET step == Step(s, e)
    IN IF e.type = "CannotReceived" /\ IsFormed(s) /\ Step(s, e).outcome = "handled" /\ s.settled
       THEN Handled(Begins(s), MakesRoom(s) \o <<Tell(Begins(s))>>) ELSE step

\* A member that is alone, and lacks the state, waits for one of the primary where no view is formed.
WaitsForPrimary(s, e) ==
    LET step == Step(s, e)
    IN IF e.type = "ViewInstalled" /\ Waits(step.state) /\ step.outcome = "handled" THEN Handled(Vacates(step.state), <<NoState>>) ELSE step

\* Own messages that were delivered are reported when they come with a state.
ReportsDelivered(s, e) == 
    IF e.type = "PartReceived" /\ ~s.has /\ Step(s, e).state.has THEN Step([s EXCEPT !.seen = NoneSeen], e) ELSE Step(s, e)

\* A joiner that is first with others begins with its own state.
FoundsWithOthers(s, e) ==
    LET step == Step(s, e)
    IN IF e.type = "ViewInstalled" /\ s.view = NoView /\ step.outcome = "handled"
       THEN Handled([Idle(step.state) EXCEPT !.has = TRUE, !.attempt = 0], <<StateKept>>) ELSE step

\* A declaration names no state.
DeclaresNameless(s, e) == IF e.type = "DeclareRequested" THEN Step([s EXCEPT !.name = LacksName], e) ELSE Step(s, e)

\* A member that has declared hears of each further declaration as of the first one.
DeclaresAnew(s, e) == IF e.type = "TellReceived" THEN Step([s EXCEPT !.declared = FALSE], e) ELSE Step(s, e)

\* A transfer continues whose state is not kept.
ContinuesAnyway(s, e) ==
    LET step == Step(s, e)
    IN IF e.type = "TellReceived" /\ s.marked /\ step.state.settled /\ ~step.state.has /\ ~s.settled
       THEN [step EXCEPT !.state.provider = s.provider] ELSE step
=============================================================================
