"""Abstract layers: what stands below a stack in memory, one module for each guarantee of `spec/common`.

Each stands for a protocol that is not written yet, or is left out, and gives what its module in `spec/common`
says, and no more: whatever that module leaves open, the caller chooses. Nothing here draws a random number.
An abstract layer sees the whole group (a real one sees messages); what passes between it and a member's stack
is events and effects alone.

Members are `Process`es: one life of an address. A new life is another process, whether or not it takes the
address again.
"""
