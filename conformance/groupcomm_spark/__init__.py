"""Work spread over many machines, on Spark: tables of state graphs, and campaigns of many small runs."""
