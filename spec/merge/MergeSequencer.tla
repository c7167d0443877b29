--------------------------- MODULE MergeSequencer ---------------------------
(******************************************************************************)
(* SEQUENCER over merging: a closed model of two neighbours. A view that      *)
(* merging, or the membership service below it, installs is installed at      *)
(* SEQUENCER in the same step. So a real merge demotes the coordinator, and   *)
(* makes a participant coordinate while FORWARDs are in transit to the old    *)
(* one. Everything that merging may leave behind occurs: one side in a later  *)
(* view, or in the merged view without the other.                             *)
(*                                                                            *)
(* The group is that of MergeGroup, with all its actions; applications        *)
(* multicast by SEQUENCER alone. Around SEQUENCER is what SequencerGroup      *)
(* has there: VirtualSynchrony, over these views, and ReliableUnicast; and    *)
(* its own actions are that module's. So what no member gives but a flush is  *)
(* asked of the layer below (AMB-49): a member waits with a view for what     *)
(* VirtualSynchrony wants it to have received before.                         *)
(******************************************************************************)
EXTENDS MergeClaims

CONSTANTS
    Passes,         \* the views that SEQUENCER sees: of "merging", and of the membership service ("service")
    Sends,          \* bound: [Member -> how many multicasts it sends]
    Without         \* conjuncts of VirtualSynchrony that the layer below does not give

VARIABLES
    sequencer,          \* [Member -> SEQUENCER's state]
    log, settled, got,  \* see VirtualSynchrony
    wire,               \* see ReliableUnicast
    sent,               \* [Member -> number of multicasts so far]
    path,               \* [Member -> the numbers of the views that it has installed, in order]
    delivered,          \* [Member -> what it has delivered, in order]
    above               \* SEQUENCER's last step

stack_vars == <<vars, sequencer, log, settled, got, wire, sent, path, delivered, above>>
stack_view == <<view, sequencer, log, settled, got, wire, sent, path, delivered>>

\* SEQUENCER's group, as its own specification has it, without faults of its own.
Above == INSTANCE SequencerClaims WITH
    local <- sequencer, act <- above, aux_path <- path, aux_delivered <- delivered, held <- [m \in Member |-> <<>>],
    due <- {}, looked <- [m \in Member |-> 0], stops <- [m \in Member |-> "no"], spent <- [crashes |-> 0, duplicates |->
    0, forwards |-> 0, data |-> 0, unicasts |-> 0, stops |-> 0, misuses |-> 0, closes |-> 0, suspicions |-> 0],
    History <- First, Unicast <- "fifo", SendIsAtomic <- TRUE, StopRule <- "flushed", Crashers <- {}, MaxCrashes <- 0,
    MaxDuplicates <- 0, MaxLostForwards <- 0, MaxLostData <- 0, MaxUnicasts <- 0, MaxStops <- 0, MaxMisuses <- 0,
    MaxCloses <- 0, MaxSuspicions <- 0, Inheritors <- {}, Majority <- FALSE, MaxAttempts <- 0, Lost <- {}

-----------------------------------------------------------------------------
(* The effects of a step of merging's group on SEQUENCER *)

\* The logs, and what is settled, with a view that is decided in this step.
Logs == IF views' = views THEN log ELSE Append(log, Above!Channel!NoCasts(views'[Len(views')]))
Settlements == IF views' = views THEN settled ELSE Append(settled, Above!Channel!NoArrivals)

Seen(m) ==
    IF act'.event.type = "DecisionInstalled" THEN "service" \in Passes ELSE "merging" \in Passes

\* m has installed a view. It waits with that for what the layer below wants it to have received.
Entered(m) ==
    \E k \in {installed'[m]} :
        /\ Above!Enter("InstallView", m, k, views'[k], Settlements[k], Logs)
        /\ settled' = [Settlements EXCEPT ![k] = Above!Channel!Came(m, @)]

\* SEQUENCER does not see it.
Unseen(m) ==
    /\ log' = Logs /\ settled' = Settlements
    /\ UNCHANGED <<sequencer, got, wire, path, delivered, above>>

PassedUp ==
    /\ IF installed' = installed
       THEN /\ log' = Logs /\ settled' = Settlements
            /\ wire' = IF up' = up THEN wire ELSE Above!WithoutTo(Member \ up')
            /\ UNCHANGED <<sequencer, got, path, delivered, above>>
       ELSE \E m \in {m \in Member : installed'[m] # installed[m]} : IF Seen(m) THEN Entered(m) ELSE Unseen(m)
    /\ UNCHANGED sent

-----------------------------------------------------------------------------
(* SEQUENCER by itself *)

\* Merging's group takes no part.
Beside ==
    /\ act' = above'
    /\ UNCHANGED <<local, network, held, suspected, timers, cast, seen, purged, kept, spent>>

AppSends(m) == Above!AppSends(m) /\ Beside
ReceiveForward(m) == Above!ReceiveForward(m) /\ Beside
ReceiveData(m) == Above!ReceiveData(m) /\ Beside

-----------------------------------------------------------------------------
StackInit ==
    /\ Init
    /\ sequencer = [m \in Member |->
            IF installed[m] = 0 THEN Above!Start(m)
            ELSE Above!Step(Above!Start(m), [type |-> "ViewInstalled", view |-> ViewIn(local[m].decision)]).state]
    /\ log = [k \in DOMAIN views |-> Above!Channel!NoCasts(views[k])]
    /\ settled = [k \in DOMAIN views |-> Above!Channel!NoArrivals]
    /\ got = [m \in Member |-> {}]
    /\ wire = Above!EmptyWire
    /\ sent = [m \in Member |-> 0]
    /\ path = [m \in Member |-> IF installed[m] = 0 THEN <<>> ELSE <<installed[m]>>]
    /\ delivered = [m \in Member |-> <<>>]
    /\ above = NoAct

StackNext ==
    \/ Next /\ PassedUp
    \/ \E m \in Member :
        \/ AppSends(m)
        \/ ReceiveForward(m)
        \/ ReceiveData(m)

StackSpec == StackInit /\ [][StackNext]_stack_vars

-----------------------------------------------------------------------------
(* Claims: SEQUENCER's own, over merging *)

StackTypeOK ==
    /\ \A m \in Member : sequencer[m].member = m /\ sent[m] \in 0 .. Sends[m]
    /\ DOMAIN log = DOMAIN views /\ DOMAIN settled = DOMAIN views

\* SEQUENCER is in the view that merging is in.
SameViewInBothLayers == \A m \in up : installed[m] # 0 => sequencer[m].view = ViewIn(local[m].decision)

Agreement == Above!Agreement
NoMessageLost == Above!NoMessageLost
NoEntryStranded == Above!NoEntryStranded

\* The environment of SEQUENCER is VirtualSynchrony, over the views of merging.
RefinesVirtualSynchronyStep ==
    [Above!Channel!Next]_<<views, installed, life, up, log, settled, got>>
RefinesVirtualSynchrony == [][RefinesVirtualSynchronyStep]_stack_vars

\* All of it is a broadcast in one order, each message once, that knows of no coordinator and of no merge.
RefinesTotalOrderBroadcastStep == Above!RefinesTotalOrderBroadcastStep
RefinesTotalOrderBroadcast == [][RefinesTotalOrderBroadcastStep]_stack_vars

-----------------------------------------------------------------------------
(* Witnesses *)

\* A coordinator that a merge demoted finds a FORWARD that was on its way to it, and its sender sends it again.
ForwardedToTheDemoted ==
    \E f \in Member, t \in up :
        /\ wire[f][t] # <<>> /\ IsMerged(installed[t]) /\ installed[f] = installed[t]
        /\ Head(wire[f][t]).view_id # sequencer[t].view.id
        /\ sequencer[f].forward_table # <<>>
\* A participant that will coordinate the merged view has a FORWARD of it before it knows.
ForwardComesEarly == \E m \in up : sequencer[m].early # <<>>
\* A message sent before a merge is delivered after it, by a member of the other side.
DeliveredAcross ==
    \E m \in up : \E i \in DOMAIN delivered[m] :
        /\ IsMerged(delivered[m][i][3])
        /\ \E k \in views[delivered[m][i][3]].preds :
            delivered[m][i][1] \in DOMAIN views[k].lives /\ m \notin DOMAIN views[k].lives
=============================================================================
