"""Questions of all forms: read, or refused with the character and the way out."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.errors import UsageError
from understudy.facts.schema import Schema
from understudy.models.questions.reading import (
    ColumnQuestion,
    CountQuestion,
    PairsQuestion,
    RowQuestion,
    read_any,
)

SCHEMA = Schema.parse(
    {
        "columns": {
            "no": {"kind": "id"},
            "age": {"kind": "integer", "min": 0, "max": 39, "bins": 4, "missing": []},
            "pay": {"kind": "float", "min": 0.0, "max": 8.0, "bins": 2, "decimals": 1},
            "sex": {"kind": "categorical", "values": ["f", "m"]},
            "rooms": {"kind": "categorical", "values": [3, 1, 2]},
        }
    }
)
COLUMNS = SCHEMA.columns


def test_counts_take_conditions() -> None:
    """All conditions of a list hold together; none at all counts every row."""
    found = read_any("count(sex = m, age >= 20)", COLUMNS)
    assert isinstance(found, CountQuestion)
    assert [0.0, 1.0] == found.fits["sex"].tolist()
    assert [0.0, 0.0, 1.0, 1.0, 0.0] == found.fits["age"].tolist()
    assert CountQuestion({}) == read_any("COUNT()", COLUMNS)


def test_a_mean_leaves_missing_cells_out() -> None:
    """Its column weighs the middles of bins; conditions on the column cut them."""
    found = read_any("mean(age | sex = m)", COLUMNS)
    assert isinstance(found, ColumnQuestion)
    assert found.share is None
    assert [1.0, 1.0, 1.0, 1.0, 0.0] == found.given["age"].tolist()
    assert [4.5, 14.5, 24.5, 34.5, 0.0] == found.places.means.tolist()
    cut = read_any("mean(age | age >= 36)", COLUMNS)
    assert isinstance(cut, ColumnQuestion)
    assert 37.5 == cut.places.means[3]
    assert 0.4 == pytest.approx(cut.given["age"][3])


def test_a_quantile_takes_a_share() -> None:
    """The share comes after the column."""
    found = read_any("quantile(pay, 0.9 | sex = f)", COLUMNS)
    assert isinstance(found, ColumnQuestion)
    assert (0.9, "pay") == (found.share, found.name)


def test_rows_and_pairs() -> None:
    """In any case and spacing; the row may have conditions."""
    assert PairsQuestion(5) == read_any(" Top 5  pairs ", COLUMNS)
    assert RowQuestion({}) == read_any("most probable row", COLUMNS)
    found = read_any("most probable row | sex = m", COLUMNS)
    assert isinstance(found, RowQuestion)
    assert [0.0, 1.0] == found.given["sex"].tolist()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("median(age)", "none of the known forms; write P(column | conditions), count("),
        ("count(age)", "say what is known of it"),
        ("count(sex = m | age > 3)", "at character 15: a count has no bar"),
        ("mean(sex)", "ask for its distribution by P(sex)"),
        ("mean(no)", "generated afresh"),
        ("mean(age, pay)", "write mean(column | conditions)"),
        ("mean(age > 3)", "conditions come after the bar"),
        ("mean(age | age missing)", "no value of 'age' fits"),
        ("quantile(age)", "write quantile(column, 0.9 | conditions)"),
        ("quantile(age, x)", "'x' is not a share; write one from 0 to 1"),
        ("quantile(age, 1.5)", "'1.5' is not a share"),
        ("quantile(age, nan)", "'nan' is not a share"),
        ("mean(nobody)", "'nobody' is not a column"),
        ("most probable row | sex", "say what is known of it"),
        ("top 0 pairs", "ask for 1 or more"),
        ("top many pairs", "none of the known forms"),
    ],
)
def test_questions_that_cannot_be_read(text: str, words: str) -> None:
    """With the way out."""
    with pytest.raises(UsageError) as caught:
        read_any(text, COLUMNS)
    assert words in str(caught.value)


PIECES = ["mean(", "quantile(", "count(", "age", "sex", "= m", "|", ",", "0.5", ")", "rooms", "P("]


@given(text=st.lists(st.sampled_from(PIECES), max_size=8).map(" ".join) | st.text(max_size=20))
def test_no_text_is_a_fault(text: str) -> None:
    """It is read or refused."""
    with contextlib.suppress(UsageError):
        read_any(text, COLUMNS)


def test_numbers_among_categories_are_ordered() -> None:
    """Their quantile is one of them."""
    found = read_any("quantile(rooms, 0.5)", COLUMNS)
    assert isinstance(found, ColumnQuestion)
    chances = np.array([0.2, 0.3, 0.5])  # of 3, 1 and 2
    assert 2.0 == found.places.value(found.places.quantile(chances, 0.5))
    assert 0.2 * 3 + 0.3 + 0.5 * 2 == pytest.approx(float(chances @ found.places.means))
