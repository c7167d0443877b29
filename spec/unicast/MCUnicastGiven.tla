---------------------------- MODULE MCUnicastGiven ---------------------------
(***************************************************************************)
(* Models of what UNICAST gives, whose ablations violate one part of it    *)
(* alone (`groupcomm mutants --guarantees`), or one condition of a step of *)
(* FifoUnicast.                                                            *)
(***************************************************************************)
EXTENDS MCUnicast

-----------------------------------------------------------------------------
(* The algorithm: in the place of MemberStep *)

IsUp(effect) == effect.type = "PassUp"
IsNoUp(effect) == effect.type # "PassUp"
Ups(step) == SelectSeq(step.effects, IsUp)
WithoutUps(step) == [step EXCEPT !.effects = SelectSeq(@, IsNoUp)]

\* With a message the next one is passed up, which was not sent.
PassesOneMoreStep(s, e) ==
    LET step == Step(s, e)
        ups == Ups(step)
    IN IF ups = <<>> THEN step
       ELSE [step EXCEPT !.effects = Append(@, DeliverUp(e.sender, ups[Len(ups)].event.payload + 1))]

\* The messages that waited behind a gap are passed up before the message that fills it, the last first.
LastFirstUpStep(s, e) ==
    LET step == Step(s, e)
        ups == Ups(step)
    IN [step EXCEPT !.effects = [i \in DOMAIN ups |-> ups[Len(ups) + 1 - i]] \o SelectSeq(@, IsNoUp)]

\* A window is opened by a later incarnation, and the message of the former one is passed up behind its first. (Each sends one.)
FormerBehindStep(s, e) ==
    LET step == Step(s, e) IN
    IF e.type = "DataReceived" /\ e.sender \notin DOMAIN s.receives /\ Ups(step) # <<>>
       /\ e.message.connection.incarnation > 0 /\ e.message.payload > 1
    THEN [step EXCEPT !.effects = Append(@, DeliverUp(e.sender, e.message.payload - 1))] ELSE step

\* s has received the one message of x.
HasReceived(s, x) == x \in DOMAIN s.receives /\ s.receives[x].delivered = 1

\* What was received before the first request is passed up with it.
PassesUpWithRequestStep(s, e) ==
    LET step == Step(s, e) IN
    IF s.opened > 0 THEN step
    ELSE IF e.type = "UnicastRequested" /\ HasReceived(s, e.to)
    THEN [step EXCEPT !.effects = <<DeliverUp(e.to, 1)>> \o @]
    ELSE WithoutUps(step)

\* What was received of a member is passed up when a view excludes the member.
PassesUpWithViewStep(s, e) ==
    LET step == Step(s, e) IN
    IF e.type = "DataReceived" THEN IF e.sender \in s.members THEN WithoutUps(step) ELSE step
    ELSE IF e.type = "ViewInstalled" /\ step.outcome = "handled" /\ \E x \in s.members \ MembersOf(e.view) : HasReceived(s, x)
    THEN [step EXCEPT !.effects =
            Append(@, DeliverUp(CHOOSE x \in s.members \ MembersOf(e.view) : HasReceived(s, x), 1))]
    ELSE step

-----------------------------------------------------------------------------
(* The model itself: its history is not what happened *)

(* In the place of UnicastIsRequested *)

Requests(m, to, more) ==
    /\ <<m, to>> \in Pairs /\ more
    /\ Apply("UnicastIsRequested", m, [type |-> "UnicastRequested", to |-> to, payload |-> Len(sent[m][to]) + 1], {})
    /\ UNCHANGED <<incarnation, begun, closed, spent>>

\* A message is noted in both directions.
NotesBoth(m) ==
    \E to \in Member :
        /\ Requests(m, to, SentNow(m, to) < Sends)
        /\ sent' = [sent EXCEPT ![m][to] = Append(@, incarnation[m]), ![to][m] = Append(@, incarnation[to])]

\* The messages of former incarnations get lower numbers of incarnations.
NotesFormerLower(m) ==
    \E to \in Member :
        /\ Requests(m, to, SentNow(m, to) < Sends)
        /\ LET list == sent[m][to]
               noted == [i \in DOMAIN list |-> IF list[i] = incarnation[m] THEN list[i] ELSE list[i] - 1]
           IN sent' = [sent EXCEPT ![m][to] = Append(noted, incarnation[m])]

Former(number) == IF number = 0 THEN 0 ELSE number - 1

\* A message counts as one of another incarnation.
Notes(m, number) ==
    \E to \in Member :
        /\ Requests(m, to, Len(sent[m][to]) < Sends)
        /\ sent' = [sent EXCEPT ![m][to] = Append(@, number)]
NotesNext(m) == Notes(m, incarnation[m] + 1)
NotesFormer(m) == Notes(m, Former(incarnation[m]))

\* With the second message both are forgotten.
NotesFirstAlone(m) ==
    \E to \in Member :
        /\ Requests(m, to, IF to \in DOMAIN local[m].sends THEN local[m].sends[to].next <= Sends ELSE TRUE)
        /\ sent' = [sent EXCEPT ![m][to] = IF @ = <<>> THEN <<incarnation[m]>> ELSE <<>>]

(* In the place of Apply *)

\* What one receiver of A delivers counts for each that A has sent it to.
ApplyToEach(action, m, event, consumed) ==
    \E step \in {MemberStep(local[m], event)} :
        /\ Take(action, m, None, event, consumed, step)
        /\ net' = AfterStep(m, consumed, step.effects)
        /\ got' = IF GotAfter(m, step.effects) = got[m] THEN got
                  ELSE [x \in Member |-> [from \in Member |->
                            IF from = "A" /\ got[x][from] = <<>> /\ sent[from][x] # <<>> THEN <<<<incarnation[x], 1>>>>
                            ELSE got[x][from]]]

(* In the place of GotAfter *)

GotBy(before, number, effects) ==
    [from \in Member |-> LET new == DeliveredBy(effects, from) IN before[from] \o [i \in DOMAIN new |-> <<number, new[i]>>]]

\* A delivery counts as one of another incarnation.
GotByNext(m, effects) == GotBy(got[m], incarnation[m] + 1, effects)
GotByFormer(m, effects) == GotBy(got[m], Former(incarnation[m]), effects)

\* With a delivery those of former incarnations are forgotten.
GotByPresentAlone(m, effects) ==
    LET IsPresent(entry) == entry[1] = incarnation[m]
        present == [from \in Member |-> IF DeliveredBy(effects, from) = <<>> THEN got[m][from] ELSE SelectSeq(got[m][from], IsPresent)]
    IN GotBy(present, incarnation[m], effects)

(* In the place of InstallView *)

Installs(m, v) ==
    /\ m \in Installers /\ spent.views < MaxViews /\ MembersOf(v) # local[m].members
    /\ Apply("InstallView", m, [type |-> "ViewInstalled", view |-> v], {})
    /\ Spend("views")
    /\ UNCHANGED <<incarnation, sent>>

\* `closed` of m after this view, where `more` is added to what was sent.
ClosedBy(m, v, more) ==
    [to \in Member |-> IF to \in local[m].members \ MembersOf(v) THEN Len(sent[m][to]) + more ELSE closed[m][to]]

\* The others exclude all, too.
ClosesAll(m) ==
    \E v \in ViewsOf(m) :
        /\ Installs(m, v)
        /\ closed' = [x \in Member |-> IF x = m THEN ClosedBy(m, v, 0) ELSE [to \in Member |-> Len(sent[x][to])]]
        /\ UNCHANGED begun

\* The next message may be lost, too.
ClosesBeyond(m) ==
    \E v \in ViewsOf(m) : Installs(m, v) /\ closed' = [closed EXCEPT ![m] = ClosedBy(m, v, 1)] /\ UNCHANGED begun

\* What was sent to m before the view may be lost.
BeginsByView(m) ==
    \E v \in ViewsOf(m) :
        /\ Installs(m, v)
        /\ closed' = [closed EXCEPT ![m] = ClosedBy(m, v, 0)]
        /\ begun' = [begun EXCEPT ![m] = [from \in Member |-> Len(sent[from][m])]]

(* In the place of Restart *)

Restarts(m, number, more) ==
    /\ m \in Restarters
    /\ spent.restarts < MaxRestarts
    /\ \E event \in {[type |-> "IncarnationBegins", incarnation |-> number]} :
        \E step \in {MemberStep(Start(m), event)} : TakeFromStart("Restart", m, None, event, {}, step)
    /\ incarnation' = [incarnation EXCEPT ![m] = number]
    /\ begun' = [begun EXCEPT ![m] = [from \in Member |-> Len(sent[from][m]) + more]]
    /\ Spend("restarts")
    /\ UNCHANGED <<net, sent, got>>

\* A member that begins again excludes all.
RestartCloses(m) ==
    Restarts(m, incarnation[m] + 1, 0) /\ closed' = [closed EXCEPT ![m] = [to \in Member |-> Len(sent[m][to])]]

\* The next message may be lost, too.
RestartBeginsLater(m) == Restarts(m, incarnation[m] + 1, 1) /\ UNCHANGED closed

\* A number is left out.
RestartSkips(m) == Restarts(m, incarnation[m] + 2, 0) /\ UNCHANGED closed
=============================================================================
