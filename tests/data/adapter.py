"""An adapter that answers from a file, and does something wrong on purpose: `adapter.py FILE KIND`.

The file has the answer to each request (without `seq`), and the request at which KIND happens.
"""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

told = json.loads(Path(sys.argv[1]).read_text())
kind = sys.argv[2]
answers: dict[str, Any] = told["answers"]
hello = {
    "adapter": 1,
    "name": "from a file",
    "version": "0",
    "language": "python",
    "protocols": [told["protocol"]],
    "can": ["step"],
}


def say(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def line(seq: int, answer: dict[str, Any]) -> str:
    return json.dumps({"seq": seq, **answer}) + "\n"


held = ""
if kind == "child":
    subprocess.Popen(["sleep", "600"], stdin=subprocess.DEVNULL)
for request in sys.stdin:
    read = json.loads(request)
    seq, do = read.pop("seq"), read["do"]
    if do == "hello":
        say(line(seq, hello | ({"adapter": 2} if kind == "version" else {})))
        continue
    if do in ("configure", "stop"):
        say(line(seq, {"ok": True}))
        continue
    key = json.dumps(read, sort_keys=True)
    right = line(seq, answers[key])
    if key == told["at"]:
        match kind:
            case "crash":
                print("KeyError: 'B'", file=sys.stderr, flush=True)
                os._exit(3)
            case "abort":
                os.abort()
            case "hang":
                time.sleep(600)
            case "spin":
                while True:
                    pass
            case "print":
                say("DEBUG: report\n")
            case "turn":
                held = right
                continue
            case "twice":
                say(right)
            case "cut":
                say(right[: len(right) // 2] + "\n")
                continue
            case "closed":
                os.close(1)
                time.sleep(600)
            case "binary":
                sys.stdout.buffer.write(b"\xff\xfe\x00\n")
                sys.stdout.buffer.flush()
                continue
            case "skip":
                right = line(seq, {"skipped": "not yet", "see": "https://example.org/1"})
            case "error":
                right = line(seq, {"error": "assertion failed"})
            case "fields":
                right = line(seq, {"outcome": "ok"})
            case "float":
                right = right.replace("1", "1.0").replace(f'"seq": {str(seq).replace("1", "1.0")}', f'"seq": {seq}')
            case "not a number":
                right = right.replace('"counter": ', '"counter": NaN, "was": ', 1)
            case "infinite":
                right = right.replace('"counter": ', '"counter": -Infinity, "was": ', 1)
            case "text":
                right = re.sub(r'"counter": (\d+)', r'"counter": "\1"', right, count=1)
            case "large":
                right = re.sub(r'"counter": (\d+)', f'"counter": {2**53}', right, count=1)
            case "endless":
                while True:
                    say("x" * 65536)
            case _:
                pass
    say(right)
    if held and key != told["at"]:
        say(held)
        held = ""
