-------------------------- MODULE MCMergeGmsStable ---------------------------
(* Bounds of the models of merging over GMS over STABLE. *)
EXTENDS MergeGmsStable

TwoAlone == <<FirstView(1, "A", <<"A">>), FirstView(1, "C", <<"C">>)>>
OneAndTwo == <<FirstView(1, "A", <<"A">>), FirstView(1, "C", <<"C", "D">>)>>
OneGroup == <<FirstView(1, "A", <<"A", "C">>)>>

\* STABLE messages: none, or two in each of the first views, and two in the next.
NoVotes == <<0>>
Rounds == <<2, 2>>
OneVote == <<1>>

-----------------------------------------------------------------------------
(* Defects *)

\* In the place of AfterPromises: a promise is noted as another member's, or as the next incarnation's, to an
\* incarnation that has not begun.
NotedAs(m, by, by_life) ==
    LET gone == {e.to : e \in Down(act'.effects, "PromiseWithdrawn")}
        made == {e.to : e \in Down(act'.effects, "DigestPromised")}
    IN {p \in promises : ~(p.by = m /\ p.by_life = life[m] /\ p.to \in gone)}
       \cup {[by |-> by, by_life |-> by_life, view |-> installed[m], to |-> x, to_life |-> life[x] + 1,
              vector |-> DeliveredBy(m)] : x \in made}
NotedOfOther(m) == NotedAs(m, CHOOSE x \in Member : x # m, life[m])
NotedOfNext(m) == NotedAs(m, m, life[m] + 1)

\* In the place of StableTimeout in Stable: a vote ends the promises.
VotesAndReleases(s, e) ==
    IF ~Stable!Joined(s) THEN LocalError(s)
    ELSE Handled([s EXCEPT !.received_bytes = 0, !.promised = {}],
                 <<Datagram(All, Stable!StableMessage(s.view.id, s.vote)), Stable!SetStableTimer>>)
=============================================================================
