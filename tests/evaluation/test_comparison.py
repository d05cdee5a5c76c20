"""Floor and ceiling of a metric: which of them is better is never a matter of chance."""

from __future__ import annotations

import pytest

from support.sheets import comparison, drawn, listed
from understudy.evaluation.metric import Goal, Metric

SCHEMA = listed(a=2, b=3)


def _metric(goal: Goal) -> Metric:
    return Metric(name="m", about="any", goal=goal, low=0.0, high=1.0, perfect=0.0, useless="none")


@pytest.mark.parametrize(
    ("goal", "floor", "ceiling", "shown"),
    [
        (Goal.LESS, 0.2, 0.5, 0.5),
        (Goal.LESS, 0.5, 0.2, 0.5),
        (Goal.MORE, 0.9, 0.4, 0.4),
        (Goal.MORE, 0.4, 0.9, 0.4),
    ],
)
def test_independent_columns_are_never_shown_as_better_than_a_resample(
    goal: Goal, floor: float, ceiling: float, shown: float
) -> None:
    """Where rows cannot tell the two apart, both are the number of the resample."""
    tables = comparison(SCHEMA, drawn(SCHEMA, 50, 1), drawn(SCHEMA, 50, 2))
    values = [0.3, *[floor] * tables.draws, *[ceiling] * tables.draws]
    found = tables.result(_metric(goal), values)
    assert found.resampled == pytest.approx(floor)
    assert found.independent == pytest.approx(shown)
