"""Scores of a child against its parents, each with its own sensitivity and relation.

A score looks at one contingency table whose last axis is the child. MI, F and R are divided by the
public number of rows n and hold under replace-one; the total variation in counts holds under
add-remove, where n is private. Proofs: docs/proofs/scores.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np

from understudy.errors import UsageError
from understudy.facts.domain import Domain
from understudy.facts.unit import Neighbours, Unit
from understudy.rows.counting import Counts, Marginal, Score
from understudy.system.arrays import Floats
from understudy.system.jit import kernel

# So many values of c log c fit into the first-level cache beside the table they are looked up for.
_FEW = 2048


@kernel
def _distance_to_independence(joint: Counts) -> float:
    """½ Σ |C[π, x] − C[π]·C[x] / n|, with n the table's own total.

    Summed as n·C[π, x] − C[π]·C[x] in integers, which hold all of it up to 2³¹ rows.
    """
    columns = np.zeros(joint.shape[1], np.int64)
    total = 0
    for i in range(joint.shape[0]):
        for j in range(joint.shape[1]):
            columns[j] += joint[i, j]
            total += joint[i, j]
    if total == 0:
        return 0.0
    whole, distance = 0, 0.0
    for i in range(joint.shape[0]):
        row = 0
        for j in range(joint.shape[1]):
            row += joint[i, j]
        for j in range(joint.shape[1]):
            if total < 2**31:
                whole += abs(total * joint[i, j] - row * columns[j])
            else:
                distance += abs(joint[i, j] - row / total * columns[j])
    return 0.5 * (whole / total + distance)


@kernel
def _information(joint: Counts, weights: Floats) -> float:
    """Mutual information in bits between the rows and the columns of a table of counts.

    n·I = Σ C[π, x] log C[π, x] − Σ C[π] log C[π] − Σ C[x] log C[x] + n log n, with c log c taken
    from `weights` for small counts. Every column has its own sum with a running correction
    (Kahan), so that the error does not grow with the cells and no cell waits for the one before.
    """

    def weight(count: int) -> float:
        if count < weights.size:
            return float(weights[count])
        return count * math.log2(count)

    def add(sums: Floats, lost: Floats, place: int, term: float) -> None:
        term -= lost[place]
        after = sums[place] + term
        lost[place] = (after - sums[place]) - term
        sums[place] = after

    width = joint.shape[1]
    columns = np.zeros(width, np.int64)
    sums, lost = np.zeros(width + 1), np.zeros(width + 1)
    total = 0
    for i in range(joint.shape[0]):
        row = 0
        for j in range(width):
            row += joint[i, j]
        if row > 0:
            total += row
            add(sums, lost, width, -weight(row))
            for j in range(width):
                columns[j] += joint[i, j]
                add(sums, lost, j, weight(joint[i, j]))
    for j in range(width):
        add(sums, lost, width, sums[j])
        add(sums, lost, width, -lost[j])
        add(sums, lost, width, -weight(columns[j]))
    add(sums, lost, width, weight(total))
    return float(sums[width] / max(total, 1))


@kernel
def _best_split(joint: Counts, rows: int) -> float:
    """−min over assignments of every π to 0 or 1 of (½ − K₀)₊ + (½ − K₁)₊.

    A dynamic programme over parent values: for each count that can go to K₀, the most that can
    go to K₁ beside it. Counts beyond one half add nothing and are cut there.
    """
    half = (rows + 1) // 2
    most = np.full(half + 1, -1, np.int64)
    most[0] = 0
    for i in range(joint.shape[0]):
        zero, one = joint[i, 0], joint[i, 1]
        after = np.full(half + 1, -1, np.int64)
        for k in range(half + 1):
            if most[k] >= 0:
                more = min(half, k + zero)
                after[more] = max(after[more], most[k])
                after[k] = max(after[k], min(half, most[k] + one))
        most = after
    best = 2.0
    for k in range(half + 1):
        if most[k] >= 0:
            first = max(0.0, 0.5 - k / rows)
            second = max(0.0, 0.5 - most[k] / rows)
            best = min(best, first + second)
    return -best


@dataclass(frozen=True)
class TableKernel:
    """A function of a table's last axes, all others made one; `rows` fills it up to a public n.

    Rows that the codec dropped would make the table's total private. Counted in its first cell
    they are rows like any other, and replacing one row still moves one count.
    """

    function: Callable[[Counts], float]
    rows: int | None = None
    last: int = 1

    def __call__(self, marginal: Marginal) -> float:
        """Compute the exact score of one table."""
        counts = marginal.counts
        joint = np.ascontiguousarray(counts.reshape(-1, *counts.shape[-self.last :]))
        dropped = 0 if self.rows is None else self.rows - int(joint.sum())
        if dropped:
            joint = joint.copy()
            joint.flat[0] += dropped
        return float(self.function(joint))


def total_variation() -> Score:
    """Half the L1 distance to independence, in rows; one row more or less moves it by less than 2.

    Source: NIST eq. 2.1–2.2, also for an attribute against a set of attributes.
    """
    kernel = TableKernel(_distance_to_independence)
    return Score("total variation", kernel, Fraction(2), Neighbours.ADD_REMOVE)


def r_score(rows: int) -> Score:
    """Return the score as a share of n public rows; replacing one moves it by at most 3/n + 2/n².

    Nearly reached by tables of three values and more; with a binary child it is 2(n − 1)/n².

    Source: Zhang et al. 2017, where R is introduced; TUC-1 section 3.3.1.
    """
    n = max(rows, 1)

    def share(joint: Counts) -> float:
        return _distance_to_independence(joint) / n

    sensitivity = Fraction(3, n) + Fraction(2, n * n)
    return Score("R", TableKernel(share, rows), sensitivity, Neighbours.REPLACE)


def f_score(rows: int) -> Score:
    """How near the table of a binary child is to one that determines it; sensitivity 1/n.

    Source: Zhang et al. 2014 and 2017, where F is introduced; TUC-1 section 3.3.1.
    """
    n = max(rows, 1)

    def split(joint: Counts) -> float:
        if joint.shape[1] != 2:
            raise UsageError("score F is for children of two values; use R")
        return _best_split(joint, n)

    return Score("F", TableKernel(split, rows), Fraction(1, n), Neighbours.REPLACE)


@cache
def _few_weights() -> Floats:
    """c log c of small counts.

    One by one: the logarithms of whole arrays may be off by more than a unit in the last place.
    """
    return np.array([0.0, *(count * math.log2(count) for count in range(1, _FEW))])


def mutual_information(rows: int, *, binary: bool) -> Score:
    """Mutual information in bits over n public rows.

    Args:
        rows: n.
        binary: whether in every table scored the child, or all parents together, have two values,
            which allows a smaller sensitivity.

    Source: Zhang et al. 2014, Lemma 4.1; AAU Lemma 4.1.3; TUC-1 Lemma 3.1.
    """
    n = max(rows, 2)
    if binary:
        bits = math.log2(n) / n + (n - 1) / n * math.log2(n / (n - 1))
    else:
        bits = 2 / n * math.log2((n + 1) / 2) + (n - 1) / n * math.log2((n + 1) / (n - 1))
    # Rounded up in the thirteenth digit, far beyond what the logarithms err by.
    sensitivity = Fraction(math.ceil(bits * 10**12 * (1 + 1e-12)), 10**12)
    weights = _few_weights()

    def information(joint: Counts) -> float:
        return _information(joint, weights)

    kernel = TableKernel(information, rows)
    return Score("mutual information", kernel, sensitivity, Neighbours.REPLACE)


_NAMES = ("TVD", "R", "MI", "F")


def score_for(unit: Unit, size: float, domain: Domain, *, name: str | None = None) -> Score:
    """The score asked for, when its sensitivity holds for the relation; R or TVD unless asked."""
    rows, binary = round(size), all(n == 2 for n in domain.sizes.values())
    if unit.neighbours is Neighbours.ADD_REMOVE:
        choices = {"TVD": total_variation()}
    else:
        information = mutual_information(rows, binary=binary)
        choices = {"R": r_score(rows), "MI": information, "F": f_score(rows)}
    chosen = name or next(iter(choices))
    known = " or ".join(choices)
    if chosen not in _NAMES:
        raise UsageError(f"score {chosen!r} is unknown; use {known}")
    if chosen not in choices:
        raise UsageError(
            f"score {chosen!r} has no sensitivity under {unit.neighbours}; use {known}"
        )
    if chosen == "F" and not binary:
        raise UsageError("score F is for tables of two-valued columns only; use R")
    return choices[chosen]
