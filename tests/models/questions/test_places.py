"""The numbers behind codes: middles, ends, quantiles, and how values are written."""

from __future__ import annotations

import numpy as np
import pytest

from understudy.facts.codec.regions import Region
from understudy.facts.column import DateColumn
from understudy.facts.schema import Schema
from understudy.models.questions.places import crossing, places_of

COLUMNS = Schema.parse(
    {
        "columns": {
            "day": {"kind": "date", "min": "2020-01-01", "max": "2020-01-20", "bins": 2},
            "pay": {"kind": "float", "min": 0.0, "max": 1.0, "bins": 2, "step": 0.25},
            "even": {"kind": "integer", "min": 0, "max": 8, "bins": 3, "step": 2},
        }
    }
).learned


def test_days_have_means_and_quantiles() -> None:
    """The middle of ten days, and the day by which half of them have passed."""
    places = places_of("day", COLUMNS["day"])
    assert "2020-01-05" == places.written(places.means[0])
    half = places.quantile(np.array([0.5, 0.5]), 0.5)
    assert "2020-01-10" == places.written(places.value(half))


def test_only_written_values_count() -> None:
    """Steps of 0.25 leave 0 and 0.25 in the first bin, and 0.5 to 1 in the last."""
    assert [0.125, 0.75] == places_of("pay", COLUMNS["pay"]).means.tolist()
    first = places_of("even", COLUMNS["even"]).means[0]
    assert first in (0.0, 1.0)


def test_holes_are_left_out_of_means() -> None:
    """Of the days 1 to 10 without the first, the middle is half a day later."""
    column = COLUMNS["day"]
    assert isinstance(column, DateColumn)
    without = Region(without=frozenset([int(column.bounds[0])]))
    before, after = (places_of("day", column, r).means[0] for r in (Region(), without))
    assert 0.5 == pytest.approx(after - before)


def test_a_curve_is_crossed_where_it_first_reaches_a_share() -> None:
    """Between two places in proportion; flat parts and ends have no division by nothing."""
    places, reached = np.array([0.0, 1.0, 2.0, 3.0]), np.array([0.0, 0.4, 0.4, 0.8])
    assert 0.5 == pytest.approx(crossing(places, reached, 0.2))
    assert 1.0 == crossing(places, reached, 0.4)
    assert 2.5 == pytest.approx(crossing(places, reached, 0.6))
    assert 3.0 == crossing(places, reached, 0.9)
    assert 0.0 == crossing(places, reached, 0.0)
