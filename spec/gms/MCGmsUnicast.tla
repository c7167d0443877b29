---------------------------- MODULE MCGmsUnicast -----------------------------
(* Bounds of the models of GMS over UNICAST. *)
EXTENDS GmsUnicast

JustA == <<"A">>
AB == <<"A", "B">>

\* Defects that violate a single conjunct of a claim. In the place of AfterStep (where no next incarnation inherits anything): a
\* request to join is never in the network.
LosesRequests(between, sender, consumed, effects, live) ==
    {p \in (between \ consumed)
           \cup {Packet(sender, effects[i].to, effects[i].message) : i \in {i \in DOMAIN effects : effects[i].type = "Send"}} :
        p.to \in live /\ p.message.type # "JOIN_REQ"}

\* In the place of SentBy: acknowledgements are not counted.
SentWithoutAcks(m) ==
    {Packet(m, act'.effects[i].to, act'.effects[i].message) :
        i \in {i \in DOMAIN act'.effects :
                act'.effects[i].type = "Send" /\ act'.effects[i].message.type # "VIEW_ACK"}}

\* In the place of MemberStep: no request to join is taken. And in the place of MustResume: the group is never resumed.
IgnoresRequests(s, e) == IF e.type = "JoinReqReceived" THEN Ignored(s) ELSE Step(s, e)
NeverResumes(s) == FALSE
=============================================================================
