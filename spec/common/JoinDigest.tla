----------------------------- MODULE JoinDigest -----------------------------
(******************************************************************************)
(* The guarantee of a protocol that admits members (GMS: joiners; merge: the  *)
(* other side): the start digest of a newcomer, and how long a promise is     *)
(* kept.                                                                      *)
(*                                                                            *)
(* A member that gives its digest away makes a promise: to this incarnation of    *)
(* this address, of all that it has delivered at that moment. A promise is    *)
(*   open        from the moment the digest is taken,                         *)
(*   redeemed    when the newcomer installs a view that comes from the        *)
(*               promiser's and has the promiser in it. The newcomer          *)
(*               starts where the digest ends.                                *)
(*   withdrawn   when no such view will ever be installed by it,              *)
(*   void        while open, where a view has been decided that the           *)
(*               promise does not reach. Neither the promiser nor the         *)
(*               newcomer is in it, or another incarnation of the newcomer's  *)
(*               address is in it, or the newcomer's incarnation is over. The *)
(*               newcomer may still install a view of another branch; the     *)
(*               members of this branch owe it nothing.                       *)
(* Any number of views may lie between the digest and the view with the       *)
(* newcomer. Several members may have open promises to several newcomers. A   *)
(* redeemed promise withdraws the newcomer's other promises.                  *)
(*                                                                            *)
(* The promiser keeps its promise by address, because a view names members by *)
(* address. It keeps it until it installs a view with that address, or the    *)
(* promise is withdrawn. Members install a view at different times, so the    *)
(* promiser may still keep a redeemed promise.                                *)
(*                                                                            *)
(* STABLE relies on it: it purges nothing beyond a promise, as far as the     *)
(* promise reaches (PurgeWithinPromise in StableGroup). The variables of      *)
(* Membership are the same as there. As in Membership, conjuncts have names,  *)
(* and those in Off are not asked for.                                        *)
(******************************************************************************)
EXTENDS Views, FiniteSets

CONSTANTS
    Member,     \* all addresses
    Off         \* the names of those Conjuncts that are not asked for

VARIABLES
    views,      \* Membership: the decided views, in order of decision
    installed,  \* Membership: [Member -> the number of the view installed; 0: none]
    life,       \* Membership: [Member -> its present incarnation]
    delivered,  \* [Member -> [sender in its view -> highest seqno delivered]]
    promises,   \* the open promises
    held        \* [Member -> the addresses for which it holds its word]

joindigest_vars == <<views, installed, life, delivered, promises, held>>

Conjuncts ==
    {"DigestIsDelivered", "PromiseeIsOutside", "OneOpenPromise", "StartRequiresPromise", "PromiserIsMember",
     "PromiseToOneIncarnation", "DigestIsComplete", "WithdrawOnlyIfUnusable", "PromiseHeldWhileNeeded"}

LOCAL On(conjunct) == conjunct \notin Off

-----------------------------------------------------------------------------
(* Promises *)

\* `by`, in its incarnation by_life and in view number `view`, has promised `vector` to `to`, in its incarnation
\* to_life.
PromiseOf(by, to) ==
    [by |-> by, by_life |-> life[by], view |-> installed[by], to |-> to, to_life |-> life[to],
     vector |-> delivered[by]]

LOCAL ByIn(p, k) == Has(views[k], p.by, p.by_life)
LOCAL ToIn(p, k) == Has(views[k], p.to, p.to_life)

\* View number k has the newcomer in it, or the promiser, who waits for it. `alone`: and no other incarnation of the newcomer.
LOCAL Carries(p, k, alone) ==
    \/ ToIn(p, k)
    \/ ByIn(p, k) /\ (alone => p.to \notin DOMAIN views[k].lives)

\* There is a path from the promiser's view to k. On it each view contains the promiser, up to a view with the
\* newcomer; from there each view contains the newcomer. (So agreement in each view on the path needs the vote of a
\* member that keeps the promise, or of the newcomer itself.)
RECURSIVE ReachesIf(_, _, _)
ReachesIf(p, k, alone) ==
    IF k <= p.view THEN k = p.view
    ELSE /\ Carries(p, k, alone)
         /\ \E j \in views[k].preds :
                /\ j >= p.view
                /\ ToIn(p, j) => ToIn(p, k)
                /\ ReachesIf(p, j, alone)

\* A promise reaches view number k.
\* PromiseToOneIncarnation: A promise ends with a view that has another incarnation of the joiner's address. (There
\* the promiser takes that incarnation for the joiner, and no longer holds its vote.)
Reaches(p, k) == ReachesIf(p, k, On("PromiseToOneIncarnation"))

\* p has a start for s in a view that follows view number k: s is in the vector, or its incarnation began on the path,
\* with no messages. Since then each view on the path contains it. (A subgroup without the promiser may agree on its
\* messages without it, and merge again: the promise says nothing of these. A vector names addresses: an entry of a former
\* incarnation of s says nothing of the next.)
RECURSIVE TellsOf(_, _, _)
TellsOf(p, s, k) ==
    IF k <= p.view THEN k = p.view /\ s \in DOMAIN p.vector
    ELSE \/ s \in views[k].joins /\ s \notin DOMAIN p.vector /\ Reaches(p, k)
         \/ /\ Carries(p, k, On("PromiseToOneIncarnation"))
            /\ \E j \in views[k].preds :
                /\ j >= p.view
                /\ ToIn(p, j) => ToIn(p, k)
                /\ Shares(views[j], views[k], s)
                /\ TellsOf(p, s, j)

Open(p) == life[p.to] = p.to_life

\* The predecessors of v that m does not come from: a member of each has to give m a start digest.
ToBeTold(m, v) == v.preds \ {installed[m]}

\* p was made to m, and reaches view number j.
LOCAL Meant(p, m, j) == p.to = m /\ p.to_life = life[m] /\ ~ToIn(p, j) /\ Reaches(p, j)

\* m may use p for what it needs to know of view number j, to install v, which follows j.
Redeemable(p, m, v, j) ==
    /\ Meant(p, m, j)
    \* PromiserIsMember: The promiser is a member of the view that the joiner starts with. (A promiser that this view
    \* excludes shares no view with the joiner: it need not wait, and raises its vote in the view before, from which
    \* others have yet to come.)
    /\ On("PromiserIsMember") => Has(v, p.by, p.by_life)
    \* DigestIsComplete: The digest has an entry for every sender of the predecessor.
    /\ On("DigestIsComplete") => \A s \in DOMAIN views[j].lives : TellsOf(p, s, j)

\* p was made to m for view number j: it reaches j, or has ended on the path with another incarnation of m.
LOCAL Given(p, m, j) == p.to = m /\ p.to_life = life[m] /\ ~ToIn(p, j) /\ ReachesIf(p, j, FALSE)

\* m has a promise for each start digest that it needs to install v.
Told(m, v) ==
    \A j \in ToBeTold(m, v) :
        \* StartRequiresPromise: A member that installs a view holds an open promise for each predecessor that is not
        \* its own current view.
        (On("StartRequiresPromise") \/ \E p \in promises : Given(p, m, j)) => \E p \in promises : Redeemable(p, m, v, j)

\* All promises that m uses when it installs v.
Used(m, v) == {p \in promises : \E j \in ToBeTold(m, v) : Redeemable(p, m, v, j)}

-----------------------------------------------------------------------------
(* Steps           *)

MayPromise(by, to) ==
    /\ installed[by] # 0
    \* PromiseeIsOutside: A member promises a digest only to an address that is not in its view. (A former incarnation
    \* of the joiner is excluded first, and a member of the view needs no digest.)
    /\ On("PromiseeIsOutside") => to \notin DOMAIN views[installed[by]].lives
    \* OneOpenPromise: A member has at most one open promise to an address, and holds its vote for no former
    \* incarnation of it. (It holds its vote for the address: if it withdrew the later promise, it would hold its vote
    \* for neither.)
    /\ On("OneOpenPromise") =>
        /\ to \notin held[by]
        /\ \A p \in promises : ~(p.by = by /\ p.by_life = life[by] /\ p.to = to)

\* p will not be redeemed: the newcomer's incarnation is over, or no view with it is decided that it could install but by
\* what another has promised. (A view that was decided and lost with its coordinator is one of these.)
MayWithdraw(p) ==
    \* WithdrawOnlyIfUnusable: A promise is withdrawn only when no joiner can redeem it any more.
    On("WithdrawOnlyIfUnusable") =>
        \/ ~Open(p)
        \/ installed[p.to] # 0 /\ ToIn(p, installed[p.to]) /\ ~\E k \in DOMAIN views : k > installed[p.to] /\ ToIn(p, k)
        \/ ~\E k \in DOMAIN views : k > p.view /\ ToIn(p, k) /\ \E j \in views[k].preds :
                /\ Redeemable(p, p.to, views[k], j)
                /\ ~\E q \in promises \ {p} : Redeemable(q, p.to, views[k], j)

\* `by` has no open promise to the address, and comes to no view with it that is decided.
MayRelease(by, to) ==
    /\ ~\E p \in promises : p.by = by /\ p.by_life = life[by] /\ p.to = to
    \* PromiseHeldWhileNeeded: A redeemed promise is held until its promiser can share no view with the joiner.
    /\ On("PromiseHeldWhileNeeded") =>
        ~\E k \in DOMAIN views :
            /\ to \in DOMAIN views[k].lives /\ Has(views[k], by, life[by])
            /\ \E j \in views[k].preds : Reaches(PromiseOf(by, to), j)

\* A member promises its digest to some newcomers, once to each. (By cases: DigestIsDelivered is said of what is added,
\* whatever its vector is.)
Promise ==
    LET made == promises' \ promises IN
    /\ promises \subseteq promises'
    /\ \A p, q \in made : p.by = q.by /\ (p.to = q.to => p = q)
    /\ \A p \in made :
        /\ MayPromise(p.by, p.to)
        /\ [p EXCEPT !.vector = delivered[p.by]] = PromiseOf(p.by, p.to)
        \* DigestIsDelivered: A promised digest equals what the promiser has delivered. (Lower: the joiner receives
        \* messages that its state contains. Higher: it never receives the messages between.)
        /\ On("DigestIsDelivered") => p.vector = delivered[p.by]
    /\ UNCHANGED <<installed, life>>

Withdraw ==
    /\ promises' \subseteq promises
    /\ \A p \in promises \ promises' : MayWithdraw(p)
    /\ UNCHANGED <<installed, life>>

\* `by` learns that it need not wait for `to`, whose promise is redeemed.
Release(by, to) ==
    /\ MayRelease(by, to)
    /\ held' = [held EXCEPT ![by] = @ \ {to}]
    /\ UNCHANGED <<installed, life, promises>>

\* m installs a view. A member that begins with it, or comes to members of another side, redeems what it was promised.
Install(m) ==
    LET v == views'[installed'[m]] IN
    /\ \A x \in Member \ {m} : installed'[x] = installed[x]
    /\ Told(m, v)
    /\ promises' = IF ToBeTold(m, v) = {} THEN promises ELSE {p \in promises : p.to # m \/ p.to_life # life[m]}
    /\ UNCHANGED life

Init == promises = {} /\ held = [m \in Member |-> {}]

\* (By cases, so that a step is held against one action. Steps that change neither promises, nor who holds its word,
\* nor who has installed what are others'.)
Next ==
    IF installed' # installed
    THEN \E m \in Member :
            /\ installed'[m] # installed[m]
            /\ IF installed'[m] = 0 THEN promises' = promises ELSE Install(m)
    ELSE IF promises' # promises
    THEN Promise \/ Withdraw
    ELSE IF held' # held
    THEN \E by \in Member : held'[by] # held[by] /\ \E to \in held[by] \ held'[by] : Release(by, to)
    ELSE TRUE

Spec == Init /\ [][Next]_joindigest_vars

-----------------------------------------------------------------------------
(* Claims *)

JoinDigestTypeOK ==
    \A p \in promises :
        /\ p.by \in Member /\ p.to \in Member
        /\ p.by_life \in Nat /\ p.to_life \in Nat
        /\ p.view \in DOMAIN views
        /\ DOMAIN p.vector = DOMAIN views[p.view].lives

\* No member is promised anything in a view that it is in.
PromisedToOutsiders == \A p \in promises : ~ToIn(p, p.view)
=============================================================================
