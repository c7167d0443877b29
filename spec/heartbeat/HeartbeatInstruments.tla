------------------------- MODULE HeartbeatInstruments -------------------------
(***************************************************************************)
(* Instruments: witnesses, and what a run collects of members' local steps *)
(* for conformance.                                                        *)
(***************************************************************************)
EXTENDS HeartbeatClaims

(* Witnesses: each must be reachable, or the claims speak of less than they seem to. *)

\* A member of m's view is to be suspected for this reason at the next heartbeat.
Is(reason) == \E m \in up : \E x \in Watched(m) \cap DOMAIN local[m].heard : Reason(local[m], x) = reason

\* Silence is reported at the heartbeat at which it is noticed.
SilentMember == \E m \in up : \E x \in suspects[m] \cap DOMAIN local[m].heard : IsSilent(local[m].heard[x])
SuspecterHeard == Is("suspects me")
ExcluderHeard == Is("excludes me")
StayerHeard == Is("stays apart")
\* A word was heard that does not count, or not yet.
OldWordHeard ==
    \E m \in up : \E x \in Watched(m) \cap DOMAIN local[m].heard :
        LET h == local[m].heard[x] IN Reason(local[m], x) = "" /\ h.view # NoViewId /\ (h.suspects \/ ~h.counts)
\* A gap is longer than the shortest patience, and borne.
GapIsBorne ==
    \E m \in up : \E x \in Watched(m) \cap DOMAIN local[m].heard :
        LET h == local[m].heard[x] IN h.missed > Patience /\ ~IsSilent(h)
OutsiderIsSilent == \E m \in up : \E x \in Sought(m) \cap DOMAIN local[m].heard : IsSilent(local[m].heard[x])
MergedTogether == \E k \in DOMAIN views : Cardinality(views[k].preds) = 2 /\ \A m \in MembersOf(views[k]) : installed[m] = k

-----------------------------------------------------------------------------
(* Local steps: what a run collects, and the events that every local state is then confronted with *)

SeenLocal(m) == local[m]
SeenMessages == {[sender |-> p.sender, message |-> p.message] : p \in net}
SeenOutside(m) == 0

\* Heartbeats that are late, the next, and too high; of no view, of older and newer ones. Views
\* with this member and without. Sets of watched, suspected and reachable members, also a member that has never been heard.
Alphabet(messages, outsides) ==
    LET all == Member \cup {"Z"}
        ids == {NoViewId, ViewId(1, "A"), ViewId(2, "A"), ViewId(3, "B")}
        said == {HeartbeatMessage(n, id, counts, suspected) :
                    n \in {0, 1, MaxBeats + 1}, id \in ids, counts \in BOOLEAN, suspected \in BOOLEAN}
    IN {[type |-> "HeartbeatReceived", sender |-> x, message |-> message] : x \in all, message \in said}
       \cup {[type |-> "BeatTimeout",
              around |-> [watched |-> watched, suspected |-> suspected, sought |-> sought, reachable |-> reachable]] :
                watched \in {{}, {"A"}, {"B"}, all}, suspected \in {{}, {"A", "Z"}}, sought \in {{}, {"A", "B"}, {"Z"}},
                reachable \in {{}, all}}
       \cup {[type |-> "ViewInstalled", view |-> View(n, x, members)] :
                n \in 1 .. 2, x \in {"A", "B"}, members \in {<<"A">>, <<"B">>, <<"A", "B", "Z">>}}

-----------------------------------------------------------------------------
(* A member as scenarios see it, besides its state: whom its GMS suspects *)

Observed(m) == [suspects |-> Sorted(suspects[m])]
=============================================================================
