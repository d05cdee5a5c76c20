"""Samplers by name, and rows from tables as they were released."""

from __future__ import annotations

import numpy as np
import pytest

from understudy.errors import UsageError
from understudy.facts.schema import Schema
from understudy.methods import Histogram, PrivBayes
from understudy.models.model import Model
from understudy.models.sampling import deal_codes, sample_codes
from understudy.models.sampling.inconsistent import sampler_of_released
from understudy.models.sampling.named import SAMPLERS, named_sampler
from understudy.testing import seeded

COLUMNS = {"a": {"kind": "boolean"}, "b": {"kind": "boolean"}}
ROWS = {"a": [True, False] * 300, "b": [True, False] * 300}


def _model(*, constraints: tuple[str, ...] = ()) -> Model:
    extra = {"constraints": list(constraints)} if constraints else {}
    schema = Schema.parse({"columns": COLUMNS, **extra})
    return seeded(PrivBayes(schema, epsilon=5), 3).fit(ROWS, ledger=None).model_


def test_names_are_those_of_three_samplers() -> None:
    """Two draw from the model's law, the third from what was released."""
    model = _model()
    assert deal_codes is named_sampler(model, SAMPLERS[0])
    assert sample_codes is named_sampler(model, SAMPLERS[1])
    with pytest.raises(UsageError, match="sampler 'dealt' is unknown"):
        named_sampler(model, "dealt")


def test_released_tables_are_drawn_from_as_they_are() -> None:
    """Shares of rows are those of the last released table with cells below 0 set to 0."""
    model = _model()
    drawn = sampler_of_released(model)(model.law, 60_000, np.random.default_rng(1))  # type: ignore[arg-type]
    table = {t.attributes: np.maximum(t.counts, 0) for t in model.tables}
    [joint] = [t for names, t in table.items() if len(names) == 2]
    [names] = [names for names in table if len(names) == 2]
    own = table[names[:1]] / table[names[:1]].sum()
    expected = own[:, None] * joint / joint.sum(axis=1, keepdims=True)
    found = np.zeros((2, 2))
    np.add.at(found, (drawn[names[0]], drawn[names[1]]), 1 / 60_000)
    # Seven standard errors of a share of 60,000 rows.
    assert abs(found - expected).max() < 7 * 0.5 / 60_000**0.5


def test_models_without_such_tables_are_refused() -> None:
    """Rows that were released one by one, and schemas with constraints."""
    schema = Schema.parse({"columns": COLUMNS})
    rows = seeded(Histogram(schema, epsilon=1, rows=5), 1).fit(ROWS, ledger=None).model_
    with pytest.raises(UsageError, match="one way of drawing"):
        named_sampler(rows, "with-replacement")
    with pytest.raises(UsageError, match="know no constraints"):
        named_sampler(_model(constraints=("not (a = true and b = false)",)), "inconsistent")
