---------------------------- MODULE MCStableCalls ----------------------------
(***************************************************************************)
(* Claims about what a member refuses and ignores, when its timer for      *)
(* STABILITY runs, and what it votes for; and their defects. Only models   *)
(* of these claims use this module.                                        *)
(***************************************************************************)
EXTENDS MCStable

\* A vector of one more than is delivered, for these members.
More(m, members) == [x \in members |-> IF x \in DOMAIN rm[m] THEN rm[m][x].delivered + 1 ELSE FirstSeqno]

\* The same gossip of a sender, as a vote and as an announcement.
Gossip(m, sender, id, vector) ==
    {[type |-> "StableReceived", sender |-> sender, message |-> StableMessage(id, vector)],
     [type |-> "StabilityReceived", sender |-> sender, message |-> StabilityMessage(id, vector), digest |-> DigestOf(rm[m])]}

\* Events that no correct peer or caller causes.
Wrongs(m) ==
    LET s == local[m]
        members == MembersOf(s.view)
        strange == View(9, "Z", <<"Z">>)
        narrow == DigestOf([x \in {"Z"} |-> Window(Nothing)])
    IN {[type |-> "ViewInstalled", view |-> strange, digest |-> DigestOf([x \in {"Z"} |-> Window(Nothing)])],
        [type |-> "ViewInstalled", view |-> View(9, m, <<m>>), digest |-> narrow]}
       \cup (IF Joined(s)
             THEN Gossip(m, "Z", s.view.id, More(m, members))
                  \cup Gossip(m, m, s.view.id, More(m, {"Z"}))
                  \cup {[type |-> "DigestPromised", to |-> m],
                        [type |-> "StabilityReceived", sender |-> m, digest |-> narrow,
                         message |-> StabilityMessage(s.view.id, s.minimum)]}
             ELSE {[type |-> "StableTimeout"], [type |-> "MessageReceived", size |-> 1],
                   [type |-> "DigestPromised", to |-> "Z"]})

\* Events that are late, or say nothing new.
Lates(m) ==
    LET s == local[m]
        members == MembersOf(s.view)
    IN {[type |-> "PromiseWithdrawn", to |-> "Z"]}
       \cup (IF Joined(s) /\ MaxBytes = 0 THEN {[type |-> "MessageReceived", size |-> 1]} ELSE {})
       \cup {[type |-> "DigestPromised", to |-> to] : to \in s.promised}
       \cup (IF s.pending THEN {} ELSE {[type |-> "StabilityTimeout"]})
       \cup Gossip(m, "Z", ViewId(9, "Z"), More(m, {"Z"}))
       \cup (IF ~Joined(s) THEN Gossip(m, m, s.view.id, More(m, members))
             ELSE {[type |-> "ViewInstalled", view |-> view_again, digest |-> DigestOf(rm[m])] :
                        view_again \in {s.view, [s.view EXCEPT !.id.counter = 0]}}
                  \cup Gossip(m, m, ViewId(s.view.id.counter, "Z"), More(m, members)))

\* In the place of Misuse: members that are in no view have such events, too. None changes anything, so no budget bounds
\* them.
MisuseAnywhere(m) ==
    /\ m \in up
    /\ \E event \in Wrongs(m) \cup Lates(m) : Apply("Misuse", m, event, rm[m], {}, None)
    /\ UNCHANGED <<up, views, installed, life, promises, lost, spent>>

-----------------------------------------------------------------------------
(* Claims *)

\* An event that no correct peer or caller causes is refused; an event that is late, or says nothing new, is ignored;
MisuseIsRefusedStep ==
    act'.action = "Misuse" =>
        act'.outcome \in IF act'.event \in Lates(act'.member) THEN {"ignored"} ELSE {"local_error", "remote_error"}

\* no other event is refused;
NoEventRefusedStep == act'.outcome \in {"local_error", "remote_error"} => act'.action = "Misuse"

\* and an event that is handled changes the state, or has effects.
HandledDoesSomethingStep ==
    act'.outcome = "handled" => local'[act'.member] # local[act'.member] \/ act'.effects # <<>>

TimerEffects(type) ==
    {i \in DOMAIN act'.effects : act'.effects[i].type = type /\ act'.effects[i].name = "stability"}

\* STB-09: the timer for STABILITY is set where an announcement becomes pending. Where it is dropped before the timer
\* has fired, the timer is cancelled.
TimerRunsWhilePendingStep ==
    act'.outcome = "handled" =>
        \E pending \in {local[act'.member].pending} :
            /\ TimerEffects("SetTimer") # {} <=> ~pending /\ local'[act'.member].pending
            /\ TimerEffects("CancelTimer") # {} <=>
                pending /\ act'.event.type \in {"ViewInstalled", "StabilityReceived"}

\* STB-06, STB-18: a round begins with a vote for all that is delivered, but where a promise holds the vote.
RoundVotesDeliveredStep ==
    (act'.outcome = "handled" /\ act'.event.type \in {"ViewInstalled", "StabilityReceived"}) =>
        \E s \in {local'[act'.member]} : s.promised = {} => s.vote = Delivered(act'.event.digest)

MisuseIsRefused == [][MisuseIsRefusedStep]_vars
NoEventRefused == [][NoEventRefusedStep]_vars
HandledDoesSomething == [][HandledDoesSomethingStep]_vars
TimerRunsWhilePending == [][TimerRunsWhilePendingStep]_vars
RoundVotesDelivered == [][RoundVotesDeliveredStep]_vars

-----------------------------------------------------------------------------
(* Defects: in the place of MemberStep *)

\* A caller's mistake is ignored.
IgnoresMisuse(s, e) == LET step == Step(s, e) IN IF step.outcome = "local_error" THEN Ignored(s) ELSE step

\* A second vote of a round is refused; or it counts as handled, and does nothing.
IsRepeated(s, e) ==
    e.type = "StableReceived" /\ Joined(s) /\ e.message.view_id = s.view.id /\ Step(s, e).outcome = "ignored"
RefusesRepeated(s, e) == IF IsRepeated(s, e) THEN RemoteError(s) ELSE Step(s, e)
HandlesRepeated(s, e) == IF IsRepeated(s, e) THEN Handled(s, <<>>) ELSE Step(s, e)

\* Each vote sets the timer for STABILITY.
SetsTimerAtEachVote(s, e) ==
    LET step == Step(s, e) IN
    IF e.type = "StableReceived" /\ step.outcome = "handled" THEN [step EXCEPT !.effects = <<SetStabilityTimer>>] ELSE step

\* A view keeps the vote of the one before, promise or not.
KeepsVoteInView(s, e) ==
    LET step == Step(s, e) IN
    IF e.type = "ViewInstalled" /\ Joined(s) /\ step.outcome = "handled"
    THEN [step EXCEPT !.state = NewRound(@, Extended(s.vote, @.vote))] ELSE step

\* A view that drops an announcement lets its timer run.
LeavesTimer(s, e) ==
    LET step == Step(s, e)
        Stays(effect) == effect.type # "CancelTimer"
    IN IF e.type = "ViewInstalled" THEN [step EXCEPT !.effects = SelectSeq(@, Stays)] ELSE step
=============================================================================
