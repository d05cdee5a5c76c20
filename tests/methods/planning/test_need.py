"""Which ε is needed for an error: the last crossing of the curve, or none."""

from __future__ import annotations

import pytest

from understudy.errors import UsageError
from understudy.methods.planning.need import Need, check_need, smallest_epsilon

CURVE = [(0.1, 0.4), (1.0, 0.1), (10.0, 0.025)]


@pytest.mark.parametrize(
    ("error", "epsilon"), [(0.4, 0.1), (0.9, 0.1), (0.1, 1.0), (0.2, 0.1 * 10**0.5), (0.025, 10.0)]
)
def test_a_curve_is_read_between_its_points(error: float, epsilon: float) -> None:
    """Logarithms of ε and of the distance are interpolated."""
    assert epsilon == pytest.approx(smallest_epsilon(CURVE, error))


def test_a_curve_that_ends_above_says_nothing() -> None:
    """No ε that was tried is enough, and none beyond is invented."""
    assert smallest_epsilon(CURVE, 0.02) is None


def test_a_curve_that_rises_again_counts_from_its_last_crossing() -> None:
    """Rehearsals have noise: what counts is from where on the error stays small."""
    risen = [(0.1, 0.4), (0.3, 0.09), (1.0, 0.11), (10.0, 0.01)]
    found = smallest_epsilon(risen, 0.1)
    assert found is not None
    assert 1.0 < found < 10.0


@pytest.mark.parametrize("error", [0.0, -1.0, 1.5, float("nan")])
def test_an_error_that_is_not_a_distance_is_refused(error: float) -> None:
    """A distance is above 0 and at most 1."""
    with pytest.raises(UsageError, match="a distance is above 0 and at most 1"):
        check_need(error, None)


def test_an_unknown_way_is_refused() -> None:
    """The ways are named."""
    with pytest.raises(UsageError, match="1-way, 2-way, 3-way"):
        check_need(0.1, "4-way")


@pytest.mark.parametrize(
    ("expected", "likely", "words"),
    [
        (1.23, 4.56, "take epsilon = 1.2 or more; to have it on four of five tables, 4.6 or more"),
        (1.23, None, "epsilon = 10 is not enough to have it on most tables"),
        (None, None, "Even epsilon = 10 is not expected to give a 3-way distance of at most 0.05"),
    ],
)
def test_a_need_is_said_in_words(expected: float | None, likely: float | None, words: str) -> None:
    """What is enough, for what, or that nothing is."""
    need = Need(way="3-way", error=0.05, expected=expected, likely=likely, most=10.0)
    assert words in need.sentence
