"""A server of Spark Connect counts rows as memory does, and fails in our words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.commands import check_quiet, logged_apart
from support.counted import KINDS, ROWS, SCHEMA, check_equal, check_same, typed_tables
from support.databases import TYPES, spark_log
from support.documents import server_command
from support.servers import connect_server
from support.tiers import examples, full_but
from understudy.errors import DataError
from understudy.facts.codec.persons import Persons
from understudy.facts.schema import Schema
from understudy.methods import Independent
from understudy.privacy.spending.ledger import Ledger
from understudy.rows.counting import fitting_rows
from understudy.rows.engines.databases import opening
from understudy.rows.engines.databases.source import DatabaseSource
from understudy.rows.sources import Access, open_source

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("kind", full_but({"categorical", "datetime"}, KINDS))
@settings(max_examples=examples(2), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_spark_connect_counts_as_memory_does(
    kind: str,
    spark_connect_server: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    data: st.DataObject,
) -> None:
    """Missing, outside and declared cells of every type, whatever the schema; each row is kept."""
    monkeypatch.setattr(opening, "FEW_CELLS", 0)
    schema, rows = data.draw(typed_tables(kind, types=tuple(TYPES)))
    place = tmp_path / "people.parquet"
    pq.write_table(rows, place)
    with open_source(spark_connect_server, schema, Access(table=str(place))) as source:
        check_equal(source, schema, rows)


def test_all_questions_see_the_same_rows(spark_connect_server: str, tmp_path: Path) -> None:
    """Files that are replaced while a run is open are not of this run; persons are as in memory."""
    place = tmp_path / "people.parquet"
    names = ["Zoe\u0308", "Zo\xeb", " Zo\xeb\t", "zo\xeb", "", None, "a\0b", "Ann"] * 4
    rows = pa.table({"who": names, "a": [i % 7 for i in range(32)]})
    column = {"kind": "integer", "min": 0, "max": 5, "outside": "drop"}
    schema, persons = Schema.parse({"columns": {"a": column}}), Persons("who", 3)
    pq.write_table(rows, place)
    access = Access(table=str(place), persons=persons)
    with (
        open_source(spark_connect_server, schema, access) as source,
        open_source(rows, schema, Access(persons=persons)) as memory,
    ):
        pq.write_table(rows.slice(0, 5), place)
        check_same(source, memory)
        assert fitting_rows(memory).tolist() == fitting_rows(source).tolist()
        assert isinstance(source, DatabaseSource)
        assert "Spark: rows are encoded once" in source.reading


def test_a_session_that_was_there_before_stays_the_active_one(
    spark_connect_server: str, tmp_path: Path
) -> None:
    """Rows are counted in a session of ours, whichever session the caller works with."""
    from pyspark.sql.connect.session import SparkSession

    place = tmp_path / "people.parquet"
    pq.write_table(ROWS, place)
    other = SparkSession.builder.remote(spark_connect_server).create()
    before = SparkSession.active()
    try:
        with open_source(spark_connect_server, SCHEMA, Access(table=str(place))) as source:
            check_equal(source, SCHEMA, ROWS)
        assert before is SparkSession.active()
        assert not before.is_stopped
    finally:
        other.stop()


def test_the_guide_has_the_command(spark_connect_server: str, tmp_path: Path) -> None:
    """`understudy synth sc://…` as the page shows it, for a table of the server's catalog.

    In a process of its own, whose log has lines of understudy alone.
    """
    pq.write_table(ROWS, tmp_path / "patients.parquet")
    (tmp_path / "patients.json").write_text(json.dumps(SCHEMA.document()))
    with _session(spark_connect_server) as session:
        session.sql("CREATE DATABASE IF NOT EXISTS clinic")
        files = session.read.parquet(str(tmp_path / "patients.parquet"))
        files.write.mode("overwrite").saveAsTable("clinic.patients")
    command = [a.replace(".toml", ".json") for a in server_command("sc://", spark_connect_server)]
    lines, _ = logged_apart(*command, "--ledger", "ledger", "--unchecked", folder=tmp_path)
    check_quiet(lines)
    assert ["clinic.patients"] == list(Ledger(tmp_path / "ledger").accounts())
    assert b"Spark: rows are encoded once" in (tmp_path / "out.csv.privacy.json").read_bytes()


def _session(address: str) -> Any:
    from pyspark.sql.connect.session import SparkSession

    return SparkSession.builder.remote(address).create()


def test_failures_do_not_quote_cells(spark_connect_server: str, tmp_path: Path) -> None:
    """Neither do messages that PySpark would write to the terminal; nothing is spent."""
    import ibis

    pq.write_table(pa.table({"a": ["xyzzy"], "b": ["x"], "c": [0.5]}), tmp_path / "x.parquet")
    ledger = Ledger(tmp_path / "ledger.jsonl")
    with _session(spark_connect_server) as session, spark_log() as log:
        found = ibis.pyspark.connect(session).read_parquet(str(tmp_path / "x.parquet"))
        table = found.mutate(a=ibis._.a.cast("int32"))
        with pytest.raises(DataError, match="rejects the query") as caught:
            Independent(SCHEMA, epsilon=1).fit(table, ledger=ledger, dataset="d")
    assert "xyzzy" not in str(caught.value) + log.getvalue()
    assert {} == ledger.accounts()


def test_a_table_that_is_not_there_is_refused(spark_connect_server: str) -> None:
    """A name that nobody has, and a file that nobody wrote."""
    for table, words in [("persons", "no table 'persons'"), ("/no/x.parquet", "rejects the query")]:
        with (
            pytest.raises(DataError, match=words),
            open_source(spark_connect_server, SCHEMA, Access(table=table)),
        ):
            pass


def test_a_server_that_ends_is_said_to_have_stopped(tmp_path: Path) -> None:
    """The question that met it is refused in our words, and so is the next run."""
    place = tmp_path / "people.parquet"
    pq.write_table(ROWS, place)
    with connect_server() as (address, process):
        with open_source(address, SCHEMA, Access(table=str(place))) as source:
            check_equal(source, SCHEMA, ROWS)
            process.kill()
            process.wait()
            with pytest.raises(DataError, match="stopped answering"):
                source.count([("a",)])
        with (
            pytest.raises(DataError, match="Spark Connect server cannot be reached"),
            open_source(address, SCHEMA, Access(table=str(place))),
        ):
            pass
