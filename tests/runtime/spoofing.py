"""Two members and a stranger between them, each in a network of its own; the stranger's datagrams have their sources.

It prints a line of JSON: what each member says, and what a third host got that sent nothing. Needs
root, and the command ip.
"""

import asyncio
import json
import random
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import groupcomm_runtime
from groupcomm_field.torture.namespaces import Namespaces, enter, own_interface
from groupcomm_runtime import Group, Message, NewView, Settings

PORT = 7000
KEY = "the key of two members, not the stranger's"
VICTIM = "10.77.0.99"
SETTINGS = Settings(heartbeat=0.05, patience=1.0)


def _moved(name: str) -> None:
    """Go into a network of its own, and wait for the interface that the stranger's puts there."""
    enter()
    print("entered", flush=True)
    while "eth0:" not in Path("/proc/self/net/dev").read_text(encoding="utf-8"):
        time.sleep(0.02)
    own_interface(Namespaces.host(name))


async def _member(name: str) -> None:
    """Join the group, multicast, and say when asked what was delivered; leave at the end of stdin."""
    peers = [f"{Namespaces.host(each)}:{PORT}" for each in "ab"]
    listen = f"{Namespaces.host(name)}:{PORT}"
    said: dict[str, Any] = {"views": [], "delivered": {}}
    async with groupcomm_runtime.join(
        "demo", name=name, key=KEY, peers=peers, listen=listen, settings=SETTINGS
    ) as group:
        hearing = asyncio.create_task(_hear(group, said))
        asked = asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
        while not asked.done():
            await group.send(name.encode())
            await asyncio.sleep(0.02)
        print(json.dumps(said | {"counts": {**group.counts}}), flush=True)
        hearing.cancel()
        await asyncio.to_thread(sys.stdin.read)


async def _hear(group: Group, said: dict[str, Any]) -> None:
    async for event in group:
        if isinstance(event, NewView):
            said["views"].append([each[0] for each in event.members])
        elif isinstance(event, Message):
            said["delivered"][event.sender[0]] = said["delivered"].get(event.sender[0], 0) + 1


def _forged(data: bytes, source: str, to: str) -> bytes:
    """A datagram of UDP as it is on the wire, with any source; without the sum, which UDP need not have."""
    addresses = socket.inet_aton(source) + socket.inet_aton(to)
    head = struct.pack("!BBHHHBBH", 0x45, 0, 28 + len(data), 0, 0, 64, socket.IPPROTO_UDP, 0) + addresses
    return head + struct.pack("!HHHH", PORT, PORT, 8 + len(data), 0) + data


def _captured(sniffer: socket.socket, seconds: float) -> list[tuple[str, str, bytes]]:
    """What passes between the members: source, destination, data."""
    found, end = [], time.monotonic() + seconds
    sniffer.settimeout(0.2)
    while time.monotonic() < end:
        try:
            frame = sniffer.recv(65_535)
        except TimeoutError:
            continue
        if frame[12:14] == b"\x08\x00" and frame[23] == socket.IPPROTO_UDP:
            found.append((socket.inet_ntoa(frame[26:30]), socket.inet_ntoa(frame[30:34]), frame[42:]))
    return found


async def _main(network: Namespaces) -> None:
    victim = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    victim.bind((VICTIM, PORT))
    victim.settimeout(0)
    members = []
    for name in "ab":
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, __file__, name), stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert process.stdout is not None
        assert await process.stdout.readline() == b"entered\n"
        await network.connect(name, process.pid)
        members.append(process)
    sniffer = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    sniffer.bind(("to-a-1", 0))
    traffic = await asyncio.to_thread(_captured, sniffer, 4.0)
    raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
    hosts = {Namespaces.host("a"), Namespaces.host("b")}

    def throw(data: bytes, source: str, to: str) -> None:
        raw.sendto(_forged(data[:1_400], source, to), (to, 0))

    chance, sent = random.Random(1), 0  # noqa: S311
    short = [each for each in traffic if len(each[2]) < 1_400]
    for _ in range(5_000):  # garbage with the head of a datagram, from the other member's place
        source, to, data = chance.choice(short)
        throw(data[:3] + chance.randbytes(60), source, to)
    await asyncio.sleep(0.5)
    for source, to, data in short * 2:  # all again, as it was
        throw(data, source, to)
    await asyncio.sleep(0.5)
    for source, to, data in short:  # back to its sender, from its receiver's place
        throw(data, to, source)
    await asyncio.sleep(0.5)
    for _, to, data in short:  # in the name of a host that is none of the group's
        if to in hosts:
            throw(data, VICTIM, to)
            sent += len(data)
    await asyncio.sleep(2.0)
    got = 0
    while True:
        try:
            got += len(victim.recv(65_535))
        except BlockingIOError:
            break
    said = []
    for process in members:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"say\n")
        said.append(json.loads(await process.stdout.readline()))
    for process in members:
        await process.communicate(b"")
    print(json.dumps({"captured": len(short), "sent": sent, "victim": got, "members": said}))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        _moved(sys.argv[1])
        asyncio.run(_member(sys.argv[1]))
    else:
        between = Namespaces()
        subprocess.run(["ip", "address", "add", f"{VICTIM}/24", "dev", "hub"], check=True)
        asyncio.run(_main(between))
