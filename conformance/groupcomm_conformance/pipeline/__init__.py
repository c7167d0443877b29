"""The data pipeline: what TLC wrote of a model's state graph, as tables in Parquet.

`stages` runs a model through: `dump` has TLC write and reads what it wrote; `job` does the stages, each from
table to table: `transforms` are the steps, with the schemas of `schemas`, and `tables` what comes from values
and goes to them; `tree` and `walks.covering` choose walks, `replaying` has the implementation follow them,
`publishing` puts tables in their places. Only `stages`, `job`, `tables`, `transforms`, `schemas` and
`session` need Spark, and only `session` starts it: no other command imports it.
"""
