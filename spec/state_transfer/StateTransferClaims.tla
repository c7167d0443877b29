------------------------- MODULE StateTransferClaims -------------------------
(***************************************************************************)
(* Claims about members that take over a state: outcomes, steps, frame     *)
(* conditions of the model, and liveness. Each claim is violated in some   *)
(* model of models.yaml.                                                   *)
(***************************************************************************)
EXTENDS StateTransferGroup

-----------------------------------------------------------------------------
(* Types *)

LocalTypeOK(m) ==
    LET s == local[m] IN
    /\ s.member = m
    /\ s.has => s.provider = Nobody /\ s.held = <<>>
    /\ s.held = <<>> <=> s.bytes = 0
    /\ (s.provider # Nobody) => IsMember(s, s.provider) \/ ~AskAgain
    /\ s.whole => s.provider # Nobody
    /\ s.parts \in Nat /\ s.attempt \in Nat /\ s.sent \in Nat
    /\ DOMAIN s.told \subseteq MembersOf(s.view)
    /\ ~s.has => s.giving = [x \in {} |-> 0] /\ ~s.declared
    /\ s.full => s.provider # Nobody
    /\ s.owes => s.soon /\ ~s.settled /\ s.telling
    /\ s.stood \in Nat /\ s.stood <= s.formed
    /\ s.base \in Nat /\ (s.formed = 0 \/ s.base < s.formed)
    /\ s.after \in Nat /\ s.after <= s.upto /\ s.upto <= s.formed
    /\ s.vacant => ~s.settled /\ s.provider = Nobody
    /\ s.came = Cardinality({n \in DOMAIN cast[m] : HasDelivered(m, <<m, n>>)})
    /\ s.said = apps[m].told /\ s.safe \in 0 .. s.came

TypeOK ==
    /\ \A m \in Member : LocalTypeOK(m)
    /\ up \subseteq Member
    /\ \A m \in Member : installed[m] \in 0 .. Len(views) /\ had[m] \in Nat
    /\ spent \in [{"crashes", "failures", "declares", "tells", "misuses"} -> Nat]

-----------------------------------------------------------------------------
(* Outcomes *)

\* The messages of the application at some places of an order, in which those in `before` are passed over.
RECURSIVE AppsOf(_, _)
AppsOf(list, before) ==
    IF list = <<>> THEN <<>>
    ELSE LET x == Head(list)
             message == cast[x[1]][x[2]]
         IN IF message.type = "APP" /\ x \notin before
            THEN <<<<x[1], message.payload>>>> \o AppsOf(Tail(list), before)
            ELSE AppsOf(Tail(list), before)

Holders(k) == {m \in up : installed[m] = k /\ local[m].has /\ local[m].settled}

IsPrefix(s, t) == Len(s) <= Len(t) /\ s = SubSeq(t, 1, Len(s))

\* Of two members of a view that have the state, one has delivered as much as the other, or more. Its state is the other's, and
\* the messages that it has delivered since.
StateEqualsPrefix ==
    \A k \in DOMAIN views : \A m, n \in Holders(k) :
        had[m] <= had[n] =>
            /\ IsPrefix(apps[m].state, apps[n].state)
            /\ LET more == SubSeq(apps[n].state, Len(apps[m].state) + 1, Len(apps[n].state))
                   between == SubSeq(order[k], had[m] + 1, had[n])
               IN \A i \in DOMAIN more : \E j \in DOMAIN between :
                    cast[between[j][1]][between[j][2]].type = "APP"
                    /\ <<between[j][1], cast[between[j][1]][between[j][2]].payload>> = more[i]

\* No message is twice in a state, and no state is put together of parts of two.
NothingTwice ==
    \A m \in up : \A i, j \in DOMAIN apps[m].state :
        /\ (i # j => apps[m].state[i] # apps[m].state[j])
        /\ apps[m].state[i][1] # "broken"

\* Where no views merged, a member with the state has every message that was delivered on the way to its view, and in it, in
\* order.
IsLine(k) == \A j \in 1 .. k : Cardinality(views[j].preds) <= 1

RECURSIVE StateAt(_, _)
StateAt(k, n) ==
    LET u == CHOOSE u \in views[k].preds : TRUE IN
    (IF views[k].preds = {} THEN Origin(k) ELSE StateAt(u, cut[k][u]))
    \o AppsOf(SubSeq(order[k], 1, n), {})

NothingMissed ==
    \A m \in up : (installed[m] # 0 /\ local[m].has /\ IsLine(installed[m]) /\ spent.declares = 0) =>
        apps[m].state = StateAt(installed[m], had[m])

\* Where views merged for the first time, its members keep one of the states that came together, and the messages that were
\* delivered since.
KeepsOneState ==
    \A k \in DOMAIN views : (Cardinality(views[k].preds) > 1 /\ spent.declares = 0) =>
        \A m \in Holders(k) : \E u \in DOMAIN cut[k] :
            IsLine(u) => IsPrefix(StateAt(u, cut[k][u]), apps[m].state)

\* Where all members are there that the group began with, and each has heard that its views were formed, one of them has the state
\* of the primary.
HeardAll(m) == \A i \in 2 .. Len(path[m]) : path[m][i - 1] \in formed => path[m][i - 1] \in reports[path[m][i]][m] /\ LeftKnowing(m, path[m][i])

HolderWins ==
    (/\ \A m \in Member : HeardAll(m)
     /\ \A m \in Member : m \in up /\ installed[m] # 0 /\ installed[m] = installed[CHOOSE x \in Member : TRUE]
     /\ \A m \in Member : m \in DOMAIN views[1].lives)
    => \A m \in Member : ~local[m].vacant

\* No member waits for a state beside one that has it, where the two have heard the same.
NoneWaitsBesideHolder ==
    \A m, x \in up :
        (/\ installed[m] # 0 /\ installed[m] = installed[x] /\ had[m] = had[x]
         /\ IsFormed(local[m]) /\ IsFormed(local[x]) /\ local[m].vacant)
        => ~(local[x].has /\ local[x].settled)

\* An application knows by the events alone whether it has the state of the group: it hears so at once when that is decided.
KnowsItsState ==
    \A m \in up :
        /\ (local[m].has /\ local[m].settled) => apps[m].knows
        /\ apps[m].knows => local[m].has /\ ~local[m].vacant

\* A merge does not lose every state.
StateIsKept ==
    \A k \in DOMAIN views :
        LET here == {m \in up : installed[m] = k} IN
        (/\ here = DOMAIN views[k].lives
         /\ \A m \in here : local[m].settled
         /\ \E m \in here : \E x \in DOMAIN local[m].told : local[m].told[x].name # LacksName)
        => \E m \in here : local[m].has

\* The bytes of the messages that wait for a state, and the parts in transit, have a bound: all held messages but the last have
\* less than MaxHeld.
RECURSIVE BytesOf(_)
BytesOf(messages) == IF messages = <<>> THEN 0 ELSE SizeOf(Head(messages).number) + BytesOf(Tail(messages))

PartsOnTheWay(p, m) ==
    LET Is(message) == message.type = "PART" /\ message.attempt = local[m].attempt
    IN Len(SelectSeq(wire[p][m], Is))

BoundedBuffer ==
    \A m \in up :
        /\ LET held == local[m].held IN held # <<>> => BytesOf(SubSeq(held, 1, Len(held) - 1)) < MaxHeld
        /\ \A p \in up : PartsOnTheWay(p, m) <= Window

\* A provider keeps a marked state for members of its view alone, and its application has one for each of them. No two
\* members that have heard the same provide one asker.
GivesToMembers ==
    \A m \in up :
        /\ DOMAIN local[m].giving \subseteq MembersOf(local[m].view)
        /\ \A x \in DOMAIN local[m].giving : x \in DOMAIN apps[m].marks
        /\ \A n \in up \ {m} : (installed[n] = installed[m] /\ had[n] = had[m]) =>
            DOMAIN local[n].giving \cap DOMAIN local[m].giving = {}

\* A message of a member that has come in its order, while the member has the state, was delivered there or reported.
OwnMessageEnds ==
    \A m \in up : (local[m].has /\ spent.declares = 0) =>
        \A i \in DOMAIN cast[m] :
            (cast[m][i].type = "APP" /\ HasDelivered(m, <<m, i>>)) => cast[m][i].number <= apps[m].own

-----------------------------------------------------------------------------
(* Steps. (m is the member that takes the step.) *)

\* A member that lacks the state passes up no message.
LacksAndWaitsStep ==
    \A m \in {act'.member} \cap up :
        (~local[m].has /\ ~local'[m].has) =>
            \A i \in DOMAIN act'.effects :
                ~(act'.effects[i].type = "PassUp" /\ act'.effects[i].event.type = "Deliver")

\* No member ends but by its own crash: not by the state of another, nor by a state that it cannot give.
NoMemberEndsByStateStep == act'.action # "Crash" => up' = up

\* A member loses the state alone by a decision, which another member's state has won.
LosesOnlyByDecisionStep ==
    \A m \in Member : (local[m].has /\ ~local'[m].has) =>
        /\ act'.event.type = "TellReceived" /\ act'.member = m
        /\ local'[m].settled
        /\ LET told == local'[m].told
               Rank(x) == IF told[x].declared THEN 0 ELSE 1
           IN \E x \in DOMAIN told :
                /\ told[x].name # LacksName /\ told[x].name # told[m].name
                /\ \/ Rank(x) > Rank(m)
                   \/ Rank(x) = Rank(m) /\ told[x].stood > told[m].stood
                   \/ /\ Rank(x) = Rank(m) /\ told[x].stood = told[m].stood
                      /\ Cardinality(Tellers(told, told[x].name)) >= Cardinality(Tellers(told, told[m].name))

WasDeclared(state) == \E i \in DOMAIN state : state[i][2] = -1

\* A declared state never wins against a state that is none. (With Majority a state that is kept may count as declared from then on.)
DeclaredNeverWinsStep ==
    \A m \in {act'.member} \cap up :
        (/\ act'.event.type = "TellReceived" /\ local'[m].settled /\ local'[m].has
         /\ \E x \in DOMAIN local'[m].told : local'[m].told[x].name # LacksName /\ ~WasDeclared(apps[x].state))
        => ~WasDeclared(IF local[m].has THEN apps[m].state ELSE apps'[m].state)

\* The application sends while it has the state.
SendsWithStateStep ==
    \A m \in Member : (act'.member = m /\ act'.event.type = "SendRequested" /\ act'.outcome = "handled") => local[m].has

\* A member does not ask again because of traffic, but where its view ends.
NeverAsksByTrafficStep ==
    \A m \in Member : (act'.member = m /\ act'.event.type = "AppReceived" /\ local[m].marked /\ ~local'[m].marked) => IsClosed(m)

\* A transfer that has its cut ends without the state for a reason: the provider is gone, or cannot give the state; more came
\* than can wait; another state is kept, or a state is declared.
EndsForReasonStep ==
    \A m \in {act'.member} \cap up :
        (local[m].marked /\ ~local'[m].has /\ (local'[m].attempt # local[m].attempt \/ local'[m].provider = Nobody)) =>
            LET p == local[m].provider IN
            \/ ~IsMember(local'[m], p)
            \/ act'.event.type \in {"CannotReceived", "AppReceived"}
            \/ act'.event.type = "TellReceived" /\ (local[m].settled \/ local'[m].told[p].name # local[m].name \/ p \in local'[m].refused)

\* A step that a message of the order causes multicasts nothing.
AnswersLaterStep ==
    act'.event.type \in {"AppReceived", "AskReceived", "TellReceived"} => MulticastsOf(act'.effects) = <<>>

\* A timer is set where it is not set.
TimerSetOnceStep ==
    \A m \in {act'.member} \cap up :
        \A i \in DOMAIN act'.effects : act'.effects[i].type = "SetTimer" =>
            CASE act'.effects[i].name = "ask" -> ~local[m].timer \/ act'.event.type = "AskTimeout"
              [] act'.effects[i].name = "soon" -> ~local[m].soon

\* A member that lacks the state asks a member, waits for a decision, or has a timer.
Waits(s) == s.view # NoView /\ ~s.has /\ s.settled /\ s.provider = Nobody

TimerWhileWaitingStep ==
    \A m \in {act'.member} \cap up : (Waits(local'[m]) /\ (~Waits(local[m]) \/ act'.event.type = "AskTimeout")) =>
        \/ local[m].timer /\ act'.event.type # "AskTimeout"
        \/ local'[m].declares \/ local'[m].soon
        \/ \E i \in DOMAIN act'.effects : act'.effects[i].type = "SetTimer"

\* What SAFE tells is passed up in its order, once, and as safe while no choice of a state is open. It waits for a choice. A view
\* that ends with a choice open leaves nothing of which SAFE could yet tell.
TellsWhenDecidedStep ==
    \A m \in {act'.member} \cap up :
        LET event == IF act'.event.type \in {"SafeUpTo", "UnknownUpTo"} THEN act'.event.number ELSE 0
            told == {act'.effects[i].event : i \in {i \in DOMAIN act'.effects :
                        act'.effects[i].type = "PassUp" /\ act'.effects[i].event.type \in {"SafeUpTo", "UnknownUpTo"}}}
            leaves == local'[m].view # local[m].view
        IN /\ Max({apps[m].told, local[m].safe, event}) <= Max({apps'[m].told, local'[m].safe})
           /\ \A e \in told :
                IF told # {e} \/ e.number <= apps[m].told THEN FALSE
                ELSE IF leaves THEN e.type = "UnknownUpTo"
                ELSE IF event > 0 THEN e = act'.event /\ (e.type = "SafeUpTo" => local'[m].settled)
                ELSE e = [type |-> "SafeUpTo", number |-> local[m].safe] /\ local'[m].settled
           /\ (leaves /\ ~local[m].settled) => \A n \in DOMAIN cast[m] : HasDelivered(m, <<m, n>>) => n <= apps'[m].told

\* A step belongs to one member; wires, order and applications change by its effects alone.
OnlyByEffectsStep ==
    /\ OthersKeepLocal
    /\ UnchangedUnlessHandled
    /\ \A m \in Member : m # act'.member => apps'[m] = apps[m] /\ cast'[m] = cast[m]
    /\ act'.action = "Crash" \/ wire' = AfterStep(wire, act'.member, act'.consumed, act'.effects, up)
    /\ act'.action # "Crash" => cast'[act'.member] = cast[act'.member] \o MulticastsOf(act'.effects)

LacksAndWaits == [][LacksAndWaitsStep]_vars
NoMemberEndsByState == [][NoMemberEndsByStateStep]_vars
LosesOnlyByDecision == [][LosesOnlyByDecisionStep]_vars
TimerWhileWaiting == [][TimerWhileWaitingStep]_vars
OnlyByEffects == [][OnlyByEffectsStep]_vars
DeclaredNeverWins == [][DeclaredNeverWinsStep]_vars
SendsWithState == [][SendsWithStateStep]_vars
NeverAsksByTraffic == [][NeverAsksByTrafficStep]_vars
EndsForReason == [][EndsForReasonStep]_vars
AnswersLater == [][AnswersLaterStep]_vars
TellsWhenDecided == [][TellsWhenDecidedStep]_vars
TimerSetOnce == [][TimerSetOnceStep]_vars

-----------------------------------------------------------------------------
(* What is given to the application *)

\* Members of a view that have the state, and between which no choice is open.
InOneState(m) == m \in up /\ installed[m] # 0 /\ local[m].has /\ local[m].settled

Given == INSTANCE OneState WITH
    holds <- [m \in Member |-> IF InOneState(m) THEN installed[m] ELSE 0], place <- had, state <- [m \in Member |-> apps[m].state]
SameAtSamePlace == Given!SameAtSamePlace
MoreAtLaterPlace == Given!MoreAtLaterPlace

Whole == INSTANCE OneSequence WITH
    sequence <- sequence.state, primary <- {m \in Member : IsPrimary(m) /\ installed[m] = sequence.view},
    state <- [m \in Member |-> apps[m].state]
PrimaryHasSequence == Whole!PrimaryHasSequence
PrimaryIsKeptStep == Whole!SequenceOnlyGrows
PrimaryIsKept == [][PrimaryIsKeptStep]_vars

\* The layer below, as it is modelled, is the contract of SEQUENCER where views branch.
RefinesTotalOrder == [][TotalOrder!BranchNext]_<<below, up>>

-----------------------------------------------------------------------------
(* Liveness *)

Fair ==
    \A m \in Member :
        /\ WF_moves(DeliverApp(m)) /\ WF_moves(DeliverAsk(m)) /\ WF_moves(DeliverTell(m))
        /\ WF_moves(ReceiveUnicast(m)) /\ WF_moves(PartIsRead(m)) /\ WF_moves(AskTimeoutFires(m)) /\ WF_moves(SoonFires(m))
        /\ WF_moves(InstallView(m)) /\ WF_moves(FormView(m)) /\ WF_moves(LearnFormed(m))

LiveSpec == Spec /\ Fair

\* A member of m's view has the state, and with Majority that of the primary.
IsThere(m) == m \in up /\ installed[m] # 0 /\ \E x \in up : installed[x] = installed[m] /\ local[x].has /\ ~local[x].vacant

\* EveryJoinerGetsAState: if in the end a member of its view has the state, a member has it.
EventuallyHasState == \A m \in Member : <>[]IsThere(m) => <>[]local[m].has
=============================================================================
