"""Protocols: cores, and how their values are written in TLA+."""
