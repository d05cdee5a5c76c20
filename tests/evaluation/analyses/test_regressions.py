"""Regressions on both tables: estimates as in textbooks, and conclusions that agree or do not."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from support.stand_ins import honest, rows_of, schema_of, spoiled
from understudy.evaluation import Evaluation, evaluate
from understudy.evaluation.analyses.design import matrix_of, terms_of
from understudy.evaluation.analyses.estimates import CoefficientEstimate, estimates
from understudy.evaluation.analyses.regression import MOST_COLUMNS, TermPair
from understudy.evaluation.report.analyses import analysis_results, coefficients
from understudy.evaluation.sheets import load
from understudy.facts.schema import Schema


@cache
def _found(flaw: str | None, population: str = "clinic") -> Evaluation:
    rows = honest(population) if flaw is None else spoiled(population, flaw)
    return evaluate(*rows, schema_of(population), classifiers="none")


def _drawn(rows: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Terms, and an outcome of known coefficients, as a number and as a class."""
    generator = np.random.default_rng(seed)
    matrix = np.column_stack([np.ones(rows), generator.normal(size=(rows, 2))])
    logits = matrix @ np.array([0.3, 1.0, -0.5])
    classes = (generator.random(rows) < 1 / (1 + np.exp(-logits))).astype(float)
    return matrix, logits + generator.normal(size=rows), classes


def _known(found: list[CoefficientEstimate | None] | None) -> list[CoefficientEstimate]:
    assert found is not None
    return [each for each in found if each is not None]


def test_least_squares_are_those_of_scipy() -> None:
    """One term: slope, intercept and the standard error of both."""
    from scipy.stats import linregress

    matrix, numbers, _ = _drawn(200, 1)
    found = _known(estimates(matrix[:, :2], numbers, logistic=False))
    expected = linregress(matrix[:, 1], numbers)
    assert [expected.intercept, expected.slope] == pytest.approx([each.value for each in found])
    errors = [(each.high - each.low) / (2 * 1.959964) for each in found]
    assert [expected.intercept_stderr, expected.stderr] == pytest.approx(errors, rel=1e-6)


def test_logistic_estimates_are_the_maximum_of_the_likelihood() -> None:
    """The gradient vanishes there, and errors are those of the curvature, taken by differences."""
    matrix, _, classes = _drawn(300, 2)
    found = _known(estimates(matrix, classes, logistic=True))
    at = np.array([each.value for each in found])

    def gradient(values: np.ndarray) -> np.ndarray:
        chances = 1 / (1 + np.exp(-matrix @ values))
        return np.asarray(matrix.T @ (classes - chances))

    assert gradient(at) == pytest.approx(np.zeros(3), abs=1e-6)
    steps = 1e-5 * np.eye(3)
    curved = np.array([(gradient(at - s) - gradient(at + s)) / 2e-5 for s in steps])
    expected = np.sqrt(np.diag(np.linalg.inv(curved)))
    errors = [(each.high - each.low) / (2 * 1.959964) for each in found]
    assert expected == pytest.approx(errors, rel=1e-4)


def test_intervals_hold_the_truth() -> None:
    """95 of 100 do: at least 340 of 400, which chance misses once in 10^15."""
    hits = 0
    for seed in range(200):
        matrix, numbers, _ = _drawn(60, seed)
        found = _known(estimates(matrix, numbers, logistic=False))
        truths = zip(found[1:], (1.0, -0.5), strict=True)
        hits += sum(each.low <= truth <= each.high for each, truth in truths)
    assert 340 <= hits <= 398


def test_what_cannot_be_estimated_is_left_out() -> None:
    """A term without variation is None; separated classes and too few rows have no fit."""
    matrix, numbers, _ = _drawn(50, 3)
    still = np.column_stack([matrix, np.zeros(50)])
    found = estimates(still, numbers, logistic=False)
    assert found is not None
    assert found[3] is None
    assert found[1] is not None
    assert estimates(matrix, (matrix[:, 1] > 0).astype(float), logistic=True) is None
    assert estimates(matrix[:5], numbers[:5], logistic=False) is None
    assert estimates(matrix, np.ones(50), logistic=True) is None


def test_a_flag_of_one_class_takes_no_other_coefficient_along() -> None:
    """It has none, and the others are those of the rows whose class no flag decides."""
    matrix, _, classes = _drawn(300, 4)
    flags = np.column_stack([np.arange(300) < 40, np.arange(300) >= 280]).astype(float)
    classes[:40], classes[280:] = 0.0, 1.0
    found = estimates(np.column_stack([matrix, flags]), classes, logistic=True)
    assert found is not None
    assert [None, None] == found[3:]
    expected = estimates(matrix[40:280], classes[40:280], logistic=True)
    assert expected == found[:3]


def test_flags_that_decide_every_row_leave_nothing_to_fit() -> None:
    """A flag that is the class itself, and one that is its opposite."""
    matrix, _, classes = _drawn(300, 5)
    for flag in (classes, 1 - classes):
        assert estimates(np.column_stack([matrix, flag]), classes, logistic=True) is None


def test_overlap_is_the_mean_of_both_parts() -> None:
    """Half of one interval and a quarter of the other, none, and all."""
    one = CoefficientEstimate(1.0, 0.0, 2.0)
    assert 0.375 == one.overlap(CoefficientEstimate(3.0, 1.0, 5.0))
    assert 0.0 == one.overlap(CoefficientEstimate(5.0, 4.0, 6.0))
    assert 1.0 == one.overlap(one)
    assert (False, True) == (one.is_clear, CoefficientEstimate(-1.0, -2.0, -0.5).is_clear)


def test_terms_that_follow_from_others_are_dropped() -> None:
    """A copy of a column adds no term, and rare values join the baseline."""
    schema = Schema.parse(
        {
            "columns": {
                "a": {"kind": "categorical", "values": ["x", "y", "z"]},
                "b": {"kind": "categorical", "values": ["x", "y", "z"]},
                "n": {"kind": "float", "min": 0.0, "max": 9.0, "missing": []},
            }
        }
    )
    values = ["x"] * 600 + ["y"] * 390 + ["z"] * 10
    rows = {"a": values, "b": values, "n": [None, *np.linspace(0, 9, 999)]}
    sheet = load(rows, schema, side="real", seed=0)
    terms = terms_of(sheet, schema, ["a", "b", "n"])
    assert ["a = y", "n, per deviation"] == [term.words for term in terms]
    matrix = matrix_of(sheet, terms)
    assert (1000, 3) == matrix.shape
    assert 0.0 == matrix[0, 2]


def test_honest_rows_lead_to_the_same_conclusions() -> None:
    """Every sign is kept; independent columns lose half of them or more."""
    kept = {flaw: _found(flaw).regression for flaw in (None, "independent columns")}
    signs = {flaw: found.results[0].value for flaw, found in kept.items()}
    assert 1.0 == signs[None]
    lost = signs["independent columns"]
    assert lost is not None
    assert lost < 0.7
    assert "logistic" == kept[None].model
    assert "ill = true" == kept[None].outcome
    overlap = [found.results[2].value or 0.0 for found in kept.values()]
    assert overlap[0] > overlap[1]


def test_a_column_that_separates_the_classes_is_left_out() -> None:
    """Being rich follows from income and sex; the regression says which columns it has."""
    found = _found(None, "census").regression
    assert found.reason is None
    assert found.terms
    assert "income" not in found.columns


def test_a_value_of_one_class_in_the_synthetic_rows_loses_only_itself() -> None:
    """Where nobody of a region is ill, the coefficients of other columns are compared as before."""
    real, made = honest("clinic")
    made = {name: values.copy() for name, values in made.items()}
    made["ill"][made["region"] == "far"] = False
    found = evaluate(real, made, schema_of("clinic"), classifiers="none").regression
    synthetic = {term.term: term.synthetic for term in found.terms}
    assert synthetic.pop("region = far") is None
    assert None not in synthetic.values()
    assert found.reason is None
    assert (found.results[0].value or 0.0) > 0.5


def test_synthetic_rows_without_a_fit_are_said_to_have_none() -> None:
    """All coefficients count as lost, and the page says why."""
    real, made = honest("clinic")
    found = evaluate(
        real,
        made | {"ill": np.zeros_like(made["ill"])},
        schema_of("clinic"),
        classifiers="none",
    )
    assert 0.0 == found.regression.results[0].value
    assert "do not determine" in (found.regression.reason or "")
    figure = coefficients(found)
    assert figure is not None
    assert "all count as lost" in figure.caption


def test_numbers_have_a_linear_regression_and_no_target_a_reason() -> None:
    """The reason names the way out; too few rows have one too."""
    rows = honest("clinic")
    found = evaluate(*rows, schema_of("clinic"), target="weight", classifiers="none").regression
    assert ("linear", "weight") == (found.model, found.outcome)
    schema = Schema.parse({"columns": schema_of("clinic").document()["columns"]})
    assert "--target" in (evaluate(*rows, schema, classifiers="none").regression.reason or "")
    few = rows_of("clinic", 0, 5), rows_of("clinic", 1, 5)
    assert evaluate(*few, schema_of("clinic"), classifiers="none").regression.reason


def test_the_page_has_coefficients_and_results() -> None:
    """A line for each term with both estimates, and the references beside each result."""
    found = _found(None)
    figure = coefficients(found)
    assert figure is not None
    assert len(found.regression.terms) == len(figure.data.lines)
    names = [line[0] for line in analysis_results(found).lines]
    assert "regression, signs kept" in names
    assert "tests, power" in names
    assert len(found.regression.columns) <= MOST_COLUMNS
    lost = TermPair("gone", CoefficientEstimate(1.0, 0.5, 1.5), None)
    assert (False, False, 0.0) == (lost.has_same_sign, lost.is_inside, lost.overlap)
