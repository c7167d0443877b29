"""A network for each member: a network namespace with an interface of its own, and a bridge between them.

All namespaces are without a name: each ends with its process, and the bridge with the campaign's. A partition
moves interfaces to another bridge, so the kernel cuts the network, and no member takes part in that.
"""

import asyncio
import ctypes
import os
import subprocess
from collections.abc import Iterable
from itertools import count
from typing import Final

from groupcomm_conformance.files.errors import PathError

_NEW_NETWORK: Final = 0x40000000  # CLONE_NEWNET
_HERE, _AWAY = "hub", "away"
_NETWORK: Final = "10.77.0."
_HUB: Final = 1


def _ip(*arguments: object) -> None:
    subprocess.run(["ip", *map(str, arguments)], check=True, capture_output=True)


def enter() -> None:
    """Leave the network of this machine for an empty one. Raises OSError where that is not allowed."""
    if ctypes.CDLL(None, use_errno=True).unshare(_NEW_NETWORK):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    _ip("link", "set", "lo", "up")


def own_interface(host: str) -> None:
    """Give the interface of this process its address, and switch it on."""
    _ip("address", "add", f"{host}/24", "dev", "eth0")
    _ip("link", "set", "eth0", "up")


class Namespaces:
    """The network of a campaign, of which this process becomes a part. Raises PathError without the right."""

    def __init__(self) -> None:
        try:
            enter()
            for bridge in (_HERE, _AWAY):
                _ip("link", "add", bridge, "type", "bridge")
                _ip("link", "set", bridge, "up")
            _ip("address", "add", f"{_NETWORK}{_HUB}/24", "dev", _HERE)
        except (OSError, subprocess.CalledProcessError) as error:
            said = error.stderr.decode().strip() if isinstance(error, subprocess.CalledProcessError) else error
            raise PathError("--namespaces", str(said), "it needs root, and the command ip") from None
        self._interfaces: dict[str, str] = {}
        self._numbers = count(1)

    @staticmethod
    def host(name: str) -> str:
        """The address of a member, which all its processes have."""
        return f"{_NETWORK}{_HUB + 1 + ord(name) - ord('a')}"

    async def connect(self, name: str, process: int) -> None:
        """Put an interface into the namespace of a process. Its hardware address is that of the name."""
        interface = self._interfaces[name] = f"to-{name}-{next(self._numbers)}"
        number = self.host(name).rpartition(".")[2]
        peer = ("peer", "name", "eth0", "address", f"02:00:00:00:00:{int(number):02x}", "netns", process)
        await self._asked("link", "add", interface, "type", "veth", *peer)
        await self._asked("link", "set", interface, "master", _HERE)
        await self._asked("link", "set", interface, "up")

    async def cut(self, names: Iterable[str]) -> None:
        """Have these members reach each other and no other member; with none, all reach all."""
        away = set(names)
        for name, interface in self._interfaces.items():
            bridge = _AWAY if name in away else _HERE
            await self._asked("link", "set", interface, "master", bridge, missing=True)

    async def _asked(self, *arguments: object, missing: bool = False) -> None:
        """Run `ip`. `missing`: the interface of a process that is gone has gone with it."""
        process = await asyncio.create_subprocess_exec(
            "ip", *map(str, arguments), stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE
        )
        _, errors = await process.communicate()
        if process.returncode and not missing:
            raise OSError(f"ip {' '.join(map(str, arguments))}: {errors.decode().strip()}")
