--------------------------- MODULE SequencerClaims --------------------------
(******************************************************************************)
(* Claims about a group that runs SEQUENCER: types, invariants, action        *)
(* properties, refinements, and liveness. The witnesses are states that must  *)
(* be reachable, or the claims cover less than they seem to.                  *)
(******************************************************************************)
EXTENDS SequencerGroup

-----------------------------------------------------------------------------
(* A member that was where *)

\* m came to view number k, and is in it or in a later view of its path.
Took(m, k) == \E i \in DOMAIN aux_path[m] : aux_path[m][i] = k

\* m came from view u to view k.
TookEdge(m, u, k) == \E i \in 2 .. Len(aux_path[m]) : aux_path[m][i - 1] = u /\ aux_path[m][i] = k

\* x and y are both in view u, or left it by one edge.
StayedTogether(x, y, u) ==
    \/ installed[x] = u /\ installed[y] = u
    \/ \E k \in DOMAIN views : TookEdge(x, u, k) /\ TookEdge(y, u, k)

\* The view with which the present incarnation of m began.
FirstOf(m) == aux_path[m][1]

\* No view follows view number k.
IsLast(k) == \A j \in DOMAIN views : k \notin views[j].preds

-----------------------------------------------------------------------------
(* Types *)

\* (Y, Z: see Misuse.)
Names == Member \cup {"Y", "Z"}

IsViewId(id) == id.counter \in Nat /\ id.creator \in Names \cup {""}

IsTag(tag) == tag.sender \in Names /\ IsViewId(tag.epoch) /\ tag.seqno \in Nat

IsSeenView(v) == IsViewId(v.id) /\ MembersOf(v) \subseteq Names

IsMessage(x, types) ==
    /\ x.type \in types
    /\ x.type # "PLAIN" => IsViewId(x.view_id)
    /\ x.type \in {"FORWARD", "DATA"} => IsTag(x.tag)
    /\ x.type \in {"FORWARD", "DATA", "PLAIN"} => x.payload \in Nat
    /\ x.type = "REPORT" => \A i \in DOMAIN x.attempts : IsSeenView(x.attempts[i])

Multicasts == IF Majority THEN {"DATA", "FORMED"} ELSE {"DATA"}
Unicasts == {"FORWARD", "PLAIN"} \cup (IF Majority THEN {"REPORT"} ELSE {})

TypeOK ==
    /\ Group!MembershipTypeOK
    /\ \A m \in Member :
        LET s == local[m] IN
        /\ s.member = m
        /\ s.view = Group!InstalledView(m)
        /\ IsViewId(s.epoch) /\ s.seqno \in 0 .. sent[m]
        /\ \A i \in DOMAIN s.forward_table :
            s.forward_table[i].seqno \in 1 .. s.seqno /\ s.forward_table[i].payload \in 1 .. sent[m]
        /\ DOMAIN s.received_table \subseteq Names
        /\ \A i \in DOMAIN s.early : IsMessage(s.early[i], {"FORWARD"})
        /\ s.suspected \subseteq MembersOf(s.view) \ {m}
        /\ {s.formed, s.founds} \subseteq BOOLEAN /\ Len(s.attempts) <= MaxAttempts
        /\ \A i \in DOMAIN s.attempts : IsSeenView(s.attempts[i])
        /\ DOMAIN s.reports \subseteq Member
        /\ \A x \in DOMAIN s.reports :
            IsViewId(s.reports[x].view_id) /\ \A i \in DOMAIN s.reports[x].attempts : IsSeenView(s.reports[x].attempts[i])
        /\ looked[m] \in 0 .. Len(views)
        /\ stops[m] \in {"no", "asked", "gone"}
        /\ sent[m] \in 0 .. Sends[m]
        /\ \A i \in DOMAIN held[m] : IsMessage(held[m][i], Multicasts)
        /\ \A t \in Member : \A i \in DOMAIN wire[m][t] : IsMessage(wire[m][t][i], Unicasts)
        /\ \A r \in got[m] : r[1] \in DOMAIN views /\ r[2] \in DOMAIN log[r[1]] /\ r[3] \in DOMAIN log[r[1]][r[2]]
        /\ \A i \in DOMAIN aux_path[m] : aux_path[m][i] \in DOMAIN views
        /\ installed[m] = IF aux_path[m] = <<>> THEN 0 ELSE aux_path[m][Len(aux_path[m])]
        /\ \A i \in DOMAIN aux_delivered[m] : aux_delivered[m][i][3] \in DOMAIN views
    /\ DOMAIN log = DOMAIN views /\ DOMAIN settled = DOMAIN views
    /\ \A k \in DOMAIN views :
        /\ DOMAIN settled[k] \subseteq views[k].preds
        /\ DOMAIN log[k] = DOMAIN views[k].lives
        /\ \A s \in DOMAIN log[k] : \A i \in DOMAIN log[k][s] : IsMessage(log[k][s][i], Multicasts)
    /\ up \subseteq Member /\ due \subseteq Member
    /\ \A kind \in DOMAIN spent : spent[kind] \in Nat

-----------------------------------------------------------------------------
(* Safety *)

Message(d) == <<d[1], d[2]>>

DeliveredBy(m) == {Message(aux_delivered[m][i]) : i \in DOMAIN aux_delivered[m]}

IsPrefix(s, t) == Len(s) <= Len(t) /\ s = SubSeq(t, 1, Len(s))

Place(m, message) == CHOOSE i \in DOMAIN aux_delivered[m] : Message(aux_delivered[m][i]) = message

\* Of the messages in `both`, which x and y delivered, no two are in opposite orders.
InOneOrder(x, y, both) ==
    \A a, b \in both : Place(x, a) < Place(x, b) => Place(y, a) < Place(y, b)

\* The messages that the members that went from view u to view k have all received in u, as ordered there. (What a flush held
\* back is of an earlier view.)
SettledOn(k, u) ==
    LET IsOrdered(x) == IsData(x) /\ (x.view_id = views[u].id \/ DeliverOtherViews)
    IN {LET x == log[u][r[2]][r[3]] IN <<x.tag.sender, x.payload>> : r \in {r \in settled[k][u] : IsOrdered(log[u][r[2]][r[3]])}}

\* Some members survived from the view in which m delivered d, by an edge that m did not take, and never received d
\* there: m crashed, was excluded, or is on the other branch of a split. The sender has d ordered again for them.
Unsettled(m, d) ==
    \E k \in DOMAIN views : d[3] \in DOMAIN settled[k] /\ ~Took(m, k) /\ Message(d) \notin SettledOn(k, d[3])

SettledBy(m) ==
    {Message(aux_delivered[m][i]) : i \in {i \in DOMAIN aux_delivered[m] : ~Unsettled(m, aux_delivered[m][i])}}

\* (What one delivered is mostly the beginning of what the other did.)
AreAlike(x, y) == IsPrefix(aux_delivered[x], aux_delivered[y]) \/ IsPrefix(aux_delivered[y], aux_delivered[x])

\* SEQ-05, SEQ-35: no two members deliver two messages in opposite orders, in whatever views. (Not said, here, of
\* what a member delivered in a view that others left without it: see UniformTotalOrder.)
TotalOrder ==
    \A x, y \in InGroup : IF x = y \/ AreAlike(x, y) THEN TRUE ELSE InOneOrder(x, y, SettledBy(x) \cap SettledBy(y))

\* The same without exception. It takes a layer that settles, uniformly, whatever any member received.
UniformTotalOrder ==
    \A x, y \in InGroup : IF x = y \/ AreAlike(x, y) THEN TRUE ELSE InOneOrder(x, y, DeliveredBy(x) \cap DeliveredBy(y))

\* SEQ-11, SEQ-28, SEQ-33: no member delivers a message twice.
NoDuplicates ==
    \A m \in InGroup : Cardinality(DeliveredBy(m)) = Len(aux_delivered[m])

\* SEQ-25, SEQ-30, AMB-80: delivered means sent, by the member that is named as the sender.
Integrity ==
    \A m \in InGroup : DeliveredBy(m) \subseteq UNION {{<<s, n>> : n \in 1 .. sent[s]} : s \in Member}

\* AMB-77: a sender's messages are delivered in the order in which it sent them.
SenderFifo ==
    \A m \in InGroup : \A i, j \in DOMAIN aux_delivered[m] :
        (i < j /\ aux_delivered[m][i][1] = aux_delivered[m][j][1]) =>
            aux_delivered[m][i][2] < aux_delivered[m][j][2]

\* Of each name the table has the latest known incarnation, and besides it only the members of the view: it grows with
\* names, not with incarnations.
FormerIncarnationsForgotten ==
    \A m \in InGroup :
        LET members == MembersOf(local[m].view)
        IN Superseded(DOMAIN local[m].received_table \cup members) \subseteq members

\* The deliveries of x in view number k, without the earlier deliveries of y. (Where a view splits, one side may have
\* delivered messages that the other has not; when they merge, the sender may have them ordered again.)
NewsTo(y, x, k) ==
    LET IsNews(d) == d[3] = k /\ \A i \in DOMAIN aux_delivered[y] :
                        aux_delivered[y][i][3] < k => Message(aux_delivered[y][i]) # Message(d)
    IN SelectSeq(aux_delivered[x], IsNews)

\* A member that goes from one view to the next together has delivered the same, in the same order.
Agreement ==
    \A k \in DOMAIN views : \A u \in DOMAIN settled[k] : \A x, y \in InGroup :
        (x # y /\ TookEdge(x, u, k) /\ TookEdge(y, u, k)) => NewsTo(y, x, u) = NewsTo(x, y, u)

\* A member that will go the same way has delivered no more, nor other, than who went.
LaggardDeliversPrefix ==
    \A k \in DOMAIN views : \A u \in DOMAIN settled[k] : \A x, y \in InGroup :
        (TookEdge(x, u, k) /\ y \in up /\ installed[y] = u /\ Channel!GoesTo(y, u, views[k])) =>
            IsPrefix(NewsTo(x, y, u), NewsTo(y, x, u))

\* Of two members in one view one has delivered in it what the other has, and perhaps more.
PrefixAgreementInView ==
    \A x, y \in InGroup :
        (x # y /\ installed[x] = installed[y]) =>
            LET dx == NewsTo(y, x, installed[x])
                dy == NewsTo(x, y, installed[x])
            IN IsPrefix(dx, dy) \/ IsPrefix(dy, dx)

\* AMB-83: a joiner is given nothing that its peers had delivered before it came. (While no member comes back: what it
\* sends again the joiner delivers, joiner_before_return.)
JoinerGetsNoOldMessage ==
    \A y \in InGroup : \A i \in DOMAIN aux_delivered[y] :
        LET came == FirstOf(y) IN
        views[came].preds # {} =>
            \A x \in InGroup \ {y} : \A j \in DOMAIN aux_delivered[x] :
                ~(/\ Message(aux_delivered[x][j]) = Message(aux_delivered[y][i])
                  /\ aux_delivered[x][j][3] < came
                  /\ Took(x, came))

\* AMB-40: a message is ordered in a view that its sender has installed (Sending View Delivery).
OrderedInSendingView ==
    \A k \in DOMAIN views : \A s \in DOMAIN log[k] : \A i \in {i \in DOMAIN log[k][s] : IsData(log[k][s][i])} :
        LET tag == log[k][s][i].tag IN
        (/\ log[k][s][i].view_id = views[k].id     \* (What a flush held back is of an earlier view.)
         /\ tag.sender \in Member /\ local[tag.sender].epoch = tag.epoch) => Took(tag.sender, k)

\* SEQ-10, SEQ-17, AMB-76: a tag names one message.
TagIdentifiesMessage ==
    \A j, k \in DOMAIN views : \A s \in DOMAIN log[j], t \in DOMAIN log[k] :
        \A a \in DOMAIN log[j][s], b \in DOMAIN log[k][t] :
            (IsData(log[j][s][a]) /\ IsData(log[k][t][b])) =>
                (log[j][s][a].tag = log[k][t][b].tag => log[j][s][a].payload = log[k][t][b].payload)

\* SEQ-01, SEQ-33: in a view each message is multicast once, if the layer below forwards it once.
MulticastOncePerView ==
    spent.duplicates = 0 =>
        \A k \in DOMAIN views : \A s \in DOMAIN log[k] : \A a, b \in DOMAIN log[k][s] :
            a # b => log[k][s][a] # log[k][s][b]

\* The number of a message of m's present incarnation with this seqno.
Number(m, seqno) == sent[m] - local[m].seqno + seqno

IsInTable(m, seqno) == \E i \in DOMAIN local[m].forward_table : local[m].forward_table[i].seqno = seqno

\* SEQ-18, SEQ-20: nothing is forgotten. This incarnation has delivered each message that it has sent, or has it in
\* its table.
SentIsDeliveredOrInTable ==
    \A m \in InGroup : \A n \in 1 .. local[m].seqno :
        IF IsInTable(m, n) THEN TRUE ELSE <<m, Number(m, n)>> \in DeliveredBy(m)

\* A message is in the log of y's view and may still reach y.
IsToCome(y, message) ==
    \E u \in Channel!Audible(y) : \E s \in DOMAIN log[u] : \E i \in DOMAIN log[u][s] :
        LET x == log[u][s][i] IN
        /\ IsData(x) /\ <<x.tag.sender, x.payload>> = message
        /\ <<u, s, i>> \notin got[y]
        /\ u = installed[y] \/ DeliverOtherViews
        /\ "ReceiveOnlyCut" \notin Without =>
            \A k \in DOMAIN views : Channel!ClosedBy(y, u, k) => <<u, s, i>> \in settled[k][u]

\* The message is in the table of its live sender: it is sent again.
IsKept(message) ==
    LET s == message[1] IN
    s \in up /\ \E i \in DOMAIN local[s].forward_table : local[s].forward_table[i].payload = message[2]

\* SEQ-09, SEQ-13: nothing is lost. A member delivers each message that it has sent. Two live members that were
\* together in a view, left it together, and are together in the last view deliver the same messages of that view. The
\* other member has the message, or it is to come, or to be sent again.
NoMessageLost ==
    \A y \in up \cap InGroup :
        LET has == DeliveredBy(y)
            Comes(message) == message \in has \/ IsToCome(y, message) \/ IsKept(message)
        IN
        /\ \A n \in 1 .. local[y].seqno : Comes(<<y, Number(y, n)>>)
        /\ IsLast(installed[y]) => \A x \in up :
            (x # y /\ installed[x] = installed[y]) => \A i \in DOMAIN aux_delivered[x] :
                LET d == aux_delivered[x][i] IN
                Message(d) \in has \/ (StayedTogether(x, y, d[3]) => Comes(Message(d)))

\* SEQ-09, SEQ-31, AMB-81, AMB-82: suppose that no view follows, and the coordinator is in the view or may still come,
\* and does not suspect the member. Then a table's entry is with the unicast layer, or with a coordinator that waits for
\* its view, or in the log and not yet received. (In a view that others have left it may be nowhere: it is sent again in
\* the next.)
NoEntryStranded ==
    \A m \in up \cap InGroup :
        LET k == installed[m]
            c == CoordinatorOf(views[k])
        IN
        (/\ IsLast(k) /\ m \notin due /\ (Majority => local[c].formed /\ local[c].view.id = views[k].id)
         /\ c \in up /\ Has(views[k], c, life[c]) /\ m \notin local[c].suspected
         /\ installed[c] = 0 \/ (installed[c] <= k /\ Group!Throughout(c, installed[c], k))) =>
            \A e \in DOMAIN local[m].forward_table :
                LET tag == OwnTag(local[m], local[m].forward_table[e].seqno)
                    Waits(queue) == \E i \in DOMAIN queue : queue[i].type = "FORWARD" /\ queue[i].tag = tag
                                                              /\ queue[i].view_id = views[k].id
                IN IF Waits(wire[m][c]) THEN TRUE
                   ELSE IF Waits(local[c].early) THEN TRUE
                   ELSE \E i \in DOMAIN log[k][c] : IsData(log[k][c][i]) /\ log[k][c][i].tag = tag /\ <<k, c, i>> \notin got[m]

\* SEQ-15, SEQ-32: the received-table has entries of members of the view, and no others.
ReceivedTableWithinView ==
    \A m \in InGroup : DOMAIN local[m].received_table \subseteq MembersOf(local[m].view)

\* AMB-82: a FORWARD that waits is of a view that may still come, or be formed.
HeldForwardIsOfLaterView ==
    \A m \in InGroup : \A i \in DOMAIN local[m].early :
        \/ local[m].early[i].view_id.counter > local[m].view.id.counter
        \/ MustWait(local[m]) /\ local[m].early[i].view_id = local[m].view.id

\* SEQ-21: a member's messages from before it stopped are delivered by all survivors of its view.
StopLosesNoMessage ==
    \A m \in Member : stops[m] = "gone" =>
        \A x \in up \cap InGroup :
            (installed[x] # installed[m] /\ Took(x, installed[m])) =>
                \A n \in 1 .. sent[m] : <<m, n>> \in DeliveredBy(x)

-----------------------------------------------------------------------------
(* Safety, with Majority. (From one first view; addresses are used once.) *)

\* Message i of s in view number k was received, by a member that is there, or that has gone on.
WasReceived(k, s, i) ==
    \/ \E m \in Member : <<k, s, i>> \in got[m]
    \/ \E j \in DOMAIN views : k \in DOMAIN settled[j] /\ <<k, s, i>> \in settled[j][k]

\* The views that members take for formed: FORMED was received there. (A view at the start is formed.)
FormedViews ==
    {k \in DOMAIN views : k <= Len(First) \/ \E i \in DOMAIN log[k][CoordinatorOf(views[k])] :
        LET message == log[k][CoordinatorOf(views[k])][i]
        IN message.type = "FORMED" /\ message.view_id = views[k].id /\ WasReceived(k, CoordinatorOf(views[k]), i)}

OnOnePath(j, k) == j = k \/ Group!ComesBefore(j, views[k].preds) \/ Group!ComesBefore(k, views[j].preds)

\* Of two formed views one comes before the other.
FormedOnOnePath == \A j, k \in FormedViews : OnOnePath(j, k)

\* Of the views in which two members deliver, whatever they deliver, one comes before the other: at most one branch of
\* views delivers.
DeliveredOnOnePath ==
    \A x, y \in InGroup : \A i \in DOMAIN aux_delivered[x], j \in DOMAIN aux_delivered[y] :
        OnOnePath(aux_delivered[x][i][3], aux_delivered[y][j][3])

\* A message of a member of a view that is not formed is delivered in a formed one, or not at all.
DeliveredInFormed == \A m \in InGroup : \A i \in DOMAIN aux_delivered[m] : aux_delivered[m][i][3] \in FormedViews

\* a and b are incarnations of one name, and between them its disk was not lost.
OneDisk(a, b) ==
    \/ a = b
    \/ IsFormer(a, b) /\ \A c \in Lost : ~(IsFormer(a, c) /\ (c = b \/ IsFormer(c, b)))
    \/ IsFormer(b, a) /\ \A c \in Lost : ~(IsFormer(b, c) /\ (c = a \/ IsFormer(c, a)))

\* The members of view number j of which the disk is at a member of `set`.
WithDisk(set, j) == {a \in DOMAIN views[j].lives : \E m \in set : OneDisk(a, m)}

\* Each formed view was installed by a majority, as disks count, of the one before. (In the order of decision: each disk
\* sees views in that order. Its creator was there, where it has left by it.)
OnePrimary ==
    \A j, k \in FormedViews :
        (j < k /\ \A i \in FormedViews : ~(j < i /\ i < k)) =>
            HasMajority(WithDisk({m \in Member : Took(m, k)} \cup ({views[k].id.creator} \ MembersOf(views[k])), j), views[j])

\* Formed view j is the next after u.
NextFormed(u, j) ==
    \A i \in FormedViews \ {j} : ~(Group!ComesBefore(u, views[i].preds) /\ Group!ComesBefore(i, views[j].preds))

\* A message that m delivered is not of the line: others went to the next formed view without it and without m.
OffTheLine(m, d) ==
    \E k \in DOMAIN views :
        /\ d[3] \in DOMAIN settled[k] /\ ~Took(m, k) /\ Message(d) \notin SettledOn(k, d[3])
        /\ \E j \in FormedViews : (j = k \/ Group!ComesBefore(k, views[j].preds)) /\ NextFormed(d[3], j)

OnTheLine(m) == {Message(aux_delivered[m][i]) : i \in {i \in DOMAIN aux_delivered[m] : ~OffTheLine(m, aux_delivered[m][i])}}

\* All deliveries of all members are in one order, over all views. Excepted is only what a coordinator that was cut off
\* delivered before it had another view, and the others have ordered without it.
LineOrder ==
    \A x, y \in InGroup : IF x = y \/ AreAlike(x, y) THEN TRUE ELSE InOneOrder(x, y, OnTheLine(x) \cap OnTheLine(y))

-----------------------------------------------------------------------------
(* Safety of steps *)

\* Along the path of m, from view number k on, s was always there.
AlwaysWith(m, s, k) == \A i \in DOMAIN aux_path[m] : aux_path[m][i] >= k => s \in DOMAIN views[aux_path[m][i]].lives

\* SEQ-29, AMB-78: the next message of a sender is one higher than the last. The first is 1, for a member that was
\* there when the sender came, and with it since. (For later members the first may be any.)
NoGapsStep ==
    (act'.action = "ReceiveData" /\ act'.event.type = "DataReceived" /\ act'.effects # <<>> /\ Dedup = "highest") =>
        LET m == act'.member
            tag == act'.event.message.tag
            known == local[m].received_table
            follows == IF tag.sender \in DOMAIN known THEN known[tag.sender].epoch = tag.epoch ELSE FALSE
        IN IF follows THEN tag.seqno = known[tag.sender].seqno + 1
           ELSE \A k \in DOMAIN views :
                (EpochOf(views[k]) = tag.epoch /\ EpochInTag # "nothing" /\ Took(m, k) /\ AlwaysWith(m, tag.sender, k)) => tag.seqno = 1

NoGaps == [][NoGapsStep]_vars

\* SEQ-11: what is discarded in its own view was delivered before.
DiscardsOnlyDuplicatesStep ==
    (act'.event.type = "DataReceived" /\ act'.action = "ReceiveData" /\ act'.event.message.view_id = local[act'.member].view.id
        /\ aux_delivered' = aux_delivered) =>
        <<act'.event.message.tag.sender, act'.event.message.payload>> \in DeliveredBy(act'.member)

DiscardsOnlyDuplicates == [][DiscardsOnlyDuplicatesStep]_vars

\* SEQ-02, SEQ-24: only the coordinator of a view multicasts in it.
OnlyCoordinatorsMulticastStep ==
    \A i \in DOMAIN act'.effects :
        act'.effects[i].type = "Multicast" => act'.member = CoordinatorOf(local'[act'.member].view)

OnlyCoordinatorsMulticast == [][OnlyCoordinatorsMulticastStep]_vars

\* A coordinator may deliver messages of a suspected member beyond the cut only if it had ordered them before: it
\* orders nothing more for that member.
NothingOrderedForSuspectsStep ==
    \A k \in DOMAIN log : \A m \in DOMAIN log[k] : \A i \in Len(log[k][m]) + 1 .. Len(log'[k][m]) :
        (IsData(log'[k][m][i]) /\ log'[k][m][i].view_id = views[k].id /\ life'[m] = life[m]) => log'[k][m][i].tag.sender \notin local[m].suspected

NothingOrderedForSuspects == [][NothingOrderedForSuspectsStep]_vars

\* A DATA says the view in which it is multicast.
DataCarriesCurrentViewStep ==
    \A i \in DOMAIN act'.effects :
        act'.effects[i].type = "Multicast" => act'.effects[i].message.view_id = local'[act'.member].view.id

DataCarriesCurrentView == [][DataCarriesCurrentViewStep]_vars

\* SEQ-01, SEQ-19: to multicast costs one unicast to the coordinator, or, for the coordinator, one multicast; in a view
\* that is not formed, its coordinator waits with it.
OneMessagePerSendStep ==
    act'.action = "AppSends" =>
        IF MustWait(local[act'.member]) THEN act'.effects = <<>> ELSE
        /\ Len(act'.effects) = 1
        /\ act'.effects[1].type = IF IsCoordinator(local'[act'.member]) THEN "Multicast" ELSE "Send"

OneMessagePerSend == [][OneMessagePerSendStep]_vars

\* SEQ-16: a unicast goes straight down.
UnicastsPassDownStep ==
    act'.action = "AppUnicasts" => act'.effects = <<Send(act'.event.to, PlainMessage(act'.event.payload))>>

UnicastsPassDown == [][UnicastsPassDownStep]_vars

\* SEQ-22: what has no header goes straight up, and not as a message of the order.
UnicastsPassUpStep ==
    act'.action = "ReceivePlain" => act'.effects = <<DeliverUnicast(act'.event.sender, act'.event.message.payload)>>

UnicastsPassUp == [][UnicastsPassUpStep]_vars

\* A delivered multicast is a member's.
DeliveredSenderIsMemberStep ==
    act'.event.type = "DataReceived" =>
        \A i \in DOMAIN act'.effects :
            act'.effects[i].type = "PassUp" => act'.effects[i].event.sender \in MembersOf(local[act'.member].view)

DeliveredSenderIsMember == [][DeliveredSenderIsMemberStep]_vars

(* A step belongs to one member, and the rest changes through its effects alone. This is what makes local steps   *)
(* speak for the whole model.                                                 *)

OnlyOwnStateStep ==
    /\ OthersKeepLocal
    /\ \A m \in Member \ {act'.member} : got'[m] = got[m] /\ aux_path'[m] = aux_path[m] /\ aux_delivered'[m] = aux_delivered[m]

OnlyOwnState == [][OnlyOwnStateStep]_vars

RefusedChangesNothingStep == UnchangedUnlessHandled

RefusedChangesNothing == [][RefusedChangesNothingStep]_vars

OnlyOwnPacketsStep ==
    act'.action \notin {"Crash", "Stop", "Restart", "Close"} =>
        wire' = AfterStep(wire, act'.member, act'.consumed, act'.effects, Reachable)

OnlyOwnPackets == [][OnlyOwnPacketsStep]_vars

\* (What a flush holds back is multicast once, in the next view that it does not hold back.)
OnlyOwnMulticastsStep ==
    LET m == act'.member
        Before(k, s) == IF k \in DOMAIN log THEN log[k][s] ELSE <<>>
        By(s) == IF s = m THEN MulticastsOf(act'.effects) ELSE <<>>
    IN /\ \A k \in DOMAIN log' : \A s \in DOMAIN log'[k] : log'[k][s] # Before(k, s) => s = m /\ k = installed'[s]
       /\ \A s \in Member : LET k == installed'[s] IN
            k # 0 => log'[k][s] \o held'[s] = Before(k, s) \o held[s] \o By(s)

OnlyOwnMulticasts == [][OnlyOwnMulticastsStep]_vars

\* A member that leaves a view knows that it was formed if it has received FORMED there. So of the members that go on together
\* all know it, or none. (StateTransferGroup relies on that: HeardAsOthers.)
HasFormed(m) ==
    \E r \in got[m] : LET x == log[r[1]][r[2]][r[3]] IN x.type = "FORMED" /\ x.view_id = local[m].view.id
LeavesKnowingByFormedStep ==
    \A m \in InGroup :
        installed'[m] \notin {installed[m], 0} /\ views[installed[m]].preds # {} => (KnowsFormed(local[m]) <=> HasFormed(m))
LeavesKnowingByFormed == [][LeavesKnowingByFormedStep]_vars

OnlyByEffectsStep == OnlyOwnStateStep /\ RefusedChangesNothingStep /\ OnlyOwnPacketsStep /\ OnlyOwnMulticastsStep

OnlyByEffects == [][OnlyByEffectsStep]_vars

-----------------------------------------------------------------------------
(* Refinements *)

\* The order of a view: what was multicast in it, each message once. (What a flush held back is of an earlier view.)
RECURSIVE OrderOf(_, _, _)
OrderOf(messages, id, before) ==
    IF messages = <<>> THEN before
    ELSE LET x == Head(messages)
             message == <<x.tag.sender, x.payload>>
             is_new == x.view_id = id /\ \A i \in DOMAIN before : before[i] # message
         IN OrderOf(Tail(messages), id, IF is_new THEN Append(before, message) ELSE before)

\* The environment of the members is VirtualSynchrony: each step is allowed by the module.
RefinesVirtualSynchronyStep == [Channel!Next]_<<views, installed, life, up, log, settled, got>>

RefinesVirtualSynchrony == [][RefinesVirtualSynchronyStep]_vars

\* The same where a suspicion was false and views branch.
Branches == INSTANCE BranchSynchrony WITH Off <- Without \ Channel!NotWhereViewsBranch
RefinesBranchSynchronyStep == [Branches!Next]_<<views, installed, life, up, log, settled, got>>

RefinesBranchSynchrony == [][RefinesBranchSynchronyStep]_vars

\* Its conjuncts, each by itself: violated when the others are not required. (But Sending View Delivery, without which
\* `got` has another meaning.)
But(conjunct) == Channel!Conjuncts \ {conjunct, "SendingViewDelivery"}
Alone(conjunct) == INSTANCE VirtualSynchrony WITH Off <- But(conjunct)

GivesSendingViewDeliveryStep == [Alone("SendingViewDelivery")!Next]_<<views, installed, life, up, log, settled, got>>
GivesSendingViewDelivery == [][GivesSendingViewDeliveryStep]_vars

GivesFifoStep == [Alone("Fifo")!Next]_<<views, installed, life, up, log, settled, got>>
GivesFifo == [][GivesFifoStep]_vars

GivesReceiveOnlyCutStep == [Alone("ReceiveOnlyCut")!Next]_<<views, installed, life, up, log, settled, got>>
GivesReceiveOnlyCut == [][GivesReceiveOnlyCutStep]_vars

GivesCastOnlyBeforeCutStep == [Alone("CastOnlyBeforeCut")!Next]_<<views, installed, life, up, log, settled, got>>
GivesCastOnlyBeforeCut == [][GivesCastOnlyBeforeCutStep]_vars

GivesFirstLeaverHasAllStep == [Alone("FirstLeaverHasAll")!Next]_<<views, installed, life, up, log, settled, got>>
GivesFirstLeaverHasAll == [][GivesFirstLeaverHasAllStep]_vars

GivesLeavesWithCutStep == [Alone("LeavesWithCut")!Next]_<<views, installed, life, up, log, settled, got>>
GivesLeavesWithCut == [][GivesLeavesWithCutStep]_vars

GivesSelfDeliveryStep == [Alone("SelfDelivery")!Next]_<<views, installed, life, up, log, settled, got>>
GivesSelfDelivery == [][GivesSelfDeliveryStep]_vars

GivesOwnFirstStep == [Alone("OwnFirst")!Next]_<<views, installed, life, up, log, settled, got>>
GivesOwnFirst == [][GivesOwnFirstStep]_vars

GivesUniformStep == [Alone("Uniform")!Next]_<<views, installed, life, up, log, settled, got>>
GivesUniform == [][GivesUniformStep]_vars

GivesJoinersInstallLastStep == [Alone("JoinersInstallLast")!Next]_<<views, installed, life, up, log, settled, got>>
GivesJoinersInstallLast == [][GivesJoinersInstallLastStep]_vars

Orders == [k \in DOMAIN views |-> OrderOf(SelectSeq(log[k][CoordinatorOf(views[k])], IsData), views[k].id, <<>>)]

Cuts == [k \in DOMAIN views |-> [u \in DOMAIN settled[k] |->
            Cardinality({i \in DOMAIN Orders[u] : Orders[u][i] \in SettledOn(k, u)})]]

\* All of it implements an abstract broadcast that knows of no coordinator.
Broadcast == INSTANCE TotalOrderBroadcast WITH
    path <- aux_path, order <- Orders, cut <- Cuts, delivered <- aux_delivered

RefinesTotalOrderBroadcastStep == Broadcast!Next

RefinesTotalOrderBroadcast == Broadcast!Init /\ [][RefinesTotalOrderBroadcastStep]_vars

\* The same where a suspicion was false and views branch.
RefinesBranchBroadcastStep == Broadcast!BranchNext

RefinesBranchBroadcast == Broadcast!Init /\ [][RefinesBranchBroadcastStep]_vars

\* Its conjuncts, each by itself, for some fall wherever others do.
OrderOnlyGrowsStep == Broadcast!OrderOnlyGrows
OrderOnlyGrows == [][OrderOnlyGrowsStep]_vars

OrdersOnlySentStep == Broadcast!OrdersOnlySent
OrdersOnlySent == [][OrdersOnlySentStep]_vars

OrdersOnlyForMembersStep == Broadcast!OrdersOnlyForMembers
OrdersOnlyForMembers == [][OrdersOnlyForMembersStep]_vars

OrdersOnceStep == Broadcast!OrdersOnce
OrdersOnce == [][OrdersOnceStep]_vars

DeliversInOrderStep == Broadcast!DeliversInOrder
DeliversInOrder == [][DeliversInOrderStep]_vars

CutNeverChangesStep == Broadcast!CutNeverChanges
CutNeverChanges == [][CutNeverChangesStep]_vars

LeavesAtOrderCutStep == Broadcast!LeavesAtOrderCut
LeavesAtOrderCut == [][LeavesAtOrderCutStep]_vars

NoneBeyondCutStep == Broadcast!NoneBeyondCut
NoneBeyondCut == [][NoneBeyondCutStep]_vars

NewIncarnationIsEmptyStep == Broadcast!NewIncarnationIsEmpty
NewIncarnationIsEmpty == [][NewIncarnationIsEmptyStep]_vars

-----------------------------------------------------------------------------
(* Liveness. Said of a view that no member leaves any more, with all its members in it. *)

IsComplete(k) == IsLast(k) /\ \A m \in DOMAIN views[k].lives : m \in up /\ installed[m] = k

\* Every live member installs the last view of its path.
EventuallyInstalled ==
    <>[](\A m \in up : \A k \in DOMAIN views :
            ~(\/ installed[m] = 0 /\ m \in views[k].joins /\ views[k].lives[m] = life[m]
              \/ installed[m] # 0 /\ Channel!GoesTo(m, installed[m], views[k])))

\* SEQ-09, SEQ-13 (Self Delivery): what a member sent, it delivers.
EventuallyDeliversOwn ==
    <>[](\A m \in InGroup : IsComplete(installed[m]) =>
            \A n \in 1 .. local[m].seqno : <<m, Number(m, n)>> \in DeliveredBy(m))

\* SEQ-13: what a member delivered, all deliver who were there, and go with it to the last view; who joined later
\* too, from its first view on.
EventuallyDelivered ==
    <>[](\A m \in InGroup : IsComplete(installed[m]) =>
            \A i \in DOMAIN aux_delivered[m] :
                LET d == aux_delivered[m][i] IN
                \A x \in DOMAIN views[installed[m]].lives :
                    StayedTogether(m, x, d[3]) => Message(d) \in DeliveredBy(x))

\* The same of each message by itself, as soon as it is sent, whatever is sent after it: its sender delivers it, unless
\* it or some member in its view is gone for good.
EachEventuallyDelivered ==
    \A m \in Member : \A n \in 1 .. Sends[m] :
        (m \in up /\ sent[m] >= n) ~>
            \/ <<m, n>> \in DeliveredBy(m)
            \/ m \notin up
            \/ installed[m] # 0 /\ ~IsComplete(installed[m])

\* Every forward-table empties.
TablesEventuallyEmpty ==
    <>[](\A m \in InGroup : IsComplete(installed[m]) => local[m].forward_table = <<>>)

\* With Majority: in a last view that has a majority of those before, with all its members in it, all know that it is formed.
FormedInTheEnd == <>[](\A m \in InGroup : IsComplete(installed[m]) => KnowsFormed(local[m]))

\* The same of any last view, as far as it is promised. Of the last formed view that its members know, those that know of
\* it are, as disks count, a majority; and of each view that they have attempted since, or its coordinator is there, which
\* can say that it has not formed it. (An attempt of which neither is there may have been formed: they have to wait.)
Suffices(k) ==
    LET here == MembersOf(views[k])
        numbers(m) == {j \in 1 .. k - 1 : \E i \in DOMAIN local[m].attempts : local[m].attempts[i] = ViewOf(views[j])}
        formed == {j \in 1 .. k - 1 : \E m \in here : local[m].attempts # <<>> /\ local[m].attempts[1] = ViewOf(views[j])}
        last == CHOOSE j \in formed : \A i \in formed : i <= j
        know == {m \in here : last \in numbers(m)}
        is_enough(j) == HasMajority(WithDisk(know, j), views[j])
    IN /\ formed # {} /\ is_enough(last)
       /\ \A m \in know : \A j \in {j \in numbers(m) : j > last} :
            is_enough(j) \/ CoordinatorOf(views[j]) \in WithDisk(know, j)

FormsWhenItSuffices == <>[](\A m \in InGroup : (IsComplete(installed[m]) /\ Suffices(installed[m])) => KnowsFormed(local[m]))

-----------------------------------------------------------------------------
(* Witnesses *)

LogOf(k) == SelectSeq(log[k][CoordinatorOf(views[k])], IsData)

\* The same message in the logs of two views.
OrderedTwice ==
    \E j, k \in DOMAIN views : j < k /\ \E a \in DOMAIN LogOf(j), b \in DOMAIN LogOf(k) : LogOf(j)[a].tag = LogOf(k)[b].tag

\* ... and a member that crashed or was left out delivered it in the earlier one.
RedoneForOthers ==
    OrderedTwice /\ \E m \in InGroup : \E i \in DOMAIN aux_delivered[m] : Unsettled(m, aux_delivered[m][i])

ForwardIsEarly == \E m \in Member : local[m].early # <<>>

ForwardIsLate ==
    \E f \in Member, t \in up \cap InGroup :
        wire[f][t] # <<>> /\ Head(wire[f][t]).type = "FORWARD"
        /\ Head(wire[f][t]).view_id.counter < local[t].view.id.counter

\* A FORWARD is there of a view with the counter of the receiver's, and another creator.
ForwardIsOfATwin ==
    \E f \in Member, t \in up \cap InGroup :
        wire[f][t] # <<>> /\ Head(wire[f][t]).type = "FORWARD"
        /\ Head(wire[f][t]).view_id # local[t].view.id
        /\ Head(wire[f][t]).view_id.counter = local[t].view.id.counter

\* Some survivor has received what another lacks, when the coordinator has crashed.
BroadcastIsPartial ==
    \E k \in DOMAIN views :
        CoordinatorOf(views[k]) \notin up /\ \E x, y \in up : installed[x] = k /\ installed[y] = k /\ got[x] # got[y]

\* Something was multicast in a view and settled by none who left it.
BroadcastIsLost ==
    \E k \in DOMAIN views : \E u \in DOMAIN settled[k] : Cardinality(settled[k][u]) < Len(LogOf(u))

\* A coordinator has a FORWARD of a member that it suspects before it.
SuspectForwards ==
    \E m \in up \cap InGroup : IsCoordinator(local[m]) /\ \E x \in local[m].suspected :
        wire[x][m] # <<>> /\ Head(wire[x][m]).type = "FORWARD" /\ Head(wire[x][m]).view_id = local[m].view.id

\* Two coordinators crashed one after the other.
TwoCoordinatorsCrashed ==
    \E x, y \in InGroup \ up : x # y /\ IsCoordinator(local[x]) /\ IsCoordinator(local[y])

\* The new coordinator multicasts its own new message before it receives a repeated old one.
WasOrdered(tag, k) == \E j \in views[k].preds : \E i \in DOMAIN LogOf(j) : LogOf(j)[i].tag = tag

NewBeforeOld ==
    \E k \in DOMAIN views : views[k].preds # {} /\ \E a, b \in DOMAIN LogOf(k) :
        a < b /\ LogOf(k)[a].tag.sender = CoordinatorOf(views[k])
        /\ ~WasOrdered(LogOf(k)[a].tag, k) /\ WasOrdered(LogOf(k)[b].tag, k)

\* Members that have installed different views.
ViewsDiffer == \E x, y \in up \cap InGroup : installed[x] # installed[y]

\* A member that came back delivers, and has sent under another epoch.
MemberRestarts ==
    \E m \in InGroup : local[m].seqno > 0 /\ sent[m] > local[m].seqno /\ aux_delivered[m] # <<>>

JoinerDelivers ==
    \E m \in InGroup : views[FirstOf(m)].preds # {} /\ aux_delivered[m] # <<>>

\* SEQ-16: a unicast that was sent after a multicast is there before it.
UnicastOvertakes ==
    \E f, t \in Member : wire[f][t] # <<>> /\ Head(wire[f][t]).type = "PLAIN" /\ t \in up
        /\ Head(wire[f][t]).payload > 0 /\ <<f, Head(wire[f][t]).payload>> \notin DeliveredBy(t)

DuplicateInLog ==
    \E k \in DOMAIN views : \E a, b \in DOMAIN LogOf(k) : a # b /\ LogOf(k)[a] = LogOf(k)[b]

SenderStopped == \E m \in Member : stops[m] = "gone" /\ sent[m] > 0

\* A view is formed, while a coordinator of another branch waits with a message.
MinorityWaits ==
    \E m \in up \cap InGroup :
        /\ MustWait(local[m]) /\ (local[m].early # <<>> \/ local[m].forward_table # <<>>)
        /\ \E k \in FormedViews : ~OnOnePath(k, installed[m])

\* ... and it delivers that message in the view in which the branches meet.
MinorityComesBack ==
    \E m \in InGroup : \E i \in DOMAIN aux_delivered[m] :
        /\ aux_delivered[m][i][1] = m /\ Cardinality(views[aux_delivered[m][i][3]].preds) > 1
        /\ \E k \in DOMAIN views : Took(m, k) /\ k \notin FormedViews

\* A flush held back what a coordinator multicast, and it came in the next view.
HeldBackComes ==
    \E k \in DOMAIN views : \E i \in DOMAIN LogOf(k) : LogOf(k)[i].view_id # views[k].id
=============================================================================
