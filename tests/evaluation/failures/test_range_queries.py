"""Range queries: nothing is wrong with the same rows, and independent columns are found."""

from __future__ import annotations

from support.sheets import coded, comparison, listed
from support.stand_ins import honest, schema_of, spoiled
from understudy.evaluation import evaluate
from understudy.evaluation.failures.ranges import range_queries


def test_the_same_rows_answer_the_same() -> None:
    """And tables without rows have a reason."""
    schema = listed(a=3, b=3)
    rows = coded(schema, {"a": [0, 1, 2, 2], "b": [0, 0, 1, 2]})
    mean, most = range_queries(comparison(schema, rows, rows))
    assert (0.0, 0.0) == (mean.value, most.value)
    empty = coded(schema, {"a": [], "b": []})
    mean, _ = range_queries(comparison(schema, rows, empty))
    assert (None, "there are no rows to count") == (mean.value, mean.reason)


def test_independent_columns_answer_worse_than_honest_rows() -> None:
    """Honest rows are near the resample, and independent columns near their reference."""
    schema = schema_of("census")
    near = evaluate(*honest("census"), schema, classifiers="none").ranges[0]
    far = evaluate(*spoiled("census", "independent columns"), schema, classifiers="none").ranges[0]
    assert near.value is not None
    assert near.resampled is not None
    assert far.value is not None
    assert far.independent is not None
    assert near.value < 2.5 * near.resampled
    assert near.value < far.value
    assert abs(far.value - far.independent) < 0.5 * far.independent
