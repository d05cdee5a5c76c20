"""Subgroups and detection: a flaw within one group, or in one column, is found there."""

from __future__ import annotations

import itertools
from functools import cache

import numpy as np
import pytest

from support.stand_ins import Columns, honest, rows_of, schema_of
from understudy.errors import UsageError
from understudy.evaluation import Evaluation, evaluate
from understudy.evaluation.failures.detection import NOT_ASKED, Detection, column_places, detection
from understudy.evaluation.failures.subgroups import Subgroup
from understudy.evaluation.prediction.worker import Job, LearnerOutput
from understudy.evaluation.report.failures import detection_table, subgroup_table
from understudy.evaluation.sheets import load
from understudy.facts.schema import Schema


def _grouped(made: Columns) -> Evaluation:
    real = rows_of("clinic", 0)
    schema = schema_of("clinic")
    return evaluate(real, made, schema, classifiers="none", subgroup="region", target="ill")


def _by_value(found: Evaluation) -> dict[str, Subgroup]:
    assert found.subgroups is not None
    return {group.value: group for group in found.subgroups.groups}


def test_a_flaw_within_one_group_shows_there() -> None:
    """Everybody in one region is healthy: that group alone is far off, and its rate with it."""
    made = rows_of("clinic", 1)
    made["ill"] = made["ill"] & (made["region"] != "W")
    groups = _by_value(_grouped(made))
    worst = max(groups.values(), key=lambda group: (group.distance[0] or 0) - (group.floor[0] or 0))
    assert ("W", "ill") == (worst.value, worst.worst[0] if worst.worst else None)
    assert 0.0 == groups["W"].rate[1]
    assert groups["N"].rate[1] == pytest.approx(groups["N"].rate[0] or 0, abs=0.1)


def test_shares_and_floors_are_those_of_the_group() -> None:
    """Shares add up over groups, and honest rows are near the floor in each."""
    found = _grouped(rows_of("clinic", 1))
    groups = _by_value(found)
    assert 1.0 == pytest.approx(sum(group.real for group in groups.values()))
    for group in groups.values():
        assert group.floor[1] is not None
        assert group.distance[1] is not None
        assert group.distance[1] < 2.5 * group.floor[1]
    head = subgroup_table(found).head
    assert ("region", "rows", "real rate") == (head[0], head[1], head[9])


@pytest.mark.slow
def test_models_are_calibrated_or_not() -> None:
    """A model of honest rows predicts each group's rate; one of a shifted group does not."""
    real, made = honest("clinic")
    schema = schema_of("clinic")
    shifted = made | {"ill": made["ill"] | (made["region"] == "N")}
    gaps = []
    for rows in (made, shifted):
        learner = ["logistic-regression"]
        found = evaluate(real, rows, schema, classifiers=learner, subgroup="region", target="ill")
        group = _by_value(found)["N"]
        assert group.predicted is not None
        assert group.rate[0] is not None
        gaps.append(abs(group.predicted - group.rate[0]))
    assert gaps[0] < 0.08
    assert gaps[1] > 0.2


def test_unknown_columns_are_refused_before_anything_is_read() -> None:
    """With the exit code of usage, and the columns that there are."""
    with pytest.raises(UsageError, match="subgroup 'nobody' is not a column"):
        evaluate("no.csv", "no.csv", schema_of("clinic"), subgroup="nobody")


@cache
def _told(flaw: bool) -> Detection:
    schema = schema_of("clinic")
    real, made = honest("clinic")
    if flaw:
        made = made | {"weight": np.random.default_rng(1).permutation(made["weight"]) + 15}
    ours, theirs = (load(rows, schema, side="either", seed=0) for rows in (real, made))
    return detection(schema, real=ours, synthetic=theirs, seconds=None)


@pytest.mark.slow
def test_honest_rows_are_hardly_told_apart() -> None:
    """Close to a coin; with one column spoiled the classifier sees it, by that column."""
    honest_rows, spoiled_rows = _told(flaw=False), _told(flaw=True)
    assert honest_rows.auroc is not None
    assert spoiled_rows.auroc is not None
    assert honest_rows.auroc == pytest.approx(0.5, abs=0.07)
    assert spoiled_rows.auroc > 0.7
    assert "weight" == spoiled_rows.columns[0][0]


def test_a_classifier_that_is_always_wrong_is_not_taken_for_a_coin(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An area of exactly 0 is shown as 0."""

    def always_wrong(job: Job, **_: object) -> LearnerOutput:
        made = job.test[:, 0]
        return LearnerOutput(made, np.column_stack([made, -made]), 0.0)

    monkeypatch.setattr("understudy.evaluation.failures.detection.run", always_wrong)
    schema = Schema.parse({"columns": {"dose": {"kind": "integer", "min": 0, "max": 1}}})
    low, high = (
        load({"dose": np.full(300, dose)}, schema, side="either", seed=0) for dose in (0, 1)
    )
    found = detection(schema, real=low, synthetic=high, seconds=None)
    assert 0.0 == found.auroc


def test_places_of_features_cover_every_column() -> None:
    """Numbers first, then flags, each place once."""
    places = column_places(schema_of("clinic"))
    assert list(range(2 + 5 + 2 + 2)) == sorted(itertools.chain(*places.values()))
    assert [0] == places["age"]
    assert 5 == len(places["region"])


def test_detection_is_asked_for() -> None:
    """Without the option there is a reason, and nothing on the page."""
    found = _grouped(rows_of("clinic", 1))
    assert NOT_ASKED == found.detection
    assert () == detection_table(found).lines
