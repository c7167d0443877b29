"""Exhaustive search of whole stacks. `search` says what it is of."""
