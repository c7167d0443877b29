------------------------------- MODULE Steps --------------------------------
(***************************************************************************)
(* The outcome and the effects of a step of a member, for every protocol.  *)
(* A protocol's module extends this module, and gathers its events in      *)
(* Step(state, event), with the four outcomes below. (How a group takes    *)
(* such steps: module Acts.)                                               *)
(***************************************************************************)

\* The event did its work. `effects`: what is to be done for it, in order.
Handled(state, effects) ==
    [outcome |-> "handled", state |-> state, effects |-> effects]

\* Nothing is to be done: a late timer, a duplicate, a message of another view.
Ignored(state) == [outcome |-> "ignored", state |-> state, effects |-> <<>>]

\* Refused, because the caller may not do this now.
LocalError(state) == [outcome |-> "local_error", state |-> state, effects |-> <<>>]

\* Refused, because no correct peer sends this.
RemoteError(state) == [outcome |-> "remote_error", state |-> state, effects |-> <<>>]

-----------------------------------------------------------------------------
(* Effects *)

\* Calls of the layer below, with its guarantees.
Send(to, message) == [type |-> "Send", to |-> to, message |-> message]

Multicast(message) == [type |-> "Multicast", message |-> message]

\* To the network, past the layers below: it may be lost, duplicated and overtaken. `to`: a member, or All.
All == "*"
Datagram(to, message) == [type |-> "Datagram", to |-> to, message |-> message]

\* To the protocol above, or the application.
PassUp(event) == [type |-> "PassUp", event |-> event]

\* To the protocol below.
PassDown(event) == [type |-> "PassDown", event |-> event]

\* The program that runs the member draws the time from low to high, in milliseconds.
SetTimer(name, low, high) == [type |-> "SetTimer", name |-> name, low |-> low, high |-> high]

CancelTimer(name) == [type |-> "CancelTimer", name |-> name]
=============================================================================
