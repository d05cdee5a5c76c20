"""Rows follow the model, in any number of blocks."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from support.statistics import NEVER, fit_of_choices
from understudy.errors import UsageError
from understudy.facts.schema import Schema
from understudy.facts.unit import Neighbours, Unit
from understudy.models import sampling as sample
from understudy.models.bayes_net import BayesNet
from understudy.models.conditional import Conditional
from understudy.models.model import Model
from understudy.models.network import Family
from understudy.privacy.accounting.composition import PURE, Bound
from understudy.privacy.statements.statement import Statement

SCHEMA = Schema.parse(
    {
        "columns": {
            "c": {"kind": "categorical", "values": ["x", "y", "z"]},
            "a": {"kind": "boolean"},
            "b": {"kind": "integer", "min": 0, "max": 3},
            "key": {"kind": "id"},
        }
    }
)
STATEMENT = Statement(
    "test", Bound(PURE, Fraction(1), Fraction(0)), Unit(Neighbours.ADD_REMOVE), ()
)


def _model() -> Model:
    """a → b, (a, b) → c, with zeros at both ends of conditionals."""
    generator = np.random.default_rng(5)
    a = Conditional(Family("a"), np.array([0.3, 0.7]))
    b = Conditional(Family("b", ("a",)), np.array([[0.0, 0.5, 0.5, 0.0], [0.1, 0.2, 0.3, 0.4]]))
    c = Conditional(Family("c", ("a", "b")), generator.dirichlet(np.ones(3), (2, 4)))
    return Model(SCHEMA, BayesNet.of(SCHEMA, (a, b, c)), 100, STATEMENT)


def test_the_joint_distribution_is_the_models() -> None:
    """Codes of all attributes together come as often as the product of conditionals says."""
    model = _model()
    codes = sample.sample_codes(model, 50_000, np.random.default_rng(1))
    cells = (codes["a"].astype(np.int64) * 4 + codes["b"]) * 3 + codes["c"]
    a, b, c = (conditional.probabilities for conditional in model.conditionals)
    chances = np.array(
        [a[i] * b[i, j] * c[i, j, k] for i, j, k in itertools.product(range(2), range(4), range(3))]
    )
    assert fit_of_choices(cells, chances) > NEVER
    assert fit_of_choices(cells, np.full(24, 1 / 24)) < NEVER


def test_what_has_no_chance_never_comes() -> None:
    """Zeros at either end of a conditional are never drawn, whatever rounding does."""
    codes = sample.sample_codes(_model(), 50_000, np.random.default_rng(1))
    assert {1, 2} == set(codes["b"][codes["a"] == 0].tolist())


def test_blocks_are_one_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks follow each other without a seam: ids count on, and rows add up."""
    monkeypatch.setattr(sample, "_BLOCK", 30)
    rows = sample.sample_rows(_model(), 100, seed=1)
    assert list(range(1, 101)) == rows["key"].to_pylist()
    assert [30, 30, 30, 10] == [block.num_rows for block in sample.sample_blocks(_model(), 100)]


def test_columns_come_in_the_schemas_order() -> None:
    """Whatever order the network needs."""
    assert ["c", "a", "b", "key"] == sample.sample_rows(_model(), 3).column_names


def test_a_seed_repeats_rows() -> None:
    """The same seed gives the same rows, no seed gives others."""
    model = _model()
    assert sample.sample_rows(model, 50, seed=1).equals(sample.sample_rows(model, 50, seed=1))
    assert not sample.sample_rows(model, 50).equals(sample.sample_rows(model, 50))


def test_fewer_than_no_rows_are_refused() -> None:
    """The number of rows is zero or more."""
    with pytest.raises(UsageError, match="none or more"):
        sample.sample_rows(_model(), -1)


def test_no_rows_are_a_table_all_the_same() -> None:
    """Nought rows still have columns."""
    assert (0, 4) == sample.sample_rows(_model(), 0).shape
