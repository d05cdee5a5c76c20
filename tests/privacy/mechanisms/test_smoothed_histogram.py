"""The smoothed histogram: its formula both ways, exact likelihood ratios, and its draws."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from decimal import Context, Decimal, localcontext
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.statistics import NEVER, fit_of_choices
from understudy.errors import UsageError
from understudy.privacy.accounting.events import Charge, ExactEvent
from understudy.privacy.budget import Budget
from understudy.privacy.mechanisms.histogram import (
    DROPPED,
    SmoothedHistogram,
    epsilon_for,
    smoothing_for,
)
from understudy.privacy.noise.system import SystemNoise
from understudy.system.arrays import Integers

# A domain of three cells, rows that the codec dropped included.
VALUES = (DROPPED, 0, 1, 2)
CELLS = 3

amounts = st.fractions(Fraction(1, 10**9), 1000)
sizes = st.integers(1, 10**15)


def _lines(rows: tuple[int, ...]) -> Integers:
    return np.array(rows, np.int64).reshape(-1, 1)


def _mechanism(
    epsilon: str, draws: int, rows: int, *, smoothing: Fraction | None = None
) -> SmoothedHistogram:
    """The mechanism for the small domain, perhaps with a smoothing that it would refuse."""
    paid = SmoothedHistogram.costing(
        Budget.pure(epsilon), cells=(CELLS,), table_rows=rows, draws=draws
    )
    if smoothing is None:
        return paid
    planted = object.__new__(SmoothedHistogram)
    for name, value in vars(paid).items():
        object.__setattr__(planted, name, smoothing if name == "smoothing" else value)
    return planted


def _neighbours(size: int) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """All tables of n rows, each with all tables in which one row is another."""
    for table in itertools.product(VALUES, repeat=size):
        for place, value in itertools.product(range(size), VALUES):
            yield table, (*table[:place], value, *table[place + 1 :])


def _largest_ratio(mechanism: SmoothedHistogram) -> Fraction:
    """Over all neighbours and all outputs, how much likelier one is than the other."""
    outputs = [_lines(o) for o in itertools.product(range(CELLS), repeat=mechanism.draws)]
    return max(
        _chance(mechanism, table, output) / _chance(mechanism, other, output)
        for table, other in _neighbours(mechanism.table_rows)
        for output in outputs
    )


def _chance(mechanism: SmoothedHistogram, table: tuple[int, ...], output: Integers) -> Fraction:
    return math.prod(mechanism.chances(_lines(table), output), start=Fraction(1))


def _power(epsilon: str) -> Fraction:
    """e^ε to a hundred digits."""
    with localcontext(Context(prec=100)):
        return Fraction(Decimal(epsilon).exp())


SMALL = [("1", 1, 1), ("1", 2, 1), ("0.5", 1, 2), ("2", 2, 2), ("0.001", 1, 3), ("20", 1, 2)]


@pytest.mark.parametrize(("epsilon", "draws", "rows"), SMALL)
def test_no_output_is_likelier_than_paid_for(epsilon: str, draws: int, rows: int) -> None:
    """All neighbours, all outputs: within e^ε, and no more than a hair below it."""
    largest, most = _largest_ratio(_mechanism(epsilon, draws, rows)), _power(epsilon)
    assert most * (1 - Fraction(1, 10**9)) <= largest <= most


@pytest.mark.parametrize(("epsilon", "draws", "rows"), SMALL)
def test_too_little_smoothing_is_found(epsilon: str, draws: int, rows: int) -> None:
    """Planted: one part in a million less, and some output gives it away; it cannot be built."""
    enough = _mechanism(epsilon, draws, rows)
    little = enough.smoothing * (1 - Fraction(1, 10**6))
    assert _power(epsilon) < _largest_ratio(_mechanism(epsilon, draws, rows, smoothing=little))
    with pytest.raises(UsageError, match="too little for epsilon"):
        SmoothedHistogram(
            epsilon=enough.epsilon,
            smoothing=little,
            cells=enough.cells,
            table_rows=rows,
            draws=draws,
        )


@given(amounts, sizes, sizes, st.integers(1, 10**6))
def test_the_smoothing_is_never_less_than_paid_for(
    epsilon: Fraction, cells: int, rows: int, draws: int
) -> None:
    """By the formula to a hundred digits, and by what the smoothing costs when turned around."""
    smoothing = smoothing_for(epsilon, draws=draws, cells=cells, table_rows=rows)
    with localcontext(Context(prec=100)):
        share = Decimal(epsilon.numerator) / epsilon.denominator / draws
        required = Fraction(cells / (rows * share.exp() + cells - rows))
    assert required <= smoothing + Fraction(1, 10**90)
    assert smoothing - required <= Fraction(1, 2**61)
    cost = epsilon_for(smoothing, draws=draws, cells=cells, table_rows=rows)
    assert cost <= epsilon * (1 + Fraction(1, 2**30))


@given(st.fractions(Fraction(1, 10**9), 1), sizes, sizes, st.integers(1, 1000))
def test_the_cost_is_rounded_up(smoothing: Fraction, cells: int, rows: int, draws: int) -> None:
    """ε is not below the formula's, and hardly above."""
    cost = epsilon_for(smoothing, draws=draws, cells=cells, table_rows=rows)
    with localcontext(Context(prec=100)):
        ratio = (1 - smoothing) * cells / (rows * smoothing) + 1
        exact = Fraction(draws * (Decimal(ratio.numerator) / ratio.denominator).ln())
    assert exact <= cost + Fraction(1, 10**80)
    assert cost <= exact * (1 + Fraction(1, 2**30)) + Fraction(1, 10**60)


def test_the_formulas_worked_by_hand() -> None:
    """A hundred cells, a hundred rows, one draw: δ = ½ costs ln 2, and ln 2 buys ½."""
    cost = epsilon_for(Fraction(1, 2), draws=1, cells=100, table_rows=100)
    assert math.log(2) == pytest.approx(float(cost))
    assert 0.5 == pytest.approx(float(smoothing_for(cost, draws=1, cells=100, table_rows=100)))


@pytest.mark.parametrize("rows", [(0, 0, 1, DROPPED), (2, 2, 0, 1), (1, 1, 1)])
def test_draws_fit_the_closed_form(rows: tuple[int, ...]) -> None:
    """Rows come as often as the mixture says, and not as one with 30 % less smoothing says."""
    mechanism = _mechanism("200000", 200_000, len(rows))
    drawn = mechanism.release(_lines(rows), SystemNoise())[:, 0]
    chances = _every_chance(mechanism, rows)
    assert 1 == pytest.approx(chances.sum())
    assert fit_of_choices(drawn, chances) > NEVER
    little = mechanism.smoothing * Fraction(7, 10)
    off = _mechanism("200000", 200_000, len(rows), smoothing=little)
    assert fit_of_choices(drawn, _every_chance(off, rows)) < NEVER


def _every_chance(mechanism: SmoothedHistogram, rows: tuple[int, ...]) -> npt.NDArray[np.float64]:
    chances = mechanism.chances(_lines(rows), _lines((0, 1, 2)))
    return np.array([float(chance) for chance in chances])


def test_rows_of_several_words() -> None:
    """A row drawn from the table comes whole; one from anywhere has every word of its own."""
    cells = (2**62, 3)
    mechanism = SmoothedHistogram.costing(
        Budget.pure(2000 * 46), cells=cells, table_rows=2, draws=2000
    )
    rows = np.array([[5, 1], [2**61, 2]], np.int64)
    drawn = {tuple(line) for line in mechanism.release(rows, SystemNoise()).tolist()}
    assert {(5, 1), (2**61, 2)} <= drawn
    assert all(0 <= a < cells[0] and 0 <= b < cells[1] for a, b in drawn)
    assert len(drawn) > 2


def test_an_empty_table_gives_any_row() -> None:
    """With no rows there is nothing to protect, and all rows are alike."""
    mechanism = _mechanism("1", 9000, 0)
    drawn = mechanism.release(np.empty((0, 1), np.int64), SystemNoise())[:, 0]
    assert fit_of_choices(drawn, np.full(CELLS, 1 / CELLS)) > NEVER
    chances = mechanism.chances(np.empty((0, 1), np.int64), _lines((0,)))
    assert [Fraction(1, 3)] == chances


def test_one_line_may_differ() -> None:
    """Replay covers one row replaced, in however many of its words, and not two."""
    mechanism = _mechanism("1", 1, 3)
    assert mechanism.covers(np.array([[0, 0], [3, -7], [0, 0]]))
    assert not mechanism.covers(np.array([[0, 1], [3, 0], [0, 0]]))


def test_the_event_is_what_was_paid() -> None:
    """ε exactly, also after being written down; without a limit it says that nothing is private."""
    charge = Charge("rows", _mechanism("0.3", 4, 10).event)
    assert charge == Charge.parse(charge.document())
    assert 0.3 == charge.document()["epsilon"]
    free = SmoothedHistogram.costing(Budget.unlimited(), cells=(3,), table_rows=1, draws=5)
    assert ExactEvent() == free.event
    assert [[2]] * 5 == free.release(_lines((2,)), SystemNoise()).tolist()


def test_only_pure_epsilon_pays() -> None:
    """No other measure has a bound here."""
    with pytest.raises(UsageError, match="pure epsilon"):
        SmoothedHistogram.costing(Budget.zcdp(1), cells=(3,), table_rows=1, draws=5)
