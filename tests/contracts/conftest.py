"""Each engine as its contract test meets it: something that a table is put behind."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import ibis
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from support.cluster import write_partitions
from support.databases import fill_mysql, fill_postgres, spark_table, sqlite_file
from support.engines import Engine, raw_rows
from support.tiers import examples
from understudy.facts.codec import Codec
from understudy.rows.counting import CountSource
from understudy.rows.engines.chunked import ChunkedSource
from understudy.rows.engines.cluster import ClusterSource
from understudy.rows.engines.cluster_connection import Cluster
from understudy.rows.engines.memory import MemorySource
from understudy.rows.sources import Access, open_source
from understudy.rows.table import Table
from understudy.system.frames import Rows


@pytest.fixture(scope="session")
def in_memory() -> Engine:
    return Engine(MemorySource)


@pytest.fixture(scope="module")
def on_cluster(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Engine:
    folder, numbers = tmp_path_factory.mktemp("partitions"), itertools.count()

    def opened(table: Table) -> ClusterSource:
        schema, rows = raw_rows(table)
        cuts = [table.rows // 3] * 2
        path = write_partitions(rows, folder / str(next(numbers)), cuts)
        return ClusterSource(cluster=cluster, path=path, codec=Codec(schema), memory=10**9)

    return Engine(opened, examples=8)


@pytest.fixture(scope="session")
def in_blocks() -> Engine:
    def opened(table: Table) -> ChunkedSource:
        schema, rows = raw_rows(table)
        size = rows.num_rows // 3 + 1
        return ChunkedSource(
            lambda: (rows.slice(start, size) for start in range(0, rows.num_rows, size)),
            Codec(schema),
            memory=10**9,
            kept=1000,
        )

    return Engine(opened, examples=30)


@pytest.fixture(scope="session")
def in_duckdb() -> Iterator[Engine]:
    connection = ibis.duckdb.connect()
    numbers = itertools.count()
    with ExitStack() as held:
        yield _within(held, lambda rows: connection.create_table(f"t{next(numbers)}", rows))


@pytest.fixture(scope="session")
def in_postgres(postgres_server: str) -> Iterator[Engine]:
    with ExitStack() as held:
        # A table of its own: the last source holds on to it until the next one is opened.
        yield _within(held, lambda rows: fill_postgres(postgres_server, rows, "contract"))


@pytest.fixture(scope="session")
def in_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    path = tmp_path_factory.mktemp("sqlite") / "contract.db"
    with ExitStack() as held:
        yield _within(held, lambda rows: sqlite_file(path, rows, "contract"), most_rows=20_000)


@pytest.fixture(scope="session")
def in_mariadb(mariadb_server: str) -> Iterator[Engine]:
    with ExitStack() as held:
        yield _within(
            held, lambda rows: fill_mysql(mariadb_server, rows, "contract"), most_rows=1000
        )


@pytest.fixture(scope="session")
def in_spark(spark_session: Any) -> Iterator[Engine]:
    with ExitStack() as held:
        yield _within(
            held,
            lambda rows: spark_table(spark_session, rows),
            most_rows=1000,
            most_examples=min(10, examples(2)),
        )


@pytest.fixture(scope="session")
def in_spark_connect(
    spark_connect_server: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Engine]:
    path = tmp_path_factory.mktemp("spark") / "contract.parquet"

    def put(rows: pa.Table) -> str:
        pq.write_table(rows, path)
        return spark_connect_server

    with ExitStack() as held:
        yield _within(
            held, put, most_rows=1000, most_examples=min(10, examples(2)), name=os.fspath(path)
        )


def _within(
    held: ExitStack,
    put: Callable[[pa.Table], Rows],
    *,
    most_rows: int | None = None,
    most_examples: int = 8,
    name: str = "contract",
) -> Engine:
    """An engine of databases; connections are closed when the session ends."""

    def opened(table: Table) -> CountSource:
        schema, rows = raw_rows(table)
        held.close()
        data = put(rows.cast(pa.schema([(name, pa.int64()) for name in rows.column_names])))
        return held.enter_context(open_source(data, schema, Access(table=name)))

    return Engine(opened, examples=most_examples, most_rows=most_rows)
