"""Does a method keep its statement? Thousands of real fits on made-up tables say where it does not.

The method is fitted again and again, with real noise, on pairs of neighbouring tables chosen to be
hard on it. Two attackers who know both tables, and see all that was released, say which one it
was: one by the mechanisms' own laws, one by nothing but how often values come. How often they
succeed bounds ε from below, whatever the proofs say. Besides, the noise is tested for its scale
and independence, and a few runs are replayed on the neighbour. What is found untrue is a bug; that
nothing was found shows no more than that these attacks, with this many runs, found nothing.
"""

from understudy.methods.auditing.attack import Trial, evidence, run_on
from understudy.methods.auditing.blackbox import EventBound
from understudy.methods.auditing.bounds import (
    Curve,
    LowerBound,
    largest_provable,
    lower_bound,
)
from understudy.methods.auditing.noise import NoiseFault, NoiseVerdict, Tally, draws_of
from understudy.methods.auditing.runs import Audit, Leak, audit, fits_in
from understudy.methods.auditing.tables import (
    PERSON,
    SCHEMA,
    Case,
    Pair,
    cases_for,
    neighbours_for,
    schema_for,
)

__all__ = [
    "PERSON",
    "SCHEMA",
    "Audit",
    "Case",
    "Curve",
    "EventBound",
    "Leak",
    "LowerBound",
    "NoiseFault",
    "NoiseVerdict",
    "Pair",
    "Tally",
    "Trial",
    "audit",
    "cases_for",
    "draws_of",
    "evidence",
    "fits_in",
    "largest_provable",
    "lower_bound",
    "neighbours_for",
    "run_on",
    "schema_for",
]
