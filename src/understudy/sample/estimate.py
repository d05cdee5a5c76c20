"""Answers estimated from sampled rows, with standard errors: for networks too dense for exact ones.

Rows are drawn as for release, constraints kept, and weighed by how well they fit the evidence.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from understudy.conditional import Probabilities
from understudy.domain import Attributes, Domain
from understudy.errors import UsageError
from understudy.infer import Evidence
from understudy.table import Codes


@dataclass(frozen=True)
class Estimate:
    """Chances, how far each may be off (one standard error), and the evidence's own chance."""

    chances: Probabilities
    errors: Probabilities
    evidence: float


def estimated_distribution(
    codes: Mapping[str, Codes], domain: Domain, targets: Attributes, evidence: Evidence
) -> Estimate:
    """The joint distribution of some attributes among rows that fit the evidence."""
    weights = _weights(codes, evidence)
    total, squares = _total(weights), weights**2
    shape = domain.shape(targets)
    cells = np.ravel_multi_index([codes[attribute] for attribute in targets], shape)
    size = int(np.prod(shape))
    chances = np.bincount(cells, weights, size) / total
    inside = np.bincount(cells, squares, size)
    spread = inside * (1 - chances) ** 2 + (squares.sum() - inside) * chances**2
    errors = np.sqrt(spread) / total
    return Estimate(chances.reshape(shape), errors.reshape(shape), float(total / weights.size))


def estimated_chance(codes: Mapping[str, Codes], both: Evidence, evidence: Evidence) -> Estimate:
    """The chance that a row which fits the evidence fits more."""
    known, more = _weights(codes, evidence), _weights(codes, both)
    total = _total(known)
    chance = more.sum() / total
    error = np.sqrt(((more - chance * known) ** 2).sum()) / total
    return Estimate(np.array(chance), np.array(error), float(total / known.size))


def _weights(codes: Mapping[str, Codes], evidence: Evidence) -> Probabilities:
    rows = len(next(iter(codes.values())))
    weights = np.ones(rows)
    for attribute, fits in evidence.items():
        weights *= fits[codes[attribute]]
    return weights


def _total(weights: Probabilities) -> float:
    total = float(weights.sum())
    if total == 0:
        raise UsageError(f"none of {weights.size:,} rows fits the evidence; draw more or loosen it")
    return total
