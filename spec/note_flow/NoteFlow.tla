------------------------------- MODULE NoteFlow -------------------------------
(***************************************************************************)
(* Flow control, one member: when its application may send. A pure         *)
(* function of its own state and an event. No core is a layer of it: the   *)
(* runtime has the rule of the reference in its own program (flow.py).     *)
(*                                                                         *)
(* Theory. A member keeps what some member may lack, until it hears that   *)
(* all have it. Two numbers bound that. A member has Window messages under *)
(* way at most: a message takes a place, and gives it back when it is      *)
(* delivered at its sender. And a message begins only if the member keeps  *)
(* less than Room bytes itself, or when all is gone that it kept when the  *)
(* message began to wait: others may fill the room again before this       *)
(* member hears that there is any. So each member looks at its own state   *)
(* alone, no message is needed, and all members together exceed Room by    *)
(* no more than what has had a place.                                      *)
(*                                                                         *)
(* The note has credits in its place (FC): a receiver gives credit for     *)
(* what it has taken, and a sender without credit of some receiver waits.  *)
(***************************************************************************)
EXTENDS Steps, Integers

CONSTANTS
    Gate,           \* a message begins when the member "keeps" little, when it has "credits" of all, or "always"
    Window,         \* own messages that have a place, at most
    Room,           \* bytes kept for others at which no message begins
    Credit,         \* bytes without credit at which none begins
    InTurn          \* a message begins at the latest when all is purged that was kept when it began to wait

ASSUME
    /\ Gate \in {"keeps", "credits", "always"}
    /\ {Window, Room, Credit} \subseteq Nat \ {0}
    /\ InTurn \in BOOLEAN

-----------------------------------------------------------------------------
(* Messages. `size`: its bytes. *)

Data(size) == [type |-> "DATA", size |-> size]
CreditMessage(size) == [type |-> "CREDIT", size |-> size]

-----------------------------------------------------------------------------
(* State *)

Start(member) ==
    [member |-> member,         \* this member's address
     own |-> 0,                 \* places that are taken: messages under way, and one that waits for its turn
     kept |-> 0,                \* bytes that are kept for others
     debt |-> [x \in {} |-> 0], \* [member -> bytes for which it has given no credit]; of other members of the view
     waits |-> "no",            \* whether a message waits for a "place", or for its "turn"
     size |-> 0,                \* the bytes of that message
     ahead |-> 0]               \* what was kept when it began to wait for its turn, and still is

HasRoom(s) ==
    CASE Gate = "keeps" -> s.kept < Room
      [] Gate = "credits" -> \A x \in DOMAIN s.debt : s.debt[x] < Credit
      [] Gate = "always" -> TRUE

Out(s, size) ==
    Handled([s EXCEPT !.waits = "no", !.size = 0, !.ahead = 0,
                      !.debt = [x \in DOMAIN @ |-> @[x] + (IF Gate = "credits" THEN size ELSE 0)]],
            <<Multicast(Data(size))>>)

\* A message that has a place begins, or waits for its turn.
Begins(s, size) ==
    IF HasRoom(s) THEN Out(s, size) ELSE Handled([s EXCEPT !.waits = "turn", !.size = size, !.ahead = s.kept], <<>>)

MayTakeTurn(s) == s.waits = "turn" /\ (HasRoom(s) \/ (InTurn /\ Gate = "keeps" /\ s.ahead = 0))

-----------------------------------------------------------------------------
(* Events *)

\* One message waits at a time; those behind it are the caller's.
SendRequested(s, e) ==
    IF s.waits # "no" THEN LocalError(s)
    ELSE IF s.own >= Window THEN Handled([s EXCEPT !.waits = "place", !.size = e.size], <<>>)
    ELSE Begins([s EXCEPT !.own = @ + 1], e.size)

TurnTaken(s, e) == IF MayTakeTurn(s) THEN Out(s, s.size) ELSE Ignored(s)

\* A message is delivered here, in its place in the order. An own one gives back its place.
DataReceived(s, e) ==
    LET now == [s EXCEPT !.kept = @ + e.message.size] IN
    IF e.sender # s.member
    THEN Handled(now, IF Gate = "credits" THEN <<Send(e.sender, CreditMessage(e.message.size))>> ELSE <<>>)
    ELSE IF s.waits = "place" THEN Begins(now, s.size)
    ELSE Handled([now EXCEPT !.own = @ - 1], <<>>)

\* STABLE: so many bytes, those kept longest, all members have.
Purged(s, e) == Handled([s EXCEPT !.kept = @ - e.size, !.ahead = IF @ < e.size THEN 0 ELSE @ - e.size], <<>>)

CreditReceived(s, e) ==
    IF e.sender \notin DOMAIN s.debt THEN Ignored(s)
    ELSE Handled([s EXCEPT !.debt[e.sender] = @ - e.message.size], <<>>)

\* All survivors have what was sent in the view before (FLUSH), so nothing is kept of it, and no credit is owed.
ViewInstalled(s, e) ==
    Handled([s EXCEPT !.kept = 0, !.ahead = 0, !.debt = [x \in e.members \ {s.member} |-> 0]], <<>>)

\* No member owes itself credit.
Refuses(s, e) == e.type = "CreditReceived" /\ e.sender = s.member

Step(s, e) ==
    IF Refuses(s, e) THEN RemoteError(s)
    ELSE
    CASE e.type = "SendRequested" -> SendRequested(s, e)
      [] e.type = "TurnTaken" -> TurnTaken(s, e)
      [] e.type = "DataReceived" -> DataReceived(s, e)
      [] e.type = "Purged" -> Purged(s, e)
      [] e.type = "CreditReceived" -> CreditReceived(s, e)
      [] e.type = "ViewInstalled" -> ViewInstalled(s, e)
=============================================================================
