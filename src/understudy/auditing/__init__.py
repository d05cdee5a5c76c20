"""How much a method gives away, measured: a lower bound on ε from thousands of real fits.

The method is fitted again and again, with real noise, on two neighbouring tables chosen to be hard
on it. An attacker who knows both tables, and sees all that was released, says which one it was.
How often that succeeds bounds ε from below, whatever the proofs say. A bound above the claim is a
bug; one below shows that nothing was found by this attack with so many runs, and no more.
"""

from understudy.auditing.attack import Run, evidence, run_on
from understudy.auditing.bounds import Curve, Finding, largest_provable, lower_bound
from understudy.auditing.runs import Audit, audit
from understudy.auditing.tables import SCHEMA, Pair, neighbours_for

__all__ = [
    "SCHEMA",
    "Audit",
    "Curve",
    "Finding",
    "Pair",
    "Run",
    "audit",
    "evidence",
    "largest_provable",
    "lower_bound",
    "neighbours_for",
    "run_on",
]
