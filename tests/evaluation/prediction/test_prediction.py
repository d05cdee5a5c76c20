"""Prediction of real rows from synthetic ones, and all that can be in the way of it."""

from __future__ import annotations

import json
import sys
import time

import numpy as np
import pytest

from support.promised import need
from support.sheets import coded, listed, sheet
from understudy.errors import UsageError
from understudy.evaluation.prediction import worker
from understudy.evaluation.prediction.features import Features, Scaler, Target
from understudy.evaluation.prediction.learners import LEARNERS, SBA, TUC_2, learners
from understudy.evaluation.prediction.overlap import overlap
from understudy.evaluation.prediction.prediction import Prediction, Settings, predict
from understudy.evaluation.prediction.worker import Job, run
from understudy.evaluation.sheets import EvaluationTable, load
from understudy.facts.schema import Schema

need("sklearn")

SCHEMA = listed(y=2, x=2, z=3)
# Far more than any model takes, however busy the machine is.
AMPLE = 600
# In this process: what a child makes of it is the same, and has tests of its own.
TREE = Settings("decision-tree", seconds=None)


def _rows(
    rows: int, seed: int, *, flipped: bool = False, schema: Schema = SCHEMA
) -> EvaluationTable:
    """y is x nine times of ten, or the other value where flipped; z is noise."""
    generator = np.random.default_rng(seed)
    x = generator.integers(0, 2, rows)
    y = np.where(generator.random(rows) < 0.9, x, 1 - x)
    z = generator.integers(0, 3, rows)
    codes = {"y": 1 - y if flipped else y, "x": x, "z": z}
    return sheet(schema, coded(schema, {name: values.tolist() for name, values in codes.items()}))


def _one_class(rows: int) -> EvaluationTable:
    return sheet(
        SCHEMA, coded(SCHEMA, {"y": [0] * rows, "x": [0, 1] * (rows // 2), "z": [0] * rows})
    )


def _predicted(
    synthetic: EvaluationTable, *, held_out: EvaluationTable | None = None
) -> Prediction:
    return predict(
        SCHEMA,
        real=_rows(400, 1),
        synthetic=synthetic,
        target="y",
        held_out=held_out,
        settings=TREE,
    )


@pytest.fixture(scope="module")
def good() -> Prediction:
    """Synthetic rows of the same law, tested on held-out ones."""
    return _predicted(_rows(400, 2), held_out=_rows(400, 3))


@pytest.mark.slow
def test_good_rows_predict_as_well_as_real_ones(good: Prediction) -> None:
    """About nine of ten from either table, and a half by the baseline."""
    [pair] = good.models
    for trained in (pair.synthetic, pair.real):
        assert trained.reason is None
        assert 0.9 == pytest.approx(trained.scores["accuracy"], abs=0.07)
    assert 0.5 == pytest.approx(good.baseline["accuracy"], abs=0.1)
    assert (400, "classification") == (good.test_rows, good.task)


@pytest.mark.slow
def test_wrong_rows_predict_wrongly() -> None:
    """Rows of the opposite law are right one time of ten: it is them that was learned from."""
    [pair] = _predicted(_rows(400, 2, flipped=True), held_out=_rows(400, 3)).models
    assert 0.1 == pytest.approx(pair.synthetic.scores["accuracy"], abs=0.07)
    assert 0.9 == pytest.approx(pair.real.scores["accuracy"], abs=0.07)


@pytest.mark.slow
def test_without_held_out_rows_a_fifth_is_tested_and_said_so() -> None:
    """Four fifths are learned from, of either class alike, and a note says what that means."""
    found = _predicted(_rows(300, 2))
    [pair] = found.models
    assert (80, 320, 300) == (found.test_rows, pair.real.rows, pair.synthetic.rows)
    assert any("may have seen them" in note for note in found.notes)
    assert found.overlap is None


@pytest.mark.slow
def test_documents_are_json(good: Prediction) -> None:
    """Nothing in them that JSON cannot write, and every score has its metric."""
    document = json.loads(json.dumps(good.document(), allow_nan=False))
    scores = document["models"][0]["synthetic"]["scores"]
    assert document["metrics"].keys() == scores.keys() == document["baseline"].keys()


@pytest.mark.slow
def test_one_class_is_a_reason() -> None:
    """Nothing is learned from rows that are all of one class; the real ones are still scored."""
    found = _predicted(_one_class(40), held_out=_rows(100, 3))
    [pair] = found.models
    assert "all rows to learn from have the same 'y'" == pair.synthetic.reason
    assert {} == pair.synthetic.scores
    assert pair.real.scores["accuracy"] is not None
    assert ("1",) == found.never_generated


def test_no_rows_are_reasons() -> None:
    """An empty table on any side is reported, and nothing is run."""
    empty, rows = _rows(0, 1), _rows(40, 1)

    def found(
        real: EvaluationTable, synthetic: EvaluationTable, held_out: EvaluationTable | None
    ) -> Prediction:
        return predict(
            SCHEMA, real=real, synthetic=synthetic, target="y", held_out=held_out,
            settings=Settings("none"),
        )  # fmt: skip

    assert "no row to test on has a value of 'y'" == found(rows, rows, empty).reason
    assert "no row to test on has a value of 'y'" == found(empty, rows, None).reason
    assert "no real row to learn from has a value of 'y'" == found(empty, rows, rows).reason
    assert found(rows, empty, rows).reason is None


@pytest.mark.slow
def test_no_synthetic_rows_are_the_synthetic_models_reason() -> None:
    """Only the number of the model trained on real rows is there."""
    [pair] = _predicted(_rows(0, 1), held_out=_rows(100, 3)).models
    assert "there are no rows with a value of 'y' to learn from" == pair.synthetic.reason
    assert pair.real.reason is None


@pytest.mark.slow
def test_rare_classes_that_were_never_generated_are_named() -> None:
    """Three classes, of which synthetic rows hold two: scores are there, and the third is named."""
    schema = listed(y=3, x=3)
    codes = [i % 3 for i in range(90)]
    real = sheet(schema, coded(schema, {"y": codes, "x": codes}))
    some = [code % 2 for code in codes]
    synthetic = sheet(schema, coded(schema, {"y": some, "x": some}))
    found = predict(
        schema, real=real, synthetic=synthetic, target="y", held_out=real, settings=TREE
    )
    [pair] = found.models
    assert ("2",) == found.never_generated
    assert (2 / 3, 1.0) == pytest.approx(
        (pair.synthetic.scores["accuracy"], pair.real.scores["accuracy"])
    )
    # Two classes are ranked without fault, the third by a coin.
    assert pair.synthetic.scores["auroc"] is not None
    assert pair.synthetic.scores["auroc"] < 1.0 == pair.real.scores["auroc"]


@pytest.mark.slow
def test_numbers_are_predicted_by_regressors() -> None:
    """y = 3·x: nothing is left unexplained; a learner of classes says that it is one."""
    schema = Schema.parse(
        {
            "columns": {
                "y": {"kind": "float", "min": 0.0, "max": 300.0},
                "x": {"kind": "float", "min": 0.0, "max": 100.0},
            }
        }
    )
    x = np.random.default_rng(0).random(200) * 100
    rows = load({"x": x, "y": 3 * x}, schema, side="real", seed=0)
    settings = Settings(("logistic-regression", "lda"), seconds=AMPLE)
    found = predict(schema, real=rows, synthetic=rows, target="y", settings=settings)
    linear, lda = found.models
    assert ("regression", "it predicts classes only") == (found.task, lda.synthetic.reason)
    assert 1.0 == pytest.approx(linear.synthetic.scores["r2"])
    assert 0.0 == pytest.approx(found.baseline["r2"], abs=0.2)


def _job(seed: int = 0) -> Job:
    """A job of two empty rows."""
    empty = np.zeros((2, 1))
    return Job(
        learner="decision-tree",
        task="classification",
        seed=seed,
        train=empty,
        targets=empty,
        test=empty,
    )


@pytest.mark.slow
def test_a_model_that_takes_too_long_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its process is gone, and the reason names the time allowed."""
    nap = (sys.executable, "-c", "import time; time.sleep(200)")
    monkeypatch.setattr(worker, "COMMAND", nap)
    job = _job()
    started = time.perf_counter()
    answer = run(job, seconds=1)
    assert time.perf_counter() - started < 100
    assert "ended after 1 seconds, the time allowed for a model" == answer.reason


@pytest.mark.slow
def test_a_model_whose_process_dies_is_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    """As when the system takes its memory back."""
    died = (sys.executable, "-c", "import os; os.kill(os.getpid(), 9)")
    monkeypatch.setattr(worker, "COMMAND", died)
    job = _job()
    assert "its process ended with -9, perhaps for want of memory" == run(job, seconds=AMPLE).reason


# Answers with its own process's number, and naps where the job's seed says so.
_NUMBERED = """
import os, sys, time
import numpy as np
from understudy.evaluation.prediction import worker

def learned(job):
    time.sleep(200 * job.seed)
    return np.array([os.getpid()]), np.empty((0, 0))

worker._learned = learned
worker.serve(sys.stdin.buffer, sys.stdout.buffer)
"""


@pytest.mark.slow
def test_a_process_does_jobs_until_it_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """Libraries are imported once; after a model that took too long, a new process continues."""
    monkeypatch.setattr(worker, "COMMAND", (sys.executable, "-c", _NUMBERED))
    first, second = (run(_job(), seconds=AMPLE).predicted for _ in range(2))
    assert first is not None
    assert np.array_equal(first, second)  # type: ignore[arg-type]
    assert "ended after 1 seconds, the time allowed for a model" == run(_job(1), seconds=1).reason
    third = run(_job(), seconds=AMPLE).predicted
    assert third is not None
    assert first[0] != third[0]


@pytest.mark.slow
def test_a_model_learnt_in_this_process_is_the_same() -> None:
    """Without a time limit no process is started, and the predictions are those of one."""
    generator = np.random.default_rng(0)
    train, test = generator.random((40, 3)), generator.random((20, 3))
    job = Job(
        learner="random-forest",
        task="classification",
        seed=1,
        train=train,
        targets=(train[:, 0] > 0.5).astype(int),
        test=test,
    )
    here, apart = run(job, seconds=None), run(job, seconds=AMPLE)
    assert apart.predicted is not None
    assert np.array_equal(here.predicted, apart.predicted)  # type: ignore[arg-type]
    assert np.array_equal(here.strength, apart.strength)  # type: ignore[arg-type]


@pytest.mark.slow
def test_a_learner_that_fails_says_no_more_than_its_error() -> None:
    """The error's own words may quote rows."""
    train = np.full((4, 1), np.nan, np.float32)
    job = Job(
        learner="lda",
        task="classification",
        seed=0,
        train=train,
        targets=np.array([0, 1, 0, 1]),
        test=train,
    )
    assert "the learner failed with ValueError" == run(job, seconds=AMPLE).reason
    assert "the learner failed with ValueError" == run(job, seconds=None).reason


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "task"),
    [
        (name, task)
        for name, learner in LEARNERS.items()
        for task in ("classification", "regression")
        if learner.recipe(task) is not None
    ],
)
def test_every_learner_learns(name: str, task: str) -> None:
    """A clear line between two classes, or of one number on another, is found by each."""
    recipe = LEARNERS[name].recipe(task)
    assert recipe is not None
    generator = np.random.default_rng(0)
    x = generator.normal(size=(300, 3)).astype(np.float32)
    y = (x[:, 0] > 0).astype(np.int64) if task == "classification" else 3 * x[:, 0]
    predicted = recipe.make(0).fit(x, y).predict(x)
    chance = 0.5 if task == "classification" else float(np.abs(y).mean())
    assert float(np.abs(predicted - y).mean()) < 0.6 * chance


def test_sets_of_learners_are_those_of_the_papers() -> None:
    """Twelve and five, four of them shared; three by default."""
    sets = {name: [learner.name for learner in learners(name)] for name in ("tuc-2", "sba", "all")}
    assert {"tuc-2": 12, "sba": 5, "all": 13} == {name: len(found) for name, found in sets.items()}
    assert set(sets["all"]) == {*sets["tuc-2"], *sets["sba"]}
    assert (3, 0) == (len(learners("default")), len(learners("none")))
    assert all({TUC_2, SBA} & set(learner.used_by) for learner in LEARNERS.values())


def test_kernels_and_neighbours_learn_from_ten_thousand_rows() -> None:
    """All others from as many as there are."""
    capped = {name for name, learner in LEARNERS.items() if learner.most_rows == 10_000}
    assert {"svm", "linear-svm", "nearest-neighbours"} == capped


@pytest.mark.slow
def test_capped_rows_are_stated() -> None:
    """A learner that sees fewer rows than there are says so."""
    settings = Settings("decision-tree", seconds=AMPLE, most_rows=50)
    rows = _rows(200, 1)
    found = predict(
        SCHEMA, real=rows, synthetic=rows, target="y", held_out=_rows(80, 2), settings=settings
    )
    [pair] = found.models
    assert (50, 50, 50) == (pair.real.rows, pair.synthetic.rows, found.test_rows)
    assert ("learns from 50 rows at most, chosen by the seed",) == pair.notes
    assert "50 rows are tested on, chosen by the seed" in found.notes


def test_unknown_names_are_refused() -> None:
    """Of learners and of targets, with what there is."""
    with pytest.raises(UsageError, match="classifier 'oracle' is unknown; known are default"):
        learners("oracle")
    with pytest.raises(
        UsageError, match="target 'w' is not a column to predict; the columns are y, x, z"
    ):
        Target.of(SCHEMA, "w")


def test_tasks_follow_from_the_kind_of_target() -> None:
    """Listed values and a few whole numbers are classes, the rest are numbers."""
    kinds = {
        "flag": {"kind": "boolean"},
        "grade": {"kind": "integer", "min": 1, "max": 5},
        "years": {"kind": "integer", "min": 0, "max": 30},
        "coarse": {"kind": "integer", "min": 0, "max": 99, "bins": 2},
        "size": {"kind": "float", "min": 0.0, "max": 1.0, "bins": 2},
        "day": {"kind": "date", "min": "2020-01-01", "max": "2020-01-05"},
    }
    schema = Schema.parse({"columns": kinds})
    tasks = {name: Target.of(schema, name).task for name in kinds}
    assert {"flag": "classification", "grade": "classification"} == {
        name: task for name, task in tasks.items() if task == "classification"
    }
    assert ("true", "5") == (
        Target.of(schema, "flag").label(1),
        Target.of(schema, "grade").label(4),
    )


def test_rows_without_a_target_are_left_out() -> None:
    """A missing class is nothing to predict."""
    schema = Schema.parse(
        {
            "columns": {
                "y": {"kind": "categorical", "values": ["a", "b"], "missing": ["?"]},
                "x": {"kind": "boolean"},
            }
        }
    )
    rows = sheet(schema, coded(schema, {"y": [0, 2, 1, 2], "x": [0, 1, 0, 1]}))
    assert [0, 2] == Target.of(schema, "y").known(rows).tolist()


def test_features_by_hand() -> None:
    """A flag for each category, numbers standardised by the training rows, missing at the mean."""
    schema = Schema.parse(
        {
            "columns": {
                "y": {"kind": "boolean"},
                "sex": {"kind": "categorical", "values": ["f", "m"]},
                "age": {"kind": "integer", "min": 0, "max": 99, "missing": []},
                "size": {"kind": "categorical", "values": ["S", "M", "L"], "ordered": True},
            }
        }
    )
    rows = load(
        {"y": [True] * 3, "sex": ["m", "f", "f"], "age": [10, None, 30], "size": ["S", "M", "L"]},
        schema, side="real", seed=0,
    )  # fmt: skip
    known = Features.of(rows, schema, "y")
    matrix = known.matrix(Scaler.of(known.numbers))
    root = float(np.sqrt(1.5))
    expected = [[-1, -root, 0, 1, 0], [0, 0, 1, 0, 1], [1, root, 1, 0, 0]]
    assert np.array(expected) == pytest.approx(matrix, abs=1e-6)


def test_a_number_that_never_varies_is_nothing() -> None:
    """It is scaled by 1, not by 0."""
    scale = Scaler.of(np.full((3, 1), 7.0))
    assert [[0.0], [1.0]] == scale.applied(np.array([[7.0], [8.0]])).tolist()


def test_held_out_rows_of_the_same_law_do_not_overlap() -> None:
    """Twins by chance do not cause a warning."""
    schema = listed(a=40, b=40, c=40)
    generator = np.random.default_rng(5)

    def rows(count: int) -> EvaluationTable:
        codes = {name: generator.integers(0, 40, count).tolist() for name in "abc"}
        return sheet(schema, coded(schema, codes))

    real, held_out = rows(20_000), rows(5_000)
    found = overlap(real, held_out)
    assert found.warning is None
    assert found.by_chance == pytest.approx(found.shared, rel=0.2)
    part = real.take(np.arange(2_000))
    mixed = EvaluationTable(
        table=coded(schema, {n: [*part.table.codes[n], *held_out.table.codes[n]] for n in "abc"}),
        numbers={}, read=7_000, fitting=7_000,
    )  # fmt: skip
    warned = overlap(real, mixed)
    assert warned.shared >= 2_000
    assert warned.warning is not None
    assert "held-out rows are in the real table too" in warned.warning


def test_the_real_rows_themselves_are_no_held_out_ones() -> None:
    """Even where every row has a twin, as in a small domain."""
    rows = _rows(400, 1)
    assert overlap(rows, rows).is_more
    assert not overlap(rows, _rows(300, 2)).is_more


def test_nothing_overlaps_with_nothing() -> None:
    """Empty tables share no rows."""
    assert (0, False) == (
        overlap(_rows(0, 1), _rows(5, 1)).shared,
        overlap(_rows(5, 1), _rows(0, 1)).is_more,
    )
