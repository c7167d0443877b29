-------------------------- MODULE StableInductive ---------------------------
(******************************************************************************)
(* Why NoPrematurePurge holds in a group of any size: an invariant that       *)
(* holds at the start, that every step keeps, and from which the claim        *)
(* follows. TLC checks it in the models of models.yaml, in which it could     *)
(* only be found wrong. An SMT solver proves it (`groupcomm prove`), from     *)
(* the text of this module, of Stable and of the claims: see                  *)
(* docs/proof.md.                                                             *)
(*                                                                            *)
(* The idea. A member purges a message of s in view v when every member of    *)
(* v has voted for it. A member x of a later view on the path of s, whose     *)
(* own path does not come from v, did not vote. But x begins from a promise.  *)
(* In each view on the path of s up to the promiser's there is a member that  *)
(* guards x: the promiser, whose vote is held, or, in a view before the       *)
(* promiser's own, the member that guards the promiser. A guard's votes in    *)
(* v stay within what x starts from, so the view cannot agree on more.        *)
(*                                                                            *)
(* Scope (InScope). Views may be merged, if they have no member in common.    *)
(* So each member has one path of views. Of Membership and JoinDigest the     *)
(* proof takes what Forest says. `life[x]` is x's present incarnation. The    *)
(* solver reads "x \in Member" as any incarnation of any address. A former    *)
(* incarnation takes no more steps.                                           *)
(*                                                                            *)
(* Three sections are read by the solver's reader in three ways: Of the       *)
(* operators of the Vocabulary it knows the names alone, and the properties   *)
(* that Forest gives them. An action is read as a condition on the values     *)
(* before and after. The rest is read as it stands.                           *)
(******************************************************************************)
EXTENDS StableClaims, ViewsAsRead

VARIABLES standing, served, entered, abandoned  \* the history of MergeDigest

\* The assumption of this proof about start digests. (StableGroup keeps more, where it keeps all of JoinDigest.)
MergeDigest == INSTANCE MergeDigest WITH
    delivered <- [m \in Member |-> [s \in DOMAIN rm[m] |-> rm[m][s].delivered]],
    held <- [m \in Member |-> local[m].promised]

-----------------------------------------------------------------------------
(* Vocabulary *)

Begun(x) == installed[x] # 0

\* x, in its present incarnation, is a member of view number v.
In(v, x) == Has(views[v], x, life[x])

SameAddress(x, y) == x = y

\* Some incarnation of the address is.
AddressIn(v, x) == x \in DOMAIN views[v].lives

IsFirst(v) == views[v].preds = {}
Precedes(u, v) == u \in views[v].preds

\* x is in v, and in no view that v follows.
Joins(v, x) == In(v, x) /\ \A j \in views[v].preds : ~In(j, x)

\* Where x comes from: the view before v that has it.
Parent(v, x) == CHOOSE j \in views[v].preds : In(j, x)

\* View v follows a view without x.
FollowsOther(v, x) == \E j \in views[v].preds : ~In(j, x)

\* There is a path from view u to view v, or they are one, and x and y are in each view on it.
RECURSIVE Along(_, _, _, _)
Along(x, y, u, v) ==
    /\ In(v, x) /\ In(v, y)
    /\ u = v \/ (u < v /\ \E j \in views[v].preds : Along(x, y, u, j))

\* The path of x leads from u to v.
On(x, u, v) == Along(x, x, u, v)

\* x is on the way from u to v all the time, and so is s, or joins on the way.
RECURSIVE Carried(_, _, _, _)
Carried(x, s, u, v) ==
    /\ In(v, x) /\ In(v, s)
    /\ \/ u = v
       \/ /\ u < v
          /\ \E j \in views[v].preds :
                In(j, x) /\ (Carried(x, s, u, j) \/ (Joins(v, s) /\ On(x, u, j)))

NoMerges == \A v \in DOMAIN views : Cardinality(views[v].preds) <= 1

Counter(v) == views[v].id.counter
SameId(u, v) == views[u].id = views[v].id

\* The view that a message was sent in.
KnownView(p) == \E v \in DOMAIN views : views[v].id = p.message.view_id
ViewOfMessage(p) == CHOOSE v \in DOMAIN views : views[v].id = p.message.view_id
Announcements(net) == {p \in net : p.message.type = "STABILITY"}

\* The highest vote of x on s in view v, of all that it ever sent.
Cast(x, v, s) ==
    LET on == {p.message.digest[s] : p \in
                {q \in Votes(network) : /\ q.sender = x /\ q.message.view_id = views[v].id
                                        /\ s \in DOMAIN q.message.digest}}
    IN IF on = {} \/ ~In(v, x) THEN Nothing ELSE CHOOSE n \in on : \A i \in on : i <= n

\* The incarnations that p names are the present ones of their addresses. (The solver knows all incarnations.)
ByPresent(p) == life[p.by] = p.by_life
ToPresent(p) == life[p.to] = p.to_life

SenderPresent(p) == KnownView(p) /\ In(ViewOfMessage(p), p.sender)

\* p reaches view v (JoinDigest), and its newcomer is still awaited there.
Waits(p, v) == JoinDigest!Reaches(p, v) /\ ~Has(views[v], p.to, p.to_life)

\* The promiser of p, in the incarnation of the promise, is a member of v.
ByIn(p, v) == Has(views[v], p.by, p.by_life)

\* So is the member that it was made to.
ToIn(p, v) == Has(views[v], p.to, p.to_life)

\* The history of MergeDigest: members of view w have started from a promise of y to z; the side u of w is abandoned.
Served(y, z, w) == [by |-> y, by_life |-> life[y], to |-> z, to_life |-> life[z], view |-> w] \in served
ServedBy(p, w) == [by |-> p.by, by_life |-> p.by_life, to |-> p.to, to_life |-> p.to_life, view |-> w] \in served
Abandoned(u, w) == <<u, w>> \in abandoned

\* p has a start for s in view v (JoinDigest).
Tells(p, s, v) == In(v, s) /\ JoinDigest!TellsOf(p, s, v)

\* No view on the path of s from u to v has a member in an incarnation that is over. (Of such an incarnation TLC
\* knows nothing any more.)
AllPresent(s, u, v) ==
    \A w \in DOMAIN views : On(s, u, w) /\ On(s, w, v) => \A m \in DOMAIN views[w].lives : views[w].lives[m] = life[m]

-----------------------------------------------------------------------------
(* The paths of members: what the proof takes from Membership and JoinDigest *)

AlongIsOfMembers ==
    \A u, v \in DOMAIN views, x, y \in Member :
        Along(x, y, u, v) =>
            In(u, x) /\ In(u, y) /\ In(v, x) /\ In(v, y) /\ On(x, u, v) /\ On(y, u, v) /\ Along(y, x, u, v)
AlongIsReflexive == \A v \in DOMAIN views, x, y \in Member : In(v, x) /\ In(v, y) => Along(x, y, v, v)
AlongIsTransitive ==
    \A u, v, w \in DOMAIN views, x, y \in Member : Along(x, y, u, v) /\ Along(x, y, v, w) => Along(x, y, u, w)
AlongIsAntisymmetric == \A u, v \in DOMAIN views, x \in Member : On(x, u, v) /\ On(x, v, u) => u = v
OnePathTo ==
    \A u, v, w \in DOMAIN views, x \in Member : On(x, u, w) /\ On(x, v, w) => On(x, u, v) \/ On(x, v, u)
AlongBetween ==
    \A u, v, w \in DOMAIN views, x, y \in Member :
        Along(x, y, u, w) /\ On(x, u, v) /\ On(x, v, w) => Along(x, y, u, v) /\ Along(x, y, v, w)
ParentIsOnPath ==
    \A w \in DOMAIN views, x \in Member :
        In(w, x) /\ ~Joins(w, x) => On(x, Parent(w, x), w) /\ Parent(w, x) # w /\ Precedes(Parent(w, x), w)
AlongByParent ==
    \A u, w \in DOMAIN views, x, y \in Member :
        Along(x, y, u, w) /\ u # w =>
            ~Joins(w, x) /\ ~Joins(w, y) /\ Parent(w, x) = Parent(w, y) /\ Along(x, y, u, Parent(w, x))
\* A view comes from one view with each of its members: views that have a member in common are not merged.
MergesAreDisjoint ==
    \A w \in DOMAIN views, x, y \in Member :
        In(w, x) /\ In(w, y) /\ ~Joins(w, x) /\ In(Parent(w, x), y) =>
            ~Joins(w, y) /\ Parent(w, y) = Parent(w, x) /\ Along(x, y, Parent(w, x), w)
JoinersAreMembers == \A v \in DOMAIN views, x \in Member : Joins(v, x) => In(v, x)
FirstIsJoined == \A v \in DOMAIN views, x \in Member : IsFirst(v) /\ In(v, x) => Joins(v, x)
CountersRise ==
    \A u, v \in DOMAIN views, x \in Member : On(x, u, v) /\ u # v => Counter(u) < Counter(v)
CountersArePositive == \A v \in DOMAIN views : Counter(v) > 0
UniqueViewId == \A u, v \in DOMAIN views : SameId(u, v) => u = v
\* Membership's conjunct of this name: a view does not replace an incarnation by another of its address.
ExcludedFirst ==
    \A w \in DOMAIN views, x, y \in Member :
        In(w, x) /\ In(w, y) /\ ~Joins(w, y) /\ AddressIn(Parent(w, y), x) => In(Parent(w, y), x)
CarriedIsOnPath ==
    \A u, v \in DOMAIN views, x, s \in Member : Carried(x, s, u, v) => On(x, u, v) /\ In(v, s)
CarriedAlong == \A u, v \in DOMAIN views, x, s \in Member : Along(x, s, u, v) => Carried(x, s, u, v)
CarriedByParent ==
    \A u, w \in DOMAIN views, x, s \in Member :
        Carried(x, s, u, w) /\ u # w /\ ~Joins(w, s) => Parent(w, s) = Parent(w, x) /\ Carried(x, s, u, Parent(w, x))
CarriedFurther ==
    \A u, v, w \in DOMAIN views, x, s \in Member : Carried(x, s, u, v) /\ Along(x, s, v, w) => Carried(x, s, u, w)
CarriedBetween ==
    \A u, v, w \in DOMAIN views, x, s \in Member :
        Carried(x, s, u, w) /\ On(x, u, v) /\ On(x, v, w) =>
            Carried(x, s, v, w) /\ (In(v, s) => Carried(x, s, u, v) /\ Along(x, s, v, w))
CarriedFromJoin ==
    \A u, v, w \in DOMAIN views, x, s \in Member :
        Carried(x, s, u, w) /\ ~In(u, s) /\ On(s, v, w) => Along(x, s, v, w) /\ On(x, u, v)
WaitsAtFirst == \A p \in standing : Waits(p, p.view)
WaitsOnPath ==
    \A p \in standing, v \in DOMAIN views :
        Waits(p, v) /\ ByPresent(p) => On(p.by, p.view, v) /\ (v # p.view => ~AddressIn(v, p.to))
WaitsByParent ==
    \A p \in standing, w \in DOMAIN views :
        Waits(p, w) /\ ByPresent(p) /\ w # p.view => ~Joins(w, p.by) /\ Waits(p, Parent(w, p.by))
WaitsBetween ==
    \A p \in standing, u, v \in DOMAIN views :
        Waits(p, v) /\ ByPresent(p) /\ On(p.by, p.view, u) /\ On(p.by, u, v) => Waits(p, u)
TellsOnPath ==
    \A p \in standing, v \in DOMAIN views, s \in Member :
        Tells(p, s, v) /\ Waits(p, v) /\ ByPresent(p) => Carried(p.by, s, p.view, v)
\* Where no view is merged. (Membership's JoinsOnce: a member that was excluded does not join again in the same
\* incarnation.)
AlongInTree ==
    NoMerges => \A u, v \in DOMAIN views, x, y \in Member : On(x, u, v) /\ In(u, y) /\ In(v, y) => Along(x, y, u, v)

Forest ==
    /\ AlongIsOfMembers
    /\ AlongIsReflexive
    /\ AlongIsTransitive
    /\ AlongIsAntisymmetric
    /\ OnePathTo
    /\ AlongBetween
    /\ ParentIsOnPath
    /\ AlongByParent
    /\ MergesAreDisjoint
    /\ JoinersAreMembers
    /\ FirstIsJoined
    /\ CountersRise
    /\ CountersArePositive
    /\ UniqueViewId
    /\ ExcludedFirst
    /\ CarriedIsOnPath
    /\ CarriedAlong
    /\ CarriedByParent
    /\ CarriedFurther
    /\ CarriedBetween
    /\ CarriedFromJoin
    /\ WaitsAtFirst
    /\ WaitsOnPath
    /\ WaitsByParent
    /\ WaitsBetween
    /\ TellsOnPath
    /\ AlongInTree

-----------------------------------------------------------------------------
(* The invariant: what members have *)

\* Every member is in the view that it has installed.
Own == \A x \in InGroup : In(installed[x], x)

KnownViews ==
    /\ \A x \in InGroup : installed[x] \in DOMAIN views
    /\ \A p \in standing : p.view \in DOMAIN views
    /\ \A p \in Votes(network) : ViewOfMessage(p) \in DOMAIN views
    /\ \A p \in Announcements(network) : ViewOfMessage(p) \in DOMAIN views

MinimumVoteDelivered ==
    \A x \in InGroup, s \in Member : In(installed[x], s) =>
        /\ Nothing <= local[x].minimum[s]
        /\ local[x].minimum[s] <= local[x].vote[s]
        /\ local[x].vote[s] <= rm[x][s].delivered

CastWithinDelivered ==
    \A x \in InGroup, v \in DOMAIN views, s \in Member :
        Along(x, s, v, installed[x]) => Cast(x, v, s) <= rm[x][s].delivered

CastByMembers ==
    \A x \in Member, v \in DOMAIN views, s \in Member : In(v, s) =>
        /\ Cast(x, v, s) >= Nothing
        /\ Cast(x, v, s) > Nothing => In(v, x) /\ Begun(x) /\ On(x, v, installed[x])

VotesWereCast ==
    \A p \in Votes(network), s \in Member :
        SenderPresent(p) /\ In(ViewOfMessage(p), s) =>
            /\ In(ViewOfMessage(p), p.sender)
            /\ Nothing <= p.message.digest[s]
            /\ p.message.digest[s] <= Cast(p.sender, ViewOfMessage(p), s)

MinimumWithinCast ==
    \A x \in InGroup, y, s \in Member :
        In(installed[x], y) /\ In(installed[x], s) /\ y \notin local[x].heard_from =>
            local[x].minimum[s] <= Cast(y, installed[x], s)

HeardFromMembers == \A x \in InGroup, y \in Member : y \in local[x].heard_from => AddressIn(installed[x], y)

PendingHasHeardAll == \A x \in InGroup, y \in Member : local[x].pending => y \notin local[x].heard_from

AnnouncedWasCast ==
    \A p \in Announcements(network), x, s \in Member :
        In(ViewOfMessage(p), x) /\ In(ViewOfMessage(p), s) => p.message.digest[s] <= Cast(x, ViewOfMessage(p), s)

-----------------------------------------------------------------------------
(* The invariant: guards. In view v, y guards for z the messages of s: z enters the path of s with w, on the way to    *)
(* `top`, and begins at `level`. Or the side from which s comes to w is abandoned.                                   *)

JoinsPath(z, w, s) == In(w, z) /\ ~In(Parent(w, s), z)

\* The path of s leads from v to the side that it comes from to w, and on to `top`. Not so the path of x.
LeadsThrough(w, v, s, top) == In(w, s) /\ ~Joins(w, s) /\ On(s, v, Parent(w, s)) /\ On(s, w, top)
ComesLater(x, w, s, top) == ~Along(x, s, Parent(w, s), top)

IsCut(w, s) == Abandoned(Parent(w, s), w)

GuardIsThere(y, z, w, v, s) ==
    /\ In(v, y) /\ Begun(y)
    /\ JoinsPath(z, w, s)
    /\ Along(y, s, v, Parent(w, s)) /\ In(w, y)

\* Until it has left v its vote is held for z, within the level.
GuardHolds(y, z, w, v) == On(y, installed[y], v) => z \in local[y].promised /\ Served(y, z, w)
GuardHeld(y, v, s, level) ==
    On(y, installed[y], v) =>
        /\ Carried(y, s, installed[y], v)
        /\ In(installed[y], s) => local[y].vote[s] <= level

\* No view that it comes to before w takes that away.
GuardUndisturbed(y, z, w, s, u) ==
    On(y, installed[y], u) /\ On(y, u, Parent(w, s)) => ~AddressIn(u, z)

Guards ==
    \A x \in InGroup, v \in DOMAIN views, s \in Member :
        On(s, v, installed[x]) /\ ~Along(x, s, v, installed[x]) /\ AllPresent(s, v, installed[x]) =>
            \E y, z \in Member, w \in DOMAIN views :
                /\ LeadsThrough(w, v, s, installed[x])
                /\ ComesLater(x, w, s, installed[x])
                /\ ~IsCut(w, s) =>
                    /\ GuardIsThere(y, z, w, v, s)
                    /\ Cast(y, v, s) <= rm[x][s].delivered
                    /\ GuardHolds(y, z, w, v)
                    /\ GuardHeld(y, v, s, rm[x][s].delivered)
                    /\ \A u \in DOMAIN views : GuardUndisturbed(y, z, w, s, u)

\* No member has come to a view from a side that is abandoned.
AbandonedIsNotEntered ==
    \A x \in InGroup, w \in DOMAIN views :
        In(w, x) /\ ~Joins(w, x) /\ Abandoned(Parent(w, x), w) => ~On(x, w, installed[x])

-----------------------------------------------------------------------------
(* The invariant: promises that stand *)

Awaited(p) == ToPresent(p) /\ ByPresent(p)

\* p's entry for s: nothing, if s was not in the view.
PromisedSeqno(p, s) == IF In(p.view, s) THEN p.vector[s] ELSE Nothing

PromiserIsThere ==
    \A p \in standing : Awaited(p) =>
        /\ Begun(p.by) /\ In(p.view, p.by) /\ On(p.by, p.view, installed[p.by])
        /\ ~AddressIn(p.view, p.to)

PromisedIsSound == \A p \in standing, s \in Member : In(p.view, s) => p.vector[s] >= Nothing

PromisersAreGuarded ==
    \A p \in standing, v \in DOMAIN views, s \in Member :
        Awaited(p) /\ On(s, v, p.view) /\ ~Along(p.by, s, v, p.view) /\ AllPresent(s, v, p.view) =>
            \E y, z \in Member, w \in DOMAIN views :
                /\ LeadsThrough(w, v, s, p.view)
                /\ ComesLater(p.by, w, s, p.view)
                /\ ~IsCut(w, s) =>
                    /\ GuardIsThere(y, z, w, v, s)
                    /\ Cast(y, v, s) <= p.vector[s]
                    /\ GuardHolds(y, z, w, v)
                    /\ GuardHeld(y, v, s, p.vector[s])
                    /\ \A u \in DOMAIN views : GuardUndisturbed(y, z, w, s, u)

PromiserHasCast ==
    \A p \in standing, v \in DOMAIN views, s \in Member :
        Awaited(p) /\ In(v, p.by) /\ In(v, s) =>
            /\ Along(p.by, s, v, p.view) => Cast(p.by, v, s) <= p.vector[s]
            /\ Waits(p, v) /\ Carried(p.by, s, p.view, v) => Cast(p.by, v, s) <= PromisedSeqno(p, s)

PromiserHolds ==
    \A p \in standing :
        Awaited(p) /\ Waits(p, installed[p.by]) =>
            /\ p.to \in local[p.by].promised
            /\ \A s \in Member :
                Carried(p.by, s, p.view, installed[p.by]) => local[p.by].vote[s] <= PromisedSeqno(p, s)

-----------------------------------------------------------------------------
(* The invariant: what was purged *)

\* Each purge is of a view that agreed: all its members have voted for it there.
PurgedIsAgreed ==
    \A x \in InGroup, s \in Member :
        In(installed[x], s) /\ rm[x][s].purged > Nothing =>
            \E v \in DOMAIN views :
                /\ Along(x, s, v, installed[x])
                /\ \A m \in Member : In(v, m) => rm[x][s].purged <= Cast(m, v, s)

Inductive ==
    /\ Own
    /\ KnownViews
    /\ MinimumVoteDelivered
    /\ CastWithinDelivered
    /\ CastByMembers
    /\ VotesWereCast
    /\ MinimumWithinCast
    /\ HeardFromMembers
    /\ PendingHasHeardAll
    /\ AnnouncedWasCast
    /\ Guards
    /\ AbandonedIsNotEntered
    /\ PromiserIsThere
    /\ PromisedIsSound
    /\ PromisersAreGuarded
    /\ PromiserHasCast
    /\ PromiserHolds
    /\ PurgedIsAgreed

-----------------------------------------------------------------------------
(* The claims, where views may merge: of a sender that is there all the way, too *)

Together(x, s, u, v) == Along(x, s, u, v) \/ Along(x, s, v, u)

\* Two steps on the way. x is along with s only after the view through which the path of s leads to x. And no member
\* that has been along with s comes through a view that has abandoned its side.
AlongAfterEntry ==
    \A x \in InGroup, s \in Member, u, v, w \in DOMAIN views :
        Along(x, s, u, installed[x]) /\ LeadsThrough(w, v, s, installed[x]) /\ ComesLater(x, w, s, installed[x]) =>
            On(s, w, u)
NoneComesFromCut ==
    \A x \in InGroup, s \in Member, v, w \in DOMAIN views :
        Along(x, s, v, installed[x]) /\ LeadsThrough(w, v, s, installed[x]) => ~IsCut(w, s)

NoPrematurePurgeTogether ==
    \A p, x \in InGroup, s \in Member :
        (In(installed[p], s) /\ In(installed[x], s) /\ rm[p][s].purged > rm[x][s].delivered) =>
            ~Together(x, s, installed[x], installed[p])

RequestsServableTogether ==
    \A x, y \in up \cap InGroup, s \in Member :
        (In(installed[x], s) /\ In(installed[y], s) /\ rm[y][s].delivered > rm[x][s].delivered
            /\ Together(x, s, installed[x], installed[y])) =>
            \A n \in rm[x][s].delivered + 1 .. rm[y][s].delivered :
                (n > rm[y][s].low /\ n \notin rm[x][s].ahead) =>
                    \E h \in up \cap InGroup : In(installed[h], s) /\ Holds(rm[h][s], n)

ClaimsInTree == NoMerges => NoPrematurePurge /\ RequestsServable

\* The scope of the proof: views that are merged have no member in common.
InScope ==
    \A v \in DOMAIN views : \A i, j \in views[v].preds :
        i # j => MembersOf(views[i]) \cap MembersOf(views[j]) = {}

\* For TLC: in scope the views are as the proof takes them, and the invariant holds.
ForestAndInvariant == InScope => MergeDigest!AbandonedIsNotEntered /\ Forest /\ Inductive /\ NoPrematurePurgeTogether /\ RequestsServableTogether

-----------------------------------------------------------------------------
(* The actions: what each requires of the values before and after. `act` says which of them a step is. *)

\* The windows change by the purges alone that the step passes down.
OnlyPurges(a) == rm'[a] = AfterPurges(rm[a], act'.effects)

DataArrivesStep(a) ==
    /\ Begun(a)
    /\ \A s \in Member : AddressIn(installed[a], s) =>
        /\ rm'[a][s].delivered >= rm[a][s].delivered
        /\ rm'[a][s].purged = rm[a][s].purged
    /\ act'.event = [type |-> "MessageReceived", size |-> act'.event.size]

StableTimeoutFiresStep(a) ==
    /\ Begun(a)
    /\ act'.event = [type |-> "StableTimeout"]
    /\ OnlyPurges(a)

StabilityTimeoutFiresStep(a) ==
    /\ Begun(a)
    /\ act'.event = [type |-> "StabilityTimeout"]
    /\ OnlyPurges(a)

ReceiveStableStep(a, p) ==
    /\ act'.event = [type |-> "StableReceived", sender |-> p.sender, message |-> p.message]
    /\ OnlyPurges(a)

ReceiveStabilityStep(a, p) ==
    /\ act'.event = [type |-> "StabilityReceived", sender |-> p.sender, message |-> p.message, digest |-> DigestOf(rm[a])]
    /\ OnlyPurges(a)

\* As a installs w, which follows j too, it starts from a promise of a member of j, to a member of w.
Redeems(p, a, j, w) ==
    /\ ToIn(p, w)' /\ Waits(p, j) /\ ByIn(p, w)' /\ ServedBy(p, w)'
    /\ \A s \in Member :
        In(j, s) /\ In(w, s)' => Tells(p, s, j) /\ rm'[a][s].delivered >= PromisedSeqno(p, s)
HasPromises(a, w) ==
    \A j \in DOMAIN views :
        (Precedes(j, w)' /\ ~In(j, a)) => Abandoned(j, w)' \/ \E p \in standing : Redeems(p, a, j, w)

InstallViewStep(a, w) ==
    /\ Begun(a)
    /\ In(w, a)' /\ (~Joins(w, a))' /\ Parent(w, a)' = installed[a]
    /\ HasPromises(a, w)
    /\ \A s \in Member : In(w, s)' =>
        /\ Joins(w, s)' => rm'[a][s].delivered = Nothing
        /\ In(installed[a], s) => rm'[a][s].delivered >= rm[a][s].delivered
        /\ rm'[a][s].delivered >= Nothing
        /\ (rm'[a][s].purged # Nothing) => (In(installed[a], s) /\ rm'[a][s].purged = rm[a][s].purged)
    /\ installed'[a] = w
    /\ AbandonedIsNotEntered'
    /\ act'.event = [type |-> "ViewInstalled", view |-> ViewOf(views'[w]), digest |-> DigestOf(rm'[a])]

\* a begins with a view that follows none.
BeginStep(a, w) ==
    /\ ~Begun(a)
    /\ IsFirst(w)' /\ In(w, a)'
    /\ installed'[a] = w
    /\ rm'[a] = [s \in DOMAIN views'[w].lives |-> Window(Nothing)]
    /\ act'.event = [type |-> "ViewInstalled", view |-> ViewOf(views'[w]), digest |-> DigestOf(rm'[a])]

\* a begins with a view that follows others.
JoinStep(a, w) ==
    /\ ~Begun(a)
    /\ (~IsFirst(w))' /\ Joins(w, a)'
    /\ HasPromises(a, w)
    /\ \A s \in Member : In(w, s)' =>
        /\ rm'[a][s].delivered >= Nothing /\ rm'[a][s].purged = Nothing
        /\ Joins(w, s)' => rm'[a][s].delivered = Nothing
    /\ installed'[a] = w
    /\ AbandonedIsNotEntered'
    /\ act'.event = [type |-> "ViewInstalled", view |-> ViewOf(views'[w]), digest |-> DigestOf(rm'[a])]

PromiseDigestStep(a, c, p) ==
    /\ Begun(a)
    /\ p \notin standing /\ p.by = a /\ p.to = c /\ p.view = installed[a]
    /\ ~AddressIn(installed[a], c)
    /\ \A s \in Member : AddressIn(installed[a], s) => p.vector[s] = rm[a][s].delivered
    /\ standing' = standing \cup {p}
    /\ act'.event = [type |-> "DigestPromised", to |-> c]
    /\ OnlyPurges(a)

\* A promise to c is withdrawn, or a holds its vote for c no longer, as c has started.
ReleaseStep(a, c) ==
    /\ Begun(a)
    /\ \A z \in Member, w \in DOMAIN views :
        SameAddress(z, c) /\ Served(a, z, w) /\ In(w, a) /\ ~Joins(w, a) /\ On(a, installed[a], Parent(w, a)) =>
            Abandoned(Parent(w, a), w)'
    /\ AbandonedIsNotEntered'
    /\ standing' = {q \in standing : ~(q.by = a /\ ByPresent(q) /\ SameAddress(q.to, c) /\ Waits(q, installed[a]))}
    /\ act'.event = [type |-> "PromiseWithdrawn", to |-> c]
    /\ OnlyPurges(a)

MisuseStep(a) ==
    /\ Begun(a)
    /\ act'.event \in
        {[type |-> "StabilityTimeout"],
         [type |-> "ViewInstalled", view |-> local[a].view, digest |-> DigestOf(rm[a])],
         [type |-> "ViewInstalled", view |-> View(9, "Z", <<"Z">>), digest |-> DigestOf(rm[a])],
         [type |-> "StableReceived", sender |-> "Z", message |-> StableMessage(local[a].view.id, local[a].vote)],
         [type |-> "StabilityReceived", sender |-> "Z", digest |-> DigestOf(rm[a]),
          message |-> StabilityMessage(local[a].view.id, [s \in DOMAIN rm[a] |-> FirstSeqno])]}
    /\ OnlyPurges(a)

-----------------------------------------------------------------------------
(* For TLC: the group with the history of MergeDigest. StrictSpec is the group as it is; in MergingSpec what it does  *)
(* besides is left out: a side that is abandoned enters the view.                                                     *)

history == <<standing, served, entered, abandoned>>
history_view == <<view, history>>
StrictSpec == Init /\ MergeDigest!Init /\ [][Next /\ MergeDigest!Noted]_<<vars, history>>
MergingSpec ==
    Init /\ MergeDigest!Init /\ [][Next /\ MergeDigest!Noted /\ MergeDigest!AbandonedIsNotEntered']_<<vars, history>>

-----------------------------------------------------------------------------
(* For TLC: the state as the solver has it (ViewsAsRead).                     *)

IsPresent(x) == x.life = life[x.address]

JoinsIn(vs, v, x) == LifeIn(vs, v, x) /\ \A j \in vs[v].preds : ~LifeIn(vs, j, x)
ParentIn(vs, v, x) ==
    LET from == IF v \in DOMAIN vs THEN {j \in vs[v].preds : LifeIn(vs, j, x)} ELSE {}
    IN IF from = {} THEN 0 ELSE CHOOSE j \in from : TRUE
PrecedesIn(vs, u, v) == v \in DOMAIN vs /\ u \in vs[v].preds
FollowsOtherIn(vs, v, x) == v \in DOMAIN vs /\ \E j \in vs[v].preds : ~LifeIn(vs, j, x)
RECURSIVE AlongIn(_, _, _, _, _)
AlongIn(vs, x, y, u, v) ==
    /\ LifeIn(vs, v, x) /\ LifeIn(vs, v, y)
    /\ u = v \/ (u < v /\ \E j \in vs[v].preds : AlongIn(vs, x, y, u, j))
RECURSIVE CarriedIn(_, _, _, _, _)
CarriedIn(vs, x, s, u, v) ==
    /\ LifeIn(vs, v, x) /\ LifeIn(vs, v, s)
    /\ \/ u = v
       \/ /\ u < v
          /\ \E j \in vs[v].preds :
                LifeIn(vs, j, x) /\ (CarriedIn(vs, x, s, u, j) \/ (JoinsIn(vs, v, s) /\ AlongIn(vs, x, x, u, j)))

By(p) == [address |-> p.by, life |-> p.by_life]
To(p) == [address |-> p.to, life |-> p.to_life]
WaitsIn(p, v) == v \in DOMAIN views /\ Waits(p, v)
TellsIn(p, s, v) == LifeIn(views, v, s) /\ JoinDigest!TellsOf(p, s.address, v)
SenderIn(vs, p) == OccupantIn(vs, NumberIn(vs, p.message.view_id), p.sender)

BegunNow(x) == IsPresent(x) /\ Begun(x.address)
InstalledNow(x) == IF IsPresent(x) THEN installed[x.address] ELSE 0
UpNow(x) == IsPresent(x) /\ x.address \in up
HeardFromNow(x, m) == IsPresent(x) /\ m \in local[x.address].heard_from
PendingNow(x) == IsPresent(x) /\ local[x.address].pending
ReceivedBytesNow(x) == IF IsPresent(x) THEN local[x.address].received_bytes ELSE 0
PromisedNow(x, m) == IsPresent(x) /\ m \in local[x.address].promised
StandingNow(p) == p \in standing
ServedNow(x, z, w) ==
    [by |-> x.address, by_life |-> x.life, to |-> z.address, to_life |-> z.life, view |-> w] \in served
AbandonedNow(u, w) == <<u, w>> \in abandoned
SentVotesNow(p) == p \in Votes(network)
SentAnnouncementsNow(p) == p \in Announcements(network)

\* Vectors and windows: of the members of the view that is installed.
HasEntry(x, m) == BegunNow(x) /\ m \in DOMAIN views[installed[x.address]].lives
Entry(vector, m) == IF m \in DOMAIN vector THEN vector[m] ELSE Nothing
VoteNow(x, m) == IF HasEntry(x, m) THEN local[x.address].vote[m] ELSE Nothing
MinimumNow(x, m) == IF HasEntry(x, m) THEN local[x.address].minimum[m] ELSE Nothing
WindowNow(x, m) == IF HasEntry(x, m) THEN rm[x.address][m] ELSE Window(Nothing)
DeliveredNow(x, m) == WindowNow(x, m).delivered
PurgedNow(x, m) == WindowNow(x, m).purged
LowNow(x, m) == WindowNow(x, m).low
ReceivedNow(x, m) == IF HasEntry(x, m) THEN Received(DigestOf(rm[x.address]))[m] ELSE Nothing
AheadNow(x, m, n) == n \in WindowNow(x, m).ahead
SeqnosAhead == UNION {UNION {rm[x][s].ahead : s \in DOMAIN rm[x]} : x \in Member}

\* The highest vote of an incarnation.
CastNow(x, v, m) ==
    LET on == {p.message.digest[m] : p \in
                {q \in Votes(network) : /\ q.sender = x.address /\ NumberIn(views, q.message.view_id) = v
                                        /\ m \in DOMAIN q.message.digest}}
    IN IF on = {} \/ ~LifeIn(views, v, x) THEN Nothing ELSE CHOOSE n \in on : \A i \in on : i <= n
=============================================================================
