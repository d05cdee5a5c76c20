"""One reading: how all questions of a run come to see the same rows of a database.

A transaction is begun before the first question where the database keeps a snapshot for as long
as one is open. Elsewhere the rows are encoded once, and every question counts those codes. What
cannot be promised is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from understudy.errors import DataError, UsageError
from understudy.rows.engines.databases.database import Database, asking
from understudy.rows.engines.databases.dialects import OneReading
from understudy.rows.engines.databases.spark_sessions import active

if TYPE_CHECKING:
    import ibis.expr.types as ir

_LASTING = ("repeatable read", "serializable")
_SYSTEM = ("mysql", "sys", "information_schema", "performance_schema")


@contextmanager
def one_reading(database: Database, rows: ir.Table) -> Iterator[None]:
    """All questions inside see the same rows, as far as a transaction is what promises it."""
    begin = {"duckdb": _in_duckdb, "postgres": _in_postgres, "sqlite": _in_sqlite}
    if database.dialect.held is not OneReading.TRANSACTION:
        yield
        return
    if database.dialect.backend == "mysql":
        _check_storage(database, rows)
    with begin.get(database.dialect.backend, _in_mysql)(database):
        yield


@contextmanager
def _in_duckdb(database: Database) -> Iterator[None]:
    number = "SELECT txid_current()"
    if database.fetch(number) == database.fetch(number):
        # Whoever began a transaction sees one state of the rows already.
        yield
        return
    with asking():
        database.backend.raw_sql("BEGIN TRANSACTION")
    with _ended(database):
        # Not before it reads does a transaction see one state.
        database.fetch(number)
        yield


@contextmanager
def _in_postgres(database: Database) -> Iterator[None]:
    from psycopg.pq import TransactionStatus

    connection = database.backend.con
    if connection.info.transaction_status is TransactionStatus.IDLE and connection.autocommit:
        with asking():
            database.backend.raw_sql("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        with _ended(database):
            yield
        return
    [(level,)] = database.fetch("SHOW transaction_isolation")
    if level not in _LASTING:
        raise UsageError(
            "the connection's transactions see rows as they change; connect with autocommit, or "
            "with isolation level REPEATABLE READ"
        )
    yield


@contextmanager
def _in_sqlite(database: Database) -> Iterator[None]:
    connection = database.backend.con
    if connection.in_transaction:
        yield
        return
    with asking():
        database.backend.raw_sql("BEGIN")
    with _ended(database):
        # Not before it reads does SQLite see one state.
        database.fetch("SELECT COUNT(*) FROM sqlite_schema")
        yield


@contextmanager
def _in_mysql(database: Database) -> Iterator[None]:
    if not database.backend.con.get_autocommit():
        raise UsageError(
            "the connection commits after every question, so that each could see other rows; "
            "connect with autocommit=True"
        )
    with _mysql_settings(database):
        with asking():
            database.backend.raw_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            database.backend.raw_sql("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY")
        with _ended(database):
            yield


@contextmanager
def _mysql_settings(database: Database) -> Iterator[None]:
    """Texts are written with backslashes escaped, names within backticks, and moments in UTC."""
    [(mode, zone)] = database.fetch("SELECT @@SESSION.sql_mode, @@SESSION.time_zone")
    _set_mysql(database, "STRICT_TRANS_TABLES", "+00:00")
    try:
        yield
    finally:
        with suppress(DataError):
            _set_mysql(database, mode, zone)


def _set_mysql(database: Database, mode: str, zone: str) -> None:
    with asking():
        database.backend.raw_sql(f"SET SESSION sql_mode = '{mode}', time_zone = '{zone}'")


@contextmanager
def _ended(database: Database) -> Iterator[None]:
    """End the transaction that was begun; what else the connection did in it is kept."""
    try:
        yield
    finally:
        try:
            database.backend.raw_sql("COMMIT")
        except Exception:
            # After a failure nothing else is heard.
            with suppress(Exception):
                database.backend.raw_sql("ROLLBACK")


def _check_storage(database: Database, rows: ir.Table) -> None:
    """Refuse tables whose storage keeps no snapshot; of a view, all tables could be behind it."""
    import ibis.expr.operations as ops

    held = database.fetch(
        "SELECT table_schema, table_name, engine FROM information_schema.tables "
        "WHERE table_type IN ('BASE TABLE', 'VIEW')"
    )
    engines = {(place, name): engine for place, name, engine in held if place not in _SYSTEM}
    [(here,)] = database.fetch("SELECT DATABASE()")
    asked = [
        (table.namespace.database or here, table.name)
        for table in rows.op().find(ops.DatabaseTable)
    ]
    if not asked or any(engines.get(table) is None for table in asked):
        asked = [table for table, engine in engines.items() if engine is not None]
    if strangers := [table for table in asked if engines[table] != "InnoDB"]:
        raise DataError(
            f"table {'.'.join(strangers[0])!r} is not stored by InnoDB, so questions could see "
            "different rows; convert it by ALTER TABLE ... ENGINE=InnoDB, or export it"
        )


@contextmanager
def fixed(database: Database, rows: ir.Table) -> Iterator[ir.Table]:
    """The same rows for every question, where no transaction promises it: made once, and kept."""
    if database.dialect.held is not OneReading.CODES:
        yield rows
        return
    name = f"understudy_{uuid4().hex}"
    with asking():
        kept = _checkpoint(database, name, rows)
    try:
        yield kept
    finally:
        with suppress(Exception):
            database.backend.raw_sql(f"DROP VIEW IF EXISTS {name}")


def _checkpoint(database: Database, name: str, rows: ir.Table) -> ir.Table:
    """Rows made once on Spark's executors; a part that is lost fails, and is not made again.

    A cached table would be made again from what its source holds by then.
    """
    made: Any = database.backend.raw_sql(database.written(rows))
    with active(made.sparkSession):
        kept = made.localCheckpoint(eager=True)
    kept.createOrReplaceTempView(name)
    table: ir.Table = database.backend.table(name)
    return table
