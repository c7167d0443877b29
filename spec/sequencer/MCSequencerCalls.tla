-------------------------- MODULE MCSequencerCalls ---------------------------
(***************************************************************************)
(* Claims about what a member refuses and ignores, how long it keeps       *)
(* entries of the received-table, and what FORMED says; and their defects. *)
(* Only models of these claims use this module.                            *)
(***************************************************************************)
EXTENDS MCSequencer

\* B joins A.
OneJoins == SubSeq(GrowsAndLeaves, 1, 2)

\* Names like that of the joiner, whose name came before.
Named == <<FirstView(1, "A", <<"A", "b10", "b#x">>), Next1(2, "A", <<"A", "b#2">>, {1}, {"b#2"})>>
ThreeOfNamed == [m \in Member |-> CASE m = "b10" -> 2 [] m = "b#x" -> 1 [] OTHER -> 0]

\* A name has two incarnations in a view, and none in the next.
Numbered ==
    <<FirstView(1, "A", <<"A", "b#2">>), Next1(2, "A", <<"A", "b#2", "b#10">>, {1}, {"b#10"}), Next1(3, "A", A, {2}, {})>>
OneOfEachNumber == [m \in Member |-> IF m = "A" THEN 0 ELSE 1]

\* With Majority. A pair takes in C, and then its senior is alone.
GrowsAndShrinks == <<FirstView(1, "A", AB), Next1(2, "A", ABC, {1}, {"C"}), Next1(3, "A", A, {2}, {})>>

\* The second of a pair takes in three, and goes on with its senior alone.
PairTakesThree ==
    <<FirstView(1, "B", <<"B", "A">>), Next1(2, "A", ABCDE, {1}, {"C", "D", "E"}), Next1(3, "A", AB, {2}, {})>>

\* The second of a pair decides a view of a joiner alone, and leaves; its senior continues.
JoinerIsLeft == <<FirstView(1, "B", <<"B", "A">>), Next1(2, "A", <<"C">>, {1}, {"C"}), Next1(2, "B", B, {1}, {})>>

\* C crashes, and A and B form the next view. A leaves with a view of C's next incarnation alone, and B continues.
BAC == <<FirstView(1, "B", <<"B", "A", "C">>)>>
LeavesToReturner ==
    Then(<<Next1(2, "B", <<"B", "A">>, {1}, {}), Next1(3, "A", <<"C#2">>, {2}, {"C#2"}), Next1(3, "B", B, {2}, {})>>)

\* A group begins beside another one.
BeginsBeside == Then(<<ByItself(1, "B")>>)

\* Events that no correct peer or caller causes.
Wrongs(m) ==
    LET s == local[m]
        here == s.view.id
        first == CoordinatorOf(s.view)
        later == ViewId(9, "Z")
        strange == Tag("Z", ViewId(1, "Z"), 1)
        nowhere == <<View(1, "Z", <<>>)>>
        data(x, id, tag) == [type |-> "DataReceived", sender |-> x, message |-> DataMessage(id, tag, 1)]
        forward(x, id, tag) == [type |-> "ForwardReceived", sender |-> x, message |-> ForwardMessage(id, tag, 1)]
        report(x, id, attempts) == [type |-> "ReportReceived", sender |-> x, message |-> ReportMessage(id, attempts)]
        formed(x, id, before) == [type |-> "FormedReceived", sender |-> x, message |-> FormedMessage(id, before)]
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
        report(id) == [type |-> "ReportReceived", sender |-> m, message |-> ReportMessage(id, <<>>)]
        formed(id) == [type |-> "FormedReceived", sender |-> first, message |-> FormedMessage(id, 0)]
    IN {[type |-> "Suspected", suspect |-> "Z"]}
       \cup {[type |-> "Suspected", suspect |-> x] : x \in s.suspected}
       \cup (IF ~Joined(s) THEN {}
             ELSE {[type |-> "ViewInstalled", view |-> s.view],
                   [type |-> "ViewInstalled", view |-> [s.view EXCEPT !.id.counter = 0]],
                   [type |-> "DataReceived", sender |-> first, message |-> DataMessage(twin, tag, 1)],
                   [type |-> "ForwardReceived", sender |-> m, message |-> ForwardMessage(twin, tag, 1)]}
                  \cup (IF ~Majority THEN {}
                        ELSE {report(twin), formed(twin)}
                             \cup (IF KnowsFormed(s) THEN {formed(s.view.id)} ELSE {})
                             \cup (IF s.formed /\ IsCoordinator(s) THEN {report(s.view.id)} ELSE {})))

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

\* SEQ-28: the entry of a sender stays, also where it has departed, until a later incarnation of its name is known. Its
\* own DATA alone changes it.
EntryStaysStep ==
    \A m \in {act'.member} \cap Member :
        (installed[m] # 0 /\ life' = life) =>
            \E old \in {local[m].received_table}, new \in {local'[m].received_table} :
                \A x \in DOMAIN old \ Superseded(DOMAIN old \cup MembersOf(local'[m].view)) :
                    IF x \notin DOMAIN new THEN FALSE
                    ELSE new[x] = old[x] \/ (act'.event.type = "DataReceived" /\ act'.event.message.tag.sender = x)

\* DATA of another incarnation of a member takes nothing from its forward-table.
OthersDataClearsNothing ==
    \A m \in InGroup :
        LET s == local[m]
            data(seqno) == DataMessage(s.view.id, Tag(m, ViewId(9, "Z"), seqno), 1)
        IN \A i \in DOMAIN s.forward_table :
            Step(s, [type |-> "DataReceived", sender |-> CoordinatorOf(s.view),
                     message |-> data(s.forward_table[i].seqno)]).state.forward_table = s.forward_table

\* A suspicion is noted.
SuspicionIsNotedStep == act'.action = "Suspect" => act'.event.suspect \in local'[act'.member].suspected

\* The coordinator sends itself nothing.
NothingSentToSelfStep ==
    \A i \in DOMAIN act'.effects :
        act'.effects[i].type = "Send" => act'.effects[i].to # act'.member

FormedEffects ==
    {i \in DOMAIN act'.effects : act'.effects[i].type = "Multicast" /\ act'.effects[i].message.type = "FORMED"}

\* With Majority. A member that begins, and creates a view of itself alone, forms it.
FounderFormsStep ==
    (Majority /\ act'.event.type = "ViewInstalled" /\ act'.outcome = "handled"
        /\ local[act'.member] = Start(act'.member) /\ act'.event.view.members = <<act'.member>>
        /\ act'.event.view.id.creator = act'.member) => FormedEffects # {}

\* ... and a member that begins with others does not form their view by itself.
FoundsAlone ==
    \A m \in {m \in Member : Majority /\ local[m] = Start(m)} : \A x \in Member \ {m} :
        \E effects \in {Step(local[m], [type |-> "ViewInstalled", view |-> View(1, m, <<m, x>>)]).effects} :
            \A i \in DOMAIN effects : effects[i].type # "Multicast"

\* FORMED names a formed view, or 0. That is no earlier than the last formed view that the coordinator knows.
BaseIsFormedStep ==
    \A i \in FormedEffects :
        LET message == act'.effects[i].message
            own == local[act'.member].attempts
        IN /\ message.before # 0 => \E k \in FormedViews : views[k].id.counter = message.before
           /\ (own # <<>> /\ own[1].id.counter < message.view_id.counter) => own[1].id.counter <= message.before

MisuseIsRefused == [][MisuseIsRefusedStep]_vars
NoEventRefused == [][NoEventRefusedStep]_vars
HandledDoesSomething == [][HandledDoesSomethingStep]_vars
EntryStays == [][EntryStaysStep]_vars
SuspicionIsNoted == [][SuspicionIsNotedStep]_vars
NothingSentToSelf == [][NothingSentToSelfStep]_vars
FounderForms == [][FounderFormsStep]_vars
BaseIsFormed == [][BaseIsFormedStep]_vars

-----------------------------------------------------------------------------
(* Defects: in the place of an operator of Sequencer *)

\* Suspected: a suspicion of the member itself is ignored.
SuspectsNotItself(s, e) == IF e.suspect = s.member THEN Ignored(s) ELSE
    IF e.suspect \notin MembersOf(s.view) \/ e.suspect \in s.suspected THEN Ignored(s)
    ELSE Handled([s EXCEPT !.suspected = @ \cup {e.suspect}], <<>>)

\* Suspected: suspicions are ignored.
IgnoresSuspicions(s, e) == IF e.suspect = s.member THEN LocalError(s) ELSE Ignored(s)

\* IsOwn: DATA of another incarnation with this address is its own.
OfItsAddress(state, tag) == tag.sender = state.member

\* LatestLives: where an address has a number, all others of its name are forgotten.
ForgetsNamesakes(function, members) ==
    LET known == DOMAIN function \cup members
        Alike(a) == {b \in known : IsFormer(a, b) \/ IsFormer(b, a)}
    IN [a \in {a \in DOMAIN function : a \in members \/ Alike(a) = {}} |-> function[a]]

\* Recorded: each entry is that of the last DATA, whoever sent it.
RecordsForAll(table, tag) == [m \in DOMAIN table \cup {tag.sender} |-> Mark(tag)]

\* Duplicate: a message that was received before counts as the mistake of a peer, or as handled.
RefusesDuplicate(s, cleared) == IF cleared = s THEN RemoteError(s) ELSE Handled(cleared, <<>>)
HandlesDuplicate(s, cleared) == Handled(cleared, <<>>)

\* Attempt: a member of which the record has no room for a view reports all the same.
ReportsWhenFull(before, s) ==
    LET own == ReportMessage(s.view.id, before.attempts)
        after == [s EXCEPT !.formed = FALSE, !.attempts = Attempted(before, s.view),
                           !.reports = ReportsFrom(@, s.view.id.counter)]
    IN IF IsCoordinator(s) THEN Forms([after EXCEPT !.reports = Noted(@, s.member, own)])
       ELSE Handled(after, <<Send(CoordinatorOf(s.view), own)>>)

\* Founds: a joiner that is alone in its first view founds a group, whoever has created that view.
FoundsAsJoiner(s) == s.founds /\ s.view.members = <<s.member>> /\ s.epoch = s.view.id

\* Founds: a member founds a group with those that are in its first view.
FoundsWithOthers(s) == s.founds /\ s.view.id.creator = s.member /\ s.epoch = s.view.id

\* Leavers: a creator counts where some member reports a formed view alone, whoever has formed it.
AnyLeaverOfFormed(records, v) ==
    {c \in {v.id.creator} \ MembersOf(v) : \E m \in DOMAIN records : Len(records[m]) = 1}

\* Attempt: a coordinator sends its report to itself, too.
ReportsToItself(before, s) ==
    Handled([s EXCEPT !.formed = FALSE, !.attempts = Attempted(before, s.view),
                      !.reports = ReportsFrom(@, s.view.id.counter)],
            <<Send(CoordinatorOf(s.view), ReportMessage(s.view.id, before.attempts))>>)

\* IsQuorum: each member of the last formed view is waited for.
AsksAll(records, v) == \E m \in DOMAIN records : records[m] # <<>> /\ MembersOf(records[m][1]) \subseteq DOMAIN records

\* StillEarly: a coordinator that has to wait drops FORWARDs that came before its view.
DropsForwards(early, v, waits) == LET Later(f) == f.view_id.counter > v.id.counter IN SelectSeq(early, Later)

\* MayForm: a founder waits for others.
FoundersWait(s) == IsQuorum(RecordsOf(s), s.view)

\* BaseOf: the view before, formed or not; or no view.
BaseOfAny(records, v) == v.id.counter - 1
BaseOfNone(records, v) == 0

\* Restored: an incarnation that has begun with a record takes another one.
RestoresAgain(s, e) ==
    IF ~Majority \/ Joined(s) \/ ~IsRecord(e.attempts) THEN LocalError(s)
    ELSE Handled([s EXCEPT !.attempts = e.attempts, !.founds = FALSE], <<>>)
=============================================================================
