"""Groups of real processes under faults: killed, stopped, cut off; each judged by its logs."""
