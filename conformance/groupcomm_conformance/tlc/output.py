"""TLC's ``-tool`` output, read message by message: each is framed and numbered."""

import re
from collections.abc import Callable
from typing import Final

from attrs import Factory, define, evolve, frozen

from groupcomm_conformance.tla.trace import State
from groupcomm_conformance.tla.values import ValueSyntaxError, parse_state

from .errors import UnexpectedOutput


@frozen
class Progress:
    """How far a run is after ``elapsed`` seconds; ``rate`` is in generated states a minute.

    Counts are those of TLC's latest report, 0 before its first.
    """

    generated: int
    distinct: int
    queue: int
    depth: int
    rate: int
    elapsed: float


_START: Final = re.compile(r"(.*?)@!@!@STARTMSG (-?\d+):(\d+) @!@!@$")
_END: Final = re.compile(r"@!@!@ENDMSG (-?\d+) @!@!@$")
_PROGRESS: Final = re.compile(
    r"Progress\((-?[\d,]+)\) at [\d :-]+: ([\d,]+) states generated(?: \(([\d,]+) s/min\))?, "
    r"(-?[\d,]+) distinct states found(?: \([\d,]+ ds/min\))?, (-?[\d,]+) states left on queue"
)
_STATS: Final = re.compile(r"([\d,]+) states generated, ([\d,]+) distinct states found, ([\d,]+) states left on queue")
_INITIAL: Final = re.compile(r"([\d,]+) (?:distinct states? generated|states? generated|initial states)")
_STATE: Final = re.compile(r"(\d+): *(?:<([^>\n]*?)(?: line \d+,[^\n]*)?>)?\n(.*)", re.DOTALL)
_BACK: Final = re.compile(r"(\d+): Back to state|Back to state (\d+)")

# Numbers of messages are those of tlc2.output.EC.
TEMPORAL: Final = 2116
ASSUMPTION: Final = 2104
VIOLATIONS: Final = {  # how to find the name of what was violated, and the exit code that goes with it
    ASSUMPTION: (re.compile(r"(Assumption .*) is false"), 10),
    2107: (re.compile(r"Invariant (\S+) is violated"), 12),
    2108: (re.compile(r"Property (\S+) is violated"), 13),
    2110: (re.compile(r"Invariant (\S+) is violated"), 12),
    2112: (re.compile(r"Action property (.+?) is violated"), 13),
    2114: (re.compile(r"(Deadlock) reached"), 11),
    TEMPORAL: (re.compile(r"(Temporal properties) were violated"), 13),
}
_INITIAL_STATE: Final = "Initial predicate"
_ERRORS: Final = (1, 2)  # severities: an error, a bug of TLC; 0 and 4 are news, 3 is a warning


def _count(text: str | None) -> int:
    return max(0, int(text.replace(",", ""))) if text else 0


@define
class Message:
    """An outermost message: its code, its severity, its text, and the codes of the messages inside it."""

    code: int
    severity: int
    lines: list[str] = Factory(list)
    inner: list[int] = Factory(list)

    @property
    def text(self) -> str:
        return "\n".join(line for line in self.lines if not line.startswith("\tat "))


@define
class Output:
    """TLC's output so far, taken in line by line."""

    on_line: Callable[[str], None]
    version: str = ""
    verdict: Message | None = None
    failures: list[Message] = Factory(list)
    nesting: str = ""
    started: bool = False
    succeeded: bool = False
    finished: bool = False
    parser: list[str] = Factory(list)
    counts: Progress = Progress(0, 0, 0, 0, 0, 0.0)
    initial: int = 0
    states: list[str] = Factory(list)
    loop: int | None = None
    stuttering: bool = False
    _open: list[int] = Factory(list)
    _message: Message | None = None

    def take(self, line: str) -> None:
        if "@!@!@" not in line:  # by far the most lines
            if self._message is not None:
                self._message.lines.append(line)
            elif self.started:
                self.on_line(line)
            else:
                self.parser.append(line)
        elif start := _START.match(line):
            if self._message is None:
                self._message = Message(int(start[2]), int(start[3]))
            else:
                self._message.inner.append(int(start[2]))
                if start[1].strip(" :"):
                    self._message.lines.append(start[1])
            self._open.append(int(start[2]))
        elif self._message is not None and _END.match(line):
            self._open.pop()
            if not self._open:
                message, self._message = self._message, None
                self._handle(message)

    def _handle(self, message: Message) -> None:
        text = message.text
        match message.code:
            case 2262:
                found = re.search(r"Version (\S+)", text)
                self.version = found[1] if found else text
            case 2185:
                self.started = True
            case 2186:
                self.finished = True
            case 2193:
                self.succeeded = True
            case 2190 | 2191 | 2207 | 2208 | 2269:
                if found := _INITIAL.search(text):
                    self.initial = _count(found[1])
            case 2200 | 2209:
                if found := _PROGRESS.search(text):
                    depth, generated, rate, distinct, queue = map(_count, found.groups())
                    self.counts = Progress(generated, distinct, queue, depth, rate, 0.0)
            case 2199:
                if found := _STATS.search(text):
                    generated, distinct, queue = map(_count, found.groups())
                    self.counts = evolve(self.counts, generated=generated, distinct=distinct, queue=queue)
            case 2194:
                if found := re.search(r"search is (\d+)", text):
                    self.counts = evolve(self.counts, depth=int(found[1]))
            case 2216 | 2217:
                self.states.append(text)
            case 2218:
                self.stuttering = True
            case 2122:
                if found := _BACK.match(text):
                    self.loop = int(found[1] or found[2])
            case code if code in VIOLATIONS:
                self.verdict = self.verdict or message
            case 2103:
                self.nesting = text
            case 2121 | 2264:  # the announcement of a trace
                pass
            case _ if message.severity in _ERRORS:
                self.failures.append(message)

    def trace(self) -> tuple[State, ...]:
        texts = self.states
        if self.verdict is not None and self.verdict.code in (2107, 2108):
            texts = [f"1: <{_INITIAL_STATE}>\n{self.verdict.text.partition(chr(10))[2]}"]
        return tuple(map(_state, texts))


def _state(text: str) -> State:
    found = _STATE.match(text)
    if found is None:
        raise UnexpectedOutput(f"not a state of a trace: {text!r:.200}", text=text)
    try:
        return State(int(found[1]), found[2] or "", parse_state(found[3]))
    except ValueSyntaxError as error:
        raise UnexpectedOutput(f"cannot read a state of the trace: {error}", text=text) from error
