------------------------------ MODULE TwoPhase ------------------------------
(* Two-phase commit: a coordinator asks the participants of a transaction, and commits if all of them can.       *)
EXTENDS Steps

CONSTANTS
    Coordinator,    \* the member that decides
    Participants,   \* the other members of the transaction
    VoteDelay       \* how long the coordinator waits for votes, in milliseconds

(* Guards: conditions of the algorithm. A model may take one away. *)
WaitForAll == TRUE  \* the coordinator commits only when all participants have voted yes
KeepPromise == TRUE \* a participant that has voted yes does not abort by itself

PrepareMessage == [type |-> "PREPARE"]
VoteMessage(yes) == [type |-> "VOTE", yes |-> yes]
DecisionMessage(commit) == [type |-> "DECISION", commit |-> commit]

Start(member) == [member |-> member, phase |-> "working", votes |-> {}]

Outcome(commit) == IF commit THEN "committed" ELSE "aborted"

\* The coordinator's last step.
Decide(s, commit) ==
    Handled([s EXCEPT !.phase = Outcome(commit), !.votes = {}],
            <<CancelTimer("vote"), Multicast(DecisionMessage(commit))>>)

-----------------------------------------------------------------------------
(* The coordinator *)

CommitRequested(s, e) ==
    IF s.member # Coordinator \/ s.phase # "working" THEN LocalError(s)
    ELSE Handled([s EXCEPT !.phase = "preparing"],
                 <<Multicast(PrepareMessage), SetTimer("vote", VoteDelay, VoteDelay)>>)

VoteReceived(s, e) ==
    LET votes == s.votes \cup {e.sender} IN
    IF s.member # Coordinator \/ e.sender \notin Participants THEN RemoteError(s)
    ELSE IF s.phase # "preparing" \/ e.sender \in s.votes THEN Ignored(s)
    ELSE IF ~e.message.yes THEN Decide(s, FALSE)
    ELSE IF votes = Participants \/ ~WaitForAll THEN Decide(s, TRUE)
    ELSE Handled([s EXCEPT !.votes = votes], <<>>)

VoteTimeout(s, e) == IF s.phase = "preparing" THEN Decide(s, FALSE) ELSE Ignored(s)

-----------------------------------------------------------------------------
(* A participant *)

\* It cannot do its part.
AbortRequested(s, e) ==
    IF s.member = Coordinator \/ s.phase = "committed" THEN LocalError(s)
    ELSE IF s.phase = "aborted" THEN Ignored(s)
    ELSE IF s.phase = "prepared" /\ KeepPromise THEN LocalError(s)
    ELSE Handled([s EXCEPT !.phase = "aborted"], <<>>)

PrepareReceived(s, e) ==
    IF s.member = Coordinator \/ e.sender # Coordinator THEN RemoteError(s)
    ELSE IF s.phase = "working"
    THEN Handled([s EXCEPT !.phase = "prepared"], <<Send(Coordinator, VoteMessage(TRUE))>>)
    ELSE IF s.phase = "aborted" THEN Handled(s, <<Send(Coordinator, VoteMessage(FALSE))>>)
    ELSE Ignored(s)

DecisionReceived(s, e) ==
    IF s.member = Coordinator \/ e.sender # Coordinator THEN RemoteError(s)
    ELSE IF e.message.commit /\ s.phase \in {"working", "aborted"} THEN RemoteError(s)
    ELSE IF s.phase \in {"committed", "aborted"} THEN Ignored(s)
    ELSE Handled([s EXCEPT !.phase = Outcome(e.message.commit)], <<>>)

Step(s, e) ==
    CASE e.type = "CommitRequested" -> CommitRequested(s, e)
      [] e.type = "AbortRequested" -> AbortRequested(s, e)
      [] e.type = "VoteTimeout" -> VoteTimeout(s, e)
      [] e.type = "PrepareReceived" -> PrepareReceived(s, e)
      [] e.type = "VoteReceived" -> VoteReceived(s, e)
      [] e.type = "DecisionReceived" -> DecisionReceived(s, e)
=============================================================================
