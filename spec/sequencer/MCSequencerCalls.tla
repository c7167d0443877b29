-------------------------- MODULE MCSequencerCalls ---------------------------
(***************************************************************************)
(* Claims about what a member refuses and ignores; and their defects. Only *)
(* models of these claims use this module.                                 *)
(***************************************************************************)
EXTENDS MCSequencer

\* B joins A.
OneJoins == SubSeq(GrowsAndLeaves, 1, 2)

\* Events that no correct peer or caller causes.
Wrongs(m) ==
    LET s == local[m]
        here == s.view.id
        first == CoordinatorOf(s.view)
        later == ViewId(9, "Z")
        strange == Tag("Z", ViewId(1, "Z"), 1)
        nowhere == <<View(1, "Z", <<>>)>>
        data(sender, id, tag) == [type |-> "DataReceived", sender |-> sender, message |-> DataMessage(id, tag, 1)]
        forward(sender, id, tag) == [type |-> "ForwardReceived", sender |-> sender, message |-> ForwardMessage(id, tag, 1)]
        report(sender, id, attempts) == [type |-> "ReportReceived", sender |-> sender, message |-> ReportMessage(id, attempts)]
        formed(sender, id, before) == [type |-> "FormedReceived", sender |-> sender, message |-> FormedMessage(id, before)]
        restored(attempts) == [type |-> "Restored", attempts |-> attempts]
    IN {[type |-> "ViewInstalled", view |-> View(9, "Z", <<"Z">>)], [type |-> "Suspected", suspect |-> m],
        data("Z", later, strange), forward("Y", later, strange), report("Z", later, nowhere), formed("Z", later, 0),
        restored(nowhere), forward("Z", here, strange), report("Z", here, <<>>)}
       \cup (IF Majority THEN {}
             ELSE {report("Z", later, <<>>), report(m, here, <<>>), formed(m, here, 0), restored(<<>>)})
       \cup (IF ~Joined(s)
             THEN {[type |-> "SendRequested", payload |-> 0], data("Z", here, strange), formed("Z", here, 0)}
                  \cup (IF s.founds THEN {} ELSE {restored(<<>>)})
             ELSE {restored(<<>>), data(m, later, OwnTag(s, 1)), data(first, here, strange),
                   forward(m, here, strange), report(m, here, nowhere), formed("Z", here, 0),
                   formed(first, here, -1), formed(first, here, here.counter)}
                  \cup (IF IsCoordinator(s) THEN {}
                        ELSE {data(m, here, OwnTag(s, 1)), forward(m, here, OwnTag(s, 1)), report(m, here, <<>>),
                              formed(m, here, 0)}))

\* Events that are late, or say nothing new.
Lates(m) ==
    LET s == local[m]
        twin == ViewId(s.view.id.counter, "Z")
        first == CoordinatorOf(s.view)
        tag == OwnTag(s, 1)
    IN {[type |-> "Suspected", suspect |-> "Z"]}
       \cup {[type |-> "Suspected", suspect |-> x] : x \in s.suspected}
       \cup (IF ~Joined(s) THEN {}
             ELSE {[type |-> "ViewInstalled", view |-> s.view], [type |-> "ViewInstalled", view |-> [s.view EXCEPT !.id.counter = 0]],
                   [type |-> "DataReceived", sender |-> first, message |-> DataMessage(twin, tag, 1)],
                   [type |-> "ForwardReceived", sender |-> m, message |-> ForwardMessage(twin, tag, 1)]}
                  \cup (IF ~Majority THEN {}
                        ELSE {[type |-> "ReportReceived", sender |-> m, message |-> ReportMessage(twin, <<>>)],
                              [type |-> "FormedReceived", sender |-> first, message |-> FormedMessage(twin, 0)]}
                             \cup (IF ~KnowsFormed(s) THEN {}
                                   ELSE {[type |-> "FormedReceived", sender |-> first, message |-> FormedMessage(s.view.id, 0)]})
                             \cup (IF ~s.formed \/ ~IsCoordinator(s) THEN {}
                                   ELSE {[type |-> "ReportReceived", sender |-> m, message |-> ReportMessage(s.view.id, <<>>)]})))

\* In the place of Misuse: members that are in no view have such events, too. None changes anything, so no budget bounds
\* them.
MisuseAnywhere(m) ==
    /\ m \in up
    /\ \E event \in Wrongs(m) \cup Lates(m) : ApplyHere("Misuse", m, event, {}, None)
    /\ UNCHANGED <<views, installed, life, up, settled, got, due, looked, stops, sent, spent, aux_path>>

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

MisuseIsRefused == [][MisuseIsRefusedStep]_vars
NoEventRefused == [][NoEventRefusedStep]_vars
HandledDoesSomething == [][HandledDoesSomethingStep]_vars

-----------------------------------------------------------------------------
(* Defects: in the place of an operator of Sequencer *)

\* Suspected: a suspicion of the member itself is ignored.
SuspectsNotItself(s, e) == IF e.suspect = s.member THEN Ignored(s) ELSE
    IF e.suspect \notin MembersOf(s.view) \/ e.suspect \in s.suspected THEN Ignored(s)
    ELSE Handled([s EXCEPT !.suspected = @ \cup {e.suspect}], <<>>)

\* Duplicate: a message that was received before counts as the mistake of a peer, or as handled where nothing comes of it.
RefusesDuplicate(s, cleared) == IF cleared = s THEN RemoteError(s) ELSE Handled(cleared, <<>>)
HandlesDuplicate(s, cleared) == Handled(cleared, <<>>)

\* Restored: an incarnation that has begun with a record takes another one.
RestoresAgain(s, e) ==
    IF ~Majority \/ Joined(s) \/ ~IsRecord(e.attempts) THEN LocalError(s)
    ELSE Handled([s EXCEPT !.attempts = e.attempts, !.founds = FALSE], <<>>)
=============================================================================
