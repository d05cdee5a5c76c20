"""Randomised response: each respondent changes the own answer by chance, and trusts nobody.

This is the local model, in which there is no curator: what leaves a respondent is the report, and
the shares of true answers are estimated from all reports together.
Source: Warner 1965; TUC-1 Algorithm 2.1 (two coins, ε = log 3); TUC-2 section 2.2 and
definition 2.7. Proof: docs/proofs/randomised_response.md.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from understudy.errors import UsageError
from understudy.privacy.budget import Amount, exact
from understudy.privacy.noise.laws import DOUBT, falling

_BITS = 64
_WHOLE = 1 << _BITS
_PLACES = 192


@dataclass(frozen=True)
class LocalEstimate:
    """Shares of true answers, estimated from reports.

    Attributes:
        shares: of every value, right on average; noise may take one below 0 or above 1.
        errors: the standard error of each, that of the respondents' chance alone.
    """

    shares: tuple[float, ...]
    errors: tuple[float, ...]


@dataclass(frozen=True)
class RandomisedResponse:
    """A question with listed answers, each of which is reported as it is or as another by chance.

    Privacy: one report is ε-differentially private for its respondent, whoever reads it and
    whatever the others report. Several reports of one respondent add up.

    Args:
        values: how many answers there are, numbered from 0.
        epsilon: what one report may reveal.

    Example:
        >>> coins = RandomisedResponse.of_coins()
        >>> round(coins.loss, 6) == round(math.log(3), 6)
        True
        >>> coins.estimate([1] * 60 + [0] * 40).shares[1]
        0.7
    """

    values: int
    epsilon: Amount

    def __post_init__(self) -> None:
        if self.values < 2:
            raise UsageError(f"values is {self.values}; a question has two answers or more")
        if self._exact_epsilon <= 0:
            raise UsageError(f"epsilon is {self.epsilon}; a report reveals something, give more")
        if self._wrong >= self._right:
            raise UsageError(
                f"epsilon is {self.epsilon}; every report would be as likely; give 1e-15 or more"
            )

    @classmethod
    def of_coins(cls) -> RandomisedResponse:
        """The theses' two coins: heads, the truth; tails, yes or no by the second coin."""
        return cls(2, Fraction(math.log(3)))

    @property
    def _exact_epsilon(self) -> Fraction:
        return exact(self.epsilon, what="epsilon")

    @property
    def _wrong(self) -> int:
        """The chance of each other answer in 2⁶⁴ths, rounded up: towards what reveals less."""
        others = self.values - 1
        over = falling(self._exact_epsilon, _PLACES) + DOUBT
        right = (_WHOLE << _PLACES) // ((1 << _PLACES) + others * over)
        return -((right - _WHOLE) // others)

    @property
    def _right(self) -> int:
        return _WHOLE - (self.values - 1) * self._wrong

    @property
    def loss(self) -> float:
        """The ε that a report really takes, at or below the one that is claimed."""
        return math.log(self._right / self._wrong)

    @property
    def law(self) -> npt.NDArray[np.float64]:
        """Return the chance of every report (a column) for every true answer (a line)."""
        chances = np.full((self.values, self.values), self._wrong / _WHOLE)
        np.fill_diagonal(chances, self._right / _WHOLE)
        return chances

    def report(self, answer: int, bits: Callable[[int], int] = secrets.randbits) -> int:
        """Draw what a respondent says; drawn from the operating system.

        Args:
            answer: the true one.
            bits: draws a number of some bits; another source is for tests alone.
        """
        if not 0 <= answer < self.values:
            raise UsageError(f"an answer is one of {self.values}, numbered from 0; number it so")
        drawn = bits(_BITS)
        if drawn < self._right:
            return answer
        other = (drawn - self._right) // self._wrong
        return other + (other >= answer)

    def estimate(self, reports: Sequence[int]) -> LocalEstimate:
        """Unbiased shares of true answers; free, since reports have left already."""
        if not len(reports):
            raise UsageError("there are no reports; ask someone first")
        counts = np.bincount(np.asarray(reports), minlength=self.values)
        if counts.size > self.values:
            raise UsageError(f"a report is one of {self.values}, numbered from 0; leave others out")
        said, wrong = counts / counts.sum(), self._wrong / _WHOLE
        gap = (self._right - self._wrong) / _WHOLE
        errors = np.sqrt(said * (1 - said) / counts.sum()) / gap
        return LocalEstimate(tuple(((said - wrong) / gap).tolist()), tuple(errors.tolist()))
