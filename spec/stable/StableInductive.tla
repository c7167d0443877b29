-------------------------- MODULE StableInductive ---------------------------
(******************************************************************************)
(* Why NoPrematurePurge holds in a group of any size: an invariant that       *)
(* holds at the start, that every step keeps, and from which the claim        *)
(* follows. TLC checks it in the models of models.yaml, in which it could     *)
(* only be found wrong. An SMT solver proves it (`groupcomm prove`), from     *)
(* the text of this module, of Stable and of the claims: see                  *)
(* docs/proof.md.                                                             *)
(*                                                                            *)
(* The idea. A member purges a message in view v when every member of v       *)
(* has voted for it. A member x that installs a later view without having     *)
(* been in v did not vote. But x begins from a promise. In each view on the   *)
(* path to the promiser's there is a member that guards x: the promiser,      *)
(* whose vote is held, or, in a view before the promiser's own, the member    *)
(* that guards the promiser. A guard's votes in v stay within what x starts   *)
(* from, so the view cannot agree on more.                                    *)
(*                                                                            *)
(* Scope (InScope). Views form a forest: no view is merged. Of Membership     *)
(* the proof takes what Forest says. `life[x]` is x's present incarnation.    *)
(* The solver reads "x \in Member" as any incarnation of any address. A       *)
(* former incarnation takes no more steps.                                    *)
(*                                                                            *)
(* Three sections are read by the solver's reader in three ways: Of the       *)
(* operators of the Vocabulary it knows the names alone, and the properties   *)
(* that Forest gives them. An action is read as a condition on the values     *)
(* before and after. The rest is read as it stands.                           *)
(******************************************************************************)
EXTENDS StableClaims

-----------------------------------------------------------------------------
(* Vocabulary *)

Begun(x) == installed[x] # 0

\* x, in its present incarnation, is a member of view number v.
In(v, x) == Has(views[v], x, life[x])

SameAddress(x, y) == x = y

\* Some incarnation of the address is.
AddressIn(v, x) == x \in DOMAIN views[v].lives

IsFirst(v) == views[v].preds = {}
Parent(v) == CHOOSE u \in views[v].preds : TRUE

\* There is a path from view u to view v, or they are one.
RECURSIVE Before(_, _)
Before(u, v) == u = v \/ (u < v /\ ~IsFirst(v) /\ Before(u, Parent(v)))

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

\* p reaches view v (JoinDigest); its promiser, or its newcomer, is a member there, in the incarnation of the promise.
Reaches(p, v) == JoinDigest!Reaches(p, v)
ByIn(p, v) == Has(views[v], p.by, p.by_life)
ToIn(p, v) == Has(views[v], p.to, p.to_life)

\* One incarnation of s, over or not, is a member of both.
InBoth(u, v, s) == Shares(views[u], views[v], s)

\* No member of these views was one in an incarnation that is over. (Of such an incarnation TLC knows nothing any more.)
AllPresent(u, v) ==
    \A w \in DOMAIN views : Before(u, w) /\ Before(w, v) => \A m \in DOMAIN views[w].lives : views[w].lives[m] = life[m]

-----------------------------------------------------------------------------
(* The forest of views: what the proof takes from Membership *)

Joins(v, x) == In(v, x) /\ (IsFirst(v) \/ ~In(Parent(v), x))

BeforeIsReflexive == \A v \in DOMAIN views : Before(v, v)
BeforeIsTransitive == \A u, v, w \in DOMAIN views : Before(u, v) /\ Before(v, w) => Before(u, w)
BeforeIsAntisymmetric == \A u, v \in DOMAIN views : Before(u, v) /\ Before(v, u) => u = v
OnePathTo == \A u, v, w \in DOMAIN views : Before(u, w) /\ Before(v, w) => Before(u, v) \/ Before(v, u)
ParentIsBefore == \A w \in DOMAIN views : ~IsFirst(w) => Before(Parent(w), w) /\ Parent(w) # w
BeforeByParent ==
    \A u, w \in DOMAIN views : Before(u, w) /\ u # w => ~IsFirst(w) /\ Before(u, Parent(w))
CountersRise ==
    \A u, v \in DOMAIN views : Before(u, v) /\ u # v => Counter(u) < Counter(v)
CountersArePositive == \A v \in DOMAIN views : Counter(v) > 0
UniqueViewId == \A u, v \in DOMAIN views : SameId(u, v) => u = v
\* Membership's JoinsOnce: who is left out does not come in again in the same incarnation.
OneUnchanged ==
    \A u, v, w \in DOMAIN views, x \in Member :
        Before(u, v) /\ Before(v, w) /\ In(u, x) /\ In(w, x) => In(v, x)
\* Membership's conjunct of this name: a view does not replace an incarnation by another of its address.
ExcludedFirst ==
    \A w \in DOMAIN views, x \in Member :
        ~IsFirst(w) /\ In(w, x) /\ AddressIn(Parent(w), x) => In(Parent(w), x)
ReachesAtFirst == \A p \in promises : Reaches(p, p.view)
ReachesFurther ==
    \A p \in promises, v \in DOMAIN views :
        Reaches(p, v) /\ v # p.view =>
            /\ Before(p.view, v) /\ ~IsFirst(v)
            /\ ~ToIn(p, v) => ByIn(p, v) /\ ~AddressIn(v, p.to)
            /\ ToIn(p, Parent(v)) => ToIn(p, v)
            /\ Reaches(p, Parent(v))
ReachesBetween ==
    \A p \in promises, u, v \in DOMAIN views :
        Reaches(p, v) /\ Before(p.view, u) /\ Before(u, v) => Reaches(p, u) /\ (ToIn(p, u) => ToIn(p, v))

Forest ==
    /\ BeforeIsReflexive
    /\ BeforeIsTransitive
    /\ BeforeIsAntisymmetric
    /\ OnePathTo
    /\ ParentIsBefore
    /\ BeforeByParent
    /\ CountersRise
    /\ CountersArePositive
    /\ UniqueViewId
    /\ OneUnchanged
    /\ ExcludedFirst
    /\ ReachesAtFirst
    /\ ReachesFurther
    /\ ReachesBetween

-----------------------------------------------------------------------------
(* The invariant: what members have *)

\* Every member is in the view that it has installed.
Own == \A x \in InGroup : In(installed[x], x)

KnownViews ==
    /\ \A x \in InGroup : installed[x] \in DOMAIN views
    /\ \A p \in promises : p.view \in DOMAIN views
    /\ \A p \in Votes(network) : ViewOfMessage(p) \in DOMAIN views
    /\ \A p \in Announcements(network) : ViewOfMessage(p) \in DOMAIN views

MinimumVoteDelivered ==
    \A x \in InGroup, s \in Member : In(installed[x], s) =>
        /\ Nothing <= local[x].minimum[s]
        /\ local[x].minimum[s] <= local[x].vote[s]
        /\ local[x].vote[s] <= rm[x][s].delivered

CastWithinDelivered ==
    \A x \in InGroup, v \in DOMAIN views, s \in Member :
        Before(v, installed[x]) /\ In(v, x) /\ In(v, s) /\ In(installed[x], s) => Cast(x, v, s) <= rm[x][s].delivered

CastByMembers ==
    \A x \in Member, v \in DOMAIN views, s \in Member : In(v, s) =>
        /\ Cast(x, v, s) >= Nothing
        /\ Cast(x, v, s) > Nothing => In(v, x) /\ Begun(x) /\ Before(v, installed[x])

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
(* The invariant: guards. y guards in view v, for z, who joins with w on the way to `top`, what begins at `level` *)

GuardIsThere(y, z, w, v, top) ==
    /\ In(v, y) /\ Begun(y)
    /\ ~IsFirst(w) /\ Joins(w, z) /\ Begun(z)
    /\ Before(v, Parent(w)) /\ In(Parent(w), y) /\ In(w, y) /\ Before(w, top)

\* Its votes in v are within the level.
GuardHasCast(y, v, s, top, level) == In(v, s) /\ In(top, s) => Cast(y, v, s) <= level

\* Until it has left v its vote is held for z, within the level.
GuardHolds(y, z, v) == Before(installed[y], v) => z \in local[y].promised
GuardHeld(y, v, s, top, level) ==
    Before(installed[y], v) /\ In(installed[y], s) /\ In(top, s) => local[y].vote[s] <= level

\* No view that it comes to before w, and no promise, takes that away.
GuardUndisturbed(y, z, w, u) ==
    Before(installed[y], u) /\ Before(u, Parent(w)) => ~AddressIn(u, z)
GuardPromisesNoMore(y, z, v, p) ==
    Before(installed[y], v) => ~(p.by = y /\ ByPresent(p) /\ SameAddress(p.to, z))

Guards ==
    \A x \in InGroup, v \in DOMAIN views :
        Before(v, installed[x]) /\ ~In(v, x) /\ AllPresent(v, installed[x]) =>
            \E y, z \in Member, w \in DOMAIN views :
                /\ GuardIsThere(y, z, w, v, installed[x])
                /\ \A s \in Member : In(installed[x], s) => GuardHasCast(y, v, s, installed[x], rm[x][s].delivered)
                /\ GuardHolds(y, z, v)
                /\ \A s \in Member :
                    In(installed[x], s) => GuardHeld(y, v, s, installed[x], rm[x][s].delivered)
                /\ \A u \in DOMAIN views : GuardUndisturbed(y, z, w, u)
                /\ \A p \in promises : GuardPromisesNoMore(y, z, v, p)

-----------------------------------------------------------------------------
(* The invariant: promises that are open, to a process that has not begun *)

Awaited(p) == ToPresent(p) /\ ~Begun(p.to)

\* p's entry for s: nothing, if s was not in the view.
PromisedSeqno(p, s) == IF In(p.view, s) THEN p.vector[s] ELSE Nothing

PromiserIsThere ==
    \A p \in promises : Awaited(p) /\ ByPresent(p) =>
        /\ Begun(p.by) /\ In(p.view, p.by) /\ Before(p.view, installed[p.by])
        /\ ~AddressIn(p.view, p.to)

PromisedIsSound == \A p \in promises, s \in Member : In(p.view, s) => p.vector[s] >= Nothing

OneOpenPromise ==
    \A p, q \in promises :
        (p.by = q.by /\ p.by_life = q.by_life /\ SameAddress(p.to, q.to)) => p = q

PromisersAreGuarded ==
    \A p \in promises, v \in DOMAIN views :
        Awaited(p) /\ ByPresent(p) /\ Before(v, p.view) /\ ~In(v, p.by) /\ AllPresent(v, p.view) =>
            \E y, z \in Member, w \in DOMAIN views :
                /\ GuardIsThere(y, z, w, v, p.view)
                /\ \A s \in Member : In(p.view, s) => GuardHasCast(y, v, s, p.view, p.vector[s])
                /\ GuardHolds(y, z, v)
                /\ \A s \in Member : In(p.view, s) => GuardHeld(y, v, s, p.view, p.vector[s])
                /\ \A u \in DOMAIN views : GuardUndisturbed(y, z, w, u)
                /\ \A q \in promises : GuardPromisesNoMore(y, z, v, q)

PromiserHasCast ==
    \A p \in promises, v \in DOMAIN views, s \in Member :
        Awaited(p) /\ ByPresent(p) /\ In(v, p.by) /\ In(v, s) =>
            /\ Before(v, p.view) /\ In(p.view, s) => Cast(p.by, v, s) <= p.vector[s]
            /\ Before(p.view, v) /\ Reaches(p, v) /\ ~ToIn(p, v) => Cast(p.by, v, s) <= PromisedSeqno(p, s)

PromiserHolds ==
    \A p \in promises :
        Awaited(p) /\ ByPresent(p) /\ Reaches(p, installed[p.by]) /\ ~ToIn(p, installed[p.by]) =>
            /\ p.to \in local[p.by].promised
            /\ \A s \in Member : In(installed[p.by], s) => local[p.by].vote[s] <= PromisedSeqno(p, s)

-----------------------------------------------------------------------------
(* The invariant: what was purged *)

\* Each purge is of a view that agreed: all its members have voted for it there.
PurgedIsAgreed ==
    \A x \in InGroup, s \in Member :
        In(installed[x], s) /\ rm[x][s].purged > Nothing =>
            \E v \in DOMAIN views :
                /\ Before(v, installed[x]) /\ In(v, s)
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
    /\ PromiserIsThere
    /\ PromisedIsSound
    /\ OneOpenPromise
    /\ PromisersAreGuarded
    /\ PromiserHasCast
    /\ PromiserHolds
    /\ PurgedIsAgreed

\* The scope of the proof: no view is merged.
InScope == \A v \in DOMAIN views : Cardinality(views[v].preds) <= 1

\* For TLC: in scope the views are as the proof takes them, and the invariant holds.
ForestAndInvariant == InScope => Forest /\ Inductive

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

InstallViewStep(a, w) ==
    /\ Begun(a)
    /\ (~IsFirst(w))' /\ Parent(w)' = installed[a] /\ In(w, a)'
    /\ installed'[a] = w
    /\ rm'[a] = [s \in DOMAIN views'[w].lives |-> IF s \in views'[w].joins THEN Window(Nothing) ELSE rm[a][s]]
    /\ act'.event = [type |-> "ViewInstalled", view |-> ViewOf(views'[w]), digest |-> DigestOf(rm'[a])]

\* a begins with a view that follows none.
BeginStep(a, w) ==
    /\ ~Begun(a)
    /\ IsFirst(w)' /\ In(w, a)'
    /\ installed'[a] = w
    /\ rm'[a] = [s \in DOMAIN views'[w].lives |-> Window(Nothing)]
    /\ act'.event = [type |-> "ViewInstalled", view |-> ViewOf(views'[w]), digest |-> DigestOf(rm'[a])]

Redeems(p, a, v, w) == p.to = a /\ ToPresent(p) /\ Reaches(p, v) /\ ~ToIn(p, v) /\ ByIn(p, w)'

\* a begins with a view that follows another, from the promise p, and from others to it.
JoinStep(a, w, p) ==
    /\ ~Begun(a)
    /\ (~IsFirst(w))' /\ Joins(w, a)'
    /\ p \in promises
    /\ \E v \in {Parent(w)'} :
        /\ Redeems(p, a, v, w)
        /\ \A q \in promises, s \in Member :
            (Redeems(q, a, v, w) /\ s \notin views'[w].joins /\ InBoth(q.view, w, s)') =>
                rm'[a][s].delivered >= q.vector[s]
    /\ \A s \in Member : AddressIn(w, s)' =>
        /\ rm'[a][s].delivered >= Nothing /\ rm'[a][s].purged = Nothing
        /\ s \in views'[w].joins => rm'[a][s].delivered = Nothing
    /\ installed'[a] = w
    /\ promises' = {q \in promises : ~(q.to = a /\ ToPresent(q))}
    /\ act'.event = [type |-> "ViewInstalled", view |-> ViewOf(views'[w]), digest |-> DigestOf(rm'[a])]

PromiseDigestStep(a, c, p) ==
    /\ Begun(a)
    /\ p \notin promises /\ p.by = a /\ p.to = c /\ p.view = installed[a]
    /\ ~AddressIn(installed[a], c)
    /\ \A s \in Member : AddressIn(installed[a], s) => p.vector[s] = rm[a][s].delivered
    /\ \A q \in promises : ~(q.by = a /\ ByPresent(q) /\ SameAddress(q.to, c))
    /\ c \notin local[a].promised
    /\ promises' = promises \cup {p}
    /\ act'.event = [type |-> "DigestPromised", to |-> c]
    /\ OnlyPurges(a)

WithdrawPromiseStep(a, p) ==
    /\ Begun(a)
    /\ p \in promises /\ p.by = a /\ ByPresent(p)
    /\ promises' = promises \ {p}
    /\ act'.event = [type |-> "PromiseWithdrawn", to |-> p.to]
    /\ OnlyPurges(a)

AdmittedElsewhereStep(a, c) ==
    /\ Begun(a)
    /\ \A p \in promises : ~(p.by = a /\ ByPresent(p) /\ SameAddress(p.to, c))
    /\ \A w \in DOMAIN views :
        (~IsFirst(w) /\ AddressIn(w, c) /\ In(w, a) /\ Before(installed[a], Parent(w))) =>
            \E u \in DOMAIN views : Before(installed[a], u) /\ Before(u, Parent(w)) /\ AddressIn(u, c)
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
(* For TLC: each step of the group is one of these. *)

\* The solver's frame condition: all else is unchanged, except by the step.
OthersUnchanged(a) ==
    /\ \A x \in Member \ {a} : local'[x] = local[x] /\ rm'[x] = rm[x] /\ installed'[x] = installed[x]
    /\ \A v \in DOMAIN views : v \in DOMAIN views' /\ views'[v] = views[v]
    /\ life' = life

\* The member took Step, and the network has what it sent.
TookStep(a) ==
    /\ local'[a] = Step(local[a], act'.event).state
    /\ act'.effects = Step(local[a], act'.event).effects
    /\ network' = AfterStep(network, a, act'.consumed, act'.effects)

\* A view that is decided with this step: no view follows it, no message names it.
DecidedFirst(w) ==
    w \notin DOMAIN views =>
        /\ views' = Append(views, views'[w])
        /\ \A p \in network : p.message.view_id # views'[w].id

Installed(a) ==
    \E w \in {installed'[a]} \ {0} :
        /\ DecidedFirst(w)
        /\ \/ InstallViewStep(a, w) /\ promises' = promises
           \/ BeginStep(a, w) /\ promises' = promises
           \/ \E p \in promises : JoinStep(a, w, p)

InPlace(a) ==
    /\ installed' = installed /\ views' = views
    /\ \/ \E c \in Member, p \in promises' : PromiseDigestStep(a, c, p)
       \/ \E p \in promises : WithdrawPromiseStep(a, p)
       \/ /\ promises' = promises
          /\ \/ act'.event.type = "MessageReceived" /\ DataArrivesStep(a)
             \/ StableTimeoutFiresStep(a)
             \/ StabilityTimeoutFiresStep(a)
             \/ \E p \in Votes(network) : ReceiveStableStep(a, p)
             \/ \E p \in Announcements(network) : ReceiveStabilityStep(a, p)
             \/ \E c \in Member : AdmittedElsewhereStep(a, c)
             \/ MisuseStep(a)

\* Crashes, losses and restarts: no other member's state changes, and a new incarnation has nothing.
Elsewhere(a) ==
    /\ \A x \in Member : (life'[x] = life[x] => installed'[x] = installed[x] /\ local'[x] = local[x] /\ rm'[x] = rm[x])
    /\ \A x \in Member : (life'[x] # life[x] => life'[x] > life[x] /\ installed'[x] = 0)
    /\ views' = views /\ promises' = promises /\ network' \subseteq network

InScopeStep ==
    (InScope /\ InScope') =>
        \E a \in {act'.member} :
            IF act'.outcome = "none" THEN Elsewhere(a)
            ELSE OthersUnchanged(a) /\ TookStep(a) /\ (InPlace(a) \/ Installed(a))

EachStepIsRead == [][InScopeStep]_vars
=============================================================================
