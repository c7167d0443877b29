-------------------------------- MODULE Folder --------------------------------
(***************************************************************************)
(* A folder that the members of a cluster share (FPG-01): one record a     *)
(* member, its address. It is the ground of discovery: no protocol refines *)
(* it.                                                                     *)
(*                                                                         *)
(* A member has its operations done in the order in which it asks for      *)
(* them. A record that is written for the first time can be read before    *)
(* it is whole. The folder is reached from each side of a network that is  *)
(* cut.                                                                    *)
(*                                                                         *)
(* A group extends this module.                                            *)
(***************************************************************************)
LOCAL INSTANCE Sequences

CONSTANTS
    AtomicWrites,   \* a record is whole as soon as it is there
    TornRewrites    \* a record that is written again is not whole for a moment (a fault)

VARIABLES
    records,    \* [Member -> "none", "broken" or "whole"]
    operations  \* [Member -> what it has asked for, in order]

ASSUME {AtomicWrites, TornRewrites} \subseteq BOOLEAN

\* Assumptions of discovery about the folder.

\* WrittenIsRead: a record that was written is read whole by each member that reads after that, until it is removed. A member that
\* writes its record again leaves the former one whole until then.

\* OneWriter: the record of a member is written by that member alone. Any member may remove it.

\* OperationsEnd: each operation ends, and each member's operations end in order.

Conjuncts == {"WrittenIsRead", "OneWriter", "OperationsEnd"}

Write == [type |-> "WriteRecord"]
Read == [type |-> "ReadRecords"]
Remove(of) == [type |-> "RemoveRecords", of |-> of]

\* The operations on the folder among the effects of a member's step.
Asked(effects) ==
    LET IsDown(effect) == effect.type = "PassDown"
        downs == SelectSeq(effects, IsDown)
    IN [i \in DOMAIN downs |-> downs[i].event]

IsNext(m, type) == operations[m] # <<>> /\ Head(operations[m]).type = type

WholeRecords == {x \in DOMAIN records : records[x] = "whole"}
BrokenRecords == {x \in DOMAIN records : records[x] = "broken"}

\* A write has two steps where a record can be seen half written.
IsFirstHalf(m) == ~AtomicWrites /\ (records[m] = "none" \/ (TornRewrites /\ records[m] = "whole"))

AfterWrite(m) == [records EXCEPT ![m] = IF IsFirstHalf(m) THEN "broken" ELSE "whole"]

AfterRemoval(of) == [x \in DOMAIN records |-> IF x \in of THEN "none" ELSE records[x]]
=============================================================================
