"""Statistics of runs: what is there is computed, and what is not is minus infinity."""

from __future__ import annotations

import numpy as np

from understudy.methods.auditing.run_statistics import paired_statistics, simple_statistics
from understudy.methods.auditing.seen import Seen, Sides


def _seen(*cells: float) -> Seen:
    numbers = np.array(cells)
    parts, totals = {"a": numbers, "b": 2 * numbers}, {"a": numbers.sum(), "b": 2 * numbers.sum()}
    return Seen(asked="a, b", priced="a, b", parts=parts, totals=totals, along={})


def test_every_cell_total_and_question_is_a_statistic() -> None:
    """Of two answers of two cells: four cells, two totals, the questions with and without noise."""
    runs = Sides([_seen(1, 2)] * 3, [_seen(3, 4)] * 3)
    found = {statistic.name: statistic.of(runs.every) for statistic in simple_statistics(runs)}
    assert 8 == len(found)
    assert [2, 2, 2, 4, 4, 4] == found["cell 2 of a"].tolist()
    assert [6, 6, 6, 14, 14, 14] == found["total of b"].tolist()


def test_differences_of_two_answers_cancel_common_noise() -> None:
    """A cell of one answer less the same cell of another; an answer that is absent gives none."""
    runs = Sides([_seen(1, 2)] * 3, [_seen(3, 4)] * 3)
    pairs = {each.name: each for each in paired_statistics([*simple_statistics(runs)])}
    assert [-1, -3] == pairs["cell 1 of a − cell 1 of b"].of([_seen(1, 2), _seen(3, 4)]).tolist()
    silent = Seen(asked="", priced="", parts={}, totals={}, along={})
    assert [-np.inf] == pairs["total of a + total of b"].of([silent]).tolist()
