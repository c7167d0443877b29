------------------------------ MODULE Heartbeat ------------------------------
(***************************************************************************)
(* HEARTBEAT, the failure detector of a member: a pure function of its     *)
(* own state and an event.                                                 *)
(*                                                                         *)
(* Theory. A member sends a heartbeat to every member that it can reach,   *)
(* again and again. A heartbeat is for one receiver. It names the view of  *)
(* its sender, and says whether the receiver is a member of that view and  *)
(* whether its sender suspects the receiver there. It speaks of the past:  *)
(* by its view the receiver decides whether it counts.                     *)
(* - "I suspect you" counts in the view that it names.                     *)
(* - "My view is without you" counts if that view is not older than the    *)
(*   own.                                                                  *)
(* - A word that does not count, of another view, counts when it stays:    *)
(*   when the own view has lasted for the patience, and it is still said.  *)
(* - A member that is not heard for the patience is silent.                *)
(*                                                                         *)
(* There is no clock. A member counts its own heartbeats: they are its     *)
(* clock. Two things follow. A process that was stopped for a while has    *)
(* not counted meanwhile, so it does not take the others for silent when   *)
(* it continues: it hears first, and judges later. And the times are small *)
(* numbers that a search can have.                                         *)
(*                                                                         *)
(* The patience follows the network: it is twice the longest recent gap    *)
(* between two heartbeats of that member, within bounds.                   *)
(*                                                                         *)
(* The guards have the values of the repaired algorithm. A model of its    *)
(* own takes each away.                                                    *)
(***************************************************************************)
EXTENDS Steps, Views, Integers, Addresses, FiniteSets

CONSTANTS
    Patience,           \* heartbeats of its own after which a member takes another for silent: at least,
    Longest,            \* and at most
    BeatInterval        \* ms between two heartbeats

(* Guards: conditions of the algorithm. A model may take one away, or give it another value. *)
SuspectsInView == TRUE   \* "I suspect you" counts in the view alone that it names; otherwise in any
ExcludesNotOlder == TRUE \* "my view is without you" does not count if that view is older; otherwise it does
StaysCounts == TRUE      \* a word of another view counts when it stays
LatestOnly == TRUE       \* a heartbeat that was overtaken is late; otherwise it counts
BeatTo == "reachable"    \* heartbeats go to all "reachable" members, or to those of the "view"
Adapt == TRUE            \* the patience follows the gaps between heartbeats

ASSUME
    /\ {SuspectsInView, ExcludesNotOlder, StaysCounts, LatestOnly, Adapt} \subseteq BOOLEAN
    /\ BeatTo \in {"reachable", "view"}
    /\ {Patience, Longest, BeatInterval} \subseteq Nat \ {0}
    /\ Patience <= Longest

-----------------------------------------------------------------------------
(* Messages, and effects of this protocol *)

\* `number`: how many heartbeats its sender has sent, this included. `view`: the identifier of its sender's view.
\* `counts`: the receiver is a member of that view. `suspects`: the sender suspects the receiver.
HeartbeatMessage(number, id, counts, suspects) ==
    [type |-> "HEARTBEAT", number |-> number, view |-> id, counts |-> counts, suspects |-> suspects]

\* To GMS. (The name is that of the event.)
Report(p) == PassUp([type |-> "Suspected", suspect |-> p])

\* To UNICAST.
ReportSilence(p) == PassUp([type |-> "SilenceReported", peer |-> p])

BeatTimer == SetTimer("beat", BeatInterval, BeatInterval)

-----------------------------------------------------------------------------
(* State *)

Start(member) ==
    [member |-> member,         \* this member's address
     view |-> NoViewId,         \* the identifier of the view installed
     members |-> {},            \* its members
     beats |-> 0,               \* heartbeats sent: the clock of this member
     since |-> 0,               \* how many of them had been sent when the view was installed
     heard |-> [x \in {} |-> 0]]
                                \* [peer -> its last heartbeat (`number`, `view`, `counts`, `suspects`), how many own
                                \* heartbeats ago it came (`missed`), and the longest recent gap (`gap`)]

\* A member that is watched, and was not heard.
NothingHeard == [number |-> 0, view |-> NoViewId, counts |-> FALSE, suspects |-> FALSE, missed |-> 0, gap |-> 0]

Least(a, b) == IF a < b THEN a ELSE b
Greatest(a, b) == IF a > b THEN a ELSE b

-----------------------------------------------------------------------------
(* Reasons to suspect *)

\* The number of own heartbeats for which the silence of a member is borne.
Borne(h) == IF Adapt THEN Least(Longest, Greatest(Patience, 2 * h.gap)) ELSE Patience

IsSilent(h) == h.missed > Borne(h)

\* The view has lasted for the patience.
HasLasted(s) == s.beats - s.since > Patience

SuspectsMe(s, h) == h.suspects /\ (SuspectsInView => h.view = s.view)
ExcludesMe(s, h) == ~h.counts /\ (ExcludesNotOlder => h.view.counter >= s.view.counter)
StaysApart(s, h) == StaysCounts /\ HasLasted(s) /\ (h.suspects \/ ~h.counts)

\* Why a watched member is to be suspected; "": it is not.
Reason(s, p) ==
    LET h == s.heard[p] IN
    IF IsSilent(h) THEN "silent"
    ELSE IF h.view = NoViewId THEN ""
    ELSE IF SuspectsMe(s, h) THEN "suspects me"
    ELSE IF ExcludesMe(s, h) THEN "excludes me"
    ELSE IF StaysApart(s, h) THEN "stays apart"
    ELSE ""

-----------------------------------------------------------------------------
(* Events *)

\* `around`, from the layers above and from the program that runs the member: whom GMS `watched` and `suspected`, the
\* processes outside the view that UNICAST `sought`, as it keeps messages for them, and the members that are `reachable`.
\* The timer is set before the reports, which may bring about anything.
BeatTimeout(s, e) ==
    LET watched == e.around.watched \ {s.member}
        sought == e.around.sought \ {s.member}
        peers == (watched \cup sought \cup e.around.reachable) \ {s.member}
        Counted(h) == [h EXCEPT !.missed = Least(@, Longest) + 1]
        heard == [p \in (DOMAIN s.heard \cap peers) \cup watched \cup sought |->
                    IF p \in DOMAIN s.heard THEN Counted(s.heard[p]) ELSE NothingHeard]
        after == [s EXCEPT !.beats = @ + 1, !.heard = heard]
        receivers == Sorted(IF BeatTo = "reachable" THEN peers ELSE peers \cap s.members)
        ToSay(p) == HeartbeatMessage(after.beats, s.view, p \in s.members, p \in e.around.suspected)
        suspects == IF s.members = {} THEN <<>> ELSE Sorted({p \in watched : Reason(after, p) # ""})
        silent == Sorted({p \in sought : IsSilent(after.heard[p])})
    IN Handled(after,
               [i \in DOMAIN receivers |-> Datagram(receivers[i], ToSay(receivers[i]))]
               \o <<BeatTimer>>
               \o [i \in DOMAIN suspects |-> Report(suspects[i])]
               \o [i \in DOMAIN silent |-> ReportSilence(silent[i])])

HeartbeatReceived(s, e) ==
    LET m == e.message
        known == IF e.sender \in DOMAIN s.heard THEN s.heard[e.sender] ELSE NothingHeard
        gap == IF known.number = 0 THEN 0 ELSE Greatest(known.missed, known.gap - 1)
        said == [number |-> m.number, view |-> m.view, counts |-> m.counts, suspects |-> m.suspects,
                 missed |-> 0, gap |-> gap]
    IN IF m.number <= known.number /\ LatestOnly THEN Ignored(s)
       ELSE Handled([s EXCEPT !.heard = [p \in DOMAIN @ \cup {e.sender} |-> IF p = e.sender THEN said ELSE @[p]]], <<>>)

ViewInstalled(s, e) ==
    IF s.member \notin MembersOf(e.view) THEN LocalError(s)
    ELSE IF e.view.id = s.view THEN Ignored(s)
    ELSE Handled([s EXCEPT !.view = e.view.id, !.members = MembersOf(e.view), !.since = s.beats], <<>>)

\* No correct peer sends it: a number that is none, or a word of a view by a member that has none.
IsMalformed(s, e) ==
    \/ e.sender = s.member
    \/ e.message.number < 1
    \/ e.message.view = NoViewId /\ (e.message.counts \/ e.message.suspects)

-----------------------------------------------------------------------------
(* Step: total over the alphabet *)

Step(s, e) ==
    CASE e.type = "BeatTimeout" -> BeatTimeout(s, e)
      [] e.type = "HeartbeatReceived" -> IF IsMalformed(s, e) THEN RemoteError(s) ELSE HeartbeatReceived(s, e)
      [] e.type = "ViewInstalled" -> ViewInstalled(s, e)
=============================================================================
