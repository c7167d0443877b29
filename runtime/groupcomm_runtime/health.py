"""What a monitor asks a member: its view, and its metrics in the text format of Prometheus, over HTTP.

    async with join(...) as group, serve(group, "127.0.0.1:9100"):
        ...

`GET /metrics` has numbers, `GET /` has `Group.metrics`, a line of JSON that `groupcomm probe` reads. Both say
503 while there is no view in which messages are delivered. It has no password: give it a place of this host.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Final

from .errors import BadInputError
from .group import Group
from .operations import Operations
from .places import Place, address_of, place_of

_PATIENCE: Final = 5.0  # seconds for a request
_CONNECTIONS: Final = 16  # at once; what comes besides is closed


def prometheus(group: Group) -> str:
    """The metrics in the text format of Prometheus. All counts are of this incarnation."""
    of = f'group="{_quoted(group.name)}",member="{_quoted(group.address)}"'
    lines = [
        "# TYPE groupcomm_members gauge",
        f"groupcomm_members{{{of}}} {len(group.members)}",
        "# TYPE groupcomm_view gauge",
        f"groupcomm_view{{{of}}} {0 if group.view is None else group.view.counter}",
        "# TYPE groupcomm_primary gauge",
        f"groupcomm_primary{{{of}}} {int(group.primary)}",
        "# TYPE groupcomm_leader gauge",
        f"groupcomm_leader{{{of}}} {int(group.leader == group.address)}",
        "# TYPE groupcomm_waiting gauge",
        *(f'groupcomm_waiting{{{of},table="{_quoted(name)}"}} {size}' for name, size in sorted(group.tables.items())),
        "# TYPE groupcomm_total counter",
        *(f'groupcomm_total{{{of},what="{_quoted(what)}"}} {count}' for what, count in sorted(group.counts.items())),
    ]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


@asynccontextmanager
async def serve(group: Group, place: str = "127.0.0.1:0") -> AsyncIterator[Place]:
    """Answer monitors at a place, `host:port`; the block gets it, with the port that the system gave for 0.

    Raises BadInputError for what is no place, and for one that cannot be listened at.
    """
    host, port = await address_of("place=", place_of("place=", place), Operations(group.name, group.address), _PATIENCE)
    places = asyncio.Semaphore(_CONNECTIONS)

    async def begins(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            if not places.locked():
                async with places:
                    with suppress(TimeoutError, OSError, ValueError):  # of a peer that is no monitor
                        await asyncio.wait_for(_answers(group, reader, writer), _PATIENCE)
        finally:
            writer.close()

    try:
        server = await asyncio.start_server(begins, host, port, limit=8_192)
    except OSError as error:
        raise BadInputError(f"{place} cannot be listened at: {error.strerror}; name another place") from None
    async with server:
        yield server.sockets[0].getsockname()[:2]


async def _answers(group: Group, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    request = await reader.readline()
    while (await reader.readline()).strip():
        pass  # the headers
    status = "200 OK" if group.primary else "503 Service Unavailable"
    match request.split():
        case [b"GET", b"/metrics", _]:
            kind, body = "text/plain; version=0.0.4", prometheus(group)
        case [b"GET", b"/", _]:
            kind, body = "application/json", group.metrics
        case _:
            kind, body = "text/plain", "GET / or /metrics\n"
            status = "404 Not Found"
    data = body.encode()
    head = [f"HTTP/1.1 {status}", f"Content-Type: {kind}", f"Content-Length: {len(data)}", "Connection: close", "", ""]
    writer.write("\r\n".join(head).encode() + data)
    await writer.drain()
