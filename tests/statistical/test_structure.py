"""AAU section 4.2.1: how often private choices find the greedy network, and what they lose.

Binary copula data of 1,000 rows and five attributes; mutual information, degree three. The closed
forms are those of the study; the runs here draw real noise, where the study's is seeded.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache

import numpy as np
import numpy.typing as npt
import pytest
from scipy.stats import binomtest

from support.statistics import NEVER
from understudy.facts.unit import Neighbours, Unit
from understudy.methods.structure.greedy import greedy_network
from understudy.models.network import Family
from understudy.privacy.budget import Budget
from understudy.privacy.curator import Curator
from understudy.privacy.spending.grant import Grant
from understudy_studies.copula import DEGREE, FREE
from understudy_studies.private_networks import (
    SCORE,
    chance_of_greedy,
    expected,
    greedy,
    information,
    source,
)

EPSILONS = ["50", "5", "1/2", "1/20"]
RUNS = 1000

Path = tuple[Family, ...]


def _found(epsilon: str) -> Path:
    budget = Budget.pure(epsilon)
    curator = Curator(source(), Unit(Neighbours.REPLACE), Grant(budget))
    return greedy_network(curator, budget, score=SCORE, table_cost=FREE, degree=DEGREE).families


@cache
def _runs(epsilon: str) -> list[Path]:
    return [_found(epsilon) for _ in range(RUNS)]


def _total(path: Path) -> float:
    """Σ I(child; parents), exact."""
    return sum(map(information, path))


def _losses(paths: Sequence[Path]) -> npt.NDArray[np.float64]:
    return _total(greedy()) - np.array([_total(path) for path in paths])


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_greedy_network_is_found_as_often_as_the_closed_form_says(epsilon: str) -> None:
    """The share of runs is the product of the mechanism's chances along the greedy path."""
    chance = chance_of_greedy(Fraction(epsilon))
    hits = sum(path == greedy() for path in _runs(epsilon))
    assert binomtest(hits, RUNS, chance).pvalue > NEVER


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "other"), [("50", "25"), ("5", "10")])
def test_another_epsilon_would_find_it_more_or_less_often(epsilon: str, other: str) -> None:
    """Twice the noise, or half of it, fails the test that the true noise passes."""
    hits = sum(path == greedy() for path in _runs(epsilon))
    assert binomtest(hits, RUNS, chance_of_greedy(Fraction(other))).pvalue < NEVER


@pytest.mark.slow
def test_the_loss_of_score_falls_as_epsilon_grows() -> None:
    """By the closed form over all paths, and in the runs, which agree with it."""
    means, errors, exact = [], [], []
    for epsilon in EPSILONS:
        losses = _losses(_runs(epsilon))
        means.append(float(losses.mean()))
        errors.append(float(losses.std()) / RUNS**0.5)
        exact.append(_total(greedy()) - expected(information, Fraction(epsilon)))
        assert abs(means[-1] - exact[-1]) < 7 * errors[-1]
    assert exact == sorted(exact)
    assert means == sorted(means)
    assert len(set(exact)) == len(exact)
