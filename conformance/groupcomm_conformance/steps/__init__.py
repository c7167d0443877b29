"""Local steps: the table that TLC evaluates, and the core held against it."""
