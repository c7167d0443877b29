"""Groups of real processes under faults: killed, stopped, cut off; judged by their logs."""
