----------------------------- MODULE UnicastClock -----------------------------
(***************************************************************************)
(* A clock that was set back: an incarnation begins with a lower number    *)
(* than a former one. UNICAST ignores it at a member that has heard the    *)
(* former one, and GMS refuses it. LaterIncarnations says what the program *)
(* that runs members does then. It answers by what both layers know, as    *)
(* each knows a part, and it answers a member of its own view, too. (One   *)
(* part of a group has heard a later incarnation of a member of the other  *)
(* part, and the two merge.)                                               *)
(*                                                                         *)
(* The group is that of UnicastGroup, with one name that begins again      *)
(* while A runs.                                                           *)
(***************************************************************************)
EXTENDS UnicastClaims, LaterIncarnations

CONSTANTS
    Lives           \* the incarnations that A's views have had, as A's GMS knows them

VARIABLES
    runs,           \* the incarnations of the other name, in order; the last of them runs
    answers         \* what may arrive: a set of [to, later]

stack_vars == <<vars, runs, answers>>
stack_view == <<view, runs, answers>>

\* The incarnations of the other name, by their numbers.
ByNumber == <<"B", "B#2", "B#3">>
NumberOf(m) == CHOOSE n \in DOMAIN ByNumber : ByNumber[n] = m

\* The bound Pairs: each incarnation of the other name sends to A.
EachToA == {<<m, "A">> : m \in Member \ {"A"}}

Running == {"A", runs[Len(runs)]}

\* In the place of HasEnded: a clock may make a number of a later incarnation smaller.
IsNotRunning(m) == m \notin Running

Hear(m) ==
    \E p \in Arriving(m) :
        /\ Receive("Hear", m, p)
        /\ \E later \in {LaterThan(p.sender, local[m].members, Lives, DOMAIN local[m].known)} :
            answers' = IF later = "" THEN answers ELSE answers \cup {[to |-> p.sender, later |-> later]}
        /\ UNCHANGED runs

\* The incarnation m ends, and one with this number begins, that knows nothing.
Begin(action, m, number) ==
    /\ runs' = Append(runs, ByNumber[number])
    /\ UNCHANGED <<local, net, history, answers>>
    /\ Environment(action, m, [number |-> number], {})

\* It crashes, and the clock has been set to any time at which no incarnation has begun.
Crash(m) ==
    /\ m # "A" /\ spent.restarts < MaxRestarts
    /\ \E n \in DOMAIN ByNumber : ByNumber[n] \notin Range(runs) /\ Begin("Crash", m, n)
    /\ Spend("restarts")

\* It is answered that a later one is known. Its clock shows no later time than at its beginning.
HearAnswer(m) ==
    /\ \E answer \in answers :
        answer.to = m /\ IsFormer(m, answer.later) /\ Begin("HearAnswer", m, NumberAfter(NumberOf(m), {NumberOf(answer.later)}))
    /\ UNCHANGED spent

ClockInit == Init /\ runs = <<"B#2">> /\ answers = {}

ClockNext ==
    \E m \in Running :
        \/ (UnicastIsRequested(m) \/ RetransmitTimeoutFires(m) \/ InstallView(m)) /\ UNCHANGED <<runs, answers>>
        \/ Hear(m)
        \/ Crash(m)
        \/ HearAnswer(m)

ClockFairness ==
    \A m \in Member :
        /\ WF_stack_vars(m \in Running /\ RetransmitTimeoutFires(m) /\ UNCHANGED <<runs, answers>>)
        /\ WF_stack_vars(m \in Running /\ Hear(m))
        /\ WF_stack_vars(m \in Running /\ HearAnswer(m))

ClockSpec == ClockInit /\ [][ClockNext]_stack_vars
ClockLiveSpec == ClockSpec /\ ClockFairness

-----------------------------------------------------------------------------
(* Claims *)

\* A takes the messages of this incarnation: its UNICAST does not ignore it, and its GMS does not refuse it.
IsTaken(m) ==
    /\ ~IsOver(local["A"], m)
    /\ m \in local["A"].members \/ \A x \in Lives : ~IsFormer(m, x)

\* An incarnation that sends is taken in the end, and heard, or another one has begun in its place.
EventuallyTaken ==
    \A m \in Member \ {"A"} :
        (m \in Running /\ sent[m]["A"] # <<>>) ~> (m \notin Running \/ (IsTaken(m) /\ KeptFor(local[m], "A") = {}))

\* No two incarnations have one address.
AddressUsedOnce == \A i, j \in DOMAIN runs : runs[i] = runs[j] => i = j

-----------------------------------------------------------------------------
(* Witnesses *)

MemberOfViewIsAnswered == \E answer \in answers : answer.to \in local["A"].members /\ answer.to \in Running
BeginsAboveTheClock == "B#3" \in Running /\ Len(runs) > 2

-----------------------------------------------------------------------------
(* Defects *)

\* In the place of LaterThan: no answer; to outsiders alone; of what one layer knows.
NoAnswer(one, members, lives, heard) == ""
KnownLater(one, known) ==
    LET later == {x \in known : IsFormer(one, x)} IN IF later = {} THEN "" ELSE CHOOSE x \in later : \A y \in later : ~IsFormer(x, y)
ToOutsidersAlone(one, members, lives, heard) == KnownLater(one, IF one \in members THEN {} ELSE lives \cup heard)
OfGmsAlone(one, members, lives, heard) == KnownLater(one, IF one \in members THEN {} ELSE lives)
OfUnicastAlone(one, members, lives, heard) == KnownLater(one, heard)

\* Their constraint: a name that begins again with one number has no end.
FewRuns == Len(runs) <= 4

\* In the place of NumberAfter: the clock's number.
OfTheClockAlone(clock, formers) == clock
=============================================================================
