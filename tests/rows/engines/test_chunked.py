"""Files read in blocks are counted as if all rows were in memory."""

from __future__ import annotations

import itertools
import tempfile
import threading
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.tables import decoded, encoded_tables
from support.tiers import examples
from understudy.errors import DataError, UsageError
from understudy.facts.codec import Codec
from understudy.facts.domain import Attributes
from understudy.facts.schema import Schema
from understudy.jobs.reading import bytes_of
from understudy.methods import Nist
from understudy.models.row_writing import write_rows
from understudy.privacy.spending.ledger import Ledger
from understudy.rows.counting import Marginal
from understudy.rows.engines.chunked import ChunkedSource
from understudy.rows.engines.memory import MemorySource
from understudy.rows.reading import csv as reading
from understudy.rows.reading import parquet, read_blocks, read_rows
from understudy.rows.sources import Access, open_source
from understudy.rows.table import Table
from understudy.testing import seeded

SCHEMA = Schema.parse(
    {
        "columns": {
            "a": {"kind": "integer", "min": 0, "max": 9, "missing": []},
            "b": {"kind": "categorical", "values": ["x", "y", "z"]},
            "c": {"kind": "float", "min": 0, "max": 1, "outside": "drop"},
        }
    }
)


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of a few rows, so that small files have many."""
    monkeypatch.setattr(parquet, "_BLOCK_ROWS", 7)
    monkeypatch.setattr(reading, "_BLOCK_BYTES", 120)


def _csv(path: Path, rows: int, *, bad: int | None = None) -> Path:
    lines = [f"{i % 13},{'xyzw'[i % 4]},{(i % 11) / 9:.3f}" for i in range(rows)]
    if bad is not None:
        lines[bad] = "no number,x,0.5"
    path.write_text("a,b,c\n" + "".join(f"{line}\n" for line in lines))
    return path


def _chunked(path: Path, memory: int = 10**9) -> ChunkedSource:
    codec = Codec(SCHEMA)
    return ChunkedSource(lambda: read_blocks(path, codec), codec, memory, memory)


def _in_memory(path: Path) -> MemorySource:
    codec = Codec(SCHEMA)
    return MemorySource(Table.of(codec.encode(read_rows(path, codec))))


def _check_equal(first: ChunkedSource, second: MemorySource) -> None:
    names = second.domain.attributes
    sets = [s for k in range(len(names) + 1) for s in itertools.combinations(names, k)]
    sets = [s for s in sets if second.domain.cells(s) <= 10**5]
    assert first.rows_read == second.rows_read
    for ours, theirs in zip(first.count(sets), second.count(sets), strict=True):
        assert ours.attributes == theirs.attributes
        assert np.array_equal(ours.counts, theirs.counts)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("bad", [None, 0, 5, 300, 399], ids=str)
def test_a_csv_file_counts_the_same_in_blocks(tmp_path: Path, bad: int | None) -> None:
    """Wherever a cell defeats the types, no row is lost, doubled or read otherwise."""
    path = _csv(tmp_path / "rows.csv", 400, bad=bad)
    assert len(list(read_blocks(path, Codec(SCHEMA)))) > 10
    _check_equal(_chunked(path), _in_memory(path))


@pytest.mark.usefixtures("small_blocks")
def test_a_parquet_file_counts_the_same_in_blocks(tmp_path: Path) -> None:
    """Row groups and blocks need not agree."""
    rows = {"a": np.arange(100) % 12, "b": ["x", "y"] * 50, "c": np.linspace(-0.2, 1, 100)}
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table(rows), path, row_group_size=13)
    _check_equal(_chunked(path), _in_memory(path))


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@settings(max_examples=examples(40))
@given(data=st.data())
def test_every_table_counts_the_same_in_blocks(suffix: str, data: st.DataObject) -> None:
    """Whatever the schema and the rows."""
    schema, table = data.draw(encoded_tables())
    codec = Codec(schema)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"rows{suffix}"
        write_rows([decoded(schema, table)], path, codec)
        source = ChunkedSource(lambda: read_blocks(path, codec), codec, 10**9)
        _check_equal(source, MemorySource(Table.of(codec.encode(read_rows(path, codec)))))


@pytest.mark.parametrize("rows", ["", "\n"], ids=["no line break", "header alone"])
def test_no_rows_are_counted_as_none(tmp_path: Path, rows: str) -> None:
    """A header alone is an empty table."""
    path = tmp_path / "rows.csv"
    path.write_text("a,b,c" + rows)
    _check_equal(_chunked(path), _in_memory(path))


def test_little_memory_means_more_readings(tmp_path: Path) -> None:
    """Tables that do not fit together are counted in turns, with the same result."""
    path = _csv(tmp_path / "rows.csv", 100)
    readings = []

    def blocks() -> Iterator[pa.Table]:
        readings.append(1)
        return read_blocks(path, Codec(SCHEMA))

    sets = [("a",), ("a", "b"), ("b", "c"), ("a",)]
    source = ChunkedSource(blocks, Codec(SCHEMA), 11 * 8)
    expected = [m.counts.tolist() for m in _in_memory(path).count(sets)]
    assert expected == [m.counts.tolist() for m in source.count(sets)]
    assert 5 == len(readings)

    def largest(marginal: Marginal) -> float:
        return float(marginal.counts.max())

    assert _in_memory(path).score(sets, largest).tolist() == source.score(sets, largest).tolist()


def test_pairs_are_known_from_the_first_reading(tmp_path: Path) -> None:
    """In either order; only larger sets need another, however often they are asked together."""
    path = _csv(tmp_path / "rows.csv", 100)
    readings = []

    def blocks() -> Iterator[pa.Table]:
        readings.append(1)
        return read_blocks(path, Codec(SCHEMA))

    source = ChunkedSource(blocks, Codec(SCHEMA), 10**6, kept=10**6)
    source.check()
    asked: list[list[Attributes]] = [[()], [("a",), ("c",)], [("a", "b"), ("b", "a")]]
    for sets in asked:
        expected = [m.counts.tolist() for m in _in_memory(path).count(sets)]
        assert expected == [m.counts.tolist() for m in source.count(sets)]
    assert 1 == len(readings)
    assert 100 == source.rows_read
    source.count([("a", "b", "c"), ("c", "b", "a"), ("a",)])
    assert 2 == len(readings)


@pytest.mark.usefixtures("small_blocks")
def test_a_reading_tells_how_far_it_is(tmp_path: Path) -> None:
    """The first does not know of how many; the second does, and ends with all of them."""
    path = _csv(tmp_path / "rows.csv", 100)
    told: list[tuple[int, int | None]] = []
    source = ChunkedSource(
        lambda: read_blocks(path, Codec(SCHEMA)),
        Codec(SCHEMA),
        10**6,
        watch=lambda done, total: told.append((done, total)),
    )
    source.check()
    first = list(told)
    assert [(0, None), (100, None)] == [first[0], first[-1]]
    assert len(first) > 5
    source.count([("a", "b", "c")])
    second = told[len(first) :]
    assert [(0, 100), (100, 100)] == [second[0], second[-1]]
    assert sorted(second, key=lambda place: place[0]) == second


def test_a_question_that_fails_leaves_no_thread(tmp_path: Path) -> None:
    """Whatever fails while a block is counted ends the reading ahead too."""
    path = _csv(tmp_path / "rows.csv", 100)

    def fail(done: int, total: int | None) -> None:
        if done:
            raise RuntimeError

    source = ChunkedSource(lambda: read_blocks(path, Codec(SCHEMA)), Codec(SCHEMA), 99, watch=fail)
    with pytest.raises(RuntimeError):
        source.check()
    assert [] == [t for t in threading.enumerate() if t.name.startswith("ahead")]


@pytest.mark.parametrize("memory", [10**3, 10**4, 10**5])
def test_blocks_keep_to_the_memory_given(tmp_path: Path, memory: int) -> None:
    """Two blocks of numbers as they are read take less, and no row is lost."""
    path = tmp_path / "rows.parquet"
    rows = {"a": np.arange(9000) % 12, "b": ["x", "y"] * 4500, "c": np.linspace(0, 1, 9000)}
    pq.write_table(pa.table(rows), path)
    blocks = list(read_blocks(path, Codec(SCHEMA), memory=memory))
    assert 9000 == sum(block.num_rows for block in blocks)
    assert 2 * max(8 * block.num_rows * block.num_columns for block in blocks) <= memory


@pytest.mark.slow
def test_little_memory_is_enough_for_many_rows(tmp_path: Path) -> None:
    """What Arrow and numpy hold at most, the block read ahead included, is within bounds."""
    path = tmp_path / "rows.parquet"
    a, c = np.arange(10**6) % 10, np.linspace(0, 1, 10**6)
    pq.write_table(pa.table({"a": a, "b": pa.array(["x", "y"] * 500_000), "c": c}), path)
    arrow: list[int] = []

    def watch(done: int, total: int | None) -> None:
        arrow.append(pa.total_allocated_bytes())

    memory = 8 * 10**6
    _in_memory(_csv(tmp_path / "rows.csv", 10)).count([("a", "b", "c")])
    tracemalloc.start()
    with open_source(path, SCHEMA, Access(memory=memory, watch=watch)) as source:
        assert isinstance(source, ChunkedSource)
        source.count([("a", "b", "c")])
    numpy = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert max(arrow) - arrow[0] + numpy < memory


def test_a_fit_is_the_same_in_blocks(tmp_path: Path) -> None:
    """The same noise on the same counts gives the same model."""
    path = _csv(tmp_path / "rows.csv", 300)
    method = Nist(SCHEMA, epsilon=5, delta=1e-6)
    first = seeded(method, 1).fit(_chunked(path), ledger=None).model_
    second = seeded(method, 1).fit(_in_memory(path), ledger=None).model_
    assert first.network == second.network
    for ours, theirs in zip(first.conditionals, second.conditionals, strict=True):
        assert np.array_equal(ours.probabilities, theirs.probabilities)


def test_large_files_are_read_in_blocks(tmp_path: Path) -> None:
    """What would not fit into the memory given is not read at once."""
    path = _csv(tmp_path / "rows.csv", 300)
    for access, engine in [
        (Access(memory=1000), ChunkedSource),
        (Access(memory=10**6), MemorySource),
        (Access(), MemorySource),
    ]:
        with open_source(path, SCHEMA, access) as source:
            assert isinstance(source, engine)


def test_many_equal_rows_in_a_small_file_are_read_in_blocks(tmp_path: Path) -> None:
    """What counts is the rows that a file unpacks to, not how well it was packed."""
    path = tmp_path / "t.parquet"
    rows = pa.table({"a": [1] * 200_000, "b": ["x"] * 200_000, "c": [0.5] * 200_000})
    pq.write_table(rows, path)
    assert path.stat().st_size * 12 < 1_000_000
    with open_source(path, SCHEMA, Access(memory=4_000_000)) as source:
        assert isinstance(source, ChunkedSource)
    with open_source(path, SCHEMA, Access(memory=100_000_000)) as source:
        assert isinstance(source, MemorySource)


@pytest.mark.usefixtures("small_blocks")
def test_a_ragged_line_ends_the_run_wherever_it_is(tmp_path: Path) -> None:
    """In our words, and without a cell of it."""
    path = _csv(tmp_path / "rows.csv", 300)
    with path.open("a") as file:
        file.write("1,secret\n")
    with pytest.raises(DataError, match="a line has 2 fields where the header has 3") as caught:
        _chunked(path).count([("a",)])
    assert "secret" not in str(caught.value)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("fault", ["ragged", "column", "encoding", "kind"])
def test_a_file_that_cannot_be_read_costs_nothing(tmp_path: Path, fault: str) -> None:
    """It is read to its end before the first question is paid for."""
    path = _csv(tmp_path / "rows.csv", 300)
    if fault == "ragged":
        path.write_text(path.read_text() + "1,x\n")
    if fault == "column":
        path.write_text(path.read_text().replace("a,b,c", "a,b,d", 1))
    if fault == "encoding":
        path.write_bytes(path.read_bytes() + "1,é,0.5\n".encode("latin-1"))
    if fault == "kind":
        path = tmp_path / "rows.parquet"
        pq.write_table(pa.table({"a": [[1]] * 99, "b": ["x"] * 99, "c": [0.5] * 99}), path)
    ledger = Ledger(tmp_path / "ledger.jsonl")

    def run() -> None:
        with open_source(path, SCHEMA, Access(memory=100)) as source:
            Nist(SCHEMA, epsilon=1, delta=1e-6).fit(source, ledger=ledger, dataset="d")

    with pytest.raises(DataError):
        run()
    assert 0 == ledger.account("d").spent.epsilon


@pytest.mark.parametrize(
    ("text", "size"),
    [("2GB", 2 * 10**9), ("500 MB", 5 * 10**8), ("1.5GiB", 3 * 2**29), ("64k", 64_000), ("9", 9)],
)
def test_sizes_are_read_as_people_write_them(text: str, size: int) -> None:
    """With or without blanks, in thousands or in 1024s."""
    assert size == bytes_of(text)


@pytest.mark.parametrize("text", ["", "much", "0", "-1GB", "1..2GB", "2 XB"])
def test_sizes_that_are_none_are_refused(text: str) -> None:
    """The message says how to write one."""
    with pytest.raises(UsageError, match="2GB or 500MB"):
        bytes_of(text)


@pytest.mark.usefixtures("small_blocks")
def test_rows_are_numbered_as_in_memory(tmp_path: Path) -> None:
    """The same lines in the same places, those of dropped rows too."""
    path = _csv(tmp_path / "rows.csv", 100)
    sets: list[Attributes] = [("a", "b"), ("c",)]
    ours, theirs = (s.number_rows(sets) for s in (_chunked(path), _in_memory(path)))
    assert (100, 2) == ours.shape == theirs.shape
    assert theirs.tolist() == ours.tolist()
    assert [-1, -1] in ours.tolist()
