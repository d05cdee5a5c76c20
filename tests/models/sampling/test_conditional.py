"""Rows that fit conditions: every way has the exact law, and every value fits."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from support.constraints import STATEMENT
from support.joint import cells_of, joint_given
from support.statistics import NEVER, fit_of_choices
from understudy.errors import CapacityError, UsageError
from understudy.facts.schema import Schema
from understudy.methods import Independent
from understudy.models import sampling as sample
from understudy.models.bayes_net import BayesNet
from understudy.models.conditional import Conditional
from understudy.models.inference import Evidence, elimination
from understudy.models.model import Model
from understudy.models.network import Family
from understudy.models.records import ReleasedRecords
from understudy.models.sampling import (
    given,
    rejection,
    sample_blocks,
    sample_codes,
    sample_rows,
    ways,
)
from understudy.models.sampling.weighting import fit_of, weighted_codes

COLUMNS: dict[str, Any] = {
    "key": {"kind": "id"},
    "age": {"kind": "integer", "min": 0, "max": 29, "bins": 3, "missing": []},
    "sex": {"kind": "categorical", "values": ["male", "female"]},
    "pay": {"kind": "float", "min": 0, "max": 9, "bins": 3},
    "well": {"kind": "boolean"},
}
SCHEMA = Schema.parse({"columns": COLUMNS})
WAYS = ("exact", "rejection", "weighting")
# A bin is cut, an ancestor and two of its descendants are told of, one of them in part.
WHERE = "pay < 4, age >= 4, age != 17, well = yes"


def _model(constraints: tuple[str, ...] = ()) -> Model:
    """age → sex, (age, sex) → pay, (sex, pay) → well, with zeros."""
    generator = np.random.default_rng(8)
    age = np.array([0.4, 0.3, 0.2, 0.1])
    sex = np.array([[0.3, 0.7], [0.0, 1.0], [0.6, 0.4], [1.0, 0.0]])
    pay = generator.dirichlet(np.ones(3), (4, 2))
    well = generator.dirichlet(np.ones(2), (2, 3))
    conditionals = (
        Conditional(Family("age"), age),
        Conditional(Family("sex", ("age",)), sex),
        Conditional(Family("pay", ("age", "sex")), pay),
        Conditional(Family("well", ("sex", "pay")), well),
    )
    schema = Schema.parse({"columns": COLUMNS, "constraints": list(constraints)})
    return Model(schema, BayesNet.of(schema, conditionals), 100, STATEMENT)


def _fits(row: dict[str, Any]) -> bool:
    """What WHERE says, of a decoded row."""
    return row["pay"] < 4 and row["age"] is not None and row["age"] >= 4 and row["age"] != 17


def _evidence(where: str) -> Evidence:
    return given(_model(), where).conditions.evidence


@pytest.mark.parametrize("how", WAYS)
def test_every_way_has_the_exact_law(how: str) -> None:
    """Cells come as often as enumeration says of rows that fit, and not as in all rows."""
    model, generator = _model(), np.random.default_rng(1)
    known = given(model, WHERE, how=how, sampler=sample_codes)
    # Resampled rows share draws; few of many draws are as good as independent.
    cells = cells_of(model, known.way.take(4_000 if how == "weighting" else 40_000, generator))
    assert fit_of_choices(cells, joint_given(model, known.conditions.evidence)) > NEVER
    assert fit_of_choices(cells, joint_given(model, {})) < NEVER


def test_weights_stand_for_the_exact_law() -> None:
    """Sums of weights, cell by cell, are within six standard errors of enumeration."""
    model, known = _model(), _evidence(WHERE)
    rows = weighted_codes(model, known, 200_000, np.random.default_rng(2))
    cells, exact = cells_of(model, rows.codes), joint_given(model, known)
    chances = np.bincount(cells, rows.weights, exact.size) / rows.weights.sum()
    assert (np.abs(chances - exact) * np.sqrt(rows.effective) < 6 * np.sqrt(exact) + 1e-9).all()
    chance = given(model, WHERE).chance
    assert chance is not None
    spread = float(rows.weights.std()) / np.sqrt(rows.weights.size)
    assert abs(rows.chance - chance) < 6 * spread


def test_dealt_rows_stray_less() -> None:
    """Without replacement, a conditioned network's counts keep near what is expected."""
    model = _model()
    exact = joint_given(model, _evidence(WHERE))
    cells = cells_of(model, given(model, WHERE).way.take(40_000, np.random.default_rng(3)))
    counts = np.bincount(cells, minlength=exact.size)
    assert np.abs(counts - 40_000 * exact).max() < 60
    assert fit_of_choices(cells, exact) > 0.5


@pytest.mark.parametrize("how", WAYS)
def test_values_fit_too(how: str) -> None:
    """No value of a bin that is cut lies outside, no missing cell passes for a number."""
    rows = sample_rows(_model(), 3_000, where=WHERE, how=how, seed=4).to_pylist()
    assert all(_fits(row) and row["well"] for row in rows)
    ages = [row["age"] for row in rows]
    assert {*range(4, 30)} - {17} == set(ages)
    assert list(range(1, 3_001)) == [row["key"] for row in rows]


@pytest.mark.parametrize("how", WAYS)
def test_missing_cells(how: str) -> None:
    """All of them, none of them, and with those that differ from a value."""
    model = _model()

    def ages(where: str) -> set[int | None]:
        rows = sample_rows(model, 2_000, where=where, how=how, seed=5)
        return set(rows["age"].to_pylist())

    assert {None} == ages("age missing")
    assert {*range(30)} == ages("age not missing")
    assert {*range(30), None} - {3} == ages("age != 3")
    assert {3, 21} == ages("age in {3, 21}")


def test_evidence_hardly_ever_met_is_no_trouble() -> None:
    """Exact rows cost the same whatever the chance of the evidence."""
    names = [f"a{i}" for i in range(8)]
    schema = Schema.parse({"columns": {n: {"kind": "integer", "min": 0, "max": 9} for n in names}})
    line = np.array([0.91, *[0.01] * 9])
    chain = [Conditional(Family("a0"), line)] + [
        Conditional(Family(child, (parent,)), np.tile(line, (10, 1)))
        for parent, child in itertools.pairwise(names)
    ]
    model = Model(schema, BayesNet.of(schema, chain), 10, STATEMENT)
    known = given(model, ", ".join(f"{name} = 7" for name in names))
    assert pytest.approx(1e-16) == known.chance
    assert [dict.fromkeys(names, 7)] * 5 == sample_rows(model, 5, where=known).to_pylist()


def test_constraints_and_conditions_both_hold() -> None:
    """The law is that of rows drawn under constraints, those that fit kept."""
    rules = ("if sex = male then well = yes", "if age < 10 then pay < 3")
    model, where = _model(rules), "pay < 4, sex = male"
    known = given(model, where)
    assert ("rejection", "constraints shape the rows") == (known.how, known.remark)
    rows = sample_rows(model, 2_000, where=where, seed=6).to_pylist()
    assert all(row["pay"] < 4 and row["sex"] == "male" and row["well"] for row in rows)
    assert all(row["pay"] < 3 for row in rows if row["age"] is not None and row["age"] < 10)
    generator, evidence = np.random.default_rng(7), known.conditions.evidence
    codes = sample_codes(model, 400_000, generator)
    kept = generator.random(400_000) < fit_of(codes, evidence)
    every = np.bincount(cells_of(model, codes)[kept], minlength=48)
    found = np.bincount(cells_of(model, known.way.take(200_000, generator)), minlength=48)
    shares = every / every.sum() - found / found.sum()
    assert np.abs(shares).max() < 6 * np.sqrt(0.25 * (1 / every.sum() + 1 / found.sum()))
    assert known.chance == pytest.approx(every.sum() / 400_000, abs=0.01)


def test_constraints_that_leave_nothing_are_told_at_once() -> None:
    """Rather than after sixteen million draws."""
    model = _model(("if sex = male then well = yes",))
    with pytest.raises(UsageError, match="constraints leave no row that fits"):
        given(model, "sex = male, well = no")
    with pytest.raises(UsageError, match="draw by rejection instead"):
        given(model, "sex = male", how="exact")


def test_released_rows_are_filtered() -> None:
    """Those that fit, in their order, all of them unless fewer are asked for; never others."""
    codes = sample_codes(_model(), 500, np.random.default_rng(9))
    model = Model(SCHEMA, ReleasedRecords(_model().domain, codes), 500, STATEMENT)
    rows = sample_rows(model, where="sex = male, pay < 3", seed=1)
    expected = (codes["sex"] == 0) & (codes["pay"] == 0)
    assert expected.sum() == rows.num_rows
    first = sample_rows(model, 5, where="sex = male, pay < 3", seed=1)
    assert codes["well"][expected][:5].astype(bool).tolist() == first["well"].to_pylist()
    known = given(model, WHERE)
    cut = sample_rows(model, where=known, seed=1).to_pylist()
    assert all(map(_fits, cut))
    assert ("filter", len(cut) / 500) == (known.how, known.chance)
    with pytest.raises(UsageError, match=r"of 500 released rows fit.*600 are asked for"):
        sample_rows(model, 600, where="sex = male", seed=1)
    with pytest.raises(UsageError, match="leave it out"):
        sample_rows(model, 5, where="sex = male", how="exact")
    nobody = Model(
        SCHEMA, ReleasedRecords(model.domain, {a: codes[a][:0] for a in codes}), 0, STATEMENT
    )
    with pytest.raises(UsageError, match="0 of 0 released rows"):
        sample_rows(nobody, where="sex = male")


@pytest.mark.parametrize("how", [*WAYS, None])
def test_blocks_and_seeds(how: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks follow each other without a seam, and a seed repeats them."""
    monkeypatch.setattr(sample, "_BLOCK", 30)
    blocks = list(sample_blocks(_model(), 100, where=WHERE, how=how, seed=1))
    assert [30, 30, 30, 10] == [block.num_rows for block in blocks]
    first, again = (sample_rows(_model(), 100, where=WHERE, how=how, seed=1) for _ in range(2))
    assert first.equals(again)
    assert list(range(1, 101)) == first["key"].to_pylist()
    assert not first.equals(sample_rows(_model(), 100, where=WHERE, how=how, seed=2))
    assert (0, 5) == sample_rows(_model(), 0, where=WHERE, how=how).shape


def test_synthesizers_take_conditions() -> None:
    """`fit(...).sample(rows, where=...)`."""
    rows = sample_rows(_model(), 500, seed=1)
    fitted = Independent(SCHEMA, epsilon=5).fit(rows, ledger=None)
    found = fitted.sample(50, where="age < 7, sex = male", seed=1)
    assert 50 == found.num_rows
    assert max(found["age"].to_pylist()) < 7


def test_networks_too_dense_fall_back_to_rejection(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reason is given; asking for the exact way is refused, and the others are named."""
    monkeypatch.setattr(elimination, "available_bytes", lambda: 100)
    known = given(_model(), WHERE)
    assert ("rejection", None) == (known.how, known.known)
    assert "too dense" in known.remark
    rows = sample_rows(_model(), 200, where=known, seed=1).to_pylist()
    assert all(map(_fits, rows))
    with pytest.raises(CapacityError, match="rejection or weighting"):
        given(_model(), WHERE, how="exact")


def test_rejection_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """More rows than can be found within the bound are refused, with the numbers."""
    monkeypatch.setattr(rejection, "_LEAST_DRAWS", 5_000)
    monkeypatch.setattr(rejection, "_DRAWS_PER_ROW", 1)
    model = _model(("if sex = male then well = yes",))
    with pytest.raises(UsageError, match=r"rows are missing after .* draws, of which .* fitted"):
        sample_rows(model, 100_000, where="age = 3, pay < 0.1", seed=1)


def test_weights_of_nothing_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no draw has a weight there is nothing to resample."""
    monkeypatch.setattr(ways, "_LEAST_DRAWS", 10)
    model = _model(("if sex = male then well = yes",))

    def draw_often() -> None:
        for seed in range(1_000):
            sample_rows(model, 1, where="age = 3, pay < 0.1", how="weighting", seed=seed)

    with pytest.raises(UsageError, match="none of 10 rows fits"):
        draw_often()


@pytest.mark.parametrize(
    ("where", "words"),
    [
        ("", "at character 1: the end is found where a column is expected"),
        ("sx = male", "at character 1: 'sx' is not a column; the columns are key, age"),
        ("key = 3", "at character 1: 'key' is generated afresh"),
        ("sex = male, age", "at character 13: 'age' is alone"),
        ("sex = other", "has no value 'other'; known are male, female"),
        ("age < 5, age > 8", "at character 1: column 'age': no value fits all that is said"),
        ("sex = male, age = 4, age = 5", "at character 13: column 'age': no value fits"),
        ("age > ", "at character 6: the end is found where a value is expected"),
        ("age > 99", "out of its declared bounds"),
        ("age > 3.5", "'3.5' is not a whole number"),
        ("pay <= 0", "no value fits"),
        ("age >= 10, age <= 19, sex = male", "probability 0"),
    ],
)
@pytest.mark.parametrize("how", [None, *WAYS])
def test_conditions_that_cannot_be_kept(how: str | None, where: str, words: str) -> None:
    """Each with its character where there is one, and the way out."""
    with pytest.raises(UsageError) as caught:
        sample_rows(_model(), 10, where=where, how=how)
    assert words in str(caught.value)


def test_unknown_ways_are_refused() -> None:
    """With those that there are, and a way without conditions as well."""
    with pytest.raises(UsageError, match="use exact, rejection, weighting"):
        sample_rows(_model(), 10, where="sex = male", how="magic")
    with pytest.raises(UsageError, match="and there are none; give conditions as where"):
        sample_rows(_model(), 10, how="exact")
    with pytest.raises(UsageError, match="none or more"):
        sample_rows(_model(), -1, where="sex = male")
