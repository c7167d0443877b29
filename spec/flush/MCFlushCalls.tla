----------------------------- MODULE MCFlushCalls ----------------------------
(******************************************************************************)
(* Claims about what a member refuses, what it ignores, what it says to the   *)
(* layer below, and when it runs a flush. Only models of these claims use     *)
(* this module.                                                               *)
(******************************************************************************)
EXTENDS FlushPlaces

\* Events that no correct peer or caller causes, and that are refused.
Wrongs(m) ==
    LET s == local[m]
        id == s.view.id
        all == Members(s)
        reconcile(target, holders) ==
            [type |-> "ReconcileReceived", sender |-> m, message |-> ReconcileMessage(id, 9, target, holders)]
        alone == View(9, "Z", <<"Z">>)
    IN {[type |-> "ViewInstalled", view |-> alone], [type |-> "MergeViewInstalled", view |-> alone, subgroups |-> {}],
        [type |-> "Suspected", suspect |-> m],
        [type |-> "StartFlushReceived", sender |-> m, message |-> StartFlush(id, 9, Self)]}
       \cup {[type |-> "Resume", asker |-> x] : x \in {ForViews, ForState} \ s.wants}
       \cup {[type |-> "FlushCompletedReceived", sender |-> x, message |-> FlushCompleted(id, s.run.round, NoVector)] :
            x \in IF Running(s) THEN Unsuspected(s) ELSE {}}
       \cup (IF ~InView(s)
             THEN {[type |-> "SendRequested", payload |-> 9]}
                  \cup {[type |-> "Suspend", asker |-> x] : x \in {ForViews, ForState}}
             ELSE {reconcile(NoVector, [x \in all |-> m]), reconcile(s.delivered, [x \in {} |-> m]),
                   reconcile(s.delivered, [x \in all |-> "Z"]),
                   reconcile([x \in all |-> s.delivered[x] + 1], [x \in all |-> m])})
       \cup {[type |-> "DataReceived", sender |-> x, message |-> Data(id, s.delivered[x] + 1, 9)] :
            x \in IF s.frozen THEN {x \in all : s.delivered[x] = s.limit[x]} ELSE {}}

\* Events that are late, or say nothing new: they are ignored.
Lates(m) ==
    LET s == local[m]
        id == s.view.id
        other == ViewId(9, "Z")
        start(x, of, round) ==
            [type |-> "StartFlushReceived", sender |-> x, message |-> StartFlush(of, round, ForViews)]
        stop(x, of) == [type |-> "StopFlushReceived", sender |-> x, message |-> StopFlush(of)]
        reconcile(x, of) ==
            [type |-> "ReconcileReceived", sender |-> x,
             message |-> ReconcileMessage(of, 9, s.delivered, [y \in Members(s) |-> y])]
        report(x, of, round) ==
            [type |-> "FlushCompletedReceived", sender |-> x, message |-> FlushCompleted(of, round, s.delivered)]
        data(x, of, n) == [type |-> "DataReceived", sender |-> x, message |-> Data(of, n, 9)]
    IN {[type |-> "Suspected", suspect |-> x] : x \in {"Z"} \cup s.suspected}
       \cup {start("Z", id, 9), start(m, id, s.run.round + 9), stop("Z", id), reconcile("Z", id), data("Z", id, 1)}
       \cup {report(x, id, s.run.round) : x \in {"Z"} \cup (IF Running(s) THEN s.suspected ELSE Members(s))}
       \cup {report(x, id, s.run.round + 1) : x \in s.run.want} \cup {report(x, other, s.run.round) : x \in s.run.want}
       \cup (IF Running(s) THEN {} ELSE {start(m, id, s.run.round)})
       \cup UNION {{start(x, other, 9), stop(x, other), reconcile(x, other), data(x, id, s.delivered[x] + 2),
                    data(x, other, s.delivered[x] + 1), data(x, id, s.delivered[x])} : x \in Members(s)}
       \cup UNION {{start(x, id, 9), stop(x, id), reconcile(x, id)} : x \in s.suspected}
       \cup {reconcile(x, id) : x \in Members(s) \ (DOMAIN s.later \cup {s.owner})}
       \cup {stop(x, id) : x \in IF IsFree(s) THEN Members(s)
                                 ELSE IF s.owner = "" THEN {} ELSE Members(s) \ (DOMAIN s.later \cup {s.owner})}
       \cup (IF app[m] = "handler" THEN {} ELSE {[type |-> "BlockReturned"]})
       \cup {[type |-> "Suspend", asker |-> x] : x \in IF IsStopped(s) THEN {} ELSE s.wants \ {Self}}

\* In the place of Misuse: in each state, as often as one likes. (What is refused changes nothing.)
MisuseAnywhere(m) ==
    /\ m \in up
    /\ \E event \in Wrongs(m) \cup Lates(m) : Apply("Misuse", m, event, {})
    /\ UNCHANGED beside

\* An event that no correct peer or caller causes is refused; an event that is late, or says nothing new, is ignored;
MisuseIsRefusedStep ==
    act'.action = "Misuse" =>
        act'.outcome \in IF act'.event \in Lates(act'.member) THEN {"ignored"} ELSE {"local_error", "remote_error"}

\* and an event that is handled changes the state, or has effects.
HandledDoesSomethingStep ==
    act'.outcome = "handled" => local'[act'.member] # local[act'.member] \/ act'.effects # <<>>

\* The effects that tell the layer below of limits.
Limits(effects) ==
    LET IsLimit(effect) == effect.type = "PassDown" /\ effect.event.type \in {"HoldBack", "Release"}
    IN SelectSeq(effects, IsLimit)

\* The layer below hears of each limit that changes, and of no other. (A view ends each limit.)
LimitIsSaidStep ==
    \A m \in {act'.member} \cap Member : local'[m].view = local[m].view =>
        LET old == local[m]
            new == local'[m]
            said == Limits(act'.effects)
        IN IF new.frozen = old.frozen /\ new.limit = old.limit THEN said = <<>>
           ELSE said # <<>> /\ said[Len(said)] = IF new.frozen THEN HoldBack(new.limit) ELSE Release

\* FST-05: a member runs a flush only while a caller wants the group stopped, or to end a flush that a caller has left.
OwnFlushIsWanted == \A m \in Member : Running(local[m]) => local[m].wants # {}

\* FST-06: STOP_FLUSH is sent only when no caller wants the group stopped any more.
EndsOnlyUnwantedStep ==
    (\E i \in DOMAIN act'.effects : act'.effects[i].type = "Send" /\ act'.effects[i].message.type = "STOP_FLUSH") =>
        local'[act'.member].wants = {}

\* FST-14: RECONCILE is sent only where some report says less than its target.
ReconcilesOnlyDifferenceStep ==
    LET event == act'.event
        reports == local[act'.member].run.reports
        said == {reports[m] : m \in DOMAIN reports}
                \cup IF event.type = "FlushCompletedReceived" THEN {event.message.digest} ELSE {}
    IN \A i \in DOMAIN act'.effects :
        act'.effects[i].type = "Send" /\ act'.effects[i].message.type = "RECONCILE" =>
            \E report \in said : report # act'.effects[i].message.target

ReconcilesOnlyDifference == [][ReconcilesOnlyDifferenceStep]_vars
EndsOnlyUnwanted == [][EndsOnlyUnwantedStep]_vars
LimitIsSaid == [][LimitIsSaidStep]_vars
MisuseIsRefused == [][MisuseIsRefusedStep]_vars
HandledDoesSomething == [][HandledDoesSomethingStep]_vars

-----------------------------------------------------------------------------
(* Defects: in the place of MemberStep *)

\* The layer below hears of no limit; or of each limit again and again.
SaysNoLimit(s, e) ==
    LET step == Step(s, e)
        Other(effect) == Limits(<<effect>>) = <<>>
    IN [step EXCEPT !.effects = SelectSeq(@, Other)]
SaysLimitAgain(s, e) ==
    LET step == Step(s, e) IN
    IF step.outcome = "handled" /\ step.state.frozen /\ e.type # "ViewInstalled"
    THEN [step EXCEPT !.effects = Append(@, HoldBack(step.state.limit))] ELSE step

\* A flush for a view begins before the STOP_FLUSH of the member's last flush has come back.
BeginsEarly(s, e) ==
    IF e.type = "Suspend" /\ e.asker = ForViews /\ InView(s) /\ ForViews \notin s.wants
    THEN LET begun == Begin([s EXCEPT !.wants = @ \cup {ForViews}]) IN Handled(begun.state, begun.effects)
    ELSE Step(s, e)

\* A flush begins, and its caller is forgotten.
ForgetsCaller(s, e) ==
    LET step == Step(s, e) IN
    IF e.type = "Suspend" /\ step.outcome = "handled" THEN [step EXCEPT !.state.wants = {}] ELSE step

\* RECONCILE is sent when the group is stopped, though no member lacks a message. (No answer to round 0 counts.)
ReconcilesAnyway(s, e) ==
    LET step == Step(s, e)
        message == ReconcileMessage(s.view.id, 0, s.delivered, [x \in Members(s) |-> x])
    IN IF IsStopped(step.state) /\ ~IsStopped(s)
       THEN [step EXCEPT !.effects = @ \o SendAll(s.view.members, Unsuspected(s), message)] ELSE step

\* STOP_FLUSH is sent as soon as the group is stopped.
EndsAtOnce(s, e) ==
    LET step == Step(s, e) IN
    IF IsStopped(step.state) /\ ~IsStopped(s)
    THEN [step EXCEPT !.effects = @ \o SendAll(s.view.members, Unsuspected(s), StopFlush(s.view.id))] ELSE step

\* A caller's mistake is ignored; an event that is ignored counts as handled.
IgnoresMisuse(s, e) == LET step == Step(s, e) IN IF step.outcome = "local_error" THEN Ignored(s) ELSE step
HandlesLate(s, e) ==
    IF e.type = "StartFlushReceived" /\ InView(s) /\ Step(s, e).outcome = "ignored" THEN Handled(s, <<>>)
    ELSE Step(s, e)
=============================================================================
