"""groupcomm_runtime: a group that runs, over UDP: the stack of cores, and what is around it."""
