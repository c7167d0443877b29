"""Judges of the guarantees of a stack as it runs."""
