"""Campaigns: many small runs on Spark, with a table of what each of them gave.

A campaign is tasks: a key, and a pure function of it that gives a row. `running` spreads them over executors,
and `shipping` gives these the code. `working` is the program of a worker. `table` keeps the rows, so that the
same command continues an interrupted campaign. `seeds`, `mutating` and `searches` are the campaigns there
are.
"""
