"""Mutants: what is broken on purpose, so that the tables of local steps must tell.

- Of the implementation (`implementation` makes them, `replaying` judges them by the rows): a survivor is
  equivalent, or shows that the tables see less than they seem to.
- Of the specification (`specification`, `confronting`): here no implementation takes part. A change of
  `Step` that no row of any conforming model shows is one that conformance could never find in anybody's code.

`explaining` reads why survivors survive, from `conformance/mutants`.
"""
