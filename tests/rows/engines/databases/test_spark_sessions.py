"""Sessions of Spark: what they keep off the terminal."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from support.commands import check_quiet, logged_apart
from support.counted import ROWS, SCHEMA
from support.promised import need
from understudy.rows.engines.databases.spark_sessions import quiet_spark


def test_messages_about_failed_queries_are_kept_quiet_for_a_while() -> None:
    """They may quote cells; other users of PySpark in this process hear them again afterwards."""
    need("pyspark")
    from pyspark.logger import PySparkLogger

    names = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
    logs = [PySparkLogger.getLogger(name) for name in names]
    before = [log.disabled for log in logs]
    with quiet_spark():
        assert all(log.disabled for log in logs)
    assert before == [log.disabled for log in logs]


@pytest.mark.slow
def test_a_log_for_machines_has_no_line_of_java(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Java writes past the streams of Python; stderr is JSON from the first line to the last.

    Java has the memory that the user's own settings of Spark give it.
    """
    need("pyspark")
    java = f"-Xlog:gc+init:file={tmp_path}/java.log"
    settings = f"spark.driver.memory 768m\nspark.driver.extraJavaOptions {java}\n"
    (tmp_path / "spark-defaults.conf").write_text(settings)
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    pq.write_table(ROWS, tmp_path / "people.parquet")
    (tmp_path / "people.json").write_text(json.dumps(SCHEMA.document()))
    given = ["--table", "people.parquet", "-s", "people.json", "-e", "1", "-o", "out.csv", "--json"]
    given += ["--method", "independent", "--ledger", "ledger", "--unchecked"]
    lines, out = logged_apart("synth", "spark://local[1]", *given, folder=tmp_path)
    check_quiet(lines)
    assert "independent" == json.loads(out)["method"]
    assert "Heap Max Capacity: 768M" in (tmp_path / "java.log").read_text()
