------------------------------ MODULE MCFilePing ------------------------------
(* Bounds of the FILE_PING models are constants alone. *)
EXTENDS FilePingDefects
=============================================================================
