"""Missing cells are filled from released numbers, each by its row alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from support.distributions import STATEMENT
from support.statistics import NEVER, fit_of_choices
from understudy.facts.domain import Domain
from understudy.facts.schema import Schema
from understudy.models.bayes_net import BayesNet
from understudy.models.conditional import Conditional
from understudy.models.distribution import CodedRows
from understudy.models.gap_filling import fill_table
from understudy.models.imputation import Imputation, fill
from understudy.models.model import Model
from understudy.models.network import Family
from understudy.models.records import ReleasedRecords

SEX = {"kind": "categorical", "values": ["f", "m"]}
# Ten bins of ten, and a level for missing cells.
WEIGHT = {"kind": "float", "min": 0.0, "max": 100.0, "bins": 10, "decimals": 1, "missing": []}
SHARES = np.array([0.0, 0.1, 0.2, 0.3, 0.1, 0.05, 0.05, 0.0, 0.0, 0.0, 0.2])


def model_of(treatment: str, **columns: Any) -> Model:
    """A network in which men weigh more and miss their weight more often."""
    schema = Schema.parse(
        {"columns": {"sex": SEX, "weight": {**WEIGHT, "missing_as": treatment}, **columns}}
    )
    women, men = SHARES, SHARES[[9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 10]]
    conditionals = [
        Conditional(Family("sex"), np.array([0.5, 0.5])),
        Conditional(Family("weight", ("sex",)), np.array([women, men])),
        *(Conditional(Family(name), np.array([0.9, 0.1])) for name in columns),
    ]
    return Model(schema, BayesNet.of(schema, conditionals), 1_000, STATEMENT)


@pytest.mark.parametrize(("treatment", "number"), [("mean", 50.0), ("median", 50.0)])
def test_a_number_of_the_released_distribution_fills_gaps(treatment: str, number: float) -> None:
    """Every missing cell gets the mean or the median of what was released, and no null is left."""
    model = model_of(treatment)
    column = model.sample(seed=1).column("weight")
    assert 0 == column.null_count
    assert Imputation(model).fills == {"weight": pytest.approx(number, abs=1.0)}
    [fill_value] = Imputation(model).fills.values()
    # One row in five misses its weight; values of 0.1 are rare otherwise.
    assert 150 < sum(value == fill_value for value in column.to_pylist()) < 260


def test_mean_and_median_are_those_of_the_shares() -> None:
    """The mean of bin centres, and the place that half of the rows lie below."""
    schema = Schema.parse({"columns": {"x": {**WEIGHT, "missing_as": "mean"}}})
    law = BayesNet(Domain.of(schema), (Conditional(Family("x"), SHARES),))
    mean = Imputation(Model(schema, law, 10, STATEMENT)).fills["x"]
    centres = np.arange(5, 100, 10)
    expected = float(SHARES[:10] @ centres / SHARES[:10].sum())
    assert mean == pytest.approx(expected, abs=0.051)
    schema = Schema.parse({"columns": {"x": {**WEIGHT, "missing_as": "median"}}})
    median = Imputation(Model(schema, law, 10, STATEMENT)).fills["x"]
    # 0.4 of 0.8 lie below: a third of the fourth bin.
    assert median == pytest.approx(30 + 10 / 3, abs=0.051)


def test_the_model_fills_given_the_other_cells() -> None:
    """The weights of women and of men are drawn from their own conditionals, exactly."""
    model = model_of("model")
    rows = 20_000
    codes: CodedRows = {
        "sex": (np.arange(rows) % 2).astype(np.uint8),
        "weight": np.full(rows, 10, np.uint8),
    }
    filled = Imputation(model).filled(codes, np.random.default_rng(3))
    women = filled["weight"][codes["sex"] == 0]
    expected = SHARES[:10] / SHARES[:10].sum()
    possible = np.flatnonzero(expected)
    assert set(possible.tolist()) == set(women.tolist())
    places = np.searchsorted(possible, women)
    assert fit_of_choices(places, expected[possible]) > NEVER


def test_cells_that_are_there_stay() -> None:
    """Filling moves gaps alone, and the codes that were given are not changed."""
    model = model_of("model")
    codes: CodedRows = {"sex": np.array([0, 1], np.uint8), "weight": np.array([3, 10], np.uint8)}
    filled = fill(model, codes, {"weight": np.array([False, True])}, np.random.default_rng(0))
    assert 3 == filled["weight"][0]
    assert [3, 10] == codes["weight"].tolist()
    assert codes["sex"] is filled["sex"]


def test_constraints_hold_for_filled_cells() -> None:
    """No filled row is against the schema."""
    schema = Schema.parse(
        {
            "constraints": ["if sex = f then weight < 30"],
            "columns": {"sex": SEX, "weight": {**WEIGHT, "missing_as": "model"}},
        }
    )
    law = model_of("model").distribution
    model = Model(schema, law, 10, STATEMENT)
    codes: CodedRows = {"sex": np.zeros(500, np.uint8), "weight": np.full(500, 10, np.uint8)}
    filled = Imputation(model).filled(codes, np.random.default_rng(0))
    assert filled["weight"].max() < 3


def test_released_rows_lend_their_cells() -> None:
    """A model without probabilities takes the cell of a row that agrees in the other columns."""
    schema = Schema.parse({"columns": {"sex": SEX, "weight": {**WEIGHT, "missing_as": "model"}}})
    held: CodedRows = {
        "sex": np.array([0, 0, 1, 1, 1], np.uint8),
        "weight": np.array([2, 10, 7, 7, 10], np.uint8),
    }
    model = Model(schema, ReleasedRecords(Domain.of(schema), held), 5, STATEMENT)
    filled = Imputation(model).filled(dict(held), np.random.default_rng(0))
    assert [2, 2, 7, 7, 7] == filled["weight"].tolist()


def test_a_public_table_is_filled() -> None:
    """Gaps of all columns are filled, in the notation of the column; other columns stay."""
    model = model_of("level", smoker={"kind": "boolean", "labels": ["ja", "nein"]})
    rows = pa.table(
        {
            "id": ["007", "008"],
            "sex": ["f", ""],
            "weight": ["", "95.00"],
            "smoker": ["", "nein"],
        }
    )
    filled = fill_table(model, rows, seed=1)
    found = filled.rows.to_pydict()
    assert 3 == filled.cells
    assert ["007", "008"] == found["id"]
    assert ["f", "m"] == found["sex"]
    assert "95.00" == found["weight"][1]
    assert 10 <= float(found["weight"][0]) < 70
    assert found["smoker"][0] in ("ja", "nein")
