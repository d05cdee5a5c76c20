"""AAU section 4.2.1: how often private choices find the greedy network, and what they lose.

Binary copula data of 1,000 rows and five attributes; mutual information, degree three.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction
from functools import cache

import numpy as np
import numpy.typing as npt
import pytest
from scipy.stats import binomtest

from support.statistics import NEVER
from understudy.counting import ScoreKernel, Scores
from understudy.domain import Attributes, Domain
from understudy.engines.memory import MemorySource
from understudy.learn.greedy import greedy_network
from understudy.learn.scores import mutual_information
from understudy.learn.weighing import Weighing
from understudy.marginal import Marginal
from understudy.network import Family
from understudy.privacy.budget import Budget
from understudy.privacy.curator import Curator
from understudy.privacy.grant import Grant
from understudy.privacy.mechanisms import PermuteAndFlip
from understudy.privacy.unit import Neighbours, Unit
from understudy.table import Table

ROWS, DEGREE = 1000, 3
DOMAIN = Domain({f"z{i}": 2 for i in range(1, 6)})
SCORE = mutual_information(ROWS, binary=True)
EPSILONS = ["50", "5", "1/2", "1/20"]
RUNS = 1000

Path = tuple[Family, ...]


class RememberingSource:
    """Scores each table once for all runs: the rows never change."""

    def __init__(self, source: MemorySource) -> None:
        self.domain, self.rows_read = source.domain, source.rows_read
        self.rows_per_person = source.rows_per_person
        self._source = source
        self._known: dict[Attributes, float] = {}

    def count(self, sets: Sequence[Attributes]) -> list[Marginal]:
        """Counts as they are."""
        return self._source.count(sets)

    def score(self, sets: Sequence[Attributes], kernel: ScoreKernel) -> Scores:
        """Scores, remembered."""
        for attributes in sets:
            if attributes not in self._known:
                self._known[attributes] = float(self._source.score([attributes], kernel)[0])
        return np.array([self._known[attributes] for attributes in sets])


@cache
def _source() -> RememberingSource:
    """Normal variables with correlations by distance, cut at their median."""
    by_distance = [1.0, 0.6, 0.5, 0.4, 0.3]
    covariance = [[by_distance[abs(i - j)] for j in range(5)] for i in range(5)]
    normal = np.random.default_rng(421).multivariate_normal(np.zeros(5), covariance, ROWS)
    codes = {name: (normal[:, i] > 0).astype(np.uint8) for i, name in enumerate(DOMAIN)}
    return RememberingSource(MemorySource(Table(DOMAIN, codes, ROWS)))


def _information(families: Sequence[Family]) -> float:
    """Σ I(child; parents), exact."""
    return float(_source().score([f.attributes for f in families], SCORE.kernel).sum())


def _candidates(path: Path) -> list[Family]:
    placed = [family.child for family in path]
    return [
        Family(child, parents)
        for child in DOMAIN
        if child not in placed
        for size in range(DEGREE + 1)
        for parents in itertools.combinations(placed, size)
    ]


def _steps(candidates: Sequence[Family]) -> npt.NDArray[np.int64]:
    """Scores on the grid that choices are made on."""
    exact = _source().score([f.attributes for f in candidates], SCORE.kernel)
    return np.rint(exact / float(SCORE.sensitivity / 2**16)).astype(np.int64)


def _chances(candidates: Sequence[Family], epsilon: Fraction) -> npt.NDArray[np.float64]:
    """The closed form of one choice at a quarter of ε."""
    flip = PermuteAndFlip.costing(epsilon / 4, sensitivity=Fraction(2**16 + 2))
    return flip.probabilities(_steps(candidates))


@cache
def _greedy() -> Path:
    """The network of the highest score at every step."""
    path: Path = (Family("z1"),)
    while len(path) < len(DOMAIN):
        candidates = _candidates(path)
        path = (*path, candidates[int(_steps(candidates).argmax())])
    return path


def _chance_of_greedy(epsilon: Fraction) -> float:
    chance = 1.0
    for length in range(1, len(DOMAIN)):
        path = _greedy()[:length]
        candidates = _candidates(path)
        found = candidates.index(_greedy()[length])
        chance *= float(_chances(candidates, epsilon)[found])
    return chance


@cache
def _expected_information(epsilon: Fraction, placed: frozenset[str]) -> float:
    """The mean of what is still to be gained, over all ways the search can go from here.

    What matters of the past is which attributes are placed: only they can be parents.
    """
    if len(placed) == len(DOMAIN):
        return 0.0
    candidates = _candidates(tuple(Family(a) for a in DOMAIN if a in placed))
    gains = _source().score([f.attributes for f in candidates], SCORE.kernel)
    later = [_expected_information(epsilon, placed | {f.child}) for f in candidates]
    return float(_chances(candidates, epsilon) @ (gains + np.array(later)))


def _found(epsilon: str) -> Path:
    budget = Budget.pure(epsilon)
    curator = Curator(_source(), Unit(Neighbours.REPLACE), Grant(budget))
    free = Weighing(0.0, 2**31)
    return greedy_network(curator, budget, score=SCORE, weighing=free, degree=DEGREE).families


@cache
def _runs(epsilon: str) -> list[Path]:
    return [_found(epsilon) for _ in range(RUNS)]


def _losses(paths: Sequence[Path]) -> npt.NDArray[np.float64]:
    return _information(_greedy()) - np.array([_information(path) for path in paths])


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_greedy_network_is_found_as_often_as_the_closed_form_says(epsilon: str) -> None:
    """The share of runs is the product of the mechanism's chances along the greedy path."""
    chance = _chance_of_greedy(Fraction(epsilon))
    hits = sum(path == _greedy() for path in _runs(epsilon))
    assert binomtest(hits, RUNS, chance).pvalue > NEVER


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "other"), [("50", "25"), ("5", "10")])
def test_another_epsilon_would_find_it_more_or_less_often(epsilon: str, other: str) -> None:
    """Twice the noise, or half of it, fails the test that the true noise passes."""
    hits = sum(path == _greedy() for path in _runs(epsilon))
    assert binomtest(hits, RUNS, _chance_of_greedy(Fraction(other))).pvalue < NEVER


@pytest.mark.slow
def test_the_loss_of_score_falls_as_epsilon_grows() -> None:
    """By the closed form over all paths, and in the runs, which agree with it."""
    means, errors, exact = [], [], []
    for epsilon in EPSILONS:
        losses = _losses(_runs(epsilon))
        means.append(float(losses.mean()))
        errors.append(float(losses.std()) / RUNS**0.5)
        found = _expected_information(Fraction(epsilon), frozenset({"z1"}))
        exact.append(_information(_greedy()) - found)
        assert abs(means[-1] - exact[-1]) < 7 * errors[-1]
    assert exact == sorted(exact)
    assert means == sorted(means)
    assert len(set(exact)) == len(exact)
