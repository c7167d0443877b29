"""The data pipeline: what TLC wrote of a model's state graph, as tables in Parquet.

`stages` runs a model through. `dump` has TLC write a dump and reads it. `job` does the stages, each from
table to table: `transforms` are the steps, with the schemas of `schemas`, and `tables` converts from and to
values. `tree` and `walks.covering` choose walks, and `replaying` has the implementation follow them.
`publishing` puts tables in their places. Only `stages`, `job`, `tables`, `transforms`, `schemas` and
`session` need Spark, and only `session` starts it: no other command imports it.
"""
