"""Answers from weighted rows, with standard errors: for networks too dense for exact ones.

Rows are drawn towards the evidence; where constraints shape them, as for release, and weighed by
how well they fit. An answer is a ratio of sums of weights (TUC-2 section 3.5.4, example 3.9), and
its error is that of a ratio to first order (Owen 2013, chapter 9).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.errors import UsageError
from understudy.facts.domain import Attributes, Domain
from understudy.models.inference import Evidence
from understudy.models.sampling.weighting import WeightedRows, fit_of
from understudy.system.arrays import Probabilities

# Rows that are all alike have at most this standard error, by rounding.
_NO_SPREAD = 1e-12


@dataclass(frozen=True)
class SampledProbabilities:
    """Chances, how far each may be off (one standard error), and the evidence's own chance."""

    chances: Probabilities
    errors: Probabilities
    evidence: float


def estimated_distribution(
    rows: WeightedRows, domain: Domain, targets: Attributes
) -> SampledProbabilities:
    """The joint distribution of some attributes among weighted rows."""
    total, squares = _total(rows), rows.weights**2
    shape = domain.shape(targets)
    cells = np.ravel_multi_index([rows.codes[attribute] for attribute in targets], shape)
    size = int(np.prod(shape))
    chances = np.bincount(cells, rows.weights, size) / total
    inside = np.bincount(cells, squares, size)
    spread = inside * (1 - chances) ** 2 + (squares.sum() - inside) * chances**2
    errors = _not_certain(np.sqrt(spread) / total, chances, rows)
    return SampledProbabilities(chances.reshape(shape), errors.reshape(shape), rows.chance)


def estimated_chance(rows: WeightedRows, both: Evidence, given: Evidence) -> SampledProbabilities:
    """The chance that a row which fits what is given fits more.

    Args:
        rows: weighted by what is given.
        both: what is given and what is asked for, taken together.
        given: what is given.
    """
    total = _total(rows)
    fits = fit_of(rows.codes, {a: _beyond(fits, given.get(a)) for a, fits in both.items()})
    chance = (rows.weights * fits).sum() / total
    error = np.sqrt(((rows.weights * (fits - chance)) ** 2).sum()) / total
    errors = _not_certain(np.array(error), np.array(chance), rows)
    return SampledProbabilities(np.array(chance), errors, rows.chance)


def _not_certain(
    errors: Probabilities, chances: Probabilities, rows: WeightedRows
) -> Probabilities:
    """Standard errors; where all rows are alike, with two more on either side.

    Rows without any spread are not certain for that (Agresti, Coull 1998). They are counted as many
    as they are worth: (Σw)² / Σw².
    """
    worth = float(rows.weights.sum()) ** 2 / float((rows.weights**2).sum())
    nearer = (chances * worth + 2) / (worth + 4)
    least = np.sqrt(nearer * (1 - nearer) / (worth + 4))
    return np.asarray(np.where(errors > _NO_SPREAD, errors, least))


def _beyond(both: Probabilities, given: Probabilities | None) -> Probabilities:
    """How much of what is given of each code fits more."""
    if given is None:
        return both
    return np.divide(both, given, out=np.zeros_like(both), where=given > 0)


def _total(rows: WeightedRows) -> float:
    total = float(rows.weights.sum())
    if total == 0:
        reason = f"none of {rows.weights.size:,} rows fits the evidence"
        raise UsageError(f"{reason}; draw more or loosen it")
    return total
