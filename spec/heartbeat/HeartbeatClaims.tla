--------------------------- MODULE HeartbeatClaims ---------------------------
(***************************************************************************)
(* Claims about members that run HEARTBEAT: the conjuncts of               *)
(* FailureDetector, silence, and frame conditions of the model. Each claim *)
(* is violated in some model of models.yaml.                               *)
(***************************************************************************)
EXTENDS HeartbeatGroup

\* One incarnation an address.
Lives == [m \in Member |-> 0]

FailureDetector == INSTANCE FailureDetector WITH Off <- {}, life <- Lives

-----------------------------------------------------------------------------
(* Types *)

HeardTypeOK(h) ==
    /\ h.number \in Nat /\ h.view.counter \in Nat
    /\ {h.counts, h.suspects} \subseteq BOOLEAN
    /\ h.missed \in 0 .. Longest + 1 /\ h.gap \in 0 .. Longest + 1

LocalTypeOK(m) ==
    LET s == local[m] IN
    /\ s.member = m
    /\ installed[m] # 0 => s.view = Own(m).id /\ s.members = MembersOf(Own(m))
    /\ s.since <= s.beats /\ s.beats \in Nat
    /\ m \notin DOMAIN s.heard /\ DOMAIN s.heard \subseteq Member
    /\ \A p \in DOMAIN s.heard : HeardTypeOK(s.heard[p])

TypeOK ==
    /\ \A m \in Member : LocalTypeOK(m)
    /\ \A p \in net : p.message.type = "HEARTBEAT" /\ p.message.number \in 1 .. local[p.sender].beats
    /\ up \subseteq Member /\ suspects \in [Member -> SUBSET Member]
    /\ spent \in [{"views", "crashes", "told", "misuses"} -> Nat]

-----------------------------------------------------------------------------
(* Due reports come in the end: computed in each state. Suppose that the members stay as they are, that *)
(* links work and timers fire from now on.                                                                              *)

\* The effects of m in n more heartbeats of its own, in which it hears nothing.
RECURSIVE Alone(_, _, _)
Alone(s, around_m, n) ==
    IF n = 0 THEN <<>>
    ELSE LET step == MemberStep(s, [type |-> "BeatTimeout", around |-> around_m])
         IN step.effects \o Alone(step.state, around_m, n - 1)

\* The messages that arrive of these. (Network!Fair: messages that are sent again and again.)
Arrived(messages) == messages

\* The reports of m in n more heartbeats, if x sends a heartbeat before each, which m hears.
RECURSIVE Together(_, _, _, _, _)
Together(sm, around_m, sx, around_x, n) ==
    IF n = 0 THEN {}
    ELSE LET beat == MemberStep(sx, [type |-> "BeatTimeout", around |-> around_x])
             said == Arrived({beat.effects[i].message : i \in {i \in DOMAIN beat.effects :
                                beat.effects[i].type = "Datagram" /\ beat.effects[i].to = sm.member}})
             heard == IF said = {} THEN sm
                      ELSE MemberStep(sm, [type |-> "HeartbeatReceived", sender |-> sx.member,
                                           message |-> CHOOSE w \in said : TRUE]).state
             step == MemberStep(heard, [type |-> "BeatTimeout", around |-> around_m])
         IN ReportedIn(step.effects) \cup Together(step.state, around_m, beat.state, around_x, n - 1)

\* A member that has crashed is reported to all who watch it: within the longest patience and two heartbeats.
GivesCrashIsReported ==
    \A m \in up : \A x \in Watched(m) \ up : x \in ReportedIn(Alone(local[m], Around(m), Longest + 2))

\* To UNICAST a process outside the view that has crashed is reported, if messages are kept for it.
GivesSilenceIsReported ==
    \A m \in up : \A x \in Sought(m) \ up : x \in SilentIn(Alone(local[m], Around(m), Longest + 2))

\* x sends heartbeats to m until m can see that a word stays.
IsReported(m, x) == x \in Together(local[m], Around(m), local[x], Around(x), Patience + 1)

\* The state of m when x has sent n more heartbeats, each of which m hears before its next own.
RECURSIVE Steady(_, _, _, _, _)
Steady(sm, around_m, sx, around_x, n) ==
    IF n = 0 THEN sm
    ELSE LET beat == MemberStep(sx, [type |-> "BeatTimeout", around |-> around_x])
             said == Arrived({beat.effects[i].message : i \in {i \in DOMAIN beat.effects :
                                beat.effects[i].type = "Datagram" /\ beat.effects[i].to = sm.member}})
             heard == IF said = {} THEN sm
                      ELSE MemberStep(sm, [type |-> "HeartbeatReceived", sender |-> sx.member,
                                           message |-> CHOOSE w \in said : TRUE]).state
             step == MemberStep(heard, [type |-> "BeatTimeout", around |-> around_m])
         IN Steady(step.state, around_m, beat.state, around_x, n - 1)

\* The patience comes down again: a member is heard at each heartbeat for a while. Then its next silence is borne for two
\* heartbeats, twice a gap of a single heartbeat, however long a gap was before. (Steady ends with the first of the two.)
LongGapIsForgotten ==
    \A m \in up : \A x \in Watched(m) \cap up :
        x \in ReportedIn(Alone(Steady(local[m], Around(m), local[x], Around(x), Longest + 2), Around(m),
                              Greatest(Patience, 2)))

\* A member that was not heard before its last heartbeat has made no gap: its silence is borne for the shortest patience.
FirstHeardMakesNoGap ==
    \A m \in up : \A x \in Watched(m) \cap up :
        (x \in DOMAIN local[m].heard => local[m].heard[x].number = 0)
        => x \in ReportedIn(Alone(Steady(local[m], Around(m), local[x], Around(x), 1), Around(m), Patience))

\* A word that counts is reported at the next heartbeat of its hearer: it need not stay.
WordIsReportedAtOnce ==
    \A m \in up : \A x \in Watched(m) \cap up :
        (\E word \in FailureDetector!Words(m, x) :
            word.view = installed[x] /\ FailureDetector!Counts(installed[m], word))
        => x \in Together(local[m], Around(m), local[x], Around(x), 1)

\* A member that suspects another is reported to the other.
GivesSuspicionIsReported ==
    \A m \in up : \A x \in Watched(m) \cap up : FailureDetector!Suspects(m, x) => IsReported(m, x)

\* A member that has a view without another, and is not on the way to the other's view, is reported to the other.
GivesExclusionIsReported ==
    \A m \in up : \A x \in Watched(m) \cap up : FailureDetector!Excludes(m, x) => IsReported(m, x)

-----------------------------------------------------------------------------
(* Only what may be reported is reported, but for silence, and for what stays: these may be false suspicions. *)

Reporter == act'.member
Reports == ReportedIn(act'.effects)
Silences == SilentIn(act'.effects)

\* x was not heard for the patience.
WasSilent(x) == unheard'[Reporter][x] > Patience

\* The view of the reporter has lasted for the patience: a word may stay that does not count. (By `begun`: the reporter's
\* own state may be wrong about it.)
HasLastedNow == local'[Reporter].beats - begun'[Reporter] > Patience

\* Neither silence nor a word that stays explains this report: a word does, which counts.
ByWordAlone == {x \in Reports : ~WasSilent(x) /\ ~HasLastedNow}

Against(x) == local'[Reporter].heard[x]

\* x is over, or speaks against the reporter now.
IsTrueNow(x) ==
    FailureDetector!Dead(x, 0) \/ FailureDetector!Suspects(Reporter, x) \/ FailureDetector!Excludes(Reporter, x)

\* A word of x of this kind counts.
WordCounts(x, kind) ==
    \E word \in FailureDetector!Words(Reporter, x) :
        word.says = kind /\ FailureDetector!Counts(installed[Reporter], word)

\* That one is suspected counts only in the view in which it was suspected.
GivesSuspicionIsOfOwnViewStep ==
    \A x \in ByWordAlone : Against(x).counts => IsTrueNow(x) \/ WordCounts(x, "suspects")

\* That one is not in a view counts only if that view is not older than the own.
GivesExclusionIsNotOlderStep ==
    \A x \in ByWordAlone : ~Against(x).suspects => IsTrueNow(x) \/ WordCounts(x, "excludes")

\* Only what may be reported is reported.
ReportsAreTrueStep == \A x \in ByWordAlone : FailureDetector!MayReport(Reporter, x, 0)

\* A member that speaks for the reporter is no suspect unless it is silent. (Or has spoken against it in its last heartbeat.)
SpeaksAgainst(x) ==
    LET h == local'[Reporter].heard[x] IN h.view # NoViewId /\ (h.suspects \/ ~h.counts)

OnlySilentOrAgainstStep == \A x \in Reports : WasSilent(x) \/ SpeaksAgainst(x)

\* To UNICAST processes are reported that it seeks, and that are silent.
SilencesAreSoughtStep ==
    \A x \in Silences : act'.action = "Beat" /\ x \in Sought(Reporter) /\ WasSilent(x)

\* Silence is borne for twice the last gap, up to the longest patience.
SilenceFollowsGapsStep ==
    \A x \in Reports : SpeaksAgainst(x) \/ unheard'[Reporter][x] > Least(Longest, 2 * gaps[Reporter][x])

\* Only a watched member is reported.
ReportsAreWatchedStep == Reports \subseteq (IF act'.action = "Beat" THEN Watched(Reporter) ELSE {})

-----------------------------------------------------------------------------
(* Other steps *)

\* A heartbeat that was overtaken changes nothing. (All members are reachable, so a member forgets none that it has heard:
\* it would take the overtaken one for the first.)
LatestCountsStep ==
    \A m \in Member : \A x \in DOMAIN local[m].heard :
        x \in DOMAIN local'[m].heard /\ local'[m].heard[x].number >= local[m].heard[x].number

\* The timer runs for ever.
TimerRunsStep == act'.event.type = "BeatTimeout" => BeatTimer \in {act'.effects[i] : i \in DOMAIN act'.effects}

\* A heartbeat says how it is: of the view, and of the receiver in it.
SaysHowItIsStep ==
    \A i \in DOMAIN act'.effects : act'.effects[i].type = "Datagram" =>
        LET m == act'.member
            to == act'.effects[i].to
        IN act'.effects[i].message =
            HeartbeatMessage(local'[m].beats, IF installed[m] = 0 THEN NoViewId ELSE Own(m).id,
                             installed[m] # 0 /\ to \in MembersOf(Own(m)), to \in suspects[m])

\* What no correct peer or caller causes is refused. The own view, installed again, changes nothing.
MisuseIsRefusedStep ==
    act'.action = "Misuse" =>
        act'.outcome \in IF act'.event.type = "ViewInstalled" /\ act'.event.view.id = local[act'.member].view
                         THEN {"ignored"} ELSE {"local_error", "remote_error"}

\* A step belongs to one member; the network and the suspicions change through its effects and the environment alone.
OnlyByEffectsStep ==
    /\ OthersKeepLocal
    /\ UnchangedUnlessHandled
    /\ act'.outcome # "none" => net' = AfterStep(act'.member, act'.consumed, act'.effects)
    /\ act'.outcome = "none" => local' = local /\ net' = net

GivesSuspicionIsOfOwnView == [][GivesSuspicionIsOfOwnViewStep]_vars
GivesExclusionIsNotOlder == [][GivesExclusionIsNotOlderStep]_vars
ReportsAreTrue == [][ReportsAreTrueStep]_vars
OnlySilentOrAgainst == [][OnlySilentOrAgainstStep]_vars
SilenceFollowsGaps == [][SilenceFollowsGapsStep]_vars
SilencesAreSought == [][SilencesAreSoughtStep]_vars
ReportsAreWatched == [][ReportsAreWatchedStep]_vars
LatestCounts == [][LatestCountsStep]_vars
TimerRuns == [][TimerRunsStep]_vars
SaysHowItIs == [][SaysHowItIsStep]_vars
MisuseIsRefused == [][MisuseIsRefusedStep]_vars
OnlyByEffects == [][OnlyByEffectsStep]_vars
=============================================================================
