"""The data pipeline: what TLC wrote of a model's state graph, as tables in Parquet.

`command` is `groupcomm pipeline`; `stages` runs a model through: `dump` has TLC write and reads what it
wrote, `transforms` are the steps from table to table, with the schemas of `schemas`, `covering` chooses
walks, `replaying` does them on the simulated group, `publishing` puts tables in their places. Only `stages`,
`transforms`, `schemas` and `session` need Spark, and only `session` starts it: no other command imports it.
"""
