"""Errors of a model as scores, and which tables are worth measuring by them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest

from understudy.facts.domain import Attributes, Domain
from understudy.facts.unit import Neighbours, Unit
from understudy.methods.structure.rounds import (
    CandidateTables,
    Choice,
    ModelErrors,
    apart,
    connected,
    expected_anyway,
    shrunk,
    tables_of,
)
from understudy.models.distribution import CodedRows
from understudy.models.weighted.pool import Pool
from understudy.rows.counting import Marginal
from understudy.system.arrays import Floats, Integers

ROW, REPLACED = Unit(Neighbours.ADD_REMOVE), Unit(Neighbours.REPLACE)
PAIR = ("a", "b")


def _error(expected: Floats, counts: Integers) -> float:
    return ModelErrors({PAIR: expected})(Marginal(PAIR, counts))


def _tables(rows: int) -> list[Integers]:
    """All tables of two by two cells with this number of rows."""
    cells = itertools.product(range(rows + 1), repeat=4)
    return [np.array(c).reshape(2, 2) for c in cells if sum(c) == rows]


EXPECTED = [
    np.zeros((2, 2)),
    np.array([[9.0, 0.5], [0.25, 3.0]]),
    np.array([[-1.0, 2.5], [7.0, 0.0]]),
    np.full((2, 2), 1.75),
]


@pytest.mark.parametrize("place", range(len(EXPECTED)))
def test_a_row_more_moves_an_error_by_at_most_one(place: int) -> None:
    """Whatever the model expects; and by exactly one for some row."""
    score, moves = ModelErrors({PAIR: EXPECTED[place]}).score(ROW), set()
    for counts, cell in itertools.product(_tables(3), np.ndindex(2, 2)):
        more = counts.copy()
        more[cell] += 1
        moves.add(abs(_error(EXPECTED[place], more) - _error(EXPECTED[place], counts)))
    assert Fraction(1) == score.sensitivity
    assert 1.0 == pytest.approx(max(moves))


def test_a_replaced_row_moves_an_error_by_at_most_two() -> None:
    """Both cells may lie on the far side of what is expected."""
    score, found = ModelErrors({PAIR: EXPECTED[1]}).score(REPLACED), 0.0
    for expected, counts in itertools.product(EXPECTED, _tables(3)):
        for here, there in itertools.permutations(np.ndindex(2, 2), 2):
            if counts[here]:
                other = counts.copy()
                other[here] -= 1
                other[there] += 1
                found = max(found, abs(_error(expected, other) - _error(expected, counts)))
    assert Fraction(2) == score.sensitivity
    assert 2.0 == pytest.approx(found)
    assert Neighbours.REPLACE is score.neighbours


def test_a_model_scaled_to_the_true_number_of_rows_would_move_further() -> None:
    """Why what is expected has the released total: by up to two, where one is charged."""
    shares = np.array([[0.0, 1.0], [0.0, 0.0]])
    counts, more = np.array([[3, 0], [0, 0]]), np.array([[4, 0], [0, 0]])
    moved = _error(4 * shares, more) - _error(3 * shares, counts)
    assert 2.0 == moved


def test_tables_are_the_small_ones_of_some_sizes() -> None:
    """Smaller sets first; those of too many cells are left out."""
    domain = Domain({"a": 2, "b": 3, "c": 5})
    assert [("a", "b"), ("a", "c")] == [*tables_of(domain, (2, 3), most_cells=10)]
    assert ("a", "b", "c") == [*tables_of(domain, (2, 3), most_cells=30)][-1]


def test_larger_tables_are_asked_about_where_their_pairs_were_measured() -> None:
    """Half of the pairs at least; those with more come first, and all pairs always come."""
    domain = Domain(dict.fromkeys("abcd", 2))
    tables = [*tables_of(domain, (2, 3), most_cells=100)]
    found = connected(tables, [("a", "b"), ("b", "c"), ("a", "c"), ("c", "d")], domain, 100)
    assert tables[:6] == found[:6]
    assert [("a", "b", "c"), ("a", "c", "d"), ("b", "c", "d")] == found[6:]
    assert tables[:6] == connected(tables, [], domain, 4)


def test_tables_that_share_two_attributes_with_a_chosen_one_wait() -> None:
    """Tables with one attribute in common do not wait."""
    domain = Domain(dict.fromkeys("abcd", 2))
    tables = [("a", "b"), ("b", "c"), ("a", "b", "d")]
    assert tables == apart(tables, [], domain)
    assert [("b", "c")] == apart(tables, [("a", "b")], domain)
    assert [] == apart(tables, [("b", "a", "c")], domain)


def test_noisy_errors_are_drawn_to_their_mean_by_the_part_that_is_noise() -> None:
    """All the way where everything is noise, and not at all without noise."""
    errors = np.array([1.0, 3.0, 8.0])
    assert errors.tolist() == shrunk(errors, 0.0).tolist()
    assert [4.0] * 3 == shrunk(errors, 1e6).tolist()
    half = float(errors.var()) / 2
    assert [2.5, 3.5, 6.0] == pytest.approx(shrunk(errors, half).tolist())
    assert [5.0, 5.0] == shrunk(np.array([5.0, 5.0]), 1.0).tolist()


def _among(
    choice: Choice, tables: Sequence[Attributes], errors: Floats, domain: Domain
) -> list[Attributes]:
    return choice.among(CandidateTables.of(tables, errors, domain), domain)


def test_tables_are_taken_while_errors_outweigh_their_noise() -> None:
    """The best first; none at all where noise outweighs every error."""
    domain = Domain(dict.fromkeys("abcd", 3))
    tables = [("a", "b"), ("c", "d"), ("a", "c")]
    errors = np.array([40.0, 90.0, 0.5])
    assert [("c", "d"), ("a", "b")] == _among(Choice(1.0, 2 / 3), tables, errors, domain)
    assert [] == _among(Choice(1e4, 2 / 3), tables, errors, domain)
    assert tables[1:2] == _among(Choice(1.0, 2 / 3, most=1), tables, errors, domain)
    assert [] == _among(Choice(1.0, 2 / 3), [], np.zeros(0), domain)


def test_without_noise_every_table_with_an_error_is_taken() -> None:
    """As where nothing is private."""
    domain = Domain(dict.fromkeys("abc", 2))
    tables = [*tables_of(domain, (2,), most_cells=9)]
    chosen = _among(Choice(0.0, 2 / 3), tables, np.array([1.0, 0.0, 2.0]), domain)
    assert {tables[0], tables[2]} == {*chosen}


def test_what_is_there_anyway_is_taken_off() -> None:
    """Chance, up to the noise of a cell, and the noise of single columns."""
    kernel = ModelErrors({PAIR: np.full((2, 2), 100.0)})
    given = {"alone": {"a": 4.0, "b": 6.0}, "domain": Domain({"a": 2, "b": 2})}
    quiet, loud = (
        float(expected_anyway(kernel, [PAIR], noise=noise, **given)[0])  # type: ignore[arg-type]
        for noise in (0.0, 1e9)
    )
    assert quiet < loud
    assert kernel.by_chance(PAIR, 1e9) == pytest.approx(4 * 10 * np.sqrt(2 / np.pi))
    assert 0.0 == kernel.by_chance(PAIR, 0.0)


def test_triples_are_listed_by_the_pairs_that_were_measured() -> None:
    """The same ones, in the same order, that a look at all triples would keep."""
    domain = Domain(dict.fromkeys("abcdefg", 2))
    measured = [("a", "b"), ("b", "c"), ("c",), ("e", "d"), ("d", "f", "g")]
    every = list(tables_of(domain, (2, 3), most_cells=8))
    listed = list(tables_of(domain, (2, 3), most_cells=8, measured=measured))
    assert connected(every, measured, domain, 99) == connected(listed, measured, domain, 99)
    assert 21 + 4 == len(listed) < len(every)


def _chain(
    ends: float, *, most: int, largest: float = 1000.0, may_wait: bool = True
) -> list[Attributes]:
    """Choose among three pairs, of which two tie the ends of the third."""
    domain, pairs = Domain(dict.fromkeys("abc", 2)), [("a", "b"), ("b", "c"), ("a", "c")]
    errors = np.array([500.0, 400.0, ends])
    candidates = CandidateTables.of(pairs, errors, domain, most=np.full(3, largest))
    return Choice(1.0, 2 / 3, most=most, may_wait=may_wait).among(candidates, domain)


def test_a_pair_that_chosen_pairs_may_explain_waits() -> None:
    """Where more pairs pay than may be taken, and its ends are tied by stronger links."""
    chain = [("a", "b"), ("b", "c")]
    assert chain == _chain(390.0, most=3)
    assert [("a", "b"), ("a", "c")] == _chain(410.0, most=3)
    assert [*chain, ("a", "c")] == _chain(390.0, most=4)
    assert [*chain, ("a", "c")] == _chain(390.0, most=3, largest=0.0)


def test_no_pair_waits_for_a_round_that_never_comes() -> None:
    """In the last round, errors are left although the model has the links that were measured."""
    assert [("a", "b"), ("b", "c"), ("a", "c")] == _chain(390.0, most=3, may_wait=False)


def test_a_pool_of_few_rows_is_not_an_error() -> None:
    """A pool of a fifth of the rows is as far from them as is taken off, within a third."""
    random, domain = np.random.default_rng(3), Domain({"a": 30, "b": 30})
    cells = random.dirichlet(np.full(900, 0.5))
    for few in (2_000, 20_000):
        drawn = random.choice(900, few, p=cells)
        codes: CodedRows = {"a": (drawn // 30).astype(np.uint8), "b": (drawn % 30).astype(np.uint8)}
        kernel = ModelErrors.of(Pool.of(domain, codes, 5.0 * few), [PAIR])
        real = random.multinomial(5 * few, cells).reshape(30, 30)
        found = kernel.by_few_rows(PAIR) + kernel.by_chance(PAIR, np.inf)
        assert 0.6 < found / kernel(Marginal(PAIR, real)) < 1.6


def test_a_pool_of_many_rows_takes_nothing_off() -> None:
    """Its counts are more certain than those of the rows."""
    codes: CodedRows = {name: np.zeros(100, np.uint8) for name in PAIR}
    pool = Pool.of(Domain({"a": 2, "b": 2}), codes, 99.0)
    assert 0.0 == ModelErrors.of(pool, [PAIR]).by_few_rows(PAIR)


def test_the_largest_error_of_a_pair_is_that_of_copies() -> None:
    """An attribute and its copy have it against independent ones; the more even one decides."""
    shares = np.array([0.5, 0.3, 0.2])
    copies = 100 * np.diag(shares)
    kernel = ModelErrors({PAIR: 100 * np.multiply.outer(shares, shares)})
    assert np.abs(copies - kernel.expected[PAIR]).sum() == pytest.approx(kernel.largest(PAIR))
    other = ModelErrors({PAIR: 100 * np.multiply.outer(shares, [0.9, 0.1])})
    assert 2 * 100 * (1 - 0.82) == pytest.approx(other.largest(PAIR))
