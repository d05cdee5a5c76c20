"""Both samplers keep every constraint, and their rows have the documented law."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from support.constraints import (
    Rule,
    allowed_cells,
    document_of,
    masked_law,
    random_model,
    ruled_columns,
)
from support.statistics import NEVER, fit_of_choices
from support.tiers import examples, slow_but
from understudy.facts.codec import Codec
from understudy.facts.codes import Codes
from understudy.facts.schema import Schema
from understudy.models.bayes_net import BayesNet
from understudy.models.conditional import Conditional
from understudy.models.model import Model
from understudy.models.network import Family
from understudy.models.sampling import Sampler, deal_codes, sample_codes, sample_rows

Columns = tuple[str, ...]


def model_of(columns: Columns, rules: tuple[Rule, ...], seed: int) -> Model:
    """A random model under constraints; examples that contradict themselves are passed over."""
    assume(allowed_cells(columns, rules).any())
    order = tuple(str(name) for name in np.random.default_rng(seed).permutation(columns))
    return random_model(Schema.parse(document_of(columns, rules)), order, seed)


def cells_of(model: Model, codes: dict[str, Codes]) -> npt.NDArray[np.int64]:
    """The cell of every row, axes in the network's order."""
    order = model.network.order
    numbers = [codes[name].astype(np.int64) for name in order]
    return np.asarray(np.ravel_multi_index(numbers, model.domain.shape(order)), np.int64)


@pytest.mark.parametrize("sampler", [sample_codes, deal_codes], ids=lambda s: s.__name__)
@given(ruled=ruled_columns(), seed=st.integers(0, 2**32 - 1), rows=st.integers(0, 300))
@settings(max_examples=examples(40))
def test_every_row_keeps_every_constraint(
    sampler: Sampler, ruled: tuple[Columns, tuple[Rule, ...]], seed: int, rows: int
) -> None:
    """Decoded rows, judged one by one, under random constraints and models."""
    columns, rules = ruled
    model = model_of(columns, rules, seed)
    codes = sampler(model, rows, np.random.default_rng(seed))
    decoded = Codec(model.schema).decode(codes, generator=np.random.default_rng(seed))
    assert rows == decoded.num_rows
    assert [] == [
        (rule.text, row) for row in decoded.to_pylist() for rule in rules if not rule.kept(row)
    ]


@given(ruled=ruled_columns(most=4), seed=st.integers(0, 2**32 - 1))
@settings(max_examples=examples(30))
def test_rows_have_the_masked_law(ruled: tuple[Columns, tuple[Rule, ...]], seed: int) -> None:
    """Cells come as often as the enumerated law says; what it gives no chance never comes."""
    columns, rules = ruled
    model = model_of(columns, rules, seed)
    allowed = allowed_cells(columns, rules)
    in_order = allowed.transpose([columns.index(name) for name in model.network.order])
    law = masked_law(model, in_order).ravel()
    cells = cells_of(model, sample_codes(model, 4000, np.random.default_rng(seed)))
    assert set(np.flatnonzero(law).tolist()) >= set(cells.tolist())
    assert fit_of_choices(cells, law) > NEVER


def _gated() -> Model:
    """A gate drawn after what it governs: rows must be kept from dead ends on the way."""
    columns = {
        "a": {"kind": "categorical", "values": ["x", "y", "z"]},
        "b": {"kind": "categorical", "values": ["x", "y", "z"]},
        "c": {"kind": "categorical", "values": ["x", "y"]},
    }
    constraints = ["if c = x then a = x", "if c = y then b in {x, y} and a != x"]
    third = np.full(3, 1 / 3)
    conditionals = (
        Conditional(Family("a"), np.array([0.2, 0.3, 0.5])),
        Conditional(Family("b", ("a",)), np.array([third, third, [0.0, 0.0, 1.0]])),
        Conditional(Family("c", ("b",)), np.array([[1.0, 0.0], [0.5, 0.5], [0.5, 0.5]])),
    )
    schema = Schema.parse({"constraints": constraints, "columns": columns})
    return Model(
        schema,
        BayesNet.of(schema, conditionals),
        100,
        random_model(Schema.parse({"columns": columns}), ("a", "b", "c"), 0).statement,
    )


def _gated_law() -> npt.NDArray[np.float64]:
    """By hand: after a = x all of b, c = x; after y or z no b = z, and c = y."""
    law = np.zeros((3, 3, 2))
    law[0, :, 0] = 0.2 / 3
    law[1, :2, 1] = 0.3 / 2
    # P(b | a = z) is all on z, which is masked: the mean over a is (2/9, 2/9, 5/9).
    law[2, :2, 1] = 0.5 / 2
    return law.ravel()


@pytest.mark.slow
@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("sampler", [sample_codes, deal_codes], ids=lambda s: s.__name__)
def test_a_row_by_itself_has_the_masked_law(sampler: Sampler, rows: int) -> None:
    """One row of each of 6,000 small tables, against a law worked out by hand."""
    model, generator = _gated(), np.random.default_rng(rows)
    one = [cells_of(model, sampler(model, rows, generator))[i % rows] for i in range(6000)]
    assert set(np.flatnonzero(_gated_law()).tolist()) == set(map(int, one))
    assert fit_of_choices(np.array(one), _gated_law()) > NEVER
    unmasked = np.full(18, 1 / 18)
    assert fit_of_choices(np.array(one), unmasked) < NEVER


def test_the_law_by_hand_is_the_enumerated_one() -> None:
    """The twin of the masks agrees with pencil and paper."""
    allowed = np.zeros((3, 3, 2), bool)
    allowed[0, :, 0] = True
    allowed[1:, :2, 1] = True
    assert pytest.approx(_gated_law()) == masked_law(_gated(), allowed).ravel()


def test_dealt_counts_are_within_one_of_the_masked_law() -> None:
    """Rows with different codes left are dealt apart, each within one of its expectation."""
    codes = deal_codes(_gated(), 10_000, np.random.default_rng(3))
    counts = np.bincount(cells_of(_gated(), codes), minlength=18)
    assert np.abs(counts - 10_000 * _gated_law()).max() < 2 + 1e-6


def test_what_constraints_do_not_touch_is_drawn_as_before() -> None:
    """A constraint on the last attribute leaves the rows of all others as they were."""
    columns = ("kids", "grade", "score")
    plain, ruled = (
        random_model(Schema.parse(document_of(columns, ()) | more), columns, 4)
        for more in ({}, {"constraints": ["not (score missing)"]})
    )
    before = sample_codes(plain, 500, np.random.default_rng(1))
    after = sample_codes(ruled, 500, np.random.default_rng(1))
    assert before["kids"].tolist() == after["kids"].tolist()
    assert before["grade"].tolist() == after["grade"].tolist()
    assert 2 in before["score"]
    assert 2 not in after["score"]


@pytest.mark.parametrize("rows", slow_but({40}, [500, 40]))
def test_wide_tables_are_masked_where_they_are_used(rows: int) -> None:
    """More configurations of parents than rows: lines are made for those that occur."""
    columns = {
        "big": {"kind": "integer", "min": 0, "max": 299, "bins": 300},
        "flag": {"kind": "boolean"},
        "late": {"kind": "integer", "min": 0, "max": 9},
    }
    schema = Schema.parse(
        {"constraints": ["if big >= 100 then late < 5 and flag = no"], "columns": columns}
    )
    generator = np.random.default_rng(0)
    conditionals = (
        Conditional(Family("big"), generator.dirichlet(np.ones(300))),
        Conditional(Family("late", ("big",)), generator.dirichlet(np.ones(10), 300)),
        Conditional(Family("flag", ("big", "late")), generator.dirichlet([1, 1], (300, 10))),
    )
    model = Model(schema, BayesNet.of(schema, conditionals), 100, _gated().statement)
    drawn = sample_rows(model, rows, seed=1).to_pylist()
    high = [row for row in drawn if row["big"] >= 100]
    assert high
    assert all(row["late"] < 5 and not row["flag"] for row in high)
    assert any(row["flag"] for row in drawn if row["big"] < 100)


def test_a_gate_after_many_questions_stays_narrow() -> None:
    """Thirty answers drawn before the one that governs them: two sets left, not 2³⁰."""
    names = [f"q{i}" for i in range(30)]
    columns = {name: {"kind": "boolean", "missing": []} for name in (*names, "asked")}
    rules = [f"if asked = no then {name} missing" for name in names]
    schema = Schema.parse({"constraints": [*rules, "not (asked missing)"], "columns": columns})
    model = random_model(schema, (*names, "asked"), 1)
    rows = sample_rows(model, 200, seed=1).to_pylist()
    assert all(row["asked"] or all(row[name] is None for name in names) for row in rows)
    assert len(model.completions._steps) < 200
