"""Stacks: cores over one another and over abstract layers, run under faults and judged as they run."""
