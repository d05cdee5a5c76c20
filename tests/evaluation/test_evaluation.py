"""The whole evaluation: what it holds, what it refuses, and what it only notes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

from support.sheets import drawn, listed
from understudy.errors import DataError, UsageError
from understudy.evaluation import Evaluation, evaluate
from understudy.evaluation.evaluation import _STAGES
from understudy.facts.schema import Schema

SCHEMA = Schema.parse(
    {
        "target": "y",
        "columns": {
            "y": {"kind": "boolean"},
            "age": {"kind": "integer", "min": 0, "max": 99, "bins": 10},
            "pay": {"kind": "float", "min": 0.0, "max": 9.0, "missing": []},
            "town": {"kind": "categorical", "values": ["u", "v", "w"]},
        },
    }
)


def _rows(count: int, seed: int) -> dict[str, Any]:
    generator = np.random.default_rng(seed)
    age = generator.integers(0, 100, count)
    return {
        "y": age + generator.integers(-20, 20, count) > 50,
        "age": age,
        "pay": age / 20 + generator.random(count),
        "town": generator.choice(["u", "v", "w"], count),
    }


def _evaluated(**more: Any) -> Evaluation:
    return evaluate(_rows(300, 1), _rows(200, 2), SCHEMA, classifiers="none", **more)


def test_documents_hold_everything_and_are_json() -> None:
    """All parts by their names, without a number that JSON does not know."""
    document = json.loads(json.dumps(_evaluated().document(), allow_nan=False))
    parts = "private rows columns tvd entropy association nist prediction raw cells copies"
    parts += " ranges subgroups detection regression independence aggregates outliers"
    parts += " violations seed draws notes seconds"
    assert set(parts.split()) == document.keys()
    assert {"1", "2", "3"} == document["tvd"].keys() == document["entropy"].keys()
    for found in document["tvd"].values():
        assert {"mean", "max", "floor", "ceiling"} <= found.keys()
        assert 0 < found["floor"] < 1
    assert {"read": 300, "fitting": 300, "used": 300} == document["rows"]["real"]
    assert "y" == document["prediction"]["target"]
    assert {"pearson", "spearman", "cramers_v"} == document["association"].keys()


def test_the_same_rows_are_perfect() -> None:
    """Every metric of a table with itself is what it calls perfect."""
    rows = _rows(200, 1)
    found = evaluate(rows, rows, SCHEMA, classifiers="none")
    results = [
        *(result for v in found.variations for result in (v.mean, v.largest)),
        *(association.difference for association in found.associations.values()),
        found.tasks.clustering,
        found.tasks.classification,
    ]
    assert [result.metric.perfect for result in results] == [result.value for result in results]


def test_nothing_is_shown_by_accident() -> None:
    """A printed evaluation shows no number."""
    assert "Evaluation(private; see document())" == repr(_evaluated())


def test_the_seed_fixes_every_number() -> None:
    """Twice the same, time aside."""
    documents = [_evaluated(seed=5).document() for _ in range(2)]
    for document in documents:
        document.pop("seconds")
    assert documents[0] == documents[1]


def test_files_and_tables_of_codes_are_compared_alike(tmp_path: Path) -> None:
    """A CSV file, a data frame and a table of codes of the same rows have the same distances."""
    schema = listed(a=3, b=3)
    real, synthetic = drawn(schema, 80, 1), drawn(schema, 60, 2)
    frames = [
        pa.table({name: codes.astype(str) for name, codes in table.codes.items()})
        for table in (real, synthetic)
    ]
    path = tmp_path / "real.csv"
    pyarrow.csv.write_csv(frames[0], path)
    pairs: list[tuple[Any, Any]]
    pairs = [(real, synthetic), (path, frames[1]), (frames[0], synthetic)]
    found = [evaluate(one, other, schema).document()["tvd"] for one, other in pairs]
    assert found[0] == found[1] == found[2]


def test_large_tables_are_sampled_and_said_so() -> None:
    """A fixed number of rows of each is compared, and a note names the seed."""
    found = _evaluated(most_rows=100, seed=7)
    assert [100, 100] == [side.used for side in found.sides.values()]
    assert "real: 100 of 300 rows are compared, chosen by seed 7" in found.notes


def test_rows_and_columns_left_out_are_noted() -> None:
    """Rows that the schema does not allow, and columns it does not speak of."""
    rows = _rows(100, 2) | {"town": ["elsewhere"] * 3 + ["u"] * 97, "more": [0] * 100}
    found = evaluate(_rows(100, 1), rows, SCHEMA, classifiers="none")
    expected = (
        "synthetic: 3 of 100 rows do not fit the schema",
        "synthetic: column 'more' is not in the schema and is passed over",
    )
    assert expected == found.notes


def test_held_out_rows_that_are_no_such_thing_are_warned_of() -> None:
    """Training rows among them are found by their numbers."""
    rows = _rows(300, 1)
    part = {name: values[:50] for name, values in rows.items()}
    found = evaluate(rows, _rows(200, 2), SCHEMA, classifiers="none", holdout=part)
    assert any("50 of 50 held-out rows are in the real table too" in note for note in found.notes)
    apart = evaluate(rows, _rows(200, 2), SCHEMA, classifiers="none", holdout=_rows(80, 3))
    assert () == apart.notes


def test_columns_that_differ_are_refused_before_rows_are_read(tmp_path: Path) -> None:
    """The side and the column are named, with the exit code of data; no broken line is met."""
    broken = tmp_path / "real.csv"
    broken.write_text("y,age,pay,town\nyes,3\n")
    lacking = {name: values for name, values in _rows(5, 1).items() if name != "town"}
    with pytest.raises(DataError, match=r"the synthetic data .* no column 'town'") as raised:
        evaluate(broken, lacking, SCHEMA)
    assert 4 == raised.value.exit_code
    with pytest.raises(DataError, match=r"the held-out data .* no column 'town'"):
        evaluate(_rows(5, 1), _rows(5, 2), SCHEMA, holdout=lacking)


def test_what_was_asked_for_and_is_not_there_is_refused() -> None:
    """Targets, roles and classifiers by name, with the exit code of usage."""
    for asked, words in (
        ({"target": "z"}, "target 'z' is not a column"),
        ({"roles": {"city": "z"}}, "column 'z' is not in the schema"),
        ({"classifiers": "z"}, "classifier 'z' is unknown"),
    ):
        options: dict[str, Any] = asked
        with pytest.raises(UsageError, match=words) as raised:
            evaluate("nowhere.csv", "nowhere.csv", SCHEMA, **options)
        assert 2 == raised.value.exit_code


def test_without_a_target_nothing_is_predicted() -> None:
    """The reason says how to name one; a free key that names no column is ignored."""
    for extras in ({}, {"target": "nobody"}, {"target": 3}):
        schema = Schema.parse({**extras, "columns": SCHEMA.document()["columns"]})
        found = evaluate(_rows(9, 1), _rows(9, 2), schema).prediction
        assert found.reason is not None
        assert "no target is named" in found.reason


def test_missing_packages_are_a_reason_or_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refused where a target was asked for, else a reason that names the extra."""
    monkeypatch.setitem(__import__("sys").modules, "sklearn", None)
    found = evaluate(_rows(9, 1), _rows(9, 2), SCHEMA).prediction
    assert found.reason is not None
    assert "pip install 'understudy[evaluate]'" in found.reason
    with pytest.raises(UsageError, match="understudy\\[evaluate\\]"):
        evaluate(_rows(9, 1), _rows(9, 2), SCHEMA, target="y")


@pytest.mark.parametrize(("real", "synthetic"), [(0, 5), (5, 0), (0, 0), (1, 1)])
def test_tables_of_hardly_any_rows_have_reasons(real: int, synthetic: int) -> None:
    """No traceback, and JSON all the same."""
    found = evaluate(_rows(real, 1), _rows(synthetic, 2), SCHEMA, classifiers="none")
    json.dumps(found.document(), allow_nan=False)
    assert found.associations["pearson"].difference.value is None


def test_one_column_is_enough() -> None:
    """What needs more has a reason."""
    schema = listed(a=2)
    found = evaluate(drawn(schema, 9, 1), drawn(schema, 9, 2), schema).document()
    assert found["tvd"]["1"]["mean"] is not None
    assert "the schema has fewer than 2 columns" == found["tvd"]["2"]["reason"]


@pytest.mark.slow
def test_progress_is_told_step_by_step() -> None:
    """Every stage and every learner, in order, of the same total."""
    told: list[tuple[int, int, str]] = []
    evaluate(
        _rows(60, 1),
        _rows(60, 2),
        SCHEMA,
        classifiers=["decision-tree", "naive-bayes"],
        progress=lambda done, total, what: told.append((done, total, what)),
    )
    models = ["prediction: decision tree (CART)", "prediction: Gaussian naive Bayes"]
    assert [*_STAGES, "prediction", *models] == [what for _, _, what in told]
    stages = len(_STAGES)
    assert [*range(stages), stages, stages, stages + 1] == [done for done, _, _ in told]
    assert {stages + 2} == {total for _, total, _ in told}
