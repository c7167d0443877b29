"""Campaigns: many small runs on Spark, with a table of what each of them gave.

A campaign is tasks: a key, and a pure function of it that gives a row. `running` spreads them over executors,
`shipping` gives these the code, `working` is what a worker does, and `table` keeps the rows, so that the same
command goes on where one was interrupted. `seeds`, `mutating` and `searches` are the campaigns there are.
"""
