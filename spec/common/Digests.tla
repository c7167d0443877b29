------------------------------ MODULE Digests ------------------------------
(***************************************************************************)
(* Digests: what a member knows of each sender's multicasts (LAY-05).      *)
(*                                                                         *)
(* A Digest maps each member of the view to three seqnos (AMB-03):         *)
(*   low        where this window starts: everything up to it was never    *)
(*              this member's to deliver (a joiner's starting point).      *)
(*   delivered  highest seqno delivered, without a gap from low.           *)
(*   received   highest seqno received, delivered or waiting behind a gap. *)
(* A Vector maps each member to one seqno: what a message carries (STABLE  *)
(* and STABILITY carry the delivered ones, DLV-01).                        *)
(*                                                                         *)
(* Only this module knows where numbering starts (AMB-07).                 *)
(***************************************************************************)
EXTENDS Integers

FirstSeqno == 0
Nothing == FirstSeqno - 1          \* as a highest seqno: none yet

Least(a, b) == IF a <= b THEN a ELSE b
Greatest(a, b) == IF a >= b THEN a ELSE b

Delivered(digest) == [m \in DOMAIN digest |-> digest[m].delivered]
Received(digest) == [m \in DOMAIN digest |-> digest[m].received]

\* The smaller of two vectors, entry by entry; an entry that only the first
\* has stays. Commutative, associative and idempotent on equal domains (STB-05).
MinVector(v, w) == [m \in DOMAIN v |-> IF m \in DOMAIN w THEN Least(v[m], w[m]) ELSE v[m]]
MaxVector(v, w) == [m \in DOMAIN v |-> IF m \in DOMAIN w THEN Greatest(v[m], w[m]) ELSE v[m]]
=============================================================================
