---------------------------- MODULE MCGmsStable -----------------------------
(* Bounds of the models of GMS over STABLE. *)
EXTENDS GmsStable

AB == <<"A", "B">>

\* STABLE messages in the first view: one round, and A's vote in the next.
Votes3 == <<3>>
NoVotes == <<0>>

-----------------------------------------------------------------------------
(* Defects that violate a single conjunct of a claim *)

\* In the place of Below: STABLE holds its vote for a joiner that is in.
RECURSIVE BelowKeeps(_, _, _)
BelowKeeps(s, effects, digest) ==
    IF effects = <<>> THEN s
    ELSE LET e == Head(effects).event
             event == IF e.type # "ViewInstalled" THEN e
                      ELSE [type |-> e.type, view |-> e.view, digest |-> digest]
             next == Stable!Step(s, event).state
         IN BelowKeeps(IF e.type = "ViewInstalled" THEN [next EXCEPT !.promised = s.promised] ELSE next,
                       Tail(effects), digest)

\* In the place of PassedDown: every STABLE hears of a promise, and not the promiser's alone.
AfterPromise(effects, s) ==
    LET made == {e.to : e \in Down(effects, "DigestPromised")}
    IN [s EXCEPT !.promised = @ \cup made]
PassedDownToAll ==
    /\ \E m \in {act'.member} :
        /\ windows' = IF local'[m].decision.id = local[m].decision.id THEN windows
                      ELSE [windows EXCEPT ![m] = WindowsIn(m, local'[m].decision)]
        /\ stable' =
                IF act'.effects = <<>> THEN stable
                ELSE [x \in Member |->
                        IF x = m
                        THEN Below(stable[x], SelectSeq(act'.effects, IsDown),
                                   DigestFor(MembersOf(local'[m].decision), seen'[m], windows'[m]))
                        ELSE IF installed[x] # 0 THEN AfterPromise(act'.effects, stable[x]) ELSE stable[x]]
    /\ UNCHANGED gossip

\* In the place of StableTimeoutFires: the vote is held no longer.
DropsVote(m) ==
    /\ Active(m) /\ stable[m].promised # {}
    /\ stable' = [stable EXCEPT ![m].promised = {}]
    /\ Record("StableTimeoutFires", m, FALSE, None, [type |-> "StableTimeout"], {}, "handled", <<>>)
    /\ UNCHANGED <<view, windows, gossip>>

\* In the place of AfterPromises: a promise is noted as a promise of B's next incarnation, or as B's promise to
\* another process.
Noted(m, by_life, to, step) ==
    IF Down(step.effects, "DigestPromised") = {} THEN promises
    ELSE promises \cup {[by |-> "B", by_life |-> by_life, view |-> installed[m], to |-> to, to_life |-> 0,
                         vector |-> DigestAnsweredBy(m)]}
NotedOfNextIncarnation(m, event, step) == Noted(m, 1, "D", step)
NotedToAnother(m, event, step) == Noted(m, 0, "A", step)

\* In the place of PassedDown, where no member is promised anything: when a coordinator leaves, the others' STABLE hold their
\* votes for it until they install its last view.
PassedDownWithLeaver ==
    /\ \E m \in {act'.member} :
        /\ windows' = IF local'[m].decision.id = local[m].decision.id THEN windows
                      ELSE [windows EXCEPT ![m] = WindowsIn(m, local'[m].decision)]
        /\ stable' =
                [x \in Member |->
                    IF x = m
                    THEN IF installed'[m] = installed[m] THEN stable[m]
                         ELSE [Below(stable[m], SelectSeq(act'.effects, IsDown),
                                     DigestFor(MembersOf(local'[m].decision), seen'[m], windows'[m]))
                                EXCEPT !.promised = {}]
                    ELSE IF views' # views /\ m \notin up' THEN [stable[x] EXCEPT !.promised = {m}]
                    ELSE stable[x]]
    /\ UNCHANGED gossip
=============================================================================
