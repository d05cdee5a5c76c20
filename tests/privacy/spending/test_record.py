"""A run goes into the user's own ledger by default, and says where it went."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import platformdirs
import pyarrow as pa
import pyarrow.csv
import pytest

from support.neighbours import SCHEMA as CODED
from support.neighbours import random_rows, source_of
from support.torches import need_torch
from understudy.errors import BudgetExceeded, UsageError
from understudy.evaluation.released.summary import Summarizer
from understudy.facts.schema import Schema
from understudy.methods import Independent
from understudy.methods.discover import Skeleton, infer_schema
from understudy.privacy.budget import Budget
from understudy.privacy.spending.accounts import Account
from understudy.privacy.spending.ledger import Ledger, default_path
from understudy.privacy.statements.statement import Statement
from understudy.stream import DensityEstimator
from understudy.testing import seeded

SCHEMA = Schema.parse({"columns": {"smoker": {"kind": "boolean"}}})
ROWS = {"smoker": [True, False] * 50}
SKELETON = Skeleton.parse({"columns": {"size": {"kind": "integer", "min": 0}}})

# What tests would find if nothing were done about it, read while they are collected.
AT_IMPORT = os.environ.get("UNDERSTUDY_LEDGER", "")


def _account(name: str) -> Account:
    return Ledger(default_path()).account(name)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A file whose name the ledger knows it by."""
    path = tmp_path / "patients.csv"
    pyarrow.csv.write_csv(pa.table(ROWS), path)
    return path


def _images() -> object:
    need_torch()
    from understudy.gan.convolutions import Shape
    from understudy.gan.images import LabelledImages
    from understudy.gan.pictures import ImageGAN

    images = LabelledImages(np.zeros((4, 8, 8), np.uint8), np.zeros(4, np.int64))
    return ImageGAN(Shape(8, 8, 2), epsilon=1, delta=1e-5).fit(images)


NAMELESS: dict[str, Callable[[], object]] = {
    "a frame": lambda: Independent(SCHEMA, epsilon=1).fit(ROWS),
    "an opened source": lambda: Independent(CODED, epsilon=1).fit(source_of(random_rows(9))),
    "a frame for a schema": lambda: infer_schema({"size": [1, 2] * 9}, SKELETON, epsilon=1),
    "a summary": lambda: Summarizer(CODED, 1).run(
        source_of(random_rows(9)), source_of(random_rows(9))
    ),
    "a stream": lambda: DensityEstimator(100, epsilon=1),
    "images": _images,
}


@pytest.mark.parametrize("what", NAMELESS)
def test_rows_without_a_name_need_one_for_the_ledger(what: str) -> None:
    """The refusal names both ways out, and nothing is written."""
    with pytest.raises(UsageError, match=r"dataset='patients', or say ledger=None"):
        NAMELESS[what]()
    assert not default_path().exists()


def test_a_fit_from_python_goes_into_the_users_own_ledger(table: Path) -> None:
    """A file brings its name along, as at the command line."""
    Independent(SCHEMA, epsilon="0.75").fit(table)
    assert "3/4" == str(_account("patients").spent.epsilon)


def test_a_limit_holds_from_python_too(table: Path) -> None:
    """A fit that says nothing of ledgers is refused where the limit leaves no room."""
    Ledger(default_path()).limit("patients", epsilon=Budget.pure(1).amount)
    Independent(SCHEMA, epsilon=1).fit(table)
    with pytest.raises(BudgetExceeded, match="'patients'"):
        Independent(SCHEMA, epsilon="0.1").fit(table)


def test_a_frame_goes_by_the_name_it_is_given() -> None:
    """Two fits of one frame add up under its name."""
    for _ in range(2):
        Independent(SCHEMA, epsilon=1).fit(ROWS, dataset="clinic")
    assert 2 == _account("clinic").spent.epsilon


def test_schemas_and_streams_from_python_go_there_too(tmp_path: Path) -> None:
    """Whatever spends is kept by default: a learned schema, a stream and its second half."""
    infer_schema({"size": [1, 2] * 9}, SKELETON, epsilon=1, dataset="sizes")
    assert 1 == _account("sizes").spent.epsilon
    with DensityEstimator(100, epsilon="0.25", answers=2, path=tmp_path / "visits.state") as visits:
        visits.answer()
    with DensityEstimator.resume(tmp_path / "visits.state") as visits:
        visits.answer()
    assert "1/2" == str(_account("visits").spent.epsilon)
    assert not any(run["open"] for run in _account("visits").runs)


def test_a_stream_whose_state_cannot_be_made_closes_its_entry(tmp_path: Path) -> None:
    """A grant of a run that never began does not stay open."""
    with pytest.raises(UsageError):
        DensityEstimator(100, epsilon=1, path=tmp_path / "no" / "visits.state")
    assert not any(run["open"] for run in _account("visits").runs)


def test_leaving_the_ledger_out_is_said_in_the_statement() -> None:
    """A field for machines and a sentence for people; both survive being written down."""
    left_out = Independent(SCHEMA, epsilon=1).fit(ROWS, ledger=None).model_.statement
    assert "No ledger keeps this run" in left_out.sentence
    assert "nowhere" == left_out.document()["ledger"]["kept"]
    assert left_out == Statement.parse(left_out.document())
    kept = Independent(SCHEMA, epsilon=1).fit(ROWS, dataset="clinic").model_.statement
    assert "No ledger" not in kept.sentence
    assert "ledger" == kept.document()["ledger"]["kept"]


def test_statements_of_before_say_nothing_of_ledgers() -> None:
    """One without the field is read, and claims neither."""
    document = Independent(SCHEMA, epsilon=1).fit(ROWS, ledger=None).model_.statement.document()
    del document["ledger"]
    assert Statement.parse(document).record is None
    assert "ledger" not in Statement.parse(document).sentence


@pytest.mark.parametrize("epsilon", [Budget.unlimited(), 1])
def test_runs_that_are_not_private_enter_no_ledger_by_default(epsilon: Budget | int) -> None:
    """Studies need not say anything; a ledger that is named still refuses them."""
    method = Independent(SCHEMA, epsilon=epsilon)
    made = seeded(method, 1) if epsilon == 1 else method
    made.fit(ROWS)
    assert not default_path().exists()
    with pytest.raises(UsageError, match="seeded or no noise"):
        made.fit(ROWS, ledger=Ledger(default_path()), dataset="clinic")


def test_no_test_ever_finds_the_users_own_ledger() -> None:
    """Neither inside a test nor while tests are collected does the default lead there."""
    own = platformdirs.user_state_path("understudy")
    assert AT_IMPORT
    assert own not in Path(AT_IMPORT).parents
    assert own not in default_path().parents
    assert Path(AT_IMPORT) != default_path()
