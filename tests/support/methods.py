"""Every synthesizer in every setting that it offers: who sits the exam."""

from __future__ import annotations

from collections.abc import Callable

from understudy.schema import Schema
from understudy.synthesizers import Independent, Random, Synthesizer

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
}

# The same methods with the budget left open, for extreme amounts.
WITH_BUDGET: dict[str, Callable[[Schema, str, str], Synthesizer]] = {
    "random": lambda schema, epsilon, delta: Random(schema, epsilon=epsilon, delta=delta),
    "independent": lambda schema, epsilon, delta: Independent(schema, epsilon=epsilon, delta=delta),
}

__all__ = ["BUILDERS", "WITH_BUDGET", "Builder"]
