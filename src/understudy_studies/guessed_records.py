"""Guesses of a whole record from a released table, by someone who knows all other rows.

Source: AAU sections 1 and 5 ask for P(X = x | Z). Rows are those of its copula; the release is the
table of all five columns with discrete Laplace noise. Before the release the record is believed to
be drawn as the others were.
"""

from __future__ import annotations

import math
from itertools import product

import numpy as np

from understudy_studies import copula
from understudy_studies.cells import CellValues, Spread
from understudy_studies.record_posterior import RecordPosterior

_CELLS = np.array([*product((0, 1), repeat=len(copula.NAMES))])


def guesses(epsilon: float, *, rows: int, runs: int, seed: int) -> CellValues:
    """The chance of the true record and the attributes guessed wrongly, before and after."""
    found = [guess(epsilon, rows, np.random.default_rng([seed, run])) for run in range(runs)]
    spreads = {name: Spread.of([each[name] for each in found]) for name in found[0]}
    return {
        name: {"mean": spread.mean, "error": spread.error, "most": max(e[name] for e in found)}
        for name, spread in spreads.items()
    }


def guess(epsilon: float, rows: int, generator: np.random.Generator) -> dict[str, float]:
    """One table, one record of it, one release."""
    codes = copula.correlated(rows, generator).codes
    places = sum(codes[n].astype(int) << i for i, n in enumerate(reversed(copula.NAMES)))
    counts = np.bincount(np.asarray(places), minlength=len(_CELLS))
    truth = int(np.asarray(places)[0])
    others = counts - (np.arange(len(_CELLS)) == truth)
    # The difference of two geometric numbers: discrete Laplace noise of scale 2/ε.
    chance = 1 - math.exp(-epsilon / 2)
    first, second = generator.geometric(chance, (2, len(_CELLS)))
    prior = (others + 1.0) / (others + 1.0).sum()
    after = RecordPosterior(others, counts + first - second, epsilon, prior)
    differ = (_CELLS[truth] != _CELLS).sum(axis=1)
    return {
        "chance before": float(prior[truth]),
        "chance after": float(after.chances[truth]),
        "wrong before": float((prior * differ).sum()),
        "wrong after": after.expected_distance(list(_CELLS.T), list(_CELLS[truth])),
        "odds": after.odds,
    }
