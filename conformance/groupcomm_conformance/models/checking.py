"""Model checking: running the models of a manifest, and holding what comes against what is expected.

The other packages use this module. See `plan` for the runs that a model takes, and `running` for how they
share the machine. See `result` for TLC's answers and their cache, and `judging` for differences, kill matrix
and gates.
"""

from .judging import Gate, actions, differences, gates, kill_matrix, stale
from .plan import digest
from .recording import record
from .result import Cache, CheckedModel, expected
from .running import Cancelled, Listener, plain_cpu_seconds, result_key, run_model, run_models
from .selecting import select

__all__ = [
    "Cache",
    "Cancelled",
    "CheckedModel",
    "Gate",
    "Listener",
    "actions",
    "differences",
    "digest",
    "expected",
    "gates",
    "kill_matrix",
    "plain_cpu_seconds",
    "record",
    "result_key",
    "run_model",
    "run_models",
    "select",
    "stale",
]
