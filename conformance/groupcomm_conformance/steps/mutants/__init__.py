"""Mutants: code or specification broken on purpose, which the tables of local steps must detect.

- Of the implementation (`implementation` makes them, `core_by_rows` judges them by the rows): a survivor is
  equivalent, or shows that the tables see less than they seem to.
- Of the specification (`specification`, `spec_by_tlc`): here no implementation takes part. If no row of any
  conforming model shows a change of `Step`, conformance could never find that change in any port's code.

`explaining` reads why survivors survive, from `conformance/mutants`.
"""
