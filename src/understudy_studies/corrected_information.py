"""Mutual information from holders' noisy tables, less the bias that their noise adds to it.

Source: TUC-1 Theorem 3.5, as `EntropyError` has it: the noise of holders lowers the entropy of a
table, and so raises the information of its two attributes, by an amount that is known but for the
shares of its cells. Those are private; even shares stand for them, or the noisy ones themselves.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import combinations

import numpy as np

from understudy.federated.analyst.entropy_error import EntropyError, noise_scale
from understudy.system.arrays import Floats
from understudy_studies import seven
from understudy_studies.averaged_trees import AttributePair, best_edges, information, ordered

FOUND, EVEN, OWN = "as found", "less the bias of even shares", "less the bias of its own shares"
_ROWS, _HOLDERS, _DEGREE = 40_000, 3, 1
_NATS = math.log(2)


def information_errors(
    epsilon: float, generator: np.random.Generator
) -> dict[str, dict[str, float]]:
    """The mean absolute error of an information in bits, and what the best tree misses of it."""
    scale = noise_scale(len(seven.SIZES), _DEGREE, epsilon)
    truth = exact_tables()
    known = {pair: information(table) for pair, table in truth.items()}
    noisy = {pair: _summed(table, scale, generator) for pair, table in truth.items()}
    best = sum(known[ordered(edge)] for edge in best_edges(known))
    found = {}
    for name in (FOUND, EVEN, OWN):
        scores = {pair: corrected(table, scale, name) for pair, table in noisy.items()}
        off = [abs(scores[pair] - known[pair]) for pair in known]
        kept = sum(known[ordered(edge)] for edge in best_edges(scores))
        found[name] = {"error": float(np.mean(off)), "missed": float(best - kept)}
    return found


def exact_tables() -> Mapping[AttributePair, Floats]:
    """The expected counts of all pairs of the seven attributes."""
    rows, chances = seven.every_row().codes, seven.chances()
    found = {}
    for one, other in combinations(seven.SIZES, 2):
        table = np.zeros((seven.SIZES[one], seven.SIZES[other]))
        np.add.at(table, (rows[one], rows[other]), _ROWS * chances)
        found[one, other] = table
    return found


def _summed(table: Floats, scale: float, generator: np.random.Generator) -> Floats:
    """The sum of all holders' counts, none of them clipped before it is added."""
    counts = generator.multinomial(_ROWS, (table / table.sum()).ravel()).reshape(table.shape)
    noise = generator.laplace(0, scale, (_HOLDERS, *table.shape)).sum(axis=0)
    return np.asarray(np.maximum(counts + noise, 0.0))


def corrected(table: Floats, scale: float, name: str) -> float:
    """The information of a summed table in bits, less the bias that is supposed."""
    found = information(table)
    if name == FOUND or not table.sum():
        return found
    joint = _shares(table, scale, name)
    # A line of the table is a sum of cells, and so is the whole that shares are taken of: their
    # noise has a bias as well, the one of lines and cells with opposite signs.
    lines = (_bias(joint.sum(axis=axis), scale * math.sqrt(table.shape[axis])) for axis in (0, 1))
    whole = _bias(np.ones(1), scale * math.sqrt(table.size))
    return found - (sum(lines) - _bias(joint.ravel(), scale) - whole) / _NATS


def _bias(shares: Floats, scale: float) -> float:
    """To the second order: where noise is as large as a cell, higher orders say nothing."""
    return EntropyError(shares, _ROWS, _HOLDERS, scale).noise_bias


def _shares(table: Floats, scale: float, name: str) -> Floats:
    """Even shares, or those found, of which none is below the deviation of its noise."""
    if name == EVEN:
        return np.full(table.shape, 1 / table.size)
    held = np.maximum(table, scale * math.sqrt(2 * _HOLDERS))
    return np.asarray(held / held.sum())
