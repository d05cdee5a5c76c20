"""The sketch of Flajolet and Martin: where users go, what it counts, and what one user changes."""

from __future__ import annotations

import numpy as np
import pytest

from understudy.errors import UsageError
from understudy.privacy.budget import Budget
from understudy.privacy.spending.grant import Grant
from understudy.stream import DensityEstimator, Design, Sketch
from understudy.stream.header import document_of
from understudy.stream.shards import merged
from understudy.stream.sketch import level_shares, level_sums, likeliest, standard_error
from understudy.stream.state import State
from understudy.stream.universe import LEVELS, sketch_places

KEY = 64 * "5"
# Errors that chance does not bring: a normal number is beyond them once in 10⁹.
FAR = 6.0


def test_each_level_has_half_of_the_users_left() -> None:
    """By the key's hash; buckets of a level have equally many."""
    places = Sketch(50, KEY).places(np.arange(200_000))
    found = np.bincount(places // 50, minlength=LEVELS) / places.size
    shares = level_shares()
    assert 1.0 == pytest.approx(shares.sum())
    errors = np.sqrt(shares * (1 - shares) / places.size)
    assert (abs(found - shares)[:10] < FAR * errors[:10]).all()
    firsts = np.bincount(places[places < 50], minlength=50)
    assert (abs(firsts - firsts.mean()) < FAR * np.sqrt(firsts.mean())).all()


def test_the_last_level_has_whoever_is_left() -> None:
    """A hash whose low 23 bits are 0 is of the last level, and the one before has bit 22."""
    hashes = np.array([3 << 24, (3 << 24) | (1 << 22), (3 << 24) | 1], np.uint64)
    assert [23 * 7 + 3, 22 * 7 + 3, 3] == sketch_places(hashes, 7).tolist()


@pytest.mark.parametrize("users", [0, 100, 30_000, 3_000_000])
@pytest.mark.parametrize("estimator", ["bernoulli", "quantised"])
def test_any_number_of_users_is_found(users: int, estimator: str) -> None:
    """To six of its standard errors, from one state of 2,400 bits; more epsilon, less error."""
    visits = DensityEstimator(
        Sketch(100), epsilon=2, estimator=estimator, levels=2, answers=2, ledger=None
    )
    visits.update(np.arange(users))
    for answer in (visits.answer(), visits.answer()):
        assert FAR > abs(answer.distinct - users) / answer.distinct_error
        assert FAR > abs(answer.density - _taken(users, 100)) / (answer.standard_error + 0.01)
    assert 2400 == answer.m


def _taken(users: int, buckets: int) -> float:
    """The part of all places that n users take on average."""
    return float(-np.expm1(-users * level_shares() / buckets).mean())


def test_seen_twice_counts_once() -> None:
    """Users who come again change nothing, and numbers are the texts that people write."""
    sketch = Sketch(40, KEY)
    assert sketch.places(np.array([7, 7])).tolist() == 2 * sketch.places(np.array([7])).tolist()
    design = Design.of(Sketch(200), epsilon=4)
    visits = DensityEstimator.over(State.start(design), Grant(Budget.pure(8)))
    for _ in range(20):
        visits.update(np.arange(1_000))
    answer = visits.answer()
    assert FAR > abs(answer.distinct - 1_000) / answer.distinct_error


@pytest.mark.slow
def test_errors_are_as_large_as_is_said() -> None:
    """Over 200 states, for few and for many users: on average within a tenth, and no bias."""
    for users in (1_000, 100_000):
        found, said = [], []
        for start in range(200):
            visits = DensityEstimator(Sketch(100), epsilon=1, ledger=None)
            visits.update(np.arange(users) + users * start)
            answer = visits.answer()
            found.append(answer.distinct)
            said.append(answer.distinct_error)
        error = float(np.std(found))
        # The deviation of 200 normal numbers is off by 5 % on average.
        assert 0.6 < error / float(np.mean(said)) < 1.3
        assert FAR > abs(np.mean(found) - users) / (error / 200**0.5) - 1


def test_a_user_moves_one_sum_by_one_entry() -> None:
    """So that noise for one entry on every sum costs what one answer costs."""
    design = Design.of(Sketch(11, KEY), epsilon=1)
    state = State.start(design)
    before = level_sums(state)
    assert (LEVELS, int(state.live.total)) == (before.size, int(before.sum()))
    for place in range(design.sample):
        byte, bit = divmod(place, 8)
        state.live.bytes[byte] ^= np.uint8(1 << bit)
        moved = level_sums(state) - before
        assert 1 == abs(moved).sum()
        assert place // 11 == int(abs(moved).argmax())
        state.live.bytes[byte] ^= np.uint8(1 << bit)


def test_answers_cost_what_those_of_a_size_do() -> None:
    """A state for ε, and all answers for another: the noise is on every level's sum."""
    grant = Grant(Budget.pure(2))
    visits = DensityEstimator(Sketch(5), epsilon=1, answers=4, grant=grant)
    for _ in range(4):
        visits.answer()
    assert 0 == grant.remaining.amount
    assert 1 == visits.design.sizing.noise.scale * visits.design.answer_epsilon


def test_the_likeliest_number_of_exact_sums_is_the_true_one() -> None:
    """The means of the sums lead back to the number that they are of, within its error."""
    design = Design.of(Sketch(1_000, KEY), epsilon=8)
    for users in (0.0, 50.0, 7e3, 2e6, 3e9):
        taken = -np.expm1(-users * level_shares() / 1_000)
        sums = 1_000 * (design.response.mean + design.response.gap * taken)
        near = standard_error(design, users)
        assert users == pytest.approx(likeliest(design, sums), abs=near)
    assert standard_error(design, 1e3) < standard_error(design, 1e6)


def test_what_a_sketch_cannot_do_is_refused() -> None:
    """Users cannot go away, epochs and shards cannot be put together, and it has a bucket."""
    visits = DensityEstimator(Sketch(5), epsilon=1, intrusions=1, ledger=None)
    with pytest.raises(UsageError, match="share their place"):
        visits.delete([1])
    with pytest.raises(UsageError, match="one epoch"):
        visits.announce_intrusion()
    with pytest.raises(UsageError, match="at least 1"):
        Sketch(0)
    with pytest.raises(UsageError, match="no shards"):
        Design.of(Sketch(5), epsilon=1, shards=2)
    with pytest.raises(UsageError, match="kept whole"):
        Design.of(Sketch(5), epsilon=1, sample=60)
    states = [State.start(Design.of(Sketch(5, KEY), epsilon=1)) for _ in range(2)]
    with pytest.raises(UsageError, match="cannot be merged"):
        merged(states, Grant(Budget.pure(1)), disjoint=True)
    assert ("sketch", 5) == tuple(document_of(states[0].design)[name] for name in ("kind", "size"))
