"""The parts of a log-linear model: what draws, what answers, and what is fitted again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from support.distributions import enumerated, log_linear
from understudy.models.estimation.consistency import Estimate
from understudy.models.weighted.answers import FactorAnswers
from understudy.models.weighted.drawing import LEAST_POOL, PoolDrawing
from understudy.models.weighted.refitting import refitted_aims


def _drawing() -> PoolDrawing:
    law = log_linear()
    return PoolDrawing(law.base, law.aims, law.total, law.calibrated, law.last)


def test_memory_grows_with_rows_beyond_a_first_pool() -> None:
    """A few rows need the least pool; many are drawn in parts, and only the result grows."""
    drawing = _drawing()
    few, many, more = (drawing.bytes_needed(rows) for rows in (1, 10**6, 2 * 10**6))
    assert few >= LEAST_POOL * 1024
    assert 2 * 10**6 * len(drawing.base.domain) == more - many


def test_attributes_that_are_drawn_last_have_no_weights() -> None:
    """The pool leaves them out, and the rows have them."""
    drawing = _drawing()
    last = drawing.base.domain.attributes[-1]
    without = replace(drawing, aims=(), last=(last,))
    assert last not in without.weighed
    assert last in without.completed(
        without.pool(50, np.random.default_rng(0)).codes, 50, np.random.default_rng(1)
    )


def test_answers_are_those_of_enumeration() -> None:
    """The posterior of one attribute without evidence is its exact projection."""
    law = log_linear()

    def never(*asked: object) -> None:
        raise AssertionError("an exact answer draws no rows")

    answers = FactorAnswers(law.base, law.aims, never, never)  # type: ignore[arg-type]
    assert answers.is_exact
    first = law.domain.attributes[0]
    found, chance = answers.posterior((first,), {})
    joint = enumerated(law)
    expected = joint.sum(axis=tuple(range(1, joint.ndim)))
    assert expected == pytest.approx(found)
    assert 1.0 == pytest.approx(chance)


def test_factors_are_fitted_to_other_tables() -> None:
    """A table with its two halves exchanged is met by the rows of the pool."""
    drawing = _drawing()
    pool, aim = drawing.refitting_pool(20_000, 0), drawing.aims[0]
    turned = Estimate(aim.attributes, aim.counts[::-1].copy(), 1.0)
    aims, _ = refitted_aims(pool, drawing.aims, [turned])
    assert [aim.attributes] == [found.attributes for found in aims]
    assert turned.counts.tolist() == aims[0].counts.tolist()
