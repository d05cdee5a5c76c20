"""Private choices come as often as the closed form of the mechanism says, penalties included."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest

from support.neighbours import random_rows, source_of
from support.statistics import NEVER, fit_of_choices
from understudy.facts.domain import Attributes
from understudy.facts.unit import Unit
from understudy.methods.structure.scores import r_score, total_variation
from understudy.privacy.budget import Budget
from understudy.privacy.curator import Curator
from understudy.privacy.mechanisms.selection import Exponential, PermuteAndFlip
from understudy.privacy.spending.grant import Grant
from understudy.rows.counting import Score

ROWS = random_rows(200, seed=8)
CANDIDATES: list[Attributes] = [
    *(("colour", "size"), ("size", "sold"), ("colour", "sold")),
    *(("one", "size"), ("colour", "size", "sold")),
]
DRAWS = 8000
Chances = npt.NDArray[np.float64]


def _penalties(score: Score) -> list[float]:
    """Penalties large against the sensitivity, the largest for the best candidate."""
    return [float(score.sensitivity) * weight for weight in (7, 0, 2, 1, 3)]


def _steps(score: Score, penalties: list[float]) -> npt.NDArray[np.int64]:
    """Scores less penalties, in steps of a 65536th part of the sensitivity."""
    exact = source_of(ROWS).score(CANDIDATES, score.kernel)
    step = float(score.sensitivity / 2**16)
    return np.asarray(np.rint((exact - np.array(penalties)) / step), np.int64)


def _draws(score: Score, each: Budget) -> npt.NDArray[np.int64]:
    penalties = dict(zip(CANDIDATES, _penalties(score), strict=True))
    unit = Unit(score.neighbours)
    curator = Curator(source_of(ROWS), unit, Grant(each * DRAWS))
    chosen = [
        curator.select(CANDIDATES, score, each, of=lambda c: c, penalty=penalties.__getitem__)
        for _ in range(DRAWS)
    ]
    return np.array([CANDIDATES.index(c) for c in chosen])


@pytest.mark.parametrize("score", [r_score(len(ROWS)), total_variation()], ids=lambda s: s.name)
@pytest.mark.parametrize("each", [Budget.pure(2), Budget.zcdp("1/2")], ids=str)
@pytest.mark.slow
def test_choices_fit_the_closed_form(score: Score, each: Budget) -> None:
    """Permute-and-flip under ε, the exponential mechanism under ρ; nothing else fits."""
    # ρ = 1/2 affords the exponential mechanism ε = √(8ρ) = 2.
    sensitivity = Fraction(2**16 + 2)
    flip = PermuteAndFlip.costing(Fraction(2), sensitivity=sensitivity)
    gumbel = Exponential.costing(Fraction(2), sensitivity=sensitivity)
    used, other = (flip, gumbel) if each.measure == "pure" else (gumbel, flip)
    steps = _steps(score, _penalties(score))

    draws = _draws(score, each)
    assert fit_of_choices(draws, used.probabilities(steps)) > NEVER
    assert fit_of_choices(draws, other.probabilities(steps)) < NEVER
    without = used.probabilities(_steps(score, [0.0] * len(CANDIDATES)))
    assert fit_of_choices(draws, without) < NEVER
