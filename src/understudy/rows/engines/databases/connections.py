"""From the address of a database to an open table: our connections only read, and are closed."""

from __future__ import annotations

import unicodedata
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from understudy.errors import DataError, UsageError
from understudy.rows.engines.databases.database import Database, asking, is_any_of, refusal
from understudy.rows.engines.databases.dialects import SPARK, SQLITE, dialect_of
from understudy.rows.engines.databases.spark_sessions import quiet_spark, spark, without_advice
from understudy.rows.reading.sqlite import connected
from understudy.system.extras import require
from understudy.system.files.sqlite_address import slash_hint, sqlite_path

if TYPE_CHECKING:
    import ibis.expr.types as ir

# Texts as the standard writes them, whatever the server was told; compiling pays for no query here.
_POSTGRES_OPTIONS = "-c standard_conforming_strings=on -c jit=off"
_UNREACHABLE = "the database cannot be reached; check its address: host, port, name, user, password"
_PARQUET = ".parquet"


def is_database(data: object) -> bool:
    """Whether some data is the address of a database, or a table of an open one."""
    if type(data).__module__.partition(".")[0] == "ibis":
        return True
    text = str(data)
    return isinstance(data, str | PathLike) and (_scheme(text) in _CONNECT or _is_duckdb(text))


def _scheme(address: str) -> str:
    scheme, separator, _ = address.partition("://")
    return scheme if separator else ""


def _is_duckdb(address: str) -> bool:
    return address.endswith(".duckdb")


@contextmanager
def opened(data: Any, table: str | None) -> Iterator[ir.Table]:
    """Return a table of a database.

    Args:
        data: the address of a database, or a table that ibis knows.
        table: the table's name, perhaps with its schema: clinic.patients.
    """
    if not isinstance(data, str | PathLike):
        database = Database.of(data)
        with quiet_spark() if database.dialect is SPARK else nullcontext():
            _prepare(database)
            yield data
        return
    if not table:
        raise UsageError(
            "the table is not named; say which one of the database, as --table patients"
        )
    require("ibis", extra="database")
    address = str(data)
    connect = _duckdb if _is_duckdb(address) else _CONNECT[_scheme(address)]
    with connect(address) as backend:
        rows = _table(backend, table)
        _prepare(Database(backend, dialect_of(rows)))
        yield rows


def _prepare(database: Database) -> None:
    """Give a connection the functions of ours that its dialect counts on."""
    if database.dialect is SQLITE:
        name = str(database.dialect.compose)
        database.backend.con.create_function(name, 1, _composed_bytes, deterministic=True)
    elif database.dialect is SPARK:
        with asking(), without_advice():
            database.backend._session.udf.register(str(database.dialect.compose), _composed)


def _composed_bytes(data: bytes | None) -> str | None:
    """The name in a stripped text's bytes; what is not UTF-8 is as a file's reader has it."""
    text = "" if data is None else bytes(data).decode(errors="replace")
    return None if not text or "\0" in text else _composed(text)


def _composed(text: str | None) -> str | None:
    """Return a text in Unicode's composed form."""
    return None if text is None else unicodedata.normalize("NFC", text)


@contextmanager
def _postgres(address: str) -> Iterator[Any]:
    import ibis

    psycopg = require("psycopg", extra="database")
    try:
        connection = psycopg.connect(address, options=_POSTGRES_OPTIONS)
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        connection.read_only = True
        backend = ibis.postgres.from_connection(connection)
    except psycopg.Error:
        raise DataError(_UNREACHABLE) from None
    with _disconnected(backend):
        _check_letters(connection.info.parameter_status("server_encoding"))
        yield backend


def _check_letters(encoding: str | None) -> None:
    """Refuse a database whose texts are bytes: where a character ends is not known there."""
    if encoding == "SQL_ASCII":
        raise DataError(
            "the database keeps texts as bytes of an unknown encoding (SQL_ASCII); copy the table "
            "to a database in UTF-8, or export it to Parquet"
        )


@contextmanager
def _duckdb(address: str) -> Iterator[Any]:
    import duckdb
    import ibis

    path = Path(address.removeprefix("duckdb://"))
    try:
        connection = duckdb.connect(str(path), read_only=True)
    except duckdb.Error:
        raise DataError(
            f"{path}: is not a DuckDB database that can be read; check the path"
        ) from None
    backend = ibis.duckdb.from_connection(connection)
    with _disconnected(backend), _in_memory(backend):
        yield backend


@contextmanager
def _sqlite(address: str) -> Iterator[Any]:
    import ibis

    path = sqlite_path(address)
    if slash_hint(path):
        raise DataError(f"{path}: is not there{slash_hint(path)}")
    with connected(path) as connection:
        connection.rollback()
        # What a query sorts or sets aside stays in memory, and off the disk.
        connection.execute("PRAGMA temp_store = MEMORY")
        yield ibis.sqlite.from_connection(connection)


@contextmanager
def _mysql(address: str) -> Iterator[Any]:
    import ibis

    driver = _mysql_driver()
    try:
        parts = urlsplit(address)
        connection = driver.connect(
            host=parts.hostname or "127.0.0.1",
            port=parts.port or 3306,
            user=unquote(parts.username or ""),
            password=unquote(parts.password or ""),
            database=unquote(parts.path.lstrip("/")) or None,
            charset="utf8mb4",
            autocommit=True,
        )
    except (driver.Error, ValueError, UnicodeError, OSError):
        raise DataError(_UNREACHABLE) from None
    with warnings.catch_warnings():
        # A server without names of time zones is asked for UTC by its offset, later.
        warnings.simplefilter("ignore")
        backend = ibis.mysql.from_connection(connection)
    with _disconnected(backend):
        yield backend


def _mysql_driver() -> Any:
    """PyMySQL, which needs no C headers, in the place of the driver that ibis asks for.

    Also where mysqlclient is installed, which no test runs.
    """
    driver = require("pymysql", extra="mysql")
    driver.install_as_MySQLdb()
    return driver


_CONNECT: dict[str, Callable[[str], Any]] = {
    "duckdb": _duckdb,
    "postgres": _postgres,
    "postgresql": _postgres,
    "sqlite": _sqlite,
    "mysql": _mysql,
    "mariadb": _mysql,
    "spark": spark,
    "sc": spark,
}


@contextmanager
def _disconnected(backend: Any) -> Iterator[None]:
    """Close the connection in the end, even one that broke."""
    try:
        yield
    finally:
        with suppress(Exception):
            backend.disconnect()


@contextmanager
def _in_memory(backend: Any) -> Iterator[None]:
    """While rows are read by a connection of ours, nothing of them is written to the disk.

    DuckDB would write what outgrows memory beside the database, unencrypted and for everyone to
    read. The setting is the database's: connections that this process has to it share it, so it is
    set back. One that has already written there cannot be changed.
    """
    [(before,)] = backend.raw_sql("SELECT current_setting('temp_directory')").fetchall()
    _set_folder(backend, "")
    try:
        yield
    finally:
        with suppress(Exception):
            # After a failure nothing else is heard.
            backend.raw_sql("ROLLBACK")
        _set_folder(backend, before)


def _set_folder(backend: Any, folder: str) -> None:
    import duckdb

    quoted = folder.replace("'", "''")
    with suppress(duckdb.Error):
        backend.raw_sql(f"SET temp_directory = '{quoted}'")


def _table(backend: Any, name: str) -> ir.Table:
    from ibis.common.exceptions import IbisError, TableNotFound

    if backend.name == SPARK.backend and name.endswith(_PARQUET):
        with asking():
            return backend.read_parquet(name)
    place, _, last = name.rpartition(".")
    ways = [(name, None), (last, place or None)]
    if backend.name == SPARK.backend:
        # Spark finds a name with a dot in it either way, and counts it by the second alone.
        ways.reverse()
    for table, database in ways:
        try:
            return backend.table(table, database=database)
        except (IbisError, TableNotFound):
            continue
        except Exception as error:
            if is_any_of(error, "AnalysisException"):
                continue
            raise refusal(error) from None
    with asking():
        known = ", ".join(sorted(backend.list_tables())) or "none"
    raise DataError(f"the database has no table {name!r} that can be read; known are {known}")
