"""A few columns counted together give all tables among them, and nothing else comes out."""

from __future__ import annotations

import itertools
from math import prod

import ibis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.counted import ROWS, SCHEMA, check_equal
from understudy.rows.engines.databases import dialects
from understudy.rows.engines.databases.joint import MOST_CELLS, blocks, joint_query
from understudy.rows.engines.databases.source import DatabaseSource, grouping
from understudy.rows.sources import open_source

NAMES = "abcdefgh"


@given(
    sizes=st.lists(st.integers(1, 300), min_size=8, max_size=8),
    sets=st.lists(st.sets(st.sampled_from(NAMES), min_size=1, max_size=4), min_size=1, max_size=30),
)
def test_every_set_is_in_one_block_that_is_small(sizes: list[int], sets: list[set[str]]) -> None:
    """Each block has few cells, or is a single set, which was asked for as it is."""
    asked = [tuple(sorted(each)) for each in sets]
    known = dict(zip(NAMES, sizes, strict=True))
    found = blocks(asked, known)
    listed = [each for _, covered in found for each in covered]
    assert sorted(set(asked)) == sorted(listed)
    for held, covered in found:
        assert all(set(each) <= set(held) for each in covered)
        assert prod(known[name] for name in held) <= MOST_CELLS or list(held) == list(covered[0])


def test_all_pairs_of_fifteen_columns_take_few_blocks() -> None:
    """A fifth of as many readings as there are pairs."""
    numbers = [2, 3, 5, 8, 16, 20, 2, 4, 7, 10, 12, 3, 6, 9, 15]
    sizes = dict(zip("abcdefghijklmno", numbers, strict=True))
    assert 25 >= len(blocks(list(itertools.combinations(sizes, 2)), sizes))


def test_a_query_gives_out_the_sets_alone() -> None:
    """The joint cells stay in the database."""
    rows = ibis.memtable({"a": [0, 0, 1], "b": [0, 1, 1], "c": [2, 2, 2]})
    backend = ibis.duckdb.connect()
    backend.create_table("encoded", rows.to_pyarrow())
    query = joint_query(["a", "b", "c"], [(["a", "b", "c"], [["a"], ["b", "c"]])])
    found = sorted(map(str, backend.raw_sql(query).fetchall()))
    assert found == sorted(
        ["(0, None, None, 2)", "(1, None, None, 1)", "(None, 0, 2, 1)", "(None, 1, 2, 2)"]
    )


def test_rows_that_are_alike_count_as_often_as_they_are() -> None:
    """By a column that says how often, in both kinds of query; without rows the sum is 0."""
    backend = ibis.duckdb.connect()
    rows = ibis.memtable({"a": [0, 0, 1], "b": [0, 1, 1], "times": [5, 2, 3]})
    backend.create_table("encoded", rows.to_pyarrow())
    backend.create_table("nothing", rows.to_pyarrow().slice(0, 0))
    times, both = "COALESCE(SUM(times), 0)", ["a", "b"]
    joint = joint_query(both, [(both, [["a"], ["b"]])], times=times)
    separate = grouping(both, [["a"], ["b"]], dialects.SPARK, times=times)
    for query in (joint, separate):
        found = sorted(map(str, backend.raw_sql(query).fetchall()))
        assert found == sorted(["(0, None, 7)", "(1, None, 3)", "(None, 0, 5)", "(None, 1, 5)"])
    whole = grouping([], [[]], dialects.SPARK, rows="nothing", times=times)
    assert [(0,)] == backend.raw_sql(whole).fetchall()


def test_tables_are_those_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cell by cell, in a database that is asked in this way."""
    from dataclasses import replace

    asked = replace(dialects.DUCKDB, counts_jointly=True)
    monkeypatch.setitem(dialects.DIALECTS, "duckdb", asked)
    backend = ibis.duckdb.connect()
    backend.create_table("people", ROWS)
    with open_source(backend.table("people"), SCHEMA) as source:
        assert isinstance(source, DatabaseSource)
        assert source.database.dialect.counts_jointly
        check_equal(source, SCHEMA, ROWS)
