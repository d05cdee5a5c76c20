"""Combining rules, by hand."""

from __future__ import annotations

import pytest

from understudy import combine_replicates
from understudy.errors import UsageError

ESTIMATES, VARIANCES = [1.0, 2.0, 3.0], [0.1, 0.2, 0.3]


def test_about_the_population() -> None:
    """b = 1, so that the variance is 4/3 with two degrees of freedom: ± 4.303 · 1.1547."""
    found = combine_replicates(ESTIMATES, VARIANCES)
    assert (2.0, 4 / 3, 2.0) == pytest.approx((found.estimate, found.variance, found.degrees))
    assert (2 - 4.9683, 2 + 4.9683) == pytest.approx((found.low, found.high), abs=1e-3)


def test_about_the_rows() -> None:
    """The sampling variance of stand-ins, 0.2 on average, is taken off: 4/3 − 0.2."""
    found = combine_replicates(ESTIMATES, VARIANCES, about="rows")
    assert 4 / 3 - 0.2 == pytest.approx(found.variance)
    assert 2 * (1 - 0.2 / (4 / 3)) ** 2 == pytest.approx(found.degrees)


def test_variances_stay_positive() -> None:
    """Where stand-ins differ by less than sampling explains, b/M is left."""
    found = combine_replicates([1.0, 1.1], [5.0, 5.0], about="rows")
    assert 0.005 / 2 == pytest.approx(found.variance)
    assert 1.0 == found.degrees


@pytest.mark.parametrize(
    ("estimates", "variances", "about", "words"),
    [
        ([1.0], [1.0], "rows", "at least two"),
        ([1.0, 2.0], [1.0], "rows", "2 estimates and 1 variances"),
        ([1.0, 2.0], [1.0, 1.0], "nobody", "use 'population' or 'rows'"),
    ],
)
def test_what_cannot_be_combined(
    estimates: list[float], variances: list[float], about: str, words: str
) -> None:
    """It is refused with the way out."""
    with pytest.raises(UsageError, match=words):
        combine_replicates(estimates, variances, about=about)
