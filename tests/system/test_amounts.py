"""What was spent is never written smaller than it is, and what is left never larger."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.system.amounts import at_least, at_least_text, at_most, at_most_text

SMALL = st.fractions(min_value=-1000, max_value=1000, max_denominator=10**12)
WIDE = st.builds(
    lambda figures, power: Fraction(figures) * Fraction(10) ** power,
    st.integers(1, 10**20),
    st.integers(-300, 280),
)
AMOUNTS = SMALL | WIDE


@given(AMOUNTS)
def test_texts_enclose_the_amount(amount: Fraction) -> None:
    """Rounded up it is not below, rounded down not above, and both are a part in 10⁵ away."""
    above, below = Fraction(at_most_text(amount)), Fraction(at_least_text(amount))
    assert below <= amount <= above
    assert above - below <= abs(amount) / 10**5


@given(AMOUNTS, st.integers(1, 12))
def test_texts_have_so_many_figures_at_most(amount: Fraction, digits: int) -> None:
    """No text has more significant figures than were asked for."""
    for text in (at_most_text(amount, digits=digits), at_least_text(amount, digits=digits)):
        figures = text.split("e")[0].replace(".", "").strip("-0")
        assert len(figures) <= digits


@given(AMOUNTS)
def test_numbers_enclose_the_amount(amount: Fraction) -> None:
    """As the decimals that they are written as, floating-point numbers enclose it too."""
    above, below = Fraction(repr(at_most(amount))), Fraction(repr(at_least(amount)))
    assert below <= amount <= above


@given(st.floats(1e-300, 1e300).filter(lambda x: float(f"{x:g}") == x))
def test_numbers_of_few_figures_stay_as_they_are(number: float) -> None:
    """What six figures say exactly is written as it always was."""
    amount = Fraction(repr(number))
    assert f"{number:g}" == at_most_text(amount) == at_least_text(amount)
    assert number == at_most(amount) == at_least(amount)


@pytest.mark.parametrize(
    ("amount", "above", "below"),
    [
        ("0", "0", "0"),
        ("1.0000049", "1.00001", "1"),
        ("0.999999999", "1", "0.999999"),
        ("999999.5", "1e+06", "999999"),
        ("1/3", "0.333334", "0.333333"),
        ("1e-400", "1e-400", "1e-400"),
        ("123456.7", "123457", "123456"),
        ("0.00012345678", "0.000123457", "0.000123456"),
    ],
)
def test_borders(amount: str, above: str, below: str) -> None:
    """Carries, exponents and very small amounts."""
    assert (above, below) == (at_most_text(Fraction(amount)), at_least_text(Fraction(amount)))
