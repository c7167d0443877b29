"""All schedules, by name: one for each erratum that real JGroups can be asked about by a run."""

from . import on_flow, on_flush, on_gms, on_merging, on_nakack, on_sequencer
from .schedule import SCHEDULES, Schedule, Seen

__all__ = ["SCHEDULES", "Schedule", "Seen", "on_flow", "on_flush", "on_gms", "on_merging", "on_nakack", "on_sequencer"]
