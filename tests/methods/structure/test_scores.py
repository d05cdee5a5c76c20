"""Scores against brute force: their values, and how far one row can move them."""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from understudy.errors import UsageError
from understudy.methods.structure.scores import (
    f_score,
    mutual_information,
    r_score,
    total_variation,
)
from understudy.rows.counting import Counts, Marginal, Score

Shape = tuple[int, ...]

# Parents' sizes, then the child's; (2, 2, 2) is a child against a set of two attributes.
SHAPES: list[tuple[Shape, int]] = [
    *(((2, 2), 14), ((2, 3), 8), ((3, 3), 6), ((2, 2, 2), 6), ((2, 2, 3), 4)),
]
BINARY: list[tuple[Shape, int]] = [((2, 2), 14), ((3, 2), 8), ((2, 3), 8), ((2, 2, 2), 6)]

small_tables = st.tuples(st.integers(1, 4), st.integers(1, 3), st.integers(1, 4)).flatmap(
    lambda shape: arrays(np.int64, shape, elements=st.integers(0, 30))
)


def _tables(shape: Shape, rows: int) -> Iterator[Counts]:
    """Every table of a shape that holds this number of rows."""
    cells = math.prod(shape)
    for bars in itertools.combinations(range(rows + cells - 1), cells - 1):
        edges = (-1, *bars, rows + cells - 1)
        yield (np.diff(edges) - 1).astype(np.int64).reshape(shape)


def _with_one_more(table: Counts) -> Iterator[Counts]:
    for cell in range(table.size):
        more = table.copy()
        more.flat[cell] += 1
        yield more


def _value(score: Score, table: Counts) -> float:
    return score.kernel(Marginal(tuple("abcde"[: table.ndim]), table))


def _largest_addition(score: Score, shape: Shape, rows: int) -> float:
    """The furthest that a row added to any table of n rows moves a score."""
    return max(
        abs(_value(score, more) - _value(score, table))
        for table in _tables(shape, rows)
        for more in _with_one_more(table)
    )


def _largest_replacement(score: Score, shape: Shape, rows: int) -> float:
    """The furthest that replacing one of n rows moves a score, dropped rows included.

    Any of the other rows, the one that is replaced, and the one that replaces it may be dropped.
    """
    spreads = []
    for kept in range(rows):
        for others in _tables(shape, kept):
            values = [_value(score, table) for table in (others, *_with_one_more(others))]
            spreads.append(max(values) - min(values))
    return max(spreads)


def _independence(table: Counts) -> Fraction:
    """½ Σ |C[π, x] − C[π]·C[x] / n| in exact fractions."""
    joint = table.reshape(-1, table.shape[-1])
    n = int(joint.sum())
    above, beside = joint.sum(axis=0).tolist(), joint.sum(axis=1).tolist()
    return (
        sum(
            (
                abs(Fraction(int(joint[i, j])) - Fraction(beside[i] * above[j], max(n, 1)))
                for i, j in np.ndindex(joint.shape)
            ),
            Fraction(0),
        )
        / 2
    )


def _entropy(counts: Counts) -> float:
    shares = counts[counts > 0] / max(counts.sum(), 1)
    return float(-(shares * np.log2(shares)).sum())


def _information(table: Counts) -> float:
    joint = table.reshape(-1, table.shape[-1])
    return _entropy(joint.sum(axis=0)) + _entropy(joint.sum(axis=1)) - _entropy(joint)


def _best_assignment(table: Counts, rows: int) -> float:
    """F by trying all assignments of the parents' configurations to 0 or 1."""
    joint = table.reshape(-1, 2) / rows
    costs = []
    for assigned in itertools.product((0, 1), repeat=len(joint)):
        held = [sum(joint[i, x] for i, to in enumerate(assigned) if to == x) for x in (0, 1)]
        costs.append(sum(max(0.0, 0.5 - k) for k in held))
    return -float(min(costs))


@given(small_tables)
def test_total_variation_is_the_distance_to_independence(table: Counts) -> None:
    """The kernel gives what exact fractions give."""
    assert float(_independence(table)) == pytest.approx(_value(total_variation(), table), abs=1e-12)


@given(small_tables, st.integers(0, 20))
def test_r_is_that_distance_as_a_share_of_all_rows(table: Counts, dropped: int) -> None:
    """Dropped rows are in the first cell, and n is the public one."""
    rows = int(table.sum()) + dropped
    full = table.copy()
    full.flat[0] += dropped
    expected = float(_independence(full)) / max(rows, 1)
    assert expected == pytest.approx(_value(r_score(rows), table), abs=1e-12)


@given(small_tables, st.integers(0, 20))
def test_mutual_information_is_in_bits(table: Counts, dropped: int) -> None:
    """H(X) + H(Π) − H(X, Π), with logarithms to base two."""
    score = mutual_information(int(table.sum()) + dropped, binary=False)
    full = table.copy()
    full.flat[0] += dropped
    assert _information(full) == pytest.approx(_value(score, table), abs=1e-11)


@given(
    st.integers(1, 7).flatmap(lambda k: arrays(np.int64, (k, 2), elements=st.integers(0, 9))),
    st.integers(0, 5),
)
def test_f_is_the_best_of_all_assignments(table: Counts, dropped: int) -> None:
    """The dynamic programme finds what trying all 2^|Π| assignments finds."""
    rows = int(table.sum()) + dropped
    full = table.copy()
    full.flat[0] += dropped
    expected = _best_assignment(full, max(rows, 1))
    assert expected == pytest.approx(_value(f_score(rows), table), abs=1e-12)


def test_f_refuses_children_of_more_values() -> None:
    """It is defined for binary children alone, and says what to use instead."""
    with pytest.raises(UsageError, match="use R"):
        _value(f_score(5), np.ones((2, 3), np.int64))


def test_one_fair_coin_copied_is_one_bit() -> None:
    """The textbook case of each score: a child that equals its binary parent."""
    copied = np.array([[50, 0], [0, 50]])
    assert 1.0 == _value(mutual_information(100, binary=True), copied)
    assert 50.0 == _value(total_variation(), copied)
    assert 0.5 == _value(r_score(100), copied)
    assert 0.0 == _value(f_score(100), copied)


@pytest.mark.parametrize(("shape", "most"), SHAPES, ids=str)
def test_a_row_more_moves_total_variation_by_at_most_its_sensitivity(
    shape: Shape, most: int
) -> None:
    """Exhaustively: the largest step from n rows is 2n/(n + 1), always below 2."""
    score = total_variation()
    for rows in range(1, most + 1):
        assert 2 * rows / (rows + 1) == pytest.approx(_largest_addition(score, shape, rows))
        assert 2 * rows / (rows + 1) < score.sensitivity


def test_total_variation_nearly_reaches_its_sensitivity() -> None:
    """A row unlike a thousand equal ones moves it by 1.998: the bound 2 could not be smaller."""
    alike = np.array([[1000, 0], [0, 0]])
    step = _value(total_variation(), alike + np.array([[0, 0], [0, 1]]))
    assert 2000 / 1001 == pytest.approx(step - _value(total_variation(), alike))


@pytest.mark.parametrize(("shape", "most"), SHAPES, ids=str)
def test_a_replaced_row_moves_r_by_at_most_its_sensitivity(shape: Shape, most: int) -> None:
    """Exhaustively, dropped rows included."""
    for rows in range(1, most + 1):
        score = r_score(rows)
        assert _largest_replacement(score, shape, rows) <= score.sensitivity


@pytest.mark.parametrize(("shape", "most"), BINARY, ids=str)
def test_with_two_values_r_moves_by_less(shape: Shape, most: int) -> None:
    """Where the child or all parents together are binary, exactly 2(n − 1)/n² is reached."""
    for rows in range(1, most + 1):
        expected = 2 * (rows - 1) / rows**2
        assert expected == pytest.approx(_largest_replacement(r_score(rows), shape, rows))


def test_r_nearly_reaches_its_sensitivity() -> None:
    """With three values each, one row of 10,001 moves R by more than 97 % of 3/n + 2/n²."""
    others = np.array([[0, 100, 0], [100, 9800, 0], [0, 0, 0]])
    score = r_score(10_001)
    values = [_value(score, table) for table in _with_one_more(others)]
    assert 0.97 < (max(values) - min(values)) / float(score.sensitivity) <= 1


@pytest.mark.parametrize(("shape", "most"), [((2, 2), 9), ((3, 2), 6), ((2, 2, 2), 5)], ids=str)
def test_a_replaced_row_moves_f_by_exactly_its_sensitivity(shape: Shape, most: int) -> None:
    """Exhaustively, dropped rows included: the largest step is 1/n, from two rows on."""
    for rows in range(2, most + 1):
        score = f_score(rows)
        assert float(score.sensitivity) == pytest.approx(_largest_replacement(score, shape, rows))


@pytest.mark.parametrize(("shape", "most"), BINARY, ids=str)
def test_a_replaced_row_moves_binary_information_by_exactly_its_sensitivity(
    shape: Shape, most: int
) -> None:
    """Exhaustively, dropped rows included: the printed bound is reached for every n."""
    for rows in range(2, most + 1):
        score = mutual_information(rows, binary=True)
        largest = _largest_replacement(score, shape, rows)
        assert float(score.sensitivity) == pytest.approx(largest, rel=1e-9)
        assert largest <= float(score.sensitivity) + 1e-12


@pytest.mark.parametrize(("shape", "most"), [((3, 3), 7), ((2, 2, 3), 5)], ids=str)
def test_a_replaced_row_moves_information_by_at_most_its_sensitivity(
    shape: Shape, most: int
) -> None:
    """Exhaustively, dropped rows included: reached for odd n, nearly for even n."""
    for rows in range(2, most + 1):
        score = mutual_information(rows, binary=False)
        share = _largest_replacement(score, shape, rows) / float(score.sensitivity)
        assert share <= 1 + 1e-12
        assert share > (1 - 1e-9 if rows % 2 else 0.7)


def test_two_values_are_not_assumed_for_three() -> None:
    """The smaller bound is false for larger tables: the caller's word matters."""
    largest = _largest_replacement(mutual_information(5, binary=False), (3, 3), 5)
    assert largest > mutual_information(5, binary=True).sensitivity


ALL: dict[str, Callable[[int], Score]] = {
    "total variation": lambda _: total_variation(),
    "R": r_score,
    "F": f_score,
    "mutual information": lambda n: mutual_information(n, binary=True),
}


@pytest.mark.parametrize("rows", [0, 1, 2])
@pytest.mark.parametrize("name", ALL)
def test_hardly_any_rows_have_scores(rows: int, name: str) -> None:
    """No rows, one or two: every table has a finite score, and the sensitivity is positive."""
    score = ALL[name](rows)
    values = [_value(score, table) for table in _tables((2, 2), rows)]
    assert score.sensitivity > 0
    assert all(math.isfinite(value) for value in values)
    if rows < 2:
        assert {-0.5 * (2 - rows) if name == "F" else 0.0} == set(values)


def test_total_variation_is_exact_for_many_rows() -> None:
    """Integers carry the sum up to 2³¹ rows; the error beyond stays far below a row."""
    generator = np.random.default_rng(3)
    shares = generator.dirichlet(np.full(60, 0.2))
    for rows in (2**31 - 1, 2**33):
        table = generator.multinomial(rows, shares).astype(np.int64).reshape(4, 15)
        exact = _independence(table)
        assert abs(Fraction(_value(total_variation(), table)) - exact) < Fraction(1, 2**17)


def test_information_is_precise_in_large_tables() -> None:
    """A checkerboard of a million cells has one bit, to 2⁻⁴⁵; a plain sum does worse."""
    board = np.indices((1000, 1000)).sum(axis=0) % 2 * np.int64(3)
    score = mutual_information(int(board.sum()), binary=False)
    assert abs(_value(score, board) - 1) < 2**-45 < float(score.sensitivity) / 2**17
    shares = (board[board > 0] / board.sum()).tolist()
    assert abs(functools.reduce(operator.add, shares) - 1) > 2**-45
