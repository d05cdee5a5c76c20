"""The preflight: a small paid question, before all others, whether most rows fit the schema.

A run over rows that do not fit would spend its budget on noise. What the owner's own check shows is
exact and stays inside; where nobody looks on, this question buys the answer that may leave.

Proof: docs/proofs/preflight.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from understudy.errors import DataError, UsageError
from understudy.facts.unit import Unit
from understudy.privacy.budget import Budget, Measure
from understudy.privacy.curator import Curator
from understudy.privacy.mechanisms.additive import DiscreteLaplace
from understudy.rows.counting import fitting_rows
from understudy.system.amounts import at_most_text

QUESTION = "rows that fit the schema, and rows that do not"
"""The name of the question in ledgers and statements."""


@dataclass(frozen=True)
class FittingRows:
    """Noisy numbers of rows that fit the schema and that do not. Released: they may leave.

    Attributes:
        fitting: how many rows fit, with noise.
        others: how many do not, with noise.
        clear: whether the noise leaves no doubt that enough rows fit.
        epsilon: what the answer has cost.
    """

    fitting: int
    others: int
    clear: bool
    epsilon: Fraction

    @property
    def sentence(self) -> str:
        """Say for a person what the preflight found."""
        fitting, total = max(self.fitting, 0), max(self.fitting + self.others, 0)
        about = f"about {min(fitting, total):,} of {total:,} rows fit the schema"
        cost = f"this count has noise and cost epsilon = {at_most_text(self.epsilon)} of the budget"
        if self.clear:
            return f"{about}; {cost}"
        return (
            f"the noise hides whether 9 of 10 rows fit the schema, so the run continued; {cost}, "
            "and `understudy check` shows the owner the exact numbers"
        )


@dataclass(frozen=True)
class Preflight:
    """Ask first whether most rows fit the schema, and refuse to continue if they surely do not.

    A run that is refused has cost `share` of its ε and nothing else. Of runs over rows of which at
    least `least` fit, at most one in 1,000 is refused.

    Attributes:
        share: the part of the run's ε that the question costs; public.
        least: the smallest share of fitting rows that is accepted, as 1 − 1/b for a whole b.

    Example:
        >>> Preflight().mechanism(Budget.pure(1), Unit("add-remove")).scale
        Fraction(50, 1)
    """

    share: Fraction = Fraction(1, 50)
    least: Fraction = Fraction(9, 10)

    false_alarms: ClassVar[Fraction] = Fraction(1, 1000)

    def __post_init__(self) -> None:
        if not 0 < self.share < 1:
            raise UsageError(f"share is {self.share}; it must be between 0 and 1, such as 1/50")
        if not 0 < self.least < 1 or (1 - self.least).numerator != 1:
            raise UsageError(
                f"least is {self.least}; it must be 1 − 1/b for a whole b, such as 9/10"
            )

    def mechanism(self, budget: Budget, unit: Unit) -> DiscreteLaplace:
        """The noise on the two numbers; one unit moves them by `unit.count_l1` in L1."""
        epsilon = budget.amount * self.share
        return DiscreteLaplace.costing(epsilon, sensitivity=unit.count_l1)

    def applies_to(self, budget: Budget) -> bool:
        """Whether a budget can pay for the question; none at all, or no limit, cannot."""
        return budget.measure in (Measure.PURE, Measure.APPROXIMATE) and budget.amount > 0

    def ask(self, curator: Curator, budget: Budget) -> FittingRows | None:
        """Ask, and continue unless too few rows fit; None where no answer could be clear.

        Privacy: charges `share` of ε before the answer is drawn. Whether the run continues is a
        function of the answer and of public facts.

        Raises:
            DataError: fewer rows fit than `least`, beyond the noise; the share alone was spent.
                Or there are none, where their number is public; nothing was spent.
        """
        mechanism = self.mechanism(budget, curator.unit)
        doubt = threshold(mechanism.scale, weight=self._weight, chance=self.false_alarms)
        public = curator.public_rows
        if public == 0:
            raise DataError(
                "the table has no rows, which is public for rows replaced; nothing was learned, "
                "and nothing was spent"
            )
        if public is not None and self._weight * public < doubt:
            return None
        fitting, others = (
            int(count) for count in curator.release_first(mechanism, fitting_rows, name=QUESTION)
        )
        lacking = self._weight * others - fitting
        found = FittingRows(fitting, others, lacking <= -doubt, budget.amount * self.share)
        if lacking >= doubt:
            raise self._refusal(found)
        return found

    @property
    def _weight(self) -> int:
        """How many rows must fit for each that does not."""
        return self.least.denominator - 1

    def _refusal(self, found: FittingRows) -> DataError:
        total = max(found.fitting + found.others, 0)
        fitting = min(max(found.fitting, 0), total)
        return DataError(
            f"about {fitting:,} of {total:,} rows fit the schema, fewer than {100 * self.least} % "
            "by more than the noise of this count explains; nothing was learned, and only "
            f"epsilon = {at_most_text(found.epsilon)} was spent, on this count. "
            "`understudy check` shows the owner which cells do not fit and how to mend them; "
            "--unchecked fits without asking (in Python: leave preflight out)"
        )


def threshold(scale: Fraction, *, weight: int, chance: Fraction) -> int:
    """The smallest whole number that weight·Z − Z′ reaches with no more than a chance.

    Z and Z′ are independent discrete Laplace noise of this scale.
    """
    low, high = 0, 1
    while tail(scale, weight=weight, least=high) > chance:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if tail(scale, weight=weight, least=middle) > chance:
            low = middle
        else:
            high = middle
    return high


def tail(scale: Fraction, *, weight: int, least: int) -> float:
    """P(weight·Z − Z′ ≥ least) for least ≥ 1, rounded up by 10⁻⁹ of itself.

    Source: with q = exp(−1/scale), P(Z = k) = (1 − q)/(1 + q)·q^|k| and P(Z′ ≤ −j) = q^j/(1 + q)
    for j ≥ 1; summed over k below and from k₀ = ⌈least/weight⌉ on, as docs/proofs/preflight.md has
    it.
    """
    rate = 1 / float(scale)
    first = -(-least // weight)
    ratio = math.tanh(rate / 2)

    def power(exponent: float) -> float:
        return math.exp(-rate * exponent)

    def rest(exponent: float) -> float:
        return -math.expm1(-rate * exponent)

    negative = power(least + weight + 1) / rest(weight + 1)
    between = _between(rate, weight=weight, least=least, first=first)
    beyond = power(first) / rest(1)
    excess = power(1 - least + (weight + 1) * first) / rest(weight + 1)
    below = (negative + between - excess) / (1 + power(1))
    return ratio * (below + beyond) * (1 + 1e-9)


def _between(rate: float, *, weight: int, least: int, first: int) -> float:
    """Σ over 0 ≤ k < k₀ of q^(least − (weight − 1)·k), from its largest term downwards."""
    last = least - (weight - 1) * (first - 1)
    if weight == 1:
        return first * math.exp(-rate * least)
    step = rate * (weight - 1)
    return math.exp(-rate * last) * math.expm1(-step * first) / math.expm1(-step)
