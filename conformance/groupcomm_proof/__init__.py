"""Proofs for groups of any size: a specification's own text, read as formulas for an SMT solver."""
