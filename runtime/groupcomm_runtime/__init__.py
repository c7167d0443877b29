"""groupcomm_runtime: a group that runs, over UDP or TCP: the stack of cores, and what is around it.

    key = key_in("demo/key")
    async with groupcomm_runtime.join("demo", name="A", folder="demo", key=key) as group:
        await group.send(b"hello")
        async for event in group:
            ...

The protocols are those of `groupcomm`, unchanged. Here are sockets, clocks, files, a failure detector, and
nothing else.
"""

try:
    import msgspec as _  # noqa: F401 - all modules below need it
except ModuleNotFoundError:
    message = "groupcomm_runtime writes its messages with msgspec: pip install 'groupcomm[runtime]'"
    raise ModuleNotFoundError(message, name="msgspec") from None

from .errors import (
    BadInputError,
    EndedError,
    EventsWaitError,
    GroupError,
    MessageTooLargeError,
    NameTakenError,
    NoRoomError,
    NotDelivered,
    NotSafe,
)
from .frames import LARGEST_MESSAGE
from .group import (
    Blocked,
    Event,
    Group,
    NewLife,
    NoState,
    Primary,
    StateDropped,
    Suspects,
    Unblocked,
    WaitsForPrimary,
    join,
)
from .keys import key_in
from .settings import FAST, PATIENT, Settings
from .transfer import Message, NewView, StateProvider, StreamProvider, Unicast

__all__ = [
    "FAST",
    "LARGEST_MESSAGE",
    "PATIENT",
    "BadInputError",
    "Blocked",
    "EndedError",
    "Event",
    "EventsWaitError",
    "Group",
    "GroupError",
    "Message",
    "MessageTooLargeError",
    "NameTakenError",
    "NewLife",
    "NewView",
    "NoRoomError",
    "NoState",
    "NotDelivered",
    "NotSafe",
    "Primary",
    "Settings",
    "StateDropped",
    "StateProvider",
    "StreamProvider",
    "Suspects",
    "Unblocked",
    "Unicast",
    "WaitsForPrimary",
    "join",
    "key_in",
]
