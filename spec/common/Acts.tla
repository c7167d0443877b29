-------------------------------- MODULE Acts --------------------------------
(******************************************************************************)
(* How a group of members takes steps, for every group alike: the local       *)
(* states, and `act`, which says of the last step who took it, at what        *)
(* event, and with what effects. Conformance reads steps from `act`; the      *)
(* claims at the end say that `act` leaves nothing out.                       *)
(*                                                                            *)
(* A group extends this module and its protocol's. Its own Apply adds what    *)
(* the effects do to the layers below.                                        *)
(******************************************************************************)
LOCAL INSTANCE Sequences

CONSTANT KeepAct    \* FALSE: `act` stays empty, for liveness, where it would multiply the states

VARIABLES
    local,          \* [Member -> local state of the protocol]
    act             \* the last step

None == [nothing |-> 0]

NoEvent == [type |-> "none"]

NoAct ==
    [action |-> "Init",         \* the name of the group's action
     member |-> "",             \* who took the step; "": no member
     from_start |-> FALSE,      \* Step was applied to Start(member), not to local[member]
     given |-> None,            \* the action's choices that its event does not show
     event |-> NoEvent,         \* the second argument of Step
     consumed |-> {},           \* the packets taken off the network
     outcome |-> "none",        \* "none": a step of the environment, in which Step was not applied
     effects |-> <<>>]

Record(action, m, from_start, given, event, consumed, outcome, effects) ==
    act' = IF KeepAct
           THEN [action |-> action, member |-> m, from_start |-> from_start, given |-> given,
                 event |-> event, consumed |-> consumed, outcome |-> outcome, effects |-> effects]
           ELSE NoAct

\* Member m takes `step`, which is Step(local[m], event).
Take(action, m, given, event, consumed, step) ==
    /\ local' = [local EXCEPT ![m] = step.state]
    /\ Record(action, m, FALSE, given, event, consumed, step.outcome, step.effects)

\* A new incarnation of m takes `step`, which is Step(Start(m), event).
TakeFromStart(action, m, given, event, consumed, step) ==
    /\ local' = [local EXCEPT ![m] = step.state]
    /\ Record(action, m, TRUE, given, event, consumed, step.outcome, step.effects)

\* A step of the environment. If it ends an incarnation of m, local'[m] is Start(m); if not, it is as it was.
Environment(action, m, given, consumed) ==
    Record(action, m, FALSE, given, NoEvent, consumed, "none", <<>>)

-----------------------------------------------------------------------------
(* Frame claims: parts of every group's action property OnlyByEffects         *)

\* A step belongs to one member.
OthersKeepLocal == \A m \in DOMAIN local : m # act'.member => local'[m] = local[m]

\* An ignored or refused event changes nothing.
UnchangedUnlessHandled ==
    act'.outcome \in {"ignored", "local_error", "remote_error"} =>
        local'[act'.member] = local[act'.member] /\ act'.effects = <<>>
=============================================================================
