"""Every synthesizer in the settings it offers: who sits the exam.

Learners, noise, relations and bounds on tables are combined so that every two of them meet.
"""

from __future__ import annotations

from collections.abc import Callable

from understudy.schema import Schema
from understudy.synthesizers import Histogram, Independent, Nist, PrivBayes, Random, Synthesizer

Builder = Callable[[Schema], Synthesizer]

BUILDERS: dict[str, Builder] = {
    "random": lambda schema: Random(schema, epsilon=1),
    "random approximate": lambda schema: Random(schema, epsilon=1, delta=1e-6),
    "random replace": lambda schema: Random(schema, epsilon=1, neighbours="replace"),
    "random declared": lambda schema: Random(schema, epsilon=1, rows=50),
    "independent": lambda schema: Independent(schema, epsilon=1),
    "independent approximate": lambda schema: Independent(schema, epsilon=1, delta=1e-6),
    "independent replace": lambda schema: Independent(schema, epsilon=1, neighbours="replace"),
    "independent approximate replace": lambda schema: Independent(
        schema, epsilon=1, delta=1e-6, neighbours="replace"
    ),
    "privbayes greedy replace": lambda schema: PrivBayes(schema, epsilon=1),
    "privbayes greedy": lambda schema: PrivBayes(
        schema, epsilon=1, neighbours="add-remove", theta=4, degree=2
    ),
    "privbayes pairwise": lambda schema: PrivBayes(
        schema, epsilon=1, neighbours="add-remove", structure="pairwise"
    ),
    "privbayes pairwise capped replace": lambda schema: PrivBayes(
        schema, epsilon=1, structure="pairwise", theta=4
    ),
    "privbayes tree replace": lambda schema: PrivBayes(schema, epsilon=1, structure="tree"),
    "privbayes information replace": lambda schema: PrivBayes(schema, epsilon=1, score="MI"),
    "nist pairwise": lambda schema: Nist(schema, epsilon=1, delta=1e-6),
    "nist pairwise capped": lambda schema: Nist(schema, epsilon=1, delta=1e-6, theta=0.1),
    "nist pairwise replace": lambda schema: Nist(
        schema, epsilon=1, delta=1e-6, neighbours="replace"
    ),
    "nist greedy": lambda schema: Nist(schema, epsilon=1, delta=1e-6, structure="greedy", rows=60),
    "nist greedy capped replace": lambda schema: Nist(
        schema, epsilon=1, delta=1e-6, structure="greedy", theta=0.1, neighbours="replace"
    ),
    "nist tree": lambda schema: Nist(schema, epsilon=1, delta=1e-6, structure="tree"),
    "histogram replace": lambda schema: Histogram(schema, epsilon=1, rows=500),
}

# Methods whose models hold conditionals; the others hold the rows that were released.
WITH_CONDITIONALS = [name for name in BUILDERS if not name.startswith("histogram")]

# The same methods with the budget left open, for extreme amounts.
WITH_BUDGET: dict[str, Callable[[Schema, str, str], Synthesizer]] = {
    "random": lambda schema, epsilon, delta: Random(schema, epsilon=epsilon, delta=delta),
    "independent": lambda schema, epsilon, delta: Independent(schema, epsilon=epsilon, delta=delta),
    "networks": lambda schema, epsilon, delta: (
        PrivBayes(schema, epsilon=epsilon)
        if delta == "0"
        else Nist(schema, epsilon=epsilon, delta=delta)
    ),
    "histogram": lambda schema, epsilon, _: Histogram(schema, epsilon=epsilon, rows=10),
}

__all__ = ["BUILDERS", "WITH_BUDGET", "WITH_CONDITIONALS", "Builder"]
