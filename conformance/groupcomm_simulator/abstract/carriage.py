"""The network beneath an abstract layer, as the layer uses it."""

from attrs import frozen


@frozen
class Carriage:
    """How the datagrams of a layer travel from one process to another.

    `kept`: each arrives in the end, unless one of the two crashes; a cut between them delays it. `ordered`:
    each arrives once, in the order sent. All others arrive in any order, any number of times.

    Two limits hold for any sender. Messages on their way to a process that is not in the sender's view may be
    lost from some datagram on (`closes`). And the next incarnation of an address may be given the last part
    of what was sent to the former incarnation, arrived or not (`inherits`).

    Three ways to break that order, for weaker layers: a datagram `overtakes` others, arrives twice
    (`doubles`), or is lost (`loses`).
    """

    kept: bool = False
    ordered: bool = False
    closes: bool = False
    inherits: bool = False
    overtakes: bool = False
    doubles: bool = False
    loses: bool = False
