"""The failures of Spark, apart from bad input; nothing here needs the package."""

# ruff: noqa: N818 - an error is named after what happened


class SparkError(Exception):
    """A campaign could not be done; its table has what was done."""


class SparkMissing(SparkError):
    """The packages of the extra `pipeline` are not installed."""

    def __init__(self, missing: str) -> None:
        super().__init__(
            f"the package {missing} is not installed: make pipeline, or pip install 'groupcomm-conformance[pipeline]'"
        )


class NoMaster(SparkError):
    """No master of Spark answers where --master says."""

    def __init__(self, master: str, why: str) -> None:
        super().__init__(
            f"no master of Spark answers at {master} ({why}): start one there, or correct --master; "
            "local[*] is this machine alone"
        )


class SparkFailed(SparkError):
    """Spark does not start."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"Spark does not start: {reason}")


class NotHolding(SparkError):
    """There is no table of local steps, as the model does not hold."""

    def __init__(self, model: str, outcome: str) -> None:
        super().__init__(f"{model} does not hold ({outcome}): see groupcomm check")


class BadMaster(ValueError):
    """The value of --master is no address of a Spark."""

    def __init__(self, master: str) -> None:
        super().__init__(f"no Spark is at {master!r}: --master takes local[*], local[2] or spark://host:7077")
