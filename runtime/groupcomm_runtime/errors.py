"""Exceptions of a group."""


class GroupError(Exception):
    """An error of a group; its text says what happened, where, and what to do."""


class BadInputError(GroupError, ValueError):
    """An argument of `join` or `send` is none, or names what cannot be used."""


class NameTakenError(GroupError):
    """Another process has this name in the group."""


class MessageTooLargeError(BadInputError):
    """A message is larger than `LARGEST_MESSAGE`."""


class NotDelivered(GroupError):  # noqa: N818 - as it is read where it is raised
    """The incarnation that sent the message ended before its delivery here.

    Other members may have delivered it, or not. Or it is to one member, which is not in the view.
    """


class NotSafe(GroupError):  # noqa: N818 - as above
    """The message was delivered here, and nobody knows whether it is safe.

    The members that go on may have delivered it, or never do.
    """


class NoRoomError(GroupError):
    """No message is posted now: as many are on their way as may be, or the view changes."""


class EndedError(GroupError):
    """The group is not joined any more."""


class EventsWaitError(GroupError):
    """The task that takes the events would wait for itself.

    A message that it has sent may be delivered yet.
    """
