"""Losses of much: what is lost is sent again, and not again and again."""

import asyncio
import json
import logging
import socket
from pathlib import Path
from typing import Any

import pytest

import groupcomm_runtime
from groupcomm_field.torture.network import LossySocket, Rules
from groupcomm_runtime import Settings
from tests.runtime.conversing import KEY, messages, run


class Buffered(socket.socket):
    """A UDP socket with the receive buffer that a usual system gives. It counts the bytes that it sends."""

    BUFFER = 212_992

    def __init__(self) -> None:
        super().__init__(socket.AF_INET, socket.SOCK_DGRAM)
        self.bytes = 0
        super().setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, self.BUFFER // 2)  # the kernel doubles it

    def setsockopt(self, *option: Any) -> None:  # noqa: ANN401 - as the system has it
        if option[1] != socket.SO_RCVBUF:
            super().setsockopt(*option)

    def sendto(self, data: bytes, place: Any) -> int:  # type: ignore[override]  # noqa: ANN401 - as the system has it
        self.bytes += len(data)
        return super().sendto(data, place)


@pytest.mark.parametrize(("size", "count"), [(8_192, 600), (65_536, 80)])
def test_what_a_small_buffer_loses_is_not_sent_again_and_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, size: int, count: int
) -> None:
    """Counted in bytes, as seconds are of the machine: 25 and 37 times the payload when all was asked for at once."""
    caplog.set_level(logging.WARNING, logger="groupcomm_runtime")
    sockets = [Buffered(), Buffered(), Buffered()]
    settings = Settings(patience=3.0)

    async def test() -> None:
        join = groupcomm_runtime.join
        async with (
            join("demo", name="a", key=KEY, folder=tmp_path, settings=settings, transport=lambda: sockets[0]) as a,
            join("demo", name="b", key=KEY, folder=tmp_path, settings=settings, transport=lambda: sockets[1]) as b,
            join("demo", name="c", key=KEY, folder=tmp_path, settings=settings, transport=lambda: sockets[2]) as c,
        ):
            before = sum(each.bytes for each in sockets)
            sends = [asyncio.create_task(a.send(bytes(size))) for _ in range(count)]
            for had in await asyncio.gather(*(messages(each, count) for each in (a, b, c))):
                assert had == [bytes(size)] * count
            await asyncio.gather(*sends)
            times = (sum(each.bytes for each in sockets) - before) / (size * count)
            assert 2 <= times <= 15, "two members get each message, and some of it twice"

    run(test())
    lines = [json.loads(each.message) for each in caplog.records]
    warned = [(each["bytes"], each["asked"]) for each in lines if each["operation"] == "small buffer"]
    assert warned == [(Buffered.BUFFER, 4 << 20)] * 3


@pytest.mark.parametrize("loss", [0.02, 0.15])
def test_messages_of_64_kib_arrive_in_small_datagrams_over_loss(tmp_path: Path, loss: float) -> None:
    """Each is in 74 datagrams. With 15 % of them lost no message arrived at all before fragments named their item."""
    sent = [bytes([number]) * 65_536 for number in range(10)]
    settings = Settings(patience=3.0, datagram=1_400)

    async def test() -> None:
        join, sock = groupcomm_runtime.join, LossySocket()
        async with (
            join("demo", name="a", key=KEY, folder=tmp_path, settings=settings, transport=lambda: sock) as a,
            join("demo", name="b", key=KEY, folder=tmp_path, settings=settings) as b,
        ):
            sock.rules = Rules(loss=loss)
            async with asyncio.timeout(60):
                sends = [asyncio.create_task(a.send(each)) for each in sent]
                assert await messages(b, 10) == sent
                await asyncio.gather(*sends)
            sock.rules = Rules()

    run(test())
