"""Shards of one stream, with and without users in several of them."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from support.streams import NoNoise
from understudy.errors import BudgetExceeded, UsageError
from understudy.privacy.accounting.events import LaplaceEvent
from understudy.privacy.budget import Budget
from understudy.privacy.spending.grant import Grant
from understudy.stream import DensityEstimator, Design, Range
from understudy.stream.shards import merged
from understudy.stream.state import State
from understudy.stream.universe import new_key

USERS = 50_000


def _grant() -> Grant:
    return Grant(Budget.pure(100))


def _shards(number: int, **terms: object) -> list[State]:
    design = Design.of(USERS, epsilon=4, **terms)  # type: ignore[arg-type]
    return [State.start(design) for _ in range(number)]


def _update(shard: State, ids: np.ndarray[tuple[int], np.dtype[np.int64]]) -> None:
    DensityEstimator.over(shard, _grant()).update(ids)


@pytest.mark.parametrize("estimator", ["bernoulli", "dwork", "laplace"])
def test_disjoint_shards_add_up(estimator: str) -> None:
    """Each user is in one shard, and the whole budget is in each."""
    design = Design.of(USERS, epsilon=1, estimator=estimator)
    shards = [State.start(design) for _ in range(3)]
    for number, shard in enumerate(shards):
        _update(shard, np.arange(number, USERS // 2, 3))
    grant = Grant(Budget.pure(1))
    answer = merged(shards, grant, disjoint=True)
    assert 6 > abs(answer.density - 0.5) / answer.standard_error
    assert (Fraction(1), Fraction(2), Fraction(0)) == (
        answer.epsilon_state,
        answer.epsilon_total,
        grant.remaining.amount,
    )


def test_shared_users_count_once() -> None:
    """Users may be in any number of shards, each of which has its part of ε."""
    shards = _shards(3, shards=3)
    for number, shard in enumerate(shards):
        _update(shard, np.arange(number * USERS // 5, (number + 2) * USERS // 5))
    assert Fraction(4, 3) == shards[0].design.response.epsilon
    answer = merged(shards, _grant())
    assert 6 > abs(answer.density - 0.8) / answer.standard_error
    assert Fraction(8) == answer.epsilon_total


@pytest.mark.parametrize("disjoint", [True, False])
def test_errors_of_merged_answers_are_as_stated(disjoint: bool) -> None:
    """Over many runs the mean squared error is the square of the standard error."""
    terms = {} if disjoint else {"shards": 2}
    design = Design.of(2000, epsilon=2, **terms)  # type: ignore[arg-type]
    squares, stated = [], []
    for _ in range(400):
        shards = [State.start(design) for _ in range(2)]
        _update(shards[0], np.arange(600))
        _update(shards[1], np.arange(600, 1000) if disjoint else np.arange(400, 1000))
        answer = merged(shards, _grant(), disjoint=disjoint)
        squares.append((answer.density - 0.5) ** 2)
        stated.append(answer.standard_error**2)
    # The mean of 400 squares has a standard deviation of about 7 %.
    assert pytest.approx(1, abs=0.35) == np.mean(squares) / np.mean(stated)


def test_sampled_shards_share_a_key() -> None:
    """Places must be the same in all shards."""
    key = new_key()
    designs = [
        Design.of(Range(10**6, key=k), epsilon=4, sample=USERS) for k in (key, key, new_key())
    ]
    one, other, stranger = (State.start(design) for design in designs)
    _update(one, np.arange(0, 10**6, 2))
    answer = merged([one, other], _grant(), disjoint=True)
    assert 6 > abs(answer.density - 0.5) / answer.standard_error
    with pytest.raises(UsageError, match="different terms or keys"):
        merged([one, stranger], _grant(), disjoint=True)


def test_what_cannot_be_merged_is_refused_unpaid() -> None:
    """Each for its reason, before anything is charged."""
    plain, shared = _shards(2), _shards(2, shards=2)
    quantised = _shards(2, shards=2, estimator="quantised", levels=3)
    seen = _shards(2)
    seen[1].begin_epoch()
    spent = _shards(2)
    spent[0].count_answer()
    cases: list[tuple[list[State], bool, type[Exception], str]] = [
        ([], True, UsageError, "no shards"),
        (plain, False, UsageError, "say that they are disjoint"),
        (shared, True, UsageError, "shared users"),
        (shared[:1], False, UsageError, "give all of them"),
        ([plain[0], shared[0]], True, UsageError, "different terms"),
        (quantised, False, UsageError, "two levels"),
        (seen, True, UsageError, "announced intrusion"),
        (spent, True, BudgetExceeded, "have been given"),
    ]
    for shards, disjoint, error, match in cases:
        grant = _grant()
        with pytest.raises(error, match=match):
            merged(shards, grant, disjoint=disjoint)
        assert [] == grant.charges
    with pytest.raises(UsageError, match="merge all"):
        DensityEstimator.over(shared[0], _grant()).answer()


def test_merged_answers_keep_the_promise() -> None:
    """Sights of both shards and the answer, over all that one shared user may do, exactly.

    A user is in each shard before the intrusion or not, and after it or not.
    """
    epsilon, shards = 1.0, 2
    design = Design.of(1, epsilon=1, shards=shards)
    chance = [
        float(Fraction(law[1], 2**64)) for law in (design.response.initial, design.response.updated)
    ]
    grant = _grant()
    merged([State.start(design) for _ in range(shards)], grant)
    event = grant.charges[0].event
    assert isinstance(event, LaplaceEvent)
    scale = float(event.scale)

    def law(stream: tuple[int, ...]) -> dict[tuple[int, ...], list[float]]:
        found: dict[tuple[int, ...], list[float]] = {}
        befores, afters = stream[:shards], stream[shards:]
        for seen in itertools.product((0, 1), repeat=shards):
            ends: Counter[int] = Counter()
            for last in itertools.product((0, 1), repeat=shards):
                p = 1.0
                for before, after, b, e in zip(befores, afters, seen, last, strict=True):
                    p *= chance[before] if b else 1 - chance[before]
                    p *= (chance[1] if e else 1 - chance[1]) if after else float(b == e)
                ends[sum(last)] += p  # type: ignore[assignment]
            found[seen] = [
                sum(
                    p * math.exp(-sum(abs(x - (k == ones)) for k, x in enumerate(told)) / scale)
                    for ones, p in ends.items()
                )
                for told in itertools.product((0, 1), repeat=shards + 1)
            ]
        return found

    laws = [law(stream) for stream in itertools.product((0, 1), repeat=2 * shards)]
    worst = max(
        abs(math.log(x / y))
        for one in laws
        for other in laws
        for seen in one
        for x, y in zip(one[seen], other[seen], strict=True)
    )
    assert 2 * epsilon >= worst - 1e-9
    assert epsilon < worst


def test_counts_of_ones_are_exact() -> None:
    """Without noise the merged estimate is that of the bits themselves."""
    shards = _shards(2, shards=2)
    bits = np.array([shard.live.levels(0, USERS) for shard in shards], np.float64)
    response = shards[0].design.response
    absent = (response.mean + response.gap - bits) / response.gap
    expected = 1 - float(absent.prod(axis=0).mean())
    assert pytest.approx(expected) == merged(shards, _grant(), noise=NoNoise()).density
