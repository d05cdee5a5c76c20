"""Aggregates that a user lists: read with all findings at once, answered as rows say."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from support.stand_ins import honest, schema_of
from understudy.errors import UsageError
from understudy.evaluation import Evaluation, evaluate
from understudy.evaluation.analyses.aggregates import read_aggregate, read_aggregates
from understudy.evaluation.report.analyses import aggregate_table
from understudy.facts.schema import Schema

ASKED = (
    "count(age >= 63, region in {N, far})",
    "count()",
    "P(smoker = yes | age < 30)",
    "mean(weight | ill = true and age != 50)",
    "quantile(age, 0.9 | region = far)",
    "mean(age | age = 13)",
)
DATED = Schema.parse(
    {
        "columns": {
            "day": {"kind": "date", "min": "2020-01-01", "max": "2020-12-31", "bins": 12},
            "n": {"kind": "integer", "min": 0, "max": 9, "missing": []},
        }
    }
)


@cache
def _found() -> Evaluation:
    return evaluate(*honest("clinic"), schema_of("clinic"), classifiers="none", aggregates=ASKED)


def test_answers_are_those_of_the_rows() -> None:
    """Conditions cut bins where they say, on both sides; counts are scaled to the real rows."""
    for side, rows in zip(("real", "synthetic"), honest("clinic"), strict=True):
        age, region = rows["age"], rows["region"]
        ill = rows["ill"] & (age != 50)
        expected = [
            ((age >= 63) & np.isin(region, ["N", "far"])).sum(),
            2_000,
            rows["smoker"][age < 30].mean(),
            rows["weight"][ill].mean(),
            np.quantile(age[region == "far"], 0.9),
            13,
        ]
        assert expected == pytest.approx([getattr(a, side) for a in _found().aggregates])


def test_sampling_error_is_that_of_resamples() -> None:
    """The interval of a mean and of a share, within a tenth of 2,000 resamples."""
    rows, generator = honest("clinic")[0], np.random.default_rng(1)
    age, smoker = rows["age"], rows["smoker"]
    shares, means = [], []
    for _ in range(2_000):
        places = generator.integers(0, 2_000, 2_000)
        young = places[age[places] < 30]
        shares.append(smoker[young].mean())
        means.append(rows["weight"][places[rows["ill"][places]]].mean())
    found = {answer.asked[:5]: answer.chance for answer in _found().aggregates}
    assert found["P(smo"] == pytest.approx(1.96 * np.std(shares), rel=0.15)
    assert found["mean("] is not None
    assert found["count"] == pytest.approx(0.0)


def test_the_page_and_json_have_every_answer() -> None:
    """In the order of the list, with the number of rows behind each."""
    lines = aggregate_table(_found()).lines
    assert list(ASKED) == [line[0] for line in lines]
    assert ("2,000", "2,000", "2,000", "yes") == lines[1][1:]
    document = _found().document()["aggregates"]
    assert list(ASKED) == [answer["aggregate"] for answer in document]
    assert 13.0 == document[5]["real"] == document[5]["synthetic"]


def test_dates_are_written_as_dates_and_nobody_is_nothing() -> None:
    """A mean and a quantile of days; an aggregate that no row fits has no answer."""
    rows = {"day": ["2020-02-01", "2020-02-03", "2020-02-03"], "n": [1, 2, None]}
    asked = ["mean(day)", "quantile(day, 0.5)", "mean(n | n = 7)", "P(n missing)", "mean(n)"]
    found = evaluate(rows, rows, DATED, classifiers="none", aggregates=asked).aggregates
    assert "2020-02-02" == found[0].texts[0]
    assert "2020-02-03" == found[1].texts[1]
    assert (None, None) == (found[2].real, found[2].is_within_chance)
    assert found[3].real == pytest.approx(1 / 3)
    assert 1.5 == found[4].real


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("median(age)", "none of the known forms"),
        ("mean(region)", "not a column of numbers"),
        ("quantile(age)", "no share is named"),
        ("quantile(age, 2)", "not a share"),
        ("count(age > 9 | ill = true)", "a count has no bar"),
        ("P( | ill = true)", "no event is named"),
        ("count(height > 9)", "'height' is not a column"),
    ],
)
def test_what_cannot_be_read_is_refused(text: str, words: str) -> None:
    """With the thing, the rule and the way out."""
    with pytest.raises(UsageError, match=words):
        read_aggregate(text, schema_of("clinic"))


def test_lists_are_files_of_lines(tmp_path: Path) -> None:
    """Empty lines and remarks are passed over; all findings come at once, by their line."""
    path = tmp_path / "asked.txt"
    path.write_text("# what we publish\n\nmean(age)\n", encoding="utf-8")
    assert ["mean(age)"] == [a.text for a in read_aggregates(path, schema_of("clinic"))]
    path.write_text("mean(age)\nmean(nobody)\n\nnothing\n", encoding="utf-8")
    with pytest.raises(UsageError) as refused:
        read_aggregates(path, schema_of("clinic"))
    assert "line 2" in str(refused.value)
    assert "line 4" in str(refused.value)
    with pytest.raises(UsageError, match="cannot be read"):
        read_aggregates(tmp_path / "absent.txt", schema_of("clinic"))
    path.write_text("# nothing yet\n", encoding="utf-8")
    with pytest.raises(UsageError, match="lists none; write one in a line"):
        read_aggregates(path, schema_of("clinic"))
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match="UTF-8"):
        read_aggregates(path, schema_of("clinic"))
