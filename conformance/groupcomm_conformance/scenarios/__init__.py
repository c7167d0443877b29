"""Scenarios: stories about a protocol, in YAML."""
