"""Failures besides bad input; nothing here needs Spark."""

# ruff: noqa: N818 - an error is named after what happened

__all__ = [
    "BadMaster",
    "DiskFull",
    "NoMaster",
    "NotContained",
    "NotHolding",
    "PipelineError",
    "SparkFailed",
    "SparkMissing",
    "WorkerDied",
]


class PipelineError(Exception):
    """The tables of a model could not be made; those of an earlier run are as they were."""


class SparkMissing(PipelineError):
    """The packages of the extra `pipeline` are not installed."""

    def __init__(self, missing: str) -> None:
        super().__init__(
            f"the package {missing} is not installed: make pipeline, or pip install 'groupcomm-conformance[pipeline]'"
        )


class NoMaster(PipelineError):
    """No master of Spark answers where --master says."""

    def __init__(self, master: str, why: str) -> None:
        super().__init__(
            f"no master of Spark answers at {master} ({why}): start one there, or correct --master; "
            "local[*] is this machine alone"
        )


class SparkFailed(PipelineError):
    """Spark gave up in a stage."""

    def __init__(self, stage: str, reason: str) -> None:
        self.stage = stage
        super().__init__(f"Spark failed in the stage {stage}: {reason}; tables are as they were")


class WorkerDied(SparkFailed):
    """A worker ended in the middle of its task: it was killed, or out of memory."""

    def __init__(self, stage: str) -> None:
        super().__init__(
            stage, "a worker died; if it was for want of memory, end other programs. Run again: TLC's dump is kept"
        )


class DiskFull(SparkFailed):
    """There is no room for tables, or for what Spark puts aside."""

    def __init__(self, stage: str) -> None:
        super().__init__(
            stage, "no space left on the disk of --out or of temporary files; free some, or set TMPDIR or --out"
        )


class NotContained(PipelineError):
    """Transitions that are no row of the table of local steps."""

    def __init__(self, model: str, count: int, example: str, *, known: bool) -> None:
        why = "no row has this state, outcome and effects" if known else "its event is not in Alphabet"
        super().__init__(
            f"{model}: {count:,} kinds of transitions are no local step that groupcomm conform tries, "
            f"such as {example}: {why}"
        )


class NotHolding(PipelineError):
    """There is no table of local steps, as the model does not hold."""

    def __init__(self, model: str, outcome: str) -> None:
        super().__init__(f"{model} does not hold ({outcome}): see groupcomm check")


class BadMaster(ValueError):
    """The value of --master is no address of a Spark."""

    def __init__(self, master: str) -> None:
        super().__init__(f"no Spark is at {master!r}: --master takes local[*], local[2] or spark://host:7077")
