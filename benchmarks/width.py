"""How utility grows with the budget at every width: three methods, and nist's other forms.

Tables are those of `growth`: each column is half of the time a function of an earlier one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from benchmarks.scoreboard import Scoreboard
from benchmarks.tables import integers
from understudy.evaluation.marginals.fidelity import total_variation
from understudy.facts.domain import Domain
from understudy.facts.schema import Schema
from understudy.facts.workload import workload
from understudy.methods import AdaptiveMarginals, Nist, PrivBayes, Synthesizer
from understudy.models.sampling import deal_codes
from understudy.rows.engines.memory import MemorySource
from understudy.rows.table import Table
from understudy_studies.census import dependent

_DELTA, _VALUES = 1e-9, 10
# Beyond two standard errors, one distance may exceed another by so much; the default method may
# be behind another one of ours by a little more.
_ALLOWED, _ALLOWED_OF_DEFAULT = 1.01, 1.03

# Methods that must grow better with the budget.
GROWING = ("nist", "privbayes", "adaptive")

FORMS: dict[str, Callable[[Schema, str], Synthesizer]] = {
    "nist": lambda schema, epsilon: Nist(schema, epsilon=epsilon, delta=_DELTA),
    "tree": lambda schema, epsilon: Nist(schema, epsilon=epsilon, delta=_DELTA, structure="tree"),
    "capped": lambda schema, epsilon: Nist(schema, epsilon=epsilon, delta=_DELTA, theta=4),
    "privbayes": lambda schema, epsilon: PrivBayes(schema, epsilon=epsilon),
    "adaptive": lambda schema, epsilon: AdaptiveMarginals(schema, epsilon=epsilon, delta=_DELTA),
}


@dataclass(frozen=True)
class Found:
    """A mean distance over some runs, and its standard error."""

    mean: float
    error: float

    def over(self, other: Found) -> float:
        """The ratio of two distances, less two standard errors of their difference."""
        sure = self.mean - 2 * float(np.hypot(self.error, other.error))
        return max(sure, 0.0) / other.mean


def measure(board: Scoreboard) -> None:
    """Lines for each width: every method's worst step of ε, and nist's worst ratio to a form."""
    epsilons = board.size.pick(("0.1", "0.5", "1", "4", "10", "100"), ("1", "10"))
    rows, runs = board.size.pick((50_000, 3), (2_000, 2))
    for width in board.size.pick((10, 20, 50, 100, 200), (5,)):
        schema = integers({f"a{i}": _VALUES for i in range(width)})
        table = dependent(Domain.of(schema), rows)
        found = {
            form: {e: distance(schema, table, make, e, runs) for e in epsilons}
            for form, make in FORMS.items()
        }
        for form, by_epsilon in found.items():
            distances = {e: f.mean for e, f in by_epsilon.items()}
            board.details.append({"columns": width, "form": form, "3-way": distances})
        what = f"3-way distance, {width} columns"
        for method in GROWING:
            ours = found[method]
            steps = max(ours[more].over(ours[less]) for less, more in pairwise(epsilons))
            told = f"{what}: of {method}, of an ε over the one before, the worst"
            board.add(told, steps, "×", _ALLOWED)
        forms = [found[form] for form in ("tree", "capped")]
        worst = max(found["nist"][e].over(other[e]) for other in forms for e in epsilons)
        board.add(f"{what}: of nist over its tree or capped form", worst, "×", _ALLOWED)
        ours, rivals = found["adaptive"], (found["nist"], found["tree"])
        worst = max(ours[e].over(other[e]) for other in rivals for e in epsilons)
        board.add(f"{what}: of adaptive over nist or its tree", worst, "×", _ALLOWED_OF_DEFAULT)


def distance(
    schema: Schema,
    table: Table,
    make: Callable[[Schema, str], Synthesizer],
    epsilon: str,
    runs: int,
) -> Found:
    """The mean 3-way distance of some fits to the rows they were fitted to."""
    found = []
    for run in range(runs):
        model = make(schema, epsilon).fit(MemorySource(table), ledger=None).model_
        rows = max(model.rows, 1)
        codes = model.law.draw(rows, np.random.default_rng(run), sampler=deal_codes)
        made = Table(table.domain, {name: codes[name] for name in table.domain}, rows)
        found.append(total_variation(table, made, workload(table.domain, 3)).mean())
    return Found(float(np.mean(found)), float(np.std(found, ddof=1) / np.sqrt(runs)))
