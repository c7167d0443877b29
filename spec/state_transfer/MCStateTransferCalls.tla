------------------------- MODULE MCStateTransferCalls -------------------------
(***************************************************************************)
(* Claims about what one member refuses, ignores, answers and tells its    *)
(* application, at whatever events; and their defects. The other members   *)
(* are not there: any message of theirs may come in any state, also such   *)
(* as no correct member sends. The member's own multicasts come back in    *)
(* its order. Only models of these claims use this module.                 *)
(***************************************************************************)
EXTENDS MCStateTransfer

-----------------------------------------------------------------------------
(* The member, and its events. Models put other sets in their place. *)

Self == "C"
Lists == {<<"A", "B", "C">>, <<"B", "C">>, <<"C">>, <<"A", "B">>}
Events(s) == {}

\* Bounds.
MaxCounter == 3
MaxAttempt == 2
MaxCast == 4
MaxNumber == 2

Message(sender, message) == [type |-> Received(message.type), sender |-> sender, message |-> message]

\* Its own multicasts that come back: they come in their order.
Comes(s) == IF s.came < Len(cast[Self]) THEN {Message(Self, cast[Self][s.came + 1])} ELSE {}

\* The next view, and one that does not follow.
NextViews(s) ==
    LET id == ViewId(s.view.id.counter + 1, "A") IN
    {[type |-> "ViewInstalled", view |-> [id |-> id, members |-> list]] : list \in Lists}
    \cup {[type |-> "MergeViewInstalled", view |-> [id |-> id, members |-> list], subgroups |-> {}] : list \in Lists}
    \cup {[type |-> "ViewInstalled", view |-> s.view]}

\* Its view is formed; or the next one is, which it has yet to install.
Forms(s) ==
    {[type |-> "ViewFormed", view_id |-> ViewId(s.view.id.counter + n, "A"), before |-> before] :
        n \in IF s.view.id.counter = 1 THEN 0 .. 1 ELSE {0}, before \in {s.formed, s.view.id.counter - 1, s.view.id.counter}}

Texts(senders, numbers, sizes) ==
    {Message(x, AppMessage(n, z, n)) : x \in senders, n \in numbers, z \in sizes}

Calls == {[type |-> "SendRequested", payload |-> 9, size |-> 1], [type |-> "DeclareRequested"]}
Timeouts == {[type |-> "AskTimeout"], [type |-> "SoonTimeout"]}
Safes == {[type |-> type, number |-> n] : type \in {"SafeUpTo", "UnknownUpTo"}, n \in 1 .. 2}

Asks(senders, providers, attempts) ==
    {Message(x, AskMessage(p, n)) : x \in senders, p \in providers, n \in attempts}
Reads(askers, attempts, numbers) ==
    {[type |-> "PartRead", to |-> x, attempt |-> k, number |-> n, data |-> 0, last |-> n = PartCount] :
        x \in askers, k \in attempts, n \in numbers}
    \cup {[type |-> "PartFailed", to |-> x, attempt |-> k] : x \in askers, k \in attempts}
Credited(askers, attempts, numbers) == {Message(x, CreditMessage(k, n)) : x \in askers, k \in attempts, n \in numbers}
Parts(providers, attempts, numbers, seens) ==
    {Message(x, PartMessage(k, n, n, n = PartCount, seen, FALSE)) : x \in providers, k \in attempts, n \in numbers, seen \in seens}
Refusals(providers, attempts) == {Message(x, CannotMessage(k)) : x \in providers, k \in attempts}
TellsOf(s, senders, standings) == {Message(x, TellMessage(s.view.id, y)) : x \in senders, y \in standings}

-----------------------------------------------------------------------------
(* The member takes any event in any state *)

AnyEvent(event) ==
    \E step \in {MemberStep(local[Self], event)} :
        /\ Take("AnyEvent", Self, None, event, {}, step)
        /\ cast' = [cast EXCEPT ![Self] = @ \o MulticastsOf(step.effects)]
        /\ UNCHANGED <<apps, views, installed, life, path, order, cut, delivered, had, primary, wire, up, spent, sequence>>

ActsNext == \E event \in Events(local[Self]) \cup Comes(local[Self]) : AnyEvent(event)
ActsSpec == Init /\ [][ActsNext]_vars
call_view == <<local, cast>>

Within ==
    /\ local[Self].view.id.counter <= MaxCounter /\ local[Self].attempt <= MaxAttempt /\ Len(cast[Self]) <= MaxCast
    /\ local[Self].formed <= MaxCounter

-----------------------------------------------------------------------------
(* What a step does *)

Ups(type) == LET Is(f) == f.type = "PassUp" /\ f.event.type = type IN SelectSeq(act'.effects, Is)
UpEvents(type) == [i \in DOMAIN Ups(type) |-> Ups(type)[i].event]
SentOf(type) == LET Is(f) == f.type = "Send" /\ f.message.type = type IN SelectSeq(act'.effects, Is)
CastsOf(type) == LET Is(message) == message.type = type IN SelectSeq(MulticastsOf(act'.effects), Is)
TimersOf(name) == LET Is(f) == f.type = "SetTimer" /\ f.name = name IN SelectSeq(act'.effects, Is)
IsCome(e) == e.type \in {"AppReceived", "AskReceived", "TellReceived"}
IsView(e) == e.type \in {"ViewInstalled", "MergeViewInstalled"}

\* A claim about the member that takes a step: its state before, its event, and its state after that.
EachStep(Claim(_, _, _)) ==
    \A m \in {act'.member} \cap Member : act'.outcome # "none" => Claim(local[m], act'.event, local'[m])

-----------------------------------------------------------------------------
(* Refused, ignored *)

\* The application calls at a time when it may not; the layers below pass up a view that is none of its next ones.
IsMistake(s, e) ==
    CASE e.type = "SendRequested" -> ~s.has \/ s.vacant
      [] e.type = "DeclareRequested" -> s.declares \/ ~(s.vacant \/ Waits(s))
      [] e.type = "ViewFormed" -> e.view_id.counter <= s.formed \/ e.before < 0 \/ e.before >= e.view_id.counter
      [] IsView(e) -> s.member \notin MembersOf(e.view) \/ e.view.id.counter <= s.view.id.counter
      [] OTHER -> FALSE

\* No correct member sends it.
IsWrong(s, e) ==
    CASE e.type = "AppReceived" -> ~IsMember(s, e.sender) \/ e.message.number = 0 \/ e.message.size = 0
      [] e.type = "AskReceived" -> ~IsMember(s, e.sender) \/ e.message.provider = e.sender
      [] e.type = "TellReceived" -> ~IsMember(s, e.sender) /\ e.message.view_id = s.view.id
      [] e.type = "PartReceived" -> e.message.number = 0
      [] OTHER -> FALSE

RefusedIffWrongStep ==
    EachStep(LAMBDA s, e, t :
        /\ act'.outcome = "local_error" <=> IsMistake(s, e)
        /\ act'.outcome = "remote_error" <=> IsWrong(s, e))

\* It is of the member's provider, in answer to its last ASK.
IsAnswer(s, e) == s.provider # Nobody /\ e.sender = s.provider /\ e.message.attempt = s.attempt

\* It is late, or says nothing new.
IsLate(s, e) ==
    CASE e.type = "AppReceived" ->
            IF s.has THEN e.sender \in DOMAIN s.seen /\ e.message.number <= s.seen[e.sender] ELSE ~s.marked
      [] e.type = "AskReceived" ->
            IF e.sender = s.member THEN s.provider = Nobody \/ s.marked \/ e.message.attempt # s.attempt
            ELSE IF e.message.provider = s.member THEN ~s.settled /\ ~s.vacant
            ELSE e.sender \notin DOMAIN s.giving
      [] e.type = "TellReceived" ->
            e.message.view_id # s.view.id \/ (~s.settled /\ ~s.vacant /\ e.sender \in DOMAIN s.told)
      [] e.type = "PartRead" ->
            e.to \notin DOMAIN s.giving \/ e.attempt # s.giving[e.to].attempt \/ e.number # s.giving[e.to].number
      [] e.type = "PartFailed" -> e.to \notin DOMAIN s.giving \/ e.attempt # s.giving[e.to].attempt
      [] e.type = "CreditReceived" ->
            \/ e.sender \notin DOMAIN s.giving \/ e.message.attempt # s.giving[e.sender].attempt
            \/ e.message.number + Window <= s.giving[e.sender].credit
      [] e.type = "PartReceived" -> ~IsAnswer(s, e) \/ e.message.number # s.parts + 1 \/ s.whole
      [] e.type = "CannotReceived" -> ~IsAnswer(s, e)
      [] e.type = "AskTimeout" -> ~s.timer
      [] e.type = "SoonTimeout" -> ~s.soon
      [] e.type \in {"SafeUpTo", "UnknownUpTo"} -> e.number <= s.said
      [] OTHER -> FALSE

\* A late event changes nothing, but for the number of its own messages that have come; all else does something.
IgnoredIffLateStep ==
    EachStep(LAMBDA s, e, t : ~IsMistake(s, e) /\ ~IsWrong(s, e) =>
        LET own == IsCome(e) /\ e.sender = s.member IN
        IsLate(s, e) <=> IF own THEN t = [s EXCEPT !.came = @ + 1] /\ act'.effects = <<>> ELSE act'.outcome = "ignored")

\* A member counts its own messages in the order, but for those that are refused.
CountsOwnStep ==
    EachStep(LAMBDA s, e, t : t.came = s.came + IF IsCome(e) /\ e.sender = s.member /\ ~IsWrong(s, e) THEN 1 ELSE 0)

-----------------------------------------------------------------------------
(* Messages of the application *)

\* A member with the state passes up each message that is not in the state, and no other; SeenGrows: it is in the state then.
DeliversNewStep ==
    EachStep(LAMBDA s, e, t : e.type = "AppReceived" =>
        UpEvents("Deliver") =
            IF s.has /\ ~IsWrong(s, e) /\ ~IsLate(s, e)
            THEN <<[type |-> "Deliver", sender |-> e.sender, payload |-> e.message.payload]>> ELSE <<>>)

SeenGrowsStep ==
    EachStep(LAMBDA s, e, t : t.has =>
        /\ (s.has /\ e.type = "AppReceived" /\ ~IsWrong(s, e)) =>
            /\ e.sender \in DOMAIN t.seen
            /\ t.seen[e.sender] = Max({e.message.number} \cup IF e.sender \in DOMAIN s.seen THEN {s.seen[e.sender]} ELSE {})
        /\ s.has => \A x \in DOMAIN s.seen : x \in DOMAIN t.seen /\ t.seen[x] >= s.seen[x])

\* A member multicasts what its application asks for, with the next number.
SendsOnceStep ==
    EachStep(LAMBDA s, e, t :
        /\ CastsOf("APP") = IF e.type = "SendRequested" /\ ~IsMistake(s, e)
                            THEN <<AppMessage(s.sent + 1, e.size, e.payload)>> ELSE <<>>
        /\ t.sent = s.sent + Len(CastsOf("APP")))

\* An asker holds each message behind its cut until it has the state, or the transfer ends.
HoldsAfterCutStep ==
    EachStep(LAMBDA s, e, t : (s.marked /\ t.provider = s.provider /\ t.attempt = s.attempt) =>
        t.held = IF e.type = "AppReceived" /\ ~IsWrong(s, e)
                 THEN Append(s.held, [sender |-> e.sender, number |-> e.message.number, payload |-> e.message.payload])
                 ELSE s.held)

\* STT-09: it ends the transfer where it holds as much as it may, and another message comes, and not before.
EndsWhenFullStep ==
    EachStep(LAMBDA s, e, t : (e.type = "AppReceived" /\ s.marked /\ ~IsWrong(s, e)) =>
        /\ t.marked <=> s.bytes < MaxHeld
        /\ ~t.marked => t.provider = Nobody /\ t.soon = (s.soon \/ s.settled))

\* STT-09: Full is passed up when FullAt bytes wait, and Room when they do not any more; each once.
FullIsSaidStep ==
    EachStep(LAMBDA s, e, t :
        /\ Len(Ups("Full")) = IF ~s.full /\ t.full THEN 1 ELSE 0
        /\ Len(Ups("Room")) = IF s.full /\ ~t.full THEN 1 ELSE 0)

FullWhenFilled == \A m \in Member : local[m].full <=> local[m].bytes >= FullAt

-----------------------------------------------------------------------------
(* Timers *)

\* A timer that the member counts on runs: it was set, and has not fired.
TimersRunStep ==
    EachStep(LAMBDA s, e, t :
        /\ Len(TimersOf("ask")) = IF t.timer /\ (~s.timer \/ e.type = "AskTimeout") THEN 1 ELSE 0
        /\ Len(TimersOf("soon")) = IF t.soon /\ (~s.soon \/ e.type = "SoonTimeout") THEN 1 ELSE 0
        /\ (s.timer /\ e.type # "AskTimeout") => t.timer
        /\ (s.soon /\ e.type # "SoonTimeout") => t.soon)

-----------------------------------------------------------------------------
(* Asking *)

\* A member that asks may be asked: it is in the view, not this member, and did not refuse since the timer fired. It is the first
\* such. The ASK begins an attempt.
AsksFirstStep ==
    EachStep(LAMBDA s, e, t :
        LET asks == CastsOf("ASK")
            others == {i \in DOMAIN t.view.members : t.view.members[i] \notin {t.member} \cup t.refused}
        IN /\ t.attempt = s.attempt + Len(asks) /\ Len(asks) <= 1
           /\ asks # <<>> =>
                /\ others # {} /\ asks[1].provider = t.view.members[CHOOSE i \in others : \A j \in others : i <= j]
                /\ asks[1].attempt = t.attempt /\ t.provider = asks[1].provider
                /\ ~t.has /\ ~t.marked /\ t.held = <<>> /\ t.parts = 0)

\* A member asks where it waits for a state; where its provider refuses, or is gone; and nowhere else. A member that declares
\* a state does not.
AsksWhileWaitingStep ==
    EachStep(LAMBDA s, e, t : CastsOf("ASK") # <<>> =>
        /\ ~s.has /\ t.settled /\ ~t.declares
        /\ \/ e.type \in {"AskTimeout", "SoonTimeout"} /\ s.provider = Nobody
           \/ e.type = "CannotReceived"
           \/ IsView(e) /\ (s.provider = Nobody \/ ~IsMember(t, s.provider) \/ ~s.settled))

\* STT-05: a member that waits asks when a timer fires. Where all refuse its application is told.
TimerAsksStep ==
    EachStep(LAMBDA s, e, t : (act'.outcome = "handled" /\ e.type \in {"AskTimeout", "SoonTimeout"} /\ Waits(s) /\ ~s.declares) =>
        CastsOf("ASK") # <<>> \/ CastsOf("TELL") # <<>> \/ Ups("NoState") # <<>>)

\* A member that refused is not asked again, before the timer fires, or the member has the state, or a new view, or a decision.
RefusalsAreKeptStep ==
    EachStep(LAMBDA s, e, t :
        LET refuses == IF e.type = "CannotReceived" /\ ~IsLate(s, e) THEN {e.sender} ELSE {} IN
        IF IsView(e) \/ e.type = "AskTimeout" \/ t.has \/ (t.settled /\ ~s.settled) THEN TRUE ELSE t.refused = s.refused \cup refuses)

\* The cut is the place of the ASK of the attempt. A state that comes there stands in the view, if that is formed.
MarksAtOwnAskStep ==
    EachStep(LAMBDA s, e, t :
        LET comes == e.type = "AskReceived" /\ e.sender = s.member /\ ~IsWrong(s, e) /\ ~IsLate(s, e) IN
        /\ (t.marked \/ Ups("StateSet") # <<>>) => s.marked \/ comes
        /\ comes => (t.marked \/ t.has) /\ t.stood = IF IsFormed(s) THEN s.formed ELSE s.stood)

-----------------------------------------------------------------------------
(* Parts *)

\* The asker takes the next part, and says so, but for the last.
TakesNextPartStep ==
    EachStep(LAMBDA s, e, t :
        LET takes == e.type = "PartReceived" /\ ~IsWrong(s, e) /\ ~IsLate(s, e) IN
        /\ UpEvents("PutPart") =
            IF takes THEN <<[type |-> "PutPart", number |-> e.message.number, data |-> e.message.data]>> ELSE <<>>
        /\ SentOf("CREDIT") =
            IF takes /\ ~e.message.last THEN <<Send(s.provider, CreditMessage(s.attempt, s.parts + 1))>> ELSE <<>>)

\* The state is set where it is whole, the cut is known, and no choice is open; and as soon as that is so.
SetsWholeStateStep ==
    EachStep(LAMBDA s, e, t :
        LET last == e.type = "PartReceived" /\ ~IsWrong(s, e) /\ ~IsLate(s, e) /\ e.message.last IN
        /\ (Ups("StateSet") # <<>>) => Len(Ups("StateSet")) = 1 /\ (s.whole \/ last) /\ t.settled /\ t.has /\ ~s.has
        /\ (t.has /\ ~s.has /\ ~t.declared /\ ~IsView(e)) => Ups("StateSet") # <<>>
        /\ ~(t.whole /\ t.marked /\ t.settled))

\* The held messages follow the state, but for what is in it. The own messages that came with the state are reported.
SetStateGoesOnStep ==
    EachStep(LAMBDA s, e, t : (Ups("StateSet") # <<>>) =>
        LET given == IF e.type = "PartReceived" THEN e.message.seen ELSE s.given.seen
            Number(seen, x) == IF x \in DOMAIN seen THEN seen[x] ELSE 0
            own == Number(given, s.member)
            IsFresh(x) == x.number > Number(given, x.sender)
            fresh == SelectSeq(s.held, IsFresh)
        IN /\ \A x \in DOMAIN given : Number(t.seen, x) >= given[x]
           /\ \A i \in DOMAIN fresh : Number(t.seen, fresh[i].sender) >= fresh[i].number
           /\ {UpEvents("Deliver")[i].sender : i \in DOMAIN Ups("Deliver")} = {fresh[i].sender : i \in DOMAIN fresh}
           /\ UpEvents("OwnIsInState") =
                IF own > Number(s.seen, s.member) THEN <<[type |-> "OwnIsInState", number |-> own]>> ELSE <<>>)

-----------------------------------------------------------------------------
(* Providing *)

\* A member that is asked gives its state, or says that it has none. While a choice is open it does neither.
AnswersAskStep ==
    EachStep(LAMBDA s, e, t :
        LET asked == e.type = "AskReceived" /\ e.sender # s.member /\ ~IsWrong(s, e) /\ e.message.provider = s.member
            gives == asked /\ s.has /\ s.settled
        IN /\ UpEvents("MarkState") =
                IF gives THEN <<[type |-> "MarkState", to |-> e.sender, attempt |-> e.message.attempt]>> ELSE <<>>
           /\ gives => t.giving = Updated(s.giving, e.sender, [attempt |-> e.message.attempt, number |-> 1, credit |-> Window,
                                                               seen |-> s.seen])
           /\ SentOf("CANNOT") =
                IF asked /\ (s.vacant \/ (s.settled /\ ~s.has)) THEN <<Send(e.sender, CannotMessage(e.message.attempt))>>
                ELSE IF e.type = "PartFailed" /\ ~IsLate(s, e) THEN <<Send(e.to, CannotMessage(e.attempt))>>
                ELSE <<>>)

\* The application is asked for a part once: for the next one, as soon as there is room for it.
MayRead(s, x) == s.giving[x].number <= s.giving[x].credit
ReadsWithinCreditStep ==
    EachStep(LAMBDA s, e, t :
        LET IsRead(x) == IF e.type = "PartRead" THEN e.to = x /\ ~IsLate(s, e) ELSE FALSE
            IsNewTo(x) == \/ x \notin DOMAIN s.giving
                          \/ ~MayRead(s, x) \/ IsRead(x) \/ (e.type = "AskReceived" /\ e.sender = x /\ e.message.provider = s.member)
            reads == {x \in DOMAIN t.giving : MayRead(t, x) /\ IsNewTo(x)}
        IN act'.outcome = "handled" =>
            /\ Len(Ups("ReadPart")) = Cardinality(reads)
            /\ {UpEvents("ReadPart")[i] : i \in DOMAIN Ups("ReadPart")} =
                {[type |-> "ReadPart", to |-> x, attempt |-> t.giving[x].attempt, number |-> t.giving[x].number] : x \in reads})

\* A part that was read is sent, with the numbers of the messages that were in the state when it was marked.
SendsPartsStep ==
    EachStep(LAMBDA s, e, t :
        LET read == e.type = "PartRead" /\ ~IsLate(s, e) IN
        /\ SentOf("PART") =
            IF read THEN <<Send(e.to, PartMessage(e.attempt, e.number, e.data, e.last, s.giving[e.to].seen, s.declared))>> ELSE <<>>
        /\ read => (e.last <=> e.to \notin DOMAIN t.giving)
        /\ (read /\ ~e.last) => t.giving[e.to] = [s.giving[e.to] EXCEPT !.number = @ + 1])

\* A marked state is freed where the member ends to give it before the last part, in the order of the view.
FreesGoneStep ==
    EachStep(LAMBDA s, e, t :
        LET Is(x) == x \in DOMAIN s.giving \ DOMAIN t.giving /\ e.type \notin {"PartRead", "PartFailed"}
            gone == SelectSeq(s.view.members, Is)
        IN UpEvents("FreeState") = [i \in DOMAIN gone |-> [type |-> "FreeState", to |-> gone[i]]])

\* A member gives its state until the asker is gone, or asks another, or the own state is not kept.
GivesOnStep ==
    EachStep(LAMBDA s, e, t : \A x \in DOMAIN s.giving \ DOMAIN t.giving :
        \/ ~IsMember(t, x) \/ ~t.has
        \/ e.type = "AskReceived" /\ e.sender = x
        \/ e.type \in {"PartRead", "PartFailed"} /\ e.to = x)

-----------------------------------------------------------------------------
(* SAFE *)

\* A report of SAFE is passed up once, in its order. It waits where a choice is open. A message of a view that ends so is unknown.
SafeIsSaidStep ==
    EachStep(LAMBDA s, e, t :
        LET told == IF e.type \in {"SafeUpTo", "UnknownUpTo"} THEN e.number > s.said ELSE FALSE
            decides == e.type = "TellReceived" /\ t.settled /\ s.safe > 0
            leaves == IsView(e) /\ ~IsMistake(s, e)
        IN /\ UpEvents("SafeUpTo") =
                IF told /\ e.type = "SafeUpTo" /\ s.settled THEN <<e>>
                ELSE IF decides THEN <<[type |-> "SafeUpTo", number |-> s.safe]>> ELSE <<>>
           /\ UpEvents("UnknownUpTo") =
                IF told /\ e.type = "UnknownUpTo" THEN <<e>>
                ELSE IF leaves /\ ~s.settled /\ s.came > s.said THEN <<[type |-> "UnknownUpTo", number |-> s.came]>> ELSE <<>>
           /\ LET said == UpEvents("SafeUpTo") \o UpEvents("UnknownUpTo") IN
                t.said = IF said = <<>> THEN s.said ELSE said[1].number
           /\ t.safe = IF told /\ e.type = "SafeUpTo" /\ ~s.settled THEN e.number
                       ELSE IF told \/ decides \/ leaves THEN 0 ELSE s.safe)

-----------------------------------------------------------------------------
(* Choices *)

\* A view in which members may have different states begins with a choice. A vacant view that is followed is vacant.
OpensChoiceStep ==
    EachStep(LAMBDA s, e, t : (IsView(e) /\ ~IsMistake(s, e)) =>
        LET alone == e.view.members = <<s.member>>
            merges == e.type = "MergeViewInstalled"
        IN /\ t.view = e.view /\ ~t.owes /\ ~t.declares
           /\ (merges /\ ~alone) => ~t.settled /\ ~t.vacant
           /\ (~merges /\ s.settled /\ ~alone) => t.settled \/ (IsFormed(t) /\ (t.vacant => s.has))
           /\ (~merges /\ ~s.settled /\ ~s.vacant /\ ~alone) => ~t.settled /\ ~t.vacant
           /\ (~merges /\ s.vacant) => t.vacant
           /\ (~t.settled /\ ~t.vacant) => t.telling /\ DOMAIN t.told = {})

\* A member tells its standing once where it begins a choice: at the view, or soon. It tells as well what it declares.
TellsStandingStep ==
    EachStep(LAMBDA s, e, t :
        LET tells == CastsOf("TELL")
            opened == ~t.settled /\ ~t.vacant /\ (s.settled \/ s.vacant \/ IsView(e))
        IN /\ Len(tells) <= 1
           /\ tells # <<>> => t.telling
           /\ tells # <<>> => tells[1].view_id = t.view.id /\
                tells[1].standing = Standing(t.stood, IF t.has THEN t.name ELSE LacksName, t.declared \/ t.declares, t.after, t.upto)
           /\ (act'.outcome = "handled" /\ opened) =>
                IF e.type = "TellReceived" THEN tells = <<>> /\ (s.telling <=> ~t.owes) ELSE tells # <<>>
           /\ (act'.outcome = "handled" /\ e.type = "DeclareRequested") => tells # <<>> /\ t.declares
           /\ (act'.outcome = "handled" /\ e.type = "SoonTimeout" /\ s.owes) => tells # <<>> /\ ~t.owes
           /\ tells # <<>> => opened \/ e.type = "DeclareRequested" \/ (e.type = "SoonTimeout" /\ s.owes))

\* It counts on its own TELL until that comes, or a view.
OwnTellEndsTellingStep ==
    EachStep(LAMBDA s, e, t : (e.type = "TellReceived" /\ act'.outcome = "handled" /\ ~IsLate(s, e)) =>
        /\ e.sender = s.member => ~t.telling
        /\ (e.sender # s.member /\ ~t.settled /\ ~t.vacant) => t.telling = (s.telling \/ s.settled \/ s.vacant))

\* A state has the name of the last view in which all that had it had one, and of the views that ended undecided since.
NamesStateStep ==
    EachStep(LAMBDA s, e, t :
        /\ (IsView(e) /\ ~IsMistake(s, e) /\ ~t.vacant) =>
            t.name = IF ~s.has /\ ~s.marked THEN LacksName
                     ELSE IF s.settled THEN <<s.view.id>> ELSE Append(s.name, s.view.id)
        /\ (e.type = "TellReceived" /\ ~t.settled /\ ~t.vacant /\ act'.outcome = "handled") =>
            t.name = IF ~s.settled /\ ~s.vacant THEN s.name
                     ELSE IF ~s.has THEN LacksName ELSE IF s.settled THEN <<s.view.id>> ELSE s.name)

\* No transfer begins or continues while a choice is open, but for one that has its cut in a view before.
NoTransferInChoice ==
    \A m \in Member : ~local[m].settled => (local[m].provider = Nobody \/ local[m].marked)

-----------------------------------------------------------------------------
(* Decisions *)

IsDecision(s, e, t) == e.type = "TellReceived" /\ act'.outcome = "handled" /\ ~IsLate(s, e) /\ DOMAIN t.told = MembersOf(t.view)

\* The last formed view before this one of which no member says that it was vacant.
LastWanted(s, told) ==
    LET base == IF IsFormed(s) THEN s.base ELSE 0
        Said(n) == \E x \in DOMAIN told : told[x].after < n /\ n <= told[x].upto
    IN Max({0} \cup {n \in 1 .. base : ~Said(n)})

\* How the state of a member counts: one of the primary, one that is not declared, one that stood later.
RankOf(s, told, x) ==
    LET y == told[x] IN
    IF y.name = LacksName THEN (IF y.declared THEN 1 ELSE 0)
    ELSE IF ~y.declared /\ y.stood >= LastWanted(s, told) THEN 4 ELSE IF ~y.declared THEN 3 ELSE 2

BestOf(s, told) ==
    LET all == DOMAIN told
        best == Max({RankOf(s, told, x) : x \in all})
        declared == \E x \in all : told[x].declared
        ranked == {x \in all : RankOf(s, told, x) = best}
        stood == Max({told[x].stood : x \in ranked})
        latest == {x \in ranked : told[x].stood = stood}
        Count(x) == Cardinality({y \in all : told[y].name = told[x].name})
        most == {x \in latest : \A y \in latest : Count(y) <= Count(x)}
        members == s.view.members
        Senior(set) == members[CHOOSE i \in DOMAIN members : members[i] \in set /\ \A j \in 1 .. i - 1 : members[j] \notin set]
    IN IF best = 0 \/ (best < 4 /\ best > 1 /\ ~declared) THEN {}
       ELSE IF best = 1 THEN {Senior(ranked)}
       ELSE {y \in all : told[y].name = told[Senior(most)].name}

\* A decision keeps one state, that counts most. Members with another lack the state, and ask soon. If none counts, the view is vacant.
DecidesStep ==
    EachStep(LAMBDA s, e, t : IsDecision(s, e, t) =>
        LET best == BestOf(s, t.told)
            keeps == s.member \in best
            continues == ~keeps /\ s.marked /\ ~s.settled /\ s.provider \in best /\ t.told[s.provider].name = s.name
        IN /\ t.settled <=> best # {}
           /\ t.vacant <=> best = {}
           /\ ~t.declares /\ ~t.telling
           /\ keeps => t.has
           /\ (best # {} /\ ~keeps /\ ~continues) =>
                ~t.has /\ ~t.declared /\ t.giving = [x \in {} |-> 0] /\ t.provider = Nobody /\ t.soon /\ t.refused = DOMAIN t.told \ best
           /\ continues => t.has \/ (t.provider = s.provider /\ t.attempt = s.attempt /\ t.marked)
           /\ (best # {} /\ IsFormed(t)) => t.stood = t.formed
           /\ (best # {} /\ ~IsFormed(t)) => t.stood = s.stood
           /\ (best = {} /\ IsFormed(t)) => t.upto = t.formed /\ t.after = LastWanted(s, t.told)
           /\ (best = {} /\ ~IsFormed(t)) => t.upto = s.upto /\ t.after = s.after)

\* The application hears what becomes of its state, once.
SaysWhatIsDecidedStep ==
    EachStep(LAMBDA s, e, t :
        LET decision == IsDecision(s, e, t)
            keeps == s.has /\ t.has
            wanted == LastWanted(s, t.told)
            stands == s.declared \/ \E x \in BestOf(s, t.told) : t.told[x].stood >= wanted
            founds == IsView(e) /\ t.has /\ t.settled /\ ~(s.has /\ s.settled)
        IN /\ Len(Ups("StateKept")) = IF founds \/ (decision /\ t.settled /\ keeps /\ stands) THEN 1 ELSE 0
           /\ Len(Ups("StateDropped")) = IF s.has /\ ~t.has THEN 1 ELSE 0
           /\ Len(Ups("StateDeclared")) = IF decision /\ t.settled /\ t.has /\ Ups("StateSet") = <<>> /\ ~(keeps /\ stands) THEN 1 ELSE 0
           /\ Ups("StateDeclared") # <<>> => t.declared
           /\ (Ups("StateDeclared") = <<>> /\ s.has /\ t.has) => t.declared = s.declared)

\* NoState is passed up where a view is vacant from now on, and where a member that waits has nobody to ask.
SaysNoStateStep ==
    EachStep(LAMBDA s, e, t :
        LET timed == e.type \in {"CannotReceived", "AskTimeout", "SoonTimeout"}
            lacks == Waits(t) /\ ~t.declares /\ CastsOf("ASK") = <<>> /\ (IsView(e) \/ timed)
            vacates == t.vacant /\ (~s.vacant \/ IsDecision(s, e, t) \/ e.type = "MergeViewInstalled")
        IN act'.outcome = "handled" => Len(Ups("NoState")) = IF vacates \/ lacks THEN 1 ELSE 0)

-----------------------------------------------------------------------------
(* Formed views *)

\* ViewFormed is passed up, once.
PassesUpFormedStep ==
    EachStep(LAMBDA s, e, t :
        LET forms == e.type = "ViewFormed" /\ ~IsMistake(s, e) IN
        /\ UpEvents("ViewFormed") = IF forms THEN <<e>> ELSE <<>>
        /\ t.formed = (IF forms THEN e.view_id.counter ELSE s.formed) /\ t.base = IF forms THEN e.before ELSE s.base)

\* In a formed view a member has a state that stands, or it waits.
StandsWhereFormed ==
    \A m \in Member : LET s == local[m] IN
        (IsFormed(s) /\ s.settled) => (s.has => s.stood >= s.base) /\ ~LacksAlone(s)

RefusedIffWrong == [][RefusedIffWrongStep]_vars
IgnoredIffLate == [][IgnoredIffLateStep]_vars
CountsOwn == [][CountsOwnStep]_vars
DeliversNew == [][DeliversNewStep]_vars
SeenGrows == [][SeenGrowsStep]_vars
SendsOnce == [][SendsOnceStep]_vars
HoldsAfterCut == [][HoldsAfterCutStep]_vars
EndsWhenFull == [][EndsWhenFullStep]_vars
FullIsSaid == [][FullIsSaidStep]_vars
TimersRun == [][TimersRunStep]_vars
AsksFirst == [][AsksFirstStep]_vars
AsksWhileWaiting == [][AsksWhileWaitingStep]_vars
TimerAsks == [][TimerAsksStep]_vars
RefusalsAreKept == [][RefusalsAreKeptStep]_vars
MarksAtOwnAsk == [][MarksAtOwnAskStep]_vars
TakesNextPart == [][TakesNextPartStep]_vars
SetsWholeState == [][SetsWholeStateStep]_vars
SetStateGoesOn == [][SetStateGoesOnStep]_vars
AnswersAsk == [][AnswersAskStep]_vars
ReadsWithinCredit == [][ReadsWithinCreditStep]_vars
SendsParts == [][SendsPartsStep]_vars
FreesGone == [][FreesGoneStep]_vars
GivesOn == [][GivesOnStep]_vars
SafeIsSaid == [][SafeIsSaidStep]_vars
OpensChoice == [][OpensChoiceStep]_vars
TellsStanding == [][TellsStandingStep]_vars
OwnTellEndsTelling == [][OwnTellEndsTellingStep]_vars
NamesState == [][NamesStateStep]_vars
Decides == [][DecidesStep]_vars
SaysWhatIsDecided == [][SaysWhatIsDecidedStep]_vars
SaysNoState == [][SaysNoStateStep]_vars
PassesUpFormed == [][PassesUpFormedStep]_vars

-----------------------------------------------------------------------------
(* Defects: in the place of MemberStep *)

But(step, Is(_)) == LET Other(f) == ~Is(f) IN [step EXCEPT !.effects = SelectSeq(@, Other)]
Twice(s, e, type) == LET step == Step(s, e) IN IF e.type = type THEN [step EXCEPT !.effects = @ \o @] ELSE step
WithoutUp(s, e, type) == LET Is(f) == f.type = "PassUp" /\ f.event.type = type IN But(Step(s, e), Is)

\* A caller's mistake is ignored; a late part counts as handled; each message of the application counts as an own one.
IgnoresMistakes(s, e) == LET step == Step(s, e) IN IF step.outcome = "local_error" THEN Ignored(s) ELSE step
HandlesLate(s, e) ==
    LET step == Step(s, e) IN IF e.type = "PartReceived" /\ step.outcome = "ignored" THEN Handled(s, <<>>) ELSE step
CountsEach(s, e) ==
    LET step == Step(s, e)
    IN IF e.type = "AppReceived" /\ step.outcome = "handled" THEN [step EXCEPT !.state.came = s.came + 1] ELSE step

\* A message is delivered twice; is not counted as delivered; is multicast twice; is not held; ends a transfer.
DeliversTwice(s, e) == Twice(s, e, "AppReceived")
ForgetsDelivered(s, e) ==
    LET step == Step(s, e) IN IF e.type = "AppReceived" /\ s.has THEN [step EXCEPT !.state.seen = s.seen] ELSE step
SendsTwice(s, e) == Twice(s, e, "SendRequested")
HoldsNothing(s, e) ==
    LET step == Step(s, e)
    IN IF e.type = "AppReceived" /\ s.marked /\ step.state.marked THEN [step EXCEPT !.state.held = s.held] ELSE step
EndsByTraffic(s, e) == IF e.type = "AppReceived" /\ s.marked /\ Step(s, e).outcome = "handled" THEN AskSoon(s, <<>>) ELSE Step(s, e)

\* An event is not passed up; a credit does not lead to a part.
SaysNoRoom(s, e) == WithoutUp(s, e, "Room")
HidesNoState(s, e) == WithoutUp(s, e, "NoState")
SaysNotFormed(s, e) == WithoutUp(s, e, "ViewFormed")
FreesNothing(s, e) == WithoutUp(s, e, "FreeState")
StallsForEver(s, e) == IF e.type = "CreditReceived" THEN WithoutUp(s, e, "ReadPart") ELSE Step(s, e)

\* An ASK has the number of the one before; a member asks though it has a provider; it does not ask when its timer fires; it asks
\* members again that have refused.
NumbersAskAgain(s, e) ==
    LET step == Step(s, e)
    IN [step EXCEPT !.effects = [i \in DOMAIN @ |->
            IF @[i].type = "Multicast" THEN (IF @[i].message.type = "ASK" THEN [@[i] EXCEPT !.message.attempt = s.attempt] ELSE @[i]) ELSE @[i]]]
AsksBesideProvider(s, e) ==
    IF e.type = "SoonTimeout" /\ s.soon /\ s.settled /\ s.provider # Nobody THEN Ask([s EXCEPT !.soon = FALSE], <<>>) ELSE Step(s, e)
TimerDoesNothing(s, e) ==
    IF e.type = "AskTimeout" /\ s.timer THEN Handled([s EXCEPT !.timer = FALSE], <<>>) ELSE Step(s, e)
ForgetsRefusals(s, e) == IF e.type = "SoonTimeout" /\ s.soon THEN Step([s EXCEPT !.refused = {}], e) ELSE Step(s, e)

\* No credit is sent; the whole state is not set when its last part comes; a part is sent twice.
SendsNoCredit(s, e) ==
    LET Is(f) == f.type = "Send" /\ f.message.type = "CREDIT" IN But(Step(s, e), Is)
SetsNothing(s, e) ==
    IF e.type = "PartReceived" /\ ~s.has /\ Step(s, e).state.has
    THEN Handled([s EXCEPT !.parts = @ + 1, !.whole = TRUE], <<PutPart(e.message.number, e.message.data)>>) ELSE Step(s, e)
SendsPartTwice(s, e) ==
    LET step == Step(s, e) IN IF e.type = "PartRead" /\ e.last THEN [step EXCEPT !.effects = @ \o @] ELSE step

\* A view ends each transfer; a transfer without a cut continues while a choice is open.
FreesAll(s, e) ==
    LET step == Step(s, e)
        none == [step EXCEPT !.state.giving = [x \in {} |-> 0]]
    IN IF IsView(e) /\ step.outcome = "handled"
       THEN [WithoutUp(s, e, "FreeState") EXCEPT !.state.giving = none.state.giving, !.effects = Freed(s, DOMAIN s.giving) \o @]
       ELSE step
KeepsProvider(s, e) ==
    LET step == Step(s, e)
    IN IF IsView(e) /\ ~step.state.settled /\ ~step.state.vacant THEN [step EXCEPT !.state.provider = s.provider] ELSE step

\* A declaration is not told; a member waits for its TELL though that has come.
DeclaresInSilence(s, e) == IF e.type = "DeclareRequested" THEN [Step(s, e) EXCEPT !.effects = <<>>] ELSE Step(s, e)
AwaitsTell(s, e) ==
    LET step == Step(s, e)
    IN IF e.type = "TellReceived" /\ ~step.state.settled /\ ~step.state.vacant THEN [step EXCEPT !.state.telling = TRUE] ELSE step

-----------------------------------------------------------------------------
(* Bounds *)

OfA == "A"
One == 1
Two == 2
JustABC == {<<"A", "B", "C">>}
ABCOrC == {<<"A", "B", "C">>, <<"C">>}
JustAC == {<<"A", "C">>}
ABCOrAB == {<<"A", "B", "C">>, <<"A", "B">>}
ACOrC == {<<"A", "C">>, <<"C">>}
SomeLists == {<<"A", "B", "C">>, <<"B", "C">>, <<"A">>}
PlainViews(s) == {v \in NextViews(s) : v.type = "ViewInstalled"}
FirstViews(s) == IF s.view = NoView THEN NextViews(s) ELSE {}
Send9 == [type |-> "SendRequested", payload |-> 9, size |-> 1]
Declare == [type |-> "DeclareRequested"]

\* C asks for the state, and takes it.
AskerEvents(s) ==
    Timeouts \cup {Send9, Declare} \cup PlainViews(s) \cup (IF s.has THEN {} ELSE Texts({"A"}, {1}, {1}))
    \cup Parts({"A"}, {s.attempt}, 0 .. PartCount + 1, {NoneSeen}) \cup Parts({"A"}, {1}, {2}, {NoneSeen})
    \cup Parts({"B"}, {s.attempt}, {1}, {NoneSeen}) \cup Refusals({"A", "B"}, {s.attempt}) \cup Refusals({"A"}, {1})

\* ... with messages in it, and others behind it.
Seens == {NoneSeen, [x \in {"A", "C"} |-> 1]}
TakerEvents(s) ==
    Texts({"A", "B"}, 1 .. 2, {1}) \cup Texts({"A", "Z"}, 0 .. 1, 0 .. 1) \cup Parts({"A"}, {1}, {1}, Seens) \cup {Send9} \cup FirstViews(s)

\* A provides B and C.
ProviderEvents(s) ==
    Asks({"B", "C", "Z"}, {"A", "B"}, {1}) \cup {Message("A", AskMessage("A", 1))} \cup Asks({"C"}, {"A"}, {2}) \cup Reads({"C"}, 1 .. 2, 1 .. 2)
    \cup Reads({"B"}, {1}, {1}) \cup Credited({"C"}, 1 .. 2, 1 .. 2) \cup Credited({"B"}, {1}, {1}) \cup PlainViews(s)
    \cup (IF DOMAIN s.giving = {} THEN Texts({"B"}, {1}, {1}) ELSE {})

\* C, and views that merge, without Majority.
N1 == <<ViewId(1, "A")>>
N2 == <<ViewId(1, "B")>>
Lacks == Standing(0, LacksName, FALSE, 0, 0)
Declaring == Standing(0, LacksName, TRUE, 0, 0)
Standings == {Lacks, Declaring, Standing(0, N1, FALSE, 0, 0), Standing(0, N2, TRUE, 0, 0)}
ChooserEvents(s) ==
    TellsOf(s, {"A"}, IF s.settled THEN {Lacks, Standing(0, N1, FALSE, 0, 0)} ELSE Standings)
    \cup {Message("Z", TellMessage(s.view.id, Lacks)), Message("A", TellMessage(NoViewId, Lacks))}
    \cup (IF s.view.id.counter = 1 THEN NextViews(s) ELSE PlainViews(s))
    \cup {[type |-> "SoonTimeout"], Send9, Declare} \cup Asks({"A"}, {"C"}, {1})
    \cup (IF s.settled THEN {[type |-> "AskTimeout"]} \cup Refusals({"A"}, {s.attempt}) ELSE {})

\* ... and three members: the state of most.
MostEvents(s) ==
    (IF s.view.id.counter = 1 THEN NextViews(s) ELSE IF s.view = NoView THEN PlainViews(s) ELSE {})
    \cup TellsOf(s, {"A", "B"}, {Declaring, Standing(0, N1, FALSE, 0, 0), Standing(0, N2, FALSE, 0, 0), Standing(0, N2, TRUE, 0, 0)})

\* ... during a transfer.
JoinerEvents(s) ==
    (IF s.view = NoView THEN PlainViews(s) ELSE IF s.view.id.counter = 1 THEN NextViews(s) ELSE {})
    \cup (IF s.settled THEN {} ELSE TellsOf(s, {"A", "B"}, {Standing(0, N1, FALSE, 0, 0), Standing(0, N2, FALSE, 0, 0)}))
    \cup (IF s.marked THEN Parts({"A"}, {1}, {1}, {NoneSeen}) \cup Refusals({"A"}, {1}) \cup Texts({"B"}, {1}, {1}) ELSE {})
    \cup (IF s.settled THEN {} ELSE {[type |-> "SoonTimeout"]})

\* ... with Majority.
MajorityStandings == {Lacks, Standing(1, N1, FALSE, 0, 0), Standing(2, N2, FALSE, 0, 0), Standing(1, N1, FALSE, 1, 2)}
FormerEvents(s) ==
    (IF s.view.id.counter = 1 THEN NextViews(s) ELSE PlainViews(s))
    \cup (IF s.settled THEN {} ELSE TellsOf(s, {"A"}, MajorityStandings) \cup {[type |-> "SoonTimeout"]})
    \cup Forms(s) \cup {Declare}

\* SAFE tells C of its messages.
SafeEvents(s) ==
    Safes \cup TellsOf(s, {"A"}, {Standing(0, N1, FALSE, 0, 0)}) \cup {Send9}
    \cup (IF s.view.id.counter = 1 THEN NextViews(s) ELSE PlainViews(s))
=============================================================================
