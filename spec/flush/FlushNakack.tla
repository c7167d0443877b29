----------------------------- MODULE FlushNakack ----------------------------
(******************************************************************************)
(* FLUSH over NAKACK: a closed model of two neighbours over Network. NAKACK   *)
(* sends the multicasts of FLUSH in the same step as FLUSH does, and hears of *)
(* HoldBack, Release, Fetch and views in it, too. FLUSH hears at once each    *)
(* message that NAKACK delivers. Datagrams are lost, doubled, late, in any    *)
(* order.                                                                     *)
(*                                                                            *)
(* The group is that of FlushGroup; PassedDown says what follows from each    *)
(* action for NAKACK. FlushGroup's `copies` say what may arrive at FLUSH, by  *)
(* what FLUSH assumes of the layer below. Here nothing arrives from them:     *)
(* NAKACK's deliveries are held against them. So the claims are               *)
(* - that each delivery is possible in FLUSH's environment                    *)
(*   (DeliversOnlyWhatMayArrive), and that only messages are lost that this   *)
(*   environment may lose (NothingElseIsLost): only a crashed member has sent *)
(*   them, and no member is named as their holder;                            *)
(* - and those of FLUSH, over NAKACK's real step.                             *)
(*                                                                            *)
(* A joiner's windows start at what the maker of its view has delivered when  *)
(* it decides. That is the cut, as the group is stopped then. No promise      *)
(* is made for it.                                                            *)
(*                                                                            *)
(* Less than spec/flush has: no member leaves, is suspected falsely, merges   *)
(* or transfers a state; a member's own steps happen at once (Due).           *)
(******************************************************************************)
EXTENDS FlushClaims

CONSTANTS
    Tellers             \* bound: the members whose timer for HIGHEST fires

VARIABLES
    nakack,             \* [Member -> NAKACK's state]
    net,                \* the datagrams that may arrive (Network)
    delivered,          \* what NAKACK has delivered, and FLUSH has yet to hear: [to, sender, message], in order
    starts              \* per view: the start digest of joiners

stack_vars == <<vars, nakack, net, delivered, starts>>
stack_view == <<view, nakack, net, delivered, starts>>

\* NAKACK as its own specification has it.
Nakack == INSTANCE Nakack WITH
    HighestInterval <- 2, RequestDelay <- 1, FirstAsked <- 4

Datagrams == INSTANCE Network WITH NetworkRemembers <- TRUE

NakackStep(s, e) == Nakack!Step(s, e)

-----------------------------------------------------------------------------
(* Events that FLUSH passes down *)

\* The effects of a step of FLUSH that are events of NAKACK.
IsForNakack(effect) ==
    effect.type = "Multicast" \/ (effect.type = "PassDown" /\ effect.event.type \in {"HoldBack", "Release", "Fetch"})
HeardBelow(effect) ==
    IF effect.type = "Multicast" THEN [type |-> "SendRequested", payload |-> effect.message] ELSE effect.event

\* NAKACK's state after these events, and its effects in order.
RECURSIVE Ran(_, _, _)
Ran(s, events, effects) ==
    IF events = <<>> THEN [state |-> s, effects |-> effects]
    ELSE CHOOSE done \in {Ran(step.state, Tail(events), effects \o step.effects) :
                            step \in {NakackStep(s, Head(events))}} : TRUE

\* The deliveries of NAKACK at m among these effects.
Delivers(m, effects) ==
    LET those == Events(effects, "PassUp", "Deliver")
    IN [i \in DOMAIN those |-> [to |-> m, sender |-> those[i].sender, message |-> those[i].payload]]

NakackDid(m, done, queue) ==
    /\ nakack' = [nakack EXCEPT ![m] = done.state]
    /\ net' = net \cup Datagrams!Sent(m, done.effects)
    /\ delivered' = queue \o Delivers(m, done.effects)

\* The layers hear of a view the lowest first; a joiner has its start digest already.
InstalledBelow(m) ==
    LET k == installed'[m]
        told == {x \in DOMAIN starts'[k] : starts'[k][x] # Nakack!Nothing}
        begins == [type |-> "DigestSet", digest |-> [x \in told |-> starts'[k][x]]]
    IN IF k = installed[m] THEN <<>>
       ELSE (IF installed[m] = 0 THEN <<begins>> ELSE <<>>) \o <<[type |-> "ViewInstalled", view |-> ViewOf(views'[k])]>>

\* The start digest of joiners: the deliveries of the member m of each member of the view.
StartDigestOf(m, v) ==
    [x \in DOMAIN v.lives |->
        IF x \in DOMAIN nakack[m].windows THEN nakack[m].windows[x].delivered ELSE Nakack!Nothing]

\* A crash loses no copies by itself here: what arrives is NAKACK's to say.
Keeps == act'.action = "Crash" => \A c \in copies : c.to # act'.member => c \in copies'

\* `queue`: what FLUSH has yet to hear besides.
PassedDown(queue) ==
    /\ Keeps
    /\ starts' = IF views' = views THEN starts
                 ELSE Append(starts, LET v == views'[Len(views')] IN StartDigestOf(v.id.creator, v))
    /\ \E m \in {act'.member} : \E those \in {SelectSeq(act'.effects, IsForNakack)} :
        NakackDid(m, Ran(nakack[m], InstalledBelow(m) \o [i \in DOMAIN those |-> HeardBelow(those[i])], <<>>), queue)

-----------------------------------------------------------------------------
(* NAKACK's own events *)

ArrivalOf(p) ==
    [type |-> CASE p.message.type = "DATA" -> "DataReceived"
                [] p.message.type = "HIGHEST" -> "HighestReceived"
                [] p.message.type = "XMIT_REQ" -> "XmitReqReceived",
     sender |-> p.sender, message |-> p.message]

HighestEvent == [type |-> "HighestTimeout"]
RequestEvent == [type |-> "RequestTimeout"]

NakackTakes(action, m, event) ==
    \E step \in {NakackStep(nakack[m], event)} :
        /\ NakackDid(m, step, <<>>)
        /\ Record(action, m, FALSE, None, event, {}, step.outcome, step.effects)
        /\ UNCHANGED <<view, starts>>

ReceiveDatagram(m) == m \in up /\ \E p \in Datagrams!Arriving(m) : NakackTakes("ReceiveDatagram", m, ArrivalOf(p))

HighestTimeoutFires(m) ==
    m \in up \cap Tellers /\ InView(local[m]) /\ NakackTakes("HighestTimeoutFires", m, HighestEvent)
RequestTimeoutFires(m) == m \in up /\ nakack[m].asking /\ NakackTakes("RequestTimeoutFires", m, RequestEvent)

\* The copies that a delivery of NAKACK is one of.
CopiesOf(d) == {c \in copies : c.to = d.to /\ c.sender = d.sender /\ DataOf(c) = d.message}

\* FLUSH hears what NAKACK has delivered.
HearDelivered ==
    /\ \E d \in {Head(delivered)} :
        /\ ApplyWith("HearDelivered", d.to, [type |-> "DataReceived", sender |-> d.sender, message |-> d.message], {},
                     CopiesOf(d), None, views, installed[d.to])
        /\ Applies(d.to)
    /\ UNCHANGED <<cast, offers, wishes, answers, spent>>
    /\ PassedDown(Tail(delivered))

-----------------------------------------------------------------------------
StackInit ==
    /\ Init
    /\ nakack = [m \in Member |->
            IF installed[m] = 0 THEN Nakack!Start(m)
            ELSE NakackStep(Nakack!Start(m), [type |-> "ViewInstalled", view |-> ViewOf(views[installed[m]])]).state]
    /\ net = {} /\ delivered = <<>>
    /\ starts = [k \in DOMAIN views |-> [x \in DOMAIN views[k].lives |-> Nakack!Nothing]]

\* A member hears deliveries first; then it does what it does by itself.
StackNext ==
    IF delivered # <<>> THEN HearDelivered
    ELSE IF SomethingIsDue THEN /\ TakesDueStep
                                /\ PassedDown(<<>>)
    ELSE \/ (\E m \in Member :
                \/ ReceiveStartFlush(m)
                \/ ReceiveFlushCompleted(m)
                \/ ReceiveReconcile(m)
                \/ ReceiveStopFlush(m)
                \/ AppSends(m)
                \/ TakeOver(m)
                \/ SuspendGroup(m)
                \/ ResumeGroup(m)
                \/ DecideView(m)
                \/ InstallView(m)
                \/ Crash(m)
                \/ Detect(m))
            /\ PassedDown(<<>>)
         \/ \E m \in Member :
            \/ ReceiveDatagram(m)
            \/ HighestTimeoutFires(m)
            \/ RequestTimeoutFires(m)

StackSpec == StackInit /\ [][StackNext]_stack_vars

-----------------------------------------------------------------------------
(* Claims: NAKACK is what FLUSH assumes *)

StackTypeOK ==
    /\ \A m \in Member : nakack[m].member = m /\ nakack[m].view = local[m].view
    /\ \A p \in net : p.message.type \in {"DATA", "HIGHEST", "XMIT_REQ"}
    /\ DOMAIN starts = DOMAIN views

\* A delivery of NAKACK may arrive now, by what FLUSH assumes: it is next of its sender in this view, and not held back.
DeliversOnlyWhatMayArrive ==
    delivered # <<>> =>
        \E c \in CopiesOf(Head(delivered)) : c.view = installed[c.to] /\ MayArrive(c.to, c)

\* NAKACK counts over all views, FLUSH in its own: they have delivered the same of it.
CountsTheSame ==
    delivered = <<>> =>
        \A m \in up : \A x \in DOMAIN local[m].delivered :
            nakack[m].windows[x].delivered - nakack[m].windows[x].base = local[m].delivered[x]

\* All members of a view count each of them from the same number.
SeqnoBasesAgree ==
    \A m, y \in up : installed[m] = installed[y] =>
        \A x \in DOMAIN nakack[m].windows : nakack[m].windows[x].base = nakack[y].windows[x].base

\* An event changes nothing in NAKACK any more.
IsStale(m, event) ==
    \E step \in {NakackStep(nakack[m], event)} :
        step.state = nakack[m] /\ Delivers(m, step.effects) = <<>> /\ Datagrams!Sent(m, step.effects) \subseteq net

\* Nothing that may be sent again, and no timer, changes anything. (What a member sent that has crashed may be lost.)
NakackAtRest ==
    \A m \in up :
        /\ \A p \in Datagrams!Arriving(m) : p.sender \in up => IsStale(m, ArrivalOf(p))
        /\ m \in Tellers /\ InView(local[m]) => IsStale(m, HighestEvent)
        /\ nakack[m].asking => IsStale(m, RequestEvent)

\* The duties of FLUSH's group, but for the layer of multicasts that is NAKACK here.
Above == INSTANCE FlushClaims WITH
    copies <- {}, fetches <- [m \in Member |-> {}]

StackQuiescent == delivered = <<>> /\ Above!Quiescent /\ NakackAtRest

\* A live member is named that has it.
IsFetched(c) ==
    \E f \in fetches[c.to] : f.sender = c.sender /\ f.upto >= c.seqno /\ f.holder \in up

\* When nothing more happens, all has arrived that FLUSH's environment does not lose.
NothingElseIsLost ==
    StackQuiescent =>
        \A c \in copies :
            (c.to \in up /\ c.view = installed[c.to] /\ MayArrive(c.to, c)) => (c.via \notin up /\ ~IsFetched(c))

\* The group does not come to rest before all who live are in one view, free.
ConvergedWhenStackQuiescent == StackQuiescent => Converged

-----------------------------------------------------------------------------
(* Witnesses *)

\* A multicast that its crashed sender left to one member only comes from that member.
FetchedOverNakack ==
    \E m \in up : \E x \in Member \ up :
        /\ x \in DOMAIN local[m].delivered /\ local[m].delivered[x] > 0
        /\ \E p \in net : p.to = m /\ p.sender \in up /\ p.message.type = "DATA" /\ p.message.origin = x
        /\ \E p \in net : p.sender = m /\ p.message.type = "XMIT_REQ" /\ p.message.origin = x
\* A joiner begins behind what the others have delivered, and hears what comes next.
BeginsBehind ==
    \E m \in up : \E x \in DOMAIN nakack[m].windows :
        nakack[m].windows[x].low # Nakack!Nothing /\ nakack[m].windows[x].delivered > nakack[m].windows[x].low
=============================================================================
