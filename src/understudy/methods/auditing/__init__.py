"""Does a method keep its statement? Thousands of real fits on made-up tables say where it does not.

The method is fitted again and again, with real noise, on pairs of neighbouring tables chosen to be
hard on it. Two attackers who know both tables, and see all that was released, say which one it
was: one by the mechanisms' own laws, one by nothing but how often values come. How often they
succeed bounds ε from below, whatever the proofs say. Besides, the noise is tested for its scale
and independence, and a few runs are replayed on the neighbour. What is found untrue is a bug; that
nothing was found shows no more than that these attacks, with so many runs, found nothing.
"""

from understudy.auditing.attack import Run, evidence, run_on
from understudy.auditing.blackbox import BoxFinding
from understudy.auditing.bounds import Curve, Finding, largest_provable, lower_bound
from understudy.auditing.noise import NoiseFault, NoiseVerdict, Tally, draws_of
from understudy.auditing.runs import Audit, Leak, audit, fits_in
from understudy.auditing.tables import PERSON, SCHEMA, Case, Pair, cases_for, neighbours_for

__all__ = [
    "PERSON",
    "SCHEMA",
    "Audit",
    "BoxFinding",
    "Case",
    "Curve",
    "Finding",
    "Leak",
    "NoiseFault",
    "NoiseVerdict",
    "Pair",
    "Run",
    "Tally",
    "audit",
    "cases_for",
    "draws_of",
    "evidence",
    "fits_in",
    "largest_provable",
    "lower_bound",
    "neighbours_for",
    "run_on",
]
