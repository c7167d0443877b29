---------------------------- MODULE StopRequests ----------------------------
(***************************************************************************)
(* The contract between the layer that makes views (GMS, or merging over   *)
(* GMS) and the layer above that stops the group (FLUSH): what the first   *)
(* does where the second listens. The layer that makes views asks for a    *)
(* stop (Suspend), receives the answer (GroupStopped), decides views, and  *)
(* ends the stop (Resume).                                                 *)
(*                                                                         *)
(* A stop holds in one view, and for one member, which acts there: it is   *)
(* the first of the members that it does not suspect. FLUSH stops all      *)
(* members of the view that this member does not suspect. So they must     *)
(* have the view, or START_FLUSH would find them in another one. A view    *)
(* arrives at members that are stopped. They stay stopped until all of     *)
(* them have the view: a multicast in the new view would otherwise reach a *)
(* member of the old one, and be lost there. A member that takes over does *)
(* not know who is stopped, and asks for a stop of its own before it ends  *)
(* one.                                                                    *)
(*                                                                         *)
(* Used as Membership is: GMS and merging over GMS refine it, and a group  *)
(* that runs FLUSH takes its guards as the environment. One step of a      *)
(* member may be several of the contract: the answer, a view, and a new    *)
(* request. The variables of Membership are the same as there. Conjuncts   *)
(* have names, and those in Off are not asked for.                         *)
(***************************************************************************)
EXTENDS Views

CONSTANTS
    Member,     \* all addresses
    Off         \* the names of those Conjuncts that are not asked for

VARIABLES
    views,      \* Membership: the decided views, in order of decision
    installed,  \* Membership: [Member -> the number of the view installed; 0: none]
    life,       \* Membership: [Member -> its present incarnation]
    up,         \* the members that have not crashed or left
    suspects,   \* [Member -> whom it suspects]
    asked,      \* the members that have asked for a stop, and have no answer yet
    given       \* the members that have the answer, and have not ended the stop

stop_requests_vars == <<views, installed, life, up, suspects, asked, given>>

Conjuncts ==
    {"ActingAsks", "AsksWhenInstalled", "DecidesWhenStopped", "ResumesOwnStop", "ResumesWhenInstalled", "JoinersLast"}

LOCAL On(conjunct) == conjunct \notin Off

-----------------------------------------------------------------------------
(* The views of members                                                    *)

\* x has view number k, or had it: one comes from k to the view of x.
RECURSIVE Precedes(_, _)
Precedes(j, k) == j = k \/ (j < k /\ \E i \in views[k].preds : Precedes(j, i))
HasHad(x, k) == installed[x] # 0 /\ Precedes(k, installed[x])

\* All members that m counts on in its view have the view, or had it. (A member that is over and not suspected had it. If its
\* address is there again, in another incarnation, that is not to be seen any more.)
HaveView(m) ==
    \E k \in {installed[m]} :
        \A x \in DOMAIN views[k].lives \ (suspects[m] \cup {m}) : life[x] = views[k].lives[x] => HasHad(x, k)

\* m is the first member of its view that it does not suspect.
Acts(m) ==
    /\ installed[m] # 0
    /\ \E list \in {views[installed[m]].members} :
           \E i \in DOMAIN list : list[i] = m /\ \A j \in 1 .. i - 1 : list[j] \in suspects[m]

-----------------------------------------------------------------------------
(* Guards are operators of their own, so that a group can use them by themselves. *)

MayAsk(m) ==
    /\ installed[m] # 0
    \* ActingAsks: Only the first of the members of its view that it does not suspect asks for a stop. (Two that ask for the same members
    \* decide two views.)
    /\ On("ActingAsks") => Acts(m)
    \* AsksWhenInstalled: A member asks for a stop only when all members that it counts on have its view. (FLUSH asks them in that view.)
    /\ On("AsksWhenInstalled") => HaveView(m)

\* `stopped`: the group is stopped for the member, now or since a former step.
MayDecide(stopped) ==
    \* DecidesWhenStopped: A view that follows another is decided only by a member for which the group is stopped.
    On("DecidesWhenStopped") => stopped

\* ResumesOwnStop: A member resumes only a group that was stopped for it. (A member that takes over does not know which members are stopped.)
IsOwnStop(stopped) == On("ResumesOwnStop") => stopped

\* ResumesWhenInstalled: The group is resumed only when all members that it counts on have its view. (A multicast in the view would
\* reach members that are not there yet.)
MayEnd(m) == On("ResumesWhenInstalled") => HaveView(m)

MayResume(m, stopped) == IsOwnStop(stopped) /\ MayEnd(m)

\* A joiner that was sent view number k by c may begin with it.
MayJoin(c, k) ==
    \* JoinersLast: A joiner begins with a view when all old members that the sender counts on have the view. (The joiner is not stopped in
    \* the view before, and old members could still take another view.)
    On("JoinersLast") =>
        \A x \in DOMAIN views[k].lives \ (views[k].joins \cup suspects[c]) : life[x] = views[k].lives[x] => HasHad(x, k)

-----------------------------------------------------------------------------
(* Steps                                                                   *)

\* One step of m: it is `answered`, decides and installs, and `asks` or `resumes` at last.
Act(m, answered, asks, resumes) ==
    \E now \in {answered \/ m \in given} :
        /\ answered => m \in asked
        /\ (views' # views /\ views'[Len(views')].preds # {}) => MayDecide(now)
        /\ asks => MayAsk(m)'
        /\ resumes => IsOwnStop(now) /\ MayEnd(m)'
        /\ \E k \in {installed'[m]} :
            (installed[m] = 0 /\ k # 0 /\ views'[k].preds # {}) => \E c \in Member : MayJoin(c, k)'

\* The step of m as it is seen from outside: its part in `asked` and `given`.
Stops(m) ==
    /\ asked \ {m} = asked' \ {m} /\ given \ {m} = given' \ {m}
    /\ \E answered, asks, resumes \in BOOLEAN :
        /\ answered => m \in asked
        /\ (m \in asked \ asked' /\ m \in up') => answered
        /\ m \in asked' => asks \/ (m \in asked /\ ~answered)
        /\ (m \in given \ given' /\ m \in up' /\ Acts(m)') => asks \/ resumes
        /\ Act(m, answered, asks, resumes)

Init == asked = {} /\ given = {}

\* (Steps that change nothing of it are others'.)
Next ==
    (\E m \in Member : installed[m] = 0 /\ installed'[m] # 0) \/ <<views, asked, given>>' # <<views, asked, given>> =>
        \E m \in Member : Stops(m)

Spec == Init /\ [][Next]_stop_requests_vars
=============================================================================
