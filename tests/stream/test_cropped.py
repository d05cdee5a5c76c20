"""Counts of visits: the exact loss of their state and answer, their means, and their errors."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support.streams import discrete_laplace
from understudy.errors import BudgetExceeded, UsageError
from understudy.privacy.budget import Budget
from understudy.privacy.spending.grant import Grant
from understudy.privacy.spending.ledger import Ledger
from understudy.stream.account import WHOM
from understudy.stream.cropped import (
    CombinedMeans,
    CroppedMean,
    heavy_hitters,
    incidence,
    uniform,
)
from understudy.stream.response import WHOLE, optimal_bernoulli
from understudy.testing import SeededNoise

EPSILON = Fraction(1, 2)
# Rounding of logarithms.
SLACK = 1e-9
# Nine standard errors, which are upper bounds; chance does not pass them.
FAR = 9.0

Course = dict[tuple[int, int, int], Fraction]
"""The chance of the counter and the entry that an intruder saw, and of the entry at the end."""


@dataclass(frozen=True)
class _Path:
    """One way that a user's randomness can go: counter and entry, and what an intruder saw."""

    counter: int
    entry: int
    chance: Fraction
    sight: tuple[int, int] = (-1, -1)

    def seen(self) -> _Path:
        """The state is seen now."""
        return replace(self, sight=(self.counter, self.entry))

    def visited(self, crop: int) -> list[_Path]:
        """One more visit: the counter continues, and at 0 the entry is drawn again."""
        counter = (self.counter + 1) % crop
        if counter:
            return [replace(self, counter=counter)]
        law = _law(optimal_bernoulli(EPSILON).updated)
        return [
            replace(self, counter=counter, entry=bit, chance=self.chance * law[bit])
            for bit in (0, 1)
        ]


def _law(words: tuple[int, ...]) -> list[Fraction]:
    return [Fraction(word, WHOLE) for word in words]


def _courses(visits: int, sight: int, crop: int) -> Course:
    """One user with some visits, seen after `sight` of them: every path of the randomness."""
    first = _law(optimal_bernoulli(EPSILON).initial)
    starts = itertools.product(range(crop), (0, 1))
    paths = [_Path(start, bit, first[bit] / crop) for start, bit in starts]
    for step in range(visits + 1):
        paths = [path.seen() for path in paths] if step == sight else paths
        if step < visits:
            paths = [after for path in paths for after in path.visited(crop)]
    found: Course = defaultdict(Fraction)
    for path in paths:
        found[*path.sight, path.entry] += path.chance
    return found


def _loss(one: Course, other: Course, scale: float) -> float:
    """The largest logarithm of a ratio over sights and noisy answers."""
    law, worst = discrete_laplace(scale), 0.0
    sights = {key[:2] for key in (*one, *other)}
    for sight, answer in itertools.product(sights, range(-6, 8)):
        chances = [
            sum(float(found.get((*sight, bit), 0)) * law(answer - bit) for bit in (0, 1))
            for found in (one, other)
        ]
        worst = max(worst, abs(math.log(chances[0] / chances[1])))
    return worst


@pytest.mark.parametrize("crop", [1, 2, 3])
def test_state_and_answer_stay_within_two_epsilon(crop: int) -> None:
    """Whatever number of visits a user has, before the intrusion and after it."""
    streams = [(n, s) for n in range(5) for s in range(n + 1)]
    courses = {stream: _courses(*stream, crop) for stream in streams}
    scale = float(1 / EPSILON)
    worst = max(
        _loss(courses[one], courses[other], scale)
        for one, other in itertools.permutations(streams, 2)
    )
    assert 2 * float(EPSILON) >= worst - SLACK
    assert float(EPSILON) / 2 < worst
    # Half of the noise would break the promise.
    less = max(
        _loss(courses[one], courses[other], scale / 4)
        for one, other in itertools.permutations(streams, 2)
    )
    assert less > 2 * float(EPSILON)


@pytest.mark.parametrize("crop", [1, 2, 3, 5])
def test_entries_are_drawn_again_with_the_chance_of_the_cropped_count(crop: int) -> None:
    """After n visits a share of exactly min(n, t)/t of all starts has come round."""
    for visits in range(8):
        round_ = sum(start + visits >= crop for start in range(crop))
        assert Fraction(min(visits, crop), crop) == Fraction(round_, crop)


def test_batches_are_visits_one_by_one() -> None:
    """A user who is three times in a batch has three visits; ids of nobody are passed over."""
    users, script = 50, np.random.default_rng(1)
    ids = script.integers(-2, users + 2, 200)
    means = [CroppedMean(users, crop=3, epsilon=1, ledger=None, random=_zeros) for _ in range(2)]
    means[0].update(ids)
    for each in ids:
        means[1].update([each])
    counters = [mean.state[0].tolist() for mean in means]
    inside = ids[(ids >= 0) & (ids < users)]
    assert (np.bincount(inside, minlength=users) % 3).tolist() == counters[0] == counters[1]


def _zeros(size: int) -> bytes:
    return bytes(size)


def _visits(users: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """How often each user is seen: never, once, twice and five times, a quarter each."""
    return np.resize(np.array([0, 1, 2, 5]), users)


def test_statistics_are_those_of_the_visits() -> None:
    """Cropped mean, heavy hitters and incidence of 40,000 users, within their standard errors."""
    users = 40_000
    visits = _visits(users)
    ids = np.repeat(np.arange(users), visits)
    np.random.default_rng(2).shuffle(ids)
    expected = {"mean": 1.5, "heavy": 0.5, "exactly": 0.25}
    asked: dict[str, Any] = {"epsilon": 4, "ledger": None}
    found: dict[str, CroppedMean | CombinedMeans] = {
        "mean": CroppedMean(users, crop=3, **asked),
        "heavy": heavy_hitters(users, least=2, **asked),
        "exactly": incidence(users, times=1, **asked),
    }
    for name, statistic in found.items():
        statistic.update(ids)
        answer = statistic.answer()
        assert expected[name] == pytest.approx(answer.value, abs=FAR * answer.standard_error)
        assert answer.standard_error < 0.1
        assert Fraction(8) == answer.epsilon_total


def test_standard_errors_are_about_those_of_many_runs() -> None:
    """Over 200 states the scatter is not larger than stated, and not far below."""
    users, values, errors = 500, [], []
    ids = np.repeat(np.arange(users), _visits(users))
    for seed in range(200):
        mean = CroppedMean(users, crop=3, epsilon=4, ledger=None, noise=SeededNoise(seed))
        mean.update(ids)
        answer = mean.answer()
        values.append(answer.value)
        errors.append(answer.standard_error)
    # The standard deviation of 200 values is within a third of the truth, always.
    assert 0.6 * np.mean(errors) < np.std(values) < 1.34 * np.mean(errors)
    assert 1.5 == pytest.approx(float(np.mean(values)), abs=6 * float(np.mean(errors)) / 200**0.5)


def test_counters_are_uniform_whatever_a_user_does() -> None:
    """Words that would favour small counters are drawn again."""
    below = 3
    words = [2**64 - 1, 5, 2**64 - 2]
    feed = iter(words)

    def scripted(size: int) -> bytes:
        return b"".join(next(feed).to_bytes(8, "little") for _ in range(size // 8))

    # 2⁶⁴ = 3·k + 1, so that the last word alone is unfair.
    assert [5 % below, (2**64 - 2) % below] == uniform(2, below, scripted).tolist()
    found = np.bincount(uniform(30_000, 5), minlength=5)
    assert abs(found - 6_000).max() < 7 * math.sqrt(6_000)


def test_everything_is_paid_for() -> None:
    """A grant that is too small is refused, and answers end."""
    with pytest.raises(BudgetExceeded):
        CroppedMean(10, crop=2, epsilon=1, grant=Grant(Budget.pure("1/2")))
    grant = Grant(Budget.pure(2))
    statistic = heavy_hitters(10, least=2, epsilon=1, grant=grant)
    statistic.answer()
    assert 4 == len(grant.charges)
    with pytest.raises(BudgetExceeded, match="declare more"):
        statistic.answer()


@pytest.mark.parametrize("crop", [0, -1, 2**17])
def test_impossible_crops_are_refused(crop: int) -> None:
    """The message says how many visits can be counted."""
    with pytest.raises(UsageError, match="visits of a user"):
        CroppedMean(10, crop=crop, epsilon=1, ledger=None)
    with pytest.raises(UsageError, match="once or more often"):
        incidence(10, times=0, epsilon=1, ledger=None)
    with pytest.raises(UsageError, match="once or more often"):
        heavy_hitters(10, least=0, epsilon=1, ledger=None)


def test_users_of_one_visit_are_the_distinct_ones() -> None:
    """Of at least one visit nothing is taken away: one cropped mean at all of ε."""
    statistic = heavy_hitters(100, least=1, epsilon=1, ledger=None)
    assert isinstance(statistic, CombinedMeans)
    assert {1: 1} == statistic.weights


def test_one_grant_pays_for_all_means(tmp_path: Path) -> None:
    """The ledger has one entry for an incidence of three means, and closes it at 2ε."""
    ledger = Ledger(tmp_path / "ledger.jsonl")
    with incidence(50, times=2, epsilon=1, ledger=ledger, dataset="visits") as statistic:
        statistic.answer()
    [run] = ledger.account("visits").runs
    assert 6 == run["charges"]
    assert Fraction(2) == ledger.account("visits").spent.epsilon


def test_a_limit_refuses_all_means_together(tmp_path: Path) -> None:
    """Where one of two means would fit, neither is drawn, and nothing is spent."""
    ledger = Ledger(tmp_path / "ledger.jsonl")
    ledger.limit("visits", epsilon=Fraction(3, 2), adjacency=WHOM)
    with pytest.raises(BudgetExceeded):
        heavy_hitters(50, least=2, epsilon=1, ledger=ledger, dataset="visits")
    assert () == ledger.account("visits").runs


@pytest.mark.parametrize("option", ["path", "shards", "intrusions", "outside", "estimator"])
def test_options_that_would_do_nothing_are_not_taken(option: str) -> None:
    """Counters are in memory, of one shard and of all users, so a density's options are unknown."""
    asked: dict[str, Any] = {option: 2, "epsilon": 1}
    with pytest.raises(TypeError, match=option):
        CroppedMean(10, crop=2, **asked)
    with pytest.raises(TypeError, match=option):
        incidence(10, times=2, **asked)


@pytest.mark.parametrize("weights", [{}, {0: 1}, {1: 1, 10**9: 1}, {-1: 2, 3: 1}])
def test_crops_that_count_nothing_are_refused_before_they_cost(weights: dict[int, int]) -> None:
    """No crop, 0 alone, or one that is impossible beside others: nothing is charged."""
    grant = Grant(Budget.pure(9))
    with pytest.raises(UsageError, match="crop"):
        CombinedMeans(100, weights, epsilon=1, grant=grant)
    assert [] == list(grant.charges)


@pytest.mark.parametrize(("left", "fits"), [("1.5", False), ("3.9", False), (4, True)])
def test_a_grant_pays_for_all_means_or_for_none(left: Any, fits: bool) -> None:
    """A grant with room for one of two states is not charged for that one."""
    grant = Grant(Budget.pure(left))
    if fits:
        CombinedMeans(100, {1: 1, 2: 1}, epsilon=2, grant=grant)
        assert 2 == len(grant.charges)
        return
    with pytest.raises(BudgetExceeded, match="is left of the grant"):
        CombinedMeans(100, {1: 1, 2: 1}, epsilon=2, grant=grant)
    assert [] == list(grant.charges)
