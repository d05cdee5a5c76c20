"""Weights of rows by the factors of tables, and the tables that factors may be of."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from understudy.errors import UsageError
from understudy.facts.domain import Domain
from understudy.models.distribution import CodedRows
from understudy.models.weighted.factors import check_aim
from understudy.models.weighted.pool import Pool
from understudy.models.weighted.raking import Aim
from understudy.models.weighted.reweighting import log_mean_weight

DOMAIN = Domain({"a": 2, "b": 3})
CODES: CodedRows = {"a": np.array([0, 0, 1], np.uint8), "b": np.array([0, 1, 2], np.uint8)}
LOGARITHMS = {"a": np.array([0.5, -1.0]), "b": np.array([2.0, 0.0, 700.0])}


def _aims() -> list[Aim]:
    return [
        replace(Aim.of((name,), np.ones(len(values)), 1.0), logarithms=values)
        for name, values in LOGARITHMS.items()
    ]


def test_the_mean_weight_is_that_of_products_of_factors() -> None:
    """It is kept as a logarithm, so that large factors do not overflow."""
    pool = Pool.of(DOMAIN, CODES, 3.0)
    weights = [0.5 + 2.0, 0.5 + 0.0, -1.0 + 700.0]
    expected = 699.0 + math.log(sum(math.exp(weight - 699.0) for weight in weights) / 3)
    assert expected == pytest.approx(log_mean_weight(pool, _aims()))


@pytest.mark.parametrize(
    "change",
    [
        {"counts": np.ones(4)},
        {"logarithms": np.ones(4)},
        {"logarithms": np.array([np.nan, 0.0])},
        {"variance": -1.0},
        {"spread": 0.0},
    ],
)
def test_factors_of_other_attributes_are_refused(change: dict[str, object]) -> None:
    """Shapes, finite numbers, variances and spreads are looked at."""
    aim = replace(_aims()[0], spread=1.0)
    check_aim(aim, DOMAIN)
    with pytest.raises(UsageError, match="the factors of a do not fit"):
        check_aim(replace(aim, **change), DOMAIN)  # type: ignore[arg-type]
