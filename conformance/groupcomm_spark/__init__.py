"""Campaigns: many small tasks over many machines, on Spark, with a table of what each of them gave.

A campaign is tasks: a key, and a pure function of it that gives a row. `running` spreads them over executors,
in a `session`; `shipping` gives these the code, and `working` is the program of a worker. `table` keeps the
rows, with the columns of `schemas`, so that the same command continues an interrupted campaign. `seeds`,
`mutants`, `searches`, `logs` and `transitions` are the campaigns there are.
"""
