"""The estimator: what it answers, what it refuses, and that state and budget stay true."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from support.streams import NoNoise
from understudy.errors import BudgetExceeded, CapacityError, DataError, UsageError
from understudy.privacy.budget import Budget
from understudy.privacy.spending.grant import Grant
from understudy.privacy.spending.ledger import Ledger
from understudy.stream import DensityEstimator, Design, Edges, Hashed, Keys, Range
from understudy.stream.entries import Bits
from understudy.stream.reading import line_batches
from understudy.stream.response import ESTIMATORS, optimal_bernoulli
from understudy.stream.state import State
from understudy.stream.texts import Texts

USERS = 20_000


def _texts(*lines: str) -> Texts:
    return Texts.lines(np.frombuffer("\n".join(lines).encode(), np.uint8))


def _off(estimator: DensityEstimator, density: float) -> float:
    """By how many standard errors an answer is off."""
    answer = estimator.answer()
    return abs(answer.density - density) / answer.standard_error


@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimators_find_the_density(name: str) -> None:
    """A user who visits once or often counts once, whatever stands for the user."""
    visits = DensityEstimator(USERS, epsilon=1, estimator=name, ledger=None)
    visits.update(np.tile(np.arange(USERS // 4), 3))
    assert 6 > _off(visits, 0.25)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimators_forget_who_goes_away(name: str) -> None:
    """Deletions undo insertions, in the order in which they come."""
    visits = DensityEstimator(USERS, epsilon=1, estimator=name, ledger=None)
    visits.update(np.arange(USERS))
    visits.delete(np.arange(USERS // 2))
    visits.apply(np.repeat(np.arange(100), 2), np.tile(np.array([0, 1], np.uint8), 100))
    assert 6 > _off(visits, 0.5)


def test_who_goes_away_without_having_come_by_stays_absent() -> None:
    """A deletion before any insertion changes nothing that can be seen."""
    visits = DensityEstimator(USERS, epsilon=1, ledger=None)
    visits.delete(np.arange(USERS))
    assert 6 > _off(visits, 0.0)


def test_a_sample_stands_for_the_universe() -> None:
    """Users that are not sampled have no entry, and the answer is about all of them."""
    visits = DensityEstimator(10 * USERS, epsilon=1, sample=USERS, ledger=None)
    visits.update(np.arange(4 * USERS))
    answer = visits.answer()
    assert (USERS, -(-USERS // 64) * 8) == (answer.m, visits.state.size)
    assert 6 > abs(answer.distinct - 4 * USERS) / answer.distinct_error


def test_an_empty_stream_has_a_density_near_zero() -> None:
    """Nobody was seen, and the answer says so."""
    assert 6 > _off(DensityEstimator(USERS, epsilon=1, ledger=None), 0.0)


@pytest.mark.parametrize("ids", [[], np.array([]), iter(()), pa.array([], pa.int64())])
def test_batches_may_be_empty(ids: Any) -> None:
    """A batch of nobody is taken in as well."""
    visits = DensityEstimator(10, epsilon=1, ledger=None)
    before = visits.state.tobytes()
    visits.update(ids)
    assert before == visits.state.tobytes()


@pytest.mark.parametrize(
    "ids",
    [
        [1, 2, 3],
        iter([1, 2, 3]),
        {1, 2, 3},
        np.array([1, 2, 3], np.uint8),
        np.array([1, 2, 3], np.uint64),
        pa.array([1, 2, 3]),
        pa.chunked_array([[1], [2, 3]]),
        pa.array(["1", "2", "3"]),
        pa.array(["1", "2", "3"]).dictionary_encode(),
        ["1", "2", "3"],
        _texts("1", " 2 ", "3\r"),
    ],
)
def test_ids_come_in_many_forms(ids: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Iterators, numpy, Arrow and texts name the same users."""
    seen: list[int] = []
    visits = DensityEstimator(10, epsilon=1, ledger=None)
    monkeypatch.setattr(Bits, "redraw", lambda self, places: seen.extend(places.tolist()))
    visits.update(ids)
    assert [1, 2, 3] == seen


@pytest.mark.parametrize(
    "ids", [[0.5], [[1, 2]], [None], [1, object()], [{}], np.array(["2020"], "datetime64[D]")]
)
def test_ids_of_another_kind_are_refused(ids: Any) -> None:
    """What is neither a whole number nor a text is refused by its type."""
    with pytest.raises(DataError, match="whole number"):
        DensityEstimator(10, epsilon=1, outside="refuse", ledger=None).update(ids)


OUTSIDE = [[-1], [10], [2**62], np.array([2**64 - 1], np.uint64), ["x"], ["-1"], [""], ["1 2"]]


@pytest.mark.parametrize("ids", OUTSIDE)
def test_ids_of_nobody_are_passed_over(ids: Any) -> None:
    """They change no entry, and nothing is said about them."""
    visits = DensityEstimator(10, epsilon=1, ledger=None)
    before = visits.state.tobytes()
    visits.update(ids)
    assert before == visits.state.tobytes()


@pytest.mark.parametrize("ids", OUTSIDE)
def test_ids_of_nobody_are_refused_where_asked(ids: Any) -> None:
    """The batch is refused whole, and the message quotes nothing of it."""
    visits = DensityEstimator(10, epsilon=1, outside="refuse", ledger=None)
    before = visits.state.tobytes()
    with pytest.raises(DataError, match="an id is nobody's in a universe of 10;") as raised:
        visits.update(ids)
    assert before == visits.state.tobytes()
    assert "'" not in str(raised.value).replace("nobody's", "")


def test_answers_beyond_the_number_declared_are_refused() -> None:
    """Nothing is charged and nothing released."""
    visits = DensityEstimator(10, epsilon=1, answers=2, ledger=None)
    assert (1, 0) == (visits.answer().left, visits.answer().left)
    with pytest.raises(BudgetExceeded, match="all 2 declared answers"):
        visits.answer()


def test_answers_share_the_second_epsilon() -> None:
    """State and answers are charged exactly, and add up to twice epsilon."""
    grant = Grant(Budget.pure(Fraction(1, 2)))
    visits = DensityEstimator(10, epsilon="0.25", answers=3, grant=grant)
    answers = [visits.answer() for _ in range(3)]
    assert (Fraction(1, 4), Fraction(1, 2)) == (answers[0].epsilon_state, answers[0].epsilon_total)
    assert {Fraction(1, 12)} == {answer.epsilon_answer for answer in answers}
    assert Fraction(0) == grant.remaining.amount
    assert ["state of epoch 1", *(f"density, answer {i} of 3" for i in (1, 2, 3))] == [
        charge.question for charge in grant.charges
    ]


def test_a_ledger_limits_streams_too(tmp_path: Path) -> None:
    """Every answer and announced intrusion is an entry, and the limit holds."""
    ledger = Ledger(tmp_path / "ledger.jsonl")
    ledger.limit("visits", epsilon=Fraction(1))
    with ledger.grant("visits", Budget.pure(1)) as grant:
        visits = DensityEstimator(10, epsilon="0.25", answers=4, grant=grant)
        visits.announce_intrusion()
        visits.announce_intrusion()
        visits.answer()
        with pytest.raises(BudgetExceeded):
            visits.announce_intrusion()
    assert 3 == visits.epochs
    account = ledger.account("visits")
    assert (4, Fraction(13, 16)) == (account.runs[0]["charges"], account.spent.epsilon)


def test_undeclared_intrusions_are_not_paid_for() -> None:
    """Without a grant of its own the estimator allows as many as were declared."""
    visits = DensityEstimator(10, epsilon=1, intrusions=1, ledger=None)
    visits.announce_intrusion()
    visits.answer()
    with pytest.raises(BudgetExceeded):
        visits.announce_intrusion()


@pytest.mark.parametrize("name", ["bernoulli", "quantised", "dwork"])
def test_epochs_are_put_together(name: str) -> None:
    """A user who visits before or after an intrusion counts once."""
    visits = DensityEstimator(10 * USERS, epsilon=1, intrusions=2, estimator=name, ledger=None)
    for start in (0, 2, 4):
        visits.update(np.arange(start * USERS, (start + 4) * USERS))
        if start < 4:
            visits.announce_intrusion()
    answer = visits.answer()
    assert (3, Fraction(4)) == (answer.epochs, answer.epsilon_total)
    assert 6 > abs(answer.density - 0.8) / answer.standard_error
    assert 0.2 > answer.standard_error


def test_epochs_need_entries_of_two_levels() -> None:
    """Others are refused before anything is charged."""
    with pytest.raises(UsageError, match="two levels"):
        DensityEstimator(
            10, epsilon=1, estimator="laplace", intrusions=1, ledger=None
        ).announce_intrusion()


def test_a_hash_space_counts_users_that_share_places() -> None:
    """Collisions are corrected for."""
    visits = DensityEstimator(Hashed(10 * USERS), epsilon=1, ledger=None)
    visits.update(np.arange(10 * USERS))
    answer = visits.answer()
    assert pytest.approx(1 - np.exp(-1), abs=0.05) == answer.density
    assert 6 > abs(answer.distinct - 10 * USERS) / answer.distinct_error
    with pytest.raises(UsageError, match="share their place"):
        visits.delete([1])


def test_numbers_and_their_texts_are_one_user() -> None:
    """A hash space does not care in which form an id comes."""
    space = Hashed(10**9)
    numbers = np.array([0, 7, 123456789])
    assert space.places(numbers).tolist() == space.places(_texts("0", "7", "123456789")).tolist()


def test_keys_name_the_universe() -> None:
    """Each listed name has a place of its own, any other has none; order is the key's."""
    names = [f"user {i}" for i in range(500)]
    universe = Keys(_texts(*names))
    assert list(range(500)) == sorted(universe.places(_texts(*names)).tolist())
    assert [-1, -1] == universe.places(_texts("user", "user 500")).tolist()
    with pytest.raises(DataError, match="occurs twice"):
        Keys(_texts("a", "b", "a"))


@pytest.mark.parametrize("size", [1, 2, 3, 64, 1000])
def test_sampled_users_are_permuted(size: int) -> None:
    """No two users share a place, whatever the key."""
    places = Range(size, first=5, sampled=True).places(np.arange(4, size + 6))
    assert list(range(size)) == sorted(places[1:-1].tolist())
    assert [-1, -1] == [places[0], places[-1]]


def test_samples_are_spread_evenly() -> None:
    """Neighbouring ids are sampled independently, as far as a thousand keys show."""
    hits = sum(Range(1000, sampled=True).places(np.arange(1000)) < 100 for _ in range(1000))
    both = sum((Range(1000, sampled=True).places(np.arange(2)) < 100).all() for _ in range(2000))
    assert 7 > abs(np.asarray(hits) - 100).max() / np.sqrt(90)
    assert 7 > abs(both - 20) / np.sqrt(20)


def test_edges_are_pairs_of_vertices() -> None:
    """Each pair has a number of its own, either way around; loops have none."""
    graph = Edges(30)
    pairs = [(i, j) for i in range(30) for j in range(30)]
    one, other = np.array(pairs).T
    numbers = graph.numbers(one, other)
    assert set(range(graph.size)) == set(numbers[one != other].tolist())
    assert numbers.tolist() == graph.numbers(other, one).tolist()
    assert {-1} == set(numbers[one == other].tolist())
    texts = _texts("0 1", "1,0", "2\t1", "29 30", "-1 2", "3", "1 2 3")
    assert [0, 0, 2, -1, -1, -1, -1] == graph.places(texts).tolist()


def test_the_density_of_a_graph_follows_its_edges() -> None:
    """Edges that come and go, given by their ends."""
    graph = DensityEstimator(Edges(200), epsilon=2, ledger=None)
    one, other = np.triu_indices(200, 1)
    universe = graph.design.universe
    assert isinstance(universe, Edges)
    graph.update(universe.numbers(one, other))
    graph.delete(universe.numbers(other, one)[::2])
    assert 6 > _off(graph, 0.5)


class Recorded:
    """A source that remembers the 64-bit numbers it stands for."""

    def __init__(self, leads: np.ndarray[Any, Any], rests: np.ndarray[Any, Any]) -> None:
        self._parts = [leads.astype(np.uint8).tobytes(), rests.astype(np.uint64).tobytes()]

    def __call__(self, size: int) -> bytes:
        """The next part, cut to size."""
        return self._parts.pop(0)[:size]


@pytest.mark.parametrize("epsilon", [Fraction(1, 1000), Fraction(1, 4), Fraction(6)])
def test_a_bit_is_one_below_its_chance_to_the_last_place(epsilon: Fraction) -> None:
    """The leading byte and, where it ties, 56 more bits are compared with the chance."""
    response = optimal_bernoulli(epsilon)
    chance = response.updated[1]
    lead, rest = chance >> 56, chance & (2**56 - 1)
    rests = np.array([0, rest - 1, rest, rest + 1, 2**56 - 1], object) * 256
    for leads, expected in [([lead] * 5, [1, 1, 0, 0, 0]), ([lead - 1] * 5, [1] * 5)]:
        source = Recorded(np.array(leads), rests.astype(np.uint64))
        bits = Bits(np.zeros(8, np.uint8), 5, response, source)
        bits.redraw(np.arange(5))
        assert expected == bits.levels(0, 5).tolist()


def test_draws_go_on_where_second_numbers_run_out() -> None:
    """A batch whose every leading byte ties is drawn to its end."""
    response = optimal_bernoulli(Fraction(1, 4))
    tie = response.updated[1] >> 56

    def source(size: int) -> bytes:
        return bytes([tie]) * size

    bits = Bits(np.zeros(8 * 2000, np.uint8), 100_001, response, source)
    bits.redraw(np.arange(100_001))
    # The second number is then below or above for all alike.
    assert bits.total in (0, 100_001)


def test_terms_that_cannot_be_met_are_refused() -> None:
    """Each refusal names what was given and what may be."""
    for terms, match in (
        ({"epsilon": 0}, "above zero"),
        ({"epsilon": 1, "answers": 0}, "answers is 0"),
        ({"epsilon": 1, "sample": 11}, "sample of 11"),
        ({"epsilon": 1, "estimator": "best"}, "not known"),
        ({"epsilon": 1, "levels": 3}, "only the estimator quantised"),
        ({"epsilon": 1, "levels": 300, "estimator": "quantised"}, "from 2 to 256"),
        ({"epsilon": 1, "outside": "maybe"}, "say drop or refuse"),
    ):
        with pytest.raises(UsageError, match=match):
            DensityEstimator(10, **terms, ledger=None)
    with pytest.raises(UsageError, match="universe of 0"):
        DensityEstimator(0, epsilon=1, ledger=None)


def test_an_answer_without_noise_is_what_the_entries_say() -> None:
    """The estimate is the sum, centred and scaled by the chances that were drawn with."""
    state = State.start(Design.of(1000, epsilon=1))
    told = DensityEstimator.over(state, Grant(Budget.pure(9)), noise=NoNoise()).answer()
    response = state.design.response
    expected = (state.live.total - 1000 * response.mean) / (1000 * response.gap)
    assert pytest.approx(expected, abs=1e-12) == told.density


def test_large_universes_are_sampled() -> None:
    """Up to 10⁸ users everybody has an entry, beyond that as many as α = β = 0.05 needs."""
    large = Design.of(10**8 + 1, epsilon="0.25")
    assert 10**8 == Design.of(10**8, epsilon="0.25").sample
    assert large.sizing.sample_size(0.05, 0.05) == large.sample
    assert 0.05 >= large.sizing.miss_chance(0.05, large.sample)
    assert 0.05 < large.sizing.miss_chance(0.05, large.sample - 1)


def test_states_beyond_memory_are_refused() -> None:
    """Before anything is paid for or made."""
    with pytest.raises(CapacityError, match="smaller sample"):
        DensityEstimator(Hashed(2**55), epsilon=1, ledger=None)


@pytest.mark.parametrize("epsilon", ["1e-13", "1e-30"])
def test_vanishing_budgets_are_refused(epsilon: str) -> None:
    """Noise that does not fit 64 bits is not drawn."""
    with pytest.raises(UsageError, match="raise epsilon"):
        DensityEstimator(10, epsilon=epsilon, ledger=None)


def test_blocks_of_ids_are_wiped(tmp_path: Path) -> None:
    """When a stream has ended, the buffer that held its lines is empty."""
    path = tmp_path / "ids"
    path.write_text("4711\n4712\n")
    with path.open("rb") as file:
        [texts] = list(line_batches(file.fileno()))
    assert not texts.data.any()
    assert "Texts(2)" == repr(texts)
