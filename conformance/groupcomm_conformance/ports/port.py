"""A port: an implementation behind an adapter, asked job by job, and started again where it ends.

A job is a few requests that belong together: a row, a walk. Requests are written ahead of the answers. Where
the process ends or hangs, answers may be lost in its buffers: it is started again at the first job without
an answer, and gets one request at a time until it has passed all that it was sent before. So the job at which
it happens is named. After three such ends all further jobs are skipped.
"""

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, Self

from groupcomm.shapes import Record, shape_of
from groupcomm_conformance.protocols.derive import Protocol
from groupcomm_conformance.tla.values import Value

from .adapter import PATIENCE, Adapter, AdapterError, Answer, Gone, Hello
from .judging import Judge, WrongAnswerError
from .plain import compact

ENDS: Final = 3
"""So often a port may end over a model's jobs before all others are skipped."""


class Port:
    """The implementation of `protocol` behind the adapter `command`; it ends with the `with`.

    AdapterError where there is no adapter, or it does not have this protocol.
    """

    def __init__(
        self, command: Sequence[str], protocol: Protocol, *, patience: float = PATIENCE, release: str = ""
    ) -> None:
        self.command = tuple(command)
        self.protocol = protocol
        self.judge = Judge(protocol)
        self._patience = patience
        self._release = release
        self._config = ""
        self._adapter: Adapter | None = None
        self.hello: Hello = self._running().hello
        if protocol.name not in self.hello.protocols:
            self.end()
            raise AdapterError(
                f"{shlex.join(command)}: has no {protocol.name}, but {', '.join(self.hello.protocols)}: "
                "nothing can be judged"
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._adapter is not None:
            self._adapter.stop()
        self.end()

    def end(self) -> None:
        """End the process, whatever it does."""
        if self._adapter is not None:
            self._adapter.end()
            self._adapter = None

    def can(self, *abilities: str) -> bool:
        """Say whether the adapter can do all of these."""
        return self.hello.can.issuperset(abilities)

    def configure(self, constants: Mapping[str, Value]) -> None:
        """Have members of this configuration from now on. MappingError for constants that are others."""
        self.protocol.config(constants)
        shape = shape_of(self.protocol.configuration)
        assert isinstance(shape, Record)  # noqa: S101 - so it is of every protocol
        config = {
            constant: self.judge.plain.write(constants[constant], shape.fields[name])
            for name, constant in self.protocol.parameters.items()
        }
        told = f'"do":"configure","protocol":{compact(self.protocol.name)},"config":{compact(config)}}}'
        if told != self._config:
            self._config = told
            if self._adapter is not None:
                self._send_config(self._adapter)

    def _send_config(self, adapter: Adapter) -> None:
        try:
            (told,) = adapter.exchange([self._config])
            self.judge.done(told)
        except (Gone, WrongAnswerError) as error:
            self.end()
            raise AdapterError(f"{shlex.join(self.command)}: is not configured: {error}") from None

    def _running(self) -> Adapter:
        if self._adapter is None:
            self._adapter = Adapter(self.command, patience=self._patience, release=self._release)
            if self._config:
                self._send_config(self._adapter)
        return self._adapter

    def run(
        self,
        jobs: Sequence[int],
        requests: Callable[[int], Sequence[str]],
        judge: Callable[[int, Sequence[Answer]], None],
        lost: Callable[[int, int, Gone], None],
    ) -> int:
        """Ask the requests of each job; give the number of jobs that were not run.

        `judge` gets each job with its answers; `lost` the job, the place of the request without an answer and
        what happened.
        """
        done, ends, sent = 0, 0, 0
        first: tuple[int, int, Gone] | None = None
        while done < len(jobs):
            if ends == ENDS:
                return len(jobs) - done
            one_by_one = done < sent
            run = _Run(jobs, done, requests)
            try:
                source = run.asked(sent if one_by_one else len(jobs))
                adapter = self._running()
                answers = _in_lock_step(adapter, source) if one_by_one else adapter.exchange(source)
                for told in answers:
                    if (whole := run.take(told)) is not None:
                        judge(jobs[run.done - 1], whole)
            except Gone as gone:
                self.end()
                done = run.done
                if one_by_one or gone.verdict == "adapter_error":
                    lost(jobs[done], run.place, gone)
                    done, ends, sent = done + 1, ends + 1, 0
                else:
                    sent, first = run.sent, (done, run.place, gone)
                continue
            if one_by_one and first is not None:
                # It came through this time: an end that comes and goes is one all the same.
                at, place, before = first
                text = f"{before}; not so when it was asked for one thing after the other"
                lost(jobs[at], place, Gone(before.verdict, text))
                ends += 1
            done = run.done
        return 0


def _in_lock_step(adapter: Adapter, requests: Iterator[str]) -> Iterator[Answer]:
    for request in requests:
        yield from adapter.exchange([request])


class _Run:
    """Jobs on their way: what was sent, what was answered."""

    def __init__(self, jobs: Sequence[int], done: int, requests: Callable[[int], Sequence[str]]) -> None:
        self.done = done
        self.sent = done
        self._jobs = jobs
        self._requests = requests
        self._lengths: dict[int, int] = {}
        self._answers: list[Answer] = []

    @property
    def place(self) -> int:
        """The request of the job that is not done that is to be answered next."""
        return len(self._answers)

    def asked(self, until: int) -> Iterator[str]:
        """Give the requests of all jobs before `until`."""
        while self.sent < until:
            some = self._requests(self._jobs[self.sent])
            self._lengths[self.sent] = len(some)
            self.sent += 1
            yield from some

    def take(self, told: Answer) -> Sequence[Answer] | None:
        """Take an answer; give those of the job where it was the last of them."""
        self._answers.append(told)
        if len(self._answers) < self._lengths[self.done]:
            return None
        whole, self._answers = self._answers, []
        del self._lengths[self.done]
        self.done += 1
        return whole
