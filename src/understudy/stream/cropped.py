"""How often users were seen: cropped means, heavy hitters and incidences, from a private state.

Every user has a counter that starts at a random number from 0 to t − 1 and goes round, and the
entry of a density. When the counter comes round to 0 the entry is drawn as for a user who was
seen. After n visits that has happened with chance min(n, t)/t, so that the density of such users
is the mean of min(n, t), divided by t. The counter of a user is uniform whatever the user does.

Source: Dwork, Naor, Pitassi, Rothblum, Yekhanin 2010 (cropped mean); TUC-1 section 4.1.1 names the
three statistics. Proof: docs/proofs/pan_private.md, under "Counts of visits".
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from understudy.errors import BudgetExceeded, UnderstudyError, UsageError
from understudy.privacy.budget import Amount, Budget, Measure, exact
from understudy.privacy.noise.system import Noise
from understudy.privacy.spending.grant import Grant
from understudy.privacy.spending.record import DEFAULT, LedgerChoice
from understudy.stream.account import StreamAccount
from understudy.stream.density import DensityEstimator
from understudy.stream.design import Design
from understudy.stream.universe import ids_of
from understudy.system.arrays import Bytes

_LARGEST_CROP = 2**16
_WORD = 2**64

Counters = npt.NDArray[np.int64]


@dataclass(frozen=True)
class VisitStatistic:
    """A released number about how often users were seen; unbiased, so that it may be impossible.

    Attributes:
        value: the estimate.
        standard_error: at most this, from the counters, the entries and the noise.
        epsilon_total: what states and all declared answers cost together.
    """

    value: float
    standard_error: float
    epsilon_total: Fraction


class CroppedMean:
    """Estimate the mean of min(visits, crop) over all users, with a state that may be seen.

    Privacy: the state of all counters and entries, seen once at any time, costs ε for any one user
    and all of their visits, and the answers together another ε. Users cannot go away.

    Example:
        >>> visits = CroppedMean(1000, crop=3, epsilon=1, ledger=None)
        >>> visits.update([3, 1, 4, 1, 5, 1, 1])
        >>> visits.answer().epsilon_total
        Fraction(2, 1)
    """

    def __init__(
        self,
        universe: int,
        *,
        crop: int,
        epsilon: Amount,
        answers: int = 1,
        ledger: LedgerChoice = DEFAULT,
        dataset: str | None = None,
        grant: Grant | None = None,
        noise: Noise | None = None,
        random: Callable[[int], bytes] = os.urandom,
    ) -> None:
        """Declare everything; counters and entries are drawn at once.

        Args:
            universe: how many users could be seen, numbered from 0.
            crop: visits beyond this number do not count.
            epsilon: of the state, and of all answers together.
            answers: how many there may be.
            ledger: where the spending is kept; None keeps no record.
            dataset: the name the ledger knows the stream by.
            grant: what it is paid from instead, as a ledger gives it.
            noise: where the noise of answers comes from.
            random: where counters come from; another source is for tests alone.
        """
        _check_crops([crop])
        self.crop = crop
        self._touched = DensityEstimator(
            universe,
            epsilon=epsilon,
            answers=answers,
            sample=universe,
            ledger=ledger,
            dataset=dataset,
            grant=grant,
            noise=noise,
        )
        self._counters = uniform(universe, crop, random)

    @property
    def state(self) -> tuple[Counters, Bytes]:
        """Return counters and entries as an intruder would see them."""
        return self._counters.copy(), self._touched.state

    def update(self, ids: Any) -> None:
        """Count visits of users; ids of nobody in the universe are passed over."""
        places = self._touched.design.universe.places(ids_of(ids))
        inside = places[(places >= 0) & (places < self._counters.size)]
        users, visits = np.unique(inside, return_counts=True)
        after = self._counters[users] + visits
        self._counters[users] = after % self.crop
        self._touched.update(users[after >= self.crop])

    def answer(self) -> VisitStatistic:
        """The cropped mean, paid for and with noise."""
        found = self._touched.answer()
        # Which users the counters have let through is chance too: at most d(1 − d)/m for a mean d.
        likely = min(max(found.density, 0.0), 1.0)
        variance = found.standard_error**2 + likely * (1 - likely) / found.m
        return VisitStatistic(
            self.crop * found.density, self.crop * math.sqrt(variance), found.epsilon_total
        )

    def close(self) -> None:
        """End, and state the cost in the ledger."""
        self._touched.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *reason: object) -> None:
        self.close()


def _check_crops(crops: Collection[int]) -> None:
    """Refuse crops that nothing could be counted with, before anything is paid for."""
    if not crops:
        raise UsageError(
            "no crop above 0 is given, so that nothing is counted; name one, as {1: 1}"
        )
    for crop in crops:
        if not 1 <= crop <= _LARGEST_CROP:
            raise UsageError(f"crop is {crop}; count from 1 to {_LARGEST_CROP:,} visits of a user")


def _check_covers(grant: Grant, cost: Budget) -> None:
    """Refuse a grant in ε that covers a part of a cost, before that part is charged."""
    left = grant.remaining
    if left.measure is Measure.PURE and left.amount < cost.amount:
        raise BudgetExceeded(
            f"asked for {cost}, but {left.as_remainder} is left of the grant; raise the budget or "
            "ask for less",
            requested=cost,
            remaining=left,
        )


class CombinedMeans:
    """A statistic that is a sum of cropped means, whole numbers of each.

    Privacy: the cropped means have an equal part of ε each, and their states are seen together:
    all of them cost ε, and the answers of all another ε. One grant pays for all of it, so that a
    limit that leaves room for a part of them refuses them together, before anything is drawn.

    Args:
        universe: how many users could be seen, numbered from 0.
        weights: by crop, how often its mean counts.
        epsilon: of all states, and of all answers together.
        answers: how many there may be.
        ledger: where the spending is kept; None keeps no record.
        dataset: the name the ledger knows the stream by.
        grant: what all of it is paid from instead, as a ledger gives it.
        noise: where the noise of answers comes from.
    """

    def __init__(
        self,
        universe: int,
        weights: Mapping[int, int],
        *,
        epsilon: Amount,
        answers: int = 1,
        ledger: LedgerChoice = DEFAULT,
        dataset: str | None = None,
        grant: Grant | None = None,
        noise: Noise | None = None,
    ) -> None:
        self.weights = {crop: weight for crop, weight in weights.items() if crop}
        _check_crops(self.weights)
        each = exact(epsilon, what="epsilon") / len(self.weights)
        design = Design.of(universe, epsilon=each, answers=answers, sample=universe)
        cost = Budget.pure(design.total_epsilon() * len(self.weights))
        if grant is not None:
            _check_covers(grant, cost)
        self._account = StreamAccount.of(
            grant,
            cost=cost,
            about={"method": f"stream visits, {design.response.name}"},
            ledger=ledger,
            dataset=dataset,
            noise=noise,
        )
        paid = self._account.grant
        try:
            self._means = {
                crop: CroppedMean(
                    universe, crop=crop, epsilon=each, answers=answers, grant=paid, noise=noise
                )
                for crop in self.weights
            }
        except UnderstudyError:
            self._account.close()
            raise

    @property
    def state(self) -> tuple[tuple[Counters, Bytes], ...]:
        """Return all states as an intruder would see them."""
        return tuple(mean.state for mean in self._means.values())

    def update(self, ids: Any) -> None:
        """Count visits of users."""
        seen = np.asarray(ids)
        for mean in self._means.values():
            mean.update(seen)

    def answer(self) -> VisitStatistic:
        """The statistic, paid for and with noise."""
        found = [(self.weights[crop], mean.answer()) for crop, mean in self._means.items()]
        return VisitStatistic(
            sum(weight * part.value for weight, part in found),
            math.sqrt(sum((weight * part.standard_error) ** 2 for weight, part in found)),
            sum((part.epsilon_total for _, part in found), Fraction(0)),
        )

    def close(self) -> None:
        """End, and state the cost in the ledger."""
        for mean in self._means.values():
            mean.close()
        self._account.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *reason: object) -> None:
        self.close()


def heavy_hitters(universe: int, *, least: int, epsilon: Amount, **terms: Any) -> CombinedMeans:
    """The part of users who were seen at least so often: min(n, k) − min(n, k − 1) is 1 for them.

    Privacy: as for `CombinedMeans`.
    """
    _check_times(least)
    return CombinedMeans(universe, {least: 1, least - 1: -1}, epsilon=epsilon, **terms)


def incidence(universe: int, *, times: int, epsilon: Amount, **terms: Any) -> CombinedMeans:
    """The part of users who were seen exactly so often: those of at least t, less those of t + 1.

    Privacy: as for `CombinedMeans`.
    """
    _check_times(times)
    weights = {times: 2, times - 1: -1, times + 1: -1}
    return CombinedMeans(universe, weights, epsilon=epsilon, **terms)


def _check_times(times: int) -> None:
    if times < 1:
        raise UsageError(f"a user is seen {times} times; ask for once or more often")


def uniform(size: int, below: int, random: Callable[[int], bytes] = os.urandom) -> Counters:
    """Numbers from 0 to `below` − 1, each exactly as likely: words that would favour some go."""
    fair = _WORD - _WORD % below
    found = np.empty(0, np.uint64)
    while found.size < size:
        words = np.frombuffer(random(8 * (size - found.size)), np.uint64)
        found = np.concatenate([found, words[words < fair] if fair < _WORD else words])
    return (found % np.uint64(below)).astype(np.int64)
