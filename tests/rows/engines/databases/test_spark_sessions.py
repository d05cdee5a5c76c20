"""Sessions of Spark: what they keep off the terminal."""

from __future__ import annotations

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
