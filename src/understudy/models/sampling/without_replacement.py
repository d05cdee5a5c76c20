"""Sampling without replacement: within every configuration of parents, codes come in the numbers
that the conditional says, rounded to integers, and in random order. Rows for which constraints
leave different codes count as different configurations.

Each row by itself is distributed as in forward sampling, but the table as a whole strays less from
the model: counts are within one of what is expected of them.

Source: NIST section 3.3; the rounding is systematic, so that its expectation is exact.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from understudy.facts.codes import Codes
from understudy.models.distribution import CodedRows
from understudy.models.sampling.forward import (
    Configurations,
    Last,
    Sequential,
    drawn_in_order,
    drawn_last,
)
from understudy.system.arrays import Integers, Probabilities
from understudy.system.jit import has_started, kernel

# Rows and cells up to which vectors of NumPy are done before a compiler has started.
_FEW_STEPS = 1_000_000


@kernel
def _deal(
    probabilities: Probabilities,
    rows: Configurations,
    order: Integers,
    starts: npt.NDArray[np.float64],
    codes: Codes,
) -> None:
    """Give every row, in random order, the next code of its configuration's rounded histogram.

    The running total m·(p₀ + … + pⱼ) + u, u uniform for each configuration, passes an integer
    as many times as code j is dealt: systematic rounding.
    """
    sizes = np.zeros(probabilities.shape[0], np.int64)
    for i in range(rows.size):
        sizes[rows[i]] += 1
    dealt = np.zeros(probabilities.shape[0], np.int64)
    current = np.zeros(probabilities.shape[0], np.int64)
    last = np.zeros(probabilities.shape[0], np.int64)
    reached = np.empty(probabilities.shape[0])
    for g in range(probabilities.shape[0]):
        reached[g] = starts[g] + sizes[g] * probabilities[g, 0]
        for j in range(probabilities.shape[1]):
            if probabilities[g, j] > 0:
                last[g] = j
    for i in range(order.size):
        g = rows[order[i]]
        while reached[g] < dealt[g] + 1 and current[g] < last[g]:
            current[g] += 1
            reached[g] += sizes[g] * probabilities[g, current[g]]
        codes[order[i]] = current[g]
        dealt[g] += 1


def deal(
    table: Probabilities, given: Configurations, codes: Codes, generator: np.random.Generator
) -> None:
    """Fill in the codes of one attribute, given the line of a table that holds for each row."""
    starts = generator.random(len(table))
    order = generator.permutation(given.size)
    few = given.size + table.size <= _FEW_STEPS and not has_started()
    (deal_in_vectors if few else _deal)(table, given, order, starts, codes)


def deal_in_vectors(
    probabilities: Probabilities,
    rows: Configurations,
    order: Integers,
    starts: npt.NDArray[np.float64],
    codes: Codes,
) -> None:
    """Give the same codes as the kernel, without the start of a compiler.

    The k-th row of a configuration gets the number of running totals below k, at most the last
    code of the configuration: in the order of configurations each code comes as often as whole
    numbers are between two totals. Totals are added up in the kernel's order, so that they are
    the same doubles.
    """
    sizes = np.bincount(rows, minlength=len(probabilities))[:, None]
    totals = sizes * probabilities
    totals[:, 0] += starts
    np.cumsum(totals, axis=1, out=totals)
    ends = np.minimum(np.floor(totals), sizes).astype(np.int64)
    ends[:, -1:] = sizes
    places = np.arange(probabilities.shape[1])
    last = np.where(probabilities > 0, places, 0).max(axis=1)
    dealt = np.repeat(np.minimum(places, last[:, None]), np.diff(ends, axis=1, prepend=0).ravel())
    narrow = len(probabilities) <= 2**16
    given = rows.astype(np.uint16 if narrow else np.uint32)[order]
    codes[order[np.argsort(given, kind="stable")]] = dealt


def deal_codes(law: Sequential, rows: int, generator: np.random.Generator) -> CodedRows:
    """Draw rows from a joint distribution, counts rounded, in the schema's order."""

    def draw(table: Probabilities, given: Configurations, codes: Codes) -> None:
        deal(table, given, codes, generator)

    return drawn_in_order(law, rows, draw)


def deal_last(
    law: Sequential, codes: CodedRows, last: Last, generator: np.random.Generator
) -> CodedRows:
    """Draw attributes that none depends on, given all others of rows that were chosen.

    Within each configuration of their parents rows come in random order, so that the codes are as
    likely for one row as for another, whatever else is in the rows.
    """

    def draw(table: Probabilities, given: Configurations, drawn: Codes) -> None:
        deal(table, given, drawn, generator)

    return drawn_last(law, codes, last, draw)
