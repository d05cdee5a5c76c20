"""The targets of methods on single tables, beside what is on record."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.arena.page import Result, grouped
from benchmarks.arena.records import Record
from benchmarks.arena.tables import ENTRIES

# Distances are to be small, predictions to be right.
_AT_LEAST = ("accuracy", "AUROC")


@dataclass(frozen=True)
class Asked:
    """A number that was set before the method was made.

    Attributes:
        table: of the arena.
        entrant: of ours.
        epsilon: the budget.
        measure: a distance, which is at most the bound, or a prediction, which is at least it.
        bound: the number.
        why: what is known about a miss, shown where the bound is missed.
    """

    table: str
    entrant: str
    epsilon: str
    measure: str
    bound: float
    why: str = ""

    def is_met(self, value: float) -> bool:
        """Whether a mean reaches the bound."""
        return value >= self.bound if self.measure in _AT_LEAST else value <= self.bound


_DISTANCES = {
    "adult": (0.140, 0.061, 0.0365),
    "nltcs": (0.035, 0.0100, 0.0023),
    "br2000": (0.084, 0.027, 0.0143),
}
_WHY = {
    ("nltcs", "0.1"): "nothing more was tried",
    ("br2000", "0.1"): "less than a standard error",
}
_TARGET = "pairs with the target measured unasked, and other weights of the target"


def _asked() -> Iterator[Asked]:
    for table, bounds in _DISTANCES.items():
        for epsilon, bound in zip(("0.1", "1", "10"), bounds, strict=True):
            why = _WHY.get((table, epsilon), "")
            yield Asked(table, "adaptive", epsilon, "3-way", bound, why)
    for epsilon, measure, bound in (
        ("0.1", "AUROC", 0.87),
        ("1", "accuracy", 0.857),
        ("1", "AUROC", 0.912),
    ):
        yield Asked("adult", "adaptive-target", epsilon, measure, bound, f"tried: {_TARGET}")


ASKED = tuple(_asked())


def asked_table(found: Sequence[Record]) -> str:
    """For every number that was asked for the mean on record, and what is known where it misses."""
    results = grouped(found)
    rows = ["| table | ε | method | measure | asked | measured | |", "|---" * 7 + "|"]
    for each in ASKED:
        result = results.get((each.table, each.entrant, each.epsilon), Result())
        rows.append(_line(each, result))
    return "\n".join(rows)


def _line(asked: Asked, result: Result) -> str:
    mean, sign = result.mean(asked.measure), "≥" if asked.measure in _AT_LEAST else "≤"
    method = "`adaptive`" + (", given the target" if asked.entrant != "adaptive" else "")
    about = f"| {ENTRIES[asked.table].title} | {asked.epsilon} | {method} | {asked.measure} "
    if mean is None:
        return f"{about}| {sign} {asked.bound:g} | not run | |"
    values = [run[asked.measure] for run in result.finished if asked.measure in run]
    error = float(np.std(values, ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else 0.0
    end = "" if asked.is_met(mean) else f"missed; {asked.why}".rstrip("; ")
    return f"{about}| {sign} {asked.bound:g} | {mean:.4f} ± {error:.4f} | {end} |"
