----------------------- MODULE MCStateTransferSequencer ------------------------
(* Bounds of the models of STATE_TRANSFER over SEQUENCER. *)
EXTENDS StateTransferSequencer

Then1(counter, creator, members, preds, joins) ==
    DecidedView(ViewId(counter, creator), members, preds, [m \in {members[i] : i \in DOMAIN members} |-> 0], joins)

\* A is cut off with a message that B has delivered; C joins B; A comes back, and sends the message again.
JoinerBeforeReturn ==
    <<FirstView(1, "B", <<"B", "A">>), Then1(2, "B", <<"B">>, {1}, {}), Then1(3, "B", <<"B", "C">>, {2}, {"C"}),
      Then1(4, "B", <<"B", "C", "A">>, {1, 3}, {})>>

OneOfA == [m \in Member |-> IF m = "A" THEN 1 ELSE 0]
Enough == [m \in Member |-> 9]

WithMajority == {"Uniform"} \cup Channel!NotWhereViewsBranch

\* B delivers A's message in the first view, C has the state before A comes back, and the story ends with the decision.
UntilDecided ==
    /\ Len(views) > 1 => applications["B"].state # <<>>
    /\ Len(views) > 3 => upper["C"].has
    /\ \A m \in Member : ~(installed[m] = Len(History) /\ upper[m].settled /\ upper[m].view.id.counter = 4)
=============================================================================
