----------------------------- MODULE MCGmsCalls -------------------------------
(******************************************************************************)
(* Claims about what a member refuses, ignores and answers, and which         *)
(* requests it keeps; and their defects. Most ask in each state what a step   *)
(* of a member would be, also for events that no peer has sent. Only models   *)
(* of these claims use this module.                                           *)
(******************************************************************************)
EXTENDS MCGms

\* The members that are asked what a step would be: each at first, and then the member that took the last step. (No other
\* state is new.) Most claims ask members that are up, or are in a view, too. A member that has left ignores what comes.
Moved == IF act = NoAct THEN Member ELSE {act.member}
Asked == {m \in Moved : m \in up \/ local[m].gone}
InViews == {m \in Moved : m \in up /\ InView(local[m])}
Leaders == {m \in Moved : m \in up /\ IsActing(local[m])}

\* Addresses of processes that are in no view. (A model may add some that look like those of incarnations.)
Strangers == {"Z"}
LikeIncarnations == {"Z", "D11", "D#3", "D#x"}

From(x, message) == EventOf(Packet(x, "", message))
Sent(effects, type) ==
    {[to |-> effects[i].to, message |-> effects[i].message] :
        i \in {i \in DOMAIN effects : effects[i].type = "Send" /\ effects[i].message.type = type}}
Only(to, message) == {[to |-> to, message |-> message]}

\* A view of x and m in which m begins; the view that follows m's own, with the same members; and a view of another branch.
FirstOf(m, x) ==
    Decision(ViewId(2, x), <<x, m>>, ViewId(1, x), [y \in {x, m} |-> IF y = m THEN local[m].life ELSE 0], {m},
             [y \in {x} |-> Nothing])
NextOf(m) ==
    [local[m].decision EXCEPT !.id = ViewId(@.counter + 1, "Z"), !.follows = local[m].decision.id, !.joiners = {},
                              !.digest = NoDigest]
OtherOf(m) == [NextOf(m) EXCEPT !.follows = ViewId(NextOf(m).id.counter - 1, "Y")]

\* A view with something wrong in it.
Unsound(view_of) ==
    {[view_of EXCEPT !.members = <<>>], [view_of EXCEPT !.members = @ \o @],
     [view_of EXCEPT !.lives = [y \in {} |-> 0]], [view_of EXCEPT !.lives = [y \in DOMAIN @ |-> -1]],
     [view_of EXCEPT !.follows = view_of.id], [view_of EXCEPT !.joiners = {"Z"}]}

\* Events that no correct peer, layer or caller causes.
Wrongs(m, x) ==
    LET s == local[m]
        first == FirstOf(m, x)
        view_of == IF InView(s) THEN NextOf(m) ELSE first
        isIn == InView(s) /\ ~s.gone
        joins(c, incarnation) == [type |-> "JoinRequested", coordinator |-> c, life |-> incarnation]
    IN {[type |-> "Suspected", suspect |-> m], From(x, NewView(Founding(x))),
        From(x, JoinReq(-1)), From(x, JoinRefused(-1)), From(x, LeaveReq(-1)), From(x, LeaveRsp(-1)),
        From(x, Query(s.decision.id, {x})), From(x, Query(s.decision.id, {m})),
        From("Z", JoinRsp(first)),
        From(x, JoinRsp([first EXCEPT !.joiners = {}, !.digest = [y \in {x, m} |-> Nothing]])),
        From(x, JoinRsp([first EXCEPT !.joiners = {x}])), From(x, JoinRsp([first EXCEPT !.members = <<m, x>>])),
        From(x, JoinRsp([first EXCEPT !.digest = NoDigest]))}
       \cup {From(x, NewView(d)) : d \in Unsound(view_of)}
       \cup {From(x, Answer(s.decision.id, d)) : d \in Unsound(view_of)}
       \cup {From(x, JoinRsp(d)) : d \in Unsound(first)}
       \cup (IF isIn THEN {} ELSE {[type |-> "LeaveRequested"]})
       \cup (IF InView(s) \/ s.gone THEN {joins(x, 0), joins(m, 0)} ELSE {joins(m, 1)})
       \cup (IF s.phase = "admitting"
             THEN {[type |-> "DigestGiven", asker |-> Self, request |-> s.asked, digest |-> NoDigest]} ELSE {})

\* Sound messages of x to m, the views of which m may or may not have.
Letters(m, x) ==
    LET s == local[m]
        view_of == IF InView(s) THEN NextOf(m) ELSE FirstOf(m, x)
        Known == IF x \in DOMAIN s.decision.lives THEN LifeOf(s, x) ELSE 0
    IN {From(x, JoinReq(Known)), From(x, JoinReq(Known + 1)), From(x, JoinRefused(s.life)), From(x, LeaveReq(Known)),
        From(x, LeaveRsp(s.life)), From(x, NewView(view_of)), From(x, JoinRsp(FirstOf(m, x))),
        From(x, ViewAck(s.decision.id)), From(x, Query(s.decision.id, {})), From(x, Answer(s.decision.id, s.decision))}
       \cup IF InView(s) THEN {From(x, NewView(s.decision))} ELSE {}

Digest(m, n) == [type |-> "DigestGiven", asker |-> Self, request |-> n, digest |-> DeliveredBy(m)]

\* Events that are late, or say nothing new.
Lates(m, x) ==
    LET s == local[m]
        Known == IF x \in DOMAIN s.decision.lives THEN LifeOf(s, x) ELSE 0
    IN {From(x, LeaveRsp(s.life + 1)), From(x, JoinRefused(s.life + 1)), From(x, ViewAck(ViewId(99, "Z"))),
        From(x, Answer(ViewId(99, "Z"), s.decision)), From(m, JoinReq(9)), Digest(m, s.asked + 1),
        [type |-> "Suspected", suspect |-> "Z"]}
       \cup (IF s.phase = "admitting" THEN {} ELSE {Digest(m, s.asked)})
       \cup (IF s.phase = "stopping" THEN {} ELSE {StoppedFor(Self)})
       \cup (IF x \in s.awaits THEN {} ELSE {From(x, ViewAck(s.decision.id)), From(x, Answer(s.decision.id, NoDecision)),
                                             From(x, Answer(s.decision.id, IF InView(s) THEN NextOf(m) ELSE FirstOf(m, x)))})
       \cup (IF Spreads(s) THEN {} ELSE {From(x, ViewAck(s.decision.id))})
       \cup (IF s.gone
             THEN {e \in Letters(m, x) : e.type = "AnswerReceived" => x \notin s.awaits}
                  \cup {[type |-> "Suspected", suspect |-> x]}
             ELSE {})
       \cup (IF IsActing(s) THEN {From(x, JoinReq(n)) : n \in {n \in 0 .. 1 : Waits(s, x, n)}} ELSE {From(x, JoinReq(9))})
       \cup (IF ~InView(s)
             THEN {From(x, LeaveReq(0)), From(x, LeaveRsp(s.life)), From(x, NewView(FirstOf(m, x))),
                   From(x, JoinRsp([FirstOf(m, x) EXCEPT !.lives[m] = s.life + 1])),
                   [type |-> "Suspected", suspect |-> x]}
                  \cup (IF s.joining THEN {} ELSE {From(x, JoinRsp(FirstOf(m, x))), From(x, JoinRefused(s.life))})
             ELSE {From(x, JoinRefused(s.life)), From("Z", Query(s.decision.id, {})), From("Z", LeaveReq(0))}
                  \cup {From(x, LeaveReq(life_of)) : life_of \in {Known + 1} \cup (IF LeaveWaits(s, x) THEN {Known} ELSE {})}
                  \cup (IF s.leaving /\ ~s.gone THEN {[type |-> "LeaveRequested"]} ELSE {})
                  \cup (IF x \in s.suspected
                        THEN {From(x, Query(s.decision.id, {})), From(x, NewView(NextOf(m))), From(x, NewView(s.decision)),
                              From(x, JoinRsp(FirstOf(m, x)))}
                        ELSE {})
                  \cup (IF x \in s.suspected /\ ~IsQueued(s, "join", x)
                        THEN {[type |-> "Suspected", suspect |-> x]} ELSE {}))

-----------------------------------------------------------------------------
(* Claims *)

\* An event that no correct peer, layer or caller causes is refused; an event that is late, or says nothing new, is
\* ignored;
MistakesAreRefused ==
    \A m \in Asked : \A e \in Wrongs(m, CHOOSE x \in Member : x # m) :
        MemberStep(local[m], e).outcome \in {"local_error", "remote_error"}
LateEventsAreIgnored ==
    \A m \in Asked : \A x \in Member \ {m} : \A e \in Lates(m, x) : MemberStep(local[m], e) = Ignored(local[m])

\* no event of a correct peer, layer or caller is refused;
NoEventRefusedStep == act'.outcome \notin {"local_error", "remote_error"}

\* and an event that is handled changes the state, or has effects.
HandledDoesSomethingStep ==
    act'.outcome = "handled" => local'[act'.member] # local[act'.member] \/ act'.effects # <<>>

\* A member that is asked by an unsuspected member of its view answers with its own view, and refuses from then on the
\* seniors that both have. A question about a view that is over changes nothing. A joiner answers that it has no view.
IsOld(s, id) == id.counter <= s.decision.id.counter /\ id # s.decision.id /\ id # s.decision.follows
QueryIsAnswered ==
    \A m \in Moved \cap up : \A x \in IF InView(local[m]) THEN Others(local[m]) ELSE Member \ {m} :
        \E s \in {local[m]} :
        \E own \in {(IF InView(s) THEN Before(s.decision, x) ELSE Member) \ {m, x}} : \E all \in {Member \ {m, x}} :
        \A q \in {<<s.decision.id, {}>>, <<s.decision.id, own>>, <<s.decision.id, all>>, <<s.decision.follows, own>>}
                  \cup {<<ViewId(n, "Z"), own>> : n \in {1, s.decision.id.counter, 99}} :
            LET id == q[1]
                seniors == q[2]
            IN \E step \in {MemberStep(s, From(x, Query(id, seniors)))} :
                    /\ step.outcome = "handled"
                    /\ Sent(step.effects, "ANSWER") = Only(x, Answer(id, s.decision))
                    /\ IF InView(s) /\ IsOld(s, id) THEN step.state = s
                       ELSE step.state.suspected =
                                s.suspected \cup (IF InView(s) THEN seniors \cap Before(s.decision, x) ELSE seniors)

\* A member in a view acknowledges its own view and the next, and installs that; it answers any other view with its own.
ViewIsAnswered ==
    \A m \in InViews : \A x \in (Member \cup Strangers) \ ({m} \cup local[m].suspected) :
        \A d \in {local[m].decision, NextOf(m), OtherOf(m)} :
            \E s \in {local[m]} : \E step \in {MemberStep(s, From(x, NewView(d)))} :
                /\ step.outcome = "handled"
                /\ step.state.decision = IF d = OtherOf(m) THEN s.decision ELSE d
                /\ IF d = OtherOf(m)
                   THEN step.state = s /\ step.effects = <<Send(x, Answer(d.id, s.decision))>>
                   ELSE /\ Sent(step.effects, "VIEW_ACK") = Only(x, ViewAck(d.id))
                        /\ Sent(step.effects, "ANSWER") = {}
                        /\ LET Stays(r) == r.kind = "leave" /\ r.member \in MembersOf(d) \ {m} IN
                           step.state.queue = IF d = s.decision THEN s.queue ELSE SelectSeq(s.queue, Stays)
                        /\ step.state.suspected = s.suspected \cup
                            IF x \in MembersOf(d) /\ m \notin Before(d, x) THEN Before(d, x) ELSE {}

\* ... and also where it comes as an answer to a joiner.
JoinRspIsAnswered ==
    \A m \in InViews : \A x \in Member \ ({m} \cup local[m].suspected) :
        \E s \in {local[m]} : \E other \in {[FirstOf(m, x) EXCEPT !.id.creator = "Z"]} :
            /\ MemberStep(s, From(x, JoinRsp(other))) = Handled(s, <<Send(x, Answer(other.id, s.decision))>>)
            /\ (m \in s.decision.joiners /\ x \in MembersOf(s.decision) /\ m \notin Before(s.decision, x)) =>
                \E step \in {MemberStep(s, From(x, JoinRsp(s.decision)))} :
                    /\ step.outcome = "handled" /\ step.state.decision = s.decision
                    /\ Sent(step.effects, "VIEW_ACK") = Only(x, ViewAck(s.decision.id))

\* A request of an incarnation that the acting coordinator does not know waits, in the place of any former request of
\* its name; all others wait as before. Where a former incarnation is in the view, it leaves first.
JoinReqWaits ==
    \A c \in Leaders : \A x \in (Member \cup Strangers) \ {c} :
        \E s \in {local[c]} :
        \A incarnation \in {n \in 0 .. 3 : ~IsOver(s, x, n) /\ ~Waits(s, x, n)} :
            \E step \in {MemberStep(s, From(x, JoinReq(incarnation)))} :
                LET join == Request("join", x, incarnation)
                    Other(r) == r.kind # "join" \/ r.member # x
                    Rest(queue) == SelectSeq(queue, Other)
                    leave == IF x \in MembersOfView(s) THEN Request("leave", x, LifeOf(s, x)) ELSE join
                    places == {i \in DOMAIN step.state.queue : step.state.queue[i] = join}
                IN /\ step.outcome = "handled"
                   /\ places = {Len(step.state.queue)}
                   /\ IF x \in MembersOfView(s) /\ ~IsQueued(s, "leave", x)
                      THEN LET Stays(r) == r # leave IN
                           /\ SelectSeq(Rest(step.state.queue), Stays) = Rest(s.queue)
                           /\ leave \in {step.state.queue[i] : i \in DOMAIN step.state.queue}
                      ELSE Rest(step.state.queue) = Rest(s.queue)

\* A request to join that needs no new view: an incarnation that is awaited is answered again; one that was excluded, or of
\* which a later one is known, is refused. All others are in the view, and are not answered.
JoinReqIsAnswered ==
    \A c \in Leaders : \A x \in (Member \cup Strangers) \ {c} :
        \E s \in {local[c]} :
        \A incarnation \in {n \in 0 .. 3 : IsOver(s, x, n) /\ ~Waits(s, x, n)} :
            LET present == x \in MembersOfView(s) /\ incarnation = LifeOf(s, x)
                last == x \in DOMAIN s.decision.lives /\ incarnation = LifeOf(s, x)
                answer == IF s.phase = "answering" /\ x \in s.awaits /\ present THEN <<Send(x, JoinRsp(s.decision))>>
                          ELSE IF HasLaterIncarnation(s, x) \/ (last /\ ~present)
                          THEN <<Send(x, JoinRefused(incarnation))>> ELSE <<>>
            IN MemberStep(s, From(x, JoinReq(incarnation))) = IF answer = <<>> THEN Ignored(s) ELSE Handled(s, answer)

\* A member's request to leave waits, behind all others.
LeaveReqWaits ==
    \A m \in InViews : \A x \in MembersOfView(local[m]) \ {m} :
        ~IsQueued(local[m], "leave", x) =>
            \E step \in {MemberStep(local[m], From(x, LeaveReq(LifeOf(local[m], x))))} :
                /\ step.outcome = "handled"
                /\ step.state.queue = Append(local[m].queue, Request("leave", x, LifeOf(local[m], x)))

\* An application's request to leave waits at a member that leads, which goes by a view. A member that is about to take over
\* goes at once, but for the first of its view. Any other member asks the acting coordinator.
OwnLeaveWaits ==
    \A m \in {m \in InViews : ~local[m].leaving} :
        \E s \in {local[m]} : \E step \in {MemberStep(s, [type |-> "LeaveRequested"])} :
            /\ step.outcome = "handled" /\ step.state.leaving
            /\ step.state.gone = (s.phase = "asking" /\ Head(s.decision.members) # m)
            /\ step.state.queue = IF Leads(s) THEN Append(s.queue, OwnLeave(s)) ELSE s.queue
            /\ Sent(step.effects, "LEAVE_REQ") =
                IF s.phase = "following" THEN Only(Head(Unsuspected(s)), LeaveReq(s.life)) ELSE {}

\* A promise ends with a view of the coordinator's, or is withdrawn: where a joiner is suspected, or comes as its next
\* incarnation; and where another member takes over, by a QUERY or a view.
PromiseIsWithdrawn ==
    \A m \in {m \in InViews : local[m].phase = "admitting"} : \A x \in Others(local[m]) \cup Promisees(local[m]) :
        \E s \in {local[m]} :
        \A e \in {[type |-> "Suspected", suspect |-> x], From(x, JoinReq(9)), From(x, Query(s.decision.id, {})),
                  From(x, NewView(NextOf(m)))} :
            \E step \in {MemberStep(s, e)} :
                {event.to : event \in Down(step.effects, "PromiseWithdrawn")} = Promisees(s) \ Promisees(step.state)

\* A member that is answered has left. (So has a joiner that is refused.)
LeaverIsReleased ==
    \A m \in Moved \cap up : \A x \in Member \ {m} :
        \E s \in {local[m]} :
        \A e \in IF InView(s) THEN {From(x, LeaveRsp(s.life))}
                  ELSE IF s.joining THEN {From(x, JoinRefused(s.life))} ELSE {} :
            MemberStep(s, e) = Handled([s EXCEPT !.gone = TRUE], <<LeftTheGroup>>)

\* A member that has left while it asked for the newest view takes the answers, and does nothing with them.
LeftIsSilent ==
    \A m \in Asked : \A x \in local[m].awaits :
        local[m].gone => MemberStep(local[m], From(x, Answer(local[m].decision.id, local[m].decision))).effects = <<>>

\* A member that asks takes each answer once, with the view that follows its own. A member that answers with a view of
\* another branch is suspected. A member that has a view, or had it, and says so, still has to acknowledge another.
AnswerIsTaken ==
    \A m \in Moved \cap up : \A x \in local[m].awaits :
        \E s \in {local[m]} :
        \A d \in {NoDecision, s.decision, [s.decision EXCEPT !.id = s.decision.follows, !.follows = NoViewId],
                   NextOf(m), OtherOf(m), [NextOf(m) EXCEPT !.members = <<x>>]} :
            (d # NoDecision => IsSound(d)) =>
            \E step \in {MemberStep(s, From(x, Answer(s.decision.id, d)))} :
                /\ step.outcome = "handled"
                /\ IF d = NoDecision \/ d.id \in {s.decision.id, s.decision.follows}
                   THEN IF Spreads(s) THEN step.state = s
                        ELSE IF s.awaits # {x} THEN step.state = [s EXCEPT !.awaits = @ \ {x}]
                        ELSE /\ step.state.phase # "asking" /\ step.state.suspected = s.suspected
                             /\ step.state.decision.id = IF s.newest = NoDecision THEN s.decision.id ELSE s.newest.id
                   ELSE IF d = NextOf(m) /\ s.phase = "asking"
                   THEN IF s.awaits = {x} THEN step.state.decision = d
                        ELSE step.state = [s EXCEPT !.awaits = @ \ {x}, !.newest = d]
                   ELSE x \in step.state.suspected /\ step.state.decision \in {s.decision, s.newest}

\* A member that relies on a joiner from now on, as it suspects the member before, hands it the view.
SuspicionHandsView ==
    \A m \in {m \in InViews : local[m].phase = "following"} : \A x \in Others(local[m]) :
        LET s == local[m]
            Trusted(y) == y # x
            next == Head(SelectSeq(Unsuspected(s), Trusted))
        IN Sent(MemberStep(s, [type |-> "Suspected", suspect |-> x]).effects, "JOIN_RSP") =
            IF x = Head(Unsuspected(s)) /\ next \in s.decision.joiners \ {m} THEN Only(next, JoinRsp(s.decision)) ELSE {}

\* A suspicion ends the suspect's request to join, and no other request.
SuspicionKeepsRequests ==
    \A m \in Moved \cap up : \A x \in Member \ {m} :
        LET Other(r) == r.kind # "join" \/ r.member # x
            Own(r) == r # OwnLeave(local[m])
        IN \E step \in {MemberStep(local[m], [type |-> "Suspected", suspect |-> x])} :
            SelectSeq(step.state.queue, Own) = SelectSeq(SelectSeq(local[m].queue, Other), Own)

\* LEAVE_RSP is sent with a view, to the members that this view excludes on their own request.
LeaversAreAnsweredStep ==
    LET m == act'.member
        s == local[m]
        granted == {r \in {s.queue[i] : i \in DOMAIN s.queue} :
            /\ r.kind = "leave" /\ r.member # m
            /\ r.member \in MembersOfView(s) /\ r.life = LifeOf(s, r.member)
            /\ views' # views /\ r.member \notin DOMAIN views'[Len(views')].lives
            /\ \A i \in DOMAIN local'[m].queue : local'[m].queue[i] # r}
    IN act'.outcome # "none" =>
        Sent(act'.effects, "LEAVE_RSP") = {[to |-> r.member, message |-> LeaveRsp(r.life)] : r \in granted}

\* A member that wants to leave asks each acting coordinator once.
AsksToLeaveOnceStep ==
    LET m == act'.member
        asked == local'[m].leave_asked
    IN act'.outcome # "none" =>
        Sent(act'.effects, "LEAVE_REQ") =
            IF asked = "" \/ (asked = local[m].leave_asked /\ local'[m].decision = local[m].decision) THEN {}
            ELSE Only(asked, LeaveReq(local[m].life))

\* A view that is decided has other members than the view that it follows; and it has a start digest if some member begins
\* with it.
ViewChangesMembersStep ==
    views' # views => \A k \in views'[Len(views')].preds : views[k].members # views'[Len(views')].members
OnlyJoinersHaveDigestStep ==
    views' # views => LET v == views'[Len(views')] IN v.preds = {} \/ (v.joins = {} => v.digest = NoDigest)

AsksToLeaveOnce == [][AsksToLeaveOnceStep]_vars
ViewChangesMembers == [][ViewChangesMembersStep]_vars
OnlyJoinersHaveDigest == [][OnlyJoinersHaveDigestStep]_vars
NoEventRefused == [][NoEventRefusedStep]_vars
HandledDoesSomething == [][HandledDoesSomethingStep]_vars
LeaversAreAnswered == [][LeaversAreAnsweredStep]_vars

-----------------------------------------------------------------------------
(* Members in the middle of a story: A, B and C, and D, which is no founder.   *)

Zero == [m \in Member |-> 0]
Leaves(m, incarnation) == [type |-> "LeaveReqReceived", sender |-> m, message |-> LeaveReq(incarnation)]

\* A has let D in, and has crashed. B takes over: it has D's request, too, and learns from C that D is in the view.
GrantedByCrashed ==
    \E second \in {SecondBy("A").decision} :
        Late([m \in Member |->
                CASE m = "A" -> SecondBy("A")
                  [] m = "B" -> TakesOver("B", 0, second)
                  [] m = "C" -> IsAsked("C", second)
                  [] m = "D" -> After(Start("D"), <<Wants("A", 0), Wants("B", 0)>>)],
             {Packet("B", "D", JoinRsp(second))}, {"B", "C", "D"}, Zero, <<second>>,
             [m \in Member |-> IF m = "D" THEN 0 ELSE 2], {"B", "C"}, [crashes |-> 1, restarts |-> 0])

\* A has let D in, in its second incarnation, and has excluded it. D has asked again, and is refused.
RefusedJoiner ==
    \E second \in {After(Begun("A"), <<Asks("D", 1), Stopped, Given(FoundersSet, 1)>>)} :
    \E a \in {After(second, <<Acknowledges("B", second.decision), Acknowledges("C", second.decision), Suspects("D"),
                              Stopped>>)} :
        Late([m \in Member |->
                CASE m = "A" -> a
                  [] m = "D" -> After(Start("D"), <<Wants("A", 1), From("A", JoinRefused(1))>>)
                  [] OTHER -> After(Begun(m), <<Sends("A", second.decision), Sends("A", a.decision)>>)],
             {}, {"A", "B", "C"}, [m \in Member |-> IF m = "D" THEN 1 ELSE 0], <<second.decision, a.decision>>,
             [m \in Member |-> IF m = "D" THEN 0 ELSE 3], {"A", "B", "C"}, [crashes |-> 1, restarts |-> 1])

\* A view grants one request. B has asked to leave, after D asked to join; B has crashed, and the view with D excludes it.
\* B's next incarnation asks to join.
FormerLeaveWaits ==
    \E second \in {After(Begun("A"), <<Asks("D", 0), Leaves("B", 0), Suspects("B"), Stopped, Given(FoundersSet, 1)>>)} :
    \E a \in {After(second, <<Acknowledges("C", second.decision), Acknowledges("D", second.decision), Asks("B", 1)>>)} :
        Late([m \in Member |->
                CASE m = "A" -> a
                  [] m = "B" -> After(Start("B"), <<Wants("A", 1)>>)
                  [] m = "C" -> After(Begun("C"), <<Sends("A", second.decision)>>)
                  [] m = "D" -> After(Start("D"), <<Wants("A", 0), Answers("A", second.decision)>>)],
             {}, Member, [m \in Member |-> IF m = "B" THEN 1 ELSE 0], <<second.decision>>,
             [m \in Member |-> IF m = "B" THEN 0 ELSE 2], {"A", "C", "D"}, [crashes |-> 1, restarts |-> 1])

\* A is the only founder: it has let B, C and D in at once, and has crashed. All suspect it, and B takes over.
AllJoinedAtOnce ==
    \E second \in {After(Begun("A"), <<Asks("B", 0), Asks("C", 0), Asks("D", 0), Stopped, Given({"A"}, 1)>>)} :
        Late([m \in Member |->
                IF m = "A" THEN second
                ELSE After(Start(m), <<Wants("A", 0), Answers("A", second.decision), Suspects("A")>>)],
             {Packet("B", x, Query(second.decision.id, {"A"})) : x \in {"C", "D"}},
             {"B", "C", "D"}, Zero, <<second.decision>>,
             [m \in Member |-> 2], {"B", "C", "D"}, [crashes |-> 1, restarts |-> 0])

\* A has crashed, and B has left while it asked C for the newest view.
LeftWhileAsking ==
    Late([m \in Member |->
            CASE m = "B" -> After(Begun("B"), <<Suspects("A"), [type |-> "LeaveRequested"]>>)
              [] m = "D" -> Start("D")
              [] OTHER -> Begun(m)],
         {Packet("B", "C", Query(FirstDecision.id, {"A"}))}, {"C"}, Zero, <<>>, [m \in Member |-> IF m = "D" THEN 0 ELSE 1],
         {}, [crashes |-> 2, restarts |-> 1])

Places == LeftWhileAsking \/ GrantedByCrashed \/ RefusedJoiner \/ FormerLeaveWaits

-----------------------------------------------------------------------------
(* Defects *)

\* In the place of Ignored: a late event counts as handled.
HandledLate(s) == Handled(s, <<>>)

\* In the place of MemberStep: a member in a view ignores each message of a type.
InViewIgnores(s, e, type) == IF InView(s) /\ e.type = type /\ ~Refuses(s, e) THEN Ignored(s) ELSE Step(s, e)
IgnoresJoinRsp(s, e) == InViewIgnores(s, e, "JoinRspReceived")
IgnoresLeaveRsp(s, e) == InViewIgnores(s, e, "LeaveRspReceived")
IgnoresLeaveReq(s, e) == InViewIgnores(s, e, "LeaveReqReceived")

\* An answer of an awaited member.
IsAwaitedAnswer(s, e) ==
    e.type = "AnswerReceived" /\ e.sender \in s.awaits /\ e.message.view_id = s.decision.id /\ ~Refuses(s, e)

\* ... or takes over, though it has left.
AsksWhenGone(s, e) ==
    IF s.gone /\ IsAwaitedAnswer(s, e) THEN Step([s EXCEPT !.gone = FALSE, !.leaving = FALSE], e) ELSE Step(s, e)

\* ... or takes the answer to a view of another branch for an acknowledgement.
TakesAnswerForAck(s, e) ==
    IF Spreads(s) /\ IsAwaitedAnswer(s, e) THEN Proceed(Struck(s, e.sender), <<>>) ELSE Step(s, e)

\* ... or a suspicion ends all requests of the suspect.
DropsRequests(s, e) ==
    LET step == Step(s, e)
        Other(r) == r.member # e.suspect
    IN IF e.type = "Suspected" /\ step.outcome = "handled" THEN [step EXCEPT !.state.queue = SelectSeq(@, Other)] ELSE step

\* ... or a member that is asked for its view keeps its promises.
KeepsPromises(s, e) ==
    LET step == Step(s, e)
        Other(effect) == effect.type # "PassDown" \/ effect.event.type # "PromiseWithdrawn"
    IN IF e.type = "QueryReceived" THEN [step EXCEPT !.effects = SelectSeq(@, Other)] ELSE step

\* ... or a member that leaves asks the acting coordinator again when another member is suspected, or asks to leave.
AsksToLeaveAgain(s, e) ==
    LET step == Step(s, e) IN
    IF /\ e.type \in {"Suspected", "LeaveReqReceived"} /\ step.outcome = "handled"
       /\ s.leave_asked # "" /\ step.state.leave_asked = s.leave_asked
    THEN [step EXCEPT !.effects = Append(@, Send(s.leave_asked, LeaveReq(s.life)))] ELSE step

\* ... or a coordinator that has nothing to decide makes a view, though it changes nothing; or a view without joiners has a
\* start digest.
DecidesAnyway(s, e) ==
    IF e = StoppedFor(Self) /\ s.phase = "stopping" /\ ~HasToDecide(s)
    THEN LET d == [s.decision EXCEPT !.id = ViewId(@.counter + 1, s.member), !.follows = s.decision.id, !.joiners = {}]
             entered == Enter(s, d)
         IN Proceed([entered EXCEPT !.phase = "announcing", !.awaits = Others(entered)],
                    Installed(d) \o SendAll(d.members, Others(entered), NewView(d)))
    ELSE Step(s, e)
KeepsDigest(s, e) ==
    LET step == Step(s, e) IN
    IF e.type = "DigestGiven" /\ step.outcome = "handled" /\ step.state.decision # s.decision
    THEN [step EXCEPT !.state.decision.digest = e.digest] ELSE step

\* In the place of LeaveWaits: a request to join counts, too.
AnyRequestWaits(s, m) == IsQueued(s, "leave", m) \/ IsQueued(s, "join", m)

\* In the place of Released: each request that is granted is answered as one to leave.
AnswersEachRequest(s, requests) == [i \in DOMAIN requests |-> Send(requests[i].member, LeaveRsp(requests[i].life))]
=============================================================================
