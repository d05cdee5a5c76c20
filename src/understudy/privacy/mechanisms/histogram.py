"""The smoothed histogram: rows drawn from a mixture of a table and the uniform law.

Source: Wasserman, Zhou 2010; AAU section 3.1. With δ the smoothing, n the public number of rows
and m the cells of the whole domain, k draws cost ε = k·ln((1 − δ)m / (nδ) + 1). Both directions of
that formula are here, each rounded to the safe side. Proof: docs/proofs/smoothed_histogram.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from understudy.errors import UsageError
from understudy.privacy.accounting.events import Event, ExactEvent, SmoothedHistogramEvent
from understudy.privacy.budget import Budget, Measure
from understudy.privacy.noise.laws import DOUBT, falling
from understudy.privacy.noise.system import Noise
from understudy.system.arrays import Integers

# The number that stands for a row which the codec dropped.
DROPPED = -1

# Smoothings are whole numbers of these, so that one draw of an integer decides exactly.
_PARTS = 2**62
# Bits beyond those that the size of an exponent takes away.
_PRECISION = 192
# No smoothing tells larger exponents apart; a smaller one is on the safe side.
_LARGEST_EXPONENT = 4096


def epsilon_for(smoothing: Fraction, *, draws: int, cells: int, table_rows: int) -> Fraction:
    """Give the cost of k draws, rounded up by less than one part in 2³⁰.

    Example:
        >>> cost = epsilon_for(Fraction(1, 2), draws=3, cells=100, table_rows=100)
        >>> round(float(cost), 9)
        2.079441542
    """
    above = _ratio(smoothing, cells=cells, table_rows=table_rows) - 1
    # ln(1 + y) ≤ y, and is as good as y where y is tiny.
    exponent = above if above < Fraction(1, 2**60) else Fraction(_logarithm(1 + above))
    while not _reaches(exponent, above + 1):
        exponent *= 1 + Fraction(1, 2**40)
    return draws * exponent


def smoothing_for(epsilon: Fraction, *, draws: int, cells: int, table_rows: int) -> Fraction:
    """The least smoothing that ε pays for, δ = m / (n·e^(ε/k) + m − n), rounded up.

    Example:
        >>> smoothing = smoothing_for(Fraction(3), draws=3, cells=100, table_rows=100)
        >>> round(float(smoothing), 9)
        0.367879441
    """
    exponent = _bounded(epsilon / draws)
    bits = _bits(exponent)
    least = Fraction(1 << bits, falling(exponent, bits) + DOUBT)
    smoothing = cells / (table_rows * least + cells - table_rows)
    return Fraction(math.ceil(smoothing * _PARTS), _PARTS)


@dataclass(frozen=True, kw_only=True)
class SmoothedHistogram:
    """Draws rows of a table, or any row at all. Proof: docs/proofs/smoothed_histogram.md.

    The exact answer is a line for each row read: its cell number in each of several tables that
    make up the domain, or DROPPED. A draw is any line of the domain, all alike, with the chance of
    the smoothing, else a random line of the answer; a dropped one stands for any line.

    Attributes:
        epsilon: what all draws cost together; too little for the smoothing is refused.
        smoothing: the δ of the mixture.
        cells: how many cells each of the tables has; m is their product.
        table_rows: the public number of rows, n.
        draws: how many rows are drawn, k.

    Privacy: ε for answers that differ in one line, n being public.
    """

    epsilon: Fraction
    smoothing: Fraction
    cells: tuple[int, ...]
    table_rows: int
    draws: int

    def __post_init__(self) -> None:
        if self.smoothing > 0 and not _reaches(self.epsilon / self.draws, self.ratio):
            raise UsageError(
                f"smoothing {float(self.smoothing):g} is too little for epsilon "
                f"{float(self.epsilon):g}; build the mechanism by what it may cost"
            )

    @classmethod
    def costing(
        cls, budget: Budget, *, cells: tuple[int, ...], table_rows: int, draws: int
    ) -> SmoothedHistogram:
        """The mechanism that a budget of pure ε pays for; an unlimited one smooths nothing."""
        if budget.measure is Measure.UNLIMITED:
            return cls(
                epsilon=Fraction(0),
                smoothing=Fraction(0),
                cells=cells,
                table_rows=table_rows,
                draws=draws,
            )
        if budget.measure is not Measure.PURE:
            raise UsageError("the smoothed histogram is paid for in pure epsilon; leave out delta")
        domain = math.prod(cells)
        smoothing = smoothing_for(budget.amount, draws=draws, cells=domain, table_rows=table_rows)
        return cls(
            epsilon=budget.amount,
            smoothing=smoothing,
            cells=cells,
            table_rows=table_rows,
            draws=draws,
        )

    @property
    def ratio(self) -> Fraction:
        """The most that one draw may be likelier on a neighbour: (1 − δ)m / (nδ) + 1."""
        return _ratio(self.smoothing, cells=math.prod(self.cells), table_rows=self.table_rows)

    @property
    def event(self) -> Event:
        """The event that these draws are accounted as."""
        if self.smoothing == 0:
            return ExactEvent()
        return SmoothedHistogramEvent(self.epsilon, self.smoothing)

    def release(self, exact: Integers, noise: Noise) -> Integers:
        """Draw the rows, a line each."""
        anything = np.stack([noise.uniform(size, self.draws) for size in self.cells], axis=1)
        if len(exact) == 0:
            return anything
        drawn = exact[noise.uniform(len(exact), self.draws)]
        smoothed = noise.uniform(_PARTS, self.draws) < int(self.smoothing * _PARTS)
        replaced = smoothed | (drawn[:, 0] == DROPPED)
        return np.where(replaced[:, None], anything, drawn)

    def chances(self, exact: Integers, released: Integers) -> list[Fraction]:
        """The chance of every line released: δ/m + (1 − δ)·(c/n + d/(nm)), d lines dropped."""
        share, cells = 1 - self.smoothing, math.prod(self.cells)
        if len(exact) == 0:
            return [Fraction(1, cells)] * len(released)
        dropped = int((exact[:, 0] == DROPPED).sum())
        everywhere = (self.smoothing + share * Fraction(dropped, len(exact))) / cells
        equal = [int((exact == line).all(axis=1).sum()) for line in released]
        return [everywhere + share * Fraction(count, len(exact)) for count in equal]

    def covers(self, difference: Integers) -> bool:
        """Whether at most one line differs."""
        return int((difference != 0).any(axis=1).sum()) <= 1


def _ratio(smoothing: Fraction, *, cells: int, table_rows: int) -> Fraction:
    if smoothing == 1 or table_rows == 0:
        return Fraction(1)
    return (1 - smoothing) * cells / (table_rows * smoothing) + 1


def _reaches(exponent: Fraction, ratio: Fraction) -> bool:
    """Whether e^exponent is certainly not below the ratio."""
    if ratio <= 1 + exponent:
        return True
    bounded = _bounded(exponent)
    bits = _bits(bounded)
    return (falling(bounded, bits) + DOUBT) * ratio <= 1 << bits


def _bounded(exponent: Fraction) -> Fraction:
    return min(exponent, Fraction(_LARGEST_EXPONENT))


def _bits(exponent: Fraction) -> int:
    """Enough bits to distinguish e^exponent from one, and from zero turned around."""
    small = max(exponent.denominator.bit_length() - exponent.numerator.bit_length(), 0)
    return _PRECISION + small + math.ceil(2 * exponent)


def _logarithm(ratio: Fraction) -> float:
    """The natural logarithm in floating point, near one and of any size."""
    if ratio < 2:
        return math.log1p(float(ratio - 1))
    return math.log(ratio.numerator) - math.log(ratio.denominator)
