"""The adapter of the Python cores: an example of an adapter, and what the driver is tested with.

    python conformance/adapters/core.py

It can do all that an adapter can do. A port in Python has its own two functions in the places of `core.start`
and `core.step`; a port in another language has the same loop (docs/porting.md).
"""

import json
import sys
from importlib.metadata import version
from typing import Any

from groupcomm.errors import LocalProtocolError, RemoteProtocolError
from groupcomm.shapes import Record, shape_of
from groupcomm_conformance.models.manifest import cores, find_root, load
from groupcomm_conformance.ports.judging import Judge
from groupcomm_conformance.protocols import derive


class Port:
    """The core of a protocol, with values as JSON."""

    def __init__(self, name: str, config: dict[str, Any]) -> None:
        self.protocol = derive.load(load(find_root(), name))
        self.judge = Judge(self.protocol)
        shape = shape_of(self.protocol.configuration)
        assert isinstance(shape, Record)
        self.config = self.protocol.configuration(
            **{field: config[constant] for field, constant in self.protocol.parameters.items()}
        )
        self.kept: dict[int, Any] = {}
        self.members: dict[str, Any] = {}

    def state(self, told: Any) -> Any:
        """Read a state."""
        judge = self.judge
        return self.protocol.codec.decode(judge.plain.read(told, judge.state_shape), judge.state_shape)

    def told(self, state: Any) -> Any:
        """Write a state."""
        return self.judge.plain.write(self.protocol.codec.to_spec(state), self.judge.state_shape)

    def step(self, before: Any, told: Any) -> tuple[str, Any, Any]:
        """Let an event happen: outcome, next state, effects."""
        judge, codec = self.judge, self.protocol.codec
        event = codec.decode(judge.plain.read(told, judge.event_shape), judge.event_shape)
        try:
            after, effects = self.protocol.core.step(self.config, before, event)
        except LocalProtocolError:
            return "local_error", before, []
        except RemoteProtocolError:
            return "remote_error", before, []
        outcome = "ignored" if after is before and not effects else "handled"
        return outcome, after, judge.plain.write(codec.to_spec(effects), judge.effects_shape)

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Answer a request."""
        match request["do"]:
            case "step":
                before = self.kept[request["at"]] if "at" in request else self.state(request["state"])
                outcome, after, effects = self.step(before, request["event"])
                if "keep" in request:
                    self.kept[request["keep"]] = after
                if outcome != "handled":
                    return {"outcome": outcome}
                return {"outcome": outcome, "state": self.told(after), "effects": effects}
            case "keep":
                self.kept[request["keep"]] = self.state(request["state"])
                return {"ok": True}
            case "read" if "at" in request:
                return {"state": self.told(self.kept[request["at"]])}
            case "read":
                return {"state": self.told(self.members[request["member"]])}
            case "start":
                self.members[request["member"]] = self.protocol.core.start(request["member"])
                return {"ok": True}
            case "event":
                member = request["member"]
                outcome, self.members[member], effects = self.step(self.members[member], request["event"])
                return {"outcome": outcome, "effects": effects} if outcome == "handled" else {"outcome": outcome}
            case unknown:
                return {"error": f"no such request: {unknown}"}


def main() -> None:
    """Answer until `stop`, or until there are no more requests."""
    port: Port | None = None
    for line in sys.stdin:
        request = json.loads(line)
        try:
            match request["do"]:
                case "hello":
                    answer = {
                        "adapter": 1,
                        "name": "groupcomm cores",
                        "version": version("groupcomm"),
                        "language": "python",
                        "protocols": [*cores(find_root())],
                        "can": ["step", "keep", "start", "read"],
                    }
                case "configure":
                    port = Port(request["protocol"], request["config"])
                    answer = {"ok": True}
                case "stop":
                    answer = {"ok": True}
                case _:
                    answer = port.answer(request) if port else {"error": "not configured"}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps({"seq": request["seq"], **answer}, separators=(",", ":")), flush=True)
        if request["do"] == "stop":
            return


if __name__ == "__main__":
    main()
