"""Why a counterexample refutes its claim, and what the repaired step does instead."""
