"""The marginals by which tables are compared, and how far two of them are apart."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from understudy.facts.domain import Attributes, Domain

# Fixes the choice of sets for ever, so that numbers can be compared.
_WORKLOAD_SEED = 20_240_607
_MOST_SETS = 300


def workload(domain: Domain, ways: int, *, most: int = _MOST_SETS) -> list[Attributes]:
    """List all sets of a number of attributes, or a fixed choice of them where they are many."""
    sets = list(itertools.combinations(domain.attributes, ways))
    if len(sets) <= most:
        return sets
    chosen = np.random.default_rng(_WORKLOAD_SEED).choice(len(sets), most, replace=False)
    return [sets[i] for i in sorted(chosen)]


def distances(
    real: Sequence[npt.NDArray[np.float64]], synthetic: Sequence[npt.NDArray[np.float64]]
) -> npt.NDArray[np.float64]:
    """The total variation distance of each two distributions: 0 is the same, 1 is apart."""
    pairs = zip(real, synthetic, strict=True)
    return np.array([0.5 * float(np.abs(a - b).sum()) for a, b in pairs])
