"""Ranges of forecasts: wider with experience and with rehearsals that differ."""

from __future__ import annotations

import math

import pytest

from understudy.methods.planning.band import EXPERIENCE, Band, Experience, experience_of

NONE = Experience(0.0, 0.0)


def _band(distances: list[float | None], experience: Experience) -> Band:
    band = Band.of(distances, experience)
    assert band is not None
    return band


def test_rehearsals_that_agree_and_no_experience_leave_one_number() -> None:
    """Every range is the number itself."""
    band = _band([0.1, 0.1], NONE)
    expected = [0.1] * 5
    assert expected == pytest.approx([band.expected, *band.likely, *band.nearly_sure])


def test_what_is_expected_is_the_geometric_mean_shifted() -> None:
    """Experience that tables come out a tenth worse multiplies."""
    assert 0.22 == pytest.approx(_band([0.1, 0.4], Experience(math.log(1.1), 0.3)).expected)


def test_the_ranges_are_those_of_a_normal_law() -> None:
    """Logarithms of the ends lie 1.28 and 1.96 standard deviations away."""
    band = _band([0.1, 0.1], Experience(0.0, 0.5))
    ends = [math.log(end / 0.1) / 0.5 for end in (*band.likely, *band.nearly_sure)]
    assert [-1.2816, 1.2816, -1.96, 1.96] == pytest.approx(ends)


def test_rehearsals_that_differ_widen_the_range() -> None:
    """Squares of both spreads add up: a 3-4-5 triangle."""
    apart = math.exp(0.4)
    band = _band([0.1 / apart, 0.1 * apart], Experience(0.0, 0.3))
    assert 0.5 * 1.2816 == pytest.approx(math.log(band.likely[1] / band.expected))


def test_a_distance_is_never_above_one() -> None:
    """However wide a range is, nothing is further apart than nothing in common."""
    band = _band([0.9], Experience(0.5, 2.0))
    assert (1.0, 1.0, 1.0) == (band.expected, band.likely[1], band.nearly_sure[1])


def test_a_distance_of_nothing_has_a_band() -> None:
    """A rehearsal may hit a table exactly."""
    assert _band([0.0], NONE).expected < 1e-6


def test_without_rehearsals_there_is_no_band() -> None:
    """Tables that are too large are not compared."""
    assert Band.of([None, None], NONE) is None


def test_a_method_without_a_record_gets_the_widest_ranges() -> None:
    """Of another method nothing is known, so that its ranges are not narrower than any."""
    unknown = experience_of("somebody else's")
    for known in EXPERIENCE.values():
        for mine, theirs in zip(known, unknown, strict=True):
            assert mine.scatter <= theirs.scatter
