"""groupcomm: the group-communication protocols of the JGroups design notes, as pure state machines.

Each protocol is one module with `start(...)` and `step(config, state, event) -> (state, effects)`; nothing
in it opens a socket, reads a clock, starts a thread or draws a random number. Folder `spec/<protocol>/` has
the specification that a module implements, under the same names.
"""
