"""Schedules as people read them: what the applications see, or each step of the stacks or of a layer."""
