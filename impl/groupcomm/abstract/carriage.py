"""What an abstract layer asks of the network beneath it."""

from attrs import frozen


@frozen
class Carriage:
    """How the datagrams of a layer travel from one process to another.

    `kept`: each arrives in the end, unless one of the two crashes; a cut between them delays it. `ordered`:
    each arrives once, in the order sent. All others arrive in any order, any number of times.

    Three ways to break that order, for weaker layers: a datagram `overtakes` others, arrives twice
    (`doubles`), or is lost (`loses`).
    """

    kept: bool = False
    ordered: bool = False
    overtakes: bool = False
    doubles: bool = False
    loses: bool = False
