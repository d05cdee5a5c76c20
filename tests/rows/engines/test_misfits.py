"""Rows that do not fit the schema: every engine counts them alike, and persons within bounds."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.raw_neighbours import SCHEMA, Row, crowd, people
from support.ways_in import WAYS, texts
from understudy.errors import UsageError
from understudy.facts.codec import Codec
from understudy.facts.codec.persons import Persons
from understudy.facts.domain import Domain
from understudy.rows.counting import fitting_rows
from understudy.rows.made_up import AllAlike
from understudy.rows.sources import Access, open_source

MANY = (
    *people(40),
    *(Row(who="ann", colour="violet"),) * 5,
    *(Row(who="bob", colour="violet"),) * 2,
    *(Row(who="bob"),) * 2,
    Row(who="", colour="violet"),
)


def _fits(row: Row) -> bool:
    return len(Codec(SCHEMA).encode(texts([row])).codes["colour"]) == 1


def _by_hand(rows: tuple[Row, ...], most: int) -> list[int]:
    """Each person adds fitting rows first, then others, up to the allowance."""
    found = [0, 0]
    for who in {row.who.strip() for row in rows} - {""}:
        own = [_fits(row) for row in rows if row.who.strip() == who]
        fitting = min(own.count(True), most)
        found[0] += fitting
        found[1] += min(own.count(False), most - fitting)
    return found


@pytest.mark.parametrize("way", ["csv", "duckdb", "sqlite counted there"])
@pytest.mark.parametrize("most", [1, 2, 4])
def test_persons_are_counted_within_their_allowance(way: str, most: int, tmp_path: Path) -> None:
    """Memory and DuckDB count as the definition does."""
    data, access = WAYS[way].put(MANY, tmp_path), WAYS[way].access
    bounded = Access(table=access.table, persons=Persons("who", most))
    with open_source(data, SCHEMA, bounded) as source:
        assert _by_hand(MANY, most) == fitting_rows(source).tolist()


@pytest.mark.parametrize("way", ["csv", "csv in blocks", "parquet in blocks", "duckdb"])
def test_rows_count_once_each(way: str, tmp_path: Path) -> None:
    """Without persons the two numbers are those of kept and of dropped rows."""
    rows = (*crowd(40, strange=False), *(Row(colour="violet"),) * 5)
    with open_source(WAYS[way].put(rows, tmp_path), SCHEMA, WAYS[way].access) as source:
        assert [40, 5] == fitting_rows(source).tolist()


def test_bounded_rows_of_an_engine_that_cannot_count_misfits_are_refused() -> None:
    """An engine that bounds persons and says nothing of misfits cannot be asked."""
    with pytest.raises(UsageError, match="leave the preflight out"):
        fitting_rows(AllAlike(Domain({"x": 2}), 5, rows_per_person=2))
