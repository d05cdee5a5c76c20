"""Partitions counted by a cluster give the counts of all rows in memory, or one clear error."""

from __future__ import annotations

import itertools
import os
import signal
import socket
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.cluster import (
    Deadly,
    Failing,
    Pausing,
    lone_worker,
    scheduler,
    write_partitions,
)
from support.tables import decoded, encoded_tables
from understudy.errors import DataError, UnderstudyError, UsageError
from understudy.facts.codec import Codec
from understudy.facts.schema import Schema
from understudy.methods import Independent
from understudy.privacy.spending.ledger import Ledger
from understudy.rows.counting import Marginal
from understudy.rows.engines.cluster import ClusterSource
from understudy.rows.engines.cluster_connection import Cluster
from understudy.rows.engines.cluster_start import connected
from understudy.rows.engines.memory import MemorySource
from understudy.rows.reading import parquet, read_rows
from understudy.rows.sources import Access, open_source
from understudy.rows.table import Table
from understudy.system import version
from understudy.system.extras import require

SECRET = "xyzzy-4711"
SCHEMA = Schema.parse(
    {
        "columns": {
            "a": {"kind": "integer", "min": 0, "max": 9, "missing": []},
            "b": {"kind": "categorical", "values": ["x", "y", "z"]},
            "c": {"kind": "float", "min": 0, "max": 1, "outside": "drop"},
        }
    }
)
SETS = [(), ("a",), ("b", "a"), ("c", "b", "a"), ("a",)]


def _rows(count: int) -> pa.Table:
    numbers = np.arange(count)
    return pa.table(
        {
            "a": pa.array(numbers % 13, mask=numbers % 17 == 0),
            "b": ["xyzw"[i % 4] for i in numbers],
            "c": (numbers % 11) / 9,
        }
    )


def _in_memory(path: Path, schema: Schema = SCHEMA) -> MemorySource:
    codec = Codec(schema)
    return MemorySource(Table.of(codec.encode(read_rows(path, codec))))


def _check_equal(first: ClusterSource, second: MemorySource) -> None:
    names = second.domain.attributes
    sets = [s for k in range(len(names) + 1) for s in itertools.combinations(names, k)]
    sets = [s for s in sets if second.domain.cells(s) <= 10**5]
    assert second.rows_read == first.rows_read
    for ours, theirs in zip(first.count(sets), second.count(sets), strict=True):
        assert theirs.attributes == ours.attributes
        assert np.array_equal(theirs.counts, ours.counts)


@contextmanager
def _reached(dask_scheduler: Any, timeout: float) -> Iterator[Cluster]:
    with connected(dask_scheduler.scheduler_address, timeout=timeout) as cluster:
        yield cluster


@settings(max_examples=8)
@given(data=st.data())
def test_every_table_counts_the_same_in_partitions(
    cluster: Cluster, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """Whatever the schema and the rows, in any number of files, empty ones too."""
    schema, table = data.draw(encoded_tables())
    cuts = data.draw(st.lists(st.integers(0, table.rows), max_size=12))
    folder = tmp_path_factory.mktemp("table") / "parts"
    path = write_partitions(decoded(schema, table), folder, cuts)
    source = ClusterSource(cluster=cluster, path=path, codec=Codec(schema), memory=10**9)
    source.check()
    _check_equal(source, _in_memory(path, schema))


def test_one_file_is_cut_at_its_row_groups(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Small row groups go together, and no row is lost or counted twice."""
    path = tmp_path / "rows.parquet"
    pq.write_table(_rows(400), path, row_group_size=13)
    monkeypatch.setattr(parquet, "_PARTITION_ROWS", 40)
    source = ClusterSource(cluster=cluster, path=path, codec=Codec(SCHEMA), memory=10**9)
    assert 11 == len(source.partitions)
    _check_equal(source, _in_memory(path))


def test_a_file_without_row_groups_counts_nothing(cluster: Cluster, tmp_path: Path) -> None:
    """No rows are a table too."""
    path = tmp_path / "rows.parquet"
    with pq.ParquetWriter(path, _rows(0).schema):
        pass
    _check_equal(
        ClusterSource(cluster=cluster, path=path, codec=Codec(SCHEMA), memory=10**9),
        _in_memory(path),
    )


def test_little_memory_means_more_readings(cluster: Cluster, tmp_path: Path) -> None:
    """Tables and scores are the same when no two tables fit together."""
    path = write_partitions(_rows(100), tmp_path / "rows", [30])
    source = ClusterSource(cluster=cluster, path=path, codec=Codec(SCHEMA), memory=8)

    def largest(marginal: Marginal) -> float:
        return float(marginal.counts.max())

    expected = _in_memory(path)
    assert [m.counts.tolist() for m in expected.count(SETS)] == [
        m.counts.tolist() for m in source.count(SETS)
    ]
    assert expected.score(SETS, largest).tolist() == source.score(SETS, largest).tolist()


@pytest.mark.slow
def test_a_worker_killed_in_mid_count_changes_nothing(cluster: Cluster, tmp_path: Path) -> None:
    """Its partition is counted again by another one, once."""
    path = write_partitions(_rows(300), tmp_path / "rows", [50, 100, 200])
    codec = Pausing(SCHEMA, mark=tmp_path / "mark")
    with ThreadPoolExecutor(1) as pool:
        counted = pool.submit(
            ClusterSource(cluster=cluster, path=path, codec=codec, memory=10**9).count, SETS
        )
        os.kill(codec.paused(), signal.SIGKILL)
        tables = counted.result(timeout=60)
    expected = [m.counts.tolist() for m in _in_memory(path).count(SETS)]
    assert expected == [m.counts.tolist() for m in tables]


@pytest.mark.slow
def test_a_count_that_kills_its_workers_is_charged_once(
    cluster: Cluster, dask_scheduler: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error comes after the charge, which stays in the ledger as it was made."""
    monkeypatch.setattr(dask_scheduler.scheduler, "allowed_failures", 0)
    path = write_partitions(_rows(30), tmp_path / "rows", [])
    ledger = Ledger(tmp_path / "ledger.jsonl")
    source = ClusterSource(cluster=cluster, path=path, codec=Deadly(SCHEMA), memory=10**9)
    with pytest.raises(DataError, match="one task ended several workers; give them more memory"):
        Independent(SCHEMA, epsilon=1).fit(source, ledger=ledger, dataset="d")
    assert 1 == ledger.account("d").spent.epsilon
    assert 1 == (tmp_path / "ledger.jsonl").read_text().count('"entry": "grant"')


@pytest.mark.parametrize("ours", [True, False])
def test_errors_of_workers_say_nothing_that_is_not_ours(
    cluster: Cluster, tmp_path: Path, ours: bool
) -> None:
    """Our own errors pass as they are; the words of all others stay on the worker."""
    path = write_partitions(_rows(30), tmp_path / "rows", [10])
    source = ClusterSource(
        cluster=cluster, path=path, codec=Failing(SCHEMA, message=SECRET, ours=ours), memory=10**9
    )
    with pytest.raises(DataError) as caught:
        source.count(SETS)
    error = caught.value
    assert ours == (str(error) == SECRET)
    assert ours == (SECRET in repr([error, error.__cause__, error.__context__]))
    assert ours or "a worker of the cluster failed at its task (ValueError)" in str(error)


@pytest.mark.parametrize("fault", ["absent", "more", "type", "kind", "pages", "notes"])
def test_partitions_that_cannot_be_counted_cost_nothing(
    cluster: Cluster, tmp_path: Path, fault: str
) -> None:
    """One sentence with the name of the file, before anything is paid."""
    path, odd = tmp_path / "rows", "part-1.parquet"
    rows = _rows(100)
    wrong = rows.slice(50)
    if fault == "kind":
        rows = rows.set_column(0, "a", pa.array([[1]] * 100))
    write_partitions(rows, path, [50])
    if fault == "absent":
        pq.write_table(wrong.drop_columns("b"), path / odd)
    if fault == "more":
        pq.write_table(wrong.append_column("d", wrong["a"]), path / odd)
    if fault == "type":
        pq.write_table(wrong.set_column(0, "a", wrong["a"].cast(pa.string())), path / odd)
    if fault == "pages":
        data = bytearray((path / odd).read_bytes())
        data[4:60] = b"\xff" * 56
        (path / odd).write_bytes(data)
    if fault == "notes":
        odd = "notes.txt"
        (path / odd).write_text("1,2")
    ledger = Ledger(tmp_path / "ledger.jsonl")

    def run() -> None:
        access = Access(cluster=cluster.address)
        with open_source(path, SCHEMA, access) as source:
            Independent(SCHEMA, epsilon=1).fit(source, ledger=ledger, dataset="d")

    with pytest.raises(DataError, match="column 'a'" if fault == "kind" else odd):
        run()
    assert 0 == ledger.account("d").spent.epsilon


def test_workers_that_cannot_see_the_files_are_told_of(cluster: Cluster, tmp_path: Path) -> None:
    """Before the first partition is asked for."""
    source = ClusterSource(
        cluster=cluster, path=tmp_path / "none", codec=Codec(SCHEMA), memory=10**9
    )
    with pytest.raises(DataError, match=r"(\d) of \1 workers of cluster .* cannot see it; check"):
        source.check()


def test_files_that_change_meanwhile_are_refused(cluster: Cluster, tmp_path: Path) -> None:
    """Fewer rows than at the beginning are refused."""
    path = write_partitions(_rows(30), tmp_path / "rows", [])
    source = ClusterSource(cluster=cluster, path=path, codec=Codec(SCHEMA), memory=10**9)
    source.check()
    pq.write_table(_rows(29), path / "part-0.parquet")
    with pytest.raises(DataError, match=r"part-0\.parquet: does not hold the rows"):
        source.count(SETS)


def test_other_versions_of_understudy_are_refused(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cluster must encode as this side does."""
    installed = version.__version__
    monkeypatch.setattr(version, "__version__", "99.0")
    with pytest.raises(UsageError, match=f"must have understudy 99.0 and not {installed}; install"):
        cluster.check_versions()


@pytest.mark.parametrize("silent", [False, True])
def test_an_address_where_no_scheduler_is_fails_in_time(silent: bool) -> None:
    """Nobody listens there, or someone who never says a word."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        if silent:
            taken.listen()
        address = f"tcp://127.0.0.1:{taken.getsockname()[1]}"
        started = time.monotonic()
        with (
            pytest.raises(DataError, match=f"cluster {address}: no Dask scheduler answered"),
            connected(address, timeout=0.5),
        ):
            pass
    assert time.monotonic() - started < 10


@pytest.mark.slow
def test_a_cluster_that_loses_its_workers_fails_in_time(tmp_path: Path) -> None:
    """Without any, with one that lacks understudy, and when the last one dies in mid-count."""
    path = write_partitions(_rows(30), tmp_path / "rows", [10])
    codec = Pausing(SCHEMA, mark=tmp_path / "mark")
    no_worker = "had no running worker for 0.5 s; start it"
    with scheduler(0) as started:
        address = started.scheduler_address
        with pytest.raises(DataError, match=no_worker), _reached(started, 0.5):
            pass
        with (
            lone_worker(address, lacks_understudy=True),
            pytest.raises(
                UsageError, match=r"all of its workers must have understudy .*; install it"
            ),
            _reached(started, 60),
        ):
            pass
        started.sync(started.scheduler.retire_workers)
        with lone_worker(address) as pid, _reached(started, 60) as found:
            source = ClusterSource(
                cluster=Cluster(found.client, address, 0.5), path=path, codec=codec, memory=10**9
            )
            with ThreadPoolExecutor(1) as pool:
                counted = pool.submit(source.count, SETS)
                assert pid == codec.paused()
                os.kill(pid, signal.SIGKILL)
                with pytest.raises(DataError, match=no_worker):
                    counted.result(timeout=60)


@pytest.mark.parametrize(
    "address", ["", "cluster", "tcp://host", "http://host:1", "tcp://host:x", "inproc://1/2/3"]
)
def test_addresses_that_are_none_are_refused(address: str) -> None:
    """Before anything is read; the message says how to write one."""
    with pytest.raises(UsageError, match="give tcp://HOST:PORT or tls://HOST:PORT"):
        Access(cluster=address)


@pytest.mark.parametrize("data", ["rows.csv", pa.table({"a": [1]})])
def test_a_cluster_takes_parquet_alone(data: Any) -> None:
    """Other data is refused before a cluster is looked for."""
    with (
        pytest.raises(UsageError, match=r"a cluster counts only Parquet; give a \.parquet file"),
        open_source(data, SCHEMA, Access(cluster="tcp://127.0.0.1:1")),
    ):
        pass


def test_the_extra_is_named_where_dask_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message is the command that helps."""
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(UnderstudyError, match=r"pip install 'understudy\[cluster\]'"):
        require("distributed", extra="cluster")
