"""`ReliableMulticast`, judged at each multicast that a layer sends or hears; in the end, all have arrived."""

from groupcomm.digest import Vector
from groupcomm.events import Payload
from groupcomm.view import Address

from .claims import Judge, Verdicts
from .membership import Decided, Process


class ReliableMulticast(Judge):
    """In a view each member hears each other's multicasts of this view: all, once, in the order sent."""

    def __init__(self, verdicts: Verdicts) -> None:
        super().__init__(verdicts)
        self._cast: dict[tuple[Decided, Process], list[Payload]] = {}
        self._heard: dict[Process, dict[Process, int]] = {}
        self._limits: dict[Process, Vector] = {}
        self._bases: dict[Decided, dict[Address, int]] = {}

    def cast(self, process: Process, message: Payload, *, at_once: bool) -> None:
        """A member multicasts in its view; `at_once`: it hears that itself in the same step."""
        if process.view is None:
            self._fail("OfItsView", f"{process} multicasts in no view")
            return
        self._cast.setdefault((process.view, process), []).append(message)
        self._judged("OwnAtOnce")
        if not at_once:
            self._fail("OwnAtOnce", f"{process} does not hear its own {message} at once")

    def delivered(self, process: Process, sender: Address, message: Payload) -> None:
        """A member is given a multicast, said to be a sender's."""
        view = process.view
        by = None if view is None else view.at.get(sender)
        if view is None or by is None:
            self._fail("OfItsView", f"{process} hears {message} of {sender}, in {view}")
            return
        cast, heard = self._cast.get((view, by), []), self._heard.setdefault(process, {})
        number = heard.get(by, 0)
        self._judged("OfItsView", *(["OnceInOrder"] if number else []))
        if number >= len(cast) or cast[number] is not message:
            here = any(each is message for each in cast)
            text = f"{process} hears {message} of {by} as its {number + 1}. in {view}; sent were {cast}"
            self._fail("OnceInOrder" if here else "OfItsView", text)
        limit = self._limits.get(process)
        if limit is not None and sender in limit:
            self._judged("HoldsBack")
            if number >= limit[sender]:
                self._fail("HoldsBack", f"{process} hears more of {by} than {limit}, which it was to hold back")
        heard[by] = number + 1

    def limited(self, process: Process, limit: Vector | None) -> None:
        """A member is to hold back what is beyond a limit; or no more."""
        self._limits.pop(process, None)
        if limit is not None:
            self._limits[process] = limit

    def installed(self, process: Process, bases: dict[Address, int], heard: int) -> None:
        """A member has entered a view, whose members it counts from `bases`; it `heard` so many with it."""
        view = process.view
        self._heard[process] = {}
        self._limits.pop(process, None)
        self._judged("NothingWithTheView")
        if heard:
            self._fail("NothingWithTheView", f"{process} hears multicasts in the step that enters {view}")
        if view is None:
            return
        known = self._bases.setdefault(view, bases)
        if known is not bases:
            self._judged("BasesAgree")
        if known != bases:
            self._fail("BasesAgree", f"{process} counts in {view} from {bases}, others from {known}")

    def quiet(self, processes: list[Process]) -> None:
        """Nothing is on its way: all have heard all."""
        for process in processes:
            for sender in process.view.processes if process.view is not None else ():
                cast = self._cast.get((process.view, sender), []) if process.view is not None else []
                self._judged(*(["MulticastsArrive"] if cast else []))
                if self._heard.get(process, {}).get(sender, 0) < len(cast):
                    self._fail("MulticastsArrive", f"{process} never hears all of {sender} in {process.view}")

    def forget(self, views: set[Decided]) -> None:
        """Nothing is on its way: forget the views that are over, and who is gone."""
        self._cast = {key: cast for key, cast in self._cast.items() if key[0] in views}
        self._bases = {view: bases for view, bases in self._bases.items() if view in views}
        for kept in (self._heard, self._limits):
            for process in [process for process in kept if not process.up]:
                del kept[process]
