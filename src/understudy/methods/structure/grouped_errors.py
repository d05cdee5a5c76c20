"""Errors of a model as released tables in groups of codes show them.

Holders cannot send the L1 error of a table: that of a sum is not the sum of theirs. Tables are
sums, and where codes are put together in a few groups, they are small. The error that a table in
groups shows is never larger than that of the whole table, since groups only add up cells.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from understudy.facts.hierarchy import Groups
from understudy.privacy.noisy_marginal import NoisyMarginal
from understudy.system.arrays import Floats

# An error is believed where its square stands out of the noise by so many standard deviations.
_STANDS_OUT = 1.0
# The error of a table is larger than that of its groups, by so much on average.
_HIDDEN = 1.3
_MEAN_OF_NORMAL = math.sqrt(2 / math.pi)


def balanced_groups(counts: Floats, most: int) -> Groups:
    """Neighbouring codes in a few groups that have about the same number of rows.

    Args:
        counts: the rows of every code, as they were released.
        most: how many groups there may be.

    Example:
        >>> balanced_groups(np.array([10.0, 20.0, 5.0, 40.0]), 2).tolist()
        [0, 0, 0, 1]
    """
    if len(counts) <= most:
        return np.arange(len(counts), dtype=np.uint16)
    # An epsilon keeps codes apart that nobody seems to have.
    rows = np.maximum(counts, 0.0) + 1e-9
    middles = (rows.cumsum() - rows / 2) / rows.sum()
    places = np.minimum((middles * most).astype(np.int64), most - 1)
    return np.unique(places, return_inverse=True)[1].astype(np.uint16)


def shown_errors(released: Sequence[NoisyMarginal], expected: Sequence[Floats]) -> Floats:
    """The L1 error of each table that groups show beyond their noise, in rows.

    Args:
        released: tables in groups.
        expected: what the model expects of each.

    Privacy: post-processing of what was released.
    """
    return np.array([_shown(t, e) for t, e in zip(released, expected, strict=True)])


def _shown(table: NoisyMarginal, expected: Floats) -> float:
    """From the sum of squares less that of noise; of pairs, what single attributes do not explain.

    The one-way tables of the model are held to those that were measured.
    """
    rest, free = table.counts - expected, float(expected.size)
    if rest.ndim == 2:
        rest = rest - rest.mean(axis=0) - rest.mean(axis=1, keepdims=True) + rest.mean()
        free = math.prod(size - 1 for size in rest.shape)
    noise = table.variance * (free + _STANDS_OUT * math.sqrt(2 * free))
    beyond = max(float((rest**2).sum()) - noise, 0.0)
    return _HIDDEN * _MEAN_OF_NORMAL * math.sqrt(rest.size * beyond)


def error_noise(shape: Sequence[int], variance: float) -> float:
    """The L1 error that noise alone could show, in rows."""
    free = math.prod(size - 1 for size in shape) if len(shape) == 2 else math.prod(shape)
    return _MEAN_OF_NORMAL * math.sqrt(math.prod(shape) * variance * math.sqrt(2 * free))
