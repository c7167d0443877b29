"""A second opinion: an obligation as SMT-LIB 2, which any solver reads, and what cvc5 says of it.

z3 and cvc5 share no code: both would have to make the same mistake. They do share the reading of the
specification, and the text that z3 writes.
"""

from typing import Final

import cvc5
import z3

from .proving import Obligation

# In cvc5's own unit, which does not depend on the machine.
_LIMIT: Final = 200_000


def smt_lib(obligation: Obligation) -> str:
    """Give the text that asks for a case in which the goal fails: `unsat` says that it follows."""
    solver = z3.Solver()
    solver.add(*obligation.given, z3.Not(obligation.goal))
    return f"; {obligation.step}: {obligation.clause}\n(set-logic ALL)\n{solver.to_smt2()}"


def asked_again(obligation: Obligation) -> str:
    """Ask cvc5: `unsat` where the obligation follows, `sat` where it does not, else `unknown` and why."""
    solver = cvc5.Solver(cvc5.TermManager())
    solver.setOption("rlimit-per", str(_LIMIT))
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, smt_lib(obligation), obligation.clause)
    symbols, said = parser.getSymbolManager(), ""
    while not (command := parser.nextCommand()).isNull():
        said += command.invoke(solver, symbols)
    return said.strip()
