-------------------------- MODULE GmsInstruments ----------------------------
(******************************************************************************)
(* Instruments: witnesses, and what a run collects of members' local steps    *)
(* for conformance.                                                           *)
(******************************************************************************)
EXTENDS GmsClaims

(* Witnesses: each must be reachable, or the claims speak of less than they seem to. *)

Branches == \E j, k \in DOMAIN views : j # k /\ views[j].preds \cap views[k].preds # {}

\* A view that was decided and that no member alive has, and another in its place.
LostView == MaxFalseSuspicions = 0 /\ Branches
SplitBrain == \E x, y \in up : \E j \in {installed[x]} : \E k \in {installed[y]} :
    j # 0 /\ k # 0 /\ j # k /\ ~Ancestor(j, k) /\ ~Ancestor(k, j)
AsksForTheNewest == \E m \in up : local[m].phase = "asking" /\ local[m].awaits # {}
LearnsOfANewerView ==
    \E p \in network :
        /\ p.message.type = "ANSWER" /\ InView(local[p.to])
        /\ p.message.decision.follows = local[p.to].decision.id
\* (Who takes over in a view with a joiner answers it, though another decided the view.)
SuccessorAnswers == \E p \in network : p.message.type = "JOIN_RSP" /\ p.sender # p.message.decision.id.creator
JoinerIsAsked == \E p \in network : p.message.type = "QUERY" /\ p.to \in up /\ ~InView(local[p.to])
CoordinatorLeaves == \E k \in DOMAIN views : views[k].id.creator \notin DOMAIN views[k].lives
TwoWait == \E m \in up : Len(local[m].queue) > 1
TwoJoined ==
    \E k \in DOMAIN views : \E j \in views[k].preds :
        views[j].preds # {} /\ views[k].joins # {} /\ views[j].joins # {}
\* The group is at rest, and messages wait for an incarnation that has not begun: Quiescent is not only of an empty network.
QuiescentWithMessagesLeft == Quiescent /\ network # {}
MemberRestarts == \E k \in DOMAIN views : \E x \in views[k].joins : views[k].lives[x] > 0
FormerIncarnationLeavesFirst ==
    \E m \in up : \E i, j \in DOMAIN local[m].queue :
        local[m].queue[i].kind = "leave" /\ local[m].queue[j].kind = "join"
            /\ local[m].queue[i].member = local[m].queue[j].member
\* A word of a member of its view speaks of a view that is over, and does not count.
OldWordIsHeard ==
    \E m \in up : \E x \in MembersOf(local[m].decision) \cap (up \ {m}) : \E word \in FailureDetector!Words(m, x) :
        ~FailureDetector!Counts(installed[m], word)

JoinerDiesInTheQueue == \E m \in up : \E r \in Joins(local[m]) : Dead(r.member, r.life)
\* Between the promise and the view its maker delivers more.
DeliveredBeyondPromise ==
    \E p \in promises : p.by \in up /\ \E x \in DOMAIN p.vector : seen[p.by][x] > p.vector[x]
JoinerBegins ==
    \E m \in up : \E x \in Member \ {m} :
        /\ installed[m] > 1 /\ m \in views[installed[m]].joins
        /\ seen[m][x] > Nothing
TwoDigestsAskedFor == \E m \in up : \E a, b \in answers[m] : a.asker # b.asker
LateDigest == \E m \in up : local[m].admitting = 0 /\ \E a \in answers[m] : a.asker = Self
FoundsAGroup == Founders = <<>> /\ views # <<>>

-----------------------------------------------------------------------------
(* Local steps: what a run collects, and the events that every local state is then confronted with *)

SeenLocal(m) == local[m]
SeenMessages == {[sender |-> p.sender, message |-> p.message] : p \in network}
SeenOutside(m) == answers[m]

\* Every message that was ever in transit, from its sender and from other members, also in a view of the same counter
\* and another creator. (No correct peer sends another member's message.) Requests of later incarnations. Every
\* digest, for GMS and for another protocol, in answer to every request. The answer to Suspend, asked for or not. Each
\* call, allowed or not. And inputs that other branches of views may bring: a QUERY of a member without seniors, and
\* an ANSWER with a view that follows another view (of another creator or of the same). Also a first view from a
\* junior of the joiner, and a decision with a joiner that is not a member.
Alphabet(messages, digests) ==
    LET others == {[p EXCEPT !.sender = m] : p \in messages, m \in Member \cup {"Z"}}
        numbered == {p \in messages : p.message.type \in {"VIEW_ACK", "QUERY", "ANSWER"}}
        twins == {[p EXCEPT !.message.view_id.creator = "Z"] : p \in numbered}
        rootless == {[p EXCEPT !.message.seniors = {}] : p \in {p \in messages : p.message.type = "QUERY"}}
        replies == {p \in messages : p.message.type = "ANSWER"}
        strange == {[p EXCEPT !.message.decision.follows.creator = "Z"] : p \in replies}
                   \cup {[p EXCEPT !.message.decision.follows.counter = @ + 1] : p \in replies}
        decided == {p \in messages : "decision" \in DOMAIN p.message /\ p.message.decision # NoDecision}
        outsiders == {[p EXCEPT !.message.decision.joiners = @ \cup {"Z"}] : p \in decided}
        juniors == {[p EXCEPT !.message.decision.members = [i \in DOMAIN @ |-> @[Len(@) + 1 - i]]] :
                       p \in {p \in messages : p.message.type = "JOIN_RSP"}}
        lived == {p \in messages : p.message.type \in {"JOIN_REQ", "JOIN_REFUSED", "LEAVE_REQ", "LEAVE_RSP"}}
        aged == {[p EXCEPT !.message.life = @ + 1] : p \in lived}
        given == UNION digests \cup {[asker |-> Self, request |-> 1, digest |-> NoDigest]}
    IN {[type |-> "LeaveRequested"], StoppedFor(Self), StoppedFor("STATE_TRANSFER")}
       \cup {[type |-> "JoinRequested", coordinator |-> m, life |-> n] : m \in Member, n \in 0 .. 1}
       \cup {[type |-> "Suspected", suspect |-> m] : m \in Member \cup {"Z"}}
       \cup {EventOf(p) : p \in others \cup twins \cup rootless \cup strange \cup aged \cup outsiders \cup juniors}
       \cup {DigestEvent(a) : a \in given}
       \cup {[DigestEvent(a) EXCEPT !.asker = asker, !.request = n] :
                a \in given, asker \in {Self, "STATE_TRANSFER"}, n \in 1 .. 2}

-----------------------------------------------------------------------------
(* A member as scenarios see it, besides its state: what the layer below has  *)
(* delivered of each sender.                                                  *)

Observed(m) == [delivered |-> DeliveredBy(m)]
=============================================================================
