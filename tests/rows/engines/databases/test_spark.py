"""Spark counts rows on its executors as memory does; rows are encoded once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.counted import KINDS, LETTERS, ROWS, SCHEMA, check_equal, check_same, typed_tables
from support.databases import TYPES, spark_log, spark_table
from support.documents import server_command
from support.tiers import examples
from understudy.cli.main import run
from understudy.errors import DataError
from understudy.facts.codec.persons import Persons
from understudy.facts.schema import Schema
from understudy.methods import AdaptiveMarginals, Independent
from understudy.privacy.spending.ledger import Ledger
from understudy.rows.counting import fitting_rows
from understudy.rows.engines.databases import opening
from understudy.rows.engines.databases.database import Database
from understudy.rows.engines.databases.source import DatabaseSource
from understudy.rows.sources import Access, dataset_name, open_source

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=examples(3), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_spark_counts_as_memory_does(kind: str, spark_session: Any, data: st.DataObject) -> None:
    """Missing, outside and declared cells of every type, whatever the schema."""
    schema, rows = data.draw(typed_tables(kind, types=tuple(TYPES)))
    with open_source(spark_table(spark_session, rows), schema) as source:
        check_equal(source, schema, rows)


def test_texts_are_compared_by_their_bytes(spark_session: Any) -> None:
    """Case, accents, trailing spaces, quotes and backslashes distinguish texts, as in a file."""
    texts = ["a", "A", "\xe4", "a ", "a\\", "it's", "%s", "a\u2003", "\x1fa", None, "", "b\0"]
    values = ["a", "\xc4", "a\\", "it's", " b ", "%s", *LETTERS]
    rows = pa.table({"x": [*texts, " b ", " b", "b ", *LETTERS]})
    schema = Schema.parse({"columns": {"x": {"kind": "categorical", "values": values}}})
    with open_source(spark_table(spark_session, rows), schema) as source:
        check_equal(source, schema, rows)


def test_all_questions_see_the_same_rows(spark_session: Any, tmp_path: Path) -> None:
    """Files that are replaced while a run is open are not of this run."""
    place = tmp_path / "people.parquet"
    pq.write_table(ROWS, place)
    before = _kept(spark_session)
    with open_source(spark_session.read_parquet(str(place)), SCHEMA) as source:
        pq.write_table(ROWS.slice(0, 5), place)
        check_equal(source, SCHEMA, ROWS)
        assert isinstance(source, DatabaseSource)
        assert "Spark: rows are encoded once" in source.reading
    assert before == _kept(spark_session)


@pytest.mark.parametrize("rows", [ROWS.slice(0, 0), pa.concat_tables([ROWS] * 20)])
def test_rows_that_are_alike_are_kept_once(
    spark_session: Any, rows: pa.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the cells are few; the counts are those of all rows, and so are they where not."""
    table = spark_table(spark_session, rows)
    for few, least in ((opening.FEW_CELLS, 0), (0, rows.num_rows // 2)):
        monkeypatch.setattr(opening, "FEW_CELLS", few)
        with open_source(table, SCHEMA) as source:
            check_equal(source, SCHEMA, rows)
            assert isinstance(source, DatabaseSource)
            assert rows.num_rows == source.rows_read
            kept = int(source.database.value(source.codes.count()))
            assert least <= kept <= (200 if few else rows.num_rows)


def _kept(session: Any) -> list[str]:
    """The codes that are kept in a session; another test may have some open."""
    return [name for name in session.list_tables() if name.startswith("understudy_")]


@pytest.mark.parametrize("most", [1, 3])
def test_persons_are_those_of_a_file(spark_session: Any, most: int) -> None:
    """Names by text, composed and stripped, are one person each; the same rows are kept."""
    names = ["Zoe\u0308", "Zo\xeb", " Zo\xeb\t", "zo\xeb", "", None, "a\0b", "Ann"] * 4
    rows = pa.table({"who": names, "a": [i % 7 for i in range(32)]})
    column = {"kind": "integer", "min": 0, "max": 5, "outside": "drop"}
    schema = Schema.parse({"columns": {"a": column}})
    bounded = Access(persons=Persons("who", most))
    with (
        open_source(spark_table(spark_session, rows), schema, bounded) as source,
        open_source(rows, schema, bounded) as memory,
    ):
        check_same(source, memory)
        assert fitting_rows(memory).tolist() == fitting_rows(source).tolist()


def test_an_address_counts_a_parquet_file(spark_session: Any, tmp_path: Path) -> None:
    """The file has one name for the ledger, whether Spark counts it or not."""
    del spark_session
    place = tmp_path / "people.parquet"
    pq.write_table(ROWS, place)
    access = Access(table=str(place))
    with open_source("spark://local[2]", SCHEMA, access) as source:
        check_equal(source, SCHEMA, ROWS)
    assert "people" == dataset_name("spark://local[2]", access)


def test_the_guide_has_the_command(
    spark_session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`understudy synth spark://…` as the page shows it, paid for under the file's name."""
    del spark_session
    pq.write_table(ROWS, tmp_path / "patients.parquet")
    (tmp_path / "patients.json").write_text(json.dumps(SCHEMA.document()))
    monkeypatch.chdir(tmp_path)
    command = server_command("spark://local", "spark://local[2]")
    assert 0 == run([*(a.replace(".toml", ".json") for a in command), "--ledger", "ledger"])
    assert ["patients"] == list(Ledger(tmp_path / "ledger").accounts())
    assert b"Spark: rows are encoded once" in (tmp_path / "out.csv.privacy.json").read_bytes()


def test_failures_do_not_quote_cells(spark_session: Any, tmp_path: Path) -> None:
    """Spark's own words would, also those that it writes to the terminal; nothing is spent."""
    import ibis

    rows = pa.table({"a": ["xyzzy"], "b": ["x"], "c": [0.5]})
    table = spark_table(spark_session, rows).mutate(a=ibis._.a.cast("int32"))
    ledger = Ledger(tmp_path / "ledger.jsonl")
    with spark_log() as log, pytest.raises(DataError, match="rejects the query") as caught:
        Independent(SCHEMA, epsilon=1).fit(table, ledger=ledger, dataset="d")
    assert "xyzzy" not in str(caught.value) + log.getvalue()
    with pytest.raises(Exception, match="xyzzy"):
        table.to_pyarrow()
    assert {} == ledger.accounts()


def test_spark_s_own_log_is_heard_outside_of_a_run_alone() -> None:
    """PySpark logs failed queries, with their cells, depending on settings of its session."""
    from pyspark.logger import PySparkLogger

    from understudy.rows.engines.databases.spark_sessions import quiet_spark

    with spark_log() as log:
        with quiet_spark():
            PySparkLogger.getLogger("SQLQueryContextLogger").error("a failed query")
        assert "" == log.getvalue()
        PySparkLogger.getLogger("SQLQueryContextLogger").error("a failed query")
        assert "a failed query" in log.getvalue()


def test_a_fit_in_rounds_asks_in_batches(
    spark_session: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The default method asks Spark at most ten questions, and each is one query for its tables."""
    names = [f"c{i}" for i in range(6)]
    columns = {name: {"kind": "integer", "min": 0, "max": 2} for name in names}
    schema = Schema.parse({"columns": columns})
    rows = pa.table({name: [(i * (j + 3)) % 3 for i in range(400)] for j, name in enumerate(names)})
    queries: list[str] = []
    fetch = Database.fetch

    def counting(self: Database, query: str) -> list[tuple[Any, ...]]:
        queries.append(query)
        return fetch(self, query)

    monkeypatch.setattr(Database, "fetch", counting)
    with open_source(spark_table(spark_session, rows), schema) as source:
        opening = len(queries)
        AdaptiveMarginals(schema, epsilon=1, delta=1e-6).fit(source, ledger=None)
    assert opening <= 2
    assert 1 <= len(queries) - opening <= 10
    # All pairs are asked about, and several tables at a time.
    assert 15 <= sum(query.count("(SELECT") for query in queries) + sum(
        query.count("), (") for query in queries
    )


def test_a_table_of_the_catalog_is_counted(spark_session: Any) -> None:
    """As the guide names it, with its schema; one of an unknown schema is refused."""
    from pyspark.sql import SparkSession

    spark_table(spark_session, ROWS)
    session = SparkSession.getActiveSession()
    session.sql("CREATE DATABASE IF NOT EXISTS clinic")
    session.table("people").write.mode("overwrite").saveAsTable("clinic.patients")
    with open_source("spark://local[2]", SCHEMA, Access(table="clinic.patients")) as source:
        check_equal(source, SCHEMA, ROWS)
    for table in ("nowhere.patients", "clinic.others"):
        with (
            pytest.raises(DataError, match=f"no table '{table}'"),
            open_source("spark://local[2]", SCHEMA, Access(table=table)),
        ):
            pass


def test_a_table_that_is_not_there_is_refused(spark_session: Any) -> None:
    """With the names of those that are."""
    spark_table(spark_session, ROWS)
    with (
        pytest.raises(DataError, match=r"no table 'persons' that can be read; known are .*people"),
        open_source("spark://local[2]", SCHEMA, Access(table="persons")),
    ):
        pass
