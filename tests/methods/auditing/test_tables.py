"""Pairs of tables for audits: neighbours by construction, of every kind that a schema has."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from understudy.facts.schema import Schema
from understudy.facts.unit import Neighbours
from understudy.methods import AdaptiveMarginals, Histogram, Independent, Synthesizer
from understudy.methods.auditing import PERSON, SCHEMA, Case, cases_for, run_on, schema_for
from understudy.methods.auditing.tables import codec_for
from understudy.rows.counting import CountSource

WIDE = Schema.parse(
    {
        "columns": {
            "weight": {"kind": "float", "min": 0.0, "max": 1.0, "bins": 3, "outside": "drop"},
            "born": {"kind": "date", "min": "2020-01-01", "max": "2021-01-01", "bins": 3},
            "smoker": {"kind": "boolean"},
            "seen": {"kind": "datetime", "min": "2020-01-01", "max": "2021-01-01", "missing": []},
        }
    }
)
BARE = Schema.parse({"columns": {"a": {"kind": "categorical", "values": ["x"], "outside": "x"}}})


def _case(method: Synthesizer, name: str) -> Case:
    return next(case for case in cases_for(method) if name == case.name)


@pytest.mark.parametrize("schema", [SCHEMA, WIDE])
@pytest.mark.parametrize("relation", Neighbours)
def test_tables_differ_in_one_row(schema: Schema, relation: Neighbours) -> None:
    """As raw rows: one more, or one other in the same place."""
    for case in cases_for(Independent(schema, epsilon=1, neighbours=relation)):
        if relation is Neighbours.REPLACE:
            assert list(case.present[1:]) == list(case.absent[1:])
            assert case.present[0] != case.absent[0]
        else:
            assert list(case.present[1:]) == list(case.absent)


@pytest.mark.parametrize("most", [1, 2])
def test_tables_differ_in_one_person(most: int) -> None:
    """Only one table has the rows of one person, named, nameless or under two spellings."""
    method = Independent(SCHEMA, epsilon=1, person_id=PERSON, rows_per_person=most)
    for case in cases_for(method):
        added = len(case.present) - len(case.absent)
        assert list(case.present[added:]) == list(case.absent)
        assert {row[PERSON] for row in case.present[:added]} <= {"one", " one ", None}
        assert not any(str(row[PERSON]).strip() == "one" for row in case.absent)


@pytest.mark.parametrize("schema", [SCHEMA, WIDE])
def test_every_kind_of_cell_is_tried(schema: Schema) -> None:
    """Missing, dropped, outside and kept, on an edge: as the codec has them."""
    method = Independent(schema, epsilon=1, neighbours="replace")
    codec = codec_for(method)
    kept = _case(method, "kept where it was dropped").encoded(codec)
    assert (0, 1) == tuple(p.rows_read - p.table.rows for p in (kept.present, kept.absent))
    for name in ("one cell missing", "one value on the edge of a bin"):
        pair = _case(method, name).encoded(codec)
        moved = [
            attribute
            for attribute in codec.domain
            if not np.array_equal(
                pair.present.table.codes[attribute], pair.absent.table.codes[attribute]
            )
        ]
        assert 1 == len(moved), name
    outside = _case(method, "one value outside the bounds").encoded(codec)
    assert outside.present.rows_read == outside.present.table.rows


def test_the_audits_own_schema_has_four_cells() -> None:
    """The fewest that have a structure, and every kind of case besides."""
    method = Independent(SCHEMA, epsilon=1, person_id=PERSON, rows_per_person=2)
    assert {"first": 2, "second": 2} == dict(codec_for(method).domain.sizes)
    names = Counter(case.name for case in cases_for(method))
    assert 13 == len(names) == names.total()


def test_what_a_schema_has_not_is_left_out() -> None:
    """A column that takes everything drops nothing and has no edge."""
    names = [case.name for case in cases_for(Independent(BARE, epsilon=1))]
    assert 5 == len(names)
    assert "dropped" not in names


def test_the_row_of_a_histogram_stands_alone() -> None:
    """There it weighs the most."""
    first = cases_for(Histogram(SCHEMA, epsilon=1, rows=1))[0]
    assert (1, 1) == (len(first.present), len(first.absent))


# Noise decides which tables are worth their price: four runs in ten measure three of them alone, so
# that all of these do once in 10⁷ times.
RUNS = 20


@pytest.mark.slow
@pytest.mark.parametrize(("delta", "asked"), [("1e-6", "L1 error of 4"), ("0", "choice among 4")])
def test_the_crowd_of_a_method_in_rounds_is_worth_them(delta: str, asked: str) -> None:
    """Some run chooses among all tables once more when some of them are measured."""
    method = AdaptiveMarginals(schema_for(AdaptiveMarginals.abilities), epsilon=1, delta=delta)
    first = cases_for(method)[0].encoded(codec_for(method)).present
    runs = (_questions(method, first) for _ in range(RUNS))
    assert any(_has_rounds(questions, asked) for questions in runs)


def _questions(method: Synthesizer, rows: CountSource) -> list[str]:
    return [answer.charge.question for answer in run_on(method, rows).answers]


def _has_rounds(questions: list[str], asked: str) -> bool:
    measured = sum(" × " in question for question in questions)
    return measured > 3 and any(asked in question for question in questions)


def test_made_up_rows_have_the_notation_of_their_columns() -> None:
    """Formats, units and labels do not make the rows of an audit unreadable."""
    columns = {
        "day": {"kind": "date", "min": "2020-01-01", "max": "2024-12-31", "format": "%d.%m.%Y"},
        "price": {"kind": "float", "min": 0.0, "max": 9.0, "unit": "$", "decimal": ","},
        "smoker": {"kind": "boolean", "labels": ["Raucher", "kein Raucher"]},
    }
    method = Independent(Schema.parse({"columns": columns}), epsilon=1)
    for case in cases_for(method):
        if case.name == "dropped" or case.name.startswith("kept where"):
            continue
        encoded = case.encoded(codec_for(method))
        assert len(case.present) == encoded.present.rows
        assert len(case.absent) == encoded.absent.rows
