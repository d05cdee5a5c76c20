"""Scores of what one more parent says of a child that has some parents already.

Such a score looks at one contingency table whose last axis is the child and whose last but one is
the new parent; all other axes are the parents that are there. Without them it is the score of the
pair. Proofs: docs/proofs/scores.md.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from understudy.facts.domain import Domain
from understudy.facts.unit import Neighbours, Unit
from understudy.methods.structure.scores import TableKernel, score_for
from understudy.rows.counting import Counts, Score
from understudy.system.jit import kernel


@kernel
def _distance_given(joint: Counts) -> float:
    """Σ over π of ½ Σ |C[π, q, x] − C[π, q]·C[π, x] / C[π]|: each slice's distance, added up.

    A slice is summed in integers, which hold all of it up to 2³¹ rows; the sum over slices has a
    running correction (Kahan), so that its error does not grow with their number.
    """
    total, lost = 0.0, 0.0
    columns = np.zeros(joint.shape[2], np.int64)
    for s in range(joint.shape[0]):
        columns[:] = 0
        rows = 0
        for i in range(joint.shape[1]):
            for j in range(joint.shape[2]):
                columns[j] += joint[s, i, j]
                rows += joint[s, i, j]
        if rows == 0:
            continue
        whole, distance = 0, 0.0
        for i in range(joint.shape[1]):
            row = 0
            for j in range(joint.shape[2]):
                row += joint[s, i, j]
            if row == 0:
                continue
            for j in range(joint.shape[2]):
                if rows < 2**31:
                    whole += abs(rows * joint[s, i, j] - row * columns[j])
                else:
                    distance += abs(joint[s, i, j] - row / rows * columns[j])
        term = 0.5 * (whole / rows + distance) - lost
        after = total + term
        lost = (after - total) - term
        total = after
    return total


def conditional_total_variation() -> Score:
    """The distance, in rows, to a child that is independent of the new parent given the others.

    One row more or less is in one slice and moves it by less than 2.
    """
    kernel = TableKernel(_distance_given, last=2)
    return Score("conditional total variation", kernel, Fraction(2), Neighbours.ADD_REMOVE)


def conditional_r(rows: int) -> Score:
    """Return the same as a share of n public rows; replacing one moves it by at most 4/n."""
    n = max(rows, 1)

    def share(joint: Counts) -> float:
        return _distance_given(joint) / n

    return Score(
        "conditional R", TableKernel(share, rows, last=2), Fraction(4, n), Neighbours.REPLACE
    )


def added(score: Score) -> Score:
    """The difference that a new parent makes to a score; it moves by both scores' sensitivities.

    For mutual information this is the information that the new parent adds, by the chain rule.
    """
    whole = score.kernel
    assert isinstance(whole, TableKernel)

    def difference(joint: Counts) -> float:
        flat = joint.reshape(-1, joint.shape[-1])
        return whole.function(flat) - whole.function(joint.sum(axis=1))

    kernel = TableKernel(difference, whole.rows, last=2)
    return Score(f"added {score.name}", kernel, 2 * score.sensitivity, score.neighbours)


def gain_for(unit: Unit, size: float, domain: Domain, *, name: str | None = None) -> Score:
    """The score of one more parent that goes with a score of families: in the same unit."""
    if name in ("MI", "F"):
        return added(score_for(unit, size, domain, name=name))
    if unit.neighbours is Neighbours.ADD_REMOVE:
        return conditional_total_variation()
    return conditional_r(round(size))
