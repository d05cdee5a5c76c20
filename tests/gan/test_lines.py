"""Every row keeps its line, dropped or not: raw rows, through the codec, to what is noised."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

from support.replay import audit, record
from support.tiers import slow_but
from support.torches import by_noise_layer
from understudy.facts.codec import Codec
from understudy.facts.codec.persons import Persons
from understudy.facts.domain import Attributes
from understudy.facts.schema import Schema
from understudy.methods import Histogram
from understudy.privacy.mechanisms.sampled import LineGaussian
from understudy.rows.counting import CountSource, NumbersRows
from understudy.rows.engines.chunked import ChunkedSource
from understudy.rows.engines.memory import MemorySource
from understudy.rows.reading import csv as reading
from understudy.rows.reading import read_blocks
from understudy.rows.table import Table

VALUES = ["x", "y"]
SCHEMA = Schema.parse(
    {
        "columns": {
            "a": {"kind": "categorical", "values": VALUES},
            "b": {"kind": "categorical", "values": VALUES},
        }
    }
)
ROWS = 60
STRANGE = "z"
Open = Callable[[pa.Table], CountSource]


def _rows(place: int | None = None) -> pa.Table:
    """Rows that alternate; one of them may hold a value that nobody declared."""
    a, b = VALUES * (ROWS // 2), VALUES * (ROWS // 2)
    if place is not None:
        a[place] = STRANGE
    return pa.table({"a": a, "b": b})


def _in_memory(rows: pa.Table) -> MemorySource:
    return MemorySource(Table.of(Codec(SCHEMA).encode(rows)))


@contextmanager
def _in_blocks(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Open]:
    monkeypatch.setattr(reading, "_BLOCK_BYTES", 64)
    codec = Codec(SCHEMA)

    def opened(rows: pa.Table) -> ChunkedSource:
        path = folder / f"{len(list(folder.iterdir()))}.csv"
        pyarrow.csv.write_csv(rows, path)
        assert len(list(read_blocks(path, codec))) > 3
        return ChunkedSource(lambda: read_blocks(path, codec), codec, 10**6)

    yield opened


@pytest.fixture(params=["memory", "blocks"])
def opened(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Open]:
    """A way to put raw rows behind an engine that numbers them."""
    if request.param == "memory":
        yield _in_memory
        return
    folder = tmp_path / "rows"
    folder.mkdir()
    with _in_blocks(folder, monkeypatch) as found:
        yield found


@pytest.mark.parametrize(
    "place", slow_but({ROWS // 2}, [0, ROWS // 2, ROWS - 1]), ids=["first", "middle", "last"]
)
def test_a_row_that_is_dropped_moves_its_own_line_alone(opened: Open, place: int) -> None:
    """Kept replaced by dropped, and back: one line differs, by what the mechanism covers."""
    method = by_noise_layer(SCHEMA, epsilon=1, delta=1e-6)
    kept, dropped = opened(_rows()), opened(_rows(place))
    lines = [record(method, source)[0].exchanges[0].exact for source in (kept, dropped)]
    moved = lines[0] - lines[1]
    assert [place] == np.flatnonzero(moved.any(axis=1)).tolist()
    assert LineGaussian.of_ratio(Fraction(1), cells=moved.size).covers(moved)
    audit(method, kept, dropped)
    audit(method, dropped, kept)


def test_rows_that_shift_lines_are_not_covered() -> None:
    """The check can fail: two tables a whole line out of step are too far apart."""
    method = by_noise_layer(SCHEMA, epsilon=1, delta=1e-6)
    rows = _rows()
    shifted = pa.concat_tables([rows.slice(1), rows.slice(0, 1)])
    lines = [record(method, _in_memory(r))[0].exchanges[0].exact for r in (rows, shifted)]
    assert not LineGaussian.of_ratio(Fraction(1), cells=lines[0].size).covers(lines[0] - lines[1])


def test_rows_are_numbered_where_they_stand(opened: Open) -> None:
    """The line of every row is what it would be alone."""
    draw = np.random.default_rng(4)
    rows = pa.table({name: draw.choice(["x", "y", STRANGE], ROWS) for name in "ab"})
    sets: list[Attributes] = [("a", "b"), ("b",)]
    whole = opened(rows)
    assert isinstance(whole, NumbersRows)
    alone = [_in_memory(rows.slice(i, 1)).number_rows(sets)[0].tolist() for i in range(ROWS)]
    assert alone == whole.number_rows(sets).tolist()
    assert [-1, -1] in alone


def test_surplus_rows_of_persons_keep_their_lines() -> None:
    """Of three rows of one person one stays, where it was, and the nameless one's line is empty."""
    rows = _rows().slice(0, 6).append_column("who", pa.array(["p", "q", "p", None, "p", "r"]))
    found = MemorySource(Table.of(Codec(SCHEMA, Persons("who", 1)).encode(rows))).number_rows(
        [("a", "b")]
    )
    places = np.flatnonzero(found[:, 0] >= 0).tolist()
    assert [1, 5] == [place for place in places if place % 2]
    assert 1 == len([place for place in places if place % 2 == 0])
    assert all(found[place, 0] == (0, 3)[place % 2] for place in places)


def test_histograms_do_not_mind_where_a_row_was_dropped(opened: Open) -> None:
    """A place is drawn uniformly; replay covers kept and dropped in every place."""
    method = Histogram(SCHEMA, epsilon=1, rows=20)
    for place in (0, ROWS // 2, ROWS - 1):
        audit(method, opened(_rows()), opened(_rows(place)))
