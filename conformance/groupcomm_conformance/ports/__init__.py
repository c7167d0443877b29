"""Vectors: what a port in any language is held to."""
